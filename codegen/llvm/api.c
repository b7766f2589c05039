/* api.c - prints the module around the loop functions: constants, and the API of docs/generated-c.md: NAME_init,
 * NAME_run, NAME_reset if there is state, NAME_outN for outputs that are constants. In a host build run is
 * NAME_steps(mem, hook), which calls the hook around every step; with a streamed input it is NAME_run_row(mem, row),
 * and NAME_run(mem, fill, user) calls that for all rows. Memories are passed in the struct NAME_mem: arena, weights,
 * state. */
#include "codegen/llvm/ir.h"
#include "codegen/llvm/jit.h"

enum { FIELD_ARENA, FIELD_WEIGHTS, FIELD_STATE };

/* ------------------------------------------------------------------ constants */

static LLVMValueRef global_bytes(l_module *M, const char *name, const void *data, ac_bytes n, int32_t align)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(M->lc, data, (size_t)n, true);
    LLVMValueRef g = LLVMAddGlobal(M->mod, LLVMTypeOf(bytes), name);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(g, align > 16 ? (unsigned)align : 16);
    if (M->m->section_rodata)
        LLVMSetSection(g, M->m->section_rodata);
    return g;
}

/* Constant i, which other modules share: defined here, or in the first of them. */
static LLVMValueRef shared_bytes(l_module *M, int32_t i)
{
    const ac_const *k = M->m->konst[i];
    const ac_bytes n = ac_dtype_size(k->dtype, k->count);
    const char *name = M->m->konst_name[i];
    if (!M->m->konst_extern[i]) {
        LLVMValueRef g = global_bytes(M, name, k->data, n, k->align);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetUnnamedAddress(g, LLVMNoUnnamedAddr);
        return g;
    }
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(M->lc), (uint64_t)n);
    LLVMValueRef g = LLVMGetNamedGlobal(M->mod, name);
    g = g ? g : LLVMAddGlobal(M->mod, bytes, name);
    LLVMSetGlobalConstant(g, true);
    LLVMSetAlignment(g, k->align > 16 ? (unsigned)k->align : 16);
    return g;
}

