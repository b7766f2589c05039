/* grid_sample.c - lowers GRID_SAMPLE: reads an image at positions that come from data.
 *
 *     x [N,S..,C]   grid [N,O..,m], f32, for m = 1 to 3 spatial dimensions   ->   y [N,O..,C]
 *
 * The last dimension of the grid names a position, the last spatial dimension (the width) first: -1 to 1 from border to
 * border (align_corners: from the first to the last pixel), or with `pixels` in pixels. mode: nearest (ties to even;
 * any type of a byte or more), linear, or cubic (Keys, a = -0.75), the last two f32. Positions outside of the image
 * read as zeros, as the border, or reflected at it. ONNX GridSample. Positions are clamped to 2^24 pixels, NaN as well.
 *
 * Weights and offsets of the taps are computed once for a position, then the channels run in lanes. Results differ from
 * nested interpolation, which is how the reference sums, by a few units in the last place. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

enum { MOST_DIMS = 3, MOST_TAPS = 4 };

/* The taps along one dimension: positions inside of the image, and weights. */
typedef struct taps {
    int32_t n;
    ac_x at[MOST_TAPS], weight[MOST_TAPS];
} taps;

typedef struct sampler {
    ac_lower *L;
    const ac_attrs_sample *a;
    const ac_tensor *x, *y;
    int32_t m, x_buf;
    taps t[MOST_DIMS];
    ac_x image; /* first element of the image */
    ac_x idx[AC_MAX_RANK];
} sampler;

static ac_x num(ac_lb *b, double v)
{
    return ac_lb_f32(b, v);
}

/* v reflected at lo and hi until it is between them. */
static ac_x reflect(ac_lb *b, ac_x v, double lo, double hi)
{
    const double range = hi - lo;
    if (range <= 0)
        return num(b, lo);
    const ac_x below = ac_lb_lt(b, v, num(b, lo)), above = ac_lb_gt(b, v, num(b, hi));
    const ac_x far = ac_lb_select(b, below, ac_lb_sub(b, num(b, lo), v), ac_lb_sub(b, v, num(b, hi)));
    const ac_x times = ac_lb_trunc(b, ac_lb_div(b, far, num(b, range)));
    const ac_x rest = ac_lb_sub(b, far, ac_lb_mul(b, times, num(b, range)));
    const ac_x half = ac_lb_mul(b, times, num(b, 0.5)), even = ac_lb_eq(b, half, ac_lb_floor(b, half));
    const ac_x from_lo = ac_lb_add(b, num(b, lo), rest), from_hi = ac_lb_sub(b, num(b, hi), rest);
    const ac_x out =
        ac_lb_select(b, below, ac_lb_select(b, even, from_lo, from_hi), ac_lb_select(b, even, from_hi, from_lo));
    return ac_lb_select(b, ac_lb_or(b, below, above), out, v);
}

/* Pixel i (a whole f32) as an index; outside of the image with zeros the weight becomes 0. */
static void tap(const sampler *s, taps *t, int64_t size, ac_x i, ac_x weight)
{
    ac_lb *b = &s->L->b;
    const ac_x first = num(b, 0), last = num(b, (double)(size - 1));
    if (s->a->padding == AC_W_ZEROS)
        weight = ac_lb_select(b, ac_lb_and(b, ac_lb_ge(b, i, first), ac_lb_le(b, i, last)), weight, first);
    if (s->a->padding == AC_W_REFLECTION)
        i = s->a->align_corners ? reflect(b, i, 0, (double)(size - 1)) : reflect(b, i, -0.5, (double)size - 0.5);
    i = ac_lb_cast(b, ac_lb_clamp(b, i, first, last), AC_I32);
    t->at[t->n] = i;
    t->weight[t->n++] = weight;
}

static ac_x cubic(ac_lb *b, ac_x t, bool far) /* at distance t: below 1, or 1 to 2 */
{
    const double a = -0.75;
    ac_x v;
    if (!far) {
        v = ac_lb_sub(b, ac_lb_mul(b, num(b, a + 2), t), num(b, a + 3));
        return ac_lb_add(b, ac_lb_mul(b, ac_lb_mul(b, v, t), t), num(b, 1));
    }
    v = ac_lb_sub(b, ac_lb_mul(b, num(b, a), t), num(b, 5 * a));
    v = ac_lb_add(b, ac_lb_mul(b, v, t), num(b, 8 * a));
    return ac_lb_sub(b, ac_lb_mul(b, v, t), num(b, 4 * a));
}

