/* box_symbols.c - boxes and operators that select by value: MultiBoxPrior, MultiBoxDetection, box_nms, box_iou, topk,
 * sort, argsort, pick. */
#include "import/mxnet/symbols.h"
#include "ir/ops/shape/resolve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"
#define SHAPE(t) ac_shape_str(n->r->cx, t)

/* Boxes round each position of an image: sizes with the first ratio, then the first size with the other ratios. */
int ac_mx_do_multibox_prior(ac_mx_node *n)
{
    const ac_tensor *x = n->in[0];
    double size[64] = {1}, ratio[64] = {1}, step[2] = {-1, -1}, offset[2] = {0.5, 0.5};
    int32_t n_size = ac_attr_floats_to(&n->attrs, A_sizes, size),
            n_ratio = ac_attr_floats_to(&n->attrs, A_ratios, ratio);
    ac_attr_floats_to(&n->attrs, A_steps, step);
    ac_attr_floats_to(&n->attrs, A_offsets, offset);
    const bool clip = ac_attr_bool(&n->attrs, A_clip);
    n_size += !n_size;
    n_ratio += !n_ratio;
    if (x->rank != 4 || x->dim[2] < 1 || x->dim[3] < 1)
        return ac_bad(&n->b, "'%s' is %s, expected [N,C,H,W]", x->name, SHAPE(x));
    const int64_t each = n_size + n_ratio - 1, h = x->dim[2], w = x->dim[3];
    if (h * w > (1 << 22) / each)
        return ac_cannot(&n->b, "it makes more than %d boxes", 1 << 22);
    for (int32_t i = 1; i < n_ratio; i++)
        if (ratio[i] <= 0)
            return ac_bad(&n->b, "ratio %g is not positive", ratio[i]);
    float *v = AC_NEW_N(n->r->cx->region, float, h *w *each * 4 + 1), *to = v;
    const float sy = step[0] > 0 ? (float)step[0] : 1 / (float)h, sx = step[1] > 0 ? (float)step[1] : 1 / (float)w;
    for (int64_t y = 0; y < h; y++)
        for (int64_t k = 0; k < w * each; k++) {
            const int64_t i = k % each;
            const float cy = ((float)y + (float)offset[0]) * sy, cx = ((float)(k / each) + (float)offset[1]) * sx;
            const float s = (float)size[i < n_size ? i : 0], r = sqrtf((float)ratio[i < n_size ? 0 : i - n_size + 1]);
            const float half_w = s * (float)h / (float)w * r / 2, half_h = s / r / 2;
            const float corner[4] = {cx - half_w, cy - half_h, cx + half_w, cy + half_h};
            for (int32_t c = 0; c < 4; c++)
                *to++ = clip ? fminf(fmaxf(corner[c], 0), 1) : corner[c];
        }
    return ac_mx_result(n, 0, ac_make_floats(&n->b, 3, (int64_t[]){1, h * w * each, 4}, v));
}

/* Columns from..from+count-1 of the last dimension. */
static ac_tensor *columns(ac_mx_node *n, ac_tensor *x, int64_t from, int64_t count)
{
    return x ? ac_make_slice(&n->b, x, x->rank - 1, from, count) : NULL;
}

static ac_tensor *box_nms(ac_mx_node *n, ac_tensor *x, const ac_attrs_box_nms *how)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_BOX_NMS, &a);
    a.box_nms = *how;
    return ac_make_op(&n->b, AC_OP_BOX_NMS, &x, 1, &a, AC_NONE);
}

/* Boxes of the other format; rows of -1 stay as they are, and with them all whose first number is negative. */
static ac_tensor *reformat(ac_mx_node *n, ac_tensor *x, int32_t at, bool centre)
{
    ac_tensor *first = columns(n, x, at, 2), *second = columns(n, x, at + 2, 2), *part[4], *box[2];
    ac_tensor *zero = F32(0), *skip = LESS(columns(n, x, at, 1), zero), *half = F32(0.5);
    const int64_t width = x->dim[x->rank - 1];
    int32_t m = 0;
    box[0] = centre ? MUL(ADD(first, second), half) : SUB(first, MUL(second, half));
    box[1] = centre ? SUB(second, first) : ADD(first, MUL(second, half));
    if (at)
        part[m++] = columns(n, x, 0, at);
    part[m++] = WHERE(skip, first, box[0]);
    part[m++] = WHERE(skip, second, box[1]);
    if (at + 4 < width)
        part[m++] = columns(n, x, at + 4, width - at - 4);
    for (int32_t i = 0; i < m; i++)
        if (!part[i])
            return NULL;
    return ac_make_concat(&n->b, part, m, x->rank - 1);
}

