/* inline_asm.c - emits inline assembly: operands that change are results and also the first arguments. */
#include "codegen/llvm/ir.h"

enum { MOST = 16 };

void l_asm_names(l_module *M, const l_operand *o, int32_t n, const char **name)
{
    int32_t results = 0, others = 0;
    for (int32_t i = 0; i < n; i++)
        results += o[i].changes;
    int32_t changed = 0;
    for (int32_t i = 0; i < n; i++)
        name[i] = ac_strf(M->region, "$%d", o[i].changes ? (int)changed++ : (int)(2 * results + others++));
}

/* "=&r,..,0,..,r,..,~{r0},..": results, inputs in the same registers, other operands */
void l_asm_call(l_module *M, const l_operand *o, int32_t n, const char *text, const char *clobbers)
{
    LLVMValueRef arg[MOST];
    LLVMTypeRef type[MOST];
    ac_sink list;
    int32_t args = 0, results = 0;
    ac_sink_open(&list, M->cx);
    for (int32_t i = 0; i < n; i++)
        if (o[i].changes)
            ac_putf(&list, "=&%s,", o[i].letter);
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < n; i++) {
            if (o[i].changes != (pass == 0))
                continue;
            if (pass == 0)
                ac_putf(&list, "%d,", (int)results++);
            else
                ac_putf(&list, "%s,", o[i].letter);
            arg[args] = o[i].value;
            type[args++] = LLVMTypeOf(o[i].value);
        }
    ac_put(&list, clobbers);
    const char *constraints = ac_sink_text(&list);
    LLVMTypeRef all = results > 1    ? LLVMStructTypeInContext(M->lc, type, (unsigned)results, false)
                      : results == 1 ? type[0]
                                     : LLVMVoidTypeInContext(M->lc);
    LLVMTypeRef fn = LLVMFunctionType(all, type, (unsigned)args, false);
    LLVMValueRef code = LLVMGetInlineAsm(fn, text, strlen(text), constraints, strlen(constraints), true, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(M->b, fn, code, arg, (unsigned)args, "");
}

LLVMValueRef l_asm_address(l_fn *f, int32_t buf, LLVMValueRef index)
{
    l_module *M = f->M;
    return LLVMBuildGEP2(M->b, l_memory_type(M, f->fn->buf.item[buf].dtype, 1), f->buf[buf], &index, 1, "");
}
