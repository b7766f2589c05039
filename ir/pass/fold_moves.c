/* fold_moves.c - constants are moved before they are converted. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"
#include "ir/make/maker.h"
#include "ir/pass/passes.h"

enum { MOST_NODES = 12 }; /* between the constant and the move */

typedef struct move {
    const ac_node *n; /* TRANSPOSE, SLICE, STRIDED_SLICE, or a view */
    ac_maker b;
    int32_t perm[AC_MAX_RANK];
    ac_slice part;
    int32_t left; /* nodes */
} move;

static bool read_move(ac_graph *g, const ac_node *n, move *m)
{
    *m = (move){.n = n, .b = ac_maker_at(g, n), .left = MOST_NODES};
    const ac_diags before = g->cx->diags;
    int rc = AC_FAIL;
    if (ac_ops[n->op].flags & OF_VIEW)
        return true;
    if (n->op == AC_OP_TRANSPOSE)
        rc = ac_perm_of(g->cx, n, m->perm);
    else if (n->op == AC_OP_SLICE || n->op == AC_OP_STRIDED_SLICE)
        rc = (n->op == AC_OP_SLICE ? ac_slice_of : ac_strided_slice_of)(g->cx, n, &m->part);
    ac_quietly(g->cx, before, rc);
    for (int32_t d = 0; d < n->in[0]->rank && rc == AC_OK && n->op != AC_OP_TRANSPOSE; d++)
        rc = m->part.step[d] == 1 ? AC_OK : AC_FAIL;
    return rc == AC_OK;
}

/* The map that makes t of constants with fewer bytes in an element; else NULL. */
static const ac_node *conversion_of(const ac_tensor *t)
{
    const ac_node *n = t->made_of;
    if (!n || !ac_ops[n->op].map || n->n_out != 1 || n->n_fused || t->quant || t->splat)
        return NULL;
    for (int32_t i = 0; i < n->n_in; i++)
        if (!n->in[i] || !ac_tensor_is_const(n->in[i]) || n->in[i]->weight ||
            (n->in[i]->quant && n->in[i]->quant->n > 1))
            return NULL;
    return n;
}

/* True if t is made of fewer bytes than it has. */
static bool grew(const ac_tensor *t, int32_t left)
{
    const ac_node *n = conversion_of(t);
    ac_bytes sum = 0;
    for (int32_t i = 0; n && i < n->n_in; i++) {
        if (left > 0 && grew(n->in[i], left - 1))
            return true;
        sum += ac_tensor_bytes(n->in[i]);
    }
    return n && sum < ac_tensor_bytes(t);
}

/* y, the result of a new node, as a constant; y itself if no node was needed. */
static ac_tensor *folded(const move *m, ac_tensor *y)
{
    return !y || ac_tensor_is_const(y) ? y : ac_fold_plain_new(m->b.g, y);
}

/* t, under the last dimensions of the operand of the move, with all of them. */
static ac_tensor *with_rank(const move *m, ac_tensor *t)
{
    int64_t dim[AC_MAX_RANK];
    const int32_t rank = m->n->in[0]->rank, off = rank - t->rank;
    for (int32_t d = 0; d < rank; d++)
        dim[d] = d < off ? 1 : t->dim[d - off];
    return off ? folded(m, ac_make_reshape(&m->b, t, rank, dim)) : t;
}

/* The shape of t, which has the rank of x and repeats along some of its dimensions, if x is reshaped to y: dimensions
 * that become others together have to be all there or all repeated. */
static bool reshaped(const ac_tensor *t, const ac_tensor *x, const ac_tensor *y, int64_t *dim)
{
    for (int32_t i = 0, k = 0; i < x->rank || k < y->rank;) {
        const int32_t from = i, to = k;
        int64_t p = 1, q = 1;
        bool whole = true, none = true;
        do {
            if (i < x->rank && (p <= q || k == y->rank))
                p *= x->dim[i++];
            else if (k < y->rank)
                q *= y->dim[k++];
        } while (p != q && (i < x->rank || k < y->rank));
        for (int32_t d = from; d < i; d++) {
            whole &= t->dim[d] == x->dim[d];
            none &= t->dim[d] == 1;
        }
        if (p != q || !p || (!whole && !none))
            return false;
        for (int32_t d = to; d < k; d++)
            dim[d] = whole ? y->dim[d] : 1;
    }
    return true;
}

