/* mve.c - TILE and REQUANT on processors with MVE: inline assembly (codegen/mve_asm.h), and vectors of four words. */
#include "codegen/llvm/ir.h"
#include "codegen/mve_asm.h"
#include "ir/loop/requants.h"

enum { MOST = 2 * AC_MVE_OPERANDS };

static LLVMValueRef address(l_fn *f, int32_t buf, LLVMValueRef index)
{
    l_module *M = f->M;
    return LLVMBuildGEP2(M->b, l_memory_type(M, f->fn->buf.item[buf].dtype, 1), f->buf[buf], &index, 1, "");
}

/* Where the slots of eight channels are, from channel `first` on: vectors of u16. */
static LLVMValueRef slots(l_module *M, const ac_tile *t, int32_t first)
{
    LLVMValueRef lane[8];
    for (int32_t c = 0; c < 8; c++)
        lane[c] = LLVMConstInt(M->i16, (unsigned)(ac_tile_slot(first + c) * t->pitch), false);
    return LLVMConstVector(lane, 8);
}

static LLVMValueRef operand(l_fn *f, const ac_ins *in, const ac_tile *t, ac_mve_operand o)
{
    l_module *M = f->M;
    const bool spreads = t->form == AC_TILE_SPREAD;
    LLVMValueRef more = NULL;
    switch (o) {
    case AC_MVE_X:
        return address(f, t->x, f->val[in->a]);
    case AC_MVE_W:
        return address(f, t->w, f->val[in->b]);
    case AC_MVE_STEPS:
        return f->val[in->c];
    case AC_MVE_TO:
        return address(f, t->acc, spreads ? f->val[in->b] : l_int(M, AC_I32, 0, 1));
    case AC_MVE_OTHER:
        if (t->form != AC_TILE_BYTES)
            return l_int(M, AC_I32, spreads ? t->stride : t->pitch, 1);
        more = LLVMBuildMul(M->b, f->val[in->c], l_int(M, AC_I32, 16, 1), "");
        return address(f, t->x, LLVMBuildAdd(M->b, f->val[in->a], more, ""));
    case AC_MVE_AT:
    case AC_MVE_NEXT:
        return slots(M, t, o == AC_MVE_AT ? 0 : 8);
    case AC_MVE_OPERANDS:
        break;
    }
    return NULL;
}

/* "=&r,..,0,..,r,..,~{r0},..": operands that change are results and, after those, the first arguments. */
typedef struct call {
    LLVMValueRef arg[MOST];
    LLVMTypeRef type[MOST];
    const char *name[AC_MVE_OPERANDS];
    ac_sink constraints;
    int32_t n, results;
} call;

static void prepare(l_fn *f, const ac_ins *in, const ac_tile *t, call *k)
{
    l_module *M = f->M;
    ac_sink_open(&k->constraints, M->cx);
    for (int32_t pass = 0; pass < 3; pass++)
        for (ac_mve_operand o = 0; o < AC_MVE_OPERANDS; o++) {
            const bool changes = ac_mve_changes(t, o);
            if (!ac_mve_takes(t, o) || changes != (pass < 2))
                continue;
            if (pass == 0) {
                ac_putf(&k->constraints, "=&%s,", ac_mve_letter(t, o));
                k->name[o] = ac_strf(M->region, "$%d", (int)k->results++);
                continue;
            }
            if (pass == 1)
                ac_putf(&k->constraints, "%d,", (int)k->n);
            else
                ac_putf(&k->constraints, "%s,", ac_mve_letter(t, o));
            if (pass == 2)
                k->name[o] = ac_strf(M->region, "$%d", (int)(k->results + k->n));
            k->arg[k->n] = operand(f, in, t, o);
            k->type[k->n] = LLVMTypeOf(k->arg[k->n]);
            k->n++;
        }
    for (const char *const *c = ac_mve_clobbers(t); *c; c++)
        ac_putf(&k->constraints, "~{%s},", *c);
    ac_put(&k->constraints, "~{cc},~{memory}");
}

int l_mve_tile(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const ac_tile t = ac_ins_tile(in);
    if (!ac_mve_has(M->target, &t))
        return ac_error(M->cx, (ac_place){0}, E0901, "the LLVM printer has no tile %s of %d x %d for %s",
                        ac_tile_text[t.form], (int)t.rows, (int)t.channels, M->target->name);
    call k = {.n = 0};
    prepare(f, in, &t, &k);
    const char *text = ac_mve_asm(M->cx, &t, k.name, "\n"), *list = ac_sink_text(&k.constraints);
    LLVMTypeRef all = k.results > 1 ? LLVMStructTypeInContext(M->lc, k.type, (unsigned)k.results, false) : k.type[0];
    LLVMTypeRef fn = LLVMFunctionType(all, k.type, (unsigned)k.n, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(fn, text, strlen(text), list, strlen(list), true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(M->b, fn, code, k.arg, (unsigned)k.n, "");
    return AC_OK;
}

static LLVMValueRef words(l_fn *f, int32_t buf, LLVMValueRef index, int64_t more)
{
    l_module *M = f->M;
    LLVMValueRef at = address(f, buf, LLVMBuildAdd(M->b, index, l_int(M, AC_I32, more, 1), ""));
    LLVMValueRef v = LLVMBuildLoad2(M->b, l_lanes(M->i32, 4), at, "");
    LLVMSetAlignment(v, 4);
    return v;
}

int l_requant(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    LLVMBuilderRef b = M->b;
    const ac_requant4 q = ac_ins_requant(in);
    if (!M->target->mve)
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
    LLVMSetAlignment(LLVMBuildStore(b, LLVMBuildTrunc(b, v, l_lanes(M->i8, 4), ""), address(f, q.y, f->val[in->a])), 1);
    return AC_OK;
}
