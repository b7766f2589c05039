/* topk.c - the best of many: TOPK_V2, and NON_MAX_SUPPRESSION_V4, which picks boxes by score.
 *
 * Both take elements in one order: greater value first (or, for topk smallest, lesser), equal values by index. The next
 * element is found by a walk over all that looks for the next best one: no sorting, no scratch. NaN is never taken;
 * when nothing else is left, topk gives element 0. */
#include "ir/lower/map/map.h"
#include "ir/lower/nn/pick.h"

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
