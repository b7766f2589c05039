/* inputs.c - arrays for a model's inputs; see inputs.h. */
#include "driver/stage/inputs.h"

#include "driver/stage/stage.h"

#include "base/text/named.h"
#include "host/npy_texts.h"
#include "ir/pass/pass.h"

#include <stdlib.h>
#include <string.h>

int ac_io_find(ac_ctx *cx, const char *file, const char *option, const char *key, ac_tensor *const *list, int32_t n,
               int32_t *index)
{
    enum { SHOWN = 16 };
    const char **names = AC_NEW_N(cx->region, const char *, n + 1);
    char *end;
    const long at = strtol(key, &end, 10);
    if (*key && !*end && at >= 0 && at < n) {
        *index = (int32_t)at;
        return AC_OK;
    }
    for (int32_t i = 0; i < n; i++)
        names[i] = list[i]->name;
    *index = ac_named(key, names, n);
    if (*index >= 0)
        return AC_OK;
    ac_error(cx, (ac_place){.file = file}, E0304, "%s '%s' names none of the model's %d tensors there", option, key, n);
    for (int32_t i = 0; i < n && i < SHOWN; i++)
        ac_detail(cx, "%d  %s  %s", i, list[i]->name, ac_tensor_str(cx, list[i]));
    return ac_named_help(cx, key, names, n);
}

void ac_shape_input(ac_graph *g, int32_t input, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = g->input.item[input];
    if (t->any_rank && rank <= AC_MAX_RANK) {
        t->any_rank = false;
        t->rank = rank;
        for (int32_t i = 0; i < rank; i++)
            t->dim[i] = dim[i];
    }
    if (t->rank == rank)
        for (int32_t i = 0; i < rank; i++)
            if (t->dim[i] < 0 || t->dim_name[i])
                t->dim[i] = dim[i];
}

/* True for an input that --const has made a constant: by name, or by a position past the other inputs. */
static bool is_fixed(const ac_made *a, const char *key)
{
    char *end;
    const long at = strtol(key, &end, 10);
    bool fixed = false;
    for (int32_t i = 0; i < a->inputs->fixed.n; i++)
        fixed |= !strcmp(a->inputs->fixed.item[i], key);
    for (int32_t i = 0; i < a->opt->fix.n; i++)
        fixed |= *key && !*end && at >= a->model->graph->input.n && !strcmp(a->opt->fix.item[i].key, key);
    return fixed;
}

/* Is it a name that no input has, while --state may add one, or a name or number while --noise input may? */
static bool comes_later(const ac_made *a, const char *key)
{
    const ac_graph *g = a->model->graph;
    const bool noise = a->opt->noise == AC_OPT_NOISE_INPUT;
    if (strspn(key, "0123456789") == strlen(key))
        return noise && strtol(key, NULL, 10) >= g->input.n;
    if (!a->opt->state.n && !noise)
        return false;
    const char **names = AC_NEW_N(a->cx->region, const char *, g->input.n + 1);
    for (int32_t i = 0; i < g->input.n; i++)
        names[i] = g->input.item[i]->name;
    return ac_named(key, names, g->input.n) < 0;
}

static int open_one(const ac_made *a, const ac_key_option *k)
{
    const ac_graph *g = a->model->graph;
    ac_inputs *in = a->inputs;
    int32_t i;
    if (is_fixed(a, k->key)) {
        ac_warn(a->cx, (ac_place){.file = a->source->path}, W0002, "--input '%s' is left out: --const has fixed it",
                k->key);
        return AC_OK;
    }
    if (!in->moved && comes_later(a, k->key)) {
        ac_push(a->cx->region, &in->later, *k);
        return AC_OK;
    }
    AC_TRY(ac_io_find(a->cx, a->source->path, "--input", k->key, g->input.item, g->input.n, &i));
    if (in->given[i])
        return ac_error(a->cx, (ac_place){0}, E0501, "--input '%s' is given twice", k->key);
    AC_TRY(ac_npy_read(a->cx, k->path, &in->array[i]));
    in->given[i] = true;
    ac_shape_input(a->model->graph, i, in->array[i].rank, in->array[i].dim);
    ac_tensor *t = g->input.item[i];
    if (!strcmp(ac_dtype_npy(t->dtype) + 1, in->array[i].descr + 1) && in->array[i].bytes == ac_tensor_bytes(t))
        t->given = in->array[i].data; /* importers may need it: a shape, an axis */
    return AC_OK;
}

