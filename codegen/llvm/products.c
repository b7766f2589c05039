/* products.c - prints dot products and products of narrower lanes: by the machine's instruction if the target row has
 * one, else by an equivalent sum:
 *
 *     x86 VNNI      vpdpbusd               u8 x i8; i8 x i8 as (a + 128) * b - 128 * b
 *     Arm dotprod   sdot; i8mm: usdot      i8 x i8; u8 x i8 without i8mm as (a - 128) * b + 128 * b; registers of NEON
 *                                          or SVE
 *     x86           pmaddubsw, pmaddwd     u8 x i8 with u8 of at most 127, so that no pair saturates
 *     x86           pmaddwd                even and odd bytes as pairs of 16 bits
 *     WebAssembly   i32x4.dot_i16x8_s      pairs of 16 bits
 *     RISC-V V      vwmacc.vx              c + a number of 16 bits * lanes of 16 bits
 *     NEON          smull                  64 bits out of lanes that fit in 32
 *     others        products of 32 bits, added in groups of four: LLVM recognises widening multiplies, including MVE's
 *                   vmla
 *
 * The size of SVE and RISC-V vectors is unknown to LLVM: a value of fixed lanes is inserted into such a register and
 * extracted from it, at no cost. */
#include "codegen/llvm/ir.h"

/* c + the products of each group of `group` lanes. */
static LLVMValueRef dot_plain(l_module *M, LLVMValueRef a, bool a_signed, LLVMValueRef b, LLVMValueRef c, int32_t group,
                              int32_t n)
{
    LLVMBuilderRef build = M->b;
    LLVMTypeRef wide = l_type(M, AC_I32, group * n);
    a = a_signed ? LLVMBuildSExt(build, a, wide, "") : LLVMBuildZExt(build, a, wide, "");
    LLVMValueRef p = LLVMBuildMul(build, a, LLVMBuildSExt(build, b, wide, ""), "");
    for (int32_t j = 0; j < group; j++)
        c = LLVMBuildAdd(build, c, n > 1 ? l_every(M, p, j, group, n) : l_lane(M, p, group, j), "");
    return c;
}

static LLVMValueRef call(l_module *M, const char *name, LLVMTypeRef over, LLVMValueRef x, LLVMValueRef y,
                         LLVMValueRef z)
{
    LLVMValueRef arg[] = {x, y, z};
    return l_intrinsic(M, name, over, arg, z ? 3 : 2);
}

/* pmaddwd: i32 lanes out of pairs of 16 bits. */
static LLVMValueRef pairs(l_module *M, LLVMValueRef a, LLVMValueRef b, int32_t n)
{
    const char *name = n == 4   ? "llvm.x86.sse2.pmadd.wd"
                       : n == 8 ? "llvm.x86.avx2.pmadd.wd"
                                : "llvm.x86.avx512.pmaddw.d.512";
    return call(M, name, NULL, a, b, NULL);
}

/* Properties of the lanes of a: they may be signed; they may be at most 127. */
typedef enum l_range { BYTES_SIGNED, BYTES_UNSIGNED, BYTES_SEVEN } l_range;

