/* objects.c - which entry of the checkpoint is the value of a variable, by the objects that the exporting program had.
 * Some exporters leave their restore operator (restore.c) without variables that functions capture, and rely on this;
 * TensorFlow's own loader in Python does the same.
 *
 *     saved_model.pb    SavedObjectGraph: objects, their attributes by name; functions and which objects they capture
 *     the checkpoint    TrackableObjectGraph, under a key of its own: the same attributes by name; keys of values
 *
 * Both start at object 0, so walking them together pairs the objects; a captured variable is the argument of the call
 * of its function. Source: saved_object_graph.proto and trackable_object_graph.proto of TensorFlow. */
#include "import/tf/bundle.h"
#include "import/tf/variables.h"

#include <string.h>

enum { MAX_OBJECTS = 1 << 22 };

typedef struct objects {
    ac_pb_list node, function;
} objects;

typedef struct object {
    ac_pb_list children, attributes;
} object;

typedef struct reference {
    int64_t node;
    ac_span name;
} reference;

typedef struct attribute {
    ac_span name, key;
} attribute;

typedef struct map_entry {
    ac_span key, value;
} map_entry;

typedef struct captures {
    ac_pb_list objects;
} captures;

static const ac_pb_field OBJECTS[] = {
    {1, AC_PB_MANY, offsetof(objects, node)}, {2, AC_PB_MANY, offsetof(objects, function)}, {0, AC_PB_INT, 0}};
static const ac_pb_field OBJECT[] = {
    {1, AC_PB_MANY, offsetof(object, children)}, {2, AC_PB_MANY, offsetof(object, attributes)}, {0, AC_PB_INT, 0}};
static const ac_pb_field REFERENCE[] = {
    {1, AC_PB_INT, offsetof(reference, node)}, {2, AC_PB_BYTES, offsetof(reference, name)}, {0, AC_PB_INT, 0}};
static const ac_pb_field ATTRIBUTE[] = {
    {1, AC_PB_BYTES, offsetof(attribute, name)}, {3, AC_PB_BYTES, offsetof(attribute, key)}, {0, AC_PB_INT, 0}};
static const ac_pb_field MAP_ENTRY[] = {
    {1, AC_PB_BYTES, offsetof(map_entry, key)}, {2, AC_PB_BYTES, offsetof(map_entry, value)}, {0, AC_PB_INT, 0}};
static const ac_pb_field CAPTURES[] = {{2, AC_PB_NUMBERS, offsetof(captures, objects)}, {0, AC_PB_INT, 0}};

/* A graph of objects: where each one's message is. */
typedef struct side {
    ac_pb *pb;
    int32_t n;
    ac_span *object;
} side;

static int read_side(ac_pb *pb, ac_pb_list nodes, side *s)
{
    if (nodes.n > MAX_OBJECTS)
        return ac_error(pb->cx, (ac_place){.file = pb->file}, E0012, "the graph of objects has %u objects", nodes.n);
    *s = (side){.pb = pb, .object = AC_NEW_N(pb->cx->region, ac_span, nodes.n + 1)};
    while (ac_pb_next(pb, &nodes, &s->object[s->n]))
        s->n++;
    return pb->failed ? AC_FAIL : AC_OK;
}

/* *node -1: no more. */
static int next_child(side *s, ac_pb_list *list, const char **name, int32_t *node)
{
    ac_span one;
    reference r = {.node = 0};
    *node = -1;
    if (!ac_pb_next(s->pb, list, &one))
        return s->pb->failed ? AC_FAIL : AC_OK;
    if (!ac_pb_read(s->pb, one, REFERENCE, &r) || !(*name = ac_pb_name(s->pb, r.name)))
        return AC_FAIL;
    if (r.node < 0 || r.node >= s->n)
        return ac_error(s->pb->cx, ac_pb_place(s->pb, one.p), E0013, "an object refers to object %lld of %d",
                        (long long)r.node, s->n);
    *node = (int32_t)r.node;
    return AC_OK;
}

/* Children of objects a and b of one name are a pair: pair[child of a] = child of b. */
static int pair_children(side *a, side *b, int32_t at, int32_t *pair, int32_t *queue, int32_t *n)
{
    ac_name_map names = {0};
    object x = {.children = {.n = 0}}, y = x;
    const char *name;
    int32_t node = 0;
    if (!ac_pb_read(a->pb, a->object[at], OBJECT, &x) || !ac_pb_read(b->pb, b->object[pair[at]], OBJECT, &y))
        return AC_FAIL;
    while (node >= 0) {
        AC_TRY(next_child(b, &y.children, &name, &node));
        if (node >= 0)
            *ac_name_put(a->pb->cx->region, &names, name) = node;
    }
    for (;;) {
        AC_TRY(next_child(a, &x.children, &name, &node));
        if (node < 0)
            return AC_OK;
        const int32_t other = ac_name_get(&names, name);
        if (other < 0 || pair[node] >= 0)
            continue;
        pair[node] = other;
        queue[(*n)++] = node;
    }
}

