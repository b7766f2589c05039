/* tune.c - bench --tune: other loop schedules of each step, measured on this machine.
 *
 * Every step with a register tile gets a few candidates, those that the cost model finds nearly as good as its choice.
 * Program k is the model with the k-th candidate of all steps at once, so a few compilations measure all of them. Each
 * runs alternately with the model as it is, so that load on the machine hits both alike; a candidate is taken when its
 * step is faster by some percent. At the end the whole tuned program is compared with the plain one: outputs byte for
 * byte, and the file is empty if it is not faster. */
#include "base/clock.h"
#include "driver/stage/tune_file.h"
#include "driver/verb/verbs.h"
#include "ir/lower/node/node.h"

#include <string.h>

enum { MOST = 6, ROWS = 14, VECS = 4, LEAST_RUNS = 5, RECHECKS = 2 };
static const double NEARLY = 1.4;    /* candidates: times the best estimate */
static const double CLEARLY = 0.97;  /* a step has to get this much faster */
static const double BUDGET_MS = 600; /* for one program, unless --runs */

typedef struct program {
    ac_work *w;          /* a compilation of its own */
    int32_t *node_of;    /* of each step: position among the lowered ones */
    double *best;        /* ms, by that position */
    double last, run_ms; /* when the last step ended; the fastest whole run */
} program;

typedef struct paths {
    const char *const *path;
    int32_t n;
} paths;

typedef struct tuning {
    ac_work *w; /* the caller: messages and memory */
    paths model;
    program plain;
    ac_schedule (*list)[MOST]; /* of each node */
    int32_t *count;
    ac_schedule *chosen; /* rows 0: stays */
    double *gain;        /* time by time of the plain step */
    const char **note;
    int32_t n, programs;
} tuning;

/* ------------------------------------------------------------------ programs */

static void lap(void *user, int32_t step)
{
    program *p = user;
    const double t = ac_now_ms(), ms = t - p->last;
    double *best = &p->best[p->node_of[step]];
    p->last = t;
    if (*best <= 0 || ms < *best)
        *best = ms;
}

static int compile_stage(ac_work *one, void *arg)
{
    const paths *model = arg;
    AC_TRY(ac_read(one, model->path, model->n));
    AC_TRY(ac_inputs_open(&one->made));
    AC_TRY(ac_compile(one));
    AC_TRY(ac_inputs_check(&one->made, true));
    return ac_load(one);
}

/* The node of each step; a group of steps has none. */
static int number_stage(ac_work *one, void *arg)
{
    program *p = arg;
    const ac_lowering *low = one->made.lowering;
    const ac_planned *plan = one->made.planned;
    p->node_of = AC_NEW_N(one->cx.region, int32_t, plan->n_steps + 1);
    p->best = AC_NEW_N(one->cx.region, double, low->n_steps + 1);
    for (int32_t s = 0; s < plan->n_steps; s++) {
        p->node_of[s] = low->n_steps;
        for (int32_t i = 0; i < low->n_steps && !plan->step[s]->chain; i++)
            if (low->step[i]->node == plan->step[s]->node)
                p->node_of[s] = i;
    }
    return AC_OK;
}

/* The model compiled by these hints; t->w gets the diagnostics of a failure. */
static int open_program(tuning *t, const ac_schedule *hints, program *p)
{
    *p = (program){.w = ac_work_like(t->w, AC_AS_TUNED)};
    p->w->request.purpose = AC_FOR_RUNNING;
    p->w->request.hooked = true;
    p->w->request.hints = hints;
    const int status = ac_guard(p->w, compile_stage, &t->model) || ac_guard(p->w, number_stage, p) ? AC_FAIL : AC_OK;
    if (status != AC_OK)
        ac_work_diags(t->w, p->w);
    return status;
}

static int run_stage(ac_work *one, void *arg)
{
    program *p = arg;
    ac_inputs_fill(&one->made, &one->session);
    const double from = p->last = ac_now_ms();
    AC_TRY(ac_session_run(&one->session));
    const double ms = ac_now_ms() - from;
    if (p->run_ms <= 0 || ms < p->run_ms)
        p->run_ms = ms;
    return AC_OK;
}

