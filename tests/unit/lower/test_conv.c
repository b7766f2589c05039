/* test_conv.c - the lowered loops of convolutions and of fully_connected against plain C written from TFLite's
 * formulas: random shapes, strides, pads, dilations, groups and number systems, on all targets of sum_cases.h. Integers
 * must be equal, floats within 1e-4 of the sum of magnitudes. Sums: bytes without scales, times bytes or words. */
#include "tests/unit/support/sum_cases.h"

typedef struct conf {
    ac_op op;
    kind k;
    ac_act act;
    bool bias;
    int32_t zero;                                                              /* of a sum's input */
    int64_t n, ih, iw, ic, oh, ow, oc, kh, kw, sh, sw, dh, dw, pt, pl, groups; /* fully_connected: n rows, ic, oc */
} conf;

/* Visits every product of output element (b, oy, ox, oc): x index and w index, -1 at the end. */
typedef struct walk {
    int64_t ky, kx, c;
} walk;
static bool next(const conf *f, int64_t b, int64_t oy, int64_t ox, int64_t oc, walk *at, int64_t *xi, int64_t *wi)
{
    const int64_t icg = f->op == AC_OP_DEPTHWISE_CONV_2D ? 1 : f->ic / f->groups;
    for (;;) {
        if (at->c == icg)
            at->c = 0, at->kx++;
        if (at->kx == f->kw)
            at->kx = 0, at->ky++;
        if (at->ky == f->kh)
            return false;
        const walk w = *at;
        at->c++;
        int64_t iy, ix;
        if (f->op == AC_OP_TRANSPOSE_CONV) {
            iy = oy + f->pt - w.ky;
            ix = ox + f->pl - w.kx;
            if (iy < 0 || ix < 0 || iy % f->sh || ix % f->sw)
                continue;
            iy /= f->sh;
            ix /= f->sw;
        } else {
            iy = oy * f->sh - f->pt + w.ky * f->dh;
            ix = ox * f->sw - f->pl + w.kx * f->dw;
        }
        if (iy < 0 || ix < 0 || iy >= f->ih || ix >= f->iw)
            continue;
        int64_t c = w.c + oc / (f->oc / f->groups) * icg;
        *wi = ((oc * f->kh + w.ky) * f->kw + w.kx) * icg + w.c;
        if (f->op == AC_OP_DEPTHWISE_CONV_2D) {
            c = oc / (f->oc / f->ic);
            *wi = (w.ky * f->kw + w.kx) * f->oc + oc;
        }
        *xi = ((b * f->ih + iy) * f->iw + ix) * f->ic + c;
        return true;
    }
}

static void reference(const conf *f, const tensor *x, const tensor *w, const tensor *bias, ac_tensor *y, bool asym,
                      double *out, double *slack)
{
    const bool hybrid = f->k == HYBC || f->k == HYBT, real_valued = hybrid || f->k == F32;
    const bool dense = f->op == AC_OP_FULLY_CONNECTED;
    const int64_t image = f->ih * f->iw * f->ic;
    double *q = AC_NEW_N(cx.region, double, image + 1);
    const bool sums = f->k == SUMI || f->k == SUMU;
    const int32_t zx = sums ? f->zero : x->t->quant ? x->t->quant->zero[0] : 0;
    const int32_t zw = f->k == U8 || (dense && f->k == I8T) ? w->t->quant->zero[0] : 0;
    for (int64_t b = 0, o = 0; b < f->n; b++) {
        float sx = 1;
        int32_t z = zx;
        const double *image_v = x->v + b * image;
        if (hybrid) {
            dynamic(image_v, image, asym, q, &sx, &z);
            image_v = q;
        }
        for (int64_t oy = 0; oy < f->oh; oy++)
            for (int64_t ox = 0; ox < f->ow; ox++)
                for (int64_t oc = 0; oc < f->oc; oc++, o++) {
                    walk at = {0, 0, 0};
                    int64_t xi, wi, sum = 0;
                    double acc = 0, size = 0;
                    while (next(f, b, oy, ox, oc, &at, &xi, &wi)) {
                        const double p = image_v[xi - b * image] - (f->k == F32 ? 0 : z), m = w->v[wi] - zw;
                        acc += p * m;
                        size += fabs(p * m);
                        sum += real_valued && !hybrid ? 0 : (int64_t)p * (int64_t)m;
                    }
                    const double added = bias ? bias->v[oc] : 0;
                    const ac_quant *qw = w->t->quant;
                    const double sw = qw ? (double)qw->scale[qw->n > 1 ? oc : 0] : 1;
                    if (real_valued) {
                        const double s = hybrid ? (double)sx * sw : 1;
                        out[o] = act_float(f->act, acc * s + added);
                        slack[o] = size * s + fabs(added);
                        continue;
                    }
                    sum += (int64_t)added;
                    if (sums) {
                        out[o] = (double)sum;
                        continue;
                    }
                    const double so = (double)y->quant->scale[0];
                    double scale = (double)x->t->quant->scale[0] * sw / so;
                    if (f->k == U8 && !dense)
                        scale = (double)(x->t->quant->scale[0] * qw->scale[0]) / so;
                    const bool wide = f->k == I16L || (f->k == I16S && !bias);
                    double v = dense ? round((double)sum * scale) : requant(sum, scale, wide);
                    out[o] = act_stored(f->act, y, v + (f->k == I16L || f->k == I16S ? 0 : y->quant->zero[0]));
                }
    }
}

