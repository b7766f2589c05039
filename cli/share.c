/* share.c - several plans, one arena: --share of several models, or --dim NAME=LO..HI of one model for every value.
 *
 * Each part is planned (and compiled) by itself; then the parts are packed as intervals whose sizes are their arenas: for
 * "exclusive" each lives in a step of its own, so that they lie over each other, for "concurrent" all live at once. State is
 * always kept. Constants with the same bytes are defined once. Code: the files of every part, and a header that knows where
 * each part's memory begins; for a range also a source that chooses the part by the value. */
#include "cli/cli.h"
#include "cli/inputs.h"
#include "codegen/constants.h"

#include "base/json_out.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 64 }; /* of a range: each is a plan, and code */

typedef struct part {
    ac_cli *cli; /* of this part alone */
    arenac_job *job;
    ac_bytes arena_at, state_at;
    ac_bytes weights;
} part;

typedef struct shared {
    ac_cli *cli;
    part *part;
    int32_t n;
    arenac_job *first; /* outputs and messages about all of them go here */
    const char *name, *upper, *dir, *stem;
    ac_bytes arena, state, align, apart, saved;
    bool compile;
} shared;

static int usage(const char *text)
{
    fprintf(stderr, "arenac: error[E0501]: %s\n", text);
    return AC_EXIT_USAGE;
}

static const char *identifier(shared *s, const char *from)
{
    char *id = ac_strf(s->first->cx.region, "%s%s", isdigit((unsigned char)from[0]) ? "m" : "", from);
    for (char *p = id; *p; p++)
        *p = isalnum((unsigned char)*p) && (unsigned char)*p < 128 ? (char)tolower((unsigned char)*p) : '_';
    return *id ? id : "shared";
}

/* ------------------------------------------------------------------ parts */

/* The kind of code in "c,h", "o,h" ..., or NULL. */
static const char *code_kind(const char *emit)
{
    static const char *const KIND[] = {"c", "o", "s", "ll", "bc"};
    const size_t n = strcspn(emit, ",");
    for (size_t k = 0; k < sizeof KIND / sizeof *KIND; k++)
        if (strlen(KIND[k]) == n && !strncmp(KIND[k], emit, n) && !strcmp(emit + n, ",h"))
            return KIND[k];
    return NULL;
}

static int refuse_options(const ac_cli *cli)
{
    if (cli->share && cli->range)
        return usage("--share and a range of --dim cannot be used together");
    if (cli->share && cli->n_files < 2)
        return usage("--share needs two models or more");
    if (cli->range && (cli->n_files < 1 || cli->n_files > 2))
        return usage("a range of --dim needs one model");
    if (cli->range && cli->range_hi - cli->range_lo >= MAX_VALUES) {
        fprintf(stderr, "arenac: error[E0502]: a range of --dim of more than %d values; pin it with --dim %s=N\n",
                MAX_VALUES, cli->range);
        return AC_EXIT_UNSUPPORTED;
    }
    if (cli->opt.n_mems || cli->opt.n_pins || cli->opt.caller_io || cli->reference_tflm || cli->lock) {
        fputs("arenac: error[E0502]: --share and ranges of --dim work without --mem, --pin, --host, --lock and "
              "--reference tflm\n",
              stderr);
        return AC_EXIT_UNSUPPORTED;
    }
    if (cli->emit && cli->verb == AC_VERB_PLAN) {
        fputs("arenac: error[E0502]: --emit of several plans at once is not available; --json prints them\n", stderr);
        return AC_EXIT_UNSUPPORTED;
    }
    if (cli->emit && !code_kind(cli->emit)) {
        fputs("arenac: error[E0502]: several plans at once are compiled to c,h; with LLVM o,h or s,h or ll,h or bc,h\n",
              stderr);
        return AC_EXIT_UNSUPPORTED;
    }
    return 0;
}

/* The command line of part k: one model, or one value of the range. */
static ac_cli *cli_of(const ac_cli *cli, int32_t k)
{
    ac_cli *one = malloc(sizeof *one);
    if (!one)
        return NULL;
    *one = *cli;
    one->opt.dim = one->dim;
    one->opt.budget = -1;
    if (cli->share) {
        one->file[0] = cli->file[k];
        one->n_files = 1;
        one->opt.name = NULL;
        return one;
    }
    one->dim[one->opt.n_dims].name = cli->range;
    one->dim[one->opt.n_dims++].value = cli->range_lo + k;
    if (cli->n_files == 2)
        one->opt.weights_file = cli->file[1];
    return one;
}

