/* outputs.c - stage emit: outputs by their kinds. */
#include "driver/emit/outputs.h"
#include "driver/facts/facts.h"
#include "driver/stage/inputs.h"
#include "driver/stage/stage.h"

#include "base/ascii.h"
#include "base/file.h"
#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "host/firmware/board.h"
#include "host/runtime_files.h"
#include "planner/report/lock.h"

#include <string.h>

#define OUTPUT(kind, ext, where, needs, fn, help) static put_fn fn;
#include "driver/emit/outputs.def"
#undef OUTPUT

static const ac_output_row ROWS[] = {
#define OUTPUT(kind, ext, where, needs, fn, help) {kind, ext, where, needs, fn},
#include "driver/emit/outputs.def"
#undef OUTPUT
};
#define SELFTEST ".selftest" /* before the .c of its extension */
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

const ac_output_row *ac_output_find(const char *kind)
{
    for (int i = 0; i < N_ROWS; i++)
        if (!strcmp(ROWS[i].kind, kind))
            return &ROWS[i];
    return NULL;
}

bool ac_output_is_stream(const char *path)
{
    return !strcmp(path, "-") || ac_file_is_special(path);
}

/* ------------------------------------------------------------------ the kinds */

static int put_json(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    ac_report_json(to, a->report, &a->cx->diags);
    return AC_OK;
}

static int plan_stage(ac_work *one, void *arg)
{
    (void)arg;
    AC_TRY(ac_read_opened(one));
    return ac_plan_any(one);
}

/* "12,345,678" of an estimate, with three digits that count. */
static const char *about(ac_ctx *cx, double instructions)
{
    double unit = 1;
    while (instructions / unit >= 1000)
        unit *= 10;
    return ac_commas(cx, (ac_bytes)(instructions / unit + 0.5) * (ac_bytes)unit);
}

static void add_lower(ac_report *r, ac_region *region, ac_report_lower more)
{
    ac_report_lower *list = AC_NEW_N(region, ac_report_lower, r->n_lower + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_lower; i++)
        list[n++] = r->lower[i];
    list[n++] = more;
    r->lower = list;
    r->n_lower = n;
}

static void add_note(ac_report *r, ac_region *region, const char *note)
{
    const char **list = AC_NEW_N(region, const char *, r->n_notes + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_notes; i++)
        list[n++] = r->notes[i];
    list[n++] = note;
    r->notes = list;
    r->n_notes = n;
}

/* A row of what takes less, or a note about what takes more and is faster. */
static void compare(const ac_made *a, const ac_made *other, bool off)
{
    ac_ctx *cx = a->cx;
    const ac_bytes now = a->planned->plan.arena_bytes, then = other->planned->plan.arena_bytes;
    const char *word = off ? "--ahead on" : "--ahead off";
    const char *here = about(cx, ac_facts_instructions(a->planned)),
               *there = about(cx, ac_facts_instructions(other->planned));
    if (then < now)
        add_lower(a->report, cx->region,
                  (ac_report_lower){word,
                                    ac_strf(cx->region, "compute products with inputs %s: %s instructions, not %s",
                                            off ? "before their loop" : "in each step", there, here),
                                    then});
    else
        add_note(a->report, cx->region,
                 ac_strf(cx->region,
                         "with %s the arena is %s B and a run about %s instructions, instead of %s B and %s", word,
                         ac_commas(cx, then), there, ac_commas(cx, now), here));
}

/* Plans a model of recurrent layers again with the other value of --ahead: the report has both. */
static void ahead_what_if(const ac_made *a)
{
    bool off;
    if (!a->planned || !ac_facts_has_ahead(a, &off) || !ac_facts_try(a) || ac_facts_over_budget(a->packed))
        return;
    ac_work *one = ac_work_like(a->owner, AC_AS_OTHER);
    one->opt.ahead = off ? AC_OPT_AHEAD_ON : AC_OPT_AHEAD_OFF;
    one->source = *a->source;
    one->source.file.map = one->source.weights.map = NULL; /* a closes them */
    if (ac_guard(one, plan_stage, NULL) == AC_OK)
        compare(a, &one->made, off);
    ac_work_close(one);
}

/* Adds the savings of other options; a program that compiles has chosen its options. */
static void what_if(const ac_made *a)
{
    const bool known = a->report->lower != NULL;
    if (a->module)
        return;
    ac_facts_what_if(a);
    if (!known)
        ahead_what_if(a);
}

void ac_report_put(const ac_made *a, ac_sink *to)
{
    what_if(a);
    ac_report_text(to, a->report, a->opt->verbose, a->opt->color == AC_OPT_COLOR_ALWAYS);
    if (a->tested)
        ac_putf(to, "\n  %s\n", a->tested);
}

