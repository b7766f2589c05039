/* def_attrs.c - attributes of a TensorFlow node, read by name. In a function body an attribute may stand for one of
 * the call. */
#include "import/tf/nodedefs.h"

#include <string.h>

typedef struct entry {
    ac_span key, value;
} entry;

typedef struct list {
    ac_pb_list floats, ints, funcs;
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
static const ac_pb_field LIST[] = {{4, AC_PB_NUMBERS, offsetof(list, floats)},
                                   {3, AC_PB_NUMBERS, offsetof(list, ints)},
                                   {9, AC_PB_MANY, offsetof(list, funcs)},
                                   {0, AC_PB_INT, 0}};
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

/* A member of AttrValue that is there: of all members one is. NULL: none, or that of the type. */
static const char *other_member(const ac_tf_attr *a, ac_attr_kind kind)
{
    const struct {
        bool is;
        ac_attr_kind kind;
        const char *what;
    } MEMBER[] = {{a->i != 0, AC_ATTR_INT64, "a whole number"},     {a->b != 0, AC_ATTR_BOOL, "a bool"},
                  {a->f < 0 || a->f > 0, AC_ATTR_FLOAT, "a float"}, {a->s.p != NULL, AC_ATTR_TEXT, "text"},
                  {a->type != 0, AC_ATTR_TYPE, "a type"},           {a->list.p != NULL, AC_ATTR_INTS, "a list"},
                  {a->list.p != NULL, AC_ATTR_FLOATS, "a list"},    {a->shape.p != NULL, AC_ATTR_ANY, "a shape"},
                  {a->tensor.p != NULL, AC_ATTR_ANY, "a tensor"},   {a->func.p != NULL, AC_ATTR_ANY, "a function"}};
    const char *what = NULL;
    if (kind == AC_ATTR_INT)
        kind = AC_ATTR_INT64;
    if (kind == AC_ATTR_WORD)
        kind = AC_ATTR_TEXT;
    for (size_t i = sizeof MEMBER / sizeof *MEMBER; kind != AC_ATTR_ANY && i-- > 0;) {
        if (MEMBER[i].is && MEMBER[i].kind == kind)
            return NULL;
        what = MEMBER[i].is ? MEMBER[i].what : what;
    }
    return what;
}

static const double *floats_of(ac_tf *r, ac_pb_list of, int64_t *n)
{
    const uint8_t *bytes = ac_pb_fixed(&r->pb, of, sizeof(float), n);
    double *v = AC_NEW_N(r->cx->region, double, *n + 1);
    for (int64_t i = 0; bytes && i < *n; i++)
        v[i] = ac_dtype_get_num(AC_F32, bytes, i);
    return v;
}

static bool find_typed(const ac_attrs_reader *reader, const char *name, const ac_attr_spec *row, ac_attr_value *v)
{
    ac_tf_op *n = reader->node;
    const ac_tf_attr *a = ac_tf_attr_of(n, name);
    list l = {.floats = {.n = 0}};
    if (!a)
        return false;
    v->wrong = other_member(a, row->type);
    if (v->wrong || row->type == AC_ATTR_ANY)
        return true;
    v->i = row->type == AC_ATTR_BOOL ? a->b : a->i;
    v->f = (double)a->f;
    if (row->type == AC_ATTR_TEXT || row->type == AC_ATTR_WORD) {
        v->text = ac_pb_name(&n->r->pb, a->s);
        v->said = !v->text;
    } else if (row->type == AC_ATTR_TYPE) {
        v->dtype = ac_tf_dtype(a->type);
        if (v->dtype == AC_NONE)
            (void)ac_cannot(&n->b, "its %s is %s", name, ac_tf_dtype_name(n->r->cx, a->type));
    } else if (row->type == AC_ATTR_INTS && a->list.p) {
        v->ints = ac_pb_read(&n->r->pb, a->list, LIST, &l) ? ac_pb_ints(&n->r->pb, l.ints, &v->n) : NULL;
        v->said = n->r->pb.failed;
    } else if (row->type == AC_ATTR_FLOATS && a->list.p) {
        v->floats = ac_pb_read(&n->r->pb, a->list, LIST, &l) ? floats_of(n->r, l.floats, &v->n) : NULL;
        v->said = n->r->pb.failed;
    }
    return true;
}

static const ac_attr_spec ROWS[] = {
#define A(type, id, ...) AC_ATTR_ROW(type, id, __VA_ARGS__)
#include "import/tf/attrs.def"
#undef A
};

const ac_attr_source ac_tf_attributes = {.what = "attribute", .row = ROWS, .find = find_typed};

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
    list l = {.floats = {.n = 0}};
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
