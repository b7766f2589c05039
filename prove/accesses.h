/* accesses.h - the claim that an instruction stays inside its buffers. */
#ifndef AC_PROVE_ACCESSES_H
#define AC_PROVE_ACCESSES_H
#include "prove/facts/prover.h"

void ac_p_access(ac_prover *p, ac_x x); /* of LOAD, STORE, TILE, REQUANT and MMA; others have none */

#endif