/* Products in an element of the output. */
static int64_t depth(const conf *f)
{
    return f->kh * f->kw * (f->op == AC_OP_DEPTHWISE_CONV_2D ? 1 : f->ic / f->groups);
}

typedef struct operands {
    tensor x, w, bias;
    ac_tensor *y;
} operands;

static operands make_operands(const conf *f)
{
    static const ac_dtype x_type[] = {AC_F32, AC_I8, AC_I8, AC_U8, AC_I16, AC_I16, AC_F32, AC_F32, AC_I8, AC_U8};
    static const ac_dtype w_type[] = {AC_F32, AC_I8, AC_I8, AC_U8, AC_I8, AC_I8, AC_I8, AC_I8, AC_I8, AC_I8};
    static const ac_dtype b_type[] = {AC_F32, AC_I32, AC_I32, AC_I32, AC_I64, AC_I32, AC_F32, AC_F32, AC_I32, AC_I32};
    const bool dense = f->op == AC_OP_FULLY_CONNECTED;
    const ac_dtype d = x_type[f->k];
    const double lo = d == AC_F32 ? -2 : (double)ac_dtype_min(d), hi = d == AC_F32 ? 2 : (double)ac_dtype_max(d);
    const bool sums = f->k == SUMI || f->k == SUMU, words = sums && !pick(0, 2);
    const bool narrow = !pick(0, 3); /* products of bytes, whatever the processor */
    const double w_lo = f->k == F32                                 ? -1
                        : narrow && w_type[f->k] == AC_I8 && !words ? -64
                        : f->k == U8                                ? 0
                        : words                                     ? -255
                        : sums                                      ? -128
                                                                    : -127,
                 w_hi = f->k == F32                                 ? 1
                        : narrow && w_type[f->k] == AC_I8 && !words ? 64
                        : f->k == U8 || words                       ? 255
                                                                    : 127;
    int64_t xd[4] = {f->n, f->ih, f->iw, f->ic}, wd[4] = {f->oc, f->kh, f->kw, f->ic / f->groups},
            yd[4] = {f->n, f->oh, f->ow, f->oc};
    if (f->op == AC_OP_DEPTHWISE_CONV_2D)
        wd[0] = 1, wd[3] = f->oc;
    if (dense)
        xd[1] = wd[1] = f->ic, yd[1] = f->oc;
    const int32_t rank = dense ? 2 : 4;
    const bool constant = f->k != F32 || pick(0, 7);
    const double b_max = f->k == F32 ? 1 : (double)(1000 * depth(f));
    operands o;
    o.x = make("x", d, rank, xd, lo, hi, false);
    o.w = make("w", words ? AC_I16 : w_type[f->k], rank, wd, w_lo, w_hi, constant);
    o.bias = make("bias", b_type[f->k], 1, &f->oc, -b_max, b_max, constant);
    o.y = ac_tensor_new(g, "y", sums ? AC_I32 : d, rank, yd);
    return o;
}

