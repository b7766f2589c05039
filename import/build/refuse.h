/* refuse.h - collects the unsupported features of a well-formed file, and reports them together after reading, so that
 * the user sees all of them at once.
 *
 *     ac_refusals_add(cx, &list, at, E0107, "SVDF", "fused recurrent operators are not lowered", NULL);
 *     ...
 *     AC_TRY(ac_refusals_report(cx, &list));
 *
 * Readers call ac_refuse (reading.h).
 *
 * Memory: the context's region; the strings must live as long as the context. */
#ifndef AC_IMPORT_BUILD_REFUSE_H
#define AC_IMPORT_BUILD_REFUSE_H
#include "base/ctx.h"
#include "base/vec.h"

typedef struct ac_refusal {
    ac_code code;
    const char *op, *reason, *help; /* help: may be NULL */
    ac_place at;
    int32_t order; /* position in the list */
    int32_t count; /* number of occurrences, set by the report */
} ac_refusal;

typedef struct ac_refusals {
    ac_refusal *item;
    int32_t n, cap;
} ac_refusals;

void ac_refusals_add(ac_ctx *cx, ac_refusals *list, ac_place at, ac_code code, const char *op, const char *reason,
                     const char *help);
/* Reports each distinct operator and reason once, in order of first occurrence. AC_OK: the list is empty. */
int ac_refusals_report(ac_ctx *cx, ac_refusals *list);

#endif
