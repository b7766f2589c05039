/* test_mathfn.c - the float functions against double libm: greatest error in units of the last place over a sample of
 * all floats, special values, vectors equal to single lanes. Prints the errors with any argument. scripts/ulp.sh looks
 * at every float. */
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/run_node.h"

#include <math.h>
#include <stdlib.h>

static bool verbose;
/* TARGETS: plain, vec16 (vectors without fma), vec32 (with fma) */
enum { PLAIN, VECTOR, FUSED };
enum { N = 1 << 15 };

static float x[N], y[N], z[3][N];

/* out[i] = the node's result for x[i] (and y[i]), on a target. */
static void run(ac_ctx *cx, const char *call, int target, float *out)
{
    ac_graph *g;
    int status = 0;
    const ac_node *n =
        read_node(cx, "input x: f32[32768]; input y: f32[32768]", ac_strf(cx->region, "z = %s", call), &g);
    MUST(n);
    void **data = make_data(cx, g, 0);
    memcpy(data[n->in[0]->id], x, sizeof x);
    if (n->n_in > 1)
        memcpy(data[n->in[1]->id], y, sizeof y);
    MUST(run_node(cx, n, &TARGETS[target], false, data, &status) == AC_OK && status == 0);
    memcpy(out, data[n->out[0]->id], sizeof z[0]);
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
    const char *node;
    double (*want)(double);
    float lo, hi; /* sampled range */
    double limit; /* greatest error allowed */
} row;

// clang-format off
#define F(name, value) static double name(double v) { return value; }
F(sigmoid, 1 / (1 + exp(-v)))
F(softplus, v > 0 ? v + log1p(exp(-v)) : log1p(exp(v)))
F(less, exp(fmin(v, 40))) /* a greater e^v gives the same mish */
F(mish, v * (less(v) * (less(v) + 2) / (less(v) * (less(v) + 2) + 2)))
F(swish, v / (1 + exp(-v)))
F(quick, v / (1 + exp(-(double)1.702f * v)))
F(gelu, 0.5 * v * erfc(-0.70710678118654752440 * v))
F(gelu_tanh, v / (1 + exp(-1.59576912160573071176 * v * (1 + 0.044715 * v * v))))
// clang-format on

static const row rows[] = {
    {"exp(x)", exp, -110, 95, 1.05},
    {"expm1(x)", expm1, -30, 90, 1.6},
    {"log(x)", log, 0, 3.4e38f, 0.85},
    {"log1p(x)", log1p, -2, 3.4e38f, 4},
    {"softplus(x)", softplus, -110, 90, 4},
    {"tanh(x)", tanh, -12, 12, 1.34},
    {"sinh(x)", sinh, -91, 91, 4},
    {"cosh(x)", cosh, -91, 91, 4},
    {"asinh(x)", asinh, -3.4e38f, 3.4e38f, 4},
    {"acosh(x)", acosh, -1, 3.4e38f, 4},
    {"atanh(x)", atanh, -1.5, 1.5, 4},
    {"logistic(x)", sigmoid, -110, 100, 2.41},
    {"erf(x)", erf, -5, 5, 2.66},
    {"erfc(x)", erfc, -5, 12, 4},
    {"mish(x)", mish, -115, 90, 4},
    {"swish(x)", swish, -115, 90, 4},
    {"swish(x) alpha=1.702", quick, -115, 90, 4},
    {"gelu(x)", gelu, -16, 16, 4},
    {"gelu(x) approximate=true", gelu_tanh, -16, 16, 4},
    {"sin(x)", sin, -3.4e38f, 3.4e38f, 4},
    {"cos(x)", cos, -3.4e38f, 3.4e38f, 4},
    {"tan(x)", tan, -3.4e38f, 3.4e38f, 4},
    {"sin(x)", sin, -100, 100, 4},
    {"cos(x)", cos, -100, 100, 4},
    {"tan(x)", tan, -100, 100, 4},
    {"asin(x)", asin, -1.1f, 1.1f, 4},
    {"acos(x)", acos, -1.1f, 1.1f, 4},
    {"atan(x)", atan, -20, 20, 4},
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

static void test_functions(ac_ctx *cx)
{
    const int rounds = 5;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        double worst = 0;
        float where = 0;
        now = r->node;
        for (int round = 0; round < rounds; round++) {
            sample(r, round, rounds);
            for (int t = 0; t < 3; t++)
                run(cx, r->node, t, z[t]);
            MUST(!memcmp(z[PLAIN], z[VECTOR], sizeof z[0]));
            for (int i = 0; i < N; i++) {
                const double want = r->want((double)x[i]), e = fmax(ulps(z[PLAIN][i], want), ulps(z[FUSED][i], want));
                if (e > worst)
                    worst = e, where = x[i];
            }
        }
        if (verbose || worst > r->limit)
            fprintf(stderr, "%-8s %.3f ulp at %a (%g)\n", r->node, worst, (double)where, (double)where);
        MUST(worst <= r->limit);
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

static void test_special(ac_ctx *cx)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        now = rows[k].node;
        for (int i = 0; i < N; i++)
            x[i] = (float)special[i % SPECIALS];
        run(cx, now, FUSED, z[0]);
        for (int i = 0; i < SPECIALS; i++) {
            const double want = rows[k].want((double)x[i]);
            if (!same(z[0][i], want) && !(ulps(z[0][i], want) <= rows[k].limit && fabs(want) > 0)) {
                fprintf(stderr, "%s: %g gives %g, expected %g\n", now, (double)x[i], (double)z[0][i], want);
                MUST(false && "special value");
            }
        }
    }
}

