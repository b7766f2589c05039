/* move_defs.c - operators of TensorFlow that move elements: transposes, joins, splits, slices, padding, reversing. */
#include "import/build/bounds.h"
#include "import/build/compose_bounded.h"
#include "import/build/compose_pads.h"
#include "import/tf/nodedefs.h"
#include "ir/make/compose_moves.h"

#include <string.h>

#define RESULT(t) ac_tf_result(n, 0, t)

/* The operator of ours with one attribute set. */
static ac_tensor *with(ac_tf_op *n, ac_op op, ac_tensor *x, const ac_attrs *a)
{
    return x ? ac_make_op(&n->b, op, &x, 1, a, AC_NONE) : NULL;
}

int ac_tf_axis(ac_tf_op *n, int32_t i, int32_t rank, int32_t *axis)
{
    int64_t v;
    AC_TRY(ac_operand_int(&n->b, &n->t[i], &v));
    return ac_operand_axis(&n->b, v, rank, axis);
}

int ac_tf_do_transpose(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_ints perm;
    int32_t by[AC_MAX_RANK];
    uint32_t seen = 0;
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &perm));
    if (perm.n != x->rank)
        return ac_error(n->r->cx, n->b.at, E0104, "the permutation has %d numbers for %d dimensions", perm.n, x->rank);
    for (int32_t d = 0; d < x->rank; d++) {
        AC_TRY(ac_operand_axis(&n->b, perm.v[d], x->rank, &by[d]));
        if (seen >> by[d] & 1)
            return ac_error(n->r->cx, n->b.at, E0103, "the permutation names dimension %d twice", by[d]);
        seen |= 1u << by[d];
    }
    return RESULT(ac_make_transpose(&n->b, x, by));
}

/* Joining and parting. */

static int concat(ac_tf_op *n, int32_t first, int32_t count, int32_t at)
{
    int32_t axis, kept = 0;
    if (count < 1)
        return ac_error(n->r->cx, n->b.at, E0102, "joins nothing");
    AC_TRY(ac_tf_axis(n, at, n->t[first]->rank, &axis));
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1);
    for (int32_t i = 0; i < count; i++)
        if (n->t[first + i]->rank != n->t[first]->rank || n->t[first + i]->dim[axis])
            x[kept++] = n->t[first + i];
    return RESULT(kept == 0 ? n->t[first] : kept == 1 ? x[0] : ac_make_concat(&n->b, x, kept, axis));
}

int ac_tf_do_concat(ac_tf_op *n)
{
    return concat(n, 1, n->n_in - 1, 0);
}

int ac_tf_do_concat_v2(ac_tf_op *n)
{
    return concat(n, 0, n->n_in - 1, n->n_in - 1);
}

int ac_tf_do_pack(ac_tf_op *n)
{
    int32_t axis;
    int64_t dim[AC_MAX_RANK];
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    const ac_tensor *first = n->t[0];
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, first->rank + 1, &axis));
    if (first->rank == AC_MAX_RANK)
        return ac_cannot(&n->b, "the result has more than 8 dimensions");
    for (int32_t d = 0, from = 0; d <= first->rank; d++)
        dim[d] = d == axis ? 1 : first->dim[from++];
    for (int32_t i = 0; i < n->n_in; i++) {
        if (!ac_tensor_same_shape(n->t[i], first))
            return ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, but '%s' is %s", n->t[i]->name,
                            ac_shape_str(n->r->cx, n->t[i]), first->name, ac_shape_str(n->r->cx, first));
        x[i] = ac_make_reshape(&n->b, n->t[i], first->rank + 1, dim);
    }
    return RESULT(n->n_in == 1 ? x[0] : ac_make_concat(&n->b, x, n->n_in, axis));
}

int ac_tf_do_unpack(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    int32_t axis;
    int64_t dim[AC_MAX_RANK];
    if (!x->rank)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is a scalar", x->name);
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    const int64_t count = ac_attr_int_or(&n->attrs, A_num, x->dim[axis]);
    if (count != x->dim[axis])
        return ac_error(n->r->cx, n->b.at, E0104, "it splits '%s' %s into %lld", x->name, ac_shape_str(n->r->cx, x),
                        (long long)count);
    for (int32_t d = 0, to = 0; d < x->rank; d++)
        if (d != axis)
            dim[to++] = x->dim[d];
    for (int32_t i = 0; i < n->n_out && i < count; i++)
        AC_TRY(ac_tf_result(n, i, ac_make_reshape(&n->b, ac_make_slice(&n->b, x, axis, i, 1), x->rank - 1, dim)));
    return AC_OK;
}

