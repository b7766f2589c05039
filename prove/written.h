/* written.h - uses of buffers in the order of the walk, and claims that elements are written before they are read.
 *
 * Nothing is recorded in dry walks and mute passes. */
#ifndef AC_PROVE_WRITTEN_H
#define AC_PROVE_WRITTEN_H
#include "prove/facts/prover.h"
#include "prove/facts/use.h"

void ac_p_written_begin(ac_prover *p); /* a pass */
/* The end of a pass: claims about results if it is the `last` call of the step, and about arguments that overlap. */
void ac_p_written_end(ac_prover *p, bool last);

/* A walk of a loop's body: `counter` is the unknown of its variable, those from `since` on are of an iteration. */
void ac_p_loop_begin(ac_prover *p, ac_x x, int32_t counter, int32_t since);
void ac_p_loop_end(ac_prover *p, int32_t counter, int32_t since, ac_interval trips, bool breaks);
/* Facts from `facts` on are exactly the condition of the side that begins; none: the condition is unknown. */
void ac_p_branch_begin(ac_prover *p, ac_x x, int32_t facts);
void ac_p_branch_else(ac_prover *p, ac_x x, int32_t facts);
void ac_p_branch_end(ac_prover *p);

/* Instruction x, or the caller (0), uses n elements of a buffer from `index` on. */
void ac_p_use(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use);
/* Writes an element at each of `slots` places, `pitch` apart, of each of `steps` that are `by` apart. */
void ac_p_use_spread(ac_prover *p, int32_t buf, const ac_affine *index, int64_t pitch, int64_t slots, int64_t by,
                     int64_t steps);

#endif
