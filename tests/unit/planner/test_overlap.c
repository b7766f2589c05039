/* test_overlap.c - the distances of ir/loop/access/distance.h against brute force: the evaluator runs a function with
 * its result at every offset around its input. Where the distances allow the offset the result must be that of a
 * separate run, bit for bit; one byte closer it must not be (for random loops, whose values show every overwritten
 * byte). The same for the loops turned around, and for every step of the models in models/. Then the rules of the
 * planner and the gaps they are written as. No framework: a failed check prints its place, the exit status is 1 when
 * any failed.
 *
 *     test_overlap [programs [first seed]] */
#include "ir/loop/builder.h"
#include "ir/loop/access/distance.h"
#include "driver/door/door.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"
#include "planner/graph/overlap.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- loops by hand: distances that can be counted on paper */

static ac_loop_fn *sliding(ac_ctx *cx, int64_t pixels, int64_t channels, int64_t taps, int64_t pad)
{
    ac_lb b;
    ac_lb_open(&b, cx->region, "sliding", NULL);
    int32_t x = ac_lb_buf(&b, "x", AC_I8, pixels * channels, AC_BUF_IN, 16, NULL);
    int32_t y = ac_lb_buf(&b, "y", AC_I8, pixels * channels, AC_BUF_OUT, 16, NULL);
    ac_x p = ac_lb_for_n(&b, "p", pixels), c = ac_lb_for_n(&b, "c", channels);
    ac_x acc = ac_lb_var(&b, "acc", ac_lb_int(&b, AC_I8, 0));
    ac_x lo = ac_lb_max(&b, ac_lb_i32(&b, 0), ac_lb_sub(&b, ac_lb_i32(&b, pad), p));
    ac_x hi = ac_lb_min(&b, ac_lb_i32(&b, taps), ac_lb_sub(&b, ac_lb_i32(&b, pixels + pad), p));
    ac_x k = ac_lb_for(&b, "k", lo, hi, 1, AC_MARK_SERIAL);
    ac_x at = ac_lb_add(
        &b, ac_lb_mul(&b, ac_lb_sub(&b, ac_lb_add(&b, p, k), ac_lb_i32(&b, pad)), ac_lb_i32(&b, channels)), c);
    ac_lb_set(&b, acc, ac_lb_add_wrap(&b, ac_lb_get(&b, acc), ac_lb_load(&b, x, at, 1)));
    ac_lb_end(&b);
    ac_lb_store(&b, y, ac_lb_add(&b, ac_lb_mul(&b, p, ac_lb_i32(&b, channels)), c), ac_lb_get(&b, acc));
    ac_lb_end(&b);
    ac_lb_end(&b);
    return ac_lb_close(&b);
}

static void test_by_hand(ac_ctx *cx)
{
    ac_distance d[2];
    bool once;
    CHECK(ac_loop_distances(cx, sliding(cx, 10, 4, 1, 0), 1, d, &once) && once);
    CHECK(d[0].below == 0 && d[0].above == 40); /* the last pixel is read after the first was written */
    const ac_loop_fn *window = sliding(cx, 10, 4, 3, 1);
    CHECK(ac_loop_distances(cx, window, 1, d, &once) && once);
    CHECK(d[0].below == 4); /* one pixel back */
    ac_loop_fn *back = ac_loop_reverse(cx, cx->region, window);
    CHECK(back && ac_loop_verify(cx, back) == AC_OK);
    CHECK(back && ac_loop_distances(cx, back, 1, d, &once) && once && d[0].above == 4);
    CHECK(ac_loop_distances(cx, sliding(cx, 1000000, 8, 5, 2), 1, d, &once) && d[0].below == 16); /* quickly */
}

/* --- random loops: x and y of bytes, sums of the elements read */

typedef struct maker {
    ac_lb b;
    ac_x var[6]; /* loop variables around */
    int64_t count[6];
    int32_t n;
    int32_t x, y;
    int64_t size; /* of x */
} maker;

