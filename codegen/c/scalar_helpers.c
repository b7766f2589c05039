/* scalar_helpers.c - prints functions on one lane that C99 has no operator for. C's math library is never used:
 * firmware has none, and not every libm rounds its square root or fma correctly. All are exact: the result is that of
 * IEEE 754. */
#include "codegen/c/dialect.h"
#include "codegen/c/roots.h"

#include <string.h>

typedef struct row {
    const char *name;
    const char *needs[3]; /* helpers its text calls, printed before it */
    const char *plain;    /* C99 */
    const char *simd;     /* for targets with vectors; NULL: same as plain. `@` is the macro with the target
                           * attribute */
} row;

static const row ROWS[] = {
    {"inf_f32", {0}, "static const union {\n    uint32_t bits;\n    float value;\n} inf_f32 = {0x7f800000u};\n", NULL},
    {"nan_f32", {0}, "static const union {\n    uint32_t bits;\n    float value;\n} nan_f32 = {0x7fc00000u};\n", NULL},
    {"inf_f64",
     {0},
     "static const union {\n    uint64_t bits;\n    double value;\n} inf_f64 = {UINT64_C(0x7ff0000000000000)};\n",
     NULL},
    {"nan_f64",
     {0},
     "static const union {\n    uint64_t bits;\n    double value;\n} nan_f64 = {UINT64_C(0x7ff8000000000000)};\n",
     NULL},

    {"bits_of_f32",
     {0},
     "static uint32_t bits_of_f32(float x)\n"
     "{\n"
     "    union {\n        float x;\n        uint32_t bits;\n    } v;\n"
     "    v.x = x;\n"
     "    return v.bits;\n"
     "}\n",
     NULL},
    {"of_bits_f32",
     {0},
     "static float of_bits_f32(uint32_t bits)\n"
     "{\n"
     "    union {\n        uint32_t bits;\n        float x;\n    } v;\n"
     "    v.bits = bits;\n"
     "    return v.x;\n"
     "}\n",
     NULL},
    {"bits_of_f64",
     {0},
     "static uint64_t bits_of_f64(double x)\n"
     "{\n"
     "    union {\n        double x;\n        uint64_t bits;\n    } v;\n"
     "    v.x = x;\n"
     "    return v.bits;\n"
     "}\n",
     NULL},
    {"of_bits_f64",
     {0},
     "static double of_bits_f64(uint64_t bits)\n"
     "{\n"
     "    union {\n        uint64_t bits;\n        double x;\n    } v;\n"
     "    v.bits = bits;\n"
     "    return v.x;\n"
     "}\n",
     NULL},

    {"abs_f32",
     {"bits_of_f32", "of_bits_f32"},
     "static float abs_f32(float x)\n{\n    return of_bits_f32(bits_of_f32(x) & 0x7fffffffu);\n}\n",
     NULL},
    {"abs_f64",
     {"bits_of_f64", "of_bits_f64"},
     "static double abs_f64(double x)\n"
     "{\n"
     "    return of_bits_f64(bits_of_f64(x) & UINT64_C(0x7fffffffffffffff));\n"
     "}\n",
     NULL},

    {"trunc_f32",
     {"bits_of_f32", "of_bits_f32"},
     "static float trunc_f32(float x)\n"
     "{\n"
     "    const uint32_t bits = bits_of_f32(x);\n"
     "    if ((bits & 0x7fffffffu) >= 0x4b000000u) /* 2^23 and above, infinity, NaN: nothing to cut */\n"
     "        return x;\n"
     "    return of_bits_f32(bits_of_f32((float)(int32_t)x) | (bits & 0x80000000u)); /* keeps -0 */\n"
     "}\n",
     "static inline @ float trunc_f32(float x)\n"
     "{\n"
     "    return _mm_cvtss_f32(_mm_round_ss(_mm_setzero_ps(), _mm_set_ss(x), 11));\n"
     "}\n"},
    {"trunc_f64",
     {"bits_of_f64", "of_bits_f64"},
     "static double trunc_f64(double x)\n"
     "{\n"
     "    const uint64_t bits = bits_of_f64(x);\n"
     "    if ((bits & UINT64_C(0x7fffffffffffffff)) >= UINT64_C(0x4330000000000000)) /* 2^52 and above */\n"
     "        return x;\n"
     "    return of_bits_f64(bits_of_f64((double)(int64_t)x) | (bits & UINT64_C(0x8000000000000000)));\n"
     "}\n",
     "static inline @ double trunc_f64(double x)\n"
     "{\n"
     "    return _mm_cvtsd_f64(_mm_round_sd(_mm_setzero_pd(), _mm_set_sd(x), 11));\n"
     "}\n"},
    {"floor_f32",
     {"trunc_f32"},
     "static float floor_f32(float x)\n"
     "{\n"
     "    const float t = trunc_f32(x);\n"
     "    return t > x ? t - 1.0f : t;\n"
     "}\n",
     "static inline @ float floor_f32(float x)\n"
     "{\n"
     "    return _mm_cvtss_f32(_mm_round_ss(_mm_setzero_ps(), _mm_set_ss(x), 9));\n"
     "}\n"},
    {"floor_f64",
     {"trunc_f64"},
     "static double floor_f64(double x)\n"
     "{\n"
     "    const double t = trunc_f64(x);\n"
     "    return t > x ? t - 1.0 : t;\n"
     "}\n",
     "static inline @ double floor_f64(double x)\n"
     "{\n"
     "    return _mm_cvtsd_f64(_mm_round_sd(_mm_setzero_pd(), _mm_set_sd(x), 9));\n"
     "}\n"},
    {"ceil_f32",
     {"trunc_f32"},
     "static float ceil_f32(float x)\n"
     "{\n"
     "    const float t = trunc_f32(x);\n"
     "    return t < x ? t + 1.0f : t;\n"
     "}\n",
     "static inline @ float ceil_f32(float x)\n"
     "{\n"
     "    return _mm_cvtss_f32(_mm_round_ss(_mm_setzero_ps(), _mm_set_ss(x), 10));\n"
     "}\n"},
    {"ceil_f64",
     {"trunc_f64"},
     "static double ceil_f64(double x)\n"
     "{\n"
     "    const double t = trunc_f64(x);\n"
     "    return t < x ? t + 1.0 : t;\n"
     "}\n",
     "static inline @ double ceil_f64(double x)\n"
     "{\n"
     "    return _mm_cvtsd_f64(_mm_round_sd(_mm_setzero_pd(), _mm_set_sd(x), 10));\n"
     "}\n"},
    {"rint_f32",
     {"trunc_f32", "abs_f32"},
     "/* The nearest integer, ties to the even one. */\n"
     "static float rint_f32(float x)\n"
     "{\n"
     "    const float t = trunc_f32(x), rest = abs_f32(x - t); /* exact */\n"
     "    if (rest < 0.5f || (rest == 0.5f && ((int32_t)t & 1) == 0) || x != x)\n"
     "        return t;\n"
     "    return x < 0.0f ? t - 1.0f : t + 1.0f;\n"
     "}\n",
     "static inline @ float rint_f32(float x)\n"
     "{\n"
     "    return _mm_cvtss_f32(_mm_round_ss(_mm_setzero_ps(), _mm_set_ss(x), 8));\n"
     "}\n"},
    {"rint_f64",
     {"trunc_f64", "abs_f64"},
     "/* The nearest integer, ties to the even one. */\n"
     "static double rint_f64(double x)\n"
     "{\n"
     "    const double t = trunc_f64(x), rest = abs_f64(x - t); /* exact */\n"
     "    if (rest < 0.5 || (rest == 0.5 && ((int64_t)t & 1) == 0) || x != x)\n"
     "        return t;\n"
     "    return x < 0.0 ? t - 1.0 : t + 1.0;\n"
     "}\n",
     "static inline @ double rint_f64(double x)\n"
     "{\n"
     "    return _mm_cvtsd_f64(_mm_round_sd(_mm_setzero_pd(), _mm_set_sd(x), 8));\n"
     "}\n"},

    {"sqrt_f32",
     {0},
     "/* The correctly rounded square root: by the machine, else bit by bit as on paper. */\n"
     "static float sqrt_f32(float x)\n"
     "{\n"           //
     ROOT_NATIVE_F32 //
     "    union {\n        float x;\n        uint32_t bits;\n    } v = {x};\n"
     "    uint32_t mantissa, rest = 0, root = 0;\n"
     "    int32_t exponent = (int32_t)(v.bits >> 23 & 255u), i;\n"
     "    if ((v.bits & 0x7fffffffu) == 0 || v.bits == 0x7f800000u || x != x)\n"
     "        return x;\n"
     "    if (v.bits >= 0x80000000u) { /* negative: NaN */\n"
     "        v.bits = 0x7fc00000u;\n"
     "        return v.x;\n"
     "    }\n"
     "    mantissa = v.bits & 0x7fffffu;\n"
     "    if (exponent == 0) /* subnormal */\n"
     "        for (exponent = 1; mantissa < 0x800000u; exponent--)\n"
     "            mantissa <<= 1;\n"
     "    mantissa |= 0x800000u;\n"
     "    exponent -= 127;\n"
     "    mantissa <<= (exponent & 1) + 7; /* an even exponent is left; 26 bits, at the top of the word */\n"
     "    for (i = 0; i < 25; i++) { /* 24 bits of root and one to round by */\n"
     "        rest = rest << 2 | mantissa >> 30;\n"
     "        mantissa <<= 2;\n"
     "        root <<= 1;\n"
     "        if (rest > 2 * root) {\n"
     "            rest -= 2 * root + 1;\n"
     "            root++;\n"
     "        }\n"
     "    }\n"
     "    v.bits = ((uint32_t)((exponent - (exponent & 1)) / 2 + 126) << 23) + ((root + 1) >> 1);\n"
     "    return v.x;\n"
     "#endif\n"
     "}\n",
     "static inline @ float sqrt_f32(float x)\n"
     "{\n"
     "    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));\n"
     "}\n"},
    {"sqrt_f64",
     {0},
     "/* The correctly rounded square root: by the machine, else bit by bit as on paper. */\n"
     "static double sqrt_f64(double x)\n"
     "{\n"           //
     ROOT_NATIVE_F64 //
     "    union {\n        double x;\n        uint64_t bits;\n    } v = {x};\n"
     "    uint64_t mantissa, rest = 0, root = 0;\n"
     "    int32_t exponent = (int32_t)(v.bits >> 52 & 2047u), i;\n"
     "    if ((v.bits & UINT64_C(0x7fffffffffffffff)) == 0 || v.bits == UINT64_C(0x7ff0000000000000) || x != x)\n"
     "        return x;\n"
     "    if (v.bits >= UINT64_C(0x8000000000000000)) { /* negative: NaN */\n"
     "        v.bits = UINT64_C(0x7ff8000000000000);\n"
     "        return v.x;\n"
     "    }\n"
     "    mantissa = v.bits & UINT64_C(0xfffffffffffff);\n"
     "    if (exponent == 0) /* subnormal */\n"
     "        for (exponent = 1; mantissa < UINT64_C(0x10000000000000); exponent--)\n"
     "            mantissa <<= 1;\n"
     "    mantissa |= UINT64_C(0x10000000000000);\n"
     "    exponent -= 1023;\n"
     "    mantissa <<= (exponent & 1) + 10; /* an even exponent is left; 54 bits, at the top of the word */\n"
     "    for (i = 0; i < 54; i++) { /* 53 bits of root and one to round by */\n"
     "        rest = rest << 2 | mantissa >> 62;\n"
     "        mantissa <<= 2;\n"
     "        root <<= 1;\n"
     "        if (rest > 2 * root) {\n"
     "            rest -= 2 * root + 1;\n"
     "            root++;\n"
     "        }\n"
     "    }\n"
     "    v.bits = ((uint64_t)((exponent - (exponent & 1)) / 2 + 1022) << 52) + ((root + 1) >> 1);\n"
     "    return v.x;\n"
     "#endif\n"
     "}\n",
     "static inline @ double sqrt_f64(double x)\n"
     "{\n"
     "    return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));\n"
     "}\n"},

    {"fma_f32",
     {"bits_of_f64", "of_bits_f64"},
     "/* a * b + c, rounded once: the product is exact in double; the sum is rounded to odd, which the second "
     "rounding\n"
     " * cannot double. */\n"
     "static float fma_f32(float a, float b, float c)\n"
     "{\n"
     "    const double p = (double)a * (double)b, q = (double)c, sum = p + q, t = sum - p;\n"
     "    const double lost = (p - (sum - t)) + (q - t);\n"
     "    uint64_t bits = bits_of_f64(sum);\n"
     "    if ((lost < 0.0 || lost > 0.0) && (bits & 1u) == 0)\n"
     "        bits = (lost > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1;\n"
     "    return (float)of_bits_f64(bits);\n"
     "}\n",
     "static inline @ float fma_f32(float a, float b, float c)\n"
     "{\n"
     "    return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));\n"
     "}\n"},
    {"fma_f64",
     {0},
     NULL,
     "static inline @ double fma_f64(double a, double b, double c)\n"
     "{\n"
     "    return _mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(a), _mm_set_sd(b), _mm_set_sd(c)));\n"
     "}\n"},

    {"f32_from_f16",
     {"bits_of_f32", "of_bits_f32"},
     "static float f32_from_f16(uint16_t h)\n"
     "{\n"
     "    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fffu;\n"
     "    if (rest >= 0x7c00u) /* infinity, NaN */\n"
     "        return of_bits_f32(sign | 0x7f800000u | (rest & 0x3ffu) << 13);\n"
     "    if (rest >= 0x400u)\n"
     "        return of_bits_f32(sign | ((rest << 13) + 0x38000000u));\n"
     "    return of_bits_f32(sign | bits_of_f32((float)rest * 5.9604644775390625e-8f)); /* 2^-24 */\n"
     "}\n",
     NULL},
    {"f16_from_f32",
     {"bits_of_f32", "of_bits_f32"},
     "/* Rounds to nearest, ties to even. */\n"
     "static uint16_t f16_from_f32(float x)\n"
     "{\n"
     "    const uint32_t bits = bits_of_f32(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;\n"
     "    if (rest > 0x7f800000u) /* NaN */\n"
     "        return (uint16_t)(sign | 0x7e00u);\n"
     "    if (rest >= 0x477ff000u) /* 65520 and above */\n"
     "        return (uint16_t)(sign | 0x7c00u);\n"
     "    if (rest >= 0x38800000u)\n"
     "        return (uint16_t)(sign | (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13);\n"
     "    /* subnormal: beside 0.5 the last bit of a float is 2^-24, so this sum rounds */\n"
     "    return (uint16_t)(sign | (bits_of_f32(of_bits_f32(rest) + 0.5f) - 0x3f000000u));\n"
     "}\n",
     NULL},
    {"f32_from_bf16",
     {"of_bits_f32"},
     "static float f32_from_bf16(uint16_t h)\n{\n    return of_bits_f32((uint32_t)h << 16);\n}\n",
     NULL},
    {"bf16_from_f32",
     {"bits_of_f32"},
     "/* Rounds to nearest, ties to even. */\n"
     "static uint16_t bf16_from_f32(float x)\n"
     "{\n"
     "    const uint32_t bits = bits_of_f32(x);\n"
     "    if ((bits & 0x7fffffffu) > 0x7f800000u) /* NaN */\n"
     "        return (uint16_t)(bits >> 16 | 0x40u);\n"
     "    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);\n"
     "}\n",
     NULL},
};

