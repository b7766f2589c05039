/* progress.h - the progress of a long command, for another thread to show.
 *
 *     ac_progress_begin(cx, "lowering", n);               a literal; n: how many there are, 0: not known
 *     for (int32_t i = 0; i < n; i++) {
 *         ac_progress_at(cx, i);                          i are done
 *         ...
 *     }
 *     ac_progress_value(cx, "loss", 0.3);                 a value to show as well, until the next begin
 *
 * One compilation writes, and with its parts it has one place for it (cx->progress; NULL: not shown). Each field is
 * atomic, all together are not, so a reader may see the number of one task with the name of the next. Cost: some
 * stores. */
#ifndef AC_BASE_PROGRESS_H
#define AC_BASE_PROGRESS_H
#include "base/ctx.h"

#include <stdatomic.h>

struct ac_progress {
    _Atomic(const char *) what, name; /* NULL: nothing has begun; no value */
    atomic_int done, total;
    _Atomic float value;
};

void ac_progress_begin(ac_ctx *cx, const char *what, int64_t total);
void ac_progress_at(ac_ctx *cx, int64_t done);
void ac_progress_more(ac_ctx *cx); /* one more is done */
void ac_progress_value(ac_ctx *cx, const char *name, double value);

#endif
