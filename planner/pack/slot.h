/* slot.h - the steps that run concurrently on several threads.
 *
 * Steps stay one list, and running them one after another in its order is also correct. A phase is a run of that list
 * between two barriers. Inside of a phase the steps that all threads do together (a chunk each) come first, then those
 * of thread 0 in their order, then those of thread 1, and so on:
 *
 *     step       0    1    2    3    4    5          thread 0:  0 | 1a 2    | 5a |
 *     phase      [0]  [1    2    3    4]   [5]       thread 1:    | 1b 3  4 | 5b |
 *     thread     0    all  0    1    1    all
 *
 * A step may depend only on results of earlier phases, and on earlier results of its own thread. So the bytes that two
 * threads touch in one phase must be disjoint, for any order of the list: live.c extends lives for that
 * (ac_slot_until), and at_once.c checks it on the bytes of the plan. */
#ifndef AC_PLANNER_PACK_SLOT_H
#define AC_PLANNER_PACK_SLOT_H
#include "planner/pack/problem.h"

enum { AC_ALL_THREADS = -1 };

/* Of a step */
typedef struct ac_slot {
    int32_t thread;     /* that does it, 0 is the caller; AC_ALL_THREADS: each does a chunk */
    ac_step begin, end; /* its phase; end - begin == 1: it runs alone */
} ac_slot;

static inline bool ac_slot_shared(const ac_slot *slot, ac_step s)
{
    return slot && slot[s].end - slot[s].begin > 1;
}

/* The last step in the list during which bytes that step s touches may be in use: the end of the phase, since other
 * threads may be anywhere in it. The steps of the last thread come after those of all others, whose lives reach over
 * them. */
static inline ac_step ac_slot_until(const ac_slot *slot, ac_step s)
{
    if (!ac_slot_shared(slot, s))
        return s;
    const ac_step last = slot[s].end - 1;
    return slot[s].thread != AC_ALL_THREADS && slot[s].thread == slot[last].thread ? s : last;
}

/* May steps a and b run at the same time? */
static inline bool ac_slot_beside(const ac_slot *slot, ac_step a, ac_step b)
{
    return slot && a != b && slot[a].begin == slot[b].begin &&
           (slot[a].thread != slot[b].thread || slot[a].thread == AC_ALL_THREADS);
}

#endif
