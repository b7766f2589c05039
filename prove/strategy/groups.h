/* groups.h - values that threads of a GPU compute together. */
#ifndef AC_PROVE_STRATEGY_GROUPS_H
#define AC_PROVE_STRATEGY_GROUPS_H
#include "prove/facts/prover.h"

/* An iteration of a loop with a witness (strategies.h) adds `each` to the variable, and the one of the witness `one`.
 * */
void ac_p_group_adds(ac_prover *p, ac_x var, ac_interval each, ac_interval one);
/* Before a walk of the loop: its increments are unknown. */
void ac_p_group_forget(ac_prover *p, ac_x loop);

#endif
