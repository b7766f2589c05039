/* vector_helpers.c - prints functions on vectors that C has no operator for, when first needed: one instruction if the
 * target has it, else operators, else lane by lane. Accumulators of integer dots stay vectors of int: through the long
 * long lanes of __m512i gcc 12 spills whole register tiles. */
#include "codegen/c/printer.h"

#include <string.h>

/* The helper being printed */
typedef struct vh {
    ac_cfile *F;
    const struct kind *kind;
    ac_sink out;
    ac_dtype d, from;
    int32_t lanes, bytes;  /* of the result; bytes of its vector */
    const char *T, *I, *U; /* the vector type; signed and unsigned integers of the same shape */
    const char *name;
} vh;

/* "_mm256"; NULL: the target does not have registers of that size. */
static const char *mm(const ac_target *t, int32_t bytes)
{
    if (bytes > t->vec_bytes)
        return NULL;
    return bytes == 16 ? "_mm" : bytes == 32 ? "_mm256" : bytes == 64 ? "_mm512" : NULL;
}

/* "__m256i", "__m256", "__m256d" */
static const char *reg(ac_cfile *F, ac_dtype d, int32_t bytes)
{
    return ac_strf(F->region, "__m%d%s", bytes * 8, d == AC_F32 ? "" : d == AC_F64 ? "d" : "i");
}

static const char *float_suffix(ac_dtype d)
{
    return d == AC_F64 ? "pd" : "ps";
}

static void head(vh *h, const char *result, const char *params)
{
    ac_putf(&h->out, "%s_INLINE %s %s(%s)\n{\n", h->F->upper, result, h->name, params);
}

static const char *strf2(vh *h, const char *type)
{
    return ac_strf(h->F->region, "%s a, %s b", type, type);
}

/* r[i] = expr for each lane, where expr is printed around `i`. */
static void lanewise(vh *h, const char *expr)
{
    ac_putf(&h->out, "    %s r = {0};\n    for (int i = 0; i < %d; i++)\n        r[i] = %s;\n    return r;\n", h->T,
            h->lanes, expr);
}

static void put_splat(vh *h)
{
    head(h, h->T, ac_strf(h->F->region, "%s x", ac_dtype_c(h->d)));
    ac_putf(&h->out, "    return (%s){x", h->T);
    for (int32_t i = 1; i < h->lanes; i++)
        ac_put(&h->out, ", x");
    ac_put(&h->out, "};\n");
}

/* A row of HELPERS below. */
typedef struct kind {
    const char *verb; /* the beginning of its name */
    void (*put)(vh *h);
    int32_t imm; /* put_round: the rounding mode of roundps; -1: square root */
} kind;

/* a < b ? a : b, a > b ? a : b: as minps and maxps do. */
static void put_extreme(vh *h)
{
    ac_cfile *F = h->F;
    const char *verb = h->kind->verb, *mmx = mm(F->target, h->bytes);
    const bool least = !strcmp(verb, "min");
    int bits = ac_dtype_bits(h->d);
    head(h, h->T, strf2(h, h->T));
    if (mmx && ac_dtype_is_float(h->d)) {
        ac_putf(&h->out, "    return (%s)%s_%s_%s(a, b);\n", h->T, mmx, verb, float_suffix(h->d));
    } else if (mmx && (bits < 64 || F->target->vec_bytes == 64)) {
        const char *R = reg(F, h->d, h->bytes);
        ac_putf(&h->out, "    return (%s)%s_%s_ep%c%d((%s)a, (%s)b);\n", h->T, mmx, verb,
                ac_dtype_is_signed(h->d) ? 'i' : 'u', bits, R, R);
    } else {
        ac_putf(&h->out, "    const %s m = (%s)(a %c b);\n", h->I, h->I, least ? '<' : '>');
        ac_putf(&h->out, "    return (%s)(((%s)a & m) | ((%s)b & ~m));\n", h->T, h->I, h->I);
    }
}

