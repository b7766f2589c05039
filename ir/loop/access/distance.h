/* distance.h - computes how far the result of a loop function may start inside one of its inputs.
 *
 * Input A is only read, output B only written. While the loops run, bytes of A die and bytes of B are born one after
 * the other, so B may use A's dead bytes if it starts far enough below (or above) A. In the order of the loops, a LOAD
 * before the STORE that needs it:
 *
 *     below = max over all writes w of B and reads r of A after w:  end(w) - begin(r)    offset(B) <= offset(A) - below
 *     above = the same with                                       end(r) - begin(w)      offset(B) >= offset(A) + above
 *
 *     for i: out[i] = x[i]            below 0, above 0          element-wise: exactly in place
 *     for i: out[i] = x[i] + x[i+1]   below 0, above 1          x[i + 1] is read after out[i] is written
 *
 * A negative distance lets B start inside A. The distances are those of this loop schedule. ac_loop_reverse runs the
 * loops backward, which swaps the two for a sliding window. */
#ifndef AC_IR_LOOP_ACCESS_DISTANCE_H
#define AC_IR_LOOP_ACCESS_DISTANCE_H
#include "ir/loop/loop.h"

typedef struct ac_distance {
    int64_t below, above; /* bytes; from minus the size of A (no read after any write) to the value that makes them
                           * disjoint */
} ac_distance;

/* of[i], one per buffer: the distance of `written` (an OUT parameter) to IN parameter i; meaningless for the others.
 * *once: proven that every element of `written` is stored at most once, and never read. Costs about the iterations of
 * the loops around the innermost loops that store. false: unknown (bounds depend on data, the function
 * calls one of the user, or the budget is exceeded). */
bool ac_loop_distances(ac_ctx *cx, const ac_loop_fn *fn, int32_t written, ac_distance *of, bool *once);

/* reverse.c: the same function with those outer loops running backward whose iterations are independent; NULL: no such
 * loop. Correct only for a function whose elements are stored once (see above). */
ac_loop_fn *ac_loop_reverse(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn);

#endif
