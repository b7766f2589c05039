/* test_stripe.c - groups of steps that work row by row (ir/loop/access/strip.h, planner/graph/stripe_group.h): every
 * run of steps of the models in models/ and of random graphs is built as a group and run by the evaluator; its results
 * must be those of the steps one after the other, bit for bit. Windows hold garbage before the run. A window with one
 * row less must be found: by an access outside of it, or by other results. Then straight lines through tables. No
 * framework: a failed check prints its place, the exit status is 1 when any failed.
 *
 *     test_stripe [graphs [first seed]] */
#include "driver/door/door.h"
#include "ir/loop/access/walk.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"
#include "planner/graph/stripe.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int groups, planted, overlaid, paired, streamed, filled, drained, split;

static void fill(ac_dtype d, int64_t count, void *to)
{
    for (int64_t i = 0; i < count; i++)
        if (d == AC_F32)
            ((float *)to)[i] = (float)(below(2001) - 1000) / 256.0f;
        else
            ((uint8_t *)to)[i] = (uint8_t)rnd();
}

/* ------------------------------------------------------------------ running */

static void *constant(ac_ctx *cx, ac_const *k)
{
    union {
        const void *read;
        void *any;
    } p = {ac_const_data(cx, k)};
    return p.any;
}

/* value[id]: the bytes of every tensor so far. Results go to fresh memory when `own`, else into value[]. */
static bool run(ac_ctx *cx, const ac_lowered *low, void **value, void **own)
{
    void **data = AC_NEW_N(cx->region, void *, low->arg.n + 1);
    int32_t row = 0;
    for (int32_t a = 0; a < low->arg.n; a++) {
        const ac_arg *x = &low->arg.item[a];
        const ac_buf *b = &low->fn->buf.item[a];
        const size_t bytes = (size_t)ac_dtype_size(b->dtype, b->count);
        if (x->kind == AC_ARG_CONST) {
            data[a] = constant(cx, x->konst);
            continue;
        }
        if (x->kind == AC_ARG_CHUNK) {
            data[a] = &row;
            continue;
        }
        if (x->kind == AC_ARG_TENSOR && b->role == AC_BUF_IN) {
            data[a] = value[x->tensor->id];
            continue;
        }
        data[a] = ac_alloc(cx->region, bytes + 64);
        memset(data[a], 0x5a, bytes);
        if (x->kind == AC_ARG_TENSOR)
            own[x->tensor->id] = data[a];
    }
    int status = 0;
    if (!low->streamed)
        return ac_eval(cx, low->fn, data, low->arg.n, &status) == AC_OK && !status;
    char *last = (char *)data[low->streamed_arg] + low->arg.item[low->streamed_arg].bytes - low->row_bytes;
    bool ok = true;
    for (row = 0; row < low->rows && ok; row++) { /* handed over one by one; the caller's other rows are not there */
        memcpy(last, (const char *)value[low->streamed->id] + row * low->row_bytes, (size_t)low->row_bytes);
        ok = ac_eval(cx, low->fn, data, low->arg.n, &status) == AC_OK && !status;
        memset(last, 0x33, low->arg.item[low->streamed_arg].bytes > low->row_bytes ? (size_t)low->row_bytes : 0);
    }
    return ok;
}

static bool same(const ac_stripe_group *q, void **value, void **own)
{
    for (int32_t i = 0; i < q->n_out; i++)
        if (memcmp(value[q->out[i]->id], own[q->out[i]->id], (size_t)ac_tensor_bytes(q->out[i])))
            return false;
    return true;
}

