/* pending.h - outputs that are built and not yet written.
 *
 *     ac_sink *to = ac_pending_add(&w->out, "kws.c");
 *     ac_putf(to, "...");                                   nothing is on disk until ac_commit (driver/emit/outputs.c)
 *
 * Memory: the context's region. */
#ifndef AC_DRIVER_PENDING_H
#define AC_DRIVER_PENDING_H
#include "base/sink.h"

typedef struct ac_pending {
    ac_ctx *cx;
    AC_VEC(ac_output) list;
    const char *folder; /* of -o FOLDER/: created when they are written; NULL: no output goes into it */
    bool listed;        /* commit prints the list of files */
} ac_pending;

ac_sink *ac_pending_add(ac_pending *p, const char *path); /* an empty output, to be filled */
void ac_pending_put(ac_pending *p, ac_sink *filled, const char *path);

#endif
