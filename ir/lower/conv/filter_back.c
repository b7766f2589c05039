/* filter_back.c - conv_nd_filter: the gradient of a convolution by its weights, any number of dimensions, f32 or f64.
 *
 *     x [N,S..,C]   dy [N,OS..,O]   ->   dw [K..,C/groups,O]
 *     dw[k, c, o] = sum over images and positions q of x[q * stride - before + k * dilation, c] * dy[q, o]
 *
 * A tile of input channels by vectors of output channels is summed in registers over all positions that tap k reaches.
 * If each group has one channel on both sides (depthwise), neighbouring groups are in lanes. With few input channels
 * all taps of the innermost dimension are in one tile, so that dy is loaded once for them; at the borders, positions
 * with taps outside of x are computed one by one. If the images do not fit the second cache, they are processed some at
 * a time, and each tile continues from its stored sums. Positions in order, so the sum is the same for every number of
 * threads. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/conv/spans.h"
#include "ir/lower/window.h"

typedef struct filter {
    ac_conv_nd g;
    ac_tensor *x, *dy;
    int32_t x_buf, dy_buf, to_buf;
    int64_t in, out; /* channels of a group */
    bool depthwise;
    ac_x k[AC_CONV_ND_DIMS], group;
    ac_x c;             /* first input channel of the tile */
    int32_t rows, vecs; /* input channels, vectors of output channels (or of groups) */
    int32_t wide;       /* taps of the innermost dimension */
    int64_t images;     /* at a time */
    ac_x part;          /* images part * images .. */
} filter;

/* Positions lo .. hi - 1 of dy have tap k inside of x. */
static void reached(ac_lb *b, const ac_slide *s, ac_x k, ac_x *lo, ac_x *hi)
{
    const ac_x zero = ac_lb_i32(b, 0), stride = ac_lb_i32(b, s->stride), at = ac_lb_mul(b, k, ac_lb_i32(b, s->dil));
    *lo = zero;
    *hi = ac_lb_i32(b, s->out);
    if (s->pad > 0)
        *lo = ac_lb_div(b, ac_lb_max(b, ac_lb_sub(b, ac_lb_i32(b, s->pad + s->stride - 1), at), zero), stride);
    if ((s->out - 1) * s->stride - s->pad + (s->taps - 1) * s->dil >= s->in) {
        const ac_x room = ac_lb_sub(b, ac_lb_i32(b, s->in - 1 + s->pad + s->stride), at);
        *hi = ac_lb_min(b, *hi, ac_lb_div(b, ac_lb_max(b, room, zero), stride));
    }
    if (s->pad > 0)
        *lo = ac_lb_min(b, *lo, *hi);
}

/* Opens the loops over images and positions of dimensions before `until`: where they are in x and in dy. */
static void open_positions(ac_lower *L, const filter *v, int32_t until, ac_x *xi, ac_x *yi)
{
    static const char *const name[AC_CONV_ND_DIMS] = {"q0", "q1", "q2", "q3", "q4", "q5"};
    ac_lb *b = &L->b;
    const int64_t all = v->x->dim[0];
    ac_x first = ac_lb_mul(b, v->part, ac_lb_i32(b, v->images)), end = ac_lb_add(b, first, ac_lb_i32(b, v->images));
    if (all % v->images)
        end = ac_lb_min(b, end, ac_lb_i32(b, all));
    xi[0] = yi[0] = ac_lb_for(b, "n", first, end, 1, AC_MARK_SERIAL);
    for (int32_t d = 0; d < until; d++) {
        ac_x lo, hi;
        reached(b, &v->g.s[d], v->k[d], &lo, &hi);
        yi[d + 1] = ac_lb_for(b, name[d], lo, hi, 1, AC_MARK_SERIAL);
        xi[d + 1] = ac_slide_at(b, &v->g.s[d], yi[d + 1], v->k[d]);
    }
}

/* acc: those of one tap. y: vectors of dy; x_at: of the first channel. */
static void products(ac_lower *L, const filter *v, const ac_x *acc, const ac_x *y, ac_x x_at, int32_t lanes)
{
    ac_lb *b = &L->b;
    for (int32_t r = 0; r < v->rows; r++) {
        const ac_x x =
            v->depthwise ? 0 : ac_lb_splat(b, ac_lb_load(b, v->x_buf, ac_lb_add(b, x_at, ac_lb_i32(b, r)), 1), lanes);
        for (int32_t i = 0; i < v->vecs; i++) {
            const ac_x to = acc[r * v->vecs + i], old = ac_lb_get(b, to);
            const ac_x own = x ? x : ac_lb_load(b, v->x_buf, ac_lb_add(b, x_at, ac_lb_i32(b, i * lanes)), lanes);
            ac_lb_set(b, to, ac_lo_madd(L, own, y[i], old));
        }
    }
}

/* The products of one position, whose first tap along the innermost dimension is at xi: v->wide taps, those of
 * `inside`. */
