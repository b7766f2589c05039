/* claims.h - records claims of the call that is proven. Nothing is recorded in dry walks and mute passes. */
#ifndef AC_PROVE_FACTS_CLAIMS_H
#define AC_PROVE_FACTS_CLAIMS_H
#include "prove/facts/prover.h"

void ac_p_proven(ac_prover *p, ac_claim claim);
/* A claim of instruction x was not proven. It counts as proven if all cases have shown it (survey.h). */
void ac_p_doubt(ac_prover *p, ac_x x, ac_claim claim, bool wrong, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* True if some run of the code here gives the sum a value above (below) the limit for certain. */
bool ac_p_surely_above(ac_prover *p, const ac_affine *form, int64_t limit);
bool ac_p_surely_below(ac_prover *p, const ac_affine *form, int64_t limit);

/* The doubts and counts of the call's step so far; a repeated pass rewinds to them. */
typedef struct ac_claims_mark {
    int32_t doubts;
    ac_verdict_step step;
} ac_claims_mark;

ac_claims_mark ac_p_claims_mark(const ac_prover *p);
void ac_p_claims_rewind(ac_prover *p, const ac_claims_mark *mark);

#endif
