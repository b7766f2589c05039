/* test_softmax.c - softmax of bytes against TFLite's fixed-point arithmetic written out, saturations and all: random
 * scales, rows and batches, bytes and 16-bit results, on a plain target and as firmware. */
#include "ir/lower/fixed_point.h"
#include "ir/lower/lookup.h"
#include "tests/unit/support/run_node.h"

#include <math.h>

enum { DRAWS = 600, MOST_DEPTH = 1300 };

static ac_ctx one; /* of the node at hand */

static const ac_target FIRMWARE = {.name = "firmware", .align = 16, .firmware = true, .core = 8, .mul = AC_MUL_LOW};

static int32_t saturate(int64_t v)
{
    return (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
}

/* SaturatingRoundingDoublingHighMul without its one overflow */
static int32_t high(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

static int32_t one_over_one_plus(int32_t x)
{
    const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
    int32_t v = 1515870810 + high(half, -1010580540);
    for (int i = 0; i < 3; i++)
        v += saturate((int64_t)high(v, (1 << 29) - high(half, v)) * 4);
    return saturate((int64_t)v * 2);
}

static void reference_row(const ac_tensor *in, const ac_tensor *out, const int32_t *x, int32_t n, int32_t *y)
{
    const ac_multiplier q = ac_quantize_multiplier(fmin((double)ac_quant_scale(in) * (1 << 26), 2147483647.0));
    const int32_t diff_min = -(int32_t)floor(31.0 * (1 << 26) / (double)((int64_t)1 << q.shift));
    const int32_t bits = ac_dtype_bits(out->dtype);
    int32_t most = x[0], sum = 0, log = 31;
    for (int32_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (int32_t i = 0; i < n; i++)
        if (x[i] - most >= diff_min)
            sum += ac_fx_round_shift(ac_fx_exp_q5(ac_fx_requant(x[i] - most, q)), 12);
    while (!(sum >> log))
        log--;
    const int32_t inverse = one_over_one_plus((int32_t)(((uint32_t)sum << (31 - log)) & INT32_MAX));
    for (int32_t i = 0; i < n; i++) {
        const int64_t least = (int64_t)ac_dtype_min(out->dtype), greatest = (int64_t)ac_dtype_max(out->dtype);
        y[i] = (int32_t)least;
        if (x[i] - most < diff_min)
            continue;
        const int64_t p = high(inverse, ac_fx_exp_q5(ac_fx_requant(x[i] - most, q))), down = log + 12 - bits;
        const int64_t v = ((p + ((int64_t)1 << (down - 1))) >> down) + least;
        y[i] = (int32_t)(v < least ? least : v > greatest ? greatest : v);
    }
}

static int32_t element(const ac_tensor *t, const void *data, int64_t i)
{
    switch (ac_dtype_bits(t->dtype)) {
    case 16:
        return ((const int16_t *)data)[i];
    default:
        return t->dtype == AC_U8 ? ((const uint8_t *)data)[i] : ((const int8_t *)data)[i];
    }
}

static const ac_node *draw_node(ac_graph **g)
{
    static const char *const FROM[] = {"i8", "i8", "u8"}, *const TO[] = {"i8", "i16", "u8"};
    static const char *const UNIT[] = {"0.00390625, -128", "0.0000152587890625, -32768", "0.00390625, 0"};
    const uint32_t type = draw() % 3, rows = 1 + draw() % 3;
    const uint32_t depth = draw() % 8 ? 1 + draw() % 40 : 1 + draw() % (MOST_DEPTH - 1);
    const char *operands = ac_strf(one.region, "input x: %s[%u,%u] q(0.%0*u, 3)", FROM[type], rows, depth,
                                   1 + (int)(draw() % 3), 1 + draw() % 9);
    const char *node = ac_strf(one.region, "z: %s[%u,%u] q(%s) = softmax(x) beta=1", TO[type], rows, depth, UNIT[type]);
    now = ac_strf(one.region, "%s; %s", operands, node);
    return read_node(&one, operands, node, g);
}

static void compare(const ac_node *n, void **data)
{
    static int32_t x[MOST_DEPTH], want[MOST_DEPTH];
    const ac_tensor *in = n->in[0], *out = n->out[0];
    const int32_t depth = (int32_t)in->dim[1];
    for (int64_t row = 0; row < in->dim[0]; row++) {
        for (int32_t i = 0; i < depth; i++)
            x[i] = element(in, data[in->id], row * depth + i);
        reference_row(in, out, x, depth, want);
        for (int32_t i = 0; i < depth; i++)
            CHECK(element(out, data[out->id], row * depth + i) == want[i]);
    }
}

/* Floats: the largest element of a row counts wherever it is; without it exp() of the others' distance overflows. */
static void check_largest(const ac_target *t, int32_t depth)
{
    ac_graph *g;
    ac_ctx_open(&one);
    ac_ctx_start(&one);
    now = ac_strf(one.region, "softmax of %d floats on %s", (int)depth, t->name);
    const ac_node *n =
        read_node(&one, ac_strf(one.region, "input x: f32[1,%d]", (int)depth), "z = softmax(x) beta=1", &g);
    MUST(n);
    void **data = make_data(&one, g, 0);
    float *x = data[n->in[0]->id];
    const float *z = data[n->out[0]->id];
    for (int32_t at = 0; at < depth; at++) {
        for (int32_t i = 0; i < depth; i++)
            x[i] = i == at ? 1000 : 0;
        result_of(&one, ac_lower_node(&one, one.region, n, t, 0, false), data, n->out[0]);
        for (int32_t i = 0; i < depth; i++)
            CHECK(i == at ? z[i] >= 1 && z[i] <= 1 : z[i] >= 0 && z[i] <= 0);
    }
    ac_ctx_close(&one);
}

static double inverse_of_more(double x)
{
    return 1 / (1 + x);
}

/* Two samples whose corrections f32 rounds the other way; and a function that becomes infinite. */
static void check_table(void)
{
    int16_t t[513];
    ac_table_16_unit(t, 0, 1, inverse_of_more);
    CHECK(t[0] == 32767 && t[160] == 24967 && t[294] == 20815 && t[512] == 16384);
    ac_table_16(t, 0.0035f, 0, 0.0001f, 0, ac_curve_exp); /* up to e^114, beyond f32 */
    for (int32_t i = 300; i <= 512; i++)
        CHECK(t[i] == 32767);
}

int main(void)
{
    int32_t short_tables = 0;
    check_table();
    for (int32_t t = 0; t < (int32_t)N_TARGETS; t++)
        for (int32_t depth = 8; depth <= 33; depth += depth % 2 ? 7 : 1) /* 8 9 16 17 24 25 32 33 */
            check_largest(&TARGETS[t], depth);
    for (int32_t i = 0; i < DRAWS; i++) {
        ac_graph *g;
        ac_ctx_open(&one);
        ac_ctx_start(&one);
        const ac_node *n = draw_node(&g);
        MUST(n);
        void **data = make_data(&one, g, 0);
        if (i % 3 == 0) /* rows that are nearly even have the largest sums */
            for (int64_t k = 0; k < ac_tensor_count(n->in[0]); k++)
                ((uint8_t *)data[n->in[0]->id])[k] &= 3;
        result_of(&one, ac_lower_node(&one, one.region, n, &TARGETS[0], 0, false), data, n->out[0]);
        compare(n, data);
        const ac_lowered *low = ac_lower_node(&one, one.region, n, &FIRMWARE, 0, false);
        result_of(&one, low, data, n->out[0]);
        compare(n, data);
        for (int32_t k = 0; k < low->fn->buf.n; k++)
            short_tables += low->fn->buf.item[k].dtype == AC_I32 && low->fn->buf.item[k].count < 256;
        ac_ctx_close(&one);
    }
    CHECK(short_tables > DRAWS / 4);
    return check_done();
}
