/* math_symbols.c - element-wise operators of MXNet. Comparisons give 1 and 0 in the type of their operands. */
#include "import/mxnet/symbols.h"

#include <math.h>
#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"

int ac_mx_do_make_loss(ac_mx_node *n)
{
    ac_attr_skip(&n->attrs, "valid_thresh");
    return ac_mx_result(n, 0, n->in[0]);
}

int ac_mx_do_svm(ac_mx_node *n)
{
    ac_attr_skip(&n->attrs, "margin");
    ac_attr_skip(&n->attrs, "regularization_coefficient");
    ac_attr_skip(&n->attrs, "use_linear");
    return ac_mx_result(n, 0, n->in[0]);
}

int ac_mx_do_unary(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    if (n->row->op == AC_OP_RELU && ac_dtype_is_int(x->dtype))
        return ac_mx_result(n, 0, MAX(x, NUM(x, 0)));
    return ac_mx_result(n, 0, ac_make_1(&n->b, n->row->op, x));
}

static ac_tensor *softsign(ac_mx_node *n, ac_tensor *x)
{
    ac_tensor *one = F32(1);
    return DIV(x, ADD(ABS(x), one));
}

/* The nearest integer; a half goes up, or down. No sum rounds: x - floor(x) is exact. */
static ac_tensor *nearest(ac_mx_node *n, ac_tensor *x, bool up)
{
    ac_tensor *low = OP1(FLOOR, x), *half = F32(0.5);
    ac_tensor *rest = SUB(x, low);
    rest = up ? OP2(GREATER_EQUAL, rest, half) : GREATER(rest, half);
    return ADD(low, ac_make_cast(&n->b, rest, AC_F32));
}

/* Functions that are a few others. */
int ac_mx_do_function(ac_mx_node *n)
{
    ac_tensor *x = n->in[0], *y = NULL, *v; /* v: an operand that is made first */
    const char *f = n->type;
    const bool whole = ac_dtype_is_int(x->dtype);
    if (whole && (!strcmp(f, "trunc") || !strcmp(f, "fix") || !strcmp(f, "round") || !strcmp(f, "rint")))
        y = x;
    else if (!strcmp(f, "reciprocal"))
        y = DIV(F32(1), x);
    else if (!strcmp(f, "log2") || !strcmp(f, "log10")) {
        v = F32(f[3] == '2' ? 1.4426950408889634 : 0.43429448190325182);
        y = MUL(LOG(x), v);
    } else if (!strcmp(f, "softsign"))
        y = softsign(n, x);
    else if (!strcmp(f, "ones_like")) {
        v = NUM(x, 1);
        y = ADD(OP1(ZEROS_LIKE, x), v);
    } else if (!strcmp(f, "cbrt") || !strcmp(f, "rcbrt")) { /* 1/3 needs f64 */
        ac_tensor *wide = ac_make_cast(&n->b, ABS(x), AC_F64);
        v = ac_make_number(&n->b, AC_F64, 1.0 / 3);
        v = ac_make_cast(&n->b, OP2(POW, wide, v), AC_F32);
        y = MUL(SIGN(x), v);
        y = *f == 'c' ? y : DIV(F32(1), y);
    } else if (!strcmp(f, "radians") || !strcmp(f, "degrees"))
        y = MUL(x, F32(*f == 'r' ? 0.017453292519943295 : 57.295779513082323));
    else if (!strcmp(f, "trunc") || !strcmp(f, "fix")) {
        v = OP1(FLOOR, ABS(x));
        y = MUL(SIGN(x), v);
    } else if (!strcmp(f, "round")) { /* halves go away from zero */
        v = nearest(n, ABS(x), true);
        y = MUL(SIGN(x), v);
    } else if (!strcmp(f, "rint")) /* halves go down */
        y = nearest(n, x, false);
    else if (!strcmp(f, "logical_not"))
        y = ac_make_cast(&n->b, EQUAL(x, NUM(x, 0)), x->dtype);
    return ac_mx_result(n, 0, y);
}

