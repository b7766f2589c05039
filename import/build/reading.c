/* reading.c - runs the two steps of reading a file of any format: in one call if all sizes are known, otherwise in
 * two. */
#include "import/build/reading.h"
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/name_map.h"
#include "import/build/wanted_outputs.h"

#include <string.h>

bool ac_reading_unsized(const ac_reading *r)
{
    bool unknown = false;
    for (int32_t i = 0; i < r->g->input.n; i++) {
        const ac_tensor *t = r->g->input.item[i];
        unknown |= t->any_rank;
        for (int32_t d = 0; d < t->rank; d++)
            unknown |= t->dim[d] < 0;
    }
    return unknown;
}

bool ac_reading_wants(const ac_reading *r, const char *name)
{
    bool wanted = false;
    for (int32_t i = 0; i < r->opt.n_wanted; i++)
        wanted |= !strcmp(r->opt.wanted[i], name);
    return wanted;
}

bool ac_reading_omits(ac_reading *r, const char *name)
{
    bool omitted = false;
    for (int32_t i = 0; i < r->opt.n_omitted; i++)
        omitted |= !strcmp(r->opt.omitted[i], name);
    if (omitted && !r->again)
        ac_push(r->cx->region, &r->out.omitted, name);
    return omitted;
}

/* True if the nodes are created in a second run, after the caller has set sizes and values of inputs. Readers whose
 * nodes create the inputs (Caffe's) need only one. */
static bool is_early(const ac_reading *r)
{
    return r->format->nodes && ((r->opt.fixes && !r->again && r->input.n > 0) || ac_reading_unsized(r));
}

/* Replaces the graph by one that has only its inputs, or constants in their place, and forgets the run. */
static void drop_nodes(ac_reading *r)
{
    const ac_graph *g = r->g;
    ac_graph *fresh = ac_graph_new(r->cx, g->name);
    fresh->file = g->file;
    fresh->promise = g->promise;
    fresh->batch_was = g->batch_was;
    fresh->batch = g->batch;
    for (int32_t i = 0; i < r->input.n; i++) {
        const ac_tensor *t = r->input.item[i];
        ac_tensor *own = ac_tensor_new(fresh, t->name, t->dtype, t->rank, t->dim);
        memcpy(own->dim_name, t->dim_name, sizeof own->dim_name);
        own->quant = t->quant;
        own->words = t->words;
        own->input = t->input;
        own->any_rank = t->any_rank;
        own->data = t->data;
        own->given = t->given;
        if (own->input)
            ac_push(r->cx->region, &fresh->input, own);
        r->input.item[i] = own;
    }
    r->g = fresh;
    r->out.missing.n = 0;
    r->out.running.n = 0;
    r->late = false;
    r->refused = (ac_refusals){0};
    r->n_inputs = 0;
    r->own = NULL;
}

/* One run, repeated as long as the format learns something new. */
static int attempt(ac_reading *r)
{
    const ac_diags before = r->cx->diags;
    for (;;) {
        int rc = r->format->read(r);
        if (rc == AC_OK && r->format->nodes && !is_early(r))
            rc = r->format->nodes(r);
        if (!r->repeat)
            return rc;
        r->repeat = false;
        (void)ac_quietly(r->cx, before, AC_FAIL);
        drop_nodes(r);
        r->out.promised.n = 0;
    }
}

/* Reports all refusals. Guarantees that AC_FAIL comes with a diagnostic. */
static int report(ac_reading *r, int32_t errors, int rc)
{
    if (ac_refusals_report(r->cx, &r->refused) != AC_OK || r->cx->diags.errors > errors)
        rc = AC_FAIL;
    if (rc != AC_OK && !r->cx->diags.errors)
        ac_error(r->cx, (ac_place){.file = r->file.path}, E0901, "the model could not be read, for an unknown reason");
    return rc == AC_OK ? AC_OK : AC_FAIL;
}

/* Makes the names of tensors unique; inputs and outputs keep theirs if possible. */
static void unique_names(ac_graph *g)
{
    ac_name_map seen = {0}; /* name -> suffix tried last */
    ac_region *region = g->cx->region;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < g->tensor.n; i++) {
            ac_tensor *t = g->tensor.item[i];
            if ((t->input || t->output) != (pass == 0))
                continue;
            int32_t k = ac_name_get(&seen, t->name);
            const char *fresh = t->name;
            while (ac_name_get(&seen, fresh) >= 0)
                fresh = ac_internf(g->cx, "%s_%d", t->name, ++k);
            if (fresh != t->name)
                *ac_name_put(region, &seen, t->name) = k;
            t->name = fresh;
            *ac_name_put(region, &seen, fresh) = 0;
        }
    ac_graph_renumber(g);
}