static void quantise(const conf *f, const operands *o)
{
    const bool per_channel = f->k == I8C || f->k == I16L || f->k == I16S || f->k == HYBC;
    const ac_dtype d = o->x.t->dtype;
    const int32_t zw = f->k == U8 ? 121 : f->k == I8T && f->op == AC_OP_FULLY_CONNECTED ? 5 : 0;
    if (f->k == SUMI || f->k == SUMU)
        return;
    if (f->k != F32)
        set_quant(o->w.t, per_channel ? (int32_t)f->oc : 1, f->op == AC_OP_DEPTHWISE_CONV_2D ? 3 : 0, 0.004, zw);
    if (d == AC_F32)
        return;
    set_quant(o->x.t, 1, 0, 0.02, d == AC_I16 ? 0 : d == AC_U8 ? 131 : (int32_t)pick(-128, 127));
    const double range = 0.02 * 0.004 * (d == AC_I16 ? 32768.0 * 60 : 80.0 * 60) * sqrt((double)depth(f));
    set_quant(o->y, 1, 0, range * real(0.5, 3) / (d == AC_I16 ? 32768 : 128),
              d == AC_I16  ? 0
              : d == AC_U8 ? 97
                           : (int32_t)pick(-100, 100));
}

static ac_node *make_node(const conf *f, operands *o)
{
    ac_tensor *bias = f->bias ? o->bias.t : NULL;
    ac_node *n;
    if (f->op == AC_OP_TRANSPOSE_CONV) {
        int32_t *shape = AC_NEW_N(cx.region, int32_t, 4);
        for (int i = 0; i < 4; i++)
            shape[i] = (int32_t)o->y->dim[i];
        ac_tensor *size = ac_tensor_const(g, "shape", AC_I32, 1, (int64_t[]){4}, shape);
        n = ac_node_new(g, f->op, "node", (ac_tensor *[]){size, o->w.t, o->x.t, bias}, 4, &o->y, 1);
    } else {
        n = ac_node_new(g, f->op, "node", (ac_tensor *[]){o->x.t, o->w.t, bias}, 3, &o->y, 1);
    }
    if (f->op == AC_OP_FULLY_CONNECTED) {
        n->attrs.dense.act = f->act;
        n->attrs.dense.asymmetric_inputs = pick(0, 1);
        return n;
    }
    ac_attrs_conv *a = &n->attrs.conv;
    a->stride_h = (int32_t)f->sh, a->stride_w = (int32_t)f->sw;
    a->dilation_h = (int32_t)f->dh, a->dilation_w = (int32_t)f->dw;
    a->padding = AC_PAD_EXPLICIT, a->pad_t = (int32_t)f->pt, a->pad_l = (int32_t)f->pl;
    a->act = f->act;
    a->zero = f->zero;
    return n;
}

/* Whether quantisation at run time has a zero point; a single output channel counts as a scale for the tensor. */
static bool is_asymmetric(const conf *f, const ac_node *n)
{
    if (f->op == AC_OP_FULLY_CONNECTED)
        return n->attrs.dense.asymmetric_inputs;
    return f->op == AC_OP_DEPTHWISE_CONV_2D || (f->k == HYBC && f->oc > 1);
}

static void run_conf(conf *f)
{
    if (f->k == SUMI || f->k == SUMU) {
        f->act = AC_ACT_NONE;
        f->zero = f->op == AC_OP_FULLY_CONNECTED ? 0 : (int32_t)(f->k == SUMI ? pick(-128, 127) : pick(0, 255));
    }
    operands o = make_operands(f);
    quantise(f, &o);
    const ac_node *n = make_node(f, &o);
    const int64_t count = ac_tensor_count(o.y);
    double *want = AC_NEW_N(cx.region, double, count + 1), *slack = AC_NEW_N(cx.region, double, count + 1);
    reference(f, &o.x, &o.w, f->bias ? &o.bias : NULL, o.y, is_asymmetric(f, n), want, slack);
    const tensor all[] = {o.x, o.w, o.bias};
    compare(n, all, 3, want, o.y->dtype == AC_F32 ? slack : NULL);
}

