/* immintrin.h - emulates intrinsics of AVX-512 and AMX by functions that follow Intel's manual, for machines without
 * them: for files that arenac writes, compiled for AVX2 (tests/cli/code/emulated.sh). Invalid operations end the
 * program: products of tiles whose shapes do not fit, tiles that are not configured. */
#ifndef EMULATED_IMMINTRIN_H
#define EMULATED_IMMINTRIN_H
#include_next <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef union emulated_512 {
    __m512i i;
    __m512 f;
    uint8_t u8[64];
    int8_t i8[64];
    uint16_t u16[32];
    int32_t i32[16];
    uint32_t u32[16];
    float f32[16];
} emulated_512;
#define EMULATED     static inline __attribute__((always_inline, unused))
#define OF(vector)   ((emulated_512){.i = (vector)})
#define OF_F(vector) ((emulated_512){.f = (vector)})
#define EACH(type, n, value)           \
    emulated_512 r = OF((__m512i){0}); \
    for (int l = 0; l < (n); l++)      \
        r.type[l] = (value);           \
    return r

/* ------------------------------------------------------------------ vectors */

EMULATED __m512i emulated_dpbusd(__m512i c, __m512i a, __m512i b)
{
    emulated_512 r = OF(c), x = OF(a), y = OF(b);
    for (int l = 0; l < 64; l++)
        r.u32[l / 4] += (uint32_t)(x.u8[l] * y.i8[l]);
    return r.i;
}

EMULATED __m512i emulated_max(__m512i a, __m512i b)
{
    emulated_512 x = OF(a), y = OF(b);
    EACH(i32, 16, x.i32[l] > y.i32[l] ? x.i32[l] : y.i32[l]).i;
}

EMULATED __m512i emulated_min(__m512i a, __m512i b)
{
    emulated_512 x = OF(a), y = OF(b);
    EACH(i32, 16, x.i32[l] < y.i32[l] ? x.i32[l] : y.i32[l]).i;
}

EMULATED __m512 emulated_max_ps(__m512 a, __m512 b)
{
    emulated_512 x = OF_F(a), y = OF_F(b);
    EACH(f32, 16, x.f32[l] > y.f32[l] ? x.f32[l] : y.f32[l]).f;
}

EMULATED __m512 emulated_min_ps(__m512 a, __m512 b)
{
    emulated_512 x = OF_F(a), y = OF_F(b);
    EACH(f32, 16, x.f32[l] < y.f32[l] ? x.f32[l] : y.f32[l]).f;
}

EMULATED __m512 emulated_fmadd(__m512 a, __m512 b, __m512 c)
{
    emulated_512 x = OF_F(a), y = OF_F(b), z = OF_F(c);
    EACH(f32, 16, fmaf(x.f32[l], y.f32[l], z.f32[l])).f;
}

EMULATED __m512 emulated_roundscale(__m512 a, int how)
{
    emulated_512 x = OF_F(a);
    how &= 7;
    EACH(f32, 16,
         how == 1   ? floorf(x.f32[l])
         : how == 2 ? ceilf(x.f32[l])
         : how == 3 ? truncf(x.f32[l])
                    : rintf(x.f32[l]))
        .f;
}

EMULATED __m512i emulated_cvtps(__m512 a)
{
    emulated_512 x = OF_F(a);
    EACH(i32, 16, x.f32[l] >= -0x1p31f && x.f32[l] < 0x1p31f ? (int32_t)rintf(x.f32[l]) : INT32_MIN).i;
}

EMULATED __m128i emulated_cvtsepi32_epi8(__m512i a)
{
    const emulated_512 x = OF(a);
    int8_t r[16];
    for (int l = 0; l < 16; l++)
        r[l] = (int8_t)(x.i32[l] > 127 ? 127 : x.i32[l] < -128 ? -128 : x.i32[l]);
    return _mm_loadu_si128((const void *)r);
}

EMULATED __m512i emulated_permutexvar_epi16(__mmask32 k, __m512i at, __m512i a)
{
    emulated_512 x = OF(a), i = OF(at);
    EACH(u16, 32, k >> l & 1 ? x.u16[i.u16[l] % 32] : 0).i;
}

EMULATED __m512i emulated_cast(__m256i a)
{
    emulated_512 r = OF((__m512i){0});
    memcpy(&r, &a, sizeof a);
    return r.i;
}

