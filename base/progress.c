/* progress.c - see progress.h. */
#include "base/progress.h"

static int clamp(int64_t n)
{
    return n > INT32_MAX ? INT32_MAX : (int)n;
}

void ac_progress_begin(ac_ctx *cx, const char *what, int64_t total)
{
    struct ac_progress *p = cx->progress;
    if (!p)
        return;
    atomic_store(&p->name, NULL);
    atomic_store(&p->done, 0);
    atomic_store(&p->total, clamp(total));
    atomic_store(&p->what, what);
}

void ac_progress_at(ac_ctx *cx, int64_t done)
{
    if (cx->progress)
        atomic_store(&cx->progress->done, clamp(done));
}

void ac_progress_more(ac_ctx *cx)
{
    if (cx->progress)
        atomic_fetch_add(&cx->progress->done, 1);
}

void ac_progress_value(ac_ctx *cx, const char *name, double value)
{
    if (!cx->progress)
        return;
    atomic_store(&cx->progress->value, (float)value);
    atomic_store(&cx->progress->name, name);
}