/* 0, or the exit status after the messages of the part that failed. */
static int open_part(shared *s, int32_t k)
{
    part *p = &s->part[k];
    p->cli = cli_of(s->cli, k);
    p->job = p->cli ? arenac_open(&p->cli->opt) : NULL;
    if (!p->job) {
        fputs("arenac: error[E0402]: out of memory\n", stderr);
        return AC_EXIT_INVALID;
    }
    int failed = ac_cli_read(p->cli, p->job);
    if (!failed && s->cli->range) {
        const char *name = s->cli->opt.name ? s->cli->opt.name : p->job->stem;
        p->job->opt.name =
            ac_strf(p->job->cx.region, "%s_%s%lld", name, s->cli->range, (long long)(s->cli->range_lo + k));
    }
    failed = failed || (s->compile ? arenac_compile(p->job) : arenac_plan(p->job));
    if (!failed)
        return 0;
    arenac_job *job = p->job;
    p->job = NULL;
    return ac_cli_finish(p->cli, job);
}

/* ------------------------------------------------------------------ one arena */

/* The regions of all parts as a problem of its own; *total is what they need together. */
static int pack(shared *s, bool state, ac_bytes *total)
{
    ac_ctx *cx = &s->first->cx;
    const bool together = state || (s->cli->share && !strcmp(s->cli->share, "concurrent"));
    ac_memory mem = {.name = state ? "state" : "arena", .capacity = -1, .align = s->align};
    ac_problem p = {.item = AC_NEW_N(cx->region, ac_item, s->n), .n = s->n, .mem = &mem, .n_mems = 1, .steps = s->n};
    ac_plan plan;
    for (int32_t k = 0; k < s->n; k++) {
        const part *x = &s->part[k];
        p.item[k] = (ac_item){.name = x->job->stem,
                              .size = state ? x->job->plan.mem_bytes[1] : x->job->plan.arena_bytes,
                              .align = s->align,
                              .life = {together ? 0 : k, together ? s->n : k + 1},
                              .fixed = -1,
                              .mem = -1};
    }
    AC_TRY(ac_solve(cx, &p, "auto", NULL, &plan));
    for (int32_t k = 0; k < s->n; k++)
        *(state ? &s->part[k].state_at : &s->part[k].arena_at) = plan.offset[k];
    *total = plan.arena_bytes;
    return AC_OK;
}

