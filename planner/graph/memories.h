/* memories.h - pins and budgets of single memories become part of a packing problem.
 *
 * A pin is about a tensor; the problem is about items, which several tensors may share (views, results in place): all
 * pins of an item have to agree. Errors E0503: no such tensor or memory, pins that contradict each other or the rules
 * of the problem. */
#ifndef AC_PLANNER_GRAPH_MEMORIES_H
#define AC_PLANNER_GRAPH_MEMORIES_H
#include "planner/graph/planned.h"

int ac_plan_pin_items(ac_ctx *cx, const ac_plan_how *how, ac_planned *plan);

#endif
