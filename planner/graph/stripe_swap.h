/* stripe_swap.h - followers on the other operand: another way to run a residual block.
 *
 *     before   m: t = conv(a)               n: y = conv(b), add t        t waits, y is made in the loops of n
 *     after    n: s = conv(b)               m: y = conv(a), add s        s waits
 *
 * Row by row it matters who waits: where b is many rows ahead of a (a shortcut past several convolutions), s is a row
 * and b would be a window of many. The search for stripes looks at both. The values are the same bits: the same
 * operators on the same operands. */
#ifndef AC_PLANNER_GRAPH_STRIPE_SWAP_H
#define AC_PLANNER_GRAPH_STRIPE_SWAP_H
#include "planner/graph/planned.h"

/* The steps with followers swapped wherever that can be done, in out (room for n_steps); returns how many swaps. */
int32_t ac_stripe_swap(ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from, ac_lowered **out);

#endif
