/* kernel.c - computes instructions over all their lanes; see kernel.h.
 *
 * Lanes are handled in chunks of CHUNK through local arrays: so compilers see that nothing overlaps and vectorise
 * without run-time tests, and d == a stays correct. memcpy because registers hold different types at different
 * times. */
#include "ir/loop/kernel.h"
#include "ir/loop/scalar.h"

#include <string.h>

enum { CHUNK = 8 };

// clang-format off
#define AT(p, T, i) ((const char *)(p) + (size_t)(i) * sizeof(T))
#define TO(p, T, i) ((char *)(p) + (size_t)(i) * sizeof(T))

#define KERNEL1(name, D, T, f)                                                                    \
    static void name(void *d, const void *a, const void *b, const void *c, int32_t n)             \
    {                                                                                             \
        (void)b;                                                                                  \
        (void)c;                                                                                  \
        int32_t i = 0;                                                                            \
        for (; i + CHUNK <= n; i += CHUNK) {                                                      \
            T x[CHUNK];                                                                           \
            D z[CHUNK];                                                                           \
            memcpy(x, AT(a, T, i), sizeof x);                                                     \
            for (int j = 0; j < CHUNK; j++)                                                       \
                z[j] = f(x[j]);                                                                   \
            memcpy(TO(d, D, i), z, sizeof z);                                                     \
        }                                                                                         \
        for (; i < n; i++) {                                                                      \
            T x;                                                                                  \
            memcpy(&x, AT(a, T, i), sizeof x);                                                    \
            D z = f(x);                                                                           \
            memcpy(TO(d, D, i), &z, sizeof z);                                                    \
        }                                                                                         \
    }

#define KERNEL2(name, D, T, f)                                                                    \
    static void name(void *d, const void *a, const void *b, const void *c, int32_t n)             \
    {                                                                                             \
        (void)c;                                                                                  \
        int32_t i = 0;                                                                            \
        for (; i + CHUNK <= n; i += CHUNK) {                                                      \
            T x[CHUNK], y[CHUNK];                                                                 \
            D z[CHUNK];                                                                           \
            memcpy(x, AT(a, T, i), sizeof x);                                                     \
            memcpy(y, AT(b, T, i), sizeof y);                                                     \
            for (int j = 0; j < CHUNK; j++)                                                       \
                z[j] = f(x[j], y[j]);                                                             \
            memcpy(TO(d, D, i), z, sizeof z);                                                     \
        }                                                                                         \
        for (; i < n; i++) {                                                                      \
            T x, y;                                                                               \
            memcpy(&x, AT(a, T, i), sizeof x);                                                    \
            memcpy(&y, AT(b, T, i), sizeof y);                                                    \
            D z = f(x, y);                                                                        \
            memcpy(TO(d, D, i), &z, sizeof z);                                                    \
        }                                                                                         \
    }

#define KERNEL3(name, A, T, f)                                                                    \
    static void name(void *d, const void *a, const void *b, const void *c, int32_t n)             \
    {                                                                                             \
        int32_t i = 0;                                                                            \
        for (; i + CHUNK <= n; i += CHUNK) {                                                      \
            A x[CHUNK];                                                                           \
            T y[CHUNK], w[CHUNK], z[CHUNK];                                                       \
            memcpy(x, AT(a, A, i), sizeof x);                                                     \
            memcpy(y, AT(b, T, i), sizeof y);                                                     \
            memcpy(w, AT(c, T, i), sizeof w);                                                     \
            for (int j = 0; j < CHUNK; j++)                                                       \
                z[j] = f(x[j], y[j], w[j]);                                                       \
            memcpy(TO(d, T, i), z, sizeof z);                                                     \
        }                                                                                         \
        for (; i < n; i++) {                                                                      \
            A x;                                                                                  \
            T y, w;                                                                               \
            memcpy(&x, AT(a, A, i), sizeof x);                                                    \
            memcpy(&y, AT(b, T, i), sizeof y);                                                    \
            memcpy(&w, AT(c, T, i), sizeof w);                                                    \
            T z = f(x, y, w);                                                                     \
            memcpy(TO(d, T, i), &z, sizeof z);                                                    \
        }                                                                                         \
    }

/* Arithmetic and comparisons: k_ADD_I32 and so on. */
#define ARITH1(op, T, t) KERNEL1(k_##op##_##T, t, t, ac_s_##op##_##T)
#define ARITH2(op, T, t) KERNEL2(k_##op##_##T, t, t, ac_s_##op##_##T)
#define COMPARE(op, T, t) KERNEL2(k_##op##_##T, uint8_t, t, ac_s_##op##_##T)

