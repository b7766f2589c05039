/* in_context.h - main() of a test that does all its work in one context. */
#ifndef AC_TESTS_UNIT_SUPPORT_IN_CONTEXT_H
#define AC_TESTS_UNIT_SUPPORT_IN_CONTEXT_H
#include "base/ctx.h"
#include "tests/unit/support/expect.h"

/* Runs the tests and reports failures with their diagnostics; returns the exit status. cx is static: setjmp. */
static inline int in_context(ac_ctx *cx, void (*tests)(ac_ctx *cx))
{
    ac_ctx_open(cx);
    if (OUT_OF_MEMORY(*cx)) {
        fprintf(stderr, "out of memory\n");
        ac_ctx_close(cx);
        return 1;
    }
    ac_ctx_start(cx);
    cx->diags.limit = 1000;
    tests(cx);
    if (failures)
        ac_diags_print(&cx->diags, stderr, false);
    ac_ctx_close(cx);
    return check_done();
}
#endif
