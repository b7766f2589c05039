/* ends.c - evaluates an operator for given values, by folding a copy of the node with constant operands: rounding,
 * clamps and tables are those of the loops that will run, and are written once.
 *
 * Sums are put into the bias of a copy whose weights are zeros:
 *     conv_2d %x %w %b  ->  sum lo  ->  conv_2d %zero %zeros %lo  ->  the minimum of the stored value */
#include "ir/pass/channels.h"

#include <string.h>

ac_tensor *ac_ends_like(ac_channels *s, const ac_tensor *t, int32_t rank, const int64_t *dim, const void *data)
{
    ac_tensor *own = AC_NEW(s->cx->region, ac_tensor);
    *own = (ac_tensor){.name = t->name, .dtype = t->dtype, .rank = rank, .quant = t->quant, .data = data};
    for (int32_t d = 0; d < rank; d++)
        own->dim[d] = dim[d];
    return own;
}

void ac_ends_put(ac_dtype d, void *to, int64_t at, int64_t v)
{
    const int64_t size = ac_dtype_size(d, 1);
    memcpy((char *)to + at * size, &v, (size_t)size); /* little-endian, as all constants are */
}

const void *ac_ends_run(ac_channels *s, const ac_node *n, ac_tensor *const *in, int32_t n_in, const ac_tensor *y)
{
    ac_node *own = AC_NEW(s->cx->region, ac_node);
    ac_tensor *out = ac_ends_like(s, y, y->rank, y->dim, NULL);
    *own = (ac_node){.id = n->id, .op = n->op, .name = n->name, .at = n->at, .n_in = n_in, .n_out = 1};
    own->in = ac_copy(s->cx->region, in, (size_t)n_in * sizeof *in);
    own->out = AC_NEW(s->cx->region, ac_tensor *);
    own->out[0] = out;
    own->attrs = n->attrs;
    out->def = own;
    if (!s->g->promise || !s->g->promise(s->cx, own))
        return NULL;
    return ac_tensor_force(s->cx, out);
}

/* A constant like t with this shape and v everywhere. */
static ac_tensor *filled(ac_channels *s, const ac_tensor *t, int32_t rank, const int64_t *dim, int64_t v)
{
    const int64_t n = ac_dim_product(dim, 0, rank);
    void *data = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(t->dtype, n) + 1);
    for (int64_t i = 0; i < n && v; i++)
        ac_ends_put(t->dtype, data, i, v);
    return ac_ends_like(s, t, rank, dim, data);
}

const void *ac_ends_of_sums(ac_channels *s, const ac_node *n, const ac_sums *t, const int64_t *sum)
{
    const int64_t o = t->outs, one[4] = {1, 1, 1, 1}, first[4] = {o, 1, 1, 1}, last[4] = {1, 1, 1, o}, two[2] = {1, o};
    const bool depthwise = n->op == AC_OP_DEPTHWISE_CONV_2D, dense = n->op == AC_OP_FULLY_CONNECTED;
    const int32_t rank = dense ? 2 : 4;
    const ac_tensor bias = {.name = n->name, .dtype = t->wide ? AC_I64 : AC_I32};
    void *sums = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(bias.dtype, o) + 1);
    for (int64_t i = 0; i < o; i++)
        ac_ends_put(bias.dtype, sums, i, sum[i]);
    ac_tensor *in[3] = {filled(s, t->x, rank, depthwise ? last : one, t->zx),
                        filled(s, t->w, rank, depthwise ? last : first, t->zw), ac_ends_like(s, &bias, 1, &o, sums)};
    ac_node own = *n;
    if (dense)
        own.attrs.dense.keep_dims = false;
    else
        own.attrs.conv = (ac_attrs_conv){.stride_h = 1,
                                         .stride_w = 1,
                                         .dilation_h = 1,
                                         .dilation_w = 1,
                                         .padding = AC_PAD_EXPLICIT,
                                         .act = n->attrs.conv.act};
    return ac_ends_run(s, &own, in, 3, ac_ends_like(s, t->y, rank, dense ? two : last, NULL));
}