static int parts(ac_tf_op *n, ac_tensor *x, int32_t axis, int64_t count, const int64_t *size)
{
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        if (size[i] < 0 || size[i] > x->dim[axis] - at)
            break;
        if (i < n->n_out)
            AC_TRY(ac_tf_result(n, (int32_t)i, ac_make_slice(&n->b, x, axis, at, size[i])));
        at += size[i];
    }
    if (at == x->dim[axis])
        return AC_OK;
    return ac_error(n->r->cx, n->b.at, E0104, "the parts do not add up to dimension %d of '%s' %s", axis, x->name,
                    ac_shape_str(n->r->cx, x));
}

int ac_tf_do_split(ac_tf_op *n)
{
    enum { MOST = 4096 };
    int32_t axis;
    int64_t size[MOST];
    ac_tensor *x = n->t[1];
    const int64_t count = ac_attr_int(&n->attrs, A_num_split);
    AC_TRY(ac_tf_axis(n, 0, x->rank, &axis));
    if (count < 1 || count > MOST || x->dim[axis] % count)
        return ac_error(n->r->cx, n->b.at, E0104, "dimension %d of '%s' %s does not divide into %lld", axis, x->name,
                        ac_shape_str(n->r->cx, x), (long long)count);
    for (int64_t i = 0; i < count; i++)
        size[i] = x->dim[axis] / count;
    return parts(n, x, axis, count, size);
}

int ac_tf_do_split_v(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_ints size;
    int32_t axis, rest = -1;
    int64_t sum = 0;
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &size));
    AC_TRY(ac_tf_axis(n, 2, x->rank, &axis));
    (void)ac_attr_int(&n->attrs, A_split_v_num_split);
    int64_t *own = AC_NEW_N(n->r->cx->region, int64_t, size.n + 1);
    for (int32_t i = 0; i < size.n; i++) {
        own[i] = size.v[i];
        if (own[i] == -1)
            rest = i;
        else if (!ac_add_ok(sum, own[i], &sum))
            return ac_error(n->r->cx, n->b.at, E0015, "the parts add up to more than 2^63");
    }
    if (rest >= 0)
        own[rest] = x->dim[axis] - sum;
    return parts(n, x, axis, size.n, own);
}

/* Slices. */

int ac_tf_do_tile(ac_tf_op *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_tile_of(&n->b, n->t[0], &n->t[1], n->node->name, &y));
    return RESULT(y);
}

int ac_tf_do_broadcast_to(ac_tf_op *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_late_broadcast(&n->b, n->t[0], &n->t[1], n->node->name, &y));
    return RESULT(y);
}

/* Pads. */

static int pads_of(ac_tf_op *n, int64_t before[AC_MAX_RANK], int64_t after[AC_MAX_RANK])
{
    ac_ints pads;
    const ac_tensor *x = n->t[0];
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &pads));
    if (pads.n != 2 * x->rank)
        return ac_error(n->r->cx, n->b.at, E0104, "%d pads for %d dimensions", pads.n, x->rank);
    for (int32_t d = 0; d < x->rank; d++) {
        before[d] = pads.v[2 * d];
        after[d] = pads.v[2 * d + 1];
        if (before[d] < 0 || after[d] < 0 || before[d] > INT32_MAX || after[d] > INT32_MAX)
            return ac_error(n->r->cx, n->b.at, E0103, "the pads of dimension %d are %lld and %lld", d,
                            (long long)before[d], (long long)after[d]);
    }
    return AC_OK;
}

int ac_tf_do_pad(ac_tf_op *n)
{
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
    ac_tensor *y;
    if (n->t[0]->count || !ac_operand_known(&n->b, &n->t[1])) {
        AC_TRY(ac_make_pad_pairs(&n->b, n->t[0], n->t[1], ac_tf_in(n, 2), n->node->name, &y));
        return RESULT(y);
    }
    (void)ac_bound_of(&n->b, n->node->name);
    AC_TRY(pads_of(n, before, after));
    return RESULT(ac_make_pad(&n->b, n->t[0], before, after, ac_tf_in(n, 2)));
}

