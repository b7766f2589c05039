/* rows.c - rows that are brought to mean 0 and variance 1 by several nodes become one node. */
#include "ir/ops/decode/axis.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"

/* As ac_made_by, without an activation. */
static const ac_node *made_by(const ac_tensor *t, ac_op op)
{
    const ac_node *n = ac_made_by(t, op);
    return n && ac_node_act(n) == AC_ACT_NONE ? n : NULL;
}

/* x, if t is the mean of x over its last dimension, which stays as 1. */
static ac_tensor *mean_of(ac_graph *g, const ac_tensor *t)
{
    const ac_node *n = made_by(t, AC_OP_MEAN);
    uint32_t mask;
    if (!n)
        return NULL;
    ac_tensor *x = n->in[0];
    const bool last =
        x->rank > 0 && t->rank == x->rank && ac_reduce_axes(g->cx, n, &mask) == AC_OK && mask == 1u << (x->rank - 1);
    return last ? x : NULL;
}

/* x, if t is x * x. */
static ac_tensor *square_of(const ac_tensor *t)
{
    const ac_node *square = made_by(t, AC_OP_SQUARE), *product = made_by(t, AC_OP_MUL);
    if (square)
        return square->in[0];
    return product && product->in[0] == product->in[1] ? product->in[0] : NULL;
}

/* x, if t is x plus a constant, *c. */
static ac_tensor *sum_of(ac_graph *g, const ac_tensor *t, float *c)
{
    const ac_node *n = made_by(t, AC_OP_ADD);
    for (int32_t k = 0; n && k < 2; k++) {
        ac_tensor *other = n->in[1 - k];
        if (!ac_tensor_is_const(other) || other->dtype != AC_F32 || ac_tensor_count(other) != 1)
            continue;
        const float *value = ac_tensor_force(g->cx, other);
        if (!value)
            continue;
        *c = *value;
        return n->in[k];
    }
    return NULL;
}

/* x, if n is x over the root of the mean of x * x plus *epsilon. */
static ac_tensor *divided(ac_graph *g, const ac_node *n, float *epsilon)
{
    const bool product = n->op == AC_OP_MUL;
    for (int32_t k = 0; k < (product ? 2 : 1); k++) {
        const ac_node *root = made_by(n->in[1 - k], product ? AC_OP_RSQRT : AC_OP_SQRT);
        const ac_tensor *sum = root ? sum_of(g, root->in[0], epsilon) : NULL;
        const ac_tensor *square = sum ? mean_of(g, sum) : NULL;
        if (square && square_of(square) == n->in[k])
            return n->in[k];
    }
    return NULL;
}

/* ac_pass_rows: layer normalisation and root mean square normalisation, without their factors, as one node, for GPUs,
 * which compute a row by a warp: each other node is a launch.
 *   before:  %m = mean %x   %d = sub %x %m   %s = square %d   %v = mean %s   %a = add %v epsilon   %r = sqrt %a
 *            %y = div %d %r                                     or: mul %d (rsqrt %a); %x in place of %d
 *   after:   %y = standardize %x
 * needs: shapes known, f32, means over the last dimension, no epilogues.  keeps: values up to rounding, in the same
 * formula. */
int ac_pass_rows(ac_pass *p)
{
    ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        float epsilon;
        if ((n->op != AC_OP_DIV && n->op != AC_OP_MUL) || n->out[0]->dtype != AC_F32 || n->n_fused ||
            ac_node_act(n) != AC_ACT_NONE)
            continue;
        ac_tensor *d = divided(g, n, &epsilon);
        if (!d || !ac_tensor_same_shape(d, n->out[0]))
            continue;
        const ac_node *sub = made_by(d, AC_OP_SUB);
        const bool center = sub && mean_of(g, sub->in[1]) == sub->in[0];
        n->op = AC_OP_STANDARDIZE;
        ac_attrs_init(n->op, &n->attrs);
        n->attrs.standardize.epsilon = epsilon;
        n->attrs.standardize.center = center;
        n->in[0] = center ? sub->in[0] : d;
        n->n_in = 1;
        p->changed++;
    }
    ac_graph_sweep(g);
    return AC_OK;
}
