/* layout_turns.c - transposes of pass layout: reading them, and the nodes that undo one. */
#include "ir/ops/decode/axis.h"
#include "ir/pass/layout.h"

/* Decoders report errors, which the shape rule of the node has reported already: here the node stays as it is. */
bool ac_layout_perm(ac_ctx *cx, const ac_node *n, int32_t *perm)
{
    ac_diags before = cx->diags;
    return ac_quietly(cx, before, ac_perm_of(cx, n, perm));
}

bool ac_layout_one_scale(const ac_tensor *t)
{
    return !t->quant || t->quant->n <= 1;
}

bool ac_layout_turned(ac_layout *s, const ac_tensor *t, ac_turn *out)
{
    const ac_node *n = t->def;
    if (!n || n->op != AC_OP_TRANSPOSE || n->n_fused || !ac_layout_one_scale(t) || !ac_layout_one_scale(n->in[0]) ||
        n->in[0]->dtype != t->dtype || !ac_layout_perm(s->cx, n, out->perm))
        return false;
    out->x = n->in[0];
    return true;
}

void ac_layout_place(ac_layout *s, ac_node *n)
{
    ac_push(s->cx->region, &s->order, n);
}

ac_node *ac_layout_node(ac_layout *s, const ac_node *like, ac_op op, ac_tensor *x, ac_tensor *y)
{
    ac_node *n = ac_node_new(s->g, op, like->name, &x, 1, &y, 1);
    n->at = like->at;
    s->g->node.n--;
    return n;
}

ac_ints ac_layout_perm_list(ac_layout *s, int32_t rank, const int32_t *perm)
{
    int64_t *v = AC_NEW_N(s->cx->region, int64_t, rank + 1);
    for (int32_t d = 0; d < rank; d++)
        v[d] = perm[d];
    return (ac_ints){rank, v};
}

/* Folded if the operand is a constant, else placed here. */
static ac_tensor *fold_or_place(ac_layout *s, ac_node *n)
{
    ac_tensor *y = n->out[0];
    if (!ac_tensor_is_const(n->in[0]) || !ac_fold_node(s->g, n))
        ac_layout_place(s, n);
    return y;
}

ac_tensor *ac_layout_reshaped(ac_layout *s, const ac_node *n, ac_tensor *z, int32_t rank, const int64_t *dim)
{
    ac_tensor *y = ac_tensor_new(s->g, z->name, z->dtype, rank, dim);
    ac_node *reshape = ac_layout_node(s, n, AC_OP_RESHAPE, z, y);
    reshape->attrs.shape.shape = (ac_ints){rank, ac_copy(s->cx->region, dim, (size_t)rank * sizeof *dim)};
    y->quant = z->quant;
    return fold_or_place(s, reshape);
}

ac_tensor *ac_layout_back(ac_layout *s, const ac_node *n, ac_tensor *z, int32_t rank, const int32_t *perm)
{
    int64_t dim[AC_MAX_RANK];
    int32_t inverse[AC_MAX_RANK];
    if (ac_tensor_count(z) == 1 && ac_tensor_is_const(z))
        return z;
    if (z->rank < rank) {
        for (int32_t d = 0; d < rank; d++)
            dim[d] = d < rank - z->rank ? 1 : z->dim[d - (rank - z->rank)];
        z = ac_layout_reshaped(s, n, z, rank, dim);
    }
    for (int32_t d = 0; d < rank; d++)
        inverse[perm[d]] = d;
    for (int32_t d = 0; d < rank; d++)
        dim[d] = z->dim[inverse[d]];
    ac_tensor *y = ac_tensor_new(s->g, z->name, z->dtype, rank, dim);
    ac_node *t = ac_layout_node(s, n, AC_OP_TRANSPOSE, z, y);
    t->attrs.perm.perm = ac_layout_perm_list(s, rank, inverse);
    y->quant = z->quant;
    return fold_or_place(s, t);
}
