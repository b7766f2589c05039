/* slice_defs.c - Slice and StridedSlice of TensorFlow (import/build/compose_slices.h). */
#include "import/build/compose_slices.h"
#include "import/tf/nodedefs.h"

int ac_tf_do_slice(ac_tf_op *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_slice_of(&n->b, n->t, n->node->name, &y));
    return ac_tf_result(n, 0, y);
}

int ac_tf_do_strided_slice(ac_tf_op *n)
{
    /* Where an axis goes away, its begin counts, masked or not (in TFLite the mask counts). */
    const int64_t shrink = ac_attr_int(&n->attrs, A_shrink_axis_mask);
    const ac_strided_masks masks = {.begin = (int32_t)(ac_attr_int(&n->attrs, A_begin_mask) & ~shrink),
                                    .end = (int32_t)ac_attr_int(&n->attrs, A_end_mask),
                                    .ellipsis = (int32_t)ac_attr_int(&n->attrs, A_ellipsis_mask),
                                    .new_axis = (int32_t)ac_attr_int(&n->attrs, A_new_axis_mask),
                                    .shrink = (int32_t)shrink};
    ac_tensor *y;
    AC_TRY(ac_make_strided_of(&n->b, n->t, masks, n->node->name, &y));
    return ac_tf_result(n, 0, y);
}
