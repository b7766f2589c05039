/* late_flow.h - builds loops and branches of TensorFlow, of functions (flow_defs.c) and of version 1 (frame_defs.c),
 * with import/build/flow/file_flow.h.
 *
 *     ac_tf_flow l = {.n = n, .find_kept = ..};
 *     const ac_tf_value *last = ac_tf_loop_run(&l, condition, body, count, first, &turns);       NULL: reported
 *
 * Values are arrays of ac_tf_value. A WHILE carries an array of tensors as one tensor (ac_tf_list.whole), as long as it
 * is before the loop; which element is read or written may then be data. */
#ifndef AC_IMPORT_TF_LATE_FLOW_H
#define AC_IMPORT_TF_LATE_FLOW_H
#include "import/build/flow/file_flow.h"
#include "import/tf/tf.h"

typedef struct ac_tf_flow {
    ac_flow flow;
    ac_tf_op *n; /* for names, places, messages */
    /* Sets flow.kept and flow.name, for a WHILE. AC_FAIL: reported */
    int (*find_kept)(struct ac_tf_flow *l);
    int32_t nodes;            /* of the graph when the WHILE began */
    const ac_tf_value *first; /* before the WHILE */
} ac_tf_flow;

/* condition, body: of ac_flow; both run the graph of the file on values of the graph that nodes go to. */
const ac_tf_value *ac_tf_loop_run(ac_tf_flow *l, int (*condition)(void *own, const void *now, ac_tensor **again),
                                  const void *(*body)(void *own, const void *now), int32_t count,
                                  const ac_tf_value *first, int64_t *turns);
/* A value as a tensor of the graph that nodes go to, an array as a whole; NULL: reported, or refused. */
ac_tensor *ac_tf_tensor_of(ac_tf_op *n, const ac_tf_value *v);
/* The condition as a bool, by TensorFlow's rule: a single number holds unless it is 0, an array if it has elements.
 * AC_FAIL: E0104 */
int ac_tf_condition(ac_tf_op *n, const ac_tf_value *v, ac_tensor **t);

/* The results of n, a branch; run, count: of ac_flow. NULL: reported, or refused. */
const ac_tf_value *ac_tf_branch_run(ac_tf_flow *l, const void *(*run)(void *own, int32_t which), int32_t count,
                                    ac_tensor *condition);

#endif
