/* verdict.h - how a verdict is written; prove.h says what it holds. */
#ifndef AC_PROVE_VERDICT_H
#define AC_PROVE_VERDICT_H
#include "prove/prove.h"

/* claims.c: one more claim of a call, or of the module (-1), that is proven; or one that is not. The region keeps the
 * reason. */
void ac_verdict_proven(ac_verdict *v, int32_t step, ac_claim claim);
void ac_verdict_doubt(ac_ctx *cx, ac_verdict *v, ac_doubt doubt);

#endif