/* Depthwise convolutions exactly over their input. */
static void in_place(arenac *model, int32_t s, void **value)
{
    ac_ctx *cx = &model->work.cx;
    const ac_node *n = model->work.made.lowering->step[s]->node;
    const ac_diags before = cx->diags;
    if (n->op != AC_OP_DEPTHWISE_CONV_2D || n->n_fused)
        return;
    ac_lowered *low =
        ac_lower_node(cx, cx->region, n, model->work.made.lowering->set.target, AC_VARIANT_INPLACE, false);
    if (!ac_quietly(cx, before, low ? AC_OK : AC_FAIL))
        return;
    CHECK(low->n_overwrite && low->overwrite[0] == n->in[0] && ac_tensor_bytes(n->in[0]) == ac_tensor_bytes(n->out[0]));
    void **data = AC_NEW_N(cx->region, void *, low->arg.n + 1), *both = NULL;
    for (int32_t a = 0; a < low->arg.n; a++) {
        const ac_arg *x = &low->arg.item[a];
        const ac_buf *b = &low->fn->buf.item[a];
        if (x->kind == AC_ARG_TENSOR && !both)
            both = ac_copy(cx->region, value[n->in[0]->id], (size_t)ac_tensor_bytes(n->in[0]));
        data[a] = x->kind == AC_ARG_CONST    ? constant(cx, x->konst)
                  : x->kind == AC_ARG_TENSOR ? both
                                             : ac_alloc(cx->region, (size_t)ac_dtype_size(b->dtype, b->count) + 64);
    }
    int status = 0;
    CHECK(ac_eval(cx, low->fn, data, low->arg.n, &status) == AC_OK && !status);
    CHECK(both && !memcmp(both, value[n->out[0]->id], (size_t)ac_tensor_bytes(n->out[0])));
    overlaid++;
}

static void shorten(ac_ctx *cx, ac_stripes *v, const ac_stripe_group *q, void **value, void **own)
{
    for (int32_t t = 0; t < q->s.n_tensors; t++) {
        ac_stripe_group less = *q;
        ac_stripe_tensor *x = &less.s.tensor[t];
        if (x->kind != AC_STRIPE_WINDOW || x->rows < 2 || x->buf < 0 || x->home != t || x->high)
            continue;
        const ac_stripe_tensor was = *x;
        x->rows--;
        x->room -= x->row;
        less.s.buf[x->buf].count -= x->row;
        if (x->mate >= 0)
            less.s.tensor[x->mate].room = x->room;
        paired += x->mate >= 0;
        const int32_t errors = cx->diags.errors;
        ac_lowered *low = ac_stripe_lower(v, &less);
        CHECK(!low || !run(cx, low, value, own) || !same(q, value, own));
        planted++;
        cx->diags.errors = errors; /* expected ones */
        *x = was;
        less.s.buf[x->buf].count += x->row;
        if (x->mate >= 0)
            less.s.tensor[x->mate].room = x->room;
    }
}

/* Memory of every tensor that is not constant, with random values; views are stored in their roots. */
static void **random_values(ac_ctx *cx, const ac_graph *g)
{
    void **value = AC_NEW_N(cx->region, void *, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (ac_tensor_is_const(t) || t->root)
            continue;
        value[i] = ac_alloc(cx->region, (size_t)ac_tensor_bytes(t) + 64);
        fill(t->dtype, ac_tensor_count(t), value[i]);
    }
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        ac_bytes at = 0;
        for (; t->root; t = t->root)
            at += t->view_offset;
        if (g->tensor.item[i]->root)
            value[i] = (char *)value[t->id] + at;
    }
    return value;
}

/* All steps one after the other, into value[]. */
static void run_steps(arenac *model, void **value, void **own)
{
    ac_ctx *cx = &model->work.cx;
    const ac_lowering *lowering = model->work.made.lowering;
    for (int32_t s = 0; s < lowering->n_steps; s++) {
        const ac_lowered *step = lowering->step[s];
        CHECK(run(cx, step, value, own));
        for (int32_t a = 0; a < step->arg.n; a++) {
            const ac_tensor *t = step->arg.item[a].tensor;
            if (t && step->fn->buf.item[a].role != AC_BUF_IN)
                memcpy(value[t->id], own[t->id], (size_t)ac_tensor_bytes(t));
        }
        in_place(model, s, value);
    }
}

/* Adds what an access reads or writes; user: by buffer. */
static void add_one(void *user, const ac_access *a)
{
    ((int64_t *)user)[a->buf] += a->end - a->begin;
}