static void put_abs(vh *h)
{
    head(h, h->T, ac_strf(h->F->region, "%s x", h->T));
    if (ac_dtype_is_float(h->d)) {
        ac_putf(&h->out, "    return (%s)((%s)x & %s);\n", h->T, h->I,
                h->d == AC_F64 ? "INT64_C(0x7fffffffffffffff)" : "0x7fffffff");
    } else if (ac_dtype_is_signed(h->d)) {
        ac_putf(&h->out, "    const %s s = (%s)(x >> %d); /* 0 or -1 */\n", h->U, h->U, ac_dtype_bits(h->d) - 1);
        ac_putf(&h->out, "    return (%s)(((%s)x ^ s) - s);\n", h->T, h->U);
    } else {
        ac_put(&h->out, "    return x;\n");
    }
}

static void put_round(vh *h)
{
    ac_cfile *F = h->F;
    const char *verb = h->kind->verb;
    const int32_t imm = h->kind->imm;
    const char *mmx = mm(F->target, h->bytes), *suffix = float_suffix(h->d);
    const char *one = mmx ? NULL : ac_c_helper(F, ac_strf(F->region, "%s_%s", verb, ac_dtype_name(h->d)));
    head(h, h->T, ac_strf(F->region, "%s x", h->T));
    if (!mmx)
        lanewise(h, ac_strf(F->region, "%s(x[i])", one));
    else if (imm < 0)
        ac_putf(&h->out, "    return (%s)%s_sqrt_%s(x);\n", h->T, mmx, suffix);
    else
        ac_putf(&h->out, "    return (%s)%s_%s_%s(x, %d);\n", h->T, mmx, h->bytes == 64 ? "roundscale" : "round",
                suffix, imm);
}

static void put_select(vh *h)
{
    ac_cfile *F = h->F;
    head(h, h->T, ac_strf(F->region, "%s m, %s a, %s b", h->I, h->T, h->T));
    /* One vpternlog with AVX-512. Not blendv there: gcc 12 swaps its operands when the mask is x != y and y one of them
     * (its pattern for a negated mask, with AVX-512VL only). */
    const char *mmx = F->target->vec_bytes < 64 ? mm(F->target, h->bytes) : NULL;
    if (!mmx) {
        ac_putf(&h->out, "    return (%s)(((%s)a & m) | ((%s)b & ~m));\n", h->T, h->I, h->I);
        return;
    }
    const char *R = reg(F, h->d, h->bytes);
    bool real = h->d == AC_F32 || h->d == AC_F64;
    ac_putf(&h->out, "    return (%s)%s_blendv_%s((%s)b, (%s)a, (%s)m);\n", h->T, mmx,
            real ? float_suffix(h->d) : "epi8", R, R, R);
}

static void put_fma(vh *h)
{
    ac_cfile *F = h->F;
    const char *mmx = F->target->fma ? mm(F->target, h->bytes) : NULL;
    const char *one = mmx ? NULL : ac_c_helper(F, h->d == AC_F64 ? "fma_f64" : "fma_f32");
    head(h, h->T, ac_strf(F->region, "%s a, %s b, %s c", h->T, h->T, h->T));
    if (mmx)
        ac_putf(&h->out, "    return (%s)%s_fmadd_%s(a, b, c);\n", h->T, mmx, float_suffix(h->d));
    else
        lanewise(h, ac_strf(F->region, "%s(a[i], b[i], c[i])", one));
}

/* n floats to bf16 by one instruction. It treats subnormals as 0: if there is one, the code below converts. */
static void put_bf16_instruction(vh *h, const char *H)
{
    const int32_t n = h->lanes, bits = 32 * n;
    const char *mmx = mm(h->F->target, n * 4);
    ac_putf(&h->out,
            "    const __m%di all_bits = (__m%di)x;\n"
            "    const __mmask%d small = %s_testn_epi32_mask(all_bits, %s_set1_epi32(0x7f800000));\n"
            "    if (__builtin_expect(%s_mask_test_epi32_mask(small, all_bits, %s_set1_epi32(0x7fffff)) == 0, 1))\n"
            "        return (%s)%s_cvtneps_pbh((__m%d)x);\n",
            (int)bits, (int)bits, (int)n, mmx, mmx, mmx, mmx, H, mmx, (int)bits);
}

