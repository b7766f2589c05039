/* overlap.h - which results may start inside an operand that dies, and which way the loops then run.
 *
 *     ac_liveness *live = ac_live(...);
 *     ac_overlap_rules(cx, region, g, step, n_steps, opt, live);   adds pairs to live->problem, sets live->overlaps
 *     ac_solve_all(cx, &live->problem, &plan, ...);
 *     ac_overlap_turn(cx, planned);                                loops that the plan wants backward
 *
 * A pair is an item that dies in a step and an item born in it. Its distances come from the loops of the step (see
 * ir/loop/access/distance.h), forward for a result below its operand; where the loops can run backward, from these for
 * a result above it. A step has one direction, so backward is offered only where the step has a single pair and a
 * single result. Never for what must outlive the step: graph outputs, inputs to be preserved, state. Memory: the region
 * that is given. */
#ifndef AC_PLANNER_GRAPH_OVERLAP_H
#define AC_PLANNER_GRAPH_OVERLAP_H
#include "planner/graph/planned.h"

/* Of live->problem.pair with the same index */
typedef struct ac_overlap_rule {
    ac_step step;
    ac_bytes max_below, min_above; /* the limits of the loops as they are, forward */
    ac_loop_fn *backward;          /* NULL: forward is all there is */
    bool shares;                   /* in the plan that ac_overlap_turn saw */
} ac_overlap_rule;

typedef struct ac_overlaps {
    ac_overlap_rule *rule;
    int32_t n;
} ac_overlaps;

void ac_overlap_rules(ac_ctx *cx, ac_region *region, const ac_graph *g, ac_lowered *const *step, int32_t n_steps,
                      ac_live_options opt, ac_liveness *live);

/* The last touch to a plan: a step becomes a copy with backward loops where the offsets are right for these only; then
 * every pair that shares bytes is measured again on the steps as they are now (E0901). */
int ac_overlap_turn(ac_ctx *cx, ac_planned *p);

#endif
