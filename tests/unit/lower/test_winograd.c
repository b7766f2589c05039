/* test_winograd.c - convolutions by F(2x2,3x3) and F(4x4,3x3): the transforms against the textbook's identity, random
 * shapes against sums in double within the bound that ac_winograd_growth states, bit-identical results for every tile
 * and number of chunks; and reasons of refusals. */
#include "ir/lower/conv/winograd.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/run_node.h"

#include <math.h>
#include <stdlib.h>

static char where[512]; /* the case that now points to */

typedef struct shape {
    int64_t n, h, w, ic, oc, pad_t, pad_l, pad_b, pad_r;
} shape;

static int64_t pick(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(draw() % (uint32_t)(hi - lo + 1));
}

/* Lowered with a hint, cut into chunks, run last part first. */
static ac_lowered *run_hinted(ac_ctx *cx, const ac_node *n, const ac_target *t, const ac_schedule *hint, int32_t chunks,
                              void **data)
{
    ac_lowered *w = ac_lower_hinted(cx, cx->region, n, t, 0, false, hint);
    if (!w || ac_lower_chunks(cx, cx->region, w, chunks, 0) != AC_OK)
        return NULL;
    int32_t part = 0;
    int status = 0;
    void **arg = bind_data(cx, w, data, &part);
    for (part = w->chunks ? w->chunks - 1 : 0; part >= 0; part--)
        if (ac_eval(cx, w->fn, arg, w->arg.n, &status) != AC_OK || status)
            return NULL;
    return w;
}

static const float *values(void **data, const ac_tensor *t)
{
    return data[t->id];
}

/* Greatest |value|. */
static double size_of(const float *v, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fabs((double)v[i]) > most ? fabs((double)v[i]) : most;
    return most;
}

static double exact(const ac_node *n, void **data, const shape *s, int64_t b, int64_t oy, int64_t ox, int64_t oc)
{
    const float *x = values(data, n->in[0]), *w = values(data, n->in[1]);
    double sum = (double)values(data, n->in[2])[oc];
    for (int64_t ky = 0; ky < 3; ky++)
        for (int64_t kx = 0; kx < 3; kx++) {
            const int64_t iy = oy + ky - s->pad_t, ix = ox + kx - s->pad_l;
            if (iy < 0 || ix < 0 || iy >= s->h || ix >= s->w)
                continue;
            for (int64_t c = 0; c < s->ic; c++)
                sum += (double)x[((b * s->h + iy) * s->w + ix) * s->ic + c] *
                       (double)w[((oc * 3 + ky) * 3 + kx) * s->ic + c];
        }
    return sum;
}

/* The bound of docs/winograd.md. Returns the error as a share of it. */
static double check_bound(const ac_node *n, void **data, const shape *s, int32_t out)
{
    const ac_winograd wino = ac_winograd_of(out);
    const float *w = values(data, n->in[1]), *y = values(data, n->out[0]), *bias = values(data, n->in[2]);
    const double x_most = size_of(values(data, n->in[0]), ac_tensor_count(n->in[0]));
    double worst = 0;
    for (int64_t oc = 0; oc < s->oc; oc++) {
        double w_sum = 0;
        for (int64_t c = 0; c < s->ic; c++) {
            double most = 0;
            for (int64_t k = 0; k < 9; k++)
                most = fmax(most, fabs((double)w[(oc * 9 + k) * s->ic + c]));
            w_sum += most;
        }
        const double bound = (double)(s->ic + 40) * ldexp(1, -24) *
                             (ac_winograd_growth(&wino) * x_most * w_sum + fabs((double)bias[oc]));
        for (int64_t p = 0; p < ac_tensor_count(n->out[0]) / s->oc; p++) {
            const int64_t ow = n->out[0]->dim[2], oh = n->out[0]->dim[1];
            const double want = exact(n, data, s, p / (ow * oh), p / ow % oh, p % ow, oc);
            const double share = fabs((double)y[p * s->oc + oc] - want) / bound;
            worst = share <= worst ? worst : share; /* NaN counts */
        }
    }
    CHECK(worst <= 1);
    return worst;
}

