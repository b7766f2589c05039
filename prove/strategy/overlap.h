/* overlap.h - uses of arguments that share bytes, in the order of the walk, and the claim that every element is read
 * before another argument's element overwrites it. */
#ifndef AC_PROVE_STRATEGY_OVERLAP_H
#define AC_PROVE_STRATEGY_OVERLAP_H
#include "prove/facts/prover.h"
#include "prove/facts/use.h"

void ac_p_overlap_open(ac_prover *p);  /* a pass */
void ac_p_overlap_close(ac_prover *p); /* its end: the claims */
/* Blocks of the walk, as in written.h. */
void ac_p_overlap_loop(ac_prover *p, ac_x x, int32_t counter, int32_t since);
void ac_p_overlap_loop_end(ac_prover *p);
void ac_p_overlap_side(ac_prover *p, ac_x branch, bool otherwise);
void ac_p_overlap_join(ac_prover *p);
void ac_p_overlap_use(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use);

#endif
