/* scalar.h - computes each instruction for one lane: the single source of the loop IR's arithmetic.
 *
 * Constant folding (folding.c) and the evaluator (eval.c, kernel.c) call these functions, so that they cannot differ.
 * The rules are those of loop.def; cases that loop.def leaves to the lowering (overflow, division by zero, shifts
 * outside the type, float to int out of range) are defined here: wrap, 0, shift count modulo the bits, clamp.
 *
 *     ac_s_ADD_I32(INT32_MAX, 1) == INT32_MIN        ac_s_MIN_F32(nan, 1) == 1        ac_s_sat_I32_I8(300) == 127
 *
 * Types are written as in dtype.def. F16 and BF16 are 16 bits that casts turn into f32 and back: every conversion from
 * or to them goes through f32 (f64 to f16 rounds twice; printers do the same). Nothing here allocates or fails. */
#ifndef AC_IR_LOOP_SCALAR_H
#define AC_IR_LOOP_SCALAR_H
#include "ir/dtype/dtype.h"
#include "ir/dtype/fma.h"

#include <math.h>

// clang-format off
/* X(type, C type, unsigned type to compute in, bits, min, max); computing in at least 32 bits avoids signed
 * promotion. */
#define AC_SIGNED_TYPES(X)                                     \
    X(I8, int8_t, uint32_t, 8, INT8_MIN, INT8_MAX)             \
    X(I16, int16_t, uint32_t, 16, INT16_MIN, INT16_MAX)        \
    X(I32, int32_t, uint32_t, 32, INT32_MIN, INT32_MAX)        \
    X(I64, int64_t, uint64_t, 64, INT64_MIN, INT64_MAX)
#define AC_UNSIGNED_TYPES(X)                                   \
    X(U8, uint8_t, uint32_t, 8, 0, UINT8_MAX)                  \
    X(U16, uint16_t, uint32_t, 16, 0, UINT16_MAX)              \
    X(U32, uint32_t, uint32_t, 32, 0, UINT32_MAX)              \
    X(U64, uint64_t, uint64_t, 64, 0, UINT64_MAX)
#define AC_INT_TYPES(X) AC_SIGNED_TYPES(X) AC_UNSIGNED_TYPES(X)
#define AC_FLOAT_TYPES(X) X(F32, float, f) X(F64, double, ) /* suffix of the C library's functions */

/* Operators by operand types and shape. */
#define AC_INT_BINARY(X, ...)                                                                                      \
    X(ADD, __VA_ARGS__) X(SUB, __VA_ARGS__) X(MUL, __VA_ARGS__) X(DIV, __VA_ARGS__) X(MOD, __VA_ARGS__)            \
    X(MIN, __VA_ARGS__) X(MAX, __VA_ARGS__) X(AND, __VA_ARGS__) X(OR, __VA_ARGS__) X(XOR, __VA_ARGS__)             \
    X(SHL, __VA_ARGS__) X(SHR, __VA_ARGS__)
#define AC_INT_UNARY(X, ...) X(NEG, __VA_ARGS__) X(ABS, __VA_ARGS__) X(NOT, __VA_ARGS__)
#define AC_FLOAT_BINARY(X, ...)                                                                                    \
    X(ADD, __VA_ARGS__) X(SUB, __VA_ARGS__) X(MUL, __VA_ARGS__) X(DIV, __VA_ARGS__) X(MIN, __VA_ARGS__)            \
    X(MAX, __VA_ARGS__)
#define AC_FLOAT_UNARY(X, ...)                                                                                     \
    X(NEG, __VA_ARGS__) X(ABS, __VA_ARGS__) X(SQRT, __VA_ARGS__) X(FLOOR, __VA_ARGS__) X(CEIL, __VA_ARGS__)        \
    X(TRUNC, __VA_ARGS__) X(RINT, __VA_ARGS__)
#define AC_COMPARE(X, ...) X(EQ, __VA_ARGS__) X(NE, __VA_ARGS__) X(LT, __VA_ARGS__) X(LE, __VA_ARGS__)

#define COMMON(T, t)                                                          \
    static inline t ac_s_MIN_##T(t a, t b) { return a < b ? a : b; }          \
    static inline t ac_s_MAX_##T(t a, t b) { return a > b ? a : b; }          \
    static inline uint8_t ac_s_EQ_##T(t a, t b) { return a == b; }            \
    static inline uint8_t ac_s_NE_##T(t a, t b) { return a != b; }            \
    static inline uint8_t ac_s_LT_##T(t a, t b) { return a < b; }             \
    static inline uint8_t ac_s_LE_##T(t a, t b) { return a <= b; }

