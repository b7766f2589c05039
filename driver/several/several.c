/* several.c - several plans, one arena: --share of several models, or --dim NAME=LO..HI of one model for every value.
 *
 * Each part is planned (and compiled) by itself; then the parts are packed as intervals whose sizes are their arenas:
 * for "exclusive" each lives in a step of its own, so that they lie over each other, for "concurrent" all live at once.
 * State is always kept, and that of a range which is one program (codegen/sizes.h) is there once. Constants with the
 * same bytes are defined once. Code: the files of every part, and a header that knows where each part's memory begins;
 * for a range also a source that chooses the part by the value, or one program. */
#include "driver/several/several.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Values of a range: each is a plan, and code of its own, or numbers in the code of all. */
enum { MAX_EACH = 64, MAX_ONE = 1024 };

static const ac_place HERE = {.file = "arenac"};

/* ------------------------------------------------------------------ parts */

static const ac_dim_option *range_of(const arenac *a)
{
    for (int32_t i = 0; i < a->opt.dim.n; i++)
        if (a->opt.dim.item[i].range)
            return &a->opt.dim.item[i];
    return NULL;
}

bool ac_several_wanted(const arenac *a)
{
    return a->opt.share || a->opt.sizes || range_of(a);
}

arenac *ac_open_like(arenac *a, const ac_option_id *without, int32_t n)
{
    arenac *one = arenac_open();
    if (!one)
        ac_heap_exhausted(&a->cx.heap);
    one->parent = a;
    one->cx.progress = a->cx.progress;
    one->cx.lender = &a->cx;
    one->sibling = a->child;
    a->child = one;
    for (int id = 0; id < AC_OPT_COUNT; id++) {
        bool left = false;
        for (int32_t k = 0; k < n; k++)
            left |= (int)without[k] == id;
        const char *name = arenac_option_at(id)->name;
        for (int32_t k = 0; !left && k < a->opt.given[id].n; k++) {
            const char *value = a->opt.given[id].item[k];
            arenac_set(one, name, *value ? value : NULL);
        }
    }
    return one;
}

static int refuse(arenac *a, const ac_dim_option *range, int32_t n)
{
    const ac_options *o = &a->opt;
    if (o->share && range)
        return ac_error(&a->cx, HERE, E0501, "--share and a range of --dim cannot be used together");
    if (o->share && n < 2)
        return ac_error(&a->cx, HERE, E0501, "--share needs two models or more");
    if (range && (n < 1 || n > 2))
        return ac_error(&a->cx, HERE, E0501, "a range of --dim needs one model");
    const int32_t most = o->sizes == AC_OPT_SIZES_EACH ? MAX_EACH : MAX_ONE;
    if (range && range->hi - range->lo >= most) {
        ac_error(&a->cx, HERE, E0502, "a range of --dim of more than %d values: '%s=%lld..%lld' has %lld", most,
                 range->name, (long long)range->lo, (long long)range->hi, (long long)(range->hi - range->lo + 1));
        return most == MAX_EACH ? ac_help(&a->cx, "--sizes one takes up to %d", MAX_ONE)
                                : ac_help(&a->cx, "pin it with --dim %s=N", range->name);
    }
    if (o->sizes && !range)
        return ac_error(&a->cx, HERE, E0501, "--sizes needs a range: --dim NAME=LO..HI");
    for (int32_t i = 0; range && i < o->dim.n; i++)
        if (o->dim.item[i].range && &o->dim.item[i] != range)
            return ac_error(&a->cx, HERE, E0501, "bad argument '%s=%lld..%lld' of --dim: one may be a range, '%s' is",
                            o->dim.item[i].name, (long long)o->dim.item[i].lo, (long long)o->dim.item[i].hi,
                            range->name);
    ac_pin *pin; /* not used: whether all can be computed */
    if (range) {
        AC_TRY(ac_dims_pins(&a->cx, &o->dim, range, range->lo, &pin));
        AC_TRY(ac_dims_pins(&a->cx, &o->dim, range, range->hi, &pin));
    }
    if (o->mem.n || o->pin.n || o->host || o->reference == AC_OPT_REFERENCE_TFLM || o->lock)
        return ac_error(&a->cx, HERE, E0502,
                        "--share and ranges of --dim work without --mem, --pin, --host, --lock and --reference tflm");
    return AC_OK;
}

/* What a part reported belongs to all of them. */
static void take_diagnostics(arenac *a, arenac *part)
{
    ac_diags_copy(&a->cx, &part->cx.diags);
    part->cx.diags = (ac_diags){.werror = a->cx.diags.werror, .limit = a->cx.diags.limit};
}

