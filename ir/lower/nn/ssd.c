/* ssd.c - lowers the detection layer of SSD: decodes boxes around priors, selects them class by class, and merges the
 * classes.
 *
 *     locations [N, P*4] (or [N, P*C*4]: separate boxes for each class)   scores [N, P*C]   priors [1, 2, P*4]
 *  -> [1, 1, N*M, 7]: image, class, score, left, top, right, bottom; unused rows 0
 *
 * Priors are corners in the first half and variances in the second. For each class, the `top_k` highest scores above
 * `confidence` are visited in falling order; a box that overlaps a selected one by more than the threshold is skipped
 * (with eta < 1 the threshold shrinks while it is above 0.5). If more than `keep_top_k` boxes remain in all classes,
 * those with the highest scores stay. Rows are ordered by class, then by score; M is keep_top_k, or the maximum count.
 *
 * The reference is the DetectionOutput layer of SSD's Caffe, all f32; equal scores are ordered by index here, and
 * unordered there. The number of rows depends on data there; here the rest is filled with zeros. Boxes of a class are
 * decoded once, into scratch. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/nn/pick.h"
#include "ir/ops/decode/operand_names.h"

#include <float.h>

typedef struct ssd {
    ac_lower *L;
    const ac_attrs_ssd *a;
    int64_t priors, most; /* boxes in all; candidates of a class */
    int32_t x, s, p, y;   /* operands and result */
    int32_t box, score;   /* scratch: boxes of a class [P,4], its scores [P] */
    int32_t kept, kept_score, kept_class;
} ssd;

/* Left, top, right, bottom of box i from the four numbers at `at`. */
static void decode(const ssd *d, ac_x i, ac_x at, ac_x out[4])
{
    ac_lb *b = &d->L->b;
    const ac_x from = ac_lb_mul(b, i, ac_lb_i32(b, 4)), half = ac_lb_f32(b, 0.5);
    ac_x prior[4], v[4];
    for (int32_t k = 0; k < 4; k++) {
        prior[k] = ac_lb_load(b, d->p, ac_lb_add(b, from, ac_lb_i32(b, k)), 1);
        v[k] = ac_lb_load(b, d->x, ac_lb_add(b, at, ac_lb_i32(b, k)), 1);
        if (!d->a->variance_in_target)
            v[k] = ac_lb_mul(b, ac_lb_load(b, d->p, ac_lb_add(b, from, ac_lb_i32(b, d->priors * 4 + k)), 1), v[k]);
    }
    for (int32_t k = 0; k < 2; k++) {
        const ac_x size = ac_lb_sub(b, prior[k + 2], prior[k]);
        if (d->a->code_type == AC_SSD_CENTER_SIZE) {
            const ac_x mid = ac_lb_mul(b, ac_lb_add(b, prior[k], prior[k + 2]), half);
            const ac_x centre = ac_lb_add(b, ac_lb_mul(b, v[k], size), mid);
            const ac_x reach = ac_lb_mul(b, ac_lb_mul(b, ac_lo_exp(d->L, v[k + 2]), size), half);
            out[k] = ac_lb_sub(b, centre, reach);
            out[k + 2] = ac_lb_add(b, centre, reach);
            continue;
        }
        for (int32_t e = k; e < 4; e += 2)
            out[e] = ac_lb_add(b, prior[e], d->a->code_type == AC_SSD_CORNER ? v[e] : ac_lb_mul(b, v[e], size));
    }
}

/* All boxes of class c of image n into scratch. */
static void decode_all(const ssd *d, ac_x n, ac_x c)
{
    ac_lb *b = &d->L->b;
    const int64_t each = d->a->share_location ? 1 : d->a->num_classes;
    ac_x out[4];
    const ac_x i = ac_lb_for_n(b, "i", d->priors);
    const ac_x place =
        ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, d->priors)), i), ac_lb_i32(b, each)), c);
    decode(d, i, ac_lb_mul(b, place, ac_lb_i32(b, 4)), out);
    for (int32_t k = 0; k < 4; k++)
        ac_lb_store(b, d->box, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, 4)), ac_lb_i32(b, k)), out[k]);
    ac_lb_end(b);
}

static ac_box box_at(const ssd *d, ac_x i)
{
    ac_lb *b = &d->L->b;
    ac_x v[4];
    for (int32_t k = 0; k < 4; k++)
        v[k] = ac_lb_load(b, d->box, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, 4)), ac_lb_i32(b, k)), 1);
    return ac_box_ordered(b, v);
}

/* Appends the boxes of class c that no box of the class with a higher score overlaps, after the `count` already
 * selected. */
