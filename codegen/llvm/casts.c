/* casts.c - prints conversions. Half floats are 16 bits: converted by an instruction if the target has one, else by
 * integer arithmetic, in lanes; every conversion from or to them goes through f32. */
#include "codegen/llvm/ir.h"

static LLVMValueRef i32_of(l_module *M, uint32_t v, int32_t lanes)
{
    return l_int(M, AC_I32, (int32_t)v, lanes);
}

static LLVMValueRef bits(l_module *M, LLVMValueRef v, int32_t lanes)
{
    return LLVMBuildBitCast(M->b, v, l_type(M, AC_I32, lanes), "");
}

static LLVMValueRef unbits(l_module *M, LLVMValueRef v, int32_t lanes)
{
    return LLVMBuildBitCast(M->b, v, l_type(M, AC_F32, lanes), "");
}

static LLVMTypeRef half_type(l_module *M, int32_t lanes)
{
    return l_lanes(LLVMHalfTypeInContext(M->lc), lanes);
}

static LLVMValueRef from_f16(l_module *M, LLVMValueRef v, int32_t n)
{
    LLVMBuilderRef b = M->b;
    if (M->target->fp & AC_FP_HALF)
        return LLVMBuildFPExt(b, LLVMBuildBitCast(b, v, half_type(M, n), ""), l_type(M, AC_F32, n), "");
    LLVMValueRef h = LLVMBuildZExt(b, v, l_type(M, AC_I32, n), "");
    LLVMValueRef sign = LLVMBuildShl(b, LLVMBuildAnd(b, h, i32_of(M, 0x8000, n), ""), i32_of(M, 16, n), "");
    LLVMValueRef rest = LLVMBuildAnd(b, h, i32_of(M, 0x7fff, n), "");
    LLVMValueRef shifted = LLVMBuildShl(b, rest, i32_of(M, 13, n), "");
    LLVMValueRef normal = LLVMBuildAdd(b, shifted, i32_of(M, 0x38000000, n), "");
    LLVMValueRef huge = LLVMBuildOr(b, shifted, i32_of(M, 0x7f800000, n), ""); /* infinity, NaN */
    LLVMValueRef small = LLVMBuildUIToFP(b, rest, l_type(M, AC_F32, n), "");
    small = bits(M, LLVMBuildFMul(b, small, l_real(M, AC_F32, 0x1p-24, n), ""), n);
    LLVMValueRef is_huge = LLVMBuildICmp(b, LLVMIntUGE, rest, i32_of(M, 0x7c00, n), "");
    LLVMValueRef is_normal = LLVMBuildICmp(b, LLVMIntUGE, rest, i32_of(M, 0x400, n), "");
    LLVMValueRef v32 = LLVMBuildSelect(b, is_huge, huge, LLVMBuildSelect(b, is_normal, normal, small, ""), "");
    return unbits(M, LLVMBuildOr(b, sign, v32, ""), n);
}

/* Rounds to nearest, ties to even. */
static LLVMValueRef to_f16(l_module *M, LLVMValueRef v, int32_t n)
{
    LLVMBuilderRef b = M->b;
    LLVMTypeRef i16 = l_type(M, AC_F16, n);
    if (M->target->fp & AC_FP_HALF)
        return LLVMBuildBitCast(b, LLVMBuildFPTrunc(b, v, half_type(M, n), ""), i16, "");
    LLVMValueRef all = bits(M, v, n), k13 = i32_of(M, 13, n);
    LLVMValueRef sign = LLVMBuildAnd(b, LLVMBuildLShr(b, all, i32_of(M, 16, n), ""), i32_of(M, 0x8000, n), "");
    LLVMValueRef rest = LLVMBuildAnd(b, all, i32_of(M, 0x7fffffff, n), "");
    LLVMValueRef odd = LLVMBuildAnd(b, LLVMBuildLShr(b, rest, k13, ""), i32_of(M, 1, n), "");
    LLVMValueRef normal = LLVMBuildAdd(b, LLVMBuildAdd(b, rest, i32_of(M, 0xfffu - 0x38000000u, n), ""), odd, "");
    normal = LLVMBuildLShr(b, normal, k13, "");
    /* next to 0.5 the last bit of a float is 2^-24, so this sum rounds a subnormal */
    LLVMValueRef half = LLVMBuildFAdd(b, unbits(M, rest, n), l_real(M, AC_F32, 0.5, n), "");
    LLVMValueRef small = LLVMBuildSub(b, bits(M, half, n), i32_of(M, 0x3f000000, n), "");
    LLVMValueRef is_normal = LLVMBuildICmp(b, LLVMIntUGE, rest, i32_of(M, 0x38800000, n), "");
    LLVMValueRef is_huge = LLVMBuildICmp(b, LLVMIntUGE, rest, i32_of(M, 0x477ff000, n), "");
    LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntUGT, rest, i32_of(M, 0x7f800000, n), "");
    LLVMValueRef huge = LLVMBuildSelect(b, is_nan, i32_of(M, 0x7e00, n), i32_of(M, 0x7c00, n), "");
    LLVMValueRef h = LLVMBuildSelect(b, is_huge, huge, LLVMBuildSelect(b, is_normal, normal, small, ""), "");
    return LLVMBuildTrunc(b, LLVMBuildOr(b, sign, h, ""), i16, "");
}

