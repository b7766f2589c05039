/* between.h - what calls leave for later ones: of each tensor the integers that its writers can have put there. */
#ifndef AC_PROVE_BETWEEN_H
#define AC_PROVE_BETWEEN_H
#include "prove/prover.h"

void ac_p_between_open(ac_between *b, const ac_module *m, ac_region *r);
/* Integers that argument `arg` of p's call, which is only read, can hold: of its type, if nobody knows. */
ac_interval ac_p_between_given(const ac_prover *p, int32_t arg);
/* After a call: `stored` are the integers that it has put into each of its arguments, `any` where that is known. */
void ac_p_between_leave(const ac_prover *p, const ac_interval *stored, const bool *any);

#endif
