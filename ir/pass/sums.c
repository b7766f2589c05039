/* sums.c - the sums of an integer operator with weights: the layout of its weights, and the bounds of each sum.
 *
 * The smallest and the largest sum are exact for independent operands: every product takes the end of x's interval that
 * its weight's sign selects. A tap that is outside of x for some output position adds nothing there, so the range of
 * its products includes 0. */
#include "ir/pass/channels.h"

#include <math.h>

static bool small_ints(const ac_tensor *t)
{
    return (t->dtype == AC_I8 || t->dtype == AC_U8 || t->dtype == AC_I16) && t->quant && t->quant->n == 1;
}

/* The types of ir/lower/channel.h whose sums are integers. */
static bool types_fit(const ac_tensor *x, const ac_tensor *w, const ac_tensor *bias, const ac_tensor *y)
{
    const bool bytes = x->dtype == AC_U8 ? w->dtype == AC_U8 : w->dtype == AC_I8;
    const bool sums =
        !bias || (ac_tensor_is_const(bias) && (bias->dtype == AC_I32 || (bias->dtype == AC_I64 && x->dtype == AC_I16)));
    return small_ints(x) && small_ints(y) && x->dtype == y->dtype && bytes && w->quant && ac_tensor_is_const(w) &&
           !ac_tensor_is_const(x) && sums;
}

/* True if tap k of an axis is outside of the input for some position of the output. */
static bool falls_outside(int64_t k, int64_t dil, int64_t stride, int64_t pad, int64_t in, int64_t out)
{
    return k * dil < pad || (out - 1) * stride - pad + k * dil >= in;
}

static void mark_outside(ac_sums *t, const ac_node *n)
{
    const ac_attrs_conv *a = &n->attrs.conv;
    const int64_t kw = t->w->dim[2];
    for (int64_t k = 0; k < t->taps; k++)
        t->outside[k] = falls_outside(k / kw, a->dilation_h, a->stride_h, a->pad_t, t->x->dim[1], t->y->dim[1]) ||
                        falls_outside(k % kw, a->dilation_w, a->stride_w, a->pad_l, t->x->dim[2], t->y->dim[2]);
}

/* false: groups, or rows of x whose length is not a multiple of its last dimension. */
static bool lay_out(ac_sums *t, const ac_node *n)
{
    const int64_t *w = t->w->dim, channels = ac_last_dim(t->x);
    if (n->op == AC_OP_FULLY_CONNECTED) {
        t->outs = w[0];
        t->i_step = 1;
        if (channels < 1 || w[1] % channels)
            return false;
        t->ins = t->tap_step = channels;
        t->taps = w[1] / channels;
        t->o_step = w[1];
        return true;
    }
    t->taps = w[1] * w[2];
    if (n->attrs.conv.padding != AC_PAD_EXPLICIT || channels < 1)
        return false;
    if (n->op == AC_OP_DEPTHWISE_CONV_2D) {
        t->outs = t->tap_step = w[3];
        t->ins = t->o_step = 1;
        t->times = w[3] / channels;
        return true;
    }
    t->outs = w[0];
    t->ins = t->tap_step = w[3];
    t->o_step = t->taps * w[3];
    t->i_step = 1;
    return channels == w[3];
}

ac_sums *ac_sums_open(ac_channels *s, const ac_node *n)
{
    const ac_filter_row *at = &ac_filter_of[ac_ops[n->op].filter];
    ac_sums *t = AC_NEW(s->tmp, ac_sums);
    ac_tensor *x = n->in[at->x], *w = n->in[at->w], *bias = ac_node_in(n, at->bias);
    *t = (ac_sums){.x = x, .w = w, .bias = bias, .y = n->out[0]};
    if (n->n_fused || !types_fit(x, w, bias, t->y) || ac_node_act(n) == AC_ACT_TANH || !lay_out(t, n))
        return NULL;
    t->wide = x->dtype == AC_I16 && !(bias && bias->dtype == AC_I32);
    t->zx = x->dtype == AC_I16 ? 0 : ac_quant_zero(x);
    /* as ac_channel_open has it: only there weights may be asymmetric */
    if (w->dtype == AC_U8 || (n->op == AC_OP_FULLY_CONNECTED && w->quant->n == 1))
        t->zw = ac_quant_zero(w);
    t->outside = AC_NEW_N(s->tmp, bool, t->taps + 1);
    if (n->op != AC_OP_FULLY_CONNECTED)
        mark_outside(t, n);
    t->data = ac_tensor_force(s->cx, w);
    return t->data && (!bias || ac_tensor_force(s->cx, bias)) ? t : NULL;
}

/* Results grow with sums as long as requantising wraps nowhere: scales that make a result of 32 bits out of any sum. */
static bool requantises(const ac_sums *t, int64_t o)
{
    const ac_quant *q = t->w->quant;
    const double scale =
        (double)ac_quant_scale(t->x) * (double)q->scale[q->n > 1 ? o : 0] / (double)ac_quant_scale(t->y);
    const double most = fmax(fabs((double)t->lo[o]), fabs((double)t->hi[o]));
    const double room = t->wide ? 0x1p46 : 0x1p31;
    return most < room && most * scale < 0x1p30;
}

void ac_sums_bound(ac_channels *s, ac_sums *t)
{
    const ac_span *x = &s->span[t->x->id];
    const int64_t room = t->wide ? (int64_t)1 << 60 : INT32_MAX;
    bool bounded = true;
    t->lo = AC_NEW_N(s->tmp, int64_t, t->outs + 1);
    t->hi = AC_NEW_N(s->tmp, int64_t, t->outs + 1);
    t->folds = true;
    for (int64_t o = 0; o < t->outs; o++) {
        const int64_t bias = t->bias ? ac_dtype_get_int(t->bias->dtype, t->bias->data, o) : 0;
        int64_t lo = 0, hi = 0, folded = 0;
        for (int64_t k = 0; k < t->taps; k++)
            for (int64_t i = 0; i < t->ins; i++) {
                const int64_t c = ac_sums_channel(t, o, i), w = ac_sums_weight(t, o, k, i);
                const int64_t a = w * (x->lo[c] - t->zx), b = w * (x->hi[c] - t->zx);
                const int64_t least = a < b ? a : b, most = a < b ? b : a;
                lo += t->outside[k] && least > 0 ? 0 : least;
                hi += t->outside[k] && most < 0 ? 0 : most;
                folded += x->lo[c] == x->hi[c] ? (a < 0 ? -a : a) : 0;
            }
        t->folds &= bias >= -room + folded && bias <= room - folded;
        t->lo[o] = lo + bias;
        t->hi[o] = hi + bias;
        bounded &= bias >= -room - lo && bias <= room - hi && requantises(t, o);
    }
    if (!bounded)
        t->lo = t->hi = NULL;
}
