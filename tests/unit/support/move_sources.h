/* move_sources.h - operators that move elements, by their definitions: the source of the element at given coordinates
 * of the result.
 *
 *     place p = s_transpose(node, 0, at, data);       operand p.operand at coordinates p.from
 *
 * data: contents of operands, by tensor id. */
#ifndef AC_TESTS_UNIT_SUPPORT_MOVE_SOURCES_H
#define AC_TESTS_UNIT_SUPPORT_MOVE_SOURCES_H
#include "tests/unit/support/run_node.h"

#include <math.h>
#include <string.h>

/* Where output element `at` of output o comes from: operand number, coordinates in `from`. -1: it is the operator's
 * fill value (zero point, pad operand, off value); -2: the value of operand 2 (one_hot on). */
typedef struct place {
    int32_t operand;
    int64_t from[AC_MAX_RANK];
} place;
typedef place source(const ac_node *n, int32_t o, const int64_t *at, void *const *data);

static int64_t num(const ac_node *n, int32_t operand, int64_t i, void *const *data)
{
    return ac_dtype_get_int(n->in[operand]->dtype, data[n->in[operand]->id], i);
}

static place unflat(int32_t operand, const ac_tensor *t, int64_t k)
{
    place p = {.operand = operand};
    for (int32_t d = t->rank - 1; d >= 0; k /= t->dim[d--])
        p.from[d] = k % t->dim[d];
    return p;
}

static place same(int32_t operand, const int64_t *at)
{
    place p = {.operand = operand};
    memcpy(p.from, at, sizeof p.from);
    return p;
}

static place s_copy(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)data;
    return unflat(0, n->in[0], flat(n->out[o], at));
}

static int32_t axis_of(const ac_node *n, int32_t axis)
{
    return axis < 0 ? axis + n->out[0]->rank : axis;
}

static place s_concat(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    const int32_t axis = axis_of(n, n->attrs.axis.axis);
    place p = same(0, at);
    while (p.from[axis] >= n->in[p.operand]->dim[axis])
        p.from[axis] -= n->in[p.operand++]->dim[axis];
    return p;
}

static place s_split(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)data;
    const int32_t axis = axis_of(n, n->attrs.split.axis);
    place p = same(0, at);
    for (int32_t k = 0; k < o; k++)
        p.from[axis] += n->out[k]->dim[axis];
    return p;
}

static place s_pack(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    const int32_t axis = axis_of(n, n->attrs.axis.axis);
    place p = {.operand = (int32_t)at[axis]};
    for (int32_t d = 0; d < n->out[0]->rank - 1; d++)
        p.from[d] = at[d < axis ? d : d + 1];
    return p;
}

static place s_unpack(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)data;
    const int32_t axis = n->attrs.axis.axis < 0 ? n->attrs.axis.axis + n->in[0]->rank : n->attrs.axis.axis;
    place p = {0};
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        p.from[d] = d < axis ? at[d] : d == axis ? o : at[d - 1];
    return p;
}

static place s_slice(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    place p = same(0, at);
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        p.from[d] += n->attrs.slice.begin.v[d];
    return p;
}

/* Only begins in range, no masks: those cases have sources of their own. */
static place s_strided(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    const ac_attrs_strided *a = &n->attrs.strided;
    place p = same(0, at);
    for (int32_t d = 0; d < a->begin.n; d++)
        p.from[d] = (a->begin.v[d] < 0 ? a->begin.v[d] + n->in[0]->dim[d] : a->begin.v[d]) + at[d] * a->strides.v[d];
    return p;
}

/* x[2, ..., new, ::-2] of [4,5,6] */
static place s_masks(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)n, (void)o, (void)data;
    return (place){.from = {2, at[0], 5 - 2 * at[2]}};
}

static place s_transpose(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    const ac_ints perm = n->attrs.perm.perm;
    place p = {0};
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        p.from[perm.n ? perm.v[d] : n->in[0]->rank - 1 - d] = at[d];
    return p;
}

static place s_tile(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    place p = same(0, at);
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        p.from[d] %= n->in[0]->dim[d];
    return p;
}

static place s_broadcast(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    place p = {0};
    const int32_t more = n->out[0]->rank - n->in[0]->rank;
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        p.from[d] = n->in[0]->dim[d] == 1 ? 0 : at[d + more];
    return p;
}

static place s_reverse(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o;
    place p = same(0, at);
    for (int64_t k = 0; k < ac_tensor_count(n->in[1]); k++) {
        const int64_t v = num(n, 1, k, data), d = v < 0 ? v + n->in[0]->rank : v;
        p.from[d] = n->in[0]->dim[d] - 1 - at[d];
    }
    return p;
}

static int64_t pad_before(const ac_node *n, int32_t d, void *const *data)
{
    return n->n_in > 1 && n->in[1] ? num(n, 1, 2 * d, data) : n->attrs.pad.pads.v[2 * d];
}