#define INTEGER(T, t, w, bits, lo, hi)                                                            \
    COMMON(T, t)                                                                                  \
    static inline t ac_s_ADD_##T(t a, t b) { return (t)((w)a + (w)b); }                           \
    static inline t ac_s_SUB_##T(t a, t b) { return (t)((w)a - (w)b); }                           \
    static inline t ac_s_MUL_##T(t a, t b) { return (t)((w)a * (w)b); }                           \
    static inline t ac_s_AND_##T(t a, t b) { return (t)(a & b); }                                 \
    static inline t ac_s_OR_##T(t a, t b) { return (t)(a | b); }                                  \
    static inline t ac_s_XOR_##T(t a, t b) { return (t)(a ^ b); }                                 \
    static inline t ac_s_SHL_##T(t a, t b) { return (t)((w)a << ((w)b & ((bits)-1))); }           \
    static inline t ac_s_SHR_##T(t a, t b) { return (t)(a >> ((w)b & ((bits)-1))); }              \
    static inline t ac_s_NEG_##T(t a) { return (t)(0 - (w)a); }                                   \
    static inline t ac_s_NOT_##T(t a) { return (t)~a; }                                           \
    static inline t ac_s_MULADD_##T(t a, t b, t c) { return (t)((w)a * (w)b + (w)c); }

/* Unsigned: -1 never occurs, ABS is the identity. */
#define SIGNED(T, t, w, bits, lo, hi)                                                             \
    INTEGER(T, t, w, bits, lo, hi)                                                                \
    static inline t ac_s_ABS_##T(t a) { return a < 0 ? ac_s_NEG_##T(a) : a; }                     \
    static inline t ac_s_DIV_##T(t a, t b) { return (t)(b == 0 ? 0 : b == -1 ? ac_s_NEG_##T(a) : a / b); } \
    static inline t ac_s_MOD_##T(t a, t b) { return (t)(b == 0 || b == -1 ? 0 : a % b); }
#define UNSIGNED(T, t, w, bits, lo, hi)                                                           \
    INTEGER(T, t, w, bits, lo, hi)                                                                \
    static inline t ac_s_ABS_##T(t a) { return a; }                                               \
    static inline t ac_s_DIV_##T(t a, t b) { return (t)(b == 0 ? 0 : a / b); }                    \
    static inline t ac_s_MOD_##T(t a, t b) { return (t)(b == 0 ? 0 : a % b); }

/* Each operation rounds to its own type: the file is compiled with contraction off, and float stays float
 * (FLT_EVAL_METHOD 0). */
#define FLOATING(T, t, s)                                                                         \
    COMMON(T, t)                                                                                  \
    static inline t ac_s_ADD_##T(t a, t b) { return a + b; }                                      \
    static inline t ac_s_SUB_##T(t a, t b) { return a - b; }                                      \
    static inline t ac_s_MUL_##T(t a, t b) { return a * b; }                                      \
    static inline t ac_s_DIV_##T(t a, t b) { return a / b; }                                      \
    static inline t ac_s_NEG_##T(t a) { return -a; }                                              \
    static inline t ac_s_ABS_##T(t a) { return fabs##s(a); }                                      \
    static inline t ac_s_SQRT_##T(t a) { return sqrt##s(a); }                                     \
    static inline t ac_s_FLOOR_##T(t a) { return floor##s(a); }                                   \
    static inline t ac_s_CEIL_##T(t a) { return ceil##s(a); }                                     \
    static inline t ac_s_TRUNC_##T(t a) { return trunc##s(a); }                                   \
    static inline t ac_s_RINT_##T(t a) { return nearbyint##s(a); }                                \
    static inline t ac_s_FMA_##T(t a, t b, t c) { return ac_fma##s(a, b, c); }                       \
    static inline t ac_s_MULADD_##T(t a, t b, t c)                                                \
    {                                                                                             \
        t p = a * b; /* rounded: two operations in one dispatch */                                \
        return p + c;                                                                             \
    }

AC_SIGNED_TYPES(SIGNED)
AC_UNSIGNED_TYPES(UNSIGNED)
AC_FLOAT_TYPES(FLOATING)

/* BOOL: one byte, 0 or 1. */
static inline uint8_t ac_s_AND_BOOL(uint8_t a, uint8_t b) { return a & b; }
static inline uint8_t ac_s_OR_BOOL(uint8_t a, uint8_t b) { return a | b; }
static inline uint8_t ac_s_XOR_BOOL(uint8_t a, uint8_t b) { return a ^ b; }
static inline uint8_t ac_s_NOT_BOOL(uint8_t a) { return a ^ 1; }
static inline uint8_t ac_s_EQ_BOOL(uint8_t a, uint8_t b) { return a == b; }
static inline uint8_t ac_s_NE_BOOL(uint8_t a, uint8_t b) { return a != b; }

