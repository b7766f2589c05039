/* The small language in which the adapters of ONNX operators say what an operator is. Every function takes operands
 * that may be NULL (something before has failed and was reported) and then gives NULL. */
#include "import/onnx.h"
#include "ir/ops/settle.h"

#include <inttypes.h>
#include <string.h>

ac_tensor *ac_onx_in(const ac_onx_node *n, int32_t i)
{
    return i < n->n_in ? n->in[i] : NULL;
}

static const char *base_name(const ac_onx_node *n)
{
    return n->n_out && n->out[0] ? n->out[0]->name : n->name;
}

ac_node *ac_onx_node_make(ac_onx_node *n, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                          int32_t n_out)
{
    ac_tensor *out[64];
    if (n_out > 64)
        return NULL;
    for (int32_t i = 0; i < n_out; i++)
        out[i] =
            ac_tensor_new(n->r->g, ac_strf(n->r->cx->region, "%s_%s", base_name(n), ac_ops[op].text), AC_NONE, 0, NULL);
    ac_node *made = ac_node_new(n->r->g, op, n->name, in, n_in, out, n_out);
    made->at = n->at;
    if (attrs)
        made->attrs = *attrs;
    return made;
}

ac_tensor *ac_onx_make(ac_onx_node *n, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                       ac_dtype type)
{
    for (int32_t i = 0; i < n_in; i++)
        if (!in[i] && i < ac_ops[op].min_in)
            return NULL;
    ac_node *made = ac_onx_node_make(n, op, in, n_in, attrs, 1);
    ac_tensor *y = made->out[0];
    y->dtype = type;
    return ac_node_settle(n->r->cx, n->r->g, made) == AC_OK ? y : NULL;
}

ac_tensor *ac_onx_1(ac_onx_node *n, ac_op op, ac_tensor *x)
{
    return x ? ac_onx_make(n, op, &x, 1, NULL, AC_NONE) : NULL;
}

ac_tensor *ac_onx_2(ac_onx_node *n, ac_op op, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *in[] = {x, y};
    return x && y ? ac_onx_make(n, op, in, 2, NULL, AC_NONE) : NULL;
}

ac_tensor *ac_onx_cast(ac_onx_node *n, ac_tensor *x, ac_dtype to)
{
    ac_attrs a;
    if (!x || x->dtype == to)
        return x;
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = to;
    return ac_onx_make(n, AC_OP_CAST, &x, 1, &a, to);
}

static ac_ints keep(ac_onx_node *n, int64_t count, const int64_t *v)
{
    int64_t *own = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        own[i] = v[i];
    return (ac_ints){(int32_t)count, own};
}

