/* any_rank.c - convolutions over any number of dimensions, f32 or f64: CONV_ND, and CONV_3D, which is TFLite's spelling
 * of it.
 *
 *     x [N,S..,C]   w [K..,C/groups,O]   bias [O] or none   ->   y [N,OS..,O]
 *
 * One pixel at a time, neighbouring output channels of a group in lanes; for each, taps in the reference's order
 * (outermost dimension first, then the channel), then bias and activation (TFLite reference/conv3d.h). Taps outside of
 * the input are never visited. With --exact products and sums are rounded apart. */
#include "ir/lower/map/map.h"
#include "ir/ops/shape/shape.h"
#include "ir/lower/window.h"

enum { SPATIAL = AC_MAX_RANK - 2 };

typedef struct conv {
    const ac_node *node;
    int32_t m; /* spatial dimensions */
    int64_t groups;
    ac_act act;
    ac_slide s[SPATIAL]; /* in, out and taps are filled in by open_conv */
    int64_t after[SPATIAL];
    ac_tensor *x, *w, *bias;
    int32_t x_buf, w_buf, bias_buf;
    ac_x idx[AC_MAX_RANK]; /* of the result, and the first channel of the group */
    ac_x group, first;
} conv;

/* ------------------------------------------------------------------ shapes */

static int64_t item(ac_ints list, int32_t i, int64_t init)
{
    return i < list.n ? list.v[i] : init;
}

/* The attributes of both spellings; lists may be left out. AC_FAIL: E0103. */
static int read_attrs(ac_ctx *cx, const ac_node *n, conv *c)
{
    *c = (conv){
        .node = n, .m = n->in[0]->rank - 2, .groups = 1, .x = n->in[0], .w = n->in[1], .bias = ac_shape_in(n, 2)};
    if (n->op == AC_OP_CONV_3D) {
        const ac_attrs_conv3d *a = &n->attrs.conv3d;
        const bool same = a->padding == AC_PAD_SAME;
        c->s[0] = (ac_slide){.stride = a->stride_d, .dil = a->dilation_d, .pad = same ? a->pad_f : 0};
        c->s[1] = (ac_slide){.stride = a->stride_h, .dil = a->dilation_h, .pad = same ? a->pad_t : 0};
        c->s[2] = (ac_slide){.stride = a->stride_w, .dil = a->dilation_w, .pad = same ? a->pad_l : 0};
        c->act = a->act;
        return AC_OK;
    }
    const ac_attrs_conv_nd *a = &n->attrs.conv_nd;
    if ((a->strides.n && a->strides.n != c->m) || (a->dilations.n && a->dilations.n != c->m) ||
        (a->pads.n && a->pads.n != 2 * c->m) || a->groups < 1)
        return ac_error(cx, n->at, E0103, "strides, dilations, pads or groups do not fit %d spatial dimensions", c->m);
    c->groups = a->groups;
    for (int32_t d = 0; d < c->m; d++) {
        c->s[d] = (ac_slide){
            .stride = item(a->strides, d, 1), .dil = item(a->dilations, d, 1), .pad = item(a->pads, 2 * d, 0)};
        c->after[d] = item(a->pads, 2 * d + 1, 0);
    }
    return AC_OK;
}

int ac_slide_open(ac_ctx *cx, const ac_node *n, ac_slide *s, int64_t in, int64_t taps, int64_t after)
{
    s->in = in;
    s->taps = taps;
    if (s->stride < 1 || s->dil < 1 || taps < 1 || s->stride > INT32_MAX || s->dil > INT32_MAX || taps > INT32_MAX)
        return ac_error(cx, n->at, E0103, "stride %lld, dilation %lld and %lld taps must be at least 1",
                        (long long)s->stride, (long long)s->dil, (long long)taps);
    if (s->pad < 0 || after < 0 || s->pad > INT32_MAX || after > INT32_MAX)
        return ac_error(cx, n->at, E0103, "pads %lld and %lld", (long long)s->pad, (long long)after);
    const int64_t reach = (taps - 1) * s->dil + 1, room = in + s->pad + after;
    if (room < reach)
        return ac_error(cx, n->at, E0104, "a window that reaches over %lld positions does not fit in %lld",
                        (long long)reach, (long long)room);
    if (room > INT32_MAX)
        return ac_error(cx, n->at, E0015, "the padded input has %lld positions", (long long)room);
    s->out = (room - reach) / s->stride + 1;
    return AC_OK;
}

