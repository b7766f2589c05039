/* rvv.c - prints TILE and REQUANT for processors with RISC-V vectors: functions of inline assembly (codegen/rvv_asm.h),
 * one for each shape, so that the object contains its code once. */
#include "codegen/llvm/ir.h"
#include "codegen/rvv_asm.h"

enum { MOST = AC_RVV_NUMBERS };

typedef const char *writer(ac_ctx *cx, const void *what, const char *const *name);

static const char *clobbers(const l_module *M)
{
    ac_sink s;
    ac_sink_open(&s, M->cx);
    for (int i = 0; i < 32; i++)
        ac_putf(&s, "~{v%d},", i);
    ac_put(&s, "~{x5},~{x6},~{x7},~{x28},~{x29},~{x30},~{x31},~{vl},~{vtype},~{vxrm},~{vxsat},~{memory}");
    return ac_sink_text(&s);
}

/* A function of the operands, whose body is the text. */
static LLVMValueRef make(l_module *M, const char *name, LLVMTypeRef type, const l_operand *o, int32_t n, writer *w,
                         const void *what)
{
    l_operand param[MOST];
    const char *called[MOST];
    LLVMBasicBlockRef before = LLVMGetInsertBlock(M->b);
    LLVMValueRef f = l_inner_function(M, name, type, "noinline");
    LLVMPositionBuilderAtEnd(M->b, LLVMAppendBasicBlockInContext(M->lc, f, "entry"));
    for (int32_t i = 0; i < n; i++)
        param[i] = (l_operand){LLVMGetParam(f, (unsigned)i), o[i].letter, o[i].changes};
    l_asm_names(M, param, n, called);
    l_asm_call(M, param, n, w(M->cx, what, called), clobbers(M));
    LLVMBuildRetVoid(M->b);
    LLVMPositionBuilderAtEnd(M->b, before);
    return f;
}

static void call(l_module *M, const char *name, const l_operand *o, int32_t n, writer *w, const void *what)
{
    LLVMTypeRef param[MOST];
    LLVMValueRef arg[MOST];
    for (int32_t i = 0; i < n; i++) {
        arg[i] = o[i].value;
        param[i] = LLVMTypeOf(o[i].value);
    }
    name = ac_strf(M->region, "%s_%s", M->m->name, name);
    LLVMTypeRef type = LLVMFunctionType(M->none, param, (unsigned)n, false);
    LLVMValueRef f = LLVMGetNamedFunction(M->mod, name);
    if (!f)
        f = make(M, name, type, o, n, w, what);
    LLVMBuildCall2(M->b, type, f, arg, (unsigned)n, "");
}

/* ------------------------------------------------------------------ tiles */

static LLVMValueRef operand(l_fn *f, const ac_ins *in, const ac_tile *t, ac_rvv_operand o)
{
    switch (o) {
    case AC_RVV_X:
        return l_asm_address(f, t->x, f->val[in->a]);
    case AC_RVV_W:
        return l_asm_address(f, t->w, f->val[in->b]);
    case AC_RVV_STEPS:
        return f->val[in->c];
    case AC_RVV_TO:
        return l_asm_address(f, t->acc, t->form == AC_TILE_SPREAD ? f->val[in->b] : l_int(f->M, AC_I32, 0, 1));
    case AC_RVV_OPERANDS:
        break;
    }
    return NULL;
}

/* The names of the operands that the form uses, by operand. */
static const char *tile_text(ac_ctx *cx, const void *what, const char *const *name)
{
    const ac_tile *t = what;
    const char *of[AC_RVV_OPERANDS] = {NULL};
    for (ac_rvv_operand o = 0; o < AC_RVV_OPERANDS; o++)
        if (ac_rvv_takes(t, o))
            of[o] = *name++;
    return ac_rvv_asm(cx, t, of, "\n");
}

void l_rvv_tile(l_fn *f, const ac_ins *in)
{
    const ac_tile t = ac_ins_tile(in);
    l_operand list[AC_RVV_OPERANDS];
    int32_t n = 0;
    for (ac_rvv_operand o = 0; o < AC_RVV_OPERANDS; o++)
        if (ac_rvv_takes(&t, o))
            list[n++] = (l_operand){operand(f, in, &t, o), "r", ac_rvv_changes(&t, o)};
    call(f->M, ac_rvv_name(f->M->cx, &t), list, n, tile_text, &t);
}

/* ------------------------------------------------------------------ requantisation */

static const char *requant_text(ac_ctx *cx, const void *what, const char *const *name)
{
    return ac_rvv_requant(cx, what, name, "\n");
}

void l_rvv_requant(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const ac_requants q = ac_ins_requant(in);
    const l_operand list[AC_RVV_NUMBERS] = {
        [AC_RVV_ACC] = {l_asm_address(f, q.acc, l_int(M, AC_I32, (int64_t)q.lanes * q.row, 1)), "r", false},
        [AC_RVV_M] = {l_asm_address(f, q.table, f->val[in->b]), "r", false},
        [AC_RVV_BIAS] = {l_asm_address(f, q.table, f->val[in->c]), "r", false},
        [AC_RVV_Y] = {l_asm_address(f, q.y, f->val[in->a]), "r", false},
        [AC_RVV_ZERO] = {l_int(M, AC_I32, q.zero, 1), "r", false},
        [AC_RVV_LO] = {l_int(M, AC_I32, q.lo, 1), "r", false},
        [AC_RVV_HI] = {l_int(M, AC_I32, q.hi, 1), "r", false},
    };
    call(M, ac_rvv_requant_name(M->cx, &q), list, AC_RVV_NUMBERS, requant_text, &q);
}
