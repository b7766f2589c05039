/* detection.c - lowers TFLite_Detection_PostProcess: decodes the boxes of a single-shot detector and selects them by
 * score.
 *
 *     encodings [1,N,4+]  (y, x, height, width) relative to    anchors [N,4]  (y, x, height, width)
 *     scores    [1,N,C] or [1,N,C+1] with a background class in front
 *  -> boxes [1,M,4] (top, left, bottom, right), classes [1,M], scores [1,M], count [1]; all f32, unused elements 0
 *
 * The fast form with one class for each box: a box has the score of its best class; boxes are visited by falling score,
 * and those that overlap a selected box by more than the threshold are skipped. Operands are f32, or 8-bit with a
 * scale. Boxes are decoded when they are compared; scratch holds one score for each box. Centres are computed in f64,
 * sizes with the f32 exp (the reference: f64), so corners may differ in the last place. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/nn/pick.h"
#include "ir/ops/decode/operand_names.h"

/* The real number at `at` of operand k. */
static ac_x real(ac_lower *L, int32_t k, ac_x at)
{
    ac_lb *b = &L->b;
    ac_tensor *t = L->node->in[k];
    const ac_x v = ac_lb_load(b, ac_lo_operand(L, t), at, 1);
    if (t->dtype == AC_F32)
        return v;
    return ac_lb_mul(b, ac_lb_sub(b, ac_lb_cast(b, v, AC_F32), ac_lb_f32(b, ac_quant_zero(t))),
                     ac_lb_f32(b, (double)ac_quant_scale(t)));
}

/* The maximum score of box i and its class, the first of equal ones. */
static void best_class(ac_lower *L, ac_x i, ac_x *score, ac_x *class)
{
    ac_lb *b = &L->b;
    const int64_t width = L->node->in[AC_DETECTION_SCORES]->dim[2], classes = L->node->attrs.detection.num_classes;
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, width)), ac_lb_i32(b, width - classes));
    const ac_x best = ac_lb_var(b, "best", real(L, AC_DETECTION_SCORES, row)),
               which = ac_lb_var(b, "which", ac_lb_i32(b, 0));
    const ac_x c = ac_lb_for(b, "c", ac_lb_i32(b, 1), ac_lb_i32(b, classes), 1, AC_MARK_SERIAL);
    const ac_x v = real(L, AC_DETECTION_SCORES, ac_lb_add(b, row, c)), wins = ac_lb_gt(b, v, ac_lb_get(b, best));
    ac_lb_set(b, which, ac_lb_select(b, wins, c, ac_lb_get(b, which)));
    ac_lb_set(b, best, ac_lb_select(b, wins, v, ac_lb_get(b, best)));
    ac_lb_end(b);
    *score = ac_lb_get(b, best);
    *class = ac_lb_get(b, which);
}

/* Top, left, bottom, right of box i. */
static void decode(ac_lower *L, ac_x i, ac_x corner[4])
{
    ac_lb *b = &L->b;
    const ac_attrs_detection *a = &L->node->attrs.detection;
    const float centre_scale[2] = {a->y_scale, a->x_scale}, size_scale[2] = {a->h_scale, a->w_scale};
    const ac_x from = ac_lb_mul(b, i, ac_lb_i32(b, L->node->in[AC_DETECTION_ENCODINGS]->dim[2])),
               at = ac_lb_mul(b, i, ac_lb_i32(b, 4));
    for (int32_t d = 0; d < 2; d++) {
        const ac_x centre = ac_lb_cast(b, real(L, AC_DETECTION_ENCODINGS, ac_lb_add(b, from, ac_lb_i32(b, d))), AC_F64);
        const ac_x size =
            ac_lb_cast(b, real(L, AC_DETECTION_ENCODINGS, ac_lb_add(b, from, ac_lb_i32(b, d + 2))), AC_F64);
        const ac_x a_centre = ac_lb_cast(b, real(L, AC_DETECTION_ANCHORS, ac_lb_add(b, at, ac_lb_i32(b, d))), AC_F64);
        const ac_x a_size = ac_lb_cast(b, real(L, AC_DETECTION_ANCHORS, ac_lb_add(b, at, ac_lb_i32(b, d + 2))), AC_F64);
        const ac_x moved = ac_lb_mul(b, ac_lb_div(b, centre, ac_lb_num(b, AC_F64, (double)centre_scale[d])), a_size);
        const ac_x mid = ac_lb_cast(b, ac_lb_add(b, moved, a_centre), AC_F32);
        const ac_x power = ac_lb_cast(b, ac_lb_div(b, size, ac_lb_num(b, AC_F64, (double)size_scale[d])), AC_F32);
        const ac_x grown = ac_lb_mul(b, ac_lb_num(b, AC_F64, 0.5), ac_lb_cast(b, ac_lo_exp(L, power), AC_F64));
        const ac_x half = ac_lb_cast(b, ac_lb_mul(b, grown, a_size), AC_F32);
        corner[d] = ac_lb_sub(b, mid, half);
        corner[d + 2] = ac_lb_add(b, mid, half);
    }
}

