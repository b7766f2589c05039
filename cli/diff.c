/* diff.c - plans compared with their lock (--lock, --update-lock of plan and compile), and the verb diff. */
#include "cli/cli.h"

#include "planner/report/lock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ --lock */

static int lock_stage(arenac_job *job, void *arg)
{
    const ac_cli *cli = arg;
    ac_lock *now = ac_lock_of(&job->cx, &job->report), *locked;
    if (cli->update_lock) {
        ac_sink *to = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(to, &job->cx);
        ac_lock_write(to, now);
        ac_job_add_output(job, to, cli->lock);
        return AC_OK;
    }
    if (access(cli->lock, F_OK) && errno == ENOENT) {
        ac_error(&job->cx, (ac_place){.file = cli->lock}, E0301, "the lock file does not exist");
        return ac_help(&job->cx, "--update-lock writes it");
    }
    ac_file f = {0};
    AC_TRY(ac_file_open(&job->cx, cli->lock, &f));
    int status = ac_lock_read(&job->cx, cli->lock, (const char *)f.data, f.n, &locked); /* copies what it keeps */
    ac_file_close(&f);
    return status == AC_OK ? ac_lock_check(&job->cx, locked, now) : status;
}

int ac_cli_lock(const ac_cli *cli, arenac_job *job)
{
    if (cli->update_lock && !cli->lock)
        return ac_error(&job->cx, (ac_place){0}, E0501, "--update-lock needs --lock FILE, the file to write");
    if (!cli->lock)
        return AC_OK;
    ac_cli copy = *cli;
    return ac_job_guard(job, lock_stage, &copy);
}

/* ------------------------------------------------------------------ the verb diff */

typedef struct side {
    const char *path;
    ac_lock *lock;
    arenac_job *job; /* owns the lock */
} side;

static int read_lock_stage(arenac_job *job, void *arg)
{
    side *s = arg;
    job->path = s->path;
    AC_TRY(ac_file_open(&job->cx, s->path, &job->file));
    if (!ac_lock_looks_like((const char *)job->file.data, job->file.n))
        return AC_OK;
    return ac_lock_read(&job->cx, s->path, (const char *)job->file.data, job->file.n, &s->lock);
}

static int make_lock_stage(arenac_job *job, void *arg)
{
    side *s = arg;
    s->lock = ac_lock_of(&job->cx, &job->report);
    return AC_OK;
}

/* Reads a lock, or plans a model. 0, or -1 with the job's diagnostics. */
static int open_side(const ac_cli *cli, side *s)
{
    s->job = arenac_open(&cli->opt);
    if (!s->job)
        return -1;
    if (strcmp(s->path, "-") != 0 && (ac_job_guard(s->job, read_lock_stage, s) || s->lock))
        return s->lock ? 0 : -1;
    arenac_close(s->job);
    s->job = arenac_open(&cli->opt);
    if (!s->job || arenac_read(s->job, s->path) || arenac_plan(s->job))
        return -1;
    return ac_job_guard(s->job, make_lock_stage, s);
}

typedef struct print_arg {
    const ac_cli *cli;
    const side *a, *b;
} print_arg;

static int print_stage(arenac_job *job, void *arg)
{
    const print_arg *p = arg;
    ac_sink *to = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(to, &job->cx);
    if (p->cli->json)
        ac_lock_diff_json(to, p->a->lock, p->b->lock);
    else if (p->cli->md)
        ac_lock_diff_md(to, p->a->lock, p->b->lock);
    else if (!p->cli->quiet)
        ac_lock_diff_text(to, p->a->lock, p->b->lock, p->cli->verbose > 0);
    ac_job_add_output(job, to, p->cli->output ? p->cli->output : "-");
    return AC_OK;
}

int ac_cli_diff(ac_cli *cli)
{
    if (cli->n_files != 2) {
        fprintf(stderr, "arenac: error[E0501]: diff takes two files, locks or models; %d given; arenac help diff\n",
                cli->n_files);
        return AC_EXIT_USAGE;
    }
    side a = {.path = cli->file[0]}, b = {.path = cli->file[1]};
    side *open[2] = {&a, &b};
    for (int i = 0; i < 2; i++)
        if (open_side(cli, open[i])) {
            int status = open[i]->job ? ac_cli_finish(cli, open[i]->job) : AC_EXIT_INVALID;
            if (!open[i]->job)
                fputs("arenac: error[E0402]: out of memory\n", stderr);
            if (i)
                arenac_close(a.job);
            return status;
        }
    print_arg p = {cli, &a, &b};
    bool same = ac_lock_compare(a.lock, b.lock).same;
    if (ac_job_guard(b.job, print_stage, &p) == 0)
        arenac_commit(b.job);
    int status = ac_cli_finish(cli, b.job);
    arenac_close(a.job);
    return status ? status : same ? 0 : AC_EXIT_CHANGED;
}
