/* onnx_move.c - operators that move elements and do not compute. */
#include "export/onnx_out.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

#include <string.h>

static ac_tensor *i64(ac_onw *w, ac_tensor *x)
{
    return ac_onw_cast(w, x, AC_I64);
}

/* Only dimensions of one element change their place: the permutation from x to y. */
static bool moves_ones(const ac_tensor *x, const ac_tensor *y, int32_t *perm)
{
    int32_t one = 0, other = 0;
    for (int32_t d = 0; d < y->rank && x->rank == y->rank; d++) {
        int32_t *from = y->dim[d] == 1 ? &one : &other;
        while (*from < x->rank && (x->dim[*from] == 1) != (y->dim[d] == 1))
            ++*from;
        if (*from == x->rank || x->dim[*from] != y->dim[d])
            return false;
        perm[d] = (*from)++;
    }
    return x->rank == y->rank;
}

int ac_onw_view(ac_onw *w, const ac_node *n)
{
    int32_t perm[AC_MAX_RANK];
    if (!ac_tensor_is_const(n->in[0]) && moves_ones(n->in[0], n->out[0], perm))
        ac_onw_transpose_to(w, n->in[0], perm, n->out[0]);
    else
        ac_onw_reshape_to(w, n->in[0], n->out[0]);
    return AC_OK;
}

int ac_onw_concat(ac_onw *w, const ac_node *n)
{
    ac_tensor *y = n->out[0];
    int32_t axis;
    AC_TRY(ac_axis_norm(w->cx, n, n->attrs.axis.axis, y->rank, &axis));
    if (n->attrs.axis.act == AC_ACT_NONE) {
        ac_onw_node_to(w, "Concat", n->in, n->n_in, &y, 1);
        ac_onw_int(w, "axis", axis);
        return AC_OK;
    }
    ac_tensor *v = ac_onw_op(w, "Concat", n->in, n->n_in, y->dtype, y->rank, y->dim);
    ac_onw_int(w, "axis", axis);
    ac_onw_same(w, ac_onw_act(w, v, n->attrs.axis.act), y);
    return AC_OK;
}

int ac_onw_split(ac_onw *w, const ac_node *n)
{
    int32_t axis;
    const int64_t *sizes;
    AC_TRY(ac_split_of(w->cx, n, &axis, &sizes));
    ac_onw_node_to(w, "Split", (ac_tensor *[]){ac_split_value(n), ac_onw_const_ints(w, n->n_out, sizes)}, 2, n->out,
                   n->n_out);
    ac_onw_int(w, "axis", axis);
    return AC_OK;
}

/* x's dimensions and one more, of one element, at `axis`. */
static void with_axis(const ac_tensor *x, int32_t axis, int64_t dim[AC_MAX_RANK])
{
    for (int32_t d = 0; d < axis; d++)
        dim[d] = x->dim[d];
    dim[axis] = 1;
    for (int32_t d = axis; d < x->rank && d + 1 < AC_MAX_RANK; d++)
        dim[d + 1] = x->dim[d];
}

int ac_onw_pack(ac_onw *w, const ac_node *n)
{
    ac_tensor *y = n->out[0], **in = AC_NEW_N(w->cx->region, ac_tensor *, n->n_in);
    int64_t dim[AC_MAX_RANK];
    int32_t axis;
    AC_TRY(ac_axis_norm(w->cx, n, n->attrs.axis.axis, y->rank, &axis));
    for (int32_t i = 0; i < n->n_in; i++) {
        with_axis(n->in[i], axis, dim);
        in[i] = ac_onw_reshape(w, n->in[i], y->rank, dim);
    }
    ac_onw_node_to(w, "Concat", in, n->n_in, &y, 1);
    ac_onw_int(w, "axis", axis);
    return AC_OK;
}

