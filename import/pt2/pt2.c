/* pt2.c - the format: inputs, outputs and states of a program of torch.export, and the listing that `show` prints.
 *
 *     inputs      parameters, buffers and constants are bound to weights; values of the user become inputs
 *     outputs     those that are not for the user are new values of buffers
 *     states      a buffer that the program changes keeps its value from run to run. In programs as exported this is
 *                 known only after all nodes were read: then they are read again, with the buffer as state */
#include "import/pt2/nodes.h"

#include "base/sink.h"
#include "import/build/counted.h"
#include "import/build/params.h"
#include "import/build/wanted_outputs.h"
#include "import/wire/peek.h"

#include <inttypes.h>
#include <string.h>

static const ac_js_node *list_of(ac_ep *r, const ac_js_node *x, const char *key)
{
    const ac_js_node *list = ac_js_get(x, key);
    if (!list || list->kind != AC_JS_ARRAY)
        return (void)ac_error(r->cx, ac_js_place(&r->js, x), E0012, "expected a list '%s'", key), NULL;
    return list;
}

static int check_version(ac_ep *r)
{
    const ac_js_node *v = ac_js_get(r->memo->program, "schema_version");
    int64_t major = 0, minor = 0;
    if (!ac_js_int(ac_js_get(v, "major"), &major) || !ac_js_int(ac_js_get(v, "minor"), &minor))
        return ac_ep_bad(r, r->memo->program, "a program needs 'schema_version'");
    if (major == 8)
        return AC_OK;
    return ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0017,
                    "version %" PRId64 ".%" PRId64 " of torch.export's schema; arenac reads version 8", major, minor);
}

/* ------------------------------------------------------------------ needed values */

typedef struct needs {
    ac_ep *r;
    ac_name_map made_by; /* name of a value -> its node */
    AC_VEC(int32_t) todo;
} needs;

static void need(needs *x, const char *name)
{
    const int32_t i = ac_name_get(&x->made_by, name);
    if (i < 0 || x->r->wanted[i])
        return;
    x->r->wanted[i] = true;
    ac_push(x->r->cx->region, &x->todo, i);
}

/* Visits the names of all values in arguments (maker -1: marks their nodes), or in the results of node `maker`. */
static void each_name(needs *x, const ac_js_node *top, int32_t maker)
{
    const ac_js_node *v = top;
    while (v) {
        const bool names = v->kind == AC_JS_STRING && v->key && (!strcmp(v->key, "name") || !strcmp(v->key, "as_name"));
        if (names && maker >= 0)
            *ac_name_put(x->r->cx->region, &x->made_by, v->text) = maker;
        else if (names)
            need(x, v->text);
        if (v->first && !ac_ep_is(v, "as_graph")) {
            v = v->first;
            continue;
        }
        while (v && v != top && !v->next)
            v = v->up;
        v = !v || v == top ? NULL : v->next;
    }
}

static bool changes(const ac_js_node *node)
{
    const ac_js_node *target = ac_js_get(node, "target");
    const char *dot = target && target->kind == AC_JS_STRING ? strrchr(target->text, '.') : NULL;
    return dot && dot > target->text && dot[-1] == '_';
}

/* Marks the nodes that outputs and changed tensors need. */
static int find_wanted(ac_ep *r, ac_name_list asked)
{
    const ac_js_node *nodes = ac_js_get(r->main->graph, "nodes");
    needs x = {.r = r};
    const ac_js_node **node = AC_NEW_N(r->cx->region, const ac_js_node *, nodes->n + 1);
    int32_t n = 0;
    r->wanted = AC_NEW_N(r->cx->region, bool, nodes->n + 1);
    for (const ac_js_node *v = nodes->first; v; v = v->next) {
        if (ac_js_get(v, "outputs"))
            each_name(&x, ac_js_get(v, "outputs"), n);
        node[n++] = v;
    }
    for (int32_t i = 0; i < asked.n; i++)
        need(&x, asked.item[i]);
    if (!asked.n)
        each_name(&x, ac_js_get(r->main->graph, "outputs"), -1);
    for (int32_t i = 0; i < n; i++)
        if (changes(node[i]) && !r->wanted[i]) {
            r->wanted[i] = true;
            ac_push(r->cx->region, &x.todo, i);
        }
    for (int32_t k = 0; k < x.todo.n; k++)
        if (ac_js_get(node[x.todo.item[k]], "inputs"))
            each_name(&x, ac_js_get(node[x.todo.item[k]], "inputs"), -1);
    for (int32_t i = 0; i < n; i++)
        r->reading->out.file_ops += r->wanted[i] && !r->reading->again;
    return AC_OK;
}

