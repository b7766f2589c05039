/* test_pool.c - the lowered loops of pools against plain C written from TFLite's formulas: random windows, strides,
 * pads and types, on all targets of sum_cases.h. Integers must be equal, floats within 3e-4. */
#include "tests/unit/support/sum_cases.h"

typedef struct window {
    ac_act act;
    int64_t n, ih, iw, ic, oh, ow, kh, kw, sh, sw, pt, pl;
} window;

/* whole: one window over an image of many pixels */
static void random_pool(ac_op op, ac_dtype d, bool whole)
{
    const double lo = d == AC_F32 ? -3 : (double)ac_dtype_min(d), hi = d == AC_F32 ? 3 : (double)ac_dtype_max(d);
    window f = {.act = (ac_act)pick(0, 3),
                .n = pick(1, 2),
                .kh = pick(1, 4),
                .kw = pick(1, 4),
                .sh = pick(1, 3),
                .sw = pick(1, 3)};
    extents(&f.ih, &f.oh, f.kh, f.sh, 1, &f.pt, false);
    extents(&f.iw, &f.ow, f.kw, f.sw, 1, &f.pl, false);
    f.ic = channels();
    if (whole) {
        f.ih = f.kh = pick(4, 9), f.iw = f.kw = pick(4, 9), f.ic = 4 * pick(1, 4);
        f.oh = f.ow = 1, f.pt = f.pl = 0;
    }
    now = ac_strf(cx.region, "%s %s act %d in %dx%dx%d out %dx%d k %dx%d s %dx%d pad %d,%d", ac_ops[op].text,
                  ac_dtype_name(d), (int)f.act, (int)f.ih, (int)f.iw, (int)f.ic, (int)f.oh, (int)f.ow, (int)f.kh,
                  (int)f.kw, (int)f.sh, (int)f.sw, (int)f.pt, (int)f.pl);
    tensor x = make("x", d, 4, (int64_t[]){f.n, f.ih, f.iw, f.ic}, lo, hi, false);
    ac_tensor *y = ac_tensor_new(g, "y", d, 4, (int64_t[]){f.n, f.oh, f.ow, f.ic});
    if (d != AC_F32) {
        set_quant(x.t, 1, 0, 0.03, 4);
        y->quant = x.t->quant;
    }
    ac_node *n = ac_node_new(g, op, "pool", &x.t, 1, &y, 1);
    ac_attrs_pool *a = &n->attrs.pool;
    a->kernel_h = (int32_t)f.kh, a->kernel_w = (int32_t)f.kw, a->stride_h = (int32_t)f.sh, a->stride_w = (int32_t)f.sw;
    a->padding = AC_PAD_EXPLICIT, a->pad_t = (int32_t)f.pt, a->pad_l = (int32_t)f.pl, a->act = f.act;
    const int64_t count = ac_tensor_count(y);
    double *want = AC_NEW_N(cx.region, double, count + 1), *slack = AC_NEW_N(cx.region, double, count + 1);
    for (int64_t b = 0, o = 0; b < f.n; b++)
        for (int64_t oy = 0; oy < f.oh; oy++)
            for (int64_t ox = 0; ox < f.ow; ox++)
                for (int64_t c = 0; c < f.ic; c++, o++) {
                    double best = -HUGE_VAL, sum = 0, squares = 0;
                    int64_t taps = 0;
                    for (int64_t i = 0; i < f.kh * f.kw; i++) {
                        const int64_t iy = oy * f.sh - f.pt + i / f.kw, ix = ox * f.sw - f.pl + i % f.kw;
                        if (iy < 0 || ix < 0 || iy >= f.ih || ix >= f.iw)
                            continue;
                        const double v = x.v[((b * f.ih + iy) * f.iw + ix) * f.ic + c];
                        best = fmax(best, v), sum += v, squares += v * v, taps++;
                    }
                    MUST(taps > 0);
                    double v = op == AC_OP_MAX_POOL_2D  ? best
                               : op == AC_OP_L2_POOL_2D ? sqrt(squares / (double)taps)
                                                        : sum / (double)taps;
                    if (d != AC_F32 && op == AC_OP_AVERAGE_POOL_2D) {
                        const int64_t s = (int64_t)sum, half = taps / 2;
                        v = (double)(s > 0 || d == AC_U8 ? (s + half) / taps : (s - half) / taps);
                    }
                    want[o] = d == AC_F32 ? act_float(f.act, v) : act_stored(f.act, y, v);
                    slack[o] = 3;
                }
    compare(n, &x, 1, want, d == AC_F32 ? slack : NULL);
}

static void one(int what)
{
    static const ac_op OPS[] = {AC_OP_MAX_POOL_2D, AC_OP_AVERAGE_POOL_2D, AC_OP_L2_POOL_2D};
    static const ac_dtype TYPES[] = {AC_F32, AC_I8, AC_U8, AC_I16};
    if (what < 9) /* l2: floats only */
        random_pool(OPS[what / 4], TYPES[what % 4], false);
    else
        random_pool(OPS[what % 2], AC_I8, true);
}

int main(int argc, char **argv)
{
    return sum_cases(argc, argv, "pool", 11, one);
}