/* Sixteen of bf16: words go to the upper halves of lanes by one permutation; a mask selects NaNs. */
static void put_bf16_of_register(vh *h, const char *H, const char *W)
{
    if (h->d == AC_F32)
        ac_putf(&h->out,
                "    const __m512i at = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);\n"
                "    return (%s)_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, _mm512_slli_epi32(at, 16),\n"
                "                                              _mm512_castsi256_si512((__m256i)x));\n",
                W);
    else
        ac_putf(&h->out,
                "    const __m512i u = (__m512i)x, odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), "
                "_mm512_set1_epi32(1));\n"
                "    const __m512i near = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);\n"
                "    const __mmask16 nan = _mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q);\n"
                "    const __m512i all = _mm512_mask_or_epi32(near, nan, u, _mm512_set1_epi32(0x400000));\n"
                "    return (%s)_mm512_cvtepi32_epi16(_mm512_srli_epi32(all, 16));\n",
                H);
}

/* Half floats to and from f32. */
static void put_half(vh *h)
{
    ac_cfile *F = h->F;
    ac_region *r = F->region;
    int32_t n = h->lanes;
    ac_dtype half = h->d == AC_F32 ? h->from : h->d;
    const char *H = ac_c_vec_type(F, half, n), *W = ac_c_vec_type(F, AC_F32, n), *U = ac_c_vec_type(F, AC_U32, n);
    bool native = half == AC_F16 && F->target->vec_bytes >= 32 && (n == 8 || n == 16) && mm(F->target, n * 4);
    const char *one =
        half == AC_F16 && !native ? ac_c_helper(F, h->d == AC_F32 ? "f32_from_f16" : "f16_from_f32") : NULL;
    head(h, h->T, ac_strf(r, "%s x", h->d == AC_F32 ? H : W));
    if (h->d == AC_BF16 && F->target->fp & AC_FP_BF16 && (n == 8 || n == 16) && mm(F->target, n * 4))
        put_bf16_instruction(h, H);
    if (one) {
        lanewise(h, ac_strf(r, "%s(x[i])", one));
    } else if (native && h->d == AC_F32) {
        ac_putf(&h->out, "    return (%s)%s_cvtph_ps((%s)x);\n", W, mm(F->target, n * 4), reg(F, half, n * 2));
    } else if (native) {
        ac_putf(&h->out, "    return (%s)%s_cvtps_ph((%s)x, 8);\n", H, mm(F->target, n * 4), reg(F, AC_F32, n * 4));
    } else if (n == 16 && F->target->vec_bytes == 64 && mm(F->target, 64)) {
        put_bf16_of_register(h, H, W);
    } else if (h->d == AC_F32) {
        ac_putf(&h->out, "    return (%s)(%s((%s)x) << 16);\n", W, ac_c_vec_convert(F, AC_U16, AC_U32, n),
                ac_c_vec_type(F, AC_U16, n));
    } else {
        ac_putf(&h->out,
                "    const %s u = (%s)x, nan = (%s)(x != x);\n"
                "    const %s near = u + 0x7fffu + (u >> 16 & 1u);\n"
                "    return (%s)%s(((near & ~nan) | ((u | 0x400000u) & nan)) >> 16);\n",
                U, U, U, U, H, ac_c_vec_convert(F, AC_U32, AC_U16, n));
    }
}

/* Words of a register of up to 32 bytes to bytes or halves: packs saturate. False: other types or lanes. */
static bool put_packs(vh *h, const char *param)
{
    ac_cfile *F = h->F;
    const int32_t n = h->lanes, to_bits = ac_dtype_bits(h->d);
    const bool is_signed = ac_dtype_is_signed(h->d);
    if (h->from != AC_I32 || !ac_dtype_is_int(h->d) || to_bits > 16 || n > 8 || !mm(F->target, 4 * n))
        return false;
    head(h, h->T, param);
    const char *low = n == 4 ? "(__m128i)x" : "_mm256_castsi256_si128((__m256i)x)",
               *high = n == 4 ? low : "_mm256_extracti128_si256((__m256i)x, 1)";
    ac_putf(&h->out, "    const __m128i w = _mm_pack%s_epi32(%s, %s);\n", is_signed || to_bits < 16 ? "s" : "us", low,
            high);
    if (to_bits < 16)
        ac_putf(&h->out, "    const __m128i b = _mm_pack%s_epi16(w, w);\n", is_signed ? "s" : "us");
    const char *v = to_bits < 16 ? "b" : "w";
    if (h->bytes == 16)
        ac_putf(&h->out, "    return (%s)%s;\n", h->T, v);
    else
        ac_putf(&h->out, "    return (%s)_mm_cvtsi128_si%d(%s);\n", h->T, 8 * h->bytes, v);
    return true;
}