int ac_inputs_open(const ac_made *a)
{
    ac_inputs *in = a->inputs;
    const int32_t n = a->model->graph->input.n;
    AC_TRY(ac_session_check(a->cx, a->opt->backend)); /* known before the model is compiled */
    in->array = AC_NEW_N(a->cx->region, ac_npy, n + 1);
    in->given = AC_NEW_N(a->cx->region, bool, n + 1);
    in->n = n;
    for (int32_t k = 0; k < a->opt->input.n; k++)
        AC_TRY(open_one(a, &a->opt->input.item[k]));
    return AC_OK;
}

int ac_inputs_move(const ac_made *a, ac_tensor *const *before, int32_t n)
{
    const ac_graph *g = a->model->graph;
    ac_inputs *in = a->inputs, now = {.n = g->input.n, .moved = true, .later = in->later};
    int status = AC_OK;
    if (!in->given)
        return AC_OK;
    now.array = AC_NEW_N(a->cx->region, ac_npy, now.n + 1);
    now.given = AC_NEW_N(a->cx->region, bool, now.n + 1);
    for (int32_t i = 0; i < n && i < in->n; i++) {
        int32_t to = 0;
        if (!in->given[i])
            continue;
        while (to < now.n && g->input.item[to] != before[i])
            to++;
        if (to == now.n) {
            status =
                ac_error(a->cx, (ac_place){.file = a->source->path}, E0501,
                         "--input '%s': it is state (--state), which is zero before the first run", before[i]->name);
            ac_npy_close(&in->array[i]);
            continue;
        }
        now.array[to] = in->array[i];
        now.given[to] = true;
    }
    *in = now;
    for (int32_t k = 0; k < now.later.n && status == AC_OK; k++)
        status = open_one(a, &now.later.item[k]);
    return status;
}

int ac_inputs_check(const ac_made *a, bool any)
{
    const ac_graph *g = a->lowering->graph;
    int status = AC_OK;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        if (a->inputs->given[i]) {
            ac_npy_encode(a->cx, &a->inputs->array[i], t);
            if (ac_npy_fits(a->cx, &a->inputs->array[i], t, ac_strf(a->cx->region, "--input %d", i)))
                status = AC_FAIL;
        } else if (a->opt->random < 0 && !any) {
            ac_error(a->cx, (ac_place){.file = a->source->path}, E0304, "input %d '%s' %s is not given", i, t->name,
                     ac_tensor_str(a->cx, t));
            status = ac_help(a->cx, "--input %d=FILE.npy, or --random SEED", i);
        }
    }
    return status;
}

/* Seeded values, the same on every machine: integers over their whole range, floats uniform in [-1, 1). */
static void random_fill(const ac_tensor *t, uint8_t *to, int64_t bytes, uint64_t seed)
{
    const ac_dtype d = t->dtype;
    uint64_t s = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    int64_t size = ac_dtype_size(d, 1);
    for (int64_t i = 0; i + size <= bytes; i += size) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        double u = (double)(s >> 11) / 4503599627370496.0 - 1;
        float f = (float)u;
        uint64_t bits = s >> 20;
        if (d == AC_F32)
            memcpy(&bits, &f, 4);
        else if (d == AC_F64)
            memcpy(&bits, &u, 8);
        else if (d == AC_F16)
            bits = ac_f32_to_f16(f);
        else if (d == AC_BF16)
            bits = ac_f32_to_bf16(f);
        else if (d == AC_BOOL)
            bits &= 1;
        else if (ac_dtype_is_int(d) && ac_dtype_file_bits(d) < 8)
            bits = (uint64_t)(ac_dtype_min(d) + (int64_t)(bits & ((1u << ac_dtype_file_bits(d)) - 1)));
        else if (d == AC_F4E2M1)
            bits &= 15;
        else if (t->words) /* one of the texts, or another */
            bits %= (uint64_t)t->words->n + 1;
        else if (size >= 4)
            bits %= 100; /* wide integers are most often indices */
        memcpy(to + i, &bits, (size_t)size);
    }
}