EMULATED __mmask16 emulated_test(__mmask16 k, __m512i a, __m512i b, int zero)
{
    const emulated_512 x = OF(a), y = OF(b);
    uint32_t m = 0;
    for (int l = 0; l < 16; l++)
        m |= (uint32_t)((x.u32[l] & y.u32[l]) == 0) << l;
    return (__mmask16)(k & (zero ? m : ~m));
}

EMULATED __mmask16 emulated_unordered(__m512 a, __m512 b)
{
    const emulated_512 x = OF_F(a), y = OF_F(b);
    uint32_t m = 0;
    for (int l = 0; l < 16; l++)
        m |= (uint32_t)(isnan(x.f32[l]) || isnan(y.f32[l])) << l;
    return (__mmask16)m;
}

EMULATED __m512i emulated_mask_or(__m512i src, __mmask16 k, __m512i a, __m512i b)
{
    emulated_512 s = OF(src), x = OF(a), y = OF(b);
    EACH(u32, 16, k >> l & 1 ? x.u32[l] | y.u32[l] : s.u32[l]).i;
}

EMULATED __m256i emulated_cvtepi32_epi16(__m512i a)
{
    const emulated_512 x = OF(a);
    uint16_t r[16];
    for (int l = 0; l < 16; l++)
        r[l] = (uint16_t)x.u32[l];
    return _mm256_loadu_si256((const void *)r);
}

EMULATED __m128i emulated_low_halves(__m256i a)
{
    return _mm256_castsi256_si128(emulated_cvtepi32_epi16(emulated_cast(a)));
}