/* The taps for coordinate v of the grid along a dimension of `size` pixels. */
static taps taps_at(const sampler *s, ac_x v, int64_t size)
{
    ac_lb *b = &s->L->b;
    const double n = (double)size;
    const ac_x one = num(b, 1), limit = num(b, 16777216);
    taps t = {0};
    if (!s->a->pixels) {
        v = ac_lb_add(b, v, one);
        v = s->a->align_corners ? ac_lb_mul(b, ac_lb_mul(b, v, num(b, 0.5)), num(b, n - 1))
                                : ac_lb_mul(b, ac_lb_sub(b, ac_lb_mul(b, v, num(b, n)), one), num(b, 0.5));
    }
    v = ac_lb_clamp(b, v, ac_lb_neg(b, limit), limit);
    if (s->a->mode == AC_W_NEAREST)
        v = ac_lb_rint(b, v);
    if (s->a->padding == AC_W_BORDER)
        v = ac_lb_clamp(b, v, num(b, 0), num(b, n - 1));
    if (s->a->padding == AC_W_REFLECTION)
        v = s->a->align_corners ? reflect(b, v, 0, n - 1) : reflect(b, v, -0.5, n - 0.5);
    if (s->a->mode == AC_W_NEAREST) {
        tap(s, &t, size, ac_lb_trunc(b, v), one);
        return t;
    }
    const ac_x low = ac_lb_floor(b, v), part = ac_lb_sub(b, v, low), rest = ac_lb_sub(b, one, part);
    if (s->a->mode == AC_W_LINEAR) {
        tap(s, &t, size, low, rest);
        tap(s, &t, size, ac_lb_add(b, low, one), part);
        return t;
    }
    tap(s, &t, size, ac_lb_sub(b, low, one), cubic(b, ac_lb_add(b, part, one), true));
    tap(s, &t, size, low, cubic(b, part, false));
    tap(s, &t, size, ac_lb_add(b, low, one), cubic(b, rest, false));
    tap(s, &t, size, ac_lb_add(b, low, num(b, 2)), cubic(b, ac_lb_sub(b, num(b, 2), part), true));
    return t;
}

/* `lanes` channels from c on: the sum over all combinations of taps. */
static void channels(ac_lower *L, void *with, ac_x c, int32_t lanes)
{
    sampler *s = with;
    ac_lb *b = &L->b;
    const int64_t depth = s->x->dim[s->m + 1];
    int32_t count = 1;
    ac_x sum = 0;
    for (int32_t d = 0; d < s->m; d++)
        count *= s->t[d].n;
    for (int32_t k = 0; k < count; k++) {
        ac_x at = ac_lb_i32(b, 0), weight = 0;
        for (int32_t d = 0, rest = k; d < s->m; d++) {
            const taps *t = &s->t[d];
            const int32_t i = rest % t->n;
            rest /= t->n;
            at = ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, s->x->dim[d + 1])), t->at[i]);
            weight = weight ? ac_lb_mul(b, weight, t->weight[i]) : t->weight[i];
        }
        at = ac_lb_add(b, s->image, ac_lb_mul(b, at, ac_lb_i32(b, depth)));
        const ac_x v = ac_lb_load(b, s->x_buf, ac_lb_add(b, at, c), lanes);
        if (s->a->mode == AC_W_NEAREST) { /* one tap, of weight 0 or 1 */
            const ac_dtype d = s->x->dtype;
            const ac_x zero = ac_dtype_is_float(d) ? ac_lb_num(b, d, 0) : ac_lb_int(b, d, 0);
            const ac_x inside = ac_lb_ne(b, weight, num(b, 0));
            sum = s->a->padding == AC_W_ZEROS ? ac_lb_select(b, inside, v, ac_lb_splat(b, zero, lanes)) : v;
        } else {
            weight = ac_lb_splat(b, weight, lanes);
            sum = sum ? ac_lo_madd(L, v, weight, sum) : ac_lb_mul(b, v, weight);
        }
    }
    s->idx[s->m + 1] = c;
    ac_lo_result(L, sum, s->idx, lanes);
}

int ac_lo_grid_sample(ac_lower *L)
{
    static const char *const name[MOST_DIMS + 1] = {"n", "o0", "o1", "o2"};
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *grid = n->in[1];
    sampler s = {.L = L, .a = &n->attrs.sample, .x = x, .y = n->out[0], .m = x->rank - 2};
    if (s.a->mode != AC_W_NEAREST && x->dtype != AC_F32)
        return ac_lower_refuse(L, "grid_sample of %s, mode %s: f32 is supported, and any type for nearest",
                               ac_dtype_name(x->dtype), ac_word_name[s.a->mode]);
    if (ac_dtype_bits(x->dtype) < 8)
        return ac_lower_refuse(L, "grid_sample of %s", ac_dtype_name(x->dtype));
    ac_lo_result_buf(L);
    if (ac_tensor_count(s.y) == 0)
        return AC_OK;
    s.x_buf = ac_lo_operand(L, x);
    const int32_t grid_buf = ac_lo_operand(L, grid);
    const int64_t image = ac_tensor_count(x) / x->dim[0];
    ac_x at[AC_MAX_RANK];
    for (int32_t d = 0; d <= s.m; d++)
        at[d] = s.idx[d] = ac_lb_for_n(b, name[d], s.y->dim[d]);
    for (int32_t d = 0; d < s.m; d++) {
        at[s.m + 1] = ac_lb_i32(b, s.m - 1 - d);
        s.t[d] = taps_at(&s, ac_lb_load(b, grid_buf, ac_lo_flat(L, grid, at), 1), x->dim[d + 1]);
    }
    s.image = ac_lb_mul(b, s.idx[0], ac_lb_i32(b, image));
    ac_lo_strip(L, "c", x->dim[s.m + 1], ac_lo_max_lanes(L, x->dtype), channels, &s);
    for (int32_t d = 0; d <= s.m; d++)
        ac_lb_end(b);
    return AC_OK;
}