/* TFLite's `same`: pads go to the attributes, so that the rule gives the same again. */
static int resolve_same(ac_ctx *cx, ac_node *n)
{
    ac_attrs_conv3d *a = &n->attrs.conv3d;
    const int32_t stride[3] = {a->stride_d, a->stride_h, a->stride_w};
    const int32_t dil[3] = {a->dilation_d, a->dilation_h, a->dilation_w};
    int32_t *const pad[3] = {&a->pad_f, &a->pad_t, &a->pad_l};
    for (int32_t d = 0; d < 3; d++) {
        const int64_t in = n->in[0]->dim[d + 1], taps = n->in[1]->dim[d];
        if (stride[d] < 1 || dil[d] < 1 || taps < 1)
            return ac_error(cx, n->at, E0103, "stride %d, dilation %d and %lld taps must be at least 1", (int)stride[d],
                            (int)dil[d], (long long)taps);
        const int64_t out = (in + stride[d] - 1) / stride[d];
        const int64_t need = (out - 1) * stride[d] + (taps - 1) * dil[d] + 1 - in;
        *pad[d] = need > 0 && need / 2 <= INT32_MAX ? (int32_t)(need / 2) : 0;
    }
    return AC_OK;
}

/* Everything known, with the result's extents in s[].out. */
static int open_conv(ac_ctx *cx, const ac_node *n, conv *c)
{
    AC_TRY(read_attrs(cx, n, c));
    for (int32_t d = 0; d < c->m; d++) {
        const int64_t in = c->x->dim[d + 1], taps = c->w->dim[d];
        if (n->op == AC_OP_CONV_3D && n->attrs.conv3d.padding == AC_PAD_SAME) {
            const int64_t out = (in + c->s[d].stride - 1) / c->s[d].stride;
            const int64_t need = (out - 1) * c->s[d].stride + (taps - 1) * c->s[d].dil + 1 - in;
            c->after[d] = need > c->s[d].pad ? need - c->s[d].pad : 0;
        }
        AC_TRY(ac_slide_open(cx, n, &c->s[d], in, taps, c->after[d]));
    }
    return AC_OK;
}

int ac_sh_conv_nd(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    conv c;
    AC_TRY(ac_shape_operands(cx, n));
    const bool fixed = n->op == AC_OP_CONV_3D;
    const ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_shape_in(n, 2);
    if (fixed) {
        AC_TRY(ac_shape_rank(cx, n, 0, 5, "[N,D,H,W,C]"));
        AC_TRY(ac_shape_rank(cx, n, 1, 5, "[KD,KH,KW,C,O]"));
        AC_TRY(ac_shape_act(cx, n, n->attrs.conv3d.act));
        if (n->attrs.conv3d.padding == AC_PAD_SAME)
            AC_TRY(resolve_same(cx, n));
    }
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    const int64_t groups = fixed ? 1 : n->attrs.conv_nd.groups;
    const int32_t last = w->rank - 1;
    if (x->rank < 3 || w->rank != x->rank || groups < 1 || w->dim[last] % groups ||
        w->dim[last - 1] * groups != x->dim[x->rank - 1] ||
        (bias && (bias->rank != 1 || bias->dim[0] != w->dim[last] || bias->dtype != x->dtype))) {
        ac_error(cx, n->at, E0104,
                 "channels of input [N,..,C], filter [K..,C/groups,O] and bias [O] do not go together");
        return ac_shape_show(cx, n);
    }
    AC_TRY(open_conv(cx, n, &c));
    int64_t dim[AC_MAX_RANK] = {x->dim[0]};
    for (int32_t d = 0; d < c.m; d++)
        dim[d + 1] = c.s[d].out;
    dim[c.m + 1] = w->dim[last];
    return ac_shape_set(cx, n, 0, x->dtype, x->rank, dim);
}

