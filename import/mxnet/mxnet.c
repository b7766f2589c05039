/* mxnet.c - the container of MXNet models: the symbol's nodes in order, variables, heads; the listing that `show`
 * prints. */
#include "import/build/counted.h"
#include "import/mxnet/symbols.h"
#include "import/build/wanted_outputs.h"
#include "import/build/params.h"
#include "base/sink.h"
#include "import/wire/peek.h"

#include "base/ascii.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 1024 };

static int bad_json(ac_mx *r, const ac_js_node *x, const char *what)
{
    return ac_error(r->cx, ac_js_place(&r->js, x), E0012, "%s", what);
}

/* Nodes. */

/* [node, result] or [node, result, version]. */
static int read_entry(ac_mx *r, const ac_js_node *x, int32_t nodes, int32_t *node, int32_t *out)
{
    int64_t id, index = 0;
    if (x->kind != AC_JS_ARRAY || x->n < 1 || x->n > 3 || !ac_js_int(x->first, &id) ||
        (x->n > 1 && !ac_js_int(x->first->next, &index)))
        return bad_json(r, x, "expected [node, result] here");
    if (id < 0 || id >= nodes || index < 0 || index > INT16_MAX)
        return ac_error(r->cx, ac_js_place(&r->js, x), E0013,
                        "node %" PRId64 ", result %" PRId64 ": there are %d nodes before it", id, index, nodes);
    *node = (int32_t)id;
    *out = (int32_t)index;
    return AC_OK;
}

static int check_text(ac_mx *r, const ac_js_node *x, const char *text)
{
    for (const char *p = text; *p; p++)
        if ((uint8_t)*p < 0x20 || *p == 0x7f)
            return bad_json(r, x, "a name holds a control byte");
    return AC_OK;
}

static int read_node(ac_mx *r, const ac_js_node *x, int32_t id)
{
    ac_mx_node *n = &r->node[id];
    const ac_js_node *op = ac_js_get(x, "op"), *name = ac_js_get(x, "name"), *inputs = ac_js_get(x, "inputs");
    if (!op || op->kind != AC_JS_STRING || !name || name->kind != AC_JS_STRING ||
        (inputs && inputs->kind != AC_JS_ARRAY))
        return bad_json(r, x, "a node needs 'op' and 'name' as text and 'inputs' as a list");
    AC_TRY(check_text(r, name, name->text));
    AC_TRY(check_text(r, op, op->text));
    *n = (ac_mx_node){.r = r, .json = x, .name = name->text, .type = op->text, .id = id};
    n->variable = !strcmp(op->text, "null");
    static const char *const ATTRS[] = {"attrs", "param", "attr"}; /* of 1.0, 0.8, and in between */
    for (size_t i = 0; i < 3 && !n->given; i++)
        n->given = ac_js_get(x, ATTRS[i]);
    if (n->variable && n->given && !n->given->n) /* 0.8: an empty param beside attr */
        n->given = ac_js_get(x, "attr");
    if (n->given && n->given->kind != AC_JS_OBJECT)
        return bad_json(r, n->given, "attributes are not an object");
    for (const ac_js_node *a = n->given ? n->given->first : NULL; a; a = a->next)
        if (a->kind != AC_JS_STRING)
            return bad_json(r, a, "the value of an attribute is not text");
    n->at = ac_js_place(&r->js, x);
    n->at.node = n->name;
    n->at.op = n->type;
    n->b = ac_reading_maker(r->reading, r->g, n->name, n->at);
    n->attrs = (ac_attrs_reader){.source = &ac_mx_attrs, .b = &n->b, .node = n};
    if (inputs && inputs->n > MAX_OPERANDS)
        return bad_json(r, inputs, "a node has more than 1024 operands");
    n->n_in = inputs ? inputs->n : 0;
    n->from = AC_NEW_N(r->cx->region, int32_t, n->n_in + 1);
    n->from_out = AC_NEW_N(r->cx->region, int32_t, n->n_in + 1);
    int32_t k = 0;
    for (const ac_js_node *e = inputs ? inputs->first : NULL; e; e = e->next, k++)
        AC_TRY(read_entry(r, e, id, &n->from[k], &n->from_out[k]));
    if (n->variable && n->n_in)
        return bad_json(r, x, "a variable has operands");
    return AC_OK;
}

