/* phases.h - claims about steps that one launch of a GPU runs as phases. */
#ifndef AC_PROVE_PHASES_H
#define AC_PROVE_PHASES_H
#include "prove/facts/verdict.h"

/* joined: the module that is printed; the verdict is about the calls of ac_module_steps(joined). */
void ac_p_claim_phases(ac_ctx *cx, const ac_module *joined, ac_verdict *v);

#endif