static int share_stage(arenac_job *job, void *arg)
{
    shared *s = arg;
    const char *output = s->cli->output;
    const char *base = output ? ac_path_name(output) : s->cli->range ? job->stem : "shared";
    const char *dot = strrchr(base, '.');
    s->dir = ac_strf(job->cx.region, "%.*s", output ? (int)(base - output) : 0, output ? output : "");
    s->stem = ac_strf(job->cx.region, "%.*s", dot && dot != base ? (int)(dot - base) : (int)strlen(base), base);
    s->name = identifier(s, s->cli->opt.name ? s->cli->opt.name : s->cli->range ? job->stem : s->stem);
    char *upper = ac_strdup(job->cx.region, s->name);
    for (char *p = upper; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    s->upper = upper;
    s->align = 1;
    for (int32_t k = 0; k < s->n; k++) {
        const ac_problem *p = &s->part[k].job->live->problem;
        for (int32_t i = 0; i < p->n; i++)
            s->align = p->item[i].align > s->align ? p->item[i].align : s->align;
        s->apart += s->part[k].job->plan.arena_bytes;
        s->part[k].weights = s->part[k].job->report.weight_bytes;
    }
    AC_TRY(pack(s, false, &s->arena));
    AC_TRY(pack(s, true, &s->state));
    if (s->compile) {
        ac_module **m = AC_NEW_N(job->cx.region, ac_module *, s->n);
        for (int32_t k = 0; k < s->n; k++) {
            m[k] = s->part[k].job->module;
            for (int32_t i = 0; i < k; i++)
                if (!strcmp(m[i]->name, m[k]->name)) {
                    ac_error(&job->cx, (ac_place){0}, E0501, "two models have the C name '%s'", m[k]->name);
                    return ac_help(&job->cx, "the name is that of the file: rename or link one of them");
                }
            if (!strcmp(m[k]->name, s->name))
                return ac_error(&job->cx, (ac_place){0}, E0501,
                                "'%s' is the name of a model; take another one with -o or --name", s->name);
        }
        AC_TRY(ac_module_share_consts(m, s->n, &s->saved));
    }
    if (s->cli->opt.budget >= 0 && s->arena > s->cli->opt.budget)
        return ac_error(&job->cx, (ac_place){0}, E0401,
                        "memory 'arena' is over its budget: needs %s B, has %s B, %s B too much",
                        ac_commas(&job->cx, s->arena), ac_commas(&job->cx, s->cli->opt.budget),
                        ac_commas(&job->cx, s->arena - s->cli->opt.budget));
    return AC_OK;
}

/* ------------------------------------------------------------------ the report */

static const char *label(const shared *s, int32_t k)
{
    ac_region *r = s->first->cx.region;
    return s->cli->range ? ac_strf(r, "%s = %lld", s->cli->range, (long long)(s->cli->range_lo + k))
                         : s->part[k].job->base;
}

static bool optimal(const part *p)
{
    return p->job->plan.arena_bytes == p->job->plan.proven;
}

static void put_text(shared *s, ac_sink *to)
{
    ac_ctx *cx = &s->first->cx;
    if (s->cli->range)
        ac_putf(to, "%s   %d plans, one for each %s from %lld to %lld, in one arena\n\n", s->first->base, s->n,
                s->cli->range, (long long)s->cli->range_lo, (long long)s->cli->range_hi);
    else
        ac_putf(to, "%d models, one arena, %s\n\n", s->n, s->cli->share);
    ac_putf(to, "  RAM  arena      %13s B", ac_commas(cx, s->arena));
    if (!s->cli->range)
        ac_putf(to, "   apart they would take %s B", ac_commas(cx, s->apart));
    ac_putc(to, '\n');
    ac_putf(to, "       state      %13s B\n", ac_commas(cx, s->state));
    if (s->compile)
        ac_putf(to, "  ROM  saved      %13s B   constants with the same bytes are kept once\n",
                ac_commas(cx, s->saved));
    ac_putf(to, "\n  %-32s %12s %10s %10s %12s  plan\n", "model", "arena B", "at", "state at", "weights B");
    for (int32_t k = 0; k < s->n; k++) {
        const part *p = &s->part[k];
        ac_putf(to, "  %-32s %12s 0x%08llx 0x%08llx %12s  %s\n", label(s, k), ac_commas(cx, p->job->plan.arena_bytes),
                (unsigned long long)p->arena_at, (unsigned long long)p->state_at, ac_commas(cx, p->weights),
                optimal(p) ? "optimal" : p->job->plan.strategy);
    }
}

static void put_json(shared *s, ac_sink *to)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-share/1");
    ac_json_str(&j, "share", s->cli->share ? s->cli->share : "range");
    ac_json_int(&j, "arena_bytes", s->arena);
    ac_json_int(&j, "apart_bytes", s->apart);
    ac_json_int(&j, "state_bytes", s->state);
    ac_json_int(&j, "align_bytes", s->align);
    ac_json_arr(&j, "models");
    for (int32_t k = 0; k < s->n; k++) {
        const part *p = &s->part[k];
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "file", p->job->base);
        ac_json_str(&j, "dim", s->cli->range ? label(s, k) : NULL);
        ac_json_int(&j, "arena_bytes", p->job->plan.arena_bytes);
        ac_json_int(&j, "arena_offset_bytes", p->arena_at);
        ac_json_int(&j, "lower_bound_bytes", p->job->plan.proven);
        ac_json_bool(&j, "optimal", optimal(p));
        ac_json_int(&j, "state_bytes", p->job->plan.mem_bytes[1]);
        ac_json_int(&j, "state_offset_bytes", p->state_at);
        ac_json_int(&j, "weight_bytes", p->weights);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}

/* ------------------------------------------------------------------ code */

static bool has_blob(const part *p)
{
    return ac_module_weights(p->job->module) == AC_WEIGHTS_BLOB;
}

static bool any_blob(const shared *s)
{
    for (int32_t k = 0; k < s->n; k++)
        if (has_blob(&s->part[k]))
            return true;
    return false;
}

/* NAME_PART(m): the memory of a part inside of the memory of all. */
static void put_view(shared *s, ac_sink *to, int32_t k)
{
    const part *p = &s->part[k];
    const char *part_name = p->job->module->name;
    ac_putf(to, "static inline %s_mem %s_of_%s(const %s_mem *m)\n{\n    %s_mem of = {0};\n", part_name, s->name,
            part_name, s->name, part_name);
    ac_putf(to, "    of.arena = m->arena ? (uint8_t *)m->arena + %lldu : NULL;\n", (long long)p->arena_at);
    if (p->job->module->state_bytes)
        ac_putf(to, "    of.state = m->state ? (uint8_t *)m->state + %lldu : NULL;\n", (long long)p->state_at);
    if (has_blob(p))
        ac_putf(to, "    of.weights = m->weights[%d];\n", k);
    ac_put(to, "    return of;\n}\n");
}

