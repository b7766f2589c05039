/* placed_rules.c - shape rules of operators that replace a part of an operand: reverse_sequence, dynamic_update_slice,
 * matrix_diag, matrix_set_diag. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

static int misfit(ac_ctx *cx, const ac_node *n, const char *why)
{
    ac_error(cx, n->at, E0104, "%s", why);
    return ac_shape_show(cx, n);
}

static int like_first(ac_ctx *cx, ac_node *n)
{
    return ac_shape_set_like(cx, n, 0, n->in[0], n->in[0]->rank, n->in[0]->dim);
}

int ac_sh_reverse_sequence(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    int32_t seq, batch;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_index(cx, n, 1));
    const ac_tensor *x = n->in[0], *length = n->in[1];
    AC_TRY(ac_axis_norm(cx, n, n->attrs.sequence.seq_axis, x->rank, &seq));
    AC_TRY(ac_axis_norm(cx, n, n->attrs.sequence.batch_axis, x->rank, &batch));
    if (seq == batch)
        return ac_error(cx, n->at, E0103, "the axis of the sequence and of the batch are both %d", seq);
    if (length->rank != 1 || length->dim[0] != x->dim[batch])
        return misfit(cx, n, "expected one length for each index of the batch axis");
    return like_first(cx, n);
}

int ac_sh_dynamic_update_slice(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    AC_TRY(ac_shape_index(cx, n, 2));
    const ac_tensor *x = n->in[0], *update = n->in[1], *start = n->in[2];
    bool fits = update->rank == x->rank && start->rank == 1 && start->dim[0] == x->rank;
    for (int32_t d = 0; fits && d < x->rank; d++)
        fits = update->dim[d] <= x->dim[d];
    if (!fits)
        return misfit(cx, n, "expected an update of as many dimensions, none larger, and one start for each");
    return like_first(cx, n);
}

int ac_sh_matrix_diag(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    if (x->rank < 1 || x->rank >= AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "'%s' has %d dimensions, expected 1 to %d", x->name, x->rank,
                        AC_MAX_RANK - 1);
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[d];
    dim[x->rank] = x->dim[x->rank - 1];
    return ac_shape_set_like(cx, n, 0, x, x->rank + 1, dim);
}

int ac_sh_matrix_set_diag(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    const ac_tensor *x = n->in[0], *diagonal = n->in[1];
    bool fits = x->rank >= 2 && diagonal->rank == x->rank - 1;
    for (int32_t d = 0; fits && d < x->rank - 2; d++)
        fits = diagonal->dim[d] == x->dim[d];
    if (fits) {
        const int64_t rows = x->dim[x->rank - 2], columns = x->dim[x->rank - 1];
        fits = diagonal->dim[x->rank - 2] == (rows < columns ? rows : columns);
    }
    if (!fits)
        return misfit(cx, n, "expected matrices [..,M,N] and diagonals [.., the lesser of M and N]");
    return like_first(cx, n);
}