static int read_nodes(ac_mx *r)
{
    const ac_js_node *nodes = ac_js_get(r->js.root, "nodes"),
                     *version = ac_js_get(ac_js_get(r->js.root, "attrs"), "mxnet_version");
    int64_t v = 800;
    if (!nodes || nodes->kind != AC_JS_ARRAY)
        return bad_json(r, r->js.root, "a symbol needs a list 'nodes'");
    if (version &&
        (version->kind != AC_JS_ARRAY || version->n != 2 || !ac_js_int(version->last, &v) || v < 0 || v > 1 << 20))
        return bad_json(r, version, "mxnet_version is not [\"int\", number]");
    r->version = (int32_t)v;
    r->node = AC_NEW_N(r->cx->region, ac_mx_node, nodes->n + 1);
    for (const ac_js_node *x = nodes->first; x; x = x->next) {
        AC_TRY(read_node(r, x, r->n_nodes));
        r->n_nodes++;
    }
    return r->n_nodes ? AC_OK : bad_json(r, nodes, "the symbol has no nodes");
}

/* Heads. */

static const char *output_name(ac_mx *r, int32_t node, int32_t out)
{
    const ac_mx_node *n = &r->node[node];
    if (n->variable)
        return n->name;
    return n->n_out > 1 ? ac_internf(r->cx, "%s_output%d", n->name, out) : ac_internf(r->cx, "%s_output", n->name);
}

/* Before the number of results of the node is known. */
static const char *head_name(ac_mx *r, const ac_mx_head *h)
{
    const char *node = r->node[h->node].name;
    return h->name  ? h->name
           : h->out ? ac_internf(r->cx, "%s_output%d", node, h->out)
                    : ac_internf(r->cx, "%s_output", node);
}

/* NAME, NAME_output or NAME_outputK of --outputs. */
static bool named_head(ac_mx *r, const char *name, ac_mx_head *h)
{
    for (int32_t i = 0; i < r->n_nodes; i++) {
        const size_t n = strlen(r->node[i].name);
        const char *rest = name + n;
        char *end;
        if (strncmp(name, r->node[i].name, n) != 0)
            continue;
        *h = (ac_mx_head){i, 0, name};
        if (!*rest || !strcmp(rest, "_output"))
            return true;
        if (!strncmp(rest, "_output", 7) && rest[7] >= '0' && rest[7] <= '9') {
            h->out = (int32_t)strtol(rest + 7, &end, 10);
            if (!*end)
                return true;
        }
    }
    return false;
}

static int asked_heads(ac_mx *r, ac_name_list asked)
{
    ac_name_list known = {0};
    int rc = AC_OK;
    for (int32_t i = 0; i < r->n_nodes; i++)
        ac_push(r->cx->region, &known, output_name(r, i, 0));
    for (int32_t i = 0; i < asked.n; i++) {
        ac_mx_head h;
        bool found = named_head(r, asked.item[i], &h);
        if (!found) {
            const char *name = ac_outputs_named(r->reading, "symbol has no node", asked.item[i], known);
            found = name && named_head(r, name, &h);
        }
        if (found)
            ac_push(r->cx->region, &r->head, h);
        else
            rc = AC_FAIL;
    }
    return rc;
}

static int read_heads(ac_mx *r)
{
    ac_name_list asked;
    AC_TRY(ac_outputs_asked(r->reading, &asked));
    if (asked.n)
        return asked_heads(r, asked);
    const ac_js_node *list = ac_js_get(r->js.root, "heads");
    if (!list || list->kind != AC_JS_ARRAY || !list->n)
        return bad_json(r, list ? list : r->js.root, "a symbol needs a list 'heads'");
    for (const ac_js_node *x = list->first; x; x = x->next) {
        ac_mx_head h = {0, 0, NULL};
        AC_TRY(read_entry(r, x, r->n_nodes, &h.node, &h.out));
        ac_push(r->cx->region, &r->head, h);
    }
    return AC_OK;
}

