/* node_attrs.c - attributes of an ONNX node, read by name. In a function body an attribute may stand for one of the
 * call. */
#include "import/onnx/proto/onnx.h"

#include <string.h>

typedef struct raw {
    ac_span name, s, t, g, ref, sparse;
    float f;
    int64_t i, type;
    ac_pb_list floats, ints, strings, tensors, graphs;
} raw;

static const ac_pb_field ATTRIBUTE[] = {
    {1, AC_PB_BYTES, offsetof(raw, name)},
    {2, AC_PB_F32, offsetof(raw, f)},
    {3, AC_PB_INT, offsetof(raw, i)},
    {4, AC_PB_BYTES, offsetof(raw, s)},
    {5, AC_PB_BYTES, offsetof(raw, t)},
    {6, AC_PB_BYTES, offsetof(raw, g)},
    {7, AC_PB_NUMBERS, offsetof(raw, floats)},
    {8, AC_PB_NUMBERS, offsetof(raw, ints)},
    {9, AC_PB_MANY, offsetof(raw, strings)},
    {10, AC_PB_MANY, offsetof(raw, tensors)},
    {11, AC_PB_MANY, offsetof(raw, graphs)},
    {20, AC_PB_INT, offsetof(raw, type)},
    {21, AC_PB_BYTES, offsetof(raw, ref)},
    {22, AC_PB_BYTES, offsetof(raw, sparse)},
    {0, AC_PB_INT, 0},
};

static ac_onx_attr *find(const ac_onx_node *n, const char *name)
{
    for (int32_t i = 0; i < n->n_attr; i++)
        if (!strcmp(n->attr[i].name, name))
            return &n->attr[i];
    return NULL;
}

/* The value that the call of the function gives it; false: the call omits it, and so does the node. */
static bool resolve(ac_onx_node *n, const char *as, ac_onx_attr *a)
{
    const char *name = ac_pb_name(&n->r->pb, a->ref);
    const ac_onx_attr *given = name && n->scope->call ? find(n->scope->call, name) : NULL;
    if (!given)
        return false;
    *a = *given;
    a->name = as;
    a->used = false;
    return true;
}

int ac_onx_attrs(ac_onx_node *n, ac_pb_list list)
{
    ac_onx *r = n->r;
    ac_span message;
    if (!ac_pb_spend(&r->pb, list.n))
        return AC_FAIL;
    n->attr = AC_NEW_N(r->cx->region, ac_onx_attr, list.n + 1);
    n->n_attr = 0;
    while (ac_pb_next(&r->pb, &list, &message)) {
        raw x = {.type = 0};
        if (!ac_pb_read(&r->pb, message, ATTRIBUTE, &x))
            return AC_FAIL;
        const char *name = ac_pb_name(&r->pb, x.name);
        if (!name)
            return AC_FAIL;
        if (find(n, name))
            return ac_error(r->cx, n->at, E0012, "attribute '%s' is given twice", name);
        ac_onx_attr a = {.name = name,
                         .type = x.type,
                         .i = x.i,
                         .f = x.f,
                         .s = x.s,
                         .tensor = x.t,
                         .sparse = x.sparse,
                         .graph = x.g,
                         .ref = x.ref,
                         .floats = x.floats,
                         .ints = x.ints,
                         .strings = x.strings};
        a.has_tensor = x.t.p != NULL;
        if (x.ref.n && !resolve(n, name, &a))
            continue;
        n->attr[n->n_attr++] = a;
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

ac_onx_attr *ac_onx_attr_of(ac_onx_node *n, const char *name)
{
    ac_onx_attr *a = find(n, name);
    if (a)
        a->used = true;
    return a;
}

/* By AttributeProto.type. */
static const char *const TYPES[] = {
    NULL,      "a float",          "a whole number",          "text",           "a tensor",
    "a graph", "a list of floats", "a list of whole numbers", "a list of texts"};
enum { FLOAT = 1, INT, STRING, FLOATS = 6, INTS, ANY = sizeof TYPES / sizeof *TYPES };

/* NULL: it is left out, or of another type, which is reported. Files of the first version do not say the type. */
static const ac_onx_attr *typed(ac_onx_node *n, const char *name, int64_t type)
{
    ac_onx_attr *a = ac_onx_attr_of(n, name);
    if (!a || !a->type || a->type == type)
        return a;
    if (!a->wrong)
        ac_error(n->r->cx, n->at, E0103, "attribute '%s' is %s, expected %s", name,
                 a->type > 0 && a->type < ANY ? TYPES[a->type] : "of another type", TYPES[type]);
    a->wrong = true;
    return NULL;
}

int64_t ac_onx_int(ac_onx_node *n, const char *name, int64_t init)
{
    const ac_onx_attr *a = typed(n, name, INT);
    return a ? a->i : init;
}

float ac_onx_float(ac_onx_node *n, const char *name, float init)
{
    const ac_onx_attr *a = typed(n, name, FLOAT);
    return a ? a->f : init;
}

const char *ac_onx_str(ac_onx_node *n, const char *name, const char *init)
{
    const ac_onx_attr *a = typed(n, name, STRING);
    const char *s = a ? ac_pb_name(&n->r->pb, a->s) : init;
    return s ? s : "";
}

int ac_onx_list(ac_onx_node *n, const char *name, ac_ints *out)
{
    const ac_onx_attr *a = typed(n, name, INTS);
    *out = (ac_ints){0};
    return a ? ac_operand_list(&n->b, &n->r->pb, name, a->ints, out) : AC_OK;
}

const float *ac_onx_floats(ac_onx_node *n, const char *name, int64_t *count)
{
    const ac_onx_attr *a = typed(n, name, FLOATS);
    *count = 0;
    if (!a)
        return NULL;
    const void *bytes = ac_pb_fixed(&n->r->pb, a->floats, 4, count);
    if (!bytes)
        return NULL;
    return ac_copy(n->r->cx->region, bytes, (size_t)*count * 4); /* aligned */
}

int ac_onx_list_or(ac_onx_node *n, const char *attr, int32_t operand, ac_ints *v, bool *given)
{
    *given = ac_onx_attr_of(n, attr) != NULL;
    AC_TRY(ac_onx_list(n, attr, v));
    if (operand < 0 || !ac_onx_in(n, operand))
        return AC_OK;
    *given = true;
    return ac_operand_values(&n->b, &n->in[operand], v);
}