static LLVMValueRef dot4_x86(l_module *M, LLVMValueRef a, l_range of, LLVMValueRef b, LLVMValueRef c, int32_t n)
{
    const bool a_signed = of == BYTES_SIGNED;
    LLVMBuilderRef build = M->b;
    LLVMTypeRef words = l_type(M, AC_I32, n), shorts = l_type(M, AC_I16, 2 * n);
    if (M->target->dot_u8s8) {
        const char *name = n == 4   ? "llvm.x86.avx512.vpdpbusd.128"
                           : n == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                                    : "llvm.x86.avx512.vpdpbusd.512";
        LLVMValueRef wa = LLVMBuildBitCast(build, a, words, ""), wb = LLVMBuildBitCast(build, b, words, "");
        if (!a_signed)
            return call(M, name, NULL, c, wa, wb);
        LLVMValueRef flip = l_int(M, AC_I32, (int32_t)0x80808080, n);
        LLVMValueRef more = call(M, name, NULL, c, LLVMBuildXor(build, wa, flip, ""), wb);
        return LLVMBuildSub(build, more, call(M, name, NULL, LLVMConstNull(words), flip, wb), "");
    }
    if (of == BYTES_SEVEN) {
        const char *name = n == 4   ? "llvm.x86.ssse3.pmadd.ub.sw.128"
                           : n == 8 ? "llvm.x86.avx2.pmadd.ub.sw"
                                    : "llvm.x86.avx512.pmaddubs.w.512";
        return LLVMBuildAdd(build, c, pairs(M, call(M, name, NULL, a, b, NULL), l_int(M, AC_I16, 1, 2 * n), n), "");
    }
    LLVMValueRef eight = l_int(M, AC_I16, 8, 2 * n);
    LLVMValueRef sa = LLVMBuildBitCast(build, a, shorts, ""), sb = LLVMBuildBitCast(build, b, shorts, "");
    LLVMValueRef a0 = LLVMBuildShl(build, sa, eight, ""), b0 = LLVMBuildShl(build, sb, eight, "");
    a0 = a_signed ? LLVMBuildAShr(build, a0, eight, "") : LLVMBuildLShr(build, a0, eight, "");
    b0 = LLVMBuildAShr(build, b0, eight, "");
    LLVMValueRef a1 = a_signed ? LLVMBuildAShr(build, sa, eight, "") : LLVMBuildLShr(build, sa, eight, "");
    LLVMValueRef b1 = LLVMBuildAShr(build, sb, eight, "");
    c = LLVMBuildAdd(build, c, pairs(M, a0, b0, n), "");
    return LLVMBuildAdd(build, c, pairs(M, a1, b1, n), "");
}

/* v, of fixed lanes, as the first lanes of a register of a size known at run time; and back. */
static LLVMValueRef to_scalable(l_module *M, LLVMValueRef v, LLVMTypeRef type)
{
    LLVMTypeRef over[] = {type, LLVMTypeOf(v)};
    LLVMValueRef arg[] = {LLVMGetPoison(type), v, LLVMConstInt(M->i64, 0, false)};
    return l_intrinsic_of(M, "llvm.vector.insert", over, 2, arg, 3);
}

static LLVMValueRef from_scalable(l_module *M, LLVMValueRef v, LLVMTypeRef type)
{
    LLVMTypeRef over[] = {type, LLVMTypeOf(v)};
    LLVMValueRef arg[] = {v, LLVMConstInt(M->i64, 0, false)};
    return l_intrinsic_of(M, "llvm.vector.extract", over, 2, arg, 2);
}

/* sdot or usdot of one register of n words: a NEON register has 4, an SVE register more. */
static LLVMValueRef dot4_register(l_module *M, bool mixed, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c, int32_t n)
{
    LLVMTypeRef words = l_type(M, AC_I32, n), over[] = {words, l_type(M, AC_I8, 4 * n)};
    LLVMValueRef arg[] = {c, a, b};
    if (n == 4)
        return l_intrinsic_of(M, mixed ? "llvm.aarch64.neon.usdot" : "llvm.aarch64.neon.sdot", over, 2, arg, 3);
    LLVMTypeRef z_words = LLVMScalableVectorType(M->i32, 4), z_bytes = LLVMScalableVectorType(M->i8, 16);
    arg[0] = to_scalable(M, c, z_words);
    arg[1] = to_scalable(M, a, z_bytes);
    arg[2] = to_scalable(M, b, z_bytes);
    const char *name = mixed ? "llvm.aarch64.sve.usdot" : "llvm.aarch64.sve.sdot";
    return from_scalable(M, l_intrinsic(M, name, z_words, arg, 3), words);
}

