/* run.c - the verb run: a model on this machine, inputs and outputs in .npy files, outputs compared with references. */
#include "driver/verb/verbs.h"

#include "base/json_out.h"
#include "base/visible.h"
#include "codegen/bind.h"
#include "driver/verb/taps.h"
#include "host/compare.h"
#include "host/npy_texts.h"

#include <string.h>

/* Output i as the model means it: of one whose size depends on the data only the elements that have a meaning. */
static const ac_tensor *result_of(ac_work *w, int32_t i, const uint8_t **data)
{
    const ac_module *m = w->made.module;
    const ac_tensor *t = m->output[i].tensor;
    *data = ac_session_at(&w->session, &m->output[i]);
    for (int32_t k = 0; k < m->n_counted; k++) {
        const ac_counted *c = &m->counted[k];
        if (c->output != i)
            continue;
        const ac_io *by = &m->output[c->count];
        const int64_t said = ac_dtype_get_int(by->tensor->dtype, ac_session_at(&w->session, by), 0),
                      all = t->dim[c->dim];
        const int64_t n = said < 0 ? 0 : said < all ? said : all, before = ac_dim_product(t->dim, 0, c->dim);
        const size_t row = (size_t)ac_dtype_size(t->dtype, ac_dim_product(t->dim, c->dim + 1, t->rank));
        ac_tensor *own = ac_copy(w->cx.region, t, sizeof *t);
        uint8_t *to = ac_alloc_n(w->cx.region, (uint64_t)(before * n) + 1, row + 1);
        for (int64_t b = 0; b < before && n && row; b++)
            memcpy(to + (size_t)(b * n) * row, *data + (size_t)(b * all) * row, (size_t)n * row);
        own->dim[c->dim] = n;
        *data = to;
        return own;
    }
    return t;
}

static int write_outputs(ac_work *w)
{
    const char *dir = w->opt.output_dir;
    if (!dir)
        return AC_OK;
    AC_TRY(ac_folder_make(&w->cx, dir));
    for (int32_t i = 0; i < w->made.module->n_outputs; i++) {
        const uint8_t *data;
        const ac_tensor *t = result_of(w, i, &data);
        ac_sink *to = ac_pending_add(&w->out, ac_strf(w->cx.region, "%s/%d.npy", dir, i));
        if (t->words)
            ac_npy_write_texts(to, t->words, t->rank, t->dim, data);
        else
            ac_npy_write(to, t->dtype, t->rank, t->dim, data);
    }
    return AC_OK;
}

/* The text of element k; NULL: another text. */
static const char *text_of(const ac_tensor *t, const uint8_t *data, int64_t k)
{
    const int64_t code = ac_dtype_get_int(t->dtype, data, k);
    return code >= 0 && code < t->words->n ? t->words->text[code] : NULL;
}

static void put_text(ac_work *w, ac_sink *to, const char *text)
{
    if (text)
        ac_putf(to, " '%s'", ac_brief_name(w->cx.region, ac_visible(w->cx.region, text)));
    else
        ac_put(to, " unknown");
}

static void put_outputs(ac_work *w, ac_sink *to)
{
    enum { SHOWN = 10 };
    for (int32_t i = 0; i < w->made.module->n_outputs; i++) {
        const uint8_t *data;
        const ac_tensor *t = result_of(w, i, &data);
        const int64_t n = ac_tensor_count(t);
        ac_putf(to, "output %d '%s' %s:", i, ac_visible(w->cx.region, t->name), ac_tensor_str(&w->cx, t));
        for (int64_t k = 0; k < n && k < SHOWN; k++)
            if (t->words)
                put_text(w, to, text_of(t, data, k));
            else if (ac_dtype_is_float(t->dtype))
                ac_putf(to, " %.6g", ac_dtype_get_num(t->dtype, data, k));
            else
                ac_putf(to, " %lld", (long long)ac_dtype_get_int(t->dtype, data, k));
        ac_put(to, n > SHOWN ? " ...\n" : "\n");
    }
}

/* ------------------------------------------------------------------ --compare */

typedef struct comparison {
    int32_t output;
    const char *path; /* of the reference */
    ac_difference d;
    bool ok;
} comparison;
typedef AC_VEC(comparison) comparisons;

/* "max abs 1.2e-06, 3.1e-07 of the largest value". */
static const char *distance_text(const ac_work *w, const ac_tensor *t, const ac_difference *d)
{
    ac_region *r = w->cx.region;
    const char *text = ac_strf(r, "max abs %.3g", d->max_abs);
    if (ac_dtype_is_float(t->dtype) && d->scale > 0)
        text = ac_strf(r, "%s, %.2g of the largest value", text, d->max_abs / d->scale);
    return w->opt.max_ulp >= 0 ? ac_strf(r, "%s, max ULP %.0f", text, d->max_ulp) : text;
}

