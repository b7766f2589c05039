/* pins.c - sets the dimensions of inputs that the file leaves to the caller: from --dim NAME=N, and from arrays given
 * to run. */
#include "base/shell.h"
#include "base/text/named.h"
#include "import/build/name_map.h"
#include "import/build/reading.h"
#include "import/build/wanted_outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    ac_ctx *cx;
    ac_imported *m;
    ac_pin *pin;
    int32_t n_pins;
    const char **whole; /* by pin: the full name that its word selects, or the word */
    bool *used;         /* by pin */
    bool failed;
} state;

/* The name of a dimension on the command line: its own name, or TENSOR.INDEX. */
static const char *dim_label(ac_ctx *cx, const ac_tensor *t, int32_t d)
{
    return t->dim_name[d] ? t->dim_name[d] : ac_strf(cx->region, "%s.%d", t->name, d);
}

static bool is_pinned(const ac_tensor *t)
{
    return t->input || t->state || t->any_rank;
}

/* TENSOR of TENSOR.INDEX; NULL: the word has no index. */
static const char *indexed_tensor(ac_ctx *cx, const char *word, const char **index)
{
    const char *dot = strrchr(word, '.');
    *index = dot ? dot + 1 : NULL;
    if (!dot || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")])
        return NULL;
    return ac_strf(cx->region, "%.*s", (int)(dot - word), word);
}

/* The tensors whose dimensions can be set, or the names of those dimensions. */
static ac_name_list names_of(ac_ctx *cx, const ac_graph *g, bool dims)
{
    ac_name_list out = {0};
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (is_pinned(t) && !dims)
            ac_push(cx->region, &out, t->name);
        for (int32_t d = 0; is_pinned(t) && dims && d < t->rank; d++)
            if (t->dim_name[d])
                ac_push(cx->region, &out, t->dim_name[d]);
    }
    return out;
}

const char *ac_pin_name(ac_ctx *cx, const ac_imported *m, const char *word)
{
    const char *index, *tensor = indexed_tensor(cx, word, &index);
    const ac_name_list dim = names_of(cx, m->graph, true), of = names_of(cx, m->graph, false);
    int32_t i = ac_named(word, dim.item, dim.n);
    if (i >= 0)
        return dim.item[i];
    i = ac_named(tensor ? tensor : word, of.item, of.n);
    return i < 0 ? word : tensor ? ac_strf(cx->region, "%s.%s", of.item[i], index) : of.item[i];
}

static const ac_pin *find_pin(state *s, const ac_tensor *t, int32_t d)
{
    const char *own = t->dim_name[d], *indexed = ac_strf(s->cx->region, "%s.%d", t->name, d);
    for (int32_t i = 0; i < s->n_pins; i++)
        if ((own && !strcmp(s->whole[i], own)) || !strcmp(s->whole[i], indexed)) {
            s->used[i] = true;
            return &s->pin[i];
        }
    ac_pin computed = {own, 0};
    if (!own || !ac_pin_expression(own, s->pin, s->n_pins, s->used, &computed.value))
        return NULL;
    return ac_copy(s->cx->region, &computed, sizeof computed);
}

/* "NAME=4", as the caller has typed it. */
static const char *pin_text(const state *s, const ac_pin *pin)
{
    return ac_shell_set(s->cx, pin->name, ac_strf(s->cx->region, "%lld", (long long)pin->value));
}

static void pin_dim(state *s, ac_tensor *t, int32_t d)
{
    const ac_place at = {.file = s->m->graph->file};
    const ac_pin *pin = t->dim[d] < 0 || t->dim_name[d] ? find_pin(s, t, d) : NULL;
    if (pin && (pin->value < 0 || pin->value > INT32_MAX)) {
        ac_error(s->cx, at, E0501, "--dim %s: a dimension is a number from 0 to 2147483647", pin_text(s, pin));
        s->failed = true;
    } else if (pin && t->dim[d] != pin->value) {
        t->dim[d] = pin->value;
        s->m->pinned++;
    }
}

/* A batch that the file leaves open and no pin sets gets its size; all dimensions of its name, by a pin of their own.
 * s->pin has room for one pin more for each input. */
