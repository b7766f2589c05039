/* data_back.c - conv_nd_data: the gradient of a convolution by its input, any number of dimensions, f32 or f64.
 *
 *     dy [N,OS..,O]   w [K..,O,C/groups]   ->   dx [N,S..,C]
 *     dx[p] = sum over taps k and channels o of dy[q] * w[k, o], where p = q * stride - before + k * dilation
 *
 * Positions p of one remainder by the stride have the same taps, every (stride / gcd)th one: so each class of
 * remainders is a convolution with stride 1, and no tap is tried in vain. Neighbouring channels of a group are in
 * lanes; where each group has one channel on both sides (depthwise) neighbouring groups are. Several positions along
 * the innermost dimension share the loaded weights. */
#include "ir/lower/map/map.h"
#include "ir/lower/window.h"

/* One dimension, for the positions r, r + stride ..: position j of them takes q = j + first - t * step for the taps
 * t < count, which are k = tap + t * every of the filter. */
typedef struct residue {
    int64_t n, count, first, step, tap, every;
} residue;

typedef struct data {
    ac_conv_nd g;
    ac_tensor *dy, *w;
    const ac_tensor *dx;
    int32_t dy_buf, w_buf;
    int64_t in, out; /* channels of a group of dx, dy */
    bool depthwise;
    residue r[AC_CONV_ND_DIMS];
    int64_t rest[AC_CONV_ND_DIMS]; /* the remainders */
    ac_x image, j[AC_CONV_ND_DIMS], group;
} data;

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

static residue residue_of(const ac_slide *s, int64_t rest)
{
    residue r = {.n = (s->in - rest + s->stride - 1) / s->stride, .every = s->stride / gcd(s->stride, s->dil)};
    while (r.tap < s->taps && r.tap < s->stride && (rest + s->pad - r.tap * s->dil) % s->stride)
        r.tap++;
    if (r.tap >= s->taps || (rest + s->pad - r.tap * s->dil) % s->stride)
        return r; /* count 0: nothing reaches these positions */
    r.count = (s->taps - r.tap + r.every - 1) / r.every;
    r.first = (rest + s->pad - r.tap * s->dil) / s->stride;
    r.step = r.every * s->dil / s->stride;
    return r;
}

/* Taps lo .. hi - 1 of position j have a q inside of dy. */
static void taps(ac_lb *b, const residue *r, int64_t out, ac_x j, ac_x *lo, ac_x *hi)
{
    const ac_x zero = ac_lb_i32(b, 0), step = ac_lb_i32(b, r->step ? r->step : 1);
    const ac_x q = ac_lb_add(b, j, ac_lb_i32(b, r->first + r->step));
    *lo = zero;
    *hi = ac_lb_i32(b, r->count);
    if (r->n - 1 + r->first >= out)
        *lo = ac_lb_div(b, ac_lb_max(b, ac_lb_sub(b, q, ac_lb_i32(b, out)), zero), step);
    if (r->first < (r->count - 1) * r->step)
        *hi = ac_lb_min(b, *hi, ac_lb_div(b, ac_lb_max(b, q, zero), step));
    if (r->n - 1 + r->first >= out)
        *lo = ac_lb_min(b, *lo, *hi);
}