static int compare_one(ac_work *w, const ac_key_option *c, comparisons *all)
{
    const ac_graph *g = w->made.lowering->graph;
    ac_npy want;
    comparison x;
    AC_TRY(ac_io_find(&w->cx, w->source.path, "--compare", c->key, g->output.item, g->output.n, &x.output));
    const uint8_t *data;
    const ac_tensor *t = result_of(w, x.output, &data);
    AC_TRY(ac_npy_read(&w->cx, c->path, &want));
    ac_npy_encode(&w->cx, &want, t);
    if (ac_npy_fits(&w->cx, &want, t, "--compare") != AC_OK) {
        ac_npy_close(&want);
        return AC_FAIL;
    }
    x.d = ac_compare(t->dtype, data, want.data, ac_tensor_count(t));
    x.path = want.path;
    x.ok = ac_close_enough(t->dtype, &x.d, w->opt.max_ulp);
    ac_npy_close(&want);
    ac_push(w->cx.region, all, x);
    if (x.ok)
        return AC_OK;
    const ac_difference *d = &x.d;
    ac_error(&w->cx, (ac_place){.file = w->source.path}, E0601, "output %d '%s' differs from %s", x.output, t->name,
             x.path);
    return ac_detail(&w->cx, "%lld of %lld elements, first at %lld; %s, mean %.3g; largest value %.6g",
                     (long long)d->differ, (long long)d->count, (long long)d->first, distance_text(w, t, d),
                     d->mean_abs, d->scale);
}

static int compare_outputs(ac_work *w, comparisons *all)
{
    int status = AC_OK;
    for (int32_t c = 0; c < w->opt.compare.n; c++)
        if (compare_one(w, &w->opt.compare.item[c], all) != AC_OK)
            status = AC_FAIL;
    return status;
}

static void put_comparisons(ac_work *w, const comparisons *all, ac_sink *to)
{
    for (int32_t c = 0; c < all->n; c++) {
        const comparison *x = &all->item[c];
        const ac_difference *d = &x->d;
        const ac_tensor *t = w->made.module->output[x->output].tensor;
        if (x->ok)
            ac_putf(to, "output %d '%s': %s reference (%lld of %lld differ%s%s)\n", x->output,
                    ac_visible(w->cx.region, t->name), d->differ ? "within tolerance of the" : "equal to the",
                    (long long)d->differ, (long long)d->count, d->differ ? ", " : "",
                    d->differ ? distance_text(w, t, d) : "");
    }
}

/* ------------------------------------------------------------------ --json */

/* A flat list, row by row, or null if there are too many to read. A text that the model does not have is null. */
static void json_values(ac_json *j, const ac_tensor *t, const uint8_t *data)
{
    enum { MOST = 4096 };
    const int64_t n = ac_tensor_count(t);
    if (n > MOST) {
        ac_json_str(j, "values", NULL);
        return;
    }
    ac_json_arr(j, "values");
    for (int64_t k = 0; k < n; k++)
        if (t->words)
            ac_json_str(j, NULL, text_of(t, data, k));
        else if (ac_dtype_is_float(t->dtype))
            ac_json_num(j, NULL, ac_dtype_get_num(t->dtype, data, k));
        else
            ac_json_int(j, NULL, ac_dtype_get_int(t->dtype, data, k));
    ac_json_end(j);
}

