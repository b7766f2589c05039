/* math_layers.c - element-wise layers of Caffe. */
#include "import/caffe/layers.h"

#include <math.h>
#include <string.h>

#define MAKER (&l->b)
#include "ir/make/formula.h"

/* scale * x + shift, without steps that change nothing. */
static ac_tensor *affine(ac_caf_layer *l, ac_tensor *x, double scale, double shift)
{
    if (scale < 1 || scale > 1)
        x = MUL(x, F32(scale));
    if (shift < 0 || shift > 0)
        x = ADD(x, F32(shift));
    return x;
}

static bool is(double v, double w)
{
    return v >= w && v <= w;
}

/* [C] along dimension axis of x. */
static ac_tensor *along(ac_caf_layer *l, ac_tensor *v, const ac_tensor *x, int32_t axis, int32_t axes)
{
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = d >= axis && d < axis + axes ? x->dim[d] : 1;
    return ac_make_reshape(&l->b, v, x->rank, dim);
}

/* The same value under several names. */
int ac_caf_do_same(ac_caf_layer *l)
{
    for (int32_t i = 0; i < l->n_out; i++)
        AC_TRY(ac_caf_result(l, i, l->in[0]));
    return AC_OK;
}

/* If training did not scale the elements, multiplies them by the probability of being kept. */
int ac_caf_do_dropout(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "dropout_param");
    const double ratio = ac_attr_float(m, A_dropout_ratio);
    return ac_caf_result(l, 0, ac_attr_bool(m, A_scale_train) ? l->in[0] : MUL(l->in[0], F32(1 - ratio)));
}

int ac_caf_do_bnll(ac_caf_layer *l)
{
    return ac_caf_result(l, 0, OP1(SOFTPLUS, l->in[0]));
}

int ac_caf_do_clip(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "clip_param");
    if (!ac_attr_has(m, A_min) || !ac_attr_has(m, A_max))
        return ac_bad(&l->b, "clip_param has no min or no max");
    const double low = ac_attr_float(m, A_min), high = ac_attr_float(m, A_max);
    ac_tensor *most = F32(high);
    return ac_caf_result(l, 0, MIN(MAX(l->in[0], F32(low)), most));
}

int ac_caf_do_elu(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "elu_param");
    ac_tensor *x = l->in[0];
    const double alpha = ac_attr_float(m, A_alpha);
    if (is(alpha, 1))
        return ac_caf_result(l, 0, OP1(ELU, x));
    ac_tensor *below = affine(l, OP1(ELU, MIN(x, F32(0))), alpha, 0);
    return ac_caf_result(l, 0, ADD(OP1(RELU, x), below));
}

/* The base, -1 for e, and the factor and summand of the exponent (of exp) or of the argument (of log). */
static void read_exponent(ac_caf_layer *l, const char *message, double *base, double *scale, double *shift)
{
    ac_attrs_reader *m = ac_caf_message(l, message);
    *base = ac_attr_float(m, A_base);
    *scale = ac_attr_float(m, A_scale);
    *shift = ac_attr_float(m, A_shift);
}

int ac_caf_do_exp(ac_caf_layer *l)
{
    double base, scale, shift;
    read_exponent(l, "exp_param", &base, &scale, &shift);
    if (!is(base, -1) && base <= 0)
        return ac_bad(&l->b, "base is %g, expected -1 (for e) or a positive number", base);
    const double at_zero = is(base, -1) ? exp(shift) : pow(base, shift);
    ac_tensor *x = affine(l, l->in[0], scale, 0);
    return ac_caf_result(l, 0, affine(l, is(base, -1) ? EXP(x) : OP2(POW, F32(base), x), at_zero, 0));
}

int ac_caf_do_log(ac_caf_layer *l)
{
    double base, scale, shift;
    read_exponent(l, "log_param", &base, &scale, &shift);
    if (!is(base, -1) && (base <= 0 || is(base, 1)))
        return ac_bad(&l->b, "base is %g, expected -1 (for e) or a positive number other than 1", base);
    return ac_caf_result(l, 0, affine(l, LOG(affine(l, l->in[0], scale, shift)), is(base, -1) ? 1 : 1 / log(base), 0));
}

int ac_caf_do_power(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "power_param");
    const double power = ac_attr_float(m, A_power), scale = ac_attr_float(m, A_scale);
    const double shift = ac_attr_float(m, A_shift);
    ac_tensor *x = affine(l, l->in[0], scale, shift);
    if (is(power, 1))
        return ac_caf_result(l, 0, x);
    return ac_caf_result(l, 0, is(power, 2) ? SQUARE(x) : OP2(POW, x, F32(power)));
}

int ac_caf_do_relu(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "relu_param");
    ac_attrs a;
    const double slope = ac_attr_float(m, A_negative_slope);
    if (is(slope, 0))
        return ac_caf_result(l, 0, OP1(RELU, l->in[0]));
    ac_attrs_init(AC_OP_LEAKY_RELU, &a);
    a.alpha.alpha = (float)slope;
    return ac_caf_result(l, 0, ac_make_op(&l->b, AC_OP_LEAKY_RELU, l->in, 1, &a, AC_NONE));
}

