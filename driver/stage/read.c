/* read.c - stage read: opens the files that the user named, and imports the model in them. */
#include "driver/stage/inputs.h"
#include "driver/stage/stage.h"

#include "base/hash/sha256.h"
#include "base/shell.h"
#include "codegen/c/identifiers.h"
#include "host/npy.h"
#include "ir/lower/node/node.h"
#include "ir/ops/custom.h"

#include <string.h>

/* The file to read: inside of a SavedModel, which is a folder; then *name is the folder's, else NULL. */
static const char *model_of(ac_ctx *cx, const char *path, const char **name)
{
    int n = (int)strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    const char *inside = ac_strf(cx->region, "%.*s/saved_model.pb", n, path);
    const char *folder = ac_strf(cx->region, "%.*s", n, path);
    const bool is = ac_file_exists(inside);
    *name = is ? ac_path_name(folder) : NULL;
    return is ? inside : ac_strdup(cx->region, path);
}

int ac_source_open(ac_ctx *cx, const char *const *path, int32_t n, ac_source *s)
{
    if (n < 1 || n > 2)
        return ac_error(cx, (ac_place){.file = "arenac"}, E0501, "one model is expected, %d files are given", n);
    const char *folder;
    s->path = model_of(cx, path[0], &folder);
    AC_TRY(ac_file_open(cx, s->path, &s->file));
    if (n == 2)
        AC_TRY(ac_file_open(cx, ac_strdup(cx->region, path[1]), &s->weights));
    if (n == 2 && !ac_import_in_order(&s->file, &s->weights)) {
        const ac_file graph = s->weights;
        s->weights = s->file;
        s->file = graph;
        s->path = graph.path;
    }
    s->base = ac_path_name(s->path);
    const char *stem = folder && strspn(folder, ".") < strlen(folder) ? folder
                       : strcmp(s->path, "-")                         ? s->base
                                                                      : "model";
    const char *dot = folder ? NULL : strrchr(stem, '.');
    s->stem = ac_intern_n(cx, stem, dot && dot != stem ? (size_t)(dot - stem) : strlen(stem));
    if (ac_c_is_header(s->stem) || !strncmp(s->stem, "arn_", 4)) /* time.h of C, arn_rt.h of the runtime */
        s->stem = ac_intern(cx, ac_strf(cx->region, "%s_model", s->stem));
    return AC_OK;
}

const char *ac_source_sha256(ac_ctx *cx, const ac_source *s)
{
    char *hex = ac_alloc(cx->region, 65);
    ac_sha256_hex(s->file.data, s->file.n, hex);
    return hex;
}

/* Of formats that leave shapes to pass infer; the others have done it. */
static void change_batch(ac_graph *g, int64_t batch)
{
    for (int32_t i = 0; i < g->input.n && batch; i++) {
        ac_tensor *t = g->input.item[i];
        if (t->rank < 1 || t->dim[0] < 1 || t->dim[0] == batch)
            continue;
        g->batch_was = t->dim[0];
        t->dim[0] = g->batch = batch;
    }
}

/* --bound as the importers want it. */
static int bounds(const ac_made *a, const ac_pin **out)
{
    const ac_opt_dims *of = &a->opt->bound;
    ac_pin *p = AC_NEW_N(a->cx->region, ac_pin, of->n + 1);
    for (int32_t i = 0; i < of->n; i++) {
        if (of->item[i].range || of->item[i].of || of->item[i].lo < 1)
            return ac_error(a->cx, (ac_place){.file = "arenac"}, E0501, "bad argument of --bound: '%s' needs a number",
                            of->item[i].name);
        p[i] = (ac_pin){of->item[i].name, of->item[i].lo};
    }
    *out = p;
    return AC_OK;
}

/* --const KEY=none */
static bool is_omitted(const ac_key_option *k)
{
    return !strcmp(k->path, "none");
}

/* Names of the inputs that --const and --input give, or those that they omit; *n of them. */
static const char **named_inputs(const ac_made *a, bool omitted, int32_t *n)
{
    const ac_opt_keys *of[] = {&a->opt->fix, &a->opt->input};
    const char **name = AC_NEW_N(a->cx->region, const char *, of[0]->n + of[1]->n + 1);
    *n = 0;
    for (int32_t k = 0; k < 2; k++)
        for (int32_t i = 0; i < of[k]->n; i++)
            if ((k == 0 && is_omitted(&of[k]->item[i])) == omitted)
                name[(*n)++] = of[k]->item[i].key;
    return name;
}

/* --custom: once for all models of the context. */
static int read_customs(const ac_made *a)
{
    const bool again = a->cx->customs != NULL;
    for (int32_t i = 0; i < a->opt->custom.n && !again; i++) {
        ac_file f = {0};
        AC_TRY(ac_file_open(a->cx, a->opt->custom.item[i], &f));
        const int status = ac_custom_read(a->cx, a->opt->custom.item[i], (const char *)f.data, f.n);
        ac_file_close(&f);
        AC_TRY(status);
    }
    return AC_OK;
}