static void put_json(ac_work *w, const comparisons *all, ac_sink *to)
{
    const ac_module *m = w->made.module;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-run/1");
    ac_json_str(&j, "model", w->source.base);
    ac_json_str(&j, "target", m->target->name);
    ac_json_str(&j, "backend", w->opt.backend);
    ac_json_arr(&j, "outputs");
    for (int32_t i = 0; i < m->n_outputs; i++) {
        const uint8_t *data;
        const ac_tensor *t = result_of(w, i, &data);
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "name", t->name);
        ac_json_str(&j, "dtype", ac_dtype_name(t->dtype));
        if (t->words)
            ac_json_str(&j, "texts", t->words->other ? "any" : "known");
        ac_json_arr(&j, "shape");
        for (int32_t d = 0; d < t->rank; d++)
            ac_json_int(&j, NULL, t->dim[d]);
        ac_json_end(&j);
        json_values(&j, t, data);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_arr(&j, "comparisons");
    for (int32_t c = 0; c < all->n; c++) {
        const comparison *x = &all->item[c];
        ac_json_obj(&j, NULL);
        ac_json_int(&j, "output", x->output);
        ac_json_str(&j, "reference", ac_path_name(x->path));
        ac_json_bool(&j, "within_bounds", x->ok);
        ac_json_int(&j, "elements", x->d.count);
        ac_json_int(&j, "differ", x->d.differ);
        ac_json_num(&j, "max_abs", x->d.max_abs);
        ac_json_num(&j, "max_ulp", x->d.max_ulp);
        ac_json_num(&j, "mean_abs", x->d.mean_abs);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}

/* ------------------------------------------------------------------ --per-node */

typedef struct per_node {
    ac_work *w;
    ac_session *session;
    uint8_t **want; /* by step: the results of the evaluator */
    bool recording;
    int32_t bad;
    ac_sink *to;
} per_node;

static void look(void *user, int32_t s)
{
    per_node *p = user;
    const ac_planned *plan = p->w->made.planned;
    const ac_node *n = plan->step[s]->node;
    const ac_tensor *t = ac_node_result(n);
    const ac_io io =
        ac_module_place(&plan->live->problem, &plan->plan, plan->live->item_of[t->id], plan->live->delta[t->id]);
    const uint8_t *at = ac_session_at(p->session, &io);
    if (p->recording) {
        p->want[s] = ac_copy(p->w->cx.region, at, (size_t)ac_tensor_bytes(t));
        return;
    }
    const ac_difference d = ac_compare(t->dtype, at, p->want[s], ac_tensor_count(t));
    const bool ok = ac_close_enough(t->dtype, &d, p->w->opt.max_ulp);
    p->bad += !ok;
    ac_putf(p->to, "%4d  %-24s %-32s %10.3g %8.0f %10.3g %8lld%s\n", s, ac_ops[n->op].tflite,
            ac_visible(p->to->cx->region, n->name), d.max_abs, d.max_ulp, d.mean_abs, (long long)(ok ? 0 : d.differ),
            ok            ? ""
            : p->bad == 1 ? "   <-- first bad step"
                          : "   <--");
}

static int run_hooked(ac_work *w, ac_session *s, ac_step_hook *hook, void *user)
{
    ac_inputs_fill(&w->made, s);
    s->hook = hook;
    s->hook_user = user;
    const int status = ac_session_run(s);
    s->hook = NULL;
    return status;
}

static int run_per_node(ac_work *w, ac_sink *to)
{
    ac_session *const reference = &w->evaluator;
    per_node p = {.w = w,
                  .session = reference,
                  .want = AC_NEW_N(w->cx.region, uint8_t *, w->made.planned->n_steps + 1),
                  .recording = true,
                  .to = to};
    int status = ac_session_open(reference, w->made.module, w->source.path, "eval");
    if (status == AC_OK)
        status = run_hooked(w, reference, look, &p);
    ac_session_close(reference);
    AC_TRY(status);
    AC_TRY(ac_load(w));
    p.session = &w->session;
    p.recording = false;
    ac_put(to,
           "step  operator                 name                                max abs  max ULP       mean   differ\n");
    AC_TRY(run_hooked(w, &w->session, look, &p));
    return p.bad ? ac_error(&w->cx, (ac_place){.file = w->source.path}, E0601,
                            "%d steps differ from the reference interpreter", p.bad)
                 : AC_OK;
}

/* ------------------------------------------------------------------ --taps */

static void look_at_taps(void *user, int32_t s)
{
    ac_taps_look(user, s);
}

static int run_taps(ac_work *w, ac_sink *to)
{
    ac_taps t;
    AC_TRY(ac_taps_open(w, w->opt.taps, &t));
    AC_TRY(ac_load(w));
    AC_TRY(run_hooked(w, &w->session, look_at_taps, &t));
    return ac_taps_close(&t, to);
}

/* ------------------------------------------------------------------ the verb */

static int run_often(ac_work *w)
{
    AC_TRY(ac_load(w));
    const int64_t runs = w->opt.runs > 0 ? w->opt.runs : 1;
    ac_progress_begin(&w->cx, "running", runs);
    for (int64_t i = 0; i < runs; i++) {
        ac_progress_at(&w->cx, i);
        ac_inputs_fill(&w->made, &w->session); /* a run may overwrite its inputs */
        AC_TRY(ac_session_run(&w->session));
    }
    return AC_OK;
}

int ac_run(ac_work *w, const char *const *path, int32_t n)
{
    const ac_options *o = &w->opt;
    w->request.purpose = AC_FOR_RUNNING;
    AC_TRY(ac_read(w, path, n));
    AC_TRY(ac_inputs_open(&w->made));
    AC_TRY(ac_compile(w));
    AC_TRY(ac_inputs_check(&w->made, false));
    ac_sink *to = ac_pending_add(&w->out, "-"), *quiet = AC_NEW(w->cx.region, ac_sink), *text = o->json ? quiet : to;
    comparisons compared = {0};
    ac_sink_open(quiet, &w->cx);
    AC_TRY(o->per_node ? run_per_node(w, text) : o->taps ? run_taps(w, text) : run_often(w));
    const int status = compare_outputs(w, &compared);
    if (o->json)
        put_json(w, &compared, to);
    else
        put_comparisons(w, &compared, o->quiet ? quiet : to);
    AC_TRY(status);
    AC_TRY(write_outputs(w));
    if (!o->output_dir && !o->compare.n && !o->per_node && !o->taps && !o->quiet && !o->json)
        put_outputs(w, to);
    return AC_OK;
}
