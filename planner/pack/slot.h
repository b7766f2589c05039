/* slot.h - which steps run at the same time on several threads.
 *
 * Steps stay one list, and doing them one after another in its order is right, too. A phase is a run of that list
 * between two barriers. Inside of a phase the steps that all threads do together (a chunk each) come first, then those
 * of thread 0 in their order, then those of thread 1, and so on:
 *
 *     step       0    1    2    3    4    5          thread 0:  0 | 1a 2    | 5a |
 *     phase      [0]  [1    2    3    4]   [5]       thread 1:    | 1b 3  4 | 5b |
 *     thread     0    all  0    1    1    all
 *
 * A step may need what was made in an earlier phase, or before it by its own thread, and nothing else. So what two
 * threads touch in one phase must not share bytes, whatever the order of the list is: live.c extends lives for that
 * (ac_slot_until), and at_once.c checks it on the bytes of the plan. */
#ifndef AC_PLANNER_PACK_SLOT_H
#define AC_PLANNER_PACK_SLOT_H
#include "planner/pack/problem.h"

enum { AC_ALL_THREADS = -1 };

/* Of a step */
typedef struct ac_slot {
    int32_t thread;     /* that does it, 0 is the caller; AC_ALL_THREADS: each does a chunk */
    ac_step begin, end; /* its phase; end - begin == 1: nothing runs beside it */
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