static void take_batch(state *s, ac_tensor *t)
{
    if (t->rank < 1 || t->dim[0] >= 0 || find_pin(s, t, 0) || !ac_is_open_batch(s->m->graph, t))
        return;
    const char *label = dim_label(s->cx, t, 0);
    ac_note(s->cx, (ac_place){.file = s->m->graph->file}, W0001,
            "input '%s' %s: its batch size is unknown and taken as %" PRId64, t->name, ac_shape_str(s->cx, t),
            s->m->batch);
    ac_help(s->cx, "--dim %s sets another", ac_shell_set(s->cx, label, "N"));
    if (t->dim_name[0]) {
        s->used[s->n_pins] = true;
        s->whole[s->n_pins] = label;
        s->pin[s->n_pins++] = (ac_pin){label, s->m->batch};
    } else {
        t->dim[0] = s->m->batch;
        s->m->pinned++;
    }
}

/* The names of the dimensions that are still open. report: an error for each. */
static ac_name_list open_names(ac_ctx *cx, const ac_graph *g, bool report)
{
    ac_name_list labels = {0};
    ac_name_map seen = {0};
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        for (int32_t d = 0; d < t->rank && (t->input || t->state); d++) {
            if (t->dim[d] >= 0)
                continue;
            const char *label = ac_intern(cx, dim_label(cx, t, d));
            if (ac_name_get(&seen, label) >= 0)
                continue;
            *ac_name_put(cx->region, &seen, label) = 1;
            ac_push(cx->region, &labels, label);
            if (report)
                ac_error(cx, (ac_place){.file = g->file}, E0204, "the size of dimension %d of input '%s' %s is unknown",
                         d, t->name, ac_shape_str(cx, t));
        }
    }
    return labels;
}

static const char *options_of(ac_ctx *cx, ac_name_list labels)
{
    const char *options = NULL;
    for (int32_t i = 0; i < labels.n; i++)
        options = ac_strf(cx->region, "%s%s--dim %s", options ? options : "", options ? " " : "",
                          ac_shell_set(cx, labels.item[i], "N"));
    return options;
}

const char *ac_open_sizes(ac_ctx *cx, const ac_graph *g)
{
    return options_of(cx, open_names(cx, g, false));
}

/* Sets the rank of an input of unknown rank to the number of its pinned dimensions: NAME.0, NAME.1, ...; 0 with
 * NAME=scalar. */
static void pin_rank(state *s, ac_tensor *t)
{
    for (int32_t i = 0; i < s->n_pins; i++)
        if (!s->pin[i].value && !strcmp(s->whole[i], t->name)) {
            s->used[i] = true; /* --dim NAME=scalar */
            t->any_rank = false;
            return;
        }
    for (t->rank = 0; t->rank < AC_MAX_RANK; t->rank++) {
        t->dim[t->rank] = -1;
        if (!find_pin(s, t, t->rank))
            break;
    }
    t->any_rank = t->rank == 0;
    if (!t->any_rank)
        return;
    s->failed = true;
    ac_error(s->cx, (ac_place){.file = s->m->graph->file}, E0204, "the number of dimensions of input '%s' is unknown",
             t->name);
    ac_help(s->cx, "pin them: --dim %s --dim %s .., or --dim %s; run --input takes them from the array",
            ac_shell_set(s->cx, ac_strf(s->cx->region, "%s.0", t->name), "N"),
            ac_shell_set(s->cx, ac_strf(s->cx->region, "%s.1", t->name), "N"), ac_shell_set(s->cx, t->name, "scalar"));
}

/* The tensor and dimension *d that TENSOR.INDEX names; NULL: unknown tensor. */
static const ac_tensor *named_dim(state *s, const char *label, int32_t *d)
{
    const ac_graph *g = s->m->graph;
    const char *index, *tensor = indexed_tensor(s->cx, label, &index);
    for (int32_t i = 0; i < g->tensor.n && tensor; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (!is_pinned(t) || strcmp(t->name, tensor))
            continue;
        const long at = strtol(index, NULL, 10);
        *d = at > AC_MAX_RANK ? AC_MAX_RANK : (int32_t)at;
        return t;
    }
    return NULL;
}

/* Compares an unused pin with the size that its dimension already has. AC_FAIL: a different size (reported), or *found
 * is false: no such dimension. */
