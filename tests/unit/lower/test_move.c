/* test_move.c - the lowerings that move elements, run by the evaluator on plain and vector targets, against one line of
 * C for each operator: where does the element at these coordinates come from? Bits must be equal. Resizing and the
 * rescaling of concatenations compute, so they have references of their own below. No framework: a failed case prints
 * its place, the exit status is 1 when any failed. */
#include "tests/unit/support/in_context.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/run_node.h"

#include <math.h>

/* Where output element `at` of output o comes from: operand number, coordinates in `from`. -1: it is the operator's
 * fill value (zero point, pad operand, off value); -2: the value of operand 2 (one_hot on). */
typedef struct place {
    int32_t operand;
    int64_t from[AC_MAX_RANK];
} place;
typedef place source(const ac_node *n, int32_t o, const int64_t *at, void *const *data);

typedef struct test {
    int line;
    const char *operands, *node;
    source *from;
    int64_t below; /* run-time indices (operand 1 or the first of one_hot) are drawn from 0 .. below-1 */
} test;

/* ---- sources ---- */

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

/* ---- cases ---- */

#define CASE(operands, node, from, below)     \
    {                                         \
        __LINE__, operands, node, from, below \
    }
#define T(operands, node, from)        CASE(operands, node, from, 0),
#define I(operands, node, from, below) CASE(operands, node, from, below),
#define Q                              " q(0.5, -3)"

