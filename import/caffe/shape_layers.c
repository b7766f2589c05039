/* shape_layers.c - layers of Caffe that move elements or reduce dimensions. */
#include "import/caffe/layers.h"
#include "ir/ops/shape/resolve.h"

#include <inttypes.h>
#include <string.h>

#define SHAPE(t) ac_shape_str(l->r->cx, t)

int ac_caf_do_flatten(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "flatten_param");
    ac_tensor *x = l->in[0];
    int32_t from, to, rank = 0;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_attr_axis(m, A_axis, x->rank, &from));
    AC_TRY(ac_attr_axis(m, A_end_axis, x->rank, &to));
    if (to < from)
        return ac_bad(&l->b, "end_axis %d comes before axis %d", to, from);
    for (int32_t d = 0; d < from; d++)
        dim[rank++] = x->dim[d];
    dim[rank++] = ac_dim_product(x->dim, from, to + 1);
    for (int32_t d = to + 1; d < x->rank; d++)
        dim[rank++] = x->dim[d];
    return ac_caf_result(l, 0, ac_make_reshape(&l->b, x, rank, dim));
}

/* 0 keeps a dimension, -1 takes the rest; dimensions before axis and after num_axes stay. */
int ac_caf_do_reshape(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "reshape_param");
    ac_tensor *x = l->in[0];
    int64_t dim[AC_MAX_RANK], known = 1;
    int32_t rank = 0, rest = -1;
    ac_attr_skip(m, "shape");
    const ac_ints want = ac_attr_ints(ac_caf_fields(l, ac_pt_last(m->node, "shape")), A_reshape_dim);
    int64_t axis = ac_attr_int_in(m, A_axis, 0, -x->rank - 1, x->rank);
    int64_t axes = ac_attr_int_in(m, A_num_axes, -1, -1, x->rank);
    axis = axis < 0 ? axis + x->rank + 1 : axis;
    axes = axes < 0 ? x->rank - axis : axes;
    if (axis + axes > x->rank || x->rank - axes + want.n > AC_MAX_RANK)
        return ac_bad(&l->b, "%d dimensions from %d on do not fit bottom '%s' %s", (int)axes, (int)axis, x->name,
                      SHAPE(x));
    for (int32_t d = 0; d < axis; d++)
        dim[rank++] = x->dim[d];
    for (int32_t i = 0; i < want.n; i++) {
        dim[rank] = want.v[i];
        if (want.v[i] == 0 && axis + i >= x->rank)
            return ac_bad(&l->b, "dimension %d is to be kept, but bottom '%s' is %s", i, x->name, SHAPE(x));
        if (want.v[i] == 0)
            dim[rank] = x->dim[axis + i];
        if (want.v[i] < 0 && rest >= 0)
            return ac_bad(&l->b, "two dimensions are -1");
        if (want.v[i] < 0)
            rest = rank;
        else if (!ac_mul_ok(known, dim[rank], &known))
            return ac_error(l->r->cx, l->at, E0015, "its shape has more than 2^63 elements");
        rank++;
    }
    const int64_t all = ac_dim_product(x->dim, (int32_t)axis, (int32_t)(axis + axes));
    if (rest >= 0)
        dim[rest] = known ? all / known : 0;
    for (int32_t d = (int32_t)(axis + axes); d < x->rank; d++)
        dim[rank++] = x->dim[d];
    if ((rest >= 0 && (!known || all % known)) || (rest < 0 && known != all))
        return ac_bad(&l->b, "bottom '%s' %s does not fill the new shape", x->name, SHAPE(x));
    return ac_caf_result(l, 0, ac_make_reshape(&l->b, x, rank, dim));
}

int ac_caf_do_permute(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "permute_param");
    ac_tensor *x = l->in[0];
    const ac_ints order = ac_attr_ints(m, A_order);
    int32_t perm[AC_MAX_RANK], n = 0;
    uint32_t seen = 0;
    for (int32_t i = 0, d; i < order.n; i++) {
        AC_TRY(ac_operand_axis(&l->b, order.v[i], x->rank, &d));
        if (seen >> d & 1)
            return ac_bad(&l->b, "order names dimension %d twice", d);
        seen |= 1u << d;
        perm[n++] = d;
    }
    for (int32_t d = 0; d < x->rank; d++)
        if (!(seen >> d & 1))
            perm[n++] = d;
    return ac_caf_result(l, 0, ac_make_transpose(&l->b, x, perm));
}