/* An index of x inside its bounds: sum of coefficient * variable, every range known. */
static ac_x address(maker *m, int64_t extra, int64_t room)
{
    ac_lb *b = &m->b;
    int64_t top = 0, bottom = 0;
    ac_x at = 0;
    for (int32_t k = 0; k < m->n; k++) {
        int64_t by = below(5) - (below(4) ? 0 : 3);
        if (!below(3))
            by *= m->count[m->n - 1];
        top += by > 0 ? by * (m->count[k] - 1) : 0;
        bottom += by < 0 ? by * (m->count[k] - 1) : 0;
        ac_x term = ac_lb_mul(b, m->var[k], ac_lb_i32(b, by));
        at = at ? ac_lb_add(b, at, term) : term;
    }
    int64_t span = top - bottom + extra;
    if (span >= room) /* too wide: fold it */
        return ac_lb_mod(b, ac_lb_sub(b, at ? at : ac_lb_i32(b, 0), ac_lb_i32(b, bottom)), ac_lb_i32(b, room - extra));
    return ac_lb_add(b, at ? at : ac_lb_i32(b, 0), ac_lb_i32(b, below((int32_t)(room - span)) - bottom));
}

static ac_x reads(maker *m)
{
    ac_lb *b = &m->b;
    ac_x sum = ac_lb_int(b, AC_I8, below(200) - 100);
    for (int64_t k = 0, n = 1 + below(2); k < n; k++)
        sum = ac_lb_add_wrap(b, sum, ac_lb_load(b, m->x, address(m, 1, m->size), 1));
    if (below(2)) { /* a window whose ends depend on the loop around */
        ac_x acc = ac_lb_var(b, "acc", sum);
        int64_t taps = 2 + below(3);
        ac_x lo = ac_lb_i32(b, 0), at = address(m, taps * 2, m->size);
        if (m->n && below(2))
            lo = ac_lb_max(b, lo, ac_lb_sub(b, ac_lb_i32(b, 1), m->var[below(m->n)]));
        ac_x k = ac_lb_for(b, "k", lo, ac_lb_i32(b, taps), 1, AC_MARK_SERIAL);
        ac_lb_set(
            b, acc,
            ac_lb_add_wrap(b, ac_lb_get(b, acc),
                           ac_lb_load(b, m->x, ac_lb_add(b, at, ac_lb_mul(b, k, ac_lb_i32(b, 1 + below(2)))), 1)));
        ac_lb_end(b);
        sum = ac_lb_get(b, acc);
    }
    return sum;
}

static ac_loop_fn *random_loops(ac_ctx *cx)
{
    maker m = {.size = 24 + below(60)};
    ac_lb *b = &m.b;
    int64_t sizes[3], depth = 1 + below(3), total = 1;
    for (int64_t k = 0; k < depth; k++)
        total *= sizes[k] = 2 + below(5);
    const bool tail = below(3) == 0; /* the last loop leaves some elements to a second one, in two statements */
    ac_lb_open(b, cx->region, "random", NULL);
    m.x = ac_lb_buf(b, "x", AC_I8, m.size, AC_BUF_IN, 1, NULL);
    m.y = ac_lb_buf(b, "y", AC_I8, total + (tail ? 5 : 0), AC_BUF_OUT, 1, NULL);
    ac_x at = ac_lb_i32(b, 0);
    for (int64_t k = 0; k < depth; k++) {
        ac_x v = ac_lb_for_n(b, "i", sizes[k]);
        m.var[m.n] = v;
        m.count[m.n++] = sizes[k];
        at = ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, sizes[k])), v);
    }
    if (below(4) == 0)
        at = ac_lb_sub(b, ac_lb_i32(b, total - 1), at);
    if (below(4) == 0) {
        ac_lb_if(b, ac_lb_lt(b, m.var[0], ac_lb_i32(b, 1 + below(2))));
        ac_lb_store(b, m.y, at, reads(&m));
        ac_lb_else(b);
        ac_lb_store(b, m.y, at, reads(&m));
        ac_lb_end(b);
    } else {
        ac_lb_store(b, m.y, at, reads(&m));
    }
    for (int64_t k = 0; k < depth; k++)
        ac_lb_end(b);
    m.n = 0;
    if (tail) {
        ac_x v = ac_lb_for_n(b, "t", 5);
        m.var[m.n] = v;
        m.count[m.n++] = 5;
        ac_lb_store(b, m.y, ac_lb_add(b, v, ac_lb_i32(b, total)), reads(&m));
        ac_lb_end(b);
    }
    return ac_lb_close(b);
}

