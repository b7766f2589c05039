/* tile.c - TILE as inline assembly: the loop over its steps with the block of codegen/tile_asm.h inside.
 *
 * Accumulators and pointers are operands that go in and come out. Where the weights end comes in in lr and waits on the
 * stack, because no register is left (an operand in memory would need one for its address). */
#include "codegen/llvm/ir.h"
#include "codegen/rvv_asm.h"
#include "codegen/tile_asm.h"

enum { MOST = 6 + 3 }; /* accumulators; rows, weights, their end or how many steps */

/* "=r,=r,..,={lr},0,1,..,~{r8},.." for n operands, the last in lr; of ROW in any register, and lr is changed */
static const char *constraints(const l_module *M, int32_t n, ac_tile_form form)
{
    ac_sink s;
    ac_sink_open(&s, M->cx);
    for (int32_t i = 0; i < n; i++)
        ac_put(&s, i + 1 < n || form == AC_TILE_ROW ? "=r," : "={lr},");
    for (int32_t i = 0; i < n; i++)
        ac_putf(&s, "%d,", (int)i);
    ac_put(&s, "~{r8},~{r9},~{r10},~{r11},~{r12},");
    ac_put(&s, form == AC_TILE_ROW ? "~{lr},~{cc},~{memory}" : "~{cc},~{memory}");
    return ac_sink_text(&s);
}

static LLVMValueRef element(l_fn *f, int32_t buf, LLVMValueRef index, int64_t more)
{
    l_module *M = f->M;
    LLVMTypeRef type = l_memory_type(M, f->fn->buf.item[buf].dtype, 1);
    index = LLVMBuildAdd(M->b, index, l_int(M, AC_I32, more, 1), "");
    return LLVMBuildGEP2(M->b, type, f->buf[buf], &index, 1, "");
}

/* The call; its results are the operands' values after it. */
static LLVMValueRef call(l_fn *f, const ac_tile *t, LLVMValueRef *operand, int32_t n)
{
    l_module *M = f->M;
    LLVMTypeRef type[MOST];
    const char *name[MOST];
    for (int32_t i = 0; i < n; i++) {
        type[i] = LLVMTypeOf(operand[i]);
        name[i] = ac_strf(M->region, "$%d", (int)i);
    }
    const char *x = name[n - 3], *w = name[n - 2], *last = name[n - 1], *list = constraints(M, n, t->form);
    const char *text = ac_tile_asm(M->cx, t, name, x, w, last, "\n");
    if (t->form == AC_TILE_PAIRS)
        text = ac_strf(M->region, "push {lr}\n1:\n%sldr lr, [sp]\ncmp %s, lr\nbne 1b\nadd sp, sp, #4", text, w);
    LLVMTypeRef all = LLVMStructTypeInContext(M->lc, type, (unsigned)n, false);
    LLVMTypeRef fn = LLVMFunctionType(all, type, (unsigned)n, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(fn, text, strlen(text), list, strlen(list), true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(M->b, fn, code, operand, (unsigned)n, "");
}

int l_tile(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const ac_tile t = ac_ins_tile(in);
    const int32_t n = t.rows * t.channels;
    if (ac_rvv_has(f->M->target, &t)) {
        l_rvv_tile(f, in);
        return AC_OK;
    }
    if (!ac_tile_pairs(t.form))
        return l_mve_tile(f, in);
    if (!ac_tile_has_asm(M->target, &t))
        return ac_error(M->cx, (ac_place){0}, E0901, "the LLVM printer has no tile of %d x %d for %s", (int)t.rows,
                        (int)t.channels, M->target->name);
    LLVMValueRef operand[MOST], place[MOST];
    for (int32_t i = 0; i < n; i++) {
        place[i] = element(f, t.acc, l_int(M, AC_I32, i, 1), 0);
        operand[i] = t.form == AC_TILE_ROW ? l_int(M, AC_I32, 0, 1) : LLVMBuildLoad2(M->b, M->i32, place[i], "");
    }
    if (t.form == AC_TILE_ROW) {
        operand[n] = element(f, t.x, f->val[in->a], 0);
        operand[n + 1] = element(f, t.w, f->val[in->b], 0);
        operand[n + 2] = f->val[in->c];
    } else { /* one step early */
        const int32_t step = 8 * t.channels;
        operand[n] = element(f, t.x, f->val[in->a], -8 * t.rows);
        operand[n + 1] = element(f, t.w, f->val[in->b], -step);
        LLVMValueRef bytes = LLVMBuildMul(M->b, f->val[in->c], l_int(M, AC_I32, step, 1), "");
        operand[n + 2] = LLVMBuildGEP2(M->b, M->i8, operand[n + 1], &bytes, 1, "");
    }
    LLVMValueRef v = call(f, &t, operand, n + 3);
    for (int32_t i = 0; i < n; i++)
        LLVMBuildStore(M->b, LLVMBuildExtractValue(M->b, v, (unsigned)i, ""), place[i]);
    return AC_OK;
}
