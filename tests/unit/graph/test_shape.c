/* test_shape.c - the shape rules: a statement of the text form and the result types it must give, or the code of the
 * error it must report. Operands are named in the middle column; the rule of the last statement is tested. No
 * framework: a failed CHECK prints its place, the exit status is 1 when any failed. */
#include "ir/graph/graph.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/shape/shape.h"
#include "tests/unit/support/expect.h"

#include <stdio.h>
#include <string.h>

typedef struct test {
    int line;
    const char *operands; /* statements separated by ; */
    const char *node;     /* the statement tested */
    const char *want;     /* "f32 [1,2] | i8 [3]", or "E0104" */
} test;

#define T(operands, node, want) {__LINE__, operands, node, want},
#define X                       "input x: f32[1,8,10,3]"
#define Q8                      " q(0.5, 0)"

// clang-format off
static const test TESTS[] = {
    /* element-wise */
    T("input a: f32[2,1,4]; input b: f32[3,1]", "y = add(a, b)", "f32 [2,3,4]")
    T("input a: f32[]; input b: f32[3,1]", "y = add(a, b)", "f32 [3,1]")
    T("input a: f32[0,4]; input b: f32[1,4]", "y = add(a, b)", "f32 [0,4]")
    T("input a: f32[2,3]; input b: f32[3,2]", "y = add(a, b)", "E0104")
    T("input a: f32[2]; input b: i32[2]", "y = add(a, b)", "E0105")
    T("input a: f32[2]", "y = add(a, _)", "E0102")
    T("input a: f32[2]", "y = add(a)", "E0102")
    T("input a: i8[2]" Q8 "; input b: i8[2]" Q8, "y = add(a, b)", "E0106")
    T("input a: i8[2]" Q8 "; input b: i8[2]" Q8, "y: i8[2] q(1, 2) = add(a, b)", "i8 [2]")
    T("input a: i8[2]" Q8 "; input b: i8[2]" Q8, "y = maximum(a, b)", "i8 [2]")
    T("input a: f32[65536,65536]; input b: f32[1]", "y = add(a, b)", "E0015")
    T("input a: f32[65536,1]; input b: f32[1,65536]", "y = add(a, b)", "E0015")
    T("input a: f32[?,4]; input b: f32[1,4]", "y = add(a, b)", "E0204")
    T("input a: f32[2,3]; input b: f32[3]", "y = less(a, b)", "bool [2,3]")
    T("input a: f32[2,3]", "y = logical_not(a)", "E0105")
    T("input a: f32[2,3]; input b: f32[3]", "y: f32[2,3] = less(a, b)", "E0105")
    T("input c: bool[3]; input a: f32[2,1]; input b: f32[]", "y = select(c, a, b)", "f32 [2,3]")
    T("input c: f32[3]; input a: f32[3]; input b: f32[3]", "y = select(c, a, b)", "E0105")
    T("input a: f32[2,3]", "y = relu(a)", "f32 [2,3]")
    T("input a: i8[2,3]" Q8, "y = logistic(a)", "E0106")
    T("input a: f32[2,3]", "y: i8[2,3] q(0.1, 3) = quantize(a)", "i8 [2,3]")
    T("input a: f32[2,3]", "y = quantize(a)", "E0105")
    T("input a: i8[2,3]", "y = dequantize(a)", "E0106")
    T("input a: i8[2,3]" Q8, "y = dequantize(a)", "f32 [2,3]")
    T("input a: i8[2,3]", "y = cast(a) to=i32", "i32 [2,3]")
    T("input a: i8[2,3]", "y: i64[2,3] = cast(a) to=i32", "i64 [2,3]")
    T("input a: f32[]", "y = softmax(a)", "E0104")
    T("input a: f32[2,3]; const k: i32[1] = [2]", "y = cumsum(a, k)", "E0103")
    T("input a: f32[2,3]; const k: i32[] = [-1]", "y = cumsum(a, k)", "f32 [2,3]")
    T("input a: f32[2,3]; const k: i32[2] = [1, -1]", "y = reverse_v2(a, k)", "E0103")
    T("input a: f32[2,3]; const k: i32[2] = [1, 0]", "y = reverse_v2(a, k)", "f32 [2,3]")
    T("input a: f32[2,5,3]; input n: i32[2]", "y = reverse_sequence(a, n)", "f32 [2,5,3]")
    T("input a: f32[2,5,3]; input n: i32[2]", "y = reverse_sequence(a, n) seq_axis=-1", "f32 [2,5,3]")
    T("input a: f32[2,5,3]; input n: i32[2]", "y = reverse_sequence(a, n) seq_axis=0", "E0103")
    T("input a: f32[2,5,3]; input n: i32[5]", "y = reverse_sequence(a, n)", "E0104")
    T("input a: f32[2,5,3]; input n: f32[2]", "y = reverse_sequence(a, n)", "E0105")
    T("input a: i8[4,4]" Q8 "; input u: i8[1,4]" Q8 "; input s: i64[2]", "y = dynamic_update_slice(a, u, s)", "i8 [4,4]")
    T("input a: f32[4,4]; input u: f32[5,4]; input s: i64[2]", "y = dynamic_update_slice(a, u, s)", "E0104")
    T("input a: f32[4,4]; input u: f32[1,4]; input s: i64[1]", "y = dynamic_update_slice(a, u, s)", "E0104")
    T("input a: f32[4,4]; input u: i32[1,4]; input s: i64[2]", "y = dynamic_update_slice(a, u, s)", "E0105")
    T("input a: f32[2,3]", "y = matrix_diag(a)", "f32 [2,3,3]")
    T("input a: f32[1,1,1,1,1,1,1,3]", "y = matrix_diag(a)", "E0205")
    T("input a: f32[2,3,4]; input d: f32[2,3]", "y = matrix_set_diag(a, d)", "f32 [2,3,4]")
    T("input a: f32[2,3,4]; input d: f32[2,4]", "y = matrix_set_diag(a, d)", "E0104")
    T("input b: f32[9,4]; input s: f32[9]; const k: i32[] = [3]; input t: f32[]", "i, v, n = non_max_suppression_v5(b, s, k, t, t, t)", "i32 [3] | f32 [3] | i32 []")
    T("input b: f32[9,4]; input s: f32[8]; const k: i32[] = [3]; input t: f32[]", "i, v, n = non_max_suppression_v5(b, s, k, t, t, t)", "E0104")
    T("input b: f32[9,4]; input s: f32[9]; const k: i32[] = [3]; input t: f32[2]", "i, v, n = non_max_suppression_v5(b, s, k, t, t, t)", "E0104")
    /* windows */
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w)", "f32 [1,6,8,5]")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) padding=same stride_h=2 stride_w=3", "f32 [1,4,4,5]")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) padding=same dilation_h=4", "f32 [1,8,10,5]")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) padding=explicit pad_t=1 pad_r=2", "f32 [1,7,10,5]")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) padding=explicit pad_t=-1", "E0103")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) stride_h=0", "E0103")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) dilation_w=0", "E0103")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) dilation_w=2147483647", "E0015")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) padding=same dilation_w=900000000", "E0015")
    T(X "; const w: f32[5,3,3,3] = splat 0", "y = conv_2d(x, w) stride_w=2147483647", "f32 [1,6,1,5]")
    T(X "; const w: f32[5,9,3,3] = splat 0", "y = conv_2d(x, w)", "E0104")
    T(X "; const w: f32[5,3,3,2] = splat 0", "y = conv_2d(x, w)", "E0104")
    T(X "; const w: f32[6,3,3,1] = splat 0", "y = conv_2d(x, w)", "f32 [1,6,8,6]")
    T(X "; const w: f32[5,0,3,3] = splat 0", "y = conv_2d(x, w)", "E0103")
    T(X "; const w: f32[5,3,3,3] = splat 0; const b: f32[4] = splat 0", "y = conv_2d(x, w, b)", "E0104")
    T(X "; const w: f32[5,3,3,3] = splat 0; const b: f32[5] = splat 0", "y = conv_2d(x, w, b)", "f32 [1,6,8,5]")
    T(X "; const w: f32[5,3,3] = splat 0", "y = conv_2d(x, w)", "E0104")
    T(X "; const w: i8[5,3,3,3] = splat 0", "y = conv_2d(x, w)", "E0106")
    T(X "; const w: i8[5,3,3,3]" Q8 " = splat 0", "y = conv_2d(x, w)", "f32 [1,6,8,5]")
    T("input x: i8[1,8,10,3]" Q8 "; const w: i8[5,3,3,3]" Q8 " = splat 0", "y = conv_2d(x, w)", "E0106")
    T("input x: i8[1,8,10,3]" Q8 "; const w: i8[5,3,3,3]" Q8 " = splat 0", "y: i8[1,6,8,5] q(1, 0) = conv_2d(x, w)",
      "i8 [1,6,8,5]")
    T(X "; const w: f32[1,3,3,6] = splat 0", "y = depthwise_conv_2d(x, w) padding=same stride_h=2", "f32 [1,4,10,6]")
    T(X "; const w: f32[1,3,3,4] = splat 0", "y = depthwise_conv_2d(x, w)", "E0104")
    T(X "; const w: f32[2,3,3,3] = splat 0", "y = depthwise_conv_2d(x, w)", "E0104")
    T(X "; const w: f32[4,3,3,3] = splat 0; const s: i32[4] = [1, 16, 20, 4]",
      "y = transpose_conv(s, w, x) padding=same stride_h=2 stride_w=2", "f32 [1,16,20,4]")
    T(X "; const w: f32[4,3,3,3] = splat 0; const s: i32[4] = [1, 16, 20, 5]", "y = transpose_conv(s, w, x)", "E0104")
    T(X "; const w: f32[4,3,3,3] = splat 0; const s: i32[4] = [1, 0, 20, 4]", "y = transpose_conv(s, w, x)", "E0201")
    T(X "; const w: f32[4,3,3,3] = splat 0; input s: i32[4]", "y = transpose_conv(s, w, x)", "E0203")
    T(X "; const w: f32[4,3,3,3] = splat 0; input s: i32[4]",
      "y: f32[1,10,12,4] = transpose_conv(s, w, x)", "f32 [1,10,12,4]")
    T(X, "y = max_pool_2d(x) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2", "f32 [1,4,5,3]")
    T(X, "y = max_pool_2d(x) kernel_h=3 kernel_w=3 stride_h=2 stride_w=2 padding=same", "f32 [1,4,5,3]")
    T(X, "y = average_pool_2d(x) kernel_h=9 kernel_w=2", "E0104")
    T(X, "y = average_pool_2d(x) kernel_h=0", "E0103")
    T(X, "y = average_pool_2d(x) kernel_h=2 kernel_w=2 padding=explicit pad_t=2", "E0103")
    /* matrices */
    T("input x: f32[2,3,4]; const w: f32[5,4] = splat 0", "y = fully_connected(x, w)", "f32 [6,5]")
    T("input x: f32[2,3,4]; const w: f32[5,4] = splat 0", "y = fully_connected(x, w) keep_dims=true", "f32 [2,3,5]")
    T("input x: f32[2,3,4]; const w: f32[5,12] = splat 0", "y = fully_connected(x, w)", "f32 [2,5]")
    T("input x: f32[2,3,4]; const w: f32[5,12] = splat 0", "y = fully_connected(x, w) keep_dims=true", "E0104")
    T("input x: f32[2,3,4]; const w: f32[5,7] = splat 0", "y = fully_connected(x, w)", "E0104")
    T("input x: f32[2,3,4]; const w: f32[5,0] = splat 0", "y = fully_connected(x, w)", "E0104")
    T("input x: f32[7,1,2,3]; input z: f32[6,3,4]", "y = batch_matmul(x, z)", "f32 [7,6,2,4]")
    T("input x: f32[3,2]; input z: f32[4,3]", "y = batch_matmul(x, z) adj_x=true adj_y=true", "f32 [2,4]")
    T("input x: f32[3,2]; input z: f32[4,3]", "y = batch_matmul(x, z)", "E0104")
    T("input x: f32[2,2,2]; input z: f32[3,2,2]", "y = batch_matmul(x, z)", "E0104")
    /* reductions */
    T(X "; const k: i32[2] = [1, -2]", "y = mean(x, k)", "f32 [1,3]")
    T(X "; const k: i32[2] = [1, 2]", "y = mean(x, k) keep_dims=true", "f32 [1,1,1,3]")
    T(X "; const k: i32[] = [3]", "y = sum(x, k)", "f32 [1,8,10]")
    T(X "; const k: i32[2] = [3, -1]", "y = sum(x, k)", "f32 [1,8,10]")
    T(X "; const k: i32[0] = []", "y = sum(x, k)", "f32 [1,8,10,3]")
    T(X, "y = sum(x)", "f32 []")
    T(X, "y = sum(x) axes=[1]", "f32 [1,10,3]")
    T(X "; const k: i32[1] = [4]", "y = mean(x, k)", "E0103")
    T(X "; const k: f32[1] = [1]", "y = mean(x, k)", "E0105")
    T(X "; input k: i32[1]", "y = mean(x, k)", "E0203")
    T(X, "y = reduce_any(x)", "E0105")
    T(X "; const k: i32[] = [3]", "y = arg_max(x, k)", "i64 [1,8,10]")
    T(X "; const k: i32[] = [-3]", "y = arg_max(x, k) out_type=i32", "i32 [1,10,3]")
    T(X "; const k: i32[2] = [1, 2]", "y = arg_max(x, k)", "E0104")
    T(X "; const k: i32[1] = [1]", "y = arg_max(x, k) out_type=f32", "E0105")
    /* padding and resizing */
    T("input x: f32[2,3]; const p: i32[2,2] = [1, 2, 0, 4]", "y = pad(x, p)", "f32 [5,7]")
    T("input x: f32[2,3]", "y = pad(x) pads=[1, 2, 0, 4]", "f32 [5,7]")
    T("input x: f32[2,3]", "y = pad(x) pads=[1, 2, 0]", "E0104")
    T("input x: f32[2,3]", "y = pad(x) pads=[1, 2, 0, -1]", "E0103")
    T("input x: f32[2,3]", "y = pad(x) pads=[0, 2147483647, 0, 0]", "E0015")
    T("input x: i8[2,3]" Q8, "y = pad(x) pads=[0, 1, 0, 0]", "i8 [3,3]")
    T("input x: f32[2,3]; const v: i32[] = [1]; const p: i32[2,2] = [1, 2, 0, 4]", "y = padv2(x, p, v)", "E0105")
    T("input x: f32[2,3]", "y = mirror_pad(x) pads=[1, 1, 2, 2]", "f32 [4,7]")
    T("input x: f32[2,3]", "y = mirror_pad(x) pads=[2, 0, 0, 0]", "E0103")
    T("input x: f32[2,3]", "y = mirror_pad(x) pads=[2, 0, 0, 0] symmetric=true", "f32 [4,3]")
    T(X, "y = resize_bilinear(x) size=[4, 20]", "f32 [1,4,20,3]")
    T(X, "y = resize_bilinear(x) size=[4, 0]", "E0201")
    T(X, "y = resize_bilinear(x) size=[4]", "E0104")
    T(X, "y = resize_bilinear(x) size=[4, 4] align_corners=true half_pixel_centers=true", "E0103")
    T("input x: f32[2,3]", "y = resize_nearest_neighbor(x) size=[4, 4]", "E0104")
    /* shapes */
    T(X, "y = reshape(x) shape=[-1, 6]", "f32 [40,6]")
    T(X, "y = reshape(x) shape=[240]", "f32 [240]")
    T(X, "y = reshape(x) shape=[-1, 7]", "E0104")
    T(X, "y = reshape(x) shape=[-1, -1]", "E0201")
    T(X, "y = reshape(x) shape=[-2, -120]", "E0201")
    T(X, "y = reshape(x) shape=[4611686018427387904, 4]", "E0015")
    T(X, "y = reshape(x) shape=[0]", "E0104")
    T(X, "y = reshape(x) shape=[2, 2, 2, 2, 3, 5, 1, 1, 1]", "E0205")
    T("input x: f32[1,1]", "y = reshape(x) shape=[0]", "f32 []")
    T("input x: f32[0,4]", "y = reshape(x) shape=[2, 0]", "f32 [2,0]")
    T("input x: f32[0,4]", "y = reshape(x) shape=[0, -1]", "f32 [0,0]")
    T(X "; input s: i32[2]", "y = reshape(x, s)", "E0203")
    T(X "; input s: i32[2]", "y: f32[6,40] = reshape(x, s)", "f32 [6,40]")
    T(X "; input s: i32[2]", "y: f32[6,41] = reshape(x, s)", "E0104")
    T("input x: f32[1,3,1]", "y = squeeze(x)", "f32 [3]")
    T("input x: f32[1,3,1]", "y = squeeze(x) axes=[-1]", "f32 [1,3]")
    T("input x: f32[1,3,1]", "y = squeeze(x) axes=[1]", "E0104")
    T("input x: f32[1,3,1]", "y = squeeze(x) axes=[3]", "E0103")
    T("input x: f32[2,3]", "y = expand_dims(x) axis=-1", "f32 [2,3,1]")
    T("input x: f32[2,3]; const k: i32[1] = [0]", "y = expand_dims(x, k)", "f32 [1,2,3]")
    T("input x: f32[2,3]", "y = expand_dims(x) axis=3", "E0103")
    T("input x: f32[1,1,1,1,1,1,1,1]", "y = expand_dims(x)", "E0205")
    T("input x: f32[2,3]; input z: f32[2,5]", "y = concatenation(x, z) axis=-1", "f32 [2,8]")
    T("input x: f32[2,3]; input z: f32[2,5]", "y = concatenation(x, z) axis=0", "E0104")
    T("input x: f32[2,3]; input z: f32[2,5]", "y = concatenation(x, z) axis=2", "E0103")
    T("input x: f32[2,3]; input z: i32[2,3]", "y = concatenation(x, z)", "E0105")
    T("input x: f32[2,3]", "y = concatenation(x, _)", "E0102")
    T("input x: f32[2,6]", "a, b, c = split(x) axis=1", "f32 [2,2] | f32 [2,2] | f32 [2,2]")
    T("input x: f32[2,6]; const k: i32[] = [-1]", "a, b = split(k, x)", "f32 [2,3] | f32 [2,3]")
    T("input x: f32[2,5]; const k: i32[] = [-1]", "a, b = split(k, x)", "E0104")
    T("input x: f32[2,5]; input k: i32[]", "a, b = split(k, x)", "E0203")
    T("input x: f32[2,6]", "a, b = split_v(x) axis=1 sizes=[-1, 2]", "f32 [2,4] | f32 [2,2]")
    T("input x: f32[2,6]", "a, b = split_v(x) axis=1 sizes=[6, 0]", "f32 [2,6] | f32 [2,0]")
    T("input x: f32[2,6]", "a, b = split_v(x) axis=1 sizes=[5, 2]", "E0104")
    T("input x: f32[2,6]", "a, b = split_v(x) axis=1 sizes=[-1, -1]", "E0201")
    T("input x: f32[2,6]", "a, b = split_v(x) axis=1 sizes=[-1, 7]", "E0104")
    T("input x: f32[2,6]", "a = split_v(x) axis=1 sizes=[5, 1]", "E0104")
    T("input x: f32[2,3]; input z: f32[2,3]", "y = pack(x, z) axis=1", "f32 [2,2,3]")
    T("input x: f32[2,3]; input z: f32[2,4]", "y = pack(x, z) axis=1", "E0104")
    T("input x: f32[2,3]", "a, b = unpack(x)", "f32 [3] | f32 [3]")
    T("input x: f32[2,3]", "a, b = unpack(x) axis=1", "E0104")
    T(X, "y = transpose(x) perm=[0, 3, 1, 2]", "f32 [1,3,8,10]")
    T(X, "y = transpose(x)", "f32 [3,10,8,1]")
    T(X, "y = transpose(x) perm=[0, 3, 1, 1]", "E0103")
    T(X, "y = transpose(x) perm=[0, 3, 1]", "E0104")
    T("input x: f32[2,3]; const m: i32[2] = [2, 0]", "y = tile(x, m)", "f32 [4,0]")
    T("input x: f32[2,3]; const m: i32[2] = [2, -1]", "y = tile(x, m)", "E0201")
    T("input x: f32[2,3]; const m: i64[2] = [9223372036854775807, 1]", "y = tile(x, m)", "E0015")
    T("input x: f32[3,1]", "y = broadcast_to(x) shape=[2, 3, 4]", "f32 [2,3,4]")
    T("input x: f32[3,1]", "y = broadcast_to(x) shape=[2, 4]", "E0104")
    T("input x: f32[1,1]", "y = broadcast_to(x) shape=[2, -4]", "E0201")
    T("input x: f32[1,4,6,2]", "y = space_to_depth(x) block=2", "f32 [1,2,3,8]")
    T("input x: f32[1,4,6,2]", "y = space_to_depth(x) block=4", "E0104")
    T("input x: f32[1,4,6,8]", "y = depth_to_space(x) block=2", "f32 [1,8,12,2]")
    T("input x: f32[1,4,6,2]", "y = depth_to_space(x) block=2", "E0104")
    T("input x: f32[1,4,6,2]", "y = depth_to_space(x) block=0", "E0103")
    T("input x: f32[1,4,6,2]; const b: i32[2] = [2, 3]; const p: i32[2,2] = [0, 0, 1, 2]",
      "y = space_to_batch_nd(x, b, p)", "f32 [6,2,3,2]")
    T("input x: f32[1,4,6,2]; const b: i32[2] = [3, 3]; const p: i32[2,2] = [0, 0, 0, 0]",
      "y = space_to_batch_nd(x, b, p)", "E0104")
    T("input x: f32[6,2,3,2]; const b: i32[2] = [2, 3]; const p: i32[2,2] = [0, 0, 1, 2]",
      "y = batch_to_space_nd(x, b, p)", "f32 [1,4,6,2]")
    T("input x: f32[6,2,3,2]; const b: i32[2] = [2, 3]; const p: i32[2,2] = [3, 2, 0, 0]",
      "y = batch_to_space_nd(x, b, p)", "E0201")
    T("input x: f32[5,2,3,2]; const b: i32[2] = [2, 3]; const p: i32[2,2] = [0, 0, 0, 0]",
      "y = batch_to_space_nd(x, b, p)", "E0104")
    /* slices and indices */
    T("input x: f32[4,5,6]", "y = slice(x) begin=[1, 0, 2] size=[2, -1, 4]", "f32 [2,5,4]")
    T("input x: f32[4,5,6]", "y = slice(x) begin=[4, 0, 2] size=[0, -1, 4]", "f32 [0,5,4]")
    T("input x: f32[4,5,6]", "y = slice(x) begin=[5, 0, 2] size=[0, -1, 4]", "E0103")
    T("input x: f32[4,5,6]", "y = slice(x) begin=[1, 0, 2] size=[4, -1, 4]", "E0104")
    T("input x: f32[4,5,6]", "y = slice(x) begin=[1, 0, 2] size=[-2, -1, 4]", "E0201")
    T("input x: f32[4,5,6]", "y = slice(x) begin=[1, 0] size=[1, 1]", "E0104")
    T("input x: f32[4,5,6]", "y = slice(x) begin=[-9223372036854775808, 0, 0] size=[-1, 1, 1]", "E0103")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1, 0, -1] end=[4, 5, -7] strides=[2, 3, -2]", "f32 [2,2,3]")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1] end=[3]", "f32 [2,5,6]")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1, 9] end=[3, 99]", "f32 [2,0,6]")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1, 2] end=[3, 3] begin_mask=1 end_mask=2", "f32 [3,3,6]")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1, 0, 2] end=[2, 0, 4] ellipsis_mask=2", "f32 [1,5,2]")
    T("input x: f32[4,5,6]",
      "y = strided_slice(x) begin=[0, 0, 1] end=[0, 0, 2] ellipsis_mask=1 new_axis_mask=2 shrink_axis_mask=4",
      "f32 [4,5,1]")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[-1, 1] end=[0, 3] shrink_axis_mask=1", "f32 [2,6]")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[4] end=[5] shrink_axis_mask=1", "E0103")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1] end=[0] strides=[-1] shrink_axis_mask=1", "E0103")
    T("input x: f32[4,5,6]", "y = strided_slice(x) begin=[1] end=[3] strides=[0]", "E0103")
    T("input x: f32[4]", "y = strided_slice(x) begin=[1, 1] end=[3, 3]", "E0104")
    T("input x: f32[4]", "y = strided_slice(x) begin=[-9223372036854775808] end=[9223372036854775807]", "f32 [4]")
    T("input x: f32[4,5,6]; input i: i32[7,8]", "y = gather(x, i) axis=1", "f32 [4,7,8,6]")
    T("input x: f32[4,5,6]; input i: i32[]", "y = gather(x, i) axis=-1", "f32 [4,5]")
    T("input x: f32[4,5,6]; input i: i32[4,8]", "y = gather(x, i) axis=1 batch_dims=1", "f32 [4,8,6]")
    T("input x: f32[4,5,6]; input i: i32[3,8]", "y = gather(x, i) axis=1 batch_dims=1", "E0104")
    T("input x: f32[4,5,6]; input i: i32[4,8]", "y = gather(x, i) axis=0 batch_dims=1", "E0103")
    T("input x: f32[4,5,6]; input i: f32[2]", "y = gather(x, i)", "E0105")
    T("input x: f32[4,5,6]; input i: i32[7,2]", "y = gather_nd(x, i)", "f32 [7,6]")
    T("input x: f32[4,5,6]; input i: i32[7,4]", "y = gather_nd(x, i)", "E0104")
    T("input x: f32[4,5,6]; input i: i32[]", "y = gather_nd(x, i)", "E0104")
    T("const d: i32[2] = [2, 3]; input v: f32[]", "y = fill(d, v)", "f32 [2,3]")
    T("const d: i32[2] = [2, -3]; input v: f32[]", "y = fill(d, v)", "E0201")
    T("const d: i32[2] = [2, 3]; input v: f32[2]", "y = fill(d, v)", "E0104")
    T(X, "y = shape(x)", "i64 [4]")
    T(X, "y = rank(x)", "i32 []")
    T("const a: i32[] = [3]; const b: i32[] = [18]; const d: i32[] = [4]", "y = range(a, b, d)", "i32 [4]")
    T("const a: i32[] = [3]; const b: i32[] = [3]; const d: i32[] = [-4]", "y = range(a, b, d)", "i32 [0]")
    T("const a: f32[] = [0]; const b: f32[] = [-1]; const d: f32[] = [-0.25]", "y = range(a, b, d)", "f32 [4]")
    T("const a: i32[] = [3]; const b: i32[] = [18]; const d: i32[] = [0]", "y = range(a, b, d)", "E0103")
    T("const a: i32[] = [3]; const b: i32[] = [18]; const d: i32[] = [-1]", "y = range(a, b, d)", "E0103")
    T("const a: i64[] = [-9223372036854775808]; const b: i64[] = [9223372036854775807]; const d: i64[] = [1]",
      "y = range(a, b, d)", "E0015")
    T("const a: i32[] = [3]; input b: i32[]; const d: i32[] = [1]", "y = range(a, b, d)", "E0203")
    T("input i: i32[2,3]; const d: i32[] = [5]; const p: f32[] = [1]; const q: f32[] = [0]",
      "y = one_hot(i, d, p, q) axis=-1", "f32 [2,3,5]")
    T("input i: i32[2,3]; const d: i32[] = [5]; const p: f32[] = [1]; const q: f32[] = [0]",
      "y = one_hot(i, d, p, q) axis=1", "f32 [2,5,3]")
    T("input i: i32[2,3]; const d: i32[] = [-5]; const p: f32[] = [1]; const q: f32[] = [0]", "y = one_hot(i, d, p, q)",
      "E0201")
};
// clang-format on