/* Of integers: by the instruction that narrows a whole register, or by clamps. */
static void put_saturate_int(vh *h, const char *param)
{
    ac_cfile *F = h->F;
    ac_region *r = F->region;
    const int32_t n = h->lanes, to_bits = ac_dtype_bits(h->d), from_bits = ac_dtype_bits(h->from);
    const bool is_signed = ac_dtype_is_signed(h->d);
    if (put_packs(h, param))
        return;
    if (F->target->vec_bytes == 64 && n * from_bits == 512 && (is_signed || (h->from == AC_I32 && h->d == AC_U8)) &&
        to_bits < from_bits && ac_dtype_is_signed(h->from) && n * to_bits >= 128) {
        head(h, h->T, param);
        ac_putf(&h->out, "    return (%s)_mm512_cvt%sepi%d_epi%d(%s);\n", h->T, is_signed ? "s" : "us", from_bits,
                to_bits, is_signed ? "(__m512i)x" : "_mm512_max_epi32((__m512i)x, _mm512_setzero_si512())");
        return;
    }
    bool below = ac_dtype_min(h->from) < ac_dtype_min(h->d);
    bool above = h->from == AC_U64 ? h->d != AC_U64 : h->d != AC_U64 && ac_dtype_max(h->from) > ac_dtype_max(h->d);
    ac_ins lo = {.k.i = ac_dtype_min(h->d)}, hi = {.k.i = ac_dtype_max(h->d)};
    const char *splat = below || above ? ac_c_vec_helper(F, AC_L_SPLAT, h->from, n, h->from) : "", *e = "x";
    if (below)
        e = ac_strf(r, "%s(%s, %s(%s))", ac_c_vec_helper(F, AC_L_MAX, h->from, n, h->from), e, splat,
                    ac_c_const(F, h->from, &lo).text);
    if (above)
        e = ac_strf(r, "%s(%s, %s(%s))", ac_c_vec_helper(F, AC_L_MIN, h->from, n, h->from), e, splat,
                    ac_c_const(F, h->from, &hi).text);
    head(h, h->T, param);
    if (to_bits == from_bits)
        ac_putf(&h->out, "    return (%s)%s;\n", h->T, e);
    else
        ac_putf(&h->out, "    return %s(%s);\n", ac_c_vec_convert(F, h->from, h->d, n), e);
}

/* Of floats: via i32 if that holds all values of the type, else lane by lane. */
static void put_saturate_float(vh *h, const char *param)
{
    ac_cfile *F = h->F;
    const int32_t n = h->lanes;
    const char *S = ac_c_vec_type(F, h->from, n);
    const bool f64 = h->from == AC_F64, through_i32 = ac_dtype_bits(h->d) < 32 || (f64 && h->d == AC_I32);
    if (!through_i32 && h->d != AC_I32) {
        const char *one = ac_c_sat_helper(F, h->d, h->from);
        head(h, h->T, param);
        lanewise(h, ac_strf(F->region, "%s(x[i])", one));
        return;
    }
    double lo = (double)ac_dtype_min(h->d), hi = through_i32 ? (double)ac_dtype_max(h->d) : 2147483520.0;
    const char *lo_text = f64 ? ac_c_double(F->region, lo).text : ac_c_float(F->region, (float)lo).text;
    const char *hi_text = f64 ? ac_c_double(F->region, hi).text : ac_c_float(F->region, (float)hi).text;
    const char *splat = ac_c_vec_helper(F, AC_L_SPLAT, h->from, n, h->from);
    const char *min = ac_c_vec_helper(F, AC_L_MIN, h->from, n, h->from),
               *max = ac_c_vec_helper(F, AC_L_MAX, h->from, n, h->from);
    const char *M = ac_c_vec_type(F, ac_c_mask_type(ac_dtype_bits(h->from)), n), *W = ac_c_vec_type(F, AC_I32, n);
    head(h, h->T, param);
    ac_putf(&h->out, "    const %s y = (%s)((%s)x & (%s)(x == x)); /* NaN: 0 */\n", S, S, M, M);
    ac_putf(&h->out, "    const %s w = __builtin_convertvector(%s(%s(y, %s(%s)), %s(%s)), %s);\n", W, min, max, splat,
            lo_text, splat, hi_text, W);
    if (!through_i32) /* the largest float below 2^31 is not the largest int */
        ac_putf(&h->out, "    return w | (((%s)(x >= 2147483648.0f)) & 0x7fffffff);\n", M);
    else if (h->d == AC_I32)
        ac_put(&h->out, "    return w;\n");
    else
        ac_putf(&h->out, "    return %s(w);\n", ac_c_vec_convert(F, AC_I32, h->d, n));
}

