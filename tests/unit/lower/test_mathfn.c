/* test_mathfn.c - the float functions against double libm: greatest error in units of the last place over a dense
 * sample of all floats, special values, one lane and eight lanes equal, with and without fma. Prints the errors with
 * any argument. */
#include "ir/lower/lower.h"
#include "ir/loop/eval/eval.h"
#include "tests/unit/support/in_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ac_ctx cx;
static bool verbose;
static const ac_target targets[2] = {
    {.name = "plain", .features = "", .align = 16},
    {.name = "v3", .vec_bytes = 32, .registers = 16, .fma = true, .features = "", .align = 64}};

enum { N = 1 << 15 };
typedef ac_x function_1(ac_lower *L, ac_x x);
typedef ac_x function_2(ac_lower *L, ac_x x, ac_x y);

static const ac_program *compile(ac_region *region, const ac_target *t, function_1 *f, function_2 *g, int32_t lanes)
{
    ac_lower L = {.cx = &cx, .region = region, .target = t, .result_buf = -1};
    ac_lb *b = &L.b;
    ac_lb_open(b, region, "f", NULL);
    const int32_t bx = ac_lb_buf(b, "x", AC_F32, N, AC_BUF_IN, 16, NULL),
                  by = ac_lb_buf(b, "y", AC_F32, N, AC_BUF_IN, 16, NULL);
    const int32_t bz = ac_lb_buf(b, "z", AC_F32, N, AC_BUF_OUT, 16, NULL);
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, N), lanes, AC_MARK_SERIAL);
    const ac_x x = ac_lb_load(b, bx, i, lanes), y = ac_lb_load(b, by, i, lanes);
    ac_lb_store(b, bz, i, f ? f(&L, x) : g(&L, x, y));
    ac_lb_end(b);
    const ac_loop_fn *fn = ac_lb_close(b);
    MUST(ac_loop_verify(&cx, fn) == AC_OK);
    const ac_program *p = ac_eval_compile(&cx, region, fn);
    MUST(p);
    return p;
}

static float x[N], y[N], z[2][N];

static void run(const ac_program *p, float *out)
{
    void *data[3] = {x, y, out};
    int status = 0;
    MUST(ac_eval_run(&cx, p, data, 3, &status) == AC_OK && status == 0);
}

/* Distance of `got` from the real number `want`, in units of the last place of float at `want`. */
static double ulps(float got, double want)
{
    const float as_float = (float)want;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : 1e30;
    if (isinf(as_float) || isinf(got))
        return as_float < got || as_float > got ? (fabs(want) > 3.4e38 && fabsf(got) > 3.4e38f ? 1 : 1e30) : 0;
    int e;
    frexp(want, &e);
    const double unit = ldexp(1, e - 24 < -149 ? -149 : e - 24);
    return fabs((double)got - want) / unit;
}

typedef struct row {
    const char *name;
    function_1 *f;
    double (*want)(double);
    float lo, hi; /* sampled range */
    double limit; /* greatest error allowed */
} row;

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

static const row rows[] = {
    {"exp", ac_lo_exp, exp, -110, 95, 1.05},
    {"expm1", ac_lo_expm1, expm1, -30, 88, 2.5},
    {"log", ac_lo_log, log, 0, 3.4e38f, 0.85},
    {"tanh", ac_lo_tanh, tanh, -12, 12, 1.34},
    {"sigmoid", ac_lo_sigmoid, sigmoid, -100, 100, 2.41},
    {"erf", ac_lo_erf, erf, -5, 5, 2.66},
    {"sin", ac_lo_sin, sin, -1e6f, 1e6f, 1.5},
    {"cos", ac_lo_cos, cos, -1e6f, 1e6f, 1.5},
};

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Half of the points evenly spread over the range, half over the bit patterns (all exponents). */
static void sample(const row *r, int round, int rounds)
{
    for (int i = 0; i < N; i++) {
        const double at = ((double)round * N + i + 0.37) / ((double)rounds * N);
        float v = (float)((double)r->lo + at * ((double)r->hi - (double)r->lo));
        if (i & 1) {
            v = as_float((uint32_t)(at * 4294967295.0));
            if (isnan(v) || v < r->lo || v > r->hi)
                v = (float)(i % 1000) / 1000;
        }
        x[i] = v;
    }
}

