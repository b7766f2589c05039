/* test_fft.c - fft against the definition in double: lengths of all factors, forward and back, f32 and f64. */
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/run_node.h"

#include <math.h>

enum { ROWS = 2 };

static double value(const ac_tensor *t, const void *data, int64_t i)
{
    return ac_dtype_get_num(t->dtype, data, i);
}

static void check(ac_ctx *cx, int n, bool inverse, const char *type, double limit, const ac_target *target)
{
    ac_graph *g;
    int status = 0;
    const char *what = ac_strf(cx->region, "fft of %d %s%s", n, type, inverse ? ", inverse" : "");
    const ac_node *node = read_node(cx, ac_strf(cx->region, "input x: %s[%d,%d,2]", type, ROWS, n),
                                    inverse ? "y = fft(x) inverse=true" : "y = fft(x)", &g);
    void **data = node ? make_data(cx, g, 0) : NULL;
    if (!data || run_node(cx, node, target, false, data, &status) != AC_OK || status) {
        fail(__LINE__, what, target->name, "does not run");
        return;
    }
    const ac_tensor *x = node->in[0], *y = node->out[0];
    double worst = 0, size = 0;
    for (int64_t row = 0; row < ROWS; row++)
        for (int k = 0; k < n; k++) {
            double re = 0, im = 0;
            for (int i = 0; i < n; i++) {
                const double angle = (inverse ? 2 : -2) * 3.14159265358979323846 * ((double)i * k) / n;
                const double a = value(x, data[x->id], 2 * (row * n + i)),
                             b = value(x, data[x->id], 2 * (row * n + i) + 1);
                re += a * cos(angle) - b * sin(angle);
                im += a * sin(angle) + b * cos(angle);
            }
            const double by = inverse ? n : 1;
            worst = fmax(worst, fabs(re / by - value(y, data[y->id], 2 * (row * n + k))));
            worst = fmax(worst, fabs(im / by - value(y, data[y->id], 2 * (row * n + k) + 1)));
            size = fmax(size, hypot(re, im) / by);
        }
    if (!(worst <= limit * size))
        fail(__LINE__, what, target->name, ac_strf(cx->region, "is off by %g of %g", worst, size));
}

static void tests(ac_ctx *cx)
{
    static const int LENGTH[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 25, 32, 49, 60, 64, 77, 101, 128};
    for (size_t i = 0; i < sizeof LENGTH / sizeof *LENGTH; i++)
        for (int inverse = 0; inverse < 2; inverse++) {
            check(cx, LENGTH[i], inverse, "f32", 2e-6, &TARGETS[i % N_TARGETS]);
            check(cx, LENGTH[i], inverse, "f64", 4e-14, &TARGETS[0]);
        }
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