int ac_caf_do_concat(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "concat_param");
    const ac_tensor *x = l->in[0];
    const bool old = ac_attr_has(m, A_concat_dim);
    int32_t axis;
    if (old && ac_attr_has(m, A_axis))
        return ac_bad(&l->b, "both axis and concat_dim are given");
    AC_TRY(ac_attr_axis(m, old ? A_concat_dim : A_axis, x->rank, &axis));
    for (int32_t i = 1; i < l->n_in; i++) {
        const ac_tensor *y = l->in[i];
        bool fits = y->rank == x->rank;
        for (int32_t d = 0; fits && d < x->rank; d++)
            fits = d == axis || y->dim[d] == x->dim[d];
        if (!fits)
            return ac_bad(&l->b, "bottoms '%s' %s and '%s' %s do not fit along axis %d", x->name, SHAPE(x), y->name,
                          SHAPE(y), axis);
    }
    return ac_caf_result(l, 0, l->n_in == 1 ? l->in[0] : ac_make_concat(&l->b, l->in, l->n_in, axis));
}

int ac_caf_do_slice(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "slice_param");
    ac_tensor *x = l->in[0];
    const bool old = ac_attr_has(m, A_slice_dim);
    int32_t axis;
    if (old && ac_attr_has(m, A_axis))
        return ac_bad(&l->b, "both axis and slice_dim are given");
    AC_TRY(ac_attr_axis(m, old ? A_slice_dim : A_axis, x->rank, &axis));
    const ac_ints point = ac_attr_ints(m, A_slice_point);
    if (point.n ? point.n != l->n_out - 1 : x->dim[axis] % l->n_out != 0)
        return ac_bad(&l->b, "%d slice points for %d tops and %" PRId64 " positions", point.n, l->n_out, x->dim[axis]);
    int64_t from = 0;
    for (int32_t i = 0; i < l->n_out; i++) {
        const int64_t even = x->dim[axis] / l->n_out * (i + 1);
        const int64_t to = i == l->n_out - 1 ? x->dim[axis] : point.n ? point.v[i] : even;
        if (to <= from || to > x->dim[axis])
            return ac_bad(&l->b, "slice %d goes from %" PRId64 " to %" PRId64 " of %" PRId64 " positions", i, from, to,
                          x->dim[axis]);
        AC_TRY(ac_caf_result(l, i, l->n_out == 1 ? x : ac_make_slice(&l->b, x, axis, from, to - from)));
        from = to;
    }
    return AC_OK;
}

/* The size of the second bottom from an offset on; axes in front stay whole. */
int ac_caf_do_crop(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "crop_param");
    ac_tensor *x = l->in[0];
    const ac_tensor *like = l->in[1];
    int32_t axis;
    AC_TRY(ac_attr_axis(m, A_crop_axis, x->rank, &axis));
    const ac_ints offset = ac_attr_ints(m, A_crop_offset);
    if (offset.n > 1 && offset.n != x->rank - axis)
        return ac_bad(&l->b, "%d offsets for %d dimensions", offset.n, x->rank - axis);
    for (int32_t d = axis; d < x->rank; d++) {
        const int64_t from = offset.n ? offset.v[offset.n > 1 ? d - axis : 0] : 0;
        if (d >= like->rank || from + like->dim[d] > x->dim[d])
            return ac_bad(&l->b, "bottom '%s' %s does not hold '%s' %s at offset %" PRId64, x->name, SHAPE(x),
                          like->name, SHAPE(like), from);
        if (from || like->dim[d] != x->dim[d])
            x = ac_make_slice(&l->b, x, d, from, like->dim[d]);
        if (!x)
            return AC_FAIL;
    }
    return ac_caf_result(l, 0, x);
}

int ac_caf_do_tile(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "tile_param");
    ac_tensor *x = l->in[0];
    int32_t axis;
    int64_t times[AC_MAX_RANK];
    AC_TRY(ac_attr_axis(m, A_axis, x->rank, &axis));
    const int64_t tiles = ac_attr_int(m, A_tiles);
    for (int32_t d = 0; d < x->rank; d++)
        times[d] = d == axis ? tiles : 1;
    return ac_caf_result(l, 0, ac_make_2(&l->b, AC_OP_TILE, x, ac_make_ints(&l->b, x->rank, times)));
}

