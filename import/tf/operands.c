/* operands.c - operands and results of TensorFlow operators, for their adapters. */
#include "import/tf/tf.h"

ac_tensor *ac_tf_in(const ac_tf_op *n, int32_t i)
{
    return i < n->n_in ? n->t[i] : NULL;
}

int ac_tf_axes(ac_tf_op *n, int32_t i, int32_t rank, uint32_t *mask)
{
    ac_ints list;
    *mask = 0;
    AC_TRY(ac_operand_values(&n->b, &n->t[i], &list));
    for (int32_t k = 0; k < list.n; k++) {
        int32_t axis;
        AC_TRY(ac_operand_axis(&n->b, list.v[k], rank, &axis));
        *mask |= 1u << axis;
    }
    return AC_OK;
}

int ac_tf_result(ac_tf_op *n, int32_t i, ac_tensor *t)
{
    t = ac_operand_narrow(&n->b, t, n->half);
    if (!t)
        return AC_FAIL;
    if (i >= n->n_out)
        return AC_OK;
    if (t->id >= n->first && !t->input)
        t->name = i ? ac_internf(n->r->cx, "%s_%d", n->node->name, i) : n->node->name;
    n->out[i] = (ac_tf_value){.kind = AC_TF_TENSOR, .t = t};
    return AC_OK;
}

int ac_tf_all_results(ac_tf_op *n, ac_tf_kind kind)
{
    for (int32_t i = 0; i < n->n_out; i++)
        n->out[i] = (ac_tf_value){.kind = kind};
    return kind == AC_TF_BROKEN ? AC_FAIL : AC_OK;
}