/* Runs fn with y at `at` and x at `from` in one memory; the bytes of y go to `out`. */
static bool run_at(ac_ctx *cx, const ac_program *p, const ac_loop_fn *fn, const uint8_t *x, int64_t from, int64_t at,
                   uint8_t *memory, uint8_t *out)
{
    int status = 0;
    int64_t nx = fn->buf.item[0].count, ny = fn->buf.item[1].count;
    memcpy(memory + from, x, (size_t)nx);
    void *data[2] = {memory + from, memory + at};
    if (ac_eval_run(cx, p, data, 2, &status) != AC_OK || status)
        return false;
    memcpy(out, memory + at, (size_t)ny);
    return true;
}

/* Every offset: allowed ones are right, and the first that is not allowed is wrong on either side. */
static void brute_force(ac_ctx *cx, const ac_loop_fn *fn, ac_distance d)
{
    int64_t nx = fn->buf.item[0].count, ny = fn->buf.item[1].count;
    uint8_t *memory = calloc(1, (size_t)(nx + 4 * ny + 64)), *x = malloc((size_t)nx), *want = malloc((size_t)ny),
            *got = malloc((size_t)ny);
    ac_program *p = ac_eval_compile(cx, cx->region, fn);
    bool wrong_below = false, wrong_above = false, right = p != NULL;
    for (int fill = 0; fill < 6 && p; fill++) {
        for (int64_t i = 0; i < nx; i++)
            x[i] = (uint8_t)rnd();
        right = right && run_at(cx, p, fn, x, 0, nx, memory, want);
        for (int64_t off = -ny; off <= nx && right; off++) {
            right = run_at(cx, p, fn, x, ny, ny + off, memory, got);
            bool same = right && !memcmp(want, got, (size_t)ny);
            if (off <= -d.below || off >= d.above)
                right = same;
            wrong_below |= off == -d.below + 1 && !same;
            wrong_above |= off == d.above - 1 && !same;
        }
    }
    CHECK(right);
    /* If the two sides touch, or nothing is in the way, every offset is valid. */
    if (-d.below + 1 < d.above && -d.below + 1 > -ny && d.below > -nx)
        CHECK(wrong_below);
    if (-d.below + 1 < d.above && d.above - 1 < nx && d.above > -ny)
        CHECK(wrong_above);
    free(memory);
    free(x);
    free(want);
    free(got);
}

static void test_random(ac_ctx *cx, int64_t programs, uint64_t first)
{
    int64_t turned = 0;
    for (int64_t k = 0; k < programs; k++) {
        seed = (first + (uint64_t)k) * 0x9e3779b97f4a7c15u + 1;
        int before = failures;
        ac_region *keep = cx->region;
        cx->region = ac_region_open(&cx->heap);
        ac_loop_fn *fn = random_loops(cx);
        ac_distance d[2];
        bool once;
        CHECK(ac_loop_verify(cx, fn) == AC_OK);
        CHECK(ac_loop_distances(cx, fn, 1, d, &once));
        brute_force(cx, fn, d[0]);
        ac_loop_fn *back = once ? ac_loop_reverse(cx, cx->region, fn) : NULL;
        if (back) {
            turned++;
            CHECK(ac_loop_verify(cx, back) == AC_OK);
            CHECK(ac_loop_distances(cx, back, 1, d, &once) && once);
            brute_force(cx, back, d[0]);
        }
        if (failures != before)
            printf("program %llu\n", (unsigned long long)(first + (uint64_t)k));
        ac_region_close(cx->region);
        cx->region = keep;
    }
    CHECK(turned > programs / 2);
}

/* --- the steps of real models */

