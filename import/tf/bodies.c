/* bodies.c - bodies: the nodes of a GraphDef or of a function, found by name, and what their inputs refer to. */
#include "import/tf/nodedefs.h"
#include "import/tf/variables.h"

#include <string.h>

enum { MAX_OPERANDS = 4096 };

typedef struct raw_node {
    ac_span name, op;
    ac_pb_list inputs, attributes;
} raw_node;

typedef struct raw_function {
    ac_span signature;
    ac_pb_list nodes, rets, effects;
} raw_function;

typedef struct raw_signature {
    ac_span name;
    ac_pb_list args, rets;
} raw_signature;

typedef struct raw_arg {
    ac_span name, number, types;
} raw_arg;

typedef struct entry {
    ac_span key, value;
} entry;

typedef struct library {
    ac_pb_list functions;
} library;

#define ROW(number, kind, type, field)              \
    {                                               \
        number, AC_PB_##kind, offsetof(type, field) \
    }
static const ac_pb_field NODE[] = {ROW(1, BYTES, raw_node, name),
                                   ROW(2, BYTES, raw_node, op),
                                   ROW(3, MANY, raw_node, inputs),
                                   ROW(5, MANY, raw_node, attributes),
                                   {0, AC_PB_INT, 0}};
static const ac_pb_field FUNCTION[] = {ROW(1, BYTES, raw_function, signature),
                                       ROW(3, MANY, raw_function, nodes),
                                       ROW(4, MANY, raw_function, rets),
                                       ROW(6, MANY, raw_function, effects),
                                       {0, AC_PB_INT, 0}};
static const ac_pb_field SIGNATURE[] = {ROW(1, BYTES, raw_signature, name),
                                        ROW(2, MANY, raw_signature, args),
                                        ROW(3, MANY, raw_signature, rets),
                                        {0, AC_PB_INT, 0}};
static const ac_pb_field ARG[] = {
    ROW(1, BYTES, raw_arg, name), ROW(5, BYTES, raw_arg, number), ROW(6, BYTES, raw_arg, types), {0, AC_PB_INT, 0}};
static const ac_pb_field ENTRY[] = {ROW(1, BYTES, entry, key), ROW(2, BYTES, entry, value), {0, AC_PB_INT, 0}};
static const ac_pb_field LIBRARY[] = {ROW(1, MANY, library, functions), {0, AC_PB_INT, 0}};
#undef ROW

/* ------------------------------------------------------------------ nodes */

static int add_node(ac_tf *r, ac_tf_body *body, ac_tf_node n)
{
    int32_t *at = ac_name_put(r->cx->region, &body->names, n.name);
    if (*at >= 0)
        return ac_error(r->cx, n.at, E0022, "two nodes are named '%s'", n.name);
    *at = body->node.n;
    ac_push(r->cx->region, &body->node, n);
    return AC_OK;
}

