/* box_nms.c - lowers BOX_NMS: removes rows (a box, its score and optionally its class) that overlap a row with a higher
 * score.
 *
 *     x [N,M,K] -> y [N,M,K]                the remaining rows of each image, by falling score; the rest of y is -1
 *
 * Columns: `score`, the box from `coord` on (left, top, right, bottom, or with `centre` its middle and size), the class
 * `id` (-1: no class). Without a class, and with `force`, boxes are compared with all others, else only within a class.
 * Rows whose score is not above `valid`, or whose class is `background`, are ignored; of the others the `top_k` with
 * the highest scores are used (-1: all). By falling score, each row that overlaps a retained one by more than `overlap`
 * is removed. This is MXNet's box_nms.
 *
 * With `stay` rows whose class is negative are ignored, and removed rows (also those past top_k) stay in place with
 * class -1; an overlap of exactly `overlap` is enough. This is the second half of MXNet's MultiBoxDetection.
 *
 * f32. Equal scores are ordered by index; NaNs are ignored. Cost: M * (rows left) overlaps and M * top_k looks for the
 * next. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/nn/pick.h"

#include <float.h>

#define NEVER (-(double)FLT_MAX)

typedef struct nms {
    ac_lower *L;
    const ac_attrs_box_nms *a;
    int32_t x, y, score; /* operand, result; scratch: scores of an image, NEVER for ignored rows */
    int64_t rows, columns;
    ac_x base; /* of the image */
} nms;

static ac_x row_at(const nms *d, ac_x row)
{
    ac_lb *b = &d->L->b;
    return ac_lb_add(b, d->base, ac_lb_mul(b, row, ac_lb_i32(b, d->columns)));
}

static ac_x load(const nms *d, int32_t buf, ac_x row, int32_t column)
{
    ac_lb *b = &d->L->b;
    return ac_lb_load(b, buf, ac_lb_add(b, row, ac_lb_i32(b, column)), 1);
}

static ac_box box_at(const nms *d, int32_t buf, ac_x row)
{
    ac_lb *b = &d->L->b;
    ac_x v[4];
    for (int32_t k = 0; k < 4; k++)
        v[k] = load(d, buf, row, d->a->coord + k);
    if (!d->a->centre)
        return ac_box_ordered(b, v);
    const ac_x w = ac_lb_mul(b, v[2], ac_lb_f32(b, 0.5)), h = ac_lb_mul(b, v[3], ac_lb_f32(b, 0.5));
    ac_box r = ac_box_ordered(
        b, (ac_x[]){ac_lb_sub(b, v[0], w), ac_lb_sub(b, v[1], h), ac_lb_add(b, v[0], w), ac_lb_add(b, v[1], h)});
    const ac_x zero = ac_lb_f32(b, 0), none = ac_lb_or(b, ac_lb_lt(b, v[2], zero), ac_lb_lt(b, v[3], zero));
    r.area = ac_lb_select(b, none, zero, ac_lb_mul(b, v[2], v[3]));
    return r;
}

/* y[to] becomes x[from]; its class is `class` instead, if one is given. */
static void copy_row(const nms *d, ac_x from, ac_x to, ac_x class)
{
    ac_lb *b = &d->L->b;
    const ac_x k = ac_lb_for_n(b, "k", d->columns);
    ac_lb_store(b, d->y, ac_lb_add(b, to, k), ac_lb_load(b, d->x, ac_lb_add(b, from, k), 1));
    ac_lb_end(b);
    if (class)
        ac_lb_store(b, d->y, ac_lb_add(b, to, ac_lb_i32(b, d->a->id)), class);
}

