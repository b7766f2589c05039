/* compose.c - builds operators of TFLite from several of ours. */
#include "import/build/counted.h"
#include "ir/make/compose_math.h"
#include "import/tflite/rules.h"

#include <math.h>

ac_maker ac_tfl_maker(ac_tfl *r, ac_tfl_node *n)
{
    ac_maker b = ac_reading_maker(r->reading, n->g, n->out[0]->name, n->at);
    b.unsized = !n->sized;
    return b;
}

/* Any tensor of that type: an operand, or a constant. */
static int sized_result(ac_tfl_node *n, int32_t k, ac_tensor *y)
{
    ac_tensor *own = n->out[k];
    if (y->dtype != own->dtype)
        return ac_error(n->g->cx, n->at, E0105, "result '%s' is declared as %s, but these operands give %s", own->name,
                        ac_dtype_name(own->dtype), ac_dtype_name(y->dtype));
    if (y->id >= n->first && !y->input && ac_graph_has(n->g, y)) {
        const char *name = y->name;
        y->name = own->name;
        own->name = name;
        if (!y->quant)
            y->quant = own->quant;
    }
    n->result[k]->t = y;
    return AC_OK;
}

int ac_tfl_result(ac_tfl_node *n, int32_t k, ac_tensor *y)
{
    if (!y)
        return AC_FAIL;
    if (n->sized)
        return sized_result(n, k, y);
    ac_node *m = y->def;
    for (int32_t i = 0; i < m->n_out; i++)
        if (m->out[i] == y)
            m->out[i] = n->out[k];
    if (!k)
        m->id = n->id;
    n->out[k]->def = m;
    y->def = NULL; /* y is unused; it needs a type, like all tensors without a producer */
    y->dtype = n->out[k]->dtype;
    return AC_OK;
}

/* a + b + c .., in that order: f32 is rounded as the reference does. */
int ac_tfl_rule_add_n(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *y = n->in[0];
    for (int32_t i = 1; i < n->n_in; i++)
        y = ac_make_2(&b, AC_OP_ADD, y, n->in[i]);
    return ac_tfl_result(n, 0, y);
}

int ac_tfl_rule_atan2(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    if (n->in[0]->dtype != AC_F32)
        return ac_cannot(&b, "its operands are %s; supported is f32", ac_dtype_name(n->in[0]->dtype));
    return ac_tfl_result(n, 0, ac_make_atan2(&b, n->in[0], n->in[1]));
}

/* Constants are dense as soon as they have been read (sparse.c). */
int ac_tfl_rule_densify(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *x = n->in[0];
    if (!ac_tensor_is_const(x))
        return ac_cannot(&b, "its operand is not a constant");
    return ac_tfl_result(n, 0, ac_make_reshape(&b, x, x->rank, x->dim));
}

/* Rows of a table by their numbers. A quantised table may give floats: number * scale, one scale for each row or one
 * for all; as in TFLite the zero point is ignored. */
int ac_tfl_rule_embedding(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *table = n->in[1], *in[] = {table, n->in[0]};
    const ac_quant *q = table->quant;
    ac_tensor *rows = ac_make_op(&b, AC_OP_GATHER, in, 2, NULL, AC_NONE);
    if (!ac_dtype_is_int(table->dtype) || n->out[0]->dtype != AC_F32)
        return ac_tfl_result(n, 0, rows);
    if (!q || (q->n > 1 && q->axis != 0))
        return ac_cannot(&b, "its table is quantised along dimension %d, expected 0", q ? q->axis : -1);
    ac_attrs a;
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = AC_F32;
    ac_tensor *number = ac_make_op(&b, AC_OP_CAST, &rows, 1, &a, AC_F32);
    int64_t dim[AC_MAX_RANK] = {q->n, 1, 1, 1, 1, 1, 1, 1};
    ac_tensor *scale =
        q->n > 1 ? ac_make_floats(&b, table->rank, dim, q->scale) : ac_make_number(&b, AC_F32, (double)q->scale[0]);
    in[0] = scale;
    if (q->n > 1)
        scale = ac_make_op(&b, AC_OP_GATHER, in, 2, NULL, AC_NONE);
    return ac_tfl_result(n, 0, ac_make_2(&b, AC_OP_MUL, number, scale));
}

