/* loop_cases.h - what tests of printers share: every instruction of the loop IR in every type as a small function,
 * random programs with loops, branches and variables, and data to run them on, among it the special values.
 *
 *     target = ac_target_find("x86-64-v3");
 *     build(true);                               cases[0 .. n_cases): a function and what each buffer is filled with
 *     fill_buffer(bytes, dtype, cases[k].fill[i]);
 *
 * A failed CHECK prints its place and ends the test. Memory: the context cx. */
#ifndef AC_TESTS_UNIT_SUPPORT_LOOP_CASES_H
#define AC_TESTS_UNIT_SUPPORT_LOOP_CASES_H
#include "codegen/targets.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/fresh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64, MAX_CASES = 4000 };

/* What a buffer is filled with. */
typedef enum fill { ANY, SMALL, COUNT, DIVISOR, FITS, TRUTH, OUTPUT } fill;

typedef struct test_case {
    const char *what;
    ac_loop_fn *fn;
    fill fill[5];
} test_case;

static ac_lb b;
static test_case cases[MAX_CASES];
static int32_t n_cases;
static const ac_target *target;

static uint64_t rnd_state = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
    rnd_state = rnd_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rnd_state >> 33);
}

static const ac_dtype ALL[] = {AC_F32, AC_F64, AC_I8,  AC_I16, AC_I32,  AC_I64, AC_U8,
                               AC_U16, AC_U32, AC_U64, AC_F16, AC_BF16, AC_BOOL};
#define EACH(T, list, x) for (const T *x = (list); x < (list) + sizeof(list) / sizeof *(list); x++)

/* ---- building ---- */

static void open_case(void)
{
    ac_lb_open(&b, cx.region, ac_strf(cx.region, "f%d", n_cases), "one instruction");
}

static void close_case(const char *what, fill f0, fill f1, fill f2, fill f3)
{
    MUST(n_cases < MAX_CASES);
    cases[n_cases++] = (test_case){what, ac_lb_close(&b), {f0, f1, f2, f3, OUTPUT}};
    MUST(ac_loop_verify(&cx, cases[n_cases - 1].fn) == AC_OK);
}

static int32_t buf(const char *name, ac_dtype d, ac_role role)
{
    return ac_lb_buf(&b, name, d, N, role, 64, NULL);
}

static const char *title(const char *op, ac_dtype d, ac_dtype to, int32_t lanes)
{
    return ac_strf(cx.region, "%s %s %s x%d on %s", op, ac_dtype_name(d), ac_dtype_name(to), lanes, target->name);
}

/* A loop over N elements, `lanes` at a time. */
static ac_x rows(int32_t lanes)
{
    return ac_lb_for(&b, "i", ac_lb_i32(&b, 0), ac_lb_i32(&b, N), lanes, AC_MARK_SERIAL);
}

typedef ac_x binary_fn(ac_lb *, ac_x, ac_x);
typedef ac_x unary_fn(ac_lb *, ac_x);

static void binary(const char *op, binary_fn *f, ac_dtype d, ac_dtype to, int32_t lanes, fill fx, fill fy)
{
    open_case();
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", d, AC_BUF_IN), out = buf("out", to, AC_BUF_OUT);
    ac_x i = rows(lanes);
    ac_lb_store(&b, out, i, f(&b, ac_lb_load(&b, x, i, lanes), ac_lb_load(&b, y, i, lanes)));
    ac_lb_end(&b);
    close_case(title(op, d, to, lanes), fx, fy, OUTPUT, OUTPUT);
}

/* With a constant and with one loaded lane as the second operand. */
static void binary_one(const char *op, binary_fn *f, ac_dtype d, ac_dtype to, int32_t lanes, fill fx, fill fy,
                       bool left)
{
    open_case();
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", d, AC_BUF_IN), out = buf("out", to, AC_BUF_OUT);
    int32_t out2 = buf("out", to, AC_BUF_OUT);
    ac_x i = rows(lanes), v = ac_lb_load(&b, x, i, lanes);
    ac_x k = ac_dtype_is_float(d) ? ac_lb_num(&b, d, 3.5) : ac_lb_int(&b, d, 3);
    ac_lb_store(&b, out, i, left ? f(&b, k, v) : f(&b, v, k));
    ac_lb_store(&b, out2, i, f(&b, v, ac_lb_load(&b, y, i, 1)));
    ac_lb_end(&b);
    close_case(title(ac_strf(cx.region, "%s with one lane", op), d, to, lanes), fx, fy, OUTPUT, OUTPUT);
}

static void unary(const char *op, unary_fn *f, ac_dtype d, int32_t lanes, fill fx)
{
    open_case();
    int32_t x = buf("x", d, AC_BUF_IN), out = buf("out", d, AC_BUF_OUT);
    ac_x i = rows(lanes);
    ac_lb_store(&b, out, i, f(&b, ac_lb_load(&b, x, i, lanes)));
    ac_lb_end(&b);
    close_case(title(op, d, d, lanes), fx, OUTPUT, OUTPUT, OUTPUT);
}