ac_tensor *ac_onx_transpose(ac_onx_node *n, ac_tensor *x, const int32_t *perm)
{
    ac_attrs a;
    int64_t wide[AC_MAX_RANK];
    bool same = true;
    if (!x)
        return NULL;
    for (int32_t d = 0; d < x->rank; d++) {
        wide[d] = perm[d];
        same &= perm[d] == d;
    }
    if (same)
        return x;
    ac_attrs_init(AC_OP_TRANSPOSE, &a);
    a.perm.perm = keep(n, x->rank, wide);
    return ac_onx_make(n, AC_OP_TRANSPOSE, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_onx_reshape(ac_onx_node *n, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    ac_attrs a;
    if (!x)
        return NULL;
    if (x->rank == rank && (!rank || !memcmp(x->dim, dim, (size_t)rank * sizeof *dim)))
        return x;
    ac_attrs_init(AC_OP_RESHAPE, &a);
    a.shape.shape = keep(n, rank, dim);
    return ac_onx_make(n, AC_OP_RESHAPE, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_onx_reduce(ac_onx_node *n, ac_op op, ac_tensor *x, uint32_t axes, bool keep_dims)
{
    ac_attrs a;
    int64_t list[AC_MAX_RANK];
    int32_t count = 0;
    if (!x || !axes) /* nothing is reduced; an empty list would mean everything */
        return x;
    for (int32_t d = 0; d < x->rank; d++)
        if (axes >> d & 1)
            list[count++] = d;
    ac_attrs_init(op, &a);
    a.reduce.axes = keep(n, count, list);
    a.reduce.keep_dims = keep_dims;
    return ac_onx_make(n, op, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_onx_slice(ac_onx_node *n, ac_tensor *x, int32_t axis, int64_t begin, int64_t size)
{
    ac_attrs a;
    int64_t from[AC_MAX_RANK] = {0}, extent[AC_MAX_RANK];
    if (!x)
        return NULL;
    memcpy(extent, x->dim, sizeof extent);
    from[axis] = begin;
    extent[axis] = size;
    ac_attrs_init(AC_OP_SLICE, &a);
    a.slice.begin = keep(n, x->rank, from);
    a.slice.size = keep(n, x->rank, extent);
    return ac_onx_make(n, AC_OP_SLICE, &x, 1, &a, AC_NONE);
}

/* CONCATENATION takes 64 operands; more are joined in steps. */
ac_tensor *ac_onx_concat(ac_onx_node *n, ac_tensor *const *x, int32_t count, int32_t axis)
{
    enum { MOST = 64 };
    ac_attrs a;
    ac_attrs_init(AC_OP_CONCATENATION, &a);
    a.axis.axis = axis;
    for (int32_t i = 0; i < count; i++)
        if (!x[i])
            return NULL;
    if (count <= MOST)
        return ac_onx_make(n, AC_OP_CONCATENATION, x, count, &a, AC_NONE);
    const int32_t parts = (count + MOST - 1) / MOST;
    ac_tensor **part = AC_NEW_N(n->r->cx->region, ac_tensor *, parts);
    for (int32_t i = 0; i < parts; i++)
        part[i] = ac_onx_concat(n, x + i * MOST, i + 1 < parts ? MOST : count - i * MOST, axis);
    return ac_onx_concat(n, part, parts, axis);
}

ac_tensor *ac_onx_broadcast(ac_onx_node *n, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    ac_attrs a;
    if (!x || (x->rank == rank && (!rank || !memcmp(x->dim, dim, (size_t)rank * sizeof *dim))))
        return x;
    ac_attrs_init(AC_OP_BROADCAST_TO, &a);
    a.shape.shape = keep(n, rank, dim);
    return ac_onx_make(n, AC_OP_BROADCAST_TO, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_onx_pad(ac_onx_node *n, ac_tensor *x, const int64_t *before, const int64_t *after, ac_tensor *value)
{
    ac_attrs a;
    int64_t list[2 * AC_MAX_RANK];
    bool any = false;
    if (!x)
        return NULL;
    for (int32_t d = 0; d < x->rank; d++) {
        list[2 * d] = before[d];
        list[2 * d + 1] = after[d];
        any |= before[d] || after[d];
    }
    if (!any)
        return x;
    if (!value) {
        ac_attrs_init(AC_OP_PAD, &a);
        a.pad.pads = keep(n, 2 * x->rank, list);
        return ac_onx_make(n, AC_OP_PAD, &x, 1, &a, AC_NONE);
    }
    int64_t dim[2] = {x->rank, 2};
    ac_tensor *pads = ac_tensor_const(n->r->g, ac_strf(n->r->cx->region, "%s_pads", base_name(n)), AC_I64, 2, dim,
                                      keep(n, 2 * x->rank, list).v);
    ac_tensor *in[] = {x, pads, value};
    return ac_onx_make(n, AC_OP_PADV2, in, 3, NULL, AC_NONE);
}

/* Constants. */

static void put(ac_dtype d, void *to, double v)
{
    const float f = (float)v;
    const int64_t i = ac_dtype_is_float(d) ? 0 : (int64_t)v;
    const uint16_t half = d == AC_BF16 ? ac_f32_to_bf16(f) : ac_f32_to_f16(f);
    if (d == AC_F32)
        memcpy(to, &f, sizeof f);
    else if (d == AC_F64)
        memcpy(to, &v, sizeof v);
    else if (ac_dtype_is_float(d))
        memcpy(to, &half, sizeof half);
    else
        for (int64_t k = 0; k < ac_dtype_size(d, 1); k++)
            ((uint8_t *)to)[k] = (uint8_t)((uint64_t)i >> (8 * k));
}

ac_tensor *ac_onx_number(ac_onx_node *n, ac_dtype type, double v)
{
    void *data = ac_alloc(n->r->cx->region, 16);
    put(type, data, v);
    return ac_tensor_const(n->r->g, ac_strf(n->r->cx->region, "%s_c", base_name(n)), type, 0, NULL, data);
}

ac_tensor *ac_onx_floats_const(ac_onx_node *n, int32_t rank, const int64_t *dim, const float *v)
{
    ac_tensor *t = ac_tensor_const(n->r->g, ac_strf(n->r->cx->region, "%s_c", base_name(n)), AC_F32, rank, dim, NULL);
    t->data = ac_copy(n->r->cx->region, v, (size_t)ac_tensor_bytes(t) + (ac_tensor_bytes(t) == 0));
    return t;
}

ac_tensor *ac_onx_ints_const(ac_onx_node *n, int64_t count, const int64_t *v)
{
    return ac_tensor_const(n->r->g, ac_strf(n->r->cx->region, "%s_c", base_name(n)), AC_I64, 1, &count,
                           keep(n, count, v).v);
}

/* Values of operands. */

int ac_onx_axis(ac_onx_node *n, int64_t axis, int32_t rank, int32_t *out)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return ac_error(n->r->cx, n->at, E0103, "axis %" PRId64 " is out of range for %d dimensions", axis, rank);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return AC_OK;
}

int ac_onx_late(ac_onx_node *n, int32_t i)
{
    ac_onx *r = n->r;
    r->late = true;
    return ac_refuse(r->cx, &r->refused, n->at, E0203, n->type,
                     ac_strf(r->cx->region, "operand '%s' is computed at run time, but a static plan needs its value",
                             n->in[i]->name),
                     "make it a constant of the model");
}

enum { KNOWN_DEPTH = 32, KNOWN_SIZE = 4096 };

/* t as a constant, computed from given values of inputs; NULL: it depends on others, or is large. */
static ac_tensor *specialise(ac_onx_node *n, ac_tensor *t, int32_t depth)
{
    ac_tensor *in[8];
    if (ac_tensor_is_const(t))
        return t;
    if (ac_tensor_count(t) > KNOWN_SIZE || depth > KNOWN_DEPTH)
        return NULL;
    if (t->input)
        return t->given ? ac_tensor_const(n->r->g, t->name, t->dtype, t->rank, t->dim, t->given) : NULL;
    const ac_node *m = t->def;
    if (!m || m->n_in > 8 || m->n_out != 1)
        return NULL;
    for (int32_t i = 0; i < m->n_in; i++) {
        in[i] = m->in[i] ? specialise(n, m->in[i], depth + 1) : NULL;
        if (m->in[i] && !in[i])
            return NULL;
    }
    ac_tensor *y = ac_onx_make(n, m->op, in, m->n_in, &m->attrs, t->dtype);
    return y && ac_tensor_is_const(y) ? y : NULL;
}

bool ac_onx_known(ac_onx_node *n, int32_t i)
{
    if (ac_tensor_is_const(n->in[i]))
        return true;
    ac_tensor *t = n->r->again && ac_pb_spend(&n->r->pb, KNOWN_DEPTH) ? specialise(n, n->in[i], 0) : NULL;
    if (!t)
        return false;
    ac_note(n->r->cx, n->at, W0001, "specialised on the given value of '%s'", n->in[i]->name);
    n->in[i] = t;
    return true;
}

int ac_onx_values(ac_onx_node *n, int32_t operand, ac_ints *out)
{
    if (!ac_onx_known(n, operand))
        return ac_onx_late(n, operand);
    ac_tensor *t = n->in[operand];
    if (!ac_dtype_is_int(t->dtype))
        return ac_error(n->r->cx, n->at, E0105, "operand '%s' is %s, expected integers", t->name,
                        ac_dtype_name(t->dtype));
    const int64_t count = ac_tensor_count(t);
    if (count > 1 << 20)
        return ac_error(n->r->cx, n->at, E0015, "operand '%s' has %" PRId64 " elements", t->name, count);
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data)
        return AC_FAIL;
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = ac_dtype_get_int(t->dtype, data, i);
    *out = (ac_ints){(int32_t)count, v};
    return AC_OK;
}

int ac_onx_scalar(ac_onx_node *n, int32_t i, double *v)
{
    if (!ac_onx_known(n, i))
        return ac_onx_late(n, i);
    ac_tensor *t = n->in[i];
    if (ac_tensor_count(t) != 1)
        return ac_error(n->r->cx, n->at, E0104, "operand '%s' is %s, expected one element", t->name,
                        ac_shape_str(n->r->cx, t));
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data)
        return AC_FAIL;
    *v = ac_dtype_get_num(t->dtype, data, 0);
    return AC_OK;
}

int ac_onx_result(ac_onx_node *n, int32_t i, ac_tensor *t)
{
    if (!t)
        return AC_FAIL;
    if (n->half != AC_NONE && t->dtype == AC_F32)
        t = ac_onx_cast(n, t, n->half);
    if (!t)
        return AC_FAIL;
    if (i >= n->n_out || !n->out[i])
        return AC_OK;
    ac_onx_value *v = n->out[i];
    if (t->id >= n->first && !t->input)
        t->name = v->name;
    v->t = t;
    v->broken = false;
    return AC_OK;
}
