/* results.c - the results of an operator of PyTorch as values of the graph, and what operators share to compute them:
 * types of a sum, axes, ends of slices, bools as bytes and back. */
#include "import/pt2/nodes.h"

#include "import/build/builders.h"
#include "import/build/params.h"

#include <string.h>

/* ------------------------------------------------------------------ types */

static int rank_of(ac_dtype d)
{
    return d == AC_BOOL ? 0 : ac_dtype_is_float(d) ? 2 : 1;
}

/* The type of a sum of both. */
static ac_dtype common(ac_dtype a, ac_dtype b)
{
    if (a == AC_NONE || b == AC_NONE || a == b)
        return a == AC_NONE ? b : a;
    if (rank_of(a) != rank_of(b))
        return rank_of(a) > rank_of(b) ? a : b;
    if (ac_dtype_is_float(a)) {
        if (ac_dtype_bits(a) == ac_dtype_bits(b))
            return AC_F32;
        return ac_dtype_bits(a) > ac_dtype_bits(b) ? a : b;
    }
    if (ac_dtype_is_signed(a) != ac_dtype_is_signed(b) && ac_dtype_bits(a) == ac_dtype_bits(b))
        return ac_dtype_bits(a) == 8 ? AC_I16 : AC_I64;
    return ac_dtype_bits(a) > ac_dtype_bits(b) ? a : b;
}

/* Tensors with dimensions decide before scalars, and these before numbers. */
static ac_dtype combine(ac_dtype high, ac_dtype low)
{
    if (high == AC_NONE || low == AC_NONE)
        return high == AC_NONE ? low : high;
    return rank_of(high) >= rank_of(low) ? high : common(high, low);
}

int ac_ep_promote(ac_ep_node *n, int32_t from, int32_t to, bool floats)
{
    ac_dtype type[3] = {AC_NONE, AC_NONE, AC_NONE};
    for (int32_t i = from; i < to; i++) {
        const ac_tensor *x = n->in[i];
        const int32_t class = !x ? -1 : n->number[i] ? 2 : x->rank == 0 ? 1 : 0;
        const ac_dtype own = !x ? AC_NONE : n->number[i] && x->dtype == AC_F64 ? AC_F32 : x->dtype;
        if (class >= 0)
            type[class] = common(type[class], own);
    }
    ac_dtype all = combine(combine(type[0], type[1]), type[2]);
    if (floats && !ac_dtype_is_float(all))
        all = AC_F32;
    for (int32_t i = from; i < to; i++)
        if (n->in[i] && !(n->in[i] = ac_make_cast(&n->b, n->in[i], all)))
            return AC_FAIL;
    return AC_OK;
}

/* ------------------------------------------------------------------ results */

ac_tensor *ac_ep_in(const ac_ep_node *n, int32_t i)
{
    return i < n->n_in ? n->in[i] : NULL;
}

/* torch.export calls a result that nothing reads NODE_unused_I. */
bool ac_ep_is_used(const ac_ep_node *n, int32_t i)
{
    return i < n->n_out && n->out[i] && !strstr(n->out[i]->name, "_unused_");
}

ac_dtype ac_ep_declared(ac_ep_node *n, int32_t i)
{
    const char *refused;
    ac_ep_meta m;
    if (i >= n->n_out || !n->out[i] || n->out[i]->kind != AC_EP_TENSOR)
        return AC_NONE;
    return ac_ep_meta_of(n->r, n->scope, n->out[i]->name, &m, &refused) == AC_OK ? m.type : AC_NONE;
}

/* t in the type that the graph declares, if it has the shape that the graph declares. */
static ac_tensor *as_declared(ac_ep_node *n, const ac_ep_value *v, ac_tensor *t)
{
    const char *refused;
    ac_ep_meta m;
    if (ac_ep_meta_of(n->r, n->scope, v->name, &m, &refused) != AC_OK)
        return NULL;
    if (refused)
        return (void)ac_cannot(&n->b, "result '%s': %s", v->name, refused), NULL;
    bool same = t->rank == m.rank;
    for (int32_t d = 0; d < t->rank && same; d++)
        same = m.dim[d] < 0 || m.dim[d] == t->dim[d] || (t->count && t->count_dim == d);
    if (!same)
        return (void)ac_error(n->r->cx, n->at, E0104, "result '%s' is %s, but the file declares %s", v->name,
                              ac_shape_str(n->r->cx, t), ac_dims_str(n->r->cx, m.rank, m.dim)),
               NULL;
    return ac_make_cast(&n->b, t, m.type);
}

/* New tensors are called like the value, after the module. */
static void name_result(ac_ep_node *n, const ac_ep_value *v, ac_tensor *t)
{
    if (ac_graph_has(n->b.g, t) && t->id >= n->first && !t->input && !ac_tensor_is_const(t))
        t->name = n->module ? ac_internf(n->r->cx, "%s/%s", n->module, v->name) : v->name;
}

