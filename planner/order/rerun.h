/* rerun.h - a step of training as events, when some results are dropped and computed again: what lives when, and what
 * it costs. For checkpoint.c and the search (rerun_*.c), on plain data.
 *
 * Between two uses of a value by steps lies a gap, and after its last use another one. For each gap two numbers say
 * where the value is held in it:
 *
 *     to    up to this step, from the begin of the gap on; 0: dropped at once
 *     from  once something makes it again at this step or later, it stays; 0: held all through the gap; -k: it is made
 *           again right before step k, and stays; p->n: made again for each step that needs it, and gone at once
 *
 * What a step reads and is not there is made again right before it, from what is there or made again too. Results that
 * nothing makes again live as long as they are needed, also by what runs again.
 *
 *     ac_rerun k = {.region = r, .p = p, .maker = m, .written = w, .work = c};
 *     ac_rerun_open(&k);                  room, and the gaps
 *     ac_hold *hold = ac_rerun_keep(&k);             everything is kept
 *     hold[k.gap[v] + 1] = (ac_hold){.from = 17};    value v: dropped after its second use, held again from step 17 on
 *     ac_rerun_run(&k, hold, INT64_MAX);
 *
 * Memory: the region. Nothing fails; `possible` says if there is such a step. Cost of a run: O(events * operands). */
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
    int32_t *made;        /* ... and for which step it was made */
    int32_t *past;        /* ... how many of its uses are over */
    int64_t again, limit; /* work that is done again, and what it may be at most */
    int64_t spent;        /* events of all runs */
    bool possible;        /* false: something that is needed was overwritten, or the limit is reached */
    ac_bytes peak;
    int32_t at;      /* the first event that reaches it */
    ac_bytes *most;  /* by step: the most bytes at it and at what runs again for it */
    ac_bytes *bytes; /* by event: what begins less what has ended */
    int32_t room;
} ac_rerun;

void ac_rerun_open(ac_rerun *k);
ac_hold *ac_rerun_keep(ac_rerun *k);
void ac_rerun_run(ac_rerun *k, const ac_hold *hold, int64_t limit);

/* The gap of value v that step s lies in, s itself being its end: -1: v is not made by then. */
int32_t ac_rerun_gap(const ac_rerun *k, int32_t v, int32_t s);
/* Can v be dropped and made again? */
static inline bool ac_rerun_may(const ac_rerun *k, int32_t v)
{
    return k->maker[v] >= 0 && !k->p->value[v].at_start && !k->p->value[v].at_end;
}

#endif
