/* activation_nodes.c - activations, softmax and dropout of PyTorch. */
#include "import/pt2/nodes.h"

#include "import/build/compose_pads.h"
#include "ir/make/compose_moves.h"
#include "ir/make/compose_random.h"

#include <float.h>
#include <math.h>
#include <string.h>

int ac_ep_do_relu6(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    if (x->dtype == AC_F32)
        return ac_ep_result(n, 0, OP1(RELU6, x));
    ac_tensor *positive = MAX(x, NUM(x, 0));
    return ac_ep_result(n, 0, MIN(positive, NUM(x, 6)));
}

int ac_ep_do_silu(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    return ac_ep_result(n, 0, x->dtype == AC_F32 ? ac_make_swish(&n->b, x, 1) : MUL(x, OP1(LOGISTIC, x)));
}

int ac_ep_do_gelu(ac_ep_node *n)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GELU, &a);
    a.gelu.approximate = !strcmp(ac_attr_text(&n->attrs, A_approximate), "tanh");
    return ac_ep_result(n, 0, ac_make_op(&n->b, AC_OP_GELU, n->in, 1, &a, AC_NONE));
}

int ac_ep_do_hardswish(ac_ep_node *n)
{
    return ac_ep_result(n, 0, OP1(HARD_SWISH, n->in[0]));
}

int ac_ep_do_hardsigmoid(ac_ep_node *n)
{
    return ac_ep_result(n, 0, ac_make_hard_sigmoid(&n->b, n->in[0], 1.0 / 6, 0.5));
}

int ac_ep_do_hardtanh(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const double low = ac_attr_float(&n->attrs, A_min_val), high = ac_attr_float(&n->attrs, A_max_val);
    if (x->dtype == AC_F32 && low == 0 && high == 6)
        return ac_ep_result(n, 0, OP1(RELU6, x));
    ac_tensor *above = MAX(x, NUM(x, low));
    return ac_ep_result(n, 0, MIN(above, NUM(x, high)));
}

static int leaky(ac_ep_node *n, double slope)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_LEAKY_RELU, &a);
    a.alpha.alpha = (float)slope;
    return ac_ep_result(n, 0, ac_make_op(&n->b, AC_OP_LEAKY_RELU, n->in, 1, &a, AC_NONE));
}

int ac_ep_do_leaky_relu(ac_ep_node *n)
{
    return leaky(n, ac_attr_float(&n->attrs, A_negative_slope));
}

/* In inference the slope is the mean of both bounds. */
int ac_ep_do_rrelu(ac_ep_node *n)
{
    double bound[2] = {1.0 / 8, 1.0 / 3};
    static const char *const NAME[] = {"lower", "upper"};
    for (int32_t i = 0; i < 2; i++) {
        ac_ep_value v;
        AC_TRY(ac_ep_number(n, ac_ep_arg(n, NAME[i]), &v));
        bound[i] = v.kind == AC_EP_NUMBER ? v.f : bound[i];
    }
    if (ac_attr_bool(&n->attrs, A_training))
        return ac_cannot(&n->b, "it draws random slopes in training");
    return leaky(n, (bound[0] + bound[1]) / 2);
}

int ac_ep_do_prelu(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *slope = n->in[1];
    if (slope->rank == 1 && x->rank > 1)
        slope = ac_make_along(&n->b, slope, x->rank, ac_tensor_count(slope) == 1 ? x->rank - 1 : 1);
    if (!slope)
        return AC_FAIL;
    if (x->dtype == AC_F32)
        return ac_ep_result(n, 0, OP2(PRELU, x, slope));
    ac_tensor *low = MUL(slope, MIN(x, NUM(x, 0)));
    return ac_ep_result(n, 0, ADD(MAX(x, NUM(x, 0)), low));
}

int ac_ep_do_elu(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const double alpha = ac_attr_float(&n->attrs, A_alpha), scale = ac_attr_float(&n->attrs, A_scale),
                 inner = ac_attr_float(&n->attrs, A_input_scale);
    if (scale == 1 && inner == 1)
        return ac_ep_result(n, 0, ac_make_elu(&n->b, x, alpha));
    ac_tensor *low = TIMES(OP1(ELU, TIMES(MIN(x, NUM(x, 0)), inner)), alpha * scale);
    return ac_ep_result(n, 0, ADD(TIMES(MAX(x, NUM(x, 0)), scale), low));
}

int ac_ep_do_celu(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const double alpha = ac_attr_float(&n->attrs, A_alpha);
    ac_tensor *negative = MIN(x, NUM(x, 0));
    ac_tensor *low = TIMES(OP1(ELU, DIV(negative, NUM(x, alpha))), alpha);
    return ac_ep_result(n, 0, ADD(MAX(x, NUM(x, 0)), low));
}

