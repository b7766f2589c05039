/* test_resize.c - the lowerings that move elements and compute on the way: bilinear resizing against TFLite's formulas
 * for one pixel, and concatenations of operands on other scales. Plain and vector targets, through the evaluator.
 * Integers must be equal; f32 too with --exact, else within 1e-5. */
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/run_node.h"

#include <math.h>

/* Operands on other scales: round half away of (x * s + b), + zero point, clamped. */
static void test_rescale(ac_ctx *cx)
{
    static const char node[] = "y: u8[3,25] q(0.25, 128) = concatenation(x, z) axis=1";
    ac_graph *g = NULL;
    const ac_node *n = read_node(cx, "input x: u8[3,21] q(0.7, 10); input z: u8[3,4] q(0.25, 128)", node, &g);
    for (int32_t k = 0; k < N_TARGETS; k++) {
        void **data = make_data(cx, g, 0);
        int status = 0;
        if (run_node(cx, n, &TARGETS[k], false, data, &status) != AC_OK) {
            fail(__LINE__, node, TARGETS[k].name, "does not run");
            continue;
        }
        const uint8_t *x = data[n->in[0]->id], *z = data[n->in[1]->id], *y = data[n->out[0]->id];
        const float s = 0.7f * (1.0f / 0.25f), b = -10.0f * s;
        for (int i = 0; i < 75; i++) {
            const int c = i % 25, r = i / 25;
            const int v = c < 21 ? (int)roundf((float)x[r * 21 + c] * s + b) + 128 : z[r * 4 + c - 21];
            if (y[i] != (v < 0 ? 0 : v > 255 ? 255 : v)) {
                fail(__LINE__, node, TARGETS[k].name, "differs");
                break;
            }
        }
    }
}

/* bilinear, by TFLite's formulas written for one pixel */

static int64_t clamp(int64_t v, int64_t hi)
{
    return v < 0 ? 0 : v > hi ? hi : v;
}

static void float_tap(const ac_attrs_resize *a, int64_t i, int64_t in, int64_t out, int64_t *lo, int64_t *hi,
                      float *part)
{
    const bool corners = a->align_corners && out > 1;
    const float scale = corners ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float at = a->half_pixel_centers ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
    *lo = (int64_t)fmaxf(floorf(at), 0);
    *hi = clamp((int64_t)ceilf(at), in - 1);
    *part = at - (float)*lo;
}

static void fixed_tap(const ac_attrs_resize *a, int64_t i, int64_t in, int64_t out, int64_t *lo, int64_t *hi,
                      int64_t *part)
{
    const bool corners = a->align_corners && out > 1;
    const int64_t scale = corners ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1) : (1024 * in + out / 2) / out;
    const int64_t at = a->half_pixel_centers ? i * scale + scale / 2 - 512 : i * scale;
    *lo = at / 1024 > 0 ? at / 1024 : 0;
    *hi = clamp((at + 1023) / 1024, in - 1);
    *part = at - 1024 * *lo;
}

static double pixel(const ac_node *n, void *const *data, int64_t y, int64_t x, int64_t c)
{
    const ac_tensor *t = n->in[0];
    return ac_dtype_get_num(t->dtype, data[t->id], flat(t, (int64_t[]){0, y, x, c}));
}

static double bilinear(const ac_node *n, void *const *data, int64_t oy, int64_t ox, int64_t c)
{
    const ac_attrs_resize *a = &n->attrs.resize;
    const ac_tensor *x = n->in[0], *y = n->out[0];
    int64_t y0, y1, x0, x1, fy, fx;
    float gy, gx;
    if (x->dtype == AC_F32 || x->dtype == AC_U8) {
        float_tap(a, oy, x->dim[1], y->dim[1], &y0, &y1, &gy);
        float_tap(a, ox, x->dim[2], y->dim[2], &x0, &x1, &gx);
        const float p00 = (float)pixel(n, data, y0, x0, c), p10 = (float)pixel(n, data, y1, x0, c);
        const float p01 = (float)pixel(n, data, y0, x1, c), p11 = (float)pixel(n, data, y1, x1, c);
        const float v = p00 * (1 - gy) * (1 - gx) + p10 * gy * (1 - gx) + p01 * (1 - gy) * gx + p11 * gy * gx;
        return x->dtype == AC_U8 ? (double)(uint8_t)(v + 0.5f) : (double)v;
    }
    fixed_tap(a, oy, x->dim[1], y->dim[1], &y0, &y1, &fy);
    fixed_tap(a, ox, x->dim[2], y->dim[2], &x0, &x1, &fx);
    const int64_t v = (int64_t)pixel(n, data, y0, x0, c) * (1024 - fy) * (1024 - fx) +
                      (int64_t)pixel(n, data, y1, x0, c) * fy * (1024 - fx) +
                      (int64_t)pixel(n, data, y0, x1, c) * (1024 - fy) * fx +
                      (int64_t)pixel(n, data, y1, x1, c) * fy * fx;
    return (double)((v + (v > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
}

static void test_bilinear(ac_ctx *cx)
{
    static const char *const types[] = {"f32", "i8", "u8", "i16"}, *const how[] = {"", " half_pixel_centers=true",
                                                                                   " align_corners=true"};
    static const char *const sizes[] = {"[9, 8]", "[2, 13]", "[1, 1]"};
    for (int32_t c = 0; c < 4 * 3 * 3 * N_TARGETS; c++) {
        const ac_target *target = &TARGETS[c % N_TARGETS];
        const char *operands = ac_strf(cx->region, "input x: %s[1,4,5,19]", types[c / N_TARGETS % 4]);
        const char *node = ac_strf(cx->region, "y = resize_bilinear(x) size=%s%s", sizes[c / N_TARGETS / 4 % 3],
                                   how[c / N_TARGETS / 12]);
        ac_graph *g = NULL;
        const ac_node *n = read_node(cx, operands, node, &g);
        void **data = make_data(cx, g, 0);
        const ac_tensor *y = n->out[0];
        for (int exact = 0; exact < 2; exact++) {
            int status = 0;
            if (run_node(cx, n, target, exact != 0, data, &status) != AC_OK) {
                fail(__LINE__, node, target->name, "does not run");
                continue;
            }
            const double slack = y->dtype == AC_F32 && !exact ? 1e-5 : 0;
            for (int64_t i = 0; i < ac_tensor_count(y); i++) {
                const int64_t c3 = y->dim[3], w = y->dim[2];
                const double want = bilinear(n, data, i / c3 / w, i / c3 % w, i % c3);
                const double got = ac_dtype_get_num(y->dtype, data[y->id], i);
                if (!(fabs(got - want) <= slack)) {
                    fail(__LINE__, ac_strf(cx->region, "%s %s", operands, node), target->name,
                         ac_strf(cx->region, "element %lld is %.9g, not %.9g", (long long)i, got, want));
                    break;
                }
            }
        }
    }
}

static void all(ac_ctx *cx)
{
    test_rescale(cx);
    test_bilinear(cx);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, all);
}
