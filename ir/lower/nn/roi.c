/* roi.c - lowers ROI_ALIGN and ROI_POOL: resizes regions of images to one size.
 *
 *     x [N,H,W,C]   rois [R,4], f32: x1, y1, x2, y2   image [R], which of the N; i32 or i64   ->   y
 * [R,height,width,C]; f32
 *
 * roi_align cuts a region times scale (less half a pixel with half_pixel) into height x width bins, reads ratio x ratio
 * positions in each (ratio 0: as many as the bin is pixels wide, rounded up) with bilinear weights, and gives their
 * mean, or the maximum of the weighted pixels (mode max; ONNX's reference takes the maximum after weighting). Positions
 * more than a pixel outside of the image are 0. roi_pool rounds the corners to pixels and gives the maximum pixel of
 * each bin, 0 if the bin is empty (ONNX MaxRoiPool). If an image number is out of range, the function returns
 * AC_STATUS_INDEX. */
#include "ir/lower/entries.h"
#include "ir/lower/move/index.h"
#include "ir/lower/map/map.h"

#include <math.h>

/* A region along one dimension: where it begins, how long a bin is, how many positions each has. */
typedef struct side {
    int64_t size, bins; /* pixels of the image, bins of the result */
    ac_x begin, bin, count;
} side;

/* A position between two pixels. */
typedef struct between {
    ac_x lo, hi, part, rest, inside;
} between;

static ac_x whole(ac_lb *b, ac_x v, double limit) /* v, whole and below the limit, as i32 */
{
    return ac_lb_cast(b, ac_lb_clamp(b, v, ac_lb_f32(b, -limit), ac_lb_f32(b, limit)), AC_I32);
}

static side side_of(ac_lower *L, ac_x from, ac_x to, int64_t size, int64_t bins)
{
    ac_lb *b = &L->b;
    const ac_attrs_roi *a = &L->node->attrs.roi;
    const ac_x scale = ac_lb_f32(b, (double)a->scale), half = ac_lb_f32(b, a->half_pixel ? 0.5 : 0);
    side s = {.size = size, .bins = bins};
    s.begin = ac_lb_sub(b, ac_lb_mul(b, from, scale), half);
    ac_x length = ac_lb_sub(b, ac_lb_sub(b, ac_lb_mul(b, to, scale), half), s.begin);
    if (!a->half_pixel)
        length = ac_lb_max(b, length, ac_lb_f32(b, 1));
    s.bin = ac_lb_div(b, length, ac_lb_f32(b, (double)bins));
    s.count = a->ratio > 0 ? ac_lb_i32(b, a->ratio) : whole(b, ac_lb_ceil(b, s.bin), 1 << 24);
    return s;
}

/* Position i of bin o. */
static between place(ac_lower *L, const side *s, ac_x o, ac_x i)
{
    ac_lb *b = &L->b;
    const ac_x half = ac_lb_f32(b, 0.5), zero = ac_lb_f32(b, 0), last = ac_lb_f32(b, (double)(s->size - 1));
    const ac_x step = ac_lb_div(b, ac_lb_mul(b, ac_lb_add(b, ac_lb_cast(b, i, AC_F32), half), s->bin),
                                ac_lb_cast(b, s->count, AC_F32));
    ac_x v = ac_lb_add(b, ac_lb_add(b, s->begin, ac_lb_mul(b, ac_lb_cast(b, o, AC_F32), s->bin)), step);
    between p;
    p.inside = ac_lb_and(b, ac_lb_ge(b, v, ac_lb_f32(b, -1)), ac_lb_le(b, v, ac_lb_f32(b, (double)s->size)));
    v = ac_lb_clamp(b, v, zero, last);
    const ac_x low = ac_lb_floor(b, v);
    p.lo = ac_lb_cast(b, low, AC_I32);
    p.hi = ac_lb_min(b, ac_lb_add(b, p.lo, ac_lb_i32(b, 1)), ac_lb_i32(b, s->size - 1));
    p.part = ac_lb_sub(b, v, low);
    p.rest = ac_lb_sub(b, ac_lb_f32(b, 1), p.part);
    return p;
}

