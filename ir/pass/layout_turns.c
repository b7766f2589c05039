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

ac_maker ac_layout_maker(ac_layout *s, const ac_node *like)
{
    return (ac_maker){.cx = s->cx, .g = s->g, .name = like->name, .at = like->at, .unsized = true};
}

ac_node *ac_layout_new(ac_layout *s, const ac_tensor *y)
{
    s->g->node.n--;
    return y->def;
}

/* Folded if the operand is a constant, else placed here. */
static ac_tensor *fold_or_place(ac_layout *s, ac_tensor *y)
{
    ac_node *n = ac_layout_new(s, y);
    if (!ac_tensor_is_const(n->in[0]) || !ac_fold_node(s->g, n))
        ac_layout_place(s, n);
    return y;
}

ac_tensor *ac_layout_reshaped(ac_layout *s, const ac_node *n, ac_tensor *z, int32_t rank, const int64_t *dim)
{
    ac_tensor *y = ac_tensor_new(s->g, z->name, z->dtype, rank, dim);
    const ac_maker b = ac_layout_maker(s, n);
    y->quant = z->quant;
    return fold_or_place(s, ac_make_reshape_into(&b, z, y, y));
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
    const ac_maker b = ac_layout_maker(s, n);
    y->quant = z->quant;
    return fold_or_place(s, ac_make_transpose_into(&b, z, inverse, y));
}