static place s_pad(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o;
    place p = same(0, at);
    for (int32_t d = 0; d < n->in[0]->rank; d++) {
        p.from[d] -= pad_before(n, d, data);
        if (p.from[d] < 0 || p.from[d] >= n->in[0]->dim[d])
            return (place){.operand = n->op == AC_OP_PADV2 ? -2 : -1};
    }
    return p;
}

static place s_mirror(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    place p = same(0, at);
    const int64_t twice = n->attrs.mirror.symmetric ? 1 : 0;
    for (int32_t d = 0; d < n->in[0]->rank; d++) {
        int64_t k = at[d] - n->attrs.mirror.pads.v[2 * d];
        k = k < 0 ? -k - twice : k;
        p.from[d] = k >= n->in[0]->dim[d] ? 2 * n->in[0]->dim[d] - 2 + twice - k : k;
    }
    return p;
}

static place s_to_depth(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    const int64_t b = n->attrs.block.block, c = n->in[0]->dim[3], e = at[3] / c;
    return (place){.from = {at[0], at[1] * b + e / b, at[2] * b + e % b, at[3] % c}};
}

static place s_to_space(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    const int64_t b = n->attrs.block.block, c = n->out[0]->dim[3], e = at[1] % b * b + at[2] % b;
    return (place){.from = {at[0], at[1] / b, at[2] / b, e * c + at[3]}};
}

static place s_to_batch(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o;
    place p = same(0, at);
    int64_t e = at[0] / n->in[0]->dim[0];
    p.from[0] = at[0] % n->in[0]->dim[0];
    for (int32_t i = (int32_t)ac_tensor_count(n->in[1]) - 1; i >= 0; i--) {
        const int64_t b = num(n, 1, i, data);
        p.from[i + 1] = at[i + 1] * b + e % b - num(n, 2, 2 * i, data);
        e /= b;
        if (p.from[i + 1] < 0 || p.from[i + 1] >= n->in[0]->dim[i + 1])
            p.operand = -1;
    }
    return p;
}

static place s_from_batch(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o;
    place p = same(0, at);
    int64_t e = 0;
    for (int32_t i = 0; i < ac_tensor_count(n->in[1]); i++) {
        const int64_t b = num(n, 1, i, data), k = at[i + 1] + num(n, 2, 2 * i, data);
        e = e * b + k % b;
        p.from[i + 1] = k / b;
    }
    p.from[0] = e * n->out[0]->dim[0] + at[0];
    return p;
}

static place s_gather(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o;
    const ac_tensor *x = n->in[0], *index = n->in[1];
    const int32_t batch = n->attrs.gather.batch_dims, more = index->rank - batch;
    const int32_t axis = n->attrs.gather.axis < 0 ? n->attrs.gather.axis + x->rank : n->attrs.gather.axis;
    int64_t pick[AC_MAX_RANK];
    place p = {0};
    for (int32_t d = 0; d < index->rank; d++)
        pick[d] = d < batch ? at[d] : at[axis + d - batch];
    for (int32_t d = 0; d < x->rank; d++)
        p.from[d] = d < axis ? at[d] : d > axis ? at[d - 1 + more] : num(n, 1, flat(index, pick), data);
    return p;
}

static place s_gather_nd(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o;
    const ac_tensor *x = n->in[0], *index = n->in[1];
    const int32_t k = (int32_t)index->dim[index->rank - 1];
    int64_t pick[AC_MAX_RANK] = {0};
    place p = {0};
    for (int32_t d = 0; d < index->rank - 1; d++)
        pick[d] = at[d];
    for (int32_t d = 0; d < x->rank; d++) {
        pick[index->rank - 1] = d;
        p.from[d] = d < k ? num(n, 1, flat(index, pick), data) : at[index->rank - 1 + d - k];
    }
    return p;
}

static place s_fill(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)n, (void)o, (void)at, (void)data;
    return (place){.operand = 1};
}

static place s_one_hot(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o;
    const int32_t axis = axis_of(n, n->attrs.axis.axis);
    int64_t pick[AC_MAX_RANK] = {0};
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        pick[d] = at[d < axis ? d : d + 1];
    return (place){.operand = num(n, 0, flat(n->in[0], pick), data) == at[axis] ? 2 : 3};
}

static place s_nearest(const ac_node *n, int32_t o, const int64_t *at, void *const *data)
{
    (void)o, (void)data;
    const ac_attrs_resize *a = &n->attrs.resize;
    place p = same(0, at);
    for (int32_t d = 1; d < 3; d++) {
        const int64_t in = n->in[0]->dim[d], out = n->out[0]->dim[d];
        const double num_ = a->align_corners && out > 1 ? (double)(in - 1) : (double)in;
        const double den = a->align_corners && out > 1 ? (double)(out - 1) : (double)out;
        const double k = ((double)at[d] + (a->half_pixel_centers ? 0.5 : 0)) * num_ / den;
        const int64_t i = (int64_t)(a->align_corners ? floor(k + 0.5) : floor(k));
        p.from[d] = i < in ? i : in - 1;
    }
    return p;
}

#endif
