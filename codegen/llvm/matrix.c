/* matrix.c - prints TILE for processors with matrix registers (AMX): a function for each shape of tile, whose loop over
 * steps uses the intrinsics with explicit registers; codegen/matrix_tile.h assigns them. */
#include "codegen/llvm/ir.h"
#include "codegen/matrix_tile.h"

enum { X, PITCH, W, STEPS, ACC, PARAMETERS };

static LLVMValueRef reg(const l_module *M, int32_t number)
{
    return LLVMConstInt(M->i8, (unsigned)number, false);
}

static LLVMValueRef of_bytes(const l_module *M, int64_t n)
{
    return LLVMConstInt(M->i64, (uint64_t)n, false);
}

static LLVMValueRef at(const l_module *M, LLVMValueRef base, LLVMValueRef bytes)
{
    return LLVMBuildGEP2(M->b, M->i8, base, &bytes, 1, "");
}

static void call(const l_module *M, const char *name, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LLVMValueRef arg[] = {a, b, c};
    l_intrinsic(M, name, NULL, arg, c ? 3 : b ? 2 : a ? 1 : 0);
}

static void configure(const l_module *M, const char *name, const ac_matrix_tile *m)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(M->lc, (const char *)m->config, AC_MATRIX_CONFIG, true);
    LLVMValueRef config = LLVMAddGlobal(M->mod, LLVMTypeOf(bytes), ac_strf(M->region, "%s_config", name));
    LLVMSetLinkage(config, LLVMInternalLinkage);
    LLVMSetGlobalConstant(config, true);
    LLVMSetAlignment(config, AC_MATRIX_CONFIG);
    LLVMSetInitializer(config, bytes);
    call(M, "llvm.x86.ldtilecfg", config, NULL, NULL);
}

/* One step: loads rows and weights, and multiplies each pair of them. */
static void step(const l_module *M, const ac_tile *t, const ac_matrix_tile *m, LLVMValueRef f, LLVMValueRef k)
{
    const int32_t blocks = t->channels / 16;
    LLVMValueRef x = at(M, LLVMGetParam(f, X), LLVMBuildMul(M->b, k, of_bytes(M, 64), ""));
    LLVMValueRef w = at(M, LLVMGetParam(f, W), LLVMBuildMul(M->b, k, of_bytes(M, 64 * t->channels), ""));
    LLVMValueRef pitch = LLVMGetParam(f, PITCH);
    for (int32_t p = 0; p < m->parts; p++) {
        LLVMValueRef first = LLVMBuildMul(M->b, pitch, of_bytes(M, p ? m->rows[0] : 0), "");
        call(M, "llvm.x86.tileloadd64", reg(M, AC_MATRIX_X + p), at(M, x, first), pitch);
    }
    for (int32_t c = 0; c < blocks; c++)
        call(M, "llvm.x86.tileloadd64", reg(M, AC_MATRIX_W + c), at(M, w, of_bytes(M, 64 * c)),
             of_bytes(M, 4 * t->channels));
    for (int32_t p = 0; p < m->parts; p++)
        for (int32_t c = 0; c < blocks; c++)
            call(M, "llvm.x86.tdpbssd", reg(M, ac_matrix_sum(p, c)), reg(M, AC_MATRIX_X + p), reg(M, AC_MATRIX_W + c));
}

static LLVMValueRef make(l_module *M, const char *name, LLVMTypeRef type, const ac_tile *t)
{
    const ac_matrix_tile m = ac_matrix_tile_of(t);
    const int32_t blocks = t->channels / 16;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(M->b);
    LLVMValueRef f = l_inner_function(M, name, type, "noinline");
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(M->lc, f, "entry"),
                      loop = LLVMAppendBasicBlockInContext(M->lc, f, "loop"),
                      end = LLVMAppendBasicBlockInContext(M->lc, f, "end");
    LLVMPositionBuilderAtEnd(M->b, entry);
    configure(M, name, &m);
    for (int32_t i = 0; i < m.parts * blocks; i++)
        call(M, "llvm.x86.tilezero", reg(M, ac_matrix_sum(i / blocks, i % blocks)), NULL, NULL);
    LLVMBuildBr(M->b, loop);
    LLVMPositionBuilderAtEnd(M->b, loop);
    LLVMValueRef k = LLVMBuildPhi(M->b, M->i64, "k");
    step(M, t, &m, f, k);
    LLVMValueRef next = LLVMBuildAdd(M->b, k, of_bytes(M, 1), ""), from[] = {of_bytes(M, 0), next};
    LLVMBasicBlockRef of[] = {entry, loop};
    LLVMAddIncoming(k, from, of, 2);
    LLVMBuildCondBr(M->b, LLVMBuildICmp(M->b, LLVMIntULT, next, LLVMGetParam(f, STEPS), ""), loop, end);
    LLVMPositionBuilderAtEnd(M->b, end);
    for (int32_t p = 0; p < m.parts; p++)
        for (int32_t c = 0; c < blocks; c++)
            call(M, "llvm.x86.tilestored64", reg(M, ac_matrix_sum(p, c)),
                 at(M, LLVMGetParam(f, ACC), of_bytes(M, 4 * (p * m.rows[0] * t->channels + c * 16))),
                 of_bytes(M, 4 * t->channels));
    call(M, "llvm.x86.tilerelease", NULL, NULL, NULL);
    LLVMBuildRetVoid(M->b);
    LLVMPositionBuilderAtEnd(M->b, before);
    return f;
}

void l_matrix_tile(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    const ac_tile t = ac_ins_tile(in);
    LLVMTypeRef param[PARAMETERS] = {M->ptr, M->i64, M->ptr, M->i64, M->ptr};
    LLVMTypeRef type = LLVMFunctionType(M->none, param, PARAMETERS, false);
    const char *name = ac_strf(M->region, "%s_tile_matrix_%dx%d", M->m->name, (int)t.rows, (int)t.channels);
    LLVMValueRef made = LLVMGetNamedFunction(M->mod, name);
    if (!made)
        made = make(M, name, type, &t);
    LLVMValueRef arg[PARAMETERS] = {
        l_asm_address(f, t.x, f->val[in->a]), of_bytes(M, t.pitch), l_asm_address(f, t.w, f->val[in->b]),
        LLVMBuildZExt(M->b, f->val[in->c], M->i64, ""), l_asm_address(f, t.acc, l_int(M, AC_I32, 0, 1))};
    LLVMBuildCall2(M->b, type, made, arg, PARAMETERS, "");
}
