/* counted_defs.c - operators of TensorFlow with results of dynamic size: Where, Unique,
 * NonMaxSuppression. Results have their maximum size and a count (import/build/counted.h). */
#include "import/build/bounds.h"
#include "import/build/compose_counted.h"
#include "import/build/counted.h"
#include "import/tf/nodedefs.h"

#include <math.h>
#include <string.h>

/* One row of indices for each element that is not 0: i64 [elements, rank]. */
int ac_tf_do_where(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *column[AC_MAX_RANK];
    if (x->rank < 1)
        return ac_cannot(&n->b, "its input '%s' is a scalar", x->name);
    AC_TRY(ac_make_non_zero(&n->b, x, column));
    const int64_t line[] = {ac_tensor_count(column[0]), 1};
    for (int32_t d = 0; d < x->rank; d++) {
        column[d] = ac_make_reshape(&n->b, column[d], 2, line);
        if (!column[d])
            return AC_FAIL;
    }
    return ac_tf_result(n, 0, ac_make_concat(&n->b, column, x->rank, 1));
}

/* Values in the order of their first places; where each element went; how often each is there. */
int ac_tf_do_unique(ac_tf_op *n)
{
    ac_tensor *out[4];
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_out_idx);
    ac_ints axes = {0};
    if (!strcmp(n->node->op, "UniqueV2") || !strcmp(n->node->op, "UniqueWithCountsV2"))
        AC_TRY(ac_operand_values(&n->b, &n->t[1], &axes));
    if (n->t[0]->rank != 1 || axes.n > 1 || (axes.n && axes.v[0] != 0 && axes.v[0] != -1) || type == AC_NONE)
        return ac_cannot(&n->b, "its input is %s; arenac reads lists", ac_tensor_str(n->r->cx, n->t[0]));
    AC_TRY(ac_make_unique(&n->b, n->t[0], false, out));
    AC_TRY(ac_tf_result(n, 0, out[0]));
    AC_TRY(ac_tf_result(n, 1, ac_make_cast(&n->b, out[2], type)));
    return ac_tf_result(n, 2, ac_make_cast(&n->b, out[3], type));
}

/* Boxes [N,4] by falling score: i32 [at most so many]. V5 lowers scores instead, unless its sigma is 0. */
int ac_tf_do_nms(ac_tf_op *n)
{
    ac_tensor *box = n->t[0], *score = n->t[1], *kept, *count;
    ac_nms_limits limit = {.overlap = ac_attr_float(&n->attrs, A_iou_threshold), .least = -(double)INFINITY};
    double most = 0, sigma = 0;
    const bool late = !ac_operand_known(&n->b, &n->t[2]);
    if (late && !n->r->reading->again)
        return ac_operand_late(&n->b, n->t[2]);
    if (!late)
        AC_TRY(ac_operand_scalar(&n->b, &n->t[2], &most));
    if (n->n_in > 3)
        AC_TRY(ac_operand_scalar(&n->b, &n->t[3], &limit.overlap));
    if (n->n_in > 4)
        AC_TRY(ac_operand_scalar(&n->b, &n->t[4], &limit.least));
    if (n->n_in > 5)
        AC_TRY(ac_operand_scalar(&n->b, &n->t[5], &sigma));
    if (sigma != 0)
        return ac_cannot(&n->b, "soft_nms_sigma is %g", sigma);
    if (ac_attr_bool(&n->attrs, A_pad_to_max_output_size) && n->n_in > 5)
        return ac_cannot(&n->b, "pad_to_max_output_size is true");
    if (box->rank != 2 || score->rank != 1 || score->dim[0] != box->dim[0])
        return ac_bad(&n->b, "expected boxes [N,4] and scores [N]");
    if (late) { /* results of the maximum size; the operand is their count */
        const int64_t may = ac_most_of(&n->b, n->t[2], 0);
        most = (double)(may < 0 ? box->dim[0] : may);
    }
    limit.most = most < 0 ? 0 : most < (double)box->dim[0] ? (int64_t)most : box->dim[0];
    box = ac_make_counted_fill(&n->b, box, 0);
    score = ac_make_counted_neutral(&n->b, score, AC_OP_REDUCE_MAX); /* not above any score */
    AC_TRY(box && score ? ac_make_nms(&n->b, box, score, &limit, &kept, &count) : AC_FAIL);
    if (late)
        count = ac_make_2(&n->b, AC_OP_MINIMUM, count, ac_bounded_count(&n->b, n->t[2], limit.most));
    if (!count)
        return AC_FAIL;
    AC_TRY(ac_tf_result(n, 0, ac_counted_as(kept, count, 0)));
    if (n->n_in < 6)
        return AC_OK;
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    ac_tensor *in[] = {score, kept};
    AC_TRY(ac_tf_result(n, 1, ac_make_op(&n->b, AC_OP_GATHER, in, 2, &a, AC_NONE)));
    return ac_tf_result(n, 2, ac_make_cast(&n->b, count, AC_I32));
}