/* To an integer type, clamped. */
static void put_saturate(vh *h)
{
    const char *param = ac_strf(h->F->region, "%s x", ac_c_vec_type(h->F, h->from, h->lanes));
    if (ac_dtype_is_float(h->from))
        put_saturate_float(h, param);
    else
        put_saturate_int(h, param);
}

/* c + the sum of 4 products of bytes per lane, without saturation. */
static void put_dot4(vh *h)
{
    ac_cfile *F = h->F;
    ac_region *r = F->region;
    int32_t n = h->lanes;
    const char *A = ac_c_vec_type(F, h->from, 4 * n), *B = ac_c_vec_type(F, AC_I8, 4 * n);
    const char *C = n > 1 ? h->T : "int32_t";
    const char *mmx = mm(F->target, h->bytes), *R = reg(F, AC_I32, h->bytes);
    const char *W = NULL, *V = NULL;
    bool bytes_unsigned = h->from == AC_U8, vnni = F->target->dot_u8s8;
    if (mmx && !vnni) {
        W = ac_c_vec_type(F, AC_I16, 2 * n);
        V = ac_c_vec_type(F, AC_U16, 2 * n);
    }
    head(h, C, ac_strf(r, "%s a, %s b, %s c", A, B, C));
    if (!mmx) {
        const char *at = n > 1 ? "[i]" : "";
        ac_putf(&h->out, "    for (int i = 0; i < %d; i++)\n        for (int j = 0; j < 4; j++)\n", n);
        ac_putf(&h->out, "            c%s = (int32_t)((uint32_t)c%s + (uint32_t)(a[4 * i + j] * b[4 * i + j]));\n", at,
                at);
        ac_put(&h->out, "    return c;\n");
    } else if (vnni) {
        const char *dot = ac_strf(r, "%s_dpbusd_%sepi32", mmx, F->target->vec_bytes == 64 ? "" : "avx_");
        if (bytes_unsigned) {
            ac_putf(&h->out, "    return (%s)%s((%s)c, (%s)a, (%s)b);\n", C, dot, R, R, R);
        } else { /* (a + 128) * b - 128 * b */
            ac_putf(&h->out, "    const %s flip = %s_set1_epi8(-128);\n", R, mmx);
            ac_putf(&h->out, "    const %s more = (%s)%s((%s)c, (%s)a ^ flip, (%s)b);\n", h->U, h->U, dot, R, R, R);
            ac_putf(&h->out, "    return (%s)(more - (%s)%s((%s){0}, flip, (%s)b));\n", C, h->U, dot, R, R);
        }
    } else { /* bytes 0 and 2, then 1 and 3, as pairs of 16 bits */
        if (bytes_unsigned)
            ac_putf(&h->out, "    const %s a0 = (%s)((%s)a & 0xff), a1 = (%s)((%s)a >> 8);\n", W, W, V, W, V);
        else
            ac_putf(&h->out, "    const %s a0 = (%s)((%s)a << 8) >> 8, a1 = (%s)a >> 8;\n", W, W, V, W);
        ac_putf(&h->out, "    const %s b0 = (%s)((%s)b << 8) >> 8, b1 = (%s)b >> 8;\n", W, W, V, W);
        ac_putf(&h->out, "    const %s even = (%s)%s_madd_epi16((%s)a0, (%s)b0);\n", h->U, h->U, mmx, R, R);
        ac_putf(&h->out, "    return (%s)((%s)c + even + (%s)%s_madd_epi16((%s)a1, (%s)b1));\n", C, h->U, h->U, mmx, R,
                R);
    }
}

