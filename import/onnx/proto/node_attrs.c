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

static bool read_one(ac_onx_node *n, ac_span message, ac_onx_attr *a)
{
    raw x = {.type = 0};
    if (!ac_pb_read(&n->r->pb, message, ATTRIBUTE, &x))
        return false;
    *a = (ac_onx_attr){.name = ac_pb_name(&n->r->pb, x.name),
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
                       .strings = x.strings,
                       .has_tensor = x.t.p != NULL};
    return a->name != NULL;
}

int ac_onx_attrs(ac_onx_node *n, ac_pb_list list)
{
    ac_onx *r = n->r;
    ac_span message;
    ac_onx_attr a;
    if (!ac_pb_spend(&r->pb, list.n))
        return AC_FAIL;
    n->attr = AC_NEW_N(r->cx->region, ac_onx_attr, list.n + 1);
    n->n_attr = 0;
    while (ac_pb_next(&r->pb, &list, &message)) {
        if (!read_one(n, message, &a))
            return AC_FAIL;
        if (find(n, a.name))
            return ac_error(r->cx, n->at, E0012, "attribute '%s' is given twice", a.name);
        if (a.ref.n && !resolve(n, a.name, &a))
            continue;
        n->attr[n->n_attr++] = a;
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

int ac_onx_default_attrs(ac_onx_node *n, ac_pb_list list)
{
    ac_onx *r = n->r;
    ac_span message;
    ac_onx_attr a;
    if (!list.n)
        return AC_OK;
    if (!ac_pb_spend(&r->pb, list.n))
        return AC_FAIL;
    ac_onx_attr *all = AC_NEW_N(r->cx->region, ac_onx_attr, (int64_t)n->n_attr + list.n + 1);
    for (int32_t i = 0; i < n->n_attr; i++)
        all[i] = n->attr[i];
    n->attr = all;
    while (ac_pb_next(&r->pb, &list, &message)) {
        if (!read_one(n, message, &a))
            return AC_FAIL;
        if (!find(n, a.name))
            all[n->n_attr++] = a;
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
enum { FLOAT = 1, INT, STRING, FLOATS = 6, INTS, MANY = sizeof TYPES / sizeof *TYPES };

static const double *floats_of(ac_onx *r, ac_pb_list of, int64_t *n)
{
    const uint8_t *bytes = ac_pb_fixed(&r->pb, of, sizeof(float), n);
    double *v = AC_NEW_N(r->cx->region, double, *n + 1);
    for (int64_t i = 0; bytes && i < *n; i++)
        v[i] = ac_dtype_get_num(AC_F32, bytes, i);
    return v;
}

static bool find_typed(const ac_attrs_reader *reader, const char *name, const ac_attr_spec *row, ac_attr_value *v)
{
    static const uint8_t NUMBER[] = {
        [AC_ATTR_INT] = INT,       [AC_ATTR_INT64] = INT,   [AC_ATTR_BOOL] = INT,    [AC_ATTR_TYPE] = INT,
        [AC_ATTR_FLOAT] = FLOAT,   [AC_ATTR_TEXT] = STRING, [AC_ATTR_WORD] = STRING, [AC_ATTR_INTS] = INTS,
        [AC_ATTR_FLOATS] = FLOATS, [AC_ATTR_ANY] = 0};
    ac_onx_node *n = reader->node;
    const ac_onx_attr *a = ac_onx_attr_of(n, name);
    const int64_t type = NUMBER[row->type];
    if (!a || !type)
        return a;
    if (a->type && a->type != type) /* files of the first version do not say it */
        v->wrong = a->type > 0 && a->type < MANY ? TYPES[a->type] : "of another type";
    v->i = a->i;
    v->f = (double)a->f;
    v->text = type == STRING && !v->wrong ? ac_pb_name(&n->r->pb, a->s) : NULL;
    if (row->type == AC_ATTR_INTS && !v->wrong)
        v->ints = ac_pb_ints(&n->r->pb, a->ints, &v->n);
    if (row->type == AC_ATTR_FLOATS && !v->wrong)
        v->floats = floats_of(n->r, a->floats, &v->n);
    v->said = n->r->pb.failed;
    return true;
}

static const ac_attr_spec ROWS[] = {
#define A(type, id, ...) AC_ATTR_ROW(type, id, __VA_ARGS__)
#include "import/onnx/proto/attrs.def"
#undef A
};

const ac_attr_source ac_onx_attributes = {.what = "attribute", .row = ROWS, .find = find_typed};

int ac_onx_dtype_or(ac_onx_node *n, ac_dtype init, ac_dtype *to)
{
    const int64_t type = ac_attr_int(&n->attrs, A_dtype);
    *to = type ? ac_onx_dtype(type) : init;
    return *to == AC_NONE ? ac_cannot(&n->b, "its result has elements of type %s", ac_onx_dtype_name(n->r->cx, type))
                          : AC_OK;
}

const float *ac_onx_floats(ac_onx_node *n, const char *name, int64_t *count)
{
    const ac_onx_attr *a = ac_onx_attr_of(n, name);
    const bool other = a && a->type && a->type != FLOATS;
    *count = 0;
    if (!a || (other && !ac_attr_is(&n->attrs, name, AC_ATTR_FLOATS)))
        return NULL;
    const void *bytes = ac_pb_fixed(&n->r->pb, a->floats, 4, count);
    return bytes ? ac_copy(n->r->cx->region, bytes, (size_t)*count * 4) : NULL; /* aligned */
}

int ac_onx_tensor_attr(ac_onx_node *n, const char *name, ac_tensor **out)
{
    const ac_onx_attr *a = ac_onx_attr_of(n, name);
    ac_onx_const c;
    const char *refused;
    *out = NULL;
    if (!a || !a->has_tensor)
        return AC_OK;
    if (ac_onx_tensor(n->r, a->tensor, &c, &refused) != AC_OK)
        return refused ? ac_cannot(&n->b, "%s", refused) : AC_FAIL;
    *out = ac_onx_constant(n->r, n->name, &c);
    return AC_OK;
}

int ac_onx_list_or(ac_onx_node *n, int id, int32_t operand, ac_ints *v, bool *given)
{
    *given = ac_attr_has(&n->attrs, id);
    *v = ac_attr_ints(&n->attrs, id);
    if (operand < 0 || !ac_onx_in(n, operand))
        return AC_OK;
    *given = true;
    return ac_operand_values(&n->b, &n->in[operand], v);
}
