/* pick_rules.c - shape rules of operators that select elements or boxes by value: topk, and the last operators of
 * detectors. */
#include "ir/ops/decode/operand_names.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

static int one_value(ac_ctx *cx, const ac_node *n, int32_t i, ac_dtype d)
{
    const ac_tensor *t = ac_node_in(n, i);
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

/* boxes [N,4], scores [N], most (static), IoU and score thresholds -> indices [most] i32, scores [most] f32 (V5 only),
 * count i32. V5 has a sigma after the thresholds. */
int ac_sh_nms(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *box = n->in[0], *score = n->in[1];
    const int32_t last = n->n_out - 1;
    ac_ints most;
    AC_TRY(ac_node_ints(cx, n, 2, (ac_ints){0}, &most));
    for (int32_t i = 3; i < n->n_in; i++)
        AC_TRY(one_value(cx, n, i, AC_F32));
    if (box->dtype != AC_F32 || score->dtype != AC_F32 || box->rank != 2 || box->dim[1] != 4 || score->rank != 1 ||
        score->dim[0] != box->dim[0] || most.n != 1) {
        ac_error(cx, n->at, E0104, "expected f32 boxes [N,4], f32 scores [N] and one number of results");
        return ac_shape_show(cx, n);
    }
    if (most.v[0] < 0)
        return ac_error(cx, n->at, E0201, "the number of results is %lld", (long long)most.v[0]);
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_I32));
    AC_TRY(ac_shape_result_type(cx, n, last, AC_I32));
    AC_TRY(ac_shape_set(cx, n, 0, AC_I32, 1, most.v));
    if (last == 2) {
        AC_TRY(ac_shape_result_type(cx, n, 1, AC_F32));
        AC_TRY(ac_shape_set(cx, n, 1, AC_F32, 1, most.v));
    }
    return ac_shape_set(cx, n, last, AC_I32, 0, NULL);
}

int ac_sh_box_nms(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    const ac_attrs_box_nms *a = &n->attrs.box_nms;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 3, "[images,rows,columns]"));
    const ac_tensor *x = n->in[0];
    const int64_t k = x->dim[2];
    if (x->dtype != AC_F32)
        return ac_error(cx, n->at, E0105, "'%s' is %s, expected f32", x->name, ac_dtype_name(x->dtype));
    if (a->score < 0 || a->score >= k || a->coord < 0 || a->coord + INT64_C(4) > k || a->id < -1 || a->id >= k ||
        (a->stay && a->id < 0))
        return ac_error(cx, n->at, E0103, "columns %d, %d and %d to %d are not all in rows of %lld", a->score, a->id,
                        a->coord, a->coord + 3, (long long)k);
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    return ac_shape_set(cx, n, 0, AC_F32, 3, x->dim);
}

int ac_sh_detection(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, AC_DETECTION_ENCODINGS, 3, "[1,N,4]"));
    AC_TRY(ac_shape_rank(cx, n, AC_DETECTION_SCORES, 3, "[1,N,classes]"));
    AC_TRY(ac_shape_rank(cx, n, AC_DETECTION_ANCHORS, 2, "[N,4]"));
    const ac_attrs_detection *a = &n->attrs.detection;
    const ac_tensor *x = n->in[AC_DETECTION_ENCODINGS], *s = n->in[AC_DETECTION_SCORES],
                    *anchor = n->in[AC_DETECTION_ANCHORS];
    const int64_t background = s->dim[2] - a->num_classes;
    if (a->num_classes < 1 || a->max_detections < 0)
        return ac_error(cx, n->at, E0103, "%d classes and %d detections", a->num_classes, a->max_detections);
    if (x->dim[0] != 1 || s->dim[0] != 1 || s->dim[1] != x->dim[1] || anchor->dim[0] != x->dim[1] || x->dim[2] < 4 ||
        anchor->dim[1] != 4 || background < 0 || background > 1) {
        ac_error(cx, n->at, E0104,
                 "encodings [1,N,4], scores [1,N,%d] (or one more) and anchors [N,4] do not go together",
                 a->num_classes);
        return ac_shape_show(cx, n);
    }
    const int64_t most = a->max_detections;
    for (int32_t i = 0; i < 4; i++)
        AC_TRY(ac_shape_result_type(cx, n, i, AC_F32));
    AC_TRY(ac_shape_set(cx, n, 0, AC_F32, 3, (int64_t[]){1, most, 4}));
    AC_TRY(ac_shape_set(cx, n, 1, AC_F32, 2, (int64_t[]){1, most}));
    AC_TRY(ac_shape_set(cx, n, 2, AC_F32, 2, (int64_t[]){1, most}));
    return ac_shape_set(cx, n, 3, AC_F32, 1, (int64_t[]){1});
}

static int64_t most_rows(const ac_node *n)
{
    const ac_attrs_ssd *a = &n->attrs.ssd;
    const bool background = a->background >= 0 && a->background < a->num_classes;
    const int64_t all = ac_ssd_candidates(n) * (a->num_classes - background);
    return a->keep_top_k >= 0 ? a->keep_top_k : all;
}

int ac_sh_ssd(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    const ac_attrs_ssd *a = &n->attrs.ssd;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, AC_SSD_LOCATIONS, 2, "[N,boxes*4]"));
    AC_TRY(ac_shape_rank(cx, n, AC_SSD_SCORES, 2, "[N,boxes*classes]"));
    AC_TRY(ac_shape_rank(cx, n, AC_SSD_PRIORS, 3, "[1,2,boxes*4]"));
    const ac_tensor *x = n->in[AC_SSD_LOCATIONS], *s = n->in[AC_SSD_SCORES], *p = n->in[AC_SSD_PRIORS];
    const int64_t priors = p->dim[2] / 4;
    if (a->num_classes < 1 || a->num_classes > 1 << 16 || a->code_type < AC_SSD_CORNER ||
        a->code_type > AC_SSD_CORNER_SIZE)
        return ac_error(cx, n->at, E0103, "%d classes, boxes of code %d", a->num_classes, a->code_type);
    for (int32_t i = 0; i < 3; i++)
        if (n->in[i]->dtype != AC_F32)
            return ac_error(cx, n->at, E0105, "operand '%s' is %s, expected f32", n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype));
    if (p->dim[0] != 1 || p->dim[1] != 2 || p->dim[2] % 4 || x->dim[0] != s->dim[0] ||
        x->dim[1] != priors * 4 * (a->share_location ? 1 : a->num_classes) || s->dim[1] != priors * a->num_classes) {
        ac_error(cx, n->at, E0104, "locations, scores of %d classes and priors do not go together", a->num_classes);
        return ac_shape_show(cx, n);
    }
    int64_t rows;
    if (!ac_mul_ok(x->dim[0], most_rows(n), &rows) || rows > INT32_MAX / AC_SSD_ROW)
        return ac_error(cx, n->at, E0015, "more than %d rows of results", INT32_MAX / AC_SSD_ROW);
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    return ac_shape_set(cx, n, 0, AC_F32, 4, (int64_t[]){1, 1, rows, AC_SSD_ROW});
}