/* Sorted segments: the last one determines their number, so they must be constant. */
int ac_tfl_rule_segment_sum(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_ints id;
    AC_TRY(ac_operand_values(&b, &n->in[1], &id));
    for (int32_t i = 0; i < id.n; i++)
        if (id.v[i] < (i ? id.v[i - 1] : 0) || id.v[i] >= INT32_MAX)
            return ac_error(r->cx, n->at, E0103, "segment %d is %lld: segments must ascend", i, (long long)id.v[i]);
    ac_tensor *in[] = {n->in[0], n->in[1], ac_make_number(&b, AC_I32, id.n ? (double)id.v[id.n - 1] + 1 : 0)};
    return ac_tfl_result(n, 0, ac_make_op(&b, AC_OP_UNSORTED_SEGMENT_SUM, in, 3, NULL, AC_NONE));
}

/* indices [], [N] or [N,K], the result's shape, values [] or [N], the value of all other elements */
int ac_tfl_rule_sparse_to_dense(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *index = n->in[0], *value = n->in[2], *fill[] = {n->in[1], n->in[3]};
    const int64_t rows = index->rank ? index->dim[0] : 1;
    if (index->rank > 2 || value->rank > 1)
        return ac_bad(&b, "indices %s and values %s, expected at most [N,K] and [N]", ac_shape_str(r->cx, index),
                      ac_shape_str(r->cx, value));
    if (rows < 0)
        return ac_cannot(&b, "the number of its indices is not known");
    if (index->rank < 2)
        index = ac_make_reshape(&b, index, 2, (int64_t[]){rows, 1});
    if (!value->rank)
        value = ac_make_broadcast(&b, value, 1, &rows);
    ac_tensor *in[] = {ac_make_op(&b, AC_OP_FILL, fill, 2, NULL, AC_NONE), index, value};
    return ac_tfl_result(n, 0, ac_make_op(&b, AC_OP_SCATTER_INTO, in, 3, NULL, AC_NONE));
}

/* The common shape of two: a 1 gives way, and the shorter one has ones in front. */
int ac_tfl_rule_broadcast_args(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *shape[2] = {n->in[0], n->in[1]};
    const ac_dtype d = shape[0]->dtype;
    if (shape[0]->rank != 1 || shape[1]->rank != 1 || shape[0]->dim[0] < 0 || shape[1]->dim[0] < 0)
        return ac_bad(&b, "its operands are %s and %s, expected two lists of known length",
                      ac_shape_str(r->cx, shape[0]), ac_shape_str(r->cx, shape[1]));
    for (int32_t i = 0; i < 2; i++) {
        const int64_t more = n->in[1 - i]->dim[0] - n->in[i]->dim[0], none = 0;
        if (more > 0)
            shape[i] = ac_make_pad(&b, shape[i], &more, &none, ac_make_number(&b, d, 1));
    }
    ac_tensor *gives_way = ac_make_2(&b, AC_OP_EQUAL, shape[0], ac_make_number(&b, d, 1));
    return ac_tfl_result(n, 0, ac_make_select(&b, gives_way, shape[1], shape[0]));
}

