/* test_requant_real.c - 16-bit results that the reference rounds in double: the integer form agrees wherever it is
 * found, it is found for nearly all scales, ties included, and not where a double makes a half; layers of int16x8 as
 * firmware against the plain schedule, with sums of 32 bits where all fit. */
#include "ir/lower/requant_real.h"
#include "tests/unit/support/run_node.h"

#include <math.h>

static int32_t reference(const ac_real_steps *f, int64_t acc)
{
    const long long y = llround((double)acc * f->scale);
    return (int32_t)(y < f->lo ? f->lo : y > f->hi ? f->hi : y);
}

static int32_t form(const ac_real_steps *f, const ac_real *r, int64_t acc)
{
    const int64_t y = ac_real_at(r, (int32_t)acc);
    return (int32_t)(y < f->lo ? f->lo : y > f->hi ? f->hi : y);
}

static void test_scales(void)
{
    enum { SCALES = 200, DRAWS = 5000 };
    int found = 0;
    for (int k = 0; k < SCALES; k++) {
        const double scale = k % 5 == 0 ? ldexp(1, -1 - (int)(draw() % 20))
                                        : ldexp(1 + draw() / 4294967296.0 + draw() * 1e-16, -1 - (int)(draw() % 24));
        const int64_t most = k % 7 ? 1 + (int64_t)(draw() % 2000000000) : INT32_MAX;
        const ac_real_steps f = {scale, k % 3 ? -32768 : 0, 32767, -most, most};
        ac_real r;
        if (!ac_real_find(&f, ac_real_post(scale), &r))
            continue;
        found++;
        for (int i = 0; i < DRAWS; i++) {
            int64_t acc = i < 8 ? (i & 1 ? -most : most) + (i & 1 ? i / 2 : -i / 2) : (int32_t)draw();
            if (i % 2) /* near a step */
                acc = (int64_t)ceil(((double)(int16_t)draw() - 0.5) / scale) - 1 + draw() % 3;
            if (acc >= f.from && acc <= f.to)
                CHECK(reference(&f, acc) == form(&f, &r, acc));
        }
    }
    CHECK(found > SCALES * 9 / 10);
    ac_real r;
    CHECK(!ac_real_post(1) && !ac_real_post(0) && !ac_real_post(-0.5));
    CHECK(!ac_real_find(&(ac_real_steps){0.5, -32768, 32767, INT32_MIN - INT64_C(1), 0}, 31, &r)); /* not a word */
    CHECK(!ac_real_find(&(ac_real_steps){0.5, -32768, 32767, -9, 9}, 32, &r));                     /* m needs 63 bits */
    /* 1.0 / 6 is less than a sixth, but 3 of it are a half as a double: those only are wrong. */
    const ac_real_steps sixth = {1.0 / 6, -32768, 32767, -100, 100}, two = {1.0 / 6, -32768, 32767, -2, 2};
    CHECK(!ac_real_find(&sixth, ac_real_post(sixth.scale), &r));
    CHECK(ac_real_find(&two, ac_real_post(two.scale), &r));
}

static const ac_target FIRMWARE = {.name = "firmware", .align = 16, .firmware = true, .core = 8, .mul = AC_MUL_LONG};

static bool has_type(const ac_loop_fn *fn, ac_dtype d)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (fn->code.item[x].dtype == d)
            return true;
    return false;
}

static bool has_wide_sum(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (fn->code.item[x].op == AC_L_VAR && fn->code.item[x].dtype == AC_I64)
            return true;
    return false;
}

static const char *scales(ac_ctx *cx, uint32_t axis, uint32_t out)
{
    if (draw() % 2)
        return "0.02, 0";
    const char *text = ac_strf(cx->region, "axis %u:", axis);
    for (uint32_t k = 0; k < out; k++)
        text = ac_strf(cx->region, "%s%s 0.0%u 0", text, k ? "," : "", 1 + draw() % 999);
    return text;
}

enum { DENSE, CONV, DEPTHWISE, KINDS };

/* int16x8 of a kind; huge: biases beyond 32 bits. */
static ac_node *draw_node(ac_ctx *cx, int kind, bool huge, ac_graph **g)
{
    static const char *const OP[] = {"fully_connected", "conv_2d", "depthwise_conv_2d"};
    const uint32_t in = 1 + draw() % 40, out = kind == DEPTHWISE ? in : 1 + draw() % 9, n = 1 + draw() % 3;
    const char *x = ac_strf(cx->region, kind == DENSE ? "%u,%u" : "1,4,%u,%u", n, in),
               *z = ac_strf(cx->region, kind == DENSE ? "%u,%u" : "1,4,%u,%u", n, out),
               *w = kind == DENSE  ? ac_strf(cx->region, "%u,%u", out, in)
                    : kind == CONV ? ac_strf(cx->region, "%u,3,3,%u", out, in)
                                   : ac_strf(cx->region, "1,3,3,%u", out);
    const char *bias = huge ? ac_strf(cx->region, "; const b: i64[%u] = random 3 (-9000000000, 9000000000)", out)
                       : draw() % 3 ? ac_strf(cx->region, "; const b: i64[%u] = random 3 (-90000, 90000)", out)
                                    : "";
    const char *operands =
        ac_strf(cx->region, "input x: i16[%s] q(0.0%u, 0); const w: i8[%s] q(%s) = random %u (-128, 127)%s", x,
                1 + draw() % 9, w, scales(cx, kind == DEPTHWISE ? 3 : 0, out), 1 + draw() % 999, bias);
    const char *node = ac_strf(cx->region, "z: i16[%s] q(0.%u, 0) = %s(x, w%s)%s act=%s", z, 1 + draw() % 99, OP[kind],
                               *bias ? ", b" : "", kind == DENSE ? "" : " stride_h=1 stride_w=1 padding=same",
                               draw() % 3 ? "none" : "relu");
    now = ac_strf(cx->region, "%s; %s", operands, node);
    return read_node(cx, operands, node, g);
}

static void test_nodes(int kind)
{
    enum { DRAWS = 120 };
    int32_t doubles = 0;
    for (int32_t i = 0; i < DRAWS; i++) {
        ac_ctx cx;
        ac_graph *g;
        ac_ctx_open(&cx);
        ac_ctx_start(&cx);
        const bool huge = i % 4 == 0;
        const ac_node *n = draw_node(&cx, kind, huge, &g);
        MUST(n);
        const ac_tensor *z = n->out[0];
        void **data = make_data(&cx, g, 0);
        const uint8_t *want = result_of(&cx, ac_lower_node(&cx, cx.region, n, &TARGETS[0], 0, false), data, z);
        const ac_lowered *low = ac_lower_node(&cx, cx.region, n, &FIRMWARE, 0, false);
        const uint8_t *got = result_of(&cx, low, data, z);
        CHECK(huge || !has_wide_sum(low->fn));
        doubles += has_type(low->fn, AC_F64);
        CHECK(!memcmp(want, got, (size_t)ac_tensor_bytes(z)));
        ac_ctx_close(&cx);
    }
    CHECK(kind == DENSE ? doubles < DRAWS / 3 : !doubles);
}

int main(void)
{
    test_scales();
    for (int kind = 0; kind < KINDS; kind++)
        test_nodes(kind);
    return check_done();
}
