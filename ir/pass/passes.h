/* passes.h - the functions of passes.def, for its runner and for the files that define them, and what several passes
 * use. Included by ir/pass/ and its folders only. */
#ifndef AC_IR_PASS_PASSES_H
#define AC_IR_PASS_PASSES_H
#include "ir/pass/pass.h"

#define PASS(name) ac_pass_fn ac_pass_##name;
#define ON_REQUEST PASS
#define BY_CALLER(name)
#include "ir/pass/passes_ids.def"
#undef PASS
#undef ON_REQUEST
#undef BY_CALLER

/* fold.c: if all operands of n are constants, its results become constants and n is erased (sweep later). A lazy
 * result is computed when its data is first needed. false: nothing changed (an operand is not constant, the result
 * would be far larger than its operands, or the graph promises nothing for these types - reported when the graph is
 * lowered). */
bool ac_fold_node(ac_graph *g, ac_node *n);
/* fold_moves.c: if n, a TRANSPOSE or a slice, moves a constant made of a smaller one by conversions, the smaller one is
 * moved: the result is a constant made of that. false: nothing changed. */
bool ac_fold_moved(ac_graph *g, ac_node *n);
/* fold_plain.c: ac_fold_node and ac_fold_new without that. */
bool ac_fold_plain(ac_graph *g, ac_node *n);
ac_tensor *ac_fold_plain_new(ac_graph *g, ac_tensor *y);
/* y, the result of a new node, as a constant. NULL: it cannot be one, and the node is erased. */
ac_tensor *ac_fold_new(ac_graph *g, ac_tensor *y);
/* halves.c: true if n moves or stores elements in any type: results have the type of the operands. */
bool ac_moves_values(const ac_node *n);

#endif