int ac_mx_do_box_nms(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_attrs_box_nms a = {.stay = false};
    const double overlap = ac_attr_float(&n->attrs, A_overlap_thresh), valid = ac_attr_float(&n->attrs, A_valid_thresh);
    const int64_t top = ac_attr_int(&n->attrs, A_topk), coord = ac_attr_int(&n->attrs, A_coord_start);
    const int64_t score = ac_attr_int(&n->attrs, A_score_index), id = ac_attr_int(&n->attrs, A_id_index);
    const int64_t background = ac_attr_int(&n->attrs, A_background_id);
    a.force = ac_attr_bool(&n->attrs, A_force_suppress);
    const bool in_centre = ac_attr_word(&n->attrs, A_in_format), out_centre = ac_attr_word(&n->attrs, A_out_format);
    if (x->rank < 2 || x->dim[x->rank - 1] < 5)
        return ac_bad(&n->b, "'%s' is %s, expected rows of a score and a box", x->name, SHAPE(x));
    if (top == 0 || !ac_tensor_count(x))
        return ac_mx_result(n, 0, x);
    a.overlap = (float)overlap;
    a.valid = (float)valid;
    a.top_k = top < 0 ? -1 : (int32_t)top;
    a.coord = (int32_t)coord;
    a.score = (int32_t)score;
    a.id = id < 0 ? -1 : (int32_t)id;
    a.background = background < 0 ? -1 : (int32_t)background;
    a.centre = in_centre;
    const int64_t rows = x->dim[x->rank - 2], width = x->dim[x->rank - 1];
    ac_tensor *y =
        box_nms(n, ac_make_reshape(&n->b, x, 3, (int64_t[]){ac_tensor_count(x) / (rows * width), rows, width}), &a);
    if (y && in_centre != out_centre)
        y = reformat(n, y, a.coord, out_centre);
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, y, x->rank, x->dim));
}

/* Scores [B,C,N], where class 0 is the background; offsets [B,N*4]; boxes [1,N,4] -> [B,N,6]: class, score, corners.
 */
int ac_mx_do_multibox_detection(ac_mx_node *n)
{
    ac_tensor *score = n->in[0], *move = n->in[1], *box = n->in[2];
    double threshold, overlap, v[4] = {0.1, 0.1, 0.2, 0.2};
    ac_attrs_box_nms a = {.coord = 2, .score = 1, .id = 0, .background = -1, .stay = true};
    const bool clip = ac_attr_bool(&n->attrs, A_detection_clip);
    threshold = ac_attr_float(&n->attrs, A_threshold);
    const int64_t background = ac_attr_int(&n->attrs, A_detection_background_id);
    overlap = ac_attr_float(&n->attrs, A_nms_threshold);
    a.force = ac_attr_bool(&n->attrs, A_force_suppress);
    const int32_t count = ac_attr_floats_to(&n->attrs, A_variances, v);
    const int64_t top = ac_attr_int(&n->attrs, A_nms_topk);
    if (score->rank != 3 || score->dim[1] < 2 || box->rank != 3 || box->dim[0] != 1 || box->dim[2] != 4 ||
        box->dim[1] != score->dim[2] || move->rank != 2 || move->dim[0] != score->dim[0] ||
        move->dim[1] != 4 * box->dim[1] || (count && count != 4))
        return ac_bad(&n->b, "scores %s, moves %s and boxes %s do not go together", SHAPE(score), SHAPE(move),
                      SHAPE(box));
    if (background != 0 || !(overlap > 0 && overlap <= 1))
        return ac_cannot(&n->b, "its background is class %lld, or boxes are not picked", (long long)background);
    a.top_k = top > 0 ? (int32_t)top : -1;
    a.overlap = (float)overlap;
    const int64_t b = score->dim[0], rows = box->dim[1];
    score = ac_make_transpose(&n->b, ac_make_slice(&n->b, score, 1, 1, score->dim[1] - 1), (const int32_t[]){0, 2, 1});
    ac_attrs arg;
    ac_attrs_init(AC_OP_ARG_MAX, &arg);
    arg.arg.out_type = AC_I32;
    ac_tensor *in[] = {score, ac_make_number(&n->b, AC_I32, 2)};
    ac_tensor *class =
        score ? ac_make_cast(&n->b, ac_make_op(&n->b, AC_OP_ARG_MAX, in, 2, &arg, AC_I32), AC_F32) : NULL;
    class = ac_make_reshape(&n->b, class, 3, (int64_t[]){b, rows, 1});
    ac_tensor *best = ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, score, 4, true);
    ac_tensor *known = GREATER(best, F32(-1));
    ac_tensor *counts = OP2(LOGICAL_AND, OP2(GREATER_EQUAL, best, F32(threshold)), known);
    class = WHERE(counts, class, F32(-1));
    ac_tensor *from = columns(n, box, 0, 2), *size = SUB(columns(n, box, 2, 2), from);
    ac_tensor *two = F32(2), *middle = DIV(ADD(from, columns(n, box, 2, 2)), two);
    move = ac_make_reshape(&n->b, move, 3, (int64_t[]){b, rows, 4});
    const int64_t pair = 2;
    const float vc[2] = {(float)v[0], (float)v[1]}, vs[2] = {(float)v[2], (float)v[3]};
    ac_tensor *centre = ac_make_floats(&n->b, 1, &pair, vc);
    ac_tensor *at = ADD(MUL(MUL(columns(n, move, 0, 2), centre), size), middle);
    two = F32(2);
    ac_tensor *growth = ac_make_floats(&n->b, 1, &pair, vs);
    ac_tensor *reach = DIV(MUL(EXP(MUL(columns(n, move, 2, 2), growth)), size), two);
    ac_tensor *part[] = {class, best, SUB(at, reach), ADD(at, reach)};
    for (int32_t i = 2; i < 4 && clip; i++) {
        ac_tensor *least = F32(0);
        part[i] = MAX(MIN(part[i], F32(1)), least);
    }
    return ac_mx_result(n, 0, box_nms(n, ac_make_concat(&n->b, part, 4, 2), &a));
}

