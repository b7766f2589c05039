/* list_values.h - the elements of an array of tensors (ac_tf_list of tf.h): a write, or another length, is a new list
 * on top of the one before.
 *
 *     ac_tf_list *l = ac_tf_list_new(n, AC_F32, 3);
 *     const ac_tf_list *m = ac_tf_list_written(n, l, 0, t);       l is as it was
 *     ac_tensor *all = ac_tf_list_stack_all(n, m);                elements that nothing wrote are 0
 *
 * Cost: a read looks through the writes after it. Memory: the context's region. NULL: a diagnostic was given. */
#ifndef AC_IMPORT_TF_LIST_VALUES_H
#define AC_IMPORT_TF_LIST_VALUES_H
#include "import/tf/tf.h"

enum { AC_TF_LIST_MOST = 1 << 20 }; /* elements of an array */

ac_tf_list *ac_tf_list_new(ac_tf_op *n, ac_dtype dtype, int64_t count);
const ac_tf_list *ac_tf_list_written(ac_tf_op *n, const ac_tf_list *base, int64_t at, ac_tensor *item);
const ac_tf_list *ac_tf_list_resized(ac_tf_op *n, const ac_tf_list *base, int64_t count);
/* As l, with t for all of its elements: as many as t has along dimension 0, counted where t is. */
const ac_tf_list *ac_tf_list_of(ac_tf_op *n, const ac_tf_list *l, ac_tensor *t);
/* The parts of `whole` along dimension 0 become elements index[0 .. count). */
const ac_tf_list *ac_tf_list_scattered(ac_tf_op *n, const ac_tf_list *l, ac_tensor *whole, const ac_ints *index);

/* Dimensions of the elements: as declared, or as of any one that is written; false: unknown. */
bool ac_tf_list_element_shape(const ac_tf_list *l, int32_t *rank, int64_t dim[AC_MAX_RANK]);
ac_tensor *ac_tf_list_get(ac_tf_op *n, const ac_tf_list *l, int64_t i);
/* Elements index[0 .. count), or all, along a new dimension 0. */
ac_tensor *ac_tf_list_stack(ac_tf_op *n, const ac_tf_list *l, const int64_t *index, int64_t count);
ac_tensor *ac_tf_list_stack_all(ac_tf_op *n, const ac_tf_list *l);

/* The same for element `at`, computed at run time. */
ac_tensor *ac_tf_list_get_late(ac_tf_op *n, const ac_tf_list *l, ac_tensor *at);
const ac_tf_list *ac_tf_list_written_late(ac_tf_op *n, const ac_tf_list *l, ac_tensor *at, ac_tensor *item);
/* The parts of `whole` become elements `index`, of an array that nothing was written to. */
const ac_tf_list *ac_tf_list_scattered_late(ac_tf_op *n, const ac_tf_list *l, ac_tensor *whole, ac_tensor *index);
/* One more at the end, and one less. */
const ac_tf_list *ac_tf_list_pushed(ac_tf_op *n, const ac_tf_list *l, ac_tensor *item);
const ac_tf_list *ac_tf_list_popped(ac_tf_op *n, const ac_tf_list *l, ac_tensor **item);
/* How many elements there are. */
ac_tensor *ac_tf_list_length(ac_tf_op *n, const ac_tf_list *l, ac_dtype type);

#endif