/* `lanes` channels from c on of the group, or groups from c on. */
static void channels(ac_lower *L, void *with, ac_x c, int32_t lanes)
{
    static const char *const tap[AC_CONV_ND_DIMS] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    data *v = with;
    ac_lb *b = &L->b;
    const int32_t m = v->g.m;
    const ac_dtype d = v->dx->dtype;
    ac_x yi[AC_MAX_RANK], wi[AC_MAX_RANK], xi[AC_MAX_RANK];
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_num(b, d, 0), lanes));
    yi[0] = xi[0] = v->image;
    for (int32_t k = 0; k < m; k++) {
        const residue *r = &v->r[k];
        ac_x lo, hi;
        taps(b, r, v->g.s[k].out, v->j[k], &lo, &hi);
        const ac_x t = ac_lb_for(b, tap[k], lo, hi, 1, AC_MARK_SERIAL);
        wi[k] = ac_lb_add(b, ac_lb_mul(b, t, ac_lb_i32(b, r->every)), ac_lb_i32(b, r->tap));
        yi[k + 1] = ac_lb_sub(b, ac_lb_add(b, v->j[k], ac_lb_i32(b, r->first)), ac_lb_mul(b, t, ac_lb_i32(b, r->step)));
    }
    const ac_x o =
        v->depthwise ? c : ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->out)), ac_lb_for_n(b, "o", v->out));
    yi[m + 1] = wi[m] = o;
    wi[m + 1] = v->depthwise ? ac_lb_i32(b, 0) : c;
    const ac_x at = ac_lo_flat(L, v->dy, yi);
    const ac_x y =
        v->depthwise ? ac_lb_load(b, v->dy_buf, at, lanes) : ac_lb_splat(b, ac_lb_load(b, v->dy_buf, at, 1), lanes);
    const ac_x w = ac_lb_load(b, v->w_buf, ac_lo_flat(L, v->w, wi), lanes), old = ac_lb_get(b, acc);
    ac_lb_set(b, acc, L->exact ? ac_lb_add(b, old, ac_lb_mul(b, y, w)) : ac_lo_madd(L, y, w, old));
    for (int32_t k = 0; k < m + !v->depthwise; k++)
        ac_lb_end(b);
    xi[m + 1] = v->depthwise ? c : ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->in)), c);
    for (int32_t k = 0; k < m; k++)
        xi[k + 1] = ac_lb_add(b, ac_lb_mul(b, v->j[k], ac_lb_i32(b, v->g.s[k].stride)), ac_lb_i32(b, v->rest[k]));
    ac_lo_result(L, ac_lb_get(b, acc), xi, lanes);
}

/* All positions from dimension k on. */
static void positions(ac_lower *L, data *v, int32_t k)
{
    static const char *const name[AC_CONV_ND_DIMS] = {"j0", "j1", "j2", "j3", "j4", "j5"};
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lo_max_lanes(L, v->dx->dtype);
    if (k == v->g.m) {
        v->group = ac_lb_for_n(b, "g", v->depthwise ? 1 : v->g.groups);
        ac_lo_strip(L, "c", v->depthwise ? v->g.groups : v->in, lanes, channels, v);
        ac_lb_end(b);
        return;
    }
    for (v->rest[k] = 0; v->rest[k] < v->g.s[k].stride && v->rest[k] < v->g.s[k].in; v->rest[k]++) {
        v->r[k] = residue_of(&v->g.s[k], v->rest[k]);
        v->j[k] = k == 0 ? ac_lb_for_each(b, name[k], v->r[k].n) : ac_lb_for_n(b, name[k], v->r[k].n);
        positions(L, v, k + 1);
        ac_lb_end(b);
    }
}

int ac_lo_conv_nd_data(ac_lower *L)
{
    const ac_node *n = L->node;
    data v = {.dy = n->in[0], .w = n->in[1], .dx = n->out[0]};
    AC_TRY(ac_conv_back_of(L->cx, n, &v.g));
    if (!ac_mp_real(v.dy) || v.dx->dtype != v.dy->dtype)
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[n->op].text,
                               ac_dtype_name(v.dy->dtype));
    ac_lo_result_buf(L);
    if (ac_tensor_count(v.dx) == 0)
        return AC_OK;
    v.dy_buf = ac_lo_operand(L, v.dy);
    v.w_buf = ac_lo_operand(L, v.w);
    v.in = v.w->dim[v.g.m + 1];
    v.out = v.w->dim[v.g.m] / v.g.groups;
    v.depthwise = v.in == 1 && v.out == 1;
    v.image = ac_lb_for_each(&L->b, "n", v.dx->dim[0]);
    positions(L, &v, 0);
    ac_lb_end(&L->b);
    return AC_OK;
}
