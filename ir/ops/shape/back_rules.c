/* back_rules.c - shape rules of the gradients of windows: conv_nd_data, conv_nd_filter, window_max_back,
 * window_sum_back. */
#include "ir/ops/decode/slide.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

/* dy [N,OS..,O], w [K..,O,C/groups] -> [N,extent..,C] */
int ac_sh_conv_nd_data(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_conv_nd c;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    const ac_tensor *dy = n->in[0], *w = n->in[1];
    const int32_t last = dy->rank - 1;
    const int64_t groups = n->attrs.conv_back.groups;
    if (dy->rank < 3 || w->rank != dy->rank || groups < 1 || dy->dim[last] != w->dim[last - 1] ||
        w->dim[last - 1] % groups) {
        ac_error(cx, n->at, E0104, "channels of [N,..,O] and filter [K..,O,C/groups] do not go together");
        return ac_shape_show(cx, n);
    }
    AC_TRY(ac_conv_back_of(cx, n, &c));
    int64_t dim[AC_MAX_RANK] = {dy->dim[0]};
    for (int32_t d = 0; d < c.m; d++)
        dim[d + 1] = c.s[d].in;
    if (!ac_mul_ok(w->dim[last], groups, &dim[last]))
        return ac_error(cx, n->at, E0015, "%lld groups of %lld channels", (long long)groups, (long long)w->dim[last]);
    return ac_shape_set_like(cx, n, 0, dy, dy->rank, dim);
}

/* x [N,S..,C], dy [N,OS..,O] -> [extent..,C/groups,O] */
int ac_sh_conv_nd_filter(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_conv_nd c;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    const ac_tensor *x = n->in[0], *dy = n->in[1];
    const int32_t last = x->rank - 1;
    const int64_t groups = n->attrs.conv_back.groups;
    if (x->rank < 3 || dy->rank != x->rank || groups < 1 || x->dim[0] != dy->dim[0] || x->dim[last] % groups ||
        dy->dim[last] % groups) {
        ac_error(cx, n->at, E0104, "[N,..,C] and [N,..,O] do not go together in %lld groups", (long long)groups);
        return ac_shape_show(cx, n);
    }
    AC_TRY(ac_conv_back_of(cx, n, &c));
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < c.m; d++)
        dim[d] = c.s[d].taps;
    dim[last - 1] = x->dim[last] / groups;
    dim[last] = dy->dim[last];
    return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
}

/* x [..], dy [windows of x] -> [..] */
int ac_sh_window_max_back(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_slide s[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    AC_TRY(ac_window_slides_of(cx, n, s));
    const ac_tensor *x = n->in[0], *dy = n->in[1];
    bool fits = x->rank == dy->rank;
    for (int32_t d = 0; fits && d < x->rank; d++)
        fits = s[d].out == dy->dim[d];
    if (!fits) {
        ac_error(cx, n->at, E0104, "'%s' does not have an element for each window of '%s'", dy->name, x->name);
        return ac_shape_show(cx, n);
    }
    return ac_shape_set_like(cx, n, 0, x, x->rank, x->dim);
}

/* dy -> [extent..] */
int ac_sh_window_sum_back(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_slide s[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_window_back_of(cx, n, s));
    return ac_shape_set_like(cx, n, 0, n->in[0], n->in[0]->rank, n->attrs.window_back.extent.v);
}
