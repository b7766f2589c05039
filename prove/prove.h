/* prove.h - proves the code that is about to be written: that loops of every call stay inside their buffers and inside
 * defined behaviour of C, and that calls read what earlier calls have written.
 *
 *     ac_verdict v;
 *     ac_prove(cx, module, NULL, &v);
 *     v.n_doubts == 0: everything is proven; else v.doubt[0..] say which step, instruction and why
 *
 * An independent checker, as planner/certcheck is for packings: it reads the loops and the offsets of the module that
 * printers print, and has no source in common with the lowerings that built those loops, the analyses that planners
 * ask (ir/loop/access), the binder or the planner. docs/prove.md lists the claims.
 *
 * Memory: the context's region for the verdict. Errors: AC_FAIL with a diagnostic when a constant cannot be made. */
#ifndef AC_PROVE_PROVE_H
#define AC_PROVE_PROVE_H
#include "prove/facts/verdict.h"

/* `without`: by strategy, switched off (strategies.h); NULL: none is. The verdict is about the calls of
 * ac_module_steps(printed): steps that one launch runs are proven one by one, and then that their order is kept. */
int ac_prove(ac_ctx *cx, const ac_module *printed, const bool *without, ac_verdict *v);

/* code_certificate.c: the proven parts of the module, for arenac-certcheck (docs/prove.md). `written`: SHA-256 in hex
 * of each of the `n_written` files that are written with it. Fails with E0502 for custom operators, with E0901, or with
 * the error of a constant that cannot be created. */
int ac_code_certificate(ac_sink *to, const ac_module *m, const ac_verdict *v, const char *const *written,
                        int32_t n_written);

/* listing.c: the verdict for people, with the claims of every step when `steps`; and as JSON, schema
 * arenac-prove/1. */
void ac_verdict_put(ac_sink *to, const ac_module *m, const ac_verdict *v, bool steps);
void ac_verdict_json(ac_sink *to, const ac_module *m, const ac_verdict *v);
const char *ac_claims_str(ac_ctx *cx, int32_t n); /* "1 claim about the code is", "7 claims about the code are" */

#endif