/* a and b in turn; hooked: with the time of each step. */
static int run_both(program *a, program *b, int64_t runs, bool hooked)
{
    program *both[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        both[k]->w->session.hook = hooked ? lap : NULL;
        both[k]->w->session.hook_user = both[k];
        AC_TRY(ac_guard(both[k]->w, run_stage, both[k])); /* warm */
        both[k]->run_ms = 0;
        memset(both[k]->best, 0, sizeof(double) * (size_t)(both[k]->w->made.lowering->n_steps + 1));
    }
    const double from = ac_now_ms();
    for (int64_t i = 0; runs > 0 ? i < runs : i < LEAST_RUNS || ac_now_ms() - from < BUDGET_MS; i++)
        for (int k = 0; k < 2; k++)
            AC_TRY(ac_guard(both[k]->w, run_stage, both[k]));
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

/* The step by schedule `hint`, if that is another one than `now` and nearly as good; false: it is not. */
static bool is_candidate(ac_work *one, ac_region *tmp, const ac_lowered *now, const ac_schedule *hint, bool choose,
                         ac_schedule *out)
{
    const ac_schedule *s = &now->schedule;
    const ac_diags before = one->cx.diags;
    const ac_lowered *low =
        ac_lower_hinted(&one->cx, tmp, now->node, one->made.lowering->set.target, 0, one->opt.exact, hint);
    if (!ac_quietly(&one->cx, before, low ? AC_OK : AC_FAIL))
        return false;
    *out = low->schedule;
    return out->rows == hint->rows && out->vecs == hint->vecs && !same(out, s) &&
           !(choose && hint->winograd > 0 && out->winograd != hint->winograd) &&
           !(s->cost > 0 && out->cost > s->cost * NEARLY);
}

/* Alternatives to the schedule of a step. */
static int32_t candidates(ac_work *one, const ac_lowered *now, ac_schedule *list)
{
    static const int32_t ANY[] = {AC_WINOGRAD_NEVER, 2, 4};
    const int32_t winograd = one->made.lowering->set.winograd;
    const bool choose = winograd == AC_WINOGRAD_CHEAPEST && now->node->op == AC_OP_CONV_2D;
    int32_t n = 0;
    if (now->schedule.rows < 1)
        return 0;
    ac_region *tmp = ac_region_open(&one->cx.heap);
    for (int32_t w = 0; w < (choose ? 3 : 1); w++)
        for (int32_t k = 0; k < ROWS * VECS; k++) {
            const ac_schedule hint = {
                .rows = k / VECS + 1, .vecs = k % VECS + 1, .winograd = choose ? ANY[w] : winograd};
            ac_schedule found;
            if (is_candidate(one, tmp, now, &hint, choose, &found))
                n = insert(list, n, found);
        }
    ac_region_close(tmp);
    return n;
}

static int candidates_stage(ac_work *one, void *arg)
{
    tuning *t = arg;
    for (int32_t i = 0; i < t->n; i++) {
        t->count[i] = candidates(one, one->made.lowering->step[i], t->list[i]);
        t->gain[i] = CLEARLY;
        if (t->count[i] > t->programs)
            t->programs = t->count[i];
    }
    return AC_OK;
}

static int find_candidates(tuning *t)
{
    ac_region *r = t->w->cx.region;
    t->n = t->plain.w->made.lowering->n_steps;
    t->list = ac_alloc_n(r, (uint64_t)t->n + 1, sizeof *t->list);
    t->count = AC_NEW_N(r, int32_t, t->n + 1);
    t->chosen = AC_NEW_N(r, ac_schedule, t->n + 1);
    t->gain = AC_NEW_N(r, double, t->n + 1);
    t->note = AC_NEW_N(r, const char *, t->n + 1);
    return ac_guard(t->plain.w, candidates_stage, t);
}

/* ------------------------------------------------------------------ measuring */

/* The hint for schedule s. If winograd may be chosen, the hint of a direct sum excludes it. */
static ac_schedule hint_for(const tuning *t, const ac_schedule *s)
{
    const int32_t winograd = t->plain.w->made.lowering->set.winograd;
    ac_schedule hint = {.rows = s->rows, .vecs = s->vecs, .winograd = winograd};
    if (winograd == AC_WINOGRAD_CHEAPEST)
        hint.winograd = s->winograd ? s->winograd : AC_WINOGRAD_NEVER;
    return hint;
}

/* The hints of a program: its k-th candidates, or (k < 0) the chosen schedules; without one, the option. */
static ac_schedule *hints_of(const tuning *t, int32_t k)
{
    ac_schedule *hints = AC_NEW_N(t->w->cx.region, ac_schedule, t->n + 1);
    for (int32_t i = 0; i < t->n; i++) {
        const ac_schedule *s = k < 0             ? (t->chosen[i].rows ? &t->chosen[i] : NULL)
                               : k < t->count[i] ? &t->list[i][k]
                                                 : NULL;
        hints[i] = s ? hint_for(t, s) : (ac_schedule){.winograd = t->plain.w->made.lowering->set.winograd};
    }
    return hints;
}

static int measure(tuning *t, int32_t k)
{
    program p;
    int status = open_program(t, hints_of(t, k), &p);
    if (status == AC_OK)
        status = run_both(&t->plain, &p, t->w->opt.runs, true);
    for (int32_t i = 0; i < t->n && status == AC_OK; i++) {
        const double ms = p.best[i], was = t->plain.best[i];
        if (k >= t->count[i] || was <= 0 || ms <= 0 || ms / was >= t->gain[i])
            continue;
        t->gain[i] = ms / was;
        t->chosen[i] = t->list[i][k];
        t->note[i] = ac_strf(t->w->cx.region, "%.4f ms, was %.4f", ms, was);
    }
    ac_work_close(p.w);
    return status;
}

/* The choices of different programs together: those that are not faster any more, or were by chance, are dropped. */
static int recheck(tuning *t)
{
    program p;
    int status = open_program(t, hints_of(t, -1), &p);
    if (status == AC_OK)
        status = run_both(&t->plain, &p, t->w->opt.runs, true);
    for (int32_t i = 0; i < t->n && status == AC_OK; i++) {
        const double ms = p.best[i], was = t->plain.best[i];
        if (!t->chosen[i].rows)
            continue;
        if (ms >= was * CLEARLY)
            t->chosen[i].rows = 0;
        t->note[i] = ac_strf(t->w->cx.region, "%.4f ms, was %.4f", ms, was);
    }
    ac_work_close(p.w);
    return status;
}

/* Are the outputs of both programs the same bytes? */
static int same_outputs(const tuning *t, const program *p)
{
    const ac_work *plain = t->plain.w;
    for (int32_t i = 0; i < plain->made.module->n_outputs; i++) {
        const ac_io *a = &plain->made.module->output[i], *b = &p->w->made.module->output[i];
        if (memcmp(ac_session_at(&plain->session, a), ac_session_at(&p->w->session, b), (size_t)a->bytes))
            return ac_error(&t->w->cx, (ac_place){.file = plain->source.path}, E0901,
                            "output %d of the tuned program differs", i);
    }
    return AC_OK;
}

/* The tuned program against the plain one: the same outputs; *faster. */
static int confirm(tuning *t, ac_sink *to, bool *faster)
{
    program p;
    int status = open_program(t, hints_of(t, -1), &p);
    if (status == AC_OK)
        status = run_both(&t->plain, &p, t->w->opt.runs, false);
    *faster = status == AC_OK && p.run_ms < t->plain.run_ms;
    if (status == AC_OK && t->plain.w->made.lowering->set.winograd != AC_WINOGRAD_CHEAPEST)
        status = same_outputs(t, &p);
    if (status == AC_OK)
        ac_putf(to, "plain %.6g ms, tuned %.6g ms\n", t->plain.run_ms, p.run_ms);
    ac_work_close(p.w);
    return status;
}

/* ------------------------------------------------------------------ the whole */

typedef struct writing {
    const tuning *t;
    ac_sink *to;
} writing;

static int write_stage(ac_work *one, void *arg)
{
    const writing *w = arg;
    ac_tune_write(w->to, &one->made, one->made.lowering, w->t->chosen, w->t->note);
    return AC_OK;
}

/* Writes the file; later compilations use it. */
static int write_file(tuning *t, ac_sink *to)
{
    ac_work *w = t->w;
    const char *path = w->opt.output ? w->opt.output : ac_strf(w->cx.region, "%s.tune", t->plain.w->source.stem);
    writing x = {t, AC_NEW(w->cx.region, ac_sink)};
    ac_sink_open(x.to, &w->cx);
    AC_TRY(ac_guard(t->plain.w, write_stage, &x));
    AC_TRY(ac_sink_commit(x.to, path));
    if (!strcmp(path, "-"))
        return AC_OK;
    ac_putf(to, "written: %s, for --tuned\n", path);
    return ac_options_set(&w->opt, "tuned", path);
}

static int tune(tuning *t, ac_sink *to)
{
    bool faster = true;
    int32_t changed = 0, with = 0;
    AC_TRY(find_candidates(t));
    for (int32_t k = 0; k < t->programs; k++)
        AC_TRY(measure(t, k));
    for (int k = 0; k < RECHECKS; k++)
        AC_TRY(recheck(t));
    for (int32_t i = 0; i < t->n; i++) {
        changed += t->chosen[i].rows > 0;
        with += t->count[i] > 0;
    }
    ac_putf(to, "%d of %d steps have other schedules worth measuring; %d of them %s faster\n", with, t->n, changed,
            changed == 1 ? "is" : "are");
    if (changed)
        AC_TRY(confirm(t, to, &faster));
    if (!faster) {
        ac_put(to, "the whole is not faster: nothing is changed\n");
        memset(t->chosen, 0, sizeof *t->chosen * (size_t)t->n);
    }
    return write_file(t, to);
}

int ac_tune(ac_work *w, const char *const *path, int32_t n)
{
    tuning t = {.w = w, .model = {path, n}};
    if (n < 1 || !strcmp(path[0], "-") || w->opt.tuned)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501,
                        "--tune reads the model several times: it cannot be standard input, nor be --tuned already");
    int status = open_program(&t, NULL, &t.plain);
    if (status == AC_OK)
        status = tune(&t, ac_pending_add(&w->out, "-"));
    ac_work_close(t.plain.w);
    return status;
}