/* How many boundaries are not above each element (all, of NaN): those of a further dimension are counted. */
int ac_tfl_rule_bucketize(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *x = n->in[0];
    ac_fb_table t = ac_fb_child(&r->fb, n->table, OP_OPTIONS, "BucketizeOptions");
    ac_fb_vec v = ac_fb_vector(&r->fb, t, 0, 4);
    if (r->fb.failed)
        return AC_FAIL;
    if (x->rank >= AC_MAX_RANK)
        return ac_cannot(&b, "its operand has %d dimensions; arenac handles up to %d", x->rank, AC_MAX_RANK - 1);
    if (!v.n || v.n > 1 << 16)
        return ac_error(r->cx, n->at, E0103, "it has %u boundaries, expected 1 to 65536", v.n);
    float *limit = AC_NEW_N(r->cx->region, float, v.n);
    for (uint32_t i = 0; i < v.n; i++) {
        limit[i] = ac_fb_elem_f32(&r->fb, v, i);
        if (i && !(limit[i] >= limit[i - 1]))
            return ac_error(r->cx, n->at, E0103, "boundary %u is %g, below the one before it", i, (double)limit[i]);
    }
    const int64_t count = v.n;
    const ac_dtype real = x->dtype == AC_F64 ? AC_F64 : AC_F32;
    ac_attrs a;
    ac_attrs_init(AC_OP_EXPAND_DIMS, &a);
    a.axis.axis = -1;
    ac_tensor *number = ac_make_cast(&b, x, real);
    ac_tensor *each = ac_make_op(&b, AC_OP_EXPAND_DIMS, &number, 1, &a, AC_NONE);
    ac_tensor *limits = ac_make_cast(&b, ac_make_floats(&b, 1, &count, limit), real);
    ac_tensor *reached = ac_make_1(&b, AC_OP_LOGICAL_NOT, ac_make_2(&b, AC_OP_LESS, each, limits));
    ac_tensor *ones = ac_make_cast(&b, reached, AC_I32);
    ac_attrs_init(AC_OP_SUM, &a);
    a.reduce.axes = ac_make_list(&b, 1, (int64_t[]){-1});
    return ac_tfl_result(n, 0, ac_make_op(&b, AC_OP_SUM, &ones, 1, &a, AC_NONE));
}

/* Floats as they were after quantisation to so many bits: steps of `scale` from a range that was moved until one of
 * them is 0, halves away from it (fake_quant.h). */
int ac_tfl_rule_fake_quant(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_fb_table t = ac_fb_child(&r->fb, n->table, OP_OPTIONS, "FakeQuantOptions");
    const float min = ac_fb_f32(&r->fb, t, 0, 0), max = ac_fb_f32(&r->fb, t, 1, 0);
    const int64_t bits = ac_fb_int(&r->fb, t, 2, AC_FB_I32, 0), narrow = ac_fb_int(&r->fb, t, 3, AC_FB_U8, 0);
    if (r->fb.failed)
        return AC_FAIL;
    if (!isfinite(min) || !isfinite(max) || !(max > min) || bits < 2 || bits > 16)
        return ac_error(r->cx, n->at, E0103, "%lld bits for %g to %g, expected 2 to 16 and a range", (long long)bits,
                        (double)min, (double)max);
    if (narrow)
        return ac_cannot(&b, "its range is narrow, which TFLite does not run either");
    const float last = (float)((1 << bits) - 1), scale = (max - min) / last, zero = -min / scale;
    const float moved = zero < 0 ? 0 : zero > last ? last : roundf(zero);
    const float least = -moved * scale, most = (last - moved) * scale;
    ac_tensor *from = ac_make_number(&b, AC_F32, (double)least);
    ac_tensor *inside = ac_make_2(&b, AC_OP_MAXIMUM, n->in[0], from);
    inside = ac_make_2(&b, AC_OP_MINIMUM, inside, ac_make_number(&b, AC_F32, (double)most));
    ac_tensor *shifted = ac_make_2(&b, AC_OP_SUB, inside, from);
    ac_tensor *steps = ac_make_2(&b, AC_OP_MUL, shifted, ac_make_number(&b, AC_F32, (double)(1.0f / scale)));
    ac_tensor *whole = ac_make_1(&b, AC_OP_FLOOR, steps);
    ac_tensor *rest = ac_make_2(&b, AC_OP_SUB, steps, whole);
    ac_tensor *below = ac_make_2(&b, AC_OP_LESS, rest, ac_make_number(&b, AC_F32, 0.5));
    ac_tensor *up = ac_make_2(&b, AC_OP_ADD, whole, ac_make_number(&b, AC_F32, 1));
    ac_tensor *step = ac_make_select(&b, below, whole, up);
    step = ac_make_2(&b, AC_OP_MUL, step, ac_make_number(&b, AC_F32, (double)scale));
    return ac_tfl_result(n, 0, ac_make_2(&b, AC_OP_ADD, step, from));
}

/* The shape of the result, weights [D,H,W,O,I], x [N,D,H,W,I], bias [O] or none. Pads are those of the convolution that
 * goes back from the result to x. */
