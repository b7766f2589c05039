/* dsp.c - prints words of two halves or four bytes (ir/loop/halves.h): an i32, and the machine's instructions on it.
 * Packing has no intrinsic: LLVM recognises pkhbt and pkhtb. */
#include "codegen/llvm/ir.h"
#include "ir/loop/halves.h"

static LLVMValueRef i32(const l_module *M, int64_t v)
{
    return l_int(M, AC_I32, v, 1);
}

/* sxtb16; for the odd bytes of the word rotated by a byte, which is part of the instruction. */
static LLVMValueRef widened(l_module *M, LLVMValueRef word, bool odd)
{
    LLVMBuilderRef b = M->b;
    if (odd)
        word = LLVMBuildOr(b, LLVMBuildLShr(b, word, i32(M, 8), ""), LLVMBuildShl(b, word, i32(M, 24), ""), "");
    return l_intrinsic(M, "llvm.arm.sxtb16", NULL, &word, 1);
}

/* Element k of a followed by b, in the low half or, `high`, in the high half; the other half is 0. */
static LLVMValueRef element(l_fn *f, const ac_ins *in, int64_t k, bool high)
{
    l_module *M = f->M;
    LLVMBuilderRef b = M->b;
    const int32_t n = l_ins(f, in->a)->lanes;
    LLVMValueRef v = f->val[k < n ? in->a : in->b];
    if (n == 1)
        v = LLVMBuildZExt(b, v, M->i32, "");
    if (k % n)
        return high ? LLVMBuildAnd(b, v, i32(M, (int32_t)0xffff0000), "") : LLVMBuildLShr(b, v, i32(M, 16), "");
    return high ? LLVMBuildShl(b, v, i32(M, 16), "") : LLVMBuildAnd(b, v, i32(M, 0xffff), "");
}

static LLVMValueRef lane(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    LLVMValueRef v = f->val[in->a];
    if (in->aux)
        v = LLVMBuildLShr(M->b, v, i32(M, 16), "");
    return LLVMBuildTrunc(M->b, v, M->i16, "");
}

LLVMValueRef l_halves(l_fn *f, ac_x x)
{
    l_module *M = f->M;
    LLVMBuilderRef b = M->b;
    const ac_ins *in = l_ins(f, x);
    LLVMValueRef va = in->a ? f->val[in->a] : NULL, vb = in->b ? f->val[in->b] : NULL;
    bool odd = false;
    switch ((ac_lop)in->op) {
    case AC_L_CONST:
    case AC_L_CONSTV:
        return i32(M, (int32_t)ac_halves_bits(f->fn, x));
    case AC_L_AND:
        return LLVMBuildAnd(b, va, vb, "");
    case AC_L_OR:
        return LLVMBuildOr(b, va, vb, "");
    case AC_L_XOR:
        return LLVMBuildXor(b, va, vb, "");
    case AC_L_BITCAST:
        return va;
    case AC_L_SHL: /* half of a widening */
        return va;
    case AC_L_SHR: {
        const ac_x word = ac_halves_widened(f->fn, x, &odd);
        return widened(M, f->val[word], odd);
    }
    case AC_L_SHUFFLE: {
        const int64_t *k = &f->fn->pool.item[in->aux];
        return LLVMBuildOr(b, element(f, in, k[0], false), element(f, in, k[1], true), "");
    }
    case AC_L_LANE:
        return lane(f, in);
    case AC_L_DOT2: {
        LLVMValueRef arg[] = {va, vb, f->val[in->c]};
        return l_intrinsic(M, "llvm.arm.smlad", NULL, arg, 3);
    }
    // clang-format off
    case AC_L_NONE: case AC_L_VAR: case AC_L_GET: case AC_L_SET: case AC_L_LOAD: case AC_L_STORE: case AC_L_PREFETCH:
    case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX:
    case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT:
    case AC_L_NOT: case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE: case AC_L_SELECT: case AC_L_CAST:
    case AC_L_SATCAST: case AC_L_FMA: case AC_L_DOT4: case AC_L_MMA: case AC_L_TILE: case AC_L_REQUANT: case AC_L_SPLAT:
    case AC_L_SUMLANES: case AC_L_MAXLANES: case AC_L_FOR: case AC_L_IF: case AC_L_ELSE: case AC_L_END:
    case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return NULL;
}