/* All dimensions from axis on become one number. */
int ac_caf_do_reduction(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "reduction_param");
    ac_tensor *x = l->in[0];
    int32_t axis;
    const int32_t how = ac_attr_word(m, A_reduction_operation);
    AC_TRY(ac_attr_axis(m, A_reduction_axis, x->rank, &axis));
    const double coeff = ac_attr_float(m, A_coeff);
    const uint32_t mask = ((1u << x->rank) - 1) & ~((1u << axis) - 1);
    if (how == 2 || how == 3)
        x = ac_make_1(&l->b, how == 2 ? AC_OP_ABS : AC_OP_SQUARE, x);
    x = ac_make_reduce(&l->b, how == 4 ? AC_OP_MEAN : AC_OP_SUM, x, mask, false);
    if (coeff < 1 || coeff > 1)
        x = ac_make_2(&l->b, AC_OP_MUL, x, ac_make_number(&l->b, AC_F32, coeff));
    return ac_caf_result(l, 0, x);
}

/* The maximum values and their indices. Of equal ones Caffe takes the last first, so indices are counted from the end.
 * Without an axis each item is one row, and the result is [N,1,K], or [N,2,K] with the values after the indices. */
int ac_caf_do_argmax(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "argmax_param");
    ac_tensor *x = l->in[0];
    const bool by_axis = ac_attr_has(m, A_axis);
    int32_t axis = 1, to_end[AC_MAX_RANK], back[AC_MAX_RANK], k = 0;
    int64_t dim[AC_MAX_RANK], at;
    const bool values = ac_attr_bool(m, A_out_max_val);
    if (x->rank < 1)
        return ac_bad(&l->b, "bottom '%s' has no dimensions", x->name);
    if (by_axis)
        AC_TRY(ac_attr_axis(m, A_reduction_axis, x->rank, &axis));
    else
        x = ac_make_reshape(&l->b, x, 2, (int64_t[]){x->dim[0], ac_dim_product(x->dim, 1, x->rank)});
    if (!x)
        return AC_FAIL;
    const int64_t size = x->dim[axis];
    const int32_t rank = x->rank;
    const int64_t top = ac_attr_int_in(m, A_top_k, 1, 1, size);
    for (int32_t d = 0; d < rank; d++)
        if (d != axis)
            to_end[k++] = d;
    to_end[rank - 1] = axis;
    for (int32_t d = 0; d < rank; d++)
        back[to_end[d]] = d;
    at = axis;
    x = ac_make_2(&l->b, AC_OP_REVERSE_V2, x, ac_make_ints(&l->b, 1, &at));
    x = ac_make_transpose(&l->b, x, to_end);
    ac_tensor *count = ac_tensor_const(l->r->g, ac_strf(l->r->cx->region, "%s_k", l->b.base), AC_I32, 0, NULL,
                                       ac_copy(l->r->cx->region, &(int32_t){(int32_t)top}, sizeof(int32_t)));
    if (!x)
        return AC_FAIL;
    ac_tensor *in[] = {x, count};
    ac_node *n = ac_make_node(&l->b, AC_OP_TOPK_V2, in, 2, NULL, 2);
    AC_TRY(ac_node_resolve(l->r->cx, l->r->g, n));
    ac_tensor *where = ac_make_cast(&l->b, n->out[1], AC_F32), *best = n->out[0];
    where = ac_make_2(&l->b, AC_OP_SUB, ac_make_number(&l->b, AC_F32, (double)(size - 1)), where);
    if (by_axis)
        return ac_caf_result(l, 0, ac_make_transpose(&l->b, values ? best : where, back));
    if (!where)
        return AC_FAIL;
    memcpy(dim, where->dim, sizeof dim);
    const int64_t shape[3] = {dim[0], 1, top};
    ac_tensor *pair[] = {ac_make_reshape(&l->b, where, 3, shape), ac_make_reshape(&l->b, best, 3, shape)};
    return ac_caf_result(l, 0, values ? ac_make_concat(&l->b, pair, 2, 1) : pair[0]);
}