static void convert(ac_dtype from, ac_dtype to, int32_t lanes, bool clamp)
{
    open_case();
    int32_t x = buf("x", from, AC_BUF_IN), out = buf("out", to, AC_BUF_OUT);
    ac_x i = rows(lanes), v = ac_lb_load(&b, x, i, lanes);
    ac_lb_store(&b, out, i, clamp ? ac_lb_satcast(&b, v, to) : ac_lb_cast(&b, v, to));
    ac_lb_end(&b);
    fill how = from == AC_BOOL ? TRUTH : !clamp && ac_dtype_is_float(from) && ac_dtype_is_int(to) ? FITS : ANY;
    close_case(title(clamp ? "satcast" : "cast", from, to, lanes), how, OUTPUT, OUTPUT, OUTPUT);
}

static void bits(ac_dtype from, ac_dtype to, int32_t lanes)
{
    int32_t f = ac_dtype_bits(from), t = ac_dtype_bits(to), to_lanes = lanes * f / t;
    if (to_lanes < 1 || lanes * f % t || to_lanes > N)
        return;
    open_case();
    int32_t x = buf("x", from, AC_BUF_IN), out = buf("out", to, AC_BUF_OUT);
    ac_lb_store(&b, out, ac_lb_i32(&b, 0), ac_lb_bitcast(&b, ac_lb_load(&b, x, ac_lb_i32(&b, 0), lanes), to));
    close_case(title("bitcast", from, to, lanes), ANY, OUTPUT, OUTPUT, OUTPUT);
}

static void choose(ac_dtype d, ac_dtype cond, int32_t lanes, bool one)
{
    open_case();
    int32_t c = buf("c", cond, AC_BUF_IN), x = buf("x", d, AC_BUF_IN), y = buf("y", d, AC_BUF_IN);
    int32_t out = buf("out", d, AC_BUF_OUT);
    ac_x i = rows(lanes), test = ac_lb_load(&b, c, i, one ? 1 : lanes);
    if (cond != AC_BOOL)
        test = ac_lb_lt(&b, test, ac_lb_like(&b, test, 1));
    test = ac_lb_or(&b, test, ac_lb_and(&b, ac_lb_not(&b, test), ac_lb_eq(&b, test, test)));
    ac_x byte = ac_lb_cast(&b, ac_lb_cast(&b, ac_lb_load(&b, c, i, one ? 1 : lanes), AC_BOOL), AC_U8);
    test = ac_lb_xor(&b, test, ac_lb_ne(&b, byte, ac_lb_like_int(&b, byte, 0)));
    ac_lb_store(&b, out, i, ac_lb_select(&b, test, ac_lb_load(&b, x, i, lanes), ac_lb_load(&b, y, i, lanes)));
    ac_lb_end(&b);
    fill how = d == AC_BOOL ? TRUTH : ANY;
    close_case(title("select", d, cond, lanes),
               cond == AC_BOOL           ? TRUTH
               : ac_dtype_is_float(cond) ? FITS
                                         : ANY,
               how, how, OUTPUT);
}

/* A comparison that chooses one of its own operands: compilers have patterns of their own for these. */
static void choose_compared(const char *op, binary_fn *f, ac_dtype d, int32_t lanes)
{
    open_case();
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", d, AC_BUF_IN), out = buf("out", d, AC_BUF_OUT);
    ac_x i = rows(lanes), v = ac_lb_load(&b, x, i, lanes), w = ac_lb_load(&b, y, i, lanes);
    ac_lb_store(&b, out, i, ac_lb_select(&b, f(&b, v, w), ac_lb_mul(&b, v, v), w));
    ac_lb_end(&b);
    close_case(title(ac_strf(cx.region, "select by %s", op), d, d, lanes), SMALL, SMALL, OUTPUT, OUTPUT);
}

