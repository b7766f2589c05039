/* bench.c - the verb bench: a model timed on this machine, whole runs, and with --per-op each step. */
#include "driver/verb/verbs.h"

#include "base/clock.h"
#include "base/json_out.h"
#include "codegen/targets.h"
#include "host/firmware/measure.h"
#include "planner/report/layers.h"

#include <stdlib.h>

typedef struct timing {
    double *best;                /* ms, by step */
    double last;                 /* when the previous step ended */
    const ac_layer_bound *bound; /* by step; NULL: not measured */
} timing;

static void lap(void *user, int32_t step)
{
    timing *x = user;
    const double t = ac_now_ms(), ms = t - x->last;
    x->last = t;
    if (x->best[step] <= 0 || ms < x->best[step])
        x->best[step] = ms;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Opens an object of "steps" with the name of the step; the caller adds figures and ends it. */
static void open_step(ac_json *j, const ac_report *r, int32_t step)
{
    ac_json_obj(j, NULL);
    ac_json_int(j, "step", step);
    ac_json_str(j, "op", r->step[step].op);
    ac_json_str(j, "name", r->step[step].name);
}

static void put_json(const ac_work *w, const timing *x, const double *ms, int32_t n, ac_sink *to)
{
    const ac_report *r = w->made.report;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-bench/1");
    ac_json_str(&j, "model", r->file);
    ac_json_str(&j, "target", w->made.module->target->name);
    ac_json_num(&j, "median_ms", ms[n / 2]);
    ac_json_num(&j, "min_ms", ms[0]);
    ac_json_int(&j, "runs", n);
    ac_json_int(&j, "threads", w->made.module->threads);
    ac_json_int(&j, "macs", r->macs);
    if (w->opt.per_op) {
        ac_json_arr(&j, "steps");
        for (int32_t i = 0; i < r->n_steps; i++) {
            open_step(&j, r, i);
            ac_json_num(&j, "min_ms", x->best[i]);
            ac_json_int(&j, "macs", r->step[i].macs);
            if (x->bound) {
                ac_json_int(&j, "moved_bytes", r->step[i].moved);
                ac_json_num(&j, "peak_macs_per_ms", x->bound[i].peak);
                ac_json_str(&j, "bound", x->bound[i].by);
                ac_json_num(&j, "bound_ms", x->bound[i].ms);
            }
            ac_json_end(&j);
        }
        ac_json_end(&j);
    }
    ac_json_end(&j);
}

static void put_text(const ac_work *w, const timing *x, const double *ms, int32_t n, ac_sink *to)
{
    const ac_report *r = w->made.report;
    if (w->opt.per_op)
        ac_layers_text(
            to,
            &(ac_layers){.step = r->step, .n = r->n_steps, .cost = x->best, .unit = AC_LAYER_MS, .bound = x->bound});
    ac_putf(to, "%s on %s: %.3g G multiply-adds/s\n", r->file, w->made.module->target->name,
            (double)r->macs / (ms[0] * 1e6));
    ac_putf(to, "median_ms=%.6g min_ms=%.6g runs=%d threads=%d\n", ms[n / 2], ms[0], n, w->made.module->threads);
}

/* Runs that take about a second, at least 5 and at most 10,000; the first one is not counted. */
static int count_runs(ac_work *w, int32_t *n)
{
    enum { FEW = 5, MANY = 10000, MOST = 1000000, SECOND = 1000 };
    const double from = ac_now_ms();
    ac_inputs_fill(&w->made, &w->session);
    AC_TRY(ac_session_run(&w->session)); /* warm: pages touched, caches filled */
    const double once = ac_now_ms() - from;
    if (w->opt.runs > 0)
        *n = (int32_t)(w->opt.runs > MOST ? MOST : w->opt.runs);
    else
        *n = once > (double)SECOND / FEW ? FEW : once < (double)SECOND / MANY ? MANY : (int32_t)(SECOND / once);
    return AC_OK;
}

static bool looks_at_steps(const ac_work *w)
{
    return w->opt.per_op || w->opt.roofline;
}

static int measure(ac_work *w, timing *x, double **ms, int32_t *n)
{
    enum { HOOKED = 1000 };
    ac_session *s = &w->session;
    AC_TRY(count_runs(w, n));
    *ms = AC_NEW_N(w->cx.region, double, *n);
    x->best = AC_NEW_N(w->cx.region, double, w->made.planned->n_steps + 1);
    ac_progress_begin(&w->cx, "running", *n);
    for (int32_t i = 0; i < *n; i++) {
        ac_progress_at(&w->cx, i);
        ac_inputs_fill(&w->made, s);
        const double start = ac_now_ms();
        AC_TRY(ac_session_run(s));
        (*ms)[i] = ac_now_ms() - start;
    }
    s->hook = looks_at_steps(w) ? lap : NULL; /* apart from the timed runs: the clock calls cost something */
    s->hook_user = x;
    for (int32_t i = 0; s->hook && i < *n && i < HOOKED; i++) {
        ac_inputs_fill(&w->made, s); /* the run before may have overwritten them */
        x->last = ac_now_ms();
        AC_TRY(ac_session_run(s));
    }
    s->hook = NULL;
    qsort(*ms, (size_t)*n, sizeof **ms, by_value);
    return AC_OK;
}

/* ------------------------------------------------------------------ firmware: in QEMU */

static void put_board_json(const ac_work *w, const ac_figures *f, ac_sink *to)
{
    const ac_report *r = w->made.report;
    const ac_module *m = w->made.module;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-bench-firmware/1");
    ac_json_str(&j, "model", r->file);
    ac_json_str(&j, "target", m->target->name);
    ac_json_str(&j, "machine", f->machine);
    ac_json_str(&j, "compiler", f->compiler);
    ac_json_int(&j, "instructions", f->insns);
    if (f->cycles) {
        ac_json_int(&j, "cycles", f->cycles);
        ac_json_int(&j, "cycles_max", f->most_cycles);
        ac_json_bool(&j, "cycles_estimated", f->estimate);
    }
    ac_json_int(&j, "macs", r->macs);
    if (r->macs)
        ac_json_num(&j, "instructions_per_mac", (double)f->insns / (double)r->macs);
    ac_json_int(&j, "stack_bytes", f->stack);
    ac_json_int(&j, "arena_bytes", m->arena_bytes);
    ac_json_int(&j, "state_bytes", m->state_bytes);
    ac_json_int(&j, "code_bytes", f->code);
    ac_json_int(&j, "constant_bytes", f->constants);
    ac_json_int(&j, "flash_bytes", f->code + f->constants);
    if (f->step) {
        ac_json_arr(&j, "steps");
        for (int32_t i = 0; i < r->n_steps; i++) {
            open_step(&j, r, i);
            ac_json_int(&j, "instructions", f->step[i]);
            ac_json_int(&j, "macs", r->step[i].macs);
            ac_json_end(&j);
        }
        ac_json_end(&j);
    }
    ac_json_end(&j);
}

static void put_board_text(const ac_work *w, const ac_figures *f, ac_sink *to)
{
    const ac_report *r = w->made.report;
    const ac_module *m = w->made.module;
    if (f->step) {
        double *cost = AC_NEW_N(to->cx->region, double, r->n_steps + 1);
        for (int32_t i = 0; i < r->n_steps; i++)
            cost[i] = (double)f->step[i];
        ac_layers_text(to, &(ac_layers){.step = r->step, .n = r->n_steps, .cost = cost, .unit = AC_LAYER_INSTRUCTIONS});
    }
    ac_putf(to, "%s on %s, %s, %s: outputs are the evaluator's\n", r->file, m->target->name, f->machine, f->compiler);
    ac_putf(to, "instructions=%lld per_mac=%.4g stack=%lld arena=%lld state=%lld code=%lld constants=%lld",
            (long long)f->insns, r->macs ? (double)f->insns / (double)r->macs : 0, (long long)f->stack,
            (long long)m->arena_bytes, (long long)m->state_bytes, (long long)f->code, (long long)f->constants);
    if (f->cycles)
        ac_putf(to, " cycles=%lld cycles_max=%lld%s", (long long)f->cycles, (long long)f->most_cycles,
                f->estimate ? " cycles_estimated=1" : "");
    ac_putc(to, '\n');
}

static int bench_firmware(ac_work *w, const char *const *path, int32_t n)
{
    ac_vectors v;
    ac_figures f;
    if (w->opt.tune)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "--tune measures on this machine, not in QEMU");
    if (w->opt.roofline)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "--html measures on this machine, not in QEMU");
    AC_TRY(ac_read(w, path, n));
    AC_TRY(ac_compile(w));
    AC_TRY(ac_module_without_custom(w->made.module, "a run in QEMU"));
    AC_TRY(ac_inputs_record(&w->made, ac_inputs_sets(&w->made), &v));
    AC_TRY(ac_board_measure(w->made.module, &v, w->opt.backend, (int32_t)w->opt.wait_states, &f));
    (w->opt.json ? put_board_json : put_board_text)(w, &f, ac_pending_add(&w->out, "-"));
    return AC_OK;
}

int ac_bench(ac_work *w, const char *const *path, int32_t n)
{
    timing x = {0};
    double *ms;
    int32_t runs;
    const ac_target *target = w->opt.target ? ac_target_find(w->opt.target) : NULL;
    w->opt.inference = false; /* of a step of training, the step is measured */
    if (target && target->firmware)
        return bench_firmware(w, path, n);
    w->request.purpose = AC_FOR_RUNNING;
    if (w->opt.output && !w->opt.tune)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "-o names the file that bench --tune writes");
    if (w->opt.tune)
        AC_TRY(ac_tune(w, path, n));
    AC_TRY(ac_read(w, path, n));
    AC_TRY(ac_inputs_open(&w->made));
    AC_TRY(ac_compile(w));
    AC_TRY(ac_inputs_check(&w->made, true));
    AC_TRY(ac_load(w));
    AC_TRY(measure(w, &x, &ms, &runs));
    if (looks_at_steps(w))
        AC_TRY(ac_layer_bounds(w, x.best, ms[0], &x.bound));
    (w->opt.json ? put_json : put_text)(w, &x, ms, runs, ac_pending_add(&w->out, "-"));
    return AC_OK;
}
