/* tune.c - bench --tune: other schedules of each step, measured on this machine.
 *
 * Every step with a register tile gets a few candidates, those that the cost model finds nearly as good as its choice.
 * Program k is the model with the k-th candidate of all steps at once, so a few compilations measure all of them. Each
 * runs alternately with the model as it is, so that load on the machine hits both alike; a candidate is taken when its
 * step is faster by some percent. At the end the whole tuned program is compared with the plain one: outputs byte for
 * byte, and the file is empty if it is not faster. */
#include "cli/tune.h"
#include "cli/host.h"
#include "cli/inputs.h"
#include "driver/job_tune.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 6, ROWS = 14, VECS = 4, LEAST_RUNS = 5, RECHECKS = 2 };
static const double NEARLY = 1.4;    /* candidates: times the best estimate */
static const double CLEARLY = 0.97;  /* a step has to get this much faster */
static const double BUDGET_MS = 600; /* for one program, unless --runs */

typedef struct program {
    ac_cli *cli;
    arenac_job *job;
    ac_host host;
    ac_inputs inputs;
    const ac_schedule *told;
    int32_t *node_of;    /* of each step: position in job->lowered */
    double *best;        /* ms, by that position */
    double last, run_ms; /* when the last step ended; the fastest whole run */
} program;

static void lap(void *user, int32_t step)
{
    program *p = user;
    const double t = ac_cli_now_ms(), ms = t - p->last;
    p->last = t;
    double *best = &p->best[p->node_of[step]];
    if (*best <= 0 || ms < *best)
        *best = ms;
}

static int open_stage(arenac_job *job, void *arg)
{
    program *p = arg;
    AC_TRY(ac_host_open(job, p->cli->backend ? p->cli->backend : "c", &p->host));
    p->node_of = AC_NEW_N(job->cx.region, int32_t, job->n_steps + 1);
    p->best = AC_NEW_N(job->cx.region, double, job->n_lowered + 1);
    for (int32_t s = 0; s < job->n_steps; s++) {
        p->node_of[s] = job->n_lowered; /* of a group of steps: nobody's */
        for (int32_t i = 0; i < job->n_lowered && !job->step[s]->chain; i++)
            if (job->lowered[i]->node == job->step[s]->node)
                p->node_of[s] = i;
    }
    return AC_OK;
}

static void close_program(program *p)
{
    ac_host_close(&p->host);
    ac_inputs_close(&p->inputs);
    arenac_close(p->job);
    free(p);
}

/* The model compiled as told; NULL with its diagnostics printed, and their exit status. */
static program *open_program(ac_cli *cli, const ac_schedule *told, int *status)
{
    program *p = calloc(1, sizeof *p);
    arenac_job *job = p ? arenac_open(&cli->opt) : NULL;
    if (!job) {
        fputs("arenac: error[E0402]: out of memory\n", stderr);
        *status = AC_EXIT_INVALID;
        free(p);
        return NULL;
    }
    *p = (program){.cli = cli, .job = job, .told = told};
    const char *backend = cli->backend ? cli->backend : "c";
    if (ac_cli_read(cli, job) == 0) {
        job->told = told;
        if (ac_inputs_open(job, cli, backend, &p->inputs) == 0 && arenac_compile(job) == 0 &&
            ac_inputs_check(job, &p->inputs) == 0 && ac_job_guard(job, open_stage, p) == 0)
            return p;
    }
    arenac_print_diagnostics(job, stderr, cli->color);
    *status = arenac_exit(job);
    close_program(p);
    return NULL;
}

static int run_stage(arenac_job *job, void *arg)
{
    program *p = arg;
    AC_TRY(ac_inputs_fill(job, &p->inputs, &p->host));
    const double from = p->last = ac_cli_now_ms();
    AC_TRY(ac_host_run(&p->host));
    const double ms = ac_cli_now_ms() - from;
    if (p->run_ms <= 0 || ms < p->run_ms)
        p->run_ms = ms;
    return AC_OK;
}

/* a and b in turn; hooked: with the time of each step. */
static int run_both(program *a, program *b, int64_t runs, bool hooked)
{
    program *both[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        both[k]->host.hook = hooked ? lap : NULL;
        both[k]->host.hook_user = both[k];
        AC_TRY(ac_job_guard(both[k]->job, run_stage, both[k])); /* warm */
        both[k]->run_ms = 0;
        memset(both[k]->best, 0, sizeof(double) * (size_t)(both[k]->job->n_lowered + 1));
    }
    const double from = ac_cli_now_ms();
    for (int64_t i = 0; runs ? i < runs : i < LEAST_RUNS || ac_cli_now_ms() - from < BUDGET_MS; i++)
        for (int k = 0; k < 2; k++)
            AC_TRY(ac_job_guard(both[k]->job, run_stage, both[k]));
    return AC_OK;
}

/* ------------------------------------------------------------------ candidates */

static bool same(const ac_schedule *a, const ac_schedule *b)
{
    return a->rows == b->rows && a->vecs == b->vecs && a->winograd == b->winograd;
}