static int check(ac_lower *L)
{
    const ac_attrs_detection *a = &L->node->attrs.detection;
    if (a->use_regular_nms || a->max_classes_per_detection != 1)
        return ac_lower_refuse(L, "only the fast form with one class for each box is supported");
    if (!(a->y_scale > 0 && a->x_scale > 0 && a->h_scale > 0 && a->w_scale > 0))
        return ac_lower_refuse(L, "the scales of boxes must be positive");
    for (int32_t i = 0; i < 3; i++) {
        const ac_tensor *t = L->node->in[i];
        const bool bytes = (t->dtype == AC_U8 || t->dtype == AC_I8) && t->quant && t->quant->n == 1;
        if (t->dtype != AC_F32 && !bytes)
            return ac_lower_refuse(L, "'%s' is %s; supported are f32, and u8 and i8 with one scale", t->name,
                                   ac_dtype_name(t->dtype));
    }
    return AC_OK;
}

static void clear(ac_lower *L, int32_t buf, int64_t n)
{
    const ac_x i = ac_lb_for_n(&L->b, "i", n);
    ac_lb_store(&L->b, buf, i, ac_lb_f32(&L->b, 0));
    ac_lb_end(&L->b);
}

int ac_lo_detection(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    const ac_attrs_detection *a = &n->attrs.detection;
    const int64_t boxes = n->in[AC_DETECTION_ENCODINGS]->dim[1], most = a->max_detections;
    AC_TRY(check(L));
    int32_t out[4];
    for (int32_t i = 0; i < 4; i++) {
        out[i] = ac_lo_output_buf(L, i);
        clear(L, out[i], ac_tensor_count(n->out[i]));
    }
    if (most == 0 || boxes == 0)
        return AC_OK;
    const ac_x zero = ac_lb_i32(b, 0);
    const int32_t scores = ac_lo_scratch(L, "scores", AC_F32, boxes);
    ac_x score, class, corner[4];
    const ac_x i = ac_lb_for_n(b, "i", boxes);
    best_class(L, i, &score, &class);
    ac_lb_store(b, scores, i, score);
    ac_lb_end(b);
    ac_walk w = {.x = scores, .base = zero, .n = boxes, .inclusive = true};
    w.least = ac_lb_f32(b, (double)a->nms_score_threshold);
    ac_walk_open(L, &w);
    const ac_x count = ac_lb_var(b, "count", zero);
    ac_lb_for_n(b, "o", boxes);
    ac_walk_next(L, &w);
    const ac_x candidate = ac_lb_get(b, w.index);
    ac_lb_break_if(b, ac_lb_lt(b, candidate, zero));
    decode(L, candidate, corner);
    const ac_box p = ac_box_of(b, corner);
    const ac_x keep = ac_lb_var(b, "keep", ac_lb_int(b, AC_BOOL, 1));
    const ac_x k = ac_lb_for(b, "k", zero, ac_lb_get(b, count), 1, AC_MARK_SERIAL);
    const ac_box q = ac_box_at(b, out[0], k);
    const ac_x limit = ac_lb_f32(b, (double)a->nms_iou_threshold);
    ac_lb_set(b, keep, ac_lb_and(b, ac_lb_get(b, keep), ac_lb_le(b, ac_box_overlap(b, &p, &q), limit)));
    ac_lb_end(b);
    ac_lb_if(b, ac_lb_get(b, keep));
    const ac_x to = ac_lb_get(b, count);
    for (int32_t d = 0; d < 4; d++)
        ac_lb_store(b, out[0], ac_lb_add(b, ac_lb_mul(b, to, ac_lb_i32(b, 4)), ac_lb_i32(b, d)), corner[d]);
    best_class(L, candidate, &score, &class);
    ac_lb_store(b, out[1], to, ac_lb_cast(b, class, AC_F32));
    ac_lb_store(b, out[2], to, score);
    ac_lb_set(b, count, ac_lb_add(b, to, ac_lb_i32(b, 1)));
    ac_lb_end(b);
    ac_lb_break_if(b, ac_lb_ge(b, ac_lb_get(b, count), ac_lb_i32(b, most)));
    ac_lb_end(b);
    ac_lb_store(b, out[3], zero, ac_lb_cast(b, ac_lb_get(b, count), AC_F32));
    return AC_OK;
}