static void add_many(void *user, const ac_access *list, int32_t n_list, int64_t n)
{
    for (int32_t i = 0; i < n_list; i++)
        ((int64_t *)user)[list[i].buf] += n * (list[i].end - list[i].begin);
}

/* The bytes that copies move from and to the places outside are those that the loops touch there. */
static void check_traffic(ac_stripes *v, const ac_stripe_group *q, const ac_lowered *low)
{
    uint8_t *watch = AC_NEW_N(v->cx->region, uint8_t, low->fn->buf.n + 1);
    int64_t *bytes = AC_NEW_N(v->cx->region, int64_t, low->fn->buf.n + 1);
    for (; q; q = q->next) {
        for (int32_t u = 0; u < q->s.n_units; u++)
            if (q->s.unit[u].does != AC_STRIPE_COMPUTES)
                watch[q->s.unit[u].outside] = AC_WATCH_READS | AC_WATCH_WRITES;
        for (int32_t t = 0; t < q->s.n_tensors; t++)
            if (q->s.tensor[t].column.halo + q->s.tensor[t].column.keeps)
                watch[q->s.tensor[t].column.buf] = AC_WATCH_READS | AC_WATCH_WRITES;
    }
    const ac_walk walk = {.fn = low->fn, .watch = watch, .one = add_one, .many = add_many, .user = bytes};
    MUST(ac_loop_walk(v->cx, &walk));
    for (int32_t a = 0; a < low->arg.n; a++)
        CHECK(!watch[a] || bytes[a] == low->traffic[a]);
}

/* Steps begin to end - 1 as a group: alone, with pairs of windows, and both again with a streamed input if `input` is
 * set, which means that the graph allows it, and with copies of all tensors from outside and of all results. */
static void check_group(ac_stripes *v, int32_t begin, int32_t end, const ac_stripe_streamed *input, bool plant,
                        void **value, void **own)
{
    ac_stripe_group q;
    ac_bytes alone = 0;
    bool *all = AC_NEW_N(v->cx->region, bool, v->g->tensor.n + 1);
    memset(all, 1, (size_t)v->g->tensor.n * sizeof *all);
    for (int pass = 0; pass < 7; pass++) { /* with copies no pairs */
        const int strips = pass >= 5 ? pass - 3 : 0;
        const bool pairs = pass % 2 && !strips, by_rows = pass / 2 == 1, by_copies = pass >= 4;
        const ac_stripe_how how = {1, pairs};
        if (by_rows && (!input || begin > input->first || end <= input->last))
            continue;
        v->streamed = by_rows ? *input : (ac_stripe_streamed){0};
        v->copied = by_copies ? all : NULL;
        if (strips ? !ac_stripe_strips_of(v, begin, end, strips, how, v->cx->region, &q)
                   : !ac_stripe_group_of(v, begin, end, how, v->cx->region, &q) || (pairs && q.scratch >= alone))
            continue;
        split += strips > 0;
        streamed += by_rows;
        for (int32_t u = 0; u < q.s.n_units; u++) {
            filled += q.s.unit[u].does == AC_STRIPE_FILLS;
            drained += q.s.unit[u].does == AC_STRIPE_DRAINS;
        }
        alone = q.scratch;
        groups++;
        ac_lowered *low = ac_stripe_lower(v, &q);
        CHECK(low && run(v->cx, low, value, own) && same(&q, value, own));
        if (by_copies && low)
            check_traffic(v, &q, low);
        if (plant && low && !strips)
            shorten(v->cx, v, &q, value, own);
    }
}

