/* test_structured.c - operators that read or write elements by index or by window, with known values: gather_elements,
 * scatter_elements, scatter_into, topk of the smallest, cumprod, conv_nd, window_sum, _max, _argmax, einsum, det,
 * inverse, grid_sample, roi_align, roi_pool. The ONNX conformance suite tests these operators fully; here only targets
 * and refusals. */
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/value_case.h"

#include <math.h>

#define F "input x: f32"
// clang-format off
static const value_case VALUES[] = {
    {F "[5]; const k: i32[] = [3]", "y, j = topk_v2(x, k) smallest=true", {1, 7, 7, -2, 1}, {-2, 1, 1}, {0}, 0, 0},
    {F "[5]; const k: i32[] = [3]", "y, j = topk_v2(x, k) smallest=true", {1, 7, 7, -2, 1}, {3, 0, 4}, {0}, 1, 0},
    {F "[2,3]; input i: i32[2,2]", "y = gather_elements(x, i) axis=1", {1, 2, 3, 4, 5, 6}, {3, 1, 6, 5}, {2, 0, -1, 1}, 0, 0},
    {F "[2,3]; input i: i32[1,2]", "y = gather_elements(x, i) axis=-2", {1, 2, 3, 4, 5, 6}, {4, 2}, {1, 0}, 0, 0},
    {F "[2]; input i: i32[1]", "y = gather_elements(x, i)", {1, 2}, {0}, {2}, 0, 4},
    {F "[2]; input i: i32[1]", "y = gather_elements(x, i)", {1, 2}, {0}, {-3}, 0, 4},
    {F "[4]; input i: i32[3]; const u: f32[3] = [10, 20, 40]", "y = scatter_elements(x, i, u)", {1, 2, 3, 4}, {1, 40, 3, 20}, {1, -1, 1}, 0, 0},
    {F "[4]; input i: i32[3]; const u: f32[3] = [10, 20, 40]", "y = scatter_elements(x, i, u) reduction=add", {1, 2, 3, 4}, {1, 52, 3, 24}, {1, -1, 1}, 0, 0},
    {F "[4]; input i: i32[3]; const u: f32[3] = [10, 20, 40]", "y = scatter_elements(x, i, u) reduction=mul", {1, 2, 3, 4}, {1, 800, 3, 80}, {1, -1, 1}, 0, 0},
    {F "[2,2]; input i: i32[1,2]; const u: f32[1,2] = [3, 0]", "y = scatter_elements(x, i, u) axis=0 reduction=max", {1, 2, 3, 4}, {3, 2, 3, 4}, {0, 1}, 0, 0},
    {F "[2,2]; input i: i32[1,2]; const u: f32[1,2] = [3, 0]", "y = scatter_elements(x, i, u) axis=0 reduction=min", {1, 2, 3, 4}, {1, 2, 3, 0}, {0, 1}, 0, 0},
    {F "[2]; input i: i32[1]; const u: f32[1] = [3]", "y = scatter_elements(x, i, u)", {1, 2}, {0}, {2}, 0, 4},
    {F "[2,2]; input i: i32[2,1]; const u: f32[2,2] = [5, 6, 7, 8]", "y = scatter_into(x, i, u) reduction=add", {1, 2, 3, 4}, {1, 2, 15, 18}, {1, -1}, 0, 0},
    {F "[2,2]; input i: i32[2,2]; const u: f32[2] = [5, 6]", "y = scatter_into(x, i, u)", {1, 2, 3, 4}, {1, 5, 6, 4}, {0, 1, 1, 0}, 0, 0},
    {F "[2]; input i: i32[1,1]; const u: f32[1] = [3]", "y = scatter_into(x, i, u)", {1, 2}, {0}, {-3}, 0, 4},
    {F "[2,3]; input i: i32[2]", "y = reverse_sequence(x, i)", {1, 2, 3, 4, 5, 6}, {2, 1, 3, 6, 5, 4}, {2, 3}, 0, 0},
    {F "[3,2]; input i: i32[2]", "y = reverse_sequence(x, i) seq_axis=0 batch_axis=1", {1, 2, 3, 4, 5, 6}, {1, 6, 3, 4, 5, 2}, {0, 3}, 0, 0},
    {F "[2,3]; input i: i32[2]", "y = reverse_sequence(x, i)", {1, 2, 3, 4, 5, 6}, {0}, {2, 4}, 0, 4},
    {F "[2,3]; input i: i32[2]", "y = reverse_sequence(x, i)", {1, 2, 3, 4, 5, 6}, {0}, {2, -1}, 0, 4},
    {F "[2,3]; input i: i32[2]; const u: f32[1,2] = [8, 9]", "y = dynamic_update_slice(x, u, i)", {1, 2, 3, 4, 5, 6}, {1, 2, 3, 8, 9, 6}, {5, -1}, 0, 0},
    {F "[2,3]; input i: i32[2]; const u: f32[1,2] = [8, 9]", "y = dynamic_update_slice(x, u, i)", {1, 2, 3, 4, 5, 6}, {1, 8, 9, 4, 5, 6}, {0, 1}, 0, 0},
    {F "[2,2]", "y = matrix_diag(x)", {1, 2, 3, 4}, {1, 0, 0, 2, 3, 0, 0, 4}, {0}, 0, 0},
    {F "[2,3]; const d: f32[2] = [8, 9]", "y = matrix_set_diag(x, d)", {1, 2, 3, 4, 5, 6}, {8, 2, 3, 4, 9, 6}, {0}, 0, 0},
    {F "[4]; const a: i32[] = [0]", "y = cumprod(x, a)", {1, 2, 3, 4}, {1, 2, 6, 24}, {0}, 0, 0},
    {F "[4]; const a: i32[] = [0]", "y = cumprod(x, a) exclusive=true reverse=true", {1, 2, 3, 4}, {24, 12, 4, 1}, {0}, 0, 0},
    {F "[1,4,2]; const w: f32[2,1,4] = [1, 10, 100, 1000, 2, 20, 200, 2000]; const b: f32[4] = [0, 0, 0, 0.5]",
     "y = conv_nd(x, w, b) strides=[2] pads=[1, 0] groups=2", {1, 2, 3, 4, 5, 6, 7, 8}, {2, 20, 400, 4000.5, 13, 130, 1600, 16000.5}, {0}, 0, 0},
    {F "[1,3,1]; const w: f32[2,1,9] = splat 2", "y = conv_nd(x, w) dilations=[2]", {1, 2, 3}, {8, 8, 8, 8, 8, 8, 8, 8, 8}, {0}, 0, 0},
    {F "[2,3]", "y = window_sum(x) kernel=[1, 2] pads=[0, 0, 1, 1]", {1, 2, 3, 4, 5, 6}, {1, 3, 5, 3, 4, 9, 11, 6}, {0}, 0, 0},
    {F "[3,2]", "y = window_sum(x) kernel=[2, 1] dilations=[2, 1]", {1, 2, 3, 4, 5, 6}, {6, 8}, {0}, 0, 0},
    {F "[5]", "y = window_max(x) kernel=[2] strides=[2]", {-1, -2, -5, -3, 9}, {-1, -3}, {0}, 0, 0},
    {F "[5]", "y = window_max(x) kernel=[1] strides=[2] pads=[0, 2]", {-1, -2, -5, -3, 9}, {-1, -5, 9, -(double)INFINITY}, {0}, 0, 0},
    {F "[2,3]", "y = window_argmax(x) kernel=[2, 2]", {1, 7, 7, (double)NAN, 7, 8}, {1, 5}, {0}, 0, 0},
    {F "[2,2]; const z: f32[2,3] = [1, 2, 3, 4, 5, 6]", "y = einsum(x, z) labels=[0, 1, 1, 2, 0, 2]", {1, 2, 3, 4}, {9, 12, 15, 19, 26, 33}, {0}, 0, 0},
    {F "[2,2]", "y = einsum(x) labels=[3, 3]", {1, 2, 3, 4}, {5}, {0}, 0, 0},
    {F "[2,3]", "y = einsum(x) labels=[0, 1, 1]", {1, 2, 3, 4, 5, 6}, {5, 7, 9}, {0}, 0, 0},
    {F "[1,3]; const z: f32[2,3] = [1, 2, 3, 4, 5, 6]; const w: f32[2] = [1, -1]", "y = einsum(x, z, w) labels=[0, 1, 0, 1, 0, 1]", {1, 2, 2}, {-3, -6, -6}, {0}, 0, 0},
    {F "[2,2,2]", "y = det(x)", {0, 2, 3, 4, 1, 2, 2, 4}, {-6, 0}, {0}, 0, 0},
    {F "[1,1]", "y = det(x)", {-7}, {-7}, {0}, 0, 0},
    {F "[2,2,2]", "y = inverse(x)", {0, 2, 4, 8, 1, 2, 0, 4}, {-1, 0.25, 0.5, 0, 1, -0.5, 0, 0.25}, {0}, 0, 0},
    {F "[1,1]", "y = inverse(x)", {-4}, {-0.25}, {0}, 0, 0},
    {F "[1,2,2,1]; const g: f32[1,1,3,2] = [0, 0, -1, -1, 1.5, 1.5]", "y = grid_sample(x, g)", {1, 2, 3, 4}, {2.5, 0.25, 0}, {0}, 0, 0},
    {F "[1,2,2,1]; const g: f32[1,1,3,2] = [0, 0, -1, -1, 1.5, 1.5]", "y = grid_sample(x, g) align_corners=true padding=border", {1, 2, 3, 4}, {2.5, 1, 4}, {0}, 0, 0},
    {F "[1,4,1]; const g: f32[1,4,1] = [-1, -0.5, 5, 6]", "y = grid_sample(x, g) mode=nearest padding=reflection pixels=true", {1, 2, 3, 4}, {1, 1, 3, 2}, {0}, 0, 0},
    {F "[1,4,1]; const g: f32[1,3,1] = [-1, 1.5, 1e30]", "y = grid_sample(x, g) mode=cubic padding=zeros pixels=true", {1, 2, 3, 4}, {0, 2.5, 0}, {0}, 0, 0},
    {F "[1,2,2,1]; const r: f32[1,4] = [0, 0, 2, 2]; input i: i32[1]", "y = roi_align(x, r, i) ratio=1 half_pixel=true", {1, 2, 3, 4}, {2.5}, {0}, 0, 0},
    {F "[1,2,2,1]; const r: f32[1,4] = [0, 0, 2, 2]; input i: i32[1]", "y = roi_align(x, r, i) half_pixel=true mode=max", {1, 2, 3, 4}, {4}, {0}, 0, 0},
    {F "[1,2,2,1]; const r: f32[1,4] = [0, 0, 2, 2]; input i: i32[1]", "y = roi_align(x, r, i)", {1, 2, 3, 4}, {0}, {1}, 0, 4},
    {F "[1,2,2,1]; const r: f32[1,4] = [0, 0, 1, 1]; input i: i32[1]", "y = roi_pool(x, r, i) height=2 width=1", {1, 2, 3, 4}, {2, 4}, {0}, 0, 0},
    {F "[1,2,2,1]; const r: f32[1,4] = [5, 5, 9, 9]; input i: i32[1]", "y = roi_pool(x, r, i)", {1, 2, 3, 4}, {0}, {0}, 0, 0},
};
static const bad_case BAD[] = {
    {F "[2,3]; input i: i32[3,3]", "y = gather_elements(x, i) axis=1", "E0104"},
    {F "[2,3]; input i: i32[3]", "y = gather_elements(x, i)", "E0104"},
    {F "[2,0]; input i: i32[2,1]", "y = gather_elements(x, i) axis=1", "E0104"},
    {F "[2]; input i: f32[2]", "y = gather_elements(x, i)", "E0105"},
    {F "[2]; input i: i32[2]", "y = gather_elements(x, i) axis=1", "E0103"},
    {F "[2]; input i: i32[2]; const u: f32[1] = [3]", "y = scatter_elements(x, i, u)", "E0104"},
    {F "[2]; input i: i32[1]; const u: i32[1] = [3]", "y = scatter_elements(x, i, u)", "E0105"},
    {F "[2]; input i: i32[1]; const u: f32[1] = [3]", "y = scatter_elements(x, i, u) reduction=cubic", "E0103"},
    {F "[2]; input i: i32[1,2]; const u: f32[1] = [3]", "y = scatter_into(x, i, u)", "E0104"},
    {F "[1,4,2]; const w: f32[2,2,4] = splat 1", "y = conv_nd(x, w) groups=2", "E0104"},
    {F "[1,4,2]; const w: f32[2,2,4] = splat 1", "y = conv_nd(x, w) strides=[0]", "E0103"},
    {F "[1,4,2]; const w: f32[2,2,4] = splat 1", "y = conv_nd(x, w) pads=[1]", "E0103"},
    {F "[3]", "y = window_max(x) kernel=[4]", "E0104"},
    {F "[3]", "y = window_max(x) kernel=[1, 1]", "E0103"},
    {F "[2,3]; const z: f32[2] = [1, 2]", "y = einsum(x, z) labels=[0, 1, 1, 0]", "E0104"},
    {F "[2,3]", "y = einsum(x) labels=[0, 1, 2]", "E0103"},
    {F "[2,3]", "y = einsum(x) labels=[0, 1, 0, 0]", "E0103"},
    {F "[2,3]", "y = einsum(x) labels=[0]", "E0103"},
    {F "[2,3]", "y = det(x)", "E0104"},
    {F "[3]", "y = inverse(x)", "E0104"},
    {F "[1,2,2,1]; const g: f32[1,1,1,3] = [0, 0, 0]", "y = grid_sample(x, g)", "E0104"},
    {F "[1,2,2,1]; const g: f32[1,1,1,2] = [0, 0]", "y = grid_sample(x, g) mode=zeros", "E0103"},
    {F "[1,2,2,1]; const r: f32[1,5] = [0, 0, 2, 2, 1]; input i: i32[1]", "y = roi_align(x, r, i)", "E0104"},
    {F "[1,2,2,1]; const r: f32[1,4] = [0, 0, 2, 2]; input i: i32[1]", "y = roi_align(x, r, i) height=0", "E0103"},
};
// clang-format on