/* log(1 + exp(beta * x)) / beta; the line x above the threshold. */
int ac_ep_do_softplus(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const double beta = ac_attr_float(&n->attrs, A_beta), threshold = ac_attr_float(&n->attrs, A_threshold);
    ac_tensor *scaled = beta == 1 ? x : TIMES(x, beta), *y = OP1(SOFTPLUS, scaled);
    y = beta == 1 ? y : DIV(y, NUM(x, beta));
    if (threshold < 20) /* beyond, both are the same float */
        y = WHERE(GREATER(scaled, NUM(x, threshold)), x, y);
    return ac_ep_result(n, 0, y);
}

int ac_ep_do_log_sigmoid(ac_ep_node *n)
{
    AC_TRY(ac_ep_result(n, 0, NEG(OP1(SOFTPLUS, NEG(n->in[0])))));
    return n->n_out > 1 && n->out[1] ? ac_ep_result(n, 1, ac_make_zeros(&n->b, AC_F32, 1, (int64_t[]){0})) : AC_OK;
}

/* Nothing between -lambd and lambd; soft: the rest moves towards 0 by lambd. */
int ac_ep_do_shrink(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const double by = ac_attr_float(&n->attrs, A_lambd);
    const bool soft = strstr(n->row->name, "soft") != NULL;
    ac_tensor *zero = NUM(x, 0), *down = soft ? SUB(x, NUM(x, by)) : x, *up = soft ? ADD(x, NUM(x, by)) : x;
    ac_tensor *y = WHERE(GREATER(x, NUM(x, by)), down, zero);
    return ac_ep_result(n, 0, WHERE(LESS(x, NUM(x, -by)), up, y));
}

int ac_ep_do_threshold(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const double from = ac_attr_float(&n->attrs, A_threshold), value = ac_attr_float(&n->attrs, A_value);
    ac_tensor *other = NUM(x, value);
    return ac_ep_result(n, 0, WHERE(OP2(LESS_EQUAL, x, NUM(x, from)), other, x));
}

int ac_ep_do_glu(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_last_dim, x->rank, &d));
    if (x->rank < 1 || x->dim[d] % 2)
        return ac_bad(&n->b, "'%s' %s has no halves along dimension %d", x->name, ac_shape_str(n->r->cx, x), d);
    const int64_t half = x->dim[d] / 2;
    ac_tensor *a = ac_make_slice(&n->b, x, d, 0, half), *gate = OP1(LOGISTIC, ac_make_slice(&n->b, x, d, half, half));
    return ac_ep_result(n, 0, MUL(a, gate));
}

/* ------------------------------------------------------------------ softmax */

static int read_softmax(ac_ep_node *n, ac_tensor **y)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    (void)ac_attr_bool(&n->attrs, A_half_to_float);
    (void)ac_attr_has(&n->attrs, A_dtype); /* the declared type */
    if (x->rank == 0)
        *y = n->row->op == AC_OP_SOFTMAX ? ac_make_number_like(&n->b, x, 1) : ac_make_number_like(&n->b, x, 0);
    else
        *y = ac_tensor_count(x) ? ac_make_softmax(&n->b, n->row->op, x, d) : x;
    return *y ? AC_OK : AC_FAIL;
}

int ac_ep_do_softmax(ac_ep_node *n)
{
    ac_tensor *y;
    AC_TRY(read_softmax(n, &y));
    return ac_ep_result(n, 0, y);
}

/* Rows of -infinity give zeros. */
int ac_ep_do_safe_softmax(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y;
    int32_t d;
    AC_TRY(read_softmax(n, &y));
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    ac_tensor *most = ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, 1u << d, true);
    ac_tensor *blind = OP2(LESS_EQUAL, most, most ? NUM(most, -(double)FLT_MAX) : NULL), *zero = NUM(x, 0);
    return ac_ep_result(n, 0, WHERE(blind, zero, y));
}

/* ------------------------------------------------------------------ dropout */

static int trains(ac_ep_node *n, bool train)
{
    return train ? ac_ep_refuse_training(n, "draws random numbers") : AC_OK;
}

int ac_ep_do_dropout(ac_ep_node *n)
{
    const double p = ac_attr_float_or(&n->attrs, A_p, 0.5);
    const bool train = ac_attr_bool(&n->attrs, A_train);
    if (n->r->reading->opt.train && p > 0)
        return ac_ep_result(n, 0, ac_make_dropout(&n->b, n->in[0], p));
    AC_TRY(trains(n, train && p > 0));
    return ac_ep_result(n, 0, n->in[0]);
}

int ac_ep_do_native_dropout(ac_ep_node *n)
{
    const double p = ac_attr_float_or(&n->attrs, A_p, 0.5);
    ac_tensor *x = n->in[0], *all = ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_BOOL, 1), x->rank, x->dim);
    AC_TRY(trains(n, ac_attr_bool(&n->attrs, A_train) && p > 0));
    AC_TRY(ac_ep_result(n, 0, x));
    return ac_ep_result(n, 1, all);
}
