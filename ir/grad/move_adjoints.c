/* move_adjoints.c - gradients of operators that move elements: moves the other way, and sums where one was copied. */
#include "ir/make/compose_moves.h"
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

#include <string.h>

int ac_gr_reshape(ac_adjoint *a)
{
    if (ac_wants(a, 0))
        ac_give(a, 0, ac_make_reshape_like(&a->b, ac_dy(a), a->node->in[0]));
    return AC_OK;
}

int ac_gr_transpose(ac_adjoint *a)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    AC_TRY(ac_perm_of(a->b.cx, a->node, perm));
    for (int32_t d = 0; d < a->node->in[0]->rank; d++)
        back[perm[d]] = d;
    ac_give(a, 0, ac_make_transpose(&a->b, ac_dy_thin(a), back));
    return AC_OK;
}

int ac_gr_reverse(ac_adjoint *a)
{
    if (ac_wants(a, 0))
        ac_give(a, 0, OP2(REVERSE_V2, ac_dy(a), a->node->in[1]));
    return AC_OK;
}

/* ------------------------------------------------------------------ parts and wholes */

int ac_gr_concat(ac_adjoint *a)
{
    const ac_node *n = a->node;
    int32_t axis;
    int64_t begin = 0;
    ac_tensor *dy = ac_dy(a);
    AC_TRY(ac_axis_norm(a->b.cx, n, n->attrs.axis.axis, n->out[0]->rank, &axis));
    for (int32_t i = 0; i < n->n_in; i++) {
        const int64_t size = n->in[i]->dim[axis];
        if (ac_wants(a, i))
            ac_give(a, i, ac_make_part(&a->b, dy, axis, begin, size));
        begin += size;
    }
    return AC_OK;
}

int ac_gr_split(ac_adjoint *a)
{
    const ac_node *n = a->node;
    int32_t axis;
    const int64_t *size;
    int64_t begin = 0;
    AC_TRY(ac_split_of(a->b.cx, n, &axis, &size));
    const int32_t x = n->op == AC_OP_SPLIT && n->n_in > 1 ? 1 : 0;
    for (int32_t i = 0; i < n->n_out; i++) {
        if (ac_has_dy(a, i))
            ac_give_slice(a, x, axis, begin, ac_dy_of(a, i));
        begin += size[i];
    }
    return AC_OK;
}

int ac_gr_pack(ac_adjoint *a)
{
    const ac_node *n = a->node;
    int32_t axis;
    ac_tensor *dy = ac_dy(a);
    AC_TRY(ac_axis_norm(a->b.cx, n, n->attrs.axis.axis, n->out[0]->rank, &axis));
    for (int32_t i = 0; i < n->n_in; i++)
        if (ac_wants(a, i))
            ac_give(a, i, ac_make_reshape_like(&a->b, ac_make_part(&a->b, dy, axis, i, 1), n->in[i]));
    return AC_OK;
}

int ac_gr_unpack(ac_adjoint *a)
{
    const ac_node *n = a->node;
    int32_t axis;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_axis_norm(a->b.cx, n, n->attrs.axis.axis, n->in[0]->rank, &axis));
    memcpy(dim, n->in[0]->dim, sizeof dim);
    dim[axis] = 1;
    for (int32_t i = 0; i < n->n_out; i++)
        if (ac_has_dy(a, i))
            ac_give_slice(a, 0, axis, i, ac_make_reshape(&a->b, ac_dy_of(a, i), n->in[0]->rank, dim));
    return AC_OK;
}

/* Elements between, before and after the selected ones have gradient 0. ac_give_slice handles the last dimension that
 * was cut. */
static int give_slice(ac_adjoint *a, const ac_slice *s)
{
    const ac_tensor *x = a->node->in[0];
    ac_tensor *dx = ac_make_reshape(&a->b, ac_dy(a), x->rank, s->extent);
    int32_t cut = 0;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0}, size[AC_MAX_RANK];
    if (!ac_wants(a, 0) || !dx || ac_tensor_count(dx) == 0)
        return AC_OK;
    for (int32_t d = 0; d < x->rank; d++) {
        const int64_t step = s->step[d] < 0 ? -s->step[d] : s->step[d], span = (s->extent[d] - 1) * step;
        if (s->step[d] < 0)
            dx = ac_make_reverse(&a->b, dx, d);
        dx = ac_make_spread(&a->b, dx, d, step);
        before[d] = s->step[d] < 0 ? s->begin[d] - span : s->begin[d];
        size[d] = span + 1;
        after[d] = x->dim[d] - before[d] - size[d];
        if (before[d] || after[d])
            cut = d;
    }
    const int64_t begin = before[cut];
    before[cut] = after[cut] = 0;
    ac_give_slice(a, 0, cut, begin, ac_make_pad_or_crop(&a->b, dx, before, after));
    return AC_OK;
}

int ac_gr_slice(ac_adjoint *a)
{
    ac_slice s;
    AC_TRY(ac_slice_of(a->b.cx, a->node, &s));
    for (int32_t d = 0; d < a->node->in[0]->rank; d++)
        s.step[d] = 1;
    return give_slice(a, &s);
}

int ac_gr_strided(ac_adjoint *a)
{
    ac_slice s;
    AC_TRY(ac_strided_slice_of(a->b.cx, a->node, &s));
    return give_slice(a, &s);
}

/* ------------------------------------------------------------------ pads */

static void inner(const ac_tensor *x, const int64_t *before, const int64_t *after, int64_t *minus_before,
                  int64_t *minus_after)
{
    for (int32_t d = 0; d < x->rank; d++) {
        minus_before[d] = -before[d];
        minus_after[d] = -after[d];
    }
}