bool ac_c_have(ac_cfile *F, const char *name)
{
    name = ac_intern(F->cx, name);
    for (int32_t i = 0; i < F->have.n; i++)
        if (F->have.item[i] == name)
            return true;
    ac_push(F->region, &F->have, name);
    return false;
}

const char *ac_c_helper(ac_cfile *F, const char *name)
{
    const char *native = F->dialect->native ? F->dialect->native(name) : NULL;
    if (native)
        return native;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const row *h = &ROWS[i];
        if (strcmp(h->name, name))
            continue;
        bool simd = F->target->vec_bytes && h->simd && (strncmp(name, "fma", 3) || F->target->fma);
        if (!simd && !h->plain)
            return NULL;
        if (ac_c_have(F, name))
            return h->name;
        for (int k = 0; !simd && k < 3 && h->needs[k]; k++)
            ac_c_helper(F, h->needs[k]);
        const char *strict = ac_c_strict(F) ? ac_c_strict_helper(name) : NULL;
        F->dialect->put_helper(F, name, simd ? h->simd : strict ? strict : h->plain);
        return h->name;
    }
    return NULL;
}

/* Float to integer, clamped: 2^bits is exact in a float, the largest integer is not. */
const char *ac_c_sat_helper(ac_cfile *F, ac_dtype to, ac_dtype from)
{
    ac_region *r = F->region;
    const char *name = ac_internf(F->cx, "sat_%s_from_%s", ac_dtype_name(to), ac_dtype_name(from));
    if (ac_c_have(F, name))
        return name;
    bool is_signed = ac_dtype_is_signed(to), wide = from == AC_F64;
    int bits = ac_dtype_bits(to) - is_signed;
    double end = 1;
    for (int i = 0; i < bits; i++)
        end *= 2;
    double start = is_signed ? -end : 0;
    const char *type = ac_dtype_c(to), *x = ac_dtype_c(from);
    const char *hi = wide ? ac_c_double(r, end).text : ac_c_float(r, (float)end).text;
    const char *lo = wide ? ac_c_double(r, start).text : ac_c_float(r, (float)start).text;
    const char *least = is_signed ? ac_strf(r, "INT%d_MIN", bits + 1) : ac_c_strict(F) ? "0u" : "0";
    const char *most = ac_strf(r, is_signed ? "INT%d_MAX" : "UINT%d_MAX", is_signed ? bits + 1 : bits);
    ac_putf(&F->helpers,
            "static %s %s(%s x)\n"
            "{\n"
            "    if (x != x)\n"
            "        return 0;\n"
            "    return x >= %s ? %s : x <= %s ? %s : (%s)x;\n"
            "}\n\n",
            type, name, x, hi, most, lo, least, type);
    return name;
}

