/* repeat.c - pass repeat: products with a matrix that was repeated or scaled for them. */
#include "ir/make/maker.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"

#include <string.h>

/* y = reshape(broadcast_to(u)): matrices u [.., G, 1, rows, columns], each `times` times one after another in
 * y [.., G * times, rows, columns]. */
static ac_tensor *repeated_matrix(const ac_tensor *y, int64_t *times)
{
    const ac_node *r = y->def, *b = r && r->op == AC_OP_RESHAPE && !r->n_fused && r->in[0] ? r->in[0]->def : NULL;
    ac_tensor *u = b && b->op == AC_OP_BROADCAST_TO && !b->n_fused ? b->in[0] : NULL;
    const ac_tensor *wide = b ? b->out[0] : NULL;
    if (!u || u->rank != wide->rank || wide->rank != y->rank + 1 || y->rank < 3)
        return NULL;
    const int32_t at = u->rank - 3; /* the dimension that is repeated */
    bool fits = u->dim[at] == 1 && wide->dim[at] * wide->dim[at - 1] == y->dim[at - 1];
    for (int32_t d = 0; d < u->rank; d++)
        fits &= d == at || (u->dim[d] == wide->dim[d] && (d == at - 1 || u->dim[d] == y->dim[d < at ? d : d - 1]));
    *times = wide->dim[at];
    return fits ? u : NULL;
}

/* The operand x of y = x * c or x / c, with one value c (say, keys that scale scores): c may scale the matrix before it
 * is repeated. NULL: y is another value. */
static ac_tensor *scaled_matrix(const ac_tensor *y)
{
    const ac_node *n = y->def;
    if (!n || (n->op != AC_OP_MUL && n->op != AC_OP_DIV) || n->n_fused || !ac_dtype_is_float(y->dtype))
        return NULL;
    const int32_t one = n->op == AC_OP_MUL && ac_tensor_count(n->in[0]) == 1 ? 0 : 1;
    const bool fits = ac_tensor_count(n->in[one]) == 1 && ac_tensor_is_const(n->in[one]);
    return fits && ac_tensor_same_shape(n->in[1 - one], y) ? n->in[1 - one] : NULL;
}

/* The result of `by` with u instead of operand z. */
static ac_tensor *scale(ac_graph *g, const ac_node *by, const ac_tensor *z, ac_tensor *u)
{
    ac_tensor *y = ac_tensor_new(g, by->out[0]->name, u->dtype, u->rank, u->dim);
    ac_tensor *in[2] = {by->in[0], by->in[1]};
    in[z != by->in[0]] = u;
    const ac_maker b = ac_maker_at(g, by);
    return ac_make_into(&b, by->op, in, 2, &by->attrs, y);
}

/* x in another shape; the operand of a reshape is reshaped directly. */
static ac_tensor *reshaped(ac_graph *g, const ac_node *of, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    while (x->def && x->def->op == AC_OP_RESHAPE && !x->def->n_fused && !x->def->in[0]->state)
        x = x->def->in[0];
    if (ac_dims_equal(x, rank, dim))
        return x;
    ac_tensor *y = ac_tensor_new(g, x->name, x->dtype, rank, dim);
    const ac_maker b = ac_maker_at(g, of);
    y->quant = x->quant;
    return ac_make_reshape_into(&b, x, y, y);
}