static void lanes_cases(ac_dtype d, int32_t lanes)
{
    fill how = d == AC_BOOL ? TRUTH : ANY;
    int64_t pattern[2 * N];
    open_case();
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", d, AC_BUF_IN), out = buf("out", d, AC_BUF_OUT);
    ac_x zero = ac_lb_i32(&b, 0), v = ac_lb_load(&b, x, zero, lanes), w = ac_lb_load(&b, y, zero, lanes);
    for (int32_t i = 0; i < lanes; i++)
        pattern[i] = i % 2 ? 2 * lanes - i : i / 2;
    ac_lb_store(&b, out, zero, ac_lb_shuffle(&b, v, w, pattern, lanes));
    ac_lb_store(&b, out, ac_lb_i32(&b, 1), ac_lb_lane(&b, w, lanes - 1));
    ac_lb_store(&b, out, ac_lb_i32(&b, 2), ac_lb_lane(&b, v, 1));
    for (int32_t i = 0; i < lanes / 2; i++)
        pattern[i] = lanes - 1 - i;
    ac_lb_store(&b, out, ac_lb_i32(&b, N / 2), ac_lb_shuffle(&b, v, 0, pattern, lanes / 2));
    close_case(title("shuffle, lane", d, d, lanes), how, how, OUTPUT, OUTPUT);

    open_case();
    out = buf("out", d, AC_BUF_OUT);
    x = buf("x", d, AC_BUF_IN);
    for (int32_t i = 0; i < lanes; i++) {
        double f = i * 0.5;
        memcpy(&pattern[i], &f, sizeof f);
        if (!ac_dtype_is_float(d))
            pattern[i] = d == AC_BOOL ? i % 3 == 0 : i;
    }
    zero = ac_lb_i32(&b, 0);
    ac_lb_store(&b, out, zero, ac_lb_constv(&b, d, pattern, lanes));
    if (lanes < N)
        ac_lb_store(&b, out, ac_lb_i32(&b, lanes), ac_lb_splat(&b, ac_lb_load(&b, x, zero, 1), lanes));
    ac_x acc = ac_lb_var(&b, "x", ac_lb_load(&b, x, zero, lanes)); /* a name that is taken */
    ac_x i = ac_lb_for(&b, "i", zero, ac_lb_i32(&b, 3), 1, AC_MARK_SERIAL);
    ac_lb_set(
        &b, acc,
        ac_lb_select(&b, ac_lb_lt(&b, i, ac_lb_i32(&b, 1)), ac_lb_get(&b, acc), ac_lb_constv(&b, d, pattern, lanes)));
    ac_lb_end(&b);
    ac_lb_store(&b, out, ac_lb_i32(&b, N - lanes), ac_lb_get(&b, acc));
    close_case(title("constv, splat, var", d, d, lanes), OUTPUT, how, OUTPUT, OUTPUT);

    if (d == AC_BOOL || d == AC_F16 || d == AC_BF16)
        return;
    open_case();
    x = buf("x", d, AC_BUF_IN);
    out = buf("out", d, AC_BUF_OUT);
    v = ac_lb_load_flags(&b, x, ac_lb_i32(&b, 0), lanes, AC_F_ALIGNED);
    ac_lb_store(&b, out, ac_lb_i32(&b, 0), ac_lb_sumlanes(&b, v));
    ac_lb_store(&b, out, ac_lb_i32(&b, 1), ac_lb_maxlanes(&b, v));
    close_case(title("sumlanes, maxlanes", d, d, lanes), ac_dtype_is_signed(d) && lanes == 1 ? SMALL : ANY, OUTPUT,
               OUTPUT, OUTPUT);
}

static void dots(ac_dtype d, int32_t group, int32_t lanes)
{
    open_case();
    ac_dtype second = group == 4 ? AC_I8 : AC_I16;
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", second, AC_BUF_IN), z = buf("z", AC_I32, AC_BUF_IN);
    int32_t out = buf("out", AC_I32, AC_BUF_OUT);
    ac_x zero = ac_lb_i32(&b, 0), acc = ac_lb_var(&b, "acc", ac_lb_load(&b, z, zero, lanes));
    ac_x i = ac_lb_for(&b, "k", zero, ac_lb_i32(&b, N), lanes * group, AC_MARK_SERIAL);
    ac_x v = ac_lb_load(&b, x, i, lanes * group), w = ac_lb_load(&b, y, i, lanes * group);
    ac_lb_set(&b, acc,
              group == 4 ? ac_lb_dot4(&b, v, w, ac_lb_get(&b, acc)) : ac_lb_dot2(&b, v, w, ac_lb_get(&b, acc)));
    ac_lb_end(&b);
    ac_lb_store(&b, out, zero, ac_lb_get(&b, acc));
    close_case(title(group == 4 ? "dot4" : "dot2", d, second, lanes), ANY, ANY, ANY, OUTPUT);
}

/* Sums of a tile, from what is in the accumulators before, of as many steps as there is room for and at most `most`.
 */
static void sums(ac_tile t, int64_t most)
{
    open_case();
    const ac_dtype bytes = t.form == AC_TILE_UNSIGNED ? AC_U8 : AC_I8, d = t.form == AC_TILE_PAIRS ? AC_I16 : bytes;
    t.x = buf("x", d, AC_BUF_IN);
    t.w = buf("w", bytes, AC_BUF_IN);
    const int32_t z = buf("z", AC_I32, AC_BUF_IN), out = buf("out", AC_I32, AC_BUF_OUT), n = t.rows * t.channels;
    t.acc = ac_lb_buf(&b, "acc", AC_I32, n, AC_BUF_LOCAL, 4, NULL);
    const int32_t w = t.w;
    if (t.form == AC_TILE_EACH) { /* reads beyond the slots */
        t.w = ac_lb_buf(&b, "shifted", AC_I8, N + 16, AC_BUF_LOCAL, 4, NULL);
        for (int32_t i = 0; i < N + 16; i++)
            ac_lb_store(&b, t.w, ac_lb_i32(&b, i), ac_lb_load(&b, w, ac_lb_i32(&b, i % N), 1));
    }
    int64_t steps = 1;
    while (t.form != AC_TILE_EACH && steps < most && ac_tile_reads(&t, steps + 1) <= N &&
           ac_tile_weights(&t, steps + 1) <= N)
        steps++;
    for (int32_t i = 0; i < n; i++)
        ac_lb_store(&b, t.acc, ac_lb_i32(&b, i), ac_lb_load(&b, z, ac_lb_i32(&b, i), 1));
    ac_lb_tile(&b, t, ac_lb_i32(&b, 0), ac_lb_i32(&b, 0), ac_lb_i32(&b, steps));
    for (int32_t i = 0; i < n; i++)
        ac_lb_store(&b, out, ac_lb_i32(&b, i), ac_lb_load(&b, t.acc, ac_lb_i32(&b, i), 1));
    const char *what =
        ac_strf(cx.region, "tile %s %d x %d, %d", ac_tile_text[t.form], (int)t.rows, (int)t.channels, (int)steps);
    close_case(title(what, d, bytes, 1), ANY, ANY, ANY, OUTPUT);
}