static int set_cell(ac_ep_node *n, int32_t i, ac_ep_value *v, ac_tensor *t)
{
    ac_ep_value *self = n->n_in ? n->from[0] : NULL;
    const uint32_t flags = n->row->flags;
    const bool shares = flags & (AC_EP_V | AC_EP_S) && self && self->cell;
    v->broken = false;
    if (n->in_place && !(flags & AC_EP_V) && i == 0) {
        if (!self || !self->cell)
            return ac_cannot(&n->b, "what it changes is not a tensor");
        ac_tensor *old = ac_ep_read(n->r, self->cell);
        t = old ? ac_make_cast(&n->b, ac_make_broadcast(&n->b, t, old->rank, old->dim), old->dtype) : NULL;
        AC_TRY(ac_ep_write(n, self->cell, t));
        v->cell = self->cell;
        return AC_OK;
    }
    if (shares && t == n->in[0]) {
        v->cell = self->cell;
        return AC_OK;
    }
    ac_ep_value_tensor(n->r, v, t);
    if (shares && flags & AC_EP_V) {
        v->cell->base = self->cell;
        v->cell->how = n;
        v->cell->part = i;
        v->cell->seen = self->cell->version;
    }
    if (n->in_place && i == 0)
        self->cell = v->cell; /* squeeze_: the operand has another shape from now on */
    return AC_OK;
}

int ac_ep_result(ac_ep_node *n, int32_t i, ac_tensor *t)
{
    if (!t)
        return AC_FAIL;
    if (n->redo) {
        n->redo[i] = t;
        return AC_OK;
    }
    if (i >= n->n_out || !n->out[i])
        return AC_OK;
    if (n->out[i]->kind != AC_EP_TENSOR)
        return ac_ep_value_number(n, n->out[i], t);
    t = as_declared(n, n->out[i], t);
    if (!t)
        return AC_FAIL;
    name_result(n, n->out[i], t);
    return set_cell(n, i, n->out[i], t);
}

int ac_ep_result_number(ac_ep_node *n, ac_dtype type, double f, int64_t i)
{
    ac_ep_value *v = n->n_out ? n->out[0] : NULL;
    if (!v || v->kind != AC_EP_NUMBER)
        return ac_cannot(&n->b, "its result is not a number");
    v->broken = false;
    v->type = type;
    v->f = f;
    v->i = i;
    return AC_OK;
}

int ac_ep_value_number(ac_ep_node *n, ac_ep_value *v, ac_tensor *t)
{
    if (!t || ac_tensor_count(t) != 1)
        return t ? ac_cannot(&n->b, "'%s' is %s, expected one number", t->name, ac_shape_str(n->r->cx, t)) : AC_FAIL;
    v->kind = AC_EP_NUMBER;
    v->broken = false;
    v->type = t->dtype == AC_BOOL ? AC_BOOL : ac_dtype_is_float(t->dtype) ? AC_F64 : AC_I64;
    v->late = NULL;
    if (!ac_tensor_is_const(t)) {
        v->late = ac_make_reshape(&n->b, t, 0, NULL);
        return v->late ? AC_OK : AC_FAIL;
    }
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data)
        return AC_FAIL;
    v->f = ac_dtype_get_num(t->dtype, data, 0);
    v->i = v->type == AC_F64 ? 0 : ac_dtype_get_int(t->dtype, data, 0);
    return AC_OK;
}

int ac_ep_refuse_training(ac_ep_node *n, const char *does)
{
    return ac_refuse(n->r->reading, n->at, E0108, n->type,
                     ac_strf(n->r->cx->region, "it is in training mode: it %s", does),
                     "export the model after model.eval()");
}

int ac_ep_axis(ac_ep_node *n, int id, int32_t rank, int32_t *axis)
{
    return ac_attr_axis(&n->attrs, id, rank ? rank : 1, axis);
}

int ac_ep_axes(ac_ep_node *n, int id, int32_t rank, uint32_t *mask)
{
    const ac_ints axes = ac_attr_ints(&n->attrs, id);
    *mask = axes.n ? 0 : (1u << rank) - 1;
    for (int32_t i = 0; i < axes.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], rank ? rank : 1, &d));
        *mask |= rank ? 1u << d : 0;
    }
    return n->b.bad ? AC_FAIL : AC_OK;
}

int64_t ac_ep_inside(int64_t at, int64_t size)
{
    at = at < 0 ? at + size : at;
    return at < 0 ? 0 : at > size ? size : at;
}

ac_tensor *ac_ep_bytes(ac_ep_node *n, ac_tensor *x)
{
    return x && x->dtype == AC_BOOL ? ac_make_cast(&n->b, x, AC_U8) : x;
}

ac_tensor *ac_ep_truth(ac_ep_node *n, ac_tensor *x)
{
    return !x || x->dtype == AC_BOOL ? x : OP2(NOT_EQUAL, x, NUM(x, 0));
}
