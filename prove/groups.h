/* groups.h - what threads of a GPU find together. */
#ifndef AC_PROVE_GROUPS_H
#define AC_PROVE_GROUPS_H
#include "prove/prover.h"

/* What a load says of elements that threads have looked at, and what they say of it: v is narrowed. */
void ac_p_group_load(ac_prover *p, ac_x load, ac_pvalue *v);
/* A load of the loop, in which one thread of each group meets the group's largest element, which is *value; 0: there is
 * none. */
ac_x ac_p_group_witness(ac_prover *p, ac_x loop, ac_affine *value);
/* An iteration of that loop adds `each` to the variable, and that one `one`. */
void ac_p_group_adds(ac_prover *p, ac_x var, ac_interval each, ac_interval one);
/* The loop is about to be followed: nothing is known of what it adds. */
void ac_p_group_forget(ac_prover *p, ac_x loop);

#endif