static void pick_class(const ssd *d, ac_x n, ac_x c, ac_x count)
{
    ac_lb *b = &d->L->b;
    const ac_x i = ac_lb_for_n(b, "i", d->priors);
    const ac_x row =
        ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, d->priors)), i), ac_lb_i32(b, d->a->num_classes));
    ac_lb_store(b, d->score, i, ac_lb_load(b, d->s, ac_lb_add(b, row, c), 1));
    ac_lb_end(b);
    const ac_x start = ac_lb_get(b, count), limit = ac_lb_var(b, "limit", ac_lb_f32(b, (double)d->a->nms_threshold));
    ac_walk w = {.x = d->score, .base = ac_lb_i32(b, 0), .n = d->priors};
    w.least = ac_lb_f32(b, (double)d->a->confidence);
    ac_walk_open(d->L, &w);
    ac_lb_for_n(b, "o", d->most);
    ac_walk_next(d->L, &w);
    const ac_x candidate = ac_lb_get(b, w.index);
    ac_lb_break_if(b, ac_lb_lt(b, candidate, ac_lb_i32(b, 0)));
    const ac_box p = box_at(d, candidate);
    const ac_x keep = ac_lb_var(b, "keep", ac_lb_int(b, AC_BOOL, 1));
    const ac_x k = ac_lb_for(b, "k", start, ac_lb_get(b, count), 1, AC_MARK_SERIAL);
    const ac_box q = box_at(d, ac_lb_load(b, d->kept, k, 1));
    ac_lb_set(b, keep, ac_lb_and(b, ac_lb_get(b, keep), ac_lb_le(b, ac_box_overlap(b, &p, &q), ac_lb_get(b, limit))));
    ac_lb_end(b);
    ac_lb_if(b, ac_lb_get(b, keep));
    const ac_x to = ac_lb_get(b, count);
    ac_lb_store(b, d->kept, to, candidate);
    ac_lb_store(b, d->kept_class, to, c);
    ac_lb_store(b, d->kept_score, to, ac_lb_get(b, w.value));
    ac_lb_set(b, count, ac_lb_add(b, to, ac_lb_i32(b, 1)));
    if (d->a->eta < 1) {
        const ac_x now = ac_lb_get(b, limit), less = ac_lb_mul(b, now, ac_lb_f32(b, (double)d->a->eta));
        ac_lb_set(b, limit, ac_lb_select(b, ac_lb_gt(b, now, ac_lb_f32(b, 0.5)), less, now));
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Writes the rows of image n after `rows`: all selected boxes, or the keep_top_k with the highest scores. */
static void write_rows(const ssd *d, ac_x n, ac_x count, ac_x rows, int64_t all)
{
    ac_lb *b = &d->L->b;
    const ac_x least = ac_lb_var(b, "least", ac_lb_f32(b, -(double)FLT_MAX)),
               last = ac_lb_var(b, "at", ac_lb_i32(b, all));
    const int64_t keep_top = d->a->keep_top_k;
    if (keep_top > 0 && keep_top < all) {
        ac_lb_if(b, ac_lb_gt(b, ac_lb_get(b, count), ac_lb_i32(b, keep_top)));
        ac_walk w = {.x = d->kept_score, .base = ac_lb_i32(b, 0), .n = all};
        const ac_x k = ac_lb_for(b, "k", ac_lb_get(b, count), ac_lb_i32(b, all), 1, AC_MARK_SERIAL);
        ac_lb_store(b, d->kept_score, k, ac_lb_f32(b, -(double)FLT_MAX)); /* after every score that was kept */
        ac_lb_end(b);
        ac_walk_open(d->L, &w);
        ac_lb_for_n(b, "o", keep_top);
        ac_walk_next(d->L, &w);
        ac_lb_end(b);
        ac_lb_set(b, least, ac_lb_get(b, w.value));
        ac_lb_set(b, last, ac_lb_get(b, w.index));
        ac_lb_end(b);
    }
    const ac_x k = ac_lb_for(b, "k", ac_lb_i32(b, 0), ac_lb_get(b, count), 1, AC_MARK_SERIAL);
    const ac_x score = ac_lb_load(b, d->kept_score, k, 1), bound = ac_lb_get(b, least);
    const ac_x tie = ac_lb_and(b, ac_lb_eq(b, score, bound), ac_lb_le(b, k, ac_lb_get(b, last)));
    ac_lb_if(b, ac_lb_or(b, ac_lb_gt(b, score, bound), tie));
    const ac_x to = ac_lb_mul(b, ac_lb_get(b, rows), ac_lb_i32(b, AC_SSD_ROW)),
               box = ac_lb_mul(b, ac_lb_load(b, d->kept, k, 1), ac_lb_i32(b, 4));
    ac_lb_store(b, d->y, to, ac_lb_cast(b, n, AC_F32));
    ac_lb_store(b, d->y, ac_lb_add(b, to, ac_lb_i32(b, 1)), ac_lb_cast(b, ac_lb_load(b, d->kept_class, k, 1), AC_F32));
    ac_lb_store(b, d->y, ac_lb_add(b, to, ac_lb_i32(b, 2)), score);
    if (d->a->share_location)
        for (int32_t e = 0; e < 4; e++)
            ac_lb_store(b, d->y, ac_lb_add(b, to, ac_lb_i32(b, 3 + e)),
                        ac_lb_load(b, d->box, ac_lb_add(b, box, ac_lb_i32(b, e)), 1));
    else { /* scratch holds the boxes of the last class only */
        ac_x out[4];
        const ac_x i = ac_lb_load(b, d->kept, k, 1);
        const ac_x place = ac_lb_add(
            b, ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, d->priors)), i), ac_lb_i32(b, d->a->num_classes)),
            ac_lb_load(b, d->kept_class, k, 1));
        decode(d, i, ac_lb_mul(b, place, ac_lb_i32(b, 4)), out);
        for (int32_t e = 0; e < 4; e++)
            ac_lb_store(b, d->y, ac_lb_add(b, to, ac_lb_i32(b, 3 + e)), out[e]);
    }
    ac_lb_set(b, rows, ac_lb_add(b, ac_lb_get(b, rows), ac_lb_i32(b, 1)));
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Class number k of those that are not the background. */
static ac_x class_of(const ssd *d, ac_x k)
{
    ac_lb *b = &d->L->b;
    const int64_t background = d->a->background;
    if (background < 0 || background >= d->a->num_classes)
        return k;
    const ac_x next = ac_lb_add(b, k, ac_lb_i32(b, 1));
    return background ? ac_lb_select(b, ac_lb_lt(b, k, ac_lb_i32(b, background)), k, next) : next;
}

