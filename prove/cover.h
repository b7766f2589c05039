/* cover.h - what the code, as it is followed, has certainly written, and which elements it has touched in which order.
 *
 * A loop's unknowns from `since` on are those of an iteration. */
#ifndef AC_PROVE_COVER_H
#define AC_PROVE_COVER_H
#include "prove/prover.h"

/* WRITE_SOME: some of the elements, nobody says which. */
typedef enum ac_use { AC_USE_READ, AC_USE_WRITE, AC_USE_WRITE_SOME } ac_use;

/* written.c: instruction x, or the caller (0), uses n elements of a buffer from `index` on. */
void ac_p_cover_open(ac_prover *p);
/* At the end of the function: the claims about results where it was the `last` call of the step. */
void ac_p_cover_close(ac_prover *p, bool last);
void ac_p_loop_begin(ac_prover *p, ac_x x, int32_t counter, int32_t since);
void ac_p_loop_end(ac_prover *p, int32_t counter, int32_t since, ac_interval trips, bool breaks);
/* Facts from `facts` on are true on the side that begins, and only there; none: nobody knows. */
void ac_p_branch_begin(ac_prover *p, ac_x x, int32_t facts);
void ac_p_branch_else(ac_prover *p, ac_x x, int32_t facts);
void ac_p_branch_end(ac_prover *p);
void ac_p_cover(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use);

/* ... writes an element at each of `slots` places, `pitch` apart, of each of `steps` that are `by` apart. */
void ac_p_cover_spread(ac_prover *p, int32_t buf, const ac_affine *index, int64_t pitch, int64_t slots, int64_t by,
                       int64_t steps);

/* walked.c: are all loads and stores of a scratch or local array or a result inside, and all that is loaded written
 * before? Is all of it written in the end? Shown for loops with numbers as bounds. */
bool ac_p_walked(ac_prover *p, int32_t buf);
bool ac_p_walked_whole(ac_prover *p, int32_t buf);
/* Are all loads of an argument done before another one, which begins `distance` bytes after it, is written there? */
bool ac_p_walked_in_order(ac_prover *p, int32_t read, int32_t written, int64_t distance);

/* order.c: the same for arguments that share bytes. */
void ac_p_order_open(ac_prover *p);
void ac_p_order_close(ac_prover *p);
void ac_p_order_loop(ac_prover *p, ac_x x, int32_t counter, int32_t since);
void ac_p_order_end(ac_prover *p);
void ac_p_order_side(ac_prover *p, ac_x branch, bool otherwise);
void ac_p_order_joined(ac_prover *p);
void ac_p_order_touch(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use);

#endif