/* Adds s to the sorted list, the best MOST stay. Without an estimate larger tiles come first. */
static int32_t insert(ac_schedule *list, int32_t n, ac_schedule s)
{
    if (s.cost <= 0)
        s.cost = 1.0 / (s.rows * s.vecs);
    for (int32_t i = 0; i < n; i++)
        if (same(&list[i], &s))
            return n;
    int32_t at = n < MOST ? n : MOST;
    while (at > 0 && list[at - 1].cost > s.cost) {
        if (at < MOST)
            list[at] = list[at - 1];
        at--;
    }
    if (at < MOST)
        list[at] = s;
    return n < MOST ? n + 1 : MOST;
}

/* Schedules of a step beside the present one. */
static int32_t candidates(arenac_job *job, const ac_lowered *now, ac_schedule *list)
{
    static const int32_t ANY[] = {AC_WINOGRAD_NEVER, 2, 4};
    const ac_schedule *s = &now->schedule;
    const bool choose = job->opt.winograd == AC_WINOGRAD_CHEAPEST && now->node->op == AC_OP_CONV_2D;
    const double limit = s->cost * NEARLY;
    int32_t n = 0;
    if (s->rows < 1)
        return 0;
    ac_region *tmp = ac_region_open(&job->cx.heap);
    for (int32_t w = 0; w < (choose ? 3 : 1); w++)
        for (int32_t k = 0; k < ROWS * VECS; k++) {
            const ac_schedule told = {
                .rows = k / VECS + 1, .vecs = k % VECS + 1, .winograd = choose ? ANY[w] : job->opt.winograd};
            const ac_diags before = job->cx.diags;
            const ac_lowered *low = ac_lower_told(&job->cx, tmp, now->node, job->target, 0, job->opt.exact, &told);
            if (!ac_quietly(&job->cx, before, low ? AC_OK : AC_FAIL))
                continue;
            const ac_schedule *t = &low->schedule;
            if (t->rows != told.rows || t->vecs != told.vecs || same(t, s) || (choose && w && t->winograd != ANY[w]) ||
                (s->cost > 0 && t->cost > limit))
                continue;
            n = insert(list, n, *t);
        }
    ac_region_close(tmp);
    return n;
}

/* What lowering has to be told for schedule s: none of winograd's is a choice where there is one. */
static ac_schedule telling(const arenac_job *job, const ac_schedule *s)
{
    ac_schedule t = {.rows = s->rows, .vecs = s->vecs, .winograd = job->opt.winograd};
    if (job->opt.winograd == AC_WINOGRAD_CHEAPEST)
        t.winograd = s->winograd ? s->winograd : AC_WINOGRAD_NEVER;
    return t;
}

/* ------------------------------------------------------------------ the verb */

typedef struct tuning {
    ac_cli *cli;
    program *plain;
    ac_schedule (*list)[MOST]; /* of each node */
    int32_t *count;
    ac_schedule *chosen; /* rows 0: stays */
    double *gain;        /* time by time of the plain step */
    const char **note;
    const char *path; /* of the file written; NULL: standard output */
    int32_t n, programs;
} tuning;

static void find_candidates(arenac_job *job, tuning *t)
{
    ac_region *r = job->cx.region;
    t->n = job->n_lowered;
    t->list = ac_alloc_n(r, (size_t)t->n + 1, sizeof *t->list);
    t->count = AC_NEW_N(r, int32_t, t->n + 1);
    t->chosen = AC_NEW_N(r, ac_schedule, t->n + 1);
    t->gain = AC_NEW_N(r, double, t->n + 1);
    t->note = AC_NEW_N(r, const char *, t->n + 1);
    for (int32_t i = 0; i < t->n; i++) {
        t->count[i] = candidates(job, job->lowered[i], t->list[i]);
        t->gain[i] = CLEARLY;
        if (t->count[i] > t->programs)
            t->programs = t->count[i];
    }
}

/* Schedules that a program is told: by node, the option where `from` has none. */
static ac_schedule *told_of(const arenac_job *job, const tuning *t, int32_t k)
{
    ac_schedule *told = AC_NEW_N(t->plain->job->cx.region, ac_schedule, t->n + 1);
    for (int32_t i = 0; i < t->n; i++) {
        const ac_schedule *s = k < 0             ? (t->chosen[i].rows ? &t->chosen[i] : NULL)
                               : k < t->count[i] ? &t->list[i][k]
                                                 : NULL;
        told[i] = s ? telling(job, s) : (ac_schedule){.winograd = job->opt.winograd};
    }
    return told;
}

static int measure(arenac_job *job, tuning *t, int32_t k)
{
    int ignored;
    program *p = open_program(t->cli, told_of(job, t, k), &ignored);
    if (!p)
        return ac_error(&job->cx, (ac_place){.file = job->path}, E0303,
                        "a program with other schedules cannot be made");
    const int status = run_both(t->plain, p, t->cli->runs, true);
    for (int32_t i = 0; i < t->n && status == AC_OK; i++) {
        const double ms = p->best[i], was = t->plain->best[i];
        if (k >= t->count[i] || was <= 0 || ms <= 0 || ms / was >= t->gain[i])
            continue;
        t->gain[i] = ms / was;
        t->chosen[i] = t->list[i][k];
        t->note[i] = ac_strf(t->plain->job->cx.region, "%.4f ms, was %.4f", ms, was);
    }
    close_program(p);
    return status;
}