/* Conversions. A source is read into a signed (s), unsigned (u) or floating (f) value; a destination has one rule for
 * each. */
#define AC_CAST_SOURCES(X, ...)                                                                                    \
    X(I8, int8_t, s, , __VA_ARGS__) X(I16, int16_t, s, , __VA_ARGS__) X(I32, int32_t, s, , __VA_ARGS__)            \
    X(I64, int64_t, s, , __VA_ARGS__) X(U8, uint8_t, u, , __VA_ARGS__) X(U16, uint16_t, u, , __VA_ARGS__)          \
    X(U32, uint32_t, u, , __VA_ARGS__) X(U64, uint64_t, u, , __VA_ARGS__) X(BOOL, uint8_t, u, , __VA_ARGS__)       \
    X(F32, float, f, (double), __VA_ARGS__) X(F64, double, f, , __VA_ARGS__)                                       \
    X(F16, uint16_t, f, (double)ac_f16_to_f32, __VA_ARGS__) X(BF16, uint16_t, f, (double)ac_bf16_to_f32, __VA_ARGS__)

/* Clamped, truncated towards zero, NaN is 0. hi + 1 is a power of two, so it is exact in a double. */
#define FROM_FLOAT(T, t, w, bits, lo, hi)                                                         \
    static inline t ac_s_clamp_##T(double x)                                                      \
    {                                                                                             \
        const double end = (double)((hi) / 2 + 1) * 2;                                            \
        return (t)(x >= end ? (hi) : x <= (double)(lo) ? (lo) : x == x ? (t)x : 0);               \
    }                                                                                             \
    static inline t ac_s_sat_s_##T(int64_t x)                                                     \
    {                                                                                             \
        return (t)(x < (int64_t)(lo) ? (lo) : x > 0 && (uint64_t)x > (uint64_t)(hi) ? (hi) : (t)x); \
    }                                                                                             \
    static inline t ac_s_sat_u_##T(uint64_t x) { return (t)(x > (uint64_t)(hi) ? (hi) : (t)x); }  \
    static inline t ac_s_sat_f_##T(double x) { return ac_s_clamp_##T(x); }
AC_INT_TYPES(FROM_FLOAT)

#define CAST_TO_INT(S, s, kind, read, T, t) \
    static inline t ac_s_sat_##S##_##T(s x) { return ac_s_sat_##kind##_##T(read(x)); }
#define CAST_ROW(T, t, w, bits, lo, hi) AC_CAST_SOURCES(CAST_TO_INT, T, t)
AC_INT_TYPES(CAST_ROW)

/* int to int keeps the low bits; float to int is the clamp. */
#define LOW_s(T, t, S, x) (t)(x)
#define LOW_u(T, t, S, x) (t)(x)
#define LOW_f(T, t, S, x) ac_s_sat_##S##_##T(x)
#define CAST_LOW(S, s, kind, read, T, t) \
    static inline t ac_s_cast_##S##_##T(s x) { return LOW_##kind(T, t, S, x); }
#define CAST_LOW_ROW(T, t, w, bits, lo, hi) AC_CAST_SOURCES(CAST_LOW, T, t)
AC_INT_TYPES(CAST_LOW_ROW)

#define CAST_TO_FLOAT(S, s, kind, read, unused)                                                   \
    static inline float ac_s_cast_##S##_F32(s x) { return (float)read(x); }                       \
    static inline double ac_s_cast_##S##_F64(s x) { return (double)read(x); }                     \
    static inline uint16_t ac_s_cast_##S##_F16(s x) { return ac_f32_to_f16((float)read(x)); }     \
    static inline uint16_t ac_s_cast_##S##_BF16(s x) { return ac_f32_to_bf16((float)read(x)); }   \
    static inline uint8_t ac_s_cast_##S##_BOOL(s x) { return read(x) != 0; }
AC_CAST_SOURCES(CAST_TO_FLOAT, )

#undef COMMON
#undef INTEGER
#undef SIGNED
#undef UNSIGNED
#undef FLOATING
#undef FROM_FLOAT
#undef CAST_TO_INT
#undef CAST_ROW
#undef CAST_LOW
#undef CAST_LOW_ROW
#undef CAST_TO_FLOAT
// clang-format on
#endif
