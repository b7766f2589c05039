/* extremes.h - maxima and minima of ranges of memory that loops have found. */
#ifndef AC_PROVE_STRATEGY_EXTREMES_H
#define AC_PROVE_STRATEGY_EXTREMES_H
#include "prove/facts/prover.h"

/* After a loop: records the extreme of a range that it has left in `var`, if it has. `entry`: the value before the
 * loop; `runs`: it runs at least once, and never ends early. */
void ac_p_extreme_found(ac_prover *p, ac_x loop, ac_x var, int32_t counter, const ac_pvalue *entry, bool runs);
/* At a SET: records the extreme of one element, if the value is that. */
void ac_p_extreme_of_one(ac_prover *p, ac_x set);
/* At instruction x, which ends the function if a condition is true: records the elements that the condition compares,
 * as they may be loaded again. */
void ac_p_extreme_asked(ac_prover *p, ac_x x, ac_x condition);

void ac_p_extremes_begin(ac_prover *p); /* a pass: none is known */
/* Extremes of the function's own arrays last until a store there. Their number; those from number n on are dropped;
 * those of a buffer that is stored to are dropped. */
int32_t ac_p_extremes(const ac_prover *p);
void ac_p_extremes_keep(ac_prover *p, int32_t n);
void ac_p_extreme_stored(ac_prover *p, int32_t buf);
/* Before a walk of a loop's body: extremes of arrays that it stores to hold ahead of the store only, or are dropped.
 * counter: the unknown of this walk; since: the first unknown of the loop. After a walk, those of such arrays from n on
 * are dropped; after the loop all (n is 0). */
void ac_p_extremes_enter(ac_prover *p, ac_x loop, int32_t counter, int32_t since);
void ac_p_extremes_leave(ac_prover *p, ac_x loop, int32_t n);

#endif