/* Operators that are not supported do not depend on sizes: all of them, in graphs of branches as well. */
static void refuse_unknown(ac_ep *r, const ac_js_node *graph, const bool *wanted, int32_t level)
{
    const ac_js_node *nodes = ac_js_get(graph, "nodes");
    int32_t i = 0;
    for (const ac_js_node *v = nodes ? nodes->first : NULL; v; v = v->next, i++) {
        ac_ep_node n;
        if ((wanted && !wanted[i]) || ac_ep_node_open(r, r->main, v, i, &n) != AC_OK)
            continue;
        if (!n.row)
            (void)ac_reading_refuse(r->reading, n.at, "", n.type, n.type);
        for (const ac_js_node *x = n.args && level < 12 ? n.args->first : NULL; x; x = x->next) {
            const ac_js_node *arg = ac_ep_tagged(ac_js_get(x, "arg"));
            if (ac_ep_is(arg, "as_graph"))
                refuse_unknown(r, ac_js_get(arg, "graph"), NULL, level + 1);
        }
    }
}

/* ------------------------------------------------------------------ inputs */

typedef struct input {
    const char *name;   /* of the value */
    const char *weight; /* parameter, buffer or constant; NULL: the user gives it */
    bool buffer, number, none;
} input;

/* Input i of the graph, and its row of the signature. */
static int read_input(ac_ep *r, const ac_js_node *x, const ac_js_node *spec, input *in)
{
    static const struct {
        const char *kind, *name;
    } WEIGHTS[] = {
        {"parameter", "parameter_name"}, {"buffer", "buffer_name"}, {"tensor_constant", "tensor_constant_name"}};
    const ac_js_node *v = ac_ep_tagged(x), *s = ac_ep_tagged(spec);
    *in = (input){.number = ac_ep_is(v, "as_sym_int")};
    if (!s || s->kind != AC_JS_OBJECT)
        return ac_ep_bad(r, spec ? spec : x, "an input has no kind in the signature");
    for (size_t i = 0; i < sizeof WEIGHTS / sizeof *WEIGHTS; i++)
        if (ac_ep_is(s, WEIGHTS[i].kind)) {
            in->weight = ac_ep_text(r, ac_js_get(s, WEIGHTS[i].name), "the name of a weight");
            in->buffer = i == 1;
            if (!in->weight)
                return AC_FAIL;
        }
    in->none = !ac_ep_is(v, "as_tensor") && !in->number;
    if (in->none && (ac_ep_is(v, "as_custom_obj") || ac_ep_is(v, "as_token")))
        return ac_refuse(r->reading, (ac_place){.file = r->reading->file.path}, E0108, "an input",
                         "it is a custom object", "make it a part of the module that needs no object");
    if (in->none)
        return AC_OK;
    in->name = ac_ep_text(r, ac_js_get(v, in->number ? "as_name" : "name"), "the name of an input");
    return in->name ? AC_OK : AC_FAIL;
}

static bool is_state(const ac_ep *r, const char *name)
{
    for (int32_t i = 0; i < r->memo->state.n; i++)
        if (r->memo->state.item[i] == name)
            return true;
    return false;
}

