/* loop_cases.h - shared by tests of printers: every instruction of the loop IR in every type as a small function,
 * tiles, and random programs with loops, branches and variables.
 *
 *     target = ac_target_find("x86-64-v3");
 *     build(true);                               cases[0 .. n_cases) of case_table.h
 *
 * A failed CHECK prints its place and ends the test. Memory: the context cx. */
#ifndef AC_TESTS_UNIT_SUPPORT_LOOP_CASES_H
#define AC_TESTS_UNIT_SUPPORT_LOOP_CASES_H
#include "tests/unit/support/random_cases.h"
#include "tests/unit/support/tile_cases.h"

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
    ac_x k = ac_dtype_is_float(d) ? ac_lb_num(&b, d, 3.5) : ac_lb_int(&b, d, d == AC_BOOL ? left : 3);
    ac_lb_store(&b, out, i, left ? f(&b, k, v) : f(&b, v, k));
    ac_lb_store(&b, out2, i, f(&b, v, ac_lb_load(&b, y, i, 1)));
    ac_lb_end(&b);
    close_case(title(ac_strf(cx.region, "%s with one lane", op), d, to, lanes), fx, fy, OUTPUT, OUTPUT);
}

/* The result or a constant. */
static void selected(const char *op, binary_fn *f, ac_dtype d, int32_t lanes, fill fx, fill fy)
{
    open_case();
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", d, AC_BUF_IN), out = buf("out", d, AC_BUF_OUT);
    ac_x i = rows(lanes), v = ac_lb_load(&b, x, i, lanes), w = ac_lb_load(&b, y, i, lanes);
    ac_lb_store(&b, out, i, ac_lb_select(&b, ac_lb_lt(&b, v, w), ac_lb_like(&b, v, 0), f(&b, v, w)));
    ac_lb_end(&b);
    close_case(title(ac_strf(cx.region, "0 or %s", op), d, d, lanes), fx, fy, OUTPUT, OUTPUT);
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

/* Operands that printers may have another instruction for (seven_bits.c): bytes of x are masked, at most 127, or those
 * of y are known to be in -64 .. 64. */
typedef enum fitting { WHOLE, MASKED_X, NARROW_Y } fitting;

static void dots(ac_dtype d, int32_t group, int32_t lanes, fitting how)
{
    static const char *const KNOWN[] = {"", " of 7 bits", " by narrow bytes"};
    open_case();
    ac_dtype second = group == 4 ? AC_I8 : AC_I16;
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", second, AC_BUF_IN), z = buf("z", AC_I32, AC_BUF_IN);
    int32_t out = buf("out", AC_I32, AC_BUF_OUT);
    ac_x zero = ac_lb_i32(&b, 0), acc = ac_lb_var(&b, "acc", ac_lb_load(&b, z, zero, lanes));
    ac_x i = ac_lb_for(&b, "k", zero, ac_lb_i32(&b, N), lanes * group, AC_MARK_SERIAL);
    ac_x v = ac_lb_load(&b, x, i, lanes * group);
    const ac_x w = ac_lb_load_flags(&b, y, i, lanes * group, how == NARROW_Y ? AC_F_NARROW : 0);
    if (how == MASKED_X)
        v = ac_lb_and(&b, v, ac_lb_like_int(&b, v, 127));
    ac_lb_set(&b, acc,
              group == 4 ? ac_lb_dot4(&b, v, w, ac_lb_get(&b, acc)) : ac_lb_dot2(&b, v, w, ac_lb_get(&b, acc)));
    ac_lb_end(&b);
    ac_lb_store(&b, out, zero, ac_lb_get(&b, acc));
    close_case(title(ac_strf(cx.region, "dot%d%s", (int)group, KNOWN[how]), d, second, lanes), ANY,
               how == NARROW_Y ? NARROW : ANY, ANY, OUTPUT);
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
        selected(MATH[k].name, MATH[k].f, d, lanes, real ? ANY : SMALL, real ? ANY : SMALL);
    }
    for (int k = 0; k < 3 && whole; k++) {
        binary(WRAP[k].name, WRAP[k].f, d, d, lanes, ANY, ANY);
        binary_one(WRAP[k].name, WRAP[k].f, d, d, lanes, ANY, ANY, k == 1);
        binary(BITS[k].name, BITS[k].f, d, d, lanes, ANY, ANY);
        binary_one(BITS[k].name, BITS[k].f, d, d, lanes, ANY, ANY, k == 1);
        selected(BITS[k].name, BITS[k].f, d, lanes, ANY, ANY);
    }
    for (int k = 0; k < 3 && d == AC_BOOL; k++)
        binary(BITS[k].name, BITS[k].f, d, d, lanes, TRUTH, TRUTH);
    for (int k = 0; k < 2 && whole; k++) {
        binary(SHIFT[k].name, SHIFT[k].f, d, d, lanes, ANY, COUNT);
        binary_one(SHIFT[k].name, SHIFT[k].f, d, d, lanes, ANY, COUNT, false);
        selected(SHIFT[k].name, SHIFT[k].f, d, lanes, ANY, COUNT);
        binary(DIVIDE[k].name, DIVIDE[k].f, d, d, lanes, ANY, DIVISOR);
        selected(DIVIDE[k].name, DIVIDE[k].f, d, lanes, ANY, DIVISOR);
    }
    if (real)
        binary("div", ac_lb_div, d, d, lanes, ANY, ANY);
}

