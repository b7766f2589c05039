/* extremes.h - largest and least elements that loops have found. */
#ifndef AC_PROVE_EXTREMES_H
#define AC_PROVE_EXTREMES_H
#include "prove/prover.h"

/* After a loop that left `var` with what it holds now: does it hold the extreme of a range? `entry`: before the loop;
 * `runs`: at least once, and never left early. */
void ac_p_extreme_found(ac_prover *p, ac_x loop, ac_x var, int32_t counter, const ac_pvalue *entry, bool runs);
/* After a set of a variable outside of its loop: does it hold the extreme of one element? */
void ac_p_extreme_of_one(ac_prover *p, ac_x set);
/* At instruction x, which ends the function where a condition is true: the elements that it asks about are loaded
 * again, perhaps. */
void ac_p_extreme_asked(ac_prover *p, ac_x x, ac_x condition);
/* What extremes say of a load: v is narrowed. */
void ac_p_extreme_load(ac_prover *p, ac_x load, ac_pvalue *v);
/* A load of the loop that goes over the range of an extreme, which is *value; 0: there is none. */
ac_x ac_p_extreme_witness(ac_prover *p, ac_x loop, int32_t counter, ac_affine *value);

/* Of arrays of the function's own, extremes last until something is stored there. How many there are; those from
 * number n on are no longer true of such arrays. */
int32_t ac_p_extremes(const ac_prover *p);
void ac_p_extremes_keep(ac_prover *p, int32_t n);
void ac_p_extreme_stored(ac_prover *p, int32_t buf);
/* Before a pass over a loop's body: of arrays that it stores to they hold ahead of the store, or no longer. counter:
 * the unknown of this pass; since: the first unknown of the loop. After a pass, those from n on of such arrays are
 * gone, after the loop all (n is 0). */
void ac_p_extremes_enter(ac_prover *p, ac_x loop, int32_t counter, int32_t since);
void ac_p_extremes_leave(ac_prover *p, ac_x loop, int32_t n);

#endif
