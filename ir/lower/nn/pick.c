/* pick.c - visits elements in order of their values, and measures the overlap of boxes; see pick.h. */
#include "ir/lower/nn/pick.h"

void ac_walk_open(ac_lower *L, ac_walk *w)
{
    ac_lb *b = &L->b;
    ac_dtype d = L->b.fn->buf.item[w->x].dtype;
    d = !w->keep_nan ? d : d == AC_F64 ? AC_U64 : AC_U32;
    w->value = ac_lb_var(b, "value", ac_dtype_is_float(d) ? ac_lb_num(b, d, 0) : ac_lb_int(b, d, 0));
    w->index = ac_lb_var(b, "last", ac_lb_i32(b, -1));
}

/* The bits of floats without their sign are ordered as magnitudes are, so those of negative ones are turned over; then
 * -infinity becomes 0. */
ac_x ac_float_order(ac_lb *b, ac_x v)
{
    const bool wide = ac_lb_dtype(b, v) == AC_F64;
    const uint64_t inf = wide ? (uint64_t)0x7ff << 52 : 0x7f800000, nan = 2 * inf + 2;
    ac_x x = ac_lb_bitcast(b, ac_lb_add(b, v, ac_lb_like(b, v, 0)), wide ? AC_I64 : AC_I32);
    const ac_x sign = ac_lb_shr(b, x, ac_lb_like_int(b, x, wide ? 63 : 31));
    x = ac_lb_xor(b, x, ac_lb_and(b, sign, ac_lb_like_int(b, x, wide ? INT64_MAX : INT32_MAX)));
    x = ac_lb_add_wrap(b, x, ac_lb_like_int(b, x, (int64_t)inf + 1));
    x = ac_lb_bitcast(b, x, wide ? AC_U64 : AC_U32);
    return ac_lb_min(b, x, ac_lb_like_int(b, x, (int64_t)(wide ? nan : (uint32_t)nan)));
}

void ac_walk_next(ac_lower *L, ac_walk *w)
{
    ac_lb *b = &L->b;
    const ac_x last = ac_lb_get(b, w->index), before = ac_lb_get(b, w->value);
    const ac_x none = ac_lb_i32(b, -1), start = ac_lb_lt(b, last, ac_lb_i32(b, 0));
    const ac_x best = ac_lb_var(b, "best", before), where = ac_lb_var(b, "where", none);
    const ac_x i = ac_lb_for_n(b, "i", w->n);
    const ac_x element = ac_lb_load(b, w->x, ac_lb_add(b, w->base, i), 1);
    const ac_x v = w->keep_nan ? ac_float_order(b, element) : element;
    const ac_x after = w->rising ? ac_lb_gt(b, v, before) : ac_lb_lt(b, v, before);
    const ac_x later = ac_lb_or(b, after, ac_lb_and(b, ac_lb_eq(b, v, before), ac_lb_gt(b, i, last)));
    ac_x counts = ac_lb_and(b, ac_lb_or(b, start, later), ac_lb_eq(b, v, v));
    if (w->least)
        counts = ac_lb_and(b, counts, w->inclusive ? ac_lb_ge(b, v, w->least) : ac_lb_gt(b, v, w->least));
    const ac_x first = ac_lb_lt(b, ac_lb_get(b, where), ac_lb_i32(b, 0));
    const ac_x better = w->rising ? ac_lb_lt(b, v, ac_lb_get(b, best)) : ac_lb_gt(b, v, ac_lb_get(b, best));
    const ac_x wins = ac_lb_and(b, counts, ac_lb_or(b, first, better));
    ac_lb_set(b, best, ac_lb_select(b, wins, v, ac_lb_get(b, best)));
    ac_lb_set(b, where, ac_lb_select(b, wins, i, ac_lb_get(b, where)));
    ac_lb_end(b);
    ac_lb_set(b, w->value, ac_lb_get(b, best));
    ac_lb_set(b, w->index, ac_lb_get(b, where));
}

ac_box ac_box_of(ac_lb *b, const ac_x corner[4])
{
    const ac_x *v = corner;
    ac_box r = {ac_lb_min(b, v[0], v[2]), ac_lb_min(b, v[1], v[3]), ac_lb_max(b, v[0], v[2]), ac_lb_max(b, v[1], v[3]),
                0};
    r.area = ac_lb_mul(b, ac_lb_sub(b, r.bottom, r.top), ac_lb_sub(b, r.right, r.left));
    return r;
}

ac_box ac_box_ordered(ac_lb *b, const ac_x v[4])
{
    ac_box r = {v[1], v[0], v[3], v[2], 0};
    const ac_x zero = ac_lb_f32(b, 0), w = ac_lb_sub(b, v[2], v[0]), h = ac_lb_sub(b, v[3], v[1]);
    const ac_x none = ac_lb_or(b, ac_lb_lt(b, w, zero), ac_lb_lt(b, h, zero));
    r.area = ac_lb_select(b, none, zero, ac_lb_mul(b, w, h));
    return r;
}

ac_box ac_box_at(ac_lb *b, int32_t buf, ac_x i)
{
    ac_x v[4];
    const ac_x base = ac_lb_mul(b, i, ac_lb_i32(b, 4));
    for (int32_t k = 0; k < 4; k++)
        v[k] = ac_lb_load(b, buf, ac_lb_add(b, base, ac_lb_i32(b, k)), 1);
    return ac_box_of(b, v);
}

ac_x ac_box_overlap(ac_lb *b, const ac_box *p, const ac_box *q)
{
    const ac_x zero = ac_lb_f32(b, 0);
    const ac_x h = ac_lb_sub(b, ac_lb_min(b, p->bottom, q->bottom), ac_lb_max(b, p->top, q->top));
    const ac_x w = ac_lb_sub(b, ac_lb_min(b, p->right, q->right), ac_lb_max(b, p->left, q->left));
    const ac_x both = ac_lb_mul(b, ac_lb_max(b, h, zero), ac_lb_max(b, w, zero));
    const ac_x all = ac_lb_sub(b, ac_lb_add(b, p->area, q->area), both);
    const ac_x empty = ac_lb_or(b, ac_lb_le(b, p->area, zero), ac_lb_le(b, q->area, zero));
    return ac_lb_select(b, empty, zero, ac_lb_div(b, both, all));
}
