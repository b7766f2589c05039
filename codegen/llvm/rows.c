/* rows.c - prints the loops of codegen/dsp/rows.h as calls of a function that is assembly alone. */
#include "codegen/dsp/rows.h"
#include "codegen/llvm/ir.h"

static LLVMValueRef place(l_fn *f, int32_t buf, ac_x index, int64_t more)
{
    LLVMValueRef k = l_int(f->M, AC_I32, more, 1);
    return l_asm_address(f, buf, index ? LLVMBuildAdd(f->M->b, f->val[index], k, "") : k);
}

/* The words that the function reads, on the stack. */
static LLVMValueRef arguments(l_fn *f, const ac_rows *r, LLVMValueRef y)
{
    l_module *M = f->M;
    LLVMValueRef none = LLVMConstNull(M->ptr), zero = l_int(M, AC_I32, 0, 1),
                 second = place(f, r->y, r->place[1], r->first[1]);
    if (r->more)
        second = LLVMBuildSelect(M->b, f->val[r->more], second, y, "");
    LLVMValueRef word[AC_ROWS_WORDS] = {place(f, r->m, 0, 0),
                                        r->factor ? l_int(M, AC_I32, r->factor, 1) : f->val[r->number],
                                        second,
                                        f->val[r->steps],
                                        f->val[r->channels],
                                        r->bias < 0 ? none : place(f, r->bias, 0, 0),
                                        r->shift ? f->val[r->shift] : zero};
    LLVMValueRef args = l_slot(f, LLVMArrayType2(M->i32, AC_ROWS_WORDS), "args");
    for (int32_t i = 0; i < AC_ROWS_WORDS; i++) {
        LLVMValueRef at = l_int(M, AC_I32, i, 1);
        LLVMBuildStore(M->b, word[i], LLVMBuildInBoundsGEP2(M->b, M->i32, args, &at, 1, ""));
    }
    return args;
}

void l_rows(l_fn *f, const ac_rows *r)
{
    l_module *M = f->M;
    LLVMValueRef y = place(f, r->y, r->place[0], r->first[0]);
    LLVMTypeRef param[4] = {M->ptr, M->ptr, M->ptr, M->ptr};
    LLVMTypeRef type = LLVMFunctionType(M->none, param, 4, false);
    LLVMValueRef given[4] = {place(f, r->tile.x, r->x_at, 0), place(f, r->tile.w, 0, 0), y, arguments(f, r, y)};
    const char *name = ac_rows_name(M->cx, &r->form);
    LLVMBuildCall2(M->b, type, l_naked_function(M, name, type, ac_rows_asm(M->cx, &r->form)), given, 4, "");
}
