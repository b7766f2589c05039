/* refuse.h - what a well-formed file uses that arenac does not support: collected by a reader, reported together when
 * everything was read, so that the user sees all of it at once.
 *
 *     ac_refusals_add(cx, &list, at, E0107, "SVDF", "fused recurrent operators are not lowered", NULL);
 *     ...
 *     AC_TRY(ac_refusals_report(cx, &list));
 *
 * Readers say ac_refuse (reading.h).
 *
 * Memory: the context's region; the strings must live as long as the context. */
#ifndef AC_IMPORT_BUILD_REFUSE_H
#define AC_IMPORT_BUILD_REFUSE_H
#include "base/ctx.h"
#include "base/vec.h"

typedef struct ac_refusal {
    ac_code code;
    const char *op, *reason, *help; /* help: NULL when there is none */
    ac_place at;
    int32_t order; /* position in the order of reading */
    int32_t count; /* how often, filled in when reported */
} ac_refusal;

typedef struct ac_refusals {
    ac_refusal *item;
    int32_t n, cap;
} ac_refusals;

void ac_refusals_add(ac_ctx *cx, ac_refusals *list, ac_place at, ac_code code, const char *op, const char *reason,
                     const char *help);
/* One diagnostic for each distinct operator and reason, in the order in which they first occur. AC_OK: there is
 * none. */
int ac_refusals_report(ac_ctx *cx, ac_refusals *list);

#endif
