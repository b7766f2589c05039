/* passes.h - the passes by name, and what more than one of them needs. What each pass needs and guarantees is above
 * it in its file. Included by ir/pass/ only. */
#ifndef AC_IR_PASS_PASSES_H
#define AC_IR_PASS_PASSES_H
#include "ir/pass/pass.h"

#define PASS(name, reference, inside, what) ac_pass_fn ac_pass_##name;
#include "ir/pass/passes.def"
#undef PASS

/* fold.c: when all operands of n are constants, its results become constants and n is erased (sweep later). A lazy
 * result is computed when its data is first needed. false: nothing changed (an operand is not constant, the result
 * would be far larger than what it is made of, or the graph promises nothing for these types - reported when the
 * graph is lowered). */
bool ac_fold_node(const ac_graph *g, ac_node *n);

#endif