/* To nearest, ties to even; subnormal numbers are 0. */
EMULATED uint16_t emulated_bf16(uint32_t bits)
{
    const uint32_t rest = bits & 0x7fffffff;
    if (rest < 0x800000)
        return (uint16_t)(bits >> 16 & 0x8000);
    if (rest > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

EMULATED __m256i emulated_cvtneps16(__m512 a)
{
    const emulated_512 x = OF_F(a);
    uint16_t r[16];
    for (int l = 0; l < 16; l++)
        r[l] = emulated_bf16(x.u32[l]);
    return _mm256_loadu_si256((const void *)r);
}

EMULATED __m128i emulated_cvtneps8(__m256 a)
{
    uint32_t x[8];
    uint16_t r[8];
    memcpy(x, &a, sizeof a);
    for (int l = 0; l < 8; l++)
        r[l] = emulated_bf16(x[l]);
    return _mm_loadu_si128((const void *)r);
}

#define _mm512_dpbusd_epi32 emulated_dpbusd
#define _mm512_max_epi32    emulated_max
#define _mm512_min_epi32    emulated_min
#define _mm512_max_ps       emulated_max_ps
#define _mm512_min_ps       emulated_min_ps
#define _mm512_fmadd_ps     emulated_fmadd
#undef _mm512_roundscale_ps
#define _mm512_roundscale_ps                 emulated_roundscale
#define _mm512_cvtps_epi32                   emulated_cvtps
#define _mm512_cvtsepi32_epi8                emulated_cvtsepi32_epi8
#define _mm512_maskz_permutexvar_epi16       emulated_permutexvar_epi16
#define _mm512_castsi256_si512               emulated_cast
#define _mm512_testn_epi32_mask(a, b)        emulated_test(0xffff, a, b, 1)
#define _mm512_mask_test_epi32_mask(k, a, b) emulated_test(k, a, b, 0)
#define _mm256_testn_epi32_mask(a, b)        (__mmask8)(emulated_test(0xff, emulated_cast(a), emulated_cast(b), 1))
#define _mm256_mask_test_epi32_mask(k, a, b) (__mmask8)(emulated_test(k, emulated_cast(a), emulated_cast(b), 0))
#undef _mm512_cmp_ps_mask
#define _mm512_cmp_ps_mask(a, b, unordered) emulated_unordered(a, b)
#define _mm512_mask_or_epi32                emulated_mask_or
#define _mm512_cvtepi32_epi16               emulated_cvtepi32_epi16
#define _mm256_cvtepi32_epi16               emulated_low_halves
#define _mm512_cvtneps_pbh                  emulated_cvtneps16
#define _mm256_cvtneps_pbh                  emulated_cvtneps8
/* Operations that GNU C vectors support directly. */
typedef uint32_t emulated_u32x16 __attribute__((vector_size(64), may_alias));
#define _mm512_set1_epi32(x) ((__m512i)((emulated_u32x16){0} + (uint32_t)(x)))
#define _mm512_set_epi32(p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a) \
    ((__m512i)(emulated_u32x16){a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p})
#undef _mm512_slli_epi32
#define _mm512_slli_epi32(a, n) ((__m512i)((emulated_u32x16)(a) << (n)))
#undef _mm512_srli_epi32
#define _mm512_srli_epi32(a, n) ((__m512i)((emulated_u32x16)(a) >> (n)))
#define _mm512_add_epi32(a, b)  ((__m512i)((emulated_u32x16)(a) + (emulated_u32x16)(b)))
#define _mm512_and_si512(a, b)  ((__m512i)((emulated_u32x16)(a) & (emulated_u32x16)(b)))

/* ------------------------------------------------------------------ tiles */

static struct emulated_tiles {
    int palette, rows[8], bytes[8];
    uint8_t row[8][16][64];
} emulated_tiles;

static void emulated_refused(int refused)
{
    if (refused)
        abort();
}

static inline void emulated_loadconfig(const void *from)
{
    const uint8_t *c = from;
    memset(&emulated_tiles, 0, sizeof emulated_tiles);
    emulated_refused(c[0] != 1 || c[1] != 0);
    emulated_tiles.palette = 1;
    for (int i = 2; i < 16; i++)
        emulated_refused(c[i] != 0);
    for (int i = 0; i < 8; i++) {
        emulated_tiles.bytes[i] = c[16 + 2 * i] + 256 * c[17 + 2 * i];
        emulated_tiles.rows[i] = c[48 + i];
        emulated_refused(emulated_tiles.bytes[i] > 64 || emulated_tiles.rows[i] > 16);
        emulated_refused((emulated_tiles.bytes[i] == 0) != (emulated_tiles.rows[i] == 0));
    }
    for (int i = 32; i < 48; i++)
        emulated_refused(c[i] != 0);
    for (int i = 56; i < 64; i++)
        emulated_refused(c[i] != 0);
}

static inline void emulated_release(void)
{
    memset(&emulated_tiles, 0, sizeof emulated_tiles);
}

static void emulated_use(int t)
{
    emulated_refused(!emulated_tiles.palette || !emulated_tiles.rows[t]);
}

static inline void emulated_zero(int t)
{
    emulated_use(t);
    memset(emulated_tiles.row[t], 0, sizeof emulated_tiles.row[t]);
}

static inline void emulated_loadd(int t, const void *from, long stride)
{
    emulated_zero(t);
    for (int r = 0; r < emulated_tiles.rows[t]; r++)
        memcpy(emulated_tiles.row[t][r], (const char *)from + r * stride, (size_t)emulated_tiles.bytes[t]);
}

static inline void emulated_stored(int t, void *to, long stride)
{
    emulated_use(t);
    for (int r = 0; r < emulated_tiles.rows[t]; r++)
        memcpy((char *)to + r * stride, emulated_tiles.row[t][r], (size_t)emulated_tiles.bytes[t]);
}

static inline void emulated_dpbssd(int c, int a, int b)
{
    struct emulated_tiles *t = &emulated_tiles;
    emulated_use(a), emulated_use(b), emulated_use(c);
    emulated_refused(a == b || b == c || a == c || t->rows[a] != t->rows[c] || t->bytes[b] != t->bytes[c] ||
                     t->bytes[a] != 4 * t->rows[b]);
    for (int m = 0; m < t->rows[c]; m++)
        for (int n = 0; n < t->bytes[c] / 4; n++) {
            uint32_t sum;
            memcpy(&sum, &t->row[c][m][4 * n], 4);
            for (int k = 0; k < t->bytes[a]; k++)
                sum += (uint32_t)((int8_t)t->row[a][m][k] * (int8_t)t->row[b][k / 4][4 * n + k % 4]);
            memcpy(&t->row[c][m][4 * n], &sum, 4);
        }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#define _tile_loadconfig emulated_loadconfig
#define _tile_release    emulated_release
#define _tile_zero       emulated_zero
#define _tile_loadd      emulated_loadd
#define _tile_stored     emulated_stored
#define _tile_dpbssd     emulated_dpbssd
#endif