bool ac_c_sat_is_call(const ac_loop_fn *fn, const ac_target *t, const ac_ins *in)
{
    return t->firmware && in->lanes <= 1 && fn->code.item[in->a].dtype == AC_I32 &&
           ac_dtype_bits((ac_dtype)in->dtype) == 8;
}

/* With inline assembly both comparisons are certain to be one instruction; a hint gives compilers the range of the
 * stored byte. */
const char *ac_c_sat_byte_helper(ac_cfile *F, ac_dtype to, bool shifts)
{
    const char *name = ac_internf(F->cx, "sat_%s%s", ac_dtype_name(to), shifts ? "_shr" : "");
    if (ac_c_have(F, name))
        return name;
    const bool is_signed = ac_dtype_is_signed(to);
    const int lo = is_signed ? -128 : 0, hi = is_signed ? 127 : 255;
    const char *type = ac_dtype_c(to), *n = shifts ? ", int32_t n" : "";
    const bool native = ac_target_saturates(F->target);
    if (native)
        ac_putf(&F->helpers,
                "#if %s\n"
                "static inline __attribute__((always_inline)) %s %s(int32_t x%s)\n"
                "{\n"
                "    int32_t y;\n"
                "    __asm__(\"%csat %%0, #8, %%1%s\" : \"=r\"(y) : \"r\"(x)%s);\n"
                "    if ((y < %d) || (y > %d)) {\n"
                "        __builtin_unreachable();\n"
                "    }\n"
                "    return (%s)y;\n"
                "}\n"
                "#else\n",
                ac_c_asm_condition(F, "__ARM_FEATURE_SAT", ""), type, name, n, is_signed ? 's' : 'u',
                shifts ? ", asr %2" : "", shifts ? ", \"I\"(n)" : "", lo, hi, type);
    ac_putf(&F->helpers,
            "static inline %s %s(int32_t x%s)\n"
            "{\n"
            "    int32_t y = x%s;\n"
            "    y = (y > %d) ? y : %d;\n"
            "    y = (y < %d) ? y : %d;\n"
            "    return (%s)y;\n"
            "}\n%s\n",
            type, name, n, shifts ? " >> n" : "", lo, lo, hi, hi, type, native ? "#endif\n" : "");
    return name;
}
