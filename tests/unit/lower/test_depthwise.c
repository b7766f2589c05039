/* test_depthwise.c - int8 depthwise convolutions with random shapes, strides, dilations, pads, multipliers, zero points
 * and clamps: the schedule for halves of words against the plain one, through the evaluator. Whole, row by row, and in
 * the form that printers get. Then vectors of every target, with multipliers up to 9. */
#include "ir/loop/halves.h"
#include "tests/unit/support/run_node.h"

enum { DRAWS = 1500, VECTORS = 300 };

static ac_ctx one; /* of the node at hand */

static const ac_target HALVES = {
    .name = "halves", .align = 16, .firmware = true, .dsp = true, .core = 13, .mul = AC_MUL_LONG};

static int32_t between(int32_t lo, int32_t hi)
{
    return lo + (int32_t)(draw() % (uint32_t)(hi - lo + 1));
}

typedef struct axis {
    int32_t in, out, taps, stride, dil, before, after;
} axis;

/* A window that has at least one position. */
static axis draw_axis(int32_t most, int32_t taps)
{
    axis a;
    do {
        a.in = between(1, most);
        a.taps = draw() % 2 ? 3 : between(1, taps);
        a.stride = draw() % 2 ? 1 : between(1, 3);
        a.dil = draw() % 4 ? 1 : 2;
        const int32_t reach = (a.taps - 1) * a.dil;
        a.before = draw() % 3 ? reach / 2 : between(0, reach + 1);
        a.after = draw() % 3 ? reach / 2 : between(0, reach + 1);
        a.out = a.in + a.before + a.after - reach - 1;
    } while (a.out < 0);
    a.out = a.out / a.stride + 1;
    return a;
}

static const char *scales(int32_t channels)
{
    if (draw() % 3 == 0)
        return ac_strf(one.region, "0.0%d, 0", between(1, 9));
    const char *text = "axis 3:";
    for (int32_t i = 0; i < channels; i++)
        text = ac_strf(one.region, "%s%s 0.0%d 0", text, i ? "," : "", between(1, 999));
    return text;
}

static const ac_node *draw_node(ac_graph **g)
{
    static const char *const ACT[] = {"none", "relu", "relu6", "relu_n1_to_1"};
    const axis y = draw_axis(12, 8), x = draw_axis(draw() % 3 ? 9 : 25, 7);
    const int32_t n = draw() % 5 ? 1 : 2, c = between(1, 5), m = draw() % 3 ? 1 : between(2, 3), o = c * m;
    const bool bias = draw() % 4 != 0;
    const char *operands =
        ac_strf(one.region,
                "input x: i8[%d,%d,%d,%d] q(0.%d, %d); const w: i8[1,%d,%d,%d] q(%s) = "
                "random %d (-128, 127)%s",
                n, y.in, x.in, c, between(1, 9), draw() % 3 ? between(-128, 127) : -128, y.taps, x.taps, o, scales(o),
                between(1, 9999), bias ? ac_strf(one.region, "; const b: i32[%d] = random 7 (-9000, 9000)", o) : "");
    const char *node =
        ac_strf(one.region,
                "z: i8[%d,%d,%d,%d] q(0.%d, %d) = depthwise_conv_2d(x, w%s) stride_h=%d "
                "stride_w=%d dilation_h=%d dilation_w=%d padding=explicit pad_t=%d pad_b=%d "
                "pad_l=%d pad_r=%d act=%s",
                n, y.out, x.out, o, between(1, 9), draw() % 2 ? between(-128, 127) : -128, bias ? ", b" : "", y.stride,
                x.stride, y.dil, x.dil, y.before, y.after, x.before, x.after, ACT[draw() % 4]);
    now = ac_strf(one.region, "%s; %s", operands, node);
    return read_node(&one, operands, node, g);
}

static bool has_pairs(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (fn->code.item[x].op == AC_L_DOT2)
            return true;
    return false;
}

/* Larger multipliers and more channels: vectors of the plain schedule on every target, bytes and floats. Sums of small
 * integers are exact in floats. */
static void draw_vectors(void)
{
    const axis y = draw_axis(6, 4), x = draw_axis(draw() % 3 ? 9 : 17, 4);
    const int32_t c = between(1, 37), m = between(1, 9), o = c * m;
    const bool floats = draw() % 2;
    const char *operands =
        ac_strf(one.region,
                floats ? "input x: f32[1,%d,%d,%d]; input w: f32[1,%d,%d,%d]"
                       : "input x: i8[1,%d,%d,%d] q(0.5, -3); const w: i8[1,%d,%d,%d] q(0.01, 0) = random 3 "
                         "(-127, 127)",
                y.in, x.in, c, y.taps, x.taps, o);
    const char *node =
        ac_strf(one.region,
                "z: %s[1,%d,%d,%d]%s = depthwise_conv_2d(x, w) stride_h=%d stride_w=%d dilation_h=%d dilation_w=%d "
                "padding=explicit pad_t=%d pad_b=%d pad_l=%d pad_r=%d",
                floats ? "f32" : "i8", y.out, x.out, o, floats ? "" : " q(2, 5)", y.stride, x.stride, y.dil, x.dil,
                y.before, y.after, x.before, x.after);
    ac_graph *g = NULL;
    const ac_node *n = read_node(&one, operands, node, &g);
    now = ac_strf(one.region, "%s; %s", operands, node);
    MUST(n);
    void **data = make_data(&one, g, 0);
    for (int32_t i = 0; i < 2 && floats; i++)
        for (int64_t k = 0; k < ac_tensor_count(n->in[i]); k++)
            ((float *)data[n->in[i]->id])[k] = (float)between(-9, 9);
    const ac_tensor *z = n->out[0];
    const uint8_t *want = result_of(&one, ac_lower_node(&one, one.region, n, &TARGETS[0], 0, false), data, z);
    for (int32_t t = 1; t < N_TARGETS; t++) {
        const ac_lowered *low = ac_lower_node(&one, one.region, n, &TARGETS[t], 0, false);
        CHECK(!memcmp(want, result_of(&one, low, data, z), (size_t)ac_tensor_bytes(z)));
    }
}

int main(void)
{
    int32_t pairs = 0;
    for (int32_t i = 0; i < VECTORS; i++) {
        ac_ctx_open(&one);
        ac_ctx_start(&one);
        draw_vectors();
        ac_ctx_close(&one);
    }
    for (int32_t i = 0; i < DRAWS; i++) {
        ac_graph *g;
        ac_ctx_open(&one);
        ac_ctx_start(&one);
        const ac_node *n = draw_node(&g);
        MUST(n);
        const ac_tensor *z = n->out[0];
        void **data = make_data(&one, g, 0);
        const size_t bytes = (size_t)ac_tensor_bytes(z);
        const uint8_t *want = result_of(&one, ac_lower_node(&one, one.region, n, &TARGETS[0], 0, false), data, z);
        for (int32_t variant = 0; variant <= AC_VARIANT_ROWS; variant++) {
            ac_lowered *low = ac_lower_node(&one, one.region, n, &HALVES, variant, false);
            CHECK(!memcmp(want, result_of(&one, low, data, z), bytes));
            pairs += has_pairs(low->fn);
            low->fn = ac_loop_halves(&one, low->fn);
            CHECK(!memcmp(want, result_of(&one, low, data, z), bytes));
        }
        ac_ctx_close(&one);
    }
    CHECK(pairs > DRAWS);
    return check_done();
}