static int bind_weight(ac_ep *r, const input *in)
{
    const ac_place at = {.file = r->reading->file.path, .node = in->weight};
    ac_maker b = ac_reading_maker(r->reading, r->g, in->weight, at);
    ac_ep_value *v = ac_ep_value_add(r, r->main, in->name, at);
    ac_tensor *t = v ? ac_ep_weight(r, in->weight, at) : NULL, *state = NULL;
    if (!t)
        return AC_FAIL;
    if (in->buffer && is_state(r, in->weight)) {
        const void *data = ac_tensor_force(r->cx, t);
        if (!data)
            return AC_FAIL;
        state = t;
        state->raw = NULL;
        state->data = data;
        state->state = true;
        ac_attrs a;
        ac_attrs_init(AC_OP_RESHAPE, &a);
        a.shape.shape = ac_make_list(&b, t->rank, t->dim);
        t = ac_make_op(&b, AC_OP_RESHAPE, &state, 1, &a, AC_NONE);
        if (!t)
            return AC_FAIL;
    }
    ac_ep_value_tensor(r, v, t);
    if (in->buffer) {
        v->cell->buffer = r->buffer.n;
        ac_push(r->cx->region, &r->buffer, ((ac_ep_buffer){in->weight, v->cell, state}));
    }
    return AC_OK;
}

static int declare_input(ac_ep *r, const input *in)
{
    const ac_place at = {.file = r->reading->file.path, .node = in->name};
    const char *refused = NULL, *dim_name[AC_MAX_RANK] = {NULL};
    ac_ep_meta m = {.type = AC_I64};
    ac_ep_value *v = ac_ep_value_add(r, r->main, in->name, at);
    if (!v)
        return AC_FAIL;
    if (!in->number)
        AC_TRY(ac_ep_meta_of(r, r->main, in->name, &m, &refused));
    if (refused)
        return ac_refuse(r->reading, at, E0108, "an input", refused, NULL);
    for (int32_t d = 0; d < m.rank; d++) {
        dim_name[d] = m.size[d] ? ac_ep_size_name(r->cx, m.size[d]) : NULL;
        if (m.dim[d] > INT32_MAX)
            return ac_error(r->cx, at, E0015, "dimension %d is %" PRId64, d, m.dim[d]);
    }
    ac_tensor *t = ac_reading_input(r->reading, in->name, m.type, m.rank, m.dim, dim_name);
    ac_ep_value_tensor(r, v, t);
    if (in->number) {
        v->kind = AC_EP_NUMBER;
        v->type = AC_I64;
        v->late = t;
    }
    return AC_OK;
}

static int read_inputs(ac_ep *r)
{
    const ac_js_node *inputs = ac_js_get(r->main->graph, "inputs"), *specs = list_of(r, r->signature, "input_specs");
    if (!specs || specs->n != inputs->n)
        return specs ? ac_ep_bad(r, specs, "the signature has not as many inputs as the graph") : AC_FAIL;
    const ac_js_node *s = specs->first;
    for (const ac_js_node *x = inputs->first; x; x = x->next, s = s->next) {
        input in;
        AC_TRY(read_input(r, x, s, &in));
        if (!in.none)
            AC_TRY(in.weight ? bind_weight(r, &in) : declare_input(r, &in));
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ sizes of inputs */

/* Symbols get their values from the sizes of inputs: first those that are a size, then those of sums and products. */
static int solve_sizes(ac_ep *r)
{
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < r->reading->input.n; i++) {
            const ac_tensor *t = r->reading->input.item[i];
            const char *refused;
            ac_ep_meta m = {.rank = 0};
            if (ac_ep_dict_get(&r->main->meta, t->name))
                AC_TRY(ac_ep_meta_of(r, r->main, t->name, &m, &refused));
            for (int32_t d = 0; d < m.rank && d < t->rank; d++)
                if (m.size[d] && (pass || ac_ep_size_is_symbol(m.size[d])))
                    ac_ep_size_solve(r, m.size[d], t->dim[d]);
        }
    return AC_OK;
}

static int check_range(ac_ep *r, const ac_js_node *x)
{
    int64_t v = -1, low, high;
    const ac_ep_size *e = ac_ep_size_read(r->cx, x->key);
    const ac_js_node *least = ac_js_get(x, "min_val"), *most = ac_js_get(x, "max_val");
    if (!e || !ac_ep_size_of(r, e, &v))
        return AC_OK;
    const bool below = ac_js_int(least, &low) && v < low, above = ac_js_int(most, &high) && v > high;
    if (!below && !above)
        return AC_OK;
    ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0204,
             "dimension %s is %" PRId64 ", but the program was exported for sizes of at %s %" PRId64, x->key, v,
             below ? "least" : "most", below ? low : high);
    return ac_help(r->cx, "export it again with another range: torch.export.Dim(name, min=.., max=..)");
}

