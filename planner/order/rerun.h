/* rerun.h - a step of training as events, if some results are dropped and recomputed: live ranges and costs. For
 * checkpoint.c and the search (rerun_*.c), on plain data.
 *
 * There is a gap between two uses of a value by steps, and after its last use. Two numbers for each gap define where in
 * it the value is held:
 *
 *     to    up to this step, from the begin of the gap on; 0: dropped at once
 *     from  once something makes it again at this step or later, it stays; 0: held all through the gap; -k: it is made
 *           again right before step k, and stays; p->n: made again for each step that needs it, and gone at once
 *
 * A missing operand of a step is recomputed right before it, from operands that are held or recomputed as well. Results
 * that cannot be recomputed live as long as they are needed, recomputation included.
 *
 *     ac_rerun k = {.region = r, .p = p, .maker = m, .written = w, .work = c};
 *     ac_rerun_open(&k);                  room, and the gaps
 *     ac_hold *hold = ac_rerun_keep(&k);             everything is kept
 *     hold[k.gap[v] + 1] = (ac_hold){.from = 17};    value v: dropped after its second use, held again from step 17 on
 *     ac_rerun_run(&k, hold, INT64_MAX);
 *
 * Memory: the region. Nothing fails; `possible`: such a step exists. Cost of a run: O(events * operands). */
#ifndef AC_PLANNER_ORDER_RERUN_H
#define AC_PLANNER_ORDER_RERUN_H
#include "planner/order/order.h"

typedef struct ac_hold {
    int32_t to, from;
} ac_hold;

/* A value in memory: as it was made first, or again. */
typedef struct ac_instance {
    int32_t value, first, last; /* events; last: of its uses */
} ac_instance;

/* A step that runs. */
typedef struct ac_event {
    int32_t step, before; /* before: the step of the first time that it runs for; itself where it is that */
    int32_t use;          /* k->use.item[use...]: instances of p->step[step].value, in that order */
} ac_event;

typedef struct ac_rerun {
    ac_region *region;
    const ac_order_problem *p;
    const int32_t *maker;   /* by value: the step that alone makes it, and can again; below 0: none */
    const int32_t *written; /* by value: the step that overwrites it, for state; -1: none */
    const int64_t *work;    /* by step */

    int32_t *gap, n_gaps; /* by value: its first gap; gap g is after use g */
    int32_t *owner;       /* by gap: its value */
    int32_t *due, *next;  /* by step: a gap whose value is made again right before it; by gap: another one */
    const ac_hold *hold;  /* by gap, see above */
    AC_VEC(ac_instance) instance;
    AC_VEC(ac_event) event;
    AC_VEC(int32_t) use;
    int32_t *now;         /* by value: its instance; -1: not made yet */
    int32_t *made;        /* ... and the step it was made for */
    int32_t *past;        /* ... how many of its uses are over */
    int64_t again, limit; /* recomputed work, and its maximum */
    int64_t spent;        /* events of all runs */
    bool possible;        /* false: something that is needed was overwritten, or the limit is reached */
    ac_bytes peak;
    int32_t at;      /* the first event that reaches it */
    ac_bytes *most;  /* by step: the most bytes at it and at what runs again for it */
    ac_bytes *bytes; /* by event: bytes that begin less bytes that end */
    int32_t room;
} ac_rerun;

void ac_rerun_open(ac_rerun *k);
ac_hold *ac_rerun_keep(ac_rerun *k);
void ac_rerun_run(ac_rerun *k, const ac_hold *hold, int64_t limit);

/* The gap of value v that contains step s, which may be its end; -1: v is not made by then. */
int32_t ac_rerun_gap(const ac_rerun *k, int32_t v, int32_t s);
/* Can v be dropped and made again? */
static inline bool ac_rerun_may(const ac_rerun *k, int32_t v)
{
    return k->maker[v] >= 0 && !k->p->value[v].at_start && !k->p->value[v].at_end;
}

#endif
