/* regions.h - branches of TensorFlow 1: nodes after a Switch run only if its condition sends them a value. A node that
 * reads such values gets their guard. At a Merge, where values of several guards meet, the nodes that each of them
 * needs become a branch of an IF:
 *
 *     before   Switch(x, c) -> conv -> Merge,  Switch(x, c) -> mul -> Merge
 *     after    if c { conv } else { mul }
 *
 * Results of one condition share an IF if no node between them depends on one of them.
 *
 * Cost: a pass over the nodes so far for each Merge whose condition is data. */
#ifndef AC_IMPORT_TF_REGIONS_H
#define AC_IMPORT_TF_REGIONS_H
#include "import/tf/tf.h"

/* Nodes `first` .. of the graph exist only under the guard. */
void ac_tf_guard_nodes(ac_tf *r, int32_t first, const ac_tf_guard *guard);
/* The first guard of the chain whose Switch is decided by `key`; NULL: none. */
const ac_tf_guard *ac_tf_guard_by(const ac_tf_guard *guard, const ac_tensor *key);
/* cond ? yes : no. Nodes that `key` guards, with branches of yes_mask or no_mask, move into the branch of the IF. NULL:
 * reported, or refused. */
ac_tensor *ac_tf_region_join(ac_tf_op *n, ac_tensor *cond, const ac_tensor *key, uint64_t yes_mask, ac_tensor *yes,
                             uint64_t no_mask, ac_tensor *no, const ac_tf_guard *outer);
/* Called once the outputs of the graph are known: completes its IFs, and erases nodes that went into branches. Guarded
 * nodes that are left run in both cases: AC_FAIL, refused, for those that must not. */
int ac_tf_regions_end(ac_tf *r);

#endif