/* Sizes that follow from others must have these values. */
static int check_sizes(ac_ep *r)
{
    const ac_js_node *ranges = ac_js_get(r->memo->program, "range_constraints");
    int rc = AC_OK;
    for (const ac_js_node *x = ranges && ranges->kind == AC_JS_OBJECT ? ranges->first : NULL; x; x = x->next)
        if (check_range(r, x) != AC_OK)
            rc = AC_FAIL;
    for (int32_t i = 0; i < r->reading->input.n; i++) {
        const ac_tensor *t = r->reading->input.item[i];
        const char *refused;
        ac_ep_meta m = {.rank = 0};
        if (ac_ep_dict_get(&r->main->meta, t->name))
            AC_TRY(ac_ep_meta_of(r, r->main, t->name, &m, &refused));
        for (int32_t d = 0; d < m.rank && d < t->rank; d++)
            if (m.size[d] && m.dim[d] >= 0 && m.dim[d] != t->dim[d])
                rc = ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0104,
                              "dimension %d of input '%s' is %" PRId64 ", but %s is %" PRId64, d, t->name, t->dim[d],
                              ac_ep_size_name(r->cx, m.size[d]), m.dim[d]);
    }
    return rc;
}

/* ------------------------------------------------------------------ outputs */

/* An empty node at the end of the program: functions that read arguments of nodes read the outputs with it. */
static ac_ep_node reader_of_outputs(ac_ep *r)
{
    ac_ep_node n = {.r = r, .scope = r->main, .name = "outputs", .type = "output"};
    n.at = (ac_place){.file = r->reading->file.path, .node = n.name};
    n.b = ac_reading_maker(r->reading, r->g, n.name, n.at);
    return n;
}

static ac_ep_buffer *buffer_of(const ac_ep *r, const char *name)
{
    for (int32_t i = 0; i < r->buffer.n; i++)
        if (r->buffer.item[i].name == name)
            return &r->buffer.item[i];
    return NULL;
}

/* An input that the program changes in place: callers of compiled code keep theirs. */
static void warn_of_change(const ac_ep *r, const char *name)
{
    ac_warn(r->cx, (ac_place){.file = r->reading->file.path}, W0001,
            "the program changes its input '%s' in place; compiled code does not: return the new value from forward",
            name);
}

/* An output that is not for the user. */
static int read_change(ac_ep_node *n, const ac_js_node *spec, const ac_js_node *x)
{
    ac_ep *r = n->r;
    const ac_js_node *name = ac_js_get(spec, "buffer_name");
    const ac_js_node *changed = ac_js_get(spec, "user_input_name");
    if (ac_ep_is(spec, "user_input_mutation") && changed && changed->kind == AC_JS_STRING)
        warn_of_change(r, changed->text);
    if (ac_ep_is(spec, "user_input_mutation") || ac_ep_is(spec, "token"))
        return AC_OK;
    if (!ac_ep_is(spec, "buffer_mutation"))
        return ac_refuse(r->reading, n->at, E0108, "an output", ac_strf(r->cx->region, "it is of kind '%s'", spec->key),
                         "export the model for inference");
    ac_ep_buffer *b = name && name->kind == AC_JS_STRING ? buffer_of(r, name->text) : NULL;
    if (!b)
        return ac_ep_bad(r, spec, "it changes a buffer that the program does not have");
    ac_tensor *t = ac_ep_operand(n, x);
    if (!t)
        return AC_FAIL;
    return ac_ep_write(n, b->cell, t);
}

