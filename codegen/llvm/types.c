/* types.c - types, constants of a type, and calls of intrinsics. */
#include "codegen/llvm/ir.h"

LLVMTypeRef l_lanes(LLVMTypeRef one, int32_t lanes)
{
    return lanes > 1 ? LLVMVectorType(one, (unsigned)lanes) : one;
}

static LLVMTypeRef of_bits(const l_module *M, int bits)
{
    return bits == 8 ? M->i8 : bits == 16 ? M->i16 : bits == 32 ? M->i32 : M->i64;
}

LLVMTypeRef l_type(const l_module *M, ac_dtype d, int32_t lanes)
{
    if (M->halves && lanes > 1)
        return M->i32;
    return d == AC_BOOL ? l_lanes(M->i1, lanes) : l_memory_type(M, d, lanes);
}

LLVMTypeRef l_memory_type(const l_module *M, ac_dtype d, int32_t lanes)
{
    if (M->halves && lanes > 1)
        return M->i32;
    return l_lanes(d == AC_F32 ? M->f32 : d == AC_F64 ? M->f64 : of_bits(M, ac_dtype_bits(d)), lanes);
}

LLVMValueRef l_splat(const l_module *M, LLVMValueRef one, int32_t lanes)
{
    if (lanes <= 1)
        return one;
    if (LLVMIsConstant(one)) {
        LLVMValueRef *lane = AC_NEW_N(M->region, LLVMValueRef, lanes);
        for (int32_t i = 0; i < lanes; i++)
            lane[i] = one;
        return LLVMConstVector(lane, (unsigned)lanes);
    }
    LLVMValueRef none = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(one), (unsigned)lanes));
    LLVMValueRef first = LLVMBuildInsertElement(M->b, none, one, LLVMConstInt(M->i32, 0, false), "");
    return LLVMBuildShuffleVector(M->b, first, none, LLVMConstNull(LLVMVectorType(M->i32, (unsigned)lanes)), "");
}

LLVMValueRef l_int(const l_module *M, ac_dtype d, int64_t v, int32_t lanes)
{
    return l_splat(M, LLVMConstInt(l_type(M, d, 1), (uint64_t)v, ac_dtype_is_signed(d)), lanes);
}

/* Bit by bit, to preserve the sign of a zero and the payload of a NaN. */
LLVMValueRef l_real(const l_module *M, ac_dtype d, double v, int32_t lanes)
{
    uint64_t bits;
    if (ac_dtype_is_half(d))
        return l_int(M, d, d == AC_F16 ? ac_f32_to_f16((float)v) : ac_f32_to_bf16((float)v), lanes);
    if (d == AC_F32) {
        float f = (float)v;
        uint32_t word;
        memcpy(&word, &f, sizeof word);
        bits = word;
    } else {
        memcpy(&bits, &v, sizeof bits);
    }
    LLVMTypeRef type = l_type(M, d, 1);
    return l_splat(M, LLVMConstBitCast(LLVMConstInt(d == AC_F32 ? M->i32 : M->i64, bits, false), type), lanes);
}

LLVMValueRef l_intrinsic_of(const l_module *M, const char *name, LLVMTypeRef *over, uint32_t n_over, LLVMValueRef *arg,
                            uint32_t n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(M->mod, id, over, n_over);
    return LLVMBuildCall2(M->b, LLVMIntrinsicGetType(M->lc, id, over, n_over), fn, arg, n, "");
}

LLVMValueRef l_intrinsic(const l_module *M, const char *name, LLVMTypeRef over, LLVMValueRef *arg, uint32_t n)
{
    return l_intrinsic_of(M, name, &over, over ? 1 : 0, arg, n);
}
