/* several.c - several plans, one arena: --share of several models, or --dim NAME=LO..HI of one model for every value.
 *
 * Each part is planned (and compiled) by itself; then the parts are packed as intervals whose sizes are their arenas:
 * for "exclusive" each lives in a step of its own, so that they overlap, for "concurrent" all live at once.
 * State is always kept, and that of a range which is one program (codegen/sizes.h) is there once. Constants with the
 * same bytes are defined once. Code: the files of every part, and a header with the offset of each part's memory;
 * for a range also a source that chooses the part by the value, or one program. */
#include "driver/several/several.h"

#include "base/shell.h"
#include "codegen/c/identifiers.h"
#include "driver/emit/emit.h"
#include "driver/stage/stage.h"

#include <stdlib.h>
#include <string.h>

/* Values of a range: each is a plan, and code of its own, or numbers in the code of all. */
enum { MAX_EACH = 64, MAX_ONE = 1024 };

static const ac_place HERE = {.file = "arenac"};

/* ------------------------------------------------------------------ parts */

static const ac_dim_option *range_of(const ac_options *o)
{
    for (int32_t i = 0; i < o->dim.n; i++)
        if (o->dim.item[i].range)
            return &o->dim.item[i];
    return NULL;
}

bool ac_several_wanted(const ac_options *o)
{
    return o->share || o->sizes || range_of(o);
}

static int refuse(ac_work *w, const ac_dim_option *range, int32_t n)
{
    const ac_options *o = &w->opt;
    if (o->share && range)
        return ac_error(&w->cx, HERE, E0501, "--share and a range of --dim cannot be used together");
    if (o->share && n < 2)
        return ac_error(&w->cx, HERE, E0501, "--share needs two models or more");
    if (range && (n < 1 || n > 2))
        return ac_error(&w->cx, HERE, E0501, "a range of --dim needs one model");
    const int32_t most = o->sizes == AC_OPT_SIZES_EACH ? MAX_EACH : MAX_ONE;
    if (range && range->hi - range->lo >= most) {
        ac_error(&w->cx, HERE, E0502, "a range of --dim of more than %d values: '%s=%lld..%lld' has %lld", most,
                 range->name, (long long)range->lo, (long long)range->hi, (long long)(range->hi - range->lo + 1));
        return most == MAX_EACH ? ac_help(&w->cx, "--sizes one takes up to %d", MAX_ONE)
                                : ac_help(&w->cx, "pin it with --dim %s", ac_shell_set(&w->cx, range->name, "N"));
    }
    if (o->sizes && !range)
        return ac_error(&w->cx, HERE, E0501, "--sizes needs a range: --dim NAME=LO..HI");
    for (int32_t i = 0; range && i < o->dim.n; i++)
        if (o->dim.item[i].range && &o->dim.item[i] != range)
            return ac_error(&w->cx, HERE, E0501, "bad argument '%s=%lld..%lld' of --dim: one may be a range, '%s' is",
                            o->dim.item[i].name, (long long)o->dim.item[i].lo, (long long)o->dim.item[i].hi,
                            range->name);
    ac_pin *pin; /* not used: whether all can be computed */
    if (range) {
        AC_TRY(ac_dims_pins(&w->cx, &o->dim, range, range->lo, &pin));
        AC_TRY(ac_dims_pins(&w->cx, &o->dim, range, range->hi, &pin));
    }
    if (o->mem.n || o->pin.n || o->host || o->reference == AC_OPT_REFERENCE_TFLM || o->lock)
        return ac_error(&w->cx, HERE, E0502,
                        "--share and ranges of --dim work without --mem, --pin, --host, --lock and --reference tflm");
    return AC_OK;
}

typedef struct paths {
    const char *const *path;
    int32_t n;
} paths;

static int read_stage(ac_work *one, void *arg)
{
    const paths *p = arg;
    AC_TRY(ac_open(one, p->path, p->n));
    return ac_read_any(one);
}