static LLVMValueRef from_bf16(l_module *M, LLVMValueRef v, int32_t n)
{
    LLVMValueRef h = LLVMBuildZExt(M->b, v, l_type(M, AC_I32, n), "");
    return unbits(M, LLVMBuildShl(M->b, h, i32_of(M, 16, n), ""), n);
}

static LLVMValueRef bf16_of_bits(l_module *M, LLVMValueRef v, int32_t n)
{
    LLVMBuilderRef b = M->b;
    LLVMValueRef all = bits(M, v, n), k16 = i32_of(M, 16, n);
    LLVMValueRef top = LLVMBuildLShr(b, all, k16, ""), odd = LLVMBuildAnd(b, top, i32_of(M, 1, n), "");
    LLVMValueRef up = LLVMBuildAdd(b, LLVMBuildAdd(b, all, i32_of(M, 0x7fff, n), ""), odd, "");
    LLVMValueRef nan = LLVMBuildFCmp(b, LLVMRealUNO, v, v, "");
    LLVMValueRef h =
        LLVMBuildSelect(b, nan, LLVMBuildOr(b, top, i32_of(M, 0x40, n), ""), LLVMBuildLShr(b, up, k16, ""), "");
    return LLVMBuildTrunc(b, h, l_type(M, AC_BF16, n), "");
}

/* The function that converts n lanes by one instruction. It treats subnormals as 0: if there is one, integer arithmetic
 * converts all lanes. */
static LLVMValueRef bf16_function(l_module *M, const char *name, LLVMTypeRef type, int32_t n)
{
    LLVMBuilderRef b = M->b;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMValueRef f = l_inner_function(M, name, type, "alwaysinline"), v = LLVMGetParam(f, 0);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(M->lc, f, "entry"),
                      some = LLVMAppendBasicBlockInContext(M->lc, f, "some"),
                      none = LLVMAppendBasicBlockInContext(M->lc, f, "none");
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef all = bits(M, v, n), zero = i32_of(M, 0, n);
    LLVMValueRef low = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, all, i32_of(M, 0x7f800000, n), ""), zero, "");
    LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, all, i32_of(M, 0x7fffff, n), ""), zero, "");
    LLVMTypeRef mask = LLVMIntTypeInContext(M->lc, (unsigned)n);
    LLVMValueRef small = LLVMBuildBitCast(b, LLVMBuildAnd(b, low, odd, ""), mask, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, small, LLVMConstNull(mask), ""), some, none);
    LLVMPositionBuilderAtEnd(b, some);
    LLVMBuildRet(b, bf16_of_bits(M, v, n));
    LLVMPositionBuilderAtEnd(b, none);
    const char *by = ac_strf(M->region, "llvm.x86.avx512bf16.cvtneps2bf16.%d", 32 * (int)n);
    LLVMBuildRet(b, LLVMBuildBitCast(b, l_intrinsic(M, by, NULL, &v, 1), LLVMGetReturnType(type), ""));
    LLVMPositionBuilderAtEnd(b, before);
    return f;
}

static LLVMValueRef to_bf16(l_module *M, LLVMValueRef v, int32_t n)
{
    if (!(M->target->fp & AC_FP_BF16) || (n != 8 && n != 16))
        return bf16_of_bits(M, v, n);
    LLVMTypeRef from = l_type(M, AC_F32, n), type = LLVMFunctionType(l_type(M, AC_BF16, n), &from, 1, false);
    const char *name = ac_strf(M->region, "%s_bf16x%d", M->m->name, (int)n);
    LLVMValueRef f = LLVMGetNamedFunction(M->mod, name);
    if (!f)
        f = bf16_function(M, name, type, n);
    return LLVMBuildCall2(M->b, type, f, &v, 1, "");
}

static LLVMValueRef to_bool(l_module *M, LLVMValueRef v, ac_dtype from, int32_t n)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    if (ac_dtype_is_half(from)) /* but for its sign */
        v = LLVMBuildAnd(M->b, v, l_int(M, AC_I16, 0x7fff, n), "");
    else if (ac_dtype_is_float(from))
        return LLVMBuildFCmp(M->b, LLVMRealUNE, v, LLVMConstNull(type), "");
    return LLVMBuildICmp(M->b, LLVMIntNE, v, LLVMConstNull(type), "");
}