static const char *outcome(ac_ctx *cx, const test *t, ac_graph **g)
{
    char text[1024], *p = text;
    p += snprintf(p, sizeof text, "graph g {\n%s\n", t->operands);
    for (char *s = text; *s; s++)
        if (*s == ';')
            *s = '\n';
    snprintf(p, sizeof text - (size_t)(p - text), "%s\n}\n", t->node);
    ac_node *n = NULL;
    if (ac_graph_read_text(cx, "test.ag", text, strlen(text), NULL, g) == AC_OK)
        n = (*g)->node.item[0];
    if (!n || ac_op_shape(cx, *g, n) != AC_OK) /* the reader counts operands itself */
        return cx->diags.errors == 1 ? ac_code_name(cx->diags.last->code) : "not one error";
    const char *s = ac_tensor_str(cx, n->out[0]);
    for (int32_t i = 1; i < n->n_out; i++)
        s = ac_strf(cx->region, "%s | %s", s, ac_tensor_str(cx, n->out[i]));
    return cx->diags.errors ? "error but accepted" : s;
}

/* Every case in a separate context. An accepted case gives the same result when repeated. */
static void run(const test *t)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    if (OUT_OF_MEMORY(cx)) {
        printf("%s:%d: out of memory\n", __FILE__, t->line);
        failures++;
        ac_ctx_close(&cx);
        return;
    }
    ac_ctx_start(&cx);
    ac_graph *g = NULL;
    const char *got = outcome(&cx, t, &g);
    if (strcmp(got, t->want) != 0) {
        failures++;
        printf("%s:%d: %s: got %s, expected %s\n", __FILE__, t->line, t->node, got, t->want);
        ac_diags_print(&cx.diags, stdout, false);
    } else if (t->want[0] != 'E') {
        ac_node *n = g->node.item[0];
        const char *first = ac_tensor_str(&cx, n->out[0]);
        if (ac_op_shape(&cx, g, n) || strcmp(first, ac_tensor_str(&cx, n->out[0])))
            check_failed(__FILE__, t->line, "the rule gives the same when it runs again", false);
    }
    ac_ctx_close(&cx);
}

/* Paddings are made explicit: TFLite's odd element goes after. */
static void test_paddings(void)
{
    static const test t = {__LINE__, X "; const w: f32[5,4,3,3] = splat 0", "y = conv_2d(x, w) padding=same stride_w=2",
                           "f32 [1,8,5,5]"};
    ac_ctx cx;
    ac_ctx_open(&cx);
    if (OUT_OF_MEMORY(cx)) {
        ac_ctx_close(&cx);
        CHECK(false && "memory");
        return;
    }
    ac_ctx_start(&cx);
    ac_graph *g = NULL;
    CHECK(!strcmp(outcome(&cx, &t, &g), t.want));
    const ac_attrs_conv *a = &g->node.item[0]->attrs.conv;
    CHECK(a->padding == AC_PAD_EXPLICIT && a->pad_t == 1 && a->pad_b == 2 && a->pad_l == 0 && a->pad_r == 1);
    ac_ctx_close(&cx);
}

int main(void)
{
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS; i++)
        run(&TESTS[i]);
    test_paddings();
    printf("%zu shape cases, %d failures\n", sizeof TESTS / sizeof *TESTS, failures);
    return failures != 0;
}