static int compare_pin(state *s, int32_t k, bool *found)
{
    const ac_pin *pin = &s->pin[k];
    int32_t d = 0;
    const ac_tensor *t = named_dim(s, s->whole[k], &d);
    *found = true;
    for (int32_t i = 0; i < s->n_pins; i++)
        if (s->used[i] && !strcmp(s->whole[i], s->whole[k]) && s->pin[i].value != pin->value)
            return ac_error(s->cx, (ac_place){0}, E0501, "--dim %s: it is also given as %lld", pin_text(s, pin),
                            (long long)s->pin[i].value);
        else if (s->used[i] && !strcmp(s->whole[i], s->whole[k]))
            return AC_OK;
    *found = t != NULL;
    if (!t)
        return AC_FAIL;
    if (d >= t->rank)
        return ac_error(s->cx, (ac_place){0}, E0501, "--dim %s: input '%s' %s has %d dimension%s", pin_text(s, pin),
                        t->name, ac_shape_str(s->cx, t), t->rank, t->rank == 1 ? "" : "s");
    if (t->dim[d] == pin->value)
        return AC_OK;
    ac_error(s->cx, (ac_place){0}, E0501, "--dim %s: dimension %d of input '%s' %s has a size already",
             pin_text(s, pin), d, t->name, ac_shape_str(s->cx, t));
    return ac_help(s->cx, "the file, another --dim or the array of an --input sets it: omit this one");
}

/* The labels of the inputs' dimensions; named: only those that have a name in the file. */
static ac_name_list input_labels(state *s, bool named)
{
    const ac_graph *g = s->m->graph;
    ac_name_list labels = {0};
    for (int32_t i = 0; i < g->input.n; i++)
        for (int32_t d = 0; d < g->input.item[i]->rank; d++)
            if (!named || g->input.item[i]->dim_name[d])
                ac_push(s->cx->region, &labels, dim_label(s->cx, g->input.item[i], d));
    return labels;
}

/* The dimension that a pin most likely means, else those that it may mean. */
static int help_label(state *s, const char *name)
{
    const ac_name_list all = input_labels(s, false), named = input_labels(s, true);
    const char *near = ac_closest(name, all.item, all.n);
    if (near)
        return ac_help(s->cx, "did you mean '%s'?", near);
    return named.n ? ac_named_list(s->cx, name, named.item, named.n)
                   : ac_help(s->cx, "the file sets every dimension of the inputs, or leaves them without a name");
}

static void check_pins(state *s)
{
    const ac_graph *g = s->m->graph;
    const ac_name_list tensors = names_of(s->cx, g, false);
    for (int32_t i = 0; i < s->n_pins; i++) {
        bool found;
        if (s->used[i] || compare_pin(s, i, &found) == AC_OK)
            continue;
        s->failed = true;
        if (found)
            continue;
        ac_error(s->cx, (ac_place){0}, E0501, "--dim %s: no input has a dimension '%s' that can be set",
                 pin_text(s, &s->pin[i]), s->pin[i].name);
        const char *index, *tensor = indexed_tensor(s->cx, s->pin[i].name, &index);
        bool part = false;
        for (int32_t k = 0; tensor && k < tensors.n; k++)
            part |= ac_named_part(tensor, tensors.item[k]);
        (void)(part ? ac_named_help(s->cx, tensor, tensors.item, tensors.n) : help_label(s, s->pin[i].name));
    }
}

int ac_pin_inputs(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins)
{
    const ac_graph *g = m->graph;
    const int32_t room = n_pins + g->input.n + 1;
    state s = {.cx = cx, .m = m, .n_pins = n_pins, .pin = AC_NEW_N(cx->region, ac_pin, room)};
    s.used = AC_NEW_N(cx->region, bool, room);
    s.whole = AC_NEW_N(cx->region, const char *, room);
    for (int32_t i = 0; i < n_pins; i++) {
        s.pin[i] = pin[i];
        s.whole[i] = ac_pin_name(cx, m, pin[i].name);
    }
    for (int32_t i = 0; i < g->input.n && m->batch; i++)
        take_batch(&s, g->input.item[i]);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (t->any_rank)
            pin_rank(&s, t);
        for (int32_t d = 0; d < t->rank && (t->input || t->state); d++)
            pin_dim(&s, t, d);
    }
    check_pins(&s);
    const ac_name_list open = open_names(cx, g, true);
    if (open.n) {
        s.failed = true;
        ac_help(cx, "pin %s: %s", open.n == 1 ? "it" : "them", options_of(cx, open));
    }
    return s.failed ? AC_FAIL : AC_OK;
}