int l_constants(l_module *M)
{
    ac_module *m = M->m;
    AC_TRY(ac_consts_make(m));
    if (M->weights == AC_WEIGHTS_BLOB) {
        M->offset = AC_NEW_N(M->region, ac_bytes, m->n_konst + 1);
        ac_consts_layout(m, M->offset, &M->total);
        return AC_OK;
    }
    M->konst = AC_NEW_N(M->region, LLVMValueRef, m->n_konst + 1);
    if (M->appended) {
        l_appended_constants(M);
        return AC_OK;
    }
    int32_t *twin = ac_consts_twins(m, false);
    for (int32_t i = 0; i < m->n_konst; i++) {
        const ac_const *k = m->konst[i];
        if (m->konst_name && m->konst_name[i]) {
            M->konst[i] = shared_bytes(M, i);
            continue;
        }
        if (twin[i] < i) {
            M->konst[i] = M->konst[twin[i]];
            if (k->align > (int32_t)LLVMGetAlignment(M->konst[i]))
                LLVMSetAlignment(M->konst[i], (unsigned)k->align);
            continue;
        }
        const char *name = ac_strf(M->region, "%s_%s", m->name, k->name && *k->name ? k->name : "const");
        M->konst[i] = global_bytes(M, name, k->data, ac_dtype_size(k->dtype, k->count), k->align);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ functions of the API */

static LLVMValueRef begin_with(l_module *M, const char *verb, LLVMTypeRef result, LLVMTypeRef *param, uint32_t n_param)
{
    LLVMValueRef f = LLVMAddFunction(M->mod, ac_strf(M->region, "%s_%s", M->m->name, verb),
                                     LLVMFunctionType(result, param, n_param, false));
    l_attribute(M, f, L_WHOLE, "nounwind", 0);
    LLVMPositionBuilderAtEnd(M->b, LLVMAppendBasicBlockInContext(M->lc, f, "entry"));
    if (M->m->section_code)
        LLVMSetSection(f, M->m->section_code);
    return f;
}

static LLVMValueRef begin(l_module *M, const char *verb, LLVMTypeRef result, uint32_t n_param)
{
    LLVMTypeRef param[] = {M->ptr, M->ptr};
    return begin_with(M, verb, result, param, n_param);
}

static LLVMValueRef plus(l_module *M, LLVMValueRef base, ac_bytes offset)
{
    LLVMValueRef at = LLVMConstInt(M->i64, (uint64_t)offset, false);
    return offset ? LLVMBuildInBoundsGEP2(M->b, M->i8, base, &at, 1, "") : base;
}

/* Field i of a struct of pointers. */
static LLVMValueRef field(l_module *M, LLVMValueRef mem, int32_t i, const char *name)
{
    LLVMValueRef at = LLVMConstInt(M->i32, (unsigned)i, false);
    return LLVMBuildLoad2(M->b, M->ptr, LLVMBuildInBoundsGEP2(M->b, M->ptr, mem, &at, 1, ""), name);
}

static LLVMBasicBlockRef next_block(l_module *M, LLVMValueRef f)
{
    return LLVMAppendBasicBlockInContext(M->lc, f, "");
}

static LLVMValueRef status(const l_module *M, int32_t v)
{
    return LLVMConstInt(M->i32, (unsigned)v, false);
}

/* Returns `with` from f when `bad` holds. */
static void return_if(l_module *M, LLVMValueRef f, LLVMValueRef bad, LLVMValueRef with)
{
    LLVMBasicBlockRef out = next_block(M, f), on = next_block(M, f);
    LLVMBuildCondBr(M->b, bad, out, on);
    LLVMPositionBuilderAtEnd(M->b, out);
    LLVMBuildRet(M->b, with);
    LLVMPositionBuilderAtEnd(M->b, on);
}

static LLVMValueRef misplaced(l_module *M, LLVMValueRef p, ac_bytes align)
{
    LLVMValueRef at = LLVMBuildPtrToInt(M->b, p, M->word, ""), zero = LLVMConstNull(M->word);
    LLVMValueRef rest = LLVMBuildURem(M->b, at, LLVMConstInt(M->word, (uint64_t)(align > 0 ? align : 1), false), "");
    return LLVMBuildOr(M->b, LLVMBuildICmp(M->b, LLVMIntEQ, at, zero, ""),
                       LLVMBuildICmp(M->b, LLVMIntNE, rest, zero, ""), "");
}

/* The pointer to ram[k] of the struct that `mem` points to; hosts pass one block for all of them. */
static LLVMValueRef ram_pointer(l_module *M, LLVMValueRef mem, int32_t k)
{
    const ac_module *m = M->m;
    if (m->host)
        return plus(M, field(M, mem, FIELD_ARENA, "arena"), m->ram[k].base);
    return field(M, mem, !k ? FIELD_ARENA : FIELD_WEIGHTS + (m->state_bytes > 0) + k, m->ram[k].name);
}

/* Emits the check that the blob has the header of the one this code was generated with. */
static int check_blob(l_module *M, LLVMValueRef f, LLVMValueRef weights)
{
    uint8_t header[AC_BLOB_HEADER];
    AC_TRY(ac_blob_head(M->m, header));
    return_if(M, f, misplaced(M, weights, 64), status(M, 3));
    for (int i = 0; i < AC_BLOB_CHECKED; i += 8) {
        uint64_t want = 0;
        for (int k = 7; k >= 0; k--)
            want = want << 8 | header[i + k];
        LLVMValueRef word = LLVMBuildLoad2(M->b, M->i64, plus(M, weights, i), "");
        return_if(M, f, LLVMBuildICmp(M->b, LLVMIntNE, word, LLVMConstInt(M->i64, want, false), ""), status(M, 3));
    }
    return AC_OK;
}

static int build_reset(l_module *M)
{
    const ac_module *m = M->m;
    LLVMValueRef f = begin(M, "reset", M->none, 1), state = field(M, LLVMGetParam(f, 0), FIELD_STATE, "state");
    LLVMBuildMemSet(M->b, state, LLVMConstNull(M->i8), LLVMConstInt(M->i64, (uint64_t)m->state_bytes, false), 1);
    for (int32_t i = 0; i < m->n_states; i++) {
        const ac_tensor *t = m->state[i].tensor;
        if (!t->data && !t->lazy)
            continue;
        ac_tensor *force = AC_NEW(M->region, ac_tensor);
        *force = *t;
        force->state = false; /* its first value alone */
        const void *data = ac_tensor_force(M->cx, force);
        if (!data)
            return AC_FAIL;
        LLVMValueRef first = global_bytes(M, ac_strf(M->region, "%s_first%d", m->name, i), data, m->state[i].bytes, 1);
        LLVMBuildMemCpy(M->b, plus(M, state, m->state[i].offset), 1, first, 1,
                        LLVMConstInt(M->i64, (uint64_t)m->state[i].bytes, false));
    }
    LLVMBuildRetVoid(M->b);
    return AC_OK;
}

static int build_init(l_module *M)
{
    const ac_module *m = M->m;
    LLVMValueRef reset = m->state_bytes ? LLVMGetNamedFunction(M->mod, ac_strf(M->region, "%s_reset", m->name)) : NULL;
    LLVMValueRef f = begin(M, "init", M->i32, 1), mem = LLVMGetParam(f, 0);
    return_if(M, f, LLVMBuildIsNull(M->b, mem, ""), status(M, 1));
    for (int32_t k = 0; k < m->n_ram; k++)
        if (m->ram[k].bytes)
            return_if(M, f, misplaced(M, ram_pointer(M, mem, k), m->ram[k].align), status(M, 1));
    if (m->state_bytes)
        return_if(M, f, misplaced(M, field(M, mem, FIELD_STATE, "state"), m->ram[0].align), status(M, 1));
    if (M->weights == AC_WEIGHTS_BLOB && m->n_konst)
        AC_TRY(check_blob(M, f, field(M, mem, FIELD_WEIGHTS, "weights")));
    if (reset)
        LLVMBuildCall2(M->b, LLVMGlobalGetValueType(reset), reset, &mem, 1, "");
    LLVMBuildRet(M->b, status(M, 0));
    return AC_OK;
}

/* hook->begin(hook->user, step), field 0, or hook->end, field 1; either may be missing. */
static LLVMValueRef build_hook(l_module *M)
{
    LLVMTypeRef param[] = {M->ptr, M->i32, M->i32}, called[] = {M->ptr, M->i32};
    LLVMTypeRef type = LLVMFunctionType(M->none, called, 2, false);
    LLVMValueRef f = LLVMAddFunction(M->mod, "hook", LLVMFunctionType(M->none, param, 3, false));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    l_attribute(M, f, L_WHOLE, "noinline", 0); /* passes take time quadratic in the blocks that copies of it would
                                                * create */
    LLVMValueRef hook = LLVMGetParam(f, 0), which = LLVMGetParam(f, 1);
    LLVMBasicBlockRef block[4];
    for (int i = 0; i < 4; i++)
        block[i] = next_block(M, f);
    LLVMPositionBuilderAtEnd(M->b, block[0]);
    LLVMBuildCondBr(M->b, LLVMBuildIsNull(M->b, hook, ""), block[3], block[1]);
    LLVMPositionBuilderAtEnd(M->b, block[1]);
    LLVMValueRef fn = LLVMBuildLoad2(M->b, M->ptr, LLVMBuildInBoundsGEP2(M->b, M->ptr, hook, &which, 1, ""), "");
    LLVMBuildCondBr(M->b, LLVMBuildIsNull(M->b, fn, ""), block[3], block[2]);
    LLVMPositionBuilderAtEnd(M->b, block[2]);
    LLVMValueRef arg[] = {field(M, hook, 2, "user"), LLVMGetParam(f, 2)};
    LLVMBuildCall2(M->b, type, fn, arg, 2, "");
    LLVMBuildBr(M->b, block[3]);
    LLVMPositionBuilderAtEnd(M->b, block[3]);
    LLVMBuildRetVoid(M->b);
    return f;
}

/* Run, being built */
typedef struct runner {
    LLVMValueRef f, hook, base[3]; /* base: of arena, weights, state */
    LLVMValueRef *ram;             /* by index */
    LLVMValueRef row, part;        /* for a streamed input: its number, and the i32 in memory that holds it */
} runner;

static LLVMValueRef place(l_module *M, const runner *r, ac_space space, int32_t index, ac_bytes offset)
{
    if (space == AC_SPACE_CONST)
        return M->weights == AC_WEIGHTS_BLOB ? plus(M, r->base[FIELD_WEIGHTS], M->offset[offset]) : M->konst[offset];
    return plus(M, space == AC_SPACE_STATE ? r->base[FIELD_STATE] : r->ram[index], offset);
}

static void call_hook(l_module *M, const runner *r, int32_t which, int32_t step)
{
    LLVMValueRef arg[] = {LLVMGetParam(r->f, 1), status(M, which), status(M, step)};
    if (r->hook)
        LLVMBuildCall2(M->b, LLVMGlobalGetValueType(r->hook), r->hook, arg, 3, "");
}

/* A constant i32 in memory: the number of a part. */
static LLVMValueRef part_number(l_module *M, int32_t part)
{
    LLVMValueRef k = LLVMAddGlobal(M->mod, M->i32, "part");
    LLVMSetInitializer(k, status(M, part));
    LLVMSetGlobalConstant(k, true);
    LLVMSetLinkage(k, LLVMPrivateLinkage);
    return k;
}

/* Chunks of a step run one after another; their functions do not fail. */
static LLVMValueRef build_call(l_module *M, const runner *r, const ac_call *c, int32_t part)
{
    const ac_loop_fn *fn = M->m->fn[c->fn];
    LLVMValueRef *arg = AC_NEW_N(M->region, LLVMValueRef, c->n_arg + 1);
    uint32_t n = 0;
    for (int32_t a = 0; a < c->n_arg && a < fn->buf.n; a++)
        if (c->arg[a].space == AC_SPACE_CHUNK)
            arg[n++] = c->low->rows ? r->part : part_number(M, part);
        else if (fn->buf.item[a].role != AC_BUF_LOCAL)
            arg[n++] = place(M, r, c->arg[a].space, c->arg[a].index, c->arg[a].offset);
    LLVMValueRef callee = M->fn[c->fn];
    return LLVMBuildCall2(M->b, LLVMGlobalGetValueType(callee), callee, arg, n, "");
}

/* Fills bytes that are dead before step i. */
static void build_poison(l_module *M, const runner *r, int32_t i)
{
    const ac_module *m = M->m;
    for (int32_t k = 0; m->poison && m->dead && k < m->dead[i].n; k++) {
        const ac_range *dead = &m->dead[i].range[k];
        LLVMBuildMemSet(M->b, plus(M, r->ram[dead->ram], dead->begin),
                        LLVMConstInt(M->i8, (uint64_t)(0xa5 + 0x3b * i) & 0xff, false),
                        LLVMConstInt(M->i64, (uint64_t)(dead->end - dead->begin), false), 1);
    }
}

static void build_step(l_module *M, const runner *r, int32_t i)
{
    const ac_module *m = M->m;
    const ac_call *c = &m->call[i];
    const ac_loop_fn *fn = m->fn[c->fn];
    if (!c->low->rows) /* else before the first row */
        build_poison(M, r, i);
    call_hook(M, r, 0, i);
    LLVMValueRef result = build_call(M, r, c, 0);
    for (int32_t k = 1; k < c->low->chunks; k++)
        build_call(M, r, c, k);
    call_hook(M, r, 1, i);
    if (fn->fails)
        return_if(M, r->f, LLVMBuildICmp(M->b, LLVMIntNE, result, status(M, 0), ""), result);
}

/* Loads the pointers to memories at the beginning of a function. */
static void find_memories(l_module *M, runner *r)
{
    const ac_module *m = M->m;
    LLVMValueRef mem = LLVMGetParam(r->f, 0);
    r->ram = AC_NEW_N(M->region, LLVMValueRef, m->n_ram);
    for (int32_t k = 0; k < m->n_ram; k++)
        r->ram[k] = ram_pointer(M, mem, k);
    if (M->weights == AC_WEIGHTS_BLOB)
        r->base[FIELD_WEIGHTS] = field(M, mem, FIELD_WEIGHTS, "weights");
    if (m->state_bytes)
        r->base[FIELD_STATE] = field(M, mem, FIELD_STATE, "state");
}

/* One row of the streamed input: before row 0 it runs the steps before the one that reads the row, after the last row
 * the steps after it. */
static void build_run_row(l_module *M)
{
    const ac_module *m = M->m;
    const int32_t taker = m->streamed_call;
    LLVMTypeRef param[] = {M->ptr, M->i32};
    runner r = {.f = begin_with(M, "run_row", M->i32, param, 2)};
    r.row = LLVMGetParam(r.f, 1);
    r.part = LLVMBuildAlloca(M->b, M->i32, "part");
    LLVMBuildStore(M->b, r.row, r.part);
    find_memories(M, &r);
    return_if(M, r.f, LLVMBuildICmp(M->b, LLVMIntUGE, r.row, status(M, m->streamed->rows), ""), status(M, 4));
    LLVMBasicBlockRef first = next_block(M, r.f), each = next_block(M, r.f);
    LLVMBuildCondBr(M->b, LLVMBuildIsNull(M->b, r.row, ""), first, each);
    LLVMPositionBuilderAtEnd(M->b, first);
    for (int32_t i = 0; i < taker; i++)
        build_step(M, &r, i);
    build_poison(M, &r, taker);
    LLVMBuildBr(M->b, each);
    LLVMPositionBuilderAtEnd(M->b, each);
    build_step(M, &r, taker);
    LLVMValueRef last = status(M, m->streamed->rows - 1);
    return_if(M, r.f, LLVMBuildICmp(M->b, LLVMIntNE, r.row, last, ""), status(M, 0));
    for (int32_t i = taker + 1; i < m->n_calls; i++)
        build_step(M, &r, i);
    LLVMBuildRet(M->b, status(M, 0));
}

/* All rows: fill(user, row, destination), then run_row. */
static void build_run_rows(l_module *M)
{
    const ac_module *m = M->m;
    LLVMTypeRef param[] = {M->ptr, M->ptr, M->ptr}, filled[] = {M->ptr, M->i32, M->ptr};
    LLVMTypeRef fill = LLVMFunctionType(M->none, filled, 3, false);
    LLVMValueRef run_row = LLVMGetNamedFunction(M->mod, ac_strf(M->region, "%s_run_row", m->name));
    LLVMValueRef f = begin_with(M, "run", M->i32, param, 3), mem = LLVMGetParam(f, 0), row;
    LLVMValueRef to = plus(M, ram_pointer(M, mem, m->streamed->index), m->streamed->row_at);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(M->b), loop = next_block(M, f);
    LLVMBuildBr(M->b, loop);
    LLVMPositionBuilderAtEnd(M->b, loop);
    row = LLVMBuildPhi(M->b, M->i32, "row");
    LLVMValueRef give[] = {LLVMGetParam(f, 2), row, to}, take[] = {mem, row};
    LLVMBuildCall2(M->b, fill, LLVMGetParam(f, 1), give, 3, "");
    LLVMValueRef result = LLVMBuildCall2(M->b, LLVMGlobalGetValueType(run_row), run_row, take, 2, "");
    return_if(M, f, LLVMBuildICmp(M->b, LLVMIntNE, result, status(M, 0), ""), result);
    LLVMValueRef next = LLVMBuildAdd(M->b, row, status(M, 1), ""), from[] = {status(M, 0), next};
    LLVMBasicBlockRef where[] = {before, LLVMGetInsertBlock(M->b)}, done = next_block(M, f);
    LLVMAddIncoming(row, from, where, 2);
    LLVMBuildCondBr(M->b, LLVMBuildICmp(M->b, LLVMIntULT, next, status(M, m->streamed->rows), ""), loop, done);
    LLVMPositionBuilderAtEnd(M->b, done);
    LLVMBuildRet(M->b, status(M, 0));
}

static void build_run(l_module *M)
{
    const ac_module *m = M->m;
    runner r = {.hook = m->hooks ? build_hook(M) : NULL};
    for (int32_t k = 0; k < m->n_parts; k++) {
        const ac_module_part *part = &m->part[k];
        r.f = begin(M, m->host ? l_steps_name(M->region, m, k) : part->name, M->i32, m->host ? 2 : 1);
        find_memories(M, &r);
        for (int32_t i = part->begin; i < part->end; i++)
            build_step(M, &r, i);
        LLVMBuildRet(M->b, status(M, 0));
    }
}

/* Outputs that are constants are not in the arena. */
static void build_const_outputs(l_module *M)
{
    const ac_module *m = M->m;
    for (int32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
        bool input = i < m->n_inputs;
        const ac_io *io = input ? &m->input[i] : &m->output[i - m->n_inputs];
        if (io->space != AC_SPACE_CONST)
            continue;
        const char *verb = ac_strf(M->region, "%s%d", input ? "in" : "out", input ? i : i - m->n_inputs);
        runner r = {.f = begin(M, verb, M->ptr, 1)};
        if (M->weights == AC_WEIGHTS_BLOB)
            r.base[FIELD_WEIGHTS] = field(M, LLVMGetParam(r.f, 0), FIELD_WEIGHTS, "weights");
        LLVMBuildRet(M->b, place(M, &r, AC_SPACE_CONST, 0, io->offset));
    }
}

int l_api(l_module *M)
{
    if (M->m->state_bytes)
        AC_TRY(build_reset(M));
    AC_TRY(build_init(M));
    if (M->m->streamed) {
        build_run_row(M);
        build_run_rows(M);
    } else {
        build_run(M);
    }
    build_const_outputs(M);
    return AC_OK;
}