LLVMValueRef l_cast(l_module *M, LLVMValueRef v, ac_dtype from, ac_dtype to, int32_t n)
{
    LLVMBuilderRef b = M->b;
    if (from == to)
        return v;
    if (to == AC_BOOL)
        return to_bool(M, v, from, n);
    if (ac_dtype_is_half(from))
        return l_cast(M, from == AC_F16 ? from_f16(M, v, n) : from_bf16(M, v, n), AC_F32, to, n);
    if (ac_dtype_is_half(to)) {
        v = l_cast(M, v, from, AC_F32, n);
        return to == AC_F16 ? to_f16(M, v, n) : to_bf16(M, v, n);
    }
    LLVMTypeRef type = l_type(M, to, n);
    bool real = ac_dtype_is_float(from), to_real = ac_dtype_is_float(to), is_signed = ac_dtype_is_signed(from);
    if (real && to_real)
        return to == AC_F64 ? LLVMBuildFPExt(b, v, type, "") : LLVMBuildFPTrunc(b, v, type, "");
    if (real)
        return ac_dtype_is_signed(to) ? LLVMBuildFPToSI(b, v, type, "") : LLVMBuildFPToUI(b, v, type, "");
    if (to_real)
        return is_signed ? LLVMBuildSIToFP(b, v, type, "") : LLVMBuildUIToFP(b, v, type, "");
    if (from == AC_BOOL)
        return LLVMBuildZExt(b, v, type, "");
    return LLVMBuildIntCast2(b, v, type, is_signed, "");
}

/* NaN to 0, clamped, converted via i32 and narrowed, with vector instructions. */
static LLVMValueRef real_to_narrow(l_module *M, LLVMValueRef v, ac_dtype from, ac_dtype to, int32_t n)
{
    LLVMBuilderRef b = M->b;
    LLVMValueRef zero = l_real(M, from, 0, n), is_nan = LLVMBuildFCmp(b, LLVMRealUNO, v, v, "");
    v = LLVMBuildSelect(b, is_nan, zero, v, "");
    v = l_extreme(M, v, l_real(M, from, (double)ac_dtype_min(to), n), from, true);
    v = l_extreme(M, v, l_real(M, from, (double)ac_dtype_max(to), n), from, false);
    v = LLVMBuildFPToSI(b, v, l_type(M, AC_I32, n), "");
    return LLVMBuildTrunc(b, v, l_type(M, to, n), "");
}

static LLVMValueRef real_to_int(l_module *M, LLVMValueRef v, ac_dtype to)
{
    const char *name = ac_dtype_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMTypeRef over[] = {
        l_type(M, to,
               LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind ? (int32_t)LLVMGetVectorSize(LLVMTypeOf(v)) : 1),
        LLVMTypeOf(v)};
    return l_intrinsic_of(M, name, over, 2, &v, 1);
}

/* Of a lane's size in the names of x86 instructions. */
static char letter(int32_t bits)
{
    return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'd' : 'q';
}

/* vpmovs: a whole register of AVX-512 narrowed with saturation. LLVM also recognises it from clamps, but not after an
 * addition (of a zero point), because it moves the clamps across that first. NULL: no such instruction. */
static LLVMValueRef narrow_register(l_module *M, LLVMValueRef v, ac_dtype from, ac_dtype to, int32_t n)
{
    int32_t before = ac_dtype_bits(from), after = ac_dtype_bits(to);
    if (M->target->isa != AC_ISA_X86 || M->target->vec_bytes < 64 || !ac_dtype_is_signed(from) ||
        !ac_dtype_is_signed(to) || n * before != 512 || after >= before || n * after < 128)
        return NULL;
    LLVMValueRef arg[] = {v, LLVMGetPoison(l_type(M, to, n)),
                          LLVMConstAllOnes(LLVMIntTypeInContext(M->lc, (unsigned)n))};
    const char *name = ac_strf(M->region, "llvm.x86.avx512.mask.pmovs.%c%c.512", letter(before), letter(after));
    return l_intrinsic(M, name, NULL, arg, 3);
}

LLVMValueRef l_satcast(l_module *M, LLVMValueRef v, ac_dtype from, ac_dtype to, int32_t n)
{
    if (ac_dtype_is_half(from)) {
        v = l_cast(M, v, from, AC_F32, n);
        from = AC_F32;
    }
    if (from == to)
        return v;
    if (ac_dtype_is_float(from))
        return ac_dtype_bits(to) < 32 ? real_to_narrow(M, v, from, to, n) : real_to_int(M, v, to);
    LLVMValueRef whole = narrow_register(M, v, from, to, n);
    if (whole)
        return whole;
    bool below = ac_dtype_min(from) < ac_dtype_min(to);
    bool above = from == AC_U64 ? to != AC_U64 : ac_dtype_max(from) > ac_dtype_max(to) && to != AC_U64;
    if (above)
        v = l_extreme(M, v, l_int(M, from, ac_dtype_max(to), n), from, false);
    if (below)
        v = l_extreme(M, v, l_int(M, from, ac_dtype_min(to), n), from, true);
    return l_cast(M, v, from, to, n);
}