static void all_groups(arenac *model, bool plant)
{
    ac_ctx *cx = &model->work.cx;
    const ac_lowering *lowering = model->work.made.lowering;
    const ac_graph *g = lowering->graph;
    const ac_plan_how plan = {.file = model->work.source.path,
                              .graph = g,
                              .step = lowering->step,
                              .n_steps = lowering->n_steps,
                              .target = lowering->set.target,
                              .live = {.align = 1}};
    void **value = random_values(cx, g), **own = AC_NEW_N(cx->region, void *, g->tensor.n + 1);
    run_steps(model, value, own);
    ac_stripes v;
    ac_planned *from = ac_planned_from(cx, &plan, NULL, plan.n_steps);
    from->live = ac_live(cx, from->region, g, from->step, from->n_steps, plan.live);
    ac_stripes_open(&v, cx, &plan, cx->region, from);
    const bool rows = ac_stripes_stream(&v);
    const ac_stripe_streamed input = v.streamed;
    for (int32_t begin = 0; begin < plan.n_steps; begin++)
        for (int32_t end = begin + 1; end <= plan.n_steps; end++) {
            const int before = failures;
            check_group(&v, begin, end, rows ? &input : NULL, plant, value, own);
            if (failures == before)
                continue;
            printf("%s for %s: steps %d to %d\n", plan.file, plan.target->name, begin, end - 1);
            ac_diags_print(&cx->diags, stdout, false);
        }
}

/* The model at a path, for a target, up to its loops; NULL where that failed. */
static arenac *open_checked(const char *path, const char *target)
{
    arenac *model = arenac_open();
    MUST(model);
    MUST(arenac_set(model, "target", target) == AC_OK);
    MUST(arenac_read(model, &path, 1) == AC_OK);
    if (arenac_check(model) == AC_OK)
        return model;
    arenac_close(model);
    return NULL;
}

static void test_model(const char *name, const char *target)
{
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s.tflite", SOURCE_DIR, name);
    arenac *model = open_checked(path, target);
    MUST(model);
    all_groups(model, !strcmp(target, "generic"));
    arenac_close(model);
}

/* ------------------------------------------------------------------ random graphs in text form */

typedef struct writer {
    char text[16384];
    size_t n;
    bool integer;
    int tensors, weights;
    int dim[32][3]; /* rows, columns, channels of tensor k */
} writer;

