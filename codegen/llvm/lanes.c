/* lanes.c - prints operations across lanes: shuffles and reductions; dot products are in products.c. */
#include "codegen/llvm/ir.h"

LLVMValueRef l_permute(l_module *M, LLVMValueRef a, LLVMValueRef b, const int64_t *lane, int32_t n)
{
    LLVMValueRef *mask = AC_NEW_N(M->region, LLVMValueRef, n);
    for (int32_t i = 0; i < n; i++)
        mask[i] = LLVMConstInt(M->i32, (unsigned)lane[i], false);
    return LLVMBuildShuffleVector(M->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)), LLVMConstVector(mask, (uint32_t)n),
                                  "");
}

/* Lanes first, first + step, ... */
LLVMValueRef l_every(l_module *M, LLVMValueRef v, int32_t first, int32_t step, int32_t n)
{
    int64_t *lane = AC_NEW_N(M->region, int64_t, n);
    for (int32_t i = 0; i < n; i++)
        lane[i] = first + (int64_t)i * step;
    return l_permute(M, v, NULL, lane, n);
}

LLVMValueRef l_lane(l_module *M, LLVMValueRef v, int32_t lanes, int64_t at)
{
    return lanes > 1 ? LLVMBuildExtractElement(M->b, v, LLVMConstInt(M->i32, (unsigned)at, false), "") : v;
}

/* Even lanes of a and odd lanes of b, of 32 bits, in an SVE register of fixed lanes: LLVM 19 expands such a shuffle
 * lane by lane, through memory, so it is expressed in words of 64 bits. */
static bool is_blend(const l_module *M, ac_dtype d, const int64_t *lane, int32_t n)
{
    bool alike = M->target->isa == AC_ISA_AARCH64 && M->target->vec_bytes > 16 && ac_dtype_bits(d) == 32 && n * 4 > 16;
    for (int32_t i = 0; i < n; i++)
        alike &= lane[i] == i + (i % 2 ? n : 0);
    return alike;
}

static LLVMValueRef blend(l_module *M, LLVMValueRef a, LLVMValueRef b, int32_t n)
{
    const int64_t low = UINT32_MAX;
    LLVMTypeRef pairs = l_type(M, AC_I64, n / 2), lanes = LLVMTypeOf(a);
    a = LLVMBuildAnd(M->b, LLVMBuildBitCast(M->b, a, pairs, ""), l_int(M, AC_I64, low, n / 2), "");
    b = LLVMBuildAnd(M->b, LLVMBuildBitCast(M->b, b, pairs, ""), l_int(M, AC_I64, ~low, n / 2), "");
    return LLVMBuildBitCast(M->b, LLVMBuildOr(M->b, a, b, ""), lanes, "");
}

static LLVMValueRef shuffle(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const int64_t *lane = &f->fn->pool.item[in->aux];
    int32_t na = l_ins(f, in->a)->lanes, nb = in->b ? l_ins(f, in->b)->lanes : na;
    LLVMValueRef a = f->val[in->a], b = in->b ? f->val[in->b] : NULL;
    if (b && na == nb && in->lanes == na && is_blend(M, (ac_dtype)in->dtype, lane, na))
        return blend(M, a, b, na);
    if (na > 1 && na == nb && in->lanes > 1)
        return l_permute(M, a, b, lane, in->lanes);
    LLVMValueRef v = in->lanes > 1 ? LLVMGetPoison(l_type(M, (ac_dtype)in->dtype, in->lanes)) : NULL;
    for (int32_t i = 0; i < in->lanes; i++) {
        LLVMValueRef one = lane[i] < na ? l_lane(M, a, na, lane[i]) : l_lane(M, b, nb, lane[i] - na);
        v = v ? LLVMBuildInsertElement(M->b, v, one, LLVMConstInt(M->i32, (unsigned)i, false), "") : one;
    }
    return v;
}

/* Halves until one lane is left: the order of floats is defined, and for integers it does not matter. */
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
        LLVMValueRef lo = n > 1 ? l_every(M, v, 0, 1, n) : l_lane(M, v, 2, 0);
        LLVMValueRef hi = n > 1 ? l_every(M, v, n, 1, n) : l_lane(M, v, 2, 1);
        v = in->op == AC_L_SUMLANES ? LLVMBuildFAdd(M->b, lo, hi, "") : l_extreme(M, lo, hi, d, true);
    }
    return v;
}

LLVMValueRef l_cross(l_fn *f, const ac_ins *in)
{
    if (in->op == AC_L_LANE)
        return l_lane(f->M, f->val[in->a], l_ins(f, in->a)->lanes, in->aux);
    if (in->op == AC_L_SHUFFLE)
        return shuffle(f, in);
    return in->op == AC_L_DOT4 || in->op == AC_L_DOT2 ? l_dot(f, in) : reduce(f, in);
}
