/* scan.h - decodes SCAN: a subgraph that runs once for each element of its sequences.
 *
 *     last.., collected.. = scan(state.., sequence.., read..) first=SUBGRAPH states=S sequences=Q
 *
 *     operands   S states before the first step; Q sequences [T,..]; values that all steps read
 *     subgraph   takes the states, one element of each sequence (without dimension T), and values read; returns the
 *                states after the step, then elements to collect
 *     results    the states after the last step, then collected elements: [T,..]
 *
 * parts=P: P elements in a row go to one result, [T, the sum of their first dimensions, ..]. back=[..]: a number for
 * each sequence, then for each element that is collected; not 0: from step T - 1 to step 0. Omitted numbers are 0. */
#ifndef AC_IR_OPS_DECODE_SCAN_H
#define AC_IR_OPS_DECODE_SCAN_H
#include "ir/graph/graph.h"

enum { AC_SCAN_MOST = 1 << 12 }; /* elements that are collected in a step */

typedef struct ac_scan {
    int64_t steps;
    int32_t states, sequences;
    int32_t parts;
    int32_t elements; /* outputs of the subgraph after the states */
} ac_scan;

/* The numbers of the subgraphs of a node that runs some (OF_FLOW), to be read or changed. */
static inline int32_t ac_flow_numbers(ac_node *n, int32_t *to[2])
{
    to[0] = n->op == AC_OP_SCAN ? &n->attrs.scan.first : &n->attrs.flow.first;
    to[1] = n->op == AC_OP_SCAN ? NULL : &n->attrs.flow.second;
    return n->op == AC_OP_SCAN ? 1 : 2;
}

/* AC_FAIL: E0102 wrong number of operands or results, E0103 attribute out of range, E0104 sequences of other lengths or
 * of no step. Operands are known. */
int ac_scan_of(ac_ctx *cx, const ac_node *n, ac_scan *s);
/* True if sequence i, or element i - sequences that is collected, goes from the last step to the first. */
bool ac_scan_goes_back(const ac_node *n, int32_t i);
/* Of the `count` directions of n, in that numbering, `gone` from number `at` on are replaced by `come` new ones. The
 * list is in the region of cx. */
void ac_scan_splice_back(ac_ctx *cx, ac_node *n, int32_t count, int32_t at, int32_t gone, int32_t come, bool back);
/* In a sequence whose steps are `pitch` apart: how far the next step is; *first: where step 0 is. */
static inline int64_t ac_scan_pace(const ac_scan *s, bool back, int64_t pitch, int64_t *first)
{
    *first = back ? (s->steps - 1) * pitch : 0;
    return back ? -pitch : pitch;
}

#endif