/* Boxes [..,4] and [..,4]: their shared area over that of both together, each of the one with each of the other. */
int ac_mx_do_box_iou(ac_mx_node *n)
{
    ac_tensor *low[2], *high[2], *area[2], *size[2];
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    const bool centre = ac_attr_word(&n->attrs, A_format);
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *x = n->in[i];
        if (x->rank < 2 || x->dim[x->rank - 1] != 4 || rank + x->rank - 1 > AC_MAX_RANK)
            return ac_bad(&n->b, "'%s' is %s, expected boxes of four numbers", x->name, SHAPE(x));
        for (int32_t d = 0; d + 1 < x->rank; d++)
            dim[rank++] = x->dim[d];
        const int64_t count = ac_tensor_count(x) / 4;
        x = ac_make_reshape(&n->b, x, 3, (int64_t[]){i ? 1 : count, i ? count : 1, 4});
        ac_tensor *p = columns(n, x, 0, 2), *q = columns(n, x, 2, 2), *half = MUL(q, F32(0.5));
        low[i] = centre ? SUB(p, half) : p;
        high[i] = centre ? ADD(p, half) : q;
        size[i] = centre ? q : SUB(q, p);
        ac_tensor *zero = F32(0);
        ac_tensor *none = LESS(ac_make_reduce(&n->b, AC_OP_REDUCE_MIN, size[i], 4, false), zero);
        ac_tensor *product = ac_make_reduce(&n->b, AC_OP_REDUCE_PROD, size[i], 4, false);
        area[i] = WHERE(none, F32(0), product);
    }
    ac_tensor *begin = MAX(low[0], low[1]), *side = SUB(MIN(high[0], high[1]), begin);
    ac_tensor *both = ac_make_reduce(&n->b, AC_OP_REDUCE_PROD, MAX(side, F32(0)), 4, false);
    ac_tensor *ratio = DIV(both, SUB(ADD(area[0], area[1]), both));
    ac_tensor *apart = OP2(LESS_EQUAL, both, F32(0));
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, WHERE(apart, F32(0), ratio), rank, dim));
}

/* The k largest or smallest along an axis, in order: values and indices [..,k], with that axis last. */
static int take_best(ac_mx_node *n, ac_tensor *x, int32_t axis, int64_t k, bool least, ac_tensor *out[2])
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    ac_attrs a;
    ac_perm_axis_last(x->rank, axis, perm, back);
    ac_attrs_init(AC_OP_TOPK_V2, &a);
    a.topk.smallest = least;
    ac_tensor *in[] = {ac_make_transpose(&n->b, x, perm), ac_make_number(&n->b, AC_I32, (double)k)};
    ac_node *m = in[0] ? ac_make_node(&n->b, AC_OP_TOPK_V2, in, 2, &a, 2) : NULL;
    if (!m || ac_node_resolve(n->r->cx, n->r->g, m) != AC_OK)
        return AC_FAIL;
    for (int32_t i = 0; i < 2; i++)
        out[i] = ac_make_transpose(&n->b, m->out[i], back);
    return AC_OK;
}

