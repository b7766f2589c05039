/* tile.c - prints TILE as inline assembly: the loop over its steps with the block of codegen/tile_asm.h inside.
 *
 * Accumulators and pointers are in-out operands. The end of the weights is passed in lr and stored on the stack,
 * because no register is left (an operand in memory would need one for its address). */
#include "codegen/llvm/ir.h"
#include "codegen/rvv_asm.h"
#include "codegen/tile_asm.h"

enum {
    MOST = 6 + 3,       /* accumulators; rows, weights, their end or the number of steps */
    MOST_BYTES = 8 + 5, /* UNSIGNED: accumulators; x, w, free registers, the end of x */
};

/* "=&{r0},..,={r6},={r7},={lr},6,7,8,~{r8},.." for n accumulators, and then x, w and their end; for ROW the number of
 * steps is in r5, and lr is changed. Registers are fixed: if a live value is in one of them, LLVM may assign one
 * register to two operands instead of spilling it. */
static const char *constraints(const l_module *M, int32_t n, ac_tile_form form)
{
    ac_sink s;
    ac_sink_open(&s, M->cx);
    for (int32_t i = 0; i < n; i++)
        ac_putf(&s, "=&{r%d},", (int)i);
    ac_putf(&s, "={r6},={r7},={%s},", form == AC_TILE_ROW ? "r5" : "lr");
    for (int32_t i = n; i < n + 3; i++)
        ac_putf(&s, "%d,", (int)i);
    ac_put(&s, "~{r8},~{r9},~{r10},~{r11},~{r12},");
    ac_put(&s, form == AC_TILE_ROW ? "~{lr},~{cc},~{memory}" : "~{cc},~{memory}");
    return ac_sink_text(&s);
}

static LLVMValueRef element(l_fn *f, int32_t buf, LLVMValueRef index, int64_t more)
{
    return l_asm_address(f, buf, LLVMBuildAdd(f->M->b, index, l_int(f->M, AC_I32, more, 1), ""));
}

