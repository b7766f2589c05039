/* half_cases.h - random programs on values of four bytes and two halves: instructions that halves.h keeps whole, and
 * others.
 *
 *     n_cases = 0;
 *     build_halves();             cases[0 .. n_cases) of case_table.h, for the target that is set */
#ifndef AC_TESTS_UNIT_SUPPORT_HALF_CASES_H
#define AC_TESTS_UNIT_SUPPORT_HALF_CASES_H
#include "tests/unit/support/case_table.h"

enum { PROGRAMS = 60, STEPS = 14, VALUES = 64, BYTES = 0, PAIRS = 1, WORDS = 2, SUMS = 3 };

typedef struct pool {
    ac_x bytes[VALUES], pair[VALUES], sum[VALUES]; /* i8x4, i16x2, i32 */
    int32_t n_bytes, n_pair, n_sum;
} pool;

static ac_x any(const ac_x *list, int32_t n)
{
    return list[rnd() % (uint32_t)n];
}

static ac_x pack(const pool *p)
{
    const int64_t two[] = {rnd() % 2, rnd() % 2}, four[] = {rnd() % 4, rnd() % 4};
    const ac_x x = any(p->pair, p->n_pair), y = any(p->pair, p->n_pair);
    if (rnd() % 2)
        return ac_lb_shuffle(&b, x, y, four, 2);
    return ac_lb_shuffle(&b, ac_lb_cast(&b, any(p->sum, p->n_sum), AC_I16), ac_lb_lane(&b, x, 1), two, 2);
}

static void one_step(pool *p, ac_x i)
{
    const ac_x x = any(p->pair, p->n_pair), y = any(p->pair, p->n_pair), w = any(p->bytes, p->n_bytes);
    const ac_x byte = ac_lb_like_int(&b, x, 8);
    switch (rnd() % 9) {
    case 0:
        p->bytes[p->n_bytes++] = ac_lb_load(&b, BYTES, ac_lb_add(&b, i, ac_lb_i32(&b, rnd() % 8)), 4);
        return;
    case 1:
        p->pair[p->n_pair++] = ac_lb_load(&b, PAIRS, ac_lb_add(&b, i, ac_lb_i32(&b, rnd() % 8)), 2);
        return;
    case 2:
        p->pair[p->n_pair++] = ac_lb_shr(&b, ac_lb_bitcast(&b, w, AC_I16), byte);
        return;
    case 3:
        p->pair[p->n_pair++] = ac_lb_shr(&b, ac_lb_shl(&b, ac_lb_bitcast(&b, w, AC_I16), byte), byte);
        return;
    case 4:
        p->pair[p->n_pair] = pack(p);
        p->n_pair++;
        return;
    case 5:
        p->sum[p->n_sum] = ac_lb_dot2(&b, x, y, any(p->sum, p->n_sum));
        p->n_sum++;
        return;
    case 6: {
        const ac_x bits = ac_lb_bitcast(&b, x, AC_U32);
        p->bytes[p->n_bytes++] = ac_lb_bitcast(&b, ac_lb_shr(&b, bits, ac_lb_int(&b, AC_U32, rnd() % 32)), AC_I8);
        return;
    }
    case 7:
        p->pair[p->n_pair++] = rnd() % 2 ? ac_lb_xor(&b, x, y) : ac_lb_and(&b, x, ac_lb_like_int(&b, x, -256));
        return;
    default: /* instructions that become scalars */
        p->pair[p->n_pair++] = rnd() % 2 ? ac_lb_add_wrap(&b, x, y) : ac_lb_shl(&b, x, ac_lb_like_int(&b, x, 3));
        p->sum[p->n_sum++] = ac_lb_cast(&b, ac_lb_lane(&b, w, (int32_t)(rnd() % 4)), AC_I32);
        return;
    }
}

static void half_program(void)
{
    const int64_t lanes[] = {-5, 300};
    open_case();
    buf("bytes", AC_I8, AC_BUF_IN);
    buf("pairs", AC_I16, AC_BUF_IN);
    buf("words", AC_I8, AC_BUF_OUT);
    buf("sums", AC_I32, AC_BUF_OUT);
    pool p = {.n_bytes = 1, .n_pair = 2, .n_sum = 1};
    const ac_x kept = ac_lb_var(&b, "kept", ac_lb_constv(&b, AC_I16, lanes, 2));
    const ac_x i = ac_lb_for(&b, "i", ac_lb_i32(&b, 0), ac_lb_i32(&b, N - 16), 4, AC_MARK_SERIAL);
    p.bytes[0] = ac_lb_load(&b, BYTES, i, 4);
    p.pair[0] = ac_lb_get(&b, kept);
    p.pair[1] = ac_lb_load(&b, PAIRS, i, 2);
    p.sum[0] = ac_lb_i32(&b, 7);
    for (int32_t k = 0; k < STEPS; k++)
        one_step(&p, i);
    ac_lb_set(&b, kept, p.pair[p.n_pair - 1]);
    ac_lb_store(&b, WORDS, i, p.bytes[p.n_bytes - 1]);
    ac_lb_store(&b, SUMS, i, ac_lb_dot2(&b, p.pair[p.n_pair - 1], p.pair[p.n_pair - 2], p.sum[p.n_sum - 1]));
    ac_lb_end(&b);
    close_case("random program", ANY, ANY, OUTPUT, OUTPUT);
}

static void build_halves(void)
{
    n_cases = 0;
    for (int32_t i = 0; i < PROGRAMS; i++)
        half_program();
}

#endif