static int activate(ac_mx_node *n, const char *how, ac_tensor *x, ac_tensor **y)
{
    *y = !strcmp(how, "relu")       ? OP1(RELU, x)
         : !strcmp(how, "sigmoid")  ? OP1(LOGISTIC, x)
         : !strcmp(how, "tanh")     ? OP1(TANH, x)
         : !strcmp(how, "softrelu") ? OP1(SOFTPLUS, x)
         : !strcmp(how, "softsign") ? softsign(n, x)
                                    : NULL;
    return *y ? AC_OK : ac_cannot(&n->b, "its act_type is '%s'", how);
}

int ac_mx_do_activation(ac_mx_node *n)
{
    ac_tensor *y;
    AC_TRY(activate(n, ac_attr_text(&n->attrs, A_act_type), n->in[0], &y));
    return ac_mx_result(n, 0, y);
}

int ac_mx_do_leaky(ac_mx_node *n)
{
    const char *how = ac_attr_text(&n->attrs, A_leaky_type);
    ac_tensor *x = n->in[0];
    ac_attrs a;
    int64_t dim[AC_MAX_RANK];
    const double slope = ac_attr_float(&n->attrs, A_slope), low = ac_attr_float(&n->attrs, A_lower_bound);
    const double high = ac_attr_float(&n->attrs, A_upper_bound);
    if (!strcmp(how, "gelu"))
        return ac_mx_result(n, 0, OP1(GELU, x));
    if (!strcmp(how, "selu")) {
        ac_tensor *alpha = F32(1.6732632423543772), *e = MUL(OP1(ELU, MIN(x, F32(0))), alpha);
        ac_tensor *scale = F32(1.0507009873554805);
        return ac_mx_result(n, 0, MUL(ADD(OP1(RELU, x), e), scale));
    }
    if (!strcmp(how, "elu")) {
        ac_tensor *alpha = F32(slope), *e = MUL(OP1(ELU, MIN(x, F32(0))), alpha);
        return ac_mx_result(n, 0, ADD(OP1(RELU, x), e));
    }
    if (!strcmp(how, "prelu")) {
        if (x->rank < 1)
            return ac_bad(&n->b, "its input has no dimensions");
        const int32_t axis = x->rank > 1;
        const ac_tensor *given = n->n_in > 1 ? n->in[1] : NULL;
        const int64_t one = 1, *channels = given && given->rank == 1 && given->dim[0] == 1 ? &one : &x->dim[axis];
        ac_tensor *gamma = ac_mx_param(n, 1, 1, channels);
        for (int32_t d = 0; d < x->rank; d++)
            dim[d] = d == axis ? *channels : 1;
        return ac_mx_result(n, 0, OP2(PRELU, x, ac_make_reshape(&n->b, gamma, x->rank, dim)));
    }
    if (strcmp(how, "leaky") != 0 && strcmp(how, "rrelu") != 0)
        return ac_cannot(&n->b, "its act_type is '%s'", how);
    ac_attrs_init(AC_OP_LEAKY_RELU, &a);
    a.alpha.alpha = (float)(*how == 'r' ? (low + high) / 2 : slope);
    return ac_mx_result(n, 0, ac_make_op(&n->b, AC_OP_LEAKY_RELU, &x, 1, &a, AC_NONE));
}

int ac_mx_do_clip(ac_mx_node *n)
{
    const double low = ac_attr_float(&n->attrs, A_a_min), high = ac_attr_float(&n->attrs, A_a_max);
    ac_tensor *x = n->in[0];
    ac_tensor *most = NUM(x, high);
    return ac_mx_result(n, 0, MIN(MAX(x, NUM(x, low)), most));
}

int ac_mx_do_hard_sigmoid(ac_mx_node *n)
{
    const double alpha = ac_attr_float(&n->attrs, A_alpha), beta = ac_attr_float(&n->attrs, A_beta);
    return ac_mx_result(n, 0, ac_make_hard_sigmoid(&n->b, n->in[0], alpha, beta));
}

/* |x| < 1 / s^2: (s x)^2 / 2, else |x| - 0.5 / s^2. */
int ac_mx_do_smooth_l1(ac_mx_node *n)
{
    const double s = ac_attr_float(&n->attrs, A_scalar);
    ac_tensor *x = n->in[0], *size = ABS(x);
    ac_tensor *bend = F32(0.5 * s * s), *near = MUL(SQUARE(x), bend);
    ac_tensor *far = SUB(size, F32(0.5 / (s * s)));
    return ac_mx_result(n, 0, WHERE(LESS(size, F32(1 / (s * s))), near, far));
}

