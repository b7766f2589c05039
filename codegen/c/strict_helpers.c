/* strict_helpers.c - the functions of scalar_helpers.c whose text differs for firmware, which follows MISRA C:2012
 * (ac_c_strict). Results are equal. */
#include "codegen/c/printer.h"
#include "codegen/c/roots.h"

#include <string.h>

/* The square root for firmware: the exponent is a number above 0. Parameters: type, word; masks of all but the sign,
 * infinity, sign, NaN, mantissa, its hidden bit; bits of the mantissa, mask of an exponent, numbers to add to and
 * subtract from it, shift, rounds. */
#define SOFT_ROOT(t, w, rest, inf, sign, nan, low, hidden, bits, exps, add, sub, shift, rounds) \
    "    union {\n        " t " x;\n        " w " bits;\n    } v;\n"                            \
    "    " w " mantissa;\n"                                                                     \
    "    " w " raised;\n"                                                                       \
    "    " w " left = 0u;\n"                                                                    \
    "    " w " root = 0u;\n"                                                                    \
    "    v.x = x;\n"                                                                            \
    "    if (((v.bits & " rest ") == 0u) || (v.bits == " inf ") || (x != x)) {\n"               \
    "        return x;\n"                                                                       \
    "    }\n"                                                                                   \
    "    if (v.bits >= " sign ") { /* negative: NaN */\n"                                       \
    "        v.bits = " nan ";\n"                                                               \
    "        return v.x;\n"                                                                     \
    "    }\n"                                                                                   \
    "    mantissa = v.bits & " low ";\n"                                                        \
    "    raised = ((v.bits >> " bits ") & " exps ") + " add ";\n"                               \
    "    if (raised == " add ") { /* subnormal */\n"                                            \
    "        raised++;\n"                                                                       \
    "        while (mantissa < " hidden ") {\n"                                                 \
    "            mantissa <<= 1;\n"                                                             \
    "            raised--;\n"                                                                   \
    "        }\n"                                                                               \
    "    }\n"                                                                                   \
    "    mantissa |= " hidden ";\n"                                                             \
    "    mantissa <<= (raised & 1u) + " shift "; /* an even exponent is left; at the top */\n"  \
    "    for (int32_t i = 0; i < " rounds "; i++) { /* one bit more, to round by */\n"          \
    "        left = (left << 2) | (mantissa >> (8u * sizeof mantissa - 2u));\n"                 \
    "        mantissa <<= 2;\n"                                                                 \
    "        root <<= 1;\n"                                                                     \
    "        if (left > (2u * root)) {\n"                                                       \
    "            left -= (2u * root) + 1u;\n"                                                   \
    "            root++;\n"                                                                     \
    "        }\n"                                                                               \
    "    }\n"                                                                                   \
    "    v.bits = (((raised >> 1) - " sub ") << " bits ") + ((root + 1u) >> 1);\n"              \
    "    return v.x;\n"                                                                         \
    "#endif\n"                                                                                  \
    "}\n"

static const struct {
    const char *name, *text;
} ROWS[] = {
    {"rint_f32", "/* The nearest integer, ties to the even one. */\n"
                 "static float rint_f32(float x)\n"
                 "{\n"
                 "    const float t = trunc_f32(x);\n"
                 "    const float rest = abs_f32(x - t); /* exact */\n"
                 "    if ((rest < 0.5f) || ((rest == 0.5f) && (((int32_t)t % 2) == 0)) || (x != x)) {\n"
                 "        return t;\n"
                 "    }\n"
                 "    return (x < 0.0f) ? (t - 1.0f) : (t + 1.0f);\n"
                 "}\n"},
    {"rint_f64", "/* The nearest integer, ties to the even one. */\n"
                 "static double rint_f64(double x)\n"
                 "{\n"
                 "    const double t = trunc_f64(x);\n"
                 "    const double rest = abs_f64(x - t); /* exact */\n"
                 "    if ((rest < 0.5) || ((rest == 0.5) && (((int64_t)t % 2) == 0)) || (x != x)) {\n"
                 "        return t;\n"
                 "    }\n"
                 "    return (x < 0.0) ? (t - 1.0) : (t + 1.0);\n"
                 "}\n"},
    {"sqrt_f32",
     "/* The correctly rounded square root: by the machine, else bit by bit as on paper. */\n"
     "static float sqrt_f32(float x)\n"
     "{\n" //
     ROOT_NATIVE_F32 SOFT_ROOT("float", "uint32_t", "0x7fffffffu", "0x7f800000u", "0x80000000u", "0x7fc00000u",
                               "0x7fffffu", "0x800000u", "23", "255u", "1025u", "450u", "7u", "25")},
    {"sqrt_f64",
     "/* The correctly rounded square root: by the machine, else bit by bit as on paper. */\n"
     "static double sqrt_f64(double x)\n"
     "{\n" //
     ROOT_NATIVE_F64 SOFT_ROOT("double", "uint64_t", "UINT64_C(0x7fffffffffffffff)", "UINT64_C(0x7ff0000000000000)",
                               "UINT64_C(0x8000000000000000)", "UINT64_C(0x7ff8000000000000)",
                               "UINT64_C(0xfffffffffffff)", "UINT64_C(0x10000000000000)", "52", "2047u", "3073u",
                               "1026u", "10u", "54")},
    {"f32_from_f16", "static float f32_from_f16(uint16_t h)\n"
                     "{\n"
                     "    const uint32_t bits = (uint32_t)h;\n"
                     "    const uint32_t sign = (bits & 0x8000u) << 16;\n"
                     "    const uint32_t rest = bits & 0x7fffu;\n"
                     "    if (rest >= 0x7c00u) { /* infinity, NaN */\n"
                     "        return of_bits_f32(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));\n"
                     "    }\n"
                     "    if (rest >= 0x400u) {\n"
                     "        return of_bits_f32(sign | ((rest << 13) + 0x38000000u));\n"
                     "    }\n"
                     "    return of_bits_f32(sign | bits_of_f32((float)rest * 5.9604644775390625e-8f)); /* 2^-24 */\n"
                     "}\n"},
};

const char *ac_c_strict_helper(const char *name)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        if (!strcmp(ROWS[i].name, name))
            return ROWS[i].text;
    return NULL;
}