int ac_onw_unpack(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0], **part = AC_NEW_N(w->cx->region, ac_tensor *, n->n_out);
    int64_t dim[AC_MAX_RANK], *ones = AC_NEW_N(w->cx->region, int64_t, n->n_out);
    int32_t axis;
    AC_TRY(ac_axis_norm(w->cx, n, n->attrs.axis.axis, x->rank, &axis));
    for (int32_t i = 0; i < n->n_out; i++) {
        with_axis(n->out[i], axis, dim);
        part[i] = ac_onw_value(w, n->out[i], x->dtype, x->rank, dim);
        ones[i] = 1;
    }
    ac_onw_node_to(w, "Split", (ac_tensor *[]){x, ac_onw_const_ints(w, n->n_out, ones)}, 2, part, n->n_out);
    ac_onw_int(w, "axis", axis);
    for (int32_t i = 0; i < n->n_out; i++)
        ac_onw_reshape_to(w, part[i], n->out[i]);
    return AC_OK;
}

/* The elements begin, begin + step, ... of each dimension. */
static ac_tensor *slice(ac_onw *w, ac_tensor *x, const int64_t *begin, const int64_t *step, const int64_t *extent)
{
    int64_t start[AC_MAX_RANK], end[AC_MAX_RANK], axis[AC_MAX_RANK], by[AC_MAX_RANK];
    int32_t m = 0;
    for (int32_t d = 0; d < x->rank; d++) {
        if (begin[d] == 0 && step[d] == 1 && extent[d] == x->dim[d])
            continue;
        const int64_t last = begin[d] + step[d] * extent[d];
        start[m] = begin[d];
        end[m] = last < 0 ? INT64_MIN + 1 : last; /* stepping back over the first element */
        axis[m] = d;
        by[m++] = step[d];
    }
    if (!m)
        return x;
    ac_tensor *in[] = {x, ac_onw_const_ints(w, m, start), ac_onw_const_ints(w, m, end), ac_onw_const_ints(w, m, axis),
                       ac_onw_const_ints(w, m, by)};
    return ac_onw_op(w, "Slice", in, 5, x->dtype, x->rank, extent);
}

int ac_onw_slice(ac_onw *w, const ac_node *n)
{
    ac_slice s;
    AC_TRY(n->op == AC_OP_SLICE ? ac_slice_of(w->cx, n, &s) : ac_strided_slice_of(w->cx, n, &s));
    ac_tensor *v = slice(w, n->in[0], s.begin, s.step, s.extent);
    if (ac_tensor_same_shape(v, n->out[0]))
        ac_onw_same(w, v, n->out[0]);
    else
        ac_onw_reshape_to(w, v, n->out[0]);
    return AC_OK;
}

int ac_onw_reverse(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t begin[AC_MAX_RANK], step[AC_MAX_RANK];
    uint32_t mask;
    AC_TRY(ac_axes_of(w->cx, n, 1, (ac_ints){0}, x->rank, false, &mask));
    for (int32_t d = 0; d < x->rank; d++) {
        step[d] = mask & 1u << d ? -1 : 1;
        begin[d] = step[d] < 0 ? x->dim[d] - 1 : 0;
    }
    ac_onw_same(w, slice(w, x, begin, step, x->dim), n->out[0]);
    return AC_OK;
}

int ac_onw_perm(ac_onw *w, const ac_node *n)
{
    int32_t perm[AC_MAX_RANK];
    AC_TRY(ac_perm_of(w->cx, n, perm));
    ac_onw_transpose_to(w, n->in[0], perm, n->out[0]);
    return AC_OK;
}

static ac_tensor *index_of(ac_onw *w, ac_tensor *i)
{
    return i->dtype == AC_I32 || i->dtype == AC_I64 ? i : i64(w, i);
}

int ac_onw_gather(ac_onw *w, const ac_node *n)
{
    ac_tensor *y = n->out[0], *in[] = {n->in[0], index_of(w, n->in[1])};
    int32_t axis = 0, batch = 0;
    int64_t dim[AC_MAX_RANK];
    if (n->op == AC_OP_GATHER_ELEMENTS) {
        AC_TRY(ac_axis_norm(w->cx, n, n->attrs.axis.axis, in[0]->rank, &axis));
        ac_onw_node_to(w, "GatherElements", in, 2, &y, 1);
        ac_onw_int(w, "axis", axis);
        return AC_OK;
    }
    if (n->op == AC_OP_GATHER)
        AC_TRY(ac_gather_of(w->cx, n, &axis, &batch));
    if (n->op == AC_OP_GATHER && !batch) {
        ac_onw_node_to(w, "Gather", in, 2, &y, 1);
        ac_onw_int(w, "axis", axis);
        return AC_OK;
    }
    if (batch != axis || in[1]->rank == AC_MAX_RANK)
        return ac_onw_cannot(w, n, "batch_dims=%d with axis=%d", batch, axis);
    if (n->op == AC_OP_GATHER) { /* an index of one number for each element */
        with_axis(in[1], in[1]->rank, dim);
        in[1] = ac_onw_reshape(w, in[1], in[1]->rank + 1, dim);
    }
    in[1] = i64(w, in[1]);
    ac_onw_node_to(w, "GatherND", in, 2, &y, 1);
    ac_onw_int(w, "batch_dims", batch);
    return AC_OK;
}

