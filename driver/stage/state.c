/* state.c - --state OUT=IN: pairs of outputs and the inputs that store them, by name, by pattern, or guessed. */
#include "driver/stage/stage.h"

#include "base/text/named.h"
#include "base/text/pattern.h"
#include "ir/pass/pass.h"

#include <string.h>

/* ------------------------------------------------------------------ patterns */

typedef struct matches {
    int32_t *at; /* positions in the list */
    const char **text;
    int32_t n;
} matches;

static matches find(ac_region *r, const char *pattern, ac_tensor *const *list, int32_t n)
{
    matches m = {AC_NEW_N(r, int32_t, n + 1), AC_NEW_N(r, const char *, n + 1), 0};
    for (int32_t i = 0; i < n; i++)
        if (ac_pattern_match(r, pattern, list[i]->name, &m.text[m.n]))
            m.at[m.n++] = i;
    if (m.n || strchr(pattern, '*'))
        return m;
    const char **names = AC_NEW_N(r, const char *, n + 1); /* one tensor, by parts of its name */
    for (int32_t i = 0; i < n; i++)
        names[i] = list[i]->name;
    m.at[0] = ac_named(pattern, names, n);
    m.text[0] = "";
    m.n = m.at[0] >= 0;
    return m;
}

/* The match with this text; -1: none. */
static int32_t with_text(const matches *m, const char *text)
{
    for (int32_t i = 0; i < m->n; i++)
        if (!strcmp(m->text[i], text))
            return i;
    return -1;
}

/* The inputs in the order of the outputs: the stars of both match the same text; if some output has no such input, all
 * are in the file's order. false: their numbers differ. */
static bool pair(ac_region *r, const matches *out, matches *in)
{
    int32_t *at = AC_NEW_N(r, int32_t, out->n + 1);
    bool same = true;
    for (int32_t i = 0; i < out->n; i++) {
        const int32_t k = with_text(in, out->text[i]);
        same &= k >= 0;
        at[i] = k >= 0 ? in->at[k] : -1;
    }
    if (same)
        in->at = at;
    return same || out->n == in->n;
}

/* ------------------------------------------------------------------ --state */

static int list_names(ac_ctx *cx, const char *what, ac_tensor *const *list, int32_t n)
{
    enum { SHOWN = 8 };
    for (int32_t i = 0; i < n && i < SHOWN; i++)
        ac_detail(cx, "%s %d  %s  %s", what, i, list[i]->name, ac_tensor_str(cx, list[i]));
    return n > SHOWN ? ac_detail(cx, "%s .. and %d more", what, n - SHOWN) : AC_FAIL;
}

static int add(const ac_made *a, const char *arg, int32_t output, int32_t input, ac_state_pair *list, int32_t *n)
{
    const ac_graph *g = a->model->graph;
    for (int32_t i = 0; i < *n; i++)
        if (list[i].output == output || list[i].input == input)
            return ac_error(a->cx, (ac_place){.file = a->source->path}, E0501, "--state '%s': %s '%s' is kept already",
                            arg, list[i].input == input ? "input" : "output",
                            list[i].input == input ? g->input.item[input]->name : g->output.item[output]->name);
    list[(*n)++] = (ac_state_pair){.axis = -1,
                                   .output = output,
                                   .input = input,
                                   .output_name = g->output.item[output]->name,
                                   .input_name = g->input.item[input]->name};
    return AC_OK;
}

static int add_pattern(const ac_made *a, const ac_key_option *o, ac_state_pair *list, int32_t *n)
{
    const ac_graph *g = a->model->graph;
    ac_ctx *cx = a->cx;
    const char *arg = ac_strf(cx->region, "%s=%s", o->key, o->path);
    const matches out = find(cx->region, o->key, g->output.item, g->output.n);
    matches in = find(cx->region, o->path, g->input.item, g->input.n);
    if (!out.n || !in.n) {
        ac_error(cx, (ac_place){.file = a->source->path}, E0501, "--state '%s': no %s has the name '%s'", arg,
                 out.n ? "input" : "output", out.n ? o->path : o->key);
        return out.n ? list_names(cx, "input", g->input.item, g->input.n)
                     : list_names(cx, "output", g->output.item, g->output.n);
    }
    if (!pair(cx->region, &out, &in))
        return ac_error(cx, (ac_place){.file = a->source->path}, E0501,
                        "--state '%s' names %d outputs and %d inputs, expected pairs", arg, out.n, in.n);
    for (int32_t i = 0; i < out.n; i++)
        AC_TRY(add(a, arg, out.at[i], in.at[i], list, n));
    return AC_OK;
}

