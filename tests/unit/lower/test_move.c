/* test_move.c - the lowerings that move elements, run by the evaluator on plain and vector targets, against one line of
 * C for each operator (move_sources.h): where does the element at these coordinates come from? Bits must be equal.
 * Those that compute too have references of their own, in test_resize.c. */
#include "tests/unit/support/in_context.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/move_sources.h"
#include "tests/unit/support/run_node.h"

typedef struct test {
    int line;
    const char *operands, *node;
    source *from;
    int64_t below; /* run-time indices (operand 1 or the first of one_hot) are drawn from 0 .. below-1 */
} test;

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
    T("input x: f32[2,37,50]", "y = transpose(x) perm=[0, 2, 1]", s_transpose)
    T("input x: i8[35,3,49]", "y = transpose(x) perm=[2, 1, 0]", s_transpose)
    T("input x: i16[19,5,40]", "y = transpose(x) perm=[1, 2, 0]", s_transpose)
    T("input x: f64[17,23]", "y = transpose(x)", s_transpose)
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