typedef struct region {
    const ac_tensor *x;
    int32_t buf;
    side y, x_;
    ac_x image;
    ac_x idx[4];
} region;

static ac_x pixel(ac_lower *L, const region *r, ac_x y, ac_x x, ac_x c, int32_t lanes)
{
    ac_lb *b = &L->b;
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, r->image, ac_lb_i32(b, r->x->dim[1])), y);
    const ac_x at =
        ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, r->x->dim[2])), x), ac_lb_i32(b, r->x->dim[3]));
    return ac_lb_load(b, r->buf, ac_lb_add(b, at, c), lanes);
}

static void align(ac_lower *L, void *with, ac_x c, int32_t lanes)
{
    region *r = with;
    ac_lb *b = &L->b;
    const bool max = L->node->attrs.roi.mode == AC_W_MAX;
    const ac_x zero = ac_lb_f32(b, 0), none = ac_lb_lt(b, ac_lb_min(b, r->y.count, r->x_.count), ac_lb_i32(b, 1));
    const ac_x first = ac_lb_select(b, none, zero, ac_lb_f32(b, max ? (double)-INFINITY : 0));
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, first, lanes));
    const ac_x iy = ac_lb_for(b, "iy", ac_lb_i32(b, 0), r->y.count, 1, AC_MARK_SERIAL);
    const between y = place(L, &r->y, r->idx[1], iy);
    const ac_x ix = ac_lb_for(b, "ix", ac_lb_i32(b, 0), r->x_.count, 1, AC_MARK_SERIAL);
    const between x = place(L, &r->x_, r->idx[2], ix);
    const ac_x inside = ac_lb_and(b, y.inside, x.inside);
    const ac_x at[4][4] = {{y.lo, x.lo, y.rest, x.rest},
                           {y.lo, x.hi, y.rest, x.part},
                           {y.hi, x.lo, y.part, x.rest},
                           {y.hi, x.hi, y.part, x.part}};
    ac_x sum = 0;
    for (int32_t k = 0; k < 4; k++) {
        const ac_x w = ac_lb_select(b, inside, ac_lb_mul(b, at[k][2], at[k][3]), zero);
        const ac_x v = ac_lb_mul(b, pixel(L, r, at[k][0], at[k][1], c, lanes), ac_lb_splat(b, w, lanes));
        sum = !sum ? v : max ? ac_lb_max(b, sum, v) : ac_lb_add(b, sum, v);
    }
    ac_lb_set(b, acc, max ? ac_lb_max(b, ac_lb_get(b, acc), sum) : ac_lb_add(b, ac_lb_get(b, acc), sum));
    ac_lb_end(b);
    ac_lb_end(b);
    ac_x v = ac_lb_get(b, acc);
    if (!max) {
        const ac_x count = ac_lb_max(b, ac_lb_mul(b, r->y.count, r->x_.count), ac_lb_i32(b, 1));
        v = ac_lb_div(b, v, ac_lb_splat(b, ac_lb_cast(b, count, AC_F32), lanes));
    }
    r->idx[3] = c;
    ac_lo_result(L, v, r->idx, lanes);
}

/* roi_pool: the pixels lo .. hi - 1 of bin o, inside of the image. */
static void bin_of(ac_lower *L, const side *s, ac_x o, ac_x *lo, ac_x *hi)
{
    ac_lb *b = &L->b;
    const ac_x i = ac_lb_cast(b, o, AC_F32), next = ac_lb_add(b, i, ac_lb_f32(b, 1)), end = ac_lb_i32(b, s->size);
    const ac_x from = ac_lb_add(b, ac_lb_floor(b, ac_lb_mul(b, i, s->bin)), s->begin);
    const ac_x to = ac_lb_add(b, ac_lb_ceil(b, ac_lb_mul(b, next, s->bin)), s->begin);
    *lo = ac_lb_clamp(b, whole(b, from, 1 << 25), ac_lb_i32(b, 0), end);
    *hi = ac_lb_clamp(b, whole(b, to, 1 << 25), ac_lb_i32(b, 0), end);
}

