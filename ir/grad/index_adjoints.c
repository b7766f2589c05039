/* index_adjoints.c - gradients of operators that choose elements by index: elements that were gathered several
 * times are summed in the order of the indices (unsorted_segment_sum, scatter_elements), scattered ones gathered. */
#include "ir/make/compose_moves.h"
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"
#include "ir/ops/decode/axis.h"

#include <string.h>

static ac_tensor *number(const ac_adjoint *a, int64_t v)
{
    return ac_make_ints_shaped(&a->b, 0, NULL, &v);
}

/* Rows [n, inner] at `index` [n] are summed into [count, inner]. */
static ac_tensor *segment_sum(const ac_adjoint *a, ac_tensor *rows, ac_tensor *index, int64_t count)
{
    return rows && index ? ac_make_op(&a->b, AC_OP_UNSORTED_SEGMENT_SUM, (ac_tensor *[]){rows, index, number(a, count)},
                                      3, NULL, AC_NONE)
                         : NULL;
}

/* x [B.., P.., n, Q..] at indices [B.., J..]: the results are [B, P, J, Q], in row (b * P + p) * n + index. */
int ac_gr_gather(ac_adjoint *a)
{
    const ac_node *n = a->node;
    const ac_tensor *x = n->in[0], *index = n->in[1];
    int32_t axis, batch;
    if (!ac_wants(a, 0))
        return AC_OK;
    AC_TRY(ac_gather_of(a->b.cx, n, &axis, &batch));
    const int64_t lead = ac_dim_product(x->dim, 0, axis), b = ac_dim_product(x->dim, 0, batch), p = b ? lead / b : 0;
    const int64_t size = x->dim[axis], inner = ac_dim_product(x->dim, axis + 1, x->rank);
    const int64_t j = b ? ac_tensor_count(index) / b : 0;
    ac_tensor *at = ac_make_cast(&a->b, n->in[1], AC_I64);
    if (lead > 1) {
        int64_t *row = AC_NEW_N(a->b.cx->region, int64_t, lead);
        for (int64_t i = 0; i < lead; i++)
            row[i] = i * size;
        ac_tensor *first = ac_make_ints_shaped(&a->b, 3, (int64_t[]){b, p, 1}, row);
        at = ADD(ac_make_reshape(&a->b, at, 3, (int64_t[]){b, 1, j}), first);
    }
    at = ac_make_reshape(&a->b, at, 1, (int64_t[]){lead * j});
    ac_tensor *rows = ac_make_reshape(&a->b, ac_dy(a), 2, (int64_t[]){lead * j, inner});
    ac_give(a, 0, ac_make_reshape_like(&a->b, segment_sum(a, rows, at, lead * size), x));
    return AC_OK;
}

/* The flat row of x that each of the indices [.., K] names: [number of them]. */
static ac_tensor *flat_rows(const ac_adjoint *a, ac_tensor *index, const ac_tensor *x, int64_t *count)
{
    const int64_t k = index->dim[index->rank - 1], rows = k ? ac_tensor_count(index) / k : 0;
    int64_t stride[AC_MAX_RANK];
    *count = 1;
    for (int64_t d = k; d-- > 0;) {
        stride[d] = *count;
        *count *= x->dim[d];
    }
    ac_tensor *strides = ac_make_ints_shaped(&a->b, 1, &k, stride),
              *each = MUL(ac_make_cast(&a->b, index, AC_I64), strides);
    return ac_make_reshape(&a->b, ac_make_reduce(&a->b, AC_OP_SUM, each, 1u << (index->rank - 1), false), 1, &rows);
}

int ac_gr_gather_nd(ac_adjoint *a)
{
    const ac_tensor *x = a->node->in[0];
    ac_tensor *index = a->node->in[1];
    int64_t count;
    if (!ac_wants(a, 0))
        return AC_OK;
    if (index->dim[index->rank - 1] == 0)
        return ac_no_gradient(a, "its indices name no dimension");
    ac_tensor *at = flat_rows(a, index, x, &count);
    const int64_t n = at ? at->dim[0] : 0, inner = count ? ac_tensor_count(x) / count : 0;
    ac_tensor *rows = ac_make_reshape(&a->b, ac_dy(a), 2, (int64_t[]){n, inner});
    ac_give(a, 0, ac_make_reshape_like(&a->b, segment_sum(a, rows, at, count), x));
    return AC_OK;
}

/* indices, updates, shape */
int ac_gr_scatter_nd(ac_adjoint *a)
{
    if (ac_wants(a, 1))
        ac_give(a, 1, OP2(GATHER_ND, ac_dy(a), a->node->in[0]));
    return AC_OK;
}

/* ------------------------------------------------------------------ single elements */

static ac_tensor *scattered(const ac_adjoint *a, ac_tensor *into, ac_tensor *index, ac_tensor *update, int32_t axis,
                            ac_word how)
{
    ac_attrs t;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &t);
    t.scatter.axis = axis;
    t.scatter.reduction = how;
    return update && into && index
               ? ac_make_op(&a->b, AC_OP_SCATTER_ELEMENTS, (ac_tensor *[]){into, index, update}, 3, &t, AC_NONE)
               : NULL;
}

static ac_tensor *zeros_like(const ac_adjoint *a, const ac_tensor *t)
{
    return ac_make_zeros(&a->b, t->dtype, t->rank, t->dim);
}