static void fill(const ac_buf *b, void *to)
{
    for (int64_t i = 0; i < b->count; i++)
        if (b->dtype == AC_F32)
            ((float *)to)[i] = (float)(below(2001) - 1000) / 256.0f;
        else if (b->dtype == AC_I32 || b->dtype == AC_I64) /* may be an index */
            memset((char *)to + i * ac_dtype_size(b->dtype, 1), 0, (size_t)ac_dtype_size(b->dtype, 1));
        else
            for (int64_t k = 0; k < ac_dtype_size(b->dtype, 1); k++)
                ((uint8_t *)to)[i * ac_dtype_size(b->dtype, 1) + k] = (uint8_t)rnd();
}

/* Step `low` with parameter o at `off` bytes from parameter i gives what a separate run gives. */
static void step_at(ac_ctx *cx, const ac_lowered *low, const ac_loop_fn *fn, void **data, int32_t i, int32_t o,
                    int64_t off, const void *want)
{
    const ac_buf *bi = &fn->buf.item[i], *bo = &fn->buf.item[o];
    int64_t ni = ac_dtype_size(bi->dtype, bi->count), no = ac_dtype_size(bo->dtype, bo->count);
    char *memory = ac_alloc(cx->region, (size_t)(ni + 2 * no + 64));
    void **own = ac_copy(cx->region, data, (size_t)low->arg.n * sizeof *own);
    own[i] = memory + no;
    own[o] = memory + no + off;
    memcpy(own[i], data[i], (size_t)ni);
    int status = 0;
    CHECK(ac_eval(cx, fn, own, low->arg.n, &status) == AC_OK && !status);
    CHECK(!memcmp(own[o], want, (size_t)no));
}

static void step_pair(ac_ctx *cx, const ac_lowered *low, const ac_loop_fn *fn, void **data, int32_t i, int32_t o,
                      const void *want)
{
    const ac_buf *bi = &fn->buf.item[i], *bo = &fn->buf.item[o];
    int64_t ni = ac_dtype_size(bi->dtype, bi->count), no = ac_dtype_size(bo->dtype, bo->count);
    ac_distance *d = AC_NEW_N(cx->region, ac_distance, fn->buf.n);
    bool once;
    int64_t unit = ac_dtype_size(bi->dtype, 1) > ac_dtype_size(bo->dtype, 1) ? ac_dtype_size(bi->dtype, 1)
                                                                             : ac_dtype_size(bo->dtype, 1);
    if (!ac_loop_distances(cx, fn, o, d, &once))
        return;
    int64_t low_at = -d[i].below, high_at = d[i].above;
    low_at -= (low_at % unit + unit) % unit;
    high_at += (unit - high_at % unit) % unit;
    for (int64_t k = 0; k < 3; k++) {
        if (low_at - k * unit >= -no && low_at - k * unit <= ni)
            step_at(cx, low, fn, data, i, o, low_at - k * unit, want);
        if (high_at + k * unit <= ni && high_at + k * unit >= -no)
            step_at(cx, low, fn, data, i, o, high_at + k * unit, want);
    }
}

static void test_step(ac_ctx *cx, const ac_lowered *low)
{
    const ac_loop_fn *fn = low->fn;
    void **data = AC_NEW_N(cx->region, void *, low->arg.n + 1);
    bool once = true;
    ac_distance *d = AC_NEW_N(cx->region, ac_distance, fn->buf.n + 1);
    for (int32_t i = 0; i < low->arg.n; i++) {
        union {
            const void *read;
            void *any;
        } k = {low->arg.item[i].konst ? ac_const_data(cx, low->arg.item[i].konst) : NULL};
        const ac_buf *b = &fn->buf.item[i];
        data[i] = k.any ? k.any : ac_alloc(cx->region, (size_t)ac_dtype_size(b->dtype, b->count) + 64);
        if (!k.any)
            fill(b, data[i]);
    }
    int status = 0;
    CHECK(ac_eval(cx, fn, data, low->arg.n, &status) == AC_OK && !status);
    for (int32_t o = 0; o < low->arg.n; o++) {
        if (fn->buf.item[o].role != AC_BUF_OUT)
            continue;
        const ac_buf *b = &fn->buf.item[o];
        void *want = ac_copy(cx->region, data[o], (size_t)ac_dtype_size(b->dtype, b->count));
        bool known = ac_loop_distances(cx, fn, o, d, &once);
        ac_loop_fn *back = known && once ? ac_loop_reverse(cx, cx->region, fn) : NULL;
        if (back) {
            CHECK(ac_loop_verify(cx, back) == AC_OK);
            memset(data[o], 0x5a, (size_t)ac_dtype_size(b->dtype, b->count));
            CHECK(ac_eval(cx, back, data, low->arg.n, &status) == AC_OK && !status);
            CHECK(!memcmp(data[o], want, (size_t)ac_dtype_size(b->dtype, b->count)));
        }
        for (int32_t i = 0; i < low->arg.n; i++) {
            if (fn->buf.item[i].role != AC_BUF_IN)
                continue;
            step_pair(cx, low, fn, data, i, o, want);
            if (back)
                step_pair(cx, low, back, data, i, o, want);
        }
    }
}

