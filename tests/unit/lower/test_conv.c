/* test_conv.c - the lowered loops of convolutions, fully_connected, batch_matmul and pools against plain C written from
 * TFLite's formulas: random shapes, strides, pads, dilations, groups and number systems, on plain, firmware and
 * vector targets, all through the evaluator. Integers must be equal, floats within 1e-4 of the sum of magnitudes. */
#include "ir/lower/lower.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ac_target targets[] = {
    {.name = "plain", .align = 16, .features = ""},
    {.name = "m3", .align = 16, .features = "", .firmware = true, .core = 13, .mul = AC_MUL_LONG},
    {.name = "rv32", .align = 16, .features = "", .firmware = true, .core = 26, .mul = AC_MUL_HIGH},
    {.name = "m0", .align = 16, .features = "", .firmware = true, .core = 8, .mul = AC_MUL_LOW},
    {.name = "m55", .align = 16, .features = "", .firmware = true, .mve = true, .mul = AC_MUL_LONG},
    {.name = "rvv", .align = 16, .features = "", .firmware = true, .rvv = true, .core = 26, .mul = AC_MUL_HIGH},
    {.name = "v2",
     .vec_bytes = 16,
     .registers = 16,
     .align = 16,
     .l1_bytes = 32768,
     .l2_bytes = 1 << 18,
     .features = ""},
    {.name = "v3",
     .vec_bytes = 32,
     .registers = 16,
     .fma = true,
     .align = 64,
     .l1_bytes = 32768,
     .l2_bytes = 1 << 20,
     .features = ""},
    {.name = "v4",
     .vec_bytes = 64,
     .registers = 32,
     .fma = true,
     .dot_u8s8 = true,
     .align = 64,
     .l1_bytes = 32768,
     .l2_bytes = 2048,
     .features = ""},
};

/* ---- random numbers ---- */

static uint64_t state = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}
static int64_t pick(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rnd() % (uint64_t)(hi - lo + 1));
}
static double real(double lo, double hi)
{
    return lo + (hi - lo) * (rnd() / 2147483648.0);
}

/* ---- TFLite's arithmetic, from its documentation ---- */

static void quantize_multiplier(double real_value, int32_t *m, int *shift)
{
    if (real_value == 0) {
        *m = 0, *shift = 0;
        return;
    }
    double q = frexp(real_value, shift);
    int64_t fixed = llround(q * 2147483648.0);
    if (fixed == 2147483648) {
        fixed /= 2;
        ++*shift;
    }
    *m = (int32_t)fixed;
}

static int32_t high_mul(int32_t a, int32_t b)
{
    int64_t ab = (int64_t)a * b, nudge = ab >= 0 ? 1 << 30 : 1 - (1 << 30);
    return (int32_t)((ab + nudge) / 2147483648);
}

static int32_t divide_pot(int32_t x, int e)
{
    int32_t mask = (int32_t)((1u << e) - 1), rest = x & mask, half = (mask >> 1) + (x < 0);
    return (x >> e) + (rest > half);
}

static int32_t requant(int64_t acc, double scale, bool wide)
{
    int32_t m;
    int shift;
    quantize_multiplier(scale, &m, &shift);
    if (wide) {
        int64_t reduced = m < 0x7FFF0000 ? (m + 0x8000) >> 16 : 0x7FFF;
        int total = 15 - shift;
        return (int32_t)((acc * reduced + ((int64_t)1 << (total - 1))) >> total);
    }
    int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    return divide_pot(high_mul((int32_t)acc * (1 << left), m), right);
}

/* ---- a case ---- */

typedef enum kind { F32, I8C, I8T, U8, I16L, I16S, HYBC, HYBT, KINDS } kind;
static const char *const kind_name[] = {"f32",          "i8/channel",   "i8/tensor",   "u8",
                                        "i16 bias i64", "i16 bias i32", "dyn/channel", "dyn/tensor"};

typedef struct tensor {
    ac_tensor *t;
    double *v; /* stored values */
    int64_t n;
} tensor;

static ac_ctx cx;
static ac_graph *g;

static void put(ac_dtype d, void *data, int64_t i, double v)
{
    switch ((int)d) {
    case AC_F32:
        ((float *)data)[i] = (float)v;
        break;
    case AC_I8:
        ((int8_t *)data)[i] = (int8_t)v;
        break;
    case AC_U8:
        ((uint8_t *)data)[i] = (uint8_t)v;
        break;
    case AC_I16:
        ((int16_t *)data)[i] = (int16_t)v;
        break;
    case AC_I32:
        ((int32_t *)data)[i] = (int32_t)v;
        break;
    case AC_I64:
        ((int64_t *)data)[i] = (int64_t)v;
        break;
    default:
        MUST(false && "type");
    }
}

