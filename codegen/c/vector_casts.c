/* vector_casts.c - prints casts of vectors, and conversions as functions: `i32x16_from_i8(x)`. gcc 12 turns
 * __builtin_convertvector into 20 to 50 instructions if lanes grow or shrink by more than a factor of two, and into 6
 * if one would do (the conversion of 16 bytes to 16 words: 52); so an intrinsic is used if there is one. Vectors
 * smaller than 16 bytes are passed through integers of their size. */
#include "codegen/c/printer.h"

/* The bytes of a register of the target for n lanes of `bits`; 0: no register has that size. */
static int32_t register_bytes(const ac_target *t, int32_t lanes, int32_t bits)
{
    int32_t bytes = lanes * bits / 8;
    return bytes >= 16 && bytes <= t->vec_bytes ? bytes : 0;
}

static const char *prefix_of(int32_t bytes)
{
    return bytes == 16 ? "_mm" : bytes == 32 ? "_mm256" : "_mm512";
}

/* x, of `bytes` bytes, as a register of at least 16. */
static const char *as_register(ac_cfile *F, const char *x, int32_t bytes)
{
    switch (bytes) {
    case 2:
        return ac_strf(F->region, "_mm_cvtsi32_si128((int)(short)%s)", x);
    case 4:
        return ac_strf(F->region, "_mm_cvtsi32_si128((int)%s)", x);
    case 8:
        return ac_strf(F->region, "_mm_cvtsi64_si128((long long)%s)", x);
    default:
        return ac_strf(F->region, "(__m%di)%s", bytes * 8, x);
    }
}

/* The first `bytes` bytes of the register r as a vector of type T. */
static const char *from_register(ac_cfile *F, const char *T, const char *r, int32_t bytes)
{
    switch (bytes) {
    case 2:
        return ac_strf(F->region, "(%s)(short)_mm_cvtsi128_si32(%s)", T, r);
    case 4:
        return ac_strf(F->region, "(%s)_mm_cvtsi128_si32(%s)", T, r);
    case 8:
        return ac_strf(F->region, "(%s)_mm_cvtsi128_si64(%s)", T, r);
    default:
        return ac_strf(F->region, "(%s)%s", T, r);
    }
}

/* Integers of more bits. */
static const char *widen(ac_cfile *F, ac_dtype from, ac_dtype to, int32_t lanes)
{
    int32_t bytes = register_bytes(F->target, lanes, ac_dtype_bits(to));
    if (!bytes)
        return NULL;
    return ac_strf(F->region, "(%s)%s_cvtep%c%d_epi%d(%s)", ac_c_vec_type(F, to, lanes), prefix_of(bytes),
                   ac_dtype_is_signed(from) ? 'i' : 'u', ac_dtype_bits(from), ac_dtype_bits(to),
                   as_register(F, "x", lanes * ac_dtype_bits(from) / 8));
}

/* Integers of half the bits on SSE4 and AVX2: saturating packs of lanes that have been masked. */
static const char *halve(ac_cfile *F, ac_dtype from, ac_dtype to, int32_t lanes)
{
    ac_region *r = F->region;
    int32_t bytes = lanes * ac_dtype_bits(from) / 8, bits = ac_dtype_bits(from);
    const char *T = ac_c_vec_type(F, to, lanes), *e;
    if (bits == 64) {
        e = bytes == 32 ? "_mm256_castsi256_si128(_mm256_permutevar8x32_epi32((__m256i)x, "
                          "_mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)))"
                        : "_mm_shuffle_epi32((__m128i)x, 0x88)";
        return from_register(F, T, e, bytes / 2);
    }
    const char *mask = bits == 32 ? "epi32(0xffff)" : "epi16(0xff)", *pack = bits == 32 ? "epi32" : "epi16";
    if (bytes == 16) {
        const char *y = ac_strf(r, "_mm_and_si128((__m128i)x, _mm_set1_%s)", mask);
        e = ac_strf(r, "_mm_packus_%s(%s, _mm_setzero_si128())", pack, y);
    } else {
        const char *y = ac_strf(r, "_mm256_and_si256((__m256i)x, _mm256_set1_%s)", mask);
        e = ac_strf(r,
                    "_mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_%s(%s, _mm256_setzero_si256()), 8))",
                    pack, y);
    }
    return from_register(F, T, e, bytes / 2);
}

