/* strategies.h - names of the proof strategies (strategies.def), and sets of those that are switched off. */
#ifndef AC_PROVE_STRATEGIES_H
#define AC_PROVE_STRATEGIES_H
#include "base/ctx.h"

const char *ac_proof_strategy_name(int32_t i); /* in the table's order; NULL after the last */

/* The set of these strategies, for ac_prove, in the context's region. Reports E0501 for an unknown name. */
int ac_proof_without(ac_ctx *cx, const char *const *name, int32_t n, const bool **without);

#endif