static void *dense_data(const tensor *x)
{
    char *p = ac_alloc_n(cx.region, (size_t)x->n + 1, (size_t)ac_dtype_bits(x->t->dtype) / 8);
    for (int64_t i = 0; i < x->n; i++)
        put(x->t->dtype, p, i, x->v[i]);
    return p;
}

/* A tensor of random values; constant when asked for. */
static tensor make(const char *name, ac_dtype d, int32_t rank, const int64_t *dim, double lo, double hi, bool constant)
{
    tensor x = {.t = ac_tensor_new(g, name, d, rank, dim)};
    x.n = ac_tensor_count(x.t);
    x.v = AC_NEW_N(cx.region, double, x.n + 1);
    for (int64_t i = 0; i < x.n; i++)
        x.v[i] = d == AC_F32 ? (double)(float)real(lo, hi) : (double)pick((int64_t)lo, (int64_t)hi);
    if (constant)
        x.t->data = dense_data(&x);
    return x;
}

static void set_quant(ac_tensor *t, int32_t n, int32_t axis, double scale, int32_t zero)
{
    ac_quant *q = AC_NEW(cx.region, ac_quant);
    float *s = AC_NEW_N(cx.region, float, n);
    int32_t *z = AC_NEW_N(cx.region, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        s[i] = (float)(n > 1 ? scale * real(0.3, 1.7) : scale);
        z[i] = zero;
    }
    *q = (ac_quant){axis, n, s, z};
    t->quant = q;
}

/* Runs the lowered node, whole or cut into 2 or 3 chunks that run last to first; out receives the result as doubles. */
static void run(const ac_node *n, const ac_target *t, const tensor *in, int32_t n_in, double *out)
{
    static int32_t turn;
    int32_t part = 0;
    ac_lowered *w = ac_lower_node(&cx, cx.region, n, t, 0, false);
    if (!w || ac_lower_chunks(&cx, cx.region, w, 1 + turn++ % 3, 0) != AC_OK) {
        ac_diags_print(&cx.diags, stderr, false);
        MUST(false && "lower");
    }
    void **data = AC_NEW_N(cx.region, void *, w->arg.n + 1), *result = NULL;
    for (int32_t i = 0; i < w->arg.n; i++) {
        const ac_arg *a = &w->arg.item[i];
        if (a->kind == AC_ARG_CONST) {
            union {
                const void *r;
                void *w;
            } p = {ac_const_data(&cx, a->konst)};
            MUST(p.r);
            data[i] = p.w;
        } else if (a->kind == AC_ARG_SCRATCH) {
            data[i] = ac_alloc(cx.region, (size_t)a->bytes + 64);
        } else if (a->kind == AC_ARG_CHUNK) {
            data[i] = &part;
        } else if (a->tensor == n->out[0]) {
            result = data[i] = ac_alloc(cx.region, (size_t)ac_tensor_bytes(a->tensor) + 64);
            memset(result, 0x55, (size_t)ac_tensor_bytes(a->tensor));
        } else {
            for (int32_t k = 0; k < n_in; k++)
                if (in[k].t == a->tensor)
                    data[i] = dense_data(&in[k]);
            MUST(data[i]);
        }
    }
    int status = 0;
    for (part = w->chunks ? w->chunks - 1 : 0; part >= 0; part--)
        if (ac_eval(&cx, w->fn, data, w->arg.n, &status) != AC_OK) {
            ac_diags_print(&cx.diags, stderr, false);
            MUST(false && "eval");
        }
    MUST(result && status == 0);
    for (int64_t i = 0; i < ac_tensor_count(n->out[0]); i++)
        out[i] = ac_dtype_get_num(n->out[0]->dtype, result, i);
}

static void compare(const ac_node *n, const tensor *in, int32_t n_in, const double *want, const double *slack)
{
    const int64_t count = ac_tensor_count(n->out[0]);
    double *got = AC_NEW_N(cx.region, double, count + 1);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        run(n, &targets[t], in, n_in, got);
        for (int64_t i = 0; i < count; i++) {
            const double allowed = slack ? 1e-6 + 1e-4 * slack[i] : 0;
            if (!(fabs(got[i] - want[i]) <= allowed)) {
                fprintf(stderr, "%s: target %s: element %lld is %.9g, expected %.9g\n", now, targets[t].name,
                        (long long)i, got[i], want[i]);
                MUST(false && "equal");
            }
        }
    }
}

