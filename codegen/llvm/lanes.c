/* What crosses lanes: shuffles, reductions, dot products.
 *
 * A dot product is the machine's instruction where the target row says there is one, and the same sum in other words
 * elsewhere:
 *
 *     x86 VNNI        vpdpbusd               u8 x i8; i8 x i8 as (a + 128) * b - 128 * b
 *     Arm dotprod     sdot; i8mm: usdot      i8 x i8; u8 x i8 without i8mm as (a - 128) * b + 128 * b
 *     x86             pmaddwd                even and odd bytes as pairs of 16 bits
 *     others          products of 32 bits, added by fours: LLVM finds the widening multiplies */
#include "codegen/llvm/print.h"

static LLVMValueRef permute(l_module *M, LLVMValueRef a, LLVMValueRef b, const int64_t *lane, int32_t n)
{
    LLVMValueRef *mask = AC_NEW_N(M->region, LLVMValueRef, n);
    for (int32_t i = 0; i < n; i++)
        mask[i] = LLVMConstInt(M->i32, (unsigned)lane[i], false);
    return LLVMBuildShuffleVector(M->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)), LLVMConstVector(mask, (uint32_t)n),
                                  "");
}

/* Lanes first, first + step, ... */
static LLVMValueRef every(l_module *M, LLVMValueRef v, int32_t first, int32_t step, int32_t n)
{
    int64_t *lane = AC_NEW_N(M->region, int64_t, n);
    for (int32_t i = 0; i < n; i++)
        lane[i] = first + (int64_t)i * step;
    return permute(M, v, NULL, lane, n);
}

static LLVMValueRef lane_of(l_module *M, LLVMValueRef v, int32_t lanes, int64_t at)
{
    return lanes > 1 ? LLVMBuildExtractElement(M->b, v, LLVMConstInt(M->i32, (unsigned)at, false), "") : v;
}

static LLVMValueRef shuffle(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const int64_t *lane = &f->fn->pool.item[in->aux];
    int32_t na = l_ins(f, in->a)->lanes, nb = in->b ? l_ins(f, in->b)->lanes : na;
    LLVMValueRef a = f->val[in->a], b = in->b ? f->val[in->b] : NULL;
    if (na > 1 && na == nb && in->lanes > 1)
        return permute(M, a, b, lane, in->lanes);
    LLVMValueRef v = in->lanes > 1 ? LLVMGetPoison(l_type(M, (ac_dtype)in->dtype, in->lanes)) : NULL;
    for (int32_t i = 0; i < in->lanes; i++) {
        LLVMValueRef one = lane[i] < na ? lane_of(M, a, na, lane[i]) : lane_of(M, b, nb, lane[i] - na);
        v = v ? LLVMBuildInsertElement(M->b, v, one, LLVMConstInt(M->i32, (unsigned)i, false), "") : one;
    }
    return v;
}

/* Halves until one lane is left: the order of floats is defined, and integers come out the same in any. */
static LLVMValueRef reduce(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    ac_dtype d = (ac_dtype)in->dtype;
    LLVMValueRef v = f->val[in->a];
    int32_t n = l_ins(f, in->a)->lanes;
    if (n > 1 && !ac_dtype_is_float(d)) {
        const char *name = in->op == AC_L_SUMLANES ? "llvm.vector.reduce.add"
                           : ac_dtype_is_signed(d) ? "llvm.vector.reduce.smax"
                                                   : "llvm.vector.reduce.umax";
        return l_intrinsic(M, name, LLVMTypeOf(v), &v, 1);
    }
    for (n /= 2; n >= 1; n /= 2) {
        LLVMValueRef lo = n > 1 ? every(M, v, 0, 1, n) : lane_of(M, v, 2, 0);
        LLVMValueRef hi = n > 1 ? every(M, v, n, 1, n) : lane_of(M, v, 2, 1);
        v = in->op == AC_L_SUMLANES ? LLVMBuildFAdd(M->b, lo, hi, "") : l_extreme(M, lo, hi, d, true);
    }
    return v;
}