static void test_model(const char *name, const char *target)
{
    char text[512];
    const char *path = text;
    snprintf(text, sizeof text, "%s/models/%s.tflite", SOURCE_DIR, name);
    arenac *model = arenac_open();
    MUST(model);
    int before = failures;
    if (arenac_set(model, "target", target) || arenac_read(model, &path, 1) || arenac_check(model)) {
        FAILED("the model can be read");
        arenac_print_diagnostics(model, stdout, false);
    }
    for (int32_t s = 0; s < model->work.made.lowering->n_steps; s++) {
        test_step(&model->work.cx, model->work.made.lowering->step[s]);
        if (failures != before)
            printf("%s for %s: step %d '%s'\n", name, target, s, model->work.made.lowering->step[s]->node->name);
        before = failures;
    }
    arenac_close(model);
}

/* --- plans */

static void test_plan(const char *name, const char *align)
{
    char text[512];
    const char *path = text;
    ac_bytes arena[2] = {0, 0};
    snprintf(text, sizeof text, "%s/models/%s.tflite", SOURCE_DIR, name);
    for (int on = 0; on < 2; on++) {
        arenac *model = arenac_open();
        MUST(model);
        CHECK(arenac_set(model, "align", align) == AC_OK && arenac_set(model, "overlap", on ? "on" : "off") == AC_OK);
        MUST(arenac_read(model, &path, 1) == AC_OK && arenac_plan(model) == AC_OK);
        arena[on] = arenac_arena_bytes(model);
        const ac_plan *plan = &model->work.made.planned->plan;
        CHECK(plan->bound <= plan->arena_bytes);
        const ac_problem *p = &model->work.made.planned->live->problem;
        ac_problem plain = ac_problem_pairs_to_gaps(model->work.cx.region, p, plan);
        CHECK(plain.n_pairs == 0 && ac_plan_check(&model->work.cx, path, &plain, plan) == AC_OK);
        for (int32_t k = 0; k < p->n_pairs; k++) { /* an offset in the middle of a forbidden window is found */
            const ac_pair *q = &p->pair[k];
            const ac_bytes d = plan->offset[q->b] - plan->offset[q->a];
            CHECK(p->item[q->a].life.end == q->life.end && p->item[q->b].life.begin == q->life.begin);
            CHECK(d <= q->max_below || d >= q->min_above || d <= -p->item[q->b].size || d >= p->item[q->a].size);
        }
        arenac_close(model);
    }
    CHECK(arena[1] <= arena[0]);
}

int main(int argc, char **argv)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    if (OUT_OF_MEMORY(cx))
        return 2;
    ac_ctx_start(&cx);
    test_by_hand(&cx);
    test_random(&cx, argc > 1 ? atol(argv[1]) : 400, argc > 2 ? (uint64_t)atol(argv[2]) : 1);
    static const char *const MODELS[] = {"branch_f32",  "branch_int8", "digits_f32",
                                         "digits_int8", "dsnet_f32",   "dsnet_int8"};
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        test_model(MODELS[i], "generic");
        test_model(MODELS[i], "x86-64-v3");
        test_plan(MODELS[i], "1");
        test_plan(MODELS[i], "16");
    }
    ac_diags_print(&cx.diags, stdout, false);
    ac_ctx_close(&cx);
    return check_done();
}