static void test_pow(ac_ctx *cx)
{
    static const double exponent[] = {0,    -0.0, 1,        -1,        2,           3,    -3,       0.5,
                                      -0.5, 2.5,  HUGE_VAL, -HUGE_VAL, (double)NAN, 1e30, 16777217, 1e-30};
    enum { EXPONENTS = sizeof exponent / sizeof *exponent };
    now = "pow(x, y)";
    for (int i = 0; i < N; i++) {
        x[i] = (float)special[i % SPECIALS];
        y[i] = (float)exponent[i / SPECIALS % EXPONENTS];
    }
    run(cx, now, FUSED, z[0]);
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
        run(cx, now, FUSED, z[0]);
        for (int i = 0; i < N; i++) {
            const double e = ulps(z[0][i], pow((double)x[i], (double)y[i]));
            worst = e > worst ? e : worst;
        }
    }
    if (verbose)
        fprintf(stderr, "%-8s %.3f ulp\n", "pow", worst);
    MUST(worst < 1);
}

/* Operands with random bits, and pairs whose quotient is near an integer. */
static void test_mod(ac_ctx *cx)
{
    now = "floor_mod(x, y)";
    for (int i = 0; i < N; i++) {
        x[i] = fabsf(as_float((uint32_t)draw()));
        y[i] = fabsf(as_float((uint32_t)draw()));
        if (i % 4 == 1)
            x[i] = y[i] * (float)(draw() % 100000);
        if (i % 4 == 2)
            y[i] = (float)(draw() % 1000 + 1);
    }
    for (int i = 0; i < SPECIALS * SPECIALS; i++) {
        x[i] = fabsf((float)special[i % SPECIALS]);
        y[i] = fabsf((float)special[i / SPECIALS]);
    }
    for (int t = 0; t < 3; t++) {
        run(cx, now, t, z[t]);
        for (int i = 0; i < N; i++)
            MUST(same(z[t][i], fmod((double)x[i], (double)y[i])));
    }
}

static void tests(ac_ctx *cx)
{
    test_mod(cx);
    test_functions(cx);
    test_special(cx);
    test_pow(cx);
}

int main(int argc, char **argv)
{
    static ac_ctx cx;
    (void)argv;
    verbose = argc > 1;
    return in_context(&cx, tests);
}
