/* tile.c - prints TILE as assembly of codegen/tile_asm.h: for Arm's DSP extension a function of its own, with nothing
 * else in it, for Armv6-M the loop over its steps in place, with accumulators and pointers as operands. */
#include "codegen/dsp/words.h"
#include "codegen/llvm/ir.h"
#include "codegen/rvv_asm.h"
#include "codegen/tile_asm.h"

enum { MOST_BYTES = 8 + 5 }; /* UNSIGNED: accumulators; x, w, free registers, the end of x */

static LLVMValueRef element(l_fn *f, int32_t buf, LLVMValueRef index, int64_t more)
{
    return l_asm_address(f, buf, LLVMBuildAdd(f->M->b, index, l_int(f->M, AC_I32, more, 1), ""));
}

LLVMValueRef l_naked_function(l_module *M, const char *own, LLVMTypeRef type, const char *text)
{
    const char *name = ac_strf(M->region, "%s_%s", M->m->name, own);
    LLVMValueRef f = LLVMGetNamedFunction(M->mod, name);
    if (f)
        return f;
    f = l_inner_function(M, name, type, "noinline");
    l_attribute(M, f, L_WHOLE, "naked", 0);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(M->b);
    LLVMPositionBuilderAtEnd(M->b, LLVMAppendBasicBlockInContext(M->lc, f, "entry"));
    LLVMTypeRef nothing = LLVMFunctionType(M->none, NULL, 0, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(nothing, text, strlen(text), "", 0, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(M->b, nothing, code, NULL, 0, "");
    LLVMBuildUnreachable(M->b);
    LLVMPositionBuilderAtEnd(M->b, from);
    return f;
}

static void pairs_tile(l_fn *f, const ac_ins *in, const char *name, const char *text)
{
    l_module *M = f->M;
    const ac_tile tile = ac_ins_tile(in), *t = &tile;
    LLVMTypeRef param[4] = {M->ptr, M->ptr, M->i32, M->ptr};
    LLVMTypeRef type = LLVMFunctionType(M->none, param, 4, false);
    LLVMValueRef given[4] = {element(f, t->x, f->val[in->a], 0), element(f, t->w, f->val[in->b], 0), f->val[in->c],
                             element(f, t->acc, l_int(M, AC_I32, 0, 1), 0)};
    LLVMValueRef fn = l_naked_function(M, name, type, text);
    LLVMBuildCall2(M->b, type, fn, given, 4, "");
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
    if (ac_rvv_has(f->M->target, &t)) {
        l_rvv_tile(f, in);
        return AC_OK;
    }
    if (t.form == AC_TILE_MATRIX && M->target->amx) {
        l_matrix_tile(f, in);
        return AC_OK;
    }
    if (ac_words_has(M->target, &t)) {
        pairs_tile(f, in, ac_words_name(M->cx, &t), ac_words_asm(M->cx, &t));
        return AC_OK;
    }
    if (!ac_tile_pairs(t.form) && t.form != AC_TILE_UNSIGNED)
        return l_mve_tile(f, in);
    if (!ac_tile_has_asm(M->target, &t))
        return ac_error(M->cx, (ac_place){0}, E0901, "the LLVM printer has no tile of %d x %d for %s", (int)t.rows,
                        (int)t.channels, M->target->name);
    if (t.form == AC_TILE_UNSIGNED)
        return bytes_tile(f, in, &t);
    pairs_tile(f, in, ac_tile_name(M->cx, &t), ac_tile_asm(M->cx, &t));
    return AC_OK;
}