/* The key of an object's value; p NULL: it has none. */
static int key_of(side *s, int32_t at, ac_span *key)
{
    object x = {.children = {.n = 0}};
    ac_span one;
    *key = (ac_span){0};
    if (!ac_pb_read(s->pb, s->object[at], OBJECT, &x))
        return AC_FAIL;
    while (!key->p && ac_pb_next(s->pb, &x.attributes, &one)) {
        attribute a = {{0}, {0}};
        if (!ac_pb_read(s->pb, one, ATTRIBUTE, &a))
            return AC_FAIL;
        if (a.name.n == 14 && !memcmp(a.name.p, "VARIABLE_VALUE", 14) && a.key.n)
            *key = a.key;
    }
    return s->pb->failed ? AC_FAIL : AC_OK;
}

/* The last arguments of a call are the values that the function captures. */
static int restore_call(ac_tf *r, const ac_tf_node *call, ac_span function, side *b, const int32_t *pair, int32_t n)
{
    captures c = {.objects = {.n = 0}};
    int64_t count;
    if (!ac_pb_read(&r->pb, function, CAPTURES, &c))
        return AC_FAIL;
    const int64_t *id = ac_pb_ints(&r->pb, c.objects, &count);
    for (int64_t i = 0; id && i < count && count <= call->n_in; i++) {
        ac_tf_node *m = &r->main.node.item[call->in[call->n_in - count + i].node];
        ac_tf_variable *v = strcmp(m->op, "VarHandleOp") ? NULL : ac_tf_variable_of(r, m);
        if (v && !v->key.p && id[i] >= 0 && id[i] < n && pair[id[i]] >= 0)
            AC_TRY(key_of(b, pair[id[i]], &v->key));
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

static int restore_calls(ac_tf *r, ac_pb_list functions, side *b, const int32_t *pair, int32_t n)
{
    ac_name_map names = {0};
    AC_VEC(ac_span) message = {0};
    ac_span one;
    while (ac_pb_next(&r->pb, &functions, &one)) {
        map_entry e = {{0}, {0}};
        const char *name = ac_pb_read(&r->pb, one, MAP_ENTRY, &e) ? ac_pb_name(&r->pb, e.key) : NULL;
        if (!name)
            return AC_FAIL;
        *ac_name_put(r->cx->region, &names, name) = message.n;
        ac_push(r->cx->region, &message, e.value);
    }
    for (int32_t i = 0; i < r->main.node.n; i++) {
        ac_tf_node *m = &r->main.node.item[i];
        const ac_tf_body *f = ac_tf_called(r, m);
        const int32_t k = f ? ac_name_get(&names, f->name) : -1;
        if (k < 0)
            continue;
        AC_TRY(ac_tf_link(r, &r->main, m));
        AC_TRY(restore_call(r, m, message.item[k], b, pair, n));
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

int ac_tf_objects_find(ac_tf *r, ac_tf_bundle *bundle, ac_place at)
{
    objects saved = {.node = {.n = 0}}, kept = saved;
    side a, b;
    ac_pb pb;
    ac_span text;
    int32_t n = 1;
    AC_TRY(ac_tf_bundle_text(bundle, "_CHECKPOINTABLE_OBJECT_GRAPH", at, &pb, &text));
    if (!text.p || !r->object_graph.n)
        return AC_OK;
    if (!ac_pb_read(&r->pb, r->object_graph, OBJECTS, &saved) || !ac_pb_read(&pb, text, OBJECTS, &kept) ||
        read_side(&r->pb, saved.node, &a) != AC_OK || read_side(&pb, kept.node, &b) != AC_OK)
        return AC_FAIL;
    if (!a.n || !b.n)
        return AC_OK;
    int32_t *pair = AC_NEW_N(r->cx->region, int32_t, a.n), *queue = AC_NEW_N(r->cx->region, int32_t, a.n);
    for (int32_t i = 1; i < a.n; i++)
        pair[i] = -1;
    pair[0] = queue[0] = 0;
    for (int32_t i = 0; i < n; i++)
        AC_TRY(pair_children(&a, &b, queue[i], pair, queue, &n));
    return restore_calls(r, saved.function, &b, pair, a.n);
}
