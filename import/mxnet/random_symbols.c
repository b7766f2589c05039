/* random_symbols.c - operators of MXNet that draw random numbers; each has a stream of its own. */
#include "import/mxnet/symbols.h"
#include "ir/make/compose_random.h"

#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"

/* Attribute shape; without it one number, [1]. */
static int own_shape(ac_mx_node *n, ac_draw *d)
{
    AC_TRY(ac_mx_full_shape(n, d->dim, &d->rank));
    if (!d->rank)
        d->dim[d->rank++] = 1;
    return AC_OK;
}

/* The shape of the operand, or attribute shape. */
static int open(ac_mx_node *n, ac_draw *d)
{
    *d = ac_draw_like(n->n_in ? n->in[0] : NULL);
    ac_attr_skip(&n->attrs, "ctx");
    const ac_dtype given = ac_attr_dtype(&n->attrs, A_dtype);
    d->to = n->n_in ? n->in[0]->dtype : given;
    if (n->n_in)
        return AC_OK;
    AC_TRY(own_shape(n, d));
    return ac_dtype_is_float(d->to) ? AC_OK : ac_bad(&n->b, "its result is %s, expected floats", ac_dtype_name(d->to));
}

int ac_mx_do_random_uniform(ac_mx_node *n)
{
    ac_draw d;
    AC_TRY(open(n, &d));
    d.low = ac_attr_float(&n->attrs, A_low);
    d.high = ac_attr_float(&n->attrs, A_high);
    return ac_mx_result(n, 0, ac_make_random(&n->b, &d));
}

int ac_mx_do_random_normal(ac_mx_node *n)
{
    ac_draw d;
    AC_TRY(open(n, &d));
    d.kind = AC_W_NORMAL;
    d.mean = ac_attr_float(&n->attrs, A_loc);
    d.deviation = ac_attr_float(&n->attrs, A_normal_scale);
    return ac_mx_result(n, 0, ac_make_random(&n->b, &d));
}

/* -ln(1 - u) / lam */
int ac_mx_do_random_exponential(ac_mx_node *n)
{
    ac_draw d;
    AC_TRY(open(n, &d));
    const double lam = ac_attr_float(&n->attrs, A_lam);
    ac_tensor *u = ac_make_random(&n->b, &d);
    return ac_mx_result(n, 0, TIMES(LOG(PLUS(NEG(u), 1)), -1 / lam));
}

int ac_mx_do_randint(ac_mx_node *n)
{
    ac_draw d = ac_draw_like(NULL);
    const ac_dtype to = ac_attr_dtype_or(&n->attrs, A_dtype, AC_I32);
    const int64_t low = ac_attr_int(&n->attrs, A_first_int), high = ac_attr_int(&n->attrs, A_end_int);
    ac_attr_skip(&n->attrs, "ctx");
    AC_TRY(own_shape(n, &d));
    if (low >= high)
        return ac_bad(&n->b, "low is %lld and high is %lld, expected less", (long long)low, (long long)high);
    ac_tensor *bound[] = {ac_make_ints_shaped(&n->b, 0, NULL, &low), ac_make_ints_shaped(&n->b, 0, NULL, &high)};
    return ac_mx_result(n, 0, ac_make_cast(&n->b, ac_make_random_ints(&n->b, &d, bound[0], bound[1]), to));
}

