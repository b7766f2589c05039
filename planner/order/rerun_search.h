/* rerun_search.h - which results are dropped and computed again so that a step of training stays within a budget with
 * little work done twice: moves on the gaps of rerun.h.
 *
 *     ac_rerun_search q = {.k = &k};
 *     ac_rerun_search_open(&q);
 *     ac_rerun_front f = ac_rerun_front_make(&q, events);
 *     f.item[i].peak, f.item[i].again, f.item[i].hold    the largest peak first
 *
 * A front is a row of plans from the one that keeps everything to the least bytes, each with less than the one before
 * it for more work. It does not depend on a budget: who takes the first plan that fits gets no higher peak for a
 * smaller budget. Deterministic; cost counted in events of runs. Memory: the region of k. Nothing fails. */
#ifndef AC_PLANNER_ORDER_RERUN_SEARCH_H
#define AC_PLANNER_ORDER_RERUN_SEARCH_H
#include "planner/order/rerun.h"

typedef struct ac_rerun_choice {
    ac_hold *hold; /* by gap */
    ac_bytes peak; /* INT64_MAX: the choice is impossible */
    int64_t again;
} ac_rerun_choice;

typedef struct ac_rerun_search {
    ac_rerun *k;
    uint64_t random;
    int32_t noise;      /* 0: none; else worths are multiplied by a random factor from 1 to 1 + noise */
    int64_t most_again; /* plans with more are rejected */

    /* Room for what the functions below look at. */
    struct ac_rerun_move *move;
    int32_t n_moves;
    int32_t *alive, n_alive; /* values alive at an event that may be dropped there, in the order they were made */
    bool *there;             /* by value: it is alive there */
    int32_t *seen, *todo, epoch;
    int32_t *over; /* by step: how many before it are over the budget */
    int32_t *last; /* by value: the last step before the event that uses it */
    int8_t *tries; /* by gap: how often its value was made again earlier */
    ac_hold *hold;
    int32_t *order;
    ac_rerun_choice other;
    int64_t *gain;  /* by gap: work of making its value again in it */
    int32_t *again; /* ... and the first step that it is made for */
    ac_bytes *most; /* by step, of the choice that is trimmed */
} ac_rerun_search;

typedef struct ac_rerun_front {
    ac_rerun_choice *item;
    int32_t n;
} ac_rerun_front;

void ac_rerun_search_open(ac_rerun_search *q);
ac_rerun_front ac_rerun_front_make(ac_rerun_search *q, int64_t events);

ac_rerun_choice ac_rerun_choice_new(ac_rerun_search *q); /* all kept */
void ac_rerun_choice_set(ac_rerun_search *q, ac_rerun_choice *to, const ac_rerun_choice *x);
void ac_rerun_take(ac_rerun_search *q, ac_rerun_choice *x); /* a run; sets peak and again */
/* Drops values until x->peak <= budget, guided by the bytes over `aim`; false: the budget was not reached. */
bool ac_rerun_repair(ac_rerun_search *q, ac_rerun_choice *x, ac_bytes budget, ac_bytes aim);
/* rerun_trim.c: keeps again what fits; another way, if it costs less. */
void ac_rerun_trim(ac_rerun_search *q, ac_rerun_choice *x, ac_bytes budget);
void ac_rerun_shake(ac_rerun_search *q, ac_rerun_choice *x, ac_bytes budget);

/* rerun_bound.c: a lower bound of the work that any plan recomputes if it keeps the steps' order and takes at most
 * `budget` bytes; INT64_MAX: no plan exists. Seldom attained. */
int64_t ac_rerun_bound(ac_rerun *k, ac_bytes budget, int64_t enough); /* it may stop at `enough` */
ac_bytes ac_rerun_least(ac_rerun *k);                                 /* no plan takes less, whatever it does again */

#endif
