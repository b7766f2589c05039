/* resolve.c - computes types, shapes and small constant results of one node; see resolve.h. */
#include "ir/ops/shape/resolve.h"
#include "ir/ops/shape/shape.h"

bool ac_node_is_shape(ac_ctx *cx, ac_node *n)
{
    const ac_tensor *x = n->in[0];
    ac_tensor *y = n->out[0];
    if ((n->op != AC_OP_SHAPE && n->op != AC_OP_RANK) || (y->dtype != AC_I32 && y->dtype != AC_I64))
        return false;
    int64_t *wide = AC_NEW_N(cx->region, int64_t, AC_MAX_RANK);
    int32_t *narrow = AC_NEW_N(cx->region, int32_t, AC_MAX_RANK);
    for (int32_t d = 0; d < x->rank; d++)
        wide[d] = x->dim[d];
    if (n->op == AC_OP_RANK)
        wide[0] = x->rank;
    for (int32_t d = 0; d < AC_MAX_RANK; d++)
        narrow[d] = (int32_t)wide[d];
    y->data = y->dtype == AC_I64 ? (const void *)wide : narrow;
    ac_node_erase(n);
    return true;
}

bool ac_tensor_is_small_const(const ac_tensor *t)
{
    return ac_tensor_is_const(t) && ac_tensor_count(t) <= AC_SMALL;
}

static bool all_small(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && (!ac_tensor_is_small_const(n->in[i]) || n->in[i]->weight))
            return false;
    for (int32_t i = 0; i < n->n_out; i++)
        if (ac_tensor_count(n->out[i]) > AC_SMALL)
            return false;
    return n->n_in > 0;
}

bool ac_node_keeps_bytes(const ac_node *n)
{
    const ac_tensor *x = n->in[0];
    return n->op == AC_OP_CAST && (x->dtype == AC_I8 || x->dtype == AC_U8) && ac_tensor_is_const(x) && x->rank > 1 &&
           ac_tensor_count(x) > 1 && ac_dtype_is_float(n->out[0]->dtype);
}

bool ac_node_writes_into(const ac_node *n)
{
    bool into = false;
    for (int32_t i = 0; i < n->n_out; i++)
        into |= n->out[i]->root != NULL;
    return into;
}

int ac_node_resolve(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_op_shape(cx, g, n));
    if (ac_node_is_shape(cx, n) || !all_small(n) || ac_node_keeps_bytes(n) || ac_node_writes_into(n))
        return AC_OK;
    const ac_tensor *x = n->in[0];
    if (ac_ops[n->op].flags & OF_VIEW && x->data && x->dtype == n->out[0]->dtype) {
        n->out[0]->data = x->data;
        n->out[0]->splat = x->splat;
        ac_node_made(g, n);
        return AC_OK;
    }
    if (!g->promise || !g->promise(cx, n))
        return AC_OK;
    const ac_node *made = ac_node_made(g, n);
    for (int32_t i = 0; i < made->n_out; i++)
        if (!ac_tensor_force(cx, made->out[i]))
            return AC_FAIL;
    return AC_OK;
}