/* Variables. */

static bool sounds_like_param(const ac_mx_node *n)
{
    static const char *const TAIL[] = {"_weight",     "_bias",         "_gamma",       "_beta",      "_moving_mean",
                                       "_moving_var", "_running_mean", "_running_var", "_parameters"};
    for (size_t i = 0; i < sizeof TAIL / sizeof *TAIL; i++)
        if (ac_ends_in(n->name, TAIL[i]))
            return true;
    return ac_js_get(n->given, "__init__") != NULL;
}

/* Marks the nodes that the heads need, and the kind of each variable. */
static void classify(ac_mx *r)
{
    bool *value = AC_NEW_N(r->cx->region, bool, r->n_nodes + 1); /* read as more than a label or parameter */
    for (int32_t i = 0; i < r->head.n; i++)
        r->node[r->head.item[i].node].wanted = value[r->head.item[i].node] = true;
    for (int32_t i = r->n_nodes; i-- > 0;) {
        ac_mx_node *n = &r->node[i];
        n->row = n->variable ? NULL : ac_mx_custom(n);
        if (!n->variable && !n->row)
            n->row = ac_operator_find(&ac_mx_operators, "", n->type, 0);
        for (int32_t k = 0; n->wanted && k < n->n_in; k++) {
            ac_mx_node *from = &r->node[n->from[k]];
            if (n->row && ac_mx_is_label(n->row, k))
                continue;
            from->wanted = true;
            if (from->variable && n->row && ac_mx_is_param(n->row, k))
                from->param_slot = true;
            else
                value[n->from[k]] = true;
        }
    }
    for (int32_t i = 0; i < r->n_nodes; i++) {
        ac_mx_node *n = &r->node[i];
        if (!n->variable || !n->wanted)
            continue;
        const bool known = r->has_params && ac_mx_params_find(r, n->name);
        n->input = !known && !n->param_slot && value[i] && (r->has_params || !sounds_like_param(n));
    }
}

/* A file without names: arrays in the order of the parameters, if there are as many. */
static int name_arrays(ac_mx *r)
{
    int32_t k = 0;
    if (!r->array.n || r->array.item[0].name)
        return AC_OK;
    for (int32_t pass = 0; pass < 2; pass++) /* arguments, then auxiliary states */
        for (int32_t i = 0; i < r->n_nodes; i++) {
            const ac_mx_node *n = &r->node[i];
            const bool aux = ac_ends_in(n->name, "_moving_mean") || ac_ends_in(n->name, "_moving_var") ||
                             ac_ends_in(n->name, "_running_mean") || ac_ends_in(n->name, "_running_var");
            if (!n->variable || !n->wanted || aux != (pass == 1) || !(n->param_slot || sounds_like_param(n)))
                continue;
            if (k < r->array.n)
                r->array.item[k].name = n->name;
            k++;
        }
    if (k != r->array.n)
        return ac_error(r->cx, (ac_place){.file = r->reading->opt.second->path}, E0012,
                        "the arrays have no names, and there are %d for %d parameters", r->array.n, k);
    for (int32_t i = 1; i < r->array.n; i++) { /* by name, as they are looked up */
        const ac_mx_array a = r->array.item[i];
        int32_t at = i;
        for (; at && strcmp(r->array.item[at - 1].name, a.name) > 0; at--)
            r->array.item[at] = r->array.item[at - 1];
        r->array.item[at] = a;
    }
    return AC_OK;
}