static void position(ac_lower *L, const filter *v, const ac_x *acc, ac_x *xi, const ac_x *yi, uint32_t inside,
                     int32_t lanes)
{
    ac_lb *b = &L->b;
    const int32_t m = v->g.m;
    const ac_x y_at = ac_lo_flat(L, v->dy, yi), first = xi[m];
    ac_x y[GEMM_VECS];
    for (int32_t i = 0; i < v->vecs; i++)
        y[i] = ac_lb_load(b, v->dy_buf, ac_lb_add(b, y_at, ac_lb_i32(b, i * lanes)), lanes);
    for (int32_t k = 0; k < v->wide; k++)
        if (inside >> k & 1) {
            xi[m] = ac_lb_add(b, first, ac_lb_i32(b, k * v->g.s[m - 1].dil));
            products(L, v, acc + k * v->rows * v->vecs, y, ac_lo_flat(L, v->x, xi), lanes);
        }
    xi[m] = first;
}

/* All positions of the innermost dimension, with all its taps. */
static void line(ac_lower *L, const filter *v, const ac_x *acc, ac_x *xi, ac_x *yi, int32_t lanes)
{
    ac_lb *b = &L->b;
    const int32_t m = v->g.m;
    const ac_slide *s = &v->g.s[m - 1];
    int64_t begin, end;
    ac_slide_interior(s, &begin, &end);
    for (int64_t q = 0; q < s->out; q++) {
        uint32_t inside = 0;
        if (q == begin && q < end) {
            yi[m] = ac_lb_for(b, "q", ac_lb_i32(b, begin), ac_lb_i32(b, end), 1, AC_MARK_SERIAL);
            xi[m] = ac_slide_at(b, s, yi[m], ac_lb_i32(b, 0));
            position(L, v, acc, xi, yi, ~0u, lanes);
            ac_lb_end(b);
            q = end - 1;
            continue;
        }
        for (int32_t k = 0; k < v->wide; k++)
            inside |=
                (uint32_t)(q * s->stride - s->pad + k * s->dil >= 0 && q * s->stride - s->pad + k * s->dil < s->in)
                << k;
        yi[m] = ac_lb_i32(b, q);
        xi[m] = ac_lb_i32(b, q * s->stride - s->pad);
        position(L, v, acc, xi, yi, inside, lanes);
    }
}

/* Accumulators begin with 0, or with the sums of the previous images. */
static void start(ac_lower *L, const filter *v, const ac_x *acc, const ac_x *at, int32_t lanes)
{
    ac_lb *b = &L->b;
    if (v->images >= v->x->dim[0])
        return;
    ac_lb_if(b, ac_lb_gt(b, v->part, ac_lb_i32(b, 0)));
    for (int32_t i = 0; i < v->wide * v->rows * v->vecs; i++)
        ac_lb_set(b, acc[i], ac_lb_load(b, v->to_buf, at[i], lanes));
    ac_lb_end(b);
}

/* The tile whose first output channel of the group (or first group) is o. */
static void tile(ac_lower *L, const filter *v, ac_x o, int32_t lanes)
{
    ac_lb *b = &L->b;
    const int32_t m = v->g.m, n = v->wide * v->rows * v->vecs;
    ac_x xi[AC_MAX_RANK], yi[AC_MAX_RANK], wi[AC_MAX_RANK], acc[GEMM_ROWS * GEMM_VECS], at[GEMM_ROWS * GEMM_VECS];
    const ac_x to = v->depthwise ? o : ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->out)), o);
    for (int32_t d = 0; d < m; d++)
        wi[d] = v->k[d];
    for (int32_t i = 0; i < n; i++) {
        if (v->wide > 1)
            wi[m - 1] = ac_lb_i32(b, i / (v->rows * v->vecs));
        wi[m] = ac_lb_add(b, v->c, ac_lb_i32(b, i / v->vecs % v->rows));
        wi[m + 1] = ac_lb_add(b, to, ac_lb_i32(b, i % v->vecs * lanes));
        at[i] = ac_lo_flat(L, L->node->out[0], wi);
        acc[i] = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_num(b, v->x->dtype, 0), lanes));
    }
    start(L, v, acc, at, lanes);
    open_positions(L, v, m - (v->wide > 1), xi, yi);
    xi[m + 1] = v->depthwise ? o : ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->in)), v->c);
    yi[m + 1] = to;
    if (v->wide > 1)
        line(L, v, acc, xi, yi, lanes);
    else
        position(L, v, acc, xi, yi, 1, lanes);
    for (int32_t d = 0; d <= m - (v->wide > 1); d++)
        ac_lb_end(b);
    for (int32_t i = 0; i < n; i++)
        ac_lb_store(b, v->to_buf, at[i], ac_lb_get(b, acc[i]));
}

/* Output channels begin .. end - 1, `vecs` vectors of `lanes` at a time. */
static void channels(ac_lower *L, filter *v, int64_t begin, int64_t end, int32_t vecs, int32_t lanes)
{
    ac_lb *b = &L->b;
    if (begin >= end)
        return;
    v->vecs = vecs;
    const int64_t step = (int64_t)vecs * lanes;
    tile(L, v, ac_lb_for(b, "o", ac_lb_i32(b, begin), ac_lb_i32(b, end), step, AC_MARK_PARALLEL), lanes);
    ac_lb_end(b);
}