/* ---- weights times windows ---- */

typedef struct conf {
    ac_op op;
    kind k;
    ac_act act;
    bool bias;
    int64_t n, ih, iw, ic, oh, ow, oc, kh, kw, sh, sw, dh, dw, pt, pl, groups; /* fully_connected: n rows, ic, oc */
} conf;

static double act_float(ac_act a, double v)
{
    if (a == AC_ACT_RELU || a == AC_ACT_RELU6)
        v = v > 0 ? v : 0;
    if (a == AC_ACT_RELU6)
        v = v < 6 ? v : 6;
    if (a == AC_ACT_RELU_N1_TO_1)
        v = v < -1 ? -1 : v > 1 ? 1 : v;
    return v;
}

static double act_stored(ac_act a, const ac_tensor *y, double v)
{
    double lo = (double)ac_dtype_min(y->dtype), hi = (double)ac_dtype_max(y->dtype), s = (double)y->quant->scale[0],
           z = y->quant->zero[0];
    if (a == AC_ACT_RELU || a == AC_ACT_RELU6)
        lo = fmax(lo, z);
    if (a == AC_ACT_RELU6)
        hi = fmin(hi, z + round(6 / s));
    if (a == AC_ACT_RELU_N1_TO_1)
        lo = fmax(lo, z + round(-1 / s)), hi = fmin(hi, z + round(1 / s));
    return v < lo ? lo : v > hi ? hi : v;
}

/* Symmetric or asymmetric run-time quantisation of n values. */
static void dynamic(const double *v, int64_t n, bool asym, double *q, float *scale, int32_t *zero)
{
    float lo = (float)v[0], hi = (float)v[0];
    for (int64_t i = 0; i < n; i++) {
        lo = (float)v[i] < lo ? (float)v[i] : lo;
        hi = (float)v[i] > hi ? (float)v[i] : hi;
    }
    *zero = 0;
    if (!asym) {
        float range = fmaxf(fabsf(lo), fabsf(hi)), inv = range > 0 ? 127 / range : 0;
        *scale = range > 0 ? range / 127 : 1;
        for (int64_t i = 0; i < n; i++)
            q[i] = fmax(-127, fmin(127, (double)roundf((float)v[i] * inv)));
        return;
    }
    double rmin = fmin(0, (double)lo), rmax = fmax(0, (double)hi), s = rmin == rmax ? 1 : (rmax - rmin) / 255;
    double from_min = -128 - rmin / s, from_max = 127 - rmax / s;
    double z = 128 + fabs(rmin / s) < 127 + fabs(rmax / s) ? from_min : from_max;
    *zero = rmin == rmax ? 0 : (int32_t)fmax(-128, fmin(127, round(z)));
    *scale = (float)s;
    float inv = 1.0f / *scale;
    for (int64_t i = 0; i < n; i++)
        q[i] = fmax(-128, fmin(127, (double)roundf((float)*zero + (float)v[i] * inv)));
}

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
    const int32_t zx = x->t->quant ? x->t->quant->zero[0] : 0;
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
    static const ac_dtype x_type[] = {AC_F32, AC_I8, AC_I8, AC_U8, AC_I16, AC_I16, AC_F32, AC_F32};
    static const ac_dtype w_type[] = {AC_F32, AC_I8, AC_I8, AC_U8, AC_I8, AC_I8, AC_I8, AC_I8};
    static const ac_dtype b_type[] = {AC_F32, AC_I32, AC_I32, AC_I32, AC_I64, AC_I32, AC_F32, AC_F32};
    const bool dense = f->op == AC_OP_FULLY_CONNECTED;
    const ac_dtype d = x_type[f->k];
    const double lo = d == AC_F32 ? -2 : (double)ac_dtype_min(d), hi = d == AC_F32 ? 2 : (double)ac_dtype_max(d);
    const double w_lo = f->k == F32 ? -1 : f->k == U8 ? 0 : -127, w_hi = f->k == F32 ? 1 : f->k == U8 ? 255 : 127;
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
    o.w = make("w", w_type[f->k], rank, wd, w_lo, w_hi, constant);
    o.bias = make("bias", b_type[f->k], 1, &f->oc, -b_max, b_max, constant);
    o.y = ac_tensor_new(g, "y", d, rank, yd);
    return o;
}

