/* test_quant.c - requantisation in one shift against the reference's two roundings, written out as TFLite documents
 * them; the 64-bit form; multipliers from real numbers; activation ranges. All lane counts, extremes and random values.
 */
#include "ir/loop/eval/eval.h"
#include "ir/lower/fixed_point.h"
#include "ir/lower/lower.h"
#include "tests/unit/support/in_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ac_ctx cx;
static const ac_target plain = {.name = "plain", .features = "", .align = 16};
static const ac_target avx2 = {.name = "avx2", .vec_bytes = 32, .registers = 16, .features = "", .align = 16};
static const ac_target avx512 = {.name = "avx512", .vec_bytes = 64, .registers = 32, .features = "", .align = 16};
static const ac_target *target = &plain; /* of the function that run() makes */

static uint64_t state = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static int32_t high_mul(int32_t a, int32_t b)
{
    if (a == b && a == INT32_MIN)
        return INT32_MAX;
    const int64_t ab = (int64_t)a * b, nudge = ab >= 0 ? 1 << 30 : 1 - (1 << 30);
    return (int32_t)((ab + nudge) / 2147483648LL);
}

static int32_t divide_pot(int32_t x, int e)
{
    const int32_t mask = (int32_t)(((int64_t)1 << e) - 1), rest = x & mask, half = (mask >> 1) + (x < 0);
    return (x >> e) + (rest > half);
}

static int32_t naive(int32_t x, int32_t m, int shift)
{
    const int32_t wide = (int32_t)((uint32_t)x << (shift > 0 ? shift : 0));
    return divide_pot(high_mul(wide, m), shift > 0 ? 0 : -shift);
}

static int32_t naive64(int64_t x, int32_t m, int shift)
{
    const int32_t reduced = m < 0x7FFF0000 ? (m + (1 << 15)) >> 16 : 0x7FFF;
    const int total = 15 - shift;
    return (int32_t)((x * reduced + ((int64_t)1 << (total - 1))) >> total);
}

enum { N = 4096 };

/* How the compiled function gets its multiplier. */
typedef enum form { KNOWN, VALUE, PREPARED, RIGHT, POSITIVE, SHIFT, WIDE, WIDE_VALUE } form;

static void run(form f, ac_multiplier q, int32_t lanes, const void *x, int32_t *y, const int32_t *m, const int32_t *s)
{
    ac_lower L = {.cx = &cx, .region = ac_region_open(&cx.heap), .target = target, .result_buf = -1};
    ac_lb *b = &L.b;
    const bool wide = f == WIDE || f == WIDE_VALUE;
    ac_lb_open(b, L.region, "requant", NULL);
    const int32_t bx = ac_lb_buf(b, "x", wide ? AC_I64 : AC_I32, N, AC_BUF_IN, 16, NULL);
    const int32_t bm = ac_lb_buf(b, "m", AC_I32, N, AC_BUF_IN, 16, NULL);
    const int32_t bs = ac_lb_buf(b, "s", AC_I32, N, AC_BUF_IN, 16, NULL);
    const int32_t by = ac_lb_buf(b, "y", AC_I32, N, AC_BUF_OUT, 16, NULL);
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, N), lanes, AC_MARK_SERIAL);
    const ac_x v = ac_lb_load(b, bx, i, lanes), mv = ac_lb_load(b, bm, i, lanes), sv = ac_lb_load(b, bs, i, lanes);
    ac_x r = 0;
    switch (f) {
    case KNOWN:
        r = ac_lo_requant(&L, v, q);
        break;
    case VALUE:
        r = ac_lo_requant_v(&L, v, mv, sv);
        break;
    case PREPARED: {
        const ac_requant p = ac_lo_requant_prepare(&L, mv, sv);
        r = ac_lo_requant_apply(&L, v, &p);
        break;
    }
    case RIGHT:
    case POSITIVE:
        r = ac_lo_requant_right(&L, v, mv, ac_lb_sub(b, ac_lb_like_int(b, sv, 0), sv), f == POSITIVE);
        break;
    case SHIFT:
        r = ac_lo_fx_round_shift(&L, v, q.shift);
        break;
    case WIDE:
        r = ac_lo_requant64(&L, v, q);
        break;
    case WIDE_VALUE:
        r = ac_lo_requant64_v(&L, v, mv, sv);
        break;
    }
    MUST(ac_lb_lane_count(b, r) == lanes && ac_lb_dtype(b, r) == AC_I32);
    ac_lb_store(b, by, i, r);
    ac_lb_end(b);
    const ac_loop_fn *fn = ac_lb_close(b);
    MUST(ac_loop_verify(&cx, fn) == AC_OK);
    union {
        const void *read;
        void *any;
    } px = {x}, pm = {m}, ps = {s};
    void *data[4] = {px.any, pm.any, ps.any, y};
    int status = 0;
    MUST(ac_eval(&cx, fn, data, 4, &status) == AC_OK && status == 0);
    ac_region_close(L.region);
}

