/* graph_nodes.c - reads nodes of ONNX files in the order of execution: their operands and results, calls of functions
 * and of subgraphs. */
#include "import/build/counted.h"
#include "import/build/name_map.h"
#include "import/onnx/custom_nodes.h"
#include "import/onnx/protos.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_LEVEL = 16, WORK_NODE = 16, MAX_OPERANDS = 4096 };

typedef struct node {
    ac_pb_list inputs, outputs, attributes;
    ac_span name, type, domain;
} node;

static const ac_pb_field NODE[] = {AC_ONX_ROW(1, MANY, node, inputs),
                                   AC_ONX_ROW(2, MANY, node, outputs),
                                   AC_ONX_ROW(3, BYTES, node, name),
                                   AC_ONX_ROW(4, BYTES, node, type),
                                   AC_ONX_ROW(5, MANY, node, attributes),
                                   AC_ONX_ROW(7, BYTES, node, domain),
                                   {0, AC_PB_INT, 0}};

static int64_t version_of(const ac_onx_scope *s, const char *domain)
{
    for (int32_t i = 0; i < s->n_opset; i++)
        if (s->opset[i].domain == domain)
            return s->opset[i].version;
    return *domain ? 1 : 0;
}

static int read_operands(ac_onx_node *n, ac_pb_list list, bool *broken)
{
    ac_onx *r = n->r;
    ac_span word;
    int rc = AC_OK;
    n->in = AC_NEW_N(r->cx->region, ac_tensor *, list.n + 1);
    n->n_in = 0;
    while (ac_pb_next(&r->pb, &list, &word)) {
        const char *name = ac_pb_name(&r->pb, word);
        if (!name)
            return AC_FAIL;
        ac_tensor **in = &n->in[n->n_in++];
        if (!*name)
            continue;
        const ac_onx_value *v = ac_onx_value_find(n->scope, name);
        if (!v || !v->made)
            rc = ac_error(r->cx, n->at, E0101, "reads '%s', which no earlier node produces", name);
        else if (v->broken)
            *broken = true;
        else
            *in = v->t;
    }
    return r->pb.failed ? AC_FAIL : rc;
}

static int read_results(ac_onx_node *n, ac_pb_list list)
{
    ac_onx *r = n->r;
    ac_span word;
    int rc = AC_OK;
    n->out = AC_NEW_N(r->cx->region, ac_onx_value *, list.n + 1);
    n->n_out = 0;
    while (ac_pb_next(&r->pb, &list, &word)) {
        const char *name = ac_pb_name(&r->pb, word);
        if (!name)
            return AC_FAIL;
        ac_onx_value *v = *name ? ac_onx_value_get(r, n->scope, name) : NULL;
        n->out[n->n_out++] = v;
        if (v && v->made)
            rc = ac_error(r->cx, n->at, E0101, "produces '%s', which exists already", name);
        if (v) {
            v->made = v->broken = true; /* until the node is understood */
            v->t = NULL;
        }
    }
    while (n->n_out && !n->out[n->n_out - 1])
        n->n_out--;
    return r->pb.failed ? AC_FAIL : rc;
}

static const ac_onx_function *function_of(const ac_onx_node *n)
{
    for (int32_t i = 0; i < n->r->function.n; i++)
        if (n->r->function.item[i].name == n->type && n->r->function.item[i].domain == n->domain)
            return &n->r->function.item[i];
    return NULL;
}

/* Result i of n is what `name` stands for in the inner scope. */
static int bind_out(ac_onx_node *n, ac_onx_scope *inner, int32_t i, const char *name)
{
    const ac_onx_value *v = ac_onx_value_find(inner, name);
    if (i >= n->n_out || !n->out[i])
        return AC_OK;
    if (!v || !v->made)
        return ac_error(n->r->cx, n->at, E0101, "no node produces result '%s' inside %s", name, n->type);
    if (v->broken)
        return AC_FAIL;
    if (v->t)
        return ac_onx_result(n, i, v->t);
    n->out[i]->broken = false; /* an Optional without a value */
    return AC_OK;
}