static void quantise(const conf *f, const operands *o)
{
    const bool per_channel = f->k == I8C || f->k == I16L || f->k == I16S || f->k == HYBC;
    const ac_dtype d = o->x.t->dtype;
    const int32_t zw = f->k == U8 ? 121 : f->k == I8T && f->op == AC_OP_FULLY_CONNECTED ? 5 : 0;
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
    return n;
}

/* Whether quantisation at run time has a zero point; a single output channel counts as a scale for the tensor. */
static bool is_asymmetric(const conf *f, const ac_node *n)
{
    if (f->op == AC_OP_FULLY_CONNECTED)
        return n->attrs.dense.asymmetric_inputs;
    return f->op == AC_OP_DEPTHWISE_CONV_2D || (f->k == HYBC && f->oc > 1);
}

static void run_conf(const conf *f)
{
    operands o = make_operands(f);
    quantise(f, &o);
    const ac_node *n = make_node(f, &o);
    const int64_t count = ac_tensor_count(o.y);
    double *want = AC_NEW_N(cx.region, double, count + 1), *slack = AC_NEW_N(cx.region, double, count + 1);
    reference(f, &o.x, &o.w, f->bias ? &o.bias : NULL, o.y, is_asymmetric(f, n), want, slack);
    const tensor all[] = {o.x, o.w, o.bias};
    compare(n, all, 3, want, o.y->dtype == AC_F32 ? slack : NULL);
}

static int64_t channels(void)
{
    static const int64_t usual[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32, 40, 48, 70};
    return usual[pick(0, (int64_t)(sizeof usual / sizeof *usual) - 1)];
}

