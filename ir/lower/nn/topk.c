/* topk.c - lowers TOPK_V2, and NON_MAX_SUPPRESSION_V4 and _V5, which select boxes by score.
 *
 * Both take elements in one order: larger value first (or, for topk smallest, smaller), equal values by index. Each
 * next element is found by a scan over all, without sorting: element by element and without scratch, or on processors
 * with vectors over keys of 32 bits. NaN is never taken (if nothing else remains, topk gives element 0), or with
 * keep_nan it is above all numbers. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/nn/pick.h"

#include <math.h>

/* The place of the next element of a row of f32 with keep_nan. Order and place are one number of 64 bits, so that all
 * elements differ: it is the largest below the one before, w->value. */
static ac_x next_of_row(ac_lower *L, const ac_walk *w)
{
    ac_lb *b = &L->b;
    const ac_x low = ac_lb_int(b, AC_U64, UINT32_MAX), half = ac_lb_int(b, AC_U64, 32),
               first = ac_lb_int(b, AC_U64, UINT32_MAX - 1); /* element 0 stays below the first w->value, 2^64 - 1 */
    const ac_x before = ac_lb_get(b, w->value), best = ac_lb_var(b, "best", ac_lb_int(b, AC_U64, 0));
    const ac_x i = ac_lb_for_n(b, "i", w->n);
    ac_x v = ac_float_order(b, ac_lb_load(b, w->x, ac_lb_add(b, w->base, i), 1));
    v = ac_lb_shl(b, ac_lb_cast(b, w->rising ? ac_lb_not(b, v) : v, AC_U64), half);
    v = ac_lb_or(b, v, ac_lb_sub(b, first, ac_lb_cast(b, i, AC_U64)));
    const ac_x old = ac_lb_get(b, best), wins = ac_lb_and(b, ac_lb_lt(b, v, before), ac_lb_gt(b, v, old));
    ac_lb_set(b, best, ac_lb_select(b, wins, v, old));
    ac_lb_end(b);
    const ac_x found = ac_lb_get(b, best),
               at = ac_lb_cast(b, ac_lb_sub_wrap(b, first, ac_lb_and(b, found, low)), AC_I32);
    ac_lb_set(b, w->value, found);
    return ac_lb_clamp(b, at, ac_lb_i32(b, 0), ac_lb_i32(b, w->n - 1)); /* for proofs; it is inside */
}

/* The next element of a walk; 0 if none is left, also in all later calls: a walk whose index is -1 starts again. */
static ac_x next_of_walk(ac_lower *L, ac_walk *w)
{
    ac_lb *b = &L->b;
    ac_walk_next(L, w);
    const ac_x at = ac_lb_get(b, w->index), ended = ac_lb_lt(b, at, ac_lb_i32(b, 0));
    ac_lb_set(b, w->index, ac_lb_select(b, ended, ac_lb_i32(b, w->n), at));
    return ac_lb_max(b, at, ac_lb_i32(b, 0));
}

/* Rows by vectors. Keys are integers, the largest is taken first; NO_KEY: taken, never taken, or past the row. */
typedef struct keyed {
    const ac_walk *w;
    int32_t buf, lanes;
    int64_t room; /* elements of buf: whole vectors */
    ac_x taken;   /* variable: the element that was taken last; -1 */
} keyed;
#define NO_KEY INT32_MIN

/* Keys of elements; orders of floats are 0 .. 0xff000002, so that neither form reaches NO_KEY. */
static ac_x key_of(ac_lower *L, const ac_walk *w, ac_x v)
{
    ac_lb *b = &L->b;
    if (ac_lb_dtype(b, v) != AC_F32) {
        const ac_x k = ac_lb_cast(b, v, AC_I32);
        return w->rising ? ac_lb_not(b, k) : k;
    }
    const ac_x order = ac_lb_bitcast(b, ac_float_order(b, v), AC_I32);
    ac_x k = w->rising ? ac_lb_not(b, order) : ac_lb_add_wrap(b, order, ac_lb_like_int(b, order, 1));
    k = ac_lb_xor(b, k, ac_lb_like_int(b, k, INT32_MIN)); /* compared with a sign */
    return w->keep_nan ? k : ac_lb_select(b, ac_lb_eq(b, v, v), k, ac_lb_like_int(b, k, NO_KEY));
}

static void fill_keys(ac_lower *L, const keyed *q)
{
    ac_lb *b = &L->b;
    const ac_walk *w = q->w;
    const int64_t whole = w->n / q->lanes * q->lanes;
    if (whole < w->n)
        ac_lb_store(b, q->buf, ac_lb_i32(b, whole), ac_lb_splat(b, ac_lb_i32(b, NO_KEY), q->lanes));
    ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, whole), q->lanes, AC_MARK_SERIAL);
    ac_lb_store(b, q->buf, i, key_of(L, w, ac_lb_load(b, w->x, ac_lb_add(b, w->base, i), q->lanes)));
    ac_lb_end(b);
    i = ac_lb_for(b, "i", ac_lb_i32(b, whole), ac_lb_i32(b, w->n), 1, AC_MARK_SERIAL);
    ac_lb_store(b, q->buf, i, key_of(L, w, ac_lb_load(b, w->x, ac_lb_add(b, w->base, i), 1)));
    ac_lb_end(b);
}