/* Integers of fewer bits. */
static const char *narrow(ac_cfile *F, ac_dtype from, ac_dtype to, int32_t lanes)
{
    ac_region *r = F->region;
    int32_t bytes = register_bytes(F->target, lanes, ac_dtype_bits(from));
    if (!bytes)
        return NULL;
    if (F->target->vec_bytes == 64) {
        const char *e = ac_strf(r, "%s_cvtepi%d_epi%d((__m%di)x)", prefix_of(bytes), ac_dtype_bits(from),
                                ac_dtype_bits(to), bytes * 8);
        return from_register(F, ac_c_vec_type(F, to, lanes), e, lanes * ac_dtype_bits(to) / 8);
    }
    if (ac_dtype_bits(from) == 2 * ac_dtype_bits(to))
        return halve(F, from, to, lanes);
    ac_dtype half = ac_dtype_bits(from) == 64 ? AC_I32 : AC_I16; /* one step at a time */
    const char *first = ac_c_vec_convert(F, from, half, lanes);
    return ac_strf(r, "%s(%s(x))", ac_c_vec_convert(F, half, to, lanes), first);
}

/* f32 or i32 to f64. */
static const char *to_double(ac_cfile *F, ac_dtype from, int32_t lanes)
{
    int32_t bytes = register_bytes(F->target, lanes, 64);
    if (bytes < 32)
        return NULL;
    return ac_strf(F->region, "(%s)%s_cvt%s_pd((__m%d%s)x)", ac_c_vec_type(F, AC_F64, lanes), prefix_of(bytes),
                   from == AC_F32 ? "ps" : "epi32", bytes * 4, from == AC_F32 ? "" : "i");
}

const char *ac_c_vec_convert(ac_cfile *F, ac_dtype from, ac_dtype to, int32_t lanes)
{
    const char *T = ac_c_vec_type(F, to, lanes), *S = ac_c_vec_type(F, from, lanes);
    const char *name = ac_internf(F->cx, "%s_from_%s", T, ac_dtype_name(from));
    if (ac_c_have(F, name))
        return name;
    bool ints = !ac_dtype_is_float(from) && !ac_dtype_is_float(to);
    int32_t before = ac_dtype_bits(from), after = ac_dtype_bits(to);
    const char *e = NULL;
    if (ints && before < after)
        e = widen(F, from, to, lanes);
    else if (ints && before > after)
        e = narrow(F, from, to, lanes);
    else if (to == AC_F64 && (from == AC_F32 || from == AC_I32))
        e = to_double(F, from, lanes);
    if (!e)
        e = ac_strf(F->region, "__builtin_convertvector(x, %s)", T);
    ac_putf(&F->helpers, "%s_INLINE %s %s(%s x)\n{\n    return %s;\n}\n\n", F->upper, T, name, S, e);
    return name;
}

/* rint, then a cast from f32 to i32, as one instruction. */
static const char *rounding_convert(ac_cfile *F, int32_t lanes)
{
    const int32_t bytes = register_bytes(F->target, lanes, 32);
    const char *T = ac_c_vec_type(F, AC_I32, lanes), *S = ac_c_vec_type(F, AC_F32, lanes);
    const char *name = ac_internf(F->cx, "round_%s_from_f32", T);
    if (!ac_c_have(F, name))
        ac_putf(&F->helpers, "%s_INLINE %s %s(%s x)\n{\n    return (%s)%s_cvtps_epi32(x);\n}\n\n", F->upper, T, name, S,
                T, prefix_of(bytes));
    return name;
}

/* ------------------------------------------------------------------ instructions */

static ac_cexpr converted(ac_cfile *F, ac_cexpr e, ac_dtype from, ac_dtype to, int32_t lanes)
{
    return ac_c_call(F->region, ac_c_vec_convert(F, from, to, lanes), e);
}

/* CAST between element types other than bool. 8 and 16 bits are converted to and from floats via i32, half floats
 * always via f32. */
static ac_cexpr cast(ac_cfile *F, ac_cexpr e, ac_dtype from, ac_dtype to, int32_t lanes)
{
    if (from == to)
        return e;
    if (ac_dtype_is_half(from)) {
        e = ac_c_call(F->region, ac_c_vec_helper(F, AC_L_CAST, AC_F32, lanes, from), e);
        return cast(F, e, AC_F32, to, lanes);
    }
    if (ac_dtype_is_half(to)) {
        e = cast(F, e, from, AC_F32, lanes);
        return ac_c_call(F->region, ac_c_vec_helper(F, AC_L_CAST, to, lanes, AC_F32), e);
    }
    bool ff = ac_dtype_is_float(from), tf = ac_dtype_is_float(to);
    if (!ff && !tf && ac_dtype_bits(from) == ac_dtype_bits(to))
        return ac_c_vec_as(F, e, to, lanes);
    if ((ff && ac_dtype_bits(to) < 32) || (tf && ac_dtype_bits(from) < 32))
        return cast(F, converted(F, e, from, AC_I32, lanes), AC_I32, to, lanes);
    return converted(F, e, from, to, lanes);
}

