/* regions.h - branches of v1: what hangs on the results of a Switch runs only where its condition sends it. A node that
 * is made of such values keeps their guard; where values of several guards meet (Merge), the nodes that one of them
 * needs become a branch of an IF:
 *
 *     before   Switch(x, c) -> conv -> Merge,  Switch(x, c) -> mul -> Merge
 *     after    if c { conv } else { mul }
 *
 * Results of one condition share an IF where nothing between them depends on one of them.
 *
 * Cost: a pass over the nodes so far for each Merge whose condition is data. */
#ifndef AC_IMPORT_TF_REGIONS_H
#define AC_IMPORT_TF_REGIONS_H
#include "import/tf/tf.h"

/* Nodes `first` .. of the graph exist only under the guard. */
void ac_tf_guard_nodes(ac_tf *r, int32_t first, const ac_tf_guard *guard);
/* The guard of v, or of one that it depends on, that tells branches of `key` apart; NULL: none. */
const ac_tf_guard *ac_tf_guard_by(const ac_tf_guard *guard, const ac_tensor *key);
/* cond ? yes : no, of which each needs only what is guarded by `key` with branches in its mask. NULL: reported, or
 * refused. */
ac_tensor *ac_tf_region_join(ac_tf_op *n, ac_tensor *cond, const ac_tensor *key, uint64_t yes_mask, ac_tensor *yes,
                             uint64_t no_mask, ac_tensor *no, const ac_tf_guard *outer);
/* When the outputs of the graph that nodes go to are known: its IFs are complete, and what went into branches goes.
 * What is left may run whether its branch is taken or not: AC_FAIL, refused, if it must not. */
int ac_tf_regions_end(ac_tf *r);

#endif
