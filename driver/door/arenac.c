/* arenac.c - the journey of a model, top to bottom: start reading here.
 *
 *   read      file -> graph                          import/                          read.c
 *   check     graph -> passes -> lowered steps       ir/pass, ir/lower                check.c
 *   plan      steps -> order -> lives -> offsets     planner/graph, planner/pack      plan.c
 *   compile   steps + offsets -> module              codegen/bind.c                   compile.c
 *   emit      module, plan, report -> text           codegen/, planner/report         outputs.c
 *
 * Each stage leaves a value (stage.h) for those after it. This file is the door: every function of arenac.h that begins
 * a stage runs it inside a guard, so that running out of memory is a diagnostic. */
/* sysconf is POSIX; how much memory there is, is not. */
#define _DEFAULT_SOURCE
#include "driver/stage/stage.h"

#include <stdlib.h>
#include <unistd.h>

#ifndef ARENAC_VERSION
#define ARENAC_VERSION "0"
#endif

const char *arenac_version(void)
{
    return ARENAC_VERSION;
}

/* ------------------------------------------------------------------ guards */

typedef struct guarded {
    arenac *a;
    ac_stage_fn *f;
    void *arg;
    int status;
} guarded;

static void run_guarded(void *arg)
{
    guarded *g = arg;
    g->status = g->f(g->a, g->arg);
}

int ac_guard(arenac *a, ac_stage_fn *f, void *arg)
{
    guarded g = {a, f, arg, AC_FAIL};
    if (!ac_heap_guard(&a->cx.heap, run_guarded, &g)) {
        if (a->parent && a->cx.heap.exhausted) /* what the parent tries to do without, it would lack as well */
            ac_heap_exhausted(&a->parent->cx.heap);
        return ac_no_memory(&a->cx, a->source.path);
    }
    if (g.status != AC_OK && !a->cx.diags.errors) /* never fail without a word */
        ac_error(&a->cx, (ac_place){.file = a->source.path}, E0901, "a stage failed and did not say why");
    return g.status;
}

/* ------------------------------------------------------------------ opening */

/* Without --max-memory: what the machine has, or 8 GiB where that is more. */
static size_t memory_limit(const arenac *a)
{
    size_t most = (uint64_t)a->opt.max_memory < SIZE_MAX ? (size_t)a->opt.max_memory : SIZE_MAX;
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (!a->opt.given[AC_OPT_max_memory].n && pages > 0 && size > 0 && (size_t)pages > most / (size_t)size)
        most = (size_t)pages * (size_t)size;
#endif
    return most;
}

static int open_stage(arenac *a, void *arg)
{
    (void)arg;
    ac_ctx_start(&a->cx);
    ac_options_open(&a->opt, &a->cx);
    a->stated = &a->opt;
    a->cx.heap.limit = memory_limit(a);
    return AC_OK;
}

arenac *arenac_open(void)
{
    arenac *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    ac_ctx_open(&a->cx);
    a->cx.progress = &a->progress;
    if (ac_guard(a, open_stage, NULL) == AC_OK)
        return a;
    arenac_close(a);
    return NULL;
}

void arenac_close(arenac *a)
{
    if (!a)
        return;
    while (a->child)
        arenac_close(a->child);
    for (arenac **p = a->parent ? &a->parent->child : NULL; p && *p; p = &(*p)->sibling)
        if (*p == a) {
            *p = a->sibling;
            break;
        }
    ac_session_close(&a->session);
    ac_session_close(&a->beside);
    ac_inputs_close(&a->inputs);
    ac_file_close(&a->source.file);
    ac_file_close(&a->source.weights);
    ac_ctx_close(&a->cx);
    free(a);
}

typedef struct setting {
    const char *option, *value;
} setting;

static int set_stage(arenac *a, void *arg)
{
    const setting *s = arg;
    AC_TRY(ac_options_set(&a->opt, s->option, s->value));
    a->cx.heap.limit = memory_limit(a);
    a->cx.diags.werror = a->opt.werror;
    a->cx.diags.limit = a->opt.max_errors > 0 ? (int32_t)a->opt.max_errors : 0;
    return AC_OK;
}

int arenac_set(arenac *a, const char *option, const char *value)
{
    setting s = {option, value};
    return ac_guard(a, set_stage, &s);
}

/* ------------------------------------------------------------------ the stages */

typedef struct paths {
    const char *const *path;
    int32_t n;
} paths;

static int read_stage(arenac *a, void *arg)
{
    const paths *p = arg;
    if (ac_several_wanted(a))
        return ac_several_read(a, p->path, p->n);
    AC_TRY(ac_source_open(a, p->path, p->n));
    return ac_read_any(a);
}

int arenac_read(arenac *a, const char *const *path, int32_t n)
{
    paths p = {path, n};
    return ac_guard(a, read_stage, &p);
}