/* The choices of different programs together: those that are not faster any more, or were by chance, are dropped. */
static int recheck(arenac_job *job, tuning *t)
{
    int ignored;
    program *p = open_program(t->cli, told_of(job, t, -1), &ignored);
    if (!p)
        return ac_error(&job->cx, (ac_place){.file = job->path}, E0303, "the tuned program cannot be made");
    const int status = run_both(t->plain, p, t->cli->runs, true);
    for (int32_t i = 0; i < t->n && status == AC_OK; i++) {
        const double ms = p->best[i], was = t->plain->best[i];
        if (!t->chosen[i].rows)
            continue;
        if (ms >= was * CLEARLY)
            t->chosen[i].rows = 0;
        t->note[i] = ac_strf(t->plain->job->cx.region, "%.4f ms, was %.4f", ms, was);
    }
    close_program(p);
    return status;
}

/* The tuned program against the plain one: the same outputs; *faster. */
static int confirm(arenac_job *job, tuning *t, bool *faster)
{
    int ignored;
    program *p = open_program(t->cli, told_of(job, t, -1), &ignored);
    if (!p)
        return ac_error(&job->cx, (ac_place){.file = job->path}, E0303, "the tuned program cannot be made");
    int status = run_both(t->plain, p, t->cli->runs, false);
    *faster = status == AC_OK && p->run_ms < t->plain->run_ms;
    for (int32_t i = 0; i < job->module->n_outputs && status == AC_OK && job->opt.winograd != AC_WINOGRAD_CHEAPEST;
         i++) {
        const ac_io *a = &t->plain->job->module->output[i], *b = &p->job->module->output[i];
        if (memcmp(ac_host_at(&t->plain->host, a), ac_host_at(&p->host, b), (size_t)a->bytes))
            status =
                ac_error(&job->cx, (ac_place){.file = job->path}, E0901, "output %d of the tuned program differs", i);
    }
    if (status == AC_OK)
        printf("plain %.6g ms, tuned %.6g ms\n", t->plain->run_ms, p->run_ms);
    close_program(p);
    return status;
}

static int write_file(arenac_job *job, tuning *t)
{
    ac_sink *s = AC_NEW(job->cx.region, ac_sink);
    ac_node **node = AC_NEW_N(job->cx.region, ac_node *, t->n + 1);
    for (int32_t i = 0; i < t->n; i++)
        node[i] = (ac_node *)(uintptr_t)job->lowered[i]->node;
    const char *path = t->cli->output ? t->cli->output : ac_strf(job->cx.region, "%s.tune", job->stem);
    ac_sink_open(s, &job->cx);
    ac_tune_write(s, job, node, t->chosen, t->note, t->n);
    ac_job_add_output(job, s, path);
    AC_TRY(ac_sink_commit_all(&job->cx, job->output.item, job->output.n));
    job->output.n = 0;
    if (!strcmp(path, "-"))
        return AC_OK;
    t->path = strdup(path); /* lives as long as the process */
    printf("written: %s, for --tuned\n", path);
    return AC_OK;
}

static int tune_stage(arenac_job *job, void *arg)
{
    tuning *t = arg;
    bool faster = true;
    find_candidates(job, t);
    for (int32_t k = 0; k < t->programs; k++)
        AC_TRY(measure(job, t, k));
    for (int k = 0; k < RECHECKS; k++)
        AC_TRY(recheck(job, t));
    int32_t changed = 0, with = 0;
    for (int32_t i = 0; i < t->n; i++) {
        changed += t->chosen[i].rows > 0;
        with += t->count[i] > 0;
    }
    printf("%d of %d steps have other schedules worth measuring; %d of them %s faster\n", with, t->n, changed,
           changed == 1 ? "is" : "are");
    if (changed)
        AC_TRY(confirm(job, t, &faster));
    if (!faster) {
        printf("the whole is not faster: nothing is changed\n");
        memset(t->chosen, 0, sizeof *t->chosen * (size_t)t->n);
    }
    return write_file(job, t);
}

int ac_cli_tune(ac_cli *cli)
{
    tuning t = {.cli = cli};
    if (!cli->n_files || !strcmp(cli->file[0], "-") || cli->opt.tuned) {
        fprintf(stderr, "arenac: error[E0501]: --tune reads the model several times: it cannot be standard input, nor "
                        "be --tuned already\n");
        return AC_EXIT_USAGE;
    }
    if (cli->n_files == 2)
        cli->opt.weights_file = cli->file[1];
    int status;
    t.plain = open_program(cli, NULL, &status);
    if (!t.plain)
        return status;
    ac_job_guard(t.plain->job, tune_stage, &t);
    arenac_job *job = t.plain->job;
    t.plain->job = NULL;
    ac_host_close(&t.plain->host);
    ac_inputs_close(&t.plain->inputs);
    free(t.plain);
    if (!arenac_exit(job))
        cli->opt.tuned = t.path;
    return ac_cli_finish(cli, job);
}