/* ------------------------------------------------------------------ guesses */

/* The names that exporters give to the two ends of a cache. */
static const ac_key_option USUAL[] = {
    {"present.*", "past_key_values.*"},
    {"present_*", "past_*"},
    {"present*", "past*"},
    {"new_*", "*"},
    {"next_*", "*"},
    {"*_next", "*"},
    {"*_out", "*_in"},
    {"*_out", "*"},
    {"out_*", "in_*"},
    {"*_output", "*_input"},
    {"*n", "*0"},
    {"updated_*", "*"},
};

/* Outputs and inputs of a usual name, with the same stars, types and ranks; NULL: none. */
static const ac_key_option *usual(const ac_made *a, int32_t *found)
{
    const ac_graph *g = a->model->graph;
    ac_region *r = a->cx->region;
    for (size_t k = 0; k < sizeof USUAL / sizeof *USUAL; k++) {
        const matches out = find(r, USUAL[k].key, g->output.item, g->output.n),
                      in = find(r, USUAL[k].path, g->input.item, g->input.n);
        bool all = out.n > 0;
        for (int32_t i = 0; i < out.n && all; i++) {
            const int32_t j = with_text(&in, out.text[i]);
            const ac_tensor *y = g->output.item[out.at[i]], *x = j < 0 ? NULL : g->input.item[in.at[j]];
            all = x && y->dtype == x->dtype && x->rank > 0 && x->rank == y->rank;
        }
        *found = out.n;
        if (all)
            return &USUAL[k];
    }
    return NULL;
}

const char *ac_state_guess(const ac_made *a)
{
    int32_t n;
    const ac_key_option *k = a->opt->state.n || a->opt->train ? NULL : usual(a, &n);
    return k ? ac_strf(a->cx->region, "%d output%s may be kept in place of input%s from run to run: --state '%s=%s'", n,
                       n == 1 ? "" : "s", n == 1 ? "" : "s", k->key, k->path)
             : NULL;
}

/* ------------------------------------------------------------------ caches that grow */

/* The option of --dim with the capacity of a cache in rows; -1: none. */
static int32_t dim_of(const ac_made *a, const ac_state_pair *s)
{
    const char *indexed = ac_strf(a->cx->region, "%s.%d", s->input_name, s->axis);
    for (int32_t i = 0; i < a->opt->dim.n; i++) {
        const char *name = ac_pin_name(a->cx, a->model, a->opt->dim.item[i].name);
        if (!strcmp(name, indexed) || (s->dim_name && !strcmp(name, s->dim_name)))
            return i;
    }
    return -1;
}

ac_work *ac_state_longer(const ac_made *a, const ac_state_pair *kept, int32_t n, int64_t more)
{
    const ac_opt_dims *dim = &a->opt->dim;
    bool *longer = AC_NEW_N(a->cx->region, bool, dim->n + 1), any = false;
    ac_pin *pin;
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = kept[i].axis < 0 ? -1 : dim_of(a, &kept[i]);
        if (k >= 0)
            any = longer[k] = true;
    }
    if (!any || ac_dims_pins(a->cx, dim, NULL, 0, &pin) != AC_OK)
        return NULL;
    for (int32_t i = 0; i < dim->n; i++)
        if (longer[i] && (pin[i].value + more < 0 || pin[i].value + more > INT32_MAX))
            return NULL;
    ac_work *one = ac_work_like(a->owner, AC_AS_LENGTH);
    for (int32_t i = 0; i < dim->n; i++) {
        const int64_t size = pin[i].value + more;
        const ac_dim_option as = {.name = pin[i].name, .lo = size, .hi = size};
        ac_push(one->cx.region, &one->opt.dim, longer[i] ? as : dim->item[i]);
    }
    return one;
}

int ac_state_find(const ac_made *a, ac_state_pair **list, int32_t *n)
{
    const ac_opt_keys *o = &a->opt->state;
    *n = 0;
    *list = AC_NEW_N(a->cx->region, ac_state_pair, a->model->graph->output.n + 1);
    if (o->n && a->opt->train)
        return ac_error(a->cx, (ac_place){.file = "arenac"}, E0501, "--state and --train exclude each other");
    for (int32_t i = 0; i < o->n; i++)
        AC_TRY(add_pattern(a, &o->item[i], *list, n));
    return AC_OK;
}