static void spread(int32_t channels, int32_t pitch, int32_t shift, int32_t stride)
{
    open_case();
    const int32_t x = buf("x", AC_I8, AC_BUF_IN), out = buf("out", AC_I8, AC_BUF_OUT);
    ac_tile t = {.form = AC_TILE_SPREAD, .rows = 1, .channels = channels, .x = x, .acc = out, .pitch = pitch};
    t.shift = shift;
    t.stride = stride;
    const ac_x i = ac_lb_for_n(&b, "i", N);
    ac_lb_store(&b, out, i, ac_lb_int(&b, AC_I8, 7));
    ac_lb_end(&b);
    ac_lb_tile(&b, t, ac_lb_i32(&b, 1), ac_lb_i32(&b, 2), ac_lb_i32(&b, 3));
    close_case(title(ac_strf(cx.region, "tile spread %d", (int)channels), AC_I8, AC_I8, 1), ANY, OUTPUT, OUTPUT,
               OUTPUT);
}

/* Four words, on processors that have no more, or eight. */
static void requants(int32_t lanes, bool away, int32_t pre)
{
    static const int32_t M[4] = {1518500250, 2147483647, 1073741824, 0}, SHIFT[4] = {-1, -7, -9, -31},
                         BIAS[4] = {77, -100000, 0, 1 << 30};
    open_case();
    const int32_t z = buf("z", AC_I32, AC_BUF_IN), out = buf("out", AC_I8, AC_BUF_OUT);
    const int32_t acc = ac_lb_buf(&b, "acc", AC_I32, 2 * lanes, AC_BUF_LOCAL, 4, NULL);
    const int32_t table = ac_lb_buf(&b, "table", AC_I32, 3 * lanes, AC_BUF_LOCAL, 4, NULL);
    for (int32_t i = 0; i < 3 * lanes; i++) {
        const int32_t *of = i < lanes ? M : i < 2 * lanes ? SHIFT : BIAS;
        ac_lb_store(&b, table, ac_lb_i32(&b, i), ac_lb_i32(&b, of[i % lanes % 4]));
    }
    for (int32_t at = 0; at + 2 * lanes <= N; at += 2 * lanes) {
        for (int32_t i = 0; i < 2 * lanes; i++)
            ac_lb_store(&b, acc, ac_lb_i32(&b, i),
                        ac_lb_shr(&b, ac_lb_load(&b, z, ac_lb_i32(&b, at + i), 1), ac_lb_i32(&b, at % 32)));
        for (int32_t row = 0; row < 2; row++) {
            ac_requants q = {.y = out, .acc = acc, .table = table, .row = row, .zero = row - 5, .lo = -128, .hi = 100};
            q.away = away;
            q.lanes = lanes;
            q.pre = pre;
            ac_lb_requant(&b, q, ac_lb_i32(&b, at + lanes * row), ac_lb_i32(&b, 0), ac_lb_i32(&b, 2 * lanes));
        }
    }
    close_case(title(ac_strf(cx.region, "requant %d %d %d", (int)lanes, away, (int)pre), AC_I32, AC_I8, 1), ANY, OUTPUT,
               OUTPUT, OUTPUT);
}

static void tile_cases(void)
{
    for (int32_t rows = 1; rows <= 3; rows++) {
        for (int32_t channels = 2; channels <= 4; channels += 2)
            sums((ac_tile){.form = AC_TILE_PAIRS, .rows = rows, .channels = channels}, N);
        sums((ac_tile){.form = AC_TILE_BYTES, .rows = rows, .channels = 4}, N);
        sums((ac_tile){.form = AC_TILE_EACH, .rows = rows, .channels = 4, .pitch = 15, .shift = 3, .depth = 16}, N);
    }
    for (int32_t channels = 2; channels <= 6; channels += 2)
        for (int32_t steps = 1; steps <= 3; steps++)
            sums((ac_tile){.form = AC_TILE_ROW, .rows = 1, .channels = channels}, steps);
    sums((ac_tile){.form = AC_TILE_OUTER, .rows = 3, .channels = 5, .pitch = 2, .shift = 2, .depth = 1}, N);
    sums((ac_tile){.form = AC_TILE_OUTER, .rows = 1, .channels = 12, .pitch = 0, .shift = 1, .depth = 3}, N);
    sums((ac_tile){.form = AC_TILE_LANES, .rows = 3, .channels = 5, .pitch = 10, .shift = 2, .depth = 2}, N);
    sums((ac_tile){.form = AC_TILE_LANES, .rows = 2, .channels = 8, .pitch = 8, .shift = 1, .depth = 1}, N);
    spread(1, 0, 1, 1);
    spread(1, 0, 1, 0);
    for (int32_t channels = 1; channels <= 8; channels += channels < 4 ? 1 : 2)
        sums((ac_tile){.form = AC_TILE_UNSIGNED, .rows = 1, .channels = channels, .depth = 32 / channels % 9}, N);
    spread(16, 3, 1, 20);
    spread(8, 7, 1, 0);
    spread(5, 12, 3, 20);
    for (int32_t lanes = 4; lanes <= 5; lanes++) {
        requants(lanes, false, 0);
        requants(lanes, true, 0);
        requants(lanes, true, 9);
    }
}