/* Parameters of each distribution, [..]: attribute shape comes after their dimensions. first + u * second */
static int sample(ac_mx_node *n, ac_word kind)
{
    ac_draw d = ac_draw_like(n->in[0]);
    int64_t more[AC_MAX_RANK], dim[AC_MAX_RANK];
    const int32_t k = ac_attr_ints_to(&n->attrs, A_shape, more);
    const ac_dtype to = ac_attr_dtype(&n->attrs, A_dtype);
    if (!ac_tensor_same_kind(n->in[0], n->in[1]) || n->in[0]->dtype != AC_F32 || d.rank + k > AC_MAX_RANK)
        return ac_cannot(&n->b, "its parameters are %s and %s", ac_tensor_str(n->r->cx, n->in[0]),
                         ac_tensor_str(n->r->cx, n->in[1]));
    for (int32_t i = 0; i < d.rank + k; i++)
        dim[i] = i < d.rank ? d.dim[i] : 1;
    memcpy(d.dim + d.rank, more, (size_t)k * sizeof *more);
    d.rank += k;
    d.kind = kind;
    ac_tensor *a = ac_make_reshape(&n->b, n->in[0], d.rank, dim), *c = ac_make_reshape(&n->b, n->in[1], d.rank, dim);
    c = kind == AC_W_UNIFORM ? SUB(c, a) : c;
    c = MUL(ac_make_random(&n->b, &d), c);
    return ac_mx_result(n, 0, ac_make_cast(&n->b, ADD(c, a), to));
}

int ac_mx_do_sample_uniform(ac_mx_node *n)
{
    return sample(n, AC_W_UNIFORM);
}

int ac_mx_do_sample_normal(ac_mx_node *n)
{
    return sample(n, AC_W_NORMAL);
}

/* The operand has the shares, [..,classes]. */
int ac_mx_do_sample_multinomial(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t shape[AC_MAX_RANK], dim[AC_MAX_RANK], count = 1;
    const int32_t k = ac_attr_ints_to(&n->attrs, A_shape, shape);
    const ac_dtype to = ac_attr_dtype_or(&n->attrs, A_dtype, AC_I32);
    int32_t rank = 0;
    if (ac_attr_bool(&n->attrs, A_get_prob))
        return ac_cannot(&n->b, "get_prob is True");
    if (x->rank < 1 || x->dtype != AC_F32 || x->rank - 1 + k > AC_MAX_RANK)
        return ac_cannot(&n->b, "'%s' is %s", x->name, ac_tensor_str(n->r->cx, x));
    for (int32_t i = 0; i + 1 < x->rank; i++)
        dim[rank++] = x->dim[i];
    for (int32_t i = 0; i < k; i++)
        if (!ac_mul_ok(count, dim[rank++] = shape[i], &count))
            return ac_cannot(&n->b, "its shape is too large");
    const int64_t flat[] = {ac_dim_product(x->dim, 0, x->rank - 1), x->dim[x->rank - 1]};
    ac_tensor *y = ac_make_choices(&n->b, ac_make_reshape(&n->b, x, 2, flat), flat, count, 0);
    return ac_mx_result(n, 0, ac_make_cast(&n->b, ac_make_reshape(&n->b, y, rank, dim), to));
}

int ac_mx_do_shuffle(ac_mx_node *n)
{
    return ac_mx_result(n, 0, ac_make_shuffled(&n->b, n->in[0], 0));
}

/* mode always: elements are dropped when a net is run as well. axes: dimensions along which all elements share one
 * number. */
int ac_mx_do_dropout(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_draw d = ac_draw_like(x);
    const char *mode = ac_attr_text(&n->attrs, A_dropout_mode);
    const double p = ac_attr_float(&n->attrs, A_drop_p);
    const ac_ints axes = ac_attr_ints(&n->attrs, A_axes);
    if (!strcmp(mode, "training") || p == 0)
        return ac_mx_result(n, 0, x);
    if (strcmp(mode, "always") != 0 || x->dtype != AC_F32 || p >= 1)
        return ac_cannot(&n->b, "its mode is '%s', p %g, and '%s' is %s", mode, p, x->name, ac_tensor_str(n->r->cx, x));
    for (int32_t i = 0; i < axes.n; i++) {
        int32_t axis;
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], x->rank, &axis));
        d.dim[axis] = 1;
    }
    ac_tensor *u = ac_make_random(&n->b, &d), *zero = NUM(x, 0), *drop = LESS(u, F32(p));
    return ac_mx_result(n, 0, WHERE(drop, zero, TIMES(x, 1 / (1 - p))));
}