/* Selects the rows to use; with `stay` they move to the front, and those past top_k lose their class. */
static void prepare(const nms *d, int64_t most)
{
    ac_lb *b = &d->L->b;
    const ac_x count = d->a->stay ? ac_lb_var(b, "count", ac_lb_i32(b, 0)) : 0;
    const ac_x i = ac_lb_for_n(b, "i", d->rows), row = row_at(d, i);
    const ac_x s = load(d, d->x, row, d->a->score), class = d->a->id >= 0 ? load(d, d->x, row, d->a->id) : 0;
    ac_x counts = d->a->stay ? ac_lb_ge(b, class, ac_lb_f32(b, 0)) : ac_lb_gt(b, s, ac_lb_f32(b, (double)d->a->valid));
    if (!d->a->stay && class && d->a->background >= 0)
        counts = ac_lb_and(b, counts, ac_lb_not(b, ac_lb_eq(b, class, ac_lb_f32(b, d->a->background))));
    ac_lb_store(b, d->score, i, ac_lb_select(b, counts, s, ac_lb_f32(b, NEVER)));
    if (d->a->stay) {
        ac_lb_if(b, counts);
        const ac_x to = ac_lb_get(b, count);
        copy_row(d, row, row_at(d, to), ac_lb_select(b, ac_lb_lt(b, to, ac_lb_i32(b, most)), class, ac_lb_f32(b, -1)));
        ac_lb_set(b, count, ac_lb_add(b, to, ac_lb_i32(b, 1)));
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* True if no retained row, of the first `count` of y, overlaps this one. */
static ac_x is_left(const nms *d, ac_x row, ac_x count)
{
    ac_lb *b = &d->L->b;
    const ac_attrs_box_nms *a = &d->a[0];
    const ac_box p = box_at(d, d->x, row);
    const ac_x class = a->id >= 0 ? load(d, d->x, row, a->id) : 0, limit = ac_lb_f32(b, (double)a->overlap);
    const ac_x keep = ac_lb_var(b, "keep", ac_lb_int(b, AC_BOOL, 1));
    const ac_x j = ac_lb_for(b, "j", ac_lb_i32(b, 0), ac_lb_get(b, count), 1, AC_MARK_SERIAL), other = row_at(d, j);
    const ac_box q = box_at(d, d->y, other);
    const ac_x share = ac_box_overlap(b, &q, &p);
    ac_x hit = a->stay ? ac_lb_ge(b, share, limit) : ac_lb_gt(b, share, limit);
    const ac_x its = a->id >= 0 ? load(d, d->y, other, a->id) : 0;
    if (a->id >= 0 && !a->force)
        hit = ac_lb_and(b, hit, ac_lb_eq(b, its, class));
    if (a->stay)
        hit = ac_lb_and(b, hit, ac_lb_ge(b, its, ac_lb_f32(b, 0)));
    ac_lb_set(b, keep, ac_lb_and(b, ac_lb_get(b, keep), ac_lb_not(b, hit)));
    ac_lb_end(b);
    return ac_lb_get(b, keep);
}

int ac_lo_box_nms(ac_lower *L)
{
    ac_lb *b = &L->b;
    ac_tensor *x = L->node->in[0];
    nms d = {.L = L, .a = &L->node->attrs.box_nms, .rows = x->dim[1], .columns = x->dim[2]};
    const int64_t most = d.a->top_k >= 0 && d.a->top_k < d.rows ? d.a->top_k : d.rows;
    d.y = ac_lo_output_buf(L, 0);
    if (!ac_tensor_count(x))
        return AC_OK;
    d.x = ac_lo_operand(L, x);
    d.score = ac_lo_scratch(L, "scores", AC_F32, d.rows);
    const ac_x all = ac_lb_for_n(b, "i", ac_tensor_count(x));
    ac_lb_store(b, d.y, all, ac_lb_f32(b, -1));
    ac_lb_end(b);
    const ac_x n = ac_lb_for_n(b, "n", x->dim[0]);
    d.base = ac_lb_mul(b, n, ac_lb_i32(b, d.rows * d.columns));
    prepare(&d, most);
    ac_walk w = {.x = d.score, .base = ac_lb_i32(b, 0), .n = d.rows, .least = ac_lb_f32(b, NEVER)};
    ac_walk_open(L, &w);
    const ac_x count = ac_lb_var(b, "left", ac_lb_i32(b, 0));
    ac_lb_for_n(b, "o", most);
    ac_walk_next(L, &w);
    ac_lb_break_if(b, ac_lb_lt(b, ac_lb_get(b, w.index), ac_lb_i32(b, 0)));
    const ac_x row = row_at(&d, ac_lb_get(b, w.index)), keep = is_left(&d, row, count);
    const ac_x to = row_at(&d, ac_lb_get(b, count));
    if (d.a->stay) {
        copy_row(&d, row, to, ac_lb_select(b, keep, load(&d, d.x, row, d.a->id), ac_lb_f32(b, -1)));
        ac_lb_set(b, count, ac_lb_add(b, ac_lb_get(b, count), ac_lb_i32(b, 1)));
    } else {
        ac_lb_if(b, keep);
        copy_row(&d, row, to, 0);
        ac_lb_set(b, count, ac_lb_add(b, ac_lb_get(b, count), ac_lb_i32(b, 1)));
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