/* c + the products of each group of `group` lanes. */
static LLVMValueRef dot_plain(l_module *M, LLVMValueRef a, bool a_signed, LLVMValueRef b, LLVMValueRef c, int32_t group,
                              int32_t n)
{
    LLVMBuilderRef build = M->b;
    LLVMTypeRef wide = l_type(M, AC_I32, group * n);
    a = a_signed ? LLVMBuildSExt(build, a, wide, "") : LLVMBuildZExt(build, a, wide, "");
    LLVMValueRef p = LLVMBuildMul(build, a, LLVMBuildSExt(build, b, wide, ""), "");
    for (int32_t j = 0; j < group; j++)
        c = LLVMBuildAdd(build, c, n > 1 ? every(M, p, j, group, n) : lane_of(M, p, group, j), "");
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

static LLVMValueRef dot4_x86(l_module *M, LLVMValueRef a, bool a_signed, LLVMValueRef b, LLVMValueRef c, int32_t n)
{
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

/* sdot and usdot of one register. */
static LLVMValueRef dot4_arm(l_module *M, LLVMValueRef a, bool a_signed, LLVMValueRef b, LLVMValueRef c)
{
    LLVMBuilderRef build = M->b;
    LLVMTypeRef words = l_type(M, AC_I32, 4), bytes = l_type(M, AC_I8, 16), over[] = {words, bytes};
    const bool mixed = strstr(M->target->attributes, "+i8mm") != NULL;
    const char *name = !a_signed && mixed ? "llvm.aarch64.neon.usdot" : "llvm.aarch64.neon.sdot";
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(M->mod, id, over, 2);
    LLVMTypeRef type = LLVMIntrinsicGetType(M->lc, id, over, 2);
    LLVMValueRef flip = l_int(M, AC_I8, -128, 16);
    if (a_signed || mixed)
        return LLVMBuildCall2(build, type, fn, (LLVMValueRef[]){c, a, b}, 3, "");
    LLVMValueRef less =
        LLVMBuildCall2(build, type, fn, (LLVMValueRef[]){c, LLVMBuildXor(build, a, flip, ""), b}, 3, "");
    LLVMValueRef minus = LLVMBuildCall2(build, type, fn, (LLVMValueRef[]){LLVMConstNull(words), flip, b}, 3, "");
    return LLVMBuildSub(build, less, minus, "");
}

static LLVMValueRef join(l_module *M, LLVMValueRef lo, LLVMValueRef hi, int32_t n)
{
    int64_t *lane = AC_NEW_N(M->region, int64_t, 2 * n);
    for (int32_t i = 0; i < 2 * n; i++)
        lane[i] = i;
    return permute(M, lo, hi, lane, 2 * n);
}

static LLVMValueRef dot(l_module *M, LLVMValueRef a, bool a_signed, LLVMValueRef b, LLVMValueRef c, int32_t group,
                        int32_t n)
{
    const ac_target *t = M->target;
    bool x86 = t->isa == AC_ISA_X86, arm = t->isa == AC_ISA_AARCH64 && t->dot_i8i8 && group == 4;
    int32_t most = x86 ? t->vec_bytes / 4 : arm ? 4 : 0;
    if (most && n > most) { /* two registers and more */
        LLVMValueRef half[2];
        for (int32_t h = 0; h < 2; h++)
            half[h] =
                dot(M, every(M, a, h * group * n / 2, 1, group * n / 2), a_signed,
                    every(M, b, h * group * n / 2, 1, group * n / 2), every(M, c, h * n / 2, 1, n / 2), group, n / 2);
        return join(M, half[0], half[1], n / 2);
    }
    if (x86 && n >= 4)
        return group == 4 ? dot4_x86(M, a, a_signed, b, c, n) : LLVMBuildAdd(M->b, c, pairs(M, a, b, n), "");
    return arm && n == 4 ? dot4_arm(M, a, a_signed, b, c) : dot_plain(M, a, a_signed, b, c, group, n);
}

LLVMValueRef l_cross(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const ac_ins *a = in->a ? l_ins(f, in->a) : NULL;
    switch (in->op) {
    case AC_L_LANE:
        return lane_of(M, f->val[in->a], a->lanes, in->aux);
    case AC_L_SHUFFLE:
        return shuffle(f, in);
    case AC_L_SUMLANES:
    case AC_L_MAXLANES:
        return reduce(f, in);
    case AC_L_DOT4:
    case AC_L_DOT2:
        return dot(M, f->val[in->a], ac_dtype_is_signed((ac_dtype)a->dtype), f->val[in->b], f->val[in->c],
                   in->op == AC_L_DOT4 ? 4 : 2, in->lanes);
    default:
        return NULL;
    }
}