/* Shared by topk, sort and argsort: the axis, and x flattened without one. */
static int sorted_axis(ac_mx_node *n, ac_tensor **x, int32_t *axis)
{
    const ac_js_node *given = ac_js_get(n->given, "axis");
    *axis = (*x)->rank - 1;
    if (given && !ac_attr_has(&n->attrs, A_axis)) { /* None */
        *x = ac_make_reshape(&n->b, *x, 1, (int64_t[]){ac_tensor_count(*x)});
        *axis = 0;
        return *x ? AC_OK : AC_FAIL;
    }
    return ac_attr_axis(&n->attrs, A_axis, (*x)->rank, axis);
}

int ac_mx_do_topk(ac_mx_node *n)
{
    ac_tensor *x = n->in[0], *out[2];
    const bool sort = !strcmp(n->type, "sort"), argsort = !strcmp(n->type, "argsort");
    const char *what = sort ? "value" : argsort ? "indices" : ac_attr_text(&n->attrs, A_ret_typ);
    int32_t axis;
    int64_t k = 0;
    AC_TRY(sorted_axis(n, &x, &axis));
    if (!sort && !argsort)
        k = ac_attr_int(&n->attrs, A_k);
    const bool least = ac_attr_bool_or(&n->attrs, A_is_ascend, sort || argsort);
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_dtype);
    if (x->rank < 1 || k > x->dim[axis])
        return ac_bad(&n->b, "%" PRId64 " of '%s' %s", k, x->name, SHAPE(x));
    if (x->dtype != AC_F32 || !strcmp(what, "mask"))
        return ac_cannot(&n->b, "it makes a mask, or sorts %s", ac_dtype_name(x->dtype));
    AC_TRY(take_best(n, x, axis, k < 1 ? x->dim[axis] : k, least, out));
    out[1] = ac_make_cast(&n->b, out[1], type == AC_F16 ? AC_F32 : type);
    if (!strcmp(what, "both")) {
        n->n_out = 2;
        n->out = AC_NEW_N(n->r->cx->region, ac_tensor *, 2);
        AC_TRY(ac_mx_result(n, 1, out[1]));
        return ac_mx_result(n, 0, out[0]);
    }
    return ac_mx_result(n, 0, out[!strcmp(what, "indices")]);
}

/* The element of each row along an axis at the index in the second operand. */
int ac_mx_do_pick(ac_mx_node *n)
{
    ac_tensor *x = n->in[0], *i = n->in[1];
    const char *mode = ac_attr_text(&n->attrs, A_mode);
    int32_t axis, rank = 0;
    int64_t dim[AC_MAX_RANK], one[AC_MAX_RANK];
    bool keep, wrap = !strcmp(mode, "wrap");
    ac_attrs a;
    keep = ac_attr_bool(&n->attrs, A_keepdims);
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    if (!wrap && strcmp(mode, "clip") != 0)
        return ac_cannot(&n->b, "its mode is '%s'", mode);
    for (int32_t d = 0; d < x->rank; d++) {
        one[d] = d == axis ? 1 : x->dim[d];
        if (d != axis || keep)
            dim[rank++] = one[d];
    }
    if (!rank)
        dim[rank++] = 1;
    if (!x->dim[axis] || ac_tensor_count(i) != ac_tensor_count(x) / x->dim[axis])
        return ac_bad(&n->b, "'%s' %s does not have one index for each row of '%s' %s", i->name, SHAPE(i), x->name,
                      SHAPE(x));
    i = ac_make_reshape(&n->b, ac_make_cast(&n->b, i, AC_I32), x->rank, one);
    ac_tensor *size = ac_make_number(&n->b, AC_I32, (double)x->dim[axis]);
    if (wrap)
        i = OP2(FLOOR_MOD, i, size);
    else {
        ac_tensor *first = ac_make_number(&n->b, AC_I32, 0);
        i = MAX(MIN(i, ac_make_number(&n->b, AC_I32, (double)(x->dim[axis] - 1))), first);
    }
    ac_attrs_init(AC_OP_GATHER_ELEMENTS, &a);
    a.axis.axis = axis;
    ac_tensor *in[] = {x, i};
    return ac_mx_result(
        n, 0,
        ac_make_reshape(&n->b, i ? ac_make_op(&n->b, AC_OP_GATHER_ELEMENTS, in, 2, &a, AC_NONE) : NULL, rank, dim));
}