static int call_function(ac_onx_node *n, const ac_onx_function *f)
{
    ac_onx *r = n->r;
    ac_onx_function_body x = {.name = {0}};
    ac_span word;
    int rc = AC_OK;
    ac_onx_scope s = {.call = n, .level = n->scope->level + 1};
    if (s.level > MAX_LEVEL)
        return ac_error(r->cx, n->at, E0014, "functions call each other more than %d deep: perhaps in a cycle",
                        MAX_LEVEL);
    if (!ac_pb_read(&r->pb, f->body, ac_onx_function_fields, &x) ||
        ac_onx_read_opsets(r, &s, x.opsets, "a function") != AC_OK)
        return AC_FAIL;
    AC_TRY(ac_onx_default_attrs(n, x.defaults));
    for (int32_t i = 0; ac_pb_next(&r->pb, &x.inputs, &word); i++) {
        const char *name = ac_pb_name(&r->pb, word);
        if (!name)
            return AC_FAIL;
        ac_onx_value *v = ac_onx_value_get(r, &s, name);
        v->made = true;
        v->t = i < n->n_in ? n->in[i] : NULL;
    }
    if (ac_onx_read_nodes(r, &s, x.nodes) != AC_OK)
        rc = AC_FAIL;
    for (int32_t i = 0; ac_pb_next(&r->pb, &x.outputs, &word); i++) {
        const char *name = ac_pb_name(&r->pb, word);
        if (!name || bind_out(n, &s, i, name) != AC_OK)
            rc = AC_FAIL;
    }
    return r->pb.failed ? AC_FAIL : rc;
}