static int read_part(ac_several *s, int32_t k, const char *const *path, int32_t n)
{
    ac_work *w = s->w, *one = s->part[k].w = ac_work_like(w, AC_AS_PART);
    const ac_opt_dims *dim = &w->opt.dim;
    const int64_t size = s->lo + k;
    paths p = {s->range ? path : &path[k], s->range ? n : 1};
    one->request.stated = &w->opt;
    for (int32_t i = 0; i < dim->n; i++)
        if (!dim->item[i].range)
            ac_push(w->cx.region, &one->opt.dim, dim->item[i]);
    if (s->range)
        ac_push(w->cx.region, &one->opt.dim, ((ac_dim_option){.name = s->range, .lo = size, .hi = size}));
    if (ac_emits_folder(w->opt.emit) && !w->opt.given[AC_OPT_weights].n)
        one->opt.weights = AC_OPT_WEIGHTS_RODATA; /* no file besides the code */
    if (s->one)
        one->opt.share_kernels = AC_OPT_SHARE_KERNELS_OFF; /* functions of all sizes are shared below */
    const int status = ac_guard(one, read_stage, &p);
    if (status == AC_OK && s->range)
        one->opt.name =
            ac_strf(w->cx.region, "%s_%s%lld", w->opt.name ? w->opt.name : one->source.stem, s->range, (long long)size);
    ac_work_take_diags(w, one);
    return status;
}

/* Options that exclude one program of all sizes. */
static int refuse_one(ac_work *w)
{
    const ac_options *o = &w->opt;
    const struct {
        bool given;
        const char *option;
    } LEFT[] = {{o->threads > 1, "--threads"},
                {o->prove, "--prove"},
                {o->poison, "--poison"},
                {o->evidence != NULL, "--evidence"},
                {o->selftest_cc != NULL, "--selftest-cc"}};
    for (size_t k = 0; k < sizeof LEFT / sizeof *LEFT; k++)
        if (LEFT[k].given) {
            ac_error(&w->cx, HERE, E0502, "%s: one program of all sizes is made without it", LEFT[k].option);
            return ac_help(&w->cx, "--sizes each makes a program for each of up to %d", MAX_EACH);
        }
    return AC_OK;
}

int ac_several_read(ac_work *w, const char *const *path, int32_t n, ac_several **out)
{
    const ac_dim_option *range = range_of(&w->opt);
    AC_TRY(refuse(w, range, n));
    ac_several *s = AC_NEW(w->cx.region, ac_several);
    *s = (ac_several){.w = w, .n = range ? (int32_t)(range->hi - range->lo + 1) : n};
    if (range) {
        s->range = range->name;
        s->lo = range->lo;
        s->hi = range->hi;
        s->one = w->opt.sizes == AC_OPT_SIZES_ONE || (!w->opt.sizes && s->n > MAX_EACH);
    }
    if (s->one)
        AC_TRY(refuse_one(w));
    s->part = AC_NEW_N(w->cx.region, ac_several_part, s->n);
    *out = s;
    for (int32_t k = 0; k < s->n; k++)
        AC_TRY(read_part(s, k, path, n));
    w->source.path = s->part[0].w->source.path;
    w->source.base = s->part[0].w->source.base;
    w->source.stem = s->part[0].w->source.stem;
    return AC_OK;
}

/* ------------------------------------------------------------------ one arena */