/* A loop marked apart: it reads a loop's variable, a variable, a value and an array of its own. */
static void piece(void)
{
    open_case();
    const int32_t x = buf("x", AC_I32, AC_BUF_IN), out = buf("out", AC_I32, AC_BUF_OUT);
    const int32_t own = ac_lb_buf(&b, "own", AC_I32, 4, AC_BUF_LOCAL, 4, NULL);
    const ac_x zero = ac_lb_i32(&b, 0), one = ac_lb_i32(&b, 1), next = ac_lb_var(&b, "next", zero);
    const ac_x i = ac_lb_for_n(&b, "i", N / 4), v = ac_lb_load(&b, x, i, 1);
    ac_lb_for(&b, "body", zero, one, 1, AC_MARK_APART);
    const ac_x k = ac_lb_for_n(&b, "k", 4);
    ac_lb_store(&b, own, k, ac_lb_add_wrap(&b, v, ac_lb_add(&b, i, k)));
    ac_lb_store(&b, out, ac_lb_add(&b, ac_lb_get(&b, next), k), ac_lb_load(&b, own, k, 1));
    ac_lb_end(&b);
    ac_lb_end(&b);
    ac_lb_set(&b, next, ac_lb_add(&b, ac_lb_get(&b, next), ac_lb_i32(&b, 4)));
    ac_lb_end(&b);
    close_case(title("piece", AC_I32, AC_I32, 1), ANY, OUTPUT, OUTPUT, OUTPUT);
}

/* TFLite's fixed-point multiply: i32 to i64 and back. */
static void requant(int32_t lanes)
{
    open_case();
    int32_t x = buf("x", AC_I32, AC_BUF_IN), out = buf("out", AC_I8, AC_BUF_OUT);
    ac_x i = rows(lanes), v = ac_lb_cast(&b, ac_lb_load(&b, x, i, lanes), AC_I64);
    ac_x m = ac_lb_mul(&b, v, ac_lb_like_int(&b, v, 1518500250));
    ac_x s = ac_lb_shr(&b, ac_lb_add(&b, m, ac_lb_like_int(&b, m, (int64_t)1 << 36)), ac_lb_like_int(&b, m, 37));
    ac_lb_store(&b, out, i, ac_lb_satcast(&b, ac_lb_add_wrap(&b, ac_lb_cast(&b, s, AC_I32), ac_lb_i32(&b, -5)), AC_I8));
    ac_lb_end(&b);
    close_case(title("requantise", AC_I32, AC_I8, lanes), ANY, OUTPUT, OUTPUT, OUTPUT);
}

static ac_x fma_xyx(ac_lb *lb, ac_x x, ac_x y)
{
    return ac_lb_fma(lb, x, y, ac_lb_neg(lb, x));
}
static ac_x muladd_xyx(ac_lb *lb, ac_x x, ac_x y)
{
    return ac_lb_add(lb, ac_lb_mul(lb, x, y), x);
}
static ac_x neg_wrap(ac_lb *lb, ac_x x)
{
    return ac_lb_sub_wrap(lb, ac_lb_like(lb, x, 0), x);
}

typedef struct named_binary {
    const char *name;
    binary_fn *f;
} named_binary;

static bool is_real(ac_dtype d) /* the loop IR computes with it */
{
    return d == AC_F32 || d == AC_F64;
}