static int read_part(ac_several *s, int32_t k, const char *const *path, int32_t n)
{
    static const ac_option_id OWN[] = {AC_OPT_share,  AC_OPT_dim,  AC_OPT_budget, AC_OPT_name,
                                       AC_OPT_output, AC_OPT_emit, AC_OPT_json,   AC_OPT_sizes};
    arenac *a = s->a, *one = s->part[k].a = ac_open_like(a, OWN, sizeof OWN / sizeof *OWN);
    one->stated = &a->opt;
    for (int32_t i = 0; i < a->opt.dim.n; i++)
        if (!a->opt.dim.item[i].range)
            arenac_set(one, "dim", a->opt.given[AC_OPT_dim].item[i]);
    if (s->range)
        arenac_set(one, "dim", ac_strf(a->cx.region, "%s=%lld", s->range, (long long)(s->lo + k)));
    if (ac_project_wanted(a) && !a->opt.given[AC_OPT_weights].n)
        arenac_set(one, "weights", "rodata"); /* no file beside the code */
    if (s->one)
        arenac_set(one, "share-kernels", "off"); /* functions of all sizes are shared below */
    const int status = s->range ? arenac_read(one, path, n) : arenac_read(one, &path[k], 1);
    if (status == AC_OK && s->range)
        arenac_set(one, "name",
                   ac_strf(a->cx.region, "%s_%s%lld", a->opt.name ? a->opt.name : one->source.stem, s->range,
                           (long long)(s->lo + k)));
    take_diagnostics(a, one);
    return status ? AC_FAIL : AC_OK;
}

/* What one program of all sizes is not made with. */
static int refuse_one(arenac *a)
{
    const ac_options *o = &a->opt;
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
            ac_error(&a->cx, HERE, E0502, "%s: one program of all sizes is made without it", LEFT[k].option);
            return ac_help(&a->cx, "--sizes each makes a program for each of up to %d", MAX_EACH);
        }
    return AC_OK;
}

int ac_several_read(arenac *a, const char *const *path, int32_t n)
{
    const ac_dim_option *range = range_of(a);
    AC_TRY(refuse(a, range, n));
    ac_several *s = AC_NEW(a->cx.region, ac_several);
    *s = (ac_several){.a = a, .n = range ? (int32_t)(range->hi - range->lo + 1) : n};
    if (range) {
        s->range = range->name;
        s->lo = range->lo;
        s->hi = range->hi;
        s->one = a->opt.sizes == AC_OPT_SIZES_ONE || (!a->opt.sizes && s->n > MAX_EACH);
    }
    if (s->one)
        AC_TRY(refuse_one(a));
    s->part = AC_NEW_N(a->cx.region, ac_several_part, s->n);
    a->several = s;
    for (int32_t k = 0; k < s->n; k++)
        AC_TRY(read_part(s, k, path, n));
    a->source.path = s->part[0].a->source.path;
    a->source.base = s->part[0].a->source.base;
    a->source.stem = s->part[0].a->source.stem;
    return AC_OK;
}

/* ------------------------------------------------------------------ one arena */

