/* late_flow.h - builds loops and branches of TensorFlow, of functions (flow_defs.c) and of version 1 (frame_defs.c),
 * with import/build/flow/file_loop.h.
 *
 *     ac_tf_loop l = {.n = n, .find_kept = ..};
 *     const ac_tf_value *last = ac_tf_loop_run(&l, condition, body, count, first, &turns);       NULL: reported
 *
 * Values are arrays of ac_tf_value. A WHILE carries an array of tensors as one tensor (ac_tf_list.whole), as long as it
 * is before the loop; which element is read or written may then be data. */
#ifndef AC_IMPORT_TF_LATE_FLOW_H
#define AC_IMPORT_TF_LATE_FLOW_H
#include "import/build/flow/file_loop.h"
#include "import/tf/tf.h"

typedef struct ac_tf_loop {
    ac_loop loop;
    ac_tf_op *n; /* for names, places, messages */
    /* Sets loop.kept and loop.name, for a WHILE. AC_FAIL: reported */
    int (*find_kept)(struct ac_tf_loop *l);
    int32_t nodes;            /* of the graph when the WHILE began */
    const ac_tf_value *first; /* before the WHILE */
} ac_tf_loop;

/* condition, body: of ac_loop; both run the graph of the file on values of the graph that nodes go to. */
const ac_tf_value *ac_tf_loop_run(ac_tf_loop *l, int (*condition)(void *own, const void *now, ac_tensor **again),
                                  const void *(*body)(void *own, const void *now), int32_t count,
                                  const ac_tf_value *first, int64_t *turns);
/* The condition as one element of any type. AC_FAIL: E0104 */
int ac_tf_condition(ac_tf_op *n, const ac_tf_value *v, ac_tensor **t);

/* A branch: runs its part of the file into ret[0 .. n_out). */
typedef int ac_tf_branch(void *own, int32_t which, ac_tf_value *ret);
/* Branch 0 where cond holds, else branch 1; out[]: n_out values. AC_FAIL: reported, or refused. */
int ac_tf_late_branch(ac_tf_op *n, ac_tensor *cond, ac_tf_branch *run, void *own, int32_t n_out, ac_tf_value *out);

#endif