static void put_header(shared *s, ac_sink *to)
{
    const char *U = s->upper, *p = s->name;
    ac_putf(to, "/* %s.h - made by arenac %s: %d %s in one arena of %s B%s. */\n#ifndef %s_H\n#define %s_H\n", s->stem,
            arenac_version(), s->n, s->cli->range ? "sizes of a model" : "models", ac_commas(to->cx, s->arena),
            s->cli->share && !strcmp(s->cli->share, "concurrent")
                ? ", each with bytes of its own"
                : ", over each other: running one destroys inputs and outputs of the others",
            U, U);
    for (int32_t k = 0; k < s->n; k++)
        ac_putf(to, "#include \"%s.h\"\n", s->part[k].job->module->name);
    ac_putf(to, "\n#define %s_ARENA_BYTES %lldu\n#define %s_ARENA_ALIGN %lldu\n#define %s_STATE_BYTES %lldu\n", U,
            (long long)s->arena, U, (long long)s->align, U, (long long)s->state);
    if (s->cli->range)
        ac_putf(to, "#define %s_MIN %lld /* of '%s' */\n#define %s_MAX %lld\n", U, (long long)s->cli->range_lo,
                s->cli->range, U, (long long)s->cli->range_hi);
    ac_putf(to, "\ntypedef struct %s_mem {\n    void *arena; /* %s_ARENA_BYTES, aligned to %s_ARENA_ALIGN */\n", p, U,
            U);
    if (s->state)
        ac_putf(to, "    void *state; /* %s_STATE_BYTES, aligned as the arena; kept between runs */\n", U);
    if (any_blob(s))
        ac_putf(to, "    const void *weights[%d]; /* the blobs, in the order of the parts */\n", s->n);
    ac_putf(to, "} %s_mem;\n\n/* The memory of one part: for its own functions. */\n", p);
    for (int32_t k = 0; k < s->n; k++)
        put_view(s, to, k);
    if (s->cli->range) {
        const ac_module *m = s->part[0].job->module;
        ac_putf(to,
                "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nenum { %s_OK = 0, %s_EALIGN = 1, %s_EDIM = 2, "
                "%s_EWEIGHTS = 3, %s_EINDEX = 4 };\n"
                "/* %s: from %s_MIN to %s_MAX, else %s_EDIM or NULL. */\n"
                "int %s_init(const %s_mem *m, int32_t %s);\nint %s_run(const %s_mem *m, int32_t %s);\n",
                U, U, U, U, U, "n", U, U, U, p, p, "n", p, p, "n");
        for (int32_t i = 0; i < m->n_inputs; i++)
            ac_putf(to, "void *%s_in%d(const %s_mem *m, int32_t n, uint32_t *bytes);\n", p, i, p);
        for (int32_t i = 0; i < m->n_outputs; i++)
            ac_putf(to, "const void *%s_out%d(const %s_mem *m, int32_t n, uint32_t *bytes);\n", p, i, p);
        ac_put(to, "#ifdef __cplusplus\n}\n#endif\n");
    }
    ac_put(to, "#endif\n");
}