ac_x ac_c_rounded(const ac_loop_fn *fn, const ac_target *t, ac_x x)
{
    const ac_ins *in = &fn->code.item[x], *a = &fn->code.item[in->a];
    return in->op == AC_L_CAST && in->dtype == AC_I32 && a->op == AC_L_RINT && a->dtype == AC_F32 &&
                   register_bytes(t, in->lanes, 32)
               ? a->a
               : 0;
}

ac_cval ac_c_vec_cast(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    const ac_ins *a = c_ins(f, in->a);
    ac_dtype from = (ac_dtype)a->dtype, to = (ac_dtype)in->dtype;
    ac_cval v = {0};
    const ac_x rounded = ac_c_rounded(f->fn, F->target, (ac_x)(in - f->fn->code.item));
    if (rounded) {
        v.e = ac_c_call(r, rounding_convert(F, in->lanes), ac_c_vec(f, rounded));
    } else if (from == to) {
        v = f->val[in->a];
        v.e = ac_c_vec(f, in->a);
        v.one.text = NULL;
    } else if (to == AC_BOOL) {
        v.mask = ac_dtype_bits(from);
        ac_cexpr zero = from == AC_F32 ? ac_c_atom("0.0f") : from == AC_F64 ? ac_c_atom("0.0") : ac_c_int(r, 0);
        ac_cexpr e = ac_c_vec(f, in->a);
        if (ac_dtype_is_half(from)) /* but for its sign */
            e = ac_c_binary(r, C_AND, e, ac_c_atom("0x7fff"));
        v.e = ac_c_vec_as(F, ac_c_binary(r, C_NE, e, zero), ac_c_mask_type(v.mask), in->lanes);
    } else if (from == AC_BOOL) {
        ac_dtype word = ac_dtype_is_float(to) ? ac_dtype_is_half(to) ? AC_I32 : ac_c_mask_type(ac_dtype_bits(to)) : to;
        ac_cexpr e = ac_c_mask_as(f, in->a, ac_dtype_bits(word));
        e = ac_c_binary(r, C_AND, e, ac_c_int(r, 1));
        if (!ac_dtype_is_signed(word))
            e = ac_c_vec_as(F, e, word, in->lanes);
        v.e = cast(F, e, word, to, in->lanes);
    } else {
        v.e = cast(F, ac_c_vec(f, in->a), from, to, in->lanes);
        v.narrow = to == AC_I64 && !ac_dtype_is_float(from) && (ac_dtype_bits(from) < 32 || from == AC_I32);
    }
    return v;
}

ac_cexpr ac_c_vec_satcast(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_cexpr e = ac_c_vec(f, in->a);
    ac_dtype from = (ac_dtype)c_ins(f, in->a)->dtype, to = (ac_dtype)in->dtype;
    if (from == to)
        return e;
    if (ac_dtype_is_half(from)) {
        e = cast(F, e, from, AC_F32, in->lanes);
        from = AC_F32;
    }
    return ac_c_call(F->region, ac_c_vec_helper(F, AC_L_SATCAST, to, in->lanes, from), e);
}

ac_cexpr ac_c_vec_bitcast(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    const ac_ins *a = c_ins(f, in->a);
    ac_dtype from = (ac_dtype)a->dtype, to = (ac_dtype)in->dtype;
    if (a->lanes > 1 && in->lanes > 1)
        return from == to ? ac_c_vec(f, in->a) : ac_c_vec_as(F, ac_c_vec(f, in->a), to, in->lanes);
    if (a->lanes > 1) { /* to one lane: through an integer of that size */
        ac_cexpr e = ac_c_vec(f, in->a);
        if (to == AC_F32 || to == AC_F64) {
            ac_dtype bits = ac_c_unsigned(ac_dtype_bits(to));
            return ac_c_call(r, ac_c_helper(F, to == AC_F64 ? "of_bits_f64" : "of_bits_f32"),
                             ac_c_cast(r, ac_dtype_c(bits), e));
        }
        return ac_c_cast(r, ac_dtype_c(to), e);
    }
    ac_cexpr e = f->val[in->a].e;
    if (from == AC_F32 || from == AC_F64)
        e = ac_c_call(r, ac_c_helper(F, from == AC_F64 ? "bits_of_f64" : "bits_of_f32"), e);
    else
        e = ac_c_cast(r, ac_dtype_c(ac_c_unsigned(ac_dtype_bits(from))), e);
    return ac_c_vec_as(F, e, to, in->lanes);
}