static ac_node *conv(ac_ctx *cx, const shape *s, const char *more, ac_graph **g)
{
    static char operands[256], node[256];
    snprintf(
        operands, sizeof operands,
        "input x: f32[%d,%d,%d,%d];const w: f32[%d,3,3,%d] = random %d (-1, 1);const b: f32[%d] = random 5 (-1, 1)",
        (int)s->n, (int)s->h, (int)s->w, (int)s->ic, (int)s->oc, (int)s->ic, (int)(draw() % 1000), (int)s->oc);
    snprintf(node, sizeof node, "y = conv_2d(x, w, b) padding=explicit pad_t=%d pad_l=%d pad_b=%d pad_r=%d %s",
             (int)s->pad_t, (int)s->pad_l, (int)s->pad_b, (int)s->pad_r, more);
    snprintf(where, sizeof where, "%.250s %.250s", operands, node);
    ac_node *n = read_node(cx, operands, node, g);
    CHECK(n);
    return n;
}

static void random_shapes(ac_ctx *cx)
{
    double worst[5] = {0};
    for (int32_t round = 0; round < 60; round++) {
        ac_graph *g;
        const shape s = {pick(1, 2), pick(3, 20), pick(3, 20), pick(1, 40), pick(2, 40),
                         pick(0, 2), pick(0, 2),  pick(0, 2),  pick(0, 2)};
        const ac_node *n = conv(cx, &s, "", &g);
        if (!n)
            return;
        ac_target t = TARGETS[1 + round % 3];
        t.l2_bytes = round & 1 ? 4096 : 1 << 20; /* one row of tiles in a strip, or all */
        const int32_t out = round % 4 < 2 ? 2 : 4;
        void **data = make_data(cx, g, 0);
        const size_t bytes = (size_t)ac_tensor_bytes(n->out[0]);
        ac_schedule hint = {.winograd = out};
        const ac_lowered *low = run_hinted(cx, n, &t, &hint, 1, data);
        CHECK(low && low->schedule.winograd == out && !low->schedule.refused && low->schedule.cost > 0);
        worst[out] = fmax(worst[out], check_bound(n, data, &s, out));
        void *first = ac_copy(cx->region, data[n->out[0]->id], bytes);
        for (int32_t again = 0; again < 2; again++) { /* other tiles, cut into chunks */
            hint.rows = (int32_t)pick(1, 14);
            hint.vecs = (int32_t)pick(1, 4);
            memset(data[n->out[0]->id], 0xa5, bytes);
            CHECK(run_hinted(cx, n, &t, &hint, 1 + (int32_t)pick(0, 2), data));
            CHECK(!memcmp(first, data[n->out[0]->id], bytes));
        }
    }
    printf("greatest error: %.3f of the bound for F(2x2), %.3f for F(4x4)\n", worst[2], worst[4]);
}