/* The move itself; a dimension along which t repeats stays as it is. */
static ac_tensor *moved_itself(const move *m, ac_tensor *t)
{
    const ac_tensor *x = m->n->in[0], *y = m->n->out[0];
    int64_t dim[AC_MAX_RANK];
    t = with_rank(m, t);
    if (t && ac_ops[m->n->op].flags & OF_VIEW)
        return reshaped(t, x, y, dim) ? folded(m, ac_make_reshape(&m->b, t, y->rank, dim)) : NULL;
    if (t && m->n->op == AC_OP_TRANSPOSE)
        return folded(m, ac_make_transpose(&m->b, t, m->perm));
    for (int32_t d = 0; t && d < x->rank; d++)
        if (t->dim[d] != 1 && m->part.extent[d] != t->dim[d])
            t = folded(m, ac_make_slice(&m->b, t, d, m->part.begin[d], m->part.extent[d]));
    return t;
}

static ac_tensor *moved(move *m, ac_tensor *t);

/* The operands of a map, moved. */
static bool moved_operands(move *m, const ac_node *map, ac_tensor **in)
{
    bool all = --m->left >= 0 && map->n_in <= 4;
    for (int32_t i = 0; i < map->n_in && all; i++)
        all = (in[i] = moved(m, map->in[i])) != NULL;
    return all;
}

/* t, moved. NULL: it cannot be. */
static ac_tensor *moved(move *m, ac_tensor *t)
{
    ac_tensor *in[4];
    if (ac_tensor_count(t) == 1)
        return t;
    if (!grew(t, MOST_NODES))
        return moved_itself(m, t);
    const ac_node *map = conversion_of(t);
    return moved_operands(m, map, in) ? folded(m, ac_make_op(&m->b, map->op, in, map->n_in, &map->attrs, t->dtype))
                                      : NULL;
}

/* True if the operands broadcast to the shape of y. */
static bool fills(ac_tensor *const *in, int32_t n, const ac_tensor *y)
{
    bool all = true;
    for (int32_t d = 1; d <= AC_MAX_RANK; d++) {
        int64_t most = 1;
        int32_t rank = 0;
        for (int32_t i = 0; i < n; i++) {
            rank = in[i]->rank > rank ? in[i]->rank : rank;
            most = d <= in[i]->rank && in[i]->dim[in[i]->rank - d] > most ? in[i]->dim[in[i]->rank - d] : most;
        }
        all &= rank == y->rank && (d > rank || most == y->dim[rank - d]);
    }
    return all;
}

/* y, the result of n, becomes a constant made of the operands of the map that makes x. */
static bool replace(move *m, ac_node *n, const ac_node *map, ac_tensor *y)
{
    ac_tensor *in[4], *v = y;
    if (!moved_operands(m, map, in))
        return false;
    const bool whole = fills(in, map->n_in, y);
    if (!whole)
        v = folded(m, ac_make_op(&m->b, map->op, in, map->n_in, &map->attrs, y->dtype));
    if (!v || ac_tensor_count(v) != ac_tensor_count(y))
        return false;
    ac_node_erase(n);
    v = whole ? ac_make_into(&m->b, map->op, in, map->n_in, &map->attrs, y) : ac_make_reshape_into(&m->b, v, y, y);
    return v && (ac_tensor_is_const(y) || ac_fold_plain(m->b.g, y->def));
}

bool ac_fold_moved(ac_graph *g, ac_node *n)
{
    move m;
    ac_tensor *x = ac_node_in(n, 0), *y = n->out[0];
    const int32_t nodes = g->node.n;
    if (!(ac_ops[n->op].flags & (OF_MOVES | OF_VIEW)) || n->n_fused || n->n_out != 1 || !x || !ac_tensor_is_const(x) ||
        x->weight || y->quant || x->dtype != y->dtype || !grew(x, MOST_NODES) || !read_move(g, n, &m))
        return false;
    const bool done = replace(&m, n, conversion_of(x), y);
    ac_graph_sweep_end(g, nodes);
    return done;
}