int ac_caf_do_prelu(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "prelu_param");
    ac_tensor *x = l->in[0];
    const bool shared = ac_attr_bool(m, A_channel_shared);
    if (x->rank < 2)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 2 dimensions or more", x->name, ac_shape_str(l->r->cx, x));
    ac_tensor *slope = ac_caf_weight(l, "slope", !shared, &x->dim[1]);
    return ac_caf_result(l, 0, OP2(PRELU, x, slope && !shared ? along(l, slope, x, 1, 1) : slope));
}

int ac_caf_do_swish(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "swish_param");
    return ac_caf_result(l, 0, ac_make_swish(&l->b, l->in[0], ac_attr_float(m, A_beta)));
}

int ac_caf_do_threshold(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "threshold_param");
    const double threshold = ac_attr_float(m, A_threshold);
    return ac_caf_result(l, 0, ac_make_cast(&l->b, GREATER(l->in[0], F32(threshold)), AC_F32));
}

int ac_caf_do_eltwise(ac_caf_layer *l)
{
    static const ac_op OPS[] = {AC_OP_MUL, AC_OP_ADD, AC_OP_MAXIMUM};
    ac_attrs_reader *m = ac_caf_message(l, "eltwise_param");
    int32_t n;
    ac_tensor *y = NULL;
    const int32_t how = ac_attr_word(m, A_operation);
    const double *coeff = ac_attr_floats(m, A_eltwise_coeff, &n);
    if (n && (n != l->n_in || how != 1))
        return ac_bad(&l->b, "%d coefficients for %d bottoms; they belong to operation SUM", n, l->n_in);
    for (int32_t i = 0; i < l->n_in; i++) {
        if (!ac_tensor_same_shape(l->in[i], l->in[0]))
            return ac_bad(&l->b, "bottoms '%s' %s and '%s' %s have different shapes", l->in[0]->name,
                          ac_shape_str(l->r->cx, l->in[0]), l->in[i]->name, ac_shape_str(l->r->cx, l->in[i]));
        ac_tensor *x = affine(l, l->in[i], n ? coeff[i] : 1, 0);
        y = i ? ac_make_2(&l->b, OPS[how], y, x) : x;
    }
    return ac_caf_result(l, 0, y);
}

/* Scale and Bias: a factor or summand for some dimensions, from the weights or from the second bottom. */
int ac_caf_do_scale(ac_caf_layer *l)
{
    const bool scales = l->op == AC_OP_MUL;
    ac_attrs_reader *m = ac_caf_message(l, scales ? "scale_param" : "bias_param");
    ac_tensor *x = l->in[0], *v = l->n_in == 2 ? l->in[1] : NULL;
    int32_t axis;
    int64_t axes = v ? v->rank : 1;
    bool bias = false;
    if (!x->rank)
        return ac_bad(&l->b, "bottom '%s' has no dimensions", x->name);
    AC_TRY(ac_operand_axis(&l->b, ac_attr_int_or(m, A_axis, !v || v->rank), x->rank, &axis));
    if (!v)
        axes = ac_attr_int(m, A_num_axes);
    else
        ac_attr_skip(m, "num_axes");
    if (scales)
        bias = ac_attr_bool(m, A_scale_bias_term);
    axes = axes < 0 ? x->rank - axis : axes;
    if (axis + axes > x->rank)
        return ac_bad(&l->b, "%d dimensions from %d on are more than those of bottom '%s' %s", (int)axes, axis, x->name,
                      ac_shape_str(l->r->cx, x));
    for (int32_t d = 0; v && d < v->rank; d++)
        if (v->dim[d] != x->dim[axis + d])
            return ac_bad(&l->b, "bottoms '%s' %s and '%s' %s do not fit at axis %d", x->name,
                          ac_shape_str(l->r->cx, x), v->name, ac_shape_str(l->r->cx, v), axis);
    if (!v)
        v = ac_caf_weight(l, scales ? "scale" : "bias", (int32_t)axes, x->dim + axis);
    ac_tensor *shift = bias ? ac_caf_weight(l, "bias", (int32_t)axes, x->dim + axis) : NULL;
    if (!v || (bias && !shift))
        return AC_FAIL;
    ac_tensor *y = ac_make_2(&l->b, l->op, x, along(l, v, x, axis, (int32_t)axes));
    return ac_caf_result(l, 0, bias ? ADD(y, along(l, shift, x, axis, (int32_t)axes)) : y);
}

/* a [N,C] or [N,C,1,1], x and y [N,C,H,W]: a x + y. */
int ac_caf_do_axpy(ac_caf_layer *l)
{
    ac_tensor *a = l->in[0], *x = l->in[1], *y = l->in[2];
    if (x->rank != 4 || !ac_tensor_same_shape(x, y) || ac_tensor_count(a) != x->dim[0] * x->dim[1])
        return ac_bad(&l->b, "bottoms '%s' %s, '%s' %s and '%s' %s do not fit", a->name, ac_shape_str(l->r->cx, a),
                      x->name, ac_shape_str(l->r->cx, x), y->name, ac_shape_str(l->r->cx, y));
    a = ac_make_reshape(&l->b, a, 4, (int64_t[]){x->dim[0], x->dim[1], 1, 1});
    return ac_caf_result(l, 0, ADD(MUL(x, a), y));
}
