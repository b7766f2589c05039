/* onnx_turned.c - operators on transposed operands: written on their operands, with the result transposed instead.
 * So a graph with channels last, whose convolutions ONNX has with channels first, has transposes at its ends alone.
 *
 *     %t = transpose %x   %y = relu %t        becomes        y' = Relu(x)   y = Transpose(y')
 *
 * The other operands have to be transposed alike, or be constants. */
#include "export/onnx_out.h"
#include "ir/ops/decode/axis.h"

#include <string.h>

typedef struct turning {
    ac_onw *w;
    ac_node n; /* on the early operands */
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    int32_t rank;
} turning;

/* All operands of `rank` dimensions that are not constants are transposed alike. */
static bool alike(turning *t, const ac_node *n)
{
    ac_tensor *of;
    int32_t perm[AC_MAX_RANK];
    bool any = false;
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *x = n->in[i];
        if (!x || ac_tensor_is_const(x) || ac_node_is_static(n, i) || x->rank == 0)
            continue;
        if (x->rank != t->rank || !ac_onw_turned(t->w, x, &of, perm))
            return false;
        if (any && memcmp(perm, t->perm, (size_t)t->rank * sizeof *perm) != 0)
            return false;
        memcpy(t->perm, perm, sizeof perm);
        any = true;
    }
    for (int32_t d = 0; d < t->rank && any; d++)
        t->back[t->perm[d]] = d;
    return any;
}

/* Operand x as it is before the transposition. */
static ac_tensor *early(turning *t, ac_tensor *x)
{
    ac_tensor *of;
    int32_t perm[AC_MAX_RANK];
    int64_t dim[AC_MAX_RANK];
    if (!x || x->rank == 0)
        return x;
    if (!ac_tensor_is_const(x))
        return ac_onw_turned(t->w, x, &of, perm) ? of : x;
    if (ac_tensor_count(x) == 1)
        return x;
    for (int32_t d = 0; d < t->rank; d++)
        dim[d] = d < t->rank - x->rank ? 1 : x->dim[d - (t->rank - x->rank)];
    ac_tensor *wide = ac_tensor_const(t->w->g, x->name, x->dtype, t->rank, dim, ac_tensor_force(t->w->cx, x));
    return ac_onw_transpose(t->w, wide, t->back);
}

/* false: dimensions that stay change their order. */
static bool reduce(turning *t)
{
    uint32_t mask;
    int64_t axes[AC_MAX_RANK];
    int32_t m = 0, last = -1;
    uint32_t early = 0; /* of the early operand */
    const ac_diags before = t->w->cx->diags;
    if (!ac_quietly(t->w->cx, before, ac_reduce_axes(t->w->cx, &t->n, &mask)) || !mask)
        return false;
    for (int32_t d = 0; d < t->rank; d++)
        if (mask >> d & 1)
            early |= 1u << t->perm[d];
        else if (!t->n.attrs.reduce.keep_dims && t->perm[d] < last)
            return false;
        else
            last = t->perm[d];
    for (int32_t d = 0; d < t->rank; d++)
        if (early >> d & 1)
            axes[m++] = d;
    t->n.attrs.reduce.axes = (ac_ints){m, ac_copy(t->w->cx->region, axes, sizeof axes)};
    t->n.n_in = 1;
    return true;
}

static bool concat(turning *t)
{
    int32_t axis;
    for (int32_t i = 0; i < t->n.n_in; i++)
        if (ac_tensor_is_const(t->n.in[i]))
            return false;
    if (ac_axis_norm(t->w->cx, &t->n, t->n.attrs.axis.axis, t->rank, &axis) != AC_OK)
        return false;
    t->n.attrs.axis.axis = t->perm[axis];
    return true;
}

bool ac_onw_on_turned(ac_onw *w, const ac_node *n, const ac_onw_row *row)
{
    const bool each = (row->flags & AC_ONW_EACH) != 0, reduces = (row->flags & AC_ONW_REDUCES) != 0,
               joins = n->op == AC_OP_CONCATENATION;
    if ((!each && !reduces && !joins) || n->n_out != 1)
        return false;
    ac_tensor *y = n->out[0];
    turning t = {.w = w, .n = *n, .rank = reduces ? n->in[0]->rank : y->rank};
    if (!alike(&t, n) || (reduces && !reduce(&t)) || (joins && !concat(&t)))
        return false;
    const bool same = reduces && !n->attrs.reduce.keep_dims;
    int64_t dim[AC_MAX_RANK];
    ac_tensor *out = y;
    t.n.in = ac_copy(w->cx->region, n->in, (size_t)n->n_in * sizeof *n->in);
    for (int32_t i = 0; i < t.n.n_in; i++)
        t.n.in[i] = early(&t, n->in[i]);
    if (!same) {
        for (int32_t d = 0; d < t.rank; d++)
            dim[t.perm[d]] = y->dim[d];
        out = ac_onw_value(w, y, y->dtype, y->rank, dim);
    }
    t.n.out = &out;
    if (row->say(w, &t.n) == AC_OK && !same)
        ac_onw_transpose_to(w, out, t.perm, y);
    return true;
}
