/* fresh.h - a context that a test begins anew as often as it likes. */
#ifndef AC_TESTS_UNIT_SUPPORT_FRESH_H
#define AC_TESTS_UNIT_SUPPORT_FRESH_H
#include "base/ctx.h"

static ac_ctx cx;

/* Opens cx again: everything built before is freed. Running out of memory aborts. */
static inline void fresh(void)
{
    if (cx.region)
        ac_ctx_close(&cx);
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
}
#endif
