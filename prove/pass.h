/* pass.h - one pass over the code of a call. */
#ifndef AC_PROVE_PASS_H
#define AC_PROVE_PASS_H
#include "prove/facts/prover.h"

void ac_p_pass_open(ac_prover *p, struct ac_walk *walk); /* before the first pass */
void ac_p_pass(ac_prover *p, bool mute);
/* The pass that makes the claims: one for each of the calls of a step with several. `apart`: walk.h. */
void ac_p_pass_claims(ac_prover *p, const bool *apart);

#endif