int ac_tf_body_read(ac_tf *r, ac_tf_body *body, ac_pb_list nodes)
{
    ac_span message;
    while (ac_pb_next(&r->pb, &nodes, &message)) {
        raw_node x = {.name = {0}};
        if (!ac_pb_read(&r->pb, message, NODE, &x))
            return AC_FAIL;
        ac_tf_node n = {.name = ac_pb_name(&r->pb, x.name), .op = ac_pb_name(&r->pb, x.op), .inputs = x.inputs};
        if (!n.name || !n.op)
            return AC_FAIL;
        if (!strncmp(n.op, "Ref", 3) && ac_tf_operator(r->cx, n.op + 3)) /* of a variable: the same */
            n.op = ac_intern(r->cx, n.op + 3);
        n.attributes = x.attributes;
        n.n_attr = -1;
        n.at = ac_pb_place(&r->pb, message.p);
        n.at.op_index = body->name || n.at.line ? 0 : body->node.n + 1;
        n.at.node = *n.name ? n.name : NULL;
        n.at.op = n.op;
        if (!*n.name || !*n.op)
            return ac_error(r->cx, n.at, E0012, "a node has no %s", *n.name ? "operator" : "name");
        if (x.inputs.n > MAX_OPERANDS)
            return ac_error(r->cx, n.at, E0102, "has %u inputs", x.inputs.n);
        n.row = ac_tf_operator(r->cx, n.op);
        AC_TRY(add_node(r, body, n));
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

int ac_tf_link(ac_tf *r, ac_tf_body *body, ac_tf_node *n)
{
    ac_pb_list inputs = n->inputs;
    ac_span word;
    if (n->linked || !ac_pb_spend(&r->pb, inputs.n))
        return n->linked ? AC_OK : AC_FAIL;
    n->linked = true;
    n->in = AC_NEW_N(r->cx->region, ac_tf_ref, inputs.n + 1);
    if (!n->row)
        n->function = ac_tf_function(r, n->op);
    while (ac_pb_next(&r->pb, &inputs, &word)) {
        const char *name = ac_pb_name(&r->pb, word);
        ac_tf_ref ref;
        if (!name)
            return AC_FAIL;
        if (ac_tf_ref_of(r, body, name, n->at, &ref) != AC_OK)
            return AC_FAIL;
        if (ref.out != AC_TF_CONTROL && n->n_control)
            return ac_error(r->cx, n->at, E0012, "input '%s' follows a control input", name);
        n->in[n->n_in + n->n_control] = ref;
        *(ref.out == AC_TF_CONTROL ? &n->n_control : &n->n_in) += 1;
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* ------------------------------------------------------------------ functions */

int ac_tf_functions(ac_tf *r, ac_span message)
{
    library l = {.functions = {.n = 0}};
    ac_span one;
    if (!message.p)
        return AC_OK;
    if (!ac_pb_read(&r->pb, message, LIBRARY, &l))
        return AC_FAIL;
    while (ac_pb_next(&r->pb, &l.functions, &one)) {
        raw_function f = {.signature = {0}};
        raw_signature s = {.name = {0}};
        if (!ac_pb_read(&r->pb, one, FUNCTION, &f) || !ac_pb_read(&r->pb, f.signature, SIGNATURE, &s))
            return AC_FAIL;
        ac_tf_body *body = AC_NEW(r->cx->region, ac_tf_body);
        body->name = ac_pb_name(&r->pb, s.name);
        body->message = one;
        if (!body->name)
            return AC_FAIL;
        int32_t *at = ac_name_put(r->cx->region, &r->function_names, body->name);
        if (*at >= 0)
            return ac_error(r->cx, ac_pb_place(&r->pb, one.p), E0022, "two functions are named '%s'", body->name);
        *at = r->function.n;
        ac_push(r->cx->region, &r->function, body);
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* The parameters of a function become its first nodes. */
static int read_args(ac_tf *r, ac_tf_body *body, ac_pb_list args)
{
    ac_span one;
    while (ac_pb_next(&r->pb, &args, &one)) {
        raw_arg a = {.name = {0}};
        if (!ac_pb_read(&r->pb, one, ARG, &a))
            return AC_FAIL;
        ac_tf_node n = {.name = ac_pb_name(&r->pb, a.name), .op = "_Arg", .linked = true, .argument = true, .n_out = 1};
        n.at = ac_pb_place(&r->pb, one.p);
        if (!n.name)
            return AC_FAIL;
        if (a.number.n || a.types.n)
            return ac_refuse(r->reading, n.at, E0108, "a function",
                             ac_strf(r->cx->region, "'%s' takes a list of tensors", body->name), NULL);
        ac_push(r->cx->region, &body->arg, body->node.n);
        AC_TRY(add_node(r, body, n));
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

static int read_rets(ac_tf *r, ac_tf_body *body, ac_pb_list args, ac_pb_list map)
{
    ac_span one;
    ac_name_map where = {0};
    AC_VEC(const char *) text = {0};
    while (ac_pb_next(&r->pb, &map, &one)) {
        entry e = {{0}, {0}};
        const char *key = ac_pb_read(&r->pb, one, ENTRY, &e) ? ac_pb_name(&r->pb, e.key) : NULL;
        const char *value = key ? ac_pb_name(&r->pb, e.value) : NULL;
        if (!value)
            return AC_FAIL;
        *ac_name_put(r->cx->region, &where, key) = text.n;
        ac_push(r->cx->region, &text, value);
    }
    body->ret = AC_NEW_N(r->cx->region, ac_tf_ref, args.n + 1);
    while (ac_pb_next(&r->pb, &args, &one)) {
        raw_arg a = {.name = {0}};
        const char *name = ac_pb_read(&r->pb, one, ARG, &a) ? ac_pb_name(&r->pb, a.name) : NULL;
        if (!name)
            return AC_FAIL;
        const ac_place at = ac_pb_place(&r->pb, one.p);
        const int32_t k = ac_name_get(&where, name);
        if (k < 0)
            return ac_error(r->cx, at, E0101, "function '%s' does not define its result '%s'", body->name, name);
        *ac_name_put(r->cx->region, &body->ret_names, name) = body->n_rets;
        AC_TRY(ac_tf_ref_of(r, body, text.item[k], at, &body->ret[body->n_rets++]));
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* Reads the effects of a function: nodes that run even if its results do not depend on them. */
static int read_effects(ac_tf *r, ac_tf_body *body, ac_pb_list map)
{
    ac_span one;
    while (ac_pb_next(&r->pb, &map, &one)) {
        entry e = {{0}, {0}};
        const char *name = ac_pb_read(&r->pb, one, ENTRY, &e) ? ac_pb_name(&r->pb, e.value) : NULL;
        if (!name)
            return AC_FAIL;
        const int32_t node = ac_name_get(&body->names, name);
        if (node < 0)
            return ac_error(r->cx, ac_pb_place(&r->pb, one.p), E0101, "function '%s' returns '%s', which is not a node",
                            body->name, name);
        ac_push(r->cx->region, &body->effect, node);
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

static int read_function(ac_tf *r, ac_tf_body *body)
{
    raw_function f = {.signature = {0}};
    raw_signature s = {.name = {0}};
    if (!ac_pb_read(&r->pb, body->message, FUNCTION, &f) || !ac_pb_read(&r->pb, f.signature, SIGNATURE, &s))
        return AC_FAIL;
    AC_TRY(read_args(r, body, s.args));
    AC_TRY(ac_tf_body_read(r, body, f.nodes));
    AC_TRY(read_effects(r, body, f.effects));
    return read_rets(r, body, s.rets, f.rets);
}

ac_tf_body *ac_tf_function(ac_tf *r, const char *name)
{
    const int32_t k = ac_name_get(&r->function_names, name);
    ac_tf_body *body = k < 0 ? NULL : r->function.item[k];
    if (body && !body->read) {
        body->read = true;
        body->broken = read_function(r, body) != AC_OK;
    }
    return body;
}

/* ------------------------------------------------------------------ references */

/* The number of result `name` of a node; names are those of the operator's definition. */
static int32_t result_of(const ac_tf_node *n, const char *name, ac_ctx *cx)
{
    if (n->function)
        return ac_name_get(&n->function->ret_names, ac_intern(cx, name));
    const char *list = n->row ? n->row->args : NULL;
    const size_t size = strlen(name);
    for (int32_t k = 0; list && *list; k++) {
        const size_t len = strcspn(list, " ");
        if (len == size && !memcmp(list, name, len))
            return k;
        list += len + (list[len] == ' ');
    }
    return n->row && n->row->args ? -1 : 0;
}

int ac_tf_ref_of(ac_tf *r, ac_tf_body *body, const char *text, ac_place at, ac_tf_ref *out)
{
    const bool control = *text == '^';
    const char *name = text + control, *colon = strchr(name, ':');
    const char *node = colon ? ac_intern_n(r->cx, name, (size_t)(colon - name)) : ac_intern(r->cx, name);
    *out = (ac_tf_ref){ac_name_get(&body->names, node), control ? AC_TF_CONTROL : 0};
    if (out->node < 0)
        return ac_error(r->cx, at, E0101, "reads '%s', which no node produces", text);
    if (control || !colon)
        return AC_OK;
    const char *second = strchr(colon + 1, ':'), *number = second ? second + 1 : colon + 1;
    int64_t k = 0, base = 0;
    if (!second && !(colon[1] >= '0' && colon[1] <= '9'))
        number = "0", second = colon + 1 + strlen(colon + 1);
    for (const char *p = number; *p; p++) {
        if (*p < '0' || *p > '9' || k > MAX_OPERANDS)
            return ac_error(r->cx, at, E0101, "reads '%s', but the node has fewer results", text);
        k = k * 10 + (*p - '0');
    }
    ac_tf_node *from = &body->node.item[out->node];
    if (second) {
        if (!from->row && !from->function && !from->argument)
            from->function = ac_tf_function(r, from->op);
        base = result_of(from, ac_intern_n(r->cx, colon + 1, (size_t)(second - colon - 1)), r->cx);
    }
    if (base < 0 || base + k > MAX_OPERANDS || !*number)
        return ac_error(r->cx, at, E0101, "reads '%s', but the node has fewer results", text);
    out->out = (int32_t)(base + k);
    if (out->out >= from->n_out)
        from->n_out = out->out + 1;
    return AC_OK;
}