/* Rows of a table, or items of a batch, by indices stored as floats. */
static ac_tensor *gather(ac_caf_layer *l, ac_tensor *table, ac_tensor *index)
{
    ac_tensor *in[] = {table, ac_make_cast(&l->b, index, AC_I32)};
    return table && in[1] ? ac_make_op(&l->b, AC_OP_GATHER, in, 2, NULL, AC_NONE) : NULL;
}

int ac_caf_do_batch_reindex(ac_caf_layer *l)
{
    if (l->in[1]->rank != 1 || l->in[0]->rank < 1)
        return ac_bad(&l->b, "bottom '%s' is %s, expected one dimension", l->in[1]->name, SHAPE(l->in[1]));
    return ac_caf_result(l, 0, gather(l, l->in[0], l->in[1]));
}

int ac_caf_do_embed(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "embed_param");
    int64_t dim[2];
    dim[0] = ac_attr_int(m, A_input_dim);
    dim[1] = ac_attr_int(m, A_num_output);
    const bool bias = ac_attr_bool(m, A_bias_term);
    ac_tensor *y = gather(l, ac_caf_weight(l, "weights", 2, dim), l->in[0]);
    return ac_caf_result(l, 0, bias ? ac_make_2(&l->b, AC_OP_ADD, y, ac_caf_weight(l, "bias", 1, &dim[1])) : y);
}

int ac_caf_do_shuffle_channel(ac_caf_layer *l)
{
    static const int32_t SWAP[AC_MAX_RANK] = {0, 2, 1, 3};
    ac_attrs_reader *m = ac_caf_message(l, "shuffle_channel_param");
    ac_tensor *x = l->in[0];
    const int64_t groups = ac_attr_int(m, A_group);
    if (x->rank != 4 || x->dim[1] % groups)
        return ac_bad(&l->b, "channels of bottom '%s' %s do not divide into %" PRId64 " groups", x->name, SHAPE(x),
                      groups);
    ac_tensor *y =
        ac_make_reshape(&l->b, x, 4, (int64_t[]){x->dim[0], groups, x->dim[1] / groups, x->dim[2] * x->dim[3]});
    return ac_caf_result(l, 0, ac_make_reshape(&l->b, ac_make_transpose(&l->b, y, SWAP), 4, x->dim));
}

/* Darknet's: blocks of stride x stride elements become channels, or, in reverse, channels become blocks. The first form
 * takes its operand for an image of C / stride^2 channels that are stride times as high and as wide, as Darknet does.
 */
int ac_caf_do_reorg(ac_caf_layer *l)
{
    static const int32_t TO_CHANNELS[AC_MAX_RANK] = {0, 3, 5, 1, 2, 4}, TO_BLOCKS[AC_MAX_RANK] = {0, 3, 4, 1, 5, 2};
    ac_attrs_reader *m = ac_caf_message(l, "reorg_param");
    ac_tensor *x = l->in[0];
    const int64_t s = ac_attr_int(m, A_reorg_stride);
    const bool reverse = ac_attr_bool(m, A_reverse);
    if (x->rank != 4 || x->dim[1] % (s * s) || (!reverse && (x->dim[2] % s || x->dim[3] % s)))
        return ac_bad(&l->b, "bottom '%s' %s does not divide into blocks of %" PRId64 " x %" PRId64, x->name, SHAPE(x),
                      s, s);
    const int64_t n = x->dim[0], c = x->dim[1] / s / s, h = x->dim[2], w = x->dim[3];
    if (reverse) {
        x = ac_make_reshape(&l->b, x, 6, (int64_t[]){n, s, s, c, h, w});
        x = ac_make_transpose(&l->b, x, TO_BLOCKS);
        return ac_caf_result(l, 0, ac_make_reshape(&l->b, x, 4, (int64_t[]){n, c, h * s, w * s}));
    }
    x = ac_make_reshape(&l->b, x, 6, (int64_t[]){n, c, h, s, w, s});
    x = ac_make_transpose(&l->b, x, TO_CHANNELS);
    return ac_caf_result(l, 0, ac_make_reshape(&l->b, x, 4, (int64_t[]){n, c * s * s * s * s, h / s, w / s}));
}