static int32_t x[N], y[N], m[N], s[N];
static int64_t x64[N];

/* Extremes, powers of two and their neighbours, then random numbers of all sizes. */
static void fill_inputs(int shift)
{
    for (int i = 0; i < N; i++) {
        int64_t v = (int32_t)rnd() >> (rnd() & 31);
        if (i < 64 * 3)
            v = ((int64_t)1 << (i / 6)) * (i & 1 ? -1 : 1) + (i / 2) % 3 - 1;
        else if (i < 200)
            v = i & 1 ? INT32_MIN : INT32_MAX;
        if (shift > 0) { /* a product that does not fit is undefined in the reference */
            const int64_t most = INT32_MAX >> shift;
            v = v % (most + 1);
        }
        x[i] = (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
        x64[i] = (int64_t)x[i] * (1 << (rnd() & 15));
    }
}

static void test_known(void)
{
    static const int32_t mul[] = {1 << 30, (1 << 30) + 1, INT32_MAX,   1518500250, 2000000000, 1073741825, 12345, 1,
                                  0,       -(1 << 30),    -1518500250, -INT32_MAX};
    for (int shift = -31; shift <= 30; shift++) {
        fill_inputs(shift);
        for (size_t k = 0; k < sizeof mul / sizeof *mul; k++) {
            const ac_multiplier q = {mul[k], shift};
            for (int32_t lanes = 1; lanes <= 16; lanes *= 4) {
                run(KNOWN, q, lanes, x, y, m, s);
                for (int i = 0; i < N; i++)
                    if (y[i] != naive(x[i], q.m, shift)) {
                        fprintf(stderr, "x %d m %d shift %d: %d, expected %d\n", (int)x[i], (int)q.m, shift, (int)y[i],
                                (int)naive(x[i], q.m, shift));
                        MUST(false && "requant");
                    }
                if (mul[k] < 0 || shift > 7 || lanes > 1)
                    continue;
                run(WIDE, q, 4, x64, y, m, s);
                for (int i = 0; i < N; i++)
                    MUST(y[i] == naive64(x64[i], q.m, shift));
            }
        }
    }
}

/* Shifts that are not part of a multiplication: ties go away from zero, in tables and in loops. */
static void test_shifts(void)
{
    fill_inputs(0);
    for (int e = 0; e <= 31; e++) {
        for (int i = N / 2; i < N && e > 0; i++) /* odd multiples of a half */
            x[i] = (int32_t)((uint32_t)(2 * (int32_t)(rnd() & 15) - 15) << (e - 1));
        for (int i = 0; i < N; i++)
            MUST(ac_fx_round_shift(x[i], e) == divide_pot(x[i], e));
        run(SHIFT, (ac_multiplier){0, e}, e & 1 ? 8 : 1, x, y, m, s);
        for (int i = 0; i < N; i++)
            MUST(y[i] == divide_pot(x[i], e));
    }
}

static void test_values(void)
{
    for (int round = 0; round < 40; round++) {
        fill_inputs(0);
        for (int i = 0; i < N; i++) {
            m[i] = rnd() & 7 ? (int32_t)((1u << 30) | (rnd() >> 2)) : 0;
            s[i] = round & 1 ? -(int32_t)(rnd() % 32) : (int32_t)(rnd() % 62) - 31;
            if (s[i] > 0)
                x[i] %= (INT32_MAX >> s[i]) + 1;
        }
        run(round & 2 ? PREPARED : VALUE, (ac_multiplier){0, 0}, round & 4 ? 8 : 1, x, y, m, s);
        for (int i = 0; i < N; i++)
            MUST(y[i] == naive(x[i], m[i], s[i]));
        for (int i = 0; i < N; i++)
            s[i] = s[i] > 7 ? 7 : s[i];
        run(WIDE_VALUE, (ac_multiplier){0, 0}, round & 4 ? 4 : 1, x64, y, m, s);
        for (int i = 0; i < N; i++)
            MUST(y[i] == naive64(x64[i], m[i], s[i]));
    }
}

/* Even and odd lanes apart, as vectors do it: shifts to the right, positive multipliers. */
static void test_lanes(void)
{
    for (int round = 0; round < 64; round++) {
        fill_inputs(0);
        for (int i = 0; i < N; i++) {
            m[i] = rnd() & 7   ? (int32_t)((1u << 30) | (rnd() >> 2))
                   : rnd() & 1 ? INT32_MAX
                               : (int32_t)(rnd() >> 12) + 1;
            s[i] = -(int32_t)(rnd() % 31) - 1;
        }
        const form f = round & 1 ? POSITIVE : RIGHT;
        target = round & 2 ? &avx2 : &avx512;
        run(f, (ac_multiplier){0, 0}, round & 2 ? 8 : 4 << (round >> 2 & 3) % 3, x, y, m, s);
        for (int i = 0; i < N; i++)
            MUST(y[i] == naive(f == POSITIVE && x[i] < 0 ? 0 : x[i], m[i], s[i]));
    }
}

static void test_multiplier(void)
{
    static const struct {
        double real;
        int32_t m;
        int32_t shift;
    } row[] = {
        {0, 0, 0},
        {0.5, 1 << 30, 0},
        {1, 1 << 30, 1},
        {0.75, 1610612736, 0},
        {1e-12, 0, 0},
        {0.999999999999, 1 << 30, 1}, /* rounds up to 1 */
        {-0.75, -1610612736, 0},
        {123.456, 2071247978, 7},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const ac_multiplier q = ac_quantize_multiplier(row[i].real);
        if (q.m != row[i].m || q.shift != row[i].shift)
            fprintf(stderr, "%g: %d %d\n", row[i].real, (int)q.m, (int)q.shift);
        MUST(q.m == row[i].m && q.shift == row[i].shift);
    }
    for (int i = 0; i < 10000; i++) {
        const double real = ldexp(1 + (rnd() / 4294967296.0), (int)(rnd() % 40) - 30);
        const ac_multiplier q = ac_quantize_multiplier(real);
        MUST(q.m >= 1 << 30 && fabs(ldexp((double)q.m, q.shift - 31) / real - 1) < 1e-9);
    }
}

static void test_ranges(void)
{
    const float scale = 0.05f;
    const int32_t zero = -10;
    const ac_quant quant = {.n = 1, .scale = &scale, .zero = &zero};
    const ac_tensor t = {.dtype = AC_I8, .quant = &quant};
    int32_t lo, hi;
    ac_quantized_act_range(AC_ACT_NONE, &t, &lo, &hi);
    MUST(lo == -128 && hi == 127);
    ac_quantized_act_range(AC_ACT_RELU, &t, &lo, &hi);
    MUST(lo == -10 && hi == 127);
    ac_quantized_act_range(AC_ACT_RELU6, &t, &lo, &hi);
    MUST(lo == -10 && hi == 110);
    ac_quantized_act_range(AC_ACT_RELU_N1_TO_1, &t, &lo, &hi);
    MUST(lo == -30 && hi == 10);
    double flo, fhi;
    MUST(!ac_float_act_range(AC_ACT_NONE, &flo, &fhi) && isinf(flo) && isinf(fhi));
    MUST(ac_float_act_range(AC_ACT_RELU, &flo, &fhi) && !(flo < 0) && isinf(fhi));
}

static void tests(ac_ctx *own)
{
    (void)own; /* it is cx */
    test_multiplier();
    test_ranges();
    test_known();
    test_shifts();
    test_values();
    test_lanes();
    target = &avx2;
    test_known();
    target = &avx512;
    test_known();
}

int main(void)
{
    return in_context(&cx, tests);
}
