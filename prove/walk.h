/* walk.h - the walk over the code of a call: blocks in order, branches on both sides, loops until their invariants
 * hold.
 *
 * Only walk.c, loops.c and pass.c include this file: the program point is theirs. */
#ifndef AC_PROVE_WALK_H
#define AC_PROVE_WALK_H
#include "prove/facts/prover.h"

/* A loop that is being walked: for break_if. */
typedef struct ac_frame {
    const ac_x *var; /* variables from outside that it sets */
    int32_t n_var;
    ac_pvalue *broken; /* by var: joined over all break_if */
    bool breaks;
    struct ac_frame *up;
} ac_frame;

typedef struct ac_walk {
    ac_point point; /* p->at */
    ac_frame *frame;
    /* By IF: each side is walked together with the rest of the block; NULL: none. How many such sides are open. */
    const bool *apart;
    int32_t sides;
    int64_t tree_steps; /* instructions that may still be walked to list values (loops.c) */
    /* The loop that is walked iteration by iteration, `uncertain` where it began, and true while it is being left. */
    ac_x schedule;
    int32_t certain;
    bool leaving;
} ac_walk;

void ac_p_walk(ac_prover *p, ac_x from, ac_x to); /* instructions from .. to - 1 */
void ac_p_loop(ac_prover *p, ac_x x);             /* loops.c: the loop at x */

#endif