/* With the same tile as a hint, results of direct convolutions are also bit-identical. */
static void direct_tiles(ac_ctx *cx)
{
    for (int32_t round = 0; round < 20; round++) {
        ac_graph *g;
        const shape s = {1, pick(3, 12), pick(3, 12), pick(1, 20), pick(2, 70), 1, 1, 1, 1};
        const ac_node *n = conv(cx, &s, "act=relu", &g);
        if (!n)
            return;
        void **data = make_data(cx, g, 0);
        const size_t bytes = (size_t)ac_tensor_bytes(n->out[0]);
        const ac_target *t = &TARGETS[1 + round % 3];
        const ac_lowered *low = run_hinted(cx, n, t, NULL, 1, data);
        CHECK(low && low->schedule.rows > 0 && low->schedule.vecs > 0 && low->schedule.cost > 0);
        void *first = ac_copy(cx->region, data[n->out[0]->id], bytes);
        const ac_schedule hint = {.rows = (int32_t)pick(1, 14), .vecs = (int32_t)pick(1, 4)};
        memset(data[n->out[0]->id], 0xa5, bytes);
        low = run_hinted(cx, n, t, &hint, 1, data);
        CHECK(low && low->schedule.rows > 0);
        CHECK(!memcmp(first, data[n->out[0]->id], bytes));
        const ac_schedule one = {.rows = 1, .vecs = 1};
        low = run_hinted(cx, n, t, &one, 1, data);
        CHECK(low && (s.w <= 7 || (low->schedule.rows == 1 && low->schedule.vecs == 1))); /* narrow rows stay whole */
        CHECK(!memcmp(first, data[n->out[0]->id], bytes));
    }
}

static void refusals(ac_ctx *cx)
{
    static const struct {
        const char *operands, *node, *why;
    } rows[] = {
        {"input x: f32[1,8,8,8];const w: f32[8,3,3,8] = random 1",
         "y = conv_2d(x, w, _) stride_h=2 stride_w=2 padding=same", "stride 1"},
        {"input x: f32[1,8,8,8];const w: f32[8,3,3,8] = random 1",
         "y = conv_2d(x, w, _) dilation_h=2 dilation_w=2 padding=same", "dilation 1"},
        {"input x: f32[1,8,8,8];const w: f32[8,1,1,8] = random 1", "y = conv_2d(x, w, _) padding=same", "3x3 windows"},
        {"input x: f32[1,8,8,8];const w: f32[8,3,3,4] = random 1", "y = conv_2d(x, w, _) padding=same", "one group"},
        {"input x: f32[1,8,8,8];input w: f32[8,3,3,8]", "y = conv_2d(x, w, _) padding=same", "not constant"},
        {"input x: i8[1,8,8,8] q(0.1, 3);const w: i8[8,3,3,8] q(0.01, 0) = random 1 (-9, 9)",
         "y: i8[1,8,8,8] q(0.1, 0) = conv_2d(x, w, _) padding=same", "float"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ac_graph *g;
        snprintf(where, sizeof where, "%s", rows[i].why);
        const ac_node *n = read_node(cx, rows[i].operands, rows[i].node, &g);
        CHECK(n);
        const ac_schedule hint = {.winograd = 4};
        const ac_lowered *low = n ? ac_lower_hinted(cx, cx->region, n, &TARGETS[3], 0, false, &hint) : NULL;
        CHECK(low && !low->schedule.winograd && low->schedule.refused && strstr(low->schedule.refused, rows[i].why));
    }
    ac_graph *g;
    const shape s = {1, 14, 14, 64, 64, 1, 1, 1, 1};
    const ac_node *n = conv(cx, &s, "", &g);
    const ac_schedule hint = {.winograd = AC_WINOGRAD_CHEAPEST};
    ac_target wide = TARGETS[3];
    wide.l2_bytes = 2 << 20;
    const ac_lowered *plain = ac_lower_hinted(cx, cx->region, n, &TARGETS[0], 0, false, &hint),
                     *vectors = ac_lower_hinted(cx, cx->region, n, &wide, 0, false, &hint),
                     *in_order = ac_lower_hinted(cx, cx->region, n, &TARGETS[3], 0, true, &hint);
    CHECK(plain && strstr(plain->schedule.refused, "no vectors"));
    CHECK(vectors && vectors->schedule.winograd == 4 && !vectors->schedule.refused);
    CHECK(in_order && strstr(in_order->schedule.refused, "--exact"));
}

static void tests(ac_ctx *cx)
{
    random_shapes(cx);
    direct_tiles(cx);
    refusals(cx);
}

int main(void)
{
    static ac_ctx cx;
    now = where;
    return in_context(&cx, tests);
}