static int put_svg(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    ac_report_svg(to, a->report);
    return AC_OK;
}

/* With the plan of every strategy, to compare. */
static int put_html(const ac_made *a, const emission *e, ac_sink *to)
{
    ac_report r = *a->report;
    ac_plan *other;
    (void)e;
    what_if(a);
    r.lower = a->report->lower;
    r.n_lower = a->report->n_lower;
    AC_TRY(ac_solve_each(a->cx, r.problem, &a->packed->search, r.rows, r.n_rows, &other, &r.n_others));
    r.other = other;
    ac_report_html(to, &r);
    return AC_OK;
}

static int put_md(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    ac_report_md(to, a->report);
    return AC_OK;
}

static int put_dot(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    ac_report_dot(to, a->report);
    return AC_OK;
}

int ac_csv_possible(const ac_made *a)
{
    const ac_problem *p = &a->planned->live->problem;
    int32_t n = 0;
    for (int32_t m = 0; m < p->n_mems; m++)
        n += p->mem[m].use == AC_MEM_RAM;
    if (n <= 1)
        return AC_OK;
    ac_error(a->cx, (ac_place){.file = "arenac"}, E0502, "a plan in CSV form has one memory, --mem gives %d", n);
    return ac_help(a->cx, "a lock has all of them: arenac plan MODEL --emit lock");
}

/* Pairs that may overlap are written as gaps, which every reader of intervals supports. */
static int put_intervals(const ac_made *a, const ac_plan *plan, ac_sink *to)
{
    const ac_packed *p = a->packed;
    if (a->planned)
        AC_TRY(ac_csv_possible(a));
    const ac_problem plain = a->planned ? ac_problem_pairs_to_gaps(a->cx->region, p->problem, p->plan) : *p->problem;
    ac_problem_write_csv(to, &plain, plan);
    return AC_OK;
}

static int put_csv(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    return put_intervals(a, a->packed->plan, to);
}

static int put_problem(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    return put_intervals(a, NULL, to);
}

static int put_lock(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    ac_lock_write(to, ac_lock_of(a->cx, a->report));
    return AC_OK;
}

static int put_ag(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    ac_graph_write_text(to, a->lowering->graph, ac_text_channels_first(a));
    return AC_OK;
}

static int put_loops(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    for (int32_t s = 0; s < a->planned->n_steps; s++)
        ac_loop_dump(to, a->planned->step[s]->fn);
    return AC_OK;
}

static int put_blob(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)e;
    return ac_blob_write(a->module, to);
}

static void put_files(const ac_made *a, const emission *e, const ac_rt_file *f, int n)
{
    const int folder = (int)(ac_path_name(e->path) - e->path);
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(f[i].name, '.');
        if (strcmp(dot, ".py") != 0 && strcmp(f[i].name, "arn_capsule.c") != 0) /* of Python modules */
            ac_put_n(ac_pending_add(a->out, ac_strf(a->cx->region, "%.*s%s", folder, e->path, f[i].name)), f[i].data,
                     f[i].n);
    }
}

/* Is a file of runtime/ of use to programs of this model? */
static bool rt_serves(const ac_made *a, const char *name)
{
    const bool gpu = a->module->target->isa == AC_ISA_CUDA;
    static const struct {
        const char *stem;
        bool cuda, threads, learning, custom;
    } OF[] = {{"arn_cuda", .cuda = true},
              {"arn_pool", .threads = true},
              {"arn_openmp", .threads = true},
              {"arn_tree", .learning = true},
              {"arn_custom", .custom = true}};
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++)
        if (!strncmp(name, OF[i].stem, strlen(OF[i].stem)))
            return (OF[i].cuda && gpu) || (OF[i].threads && a->module->threads > 1) ||
                   (OF[i].learning && a->module->learning) || (OF[i].custom && ac_module_custom(a->module));
    return true;
}

/* The files of runtime/ go into the folder of the other outputs; `to` stays empty. */
static int put_runtime(const ac_made *a, const emission *e, ac_sink *to)
{
    (void)to;
    if (ac_output_is_stream(e->path))
        return ac_error(a->cx, (ac_place){.file = "arenac"}, E0501,
                        "--emit rt writes several files: name a file in their folder, or the folder, with -o");
    for (int i = 0; i < ac_rt_count; i++)
        if (rt_serves(a, ac_rt_files[i].name))
            put_files(a, e, &ac_rt_files[i], 1);
    put_files(a, e, ac_mpi_files, a->module->learning ? ac_mpi_count : 0);
    return AC_OK;
}