// clang-format off
static const test TESTS[] = {
    T("input x: i8[2,37]", "y = reshape(x) shape=[37, 2]", s_copy)
    T("input x: bool[2,37]", "y = reshape(x) shape=[-1]", s_copy)
    T("input x: i64[1,3,1]", "y = squeeze(x)", s_copy)
    T("input x: f16[3,5]", "y = expand_dims(x) axis=1", s_copy)
    T("input x: f32[]", "y = expand_dims(x)", s_copy)
    T("input x: f32[2,0]", "y = reshape(x) shape=[0, 7]", s_copy)
    T("input x: f32[2,3,4]; input z: f32[2,1,4]", "y = concatenation(x, z) axis=1", s_concat)
    T("input x: i8[2,19]" Q "; input z: i8[2,40]" Q "; input w: i8[2,0]" Q, "y = concatenation(x, z, w, x) axis=-1", s_concat)
    T("input x: i64[5]; const z: i64[3] = [7, 8, 9]", "y = concatenation(x, z)", s_concat)
    T("input x: f32[2,6,3]", "a, b, c = split(x) axis=1", s_split)
    T("input x: i16[2,6,3]", "a, b, c = split_v(x) axis=-2 sizes=[1, -1, 3]", s_split)
    T("input x: u8[2,33]; input z: u8[2,33]; input w: u8[2,33]", "y = pack(x, z, w) axis=1", s_pack)
    T("input x: f32[2,3]; input z: f32[2,3]", "y = pack(x, z) axis=-1", s_pack)
    T("input x: i32[2,3,17]", "a, b, c = unpack(x) axis=1", s_unpack)
    T("input x: f32[4,2]", "a, b = unpack(x) axis=-1", s_unpack)
    T("input x: f32[4,5,6]", "y = slice(x) begin=[1, 0, 2] size=[2, -1, 3]", s_slice)
    T("input x: i8[4,50,6]", "y = slice(x) begin=[1, 3, 0] size=[3, 40, 6]", s_slice)
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1, 4, -1] end=[4, 0, -7] strides=[2, -3, -2]", s_strided)
    T("input x: f64[9,40]", "y = strided_slice(x) begin=[1, 2] end=[9, 40] strides=[3, 1]", s_strided)
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[2, 0, 0, 0] end=[0, 0, 0, 0] strides=[1, 1, 1, -2] begin_mask=8 "
      "end_mask=8 ellipsis_mask=2 new_axis_mask=4 shrink_axis_mask=1", s_masks)
    T("input x: f32[2,5,6,3]", "y = transpose(x) perm=[0, 3, 1, 2]", s_transpose)
    T("input x: i8[2,3,5,6]", "y = transpose(x) perm=[0, 2, 3, 1]", s_transpose)
    T("input x: f32[2,3,4,5,6]", "y = transpose(x) perm=[0, 3, 4, 1, 2]", s_transpose)
    T("input x: i16[3,4,20]", "y = transpose(x) perm=[1, 0, 2]", s_transpose)
    T("input x: bool[3,4]", "y = transpose(x)", s_transpose)
    T("input x: f32[17,33]", "y = transpose(x)", s_transpose)
    T("input x: f32[2,3]; const m: i32[2] = [2, 3]", "y = tile(x, m)", s_tile)
    T("input x: i8[1,40]; const m: i32[2] = [3, 1]", "y = tile(x, m)", s_tile)
    T("input x: i64[3,1]; const m: i64[2] = [1, 9]", "y = tile(x, m)", s_tile)
    T("input x: f32[2,3]; const m: i32[2] = [0, 3]", "y = tile(x, m)", s_tile)
    T("input x: f32[3,1]", "y = broadcast_to(x) shape=[2, 3, 21]", s_broadcast)
    T("input x: i8[1,37]", "y = broadcast_to(x) shape=[4, 37]", s_broadcast)
    T("input x: f32[]", "y = broadcast_to(x) shape=[4, 5]", s_broadcast)
    T("input x: f32[2,3,4]; const k: i32[2] = [0, -1]", "y = reverse_v2(x, k)", s_reverse)
    T("input x: i8[2,3,40]; const k: i32[1] = [1]", "y = reverse_v2(x, k)", s_reverse)
    T("input x: f32[1,4,5,3]", "y = pad(x) pads=[0, 0, 1, 2, 1, 1, 0, 0]", s_pad)
    T("input x: i8[2,4,5,17]" Q, "y = pad(x) pads=[1, 0, 1, 2, 1, 1, 0, 3]", s_pad)
    T("input x: u8[2,3] q(1, 128); const p: i32[2,2] = [1, 2, 0, 4]", "y = pad(x, p)", s_pad)
    T("input x: i32[0,3]", "y = pad(x) pads=[1, 2, 0, 4]", s_pad)
    T("input x: f16[3]", "y = pad(x) pads=[2, 2]", s_pad)
    T("input x: f32[2,3]", "y = pad(x) pads=[0, 0, 0, 0]", s_pad)
    T("input x: f32[2,3]; const p: i32[2,2] = [1, 2, 0, 4]; const v: f32[] = [-2.5]", "y = padv2(x, p, v)", s_pad)
    T("input x: i8[2,3]" Q "; const p: i64[2,2] = [1, 2, 0, 4]; input v: i8[1]" Q, "y = padv2(x, p, v)", s_pad)
    T("input x: f32[3,4]", "y = mirror_pad(x) pads=[2, 2, 3, 1]", s_mirror)
    T("input x: f32[3,4]", "y = mirror_pad(x) pads=[3, 3, 4, 4] symmetric=true", s_mirror)
    T("input x: i8[2,3,4,20]", "y = mirror_pad(x) pads=[0, 0, 1, 2, 3, 0, 0, 0]", s_mirror)
    T("input x: f32[2,4,6,3]", "y = space_to_depth(x) block=2", s_to_depth)
    T("input x: i8[1,6,6,1]", "y = space_to_depth(x) block=3", s_to_depth)
    T("input x: f32[2,3,2,12]", "y = depth_to_space(x) block=2", s_to_space)
    T("input x: i8[1,2,2,9]", "y = depth_to_space(x) block=3", s_to_space)
    T("input x: f32[2,4,6,3]; const b: i32[2] = [2, 3]; const p: i32[2,2] = [1, 1, 0, 3]", "y = space_to_batch_nd(x, b, p)",
      s_to_batch)
    T("input x: i8[1,5,2]" Q "; const b: i32[1] = [2]; const p: i32[1,2] = [0, 1]", "y = space_to_batch_nd(x, b, p)", s_to_batch)
    T("input x: f32[12,3,3,3]; const b: i32[2] = [2, 3]; const p: i32[2,2] = [1, 1, 0, 3]", "y = batch_to_space_nd(x, b, p)",
      s_from_batch)
    T("input x: i8[4,5,20]; const b: i32[1] = [2]; const p: i32[1,2] = [0, 1]", "y = batch_to_space_nd(x, b, p)", s_from_batch)
    I("input x: f32[4,5,6]; input i: i32[3,2]", "y = gather(x, i) axis=1", s_gather, 5)
    I("input x: i8[4,5,60]; input i: i64[4,2]", "y = gather(x, i) axis=-2 batch_dims=1", s_gather, 5)
    I("input x: i8[7]; input i: i16[]", "y = gather(x, i)", s_gather, 7)
    T("input x: f32[4,5]; const i: i32[2] = [3, 0]", "y = gather(x, i)", s_gather)
    I("input x: f32[4,5,6]; input i: i32[3,2]", "y = gather_nd(x, i)", s_gather_nd, 4)
    I("input x: f32[4,5]; input i: i64[2,3,2]", "y = gather_nd(x, i)", s_gather_nd, 4)
    I("input x: f32[4,5]; input i: i32[2,0]", "y = gather_nd(x, i)", s_gather_nd, 4)
    T("const d: i32[2] = [5, 7]; input v: i8[]", "y = fill(d, v)", s_fill)
    T("const d: i64[0] = []; const v: f32[] = [3]", "y = fill(d, v)", s_fill)
    I("input i: i32[2,3]; const d: i32[] = [5]; const p: f32[] = [2]; input q: f32[]", "y = one_hot(i, d, p, q) axis=-1",
      s_one_hot, 7)
    I("input i: i64[2,3]; const d: i32[] = [5]; input p: i8[]; input q: i8[]", "y = one_hot(i, d, p, q) axis=1", s_one_hot, 7)
    T("input x: f32[2,3,5,2]", "y = resize_nearest_neighbor(x) size=[6, 4]", s_nearest)
    T("input x: i8[1,4,4,40]", "y = resize_nearest_neighbor(x) size=[2, 8] half_pixel_centers=true", s_nearest)
    T("input x: u8[1,5,5,3]", "y = resize_nearest_neighbor(x) size=[9, 3] align_corners=true", s_nearest)
};
// clang-format on

