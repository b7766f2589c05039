/* test_minifloat.c - casts from and to floats of 8 and 4 bits and integers below a byte: loops against the functions of
 * ir/dtype/minifloat.h and against values of the specifications, on a plain and on vector targets. */
#include "ir/dtype/minifloat.h"
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/run_node.h"

#include <math.h>

static const ac_dtype TYPES[] = {AC_F8E4M3FN, AC_F8E4M3FNUZ, AC_F8E5M2, AC_F8E5M2FNUZ, AC_F8E8M0, AC_F4E2M1};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

/* One cast of `count` elements; the result's bytes. */
static const void *cast(ac_ctx *cx, int line, const char *from, const char *to, const char *more, int64_t count,
                        const void *x, const ac_target *target)
{
    ac_graph *g;
    int status = 0;
    const char *operands = ac_strf(cx->region, "input x: %s[%lld]", from, (long long)count);
    const ac_node *n = read_node(cx, operands, ac_strf(cx->region, "y = cast(x) to=%s %s", to, more), &g);
    if (!n)
        return fail(line, from, to, "is not read"), NULL;
    void **data = make_data(cx, g, 0);
    memcpy(data[n->in[0]->id], x, (size_t)ac_tensor_bytes(n->in[0]));
    if (run_node(cx, n, target, false, data, &status) != AC_OK || status)
        return fail(line, from, to, "does not run"), NULL;
    return data[n->out[0]->id];
}

/* Every code becomes its number, and its number the code. */
static void codes(ac_ctx *cx, ac_dtype d, const ac_target *target)
{
    uint8_t code[256];
    const int count = d == AC_F4E2M1 ? 16 : 256;
    for (int i = 0; i < count; i++)
        code[i] = (uint8_t)i;
    const float *v = cast(cx, __LINE__, ac_dtype_name(d), "f32", "", count, code, target);
    const uint8_t *back = v ? cast(cx, __LINE__, "f32", ac_dtype_name(d), "wraps=true", count, v, target) : NULL;
    for (int i = 0; i < count && back; i++) {
        if (!same(v[i], ac_minifloat_to_f32(d, code[i])))
            fail(__LINE__, ac_dtype_name(d), target->name, ac_strf(cx->region, "code %d is %g", i, (double)v[i]));
        if (isnan(v[i]) ? !isnan(ac_minifloat_to_f32(d, back[i])) : back[i] != code[i])
            fail(__LINE__, ac_dtype_name(d), target->name, ac_strf(cx->region, "%g is code %d", (double)v[i], back[i]));
    }
}

/* Floats of all magnitudes, halves between codes among them. */
static void numbers(ac_ctx *cx, ac_dtype d, const ac_target *target)
{
    enum { COUNT = 3001 };
    float *x = ac_alloc(cx->region, COUNT * sizeof *x);
    for (int i = 0; i < COUNT; i++) {
        x[i] = float_of(draw());
        if (i % 3 == 0)
            x[i] = float_of(draw() & 0x83f00000u) * 16;
        if (i % 3 == 1)
            x[i] = (float)((int32_t)draw() >> (draw() % 31)) / 64;
    }
    const uint8_t *y = cast(cx, __LINE__, "f32", ac_dtype_name(d), "", COUNT, x, target);
    for (int i = 0; i < COUNT && y; i++) {
        const uint8_t want = ac_f32_to_minifloat(d, x[i]);
        if (isnan(x[i]) ? !isnan(ac_minifloat_to_f32(d, y[i])) && d != AC_F4E2M1 : y[i] != want)
            fail(__LINE__, ac_dtype_name(d), target->name,
                 ac_strf(cx->region, "%.9g is code %d, expected %d", (double)x[i], y[i], want));
    }
}

typedef struct value {
    const char *type, *more;
    double x;
    int code;
} value;

