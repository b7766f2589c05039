/* any_rank.c - convolutions over any number of dimensions, f32 or f64: CONV_ND, and CONV_3D, which is TFLite's spelling
 * of it.
 *
 *     x [N,S..,C]   w [K..,C/groups,O]   bias [O] or none   ->   y [N,OS..,O]
 *
 * f32 of up to three dimensions uses register tiles (gemm_conv.c) if the target has vectors. Else: one pixel at a time,
 * neighbouring output channels of a group in lanes; taps in the reference's order (outermost dimension first, then the
 * channel), then bias and activation (TFLite reference/conv3d.h). Taps outside of the input are never visited. With
 * --exact products and sums are rounded separately. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/window.h"

typedef struct conv {
    ac_conv_nd g;
    ac_tensor *x, *w, *bias;
    int32_t x_buf, w_buf, bias_buf;
    ac_x idx[AC_MAX_RANK]; /* of the result, and the first channel of the group */
    ac_x group, first;
} conv;

/* `lanes` output channels from oc on within the group. */
static void channels(ac_lower *L, void *with, ac_x oc, int32_t lanes)
{
    static const char *const tap[AC_CONV_ND_DIMS] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    conv *c = with;
    ac_lb *b = &L->b;
    const ac_dtype d = c->x->dtype;
    ac_x xi[AC_MAX_RANK], wi[AC_MAX_RANK];
    const ac_x to = ac_lb_add(b, c->first, oc);
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_num(b, d, 0), lanes));
    xi[0] = c->idx[0];
    for (int32_t k = 0; k < c->g.m; k++) {
        ac_x lo, hi;
        ac_slide_taps(b, &c->g.s[k], c->idx[k + 1], &lo, &hi);
        wi[k] = ac_lb_for(b, tap[k], lo, hi, 1, AC_MARK_SERIAL);
        xi[k + 1] = ac_slide_at(b, &c->g.s[k], c->idx[k + 1], wi[k]);
    }
    const int64_t depth = c->w->dim[c->g.m];
    const ac_x ic = ac_lb_for_n(b, "ic", depth);
    xi[c->g.m + 1] = ac_lb_add(b, ac_lb_mul(b, c->group, ac_lb_i32(b, depth)), ic);
    wi[c->g.m] = ic;
    wi[c->g.m + 1] = to;
    const ac_x x = ac_lb_splat(b, ac_lb_load(b, c->x_buf, ac_lo_flat(L, c->x, xi), 1), lanes);
    const ac_x w = ac_lb_load(b, c->w_buf, ac_lo_flat(L, c->w, wi), lanes);
    ac_lb_set(b, acc, ac_lo_madd(L, x, w, ac_lb_get(b, acc)));
    for (int32_t k = 0; k <= c->g.m; k++)
        ac_lb_end(b);
    ac_x v = ac_lb_get(b, acc);
    if (c->bias)
        v = ac_lb_add(b, v, ac_lb_load(b, c->bias_buf, to, lanes));
    c->idx[c->g.m + 1] = to;
    ac_lo_result(L, ac_lo_act(L, v, c->g.act), c->idx, lanes);
}

/* f32 of up to three dimensions uses register tiles, if the target has them. */
static bool tiles(ac_lower *L, const conv *v, int *status)
{
    const ac_conv_nd *g = &v->g;
    const ac_slide one = {1, 1, 1, 1, 1, 0};
    const int64_t in = v->w->dim[g->m], out = v->w->dim[g->m + 1];
    ac_channel c;
    if (g->m > 3 || v->x->dtype != AC_F32 || L->target->isa == AC_ISA_CUDA)
        return false;
    *status = ac_channel_open(L, &c, v->x, v->w, v->bias, out, g->m + 1, g->act, AC_ROUND_FIXED);
    if (*status != AC_OK)
        return true;
    if (!ac_gemm_fits(L, &c))
        return false;
    const ac_window win = {
        .n = v->x->dim[0], .ic = in * g->groups, .oc = out, .y = g->m > 1 ? g->s[g->m - 2] : one, .x = g->s[g->m - 1]};
    *status = ac_gemm_conv(L, &c, &win, g->m > 2 ? &g->s[0] : NULL, in);
    return true;
}

int ac_lo_conv_nd(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"n", "o0", "o1", "o2", "o3", "o4", "o5", "g"};
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    conv c = {.x = n->in[0], .w = n->in[1], .bias = ac_node_in(n, 2)};
    AC_TRY(ac_conv_nd_of(L->cx, n, &c.g));
    const ac_tensor *y = n->out[0];
    if (!ac_mp_real(c.x) || y->dtype != c.x->dtype || (c.g.act != AC_ACT_NONE && c.x->dtype != AC_F32))
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[n->op].text, ac_dtype_name(c.x->dtype));
    ac_lo_result_buf(L);
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    int status;
    if (tiles(L, &c, &status))
        return status;
    c.x_buf = ac_lo_operand(L, c.x);
    c.w_buf = ac_lo_operand(L, c.w);
    c.bias_buf = c.bias ? ac_lo_operand(L, c.bias) : 0;
    const int64_t per_group = c.w->dim[c.g.m + 1] / c.g.groups;
    for (int32_t d = 0; d <= c.g.m; d++)
        c.idx[d] = ac_lb_for_n(b, name[d], y->dim[d]);
    c.group = ac_lb_for_n(b, "g", c.g.groups);
    c.first = ac_lb_mul(b, c.group, ac_lb_i32(b, per_group));
    ac_lo_strip(L, "oc", per_group, ac_lo_max_lanes(L, c.x->dtype), channels, &c);
    for (int32_t d = 0; d <= c.g.m + 1; d++)
        ac_lb_end(b);
    return AC_OK;
}
