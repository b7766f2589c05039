/* topk.c - the best of many: TOPK_V2, and NON_MAX_SUPPRESSION_V4, which picks boxes by score.
 *
 * Both take elements in one order: greater value first (or, for topk smallest, lesser), equal values by index. The next element is found by a walk over
 * all that looks for the best one behind the last: no sorting, no scratch. NaN is never taken; when nothing else is
 * left, topk gives element 0. */
#include "ir/lower/map/map.h"
#include "ir/lower/pick.h"
#include "ir/ops/shape/shape.h"

/* ------------------------------------------------------------------ shapes */

static int one_value(ac_ctx *cx, const ac_node *n, int32_t i, ac_dtype d)
{
    const ac_tensor *t = ac_shape_in(n, i);
    if (!t || (t->dtype == d && ac_tensor_count(t) == 1))
        return AC_OK;
    return ac_error(cx, n->at, E0104, "operand '%s' is %s, expected one %s", t->name, ac_tensor_str(cx, t),
                    ac_dtype_name(d));
}

/* x [..,N], k (static) -> values [..,k], indices [..,k] i32. */
int ac_sh_topk(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    ac_ints k;
    AC_TRY(ac_node_ints(cx, n, 1, (ac_ints){0}, &k));
    if (x->rank < 1 || k.n != 1)
        return ac_error(cx, n->at, E0104,
                        "'%s' is %s and k has %d values; expected at least one dimension and one value", x->name,
                        ac_shape_str(cx, x), k.n);
    if (k.v[0] < 0 || k.v[0] > x->dim[x->rank - 1])
        return ac_error(cx, n->at, E0103, "k is %lld, expected 0 to %lld, the last dimension of '%s'",
                        (long long)k.v[0], (long long)x->dim[x->rank - 1], x->name);
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = d == x->rank - 1 ? k.v[0] : x->dim[d];
    AC_TRY(ac_shape_result_type(cx, n, 1, AC_I32));
    AC_TRY(ac_shape_set_like(cx, n, 0, x, x->rank, dim));
    return ac_shape_set(cx, n, 1, AC_I32, x->rank, dim);
}

/* boxes [N,4], scores [N], most (static), IoU and score thresholds -> indices [most] i32, how many i32. */
int ac_sh_nms(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *box = n->in[0], *score = n->in[1];
    ac_ints most;
    AC_TRY(ac_node_ints(cx, n, 2, (ac_ints){0}, &most));
    AC_TRY(one_value(cx, n, 3, AC_F32));
    AC_TRY(one_value(cx, n, 4, AC_F32));
    if (box->dtype != AC_F32 || score->dtype != AC_F32 || box->rank != 2 || box->dim[1] != 4 || score->rank != 1 ||
        score->dim[0] != box->dim[0] || most.n != 1) {
        ac_error(cx, n->at, E0104, "expected f32 boxes [N,4], f32 scores [N] and one number of results");
        return ac_shape_show(cx, n);
    }
    if (most.v[0] < 0)
        return ac_error(cx, n->at, E0201, "the number of results is %lld", (long long)most.v[0]);
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_I32));
    AC_TRY(ac_shape_result_type(cx, n, 1, AC_I32));
    AC_TRY(ac_shape_set(cx, n, 0, AC_I32, 1, most.v));
    return ac_shape_set(cx, n, 1, AC_I32, 0, NULL);
}

/* ------------------------------------------------------------------ loops */

void ac_walk_open(ac_lower *L, ac_walk *w)
{
    ac_lb *b = &L->b;
    const ac_dtype d = L->b.fn->buf.item[w->x].dtype;
    w->value = ac_lb_var(b, "value", ac_dtype_is_float(d) ? ac_lb_num(b, d, 0) : ac_lb_int(b, d, 0));
    w->index = ac_lb_var(b, "last", ac_lb_i32(b, -1));
}