// clang-format off
static const value VALUES[] = {
    {"f8e4m3fn", "", 448, 0x7e}, {"f8e4m3fn", "", 464, 0x7e}, {"f8e4m3fn", "", 1e6, 0x7e},
    {"f8e4m3fn", "wraps=true", 1e6, 0x7f}, {"f8e4m3fn", "wraps=true", -(double)INFINITY, 0xff},
    {"f8e4m3fn", "", -(double)INFINITY, 0xfe}, {"f8e4m3fn", "", 0x1p-9, 1}, {"f8e4m3fn", "", 0x1p-10, 0},
    {"f8e4m3fn", "", 0x1.8p-9, 2}, {"f8e4m3fn", "", -0.0, 0x80}, {"f8e4m3fn", "", 1.0625, 0x38},
    {"f8e4m3fn", "", 1.1875, 0x3a},
    {"f8e4m3fnuz", "", 240, 0x7f}, {"f8e4m3fnuz", "", -0.0, 0}, {"f8e4m3fnuz", "", 1, 0x40},
    {"f8e4m3fnuz", "wraps=true", 1e6, 0x80}, {"f8e4m3fnuz", "wraps=true", -1e6, 0x80}, {"f8e4m3fnuz", "", -1e-9, 0},
    {"f8e5m2", "", 57344, 0x7b}, {"f8e5m2", "", 1e9, 0x7b}, {"f8e5m2", "wraps=true", 1e9, 0x7c},
    {"f8e5m2", "", 1, 0x3c}, {"f8e5m2", "", 0x1p-16, 1},
    {"f8e5m2fnuz", "", 57344, 0x7f}, {"f8e5m2fnuz", "", 1, 0x40},
    {"f4e2m1", "", 2.5, 4}, {"f4e2m1", "", 5, 6}, {"f4e2m1", "", 100, 7}, {"f4e2m1", "", -0.25, 8},
    {"f4e2m1", "", 0.75, 2},
    {"f8e8m0", "", 1, 127}, {"f8e8m0", "", 1.1, 128}, {"f8e8m0", "round=1", 1.9, 127},
    {"f8e8m0", "round=2", 1.4, 127}, {"f8e8m0", "round=2", 1.5, 128}, {"f8e8m0", "", 0, 0}, {"f8e8m0", "", -1, 255},
    {"f8e8m0", "", (double)INFINITY, 254}, {"f8e8m0", "wraps=true", (double)INFINITY, 255},
    {"f8e8m0", "", 0x1.8p-127, 1}, {"f8e8m0", "round=1", 0x1.8p-127, 0},
    {"i4", "", 7.9, 7}, {"i4", "", -9, 7}, {"i4", "", 8, -8}, {"i4", "", -1.5, -1},
    {"u4", "", -1, 15}, {"u4", "", 17, 1},
    {"i2", "", 2, -2}, {"i2", "", -3, 1},
    {"u2", "", 6, 2},
    {"i4", "", (double)NAN, 0},
};
// clang-format on

static void values(ac_ctx *cx)
{
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        const value *v = &VALUES[i];
        const float x = (float)v->x;
        const uint8_t *y = cast(cx, __LINE__, "f32", v->type, v->more, 1, &x, &TARGETS[0]);
        if (y && *y != (uint8_t)v->code)
            fail(__LINE__, v->type, v->more, ac_strf(cx->region, "%g is code %d, expected %d", v->x, *y, v->code));
    }
}

/* f64 is rounded once: 1 + 2^-11 + 2^-40 is above the midpoint of two f16 values; rounded to f32 it is on it. */
static void once(ac_ctx *cx)
{
    const double x[3] = {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, -1 - 0x1p-11 - 0x1p-40};
    const uint16_t want[3] = {0x3c01, 0x3c00, 0xbc01};
    for (int t = 0; t < N_TARGETS; t++) {
        const uint16_t *y = cast(cx, __LINE__, "f64", "f16", "", 3, x, &TARGETS[t]);
        if (y && memcmp(y, want, sizeof want))
            fail(__LINE__, "f64 to f16", TARGETS[t].name, "rounds twice");
    }
    const double middle = 1.0625 + 0x1p-40; /* f8e4m3fn: above the middle of 1 and 1.125 */
    const uint8_t *y = cast(cx, __LINE__, "f64", "f8e4m3fn", "", 1, &middle, &TARGETS[0]);
    if (y && *y != 0x39)
        fail(__LINE__, "f64 to f8e4m3fn", "", "rounds twice");
}

/* Packed bytes of files: the first element in the lowest bits. */
static void unpacking(void)
{
    const uint8_t packed[2] = {0x8f, 0xe4};
    int8_t got[8];
    ac_dtype_unpack(AC_I4, packed, 3, got);
    if (got[0] != -1 || got[1] != -8 || got[2] != 4)
        fail(__LINE__, "i4", "", "is unpacked wrongly");
    ac_dtype_unpack(AC_U2, packed + 1, 4, got);
    if (got[0] != 0 || got[1] != 1 || got[2] != 2 || got[3] != 3)
        fail(__LINE__, "u2", "", "is unpacked wrongly");
    ac_dtype_unpack(AC_I2, packed + 1, 4, got);
    if (got[0] != 0 || got[1] != 1 || got[2] != -2 || got[3] != -1)
        fail(__LINE__, "i2", "", "is unpacked wrongly");
}

static void tests(ac_ctx *cx)
{
    for (int t = 0; t < N_TARGETS; t++)
        for (int d = 0; d < N_TYPES; d++) {
            codes(cx, TYPES[d], &TARGETS[t]);
            numbers(cx, TYPES[d], &TARGETS[t]);
        }
    values(cx);
    once(cx);
    unpacking();
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