static int add_output(ac_ep_node *n, const ac_js_node *x)
{
    ac_ep *r = n->r;
    const ac_js_node *name = ac_js_get(x, "name");
    if (!ac_ep_is(x, "as_tensor"))
        return AC_OK; /* numbers and None */
    ac_tensor *t = ac_ep_operand(n, x);
    if (!t)
        return n->broken ? AC_FAIL : ac_ep_bad(r, x, "an output is not a tensor");
    t = ac_outputs_add(r->g, t, name->text);
    t->name = name->text;
    return AC_OK;
}

static int read_outputs(ac_ep *r)
{
    const ac_js_node *outputs = ac_js_get(r->main->graph, "outputs"), *specs = list_of(r, r->signature, "output_specs");
    ac_ep_node n = reader_of_outputs(r);
    if (!specs || specs->n != outputs->n)
        return specs ? ac_ep_bad(r, specs, "the signature has not as many outputs as the graph") : AC_FAIL;
    const ac_js_node *s = specs->first;
    for (const ac_js_node *x = outputs->first; x; x = x->next, s = s->next) {
        const ac_js_node *spec = ac_ep_tagged(s), *v = ac_ep_tagged(x);
        if (!spec || !v)
            return ac_ep_bad(r, s, "an output has no kind");
        AC_TRY(ac_ep_is(spec, "user_output") ? add_output(&n, v) : read_change(&n, spec, v));
    }
    for (int32_t i = 0; i < r->reading->input.n; i++) {
        const ac_ep_value *v = ac_ep_value_find(r->main, r->reading->input.item[i]->name);
        if (v && v->kind == AC_EP_TENSOR && v->cell->version)
            warn_of_change(r, v->name);
    }
    return AC_OK;
}

/* --outputs NAME: values of the main graph. */
static int take_outputs(ac_ep *r, ac_name_list asked)
{
    ac_ep_node n = reader_of_outputs(r);
    for (int32_t i = 0; i < asked.n; i++) {
        ac_ep_value *v = ac_ep_value_find(r->main, asked.item[i]);
        ac_tensor *t = v && v->kind == AC_EP_TENSOR && !v->broken ? ac_ep_read(r, v->cell) : NULL;
        if (!t)
            return v && v->broken ? AC_FAIL : ac_cannot(&n.b, "--outputs: '%s' is not a tensor", asked.item[i]);
        ac_outputs_add(r->g, t, asked.item[i])->name = asked.item[i];
    }
    return AC_OK;
}

static int asked_names(ac_ep *r, ac_name_list *asked)
{
    ac_name_list known = {0};
    int rc = AC_OK;
    AC_TRY(ac_outputs_asked(r->reading, asked));
    for (int32_t i = 0; asked->n && i < r->main->meta.item.n; i++)
        ac_push(r->cx->region, &known, r->main->meta.item.item[i]->key);
    for (int32_t i = 0; i < asked->n; i++) {
        const char *name = ac_outputs_named(r->reading, "program has no value", asked->item[i], known);
        if (!name)
            rc = AC_FAIL;
        else
            asked->item[i] = name;
    }
    return rc;
}

/* The last node, which writes `state`, moves up to after the nodes that read the state before or make its operand:
 * fewer tensors wait for the end of the run. */
static void assign_early(ac_graph *g, const ac_tensor *state)
{
    ac_node *assign = g->node.item[g->node.n - 1];
    int32_t at = g->node.n - 1;
    for (bool free = true; at > 0; at--) {
        const ac_node *n = g->node.item[at - 1];
        for (int32_t i = 0; i < n->n_in; i++)
            free &= n->in[i] != state;
        for (int32_t i = 0; i < n->n_out; i++)
            free &= n->out[i] != assign->in[0];
        if (!free)
            break;
        g->node.item[at] = g->node.item[at - 1];
    }
    g->node.item[at] = assign;
}