int ac_tf_do_mirror_pad(ac_tf_op *n)
{
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK], list[2 * AC_MAX_RANK];
    ac_attrs a;
    const char *mode = ac_attr_text(&n->attrs, A_mode);
    AC_TRY(pads_of(n, before, after));
    if (strcmp(mode, "REFLECT") != 0 && strcmp(mode, "SYMMETRIC") != 0)
        return ac_error(n->r->cx, n->b.at, E0103, "mode is '%s'", mode);
    for (int32_t d = 0; d < n->t[0]->rank; d++) {
        list[2 * d] = before[d];
        list[2 * d + 1] = after[d];
    }
    ac_attrs_init(AC_OP_MIRROR_PAD, &a);
    a.mirror.pads = ac_make_list(&n->b, 2 * n->t[0]->rank, list);
    a.mirror.symmetric = !strcmp(mode, "SYMMETRIC");
    return RESULT(with(n, AC_OP_MIRROR_PAD, n->t[0], &a));
}

/* Reversing. */

static ac_tensor *reversed(ac_tf_op *n, ac_tensor *x, uint32_t mask)
{
    for (int32_t d = 0; x && d < x->rank; d++) {
        const int64_t axis = d;
        if (mask >> d & 1)
            x = ac_make_2(&n->b, AC_OP_REVERSE_V2, x, ac_make_ints(&n->b, 1, &axis));
    }
    return x;
}

int ac_tf_do_reverse_v2(ac_tf_op *n)
{
    uint32_t mask;
    AC_TRY(ac_tf_axes(n, 1, n->t[0]->rank, &mask));
    return RESULT(reversed(n, n->t[0], mask));
}

/* Its axes are a mask of bools. */
int ac_tf_do_reverse(ac_tf_op *n)
{
    uint32_t mask = 0;
    if (!ac_operand_known(&n->b, &n->t[1]))
        return ac_operand_late(&n->b, n->t[1]);
    ac_tensor *t = n->t[1];
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data || ac_tensor_count(t) != n->t[0]->rank)
        return data ? ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s for %d dimensions", t->name,
                               ac_shape_str(n->r->cx, t), n->t[0]->rank)
                    : AC_FAIL;
    for (int32_t d = 0; d < n->t[0]->rank; d++)
        mask |= (uint32_t)(ac_dtype_get_num(t->dtype, data, d) != 0) << d;
    return RESULT(reversed(n, n->t[0], mask));
}

/* Elements move round by `shift` along each axis. */
int ac_tf_do_roll(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_ints shift, axes;
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &shift));
    AC_TRY(ac_operand_values(&n->b, &n->t[2], &axes));
    if (shift.n != axes.n)
        return ac_error(n->r->cx, n->b.at, E0104, "%d shifts for %d axes", shift.n, axes.n);
    for (int32_t i = 0; x && i < axes.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], x->rank, &d));
        const int64_t size = x->dim[d], by = size ? (shift.v[i] % size + size) % size : 0;
        if (!by)
            continue;
        ac_tensor *part[] = {ac_make_slice(&n->b, x, d, size - by, by), ac_make_slice(&n->b, x, d, 0, size - by)};
        x = ac_make_concat(&n->b, part, 2, d);
    }
    return RESULT(x);
}

/* Elements more than `lower` below or `upper` above the diagonal become 0; -1: none. */
int ac_tf_do_matrix_band_part(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    double lower, upper;
    AC_TRY(ac_operand_scalar(&n->b, &n->t[1], &lower));
    AC_TRY(ac_operand_scalar(&n->b, &n->t[2], &upper));
    if (x->rank < 2)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' %s is not a matrix", x->name, ac_shape_str(n->r->cx, x));
    const int64_t rows = x->dim[x->rank - 2], cols = x->dim[x->rank - 1];
    const int64_t from = lower < 0 || lower > (double)rows ? -rows : -(int64_t)lower;
    const int64_t to = upper < 0 || upper > (double)cols ? cols : (int64_t)upper;
    ac_tensor *mask = ac_make_band(&n->b, rows, cols, from, to);
    return RESULT(ac_make_select(&n->b, mask, x, ac_make_number(&n->b, x->dtype, 0)));
}
