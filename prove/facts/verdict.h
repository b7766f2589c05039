/* verdict.h - the verdict of a proof: which claims were made and proven, and why the others were not.
 *
 * A doubt means that no proof was found; `wrong` that the claim is false for some input or for all. Claims after a
 * doubt of the same step take it for granted, so that one cause is listed once. */
#ifndef AC_PROVE_FACTS_VERDICT_H
#define AC_PROVE_FACTS_VERDICT_H
#include "codegen/module.h"

typedef enum ac_claim {
    AC_CLAIM_ACCESS,   /* a load or store stays inside its buffer */
    AC_CLAIM_INTEGER,  /* signed arithmetic does not overflow, divisors are not 0, floats fit the integer they become */
    AC_CLAIM_SHIFT,    /* a shift is less than the bits of its type */
    AC_CLAIM_LOOP,     /* a loop's bounds are known, and its counter does not overflow */
    AC_CLAIM_WRITTEN,  /* every byte that is read was written before, and not overwritten since */
    AC_CLAIM_ORDER,    /* operands that share bytes with a result are read before those are written */
    AC_CLAIM_RESTRICT, /* parameters printed `restrict` share no byte that is written */
    AC_CLAIMS
} ac_claim;
extern const char *const ac_claim_text[AC_CLAIMS];

typedef struct ac_doubt {
    int32_t step; /* call of the module; -1: the module as a whole */
    ac_x ins;     /* instruction of its function; 0: the call as a whole */
    ac_claim claim;
    bool wrong;
    const char *reason;
} ac_doubt;

typedef struct ac_verdict_step {
    int32_t claims[AC_CLAIMS], proven[AC_CLAIMS];
} ac_verdict_step;

/* The value range of an instruction that a proof cut into parts, by their ends: strategy/cases.h. */
typedef struct ac_verdict_cut {
    int32_t step;
    ac_x ins;
    int64_t lo;
    AC_VEC(int64_t) end;
} ac_verdict_cut;

typedef struct ac_verdict {
    ac_verdict_step *step; /* by call */
    bool *by_element;      /* by call: the proof needs each element of its constants */
    int32_t n_steps;
    AC_VEC(ac_doubt) doubt;
    AC_VEC(ac_verdict_cut) cut;
    ac_verdict_step sum;
    int32_t wrong; /* number of doubts that are wrong */
} ac_verdict;

/* claims.c: counts a claim of a call, or of the module (-1), as proven; or adds a doubt. The context's region holds the
 * reason. */
void ac_verdict_proven(ac_verdict *v, int32_t step, ac_claim claim);
void ac_verdict_doubt(ac_ctx *cx, ac_verdict *v, ac_doubt doubt);

#endif
