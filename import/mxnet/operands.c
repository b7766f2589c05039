/* operands.c - operands and results of MXNet nodes: the names that a row has for them, and parameters. */
#include "import/mxnet/mxnet.h"
#include "import/build/params.h"

#include "base/ascii.h"

#include <string.h>

/* The i-th word of the names of a row, with its mark. */
static const char *arg(const ac_operator *row, int32_t i, size_t *n)
{
    const char *p = row->args;
    for (; i > 0 && *p; i--) {
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    *n = strcspn(p, " ");
    return p;
}

bool ac_mx_is_param(const ac_operator *row, int32_t operand)
{
    size_t n;
    return *arg(row, operand, &n) == '*';
}

bool ac_mx_is_label(const ac_operator *row, int32_t operand)
{
    size_t n;
    return *arg(row, operand, &n) == '?';
}

const char *ac_mx_arg_name(const ac_operator *row, int32_t i)
{
    static const char *const NAMES[] = {"weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "parameters"};
    size_t n;
    const char *p = arg(row, i, &n);
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (n == strlen(NAMES[k]) + 1 && !memcmp(p + 1, NAMES[k], n - 1))
            return NAMES[k];
    return "arg";
}

int ac_mx_result(ac_mx_node *n, int32_t i, ac_tensor *t)
{
    if (!t)
        return AC_FAIL;
    n->out[i] = t;
    return AC_OK;
}

static void invent(ac_mx *r, ac_tensor *t, const char *name)
{
    ac_param_invent(r->reading, t, ac_ends_in(name, "_var"));
}

ac_tensor *ac_mx_variable(ac_mx_node *v)
{
    const ac_mx_array *a = v->r->has_params ? ac_mx_params_find(v->r, v->name) : NULL;
    const ac_js_node *shape = ac_js_get(v->given, "__shape__");
    int64_t dim[AC_MAX_RANK];
    int32_t rank;
    if (a) {
        ac_tensor *t = ac_mx_params_tensor(v, a, v->name);
        return t && ac_dtype_is_float(t->dtype) ? ac_make_cast(&v->b, t, AC_F32) : t;
    }
    if (!shape || !ac_mx_tuple(shape->text, AC_MAX_RANK, 0, dim, &rank))
        return NULL;
    int64_t count;
    if (!ac_dims_fit(rank, dim, &count) || !count)
        return NULL;
    ac_tensor *t = ac_tensor_new(v->r->g, v->name, AC_F32, rank, dim);
    invent(v->r, t, v->name);
    return t;
}

static int missing(ac_mx_node *n, const char *name, int32_t rank, const int64_t *dim)
{
    ac_error(n->r->cx, n->at, E0019, "the weights have no array '%s', which this node reads", name);
    return ac_detail(n->r->cx, "%s  f32 %s", name, ac_dims_str(n->r->cx, rank, dim));
}

ac_tensor *ac_mx_param(ac_mx_node *n, int32_t i, int32_t rank, const int64_t *dim)
{
    ac_mx *r = n->r;
    int64_t count;
    ac_tensor *t = i < n->n_in ? n->in[i] : NULL;
    if (n->b.bad)
        return NULL; /* its shape may follow from that */
    if (!t) {
        const char *name =
            i < n->n_in ? r->node[n->from[i]].name : ac_internf(r->cx, "%s_%s", n->name, ac_mx_arg_name(n->row, i));
        const ac_mx_array *a = r->has_params ? ac_mx_params_find(r, name) : NULL;
        if (!ac_dims_fit(rank, dim, &count)) {
            (void)ac_error(r->cx, n->at, E0015, "parameter '%s' has more than %d elements", name, INT32_MAX);
            return NULL;
        }
        if (a) {
            t = ac_make_cast(&n->b, ac_mx_params_tensor(n, a, name), AC_F32);
        } else if (r->has_params) {
            (void)missing(n, name, rank, dim);
        } else {
            t = ac_tensor_new(r->g, name, AC_F32, rank, dim);
            invent(r, t, name);
            if (i < n->n_in)
                r->node[n->from[i]].out[0] = t; /* others that read it get the same */
        }
        if (!t)
            return NULL;
    }
    if (ac_dims_equal(t, rank, dim))
        return t;
    (void)ac_bad(&n->b, "operand '%s' is %s, expected %s", t->name, ac_shape_str(r->cx, t),
                 ac_dims_str(r->cx, rank, dim));
    return NULL;
}