static int conclude(ac_reading *r, int32_t errors, int rc, ac_imported *out)
{
    const ac_maker b = {.cx = r->cx, .reading = r, .at = {.file = r->file.path}};
    AC_TRY(report(r, errors, rc));
    AC_TRY(ac_bounds_met(&b));
    const bool sized = r->format->nodes || r->again;
    if (sized) {
        ac_graph_sweep(r->g);
        unique_names(r->g);
        for (int32_t i = 0; i < r->g->sub.n; i++) {
            ac_graph_sweep(r->g->sub.item[i]);
            unique_names(r->g->sub.item[i]);
        }
    }
    if (!r->format->finds_outputs)
        AC_TRY(ac_outputs_take(r));
    if (sized)
        ac_counted_outputs(r->g);
    r->out.graph = r->g;
    *out = r->out;
    return AC_OK;
}

int ac_reading_start(ac_ctx *cx, const ac_format *format, const ac_file *f, const ac_import_options *opt,
                     ac_imported *out)
{
    enum { WORK_FREE = 1 << 20, WORK_PER_BYTE = 16 };
    const ac_diags before = cx->diags;
    const uint64_t most = INT64_MAX / WORK_PER_BYTE / 2;
    ac_reading *r = AC_NEW(cx->region, ac_reading);
    *r = (ac_reading){.cx = cx, .format = format, .file = *f, .opt = *opt};
    r->work = WORK_FREE + (int64_t)(f->n < most ? f->n : most) * WORK_PER_BYTE;
    if (opt->second) {
        r->second = *opt->second;
        r->opt.second = &r->second;
    }
    const int rc = attempt(r);
    const bool unknown = r->g && is_early(r);
    /* sizes cannot change a refusal by `read`: it is reported now */
    const bool wait = cx->diags.errors == before.errors && (r->late || (unknown && rc == AC_OK && !r->refused.n));
    if (!wait)
        return conclude(r, before.errors, rc, out);
    (void)ac_quietly(cx, before, AC_FAIL); /* the second run repeats the notes of the first */
    drop_nodes(r);
    r->out.graph = r->g;
    *out = r->out;
    out->waiting = r;
    return AC_OK;
}

int ac_reading_finish(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins)
{
    ac_reading *r = m->waiting;
    const int32_t errors = cx->diags.errors;
    AC_TRY(ac_pin_inputs(cx, m, pin, n_pins));
    if (!r)
        return AC_OK;
    m->waiting = NULL;
    r->out = *m;
    r->again = true;
    for (int32_t i = 0; i < r->sized.n; i++)
        r->sized.item[i].by_part = -1;
    return conclude(r, errors, attempt(r), m);
}

ac_graph *ac_reading_graph(ac_reading *r, const char *name, const char *format)
{
    if (!r->g) {
        r->g = ac_graph_new(r->cx, name);
        r->g->file = r->file.path;
        r->g->promise = r->opt.promise;
    }
    r->out.format = format;
    r->out.batch = !r->format->open_batch ? 0 : r->opt.batch > 0 ? r->opt.batch : 1;
    return r->g;
}

ac_tensor *ac_reading_input(ac_reading *r, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                            const char *const *dim_name)
{
    if (r->n_inputs < r->input.n)
        return r->input.item[r->n_inputs++];
    ac_tensor *t = ac_tensor_new(r->g, name, type, rank < 0 ? 0 : rank, dim);
    for (int32_t d = 0; d < rank && dim_name; d++)
        t->dim_name[d] = dim_name[d];
    if (r->opt.batch > 0 && rank > 0 && dim[0] > 0 && dim[0] != r->opt.batch) {
        r->g->batch_was = dim[0];
        t->dim[0] = r->g->batch = r->opt.batch;
    }
    t->any_rank = rank < 0;
    t->input = true;
    ac_push(r->cx->region, &r->g->input, t);
    ac_push(r->cx->region, &r->input, t);
    r->n_inputs++;
    return t;
}

ac_tensor *ac_reading_input_made(ac_reading *r, ac_tensor *t)
{
    if (r->n_inputs < r->input.n)
        return r->input.item[r->n_inputs++];
    t->input = true;
    ac_push(r->cx->region, &r->g->input, t);
    ac_push(r->cx->region, &r->input, t);
    r->n_inputs++;
    return t;
}

ac_tensor *ac_reading_promise(ac_reading *r, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                              const char *const *dim_name)
{
    ac_tensor *t = AC_NEW(r->cx->region, ac_tensor);
    *t = (ac_tensor){.name = name, .dtype = type, .rank = rank < 0 ? 1 : rank, .any_rank = rank < 0};
    for (int32_t d = 0; d < rank; d++) {
        t->dim[d] = dim[d];
        t->dim_name[d] = dim_name ? dim_name[d] : NULL;
    }
    if (rank < 0) { /* shown as [...] */
        t->dim[0] = -1;
        t->dim_name[0] = "...";
    }
    ac_push(r->cx->region, &r->out.promised, t);
    return t;
}

int ac_reading_refuse(ac_reading *r, ac_place at, const char *domain, const char *name, const char *shown)
{
    const ac_operator *why = ac_operator_why(r->format->operators, domain, name);
    if (why)
        return ac_refuse(r, at, E0107, shown, why->reason, why->help);
    return ac_refuse(r, at, E0107, shown, "unknown operator name in this format",
                     "--custom FILE.def computes it by a C function of yours (docs/custom.md); --outputs TENSOR ends "
                     "the model before it; `arenac ops` lists the supported operators");
}
