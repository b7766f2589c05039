/* late_flow.h - branches and loops of which only data decides: real ones in the code. Their functions run once, on
 * tensors of a subgraph (import/build/flow/sub_graphs.h), and IF or WHILE takes what they left.
 *
 *     ac_tf_late_loop l = {.n = n, .count = carried, .now = now, .same = same, .own = own, .condition = .., ..};
 *     AC_TRY(ac_tf_late_loop_run(&l, out));
 *
 * An array of tensors that is carried round lies in memory as a whole (ac_tf_list.whole), as long as it is before the
 * loop; which element is read or written may then be data. */
#ifndef AC_IMPORT_TF_LATE_FLOW_H
#define AC_IMPORT_TF_LATE_FLOW_H
#include "import/tf/tf.h"

typedef struct ac_tf_late_loop {
    ac_tf_op *n; /* for names, places, messages */
    int32_t count;
    const ac_tf_value *now;    /* what the loop begins with */
    const bool *same;          /* by value: no iteration changes it */
    const char *const *result; /* NULL, or what --bound calls each value */
    void *own;
    /* Both run the graph of the file on arg[], values of the subgraph that nodes go to. */
    int (*condition)(void *own, const ac_tf_value *arg, ac_tf_value *again);
    int (*body)(void *own, const ac_tf_value *arg, ac_tf_value *next);
} ac_tf_late_loop;

/* out[]: what is there after the loop. AC_FAIL: reported, or refused. */
int ac_tf_late_loop_run(ac_tf_late_loop *l, ac_tf_value *out);
/* After `turns` iterations, unrolled into nodes `first` .. of the graph, data decides. true: the loop can begin with
 * the values that it had before them, and these nodes are gone. */
bool ac_tf_late_begin(ac_tf_op *n, int32_t turns, int32_t count, const ac_tf_value *before, const ac_tf_value *now,
                      int32_t first);

/* A branch: runs its part of the file into ret[0 .. n_out). */
typedef int ac_tf_branch(void *own, int32_t which, ac_tf_value *ret);
/* Branch 0 where cond holds, else branch 1; out[]: n_out values. AC_FAIL: reported, or refused. */
int ac_tf_late_branch(ac_tf_op *n, ac_tensor *cond, ac_tf_branch *run, void *own, int32_t n_out, ac_tf_value *out);

#endif
