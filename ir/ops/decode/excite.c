/* excite.c - checks the operands of EXCITE. */
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

int ac_excite_of(ac_ctx *cx, const ac_node *n, ac_excite *out)
{
    ac_excite e = {.x = n->in[AC_EXCITE_X],
                   .w1 = n->in[AC_EXCITE_W1],
                   .w2 = n->in[AC_EXCITE_W2],
                   .b1 = ac_node_in(n, AC_EXCITE_B1),
                   .b2 = ac_node_in(n, AC_EXCITE_B2)};
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *t = n->in[i];
        if (t && t->dtype != AC_F32 && !ac_dtype_is_half(t->dtype))
            return ac_error(cx, n->at, E0105, "'%s' is %s, expected f32, f16 or bf16", t->name,
                            ac_dtype_name(t->dtype));
    }
    if (n->attrs.excite.relu && n->attrs.excite.swish)
        return ac_error(cx, n->at, E0103, "relu and swish are given, expected one of them at most");
    if (e.x->rank != 4)
        return ac_error(cx, n->at, E0104, "'%s' is %s, expected [N,H,W,C]", e.x->name, ac_shape_str(cx, e.x));
    e.images = e.x->dim[0];
    e.pixels = e.x->dim[1] * e.x->dim[2];
    e.channels = e.x->dim[3];
    AC_TRY(check_product(cx, n, e.w1, e.b1, e.channels, &e.hidden));
    AC_TRY(check_product(cx, n, e.w2, e.b2, e.hidden, &e.results));
    if (e.pixels < 1 || e.channels < 1 || e.hidden < 1)
        return ac_error(cx, n->at, E0104, "'%s' is %s with %" PRId64 " hidden values: a mean needs elements", e.x->name,
                        ac_shape_str(cx, e.x), e.hidden);
    *out = e;
    return AC_OK;
}