/* ---- running ---- */

static void expect(ac_ctx *cx, const ac_node *n, int32_t o, int64_t k, source *from, void *const *data, uint8_t *want)
{
    const ac_tensor *y = n->out[o];
    const int64_t size = ac_dtype_size(y->dtype, 1);
    const place out = unflat(0, y, k), p = from(n, o, out.from, data);
    (void)cx;
    if (p.operand == -1) {
        put_int(y->dtype, want, y->quant ? y->quant->zero[0] : 0);
    } else if (p.operand == -2) {
        memcpy(want, data[n->in[2]->id], (size_t)size);
    } else {
        const ac_tensor *x = n->in[p.operand];
        memcpy(want, (const uint8_t *)data[x->id] + (ac_tensor_count(x) == 1 ? 0 : flat(x, p.from)) * size,
               (size_t)size);
    }
}

static void compare(ac_ctx *cx, const test *t, const char *target, const ac_node *n, void *const *data)
{
    for (int32_t o = 0; o < n->n_out; o++) {
        const ac_tensor *y = n->out[o];
        const int64_t size = ac_dtype_size(y->dtype, 1), count = ac_tensor_count(y);
        for (int64_t k = 0; k < count; k++) {
            uint8_t want[8] = {0};
            expect(cx, n, o, k, t->from, data, want);
            if (memcmp(want, (const uint8_t *)data[y->id] + k * size, (size_t)size) != 0) {
                fail(
                    t->line, t->node, target,
                    ac_strf(cx->region, "element %lld of output %d %s differs", (long long)k, o, ac_tensor_str(cx, y)));
                return;
            }
        }
    }
}