static void say(writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(writer *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    w->n += (size_t)vsnprintf(w->text + w->n, sizeof w->text - w->n, fmt, ap);
    va_end(ap);
}

static const char *type(const writer *w, int k)
{
    static char text[4][80];
    static int at;
    char *s = text[at++ % 4];
    snprintf(s, sizeof text[0], w->integer ? "i8[1,%d,%d,%d] q(0.05, -3)" : "f32[1,%d,%d,%d]", w->dim[k][0],
             w->dim[k][1], w->dim[k][2]);
    return s;
}

static int size_of(bool same, int in, int taps, int stride)
{
    return same ? (in + stride - 1) / stride : (in - taps) / stride + 1;
}

static bool window(writer *w, int x, bool depthwise)
{
    const int k = 1 + below(3), kw = 1 + below(3), s = 1 + below(2), y = w->tensors, c = w->dim[x][2];
    const bool samePad = below(2);
    w->dim[y][0] = size_of(samePad, w->dim[x][0], k, s);
    w->dim[y][1] = size_of(samePad, w->dim[x][1], kw, s);
    w->dim[y][2] = depthwise ? c : 1 + below(9);
    if (w->dim[y][0] < 1 || w->dim[y][1] < 1)
        return false;
    const int o = w->dim[y][2], n = w->weights++;
    if (w->integer)
        say(w,
            "const w%d: i8[%d,%d,%d,%d] q(0.02, 0) = random %d (-127, 127)\nconst b%d: i32[%d] = random %d (-500, "
            "500)\n",
            n, depthwise ? 1 : o, k, kw, c, n + 1, n, o, n + 7);
    else
        say(w, "const w%d: f32[%d,%d,%d,%d] = random %d (-0.5, 0.5)\nconst b%d: f32[%d] = random %d (-1, 1)\n", n,
            depthwise ? 1 : o, k, kw, c, n + 1, n, o, n + 7);
    say(w, "t%d: %s = %s(t%d, w%d, b%d) stride_h=%d stride_w=%d padding=%s act=%s\n", y, type(w, y),
        depthwise ? "depthwise_conv_2d" : "conv_2d", x, n, n, s, s, samePad ? "same" : "valid",
        below(2) ? "relu" : "none");
    return true;
}

static bool pool(writer *w, int x, bool whole)
{
    const int y = w->tensors, kh = whole ? w->dim[x][0] : 1 + below(3), kw = whole ? w->dim[x][1] : 1 + below(3),
              s = 1 + below(2);
    const bool samePad = !whole && below(2);
    w->dim[y][0] = size_of(samePad, w->dim[x][0], kh, s);
    w->dim[y][1] = size_of(samePad, w->dim[x][1], kw, s);
    w->dim[y][2] = w->dim[x][2];
    if (w->dim[y][0] < 1 || w->dim[y][1] < 1)
        return false;
    say(w, "t%d: %s = %s_pool_2d(t%d) kernel_h=%d kernel_w=%d stride_h=%d stride_w=%d padding=%s\n", y, type(w, y),
        below(2) ? "max" : "average", x, kh, kw, s, s, samePad ? "same" : "valid");
    return true;
}

static bool map(writer *w, int x)
{
    const int y = w->tensors, other = below(w->tensors), kind = below(5);
    memcpy(w->dim[y], w->dim[x], sizeof w->dim[y]);
    if (memcmp(w->dim[x], w->dim[other], sizeof w->dim[x]) || kind > 2) {
        say(w, "t%d: %s = %s(t%d)\n", y, type(w, y), kind == 1 ? "logistic" : kind == 2 ? "relu6" : "relu", x);
        return true;
    }
    say(w, "t%d: %s = %s(t%d, t%d)\n", y, type(w, y), kind == 1 ? "mul" : "add", x, other);
    return true;
}

static bool join(writer *w, int x)
{
    const int y = w->tensors, other = below(w->tensors);
    if (w->dim[x][0] != w->dim[other][0] || w->dim[x][1] != w->dim[other][1] || other == x)
        return false;
    memcpy(w->dim[y], w->dim[x], sizeof w->dim[y]);
    w->dim[y][2] += w->dim[other][2];
    say(w, "t%d: %s = concatenation(t%d, t%d) axis=3\n", y, type(w, y), x, other);
    return true;
}

static void test_random(uint64_t from, const char *target)
{
    static writer w;
    memset(&w, 0, sizeof w);
    seed = from * 2654435761u + 1;
    w.integer = below(2);
    w.dim[0][0] = 4 + below(9);
    w.dim[0][1] = 1 + below(9);
    w.dim[0][2] = 1 + below(6);
    say(&w, "graph random {\ninput t0: %s\n", type(&w, 0));
    w.tensors = 1;
    for (const int n = 3 + below(6); w.tensors < n;) {
        const int x = below(4) ? w.tensors - 1 : below(w.tensors), what = below(12);
        if (what < 4    ? window(&w, x, false)
            : what < 7  ? window(&w, x, true)
            : what < 8  ? pool(&w, x, false)
            : what < 10 ? map(&w, x)
            : what < 11 ? join(&w, x)
                        : pool(&w, x, w.tensors == n - 1))
            w.tensors++;
    }
    say(&w, "output t%d", w.tensors - 1);
    if (below(3) == 0)
        say(&w, ", t%d", 1 + below(w.tensors - 1) % (w.tensors - 1));
    say(&w, "\n}\n");
    static const char PATH[] = BUILD_DIR "/random.ag";
    FILE *f = fopen(PATH, "w");
    MUST(f && fwrite(w.text, 1, w.n, f) == w.n && fclose(f) == 0);
    const int before = failures;
    arenac *model = open_checked(PATH, target); /* not every graph has shapes that fit */
    if (model)
        all_groups(model, true);
    if (failures != before)
        printf("seed %llu:\n%s\n", (unsigned long long)from, w.text);
    arenac_close(model);
    remove(PATH);
}

/* ------------------------------------------------------------------ work */

/* The search for groups in a chain of n convolutions, every other one with a wide result: all groups, or those that
 * --effort allows. */
static void search_chain(int n, int effort, bool all)
{
    static const char PATH[] = BUILD_DIR "/chain.ag";
    FILE *f = fopen(PATH, "w");
    MUST(f);
    fprintf(f, "graph chain {\ninput t0: f32[1,8,4,2]\n");
    fprintf(f, "const w0: f32[6,3,3,2] = random 1\nconst w1: f32[2,3,3,6] = random 2\n");
    for (int k = 0; k < n; k++)
        fprintf(f, "t%d = conv_2d(t%d, w%d) padding=same\n", k + 1, k, k % 2);
    fprintf(f, "output t%d\n}\n", n);
    MUST(fclose(f) == 0);
    arenac *model = open_checked(PATH, "generic");
    MUST(model);
    ac_ctx *cx = &model->work.cx;
    const ac_lowering *lowering = model->work.made.lowering;
    const ac_plan_how plan = {.file = PATH,
                              .graph = lowering->graph,
                              .step = lowering->step,
                              .n_steps = lowering->n_steps,
                              .target = lowering->set.target,
                              .effort = effort,
                              .live = {.align = 1}};
    ac_planned *from = ac_planned_from(cx, &plan, NULL, plan.n_steps);
    from->live = ac_live(cx, from->region, plan.graph, from->step, from->n_steps, plan.live);
    ac_stripe_search *q = ac_stripe_open(cx, &plan, from->region, from, false);
    ac_lowered **step = AC_NEW_N(from->region, ac_lowered *, plan.n_steps + 1);
    int32_t steps, stripes;
    CHECK(all ? q->work < 4000 * n : q->work >= q->most_work && q->work < q->most_work + 1000);
    CHECK(q->least < q->single); /* windows of a few rows instead of a wide tensor */
    CHECK(ac_stripe_choose(q, q->least, step, &steps, &stripes) == AC_OK && steps < n && stripes > 0);
    arenac_close(model);
    remove(PATH);
}

/* ------------------------------------------------------------------ lines */

static void test_lines(void)
{
    for (int k = 0; k < 2000; k++) {
        const ac_ramp l = {below(4), below(9) - 4, below(3) ? 1 : 2, below(3), 5 + below(40)};
        int64_t v[40], n = 1 + below(40);
        ac_ramp found;
        for (int64_t s = 0; s < n; s++)
            v[s] = ac_ramp_at(&l, s);
        CHECK(ac_ramp_fit(v, n, &found) || l.c > 1);
        for (int64_t s = 0; s < n && ac_ramp_fit(v, n, &found); s++)
            CHECK(ac_ramp_at(&found, s) == v[s]);
    }
    const int64_t bent[] = {0, 1, 2, 5, 8, 9, 10};
    ac_ramp none;
    CHECK(!ac_ramp_fit(bent, 7, &none));
}

int main(int argc, char **argv)
{
    const long graphs = argc > 1 ? atol(argv[1]) : 120, first = argc > 2 ? atol(argv[2]) : 1;
    test_lines();
    search_chain(100, 5, true);
    search_chain(200, 5, true);
    search_chain(200, 1, false);
    static const char *const MODELS[] = {"branch_f32",  "branch_int8", "digits_f32",
                                         "digits_int8", "dsnet_f32",   "dsnet_int8"};
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS && graphs >= 100; i++) {
        test_model(MODELS[i], "generic");
        test_model(MODELS[i], "x86-64-v3");
    }
    for (long k = 0; k < graphs; k++)
        test_random((uint64_t)(first + k), k % 3 ? "generic" : "x86-64-v3");
    CHECK(graphs < 100 || (groups > 500 && planted > 200 && paired > 20 && streamed > 100 && overlaid > 10 &&
                           filled > 500 && drained > 500 && split > 50));
    printf("%d groups, %d windows with a row less (%d in pairs), %d inputs by rows, %d results over their input, "
           "%d tensors copied in and %d out, %d groups in strips\n",
           groups, planted, paired, streamed, overlaid, filled, drained, split);
    return check_done();
}