/* The call with x, w and their end; its results are n accumulators, and these. */
static LLVMValueRef call(l_fn *f, const ac_tile *t, LLVMValueRef *operand, int32_t n)
{
    l_module *M = f->M;
    LLVMTypeRef type[MOST];
    const char *name[MOST];
    ac_sink zero;
    ac_sink_open(&zero, M->cx);
    for (int32_t i = 0; i < n + 3; i++) {
        type[i] = i < n ? M->i32 : LLVMTypeOf(operand[i - n]);
        name[i] = ac_strf(M->region, "$%d", (int)i);
        if (i < n)
            ac_putf(&zero, "movs %s, #0\n", name[i]);
    }
    const char *x = name[n], *w = name[n + 1], *list = constraints(M, n, t->form);
    const char *body = ac_tile_asm(M->cx, t, name, x, w, name[n + 2], "\n");
    const char *text = t->form == AC_TILE_ROW
                           ? ac_strf(M->region, "%s%s", ac_sink_text(&zero), body)
                           : ac_strf(M->region, "push {lr}\n%s1:\n%sldr lr, [sp]\ncmp %s, lr\nbne 1b\nadd sp, sp, #4",
                                     ac_sink_text(&zero), body, w);
    LLVMTypeRef all = LLVMStructTypeInContext(M->lc, type, (unsigned)n + 3, false);
    LLVMTypeRef fn = LLVMFunctionType(all, type + n, 3, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(fn, text, strlen(text), list, strlen(list), true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(M->b, fn, code, operand, 3, "");
}

/* UNSIGNED: accumulators, x, w, two free registers, and the end of x. */
static const char *bytes_constraints(const l_module *M, int32_t channels)
{
    ac_sink s;
    ac_sink_open(&s, M->cx);
    for (int32_t i = 0; i < channels; i++)
        ac_putf(&s, "={r%d},", (int)(i < AC_TILE_LOW ? i : i + 4));
    ac_put(&s, "={r4},={r5},=&{r6},=&{r7},");
    for (int32_t i = 0; i < channels + 2; i++)
        ac_putf(&s, "%d,", (int)i);
    ac_put(&s, "{r12},~{cc},~{memory}");
    return ac_sink_text(&s);
}

static int bytes_tile(l_fn *f, const ac_ins *in, const ac_tile *t)
{
    l_module *M = f->M;
    const int32_t n = t->channels;
    LLVMValueRef operand[MOST_BYTES], place[MOST_BYTES];
    LLVMTypeRef type[MOST_BYTES];
    const char *name[MOST_BYTES];
    for (int32_t i = 0; i < n; i++) {
        place[i] = element(f, t->acc, l_int(M, AC_I32, i, 1), 0);
        operand[i] = LLVMBuildLoad2(M->b, M->i32, place[i], "");
    }
    operand[n] = element(f, t->x, f->val[in->a], 0);
    operand[n + 1] = element(f, t->w, f->val[in->b], 0);
    LLVMValueRef bytes = LLVMBuildMul(M->b, f->val[in->c], l_int(M, AC_I32, t->depth, 1), "");
    operand[n + 2] = LLVMBuildGEP2(M->b, M->i8, operand[n], &bytes, 1, "");
    for (int32_t i = 0; i < n + 5; i++) {
        name[i] = ac_strf(M->region, "$%d", (int)i);
        type[i] = i < n + 2 ? LLVMTypeOf(operand[i]) : M->i32;
    }
    const char *list = bytes_constraints(M, n), *x = name[n], *end = ac_strf(M->region, "$%d", (int)(2 * n + 6));
    const char *text =
        ac_strf(M->region, "1:\n%scmp %s, %s\nbne 1b",
                ac_tile_bytes_asm(M->cx, t, n, name, x, name[n + 1], name[n + 2], name[n + 3], "\n"), x, end);
    LLVMTypeRef all = LLVMStructTypeInContext(M->lc, type, (unsigned)n + 4, false), given[MOST_BYTES];
    for (int32_t i = 0; i < n + 3; i++)
        given[i] = LLVMTypeOf(operand[i]);
    LLVMTypeRef fn = LLVMFunctionType(all, given, (unsigned)n + 3, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(fn, text, strlen(text), list, strlen(list), true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef v = LLVMBuildCall2(M->b, fn, code, operand, (unsigned)n + 3, "");
    for (int32_t i = 0; i < n; i++)
        LLVMBuildStore(M->b, LLVMBuildExtractValue(M->b, v, (unsigned)i, ""), place[i]);
    return AC_OK;
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
    if (t.form == AC_TILE_MATRIX && M->target->amx) {
        l_matrix_tile(f, in);
        return AC_OK;
    }
    if (!ac_tile_pairs(t.form) && t.form != AC_TILE_UNSIGNED)
        return l_mve_tile(f, in);
    if (!ac_tile_has_asm(M->target, &t))
        return ac_error(M->cx, (ac_place){0}, E0901, "the LLVM printer has no tile of %d x %d for %s", (int)t.rows,
                        (int)t.channels, M->target->name);
    if (t.form == AC_TILE_UNSIGNED)
        return bytes_tile(f, in, &t);
    LLVMValueRef operand[3];
    const int32_t step = 8 * t.channels, early = t.form == AC_TILE_PAIRS ? 1 : 0; /* PAIRS begin one step early */
    operand[0] = element(f, t.x, f->val[in->a], -8 * t.rows * early);
    operand[1] = element(f, t.w, f->val[in->b], -step * early);
    operand[2] = f->val[in->c];
    if (early) {
        LLVMValueRef bytes = LLVMBuildMul(M->b, f->val[in->c], l_int(M, AC_I32, step, 1), "");
        operand[2] = LLVMBuildGEP2(M->b, M->i8, operand[1], &bytes, 1, "");
    }
    LLVMValueRef v = call(f, &t, operand, n);
    for (int32_t i = 0; i < n; i++)
        LLVMBuildStore(M->b, LLVMBuildExtractValue(M->b, v, (unsigned)i, ""),
                       element(f, t.acc, l_int(M, AC_I32, i, 1), 0));
    return AC_OK;
}