void ac_walk_next(ac_lower *L, ac_walk *w)
{
    ac_lb *b = &L->b;
    const ac_x last = ac_lb_get(b, w->index), before = ac_lb_get(b, w->value);
    const ac_x none = ac_lb_i32(b, -1), start = ac_lb_lt(b, last, ac_lb_i32(b, 0));
    const ac_x best = ac_lb_var(b, "best", before), where = ac_lb_var(b, "where", none);
    const ac_x i = ac_lb_for_n(b, "i", w->n);
    const ac_x v = ac_lb_load(b, w->x, ac_lb_add(b, w->base, i), 1);
    const ac_x after = w->rising ? ac_lb_gt(b, v, before) : ac_lb_lt(b, v, before);
    const ac_x behind = ac_lb_or(b, after, ac_lb_and(b, ac_lb_eq(b, v, before), ac_lb_gt(b, i, last)));
    ac_x counts = ac_lb_and(b, ac_lb_or(b, start, behind), ac_lb_eq(b, v, v));
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

int ac_lo_topk(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0];
    const ac_tensor *y = n->out[0];
    if (!ac_mp_real(x) && !ac_dtype_is_int(x->dtype)) {
        ac_mp_refuse(L, n);
        return AC_FAIL;
    }
    const int32_t values = ac_lo_output_buf(L, 0), indices = ac_lo_output_buf(L, 1);
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    const int64_t width = x->dim[x->rank - 1], k = y->dim[y->rank - 1];
    ac_walk w = {.x = ac_lo_operand(L, x), .n = width, .rising = n->attrs.topk.smallest};
    const ac_x row = ac_lb_for_n(b, "row", ac_tensor_count(x) / width);
    w.base = ac_lb_mul(b, row, ac_lb_i32(b, width));
    ac_walk_open(L, &w);
    const ac_x j = ac_lb_for_n(b, "j", k);
    ac_walk_next(L, &w);
    const ac_x to = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, k)), j);
    const ac_x at = ac_lb_max(b, ac_lb_get(b, w.index), ac_lb_i32(b, 0));
    ac_lb_store(b, values, to, ac_lb_load(b, w.x, ac_lb_add(b, w.base, at), 1));
    ac_lb_store(b, indices, to, at);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
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

/* NON_MAX_SUPPRESSION_V4: boxes by falling score, those that overlap a box already taken are left out. The reference
 * (non_max_suppression.h) takes boxes of equal score in the order of a heap; here the first index comes first. */
int ac_lo_nms(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    const int64_t most = n->out[0]->dim[0], boxes = n->in[0]->dim[0];
    const int32_t picked = ac_lo_output_buf(L, 0), number = ac_lo_output_buf(L, 1);
    const ac_x zero = ac_lb_i32(b, 0);
    ac_x i = ac_lb_for_n(b, "i", most);
    ac_lb_store(b, picked, i, zero);
    ac_lb_end(b);
    if (most == 0 || boxes == 0) {
        ac_lb_store(b, number, zero, zero);
        return AC_OK;
    }
    const int32_t box_buf = ac_lo_operand(L, n->in[0]);
    ac_walk w = {.x = ac_lo_operand(L, n->in[1]), .base = zero, .n = boxes};
    const ac_x limit = ac_lo_load(L, n->in[3], NULL, 1);
    w.least = ac_lo_load(L, n->in[4], NULL, 1);
    ac_walk_open(L, &w);
    const ac_x count = ac_lb_var(b, "count", zero);
    ac_lb_for_n(b, "o", boxes);
    ac_walk_next(L, &w);
    const ac_x candidate = ac_lb_get(b, w.index);
    ac_lb_break_if(b, ac_lb_lt(b, candidate, zero));
    const ac_box p = ac_box_at(b, box_buf, candidate);
    const ac_x keep = ac_lb_var(b, "keep", ac_lb_int(b, AC_BOOL, 1));
    i = ac_lb_for(b, "k", zero, ac_lb_get(b, count), 1, AC_MARK_SERIAL);
    const ac_box q = ac_box_at(b, box_buf, ac_lb_load(b, picked, i, 1));
    ac_lb_set(b, keep, ac_lb_and(b, ac_lb_get(b, keep), ac_lb_lt(b, ac_box_overlap(b, &p, &q), limit)));
    ac_lb_end(b);
    ac_lb_if(b, ac_lb_get(b, keep));
    ac_lb_store(b, picked, ac_lb_get(b, count), candidate);
    ac_lb_set(b, count, ac_lb_add(b, ac_lb_get(b, count), ac_lb_i32(b, 1)));
    ac_lb_end(b);
    ac_lb_break_if(b, ac_lb_ge(b, ac_lb_get(b, count), ac_lb_i32(b, most)));
    ac_lb_end(b);
    ac_lb_store(b, number, zero, ac_lb_get(b, count));
    return AC_OK;
}