static const char *upper_of(shared *s, const char *name)
{
    char *up = ac_strdup(s->first->cx.region, name);
    for (char *p = up; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return up;
}

/* A function of the range that hands on to the part of the value. kind: "init", "run", "in0" ... */
static void put_switch(shared *s, ac_sink *to, const char *kind, bool pointer)
{
    const char *p = s->name;
    const bool input = kind[0] == 'i' && kind[1] == 'n' && isdigit((unsigned char)kind[2]);
    if (pointer)
        ac_putf(to, "%svoid *%s_%s(const %s_mem *m, int32_t n, uint32_t *bytes)\n{\n    switch (n) {\n",
                input ? "" : "const ", p, kind, p);
    else
        ac_putf(to, "int %s_%s(const %s_mem *m, int32_t n)\n{\n    switch (n) {\n", p, kind, p);
    for (int32_t k = 0; k < s->n; k++) {
        const char *name = s->part[k].job->module->name;
        ac_putf(to, "    case %lld: {\n        const %s_mem of = %s_of_%s(m);\n", (long long)(s->cli->range_lo + k),
                name, p, name);
        if (pointer)
            ac_putf(to, "        if (bytes)\n            *bytes = %s_%s_BYTES;\n", upper_of(s, name),
                    upper_of(s, kind));
        ac_putf(to, "        return %s%s_%s(&of);\n    }\n", pointer && input ? "(void *)" : "", name, kind);
    }
    ac_putf(to, "    default: return %s;\n    }\n}\n\n",
            pointer ? "NULL" : ac_strf(s->first->cx.region, "%s_EDIM", s->upper));
}

static void put_source(shared *s, ac_sink *to)
{
    const ac_module *m = s->part[0].job->module;
    ac_putf(to, "/* %s.c - made by arenac %s: chooses the code of a size. */\n#include \"%s.h\"\n\n", s->stem,
            arenac_version(), s->stem);
    put_switch(s, to, "init", false);
    put_switch(s, to, "run", false);
    for (int32_t i = 0; i < m->n_inputs; i++)
        put_switch(s, to, ac_strf(s->first->cx.region, "in%d", i), true);
    for (int32_t i = 0; i < m->n_outputs; i++)
        put_switch(s, to, ac_strf(s->first->cx.region, "out%d", i), true);
}

static void add_file(shared *s, const char *ext, void (*put)(shared *s, ac_sink *to))
{
    ac_sink *to = AC_NEW(s->first->cx.region, ac_sink);
    ac_sink_open(to, &s->first->cx);
    put(s, to);
    ac_job_add_output(s->first, to, ac_strf(s->first->cx.region, "%s%s%s", s->dir, s->stem, ext));
}

static int code_stage(arenac_job *job, void *arg)
{
    shared *s = arg;
    for (int32_t k = 0; k < s->n; k++) {
        arenac_job *of = s->part[k].job;
        const ac_module *m = of->module;
        if (m->n_inputs != s->part[0].job->module->n_inputs || m->n_outputs != s->part[0].job->module->n_outputs)
            if (s->cli->range)
                return ac_error(&job->cx, (ac_place){0}, E0108, "the number of inputs or outputs depends on '%s'",
                                s->cli->range);
        const char *kind = s->cli->emit ? code_kind(s->cli->emit) : "c";
        AC_TRY(arenac_emit(of, kind, ac_strf(of->cx.region, "%s%s.%s", s->dir, m->name, kind)));
        AC_TRY(arenac_emit(of, "h", ac_strf(of->cx.region, "%s%s.h", s->dir, m->name)));
        if (ac_module_weights(m) != AC_WEIGHTS_RODATA)
            AC_TRY(arenac_emit(of, "blob", ac_strf(of->cx.region, "%s%s.bin", s->dir, m->name)));
    }
    add_file(s, ".h", put_header);
    if (s->cli->range)
        add_file(s, ".c", put_source);
    return AC_OK;
}

static int report_stage(arenac_job *job, void *arg)
{
    shared *s = arg;
    ac_sink *to = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(to, &job->cx);
    if (s->cli->json)
        put_json(s, to);
    else if (!s->cli->quiet)
        put_text(s, to);
    ac_job_add_output(job, to, "-");
    return AC_OK;
}

int ac_cli_share(ac_cli *cli)
{
    shared s = {.cli = cli, .n = cli->share ? cli->n_files : (int32_t)(cli->range_hi - cli->range_lo + 1)};
    int status = refuse_options(cli);
    if (status)
        return status;
    s.compile = cli->verb == AC_VERB_COMPILE;
    s.part = calloc((size_t)s.n, sizeof *s.part);
    for (int32_t k = 0; s.part && k < s.n && !status; k++)
        status = open_part(&s, k);
    if (s.part && !status) {
        s.first = s.part[0].job;
        bool ok = ac_job_guard(s.first, share_stage, &s) == AC_OK;
        ok = ok && (!s.compile || ac_job_guard(s.first, code_stage, &s) == AC_OK);
        if (ok || arenac_exit(s.first) == AC_EXIT_BUDGET)
            ok = ac_job_guard(s.first, report_stage, &s) == AC_OK && ok;
        for (int32_t k = s.n - 1; k >= 0 && (ok || !k); k--) /* the first comes last: it has the report */
            status = arenac_commit(s.part[k].job) || status ? AC_EXIT_IO : 0;
    }
    for (int32_t k = s.part ? s.n - 1 : -1; k >= 0; k--) {
        if (s.part[k].job) {
            s.part[k].cli->json = false; /* printed already */
            const int one = ac_cli_finish(s.part[k].cli, s.part[k].job);
            status = status ? status : one;
        }
        free(s.part[k].cli);
    }
    free(s.part);
    return status;
}