static void pool(ac_lower *L, void *with, ac_x c, int32_t lanes)
{
    region *r = with;
    ac_lb *b = &L->b;
    ac_x ylo, yhi, xlo, xhi;
    bin_of(L, &r->y, r->idx[1], &ylo, &yhi);
    bin_of(L, &r->x_, r->idx[2], &xlo, &xhi);
    const ac_x none = ac_lb_or(b, ac_lb_le(b, yhi, ylo), ac_lb_le(b, xhi, xlo));
    const ac_x first = ac_lb_select(b, none, ac_lb_f32(b, 0), ac_lb_f32(b, (double)-INFINITY));
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, first, lanes));
    const ac_x iy = ac_lb_for(b, "iy", ylo, yhi, 1, AC_MARK_SERIAL);
    const ac_x ix = ac_lb_for(b, "ix", xlo, xhi, 1, AC_MARK_SERIAL);
    ac_lb_set(b, acc, ac_lb_max(b, pixel(L, r, iy, ix, c, lanes), ac_lb_get(b, acc)));
    ac_lb_end(b);
    ac_lb_end(b);
    r->idx[3] = c;
    ac_lo_result(L, ac_lb_get(b, acc), r->idx, lanes);
}

/* Corners rounded to pixels; at least one pixel. */
static side rounded(ac_lower *L, ac_x from, ac_x to, int64_t size, int64_t bins)
{
    ac_lb *b = &L->b;
    const ac_x scale = ac_lb_f32(b, (double)L->node->attrs.roi.scale);
    side s = {.size = size, .bins = bins};
    s.begin = ac_mp_round_away(L, ac_lb_mul(b, from, scale));
    const ac_x last = ac_mp_round_away(L, ac_lb_mul(b, to, scale));
    const ac_x length = ac_lb_max(b, ac_lb_add(b, ac_lb_sub(b, last, s.begin), ac_lb_f32(b, 1)), ac_lb_f32(b, 1));
    s.bin = ac_lb_div(b, length, ac_lb_f32(b, (double)bins));
    return s;
}

int ac_lo_roi(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *roi = n->in[1], *image = n->in[2];
    const ac_attrs_roi *a = &n->attrs.roi;
    const bool pooled = n->op == AC_OP_ROI_POOL;
    ac_lo_result_buf(L);
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    if (x->dim[0] == 0)
        return ac_lower_refuse(L, "'%s' has no images", x->name);
    region r = {.x = x, .buf = ac_lo_operand(L, x)};
    const int32_t corners = ac_lo_operand(L, roi);
    const ac_x k = r.idx[0] = ac_lb_for_n(b, "r", roi->dim[0]), base = ac_lb_mul(b, k, ac_lb_i32(b, 4));
    ac_x v[4];
    for (int32_t i = 0; i < 4; i++)
        v[i] = ac_lb_load(b, corners, ac_lb_add(b, base, ac_lb_i32(b, i)), 1);
    r.image = ac_index_at(L, image, k, x->dim[0], false);
    r.x_ = (pooled ? rounded : side_of)(L, v[0], v[2], x->dim[2], a->width);
    r.y = (pooled ? rounded : side_of)(L, v[1], v[3], x->dim[1], a->height);
    r.idx[1] = ac_lb_for_n(b, "oy", a->height);
    r.idx[2] = ac_lb_for_n(b, "ox", a->width);
    ac_lo_strip(L, "c", x->dim[3], ac_lo_max_lanes(L, AC_F32), pooled ? pool : align, &r);
    for (int32_t i = 0; i < 3; i++)
        ac_lb_end(b);
    return AC_OK;
}
