/* phased.h - the plan of a model for several threads: its steps in phases, and lives that know them.
 *
 *     AC_TRY(ac_plan_phases(cx, &how, &plan));      plan->slot[s]: phase and thread of step s; NULL: sequential
 *
 * Phases are used while the arena grows by at most AC_PHASE_GROWTH percent, or stays within the budget if there is one.
 * Steps of one thread are whole; those of all threads are cut. Memory: see planned.h. Errors: E0701. */
#ifndef AC_PLANNER_GRAPH_PHASED_H
#define AC_PLANNER_GRAPH_PHASED_H
#include "planner/graph/planned.h"

enum { AC_PHASE_GROWTH = 15 };

/* *plan, or another one with phases, made from it. */
int ac_plan_phases(ac_ctx *cx, const ac_plan_how *how, ac_planned **plan);

/* Estimates the gain of `threads` threads with the same steps in the same memory; plans nothing. */
ac_phases_found ac_phases_simulate(ac_ctx *cx, const ac_plan_how *how, const ac_planned *p, int32_t threads);

/* at_once.c: a plan with slots. E0701 where steps that run at once would disturb each other. */
int ac_phases_check(ac_ctx *cx, const char *file, const ac_planned *p);

#endif