/* x.selftest.c goes with x.h. */
static int put_selftest(const ac_made *a, const emission *e, ac_sink *to)
{
    const bool piped = ac_output_is_stream(e->path);
    const char *base = ac_path_name(e->path), *stem = ac_output_stem(a->cx, base);
    ac_vectors v;
    if (a->module->caller_io)
        return ac_error(a->cx, (ac_place){0}, E0502, "--emit selftest does not go with --host");
    AC_TRY(ac_inputs_record(a, ac_inputs_sets(a), &v));
    if (!piped && ac_has_ending(stem, SELFTEST))
        stem = ac_strf(a->cx->region, "%.*s", (int)(strlen(stem) - strlen(SELFTEST)), stem);
    ac_selftest_print(a->module, &v, ac_strf(a->cx->region, "%s.h", piped ? a->module->name : stem), piped ? "-" : base,
                      to);
    return AC_OK;
}

/* Its files become outputs of their own; `to` stays empty. */
static int put_project(const ac_made *a, const emission *e, ac_sink *to)
{
    const ac_module *m = a->module;
    const ac_project_part whole = {.stem = m->name, .work = a->owner};
    const ac_project p = {
        .name = m->name, .made_of = m->source, .module = m, .state = m->state_bytes > 0, .part = &whole, .n = 1};
    (void)to;
    return ac_emit_project(a, &p, e->kind, e->path);
}

static int put_tflm(const ac_made *a, const emission *e, ac_sink *to)
{
    return ac_tflm_emit(a, e->kind, to);
}

static int put_certificate(const ac_made *a, const emission *e, ac_sink *to)
{
    const ac_sink *proof = a->packed->search.certificate;
    (void)e;
    if (!proof || !proof->n)
        return ac_error(a->cx, (ac_place){.file = a->source->path}, E0502,
                        "no certificate exists: the lower bound proves the plan, or nothing does");
    ac_put_n(to, proof->text, proof->n);
    return AC_OK;
}

/* ------------------------------------------------------------------ all kinds, those of code too */

const arenac_kind *arenac_kind_at(int32_t i)
{
    static const arenac_kind KINDS[] = {
#define KIND(kind, ext, backends, help) {kind, ext, help},
#include "codegen/kinds.def"
#undef KIND
#define OUTPUT(kind, ext, where, needs, fn, help) {kind, ext, help},
#include "driver/emit/outputs.def"
#undef OUTPUT
    };
    return i >= 0 && i < (int32_t)(sizeof KINDS / sizeof *KINDS) ? &KINDS[i] : NULL;
}

const char *ac_output_stem(ac_ctx *cx, const char *output)
{
    const char *end = NULL;
    const arenac_kind *k;
    for (int32_t i = 0; !end && (k = arenac_kind_at(i)) != NULL; i++)
        if (*k->extension && ac_has_ending(output, k->extension))
            end = k->extension;
    return end ? ac_strf(cx->region, "%.*s", (int)(strlen(output) - strlen(end)), output) : output;
}

static int help_kinds(const ac_made *a, const char *wrong)
{
    enum { MOST = 64 };
    const arenac_kind *k;
    const char *names[MOST], *list = "";
    int32_t n = 0;
    for (; n < MOST && (k = arenac_kind_at(n)) != NULL; n++) {
        names[n] = k->name;
        list = ac_strf(a->cx->region, "%s%s%s", list, n ? "," : "", k->name);
    }
    const char *near = ac_closest(wrong, names, n);
    if (near)
        ac_help(a->cx, "did you mean '%s'?", near);
    return ac_help(a->cx, "available: %s", list);
}

/* ------------------------------------------------------------------ code */

/* The file that an output refers to: its own stem with another extension, or the C prefix if it is not a file. */
static const char *sibling(const ac_made *a, const char *path, const char *ext)
{
    const char *base = ac_path_name(path);
    const char *dot = strrchr(base, '.');
    const size_t n = ac_output_is_stream(path) ? 0 : dot ? (size_t)(dot - base) : strlen(base);
    return n ? ac_strf(a->cx->region, "%.*s%s", (int)n, base, ext)
             : ac_strf(a->cx->region, "%s%s", a->module->name, ext);
}

/* Stack and code bytes by a compiler for firmware, for the header and the report; an object has them already. */
static void ask_compiler(const ac_made *a)
{
    ac_module *m = a->module;
    ac_report *r = a->report;
    if (m->target->firmware && !m->built.how && a->opt->stack == AC_OPT_STACK_AUTO)
        ac_compiled(m, &m->built);
    if (!m->built.how || !r)
        return;
    r->stack_bytes = m->built.stack;
    r->built_by = m->built.how;
    if (m->built.code) {
        r->code_bytes = m->built.code;
        r->small_code_bytes = m->built.small_code;
    }
}