/* A comparison whose result is compared with a constant, without a buffer of bools. */
static void against_constant(ac_dtype d, int32_t lanes, bool constant)
{
    open_case();
    int32_t x = buf("x", d, AC_BUF_IN), y = buf("y", d, AC_BUF_IN), out = buf("out", d, AC_BUF_OUT);
    ac_x i = rows(lanes), v = ac_lb_load(&b, x, i, lanes), w = ac_lb_load(&b, y, i, lanes);
    ac_x is = ac_lb_ne(&b, ac_lb_lt(&b, v, w), ac_lb_int(&b, AC_BOOL, constant));
    ac_lb_store(&b, out, i, ac_lb_select(&b, is, v, w));
    ac_lb_end(&b);
    close_case(title("ne constant", d, d, lanes), ANY, ANY, OUTPUT, OUTPUT);
}

static void comparisons(ac_dtype d, int32_t lanes)
{
    static const named_binary COMPARE[] = {{"eq", ac_lb_eq}, {"ne", ac_lb_ne}, {"lt", ac_lb_lt},
                                           {"le", ac_lb_le}, {"gt", ac_lb_gt}, {"ge", ac_lb_ge}},
                              EXTREME[] = {{"min", ac_lb_min}, {"max", ac_lb_max}};
    for (int k = 0; k < 2 && d == AC_BOOL; k++) {
        binary(COMPARE[k].name, COMPARE[k].f, d, d, lanes, TRUTH, TRUTH);
        binary_one(COMPARE[k].name, COMPARE[k].f, d, d, lanes, TRUTH, TRUTH, true);
        binary_one(COMPARE[k].name, COMPARE[k].f, d, d, lanes, TRUTH, TRUTH, false);
    }
    if (!is_real(d) && !ac_dtype_is_int(d))
        return;
    for (int k = 0; k < 6; k++) {
        binary(COMPARE[k].name, COMPARE[k].f, d, AC_BOOL, lanes, ANY, ANY);
        binary_one(COMPARE[k].name, COMPARE[k].f, d, AC_BOOL, lanes, ANY, ANY, k % 2);
        choose_compared(COMPARE[k].name, COMPARE[k].f, d, lanes);
    }
    for (int k = 0; k < 2; k++)
        against_constant(d, lanes, k);
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

/* A local array, and an unused buffer. */
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
            dots(AC_U8, 4, lanes, WHOLE);
            dots(AC_U8, 4, lanes, MASKED_X);
            dots(AC_U8, 4, lanes, NARROW_Y);
            dots(AC_I8, 4, lanes, WHOLE);
        }
        dots(AC_I16, 2, lanes, WHOLE);
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