static void arithmetic(ac_dtype d, int32_t lanes)
{
    static const named_binary MATH[] = {{"add", ac_lb_add}, {"sub", ac_lb_sub}, {"mul", ac_lb_mul}},
                              WRAP[] = {{"add wrap", ac_lb_add_wrap},
                                        {"sub wrap", ac_lb_sub_wrap},
                                        {"mul wrap", ac_lb_mul_wrap}},
                              BITS[] = {{"and", ac_lb_and}, {"or", ac_lb_or}, {"xor", ac_lb_xor}},
                              SHIFT[] = {{"shl", ac_lb_shl}, {"shr", ac_lb_shr}},
                              DIVIDE[] = {{"div", ac_lb_div}, {"mod", ac_lb_mod}};
    const bool real = is_real(d), whole = ac_dtype_is_int(d);
    for (int k = 0; k < 3 && (real || whole); k++) {
        binary(MATH[k].name, MATH[k].f, d, d, lanes, real ? ANY : SMALL, real ? ANY : SMALL);
        binary_one(MATH[k].name, MATH[k].f, d, d, lanes, real ? ANY : SMALL, real ? ANY : SMALL, k == 1);
    }
    for (int k = 0; k < 3 && whole; k++) {
        binary(WRAP[k].name, WRAP[k].f, d, d, lanes, ANY, ANY);
        binary_one(WRAP[k].name, WRAP[k].f, d, d, lanes, ANY, ANY, k == 1);
        binary(BITS[k].name, BITS[k].f, d, d, lanes, ANY, ANY);
        binary_one(BITS[k].name, BITS[k].f, d, d, lanes, ANY, ANY, k == 1);
    }
    for (int k = 0; k < 3 && d == AC_BOOL; k++)
        binary(BITS[k].name, BITS[k].f, d, d, lanes, TRUTH, TRUTH);
    for (int k = 0; k < 2 && whole; k++) {
        binary(SHIFT[k].name, SHIFT[k].f, d, d, lanes, ANY, COUNT);
        binary_one(SHIFT[k].name, SHIFT[k].f, d, d, lanes, ANY, COUNT, false);
        binary(DIVIDE[k].name, DIVIDE[k].f, d, d, lanes, ANY, DIVISOR);
    }
    if (real)
        binary("div", ac_lb_div, d, d, lanes, ANY, ANY);
}

static void comparisons(ac_dtype d, int32_t lanes)
{
    static const named_binary COMPARE[] = {{"eq", ac_lb_eq}, {"ne", ac_lb_ne}, {"lt", ac_lb_lt},
                                           {"le", ac_lb_le}, {"gt", ac_lb_gt}, {"ge", ac_lb_ge}},
                              EXTREME[] = {{"min", ac_lb_min}, {"max", ac_lb_max}};
    if (!is_real(d) && !ac_dtype_is_int(d))
        return;
    for (int k = 0; k < 6; k++) {
        binary(COMPARE[k].name, COMPARE[k].f, d, AC_BOOL, lanes, ANY, ANY);
        binary_one(COMPARE[k].name, COMPARE[k].f, d, AC_BOOL, lanes, ANY, ANY, k % 2);
        choose_compared(COMPARE[k].name, COMPARE[k].f, d, lanes);
    }
    for (int k = 0; k < 2; k++) {
        binary(EXTREME[k].name, EXTREME[k].f, d, d, lanes, ANY, ANY);
        binary_one(EXTREME[k].name, EXTREME[k].f, d, d, lanes, ANY, ANY, k == 1);
    }
}

static void of_one_operand(ac_dtype d, int32_t lanes)
{
    static const struct {
        const char *name;
        unary_fn *f;
    } ROUND[] = {{"sqrt", ac_lb_sqrt},   {"floor", ac_lb_floor}, {"ceil", ac_lb_ceil},
                 {"trunc", ac_lb_trunc}, {"rint", ac_lb_rint},   {"neg", ac_lb_neg}};
    const bool real = is_real(d), whole = ac_dtype_is_int(d);
    for (int k = 0; k < 6 && real; k++)
        unary(ROUND[k].name, ROUND[k].f, d, lanes, ANY);
    if (real || whole)
        unary("abs", ac_lb_abs, d, lanes, ANY);
    if (whole) {
        unary("neg", ac_lb_neg, d, lanes, SMALL);
        unary("neg wrap", neg_wrap, d, lanes, ANY);
        unary("not", ac_lb_not, d, lanes, ANY);
    }
    if (d == AC_BOOL)
        unary("not", ac_lb_not, d, lanes, TRUTH);
}

static void multiply_and_add(ac_dtype d, int32_t lanes)
{
    if (d == AC_F32 || (d == AC_F64 && target->fma))
        binary("fma", fma_xyx, d, d, lanes, ANY, ANY);
    if (is_real(d))
        binary("mul and add stay two roundings", muladd_xyx, d, d, lanes, ANY, ANY);
}

static void conversions(ac_dtype d, int32_t lanes)
{
    EACH(ac_dtype, ALL, to)
    {
        convert(d, *to, lanes, false);
        if (ac_dtype_is_int(*to) && d != AC_BOOL)
            convert(d, *to, lanes, true);
        if (d != AC_BOOL && *to != AC_BOOL)
            bits(d, *to, lanes);
    }
}

/* Every instruction that a type has. */
static void every_type(ac_dtype d, int32_t lanes)
{
    arithmetic(d, lanes);
    comparisons(d, lanes);
    of_one_operand(d, lanes);
    multiply_and_add(d, lanes);
    choose(d, AC_BOOL, lanes, false);
    choose(d, AC_BOOL, lanes, true);
    choose(d, AC_I16, lanes, false);
    choose(d, AC_F64, lanes, false);
    conversions(d, lanes);
    if (lanes > 1)
        lanes_cases(d, lanes);
}

/* ---- random programs: order of loads, stores, gets and sets ---- */

