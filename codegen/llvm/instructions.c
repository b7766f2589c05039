/* instructions.c - prints instructions that compute a value, lane by lane, with the meaning of loop.def. LLVM may
 * assume the guarantees of the lowering (no overflow without the wrap mark, shifts inside the type, nonzero divisors),
 * as C does. */
#include "codegen/llvm/ir.h"
#include "ir/loop/builder.h"

static LLVMValueRef constants(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    ac_dtype d = (ac_dtype)in->dtype;
    LLVMValueRef *lane = AC_NEW_N(M->region, LLVMValueRef, in->lanes);
    for (int32_t i = 0; i < in->lanes; i++) {
        int64_t k = f->fn->pool.item[in->aux + i];
        double v;
        memcpy(&v, &k, sizeof v);
        lane[i] = ac_dtype_is_float(d) ? l_real(M, d, v, 1) : l_int(M, d, k, 1);
    }
    return in->lanes > 1 ? LLVMConstVector(lane, in->lanes) : lane[0];
}

static bool wraps(const ac_ins *in)
{
    return (in->flags & AC_F_WRAP) || !ac_dtype_is_signed((ac_dtype)in->dtype);
}

static LLVMValueRef add(l_fn *f, const ac_ins *in)
{
    LLVMBuilderRef b = f->M->b;
    LLVMValueRef x = f->val[in->a], y = f->val[in->b], one = l_widening(f, in);
    if (one)
        return one;
    if (ac_dtype_is_float((ac_dtype)in->dtype))
        return LLVMBuildFAdd(b, x, y, "");
    return wraps(in) ? LLVMBuildAdd(b, x, y, "") : LLVMBuildNSWAdd(b, x, y, "");
}

static LLVMValueRef subtract(l_fn *f, const ac_ins *in)
{
    LLVMBuilderRef b = f->M->b;
    LLVMValueRef x = f->val[in->a], y = f->val[in->b];
    if (ac_dtype_is_float((ac_dtype)in->dtype))
        return LLVMBuildFSub(b, x, y, "");
    return wraps(in) ? LLVMBuildSub(b, x, y, "") : LLVMBuildNSWSub(b, x, y, "");
}

static LLVMValueRef multiply(l_fn *f, const ac_ins *in)
{
    LLVMBuilderRef b = f->M->b;
    LLVMValueRef x = f->val[in->a], y = f->val[in->b], one = l_widening(f, in);
    if (one)
        return one;
    if (ac_dtype_is_float((ac_dtype)in->dtype))
        return LLVMBuildFMul(b, x, y, "");
    return wraps(in) ? LLVMBuildMul(b, x, y, "") : LLVMBuildNSWMul(b, x, y, "");
}

static LLVMValueRef divide(l_fn *f, const ac_ins *in)
{
    LLVMBuilderRef b = f->M->b;
    LLVMValueRef x = f->val[in->a], y = f->val[in->b];
    if (ac_dtype_is_float((ac_dtype)in->dtype))
        return LLVMBuildFDiv(b, x, y, "");
    return ac_dtype_is_signed((ac_dtype)in->dtype) ? LLVMBuildSDiv(b, x, y, "") : LLVMBuildUDiv(b, x, y, "");
}

static LLVMValueRef compare(l_fn *f, const ac_ins *in)
{
    LLVMBuilderRef b = f->M->b;
    ac_dtype d = (ac_dtype)l_ins(f, in->a)->dtype;
    LLVMValueRef x = f->val[in->a], y = f->val[in->b];
    int k = in->op == AC_L_EQ ? 0 : in->op == AC_L_NE ? 1 : in->op == AC_L_LT ? 2 : 3;
    static const LLVMRealPredicate REAL[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT, LLVMRealOLE};
    static const LLVMIntPredicate SIGNED[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE},
                                  UNSIGNED[] = {LLVMIntEQ, LLVMIntNE, LLVMIntULT, LLVMIntULE};
    if (ac_dtype_is_float(d))
        return LLVMBuildFCmp(b, REAL[k], x, y, "");
    return LLVMBuildICmp(b, (ac_dtype_is_signed(d) ? SIGNED : UNSIGNED)[k], x, y, "");
}

/* a < b ? a : b: b if a float is NaN. */
LLVMValueRef l_extreme(l_module *M, LLVMValueRef a, LLVMValueRef b, ac_dtype d, bool most)
{
    LLVMBuilderRef build = M->b;
    LLVMValueRef first;
    if (ac_dtype_is_float(d))
        first = LLVMBuildFCmp(build, most ? LLVMRealOGT : LLVMRealOLT, a, b, "");
    else if (ac_dtype_is_signed(d))
        first = LLVMBuildICmp(build, most ? LLVMIntSGT : LLVMIntSLT, a, b, "");
    else
        first = LLVMBuildICmp(build, most ? LLVMIntUGT : LLVMIntULT, a, b, "");
    return LLVMBuildSelect(build, first, a, b, "");
}