int ac_gr_gather_elements(ac_adjoint *a)
{
    const ac_node *n = a->node;
    if (ac_wants(a, 0)) {
        ac_tensor *dy = ac_dy(a);
        ac_give(a, 0, scattered(a, zeros_like(a, n->in[0]), n->in[1], dy, n->attrs.axis.axis, AC_W_ADD));
    }
    return AC_OK;
}

/* Replaced elements have gradient 0. */
int ac_gr_scatter_elements(ac_adjoint *a)
{
    const ac_node *n = a->node;
    const ac_attrs_scatter *t = &n->attrs.scatter;
    ac_attrs to;
    if (t->reduction != AC_W_NONE && t->reduction != AC_W_ADD)
        return ac_no_gradient(a, "its reduction is %s", ac_word_name[t->reduction]);
    ac_tensor *dy = ac_dy(a);
    if (ac_wants(a, 0) && t->reduction == AC_W_ADD)
        ac_give(a, 0, dy);
    else if (ac_wants(a, 0))
        ac_give(a, 0, scattered(a, dy, n->in[1], zeros_like(a, n->in[2]), t->axis, AC_W_NONE));
    ac_attrs_init(AC_OP_GATHER_ELEMENTS, &to);
    to.axis.axis = t->axis;
    if (ac_wants(a, 2) && dy)
        ac_give(a, 2, ac_make_op(&a->b, AC_OP_GATHER_ELEMENTS, (ac_tensor *[]){dy, n->in[1]}, 2, &to, AC_NONE));
    return AC_OK;
}

/* Negative indices count from the end here, in gather_nd they do not. */
int ac_gr_scatter_into(ac_adjoint *a)
{
    const ac_node *n = a->node;
    const ac_word how = n->attrs.scatter.reduction;
    ac_tensor *dy = ac_dy(a), *index = n->in[1];
    const int64_t k = index->dim[index->rank - 1];
    if (how != AC_W_NONE && how != AC_W_ADD)
        return ac_no_gradient(a, "its reduction is %s", ac_word_name[how]);
    if (ac_wants(a, 0) && how == AC_W_ADD)
        ac_give(a, 0, dy);
    else if (ac_wants(a, 0) && dy)
        ac_give(a, 0,
                ac_make_op(&a->b, AC_OP_SCATTER_INTO, (ac_tensor *[]){dy, index, zeros_like(a, n->in[2])}, 3, &n->attrs,
                           AC_NONE));
    if (!ac_wants(a, 2))
        return AC_OK;
    index = ac_make_cast(&a->b, index, AC_I64);
    ac_tensor *from_end = ADD(index, ac_make_ints_shaped(&a->b, 1, &k, n->in[0]->dim));
    index = WHERE(LESS(index, NUM(index, 0)), from_end, index);
    ac_give(a, 2, OP2(GATHER_ND, dy, index));
    return AC_OK;
}

/* For each element of x the element of its segment in t; a negative segment is left out (kept). */
static ac_tensor *of_segment(const ac_adjoint *a, ac_tensor *t)
{
    ac_tensor *segment = a->node->in[1];
    ac_tensor *at = OP2(MAXIMUM, segment, NUM(segment, 0));
    ac_attrs to;
    ac_attrs_init(AC_OP_GATHER, &to);
    return t && at ? ac_make_op(&a->b, AC_OP_GATHER, (ac_tensor *[]){t, at}, 2, &to, AC_NONE) : NULL;
}

static ac_tensor *kept(const ac_adjoint *a)
{
    ac_tensor *segment = a->node->in[1];
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    memcpy(dim, segment->dim, (size_t)segment->rank * sizeof *dim);
    ac_tensor *is = OP2(GREATER_EQUAL, segment, NUM(segment, 0));
    return ac_make_reshape(&a->b, is, a->node->in[0]->rank, dim);
}

int ac_gr_segment_sum(ac_adjoint *a)
{
    if (ac_wants(a, 0)) {
        ac_tensor *dx = of_segment(a, ac_dy(a)), *zero = NUM(dx, 0);
        ac_give(a, 0, WHERE(kept(a), dx, zero));
    }
    return AC_OK;
}

/* Equal extremes of a segment get equal shares. */
int ac_gr_segment_extreme(ac_adjoint *a)
{
    const ac_node *n = a->node;
    ac_tensor *x = n->in[0], *taken = OP2(EQUAL, x, of_segment(a, n->out[0]));
    taken = OP2(LOGICAL_AND, taken, kept(a));
    ac_tensor *one = ac_make_cast(&a->b, taken, x->dtype);
    ac_tensor *many =
        one ? ac_make_op(&a->b, AC_OP_UNSORTED_SEGMENT_SUM, (ac_tensor *[]){one, n->in[1], n->in[2]}, 3, NULL, AC_NONE)
            : NULL;
    many = many ? OP2(MAXIMUM, many, NUM(many, 1)) : NULL;
    if (ac_wants(a, 0)) {
        ac_tensor *dx = of_segment(a, DIV(ac_dy(a), many)), *zero = NUM(dx, 0);
        ac_give(a, 0, WHERE(taken, dx, zero));
    }
    return AC_OK;
}

/* The indices along the last dimension are result 1. */
int ac_gr_topk(ac_adjoint *a)
{
    const ac_node *n = a->node;
    if (ac_wants(a, 0)) {
        ac_tensor *dy = ac_dy(a);
        ac_give(a, 0, scattered(a, zeros_like(a, n->in[0]), n->out[1], dy, n->in[0]->rank - 1, AC_W_ADD));
    }
    return AC_OK;
}
