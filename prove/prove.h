/* prove.h - proofs about the code that is about to be written: of every call of a module, that its loops stay inside
 * their buffers and inside what C defines, and of all calls in order, that they read what was written.
 *
 *     ac_verdict v;
 *     ac_prove(cx, module, &v);
 *     v.n_doubts == 0: everything is proven; else v.doubt[0..] say which step, instruction and why
 *
 * An independent checker, as planner/certcheck is for packings: it reads the loops and the offsets of the module that
 * printers print, and has no source in common with the lowerings that built those loops, the analyses that planners
 * ask (ir/loop/access), the binder or the planner. What is claimed is in docs/prove.md.
 *
 * A doubt is not an error of the code: no proof was found. `wrong` says that the claim is false for some input or for
 * all. Claims after a doubt of the same step take it for granted, so that one cause is listed once.
 *
 * Memory: the context's region for the verdict. Errors: AC_FAIL with a diagnostic when a constant cannot be made. */
#ifndef AC_PROVE_PROVE_H
#define AC_PROVE_PROVE_H
#include "codegen/module.h"

typedef enum ac_claim {
    AC_CLAIM_ACCESS,   /* a load or store lies inside its buffer */
    AC_CLAIM_INTEGER,  /* signed arithmetic does not overflow, divisors are not 0, floats fit the integer they become */
    AC_CLAIM_SHIFT,    /* a shift is less than the bits of its type */
    AC_CLAIM_LOOP,     /* a loop's bounds are known, and its counter does not overflow */
    AC_CLAIM_WRITTEN,  /* what is read has been written, and nothing else has been written over it */
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

/* A value of an instruction that a proof looked at in parts, by their ends: split.c. */
typedef struct ac_verdict_cut {
    int32_t step;
    ac_x ins;
    int64_t lo;
    AC_VEC(int64_t) end;
} ac_verdict_cut;

typedef struct ac_verdict {
    ac_verdict_step *step; /* by call */
    bool *by_element;      /* ... the proof needs each element of its constants */
    int32_t n_steps;
    AC_VEC(ac_doubt) doubt;
    AC_VEC(ac_verdict_cut) cut;
    ac_verdict_step sum;
    int32_t wrong; /* of the doubts */
} ac_verdict;

int ac_prove(ac_ctx *cx, const ac_module *m, ac_verdict *v);

/* code_certificate.c: all of the module that a proof is about, for arenac-certcheck: docs/prove.md. E0901 or what a
 * constant says that cannot be made. */
int ac_code_certificate(ac_sink *to, const ac_module *m, const ac_verdict *v);

/* listing.c: the verdict for people, with the claims of every step when `steps`; and as JSON, schema
 * arenac-prove/1. */
void ac_verdict_put(ac_sink *to, const ac_module *m, const ac_verdict *v, bool steps);
void ac_verdict_json(ac_sink *to, const ac_module *m, const ac_verdict *v);
const char *ac_claims_str(ac_ctx *cx, int32_t n); /* "1 claim about the code is", "7 claims about the code are" */

#endif