/* The regions of all parts as a problem of its own; *total is what they need together. */
static int pack(ac_several *s, bool state, ac_bytes *total)
{
    ac_ctx *cx = &s->a->cx;
    const bool together = (state && !s->one) || s->a->opt.share == AC_OPT_SHARE_CONCURRENT;
    ac_memory mem = {.name = state ? "state" : "arena", .capacity = -1, .align = s->align};
    ac_problem p = {.item = AC_NEW_N(cx->region, ac_item, s->n), .n = s->n, .mem = &mem, .n_mems = 1, .steps = s->n};
    ac_plan plan;
    for (int32_t k = 0; k < s->n; k++) {
        const ac_several_part *x = &s->part[k];
        p.item[k] = (ac_item){.name = x->a->source.stem,
                              .size = state ? x->a->planned->plan.mem_bytes[1] : x->a->planned->plan.arena_bytes,
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
    arenac *a = s->a;
    ac_region *r = a->cx.region;
    const char *output = a->opt.output;
    const char *plain = s->range ? a->source.stem : "shared";
    const char *base = output && *ac_path_name(output) ? ac_path_name(output) : plain;
    const char *dot = strrchr(base, '.');
    if (output && !*ac_path_name(output))
        a->folder = output;
    s->dir = ac_strf(r, "%.*s", output ? (int)(ac_path_name(output) - output) : 0, output ? output : "");
    s->stem = ac_strf(r, "%.*s", dot && dot != base ? (int)(dot - base) : (int)strlen(base), base);
    s->name = ac_c_prefix(a, s->range ? plain : s->stem);
    char *upper = ac_strdup(r, s->name);
    for (char *p = upper; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    s->upper = upper;
}

static int pack_all(ac_several *s)
{
    put_names(s);
    s->align = 1;
    s->apart = 0;
    for (int32_t k = 0; k < s->n; k++) {
        const arenac *one = s->part[k].a;
        const ac_problem *p = &one->planned->live->problem;
        for (int32_t i = 0; i < p->n; i++)
            s->align = p->item[i].align > s->align ? p->item[i].align : s->align;
        s->apart += one->planned->plan.arena_bytes;
        s->part[k].weights = one->report->weight_bytes;
    }
    AC_TRY(pack(s, false, &s->arena));
    AC_TRY(pack(s, true, &s->state));
    s->packed = true;
    return AC_OK;
}

static bool is_over_budget(const ac_several *s)
{
    return s->a->opt.budget.bytes >= 0 && s->arena > s->a->opt.budget.bytes;
}

static int check_budget(ac_several *s)
{
    ac_ctx *cx = &s->a->cx;
    const ac_bytes budget = s->a->opt.budget.bytes;
    if (!is_over_budget(s))
        return AC_OK;
    return ac_error(cx, (ac_place){0}, E0401, "memory 'arena' is over its budget: needs %s B, has %s B, %s B too much",
                    ac_commas(cx, s->arena), ac_commas(cx, budget), ac_commas(cx, s->arena - budget));
}

/* f on every part, up to the first that fails. */
static int each(ac_several *s, int (*f)(arenac *a))
{
    for (int32_t k = 0; k < s->n; k++) {
        const int status = f(s->part[k].a);
        take_diagnostics(s->a, s->part[k].a);
        if (status)
            return AC_FAIL;
    }
    return AC_OK;
}

/* Stays as it is when it is done again. */
static int check_all(ac_several *s)
{
    AC_TRY(each(s, arenac_check));
    if (s->range && !s->packings)
        AC_TRY(ac_several_pack(s));
    s->packings = true;
    return AC_OK;
}

int ac_several_check(arenac *a)
{
    return check_all(a->several);
}

int ac_several_plan(arenac *a)
{
    ac_several *s = a->several;
    if (a->opt.emit)
        return ac_error(&a->cx, HERE, E0502, "--emit of several plans at once is not available; --json prints them");
    AC_TRY(check_all(s));
    AC_TRY(each(s, arenac_plan));
    AC_TRY(pack_all(s));
    return check_budget(s);
}

bool ac_several_has_plan(const arenac *a)
{
    return a->several->packed;
}

/* ------------------------------------------------------------------ code */

/* The kinds that --emit lists: "c,h", "o,h,selftest", "make,cmake" ... */
typedef struct request {
    const char *code; /* its kind; NULL: the list is none that several models have */
    bool files, selftest;
    const char *folder[8]; /* kinds of projects */
    int32_t n_folders;
} request;

static request requested(arenac *a)
{
    static const char *const KIND[] = {"c", "o", "s", "ll", "bc"};
    request r = {0};
    const char *code = NULL;
    bool header = false, good = true;
    char *list = ac_strdup(a->cx.region, a->opt.emit ? a->opt.emit : "c,h"), *save = NULL;
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
    ac_ctx *cx = &s->a->cx;
    for (int32_t k = 0; k < s->n; k++) {
        const char *name = s->part[k].a->module->name;
        for (int32_t i = 0; i < k; i++)
            if (!strcmp(s->part[i].a->module->name, name)) {
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

static int share_constants(arenac *a, void *arg)
{
    nest *at = arg;
    ac_several *s = at->s;
    (void)a;
    if (++at->k < s->n)
        return ac_guard(s->part[at->k].a, share_constants, at);
    ac_module **m = AC_NEW_N(s->part[0].a->cx.region, ac_module *, s->n);
    for (int32_t k = 0; k < s->n; k++)
        m[k] = s->part[k].a->module;
    if (s->one)
        return merge_sizes(s, m);
    return ac_module_merge_consts(m, s->n, !ac_is(requested(s->a).code, "c"), &s->rom);
}

static int same_io(const ac_several *s)
{
    const ac_module *first = s->part[0].a->module;
    for (int32_t k = 0; k < s->n && s->range; k++) {
        const ac_module *m = s->part[k].a->module;
        if (m->n_inputs != first->n_inputs || m->n_outputs != first->n_outputs)
            return ac_error(&s->a->cx, (ac_place){0}, E0108, "the number of inputs or outputs depends on '%s'",
                            s->range);
    }
    return AC_OK;
}

int ac_several_compile(arenac *a)
{
    ac_several *s = a->several;
    nest all = {s, 0};
    const request r = requested(a);
    if (s->one && (!ac_is(r.code, "c") || r.selftest || r.n_folders))
        return ac_error(&a->cx, HERE, E0502, "one program of all sizes is compiled to c,h; --sizes each to others");
    if (!r.code) {
        ac_error(&a->cx, HERE, E0502,
                 "--emit %s: several models are compiled to c,h, or with LLVM to o,h, s,h, ll,h or bc,h", a->opt.emit);
        return ac_help(&a->cx, "with ,selftest besides, or as a folder (make, cmake, zephyr ...), which is C");
    }
    for (int32_t k = 0; k < s->n; k++)
        s->part[k].a->coded = true;
    AC_TRY(check_all(s));
    AC_TRY(each(s, arenac_compile));
    AC_TRY(pack_all(s));
    AC_TRY(same_io(s));
    AC_TRY(check_names(s));
    const int status = ac_guard(s->part[0].a, share_constants, &all);
    take_diagnostics(a, s->part[0].a);
    if (status)
        return AC_FAIL;
    s->compiled = true;
    if (s->one)
        s->part[0].a->module = s->whole;
    return check_budget(s);
}

/* The part's outputs appear with those of all. */
static int emit_of(ac_several *s, arenac *one, const char *kind, const char *path)
{
    const int status = arenac_emit(one, kind, path);
    take_diagnostics(s->a, one);
    for (int32_t k = 0; k < one->output.n; k++)
        ac_push(s->a->cx.region, &s->a->output, one->output.item[k]);
    one->output.n = 0;
    return status ? AC_FAIL : AC_OK;
}

int ac_several_emit(ac_several *s, int32_t k, const char *kind, const char *path)
{
    const bool header = !strcmp(kind, "h"), test = !strcmp(kind, "selftest");
    if (k < s->n && !(s->one && header))
        return emit_of(s, s->part[k].a, kind, path);
    (header ? ac_several_put_header
     : test ? ac_several_put_selftest
            : ac_several_put_source)(s, ac_output_new(s->a, path));
    return AC_OK;
}

static int emit_part(ac_several *s, int32_t part, const request *q)
{
    ac_region *r = s->a->cx.region;
    arenac *one = s->part[part].a;
    const char *kind = q->code, *name = s->one ? s->stem : one->module->name;
    const bool block =
        s->one ? ac_module_weights(one->module) != AC_WEIGHTS_RODATA : one->module->block && !one->module->block_extern;
    const char *code = ac_strf(r, "%s%s.%s", s->dir, name, kind);
    AC_TRY(emit_of(s, one, kind, code));
    if (!s->one)
        AC_TRY(emit_of(s, one, "h", ac_strf(r, "%s%s.h", s->dir, name)));
    if (block)
        AC_TRY(emit_of(s, one, "blob",
                       ac_module_weights(one->module) == AC_WEIGHTS_ASM ? ac_blob_path(one, code)
                                                                        : ac_strf(r, "%s%s.bin", s->dir, s->stem)));
    return q->selftest ? emit_of(s, one, "selftest", ac_strf(r, "%s%s.selftest.c", s->dir, name)) : AC_OK;
}

static int write_files(ac_several *s, const request *q)
{
    ac_region *r = s->a->cx.region;
    for (int32_t k = 0; k < (s->one ? 1 : s->n); k++)
        AC_TRY(emit_part(s, k, q));
    ac_several_put_header(s, ac_output_new(s->a, ac_strf(r, "%s%s.h", s->dir, s->stem)));
    if (s->range && !s->one)
        ac_several_put_source(s, ac_output_new(s->a, ac_strf(r, "%s%s.c", s->dir, s->stem)));
    if (q->selftest)
        ac_several_put_selftest(s, ac_output_new(s->a, ac_strf(r, "%s%s.selftest.c", s->dir, s->stem)));
    return AC_OK;
}

static int write_code(ac_several *s)
{
    const char *output = s->a->opt.output;
    const request q = requested(s->a);
    if (output && ac_file_is_special(output))
        return ac_error(&s->a->cx, (ac_place){.file = output}, E0302,
                        "cannot write: several models take several files, this is a device");
    if (q.files)
        AC_TRY(write_files(s, &q));
    const char *folder = output && !*ac_path_name(output) ? output : ac_strf(s->a->cx.region, "%s%s", s->dir, s->stem);
    s->stem = q.n_folders ? s->name : s->stem; /* of the files in them */
    for (int32_t k = 0; k < q.n_folders; k++)
        AC_TRY(ac_project_put(s->a, q.folder[k], folder));
    return AC_OK;
}

int ac_several_write(arenac *a)
{
    ac_several *s = a->several;
    if (s->compiled && !is_over_budget(s))
        AC_TRY(write_code(s));
    ac_depfile_put(a);
    a->says_written = !a->opt.json && !a->opt.quiet;
    if (a->opt.json || !a->opt.quiet)
        ac_several_report(a, ac_output_new(a, "-"));
    return AC_OK;
}

void ac_several_report(arenac *a, ac_sink *to)
{
    if (a->opt.json)
        ac_several_put_json(a->several, to);
    else
        ac_several_put_text(a->several, to);
}
