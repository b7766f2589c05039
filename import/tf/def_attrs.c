/* def_attrs.c - attributes of a TensorFlow node, read by name. In a function body an attribute may stand for one of
 * the call. */
#include "import/tf/nodedefs.h"

#include <string.h>

typedef struct entry {
    ac_span key, value;
} entry;

typedef struct list {
    ac_pb_list ints, funcs;
} list;

typedef struct func {
    ac_span name;
} func;

static const ac_pb_field ENTRY[] = {
    {1, AC_PB_BYTES, offsetof(entry, key)}, {2, AC_PB_BYTES, offsetof(entry, value)}, {0, AC_PB_INT, 0}};
static const ac_pb_field VALUE[] = {{1, AC_PB_BYTES, offsetof(ac_tf_attr, list)},
                                    {2, AC_PB_BYTES, offsetof(ac_tf_attr, s)},
                                    {3, AC_PB_INT, offsetof(ac_tf_attr, i)},
                                    {4, AC_PB_F32, offsetof(ac_tf_attr, f)},
                                    {5, AC_PB_INT, offsetof(ac_tf_attr, b)},
                                    {6, AC_PB_INT, offsetof(ac_tf_attr, type)},
                                    {7, AC_PB_BYTES, offsetof(ac_tf_attr, shape)},
                                    {8, AC_PB_BYTES, offsetof(ac_tf_attr, tensor)},
                                    {9, AC_PB_BYTES, offsetof(ac_tf_attr, placeholder)},
                                    {10, AC_PB_BYTES, offsetof(ac_tf_attr, func)},
                                    {0, AC_PB_INT, 0}};
static const ac_pb_field LIST[] = {
    {3, AC_PB_NUMBERS, offsetof(list, ints)}, {9, AC_PB_MANY, offsetof(list, funcs)}, {0, AC_PB_INT, 0}};
static const ac_pb_field FUNC[] = {{1, AC_PB_BYTES, offsetof(func, name)}, {0, AC_PB_INT, 0}};

static ac_tf_attr *find(const ac_tf_node *n, const char *name)
{
    for (int32_t i = 0; i < n->n_attr; i++)
        if (!strcmp(n->attr[i].name, name))
            return &n->attr[i];
    return NULL;
}

/* An attribute given twice: the last one counts, as everywhere in maps of protobuf. Those that begin with _ are notes
 * of TensorFlow to itself. */