static int add_inputs(ac_mx *r)
{
    for (int32_t i = 0; i < r->n_nodes; i++) {
        ac_mx_node *n = &r->node[i];
        const ac_js_node *shape = ac_js_get(n->given, "__shape__");
        const char *dim_name[AC_MAX_RANK] = {NULL};
        int64_t dim[AC_MAX_RANK], flag = 0;
        int32_t rank = 0;
        if (!n->input)
            continue;
        const ac_js_node *type = ac_js_get(n->given, "__dtype__");
        if (type && (type->text[0] < '0' || type->text[0] > '9' || type->text[1]))
            type = NULL;
        flag = type ? type->text[0] - '0' : 0;
        if (shape && !ac_mx_tuple(shape->text, AC_MAX_RANK, 0, dim, &rank))
            return bad_json(r, shape, "__shape__ is not a tuple of at most 8 integers");
        for (int32_t d = 0; d < rank; d++) {
            if (dim[d] < -1 || dim[d] > INT32_MAX)
                return ac_error(r->cx, ac_js_place(&r->js, shape), E0201, "dimension %d of '%s' is %" PRId64, d,
                                n->name, dim[d]);
            if (dim[d] > 0)
                continue;
            dim[d] = -1;
            dim_name[d] = ac_internf(r->cx, "%s.%d", n->name, d);
        }
        (void)ac_reading_input(r->reading, n->name, ac_mx_flag(flag), rank ? rank : -1, dim, dim_name);
    }
    return AC_OK;
}

/* The graph. */

static int refuse_operator(ac_mx_node *n)
{
    return ac_reading_refuse(n->r->reading, n->at, "", n->type, n->type);
}

static int build_node(ac_mx *r, ac_mx_node *n)
{
    n->in = AC_NEW_N(r->cx->region, ac_tensor *, n->n_in + 1);
    for (int32_t k = 0; k < n->n_in; k++) {
        const ac_mx_node *from = &r->node[n->from[k]];
        if (n->row && ac_mx_is_label(n->row, k))
            continue;
        if (from->variable && n->row && ac_mx_is_param(n->row, k) && !from->broken) {
            n->in[k] = from->out[0]; /* may be unknown until the node's shape is known */
            continue;
        }
        n->broken |= from->broken;
        if (n->broken)
            continue;
        n->in[k] = n->from_out[k] < from->n_out ? from->out[n->from_out[k]] : NULL;
        if (n->in[k])
            continue;
        n->broken = true;
        if (from->variable)
            return r->has_params
                       ? ac_error(r->cx, n->at, E0019, "the weights have no array '%s', which this node reads",
                                  from->name)
                       : ac_error(r->cx, n->at, E0104, "nothing determines the shape of parameter '%s'", from->name);
        return ac_cannot(&n->b, "it reads result %d of '%s' (%s)", n->from_out[k], from->name, from->type);
    }
    n->n_out = 1;
    if (!n->row)
        return refuse_operator(n);
    return n->broken ? AC_OK : ac_mx_node_add(n);
}

static int build(ac_mx *r)
{
    int32_t input = 0;
    int rc = AC_OK;
    for (int32_t i = 0; i < r->n_nodes; i++) {
        ac_mx_node *n = &r->node[i];
        if (!n->wanted)
            continue;
        n->out = AC_NEW_N(r->cx->region, ac_tensor *, 2);
        n->n_out = 1;
        if (n->variable) {
            n->out[0] = n->input ? r->reading->input.item[input++] : ac_mx_variable(n);
            continue;
        }
        const ac_said before = ac_said_now(&n->b);
        if (build_node(r, n) != AC_OK) {
            n->broken = true;
            rc = AC_FAIL;
        }
        const ac_said now = ac_said_now(&n->b);
        n->broken |= now.diags.errors != before.diags.errors || now.refused != before.refused;
    }
    return rc;
}

static void settle_names(ac_mx *r)
{
    for (int32_t i = 0; i < r->n_nodes; i++) {
        ac_mx_node *n = &r->node[i];
        for (int32_t k = 0; n->wanted && !n->variable && k < n->n_out; k++) {
            ac_tensor *t = n->out[k];
            const char *name = output_name(r, i, k);
            if (!t || t->input || t->named || ac_tensor_is_const(t) || ac_tensor_find(r->g, name))
                continue;
            t->name = name;
            t->named = true;
        }
    }
    ac_graph_renumber(r->g);
}