static ac_x any_value(int32_t mem, const ac_x *vars, const ac_x *index, int32_t n_index, int32_t depth)
{
    ac_x i = index[rnd() % (uint32_t)n_index];
    switch (depth > 3 ? rnd() % 4 : rnd() % 9) {
    case 0:
        return ac_lb_i32(&b, (int32_t)(rnd() % 41) - 20);
    case 1:
        return ac_lb_get(&b, vars[rnd() % 3]);
    case 2:
    case 3:
        return ac_lb_load(&b, mem, ac_lb_and(&b, ac_lb_add(&b, i, ac_lb_i32(&b, rnd() % 8)), ac_lb_i32(&b, N - 1)), 1);
    case 4:
        return ac_lb_max(&b, any_value(mem, vars, index, n_index, depth + 1),
                         any_value(mem, vars, index, n_index, depth + 1));
    case 5:
        return ac_lb_mul_wrap(&b, any_value(mem, vars, index, n_index, depth + 1), i);
    case 6:
        return ac_lb_select(&b, ac_lb_lt(&b, any_value(mem, vars, index, n_index, depth + 1), i),
                            any_value(mem, vars, index, n_index, depth + 1), ac_lb_i32(&b, 7));
    case 7:
        return ac_lb_sub_wrap(&b, any_value(mem, vars, index, n_index, depth + 1),
                              any_value(mem, vars, index, n_index, depth + 1));
    default:
        return ac_lb_add_wrap(&b, any_value(mem, vars, index, n_index, depth + 1),
                              any_value(mem, vars, index, n_index, depth + 1));
    }
}

static void any_block(int32_t mem, const ac_x *vars, ac_x *index, int32_t n_index, int32_t depth)
{
    ac_x kept[4];
    int32_t n_kept = 0;
    for (uint32_t n = 2 + rnd() % 5; n; n--) {
        ac_x v = any_value(mem, vars, index, n_index, 0);
        if (n_kept < 4)
            kept[n_kept++] = v;
        ac_x at = ac_lb_and(&b, any_value(mem, vars, index, n_index, 2), ac_lb_i32(&b, N - 1));
        switch (rnd() % 7) {
        case 0:
        case 1:
            ac_lb_store(&b, mem, at, v);
            break;
        case 2:
        case 3:
            ac_lb_set(&b, vars[rnd() % 3],
                      ac_lb_add_wrap(&b, ac_lb_get(&b, vars[rnd() % 3]), kept[rnd() % (uint32_t)n_kept]));
            break;
        case 4:
            if (depth < 3) {
                bool up = rnd() % 2;
                index[n_index] = ac_lb_for(&b, "i", ac_lb_i32(&b, up ? 0 : 5),
                                           up ? ac_lb_and(&b, v, ac_lb_i32(&b, 7)) : ac_lb_i32(&b, -1),
                                           up ? 1 + (int)(rnd() % 2) : -1, AC_MARK_SERIAL);
                any_block(mem, vars, index, n_index + 1, depth + 1);
                if (rnd() % 3 == 0)
                    ac_lb_break_if(&b, ac_lb_lt(&b, kept[rnd() % (uint32_t)n_kept], ac_lb_get(&b, vars[0])));
                ac_lb_end(&b);
            }
            break;
        case 5:
            if (depth < 3) {
                ac_lb_if(&b, ac_lb_lt(&b, v, ac_lb_i32(&b, 3)));
                any_block(mem, vars, index, n_index, depth + 1);
                if (rnd() % 2) {
                    ac_lb_else(&b);
                    any_block(mem, vars, index, n_index, depth + 1);
                }
                ac_lb_end(&b);
            }
            break;
        default:
            ac_lb_prefetch(&b, mem, kept[rnd() % (uint32_t)n_kept]);
            ac_lb_store(&b, mem, at, kept[rnd() % (uint32_t)n_kept]);
        }
    }
}

static void random_program(void)
{
    open_case();
    int32_t mem = buf("memory", AC_I32, AC_BUF_INOUT);
    ac_x vars[3], index[8];
    for (int i = 0; i < 3; i++)
        vars[i] = ac_lb_var(&b, "v", ac_lb_i32(&b, i));
    index[0] = ac_lb_i32(&b, 0);
    index[1] = ac_lb_for(&b, "int", ac_lb_i32(&b, 0), ac_lb_i32(&b, 4), 1, AC_MARK_SERIAL); /* a name C cannot have */
    any_block(mem, vars, index, 2, 0);
    ac_lb_end(&b);
    for (int i = 0; i < 3; i++)
        ac_lb_store(&b, mem, ac_lb_i32(&b, i), ac_lb_get(&b, vars[i]));
    if (n_cases % 3 == 0)
        ac_lb_fail_if(&b, ac_lb_lt(&b, ac_lb_load(&b, mem, ac_lb_i32(&b, 5), 1), ac_lb_i32(&b, 0)), 4);
    close_case("random program", SMALL, OUTPUT, OUTPUT, OUTPUT);
}