/* The number of rows that a cache has, which leaves room for more when it is 0. */
static bool is_position(const ac_made *a, const ac_tensor *t)
{
    bool is = false;
    for (int32_t i = 0; i < a->lowering->passed.n_kept; i++)
        is |= a->lowering->passed.kept[i].position == t;
    return is;
}

/* Input i of a run: the user's array, or seeded values. */
static void fill_one(const ac_made *a, int32_t i, uint64_t seed, uint8_t *to)
{
    const ac_io *io = &a->module->input[i];
    if (!a->inputs->given[i] && is_position(a, io->tensor))
        memset(to, 0, (size_t)io->bytes);
    else if (!a->inputs->given[i])
        random_fill(io->tensor, to, io->bytes, seed + (uint64_t)i);
    else if (io->bytes)
        memcpy(to, a->inputs->array[i].data, (size_t)io->bytes);
}

static void fill(const ac_made *a, ac_session *s, uint64_t seed)
{
    for (int32_t i = 0; i < s->module->n_inputs; i++)
        fill_one(a, i, seed, ac_session_at(s, &s->module->input[i]));
}

static uint64_t seed_of(const ac_made *a)
{
    return a->opt->random >= 0 ? (uint64_t)a->opt->random : 0;
}

void ac_inputs_fill(const ac_made *a, ac_session *s)
{
    fill(a, s, seed_of(a));
}

int ac_inputs_draw(const ac_made *a, int32_t sets, ac_vectors *v)
{
    const ac_module *m = a->module;
    ac_region *r = a->cx->region;
    AC_TRY(ac_inputs_check(a, true));
    *v = (ac_vectors){.n = sets, .input = AC_NEW_N(r, const uint8_t *, sets * m->n_inputs + 1)};
    for (int32_t k = 0; k < sets; k++)
        for (int32_t i = 0; i < m->n_inputs; i++) {
            uint8_t *to = AC_NEW_N(r, uint8_t, m->input[i].bytes + 1);
            fill_one(a, i, seed_of(a) + (uint64_t)k * (uint64_t)m->n_inputs, to);
            v->input[k * m->n_inputs + i] = to;
        }
    return AC_OK;
}

/* The session is the evaluator's: of whatever target, its bits are those of the code. */
static int record(const ac_made *a, ac_session *s, ac_vectors *v)
{
    const ac_module *m = s->module;
    for (int32_t k = 0; k < v->n; k++) {
        for (int32_t i = 0; i < m->n_inputs; i++)
            memcpy(ac_session_at(s, &m->input[i]), v->input[k * m->n_inputs + i], (size_t)m->input[i].bytes);
        AC_TRY(ac_session_run(s));
        for (int32_t i = 0; i < m->n_outputs; i++)
            v->output[k * m->n_outputs + i] =
                ac_copy(a->cx->region, ac_session_at(s, &m->output[i]), (size_t)m->output[i].bytes);
    }
    return AC_OK;
}

int32_t ac_inputs_sets(const ac_made *a)
{
    return a->opt->vectors > 0 ? (int32_t)a->opt->vectors : 1;
}

int ac_inputs_record(const ac_made *a, int32_t sets, ac_vectors *v)
{
    ac_session *s = a->evaluator;
    ac_module *m = a->module;
    AC_TRY(ac_inputs_draw(a, sets, v));
    v->output = AC_NEW_N(a->cx->region, const uint8_t *, v->n * m->n_outputs + 1);
    int status = ac_session_open(s, m, a->source->path, "eval");
    if (status == AC_OK)
        status = record(a, s, v);
    ac_session_close(s);
    return status;
}
