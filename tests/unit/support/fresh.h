/* fresh.h - a context that a test begins anew as often as it likes. */
#ifndef AC_TESTS_UNIT_SUPPORT_FRESH_H
#define AC_TESTS_UNIT_SUPPORT_FRESH_H
#include "base/ctx.h"

#include <stdio.h>
#include <stdlib.h>

static ac_ctx cx;

/* cx anew: what was built before is gone. */
static inline void fresh(void)
{
    if (cx.region)
        ac_ctx_close(&cx);
    ac_ctx_open(&cx);
    if (setjmp(cx.heap.on_oom)) {
        printf("out of memory\n");
        exit(1);
    }
    ac_ctx_start(&cx);
}
#endif