int ac_tfl_rule_tconv_3d(ac_tfl *r, ac_tfl_node *n)
{
    static const int32_t SWAP[5] = {0, 1, 2, 4, 3};
    const ac_maker b = ac_tfl_maker(r, n);
    const ac_attrs_conv3d *c = &n->attrs.conv3d;
    const int64_t stride[3] = {c->stride_d, c->stride_h, c->stride_w};
    const int64_t dilation[3] = {c->dilation_d, c->dilation_h, c->dilation_w};
    int64_t before[3];
    ac_tensor *w = n->in[1];
    ac_ints shape;
    ac_attrs a;
    AC_TRY(ac_operand_values(&b, &n->in[0], &shape));
    if (shape.n != 5 || w->rank != 5 || n->in[2]->rank != 5)
        return ac_bad(&b, "weights %s and an operand %s to %d dimensions, expected [D,H,W,O,I], [N,D,H,W,I] and 5",
                      ac_shape_str(r->cx, w), ac_shape_str(r->cx, n->in[2]), shape.n);
    for (int32_t d = 0; d < 3; d++) {
        const int64_t out = shape.v[d + 1], windows = (out - 1) / stride[d] + 1;
        const int64_t pads = (windows - 1) * stride[d] + (w->dim[d] - 1) * dilation[d] + 1 - out;
        if (out < 1 || out > INT32_MAX)
            return ac_error(r->cx, n->at, E0201, "dimension %d of the result is %lld", d + 1, (long long)out);
        before[d] = c->padding == AC_PAD_SAME && pads > 0 ? pads / 2 : 0;
    }
    ac_attrs_init(AC_OP_CONV_ND_DATA, &a);
    a.conv_back.strides = ac_make_list(&b, 3, stride);
    a.conv_back.dilations = ac_make_list(&b, 3, dilation);
    a.conv_back.before = ac_make_list(&b, 3, before);
    a.conv_back.extent = ac_make_list(&b, 3, shape.v + 1);
    ac_tensor *in[] = {n->in[2], ac_make_transpose(&b, w, SWAP)};
    ac_tensor *y = ac_make_op(&b, AC_OP_CONV_ND_DATA, in, 2, &a, AC_NONE);
    if (n->n_in > 3 && n->in[3])
        y = ac_make_2(&b, AC_OP_ADD, y, n->in[3]);
    static const ac_op ACT[] = {[AC_ACT_RELU] = AC_OP_RELU,
                                [AC_ACT_RELU_N1_TO_1] = AC_OP_RELU_N1_TO_1,
                                [AC_ACT_RELU6] = AC_OP_RELU6,
                                [AC_ACT_TANH] = AC_OP_TANH};
    return ac_tfl_result(n, 0, c->act == AC_ACT_NONE ? y : ac_make_1(&b, ACT[c->act], y));
}

/* Computes a subgraph of the file, for any name: becomes an IF with a true condition, which inline.c replaces by the
 * nodes. */
int ac_tfl_rule_composite(ac_tfl *r, ac_tfl_node *n)
{
    static const bool YES = true;
    const ac_fb_table t = ac_fb_child(&r->fb, n->table, OP_OPTIONS_2, "StableHLOCompositeOptions");
    const int64_t subgraph = ac_fb_int(&r->fb, t, 1, AC_FB_I32, 0);
    if (r->fb.failed)
        return AC_FAIL;
    if (!t.at)
        return ac_error(r->cx, n->at, E0012, "has no options, but needs them");
    ac_tensor **in = AC_NEW_N(r->cx->region, ac_tensor *, n->n_in + 1);
    if (n->sized) {
        ac_tensor **out = AC_NEW_N(r->cx->region, ac_tensor *, n->n_out + 1);
        AC_TRY(ac_tfl_call(r, n, (int32_t)subgraph, n->in, n->n_in, out, n->n_out));
        for (int32_t i = 0; i < n->n_out; i++)
            AC_TRY(ac_tfl_result(n, i, out[i]));
        return AC_OK;
    }
    for (int32_t i = 0; i < n->n_in; i++)
        in[i + 1] = n->in[i];
    in[0] = ac_tensor_const(n->g, ac_strf(r->cx->region, "%s_always", n->out[0]->name), AC_BOOL, 0, NULL, &YES);
    n->attrs.flow.first = n->attrs.flow.second = (int32_t)subgraph;
    ac_tfl_node_make(n, AC_OP_IF, in, n->n_in + 1, &n->attrs);
    return AC_OK;
}
