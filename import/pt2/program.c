/* program.c - graphs of a program in JSON: their nodes in order. */
#include "import/pt2/nodes.h"

#include "import/build/counted.h"

#include <string.h>

enum { MOST_LEVELS = 16 };

/* "conv1" of the last of "L__self__,,Net;L__self__conv1,conv1,torch.nn.Conv2d". */
static const char *module_of(ac_ep *r, const ac_js_node *json)
{
    const ac_js_node *stack = ac_js_get(ac_js_get(json, "metadata"), "nn_module_stack");
    const char *last = stack && stack->kind == AC_JS_STRING ? strrchr(stack->text, ';') : NULL;
    const char *from = last ? strchr(last, ',') : NULL, *to = from ? strchr(from + 1, ',') : NULL;
    if (!to || to == from + 1)
        return NULL;
    for (const char *p = from; p < to; p++)
        if ((uint8_t)*p < 0x20 || *p == 0x7f)
            return NULL;
    return ac_strf(r->cx->region, "%.*s", (int)(to - from - 1), from + 1);
}

static const char *without_prefix(const char *target)
{
    return !strncmp(target, "torch.ops.", 10) ? target + 10 : target;
}

int ac_ep_node_open(ac_ep *r, ac_ep_scope *s, const ac_js_node *json, int32_t i, ac_ep_node *n)
{
    const ac_js_node *target = ac_js_get(json, "target"), *inputs = ac_js_get(json, "inputs"),
                     *name = ac_js_get(json, "name");
    const char *type = ac_ep_text(r, target, "the target of a node");
    if (!type)
        return AC_FAIL;
    *n = (ac_ep_node){.r = r, .scope = s, .type = ac_intern(r->cx, without_prefix(type)), .args = inputs};
    if (inputs && inputs->kind != AC_JS_ARRAY)
        return ac_ep_bad(r, inputs, "the inputs of a node are not a list");
    n->name = name && name->kind == AC_JS_STRING ? ac_ep_text(r, name, "the name of a node") : n->type;
    if (!n->name)
        return AC_FAIL;
    n->module = module_of(r, json);
    if (n->module)
        n->name = ac_internf(r->cx, "%s/%s", n->module, n->name);
    n->at = (ac_place){.file = r->reading->file.path, .node = n->name, .op = n->type, .op_index = 1 + i};
    n->row = ac_ep_custom(r, n->type);
    if (!n->row)
        n->row = ac_ep_row(r, n->type, &n->in_place);
    return AC_OK;
}

static int add_out(ac_ep_node *n, const ac_js_node *name, ac_ep_kind kind)
{
    const char *text = ac_ep_text(n->r, name, "the name of a result");
    ac_ep_value *v = text ? ac_ep_value_add(n->r, n->scope, text, n->at) : NULL;
    if (!v)
        return AC_FAIL;
    v->kind = kind;
    n->out[n->n_out++] = v;
    return AC_OK;
}

/* One result, or a list of them; others than tensors and numbers have no name. */
static int read_out(ac_ep_node *n, const ac_js_node *x)
{
    const ac_js_node *v = ac_ep_tagged(x);
    if (ac_ep_is(v, "as_tensor"))
        return add_out(n, ac_js_get(v, "name"), AC_EP_TENSOR);
    if (ac_ep_is(v, "as_sym_int") || ac_ep_is(v, "as_sym_float") || ac_ep_is(v, "as_sym_bool"))
        return add_out(n, ac_js_get(v, "as_name"), AC_EP_NUMBER);
    if (ac_ep_is(v, "as_tensors") && v->kind == AC_JS_ARRAY) {
        for (const ac_js_node *e = v->first; e; e = e->next)
            AC_TRY(add_out(n, ac_js_get(e, "name"), AC_EP_TENSOR));
        return AC_OK;
    }
    n->out[n->n_out++] = NULL;
    return v ? AC_OK : ac_ep_bad(n->r, x, "a result is not a tagged value");
}

static int32_t count_outs(const ac_js_node *outputs)
{
    int32_t count = 0;
    for (const ac_js_node *x = outputs ? outputs->first : NULL; x; x = x->next) {
        const ac_js_node *v = ac_ep_tagged(x);
        count += ac_ep_is(v, "as_tensors") ? v->n : 1;
    }
    return count;
}

