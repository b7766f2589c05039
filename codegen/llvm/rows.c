/* rows.c - prints the loops of codegen/dsp/rows.h, and functions of codegen/dsp/planes.h, as calls of functions that
 * are assembly alone. */
#include "codegen/dsp/planes.h"
#include "codegen/dsp/rows.h"
#include "codegen/dsp/words.h"
#include "codegen/llvm/ir.h"

static LLVMValueRef place(l_fn *f, int32_t buf, ac_x index)
{
    return l_asm_address(f, buf, index ? f->val[index] : l_int(f->M, AC_I32, 0, 1));
}

/* n words on the stack. */
static LLVMValueRef words(l_fn *f, LLVMValueRef *word, int32_t n)
{
    l_module *M = f->M;
    LLVMValueRef args = l_slot(f, LLVMArrayType2(M->i32, (uint64_t)n), "args");
    for (int32_t i = 0; i < n; i++) {
        LLVMValueRef at = l_int(M, AC_I32, i, 1);
        LLVMBuildStore(M->b, word[i], LLVMBuildInBoundsGEP2(M->b, M->i32, args, &at, 1, ""));
    }
    return args;
}

static void call(l_fn *f, const char *name, const char *text, LLVMValueRef *given, uint32_t n)
{
    l_module *M = f->M;
    LLVMTypeRef param[5] = {M->ptr, M->ptr, M->ptr, M->ptr, M->ptr};
    LLVMTypeRef type = LLVMFunctionType(M->none, param, n, false);
    LLVMBuildCall2(M->b, type, l_naked_function(M, name, type, text), given, n, "");
}

bool l_plane(l_fn *f, const ac_loop_fn *fn, const bool *restricted)
{
    l_module *M = f->M;
    const ac_plane *p = ac_planes_of(M->target, fn, restricted);
    if (!p)
        return false;
    const ac_planes_args a = ac_planes_args_of(p);
    const int32_t number[] = {a.channels, a.border, a.first_bytes, a.middle_bytes, a.middle_x, a.last_bytes, a.last_x};
    enum { NUMBERS = sizeof number / sizeof *number };
    LLVMTypeRef none = LLVMFunctionType(M->none, NULL, 0, false);
    LLVMValueRef word[1 + NUMBERS] = {
        l_naked_function(M, ac_planes_kernel_name(M->cx, p), none, ac_planes_kernel_asm(M->cx, p))};
    for (int32_t i = 0; i < NUMBERS; i++)
        word[1 + i] = l_int(M, AC_I32, number[i], 1);
    LLVMValueRef given[5] = {place(f, p->x, 0), place(f, p->w, 0), place(f, p->out, 0), words(f, word, 1 + NUMBERS),
                             place(f, p->m, 0)};
    call(f, ac_planes_name(), ac_planes_asm(M->cx), given, 5);
    return true;
}

static LLVMValueRef pixel_of(l_fn *f, const ac_rows *r, int32_t pixel)
{
    LLVMBuilderRef b = f->M->b;
    const ac_rows_sum *sum = &r->place[pixel];
    LLVMValueRef at = l_int(f->M, AC_I32, r->first[pixel], 1);
    for (int32_t i = 0; i < sum->n; i++) {
        LLVMValueRef term = f->val[sum->term[i]];
        if (sum->times[i])
            term = LLVMBuildMul(b, term, f->val[sum->times[i]], "");
        at = (sum->minus[i] ? LLVMBuildSub : LLVMBuildAdd)(b, at, term, "");
    }
    return l_asm_address(f, r->y, at);
}

/* The words that the function reads. */
static LLVMValueRef arguments(l_fn *f, const ac_rows *r, LLVMValueRef y)
{
    l_module *M = f->M;
    LLVMValueRef none = LLVMConstNull(M->ptr), zero = l_int(M, AC_I32, 0, 1), second = pixel_of(f, r, 1);
    if (r->more)
        second = LLVMBuildSelect(M->b, f->val[r->more], second, y, "");
    LLVMValueRef word[AC_ROWS_WORDS] = {place(f, r->m, 0),
                                        r->factor ? l_int(M, AC_I32, r->factor, 1) : f->val[r->number],
                                        second,
                                        f->val[r->steps],
                                        f->val[r->channels],
                                        r->bias < 0 ? none : place(f, r->bias, 0),
                                        r->shift ? f->val[r->shift] : zero};
    return words(f, word, AC_ROWS_WORDS);
}

static LLVMValueRef number_of(l_fn *f, ac_x x, int64_t otherwise)
{
    return x ? f->val[x] : l_int(f->M, AC_I32, otherwise, 1);
}

static void words_rows(l_fn *f, const ac_rows *r)
{
    l_module *M = f->M;
    LLVMTypeRef none = LLVMFunctionType(M->none, NULL, 0, false);
    LLVMValueRef sums = l_naked_function(M, ac_words_sums_name(), none, ac_words_sums_asm(M->cx));
    LLVMValueRef word[AC_WORDS_ARGS] = {[AC_WORDS_SUMS] = sums,
                                        [AC_WORDS_M] = place(f, r->m, 0),
                                        [AC_WORDS_FACTOR] = number_of(f, r->number, 1),
                                        [AC_WORDS_PITCH] = number_of(f, r->pitch, r->pitch_number),
                                        [AC_WORDS_STEPS] = f->val[r->steps],
                                        [AC_WORDS_CHANNELS] = f->val[r->channels],
                                        [AC_WORDS_BIAS] = r->bias < 0 ? LLVMConstNull(M->ptr) : place(f, r->bias, 0),
                                        [AC_WORDS_SHIFT] = f->val[r->shift],
                                        [AC_WORDS_TERM] = number_of(f, r->term, 0),
                                        [AC_WORDS_BEGIN] = f->val[r->begin],
                                        [AC_WORDS_END] = f->val[r->last]};
    LLVMValueRef given[4] = {place(f, r->tile.x, r->x_at), place(f, r->tile.w, 0), pixel_of(f, r, 0),
                             words(f, word, AC_WORDS_ARGS)};
    call(f, ac_words_rows_name(M->cx, &r->form), ac_words_rows_asm(M->cx, &r->form), given, 4);
}

void l_rows(l_fn *f, const ac_rows *r)
{
    l_module *M = f->M;
    if (r->tile.form == AC_TILE_WORDS) {
        words_rows(f, r);
        return;
    }
    LLVMValueRef y = pixel_of(f, r, 0);
    LLVMValueRef given[4] = {place(f, r->tile.x, r->x_at), place(f, r->tile.w, 0), y, arguments(f, r, y)};
    call(f, ac_rows_name(M->cx, &r->form), ac_rows_asm(M->cx, &r->form), given, 4);
}