static void test_functions(void)
{
    const int rounds = 16;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        double worst = 0;
        float where = 0;
        now = r->name;
        ac_region *region = ac_region_open(&cx.heap);
        for (int t = 0; t < 2; t++) {
            const ac_program *one = compile(region, &targets[t], r->f, NULL, 1);
            const ac_program *eight = compile(region, &targets[t], r->f, NULL, 8);
            for (int round = 0; round < rounds; round++) {
                sample(r, round, rounds);
                run(one, z[0]);
                run(eight, z[1]);
                MUST(!memcmp(z[0], z[1], sizeof z[0]));
                for (int i = 0; i < N; i++) {
                    const double e = ulps(z[0][i], r->want((double)x[i]));
                    if (e > worst)
                        worst = e, where = x[i];
                }
            }
        }
        if (verbose || worst > r->limit)
            fprintf(stderr, "%-8s %.3f ulp at %a (%g)\n", r->name, worst, (double)where, (double)where);
        MUST(worst <= r->limit);
        ac_region_close(region);
    }
}

static bool same(float a, double want)
{
    const float b = (float)want;
    if (!isnan(b) && !(a < 0 || a > 0 || b < 0 || b > 0))
        return !isnan(a); /* the sign of a zero result is not kept */
    return isnan(b) ? isnan(a) : bits_of(a) == bits_of(b);
}

static const double special[] = {0,     -0.0,   1,    -1,    HUGE_VAL,     -HUGE_VAL, (double)NAN,
                                 1e-45, -1e-45, 1e38, -1e38, 3.4028234e38, 1e-38};
enum { SPECIALS = sizeof special / sizeof *special };

static void test_special(void)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        now = rows[k].name;
        ac_region *region = ac_region_open(&cx.heap);
        for (int i = 0; i < N; i++)
            x[i] = (float)special[i % SPECIALS];
        run(compile(region, &targets[1], rows[k].f, NULL, 8), z[0]);
        for (int i = 0; i < SPECIALS; i++) {
            const double want = rows[k].want((double)x[i]);
            if (fabs((double)x[i]) > 1e6 && fabs((double)x[i]) < HUGE_VAL &&
                (rows[k].f == ac_lo_sin || rows[k].f == ac_lo_cos)) {
                MUST(fabsf(z[0][i]) <= 1.0f);
                continue;
            }
            if (!same(z[0][i], want) && !(ulps(z[0][i], want) <= rows[k].limit && fabs(want) > 0)) {
                fprintf(stderr, "%s(%g) = %g, expected %g\n", now, (double)x[i], (double)z[0][i], want);
                MUST(false && "special value");
            }
        }
        ac_region_close(region);
    }
}

static void test_pow(void)
{
    static const double exponent[] = {0,    -0.0, 1,        -1,        2,           3,    -3,       0.5,
                                      -0.5, 2.5,  HUGE_VAL, -HUGE_VAL, (double)NAN, 1e30, 16777217, 1e-30};
    enum { EXPONENTS = sizeof exponent / sizeof *exponent };
    ac_region *region = ac_region_open(&cx.heap);
    const ac_program *p = compile(region, &targets[1], NULL, ac_lo_pow, 4);
    now = "pow";
    for (int i = 0; i < N; i++) {
        x[i] = (float)special[i % SPECIALS];
        y[i] = (float)exponent[i / SPECIALS % EXPONENTS];
    }
    run(p, z[0]);
    for (int i = 0; i < SPECIALS * EXPONENTS; i++)
        if (!same(z[0][i], pow((double)x[i], (double)y[i])) &&
            !(ulps(z[0][i], pow((double)x[i], (double)y[i])) < 1.5)) {
            fprintf(stderr, "pow(%g, %g) = %g, expected %g\n", (double)x[i], (double)y[i], (double)z[0][i],
                    pow((double)x[i], (double)y[i]));
            MUST(false && "special value");
        }
    uint64_t state = 1;
    double worst = 0;
    for (int round = 0; round < 32; round++) {
        for (int i = 0; i < N; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x[i] = (float)ldexp(1 + (double)(state >> 40) / 16777216.0, (int)(state >> 8 & 63) - (round & 1 ? 31 : 32));
            y[i] = (float)((double)(state >> 16 & 0xFFFF) / 65536.0 * 8 - 4);
            if (round & 2)
                x[i] = 1 + (x[i] - floorf(x[i])) / 1024, y[i] *= 10000;
        }
        run(p, z[0]);
        for (int i = 0; i < N; i++) {
            const double e = ulps(z[0][i], pow((double)x[i], (double)y[i]));
            worst = e > worst ? e : worst;
        }
    }
    if (verbose)
        fprintf(stderr, "%-8s %.3f ulp\n", "pow", worst);
    MUST(worst < 1);
    ac_region_close(region);
}

static void tests(ac_ctx *own)
{
    (void)own; /* it is cx */
    test_functions();
    test_special();
    test_pow();
}

int main(int argc, char **argv)
{
    (void)argv;
    verbose = argc > 1;
    return in_context(&cx, tests);
}
