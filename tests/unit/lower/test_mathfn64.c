/* test_mathfn64.c - the f64 forms of exp, log, tanh and their like against libm, as whole nodes on a plain and on
 * vector targets; special values too. Errors are counted in units of 2^-52 of the value, or of 1 where the value is
 * below `floor`. */
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/run_node.h"

#include <math.h>

typedef struct row {
    const char *node;
    double (*want)(double);
    double lo, hi, floor, limit;
} row;

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}
static double elu(double v)
{
    return v < 0 ? expm1(v) : v;
}
static double square_root_power(double v)
{
    return pow(v, 0.5);
}

static double softplus(double v)
{
    return v > 0 ? v + log1p(exp(-v)) : log1p(exp(v));
}
static double mish(double v)
{
    const double e = exp(v);
    return v * (e * (e + 2) / (e * (e + 2) + 2));
}
static double swish(double v)
{
    return v / (1 + exp(-v));
}
static double gelu(double v) /* of 2^-48: x / sqrt 2 is rounded */
{
    return 0.5 * v * erfc(-0.70710678118654752440 * v);
}
static double half_mod(double v)
{
    return fmod(v, 0.5);
}

static const row ROWS[] = {
    {"exp(x)", exp, -700, 700, 0, 2},
    {"exp(x)", exp, -1, 1, 0, 2},
    {"elu(x)", elu, -40, 1, 0, 3},
    {"elu(x)", elu, -1e-3, 0, 0, 2},
    {"log(x)", log, 1e-300, 4, 0, 2},
    {"log(x)", log, 0.99, 1.01, 0, 2},
    {"log(x)", log, 1, 1e300, 0, 2},
    {"tanh(x)", tanh, -25, 25, 0, 4},
    {"tanh(x)", tanh, -1e-2, 1e-2, 0, 3},
    {"logistic(x)", sigmoid, -30, 30, 0, 4},
    {"erf(x)", erf, -7, 7, 0, 4},
    {"sin(x)", sin, -1e5, 1e5, 1, 3},
    {"cos(x)", cos, -1e5, 1e5, 1, 3},
    {"sin(x)", sin, -0.5, 0.5, 0, 2},
    {"atan(x)", atan, -50, 50, 0, 4},
    {"pow(x, k)", square_root_power, 1e-30, 1e30, 0, 300},
    {"sin(x)", sin, -1e300, 1e300, 0, 3},
    {"cos(x)", cos, -1e30, 1e30, 0, 3},
    {"tan(x)", tan, -1e20, 1e20, 0, 5},
    {"tan(x)", tan, -100, 100, 0, 5},
    {"asin(x)", asin, -1, 1, 0, 4},
    {"acos(x)", acos, -1, 1, 0, 4},
    {"sinh(x)", sinh, -710, 710, 0, 4},
    {"sinh(x)", sinh, -2, 2, 0, 4},
    {"cosh(x)", cosh, -5, 5, 0, 4},
    {"asinh(x)", asinh, -20, 20, 0, 4},
    {"acosh(x)", acosh, 1, 3, 0, 4},
    {"acosh(x)", acosh, 1, 1e200, 0, 4},
    {"atanh(x)", atanh, -1, 1, 0, 4},
    {"log1p(x)", log1p, -1, 1, 0, 4},
    {"expm1(x)", expm1, -2, 2, 0, 4},
    {"erfc(x)", erfc, -3, 26, 0, 5},
    {"softplus(x)", softplus, -40, 5, 0, 4},
    {"mish(x)", mish, -40, 5, 0, 5},
    {"swish(x)", swish, -700, 5, 0, 4},
    {"gelu(x)", gelu, -5, 8, 0, 40},
    {"floor_mod(x, k)", half_mod, 0, 1e300, 0, 0},
};

static void sample(ac_ctx *cx, const row *r, const ac_target *target)
{
    enum { COUNT = 1537 };
    ac_graph *g;
    int status = 0;
    const ac_node *n =
        read_node(cx, "input x: f64[1537]; const k: f64[1] = [0.5]", ac_strf(cx->region, "y = %s", r->node), &g);
    if (!n) {
        fail(__LINE__, r->node, target->name, "is not read");
        return;
    }
    void **data = make_data(cx, g, 0);
    double *x = data[n->in[0]->id], worst = 0, where = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = r->lo + (r->hi - r->lo) * ((double)draw() / 4294967296.0);
    if (run_node(cx, n, target, false, data, &status) != AC_OK || status) {
        fail(__LINE__, r->node, target->name, "does not run");
        return;
    }
    const double *y = data[n->out[0]->id];
    for (int i = 0; i < COUNT; i++) {
        const double want = r->want(x[i]), size = fmax(fabs(want), r->floor);
        const double error = fabs(y[i] - want) / (fmax(size, 1e-300) * 0x1p-52);
        if (!(error <= worst))
            worst = isnan(error) ? HUGE_VAL : error, where = x[i];
    }
    if (worst > r->limit)
        fail(__LINE__, r->node, target->name, ac_strf(cx->region, "is off by %.1f places at %.17g", worst, where));
}

static bool equal(double a, double b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static void specials(ac_ctx *cx)
{
    static const struct {
        const char *node;
        double x, want;
    } ROW[] = {
        {"exp(x)", -HUGE_VAL, 0},
        {"exp(x)", HUGE_VAL, HUGE_VAL},
        {"exp(x)", (double)NAN, (double)NAN},
        {"log(x)", 0, -HUGE_VAL},
        {"log(x)", -1, (double)NAN},
        {"log(x)", HUGE_VAL, HUGE_VAL},
        {"log(x)", (double)NAN, (double)NAN},
        {"tanh(x)", HUGE_VAL, 1},
        {"tanh(x)", -HUGE_VAL, -1},
        {"erf(x)", HUGE_VAL, 1},
        {"erf(x)", -9, -1},
        {"logistic(x)", -HUGE_VAL, 0},
        {"pow(x, k)", -4, (double)NAN},
        {"pow(x, k)", 0, 0},
        {"pow(x, k)", 1, 1},
        {"atan(x)", 0, 0},
    };
    for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++) {
        ac_graph *g;
        int status = 0;
        const ac_node *n =
            read_node(cx, "input x: f64[1]; const k: f64[1] = [0.5]", ac_strf(cx->region, "y = %s", ROW[i].node), &g);
        void **data = n ? make_data(cx, g, 0) : NULL;
        if (data)
            memcpy(data[n->in[0]->id], &ROW[i].x, sizeof(double));
        if (!data || run_node(cx, n, &TARGETS[0], false, data, &status) != AC_OK) {
            fail(__LINE__, ROW[i].node, "plain", "does not run");
            continue;
        }
        const double got = *(const double *)data[n->out[0]->id];
        if (!equal(got, ROW[i].want))
            fail(__LINE__, ROW[i].node, "plain", ac_strf(cx->region, "of %g is %g", ROW[i].x, got));
    }
}

static void tests(ac_ctx *cx)
{
    for (int t = 0; t < N_TARGETS; t++)
        for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
            sample(cx, &ROWS[i], &TARGETS[t]);
    specials(cx);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