/* Buffers that were changed are state: known from the start, or from now on. */
static int end_states(ac_ep *r)
{
    for (int32_t i = 0; i < r->buffer.n; i++) {
        ac_ep_buffer *b = &r->buffer.item[i];
        ac_tensor *now = b->cell->version ? ac_ep_read(r, b->cell) : NULL;
        if (!b->cell->version)
            continue;
        if (!b->state) {
            ac_push(r->cx->region, &r->memo->state, b->name);
            r->reading->repeat = true;
            continue;
        }
        ac_tensor *next = now ? ac_tensor_like(r->g, ac_strf(r->cx->region, "%s_next", b->name), now) : NULL;
        const ac_maker m = ac_maker_named(r->g, b->name);
        if (!next)
            return AC_FAIL;
        next->root = b->state;
        if (!ac_tensor_same_kind(now, b->state))
            return ac_cannot(&m, "buffer '%s' becomes %s", b->name, ac_tensor_str(r->cx, now));
        if (!ac_make_into(&m, AC_OP_ASSIGN, &now, 1, NULL, next))
            return AC_FAIL;
        assign_early(r->g, b->state);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ the format */

static const char *list_nodes(ac_ep *r)
{
    ac_sink *s = AC_NEW(r->cx->region, ac_sink);
    const ac_js_node *nodes = ac_js_get(r->main->graph, "nodes"), *torch = ac_js_get(r->memo->program, "torch_version");
    int32_t i = 0;
    ac_sink_open(s, r->cx);
    ac_putf(s, "PyTorch %s\n", torch && torch->kind == AC_JS_STRING ? torch->text : "");
    for (const ac_js_node *x = nodes->first; x; x = x->next, i++) {
        ac_ep_node n;
        if (!r->wanted[i] || ac_ep_node_open(r, r->main, x, i, &n) != AC_OK)
            continue;
        ac_putf(s, "%4d  %-34s %s\n", i, n.type, n.name);
    }
    return ac_sink_text(s);
}

static int read(ac_reading *reading)
{
    ac_ep *r = reading->own = AC_NEW(reading->cx->region, ac_ep);
    ac_name_list asked;
    *r = (ac_ep){.reading = reading, .cx = reading->cx};
    r->js = (ac_js){.cx = r->cx, .file = reading->file.path};
    AC_TRY(ac_ep_archive_open(r));
    AC_TRY(check_version(r));
    const ac_js_node *module = ac_js_get(r->memo->program, "graph_module"), *graph = ac_js_get(module, "graph");
    r->signature = ac_js_get(module, "signature");
    if (!graph || !r->signature)
        return ac_ep_bad(r, r->memo->program, "a program needs a graph and a signature");
    r->g = ac_reading_graph(reading, r->memo->model, "PyTorch");
    reading->out.channels_first = true;
    r->main = ac_ep_scope_open(r, graph, 0);
    if (!r->main || asked_names(r, &asked) != AC_OK)
        return AC_FAIL;
    AC_TRY(find_wanted(r, asked));
    if (!reading->again) {
        refuse_unknown(r, graph, r->wanted, 0);
        reading->out.listing = list_nodes(r);
    }
    AC_TRY(read_inputs(r));
    return reading->refused.n ? AC_FAIL : AC_OK;
}

static int nodes(ac_reading *reading)
{
    ac_ep *r = reading->own;
    ac_name_list asked;
    AC_TRY(asked_names(r, &asked));
    AC_TRY(solve_sizes(r));
    AC_TRY(check_sizes(r));
    AC_TRY(ac_ep_run(r, r->main));
    if (reading->refused.n)
        return AC_FAIL;
    AC_TRY(asked.n ? take_outputs(r, asked) : read_outputs(r));
    AC_TRY(end_states(r));
    ac_graph_renumber(r->g);
    return AC_OK;
}

static bool looks(ac_span s)
{
    return ac_span_starts(s, 0, "PK\003\004", 4) &&
           (ac_peek_member(s, "archive_format") || ac_peek_member(s, "serialized_exported_program.json"));
}

const ac_format ac_pt2_format = {.title = "a program of torch.export",
                                 .looks = looks,
                                 .read = read,
                                 .nodes = nodes,
                                 .open_batch = true,
                                 .keep_nan = AC_NAN_ALL,
                                 .finds_outputs = true,
                                 .operators = &ac_ep_operators};