/* The place of the next element. Each lane keeps the first of its largest keys; the first of the lanes' places is the
 * result, 0 without a key. */
static ac_x next_of_keys(ac_lower *L, const keyed *q)
{
    ac_lb *b = &L->b;
    int64_t lane[AC_MAX_LANES];
    for (int32_t l = 0; l < q->lanes; l++)
        lane[l] = l;
    const ac_x step = ac_lb_constv(b, AC_I32, lane, q->lanes), none = ac_lb_like_int(b, step, NO_KEY);
    const ac_x taken = ac_lb_splat(b, ac_lb_get(b, q->taken), q->lanes);
    const ac_x best = ac_lb_var(b, "best", none), place = ac_lb_var(b, "place", ac_lb_like_int(b, step, 0));
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, q->room), q->lanes, AC_MARK_SERIAL);
    const ac_x at = ac_lb_add(b, ac_lb_splat(b, i, q->lanes), step);
    const ac_x key = ac_lb_select(b, ac_lb_eq(b, at, taken), none, ac_lb_load(b, q->buf, i, q->lanes));
    ac_lb_store(b, q->buf, i, key);
    const ac_x old = ac_lb_get(b, best);
    ac_lb_set(b, place, ac_lb_select(b, ac_lb_gt(b, key, old), at, ac_lb_get(b, place)));
    ac_lb_set(b, best, ac_lb_max(b, key, old));
    ac_lb_end(b);
    const ac_x most = ac_lb_get(b, best), first = ac_lb_eq(b, most, ac_lb_splat(b, ac_lb_maxlanes(b, most), q->lanes));
    const ac_x back = ac_lb_maxlanes(b, ac_lb_select(b, first, ac_lb_not(b, ac_lb_get(b, place)), none));
    const ac_x found = ac_lb_clamp(b, ac_lb_not(b, back), ac_lb_i32(b, 0), ac_lb_i32(b, q->w->n - 1)); /* for proofs */
    ac_lb_set(b, q->taken, found);
    return found;
}

/* True if rows are searched by vectors of keys. */
static bool keyed_of(ac_lower *L, const ac_walk *w, keyed *q)
{
    const ac_dtype d = L->b.fn->buf.item[w->x].dtype;
    *q = (keyed){.w = w, .lanes = ac_target_lanes(L->target, AC_I32)};
    if (L->target->firmware || q->lanes < 4 || w->n < q->lanes ||
        !(d == AC_F32 || (ac_dtype_is_int(d) && ac_dtype_bits(d) < 32)))
        return false;
    q->room = (w->n + q->lanes - 1) / q->lanes * q->lanes;
    q->buf = ac_lo_scratch(L, "keys", AC_I32, q->room);
    return true;
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
    ac_walk w = {.x = ac_lo_operand(L, x),
                 .n = width,
                 .rising = n->attrs.topk.smallest,
                 .keep_nan = n->attrs.topk.keep_nan && ac_mp_real(x)};
    keyed q;
    const bool by_keys = keyed_of(L, &w, &q), joined = !by_keys && w.keep_nan && x->dtype == AC_F32;
    const ac_x row = ac_lb_for_n(b, "row", ac_tensor_count(x) / width);
    w.base = ac_lb_mul(b, row, ac_lb_i32(b, width));
    if (by_keys) {
        fill_keys(L, &q);
        q.taken = ac_lb_var(b, "taken", ac_lb_i32(b, -1));
    } else if (joined) {
        w.value = ac_lb_var(b, "value", ac_lb_int(b, AC_U64, -1));
    } else {
        ac_walk_open(L, &w);
    }
    const ac_x j = ac_lb_for_n(b, "j", k);
    const ac_x at = by_keys ? next_of_keys(L, &q) : joined ? next_of_row(L, &w) : next_of_walk(L, &w);
    const ac_x to = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, k)), j);
    ac_lb_store(b, values, to, ac_lb_load(b, w.x, ac_lb_add(b, w.base, at), 1));
    ac_lb_store(b, indices, to, at);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

/* NON_MAX_SUPPRESSION_V4: boxes by falling score; those that overlap a selected box are skipped. The reference
 * (non_max_suppression.h) takes boxes of equal score in the order of a heap; here the smallest index comes first. */
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

/* NON_MAX_SUPPRESSION_V5: the score of a box is multiplied by exp(-overlap^2 / (2 sigma)) for each selected box that it
 * overlaps by less than the limit; boxes that overlap by more are skipped. A box whose score fell waits until it is the
 * best again; it is not compared again with boxes selected before its last turn. With a sigma of 0 scores stay (V4). As
 * the reference (non_max_suppression.h), except for the order of equal scores and the last place of exp. */