static void put_dot2(vh *h)
{
    ac_cfile *F = h->F;
    ac_region *r = F->region;
    int32_t n = h->lanes;
    const char *A = ac_c_vec_type(F, AC_I16, 2 * n), *C = n > 1 ? h->T : "int32_t";
    const char *mmx = mm(F->target, h->bytes), *R = reg(F, AC_I32, h->bytes);
    head(h, C, ac_strf(r, "%s a, %s b, %s c", A, A, C));
    if (mmx) {
        ac_putf(&h->out, "    return (%s)((%s)c + (%s)%s_madd_epi16((%s)a, (%s)b));\n", C, h->U, h->U, mmx, R, R);
        return;
    }
    const char *at = n > 1 ? "[i]" : "";
    ac_putf(&h->out, "    for (int i = 0; i < %d; i++)\n        for (int j = 0; j < 2; j++)\n", n);
    ac_putf(&h->out, "            c%s = (int32_t)((uint32_t)c%s + (uint32_t)(a[2 * i + j] * b[2 * i + j]));\n", at, at);
    ac_put(&h->out, "    return c;\n");
}

/* Halves are added (or their larger lanes kept) until one lane is left. */
static void put_reduce(vh *h)
{
    ac_cfile *F = h->F;
    const bool sum = !strcmp(h->kind->verb, "sum");
    ac_region *r = F->region;
    ac_dtype d = sum && ac_dtype_is_signed(h->d) ? ac_c_unsigned(ac_dtype_bits(h->d)) : h->d; /* sums wrap */
    int32_t n = h->lanes;
    for (int32_t m = n / 2; m >= 2; m /= 2) {
        ac_c_vec_type(F, d, m);
        if (!sum)
            ac_c_vec_helper(F, AC_L_MAX, d, m, d);
    }
    const char *x = d == h->d ? "x" : ac_strf(r, "((%s)x)", ac_c_vec_type(F, d, n));
    head(h, ac_dtype_c(h->d), ac_strf(r, "%s x", h->T));
    for (n /= 2; n >= 2; n /= 2) {
        const char *type = ac_c_vec_type(F, d, n), *half = ac_strf(r, "x%d", n);
        const char *max = sum ? NULL : ac_c_vec_helper(F, AC_L_MAX, d, n, d);
        ac_putf(&h->out, "    const %s %s = %s%s__builtin_shufflevector(%s, %s", type, half, sum ? "" : max,
                sum ? "" : "(", x, x);
        for (int32_t i = 0; i < n; i++)
            ac_putf(&h->out, ", %d", (int)i);
        ac_putf(&h->out, ")%s __builtin_shufflevector(%s, %s", sum ? " +" : ",", x, x);
        for (int32_t i = n; i < 2 * n; i++)
            ac_putf(&h->out, ", %d", (int)i);
        ac_putf(&h->out, ")%s;\n", sum ? "" : ")");
        x = half;
    }
    if (sum)
        ac_putf(&h->out, "    return (%s)(%s[0] + %s[1]);\n", ac_dtype_c(h->d), x, x);
    else
        ac_putf(&h->out, "    return %s[0] > %s[1] ? %s[0] : %s[1];\n", x, x, x, x);
}

/* Lanes of a and b in turn. */
static void put_zip(vh *h)
{
    head(h, h->T, strf2(h, ac_c_vec_type(h->F, h->d, h->lanes / 2)));
    ac_put(&h->out, "    return __builtin_shufflevector(a, b");
    for (int32_t i = 0; i < h->lanes; i++)
        ac_putf(&h->out, ", %d", (int)ac_zip_lane(i, h->lanes / 2));
    ac_put(&h->out, ");\n");
}

/* By instruction; those without a row need no helper, or do not exist. */
static const kind HELPERS[AC_L_COUNT] = {
    [AC_L_SPLAT] = {"splat", put_splat, 0},    [AC_L_MIN] = {"min", put_extreme, 0},
    [AC_L_MAX] = {"max", put_extreme, 0},      [AC_L_ABS] = {"abs", put_abs, 0},
    [AC_L_SQRT] = {"sqrt", put_round, -1},     [AC_L_FLOOR] = {"floor", put_round, 9},
    [AC_L_CEIL] = {"ceil", put_round, 10},     [AC_L_TRUNC] = {"trunc", put_round, 11},
    [AC_L_RINT] = {"rint", put_round, 8},      [AC_L_SELECT] = {"select", put_select, 0},
    [AC_L_FMA] = {"fma", put_fma, 0},          [AC_L_CAST] = {"cast", put_half, 0},
    [AC_L_SATCAST] = {"sat", put_saturate, 0}, [AC_L_DOT4] = {"dot4", put_dot4, 0},
    [AC_L_DOT2] = {"dot2", put_dot2, 0},       [AC_L_SHUFFLE] = {"zip", put_zip, 0},
    [AC_L_SUMLANES] = {"sum", put_reduce, 0},  [AC_L_MAXLANES] = {"largest", put_reduce, 0}};