/* ------------------------------------------------------------------ loops */

/* `lanes` output channels from oc on within the group. */
static void channels(ac_lower *L, void *with, ac_x oc, int32_t lanes)
{
    static const char *const tap[SPATIAL] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    conv *c = with;
    ac_lb *b = &L->b;
    const ac_dtype d = c->x->dtype;
    ac_x xi[AC_MAX_RANK], wi[AC_MAX_RANK];
    const ac_x to = ac_lb_add(b, c->first, oc);
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_num(b, d, 0), lanes));
    xi[0] = c->idx[0];
    for (int32_t k = 0; k < c->m; k++) {
        ac_x lo, hi;
        ac_slide_taps(b, &c->s[k], c->idx[k + 1], &lo, &hi);
        wi[k] = ac_lb_for(b, tap[k], lo, hi, 1, AC_MARK_SERIAL);
        xi[k + 1] = ac_slide_at(b, &c->s[k], c->idx[k + 1], wi[k]);
    }
    const int64_t depth = c->w->dim[c->m];
    const ac_x ic = ac_lb_for_n(b, "ic", depth);
    xi[c->m + 1] = ac_lb_add(b, ac_lb_mul(b, c->group, ac_lb_i32(b, depth)), ic);
    wi[c->m] = ic;
    wi[c->m + 1] = to;
    const ac_x x = ac_lb_splat(b, ac_lb_load(b, c->x_buf, ac_lo_flat(L, c->x, xi), 1), lanes);
    const ac_x w = ac_lb_load(b, c->w_buf, ac_lo_flat(L, c->w, wi), lanes);
    ac_lb_set(b, acc,
              L->exact ? ac_lb_add(b, ac_lb_get(b, acc), ac_lb_mul(b, x, w)) : ac_lo_madd(L, x, w, ac_lb_get(b, acc)));
    for (int32_t k = 0; k <= c->m; k++)
        ac_lb_end(b);
    ac_x v = ac_lb_get(b, acc);
    if (c->bias)
        v = ac_lb_add(b, v, ac_lb_load(b, c->bias_buf, to, lanes));
    c->idx[c->m + 1] = to;
    ac_lo_result(L, ac_lo_act(L, v, c->act), c->idx, lanes);
}

int ac_lo_conv_nd(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"n", "o0", "o1", "o2", "o3", "o4", "o5", "g"};
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    conv c;
    AC_TRY(open_conv(L->cx, n, &c));
    const ac_tensor *y = n->out[0];
    if (!ac_mp_real(c.x) || y->dtype != c.x->dtype || (c.act != AC_ACT_NONE && c.x->dtype != AC_F32))
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[n->op].text, ac_dtype_name(c.x->dtype));
    ac_lo_result_buf(L);
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    c.x_buf = ac_lo_operand(L, c.x);
    c.w_buf = ac_lo_operand(L, c.w);
    c.bias_buf = c.bias ? ac_lo_operand(L, c.bias) : 0;
    const int64_t per_group = c.w->dim[c.m + 1] / c.groups;
    for (int32_t d = 0; d <= c.m; d++)
        c.idx[d] = ac_lb_for_n(b, name[d], y->dim[d]);
    c.group = ac_lb_for_n(b, "g", c.groups);
    c.first = ac_lb_mul(b, c.group, ac_lb_i32(b, per_group));
    ac_lo_strip(L, "oc", per_group, ac_lo_max_lanes(L, c.x->dtype), channels, &c);
    for (int32_t d = 0; d <= c.m + 1; d++)
        ac_lb_end(b);
    L->out->macs = ac_tensor_count(y) * (ac_tensor_count(c.w) / c.w->dim[c.m + 1]);
    return AC_OK;
}
