/* arrays.h - elements of local arrays that one loop writes, as sums of that loop's unknowns. */
#ifndef AC_PROVE_STRATEGY_ARRAYS_H
#define AC_PROVE_STRATEGY_ARRAYS_H
#include "prove/facts/prover.h"

void ac_p_arrays_begin(ac_prover *p); /* a pass: nothing is stored yet */
void ac_p_array_stored(ac_prover *p, ac_x x);

#endif