int ac_onw_scatter(ac_onw *w, const ac_node *n)
{
    ac_tensor *y = n->out[0];
    const ac_word how = n->op == AC_OP_SCATTER_ND ? AC_W_ADD : n->attrs.scatter.reduction;
    if (n->op == AC_OP_SCATTER_ND) { /* added to zeros */
        ac_tensor *zero = ac_tensor_const(w->g, "onnx/zeros", y->dtype, y->rank, y->dim, ac_alloc(w->cx->region, 8));
        zero->splat = true;
        ac_onw_node_to(w, "ScatterND", (ac_tensor *[]){zero, i64(w, n->in[0]), n->in[1]}, 3, &y, 1);
    } else if (n->op == AC_OP_SCATTER_ELEMENTS) {
        ac_onw_node_to(w, "ScatterElements", (ac_tensor *[]){n->in[0], index_of(w, n->in[1]), n->in[2]}, 3, &y, 1);
        ac_onw_int(w, "axis", n->attrs.scatter.axis);
    } else {
        ac_onw_node_to(w, "ScatterND", (ac_tensor *[]){n->in[0], i64(w, n->in[1]), n->in[2]}, 3, &y, 1);
    }
    if (how != AC_W_NONE)
        ac_onw_string(w, "reduction", ac_word_name[how]);
    return AC_OK;
}

int ac_onw_tile(ac_onw *w, const ac_node *n)
{
    int64_t times[AC_MAX_RANK];
    AC_TRY(ac_tile_of(w->cx, n, times));
    ac_onw_node_to(w, "Tile", (ac_tensor *[]){n->in[0], ac_onw_const_ints(w, n->in[0]->rank, times)}, 2, n->out, 1);
    return AC_OK;
}

/* BROADCAST_TO, FILL, ZEROS_LIKE, RANGE: a value in a shape that is known. */
int ac_onw_expand(ac_onw *w, const ac_node *n)
{
    const ac_tensor *y = n->out[0];
    ac_tensor *x = n->op == AC_OP_FILL ? n->in[1] : n->op == AC_OP_ZEROS_LIKE ? ac_onw_const(w, y->dtype, 0) : n->in[0];
    if (n->op == AC_OP_RANGE) {
        ac_onw_node_to(w, "Range", n->in, 3, n->out, 1);
        return AC_OK;
    }
    if (x->rank && n->op == AC_OP_FILL)
        x = ac_onw_reshape(w, x, 0, NULL);
    ac_onw_node_to(w, "Expand", (ac_tensor *[]){x, ac_onw_const_ints(w, y->rank, y->dim)}, 2, n->out, 1);
    return AC_OK;
}

int ac_onw_one_hot(ac_onw *w, const ac_node *n)
{
    const int64_t one = 1, two = 2;
    ac_tensor *y = n->out[0], *on = ac_onw_reshape(w, n->in[2], 1, &one), *off = ac_onw_reshape(w, n->in[3], 1, &one);
    ac_tensor *pair = ac_onw_op(w, "Concat", (ac_tensor *[]){off, on}, 2, y->dtype, 1, &two);
    ac_onw_int(w, "axis", 0);
    ac_onw_node_to(w, "OneHot", (ac_tensor *[]){n->in[0], n->in[1], pair}, 3, &y, 1);
    ac_onw_int(w, "axis", n->attrs.axis.axis);
    return AC_OK;
}

