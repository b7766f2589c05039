/* probe.h - finds the element types and ranks that an operator accepts, by trying: nodes of one-element operands are
 * made for each type, and those that the shape rule and the lowering accept are what `arenac ops` prints. So the table
 * always agrees with the code. Omitted: operators with more than four operands, with state or subgraphs, and those that
 * require non-default attributes.
 *
 *     ac_op_types t = ac_op_probe(&cx->heap, AC_OP_ADD, target);     t.plain >> AC_F32 & 1
 *
 * Cost: at most some thousand nodes for an operator. Memory: a context of its own, freed again. */
#ifndef AC_IR_LOWER_NODE_PROBE_H
#define AC_IR_LOWER_NODE_PROBE_H
#include "ir/ops/op.h"
#include "ir/lower/target.h"

typedef struct ac_op_types {
    uint32_t plain, quantised; /* bit d: element type d of the first operand (of the one after an index or a
                                  condition), without and with a scale. 0: not tried */
    uint32_t weights;          /* bit d: second operand of type d with a scale, while the first is f32 */
    uint32_t ranks;            /* bit r: rank r of the first operand; 0: not known */
} ac_op_types;

/* heap: the caller's; it reports out of memory if an allocation fails here. */
ac_op_types ac_op_probe(ac_heap *heap, ac_op op, const ac_target *target);

#endif