static LLVMValueRef dot4_arm(l_module *M, LLVMValueRef a, bool a_signed, LLVMValueRef b, LLVMValueRef c, int32_t n)
{
    const bool mixed = !a_signed && strstr(M->target->attributes, "+i8mm") != NULL;
    if (a_signed || mixed)
        return dot4_register(M, mixed, a, b, c, n);
    LLVMValueRef flip = l_int(M, AC_I8, -128, 4 * n), none = LLVMConstNull(l_type(M, AC_I32, n));
    LLVMValueRef less = dot4_register(M, false, LLVMBuildXor(M->b, a, flip, ""), b, c, n);
    return LLVMBuildSub(M->b, less, dot4_register(M, false, flip, b, none, n), "");
}

static LLVMValueRef join(l_module *M, LLVMValueRef lo, LLVMValueRef hi, int32_t n)
{
    int64_t *lane = AC_NEW_N(M->region, int64_t, 2 * n);
    for (int32_t i = 0; i < 2 * n; i++)
        lane[i] = i;
    return l_permute(M, lo, hi, lane, 2 * n);
}

static LLVMValueRef dot(l_module *M, LLVMValueRef a, l_range of, LLVMValueRef b, LLVMValueRef c, int32_t group,
                        int32_t n)
{
    const bool a_signed = of == BYTES_SIGNED;
    const ac_target *t = M->target;
    bool x86 = t->isa == AC_ISA_X86, arm = t->isa == AC_ISA_AARCH64 && t->dot_i8i8 && group == 4;
    bool wasm = t->isa == AC_ISA_WASM && group == 2;
    const int32_t most = x86 || arm || wasm ? t->vec_bytes / 4 : 0;
    if (most && n > most) { /* two registers and more */
        LLVMValueRef half[2];
        for (int32_t h = 0; h < 2; h++)
            half[h] = dot(M, l_every(M, a, h * group * n / 2, 1, group * n / 2), of,
                          l_every(M, b, h * group * n / 2, 1, group * n / 2), l_every(M, c, h * n / 2, 1, n / 2), group,
                          n / 2);
        return join(M, half[0], half[1], n / 2);
    }
    if (x86 && n >= 4)
        return group == 4 ? dot4_x86(M, a, of, b, c, n) : LLVMBuildAdd(M->b, c, pairs(M, a, b, n), "");
    if (wasm && n == 4)
        return LLVMBuildAdd(M->b, c, call(M, "llvm.wasm.dot", NULL, a, b, NULL), "");
    return arm && n >= 4 ? dot4_arm(M, a, a_signed, b, c, n) : dot_plain(M, a, a_signed, b, c, group, n);
}

LLVMValueRef l_dot(l_fn *f, const ac_ins *in)
{
    const l_range of = ac_dtype_is_signed((ac_dtype)l_ins(f, in->a)->dtype) ? BYTES_SIGNED
                       : ac_ins_pairs_fit(f->fn, in)                        ? BYTES_SEVEN
                                                                            : BYTES_UNSIGNED;
    return dot(f->M, f->val[in->a], of, f->val[in->b], f->val[in->c], in->op == AC_L_DOT4 ? 4 : 2, in->lanes);
}

/* ------------------------------------------------------------------ widening products */

/* A value widened from 8 or 16 signed bits: its lanes, or a scalar for all lanes; else 0. */
static ac_x short_source(const l_fn *f, ac_x x)
{
    const ac_ins *in = l_ins(f, x);
    if (in->op == AC_L_SPLAT)
        return short_source(f, in->a);
    if (in->op != AC_L_CAST)
        return 0;
    const ac_dtype from = (ac_dtype)l_ins(f, in->a)->dtype;
    return from == AC_I8 || from == AC_I16 ? in->a : 0;
}

