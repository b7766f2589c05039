/* restore.c - which entry of the checkpoint is restored into which variable; see variables.h. */
#include "import/build/counted.h"
#include "import/tf/variables.h"

#include <string.h>

enum { MAX_LEVEL = 16 };

/* A body and the call that leads into it. */
typedef struct level {
    ac_tf_body *body;
    const ac_tf_node *call; /* a node of from->body; NULL: the main graph */
    const struct level *from;
    int32_t depth;
} level;

typedef AC_VEC(ac_span) texts;

/* A value, followed back to the node that makes it */
typedef struct origin {
    const level *at;
    ac_tf_node *node;
    int32_t out;
} origin;

typedef struct string_tensor {
    ac_pb_list strings;
} string_tensor;

static const ac_pb_field STRINGS[] = {{8, AC_PB_MANY, offsetof(string_tensor, strings)}, {0, AC_PB_INT, 0}};

static bool is(const ac_tf_node *n, const char *op)
{
    return !strcmp(n->op, op);
}

static const ac_tf_attr *attr_of(ac_tf *r, ac_tf_node *m, const char *name)
{
    if (ac_tf_attrs(r, m) != AC_OK)
        return NULL;
    for (int32_t i = 0; i < m->n_attr; i++)
        if (!strcmp(m->attr[i].name, name))
            return &m->attr[i];
    return NULL;
}

ac_tf_variable *ac_tf_variable_of(ac_tf *r, ac_tf_node *m)
{
    static const char ANONYMOUS[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"; /* TensorFlow: no shared name */
    const ac_tf_attr *a = attr_of(r, m, "shared_name");
    const char *name = a && a->s.n ? ac_pb_name(&r->pb, a->s) : m->name;
    if (r->pb.failed || !name)
        return NULL;
    if (!strcmp(name, ANONYMOUS))
        name = m->name;
    int32_t *at = ac_name_put(r->cx->region, &r->variable_names, name);
    if (*at < 0) {
        ac_tf_variable *v = AC_NEW(r->cx->region, ac_tf_variable);
        *v = (ac_tf_variable){.name = name};
        *at = r->variable.n;
        ac_push(r->cx->region, &r->variable, v);
    }
    return r->variable.item[*at];
}

/* Through what passes a value on, and out of functions by their arguments. */
static bool follow(ac_tf *r, const level *at, ac_tf_ref ref, origin *out)
{
    for (;;) {
        ac_tf_node *m = &at->body->node.item[ref.node];
        *out = (origin){at, m, ref.out};
        if (!ac_pb_spend(&r->pb, 1) || ac_tf_link(r, at->body, m) != AC_OK)
            return false;
        if (m->argument && at->from) {
            int32_t k = 0;
            while (k < at->body->arg.n && at->body->arg.item[k] != ref.node)
                k++;
            if (k >= at->call->n_in)
                return false;
            ref = at->call->in[k];
            at = at->from;
        } else if (is(m, "Identity") && m->n_in == 1) {
            ref = m->in[0];
        } else {
            return true;
        }
    }
}

/* Element k of a constant list of strings, which is input i of node m; the last one stands for all that follow. */
static bool text_of(ac_tf *r, const origin *from, int32_t i, int32_t k, ac_span *out)
{
    origin list;
    string_tensor t = {.strings = {.n = 0}};
    *out = (ac_span){(const uint8_t *)"", 0};
    if (i >= from->node->n_in || !follow(r, from->at, from->node->in[i], &list) || !is(list.node, "Const"))
        return false;
    const ac_tf_attr *a = attr_of(r, list.node, "value");
    if (!a || !ac_pb_read(&r->pb, a->tensor, STRINGS, &t))
        return false;
    bool any = false;
    for (int32_t at = 0; at <= k && ac_pb_next(&r->pb, &t.strings, out); at++)
        any = true;
    return any && !r->pb.failed;
}

/* AssignVariableOp or Assign: variable, value. Values that are not of the checkpoint leave the variable as it is. */
static int restore_one(ac_tf *r, const level *at, const ac_tf_node *assign)
{
    origin to, from;
    ac_span key, part;
    if (assign->n_in < 2 || !follow(r, at, assign->in[0], &to) || !follow(r, at, assign->in[1], &from))
        return r->pb.failed ? AC_FAIL : AC_OK;
    const bool variable = is(to.node, "VarHandleOp") || is(to.node, "VariableV2") || is(to.node, "Variable");
    if (!variable || !is(from.node, "RestoreV2"))
        return AC_OK;
    ac_tf_variable *v = ac_tf_variable_of(r, to.node);
    if (!v || !text_of(r, &from, 1, from.out, &key) || !text_of(r, &from, 2, from.out, &part))
        return r->pb.failed ? AC_FAIL : AC_OK;
    v->key = key;
    v->sliced = part.n ? ac_pb_name(&r->pb, part) : NULL;
    return r->pb.failed ? AC_FAIL : AC_OK;
}

ac_tf_body *ac_tf_called(ac_tf *r, ac_tf_node *m)
{
    if (m->function || !(is(m, "StatefulPartitionedCall") || is(m, "PartitionedCall")))
        return m->function;
    const ac_tf_call call = {.r = r};
    ac_tf_op n = {.r = r, .call = (ac_tf_call *)(uintptr_t)&call, .node = m};
    n.b = ac_reading_maker(r->reading, r->g, m->name, m->at);
    n.attrs = (ac_attrs_reader){.source = &ac_tf_attributes, .b = &n.b, .node = &n};
    return ac_tf_attrs(r, m) == AC_OK ? ac_tf_func(&n, "f") : NULL;
}

static int restore_node(ac_tf *r, const level *at, ac_tf_node *m);

static int restore_body(ac_tf *r, const level *at)
{
    if (at->depth > MAX_LEVEL)
        return ac_error(r->cx, at->call->at, E0014, "functions call each other more than %d deep: perhaps in a cycle",
                        MAX_LEVEL);
    for (int32_t i = 0; i < at->body->node.n; i++)
        AC_TRY(restore_node(r, at, &at->body->node.item[i]));
    return AC_OK;
}

static int restore_node(ac_tf *r, const level *at, ac_tf_node *m)
{
    if (!ac_pb_spend(&r->pb, 1) || ac_tf_link(r, at->body, m) != AC_OK)
        return AC_FAIL;
    if (is(m, "AssignVariableOp") || is(m, "Assign"))
        return restore_one(r, at, m);
    ac_tf_body *f = ac_tf_called(r, m);
    if (!f || f->broken)
        return r->pb.failed ? AC_FAIL : AC_OK;
    return restore_body(r, &(level){f, m, at, at->depth + 1});
}

int ac_tf_restore_find(ac_tf *r, const char *restore)
{
    ac_tf_body *body = &r->main;
    const level main = {.body = body};
    const char *colon = strchr(restore, ':');
    const int32_t first =
        ac_name_get(&body->names, ac_intern_n(r->cx, restore, colon ? (size_t)(colon - restore) : strlen(restore)));
    if (first < 0)
        return AC_OK;
    bool *seen = AC_NEW_N(r->cx->region, bool, body->node.n + 1);
    AC_VEC(int32_t) stack = {0};
    seen[first] = true;
    ac_push(r->cx->region, &stack, first);
    while (stack.n) {
        ac_tf_node *m = &body->node.item[stack.item[--stack.n]];
        AC_TRY(restore_node(r, &main, m));
        for (int32_t k = 0; k < m->n_in + m->n_control; k++) {
            const int32_t from = m->in[k].node;
            if (!seen[from])
                ac_push(r->cx->region, &stack, from);
            seen[from] = true;
        }
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}