/* The value that padv2 pads with gets what the inner part does not. */
int ac_gr_pad(ac_adjoint *a)
{
    const ac_tensor *x = a->node->in[0];
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK], b[AC_MAX_RANK], e[AC_MAX_RANK];
    AC_TRY(ac_pads_of(a->b.cx, a->node, before, after));
    inner(x, before, after, b, e);
    ac_tensor *dy = ac_dy(a), *dx = ac_make_pad_or_crop(&a->b, dy, b, e);
    ac_give(a, 0, dx);
    if (ac_wants(a, 2)) {
        ac_tensor *inside = ac_make_reduce(&a->b, AC_OP_SUM, dx, (1u << x->rank) - 1, false);
        ac_tensor *rest = SUB(ac_make_reduce(&a->b, AC_OP_SUM, dy, (1u << x->rank) - 1, false), inside);
        ac_give(a, 2, ac_make_reshape_like(&a->b, rest, a->node->in[2]));
    }
    return AC_OK;
}

/* Along one dimension: the n elements of x, and the mirrored ones, folded back onto them. The mirror image of `before`
 * elements begins at `skip` (1: the border is not repeated). */
static ac_tensor *fold_back(const ac_adjoint *a, ac_tensor *dy, int32_t d, int64_t before, int64_t after, int64_t skip)
{
    if (!dy)
        return NULL;
    const int64_t n = dy->dim[d] - before - after;
    int64_t b[AC_MAX_RANK] = {0}, e[AC_MAX_RANK] = {0};
    ac_tensor *dx = ac_make_part(&a->b, dy, d, before, n);
    if (before) {
        b[d] = skip;
        e[d] = n - before - skip;
        dx =
            ADD(dx, ac_make_pad_or_crop(&a->b, ac_make_reverse(&a->b, ac_make_part(&a->b, dy, d, 0, before), d), b, e));
    }
    if (after) {
        b[d] = n - after - skip;
        e[d] = skip;
        dx = ADD(dx, ac_make_pad_or_crop(
                         &a->b, ac_make_reverse(&a->b, ac_make_part(&a->b, dy, d, before + n, after), d), b, e));
    }
    return dx;
}

int ac_gr_mirror_pad(ac_adjoint *a)
{
    const ac_node *n = a->node;
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
    AC_TRY(ac_pads_of(a->b.cx, n, before, after));
    ac_tensor *dx = ac_dy(a);
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        dx = fold_back(a, dx, d, before[d], after[d], n->attrs.mirror.symmetric ? 0 : 1);
    ac_give(a, 0, dx);
    return AC_OK;
}

/* ------------------------------------------------------------------ copies */

/* Dimension by dimension: [outer, times, size, inner] summed over the second. */
int ac_gr_tile(ac_adjoint *a)
{
    const ac_tensor *x = a->node->in[0];
    int64_t times[AC_MAX_RANK], dim[AC_MAX_RANK];
    AC_TRY(ac_tile_of(a->b.cx, a->node, times));
    ac_tensor *dx = ac_dy(a);
    for (int32_t d = 0; dx && d < x->rank; d++) {
        if (times[d] == 1)
            continue;
        memcpy(dim, dx->dim, sizeof dim);
        const int64_t outer = ac_dim_product(dim, 0, d), rest = ac_dim_product(dim, d + 1, x->rank) * x->dim[d];
        dx = ac_make_reshape(&a->b, dx, 3, (int64_t[]){outer, times[d], rest});
        dim[d] = x->dim[d];
        dx = ac_make_reshape(&a->b, ac_make_reduce(&a->b, AC_OP_SUM, dx, 2, false), x->rank, dim);
    }
    ac_give(a, 0, dx);
    return AC_OK;
}

int ac_gr_broadcast_to(ac_adjoint *a)
{
    ac_give_each(a, 0, ac_dy_thin(a));
    return AC_OK;
}

int ac_gr_fill(ac_adjoint *a)
{
    const ac_tensor *y = a->node->out[0];
    if (ac_wants(a, 1))
        ac_give(a, 1,
                ac_make_reshape_like(&a->b, ac_make_reduce(&a->b, AC_OP_SUM, ac_dy(a), (1u << y->rank) - 1, false),
                                     a->node->in[1]));
    return AC_OK;
}

/* ------------------------------------------------------------------ blocks */

int ac_gr_space_depth(ac_adjoint *a)
{
    ac_tensor *dy = ac_dy(a);
    const ac_op back = a->node->op == AC_OP_SPACE_TO_DEPTH ? AC_OP_DEPTH_TO_SPACE : AC_OP_SPACE_TO_DEPTH;
    if (dy && ac_wants(a, 0))
        ac_give(a, 0, ac_make_op(&a->b, back, &dy, 1, &a->node->attrs, AC_NONE));
    return AC_OK;
}

/* The pads of one are the crops of the other. */
int ac_gr_space_batch(ac_adjoint *a)
{
    const ac_node *n = a->node;
    ac_tensor *dy = ac_dy(a);
    const ac_op back = n->op == AC_OP_SPACE_TO_BATCH_ND ? AC_OP_BATCH_TO_SPACE_ND : AC_OP_SPACE_TO_BATCH_ND;
    if (dy && ac_wants(a, 0))
        ac_give(a, 0, ac_make_op(&a->b, back, (ac_tensor *[]){dy, n->in[1], n->in[2]}, 3, NULL, AC_NONE));
    return AC_OK;
}