/* c + x * w, w a vector, x a scalar. */
static LLVMValueRef vwmacc(l_fn *f, ac_x x, ac_x w, LLVMValueRef c)
{
    l_module *M = f->M;
    const int32_t n = l_ins(f, w)->lanes;
    LLVMTypeRef words = LLVMScalableVectorType(M->i32, 2), shorts = LLVMScalableVectorType(M->i16, 2);
    LLVMValueRef one = l_cast(M, f->val[x], (ac_dtype)l_ins(f, x)->dtype, AC_I16, 1);
    LLVMValueRef many = l_cast(M, f->val[w], (ac_dtype)l_ins(f, w)->dtype, AC_I16, n);
    LLVMTypeRef over[] = {words, M->i16, shorts, M->i64};
    LLVMValueRef length = LLVMConstInt(M->i64, (unsigned)n, false), free_tail = LLVMConstInt(M->i64, 3, false);
    LLVMValueRef arg[] = {to_scalable(M, c, words), one, to_scalable(M, many, shorts), length, free_tail};
    return from_scalable(M, l_intrinsic_of(M, "llvm.riscv.vwmacc", over, 4, arg, 5), LLVMTypeOf(c));
}

/* product + c on RISC-V; NULL if it is not such a product. */
static LLVMValueRef add_product(l_fn *f, ac_x product, ac_x c)
{
    const ac_ins *p = l_ins(f, product);
    if (p->op != AC_L_MUL)
        return NULL;
    const ac_x x = short_source(f, p->a), w = short_source(f, p->b);
    if (!x || !w || (l_ins(f, x)->lanes > 1) == (l_ins(f, w)->lanes > 1))
        return NULL;
    return l_ins(f, x)->lanes > 1 ? vwmacc(f, w, x, f->val[c]) : vwmacc(f, x, w, f->val[c]);
}

/* True if every lane of this i64 fits in 32 signed bits. */
static bool fits_i32(const l_fn *f, ac_x x)
{
    const ac_ins *in = l_ins(f, x);
    const ac_dtype from = in->a ? (ac_dtype)l_ins(f, in->a)->dtype : AC_NONE;
    if (in->op == AC_L_SPLAT)
        return fits_i32(f, in->a);
    if (in->op == AC_L_CAST)
        return from == AC_I32 || (ac_dtype_is_int(from) && ac_dtype_bits(from) < 32);
    if (in->op == AC_L_CONST)
        return in->k.i >= INT32_MIN && in->k.i <= INT32_MAX;
    return in->op == AC_L_SHR && l_ins(f, in->b)->op == AC_L_CONST && l_ins(f, in->b)->k.i >= 32;
}

/* Products of 64 bits, a register at a time: without this LLVM 19 multiplies lane by lane. */
static LLVMValueRef smull(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    LLVMTypeRef words = l_type(M, AC_I32, in->lanes);
    LLVMValueRef a = LLVMBuildTrunc(M->b, f->val[in->a], words, ""), b = LLVMBuildTrunc(M->b, f->val[in->b], words, "");
    LLVMValueRef all = NULL;
    for (int32_t i = 0; i < in->lanes; i += 2) {
        LLVMValueRef x = l_every(M, a, i, 1, 2), y = l_every(M, b, i, 1, 2);
        LLVMValueRef p = call(M, "llvm.aarch64.neon.smull", l_type(M, AC_I64, 2), x, y, NULL);
        all = !all ? p : i == 2 ? join(M, all, p, 2) : NULL;
    }
    return all;
}

LLVMValueRef l_widening(l_fn *f, const ac_ins *in)
{
    const ac_target *t = f->M->target;
    if (in->op == AC_L_ADD && in->dtype == AC_I32 && in->lanes == 4 && t->isa == AC_ISA_RISCV && t->vec_bytes == 16) {
        LLVMValueRef v = add_product(f, in->a, in->b);
        return v ? v : add_product(f, in->b, in->a);
    }
    if (in->op == AC_L_MUL && in->dtype == AC_I64 && (in->lanes == 2 || in->lanes == 4) && t->isa == AC_ISA_AARCH64 &&
        t->vec_bytes == 16 && fits_i32(f, in->a) && fits_i32(f, in->b))
        return smull(f, in);
    return NULL;
}
