/* mve.c - prints TILE and REQUANT for processors with MVE: inline assembly (codegen/mve_asm.h), and vectors of four
 * words. */
#include "codegen/llvm/ir.h"
#include "codegen/mve_asm.h"
#include "ir/loop/requants.h"

/* The offsets of the slots of eight channels, from channel `first` on: vectors of u16. */
static LLVMValueRef slots(l_module *M, const ac_tile *t, int32_t first)
{
    LLVMValueRef lane[8];
    for (int32_t c = 0; c < 8; c++)
        lane[c] = LLVMConstInt(M->i16, (unsigned)(ac_tile_slot(first + c) * t->pitch), false);
    return LLVMConstVector(lane, 8);
}

/* WORDS_4: offsets of four pixels, and of their bytes. */
static LLVMValueRef pixels(const l_module *M, const ac_tile *t)
{
    LLVMValueRef lane[4];
    for (int32_t p = 0; p < 4; p++)
        lane[p] = LLVMConstInt(M->i32, (unsigned)(p * t->stride), false);
    return LLVMConstVector(lane, 4);
}

static LLVMValueRef bytes_of(const l_module *M, const ac_tile *t)
{
    const bool near = ac_mve_is_near(t);
    LLVMValueRef lane[16];
    unsigned n = 0;
    for (int32_t p = 0; p < 4; p++)
        for (int32_t c = 0; c < 4; c += near ? 1 : 2)
            lane[n++] =
                LLVMConstInt(near ? M->i8 : M->i16, (unsigned)(p * t->shift + ac_tile_slot(c) * t->pitch), false);
    return LLVMConstVector(lane, n);
}

static LLVMValueRef operand(l_fn *f, const ac_ins *in, const ac_tile *t, ac_mve_operand o)
{
    l_module *M = f->M;
    const bool spreads = t->form == AC_TILE_SPREAD;
    LLVMValueRef more = NULL;
    switch (o) {
    case AC_MVE_X:
        return l_asm_address(f, t->x, f->val[in->a]);
    case AC_MVE_W:
        return l_asm_address(f, t->w, f->val[in->b]);
    case AC_MVE_STEPS:
        return f->val[in->c];
    case AC_MVE_TO:
        return l_asm_address(f, t->acc, spreads ? f->val[in->b] : l_int(M, AC_I32, 0, 1));
    case AC_MVE_OTHER:
        if (t->form != AC_TILE_BYTES)
            return l_int(M, AC_I32, spreads ? t->stride : t->pitch, 1);
        more = LLVMBuildMul(M->b, f->val[in->c], l_int(M, AC_I32, 16, 1), "");
        return l_asm_address(f, t->x, LLVMBuildAdd(M->b, f->val[in->a], more, ""));
    case AC_MVE_AT:
    case AC_MVE_NEXT:
        if (ac_mve_spread_of(t) == AC_MVE_WORDS_4)
            return o == AC_MVE_AT ? pixels(M, t) : bytes_of(M, t);
        return slots(M, t, o == AC_MVE_AT ? 0 : 8);
    case AC_MVE_OPERANDS:
        break;
    }
    return NULL;
}

static const char *clobbers(const l_module *M, const ac_tile *t)
{
    ac_sink s;
    ac_sink_open(&s, M->cx);
    for (const char *const *c = ac_mve_clobbers(t); *c; c++)
        ac_putf(&s, "~{%s},", *c);
    ac_put(&s, "~{cc},~{memory}");
    return ac_sink_text(&s);
}

int l_mve_tile(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const ac_tile t = ac_ins_tile(in);
    l_operand list[AC_MVE_OPERANDS];
    const char *of[AC_MVE_OPERANDS], *name[AC_MVE_OPERANDS] = {NULL};
    int32_t n = 0;
    if (!ac_mve_has(M->target, &t))
        return ac_error(M->cx, (ac_place){0}, E0901, "the LLVM printer has no tile %s of %d x %d for %s",
                        ac_tile_text[t.form], (int)t.rows, (int)t.channels, M->target->name);
    for (ac_mve_operand o = 0; o < AC_MVE_OPERANDS; o++)
        if (ac_mve_takes(&t, o))
            list[n++] = (l_operand){operand(f, in, &t, o), ac_mve_letter(&t, o), ac_mve_changes(&t, o)};
    l_asm_names(M, list, n, of);
    n = 0;
    for (ac_mve_operand o = 0; o < AC_MVE_OPERANDS; o++)
        if (ac_mve_takes(&t, o))
            name[o] = of[n++];
    l_asm_call(M, list, n, ac_mve_asm(M->cx, &t, name, "\n"), clobbers(M, &t));
    return AC_OK;
}

static LLVMValueRef words(l_fn *f, int32_t buf, LLVMValueRef index, int64_t more)
{
    l_module *M = f->M;
    LLVMValueRef at = l_asm_address(f, buf, LLVMBuildAdd(M->b, index, l_int(M, AC_I32, more, 1), ""));
    LLVMValueRef v = LLVMBuildLoad2(M->b, l_lanes(M->i32, 4), at, "");
    LLVMSetAlignment(v, 4);
    return v;
}

int l_requant(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    LLVMBuilderRef b = M->b;
    const ac_requants q = ac_ins_requant(in);
    if (M->target->rvv) {
        l_rvv_requant(f, in);
        return AC_OK;
    }
    if (!M->target->mve || q.lanes != 4)
        return ac_error(M->cx, (ac_place){0}, E0901, "the LLVM printer has no 'requant' for %s", M->target->name);
    LLVMTypeRef type = l_lanes(M->i32, 4), both[2] = {type, type};
    LLVMValueRef bias = words(f, q.table, f->val[in->c], 0), m = words(f, q.table, f->val[in->b], 0);
    LLVMValueRef shift = words(f, q.table, f->val[in->b], 4);
    LLVMValueRef v = LLVMBuildAdd(b, words(f, q.acc, l_int(M, AC_I32, 4 * q.row, 1), 0), bias, "");
    if (q.pre)
        v = LLVMBuildShl(b, v, l_int(M, AC_I32, q.pre, 4), "");
    v = l_intrinsic(M, "llvm.arm.mve.vqrdmulh", type, (LLVMValueRef[]){v, m}, 2);
    if (q.away)
        v = l_intrinsic(M, "llvm.sadd.sat", type, (LLVMValueRef[]){v, LLVMBuildAShr(b, v, l_int(M, AC_I32, 31, 4), "")},
                        2);
    v = l_intrinsic_of(
        M, "llvm.arm.mve.vshl.vector", both, 2,
        (LLVMValueRef[]){v, shift, l_int(M, AC_I32, 0, 1), l_int(M, AC_I32, 1, 1), l_int(M, AC_I32, 0, 1)}, 5);
    v = LLVMBuildAdd(b, v, l_int(M, AC_I32, q.zero, 4), "");
    v = l_intrinsic(M, "llvm.smax", type, (LLVMValueRef[]){v, l_int(M, AC_I32, q.lo, 4)}, 2);
    v = l_intrinsic(M, "llvm.smin", type, (LLVMValueRef[]){v, l_int(M, AC_I32, q.hi, 4)}, 2);
    LLVMSetAlignment(
        LLVMBuildStore(b, LLVMBuildTrunc(b, v, l_lanes(M->i8, 4), ""), l_asm_address(f, q.y, f->val[in->a])), 1);
    return AC_OK;
}
