/* dtype.c - expands the rows of dtype.def, reads and writes elements, and converts their bits. */
#include "ir/dtype/dtype.h"
#include "ir/dtype/minifloat.h"

#include <math.h>
#include <string.h>

enum kind { F, S, U, B };

static const struct {
    const char *text, *c, *npy;
    int bits;
    enum kind kind;
    int tfl;
    ac_dtype loops;
    int file_bits;
} ROWS[AC_DTYPE_COUNT] = {
    {"none", "void", "", 0, B, -1, AC_NONE, 0},
#define DTYPE(id, text, bits, kind, c, npy, tfl, onnx, loops, file_bits) \
    [AC_##id] = {text, c, npy, bits, kind, tfl, AC_##loops, file_bits},
#include "ir/dtype/dtype.def"
#undef DTYPE
};

const char *ac_dtype_name(ac_dtype d)
{
    return ROWS[d].text;
}
const char *ac_dtype_c(ac_dtype d)
{
    return ROWS[d].c;
}
const char *ac_dtype_npy(ac_dtype d)
{
    return ROWS[d].npy;
}
int ac_dtype_bits(ac_dtype d)
{
    return ROWS[d].bits;
}
int ac_dtype_file_bits(ac_dtype d)
{
    return ROWS[d].file_bits;
}
ac_dtype ac_dtype_loops(ac_dtype d)
{
    return ROWS[d].loops;
}
bool ac_dtype_is_float(ac_dtype d)
{
    return d != AC_NONE && ROWS[d].kind == F;
}
bool ac_dtype_is_half(ac_dtype d)
{
    return d == AC_F16 || d == AC_BF16;
}
bool ac_dtype_is_signed(ac_dtype d)
{
    return d != AC_NONE && ROWS[d].kind == S;
}
bool ac_dtype_is_int(ac_dtype d)
{
    return d != AC_NONE && (ROWS[d].kind == S || ROWS[d].kind == U);
}

int64_t ac_dtype_size(ac_dtype d, int64_t count)
{
    return count * (ROWS[d].bits / 8);
}

int64_t ac_dtype_min(ac_dtype d)
{
    return ac_dtype_is_signed(d) ? -ac_dtype_max(d) - 1 : 0;
}

int64_t ac_dtype_max(ac_dtype d)
{
    if (d == AC_BOOL)
        return 1;
    if (!ac_dtype_is_int(d))
        return 0;
    int bits = ROWS[d].file_bits - (ROWS[d].kind == S);
    return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

ac_dtype ac_dtype_find(const char *text, int n)
{
    for (int i = 1; i < AC_DTYPE_COUNT; i++)
        if (strlen(ROWS[i].text) == (size_t)n && !memcmp(ROWS[i].text, text, (size_t)n))
            return (ac_dtype)i;
    return AC_NONE;
}

ac_dtype ac_dtype_from_tflite(int32_t number)
{
    for (int i = 1; i < AC_DTYPE_COUNT; i++)
        if (ROWS[i].tfl == number && number >= 0)
            return (ac_dtype)i;
    return AC_NONE;
}

static float f32_of_bits(uint32_t b)
{
    float f;
    memcpy(&f, &b, sizeof f);
    return f;
}

static uint32_t bits_of_f32(float f)
{
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return b;
}

float ac_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h >> 15) << 31, exp = (h >> 10) & 31, man = h & 1023;
    if (exp == 31)
        return f32_of_bits(sign | 0x7f800000u | man << 13);
    if (exp)
        return f32_of_bits(sign | (exp + 112) << 23 | man << 13);
    float tiny = (float)man * 0x1p-24f; /* subnormal or zero: exact */
    return sign ? -tiny : tiny;
}

/* x shifted right by `by` bits, rounded to nearest, ties to even. */
static uint32_t shift_even(uint32_t x, uint32_t by)
{
    uint32_t rest = x & ((1u << by) - 1), half = 1u << (by - 1), q = x >> by;
    return q + (rest > half || (rest == half && (q & 1)));
}

uint16_t ac_f32_to_f16(float f)
{
    uint32_t b = bits_of_f32(f), sign = b >> 16 & 0x8000u, exp = b >> 23 & 255, man = b & 0x7fffffu;
    if (exp == 255)
        return (uint16_t)(sign | 0x7c00u | (man ? 0x200u | man >> 13 : 0));
    if (exp >= 113) { /* normal; a carry out of the mantissa raises the exponent, up to infinity */
        uint32_t r = exp > 142 ? 0x7c00u : (exp - 112) << 10;
        if (exp <= 142)
            r += shift_even(man, 13);
        return (uint16_t)(sign | r);
    }
    if (exp < 102) /* below half of the smallest subnormal */
        return (uint16_t)sign;
    return (uint16_t)(sign | shift_even(man | 0x800000u, 126 - exp));
}

