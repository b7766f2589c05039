#include "ir/ops/resolve.h"
#include "ir/lower/lower.h"

enum { SMALL = 4096 };

static void erase(ac_node *n)
{
    for (int32_t i = 0; i < n->n_out; i++)
        n->out[i]->def = NULL;
    n->op = AC_OP_NONE;
    n->n_in = n->n_out = 0;
}

/* SHAPE and RANK: known although the data is not. */
static bool from_shape(ac_ctx *cx, ac_node *n)
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
    erase(n);
    return true;
}

static bool small_const(const ac_tensor *t)
{
    return ac_tensor_is_const(t) && ac_tensor_count(t) <= SMALL;
}

static bool all_small(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !small_const(n->in[i]))
            return false;
    for (int32_t i = 0; i < n->n_out; i++)
        if (ac_tensor_count(n->out[i]) > SMALL)
            return false;
    return n->n_in > 0;
}

int ac_node_settle(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_ops[n->op].shape(cx, g, n));
    if (from_shape(cx, n) || !all_small(n))
        return AC_OK;
    const ac_tensor *x = n->in[0];
    if (ac_ops[n->op].flags & OF_VIEW && x->data && x->dtype == n->out[0]->dtype) {
        n->out[0]->data = x->data;
        n->out[0]->splat = x->splat;
        erase(n);
        return AC_OK;
    }
    ac_node *own = AC_NEW(cx->region, ac_node); /* the lowering keeps its node; the graph's own is erased */
    *own = *n;
    ac_lowered *w = ac_lower_constant(cx, own);
    if (!w)
        return AC_OK;
    for (int32_t i = 0; i < n->n_out; i++)
        n->out[i]->lazy = w;
    erase(n);
    for (int32_t i = 0; i < own->n_out; i++)
        if (!ac_tensor_force(cx, own->out[i]))
            return AC_FAIL;
    return AC_OK;
}
