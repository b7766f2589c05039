/* dequantised.c - follows real numbers back to the integers from which they are computed. */
#include "ir/pass/dequantised.h"

#include "ir/ops/decode/axis.h"
#include "ir/pass/passes.h"

ac_node *ac_made_by(const ac_tensor *t, ac_op op)
{
    return t && t->def && t->def->op == op && !t->def->n_fused ? t->def : NULL;
}

bool ac_is_fixed(const ac_tensor *t)
{
    return !t || (ac_tensor_is_const(t) && !t->weight);
}

enum { MOST_LOOKED_AT = 64 }; /* tensors that a constant is made of: quantisation has a dozen */

/* Nothing is folded yet: other nodes on the way to t may be needed as they are. */
static bool of_constants(const ac_tensor *t, int32_t *left)
{
    const ac_node *n = t->def;
    if (ac_tensor_is_const(t))
        return !t->weight;
    if (!n || n->n_in == 0 || --*left < 0)
        return false;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !of_constants(n->in[i], left))
            return false;
    return true;
}

static void fold(ac_graph *g, ac_tensor *t)
{
    if (ac_tensor_is_const(t))
        return;
    for (int32_t i = 0; i < t->def->n_in; i++)
        if (t->def->in[i])
            fold(g, t->def->in[i]);
    ac_fold_node(g, t->def);
}

/* True if t is a constant, or becomes one by folding a few nodes. */
static bool fixed(ac_graph *g, ac_tensor *t)
{
    int32_t left = MOST_LOOKED_AT;
    if (!t || !of_constants(t, &left))
        return false;
    fold(g, t);
    return ac_tensor_is_const(t);
}

ac_tensor *ac_dequantised_step(ac_graph *g, ac_tensor *t, ac_op op, ac_tensor **c)
{
    const ac_node *n = ac_made_by(t, op);
    *c = n ? n->in[1] : NULL;
    return n && fixed(g, *c) && (*c)->dtype == AC_F32 && ac_node_act(n) == AC_ACT_NONE ? n->in[0] : NULL;
}

/* The dimension of t along which p differs: -1: none; -2: several. */
static int32_t axis_of(const ac_tensor *t, const ac_tensor *p)
{
    int32_t axis = -1;
    if (!p || p->rank > t->rank)
        return p ? -2 : -1;
    for (int32_t d = 0; d < p->rank; d++)
        if (p->dim[d] > 1)
            axis = axis == -1 ? d + t->rank - p->rank : -2;
    return axis;
}

/* Where dimension `axis` of the operand of a move is in its result; -2: it is split or joined. */
static int32_t axis_after(ac_ctx *cx, const ac_node *m, int32_t axis)
{
    const ac_tensor *x = m->in[0], *y = m->out[0];
    int32_t perm[AC_MAX_RANK];
    if (m->op == AC_OP_TRANSPOSE) {
        for (int32_t d = 0; ac_perm_of(cx, m, perm) == AC_OK && d < y->rank; d++)
            if (perm[d] == axis)
                return d;
        return -2;
    }
    for (int32_t d = 0; d < y->rank; d++)
        if (y->dim[d] == x->dim[axis] &&
            ac_dim_product(y->dim, d + 1, y->rank) == ac_dim_product(x->dim, axis + 1, x->rank))
            return d;
    return -2;
}

bool ac_dequantised_of(ac_graph *g, ac_tensor *t, ac_dequantised *d)
{
    *d = (ac_dequantised){.axis = -1};
    while (ac_made_by(t, AC_OP_TRANSPOSE) || ac_made_by(t, AC_OP_RESHAPE)) {
        if (d->n_moves == AC_DEQUANTISED_MOVES)
            return false;
        d->move[d->n_moves++] = t->def;
        t = t->def->in[0];
    }
    ac_tensor *v = ac_dequantised_step(g, t, AC_OP_MUL, &d->scale);
    ac_tensor *u = v ? ac_dequantised_step(g, v, AC_OP_SUB, &d->zero) : NULL;
    const ac_node *cast = ac_made_by(u ? u : v, AC_OP_CAST);
    d->zero = u ? d->zero : NULL;
    if (!cast || !ac_tensor_same_shape(cast->in[0], t) || !ac_dtype_is_int(cast->in[0]->dtype))
        return false;
    d->codes = cast->in[0];
    fixed(g, d->codes); /* quantised weights may still be computed from real ones */
    const int32_t a = axis_of(t, d->scale), z = axis_of(t, d->zero);
    if (a == -2 || z == -2 || (z >= 0 && a >= 0 && z != a))
        return false;
    d->axis = a;
    for (int32_t i = d->n_moves - 1; i >= 0 && d->axis >= 0; i--)
        d->axis = axis_after(g->cx, d->move[i], d->axis);
    return d->axis != -2;
}