static int put_code(const ac_made *a, const emission *e, ac_sink *to)
{
    const ac_emit_names names = {sibling(a, e->path, ".h"),
                                 ac_output_is_stream(e->path) ? sibling(a, e->path, ".bin") : NULL};
    const ac_backend *b = ac_backend_for(a->cx, e->kind, a->module->target);
    if (!b)
        return ac_backend_ext(e->kind) ? AC_FAIL : help_kinds(a, e->kind);
    if (a->module->n_ram > 1 && !b->memories)
        return ac_error(a->cx, (ac_place){0}, E0502, "--emit %s supports one memory for tensors, %d are given", e->kind,
                        a->module->n_ram);
    if (!strcmp(e->kind, "h"))
        ask_compiler(a);
    if (a->module->caller_io && !b->caller_io)
        return ac_error(a->cx, (ac_place){0}, E0502, "--host is of the C backend; --emit %s cannot have it", e->kind);
    if (a->module->check_weights && strcmp(b->name, "c") != 0)
        return ac_error(a->cx, (ac_place){0}, E0502, "--check-weights is for C; --emit %s does not support it",
                        e->kind);
    return b->emit(a->module, e->kind, &names, to);
}

/* ------------------------------------------------------------------ one output */

static int not_here(const ac_made *a, const char *kind, const char *belongs)
{
    return ac_error(a->cx, (ac_place){.file = belongs ? NULL : a->source->path}, E0501, "--emit %s belongs to %s", kind,
                    belongs ? belongs : "arenac's own plan, not to TFLM's");
}

/* AC_OK: the values that the kind needs exist. */
static int check_needs(const ac_made *a, const char *kind, const ac_output_row *r)
{
    const bool code = !r || r->needs == CODE;
    if (a->intervals && (!r || (r->needs != NONE && r->needs != PLAN && r->needs != PROOF)))
        return ac_error(a->cx, (ac_place){0}, E0502, "--emit %s is not available for a CSV problem", kind);
    if (code && !a->module) {
        if (r || ac_backend_ext(kind))
            return not_here(a, kind, "arenac compile");
        ac_error(a->cx, (ac_place){0}, E0501, "--emit %s: unknown output", kind);
        return help_kinds(a, kind);
    }
    if (code || r->needs == NONE)
        return AC_OK;
    if (!a->report)
        return ac_error(a->cx, (ac_place){.file = a->source->path}, E0502, "--emit %s: the plan is missing", kind);
    if (r->needs == TFLM && !a->tflm)
        return not_here(a, kind, "arenac plan");
    if (r->needs == PROOF && !a->intervals)
        return not_here(a, kind, "arenac plan of a CSV problem");
    return r->needs == MODEL && !a->planned ? not_here(a, kind, NULL) : AC_OK;
}

int ac_emit(const ac_made *a, const char *kind, const char *path)
{
    const emission e = {kind, path};
    const ac_output_row *r = ac_output_find(kind);
    ac_sink *to = AC_NEW(a->cx->region, ac_sink);
    AC_TRY(check_needs(a, kind, r));
    ac_progress_begin(a->cx, "writing", 0);
    ac_sink_open(to, a->cx);
    AC_TRY(r ? r->put(a, &e, to) : put_code(a, &e, to));
    if (!r || r->where <= PICTURE)
        ac_pending_put(a->out, to, path);
    return AC_OK;
}

static int emit_part_stage(ac_work *part, void *arg)
{
    const emission *e = arg;
    return ac_emit(&part->made, e->kind, e->path);
}

int ac_emit_part(ac_work *whole, ac_work *part, const char *kind, const char *path)
{
    emission e = {kind, path};
    const int status = ac_guard(part, emit_part_stage, &e);
    ac_work_take_diags(whole, part);
    for (int32_t k = 0; k < part->out.list.n; k++)
        ac_push(whole->cx.region, &whole->out.list, part->out.list.item[k]);
    part->out.list.n = 0;
    return status;
}

int ac_emit_project(const ac_made *a, const ac_project *p, const char *kind, const char *folder)
{
    ac_project_content files = {0};
    AC_TRY(ac_project_list(a, p, kind, folder, &files));
    for (int32_t i = 0; i < files.n; i++) {
        const ac_project_file *f = &files.item[i];
        AC_TRY(ac_folder_make(a->cx, ac_strf(a->cx->region, "%.*s", (int)(ac_path_name(f->path) - f->path), f->path)));
        if (f->text)
            ac_put_n(ac_pending_add(a->out, f->path), f->text->text, f->text->n);
        else
            AC_TRY(f->work == a->owner ? ac_emit(a, f->kind, f->path)
                                       : ac_emit_part(a->owner, f->work, f->kind, f->path));
    }
    return AC_OK;
}