int ac_lo_ssd(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ssd d = {.L = L, .a = &n->attrs.ssd, .priors = n->in[AC_SSD_PRIORS]->dim[2] / 4, .most = ac_ssd_candidates(n)};
    const bool background = d.a->background >= 0 && d.a->background < d.a->num_classes;
    const int64_t all = d.most * (d.a->num_classes - background), images = n->in[AC_SSD_LOCATIONS]->dim[0];
    d.y = ac_lo_output_buf(L, 0);
    const ac_x clear = ac_lb_for_n(b, "i", ac_tensor_count(n->out[0]));
    ac_lb_store(b, d.y, clear, ac_lb_f32(b, 0));
    ac_lb_end(b);
    if (!ac_tensor_count(n->out[0]) || !all)
        return AC_OK;
    d.x = ac_lo_operand(L, n->in[AC_SSD_LOCATIONS]);
    d.s = ac_lo_operand(L, n->in[AC_SSD_SCORES]);
    d.p = ac_lo_operand(L, n->in[AC_SSD_PRIORS]);
    d.box = ac_lo_scratch(L, "boxes", AC_F32, d.priors * 4);
    d.score = ac_lo_scratch(L, "scores", AC_F32, d.priors);
    d.kept = ac_lo_scratch(L, "kept", AC_I32, all);
    d.kept_class = ac_lo_scratch(L, "classes", AC_I32, all);
    d.kept_score = ac_lo_scratch(L, "best", AC_F32, all);
    const ac_x none = ac_lb_for_n(b, "i", all); /* every element that is read has been written before */
    ac_lb_store(b, d.kept, none, ac_lb_i32(b, 0));
    ac_lb_store(b, d.kept_class, none, ac_lb_i32(b, 0));
    ac_lb_store(b, d.kept_score, none, ac_lb_f32(b, 0));
    ac_lb_end(b);
    const ac_x rows = ac_lb_var(b, "rows", ac_lb_i32(b, 0)), image = ac_lb_for_n(b, "n", images);
    const ac_x count = ac_lb_var(b, "count", ac_lb_i32(b, 0));
    if (d.a->share_location)
        decode_all(&d, image, ac_lb_i32(b, 0));
    const ac_x c = class_of(&d, ac_lb_for_n(b, "c", d.a->num_classes - background));
    if (!d.a->share_location)
        decode_all(&d, image, c);
    pick_class(&d, image, c, count);
    ac_lb_end(b);
    write_rows(&d, image, count, rows, all);
    ac_lb_end(b);
    return AC_OK;
}