/* z: the second operand before it was scaled; NULL: it was not. */
static int share_product(ac_pass *p, int32_t *at, ac_tensor *u, const ac_tensor *z, int64_t times)
{
    ac_graph *g = p->graph;
    ac_node *n = g->node.item[*at];
    ac_tensor *x = n->in[0], *y = n->in[1], *out = n->out[0];
    int64_t xd[AC_MAX_RANK], yd[AC_MAX_RANK], od[AC_MAX_RANK];
    const int32_t rank = x->rank, group = rank - 3, from = g->node.n;
    memcpy(xd, x->dim, sizeof xd);
    memcpy(yd, y->dim, sizeof yd);
    memcpy(od, out->dim, sizeof od);
    xd[group] /= times, xd[rank - 2] *= times;
    yd[group] /= times;
    od[group] /= times, od[rank - 2] *= times;
    u = z ? scale(g, y->def, z, u) : u;
    if (!u)
        return AC_FAIL;
    ac_tensor *few = reshaped(g, n, u, rank, yd), *many = reshaped(g, n, x, rank, xd);
    if (!few || !many)
        return AC_FAIL;
    const int32_t made = g->node.n - from;
    ac_graph_place(g, from, *at);
    *at += made;
    ac_tensor *own = ac_tensor_new(g, out->name, out->dtype, rank, od);
    own->quant = out->quant;
    own->def = n;
    n->in[0] = many;
    n->in[1] = few;
    n->out[0] = own;
    const int32_t last = g->node.n;
    const ac_maker b = ac_maker_at(g, n);
    out = ac_make_reshape_into(&b, own, out, out);
    ac_graph_place(g, last, *at + 1);
    return out ? AC_OK : AC_FAIL;
}

/* Scales the smaller operand of the product instead of the larger one: a query, not all keys. Quantised operands keep
 * their scales, which passes integers and pack read there. */
static int scale_smaller(ac_pass *p, int32_t *at, int32_t side)
{
    ac_graph *g = p->graph;
    ac_node *n = g->node.item[*at];
    ac_tensor *y = n->in[side], *x = n->in[1 - side];
    const int32_t from = g->node.n;
    const ac_tensor *before = y; /* shapes may differ */
    while (before->def && before->def->op == AC_OP_RESHAPE && !before->def->n_fused)
        before = before->def->in[0];
    ac_tensor *z = scaled_matrix(before);
    const ac_node *by = before->def;
    ac_dequantised d;
    if (!z || ac_dequantised_of(g, y, &d) || ac_node_act(by) != AC_ACT_NONE ||
        ac_tensor_count(x) >= ac_tensor_count(y) || x->dtype != y->dtype || by->in[z == by->in[0]]->rank > x->rank)
        return AC_OK;
    x = scale(g, by, z, x);
    z = !x || ac_tensor_same_shape(z, y) ? z : reshaped(g, n, z, y->rank, y->dim);
    if (!x || !z)
        return AC_FAIL;
    const int32_t made = g->node.n - from;
    ac_graph_place(g, from, *at);
    *at += made;
    n->in[1 - side] = x;
    n->in[side] = z;
    p->changed++;
    return AC_OK;
}

/* ac_pass_repeat: heads of attention that share their keys and values (grouped queries) are rows of one product.
 *   before:  %w = broadcast_to %u [G,times,N,K]    %y = reshape %w [G*times,N,K]    %z = batch_matmul %x %y adj_y
 *   after:   %xr = reshape %x [G,times*M,K]    %zr = batch_matmul %xr %u adj_y    %z = reshape %zr [G*times,M,N]
 * .. also if %y is multiplied by one value: then %u is, or %x if that is smaller.
 * needs: shapes known, no epilogues, no views.  keeps: values bit for bit, but for that (not with --exact). */
int ac_pass_repeat(ac_pass *p)
{
    ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        int64_t times;
        if (n->op != AC_OP_BATCH_MATMUL || n->n_fused || n->attrs.matmul.adj_x)
            continue;
        const ac_tensor *x = n->in[0], *y = n->in[1], *out = n->out[0];
        const ac_tensor *whole = scaled_matrix(y);
        ac_tensor *u = repeated_matrix(whole ? whole : y, &times);
        bool fits = u && x->rank == y->rank && out->rank == y->rank && !ac_tensor_root(u)->state;
        for (int32_t d = 0; fits && d < y->rank - 2; d++)
            fits = x->dim[d] == y->dim[d];
        if (fits && ac_tensor_count(out) > 0) {
            AC_TRY(share_product(p, &i, u, whole, times));
            p->changed++;
        }
        for (int32_t side = 0; side < 2 && !p->opt->exact && !p->opt->grows; side++)
            AC_TRY(scale_smaller(p, &i, side));
    }
    ac_graph_sweep(g); /* operands of folded scales and codes */
    return AC_OK;
}
