/* arenac.c - the stages of arenac.h: each function runs its stage inside a guard, so that running out of memory is a
 * diagnostic. The journey itself is in driver/stage/stages.c: start reading there. */
#include "driver/door/door.h"

#include "driver/emit/emit.h"
#include "driver/several/several.h"
#include "driver/stage/stage.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ opening */

arenac *arenac_open(void)
{
    arenac *a = calloc(1, sizeof *a);
    if (!a || ac_work_start(&a->work) == AC_OK)
        return a;
    arenac_close(a);
    return NULL;
}

void arenac_close(arenac *a)
{
    if (a)
        ac_work_end(&a->work);
    free(a);
}

typedef struct setting {
    const char *option, *value;
} setting;

static int set_stage(ac_work *w, void *arg)
{
    const setting *s = arg;
    AC_TRY(ac_options_set(&w->opt, s->option, s->value));
    ac_work_limits(w);
    return AC_OK;
}

int arenac_set(arenac *a, const char *option, const char *value)
{
    setting s = {option, value};
    return ac_guard(&a->work, set_stage, &s);
}

/* ------------------------------------------------------------------ the stages */

typedef struct reading {
    const char *const *path;
    int32_t n;
    ac_several **several;
} reading;

static int read_stage(ac_work *w, void *arg)
{
    const reading *r = arg;
    if (ac_several_wanted(&w->opt))
        return ac_several_read(w, r->path, r->n, r->several);
    AC_TRY(ac_open(w, r->path, r->n));
    return ac_read_any(w);
}

int arenac_read(arenac *a, const char *const *path, int32_t n)
{
    reading r = {path, n, &a->several};
    return ac_guard(&a->work, read_stage, &r);
}

/* several: NULL for one model. */
static int check_stage(ac_work *w, void *several)
{
    return several ? ac_several_check(several) : ac_check(w);
}

int arenac_check(arenac *a)
{
    return ac_guard(&a->work, check_stage, a->several);
}

static int plan_stage(ac_work *w, void *several)
{
    return several ? ac_several_plan(several) : ac_plan_any(w);
}

int arenac_plan(arenac *a)
{
    return ac_guard(&a->work, plan_stage, a->several);
}

static int compile_stage(ac_work *w, void *several)
{
    w->request.wants_inference = true;
    return several ? ac_several_compile(several) : ac_compile_tested(w);
}

int arenac_compile(arenac *a)
{
    return ac_guard(&a->work, compile_stage, a->several);
}

typedef struct emission {
    const char *kind, *path;
} emission;

static int emit_stage(ac_work *w, void *arg)
{
    const emission *e = arg;
    return ac_emit(&w->made, e->kind, e->path);
}

int arenac_emit(arenac *a, const char *kind, const char *path)
{
    emission e = {kind, path};
    return ac_guard(&a->work, emit_stage, &e);
}

static int write_stage(ac_work *w, void *several)
{
    return several ? ac_several_write(several) : ac_write(&w->made);
}

int arenac_write(arenac *a)
{
    return ac_guard(&a->work, write_stage, a->several);
}

static int report_stage(ac_work *w, void *several)
{
    ac_sink *to = ac_pending_add(&w->out, "-");
    if (several)
        ac_several_report(several, to);
    else
        ac_report_put(&w->made, to);
    return AC_OK;
}

int arenac_report(arenac *a)
{
    return ac_guard(&a->work, report_stage, a->several);
}

static int commit_stage(ac_work *w, void *arg)
{
    (void)arg;
    return ac_commit(&w->made);
}

int arenac_commit(arenac *a)
{
    return ac_guard(&a->work, commit_stage, NULL);
}

static int print_json_stage(ac_work *w, void *arg)
{
    ac_several *s = arg;
    ac_sink to;
    if (w->cx.printed)
        return AC_OK;
    w->out.list.n = 0;
    if (!s || !s->packed || !ac_written_is_told(&w->made))
        return ac_written_json(&w->made);
    ac_sink_open(&to, &w->cx);
    ac_several_report(s, &to);
    return ac_sink_commit(&to, "-");
}

int arenac_print_json(arenac *a)
{
    return ac_guard(&a->work, print_json_stage, a->several);
}

static int depends_stage(ac_work *w, void *arg)
{
    ac_file_note(&w->cx, *(const char **)arg);
    return AC_OK;
}

const char *arenac_read_path(const arenac *a, int32_t i)
{
    const ac_read_file *f = a->work.cx.read;
    for (; f && i > 0; i--)
        f = f->next;
    return f ? f->path : NULL;
}

const char *arenac_output_path(const arenac *a, int32_t i)
{
    return i < a->work.out.list.n ? a->work.out.list.item[i].path : NULL;
}

int arenac_depends(arenac *a, const char *path)
{
    return ac_guard(&a->work, depends_stage, &path);
}

typedef struct usage {
    const char *file, *text;
    int line;
} usage;

static int usage_stage(ac_work *w, void *arg)
{
    const usage *u = arg;
    return ac_error(&w->cx, (ac_place){.file = ac_strdup(w->cx.region, u->file), .line = u->line}, E0501, "%s",
                    u->text);
}

int arenac_usage(arenac *a, const char *file, int line, const char *text)
{
    usage u = {file, text, line};
    (void)ac_guard(&a->work, usage_stage, &u);
    return arenac_exit(a);
}

static int unreadable_stage(ac_work *w, void *arg)
{
    return ac_error(&w->cx, (ac_place){.file = ac_strdup(w->cx.region, *(const char **)arg)}, E0301,
                    "cannot read the file");
}

int arenac_unreadable(arenac *a, const char *file)
{
    (void)ac_guard(&a->work, unreadable_stage, &file);
    return arenac_exit(a);
}

/* ------------------------------------------------------------------ results */

bool arenac_has_plan(const arenac *a)
{
    return a->several ? a->several->packed : a->work.made.report != NULL;
}

int64_t arenac_arena_bytes(const arenac *a)
{
    const ac_packed *p = a->work.made.packed;
    return p ? p->plan->arena_bytes : -1;
}

int64_t arenac_bound_bytes(const arenac *a)
{
    const ac_packed *p = a->work.made.packed;
    return p ? p->plan->proven : -1;
}

void arenac_print_diagnostics(const arenac *a, FILE *to, bool color)
{
    ac_diags_print(&a->work.cx.diags, to, color);
}

int arenac_exit(const arenac *a)
{
    return ac_work_exit(&a->work);
}

int32_t arenac_errors(const arenac *a)
{
    return a->work.cx.diags.errors;
}

int32_t arenac_warnings(const arenac *a)
{
    return a->work.cx.diags.warnings;
}

bool arenac_progress_now(const arenac *a, arenac_progress *to)
{
    struct ac_progress *p = a->work.cx.progress;
    *to = (arenac_progress){.what = atomic_load(&p->what),
                            .done = atomic_load(&p->done),
                            .total = atomic_load(&p->total),
                            .value_name = atomic_load(&p->name),
                            .value = (double)atomic_load(&p->value)};
    return to->what != NULL;
}

const arenac_pass *arenac_pass_at(const arenac *a, int32_t i)
{
    const ac_lowering *low = a->work.made.lowering;
    return low && i >= 0 && i < low->passed.n ? &low->passed.row[i] : NULL;
}