float ac_bf16_to_f32(uint16_t h)
{
    return f32_of_bits((uint32_t)h << 16);
}

uint16_t ac_f32_to_bf16(float f)
{
    uint32_t b = bits_of_f32(f);
    if ((b & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(b >> 16 | 0x40u);
    return (uint16_t)shift_even(b, 16);
}

void ac_dtype_unpack(ac_dtype d, const void *packed, int64_t count, void *to)
{
    const int bits = ROWS[d].file_bits, each = 8 / bits, mask = (1 << bits) - 1;
    for (int64_t i = 0; i < count; i++) {
        int v = ((const uint8_t *)packed)[i / each] >> (i % each * bits) & mask;
        ((uint8_t *)to)[i] = (uint8_t)(ROWS[d].kind == S && v > mask / 2 ? v - mask - 1 : v);
    }
}

/* Toward zero; values out of range are clamped, NaN becomes 0. */
static int64_t truncate_num(double x)
{
    if (isnan(x))
        return 0;
    if (x >= 0x1p63)
        return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

// clang-format off
#define ELEMENT(T) T v; memcpy(&v, (const char *)data + i * (int64_t)sizeof v, sizeof v)

int64_t ac_dtype_get_int(ac_dtype d, const void *data, int64_t i)
{
    switch (d) {
    case AC_I4:
    case AC_I2:
    case AC_I8: { ELEMENT(int8_t); return v; }
    case AC_I16: { ELEMENT(int16_t); return v; }
    case AC_I32: { ELEMENT(int32_t); return v; }
    case AC_I64: { ELEMENT(int64_t); return v; }
    case AC_BOOL:
    case AC_U4:
    case AC_U2:
    case AC_U8: { ELEMENT(uint8_t); return v; }
    case AC_U16: { ELEMENT(uint16_t); return v; }
    case AC_U32: { ELEMENT(uint32_t); return v; }
    case AC_U64: { ELEMENT(uint64_t); return (int64_t)v; }
    case AC_F32:
    case AC_F16:
    case AC_BF16:
    case AC_F8E4M3FN:
    case AC_F8E4M3FNUZ:
    case AC_F8E5M2:
    case AC_F8E5M2FNUZ:
    case AC_F8E8M0:
    case AC_F4E2M1:
    case AC_F64: return truncate_num(ac_dtype_get_num(d, data, i));
    case AC_NONE:
    case AC_DTYPE_COUNT: break;
    }
    return 0;
}

double ac_dtype_get_num(ac_dtype d, const void *data, int64_t i)
{
    switch (d) {
    case AC_F32: { ELEMENT(float); return (double)v; }
    case AC_F16: { ELEMENT(uint16_t); return (double)ac_f16_to_f32(v); }
    case AC_BF16: { ELEMENT(uint16_t); return (double)ac_bf16_to_f32(v); }
    case AC_F64: { ELEMENT(double); return v; }
    case AC_F8E4M3FN:
    case AC_F8E4M3FNUZ:
    case AC_F8E5M2:
    case AC_F8E5M2FNUZ:
    case AC_F8E8M0:
    case AC_F4E2M1: { ELEMENT(uint8_t); return (double)ac_minifloat_to_f32(d, v); }
    case AC_U64: { ELEMENT(uint64_t); return (double)v; }
    case AC_I8:
    case AC_I16:
    case AC_I32:
    case AC_I64:
    case AC_U8:
    case AC_U16:
    case AC_U32:
    case AC_BOOL:
    case AC_I4:
    case AC_U4:
    case AC_I2:
    case AC_U2: return (double)ac_dtype_get_int(d, data, i);
    case AC_NONE:
    case AC_DTYPE_COUNT: break;
    }
    return 0;
}
// clang-format on

void ac_dtype_put_int(ac_dtype d, void *to, int64_t v)
{
    const int64_t size = ac_dtype_size(d, 1);
    for (int64_t k = 0; k < size; k++)
        ((uint8_t *)to)[k] = (uint8_t)((uint64_t)v >> (8 * k));
}

void ac_dtype_put_num(ac_dtype d, void *to, double v)
{
    const float f = (float)v;
    if (d == AC_F32) {
        memcpy(to, &f, sizeof f);
    } else if (d == AC_F64) {
        memcpy(to, &v, sizeof v);
    } else if (d == AC_F16 || d == AC_BF16) {
        const uint16_t half = d == AC_F16 ? ac_f32_to_f16(f) : ac_f32_to_bf16(f);
        memcpy(to, &half, sizeof half);
    } else if (ac_dtype_is_minifloat(d)) {
        *(uint8_t *)to = ac_f32_to_minifloat(d, f);
    } else {
        ac_dtype_put_int(d, to, truncate_num(v));
    }
}