/* An array of the function's own, and a buffer nobody reads. */
static void local_array(void)
{
    open_case();
    int32_t x = buf("x", AC_F32, AC_BUF_IN), spare = buf("restrict", AC_I8, AC_BUF_IN),
            out = buf("out", AC_F32, AC_BUF_OUT);
    int32_t t = ac_lb_buf(&b, "tmp", AC_F32, N, AC_BUF_LOCAL, 64, NULL);
    (void)spare;
    ac_x i = ac_lb_for_n(&b, "i", N);
    ac_lb_store(&b, t, ac_lb_sub(&b, ac_lb_i32(&b, N - 1), i), ac_lb_load(&b, x, i, 1));
    ac_lb_end(&b);
    i = ac_lb_for_n(&b, "i", N);
    ac_lb_store(&b, out, i, ac_lb_add(&b, ac_lb_load(&b, t, i, 1), ac_lb_num(&b, AC_F32, (double)INFINITY)));
    ac_lb_end(&b);
    close_case("local array", ANY, ANY, OUTPUT, OUTPUT);
}

/* ---- data ---- */

static double any_real(void)
{
    static const double SPECIAL[] = {0.0,    -0.0,      0.5,     -0.5,         1.5,           2.5,
                                     -1.5,   1e-45,     -1e-40,  1e38,         3e38,          65504,
                                     65520,  8388607.5, 8388609, 2147483648.0, -2147483648.0, 4294967296.0,
                                     9.3e18, -9.3e18,   127.5,   -128.5,       255.9};
    switch (rnd() % 8) {
    case 0:
        return (double)INFINITY;
    case 1:
        return rnd() % 2 ? (double)-INFINITY : (double)NAN;
    case 2:
    case 3:
        return SPECIAL[rnd() % (sizeof SPECIAL / sizeof *SPECIAL)];
    case 4:
        return ((double)rnd() - 1073741824.0) / 65536;
    default:
        return ((double)rnd() - 1073741824.0) / 16777216;
    }
}

static int64_t any_int(ac_dtype d)
{
    static const int64_t SPECIAL[] = {0,         1,         -1,         INT8_MIN,  INT8_MAX,  UINT8_MAX,
                                      INT16_MIN, INT16_MAX, UINT16_MAX, INT32_MIN, INT32_MAX, UINT32_MAX,
                                      INT64_MIN, INT64_MAX, 2,          -2};
    int64_t v = (int64_t)((uint64_t)rnd() << 33 ^ (uint64_t)rnd() << 16 ^ rnd());
    if (rnd() % 3 == 0)
        v = SPECIAL[rnd() % 16];
    else if (rnd() % 3 == 0)
        v >>= 40;
    (void)d;
    return v;
}

static void fill_buffer(uint8_t *to, ac_dtype d, fill how)
{
    int32_t width = ac_dtype_bits(d) / 8;
    int64_t root = d == AC_I8 || d == AC_U8 ? 11 : 100;
    for (int32_t i = 0; i < N; i++) {
        int64_t v = any_int(d);
        double f = how == FITS ? (double)(rnd() % 1000) / 8 : any_real();
        if (how == SMALL)
            v = ac_dtype_is_signed(d) ? (int64_t)(rnd() % (uint32_t)(2 * root + 1)) - root
                                      : (int64_t)rnd() % (root + 1);
        else if (how == COUNT)
            v = rnd() % (uint32_t)ac_dtype_bits(d);
        else if (how == DIVISOR)
            v = 2 + rnd() % 100;
        else if (how == TRUTH || d == AC_BOOL)
            v = rnd() % 2;
        if (d == AC_F32) {
            float g = (float)f;
            memcpy(to + i * width, &g, sizeof g);
        } else if (d == AC_F64) {
            memcpy(to + i * width, &f, sizeof f);
        } else if (d == AC_F16 || d == AC_BF16) {
            uint16_t h =
                how == FITS ? d == AC_F16 ? ac_f32_to_f16((float)f) : ac_f32_to_bf16((float)f) : (uint16_t)rnd();
            memcpy(to + i * width, &h, sizeof h);
        } else {
            memcpy(to + i * width, &v, (size_t)width); /* little-endian */
        }
    }
}

static bool both_nan(ac_dtype d, const uint8_t *p, const uint8_t *q)
{
    if (!ac_dtype_is_float(d))
        return false;
    double x = ac_dtype_get_num(d, p, 0), y = ac_dtype_get_num(d, q, 0);
    return isnan(x) && isnan(y);
}

/* All cases of the present target. */
static void build(bool vectors)
{
    n_cases = 0;
    now = target->name;
    EACH(ac_dtype, ALL, d)
    {
        if (!vectors) {
            every_type(*d, 1);
            continue;
        }
        int32_t full = target->vec_bytes * 8 / ac_dtype_bits(*d);
        every_type(*d, full <= N ? full : N);
        if (full * 2 <= N)
            every_type(*d, full * 2);
        if (target == ac_target_find("native"))
            every_type(*d, 2);
    }
    for (int32_t lanes = 1; lanes <= (vectors ? 32 : 4); lanes *= 2) {
        requant(lanes);
        if (lanes <= 16) {
            dots(AC_U8, 4, lanes);
            dots(AC_I8, 4, lanes);
        }
        dots(AC_I16, 2, lanes);
    }
    if (!vectors) /* any program prints on plain C */
        EACH(ac_dtype, ALL, d)
    lanes_cases(*d, 4);
    if (!vectors)
        tile_cases();
    if (!vectors)
        piece();
    for (int i = 0; i < (vectors ? 10 : 100); i++)
        random_program();
    local_array();
}

#endif
