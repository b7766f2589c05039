/* values.h - the abstract value of an instruction. */
#ifndef AC_PROVE_VALUES_H
#define AC_PROVE_VALUES_H
#include "prove/facts/prover.h"

void ac_p_value(ac_prover *p, ac_x x); /* computes p->value[x]; loads make their claims first */

#endif