#define CHOOSE(name, t) \
    static inline t name##_one(uint8_t c, t x, t y) { return c ? x : y; } \
    KERNEL3(name, uint8_t, t, name##_one)
CHOOSE(k_select1, uint8_t)
CHOOSE(k_select2, uint16_t)
CHOOSE(k_select4, uint32_t)
CHOOSE(k_select8, uint64_t)

/* Halves are added until one lane is left; an odd rest lane (lanes are powers of two in practice) joins the last
 * half. */
#define REDUCE(name, t, f)                                                                        \
    static void name(void *d, const void *a, const void *b, const void *c, int32_t n)             \
    {                                                                                             \
        (void)b;                                                                                  \
        (void)c;                                                                                  \
        t x[AC_MAX_LANES];                                                                        \
        memcpy(x, a, (size_t)n * sizeof(t));                                                      \
        for (; n > 1; n /= 2)                                                                     \
            for (int32_t i = 0; i < n / 2; i++)                                                   \
                x[i] = f(x[i], x[i + n / 2]);                                                     \
        memcpy(d, x, sizeof(t));                                                                  \
    }
#define REDUCTIONS(T, t)                          \
    REDUCE(k_SUMLANES_##T, t, ac_s_ADD_##T)       \
    REDUCE(k_MAXLANES_##T, t, ac_s_MAX_##T)

#define INT_KERNELS(T, t, w, bits, lo, hi)                                                        \
    AC_INT_BINARY(ARITH2, T, t)                                                                   \
    AC_INT_UNARY(ARITH1, T, t)                                                                    \
    AC_COMPARE(COMPARE, T, t)                                                                     \
    REDUCTIONS(T, t)                                                                              \
    KERNEL3(k_MULADD_##T, t, t, ac_s_MULADD_##T)
#define FLOAT_KERNELS(T, t, s)                                                                    \
    AC_FLOAT_BINARY(ARITH2, T, t)                                                                 \
    AC_FLOAT_UNARY(ARITH1, T, t)                                                                  \
    AC_COMPARE(COMPARE, T, t)                                                                     \
    REDUCTIONS(T, t)                                                                              \
    KERNEL3(k_FMA_##T, t, t, ac_s_FMA_##T)                                                        \
    KERNEL3(k_MULADD_##T, t, t, ac_s_MULADD_##T)
AC_INT_TYPES(INT_KERNELS)
AC_FLOAT_TYPES(FLOAT_KERNELS)
ARITH2(AND, BOOL, uint8_t)
ARITH2(OR, BOOL, uint8_t)
ARITH2(XOR, BOOL, uint8_t)
ARITH1(NOT, BOOL, uint8_t)
COMPARE(EQ, BOOL, uint8_t)
COMPARE(NE, BOOL, uint8_t)

/* Dot products wrap like the i32 additions they are. */
#define DOT(name, A, B, k)                                                                        \
    static void name(void *d, const void *a, const void *b, const void *c, int32_t n)             \
    {                                                                                             \
        for (int32_t i = 0; i < n; i++) {                                                         \
            A x[k];                                                                               \
            B y[k];                                                                               \
            int32_t sum;                                                                          \
            memcpy(x, AT(a, A, i * (k)), sizeof x);                                               \
            memcpy(y, AT(b, B, i * (k)), sizeof y);                                               \
            memcpy(&sum, AT(c, int32_t, i), sizeof sum);                                          \
            for (int j = 0; j < (k); j++)                                                         \
                sum = ac_s_ADD_I32(sum, (int32_t)x[j] * (int32_t)y[j]);                           \
            memcpy(TO(d, int32_t, i), &sum, sizeof sum);                                          \
        }                                                                                         \
    }
DOT(k_DOT4_U8, uint8_t, int8_t, 4)
DOT(k_DOT4_I8, int8_t, int8_t, 4)
DOT(k_DOT2_I16, int16_t, int16_t, 2)

/* Conversions: k_cast_FROM_TO, k_sat_FROM_TO. */
#define PLAIN1(name, D, T, f)                                                                     \
    static void name(void *d, const void *a, const void *b, const void *c, int32_t n)             \
    {                                                                                             \
        (void)b;                                                                                  \
        (void)c;                                                                                  \
        for (int32_t i = 0; i < n; i++) {                                                         \
            T x;                                                                                  \
            memcpy(&x, AT(a, T, i), sizeof x);                                                    \
            D z = f(x);                                                                           \
            memcpy(TO(d, D, i), &z, sizeof z);                                                    \
        }                                                                                         \
    }
#define CAST(S, s, kind, read, T, t) PLAIN1(k_cast_##S##_##T, t, s, ac_s_cast_##S##_##T)
#define SATCAST(S, s, kind, read, T, t) PLAIN1(k_sat_##S##_##T, t, s, ac_s_sat_##S##_##T)
#define CASTS(T, t, w, bits, lo, hi) AC_CAST_SOURCES(CAST, T, t) AC_CAST_SOURCES(SATCAST, T, t)
AC_INT_TYPES(CASTS)
AC_CAST_SOURCES(CAST, F32, float)
AC_CAST_SOURCES(CAST, F64, double)
AC_CAST_SOURCES(CAST, F16, uint16_t)
AC_CAST_SOURCES(CAST, BF16, uint16_t)
AC_CAST_SOURCES(CAST, BOOL, uint8_t)

/* The conversions of quantized kernels, in chunks; the other pairs are rare and stay small. */
#define FAST_CASTS(X)                                                                             \
    X(cast, CAST, I8, int8_t, I32, int32_t) X(cast, CAST, U8, uint8_t, I32, int32_t)              \
    X(cast, CAST, I8, int8_t, I16, int16_t) X(cast, CAST, U8, uint8_t, I16, int16_t)              \
    X(cast, CAST, I16, int16_t, I32, int32_t) X(cast, CAST, I32, int32_t, I64, int64_t)           \
    X(cast, CAST, I64, int64_t, I32, int32_t) X(cast, CAST, I32, int32_t, F32, float)             \
    X(cast, CAST, F32, float, I32, int32_t) X(cast, CAST, I32, int32_t, I8, int8_t)               \
    X(cast, CAST, I32, int32_t, U8, uint8_t) X(sat, SATCAST, I32, int32_t, I8, int8_t)            \
    X(sat, SATCAST, I32, int32_t, U8, uint8_t) X(sat, SATCAST, I32, int32_t, I16, int16_t)
#define FAST(how, op, S, s, T, t) KERNEL1(k_fast_##how##_##S##_##T, t, s, ac_s_##how##_##S##_##T)
FAST_CASTS(FAST)

/* The tables. */
#define ROW(op, T, t) [AC_L_##op][AC_##T] = k_##op##_##T,
#define INT_ROWS(T, t, w, bits, lo, hi)                                                           \
    AC_INT_BINARY(ROW, T, t) AC_INT_UNARY(ROW, T, t) AC_COMPARE(ROW, T, t)                        \
    ROW(SUMLANES, T, t) ROW(MAXLANES, T, t)
#define FLOAT_ROWS(T, t, s)                                                                       \
    AC_FLOAT_BINARY(ROW, T, t) AC_FLOAT_UNARY(ROW, T, t) AC_COMPARE(ROW, T, t)                    \
    ROW(SUMLANES, T, t) ROW(MAXLANES, T, t) ROW(FMA, T, t)

/* By operator and type of operand a. */
static const ac_kernel BY_TYPE[AC_L_COUNT][AC_DTYPE_COUNT] = {
    AC_INT_TYPES(INT_ROWS) AC_FLOAT_TYPES(FLOAT_ROWS)
    ROW(AND, BOOL, ) ROW(OR, BOOL, ) ROW(XOR, BOOL, ) ROW(NOT, BOOL, ) ROW(EQ, BOOL, ) ROW(NE, BOOL, )
    ROW(DOT4, U8, ) ROW(DOT4, I8, ) ROW(DOT2, I16, )
};

#define CAST_ITEM(S, s, kind, read, T, t) [AC_##S][AC_##T] = k_cast_##S##_##T,
#define SAT_ITEM(S, s, kind, read, T, t) [AC_##S][AC_##T] = k_sat_##S##_##T,
#define CAST_ROWS(T, t, w, bits, lo, hi) AC_CAST_SOURCES(CAST_ITEM, T, t)
#define SAT_ROWS(T, t, w, bits, lo, hi) AC_CAST_SOURCES(SAT_ITEM, T, t)

static const ac_kernel CASTS_OF[AC_DTYPE_COUNT][AC_DTYPE_COUNT] = { /* [from][to] */
    AC_INT_TYPES(CAST_ROWS)
    AC_CAST_SOURCES(CAST_ITEM, F32, )
    AC_CAST_SOURCES(CAST_ITEM, F64, )
    AC_CAST_SOURCES(CAST_ITEM, F16, )
    AC_CAST_SOURCES(CAST_ITEM, BF16, )
    AC_CAST_SOURCES(CAST_ITEM, BOOL, )
};
static const ac_kernel SATCASTS_OF[AC_DTYPE_COUNT][AC_DTYPE_COUNT] = {AC_INT_TYPES(SAT_ROWS)};

static const struct {
    ac_lop op;
    ac_dtype from, to;
    ac_kernel kernel;
} FASTER[] = {
#define FAST_ITEM(how, op, S, s, T, t) {AC_L_##op, AC_##S, AC_##T, k_fast_##how##_##S##_##T},
    FAST_CASTS(FAST_ITEM)
};

#define MULADD_INT(T, t, w, bits, lo, hi) [AC_##T] = k_MULADD_##T,
#define MULADD_FLOAT(T, t, s) [AC_##T] = k_MULADD_##T,
static const ac_kernel MULADDS[AC_DTYPE_COUNT] = {AC_INT_TYPES(MULADD_INT) AC_FLOAT_TYPES(MULADD_FLOAT)};
// clang-format on

ac_kernel ac_kernel_muladd(ac_dtype type)
{
    return MULADDS[type];
}

ac_kernel ac_kernel_of(ac_lop op, ac_dtype type, ac_dtype from)
{
    static const ac_kernel BY_SIZE[] = {[1] = k_select1, [2] = k_select2, [4] = k_select4, [8] = k_select8};
    if (op >= AC_L_COUNT || type >= AC_DTYPE_COUNT || from >= AC_DTYPE_COUNT)
        return NULL;
    for (size_t i = 0; i < sizeof FASTER / sizeof *FASTER; i++)
        if (FASTER[i].op == op && FASTER[i].from == from && FASTER[i].to == type)
            return FASTER[i].kernel;
    if (op == AC_L_CAST)
        return CASTS_OF[from][type];
    if (op == AC_L_SATCAST)
        return SATCASTS_OF[from][type];
    if (op == AC_L_SELECT)
        return BY_SIZE[ac_lane_size(type)];
    return BY_TYPE[op][from];
}

static double num_of(int64_t k)
{
    double v;
    memcpy(&v, &k, sizeof v);
    return v;
}

static int64_t bits_of(double v)
{
    int64_t k;
    memcpy(&k, &v, sizeof k);
    return k;
}

void ac_lane_put(ac_dtype d, void *lanes, int32_t i, int64_t k)
{
    size_t size = ac_lane_size(d);
    if (ac_dtype_is_float(d)) {
        float f = (float)num_of(k);
        double g = num_of(k);
        uint16_t h = d == AC_F16 ? ac_f32_to_f16(f) : ac_f32_to_bf16(f);
        memcpy((char *)lanes + (size_t)i * size,
               d == AC_F32   ? (void *)&f
               : d == AC_F64 ? (void *)&g
                             : (void *)&h,
               size);
    } else {
        uint64_t u = (uint64_t)k; /* the low bytes, whatever the byte order */
        uint8_t b = (uint8_t)u;
        uint16_t s = (uint16_t)u;
        uint32_t w = (uint32_t)u;
        memcpy((char *)lanes + (size_t)i * size,
               size == 1   ? (void *)&b
               : size == 2 ? (void *)&s
               : size == 4 ? (void *)&w
                           : (void *)&u,
               size);
    }
}

int64_t ac_lane_get(ac_dtype d, const void *lanes, int32_t i)
{
    const char *p = (const char *)lanes + (size_t)i * ac_lane_size(d);
    uint16_t h;
    float f;
    double g;
    int64_t k;
    if (d == AC_F64) {
        memcpy(&g, p, sizeof g);
        return bits_of(g);
    }
    if (d == AC_F32) {
        memcpy(&f, p, sizeof f);
        return bits_of((double)f);
    }
    if (ac_dtype_is_half(d)) {
        memcpy(&h, p, sizeof h);
        return bits_of((double)(d == AC_F16 ? ac_f16_to_f32(h) : ac_bf16_to_f32(h)));
    }
    if (ac_lane_size(d) == 8) {
        memcpy(&k, p, sizeof k);
        return k;
    }
    return ac_dtype_get_int(d, lanes, i);
}
