/* bench.c - the verb bench: a model timed on this machine, whole runs, and with --per-op each step. */
#include "driver/verb/verbs.h"

#include "base/json_out.h"
#include "codegen/targets.h"
#include "host/firmware/measure.h"
#include "planner/report/layers.h"

#include <stdlib.h>
#include <time.h>

typedef struct timing {
    double *best;                /* ms, by step */
    double last;                 /* when the previous step ended */
    const ac_layer_bound *bound; /* by step; NULL: not measured */
} timing;

double ac_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

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

/* An object of "steps", up to what was measured; the caller ends it. */
static void open_step(ac_json *j, const ac_report *r, int32_t step)
{
    ac_json_obj(j, NULL);
    ac_json_int(j, "step", step);
    ac_json_str(j, "op", r->step[step].op);
    ac_json_str(j, "name", r->step[step].name);
}

static void put_json(const arenac *a, const timing *x, const double *ms, int32_t n, ac_sink *to)
{
    const ac_report *r = a->report;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-bench/1");
    ac_json_str(&j, "model", r->file);
    ac_json_str(&j, "target", a->module->target->name);
    ac_json_num(&j, "median_ms", ms[n / 2]);
    ac_json_num(&j, "min_ms", ms[0]);
    ac_json_int(&j, "runs", n);
    ac_json_int(&j, "threads", a->module->threads);
    ac_json_int(&j, "macs", r->macs);
    if (a->opt.per_op) {
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

static void put_text(const arenac *a, const timing *x, const double *ms, int32_t n, ac_sink *to)
{
    const ac_report *r = a->report;
    if (a->opt.per_op)
        ac_layers_text(
            to,
            &(ac_layers){.step = r->step, .n = r->n_steps, .cost = x->best, .unit = AC_LAYER_MS, .bound = x->bound});
    ac_putf(to, "%s on %s: %.3g G multiply-adds/s\n", r->file, a->module->target->name,
            (double)r->macs / (ms[0] * 1e6));
    ac_putf(to, "median_ms=%.6g min_ms=%.6g runs=%d threads=%d\n", ms[n / 2], ms[0], n, a->module->threads);
}

/* Runs that take about a second, at least 5 and at most 10,000; the first one is not counted. */
static int count_runs(arenac *a, int32_t *n)
{
    enum { FEW = 5, MANY = 10000, MOST = 1000000, SECOND = 1000 };
    const double from = ac_now_ms();
    ac_inputs_fill(a, &a->session);
    AC_TRY(ac_session_run(&a->session)); /* warm: pages touched, caches filled */
    const double once = ac_now_ms() - from;
    if (a->opt.runs > 0)
        *n = (int32_t)(a->opt.runs > MOST ? MOST : a->opt.runs);
    else
        *n = once > (double)SECOND / FEW ? FEW : once < (double)SECOND / MANY ? MANY : (int32_t)(SECOND / once);
    return AC_OK;
}

static bool looks_at_steps(const arenac *a)
{
    return a->opt.per_op || a->opt.roofline;
}

static int measure(arenac *a, timing *x, double **ms, int32_t *n)
{
    enum { HOOKED = 1000 };
    ac_session *s = &a->session;
    AC_TRY(count_runs(a, n));
    *ms = AC_NEW_N(a->cx.region, double, *n);
    x->best = AC_NEW_N(a->cx.region, double, a->planned->n_steps + 1);
    ac_progress_begin(&a->cx, "running", *n);
    for (int32_t i = 0; i < *n; i++) {
        ac_progress_at(&a->cx, i);
        ac_inputs_fill(a, s);
        const double start = ac_now_ms();
        AC_TRY(ac_session_run(s));
        (*ms)[i] = ac_now_ms() - start;
    }
    s->hook = looks_at_steps(a) ? lap : NULL; /* apart from the timed runs: the clock calls cost something */
    s->hook_user = x;
    for (int32_t i = 0; s->hook && i < *n && i < HOOKED; i++) {
        ac_inputs_fill(a, s); /* the run before may have overwritten them */
        x->last = ac_now_ms();
        AC_TRY(ac_session_run(s));
    }
    s->hook = NULL;
    qsort(*ms, (size_t)*n, sizeof **ms, by_value);
    return AC_OK;
}

/* ------------------------------------------------------------------ firmware: in QEMU */

static void put_board_json(const arenac *a, const ac_figures *f, ac_sink *to)
{
    const ac_report *r = a->report;
    const ac_module *m = a->module;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-bench-firmware/1");
    ac_json_str(&j, "model", r->file);
    ac_json_str(&j, "target", m->target->name);
    ac_json_str(&j, "machine", f->machine);
    ac_json_str(&j, "compiler", f->compiler);
    ac_json_int(&j, "instructions", f->insns);
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

static void put_board_text(const arenac *a, const ac_figures *f, ac_sink *to)
{
    const ac_report *r = a->report;
    const ac_module *m = a->module;
    if (f->step) {
        double *cost = AC_NEW_N(to->cx->region, double, r->n_steps + 1);
        for (int32_t i = 0; i < r->n_steps; i++)
            cost[i] = (double)f->step[i];
        ac_layers_text(to, &(ac_layers){.step = r->step, .n = r->n_steps, .cost = cost, .unit = AC_LAYER_INSTRUCTIONS});
    }
    ac_putf(to, "%s on %s, %s, %s: outputs are the evaluator's\n", r->file, m->target->name, f->machine, f->compiler);
    ac_putf(to, "instructions=%lld per_mac=%.4g stack=%lld arena=%lld state=%lld code=%lld constants=%lld\n",
            (long long)f->insns, r->macs ? (double)f->insns / (double)r->macs : 0, (long long)f->stack,
            (long long)m->arena_bytes, (long long)m->state_bytes, (long long)f->code, (long long)f->constants);
}

static int bench_firmware(arenac *a, const char *const *path, int32_t n)
{
    ac_vectors v;
    ac_figures f;
    if (a->opt.tune)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "--tune measures on this machine, not in QEMU");
    if (a->opt.roofline)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "--html measures on this machine, not in QEMU");
    AC_TRY(ac_read(a, path, n));
    AC_TRY(ac_compile(a));
    AC_TRY(ac_inputs_record(a, ac_inputs_sets(a), &v));
    AC_TRY(ac_board_measure(a->module, &v, a->opt.backend, &f));
    (a->opt.json ? put_board_json : put_board_text)(a, &f, ac_output_new(a, "-"));
    return AC_OK;
}

int ac_bench(arenac *a, const char *const *path, int32_t n)
{
    timing x = {0};
    double *ms;
    int32_t runs;
    const ac_target *target = a->opt.target ? ac_target_find(a->opt.target) : NULL;
    arenac_set(a, "inference", "off"); /* of a step of training, the step is measured */
    if (target && target->firmware)
        return bench_firmware(a, path, n);
    a->purpose = AC_FOR_RUNNING;
    a->any_input = true;
    if (a->opt.output && !a->opt.tune)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "-o names the file that bench --tune writes");
    if (a->opt.tune)
        AC_TRY(ac_tune(a, path, n));
    AC_TRY(ac_read(a, path, n));
    AC_TRY(ac_inputs_open(a));
    AC_TRY(ac_compile(a));
    AC_TRY(ac_inputs_check(a));
    AC_TRY(ac_load(a));
    AC_TRY(measure(a, &x, &ms, &runs));
    if (looks_at_steps(a))
        AC_TRY(ac_layer_bounds(a, x.best, ms[0], &x.bound));
    (a->opt.json ? put_json : put_text)(a, &x, ms, runs, ac_output_new(a, "-"));
    return AC_OK;
}
