/* diff.c - the verb diff: the differences between two plans, each a lock or a model. */
#include "driver/verb/verbs.h"

#include "planner/report/lock.h"

#include <string.h>

typedef struct planning {
    const char *path;
    ac_sink lock;
} planning;

static int plan_stage(ac_work *one, void *arg)
{
    planning *p = arg;
    AC_TRY(ac_open(one, &p->path, 1));
    AC_TRY(ac_read_any(one));
    AC_TRY(ac_plan_any(one));
    ac_sink_open(&p->lock, &one->cx);
    ac_lock_write(&p->lock, ac_lock_of(&one->cx, one->made.report));
    return AC_OK;
}

/* The lock of a model, which is planned as a variant: its text is read back, so that the variant can be closed. */
static int lock_of_model(ac_work *w, const char *path, ac_lock **out)
{
    ac_work *one = ac_work_like(w, AC_AS_OTHER);
    planning p = {.path = path};
    int status = ac_guard(one, plan_stage, &p);
    ac_work_diags(w, one);
    if (status == AC_OK)
        status = ac_lock_read(&w->cx, path, p.lock.text, p.lock.n, out);
    if (status == AC_OK)
        (*out)->file = NULL;
    ac_work_close(one);
    return status;
}

static int lock_of(ac_work *w, const char *path, ac_lock **out)
{
    ac_file f = {0};
    if (!strcmp(path, "-"))
        return lock_of_model(w, path, out);
    AC_TRY(ac_file_open(&w->cx, path, &f));
    const bool is_lock = ac_lock_looks_like((const char *)f.data, f.n);
    const int status = is_lock ? ac_lock_read(&w->cx, path, (const char *)f.data, f.n, out) : AC_OK;
    ac_file_close(&f);
    return is_lock ? status : lock_of_model(w, path, out);
}

int ac_diff(ac_work *w, const char *const *path, int32_t n)
{
    ac_lock *old, *new;
    if (n != 2)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501,
                        "diff takes two files, locks or models; %d given; arenac help diff", n);
    AC_TRY(lock_of(w, path[0], &old));
    AC_TRY(lock_of(w, path[1], &new));
    ac_sink *to = ac_pending_add(&w->out, w->opt.output ? w->opt.output : "-");
    if (w->opt.json)
        ac_lock_diff_json(to, old, new);
    else if (w->opt.md)
        ac_lock_diff_md(to, old, new);
    else if (!w->opt.quiet)
        ac_lock_diff_text(to, old, new, w->opt.verbose > 0);
    w->changed = !ac_lock_compare(old, new).same;
    return AC_OK;
}