static int run_node(ac_ep *r, ac_ep_scope *s, const ac_js_node *json, int32_t i)
{
    ac_ep_node *n = AC_NEW(r->cx->region, ac_ep_node);
    const ac_js_node *outputs = ac_js_get(json, "outputs");
    AC_TRY(ac_ep_node_open(r, s, json, i, n));
    if (outputs && outputs->kind != AC_JS_ARRAY)
        return ac_ep_bad(r, outputs, "the outputs of a node are not a list");
    n->out = AC_NEW_N(r->cx->region, ac_ep_value *, count_outs(outputs) + 1);
    n->b = ac_reading_maker(r->reading, r->g, n->name, n->at);
    n->attrs = (ac_attrs_reader){.source = &ac_ep_attrs, .b = &n->b, .node = n};
    n->first = r->g->tensor.n;
    for (const ac_js_node *x = outputs ? outputs->first : NULL; x; x = x->next)
        AC_TRY(read_out(n, x));
    if (!n->row)
        return ac_reading_refuse(r->reading, n->at, "", n->type, n->type);
    const ac_said before = ac_said_now(&n->b);
    const int rc = ac_ep_node_add(n);
    const ac_said now = ac_said_now(&n->b);
    for (int32_t k = 0; k < n->n_out; k++)
        if (n->out[k])
            n->out[k]->broken |=
                rc != AC_OK || now.diags.errors != before.diags.errors || now.refused != before.refused;
    return rc;
}

int ac_ep_run(ac_ep *r, ac_ep_scope *s)
{
    const ac_js_node *nodes = ac_js_get(s->graph, "nodes");
    int32_t i = 0;
    int rc = AC_OK;
    for (const ac_js_node *x = nodes->first; x; x = x->next, i++)
        if ((s != r->main || r->wanted[i]) && run_node(r, s, x, i) != AC_OK)
            rc = AC_FAIL;
    return rc;
}

ac_ep_scope *ac_ep_scope_open(ac_ep *r, const ac_js_node *graph, int32_t level)
{
    ac_ep_scope *s = AC_NEW(r->cx->region, ac_ep_scope);
    const ac_js_node *nodes = ac_js_get(graph, "nodes"), *inputs = ac_js_get(graph, "inputs"),
                     *outputs = ac_js_get(graph, "outputs");
    *s = (ac_ep_scope){.graph = graph, .level = level};
    if (!nodes || nodes->kind != AC_JS_ARRAY || !inputs || inputs->kind != AC_JS_ARRAY || !outputs ||
        outputs->kind != AC_JS_ARRAY)
        return (void)ac_ep_bad(r, graph, "a graph needs the lists 'nodes', 'inputs' and 'outputs'"), NULL;
    if (level > MOST_LEVELS)
        return (void)ac_error(r->cx, ac_js_place(&r->js, graph), E0014, "graphs are nested more than %d deep",
                              MOST_LEVELS),
               NULL;
    return ac_ep_dict_open(r, graph, "tensor_values", &s->meta) == AC_OK ? s : NULL;
}

/* ------------------------------------------------------------------ calls */

int32_t ac_ep_results_of(ac_ep *r, const ac_js_node *graph)
{
    const ac_js_node *outputs = ac_js_get(graph, "outputs");
    if (outputs && outputs->kind == AC_JS_ARRAY)
        return outputs->n;
    (void)ac_ep_bad(r, graph, "a graph has no outputs");
    return -1;
}

static int bind(ac_ep_node *n, ac_ep_scope *s, ac_tensor *const *in, int32_t n_in)
{
    const ac_js_node *inputs = ac_js_get(s->graph, "inputs");
    int32_t i = 0;
    if (inputs->n != n_in)
        return ac_error(n->r->cx, n->at, E0102, "a graph with %d inputs is called with %d operands", inputs->n, n_in);
    for (const ac_js_node *x = inputs->first; x; x = x->next, i++) {
        const ac_js_node *v = ac_ep_tagged(x);
        const bool tensor = ac_ep_is(v, "as_tensor");
        const char *name = ac_ep_text(n->r, ac_js_get(v, tensor ? "name" : "as_name"), "the name of an input");
        ac_ep_value *to = name ? ac_ep_value_add(n->r, s, name, n->at) : NULL;
        if (!to)
            return AC_FAIL;
        if (tensor)
            ac_ep_value_tensor(n->r, to, in[i]);
        else
            AC_TRY(ac_ep_value_number(n, to, in[i]));
    }
    return AC_OK;
}

int ac_ep_call(ac_ep_node *n, const ac_js_node *graph, ac_tensor *const *in, int32_t n_in, ac_tensor **out,
               int32_t n_out)
{
    ac_ep *r = n->r;
    ac_ep_scope *s = ac_ep_scope_open(r, graph, n->scope->level + 1);
    int32_t i = 0;
    if (!s)
        return AC_FAIL;
    AC_TRY(ac_flow_spend_call(r->cx, &r->reading->copies, n->at, r->g, 64));
    AC_TRY(bind(n, s, in, n_in));
    AC_TRY(ac_ep_run(r, s));
    ac_ep_node inner = *n; /* its arguments are the outputs, in this scope */
    inner.scope = s;
    const ac_js_node *outputs = ac_js_get(graph, "outputs");
    if (outputs->n != n_out)
        return ac_error(r->cx, n->at, E0102, "a graph has %d results, expected %d", outputs->n, n_out);
    for (const ac_js_node *x = outputs->first; x; x = x->next, i++) {
        out[i] = ac_ep_operand(&inner, ac_ep_tagged(x));
        if (!out[i])
            return ac_cannot(&n->b, "result %d of its graph is not a tensor", i);
    }
    return AC_OK;
}