/* Pads of the spatial dimensions, in ONNX's order: all before, then all after. */
static ac_tensor *pad(ac_onw *w, ac_tensor *x, const int64_t *before, const int64_t *after, ac_tensor *value,
                      const char *mode)
{
    int64_t pads[2 * AC_MAX_RANK], dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++) {
        pads[d] = before[d];
        pads[x->rank + d] = after[d];
        dim[d] = x->dim[d] + before[d] + after[d];
    }
    ac_tensor *y = ac_onw_op(w, "Pad", (ac_tensor *[]){x, ac_onw_const_ints(w, 2 * x->rank, pads), value}, 3, x->dtype,
                             x->rank, dim);
    ac_onw_string(w, "mode", mode);
    return y;
}

int ac_onw_pad(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0], *value = NULL;
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
    const bool mirror = n->op == AC_OP_MIRROR_PAD;
    AC_TRY(ac_pads_of(w->cx, n, before, after));
    if (mirror && n->attrs.mirror.symmetric)
        return ac_onw_cannot(w, n, "a mirror that repeats the border (symmetric)");
    if (n->op == AC_OP_PADV2)
        value = n->in[2]->rank ? ac_onw_reshape(w, n->in[2], 0, NULL) : n->in[2];
    else if (!mirror && x->quant)
        value = ac_onw_const(w, x->dtype, x->quant->zero[0]);
    ac_onw_same(w, pad(w, x, before, after, value, mirror ? "reflect" : "constant"), n->out[0]);
    return AC_OK;
}

/* SPACE_TO_BATCH_ND and back: ONNX has no word for it, but for its parts. With m spatial dimensions split into blocks:
 *   [N, (H/b, b)..., rest]  <->  [b..., N, H/b..., rest] */
int ac_onw_space_batch(ac_onw *w, const ac_node *n)
{
    const bool to = n->op == AC_OP_SPACE_TO_BATCH_ND;
    ac_tensor *x = n->in[0], *y = n->out[0];
    ac_blocks b;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0}, dim[AC_MAX_RANK], one[AC_MAX_RANK];
    int32_t perm[AC_MAX_RANK], r = 0;
    AC_TRY(ac_blocks_of(w->cx, n, &b));
    if (x->rank + b.m > AC_MAX_RANK)
        return ac_onw_cannot(w, n, "%d dimensions with %d blocks", x->rank, b.m);
    for (int32_t d = 0; d < b.m; d++) {
        before[1 + d] = b.before[d];
        after[1 + d] = b.after[d];
    }
    if (to) {
        x = pad(w, x, before, after, x->quant ? ac_onw_const(w, x->dtype, x->quant->zero[0]) : NULL, "constant");
        dim[r++] = x->dim[0];
        for (int32_t d = 0; d < b.m; d++) {
            dim[r++] = x->dim[1 + d] / b.block[d];
            dim[r++] = b.block[d];
        }
        for (int32_t d = 1 + b.m; d < x->rank; d++)
            dim[r++] = x->dim[d];
        for (int32_t d = 0; d < r; d++)
            perm[d] = d < b.m ? 2 + 2 * d : d == b.m ? 0 : d <= 2 * b.m ? 2 * (d - b.m) - 1 : d;
        ac_onw_reshape_to(w, ac_onw_transpose(w, ac_onw_reshape(w, x, r, dim), perm), y);
        return AC_OK;
    }
    int64_t blocks = 1, whole[AC_MAX_RANK] = {0};
    for (int32_t d = 0; d < b.m; d++) {
        dim[r++] = b.block[d];
        blocks *= b.block[d];
    }
    dim[r++] = whole[0] = x->dim[0] / blocks;
    for (int32_t d = 1; d < x->rank; d++)
        dim[r++] = x->dim[d];
    perm[0] = b.m;
    for (int32_t d = 0; d < b.m; d++) {
        perm[1 + 2 * d] = b.m + 1 + d;
        perm[2 + 2 * d] = d;
    }
    for (int32_t d = 2 * b.m + 1; d < r; d++)
        perm[d] = d;
    for (int32_t d = 0; d < x->rank; d++) {
        if (d)
            whole[d] = d <= b.m ? x->dim[d] * b.block[d - 1] : x->dim[d];
        one[d] = 1;
    }
    ac_tensor *v = ac_onw_reshape(w, ac_onw_transpose(w, ac_onw_reshape(w, x, r, dim), perm), x->rank, whole);
    ac_onw_same(w, slice(w, v, before, one, y->dim), y);
    return AC_OK;
}