int ac_lo_soft_nms(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    const int64_t most = n->out[0]->dim[0], boxes = n->in[0]->dim[0];
    const int32_t picked = ac_lo_output_buf(L, 0), scores = ac_lo_output_buf(L, 1), number = ac_lo_output_buf(L, 2);
    const ac_x zero = ac_lb_i32(b, 0), none = ac_lb_f32(b, 0);
    ac_x i = ac_lb_for_n(b, "i", most);
    ac_lb_store(b, picked, i, zero);
    ac_lb_store(b, scores, i, none);
    ac_lb_end(b);
    if (most == 0 || boxes == 0) {
        ac_lb_store(b, number, zero, zero);
        return AC_OK;
    }
    if (boxes > INT32_MAX / (most + 1))
        return ac_lower_refuse(L, "%lld of %lld boxes: more than 2^31 turns", (long long)most, (long long)boxes);
    const int32_t box_buf = ac_lo_operand(L, n->in[0]), given = ac_lo_operand(L, n->in[1]);
    const int32_t live = ac_lo_scratch(L, "live", AC_F32, boxes), seen = ac_lo_scratch(L, "seen", AC_I32, boxes);
    const ac_x limit = ac_lo_load(L, n->in[3], NULL, 1), least = ac_lo_load(L, n->in[4], NULL, 1),
               sigma = ac_lo_load(L, n->in[5], NULL, 1), soft = ac_lb_gt(b, sigma, none);
    const ac_x scale = ac_lb_div(b, ac_lb_f32(b, -0.5), sigma), gone = ac_lb_f32(b, (double)-INFINITY);
    i = ac_lb_for_n(b, "i", boxes);
    ac_lb_store(b, live, i, ac_lb_load(b, given, i, 1));
    ac_lb_store(b, seen, i, zero);
    ac_lb_end(b);
    ac_walk w = {.x = live, .base = zero, .n = boxes, .least = least};
    ac_walk_open(L, &w);
    const ac_x count = ac_lb_var(b, "count", zero);
    ac_lb_for_n(b, "o", boxes * (most + 1));
    ac_lb_set(b, w.index, ac_lb_i32(b, -1)); /* the best of all that are left */
    ac_walk_next(L, &w);
    const ac_x candidate = ac_lb_get(b, w.index), taken = ac_lb_get(b, count);
    ac_lb_break_if(b, ac_lb_lt(b, candidate, zero));
    const ac_box p = ac_box_at(b, box_buf, candidate);
    const ac_x before = ac_lb_load(b, live, candidate, 1), score = ac_lb_var(b, "score", before);
    const ac_x keep = ac_lb_var(b, "keep", ac_lb_int(b, AC_BOOL, 1));
    const ac_x fresh = ac_lb_sub(b, taken, ac_lb_load(b, seen, candidate, 1)); /* boxes taken since its last turn */
    const ac_x k = ac_lb_for(b, "k", zero, fresh, 1, AC_MARK_SERIAL);
    const ac_x j = ac_lb_sub(b, ac_lb_sub(b, taken, ac_lb_i32(b, 1)), k);
    const ac_box q = ac_box_at(b, box_buf, ac_lb_load(b, picked, j, 1));
    const ac_x overlap = ac_box_overlap(b, &p, &q);
    ac_lb_set(b, keep, ac_lb_lt(b, overlap, limit));
    ac_lb_break_if(b, ac_lb_ge(b, overlap, limit));
    ac_lb_if(b, soft);
    const ac_x falls = ac_lo_exp(L, ac_lb_mul(b, ac_lb_mul(b, scale, overlap), overlap));
    ac_lb_set(b, score, ac_lb_mul(b, ac_lb_get(b, score), falls));
    ac_lb_end(b);
    ac_lb_break_if(b, ac_lb_le(b, ac_lb_get(b, score), least));
    ac_lb_end(b);
    ac_lb_store(b, seen, candidate, taken);
    const ac_x kept = ac_lb_get(b, keep), same = ac_lb_eq(b, ac_lb_get(b, score), before);
    ac_lb_store(b, live, candidate, ac_lb_select(b, kept, ac_lb_get(b, score), gone));
    ac_lb_if(b, ac_lb_and(b, kept, same));
    ac_lb_store(b, picked, taken, candidate);
    ac_lb_store(b, scores, taken, before);
    ac_lb_store(b, live, candidate, gone);
    ac_lb_set(b, count, ac_lb_add(b, taken, ac_lb_i32(b, 1)));
    ac_lb_end(b);
    ac_lb_break_if(b, ac_lb_ge(b, ac_lb_get(b, count), ac_lb_i32(b, most)));
    ac_lb_end(b);
    ac_lb_store(b, number, zero, ac_lb_get(b, count));
    return AC_OK;
}