static int check_stage(arenac *a, void *arg)
{
    (void)arg;
    return a->several ? ac_several_check(a) : ac_check(a);
}

int arenac_check(arenac *a)
{
    return ac_guard(a, check_stage, NULL);
}

static int plan_stage(arenac *a, void *arg)
{
    (void)arg;
    return a->several ? ac_several_plan(a) : ac_plan_any(a);
}

int arenac_plan(arenac *a)
{
    return ac_guard(a, plan_stage, NULL);
}

static int compile_stage(arenac *a, void *arg)
{
    (void)arg;
    return a->several ? ac_several_compile(a) : ac_compile(a);
}

int arenac_compile(arenac *a)
{
    return ac_guard(a, compile_stage, NULL);
}

typedef struct emission {
    const char *kind, *path;
} emission;

static int emit_stage(arenac *a, void *arg)
{
    const emission *e = arg;
    return ac_emit(a, e->kind, e->path);
}

int arenac_emit(arenac *a, const char *kind, const char *path)
{
    emission e = {kind, path};
    return ac_guard(a, emit_stage, &e);
}

static int write_stage(arenac *a, void *arg)
{
    (void)arg;
    return a->several ? ac_several_write(a) : ac_write(a);
}

int arenac_write(arenac *a)
{
    return ac_guard(a, write_stage, NULL);
}

static int report_stage(arenac *a, void *arg)
{
    (void)arg;
    ac_report_put(a, ac_output_new(a, "-"));
    return AC_OK;
}

int arenac_report(arenac *a)
{
    return ac_guard(a, report_stage, NULL);
}

static int commit_stage(arenac *a, void *arg)
{
    (void)arg;
    return ac_commit(a);
}

int arenac_commit(arenac *a)
{
    return ac_guard(a, commit_stage, NULL);
}

static int print_json_stage(arenac *a, void *arg)
{
    (void)arg;
    return ac_written_json(a);
}

int arenac_print_json(arenac *a)
{
    return ac_guard(a, print_json_stage, NULL);
}

static int depends_stage(arenac *a, void *arg)
{
    ac_file_note(&a->cx, *(const char **)arg);
    return AC_OK;
}

int arenac_depends(arenac *a, const char *path)
{
    return ac_guard(a, depends_stage, &path);
}

typedef struct usage {
    const char *file, *text;
    int line;
} usage;

static int usage_stage(arenac *a, void *arg)
{
    const usage *u = arg;
    return ac_error(&a->cx, (ac_place){.file = ac_strdup(a->cx.region, u->file), .line = u->line}, E0501, "%s",
                    u->text);
}

int arenac_usage(arenac *a, const char *file, int line, const char *text)
{
    usage u = {file, text, line};
    (void)ac_guard(a, usage_stage, &u);
    return arenac_exit(a);
}

static int unreadable_stage(arenac *a, void *arg)
{
    return ac_error(&a->cx, (ac_place){.file = ac_strdup(a->cx.region, *(const char **)arg)}, E0301,
                    "cannot read the file");
}

int arenac_unreadable(arenac *a, const char *file)
{
    (void)ac_guard(a, unreadable_stage, &file);
    return arenac_exit(a);
}

/* ------------------------------------------------------------------ asking */

bool arenac_has_plan(const arenac *a)
{
    return a->several ? ac_several_has_plan(a) : a->report != NULL;
}

int64_t arenac_arena_bytes(const arenac *a)
{
    return a->packed ? a->packed->plan->arena_bytes : -1;
}

int64_t arenac_bound_bytes(const arenac *a)
{
    return a->packed ? a->packed->plan->proven : -1;
}

void arenac_print_diagnostics(const arenac *a, FILE *to, bool color)
{
    ac_diags_print(&a->cx.diags, to, color);
}

int arenac_exit(const arenac *a)
{
    const int status = (int)ac_diags_exit(&a->cx.diags);
    return status || !a->changed ? status : AC_EXIT_CHANGED;
}

int32_t arenac_errors(const arenac *a)
{
    return a->cx.diags.errors;
}

int32_t arenac_warnings(const arenac *a)
{
    return a->cx.diags.warnings;
}

bool arenac_progress_now(const arenac *a, arenac_progress *to)
{
    struct ac_progress *p = a->cx.progress;
    *to = (arenac_progress){.what = atomic_load(&p->what),
                            .done = atomic_load(&p->done),
                            .total = atomic_load(&p->total),
                            .value_name = atomic_load(&p->name),
                            .value = (double)atomic_load(&p->value)};
    return to->what != NULL;
}

const arenac_pass *arenac_pass_at(const arenac *a, int32_t i)
{
    return a->lowering && i >= 0 && i < a->lowering->n_passes ? &a->lowering->pass[i] : NULL;
}
