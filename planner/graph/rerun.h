/* rerun.h - a step of training as events, when some results are dropped and computed again: what lives when, and what
 * it costs. For checkpoint.c.
 *
 * A result that is `split` after its use k is dropped there; before its next use it is made again, and stays. What the
 * making reads is there (it is read later anyway), or was split, or is made again too for this once: then it goes at
 * once. Results that nothing makes again live as long as they are needed. */
#ifndef AC_PLANNER_GRAPH_RERUN_H
#define AC_PLANNER_GRAPH_RERUN_H
#include "ir/lower/lowered.h"
#include "planner/graph/order.h"

/* A value in memory: as it was made first, or again. */
typedef struct ac_instance {
    int32_t value, first, last; /* events; last: of its uses */
} ac_instance;

/* A step that runs: the instances of p->step[step].value, in that order. */
typedef struct ac_event {
    int32_t step, before; /* before: the step of the first time that it runs for; itself where it is that */
    int32_t *instance;
} ac_event;

typedef struct ac_rerun {
    ac_region *region; /* of one simulation */
    const ac_order_problem *p;
    const int32_t *maker;   /* by value: the step that alone makes it, and can again; below 0: none */
    const int32_t *written; /* by value: the step that overwrites it, for state; -1: none */
    const int64_t *work;    /* by step */
    const int32_t *split;   /* by value: a use, see above; -1: kept */
    AC_VEC(ac_instance) instance;
    AC_VEC(ac_event) event;
    int32_t *now;  /* by value: its instance */
    int64_t again; /* work that is done again */
    bool possible; /* false: something that is needed was overwritten */
    ac_bytes peak;
    int32_t at, peaks; /* the step of the first peak, and how many events reach it */
} ac_rerun;

/* Fills the rest of k, whose first members up to `split` are set. Cost: O(events * operands). */
void ac_rerun_run(ac_rerun *k);

#endif