static LLVMValueRef negate(l_fn *f, const ac_ins *in)
{
    ac_dtype d = (ac_dtype)in->dtype;
    LLVMValueRef x = f->val[in->a];
    if (ac_dtype_is_float(d))
        return LLVMBuildFNeg(f->M->b, x, "");
    return wraps(in) ? LLVMBuildNeg(f->M->b, x, "") : LLVMBuildNSWNeg(f->M->b, x, "");
}

static LLVMValueRef absolute(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    ac_dtype d = (ac_dtype)in->dtype;
    LLVMValueRef arg[] = {f->val[in->a], LLVMConstInt(M->i1, 0, false)};
    LLVMTypeRef type = LLVMTypeOf(arg[0]);
    if (ac_dtype_is_float(d))
        return l_intrinsic(M, "llvm.fabs", type, arg, 1);
    return ac_dtype_is_signed(d) ? l_intrinsic(M, "llvm.abs", type, arg, 2) : arg[0]; /* the minimum stays */
}

static LLVMValueRef fused(l_fn *f, const ac_ins *in)
{
    LLVMValueRef arg[] = {f->val[in->a], f->val[in->b], f->val[in->c]};
    return l_intrinsic(f->M, "llvm.fma", LLVMTypeOf(arg[0]), arg, 3);
}

LLVMValueRef l_value(l_fn *f, ac_x x)
{
    l_module *M = f->M;
    LLVMBuilderRef b = M->b;
    const ac_ins *in = l_ins(f, x);
    ac_dtype d = (ac_dtype)in->dtype, from = in->a ? (ac_dtype)l_ins(f, in->a)->dtype : d;
    LLVMValueRef va = in->a ? f->val[in->a] : NULL, vb = in->b ? f->val[in->b] : NULL;
    if (M->halves && (in->lanes > 1 || (in->a && l_ins(f, in->a)->lanes > 1)))
        return l_halves(f, x);
    switch ((ac_lop)in->op) {
    case AC_L_CONST:
        return ac_dtype_is_float(d) ? l_real(M, d, in->k.f, in->lanes) : l_int(M, d, in->k.i, in->lanes);
    case AC_L_CONSTV:
        return constants(f, in);
    case AC_L_ADD:
        return add(f, in);
    case AC_L_SUB:
        return subtract(f, in);
    case AC_L_MUL:
        return multiply(f, in);
    case AC_L_DIV:
        return divide(f, in);
    case AC_L_MOD:
        return ac_dtype_is_signed(d) ? LLVMBuildSRem(b, va, vb, "") : LLVMBuildURem(b, va, vb, "");
    case AC_L_SHL:
        return LLVMBuildShl(b, va, vb, "");
    case AC_L_SHR:
        return ac_dtype_is_signed(d) ? LLVMBuildAShr(b, va, vb, "") : LLVMBuildLShr(b, va, vb, "");
    case AC_L_MIN:
    case AC_L_MAX:
        return l_extreme(M, va, vb, d, in->op == AC_L_MAX);
    case AC_L_NEG:
        return negate(f, in);
    case AC_L_ABS:
        return absolute(f, in);
    case AC_L_SQRT:
    case AC_L_FLOOR:
    case AC_L_CEIL:
    case AC_L_TRUNC:
    case AC_L_RINT:
        return l_rounding(f, (ac_lop)in->op, va, d, in->lanes);
    case AC_L_AND:
        return LLVMBuildAnd(b, va, vb, "");
    case AC_L_OR:
        return LLVMBuildOr(b, va, vb, "");
    case AC_L_XOR:
        return LLVMBuildXor(b, va, vb, "");
    case AC_L_NOT:
        return LLVMBuildNot(b, va, "");
    case AC_L_EQ:
    case AC_L_NE:
    case AC_L_LT:
    case AC_L_LE:
        return compare(f, in);
    case AC_L_SELECT:
        return LLVMBuildSelect(b, va, vb, f->val[in->c], "");
    case AC_L_CAST:
        return l_cast(M, va, from, d, in->lanes);
    case AC_L_SATCAST:
        return l_satcast(M, va, from, d, in->lanes);
    case AC_L_BITCAST:
        return LLVMBuildBitCast(b, va, l_type(M, d, in->lanes), "");
    case AC_L_FMA:
        return fused(f, in);
    case AC_L_SPLAT:
        return l_splat(M, va, in->lanes);
    case AC_L_DOT4:
    case AC_L_DOT2:
    case AC_L_LANE:
    case AC_L_SHUFFLE:
    case AC_L_SUMLANES:
    case AC_L_MAXLANES:
        return l_cross(f, in);
    // clang-format off
    case AC_L_NONE: case AC_L_VAR: case AC_L_GET: case AC_L_SET: case AC_L_LOAD: case AC_L_STORE: case AC_L_PREFETCH:
    case AC_L_MMA: case AC_L_TILE: case AC_L_REQUANT: case AC_L_FOR: case AC_L_IF: case AC_L_ELSE: case AC_L_END:
    case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return NULL;
}
