/* expanded.c - checks the operands of EXPANDED_DEPTHWISE. */
#include "ir/ops/decode/expanded.h"

#include <inttypes.h>

static int check_bias(ac_ctx *cx, const ac_node *n, const ac_tensor *t, int64_t channels)
{
    if (t && (t->rank != 1 || t->dim[0] != channels))
        return ac_error(cx, n->at, E0104, "'%s' is %s, expected [%" PRId64 "]", t->name, ac_shape_str(cx, t), channels);
    return AC_OK;
}

/* The axis of the filter; `after`: padding after the input. */
static int slide(ac_ctx *cx, const ac_node *n, int64_t in, int64_t taps, int32_t stride, int32_t before, int32_t after,
                 ac_slide *to)
{
    const int64_t room = in + before + after - taps;
    if (stride < 1 || before < 0 || after < 0)
        return ac_error(cx, n->at, E0103, "stride %d, padding %d and %d: expected 1 and 0 or more", stride, before,
                        after);
    if (taps < 1 || in < 1 || room < 0)
        return ac_error(cx, n->at, E0104, "a window of %" PRId64 " does not fit into %" PRId64 " of '%s'", taps,
                        in + before + after, n->in[AC_EXPANDED_X]->name);
    *to = (ac_slide){in, room / stride + 1, taps, stride, 1, before};
    return AC_OK;
}

int ac_expanded_of(ac_ctx *cx, const ac_node *n, ac_expanded *out)
{
    const ac_attrs_expanded *at = &n->attrs.expanded;
    ac_expanded e = {.x = n->in[AC_EXPANDED_X],
                     .v = n->in[AC_EXPANDED_V],
                     .w = n->in[AC_EXPANDED_W],
                     .tile_h = at->tile_h,
                     .tile_w = at->tile_w,
                     .a = ac_node_in(n, AC_EXPANDED_A),
                     .b = ac_node_in(n, AC_EXPANDED_B)};
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->dtype != AC_F32)
            return ac_error(cx, n->at, E0105, "'%s' is %s, expected f32", n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype));
    if (at->swish + at->clamp + (at->inner != AC_ACT_NONE) > 1)
        return ac_error(cx, n->at, E0103, "inner, swish and clamp: expected one of them at most");
    if (!e.v && (at->swish || at->clamp || at->inner != AC_ACT_NONE || e.a))
        return ac_error(cx, n->at, E0103, "inner, swish, clamp or a bias of expanded values without their weights");
    if (e.x->rank != 4 || e.w->rank != 4 || e.x->dim[3] < 1 || e.w->dim[0] != 1 || e.w->dim[3] < 1)
        return ac_error(cx, n->at, E0104, "'%s' is %s and '%s' %s, expected [N,H,W,C] and [1,KH,KW,E]", e.x->name,
                        ac_shape_str(cx, e.x), e.w->name, ac_shape_str(cx, e.w));
    const int64_t v[4] = {e.w->dim[3], 1, 1, e.x->dim[3]};
    bool fits = e.v ? e.v->rank == 4 : v[0] == v[3];
    for (int32_t i = 0; e.v && fits && i < 4; i++)
        fits = e.v->dim[i] == v[i];
    if (!fits)
        return ac_error(cx, n->at, E0104, "'%s' is %s, expected [%" PRId64 ",1,1,%" PRId64 "]",
                        e.v ? e.v->name : e.x->name, ac_shape_str(cx, e.v ? e.v : e.x), v[0], v[3]);
    e.images = e.x->dim[0];
    e.depth = e.x->dim[3];
    e.channels = e.w->dim[3];
    e.swish = at->swish;
    AC_TRY(check_bias(cx, n, e.a, e.channels));
    AC_TRY(check_bias(cx, n, e.b, e.channels));
    AC_TRY(slide(cx, n, e.x->dim[1], e.w->dim[1], at->stride_h, at->pad_t, at->pad_b, &e.down));
    AC_TRY(slide(cx, n, e.x->dim[2], e.w->dim[2], at->stride_w, at->pad_l, at->pad_r, &e.across));
    if (e.tile_h < 0 || e.tile_w < 0 || !e.tile_h != !e.tile_w)
        return ac_error(cx, n->at, E0103, "tiles of %" PRId64 " x %" PRId64, e.tile_h, e.tile_w);
    if (e.tile_h) {
        e.tiles_x = (e.across.out + e.tile_w - 1) / e.tile_w;
        e.tiles = (e.down.out + e.tile_h - 1) / e.tile_h * e.tiles_x;
    }
    *out = e;
    return AC_OK;
}
