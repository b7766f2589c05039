/* phases.h - a static schedule for threads, on plain data: from what must come before what, and estimated times, to
 * phases of steps that run at once (planner/pack/slot.h says what a phase is).
 *
 *     const ac_phases_how how = {.work = work, .slowest = slowest, .threads = 2, .fork = 8000, .limit = bytes, ...};
 *     if (ac_phases_find(problem, &how, order, slot, heap)) ...      order and slot: of all steps
 *
 * Time is in instructions, as lowering estimates it; a step alone takes `work`, or where it is cut into chunks
 * `slowest` and a fork. A list scheduler makes one phase after the other. From the steps that may begin it fills the
 * threads, always the one that is free first, with the step that the longest path hangs on; a thread may go on with
 * what its own steps make possible. Of all prefixes of that list the one that saves most against its steps one after
 * another becomes the phase; where none saves anything, the next step in the given order is a phase of its own. The
 * list is made for several sizes: steps above it are done by all threads, a chunk each.
 *
 * What is alive in a phase counts against `limit`. Cost: O(n * ready steps * 10), n at most MOST in a phase. Source:
 * critical-path list scheduling (Graham 1969; Kwok and Ahmad 1999 compare its kin), with barriers. */
#ifndef AC_PLANNER_ORDER_PHASES_H
#define AC_PLANNER_ORDER_PHASES_H
#include "planner/order/order.h"
#include "planner/pack/slot.h"

/* By step of the problem */
typedef struct ac_phases_how {
    const double *work, *slowest; /* of the whole step and of its slowest chunk; equal: it is not cut */
    const bool *alone;            /* nothing may run beside it */
    const int32_t *part;          /* of the program: phases lie in one */
    int32_t threads;
    double fork;    /* what starting and joining the threads takes */
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