static int64_t from_to(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(draw() % (uint32_t)(hi - lo + 1));
}

/* A convolution of one to three dimensions: every target has the sums of the plain one, which are exact. */
static void random_conv(ac_ctx *cx)
{
    const int32_t m = (int32_t)from_to(1, 3);
    const int64_t groups = from_to(0, 2) ? 1 : from_to(2, 3), in = from_to(1, 20),
                  out = from_to(0, 1) ? from_to(1, 4) : from_to(5, 40);
    const char *x = "", *w = "", *strides = "", *dilations = "", *pads = "";
    for (int32_t d = 0; d < m; d++) {
        const int64_t taps = from_to(1, 3), dil = from_to(0, 2) ? 1 : from_to(2, 3), reach = (taps - 1) * dil + 1;
        const int64_t extent = from_to(1, m < 3 ? 18 : 7), pad = from_to(0, 1) ? from_to(0, reach - 1) : 0;
        x = ac_strf(cx->region, "%s,%d", x, (int)(extent + pad < reach ? reach - pad : extent));
        w = ac_strf(cx->region, "%s%d,", w, (int)taps);
        strides = ac_strf(cx->region, "%s%s%d", strides, d ? ", " : "", (int)from_to(1, 2));
        dilations = ac_strf(cx->region, "%s%s%d", dilations, d ? ", " : "", (int)dil);
        pads = ac_strf(cx->region, "%s%s%d, %d", pads, d ? ", " : "", (int)pad, (int)from_to(0, pad));
    }
    const char *operands =
        ac_strf(cx->region, "input x: f32[%d%s,%d]; input w: f32[%s%d,%d]; const b: f32[%d] = splat 3",
                (int)from_to(1, 2), x, (int)(in * groups), w, (int)in, (int)(out * groups), (int)(out * groups));
    const char *node = ac_strf(cx->region, "y = conv_nd(x, w%s) strides=[%s] dilations=[%s] pads=[%s] groups=%d",
                               from_to(0, 1) ? ", b" : "", strides, dilations, pads, (int)groups);
    ac_graph *g = NULL;
    const ac_node *n = read_node(cx, operands, node, &g);
    if (!n) {
        fail(__LINE__, node, operands, "is not accepted");
        return;
    }
    void **data = make_data(cx, g, 0);
    const ac_tensor *y = n->out[0];
    for (int32_t i = 0; i < 2; i++)
        for (int64_t k = 0; k < ac_tensor_count(n->in[i]); k++)
            ((float *)data[n->in[i]->id])[k] = (float)from_to(-3, 3);
    const float *want = NULL;
    for (int32_t t = 0; t < N_TARGETS; t++) {
        int status = 0;
        float *got = data[y->id] = ac_alloc(cx->region, (size_t)ac_tensor_bytes(y) + 1);
        memset(got, 0xa5, (size_t)ac_tensor_bytes(y));
        if (run_node(cx, n, &TARGETS[t], false, data, &status) != AC_OK || status) {
            fail(__LINE__, node, TARGETS[t].name, "does not run");
            return;
        }
        want = t ? want : got;
        for (int64_t k = 0; k < ac_tensor_count(y); k++)
            if (want[k] != got[k]) {
                fail(__LINE__, ac_strf(cx->region, "%s with %s", node, operands), TARGETS[t].name,
                     ac_strf(cx->region, "element %lld is %g, on the plain target %g", (long long)k, (double)got[k],
                             (double)want[k]));
                return;
            }
    }
}

static void all(ac_ctx *cx)
{
    for (int32_t i = 0; i < 300; i++)
        random_conv(cx);
    run_values(cx, VALUES, sizeof VALUES / sizeof *VALUES);
    run_bad(cx, BAD, sizeof BAD / sizeof *BAD);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, all);
}