int ac_tf_attrs(ac_tf *r, ac_tf_node *n)
{
    ac_pb_list entries = n->attributes;
    ac_span message;
    if (n->n_attr >= 0)
        return AC_OK;
    if (!ac_pb_spend(&r->pb, entries.n))
        return AC_FAIL;
    n->attr = AC_NEW_N(r->cx->region, ac_tf_attr, entries.n + 1);
    n->n_attr = 0;
    while (ac_pb_next(&r->pb, &entries, &message)) {
        entry e = {{0}, {0}};
        ac_tf_attr a = {.name = NULL};
        if (!ac_pb_read(&r->pb, message, ENTRY, &e) || !(a.name = ac_pb_name(&r->pb, e.key)) ||
            (e.value.p && !ac_pb_read(&r->pb, e.value, VALUE, &a)))
            return AC_FAIL;
        ac_tf_attr *old = find(n, a.name);
        if (*a.name == '_')
            continue;
        if (old)
            *old = a;
        else
            n->attr[n->n_attr++] = a;
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* An attribute, which a function may take from its call. NULL: absent, or the call omits it. */
ac_tf_attr *ac_tf_attr_of(ac_tf_op *n, const char *name)
{
    ac_tf_attr *a = find(n->node, name);
    const ac_tf_call *call = n->call;
    if (a)
        a->used = true;
    while (a && a->placeholder.n && call->from) {
        const char *as = ac_pb_name(&n->r->pb, a->placeholder);
        a = as ? find(call->from->node, as) : NULL;
        call = call->from->call;
    }
    return a && a->placeholder.n ? NULL : a;
}

/* Members of AttrValue: those that adapters read, then the rest. */
typedef enum kind { A_NUMBER, A_BOOL, A_FLOAT, A_TEXT, A_TYPE, A_LIST } kind;
static const char *const KIND[] = {"a whole number", "a bool",  "a float",  "text",      "a type",
                                   "a list",         "a shape", "a tensor", "a function"};
enum { ALL_KINDS = sizeof KIND / sizeof *KIND };

/* NULL: it is left out, or of another kind, which is reported: of an AttrValue one member is there. */
static const ac_tf_attr *typed(ac_tf_op *n, const char *name, kind want)
{
    ac_tf_attr *a = ac_tf_attr_of(n, name);
    if (!a)
        return NULL;
    const bool is[ALL_KINDS] = {a->i != 0,          a->b != 0,           a->f < 0 || a->f > 0,
                                a->s.p != NULL,     a->type != 0,        a->list.p != NULL,
                                a->shape.p != NULL, a->tensor.p != NULL, a->func.p != NULL};
    int other = 0;
    while (other < ALL_KINDS && (is[want] || !is[other]))
        other++;
    if (other == ALL_KINDS)
        return a;
    if (!a->wrong)
        ac_error(n->r->cx, n->b.at, E0103, "attribute '%s' is %s, expected %s", name, KIND[other], KIND[want]);
    a->wrong = true;
    return NULL;
}

static bool is_wrong(ac_tf_op *n, const char *name)
{
    const ac_tf_attr *a = ac_tf_attr_of(n, name);
    return a && a->wrong;
}

int64_t ac_tf_int(ac_tf_op *n, const char *name, int64_t init)
{
    const ac_tf_attr *a = typed(n, name, A_NUMBER);
    return a ? a->i : init;
}

bool ac_tf_bool(ac_tf_op *n, const char *name, bool init)
{
    const ac_tf_attr *a = typed(n, name, A_BOOL);
    return a ? a->b != 0 : init;
}

float ac_tf_float(ac_tf_op *n, const char *name, float init)
{
    const ac_tf_attr *a = typed(n, name, A_FLOAT);
    return a ? a->f : init;
}

const char *ac_tf_str(ac_tf_op *n, const char *name, const char *init)
{
    const ac_tf_attr *a = typed(n, name, A_TEXT);
    const char *s = a ? ac_pb_name(&n->r->pb, a->s) : init;
    return s ? s : "";
}

ac_dtype ac_tf_type(ac_tf_op *n, const char *name, ac_dtype init)
{
    const ac_tf_attr *a = typed(n, name, A_TYPE);
    const ac_dtype d = a ? ac_tf_dtype(a->type) : init;
    if (d == AC_NONE && !is_wrong(n, name))
        (void)ac_cannot(&n->b, "its %s is %s", name, ac_tf_dtype_name(n->r->cx, a ? a->type : 0));
    return d;
}

int ac_tf_ints(ac_tf_op *n, const char *name, ac_ints *out)
{
    const ac_tf_attr *a = typed(n, name, A_LIST);
    list l = {.ints = {.n = 0}};
    *out = (ac_ints){0};
    if (!a || !a->list.p)
        return is_wrong(n, name) ? AC_FAIL : AC_OK;
    if (!ac_pb_read(&n->r->pb, a->list, LIST, &l))
        return AC_FAIL;
    return ac_operand_list(&n->b, &n->r->pb, name, l.ints, out);
}

static ac_tf_body *function(ac_tf_op *n, const char *attr, ac_span message)
{
    func f = {{0}};
    const char *name = ac_pb_read(&n->r->pb, message, FUNC, &f) ? ac_pb_name(&n->r->pb, f.name) : NULL;
    ac_tf_body *body = name ? ac_tf_function(n->r, name) : NULL;
    if (name && !body)
        (void)ac_error(n->r->cx, n->b.at, E0101, "attribute '%s' names function '%s', which the library does not have",
                       attr, name);
    return body;
}

ac_tf_body *ac_tf_func(ac_tf_op *n, const char *name)
{
    const ac_tf_attr *a = ac_tf_attr_of(n, name);
    if (a)
        return function(n, name, a->func);
    (void)ac_error(n->r->cx, n->b.at, E0103, "attribute '%s' is missing", name);
    return NULL;
}

int ac_tf_funcs(ac_tf_op *n, const char *name, ac_tf_body **out, int32_t cap, int32_t *count)
{
    const ac_tf_attr *a = ac_tf_attr_of(n, name);
    list l = {.ints = {.n = 0}};
    ac_span message;
    *count = 0;
    if (a && a->list.p && !ac_pb_read(&n->r->pb, a->list, LIST, &l))
        return AC_FAIL;
    while (ac_pb_next(&n->r->pb, &l.funcs, &message)) {
        if (*count >= cap)
            return ac_cannot(&n->b, "its attribute '%s' names more than %d functions", name, cap);
        out[*count] = function(n, name, message);
        if (!out[*count])
            return AC_FAIL;
        ++*count;
    }
    return n->r->pb.failed ? AC_FAIL : AC_OK;
}
