/* nests.c - prints loops marked nest (codegen/nests.h) as the call of a function of assembly (codegen/mve_nests.h),
 * with an array of words. */
#include "codegen/llvm/ir.h"
#include "codegen/mve_nests.h"

#include <string.h>

static LLVMValueRef number_of(l_fn *f, const ac_nest *n, ac_nest_arg a, int64_t none)
{
    LLVMBuilderRef b = f->M->b;
    LLVMValueRef v = l_int(f->M, AC_I32, n->arg[a].term[0] ? 0 : none, 1);
    for (const ac_x *x = n->arg[a].term; *x; x++)
        v = *x > 0 ? LLVMBuildAdd(b, v, f->val[*x], "") : LLVMBuildSub(b, v, f->val[-*x], "");
    return v;
}

static LLVMValueRef times(l_fn *f, LLVMValueRef v, int64_t by)
{
    return LLVMBuildMul(f->M->b, v, l_int(f->M, AC_I32, by, 1), "");
}

static LLVMValueRef less(l_fn *f, LLVMValueRef v, LLVMValueRef by)
{
    return LLVMBuildSub(f->M->b, v, by, "");
}

/* The address of element at + more of a buffer, as a word. */
static LLVMValueRef address(l_fn *f, int32_t buf, LLVMValueRef at, LLVMValueRef more)
{
    l_module *M = f->M;
    return LLVMBuildPtrToInt(M->b, l_asm_address(f, buf, more ? LLVMBuildAdd(M->b, at, more, "") : at), M->i32, "");
}

static void fill_words(l_fn *f, const ac_nest *n, LLVMValueRef word[AC_MVE_WORDS])
{
    const bool rows = n->form == AC_NEST_ROWS;
    const int32_t each = n->tile.rows;
    LLVMValueRef x = number_of(f, n, AC_NEST_X, 0), y = number_of(f, n, AC_NEST_Y, 0);
    LLVMValueRef outer = number_of(f, n, AC_NEST_OUTER, 0), inner = number_of(f, n, AC_NEST_INNER, 0);
    LLVMValueRef steps = number_of(f, n, AC_NEST_STEPS, 0), bias = number_of(f, n, AC_NEST_BIAS, 0);
    LLVMValueRef pitch = rows ? times(f, steps, 16) : l_int(f->M, AC_I32, n->tile.pitch, 1);
    word[AC_MVE_ROW] = address(f, n->tile.x, x, NULL);
    word[AC_MVE_NEXT_ROW] = address(f, n->tile.x, x, pitch);
    word[AC_MVE_WEIGHTS] = address(f, n->tile.w, number_of(f, n, AC_NEST_W, 0), NULL);
    word[AC_MVE_BIASES] = address(f, n->q.table, bias, NULL);
    word[AC_MVE_FACTORS] = address(f, n->q.table, number_of(f, n, AC_NEST_M, 0), NULL);
    word[AC_MVE_OUT] = address(f, n->q.y, y, NULL);
    word[AC_MVE_ZERO] = l_int(f->M, AC_I32, n->q.zero, 1);
    word[AC_MVE_LEFT] = l_int(f->M, AC_I32, n->q.pre, 1);
    if (rows) {
        word[AC_MVE_NEXT_OUT] = each > 1 ? less(f, number_of(f, n, AC_NEST_Y_NEXT, 0), y) : l_int(f->M, AC_I32, 0, 1);
        word[AC_MVE_END] = address(f, n->q.table, bias, times(f, inner, n->shared ? 1 : 3));
        word[AC_MVE_ROW_STEPS] = steps;
        word[AC_MVE_HALF] = less(f, times(f, steps, 128), l_int(f->M, AC_I32, 16, 1));
        word[AC_MVE_TURNS] = n->turns ? outer : LLVMBuildUDiv(f->M->b, outer, l_int(f->M, AC_I32, each, 1), "");
        word[AC_MVE_ADVANCE] = times(f, pitch, each);
        return;
    }
    LLVMValueRef y_inner = number_of(f, n, AC_NEST_Y_INNER, 1);
    word[AC_MVE_NEXT_OUT] = inner;
    word[AC_MVE_END] = outer;
    word[AC_MVE_ROW_STEPS] = less(f, number_of(f, n, AC_NEST_X_OUTER, 1), times(f, inner, n->tile.shift));
    word[AC_MVE_HALF] = y_inner;
    word[AC_MVE_TURNS] = less(f, number_of(f, n, AC_NEST_Y_OUTER, 1), LLVMBuildMul(f->M->b, inner, y_inner, ""));
    word[AC_MVE_ADVANCE] = l_int(f->M, AC_I32, 0, 1);
}

static int32_t fill_sum(l_fn *f, const ac_nest *n, LLVMValueRef *word)
{
    int32_t k = 0;
    word[k++] = address(f, n->sum.a, number_of(f, n, AC_NEST_X, 0), NULL);
    word[k++] = address(f, n->sum.b, number_of(f, n, AC_NEST_W, 0), NULL);
    word[k++] = address(f, n->sum.y, number_of(f, n, AC_NEST_Y, 0), NULL);
    word[k++] = number_of(f, n, AC_NEST_INNER, 0);
    word[k++] = l_int(f->M, AC_I32, n->sum.ma, 1);
    word[k++] = l_int(f->M, AC_I32, n->sum.mb, 1);
    word[k++] = l_int(f->M, AC_I32, ac_mve_sum_start(&n->sum), 1);
    return k;
}

int l_nest(l_fn *f, const ac_nest *n)
{
    l_module *M = f->M;
    LLVMValueRef word[AC_MVE_WORDS];
    if (!ac_mve_has_nest(M->target, n))
        return ac_error(M->cx, (ac_place){0}, E0901, "the LLVM printer has no nest of %s for %s",
                        ac_tile_text[n->tile.form], M->target->name);
    LLVMTypeRef array = LLVMArrayType2(M->i32, AC_MVE_WORDS), type = LLVMFunctionType(M->none, &M->ptr, 1, false);
    LLVMValueRef a = l_slot(f, array, "a");
    int32_t words = AC_MVE_WORDS;
    if (n->form == AC_NEST_SUMS)
        words = fill_sum(f, n, word);
    else
        fill_words(f, n, word);
    for (int32_t w = 0; w < words; w++) {
        LLVMValueRef at[2] = {l_int(M, AC_I32, 0, 1), l_int(M, AC_I32, w, 1)};
        LLVMBuildStore(M->b, word[w], LLVMBuildInBoundsGEP2(M->b, array, a, at, 2, ""));
    }
    const char *name = ac_mve_nest_name(M->cx, f->fn, n), *text = ac_mve_nest_asm(M->cx, f->fn, n);
    LLVMBuildCall2(M->b, type, l_naked_function(M, name, type, text), &a, 1, "");
    return AC_OK;
}
