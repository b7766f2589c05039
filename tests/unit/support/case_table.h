/* case_table.h - functions of the loop IR as cases: the table, what each buffer is filled with, and the data, among it
 * the special values.
 *
 *     open_case();                               b: the builder of the next case
 *     int32_t x = buf("x", AC_I8, AC_BUF_IN);    of N elements
 *     close_case(title("neg", AC_I8, AC_I8, 1), ANY, OUTPUT, OUTPUT, OUTPUT);
 *     fill_buffer(bytes, dtype, cases[k].fill[i]);
 *
 * A failed CHECK prints its place and ends the test. Memory: the context cx. */
#ifndef AC_TESTS_UNIT_SUPPORT_CASE_TABLE_H
#define AC_TESTS_UNIT_SUPPORT_CASE_TABLE_H
#include "codegen/targets.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/fresh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64, MAX_CASES = 4000 };

/* The initial contents of a buffer. */
typedef enum fill { ANY, SMALL, NARROW, COUNT, DIVISOR, FITS, TRUTH, OUTPUT } fill;

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

static inline void fill_buffer(uint8_t *to, ac_dtype d, fill how)
{
    int32_t width = ac_dtype_bits(d) / 8;
    int64_t root = d == AC_I8 || d == AC_U8 ? 11 : 100;
    for (int32_t i = 0; i < N; i++) {
        int64_t v = any_int(d);
        double f = how == FITS ? (double)(rnd() % 1000) / 8 : any_real();
        if (how == SMALL)
            v = ac_dtype_is_signed(d) ? (int64_t)(rnd() % (uint32_t)(2 * root + 1)) - root
                                      : (int64_t)rnd() % (root + 1);
        else if (how == NARROW) /* -64 .. 64, often an end */
            v = rnd() % 2 ? (int64_t)(rnd() % 129) - 64 : rnd() % 2 ? 64 : -64;
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

static inline bool both_nan(ac_dtype d, const uint8_t *p, const uint8_t *q)
{
    if (!ac_dtype_is_float(d))
        return false;
    double x = ac_dtype_get_num(d, p, 0), y = ac_dtype_get_num(d, q, 0);
    return isnan(x) && isnan(y);
}

#endif