static void run(ac_ctx *cx, const test *t)
{
    ac_graph *g = NULL;
    ac_node *n = read_node(cx, t->operands, t->node, &g);
    if (!n) {
        fail(t->line, t->node, "-", "is not accepted");
        return;
    }
    for (int32_t k = 0; k < N_TARGETS; k++) {
        void **data = make_data(cx, g, t->below);
        int status = 0;
        if (run_node(cx, n, &TARGETS[k], false, data, &status) != AC_OK || status)
            fail(t->line, t->node, TARGETS[k].name, "does not run");
        else
            compare(cx, t, TARGETS[k].name, n, data);
    }
}

/* An index out of range: status 4 at run time, E0103 when it is a constant. */
static void test_bad_indices(ac_ctx *cx)
{
    // clang-format off
    static const test run_time[] = {I("input x: f32[4,5]; input i: i32[3]", "y = gather(x, i)", s_gather, 4)
                                    I("input x: f32[4,5]; input i: i64[3,2]", "y = gather_nd(x, i)", s_gather_nd, 4)};
    // clang-format on
    static const int64_t bad[] = {-1, 4, 5, INT32_MIN};
    for (int32_t c = 0; c < 2; c++)
        for (int32_t k = 0; k < 4; k++) {
            ac_graph *g = NULL;
            const ac_node *n = read_node(cx, run_time[c].operands, run_time[c].node, &g);
            void **data = make_data(cx, g, run_time[c].below);
            int status = 0;
            const ac_tensor *i = n->in[1];
            put_int(i->dtype, (uint8_t *)data[i->id] + 2 * ac_dtype_size(i->dtype, 1), bad[k]);
            if (run_node(cx, n, &TARGETS[0], false, data, &status) != AC_OK || status != 4)
                fail(run_time[c].line, run_time[c].node, "plain", "does not stop with status 4");
        }
    static const test constant = CASE("input x: f32[4,5]; const i: i32[2] = [3, -1]", "y = gather(x, i)", s_gather, 0);
    ac_graph *g = NULL;
    const ac_node *n = read_node(cx, constant.operands, constant.node, &g);
    const int32_t errors = cx->diags.errors;
    if (ac_lower_node(cx, cx->region, n, &TARGETS[0], 0, false) || cx->diags.errors != errors + 1 ||
        cx->diags.last->code != E0103)
        fail(constant.line, constant.node, "plain", "is not refused with E0103");
}

/* 0, 0.1, 0.2 .. by repeated addition in f32. */
static void test_range(ac_ctx *cx)
{
    static const test t =
        CASE("const a: f32[] = [0]; const b: f32[] = [3]; const d: f32[] = [0.1]", "y = range(a, b, d)", NULL, 0);
    ac_graph *g = NULL;
    const ac_node *n = read_node(cx, t.operands, t.node, &g);
    void **data = make_data(cx, g, 0);
    int status = 0;
    if (run_node(cx, n, &TARGETS[0], false, data, &status) != AC_OK) {
        fail(t.line, t.node, "plain", "does not run");
        return;
    }
    const float *y = data[n->out[0]->id];
    float want = 0;
    for (int64_t i = 0; i < ac_tensor_count(n->out[0]); i++, want += 0.1f)
        if (y[i] != want)
            fail(t.line, t.node, "plain",
                 ac_strf(cx->region, "element %lld is %g, not %g", (long long)i, (double)y[i], (double)want));
}

static void all(ac_ctx *cx)
{
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS; i++)
        run(cx, &TESTS[i]);
    test_bad_indices(cx);
    test_range(cx);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, all);
}
