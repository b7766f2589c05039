/* turned.c - rows that are scattered into the first axis of a transposed state, which is transposed back. Exporters
 * write index_copy and an assignment to cache[:, :, position] like that:
 *
 *   before:  %t = transpose %past p    %s = scatter_into %t %at %u    %next = transpose %s (p's inverse)
 *   after:   %next = scatter_elements %past (%at broadcast) (%u transposed back) axis=p[0]
 *
 * Other readers of %s are transposes, which then read %next, and products, which take it transposed. The same elements
 * are written in the same order. */
#include "ir/make/maker.h"
#include "ir/ops/decode/axis.h"
#include "ir/pass/state/state.h"

/* True if n is a transpose of a whole state or result, by perm. */
static bool turns(ac_ctx *cx, const ac_node *n, int32_t *perm)
{
    const ac_diags before = cx->diags;
    return n && n->op == AC_OP_TRANSPOSE && !n->n_fused && ac_quietly(cx, before, ac_perm_of(cx, n, perm));
}

/* A node of one operand before `next`: of the shape dim; or, TRANSPOSE, in the order perm. */
static ac_tensor *made(ac_graph *g, const ac_node *next, ac_op op, ac_tensor *x, int32_t rank, const int64_t *dim,
                       const int32_t *perm)
{
    ac_attrs a;
    if (perm && ac_perm_moves_nothing(x, perm)) {
        op = AC_OP_RESHAPE;
        perm = NULL;
    }
    ac_tensor *y = ac_tensor_new(g, ac_strf(g->cx->region, "%s_rows", x->name), x->dtype, rank, dim);
    ac_maker b = ac_maker_named(g, y->name);
    b.unsized = true;
    ac_attrs_init(op, &a);
    if (perm)
        a.perm.perm = ac_make_perm(&b, rank, perm);
    else
        a.shape.shape = ac_make_list(&b, rank, dim);
    ac_make_into(&b, op, &x, 1, &a, y);
    ac_graph_place(g, g->node.n - 1, ac_graph_place_of(g, next));
    return y;
}

/* Products with matrices of `turned`, which is x with its last two dimensions exchanged, take those of x. */
static void multiply_turned(ac_graph *g, ac_tensor *x, const ac_tensor *turned)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        if (n->op != AC_OP_BATCH_MATMUL)
            continue;
        bool *adj[] = {&n->attrs.matmul.adj_x, &n->attrs.matmul.adj_y};
        for (int32_t o = 0; o < 2; o++)
            if (n->in[o] == turned) {
                n->in[o] = x;
                *adj[o] = !*adj[o];
            }
    }
}

static bool exchanges_last(const int32_t *perm, int32_t rank)
{
    bool is = rank >= 2 && perm[rank - 1] == rank - 2 && perm[rank - 2] == rank - 1;
    for (int32_t d = 0; d < rank - 2; d++)
        is &= perm[d] == d;
    return is;
}

/* Transposes that read s read x instead, which is s transposed back. false: s has other readers, nothing changed. */
static bool readers_turn(ac_graph *g, const ac_tensor *s, ac_tensor *x, const ac_node *back, const int32_t *p,
                         bool change)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        int32_t q[AC_MAX_RANK], through[AC_MAX_RANK];
        bool reads = false;
        for (int32_t o = 0; o < n->n_in; o++)
            reads |= n->in[o] == s;
        if (!reads || n == back)
            continue;
        if (!turns(g->cx, n, q))
            return false;
        for (int32_t d = 0; d < x->rank; d++)
            through[d] = p[q[d]];
        if (change) {
            const ac_maker b = ac_maker_at(g, n);
            n->in[0] = x;
            n->n_in = 1;
            n->attrs.perm.perm = ac_make_perm(&b, x->rank, through);
            if (exchanges_last(through, x->rank))
                multiply_turned(g, x, n->out[0]);
        }
    }
    return true;
}

int ac_state_turned(ac_ctx *cx, ac_graph *g, ac_tensor *state, ac_tensor *next)
{
    int32_t p[AC_MAX_RANK], back[AC_MAX_RANK];
    ac_node *last = next->def, *scatter = last && last->n_in ? last->in[0]->def : NULL;
    if (!turns(cx, last, back) || !scatter || scatter->op != AC_OP_SCATTER_INTO || scatter->n_fused ||
        scatter->attrs.scatter.reduction != AC_W_NONE || last->in[0]->output)
        return AC_OK;
    const ac_node *first = scatter->in[0]->def;
    ac_tensor *at = scatter->in[1], *u = scatter->in[2];
    if (!turns(cx, first, p) || first->in[0] != state || at->rank != 2 || at->dim[1] != 1)
        return AC_OK;
    int64_t of_at[AC_MAX_RANK], of_u[AC_MAX_RANK];
    int32_t before[AC_MAX_RANK], order[AC_MAX_RANK];
    const bool turned = turns(cx, u->def, before); /* usually the transpose of a tensor with the state's layout */
    for (int32_t d = 0; d < next->rank; d++) {
        if (p[back[d]] != d)
            return AC_OK;
        order[d] = turned ? before[back[d]] : back[d];
        of_u[d] = u->dim[back[d]];
        of_at[d] = d == p[0] ? at->dim[0] : 1;
    }
    if (!readers_turn(g, scatter->out[0], next, last, p, false))
        return AC_OK;
    readers_turn(g, scatter->out[0], next, last, p, true);
    ac_tensor *rows = made(g, last, AC_OP_RESHAPE, at, next->rank, of_at, NULL);
    ac_tensor *in[] = {state, made(g, last, AC_OP_BROADCAST_TO, rows, next->rank, of_u, NULL),
                       made(g, last, AC_OP_TRANSPOSE, turned ? u->def->in[0] : u, next->rank, of_u, order)};
    const int32_t place = ac_graph_place_of(g, last);
    const ac_maker b = ac_maker_at(g, scatter);
    ac_attrs a;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    a.scatter.axis = p[0];
    a.scatter.reduction = AC_W_NONE;
    ac_node_erase(last);
    next = ac_make_into(&b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, next);
    ac_graph_place(g, g->node.n - 1, place);
    return next ? AC_OK : AC_FAIL;
}
