/* structure.h - the blocks of a function's code: loops and branches around an instruction, and variables that they set.
 * */
#ifndef AC_PROVE_FACTS_STRUCTURE_H
#define AC_PROVE_FACTS_STRUCTURE_H
#include "prove/facts/prover.h"

/* For prover.h: the ends of blocks, and elements by buffer: those of the call's own step if functions are shared. */
ac_x *ac_p_match_ends(ac_region *r, const ac_loop_fn *fn);
int64_t *ac_p_count_buffers(ac_region *r, const ac_call *call, const ac_loop_fn *fn);

ac_x ac_p_loop_around(const ac_prover *p, ac_x x);   /* the innermost FOR that contains x, or is x; 0: none */
ac_x ac_p_block_around(const ac_prover *p, ac_x x);  /* the innermost FOR, IF or ELSE that contains x; 0: none */
bool ac_p_is_phase(const ac_prover *p, ac_x x);      /* true for a loop over the threads of a block of a GPU */
ac_x ac_p_phase_around(const ac_prover *p, ac_x x);  /* the one that contains x; 0: none */
bool ac_p_breaks_off(const ac_prover *p, ac_x loop); /* true if the loop may end before its last iteration */

/* True if an instruction from .. to - 1 may store to the buffer. */
bool ac_p_stores_between(const ac_prover *p, ac_x from, ac_x to, int32_t buf);
/* Variables declared before x that the instructions from x up to `to` set. Cached by x. */
const ac_x *ac_p_set_between(ac_prover *p, ac_x x, ac_x to, int32_t *n);

/* True for a sum or product that must not overflow in C: it has a claim that it fits its type. */
static inline bool ac_p_promises(const ac_ins *i)
{
    return (i->op == AC_L_ADD || i->op == AC_L_SUB || i->op == AC_L_MUL || i->op == AC_L_NEG) &&
           ac_dtype_is_signed((ac_dtype)i->dtype) && !(i->flags & AC_F_WRAP);
}

#endif