static void random_conv(ac_op op, kind k)
{
    conf f = {.op = op, .k = k, .act = (ac_act)pick(0, 3), .bias = pick(0, 4) > 0, .groups = 1};
    f.n = pick(1, 2);
    f.kh = pick(1, 4), f.kw = pick(1, 4);
    f.sh = pick(1, 3), f.sw = pick(1, 3);
    f.dh = f.dw = 1;
    if (op != AC_OP_TRANSPOSE_CONV && !pick(0, 3))
        f.dh = pick(1, 3), f.dw = pick(1, 3);
    if (!pick(0, 4))
        f.kh = f.kw = f.sh = f.sw = 1;
    extents(&f.ih, &f.oh, f.kh, f.sh, f.dh, &f.pt, op == AC_OP_TRANSPOSE_CONV);
    extents(&f.iw, &f.ow, f.kw, f.sw, f.dw, &f.pl, op == AC_OP_TRANSPOSE_CONV);
    f.ic = channels(), f.oc = channels();
    if (op == AC_OP_DEPTHWISE_CONV_2D)
        f.oc = f.ic * (pick(0, 2) ? 1 : pick(1, 9));
    if (op == AC_OP_CONV_2D && !pick(0, 3)) {
        f.groups = pick(1, 5);
        f.ic *= f.groups, f.oc *= f.groups;
    }
    if (op == AC_OP_CONV_2D && k == F32 && !pick(0, 5)) { /* pixels that fall on the same lines of a cache */
        f.groups = f.dh = f.dw = 1;
        f.kh = pick(1, 2), f.kw = pick(1, 3), f.sw = pick(1, 2);
        extents(&f.ih, &f.oh, f.kh, f.sh, 1, &f.pt, false);
        extents(&f.iw, &f.ow, f.kw, f.sw, 1, &f.pl, false);
        f.iw += 14, f.ow += 14 / f.sw;
        f.ic = 512, f.oc = pick(64, 70);
    }
    now = ac_strf(cx.region,
                  "%s %s act %d bias %d n %d in %dx%dx%d out %dx%dx%d k %dx%d s %dx%d d %dx%d pad %d,%d groups %d",
                  ac_ops[op].text, kind_name[k], (int)f.act, f.bias, (int)f.n, (int)f.ih, (int)f.iw, (int)f.ic,
                  (int)f.oh, (int)f.ow, (int)f.oc, (int)f.kh, (int)f.kw, (int)f.sh, (int)f.sw, (int)f.dh, (int)f.dw,
                  (int)f.pt, (int)f.pl, (int)f.groups);
    run_conf(&f);
}

static void random_dense(kind k)
{
    conf f = {.op = AC_OP_FULLY_CONNECTED, .k = k, .act = (ac_act)pick(0, 3), .bias = pick(0, 4) > 0, .groups = 1};
    f.n = pick(1, 30);
    f.ih = f.iw = f.oh = f.ow = f.kh = f.kw = f.sh = f.sw = f.dh = f.dw = 1;
    f.ic = pick(0, 9) ? channels() : 600, f.oc = channels();
    if (k == F32 && !pick(0, 3)) /* rows that fall on the same lines of a cache */
        f.n = pick(20, 140), f.ic = 1024, f.oc = pick(64, 70);
    now = ac_strf(cx.region, "fully_connected %s act %d bias %d rows %d in %d out %d", kind_name[k], (int)f.act, f.bias,
                  (int)f.n, (int)f.ic, (int)f.oc);
    run_conf(&f);
}

/* ---- combinations that are refused with a text ---- */

static void refused(void)
{
    tensor x = make("x", AC_I8, 4, (int64_t[]){1, 4, 4, 2}, -9, 9, false),
           w = make("w", AC_I8, 4, (int64_t[]){3, 1, 1, 2}, -9, 9, true);
    ac_tensor *y = ac_tensor_new(g, "y", AC_I8, 4, (int64_t[]){1, 4, 4, 3});
    ac_node *n = ac_node_new(g, AC_OP_CONV_2D, "no_scale", (ac_tensor *[]){x.t, w.t}, 2, &y, 1);
    now = "int8 without a scale";
    MUST(!ac_lower_node(&cx, cx.region, n, &targets[0], 0, false));
    MUST(cx.diags.errors == 1 && strstr(cx.diags.first->text, "not quantised"));
}

static void one(int what)
{
    const kind k = (kind)(what % KINDS);
    if (what < KINDS)
        random_conv(AC_OP_CONV_2D, k);
    else if (what < 2 * KINDS)
        random_conv(AC_OP_DEPTHWISE_CONV_2D, k == HYBT ? HYBC : k);
    else if (what < 3 * KINDS)
        random_conv(AC_OP_TRANSPOSE_CONV, k == SUMI || k == SUMU ? I8C : k);
    else if (what < 4 * KINDS)
        random_dense(k);
    else
        refused();
}

int main(int argc, char **argv)
{
    return sum_cases(argc, argv, "conv", 4 * KINDS + 1, one);
}
