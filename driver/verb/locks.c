/* locks.c - a plan against its lock (--lock, --update-lock), and the verb diff: what changed between two plans. */
#include "driver/stage/stage.h"
#include "driver/verb/verbs.h"

#include "planner/report/lock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int ac_lock_plan(arenac *a)
{
    const char *path = a->opt.lock;
    ac_lock *locked;
    ac_file f = {0};
    if (!path)
        return a->opt.update_lock
                   ? ac_error(&a->cx, (ac_place){0}, E0501, "--update-lock needs --lock FILE, the file to write")
                   : AC_OK;
    ac_lock *now = ac_lock_of(&a->cx, a->report);
    if (a->opt.update_lock) {
        ac_lock_write(ac_output_new(a, path), now);
        return AC_OK;
    }
    if (access(path, F_OK) && errno == ENOENT) {
        ac_error(&a->cx, (ac_place){.file = path}, E0301, "the lock file does not exist");
        return ac_help(&a->cx, "--update-lock writes it");
    }
    AC_TRY(ac_file_open(&a->cx, path, &f));
    const int status = ac_lock_read(&a->cx, path, (const char *)f.data, f.n, &locked); /* copies what it keeps */
    ac_file_close(&f);
    return status == AC_OK ? ac_lock_check(&a->cx, locked, now) : status;
}

/* ------------------------------------------------------------------ diff */

static int put_lock_text(arenac *one, void *arg)
{
    ac_sink *to = arg;
    ac_sink_open(to, &one->cx);
    ac_lock_write(to, ac_lock_of(&one->cx, one->report));
    return AC_OK;
}

/* The lock of a model, which is planned by an arenac of its own: by way of its text, which is all that matters. */
static int lock_of_model(arenac *a, const char *path, ac_lock **out)
{
    arenac *one = ac_open_like(a, NULL, 0);
    ac_sink text;
    int status =
        arenac_read(one, &path, 1) || arenac_plan(one) || ac_guard(one, put_lock_text, &text) ? AC_FAIL : AC_OK;
    ac_diags_copy(&a->cx, &one->cx.diags);
    if (status == AC_OK)
        status = ac_lock_read(&a->cx, path, text.text, text.n, out);
    if (status == AC_OK)
        (*out)->file = NULL;
    arenac_close(one);
    return status;
}

static int lock_of(arenac *a, const char *path, ac_lock **out)
{
    ac_file f = {0};
    if (!strcmp(path, "-"))
        return lock_of_model(a, path, out);
    AC_TRY(ac_file_open(&a->cx, path, &f));
    const bool is_lock = ac_lock_looks_like((const char *)f.data, f.n);
    const int status = is_lock ? ac_lock_read(&a->cx, path, (const char *)f.data, f.n, out) : AC_OK;
    ac_file_close(&f);
    return is_lock ? status : lock_of_model(a, path, out);
}

int ac_diff(arenac *a, const char *const *path, int32_t n)
{
    ac_lock *old, *new;
    if (n != 2)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                        "diff takes two files, locks or models; %d given; arenac help diff", n);
    AC_TRY(lock_of(a, path[0], &old));
    AC_TRY(lock_of(a, path[1], &new));
    ac_sink *to = ac_output_new(a, a->opt.output ? a->opt.output : "-");
    if (a->opt.json)
        ac_lock_diff_json(to, old, new);
    else if (a->opt.md)
        ac_lock_diff_md(to, old, new);
    else if (!a->opt.quiet)
        ac_lock_diff_text(to, old, new, a->opt.verbose > 0);
    a->changed = !ac_lock_compare(old, new).same;
    return AC_OK;
}