const char *ac_c_vec_helper(ac_cfile *F, ac_lop op, ac_dtype d, int32_t lanes, ac_dtype from)
{
    const kind *k = &HELPERS[op];
    if (!k->put)
        return NULL;
    const char *shape = ac_strf(F->region, lanes > 1 ? "%sx%d" : "%s", ac_dtype_name(d), lanes), *name;
    if (op == AC_L_CAST)
        name = ac_internf(F->cx, "%s_from_%s", shape, ac_dtype_name(from));
    else if (op == AC_L_SATCAST)
        name = ac_internf(F->cx, "%s_%s_from_%s", k->verb, shape, ac_dtype_name(from));
    else if (op == AC_L_DOT4)
        name = ac_internf(F->cx, "%s_%s_%s", k->verb, ac_dtype_name(from), shape);
    else
        name = ac_internf(F->cx, "%s_%s", k->verb, shape);
    if (ac_c_have(F, name))
        return name;
    int bits = ac_dtype_bits(d);
    vh h = {.F = F, .kind = k, .d = d, .from = from, .lanes = lanes, .bytes = lanes * bits / 8, .name = name};
    ac_sink_open(&h.out, F->cx);
    if (lanes > 1) {
        h.T = ac_c_vec_type(F, d, lanes);
        h.I = ac_c_vec_type(F, ac_c_mask_type(bits), lanes);
        h.U = ac_c_vec_type(F, ac_c_unsigned(bits), lanes);
    }
    k->put(&h);
    ac_put_n(&F->helpers, h.out.text, h.out.n);
    ac_put(&F->helpers, "}\n\n");
    return name;
}

const char *ac_c_vec_dot4_seven(ac_cfile *F, int32_t lanes)
{
    const char *mmx = mm(F->target, lanes * 4), *R = reg(F, AC_I32, lanes * 4);
    if (!mmx || F->target->dot_u8s8)
        return NULL;
    const char *name = ac_internf(F->cx, "dot4_u7_i32x%d", lanes), *T = ac_c_vec_type(F, AC_I32, lanes),
               *U = ac_c_vec_type(F, AC_U32, lanes);
    if (!ac_c_have(F, name))
        ac_putf(&F->helpers,
                "/* Bytes of a are at most 127, or those of b are in -64 .. 64: no pair of products saturates. */\n"
                "%s_INLINE %s %s(%s a, %s b, %s c)\n{\n"
                "    const %s pairs = %s_maddubs_epi16((%s)a, (%s)b);\n"
                "    return (%s)((%s)c + (%s)%s_madd_epi16(pairs, %s_set1_epi16(1)));\n}\n\n",
                F->upper, T, name, ac_c_vec_type(F, AC_U8, 4 * lanes), ac_c_vec_type(F, AC_I8, 4 * lanes), T, R, mmx, R,
                R, T, U, U, mmx, mmx);
    return name;
}

const char *ac_c_vec_wide_mul(ac_cfile *F, int32_t lanes)
{
    const char *mmx = mm(F->target, lanes * 8), *R = reg(F, AC_I64, lanes * 8);
    if (!mmx)
        return NULL;
    const char *name = ac_internf(F->cx, "product_i64x%d", lanes), *T = ac_c_vec_type(F, AC_I64, lanes);
    if (!ac_c_have(F, name))
        ac_putf(&F->helpers,
                "/* The product of lanes that fit in 32 bits. */\n"
                "%s_INLINE %s %s(%s a, %s b)\n{\n    return (%s)%s_mul_epi32((%s)a, (%s)b);\n}\n\n",
                F->upper, T, name, T, T, T, mmx, R, R);
    return name;
}