/* All output channels, for `rows` input channels from v->c on. */
static void row(ac_lower *L, filter *v, int64_t rows, int32_t vecs, int32_t lanes)
{
    const int64_t n = v->depthwise ? v->g.groups : v->out, whole = n / ((int64_t)vecs * lanes) * vecs * lanes;
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(n - whole, lanes, span);
    v->rows = (int32_t)rows;
    channels(L, v, 0, whole, vecs, lanes);
    for (int32_t i = 0; i < spans; i++)
        channels(L, v, whole + span[i].begin, whole + span[i].end, 1, span[i].lanes);
}

/* True if a tile may hold all taps of the innermost dimension: there are few of them, and few positions at the
 * borders. */
static bool may_be_wide(const filter *v)
{
    const ac_slide *s = &v->g.s[v->g.m - 1];
    int64_t begin, end;
    ac_slide_interior(s, &begin, &end);
    return s->taps > 1 && s->taps <= 5 && begin + s->out - end <= 6;
}

/* An accumulator for each tap, row and vector, the vectors of dy, and one more, fit the registers. */
static int64_t plan(const ac_lower *L, filter *v, int32_t lanes)
{
    const int64_t registers = lanes > 1 ? L->target->registers : 8, n = v->depthwise ? v->g.groups : v->out;
    const int64_t taps = v->g.s[v->g.m - 1].taps;
    v->wide = 1;
    v->vecs = lanes == 1 ? 1 : registers < 32 && !v->depthwise ? 2 : GEMM_VECS;
    while (v->vecs > 1 && (int64_t)v->vecs * lanes > n)
        v->vecs--;
    if (may_be_wide(v) && (taps * v->in + 1) * v->vecs < registers)
        v->wide = (int32_t)taps;
    else if (may_be_wide(v) && v->depthwise) {
        v->wide = (int32_t)taps;
        while (v->vecs > 1 && (taps + 1) * v->vecs >= registers)
            v->vecs--;
    }
    const int64_t most = (registers - 1 - v->vecs) / (v->vecs * v->wide);
    return most * v->wide > GEMM_ROWS ? GEMM_ROWS / v->wide : most < 1 ? 1 : most;
}

static void tiles(ac_lower *L, filter *v, int64_t most, int32_t lanes)
{
    ac_lb *b = &L->b;
    const int32_t vecs = v->vecs;
    v->group = ac_lb_for_each(b, "g", v->depthwise ? 1 : v->g.groups);
    const ac_gemm_cuts cuts = ac_gemm_cut(v->in, most);
    for (int32_t s = 0; s < 2; s++)
        if (cuts.count[s]) {
            const ac_x i = ac_lb_for_each(b, "c", cuts.count[s]);
            v->c = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, cuts.size[s])), ac_lb_i32(b, cuts.first[s]));
            row(L, v, cuts.size[s], vecs, lanes);
            ac_lb_end(b);
        }
    ac_lb_end(b);
}

/* As many as fit a part of the second cache, evenly. */
static int64_t images(const ac_lower *L, const filter *v)
{
    const int64_t n = v->x->dim[0], bytes = ac_tensor_bytes(v->x) + ac_tensor_bytes(v->dy);
    const int64_t room = L->target->l2_bytes / 4;
    if (!room || bytes <= room)
        return n ? n : 1;
    const int64_t parts = (bytes + room - 1) / room;
    return parts < n ? (n + parts - 1) / parts : 1;
}

int ac_lo_conv_nd_filter(ac_lower *L)
{
    static const char *const tap[AC_CONV_ND_DIMS] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    const ac_node *n = L->node;
    filter v = {.x = n->in[0], .dy = n->in[1]};
    AC_TRY(ac_conv_back_of(L->cx, n, &v.g));
    if (!ac_mp_real(v.x) || n->out[0]->dtype != v.x->dtype)
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[n->op].text, ac_dtype_name(v.x->dtype));
    v.to_buf = ac_lo_result_buf(L);
    L->out->own_results = true;
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    v.x_buf = ac_lo_operand(L, v.x);
    v.dy_buf = ac_lo_operand(L, v.dy);
    v.in = v.x->dim[v.g.m + 1] / v.g.groups;
    v.out = v.dy->dim[v.g.m + 1] / v.g.groups;
    v.depthwise = v.in == 1 && v.out == 1;
    v.images = images(L, &v);
    v.part = ac_lb_for_n(&L->b, "part", (v.x->dim[0] + v.images - 1) / v.images);
    const int32_t lanes = ac_lo_max_lanes(L, v.x->dtype);
    const int64_t most = plan(L, &v, lanes);
    const int32_t loops = v.g.m - (v.wide > 1);
    for (int32_t d = 0; d < loops; d++)
        v.k[d] = ac_lb_for_each(&L->b, tap[d], v.g.s[d].taps);
    tiles(L, &v, most, lanes);
    for (int32_t d = 0; d <= loops; d++)
        ac_lb_end(&L->b);
    return AC_OK;
}
