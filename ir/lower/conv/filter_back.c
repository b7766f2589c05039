/* filter_back.c - conv_nd_filter: the gradient of a convolution by its weights, any number of dimensions, f32 or f64.
 *
 *     x [N,S..,C]   dy [N,OS..,O]   ->   dw [K..,C/groups,O]
 *     dw[k, c, o] = sum over images and positions q of x[q * stride - before + k * dilation, c] * dy[q, o]
 *
 * A tile of input channels by vectors of output channels is summed in registers over all positions that tap k reaches.
 * Where each group has one channel on both sides (depthwise) neighbouring groups are in lanes. Positions in order, so
 * the sum is the same for every number of threads. */
#include "ir/lower/map/map.h"
#include "ir/lower/window.h"

enum { ROWS = 4 }; /* input channels of a tile */

typedef struct filter {
    ac_conv_nd g;
    ac_tensor *x, *dy;
    int32_t x_buf, dy_buf;
    int64_t in, out; /* channels of a group */
    bool depthwise;
    ac_x k[AC_CONV_ND_DIMS], group, c;
    int32_t rows;
} filter;

/* Positions lo .. hi - 1 of dy are those whose tap k is inside of x. */
static void reached(ac_lb *b, const ac_slide *s, ac_x k, ac_x *lo, ac_x *hi)
{
    const ac_x zero = ac_lb_i32(b, 0), stride = ac_lb_i32(b, s->stride), at = ac_lb_mul(b, k, ac_lb_i32(b, s->dil));
    *lo = zero;
    *hi = ac_lb_i32(b, s->out);
    if (s->pad > 0)
        *lo = ac_lb_div(b, ac_lb_max(b, ac_lb_sub(b, ac_lb_i32(b, s->pad + s->stride - 1), at), zero), stride);
    if ((s->out - 1) * s->stride - s->pad + (s->taps - 1) * s->dil >= s->in) {
        const ac_x room = ac_lb_sub(b, ac_lb_i32(b, s->in - 1 + s->pad + s->stride), at);
        *hi = ac_lb_min(b, *hi, ac_lb_div(b, ac_lb_max(b, room, zero), stride));
    }
    if (s->pad > 0)
        *lo = ac_lb_min(b, *lo, *hi);
}

/* Opens the loops over images and positions: where they are in x and in dy. */
static void open_positions(ac_lower *L, const filter *v, ac_x *xi, ac_x *yi)
{
    static const char *const name[AC_CONV_ND_DIMS] = {"q0", "q1", "q2", "q3", "q4", "q5"};
    ac_lb *b = &L->b;
    xi[0] = yi[0] = ac_lb_for_n(b, "n", v->x->dim[0]);
    for (int32_t d = 0; d < v->g.m; d++) {
        ac_x lo, hi;
        reached(b, &v->g.s[d], v->k[d], &lo, &hi);
        yi[d + 1] = ac_lb_for(b, name[d], lo, hi, 1, AC_MARK_SERIAL);
        xi[d + 1] = ac_slide_at(b, &v->g.s[d], yi[d + 1], v->k[d]);
    }
}

/* The tile of v->rows input channels from v->c on and `lanes` output channels from o on, or `lanes` groups. */
static void tile(ac_lower *L, void *with, ac_x o, int32_t lanes)
{
    const filter *v = with;
    ac_lb *b = &L->b;
    const int32_t m = v->g.m;
    ac_x xi[AC_MAX_RANK], yi[AC_MAX_RANK], wi[AC_MAX_RANK], acc[ROWS];
    for (int32_t r = 0; r < v->rows; r++)
        acc[r] = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_num(b, v->x->dtype, 0), lanes));
    const ac_x to = v->depthwise ? o : ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->out)), o);
    open_positions(L, v, xi, yi);
    xi[m + 1] = v->depthwise ? o : ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->in)), v->c);
    yi[m + 1] = to;
    const ac_x y = ac_lb_load(b, v->dy_buf, ac_lo_flat(L, v->dy, yi), lanes), x_at = ac_lo_flat(L, v->x, xi);
    for (int32_t r = 0; r < v->rows; r++) {
        const ac_x at = ac_lb_add(b, x_at, ac_lb_i32(b, r)), old = ac_lb_get(b, acc[r]);
        const ac_x x =
            v->depthwise ? ac_lb_load(b, v->x_buf, at, lanes) : ac_lb_splat(b, ac_lb_load(b, v->x_buf, at, 1), lanes);
        ac_lb_set(b, acc[r], L->exact ? ac_lb_add(b, old, ac_lb_mul(b, x, y)) : ac_lo_madd(L, x, y, old));
    }
    for (int32_t d = 0; d <= m; d++)
        ac_lb_end(b);
    for (int32_t d = 0; d < m; d++)
        wi[d] = v->k[d];
    wi[m + 1] = to;
    for (int32_t r = 0; r < v->rows; r++) {
        wi[m] = ac_lb_add(b, v->c, ac_lb_i32(b, r));
        ac_lo_result(L, ac_lb_get(b, acc[r]), wi, lanes);
    }
}

static void tiles(ac_lower *L, filter *v, int32_t lanes)
{
    ac_lb *b = &L->b;
    v->group = ac_lb_for_each(b, "g", v->depthwise ? 1 : v->g.groups);
    v->c = ac_lb_i32(b, 0);
    v->rows = 1;
    if (v->depthwise) {
        ac_lo_strip_each(L, "c", v->g.groups, lanes, tile, v);
        ac_lb_end(b);
        return;
    }
    const int64_t whole = v->in / ROWS * ROWS;
    v->rows = ROWS;
    if (whole) {
        v->c = ac_lb_for(b, "c", ac_lb_i32(b, 0), ac_lb_i32(b, whole), ROWS, AC_MARK_PARALLEL);
        ac_lo_strip_each(L, "o", v->out, lanes, tile, v);
        ac_lb_end(b);
    }
    v->rows = (int32_t)(v->in - whole);
    v->c = ac_lb_i32(b, whole);
    if (v->rows)
        ac_lo_strip_each(L, "o", v->out, lanes, tile, v);
    ac_lb_end(b);
}

int ac_lo_conv_nd_filter(ac_lower *L)
{
    static const char *const tap[AC_CONV_ND_DIMS] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    const ac_node *n = L->node;
    filter v = {.x = n->in[0], .dy = n->in[1]};
    AC_TRY(ac_conv_back_of(L->cx, n, &v.g));
    if (!ac_mp_real(v.x) || n->out[0]->dtype != v.x->dtype)
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[n->op].text, ac_dtype_name(v.x->dtype));
    ac_lo_result_buf(L);
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    v.x_buf = ac_lo_operand(L, v.x);
    v.dy_buf = ac_lo_operand(L, v.dy);
    v.in = v.x->dim[v.g.m + 1] / v.g.groups;
    v.out = v.dy->dim[v.g.m + 1] / v.g.groups;
    v.depthwise = v.in == 1 && v.out == 1;
    for (int32_t d = 0; d < v.g.m; d++)
        v.k[d] = ac_lb_for_each(&L->b, tap[d], v.g.s[d].taps);
    tiles(L, &v, ac_lo_max_lanes(L, v.x->dtype));
    for (int32_t d = 0; d < v.g.m; d++)
        ac_lb_end(&L->b);
    return AC_OK;
}