/* The inputs of a subgraph stand for `in`. */
static int bind_inputs(ac_onx_node *n, ac_onx_scope *s, ac_pb_list list, ac_tensor *const *in, int32_t n_in)
{
    ac_onx *r = n->r;
    ac_span word;
    if ((int64_t)list.n != n_in)
        return ac_error(r->cx, n->at, E0102, "its graph takes %u values, but gets %d", list.n, n_in);
    for (int32_t i = 0; ac_pb_next(&r->pb, &list, &word); i++) {
        ac_onx_pair p = {.version = 0};
        const char *name = ac_pb_read(&r->pb, word, ac_onx_value_fields, &p) ? ac_pb_name(&r->pb, p.name) : NULL;
        ac_onx_value *v = name ? ac_onx_value_get(r, s, name) : NULL;
        if (!v)
            return AC_FAIL;
        if (v->made)
            return ac_error(r->cx, n->at, E0022, "two inputs or constants of its graph are named '%s'", name);
        v->made = true;
        v->t = in[i];
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* The values of the outputs of a subgraph. */
static int take_outputs(ac_onx_node *n, ac_onx_scope *s, ac_pb_list list, ac_tensor **out, int32_t n_out)
{
    ac_onx *r = n->r;
    ac_span word;
    if ((int64_t)list.n < n_out) /* more: unused results */
        return ac_error(r->cx, n->at, E0102, "its graph returns %u values, expected %d", list.n, n_out);
    for (int32_t i = 0; i < n_out && ac_pb_next(&r->pb, &list, &word); i++) {
        ac_onx_pair p = {.version = 0};
        const char *name = ac_pb_read(&r->pb, word, ac_onx_value_fields, &p) ? ac_pb_name(&r->pb, p.name) : NULL;
        const ac_onx_value *v = name ? ac_onx_value_find(s, name) : NULL;
        if (!name)
            return AC_FAIL;
        if (!v || !v->made)
            return ac_error(r->cx, n->at, E0101, "no node produces result '%s' inside %s", name, n->type);
        if (v->broken || !v->t)
            return AC_FAIL;
        out[i] = v->t;
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

int ac_onx_call_graph(ac_onx_node *n, ac_span message, ac_tensor *const *in, int32_t n_in, ac_tensor **out,
                      int32_t n_out)
{
    ac_onx *r = n->r;
    ac_onx_body b = {.name = {0}};
    const int64_t work = r->pb.work;
    ac_onx_scope s = *n->scope;
    s = (ac_onx_scope){.outer = n->scope, .call = s.call, .opset = s.opset, .n_opset = s.n_opset, .level = s.level + 1};
    if (s.level > MAX_LEVEL)
        return ac_error(r->cx, n->at, E0014, "graphs are nested more than %d deep", MAX_LEVEL);
    AC_TRY(ac_flow_spend_call(r->cx, &r->reading->copies, n->at, r->g, (int64_t)message.n));
    if (!ac_pb_enter(&r->pb, message.p))
        return AC_FAIL;
    int rc = ac_pb_read(&r->pb, message, ac_onx_body_fields, &b) ? AC_OK : AC_FAIL;
    if (rc == AC_OK)
        rc = ac_onx_read_constants(r, &s, &b);
    if (rc == AC_OK)
        rc = bind_inputs(n, &s, b.inputs, in, n_in);
    if (rc == AC_OK)
        rc = ac_onx_read_nodes(r, &s, b.nodes);
    if (rc == AC_OK)
        rc = take_outputs(n, &s, b.outputs, out, n_out);
    ac_pb_leave(&r->pb);
    if (!r->pb.failed)
        r->pb.work = work - 1; /* a loop reads its body again and again; the budget above bounds it */
    return r->pb.failed ? AC_FAIL : rc;
}

/* Node `number` of the file's. */
static int read_node(ac_onx *r, ac_onx_scope *s, const node *of, int32_t number)
{
    const node x = *of;
    bool broken = false;
    ac_onx_node *n = AC_NEW(r->cx->region, ac_onx_node); /* functions keep it as their caller */
    n->r = r;
    n->scope = s;
    n->type = ac_pb_name(&r->pb, x.type);
    n->domain = ac_onx_domain_name(r, x.domain);
    n->name = ac_pb_name(&r->pb, x.name);
    if (!n->type || !n->domain || !n->name)
        return AC_FAIL;
    n->at = s->call ? s->call->at : (ac_place){.file = r->reading->file.path, .op_index = number};
    n->at.node = *n->name ? n->name : NULL;
    n->at.op = n->type;
    if (!*n->type)
        return ac_error(r->cx, n->at, E0012, "a node has no operator type");
    if (x.inputs.n > MAX_OPERANDS || x.outputs.n > MAX_OPERANDS)
        return ac_error(r->cx, n->at, E0102, "has %u operands and %u results", x.inputs.n, x.outputs.n);
    int rc = read_operands(n, x.inputs, &broken);
    if (!r->pb.failed && read_results(n, x.outputs) != AC_OK)
        rc = AC_FAIL;
    if (!n->at.node && n->n_out && n->out[0])
        n->at.node = n->out[0]->name;
    if (!*n->name)
        n->name = n->at.node ? n->at.node : n->type;
    n->b = ac_reading_maker(r->reading, r->g, n->name, n->at);
    n->attrs = (ac_attrs_reader){.source = &ac_onx_attributes, .b = &n->b, .node = n};
    if (r->pb.failed || ac_onx_attrs(n, x.attributes) != AC_OK)
        return AC_FAIL;
    n->row = ac_onx_custom(n);
    const ac_onx_function *f = n->row ? NULL : function_of(n);
    n->version = version_of(s, n->domain);
    if (!n->version)
        return ac_error(r->cx, n->at, E0012, "the file does not declare its version of the ONNX operators");
    if (!f && !n->row)
        n->row = ac_operator_find(&ac_onx_operators, n->domain, n->type, n->version);
    if (!f && !n->row)
        return ac_onx_refuse_op(n);
    if (rc != AC_OK || broken)
        return AC_FAIL;
    return f ? call_function(n, f) : ac_onx_node_add(n);
}

/* ------------------------------------------------------------------ order */

/* A node that reads what a node after it makes. */
typedef struct waiting {
    node x;
    int32_t number;         /* in the file */
    int32_t missing, first; /* operands that are not made; its readers: a list through `edge`, from 1 on */
} waiting;

typedef struct edge {
    int32_t to, next;
} edge;

typedef struct queue {
    AC_VEC(waiting) item;
    AC_VEC(edge) edge;
} queue;

/* Is an operand made by no node so far? */
static bool reads_unmade(ac_onx *r, ac_onx_scope *s, const node *x)
{
    ac_pb_list list = x->inputs;
    ac_span word;
    bool any = false;
    while (!any && ac_pb_next(&r->pb, &list, &word)) {
        const char *name = ac_pb_name(&r->pb, word);
        const ac_onx_value *v = name && *name ? ac_onx_value_find(s, name) : NULL;
        any = name && *name && !(v && v->made);
    }
    return any;
}

/* Who waits for whom. */
static int link_waiting(ac_onx *r, ac_onx_scope *s, queue *q)
{
    ac_name_map maker = {0};
    ac_span word;
    for (int32_t i = 0; i < q->item.n; i++) {
        ac_pb_list list = q->item.item[i].x.outputs;
        while (ac_pb_next(&r->pb, &list, &word)) {
            const char *name = ac_pb_name(&r->pb, word);
            if (name && *name)
                *ac_name_put(r->cx->region, &maker, name) = i;
        }
    }
    for (int32_t i = 0; i < q->item.n; i++) {
        ac_pb_list list = q->item.item[i].x.inputs;
        while (ac_pb_next(&r->pb, &list, &word)) {
            const char *name = ac_pb_name(&r->pb, word);
            const ac_onx_value *v = name && *name ? ac_onx_value_find(s, name) : NULL;
            const int32_t j = name && *name && !(v && v->made) ? ac_name_get(&maker, name) : -1;
            if (j < 0)
                continue;
            q->item.item[i].missing++;
            ac_push(r->cx->region, &q->edge, ((edge){i, q->item.item[j].first}));
            q->item.item[j].first = q->edge.n;
        }
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* Reads the remaining nodes, each after those whose results it reads. Nodes of a cycle report their missing operand. */
static int read_waiting(ac_onx *r, ac_onx_scope *s, queue *q)
{
    int32_t *order = AC_NEW_N(r->cx->region, int32_t, q->item.n + 1), n = 0, early = 0;
    int rc = AC_OK;
    AC_TRY(link_waiting(r, s, q));
    for (int32_t i = 0; i < q->item.n; i++) {
        early += q->item.item[i].missing > 0;
        if (!q->item.item[i].missing)
            order[n++] = i;
    }
    for (int32_t k = 0; k < n; k++)
        for (int32_t e = q->item.item[order[k]].first; e; e = q->edge.item[e - 1].next)
            if (!--q->item.item[q->edge.item[e - 1].to].missing)
                order[n++] = q->edge.item[e - 1].to;
    if (n == q->item.n && early)
        ac_warn(r->cx, (ac_place){.file = r->reading->file.path}, W0001,
                "its nodes are not in execution order: %d read the result of a later one", early);
    for (int32_t i = 0; n < q->item.n; i++)
        if (q->item.item[i].missing > 0)
            order[n++] = i;
    for (int32_t k = 0; k < n && !r->pb.failed; k++)
        if (read_node(r, s, &q->item.item[order[k]].x, q->item.item[order[k]].number) != AC_OK)
            rc = AC_FAIL;
    return rc;
}

int ac_onx_read_nodes(ac_onx *r, ac_onx_scope *s, ac_pb_list list)
{
    ac_span message;
    int rc = AC_OK;
    queue late = {.edge = {0}};
    while (ac_pb_next(&r->pb, &list, &message)) {
        node x = {.name = {0}};
        if (!ac_pb_read(&r->pb, message, NODE, &x) || !ac_pb_spend(&r->pb, WORK_NODE))
            return AC_FAIL;
        r->nodes += !s->call;
        if (!r->reading->opt.strict && reads_unmade(r, s, &x))
            ac_push(r->cx->region, &late.item, ((waiting){.x = x, .number = r->nodes}));
        else if (read_node(r, s, &x, r->nodes) != AC_OK)
            rc = AC_FAIL;
    }
    if (late.item.n && !r->pb.failed && read_waiting(r, s, &late) != AC_OK)
        rc = AC_FAIL;
    return r->pb.failed ? AC_FAIL : rc;
}
