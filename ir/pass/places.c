/* places.c - follows the elements that a reader wants through nodes that only move them. */
#include "ir/pass/places.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

#include <string.h>

void ac_steps_of(int32_t rank, const int64_t *dim, int64_t step[AC_MAX_RANK])
{
    int64_t n = 1;
    for (int32_t d = rank - 1; d >= 0; d--) {
        step[d] = n;
        n *= dim[d];
    }
}

void ac_steps_broadcast(const ac_tensor *t, int32_t rank, int64_t step[AC_MAX_RANK])
{
    int64_t own[AC_MAX_RANK];
    ac_steps_of(t->rank, t->dim, own);
    for (int32_t d = 0; d < rank; d++) {
        const int32_t k = d - (rank - t->rank);
        step[d] = k < 0 || t->dim[k] == 1 ? 0 : own[k];
    }
}

/* The dimension along which an axis of this step moves; -1: none. */
static int32_t dim_of(int32_t rank, const int64_t *dim, const int64_t *step, int64_t s)
{
    for (int32_t d = 0; d < rank; d++)
        if (dim[d] > 1 && s >= step[d])
            return s % step[d] == 0 && s / step[d] < dim[d] ? d : -1;
    return -1;
}

bool ac_places_move(ac_places *p, int32_t rank, const int64_t *dim, const int64_t *to, int64_t base)
{
    int64_t step[AC_MAX_RANK], last[AC_MAX_RANK] = {0}, rest = p->first;
    ac_places out = *p;
    ac_steps_of(rank, dim, step);
    out.first = base;
    for (int32_t d = 0; d < rank; d++) {
        last[d] = dim[d] > 1 ? rest / step[d] : 0;
        rest -= last[d] * step[d];
        out.first += last[d] * to[d];
    }
    for (int32_t a = 0; a < p->n; a++) {
        if (p->axis[a].count == 1 || p->axis[a].step == 0) {
            out.axis[a].step = 0;
            continue;
        }
        const int32_t d = dim_of(rank, dim, step, p->axis[a].step);
        if (d < 0)
            return false;
        const int64_t k = p->axis[a].step / step[d];
        last[d] += k * (p->axis[a].count - 1);
        out.axis[a].step = k * to[d];
    }
    for (int32_t d = 0; d < rank; d++)
        if (last[d] >= dim[d] && dim[d] > 0)
            return false;
    *p = out;
    return true;
}

/* x becomes p->t; there, dimensions dim[] of p->t have steps to[]. State may change before the reader reads it. */
static bool move_back(ac_places *p, ac_tensor *x, int32_t rank, const int64_t *dim, const int64_t *to, int64_t base)
{
    if (ac_tensor_root(x)->state || x->dtype != p->t->dtype || !ac_places_move(p, rank, dim, to, base))
        return false;
    p->t = x;
    return true;
}

static bool through_transpose(ac_graph *g, ac_places *p, const ac_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t step[AC_MAX_RANK], to[AC_MAX_RANK];
    int32_t perm[AC_MAX_RANK];
    ac_diags before = g->cx->diags;
    if (!ac_quietly(g->cx, before, ac_perm_of(g->cx, n, perm)))
        return false;
    ac_steps_of(x->rank, x->dim, step);
    for (int32_t d = 0; d < x->rank; d++)
        to[d] = step[perm[d]];
    return move_back(p, x, p->t->rank, p->t->dim, to, 0);
}

static bool through_slice(ac_graph *g, ac_places *p, const ac_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t to[AC_MAX_RANK], base = 0;
    ac_slice of = {0};
    ac_diags before = g->cx->diags;
    if (!ac_quietly(g->cx, before,
                    n->op == AC_OP_SLICE ? ac_slice_of(g->cx, n, &of) : ac_strided_slice_of(g->cx, n, &of)))
        return false;
    ac_steps_of(x->rank, x->dim, to);
    for (int32_t d = 0; d < x->rank; d++) {
        if (of.step[d] < 1 && of.extent[d] > 1)
            return false;
        base += of.begin[d] * to[d];
        to[d] *= of.step[d];
    }
    return move_back(p, x, x->rank, of.extent, to, base);
}

static bool through_split(ac_graph *g, ac_places *p, const ac_node *n)
{
    ac_tensor *x = ac_split_value(n);
    int64_t to[AC_MAX_RANK], base = 0;
    const int64_t *sizes;
    int32_t axis;
    ac_diags before = g->cx->diags;
    if (!ac_quietly(g->cx, before, ac_split_of(g->cx, n, &axis, &sizes)))
        return false;
    ac_steps_of(x->rank, x->dim, to);
    for (int32_t i = 0; i < n->n_out && n->out[i] != p->t; i++)
        base += sizes[i] * to[axis];
    return move_back(p, x, p->t->rank, p->t->dim, to, base);
}

/* A slice of one index. */
static bool through_gather(ac_graph *g, ac_places *p, const ac_node *n)
{
    ac_tensor *x = n->in[0], *index = n->in[1];
    int64_t to[AC_MAX_RANK], dim[AC_MAX_RANK];
    int32_t axis, batch;
    ac_ints at;
    ac_diags before = g->cx->diags;
    if (!ac_tensor_is_const(index) || ac_tensor_count(index) != 1 ||
        !ac_quietly(g->cx, before, ac_gather_of(g->cx, n, &axis, &batch)) ||
        !ac_quietly(g->cx, before, ac_node_ints(g->cx, n, 1, (ac_ints){0}, &at)) || batch || at.v[0] < 0 ||
        at.v[0] >= x->dim[axis])
        return false;
    ac_steps_of(x->rank, x->dim, to);
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = 1;
    return move_back(p, x, x->rank, dim, to, at.v[0] * to[axis]);
}

static bool through_broadcast(ac_places *p, const ac_node *n)
{
    int64_t to[AC_MAX_RANK];
    ac_steps_broadcast(n->in[0], p->t->rank, to);
    return move_back(p, n->in[0], p->t->rank, p->t->dim, to, 0);
}

bool ac_places_step(ac_graph *g, ac_places *p)
{
    const ac_node *n = p->t->def;
    if (!n || n->n_fused || n->n_in < 1 || !n->in[0])
        return false;
    if (ac_ops[n->op].flags & OF_VIEW) {
        int64_t step[AC_MAX_RANK];
        ac_steps_of(p->t->rank, p->t->dim, step);
        return move_back(p, n->in[0], p->t->rank, p->t->dim, step, 0);
    }
    if (n->op == AC_OP_TRANSPOSE)
        return through_transpose(g, p, n);
    if (n->op == AC_OP_SLICE || n->op == AC_OP_STRIDED_SLICE)
        return through_slice(g, p, n);
    if (n->op == AC_OP_SPLIT || n->op == AC_OP_SPLIT_V)
        return through_split(g, p, n);
    if (n->op == AC_OP_GATHER)
        return through_gather(g, p, n);
    return n->op == AC_OP_BROADCAST_TO && through_broadcast(p, n);
}
