/* excite.c - checks the operands of EXCITE and EXCITED_CONV_2D. */
#include "ir/ops/decode/excite.h"

#include <inttypes.h>

/* w is [n,1,..,1,depth], with n in *n; the bias has n elements. */
static int check_product(ac_ctx *cx, const ac_node *node, const ac_tensor *w, const ac_tensor *bias, int64_t depth,
                         int64_t *n)
{
    const int32_t last = w->rank - 1;
    if (w->rank < 2 || w->dim[last] != depth || ac_dim_product(w->dim, 1, last) != 1)
        return ac_error(cx, node->at, E0104, "'%s' is %s, expected [N,..,%" PRId64 "]", w->name, ac_shape_str(cx, w),
                        depth);
    *n = w->dim[0];
    if (bias && (bias->rank != 1 || bias->dim[0] != *n))
        return ac_error(cx, node->at, E0104, "'%s' is %s, expected [%" PRId64 "]", bias->name, ac_shape_str(cx, bias),
                        *n);
    return AC_OK;
}

static int check_types(ac_ctx *cx, const ac_node *n, bool halves)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *t = n->in[i];
        if (t && t->dtype != AC_F32 && !(halves && ac_dtype_is_half(t->dtype)))
            return ac_error(cx, n->at, E0105, "'%s' is %s, expected f32%s", t->name, ac_dtype_name(t->dtype),
                            halves ? ", f16 or bf16" : "");
    }
    return AC_OK;
}

/* The rest, for operands and flags in e. */
static int finish(ac_ctx *cx, const ac_node *n, ac_excite *e)
{
    if (e->relu && e->swish)
        return ac_error(cx, n->at, E0103, "relu and swish are given, expected one of them at most");
    if (e->x->rank != 4)
        return ac_error(cx, n->at, E0104, "'%s' is %s, expected [N,H,W,C]", e->x->name, ac_shape_str(cx, e->x));
    e->images = e->x->dim[0];
    e->whole = e->pixels = e->x->dim[1] * e->x->dim[2];
    e->channels = e->x->dim[3];
    AC_TRY(check_product(cx, n, e->w1, e->b1, e->channels, &e->hidden));
    AC_TRY(check_product(cx, n, e->w2, e->b2, e->hidden, &e->results));
    if (e->pixels < 1 || e->channels < 1 || e->hidden < 1)
        return ac_error(cx, n->at, E0104, "'%s' is %s with %" PRId64 " hidden values: a mean needs elements",
                        e->x->name, ac_shape_str(cx, e->x), e->hidden);
    return AC_OK;
}

int ac_excite_of(ac_ctx *cx, const ac_node *n, ac_excite *out)
{
    *out = (ac_excite){.x = n->in[AC_EXCITE_X],
                       .w1 = n->in[AC_EXCITE_W1],
                       .w2 = n->in[AC_EXCITE_W2],
                       .b1 = ac_node_in(n, AC_EXCITE_B1),
                       .b2 = ac_node_in(n, AC_EXCITE_B2),
                       .relu = n->attrs.excite.relu,
                       .swish = n->attrs.excite.swish};
    AC_TRY(check_types(cx, n, true));
    return finish(cx, n, out);
}

int ac_excited_of(ac_ctx *cx, const ac_node *n, ac_excite *out)
{
    const ac_tensor *x = n->in[AC_EXCITED_X], *w = n->in[AC_EXCITED_W], *bias = ac_node_in(n, AC_EXCITED_BIAS);
    *out = (ac_excite){.x = n->in[AC_EXCITED_S],
                       .w1 = n->in[AC_EXCITED_W1],
                       .w2 = n->in[AC_EXCITED_W2],
                       .b1 = ac_node_in(n, AC_EXCITED_B1),
                       .b2 = ac_node_in(n, AC_EXCITED_B2),
                       .relu = n->attrs.excited.relu,
                       .swish = n->attrs.excited.swish,
                       .logistic = n->attrs.excited.logistic};
    AC_TRY(check_types(cx, n, false));
    AC_TRY(finish(cx, n, out));
    int64_t made;
    if (x->rank != 4 || x->dim[0] != out->images || x->dim[3] != out->channels || out->results != out->channels)
        return ac_error(cx, n->at, E0104,
                        "'%s' is %s and '%s' %s, with %" PRId64 " gates: expected [N,H,W,C], [N,..,C], C", x->name,
                        ac_shape_str(cx, x), out->x->name, ac_shape_str(cx, out->x), out->results);
    out->whole = x->dim[1] * x->dim[2];
    return w->rank == 4 ? check_product(cx, n, w, bias, out->channels, &made)
                        : ac_error(cx, n->at, E0104, "'%s' is %s, expected [O,1,1,%" PRId64 "]", w->name,
                                   ac_shape_str(cx, w), out->channels);
}