int ac_read_model(const ac_made *a, ac_imported **out)
{
    ac_progress_begin(a->cx, "reading", 0);
    const bool trains = ac_trains(a->request);
    const ac_pin *bound = NULL;
    AC_TRY(bounds(a, &bound));
    AC_TRY(read_customs(a));
    int32_t n_wanted, n_omitted;
    const char *const *names = named_inputs(a, false, &n_wanted), *const *omitted = named_inputs(a, true, &n_omitted);
    const ac_import_options how = {.from = a->opt->from.name,
                                   .outputs = a->opt->outputs,
                                   .second = a->source->weights.path ? &a->source->weights : NULL,
                                   .random = a->opt->random >= 0,
                                   .seed = a->opt->random >= 0 ? (uint64_t)a->opt->random : 0,
                                   .batch = trains && a->opt->batch > 0 ? ac_settings_micro_batch(a->opt) : 0,
                                   .train = trains,
                                   .batch_norm = trains && a->opt->bn != AC_OPT_BN_FROZEN,
                                   .strict = a->opt->strict,
                                   .bound = bound,
                                   .n_bounds = a->opt->bound.n,
                                   .fixes = a->opt->fix.n > 0,
                                   .wanted = names,
                                   .n_wanted = n_wanted,
                                   .omitted = omitted,
                                   .n_omitted = n_omitted,
                                   .promise = ac_lower_promise};
    ac_imported *m = AC_NEW(a->cx->region, ac_imported);
    AC_TRY(ac_import(a->cx, &a->source->file, &how, m));
    change_batch(m->graph, how.batch);
    *out = m;
    return AC_OK;
}

/* ------------------------------------------------------------------ --const */

/* Input i becomes a constant with these elements. */
static void fix_input(const ac_made *a, int32_t i, const ac_npy *array)
{
    ac_graph *g = a->model->graph;
    ac_tensor *t = g->input.item[i];
    t->data = ac_copy(a->cx->region, array->data, (size_t)array->bytes + (array->bytes == 0));
    t->input = false;
    ac_push(a->cx->region, &a->inputs->fixed, t->name);
    memmove(g->input.item + i, g->input.item + i + 1, (size_t)(g->input.n - i - 1) * sizeof *g->input.item);
    g->input.n--;
}

/* True if k omits an optional input. */
static bool was_omitted(const ac_made *a, const ac_key_option *k)
{
    bool was = false;
    for (int32_t i = 0; i < a->model->omitted.n && is_omitted(k); i++)
        was |= !strcmp(a->model->omitted.item[i], k->key);
    return was;
}

static int read_constant(const ac_made *a, const ac_key_option *k, ac_npy *array, bool *given)
{
    const ac_graph *g = a->model->graph;
    int32_t i;
    if (was_omitted(a, k))
        return AC_OK;
    AC_TRY(ac_io_find(a->cx, a->source->path, "--const", k->key, g->input.item, g->input.n, &i));
    if (given[i])
        return ac_error(a->cx, (ac_place){0}, E0501, "--const '%s' is given twice", k->key);
    AC_TRY(ac_npy_read(a->cx, k->path, &array[i]));
    given[i] = true;
    if (g->input.item[i]->words) {
        ac_error(a->cx, (ac_place){.file = a->source->path}, E0304,
                 "--const %s: '%s' holds texts, which have no codes yet", ac_shell_word(a->cx, k->key),
                 g->input.item[i]->name);
        return ac_help(a->cx, "give them when the model runs: --input");
    }
    ac_shape_input(a->model->graph, i, array[i].rank, array[i].dim);
    return ac_npy_fits(a->cx, &array[i], g->input.item[i],
                       ac_strf(a->cx->region, "--const %s", ac_shell_word(a->cx, k->key)));
}

/* Positions are those of the model as it was read, so all arrays are found before any input goes. */
int ac_read_constants(const ac_made *a)
{
    const int32_t n = a->model->graph->input.n;
    ac_npy *array = AC_NEW_N(a->cx->region, ac_npy, n + 1);
    bool *given = AC_NEW_N(a->cx->region, bool, n + 1);
    int status = AC_OK;
    for (int32_t k = 0; k < a->opt->fix.n && status == AC_OK; k++)
        status = read_constant(a, &a->opt->fix.item[k], array, given);
    for (int32_t i = n - 1; i >= 0; i--) {
        if (given[i] && status == AC_OK)
            fix_input(a, i, &array[i]);
        if (given[i])
            ac_npy_close(&array[i]);
    }
    return status;
}