static void extents(int64_t *in, int64_t *out, int64_t k, int64_t s, int64_t d, int64_t *pad, bool transposed)
{
    const int64_t reach = (k - 1) * d + 1;
    *pad = pick(0, 1) ? pick(0, reach - 1) : 0;
    const int64_t after = pick(0, 2) ? *pad : 0;
    if (transposed) {
        *in = pick(1, 7);
        *out = (*in - 1) * s + k - *pad - after + pick(0, s - 1);
        if (*out < 1)
            *out = 1;
        return;
    }
    *in = pick(1, 9);
    if (*in + *pad + after < reach)
        *in = reach;
    *out = (*in + *pad + after - reach) / s + 1;
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
    if (op == AC_OP_CONV_2D && !pick(0, 5)) {
        f.groups = pick(1, 3);
        f.ic *= f.groups, f.oc *= f.groups;
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
    now = ac_strf(cx.region, "fully_connected %s act %d bias %d rows %d in %d out %d", kind_name[k], (int)f.act, f.bias,
                  (int)f.n, (int)f.ic, (int)f.oc);
    run_conf(&f);
}

/* ---- batch_matmul ---- */

static void random_matmul(kind k)
{
    const bool ax = k != HYBT && pick(0, 1), ay = pick(0, 1), constant = k == HYBT || pick(0, 1);
    const int64_t m = pick(1, 9), n = channels(), depth = channels(), b0 = pick(1, 3), b1 = pick(1, 2);
    const int64_t xd[4] = {b0, b1, ax ? depth : m, ax ? m : depth},
                  yd3[3] = {pick(0, 1) ? b1 : 1, ay ? n : depth, ay ? depth : n};
    const int64_t od[4] = {b0, b1, m, n};
    const ac_dtype d = k == F32 || k == HYBT ? AC_F32 : k == I16L ? AC_I16 : AC_I8, dy = k == HYBT ? AC_I8 : d;
    const double hi = d == AC_F32 ? 2 : (double)ac_dtype_max(d), hy = dy == AC_F32 ? 2 : (double)ac_dtype_max(dy);
    now = ac_strf(cx.region, "batch_matmul %s adj %d,%d %d,%d %dx%dx%d", kind_name[k], ax, ay, (int)b0, (int)b1, (int)m,
                  (int)depth, (int)n);
    tensor x = make("x", d, 4, xd, -hi, hi, false), y = make("y", dy, 3, yd3, -hy, hy, constant);
    ac_tensor *out = ac_tensor_new(g, "out", d, 4, od);
    if (d != AC_F32) {
        set_quant(x.t, 1, 0, 0.013, d == AC_I16 ? 0 : -7);
        set_quant(out, 1, 0, 0.013 * 0.021 * hi * 0.4 * sqrt((double)depth), d == AC_I16 ? 0 : 9);
    }
    if (dy != AC_F32)
        set_quant(y.t, 1, 0, 0.021, dy == AC_I16 || k == HYBT ? 0 : 3);
    ac_node *node = ac_node_new(g, AC_OP_BATCH_MATMUL, "mm", (ac_tensor *[]){x.t, y.t}, 2, &out, 1);
    node->attrs.matmul.adj_x = ax, node->attrs.matmul.adj_y = ay;
    double *want = AC_NEW_N(cx.region, double, b0 *b1 *m *n), *slack = AC_NEW_N(cx.region, double, b0 *b1 *m *n);
    double *q = AC_NEW_N(cx.region, double, depth + 1);
    int64_t o = 0;
    for (int64_t b = 0; b < b0 * b1; b++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++, o++) {
                const double *px = x.v + b * m * depth, *py = y.v + (yd3[0] == 1 ? 0 : b % b1) * n * depth;
                float sx = 1;
                int32_t z = 0;
                if (k == HYBT)
                    dynamic(px + i * depth, depth, false, q, &sx, &z);
                double acc = 0;
                for (int64_t c = 0; c < depth; c++) {
                    double xv = k == HYBT ? q[c] : px[ax ? c * m + i : i * depth + c],
                           yv = py[ay ? j * depth + c : c * n + j];
                    if (d != AC_F32)
                        xv -= x.t->quant->zero[0], yv -= y.t->quant->zero[0];
                    acc += xv * yv;
                    slack[o] += fabs(xv * yv);
                }
                want[o] = acc;
                if (k == HYBT)
                    want[o] = acc * (double)sx * (double)y.t->quant->scale[0];
                if (d != AC_F32) {
                    const double s =
                        (double)(x.t->quant->scale[0] * y.t->quant->scale[0]) / (double)out->quant->scale[0];
                    want[o] = act_stored(AC_ACT_NONE, out, requant((int64_t)acc, s, d == AC_I16) + out->quant->zero[0]);
                }
            }
    const tensor all[] = {x, y};
    compare(node, all, 2, want, d == AC_F32 ? slack : NULL);
}

/* ---- pools ---- */

static void random_pool(ac_op op, ac_dtype d)
{
    const double lo = d == AC_F32 ? -3 : (double)ac_dtype_min(d), hi = d == AC_F32 ? 3 : (double)ac_dtype_max(d);
    conf f = {.op = op,
              .act = (ac_act)pick(0, 3),
              .n = pick(1, 2),
              .kh = pick(1, 4),
              .kw = pick(1, 4),
              .sh = pick(1, 3),
              .sw = pick(1, 3)};
    extents(&f.ih, &f.oh, f.kh, f.sh, 1, &f.pt, false);
    extents(&f.iw, &f.ow, f.kw, f.sw, 1, &f.pl, false);
    f.ic = channels();
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

static void once(uint64_t seed, int what)
{
    ac_ctx_open(&cx);
    if (OUT_OF_MEMORY(cx)) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    ac_ctx_start(&cx);
    g = ac_graph_new(&cx, "t");
    state = seed * 0x9e3779b97f4a7c15u + (uint64_t)what;
    static const ac_dtype pool_type[] = {AC_F32, AC_I8, AC_U8, AC_I16};
    if (what < KINDS)
        random_conv(AC_OP_CONV_2D, (kind)what);
    else if (what < 2 * KINDS)
        random_conv(AC_OP_DEPTHWISE_CONV_2D, (kind)(what - KINDS == HYBT ? HYBC : what - KINDS));
    else if (what < 3 * KINDS)
        random_conv(AC_OP_TRANSPOSE_CONV, (kind)(what - 2 * KINDS));
    else if (what < 4 * KINDS)
        random_dense((kind)(what - 3 * KINDS));
    else if (what < 4 * KINDS + 4)
        random_matmul((kind[]){F32, I8T, I16L, HYBT}[what - 4 * KINDS]);
    else if (what < 4 * KINDS + 8)
        random_pool(AC_OP_MAX_POOL_2D, pool_type[what - 4 * KINDS - 4]);
    else if (what < 4 * KINDS + 12)
        random_pool(AC_OP_AVERAGE_POOL_2D, pool_type[what - 4 * KINDS - 8]);
    else if (what == 4 * KINDS + 12)
        random_pool(AC_OP_L2_POOL_2D, AC_F32);
    else
        refused();
    ac_ctx_close(&cx);
}

int main(int argc, char **argv)
{
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 12,
                   first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t r = first; r < first + rounds; r++)
        for (int what = 0; what < 4 * KINDS + 14; what++)
            once(r, what);
    printf("conv: %d kinds, %llu rounds\n", 4 * KINDS + 14, (unsigned long long)rounds);
    return 0;
}
