/* phases.h - a static schedule for threads, on plain data: turns dependencies and estimated times into phases of
 * concurrent steps (defined in planner/pack/slot.h).
 *
 *     const ac_phases_how how = {.work = work, .slowest = slowest, .threads = 2, .fork = 8000, .limit = bytes, ...};
 *     if (ac_phases_find(problem, &how, order, slot, heap)) ...      order and slot: of all steps
 *
 * Time is in instructions, as lowering estimates it; a step alone takes `work`, or `slowest` and a fork if it is cut
 * into chunks. A list scheduler makes one phase after the other. It fills the threads from the ready steps: the thread
 * that is free first gets the step with the longest path; a thread may continue with steps that its own steps enable.
 * The prefix of that list that saves most over sequential execution becomes the phase; if none saves anything, the next
 * step in the given order is a phase of its own. The list is made for several sizes: steps above it are done by all
 * threads, a chunk each.
 *
 * The bytes alive in a phase count against `limit`. Cost: O(n * ready steps * 10), n at most MOST in a phase. Source:
 * critical-path list scheduling (Graham 1969; Kwok and Ahmad 1999 compare its kin), with barriers. */
#ifndef AC_PLANNER_ORDER_PHASES_H
#define AC_PLANNER_ORDER_PHASES_H
#include "planner/order/order.h"
#include "planner/pack/slot.h"

/* By step of the problem */
typedef struct ac_phases_how {
    const double *work, *slowest; /* of the whole step and of its slowest chunk; equal: it is not cut */
    const bool *alone;            /* no step may run concurrently */
    const int32_t *part;          /* of the program; a phase is within one */
    int32_t threads;
    double fork;    /* time for starting and joining the threads */
    ac_bytes limit; /* most bytes alive in a phase of several steps */
} ac_phases_how;

typedef struct ac_phases_found {
    int32_t shared;            /* phases of several steps; 0: order is the given one */
    double one, before, after; /* time: by one thread, of steps in order in chunks, of the phases */
} ac_phases_found;

/* order[i]: the step that comes i-th; slot[i]: its slot. */
ac_phases_found ac_phases_find(const ac_order_problem *p, const ac_phases_how *how, int32_t *order, ac_slot *slot,
                               ac_heap *heap);

#endif