/* The regions of all parts as a problem of its own; *total: their bytes together. */
static int pack(ac_several *s, bool state, ac_bytes *total)
{
    ac_ctx *cx = &s->w->cx;
    const bool together = (state && !s->one) || s->w->opt.share == AC_OPT_SHARE_CONCURRENT;
    ac_memory mem = {.name = state ? "state" : "arena", .capacity = -1, .align = s->align};
    ac_problem p = {.item = AC_NEW_N(cx->region, ac_item, s->n), .n = s->n, .mem = &mem, .n_mems = 1, .steps = s->n};
    ac_plan plan;
    for (int32_t k = 0; k < s->n; k++) {
        const ac_several_part *x = &s->part[k];
        p.item[k] =
            (ac_item){.name = x->w->source.stem,
                      .size = state ? x->w->made.planned->plan.mem_bytes[1] : x->w->made.planned->plan.arena_bytes,
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

static void put_names(ac_several *s)
{
    ac_work *w = s->w;
    ac_region *r = w->cx.region;
    const char *output = w->opt.output;
    const char *plain = s->range ? w->source.stem : "shared";
    const char *base = output && *ac_path_name(output) ? ac_path_name(output) : plain;
    const char *dot = strrchr(base, '.');
    if (output && !*ac_path_name(output))
        w->out.folder = output;
    s->dir = ac_strf(r, "%.*s", output ? (int)(ac_path_name(output) - output) : 0, output ? output : "");
    s->stem = ac_strf(r, "%.*s", dot && dot != base ? (int)(dot - base) : (int)strlen(base), base);
    s->name = ac_c_prefix(&w->made, s->range ? plain : s->stem);
    s->upper = ac_c_upper(r, s->name);
}

static int pack_all(ac_several *s)
{
    put_names(s);
    s->align = 1;
    s->apart = 0;
    for (int32_t k = 0; k < s->n; k++) {
        const ac_work *one = s->part[k].w;
        const ac_problem *p = &one->made.planned->live->problem;
        for (int32_t i = 0; i < p->n; i++)
            s->align = p->item[i].align > s->align ? p->item[i].align : s->align;
        s->apart += one->made.planned->plan.arena_bytes;
        s->part[k].weights = one->made.report->weight_bytes;
    }
    AC_TRY(pack(s, false, &s->arena));
    AC_TRY(pack(s, true, &s->state));
    s->packed = true;
    return AC_OK;
}

static bool is_over_budget(const ac_several *s)
{
    return s->w->opt.budget.bytes >= 0 && s->arena > s->w->opt.budget.bytes;
}

static int check_budget(ac_several *s)
{
    ac_ctx *cx = &s->w->cx;
    const ac_bytes budget = s->w->opt.budget.bytes;
    if (!is_over_budget(s))
        return AC_OK;
    return ac_error(cx, (ac_place){0}, E0401, "memory 'arena' is over its budget: needs %s B, has %s B, %s B too much",
                    ac_commas(cx, s->arena), ac_commas(cx, budget), ac_commas(cx, s->arena - budget));
}

static int check_stage(ac_work *one, void *arg)
{
    (void)arg;
    return ac_check(one);
}

static int plan_stage(ac_work *one, void *arg)
{
    (void)arg;
    return ac_plan_any(one);
}

static int compile_stage(ac_work *one, void *arg)
{
    (void)arg;
    return ac_compile_tested(one);
}

/* f on every part, up to the first that fails. */
static int each(ac_several *s, ac_work_fn *f)
{
    for (int32_t k = 0; k < s->n; k++) {
        const int status = ac_guard(s->part[k].w, f, NULL);
        ac_work_take_diags(s->w, s->part[k].w);
        AC_TRY(status);
    }
    return AC_OK;
}

/* Changes nothing the second time. */
int ac_several_check(ac_several *s)
{
    AC_TRY(each(s, check_stage));
    if (s->range && !s->packings)
        AC_TRY(ac_several_pack(s));
    s->packings = true;
    return AC_OK;
}

int ac_several_plan(ac_several *s)
{
    if (s->w->opt.emit)
        return ac_error(&s->w->cx, HERE, E0502, "--emit of several plans at once is not available; --json prints them");
    AC_TRY(ac_several_check(s));
    AC_TRY(each(s, plan_stage));
    AC_TRY(pack_all(s));
    return check_budget(s);
}

/* ------------------------------------------------------------------ code */

/* The kinds that --emit lists: "c,h", "o,h,selftest", "make,cmake" ... */
typedef struct request {
    const char *code; /* its kind; NULL: several models do not support the list */
    bool files, selftest;
    const char *folder[8]; /* kinds of projects */
    int32_t n_folders;
} request;

static request requested(ac_work *w)
{
    static const char *const KIND[] = {"c", "o", "s", "ll", "bc"};
    request r = {0};
    const char *code = NULL;
    bool header = false, good = true;
    char *list = ac_strdup(w->cx.region, w->opt.emit ? w->opt.emit : "c,h"), *save = NULL;
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        size_t k = 0;
        while (k < sizeof KIND / sizeof *KIND && strcmp(KIND[k], word))
            k++;
        if (k < sizeof KIND / sizeof *KIND) {
            good &= !code;
            code = KIND[k];
        } else if (!strcmp(word, "h")) {
            header = true;
        } else if (!strcmp(word, "selftest")) {
            r.selftest = true;
        } else if (ac_project_is(word) && r.n_folders < (int32_t)(sizeof r.folder / sizeof *r.folder)) {
            r.folder[r.n_folders++] = word;
        } else {
            good = false;
        }
    }
    r.files = code != NULL;
    good &= r.files ? header && (!r.n_folders || ac_is(code, "c")) : r.n_folders && !header && !r.selftest;
    r.code = good ? r.files ? code : KIND[0] : NULL;
    return r;
}

static int check_names(const ac_several *s)
{
    ac_ctx *cx = &s->w->cx;
    for (int32_t k = 0; k < s->n; k++) {
        const char *name = s->part[k].w->made.module->name;
        for (int32_t i = 0; i < k; i++)
            if (!strcmp(s->part[i].w->made.module->name, name)) {
                ac_error(cx, (ac_place){0}, E0501, "two models have the C name '%s'", name);
                return ac_help(cx, "the name is that of the file: rename or link one of them");
            }
        if (!strcmp(name, s->name))
            return ac_error(cx, (ac_place){0}, E0501, "'%s' is the name of a model; take another one with -o or --name",
                            s->name);
    }
    return AC_OK;
}

/* Constants are made in the memory of each part, so the guards of all parts are around it. */
typedef struct nest {
    ac_several *s;
    int32_t k;
} nest;

static int merge_sizes(ac_several *s, ac_module **m)
{
    ac_module *whole = AC_NEW(m[0]->cx->region, ac_module);
    *whole = *m[0];
    whole->name = s->name;
    s->whole = whole;
    if (m[0]->target->isa == AC_ISA_CUDA)
        return ac_error(m[0]->cx, HERE, E0502, "one program of all sizes is made for processors only");
    return ac_module_merge_sizes(m, s->n, s->range, s->lo, whole, &s->rom);
}

static int share_constants(ac_work *one, void *arg)
{
    nest *at = arg;
    ac_several *s = at->s;
    (void)one;
    if (++at->k < s->n)
        return ac_guard(s->part[at->k].w, share_constants, at);
    ac_module **m = AC_NEW_N(s->part[0].w->cx.region, ac_module *, s->n);
    for (int32_t k = 0; k < s->n; k++)
        m[k] = s->part[k].w->made.module;
    if (s->one)
        return merge_sizes(s, m);
    return ac_module_merge_consts(m, s->n, !ac_is(requested(s->w).code, "c"), &s->rom);
}

static int same_io(const ac_several *s)
{
    const ac_module *first = s->part[0].w->made.module;
    for (int32_t k = 0; k < s->n && s->range; k++) {
        const ac_module *m = s->part[k].w->made.module;
        if (m->n_inputs != first->n_inputs || m->n_outputs != first->n_outputs)
            return ac_error(&s->w->cx, (ac_place){0}, E0108, "the number of inputs or outputs depends on '%s'",
                            s->range);
    }
    return AC_OK;
}

int ac_several_compile(ac_several *s)
{
    ac_work *w = s->w;
    nest all = {s, 0};
    const request r = requested(w);
    if (s->one && (!ac_is(r.code, "c") || r.selftest || r.n_folders))
        return ac_error(&w->cx, HERE, E0502, "one program of all sizes is compiled to c,h; --sizes each to others");
    if (!r.code) {
        ac_error(&w->cx, HERE, E0502,
                 "--emit %s: several models are compiled to c,h, or with LLVM to o,h, s,h, ll,h or bc,h", w->opt.emit);
        return ac_help(&w->cx, "with ,selftest besides, or as a folder (make, cmake, zephyr ...), which is C");
    }
    for (int32_t k = 0; k < s->n; k++)
        s->part[k].w->request.wants_inference = true;
    AC_TRY(ac_several_check(s));
    AC_TRY(each(s, compile_stage));
    AC_TRY(pack_all(s));
    AC_TRY(same_io(s));
    AC_TRY(check_names(s));
    const int status = ac_guard(s->part[0].w, share_constants, &all);
    ac_work_take_diags(w, s->part[0].w);
    if (status)
        return AC_FAIL;
    s->compiled = true;
    if (s->one)
        s->part[0].w->made.module = s->whole;
    return check_budget(s);
}

static int emit_part(ac_several *s, int32_t part, const request *q)
{
    ac_region *r = s->w->cx.region;
    ac_work *one = s->part[part].w;
    const char *kind = q->code, *name = s->one ? s->stem : one->made.module->name;
    const bool block = s->one ? ac_module_weights(one->made.module) != AC_WEIGHTS_RODATA
                              : one->made.module->block && !one->made.module->block_extern;
    const char *code = ac_strf(r, "%s%s.%s", s->dir, name, kind);
    AC_TRY(ac_emit_part(s->w, one, kind, code));
    if (!s->one)
        AC_TRY(ac_emit_part(s->w, one, "h", ac_strf(r, "%s%s.h", s->dir, name)));
    if (block)
        AC_TRY(ac_emit_part(s->w, one, "blob",
                            ac_module_weights(one->made.module) == AC_WEIGHTS_ASM
                                ? ac_blob_path(&one->made, code)
                                : ac_strf(r, "%s%s.bin", s->dir, s->stem)));
    return q->selftest ? ac_emit_part(s->w, one, "selftest", ac_strf(r, "%s%s.selftest.c", s->dir, name)) : AC_OK;
}

static int write_files(ac_several *s, const request *q)
{
    ac_region *r = s->w->cx.region;
    for (int32_t k = 0; k < (s->one ? 1 : s->n); k++)
        AC_TRY(emit_part(s, k, q));
    ac_several_put_header(s, ac_pending_add(&s->w->out, ac_strf(r, "%s%s.h", s->dir, s->stem)));
    if (s->range && !s->one)
        ac_several_put_source(s, ac_pending_add(&s->w->out, ac_strf(r, "%s%s.c", s->dir, s->stem)));
    if (q->selftest)
        ac_several_put_selftest(s, ac_pending_add(&s->w->out, ac_strf(r, "%s%s.selftest.c", s->dir, s->stem)));
    return AC_OK;
}

static const ac_sink *text_of(ac_several *s, void (*put)(ac_several *s, ac_sink *to))
{
    ac_sink *to = AC_NEW(s->w->cx.region, ac_sink);
    ac_sink_open(to, &s->w->cx);
    put(s, to);
    return to;
}

/* A folder for a build system: the files of all parts, and of the whole. */
static ac_project project_of(ac_several *s)
{
    ac_region *r = s->w->cx.region;
    const ac_module *first = s->part[0].w->made.module;
    ac_project_part *part = AC_NEW_N(r, ac_project_part, s->n + 1);
    for (int32_t k = 0; k < s->n; k++)
        part[k] = (ac_project_part){.stem = s->part[k].w->made.module->name, .work = s->part[k].w};
    part[s->n] = (ac_project_part){.stem = s->name,
                                   .code = s->range ? text_of(s, ac_several_put_source) : NULL,
                                   .header = text_of(s, ac_several_put_header),
                                   .selftest = text_of(s, ac_several_put_selftest)};
    return (ac_project){.name = s->name,
                        .made_of =
                            s->range ? ac_strf(r, "%s, %d sizes", first->source, s->n) : ac_strf(r, "%d models", s->n),
                        .module = first,
                        .state = s->state > 0,
                        .part = part,
                        .n = s->n + 1};
}

static int write_code(ac_several *s)
{
    const char *output = s->w->opt.output;
    const request q = requested(s->w);
    if (output && ac_file_is_special(output))
        return ac_error(&s->w->cx, (ac_place){.file = output}, E0302,
                        "cannot write: several models take several files, this is a device");
    if (q.files)
        AC_TRY(write_files(s, &q));
    const char *folder = output && !*ac_path_name(output) ? output : ac_strf(s->w->cx.region, "%s%s", s->dir, s->stem);
    s->stem = q.n_folders ? s->name : s->stem; /* of the files in them */
    const ac_project p = q.n_folders ? project_of(s) : (ac_project){0};
    for (int32_t k = 0; k < q.n_folders; k++)
        AC_TRY(ac_emit_project(&s->w->made, &p, q.folder[k], folder));
    return AC_OK;
}

int ac_several_write(ac_several *s)
{
    ac_work *w = s->w;
    if (s->compiled && !is_over_budget(s))
        AC_TRY(write_code(s));
    ac_depfile_put(&w->made);
    w->out.listed = !w->opt.json && !w->opt.quiet;
    if (w->opt.json || !w->opt.quiet)
        ac_several_report(s, ac_pending_add(&w->out, "-"));
    return AC_OK;
}

void ac_several_report(ac_several *s, ac_sink *to)
{
    if (s->w->opt.json)
        ac_several_put_json(s, to);
    else
        ac_several_put_text(s, to);
}