int ac_mx_do_div_sqrt_dim(ac_mx_node *n)
{
    const ac_tensor *x = n->in[0];
    if (x->rank < 1)
        return ac_bad(&n->b, "its input has no dimensions");
    return ac_mx_result(n, 0, DIV(n->in[0], F32(sqrt((double)x->dim[x->rank - 1]))));
}

int ac_mx_do_cast(ac_mx_node *n)
{
    const ac_dtype to = ac_attr_dtype(&n->attrs, A_dtype);
    return ac_mx_result(n, 0, ac_make_cast(&n->b, n->in[0], to));
}

/* Operands of different types: ours take one. */
static void same_type(ac_mx_node *n)
{
    if (n->in[0]->dtype != n->in[1]->dtype)
        n->in[1] = ac_make_cast(&n->b, n->in[1], n->in[0]->dtype);
}

int ac_mx_do_binary(ac_mx_node *n)
{
    same_type(n);
    return ac_mx_result(n, 0, ac_make_2(&n->b, n->row->op, n->in[0], n->in[1]));
}

int ac_mx_do_compare(ac_mx_node *n)
{
    same_type(n);
    return ac_mx_result(n, 0, ac_make_cast(&n->b, ac_make_2(&n->b, n->row->op, n->in[0], n->in[1]), n->in[0]->dtype));
}

int ac_mx_do_hypot(ac_mx_node *n)
{
    ac_tensor *other = SQUARE(n->in[1]);
    return ac_mx_result(n, 0, SQRT(ADD(SQUARE(n->in[0]), other)));
}

static int number(ac_mx_node *n, ac_tensor **v)
{
    const double scalar = ac_attr_float(&n->attrs, A_scalar);
    const bool whole = ac_attr_bool(&n->attrs, A_is_int);
    if (!whole && ac_dtype_is_int(n->in[0]->dtype))
        return ac_cannot(&n->b, "it makes fractions of integers (is_int is false)");
    *v = NUM(n->in[0], scalar);
    return AC_OK;
}

int ac_mx_do_scalar(ac_mx_node *n)
{
    ac_tensor *v = NULL;
    AC_TRY(number(n, &v));
    return ac_mx_result(n, 0, ac_make_2(&n->b, n->row->op, n->in[0], v));
}

int ac_mx_do_scalar_reverse(ac_mx_node *n)
{
    ac_tensor *v = NULL;
    AC_TRY(number(n, &v));
    return ac_mx_result(n, 0, ac_make_2(&n->b, n->row->op, v, n->in[0]));
}

int ac_mx_do_compare_scalar(ac_mx_node *n)
{
    ac_tensor *v = NULL;
    AC_TRY(number(n, &v));
    return ac_mx_result(n, 0, ac_make_cast(&n->b, ac_make_2(&n->b, n->row->op, n->in[0], v), n->in[0]->dtype));
}

int ac_mx_do_add_n(ac_mx_node *n)
{
    ac_tensor *y = n->in[0];
    ac_attr_skip(&n->attrs, "num_args");
    for (int32_t i = 1; i < n->n_in; i++)
        y = ADD(y, n->in[i]);
    return ac_mx_result(n, 0, y);
}

/* A condition with one dimension chooses rows. */
int ac_mx_do_where(ac_mx_node *n)
{
    ac_tensor *c = n->in[0], *x = n->in[1];
    int64_t dim[AC_MAX_RANK] = {1};
    if (c->rank == 1 && x->rank > 1) {
        for (int32_t d = 0; d < x->rank; d++)
            dim[d] = d ? 1 : c->dim[0];
        c = ac_make_broadcast(&n->b, ac_make_reshape(&n->b, c, x->rank, dim), x->rank, x->dim);
    }
    if (!c)
        return AC_FAIL;
    return ac_mx_result(n, 0, WHERE(OP2(NOT_EQUAL, c, NUM(c, 0)), x, n->in[2]));
}
