/* counters.h - counters that a step keeps from one of its calls to the next. */
#ifndef AC_PROVE_STRATEGY_COUNTERS_H
#define AC_PROVE_STRATEGY_COUNTERS_H
#include "prove/facts/prover.h"

void ac_p_counters_begin(ac_prover *p); /* before the first call: no value is known */
bool ac_p_has_counters(const ac_prover *p, int32_t buf);
void ac_p_counter_stored(ac_prover *p, ac_x x);
/* Before and after a loop that is not a schedule: counters that instructions from .. to - 1 store are unknown. */
void ac_p_counters_forget(ac_prover *p, ac_x from, ac_x to);

#endif
