/* cases.h - parts of a value's range, for proofs by cases. */
#ifndef AC_PROVE_STRATEGY_CASES_H
#define AC_PROVE_STRATEGY_CASES_H
#include "prove/facts/prover.h"

void ac_p_cases_begin(ac_prover *p); /* no value was cut yet */
/* The end of the part that begins at `at`: the next power of two less 1, or one of parts of even size. */
int64_t ac_p_part_end(ac_interval in, int64_t at, bool even);
bool ac_p_is_cut_evenly(ac_interval in); /* true if parts of even size are cut as well */

#endif