static const char *list_nodes(ac_mx *r)
{
    ac_sink *s = AC_NEW(r->cx->region, ac_sink);
    ac_sink_open(s, r->cx);
    ac_putf(s, "MXNet %d.%d.%d\n", r->version / 10000, r->version / 100 % 100, r->version % 100);
    for (int32_t i = 0; i < r->n_nodes; i++) {
        const ac_mx_node *n = &r->node[i];
        if (!n->wanted || n->param_slot)
            continue;
        ac_putf(s, "%4d  %-28s %-18s", i, n->name, n->variable ? (n->input ? "input" : "parameter") : n->type);
        for (int32_t k = 0; k < n->n_in; k++)
            ac_putf(s, " %s", r->node[n->from[k]].name);
        ac_put(s, n->given && !n->variable && n->given->n ? "  |" : "");
        for (const ac_js_node *a = n->given && !n->variable ? n->given->first : NULL; a; a = a->next)
            ac_putf(s, " %s=%s", a->key, a->text);
        ac_putc(s, '\n');
    }
    return ac_sink_text(s);
}

static int read(ac_reading *reading)
{
    ac_mx *r = reading->own = AC_NEW(reading->cx->region, ac_mx);
    *r = (ac_mx){.reading = reading, .cx = reading->cx};
    AC_TRY(ac_js_parse(&r->js, r->cx, reading->file.path, (ac_span){reading->file.data, reading->file.n}));
    if (reading->opt.second)
        AC_TRY(ac_mx_params_open(r, reading->opt.second));
    r->g = ac_reading_graph(reading, "symbol", "MXNet");
    reading->out.channels_first = true;
    AC_TRY(read_nodes(r));
    AC_TRY(read_heads(r));
    for (int32_t i = 0; i < r->head.n; i++)
        ac_reading_promise(reading, head_name(r, &r->head.item[i]), AC_NONE, -1, NULL, NULL);
    classify(r);
    AC_TRY(name_arrays(r));
    classify(r);
    reading->out.file_ops = 0;
    for (int32_t i = 0; i < r->n_nodes; i++)
        reading->out.file_ops += r->node[i].wanted && !r->node[i].variable;
    reading->out.listing = list_nodes(r);
    AC_TRY(add_inputs(r));
    for (int32_t i = 0; i < r->n_nodes; i++) /* reported now, since it does not depend on sizes */
        if (r->node[i].wanted && !r->node[i].variable && !r->node[i].row)
            (void)refuse_operator(&r->node[i]);
    return reading->refused.n ? AC_FAIL : AC_OK;
}

static int nodes(ac_reading *reading)
{
    ac_mx *r = reading->own;
    AC_TRY(build(r));
    if (reading->refused.n)
        return AC_FAIL;
    settle_names(r);
    for (int32_t i = 0; i < r->head.n; i++) {
        const ac_mx_head *x = &r->head.item[i];
        ac_mx_node *n = &r->node[x->node];
        if (n->broken || x->out >= n->n_out || !n->out[x->out])
            return ac_error(r->cx, n->at, E0013, "result %d of this node is an output, but it has none", x->out);
        ac_outputs_add(r->g, n->out[x->out], output_name(r, x->node, x->out));
    }
    return AC_OK;
}

static bool looks(ac_span s)
{
    return ac_peek_text(s) && ac_peek_starts(ac_peek_word(s), "{") && ac_peek_contains(s, "\"nodes\"") &&
           (ac_peek_contains(s, "\"op\"") || ac_peek_contains(s, "\"arg_nodes\""));
}

const ac_format ac_mxnet_format = {.title = "MXNet symbol JSON",
                                   .weights = "a .params file",
                                   .looks = looks,
                                   .read = read,
                                   .nodes = nodes,
                                   .open_batch = true,
                                   .keep_nan = AC_NAN_EXTREMES,
                                   .finds_outputs = true,
                                   .operators = &ac_mx_operators};
