/* loop_function.c - prints a loop function as an LLVM function. Variables are stack slots in the entry block, which the
 * first pass turns into registers; loops test at the bottom, after a guard:
 *
 *     br (lo < hi), body, exit
 *   body:
 *     oc = phi [lo, before], [next, latch]
 *     ...
 *     next = add oc, step
 *     br (next < hi), body, exit */
#include "codegen/dsp/rows.h"
#include "codegen/llvm/ir.h"
#include "codegen/nests.h"
#include "ir/loop/builder.h"

#include <llvm-c/DebugInfo.h>

/* An open FOR or IF */
typedef struct block {
    ac_x head;
    LLVMBasicBlockRef body, other, exit; /* IF: then, else (NULL: already opened), continuation */
} block;

static LLVMBasicBlockRef new_block(l_fn *f, const char *name)
{
    return LLVMAppendBasicBlockInContext(f->M->lc, f->f, name);
}

static void to(l_fn *f, LLVMBasicBlockRef b)
{
    LLVMPositionBuilderAtEnd(f->M->b, b);
}

static void set_name(LLVMValueRef v, const char *name)
{
    if (name)
        LLVMSetValueName2(v, name, strlen(name));
}

LLVMValueRef l_slot(l_fn *f, LLVMTypeRef type, const char *name)
{
    LLVMBuilderRef b = f->M->b;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(f->entry));
    LLVMValueRef v = LLVMBuildAlloca(b, type, name ? name : "");
    to(f, here);
    return v;
}

static LLVMValueRef address(l_fn *f, const ac_ins *in)
{
    ac_dtype d = f->fn->buf.item[in->aux].dtype;
    LLVMValueRef index = f->val[in->a];
    return LLVMBuildInBoundsGEP2(f->M->b, l_memory_type(f->M, d, 1), f->buf[in->aux], &index, 1, "");
}

static uint32_t alignment(const ac_ins *in, ac_dtype d, int32_t lanes)
{
    uint32_t bytes = (uint32_t)ac_dtype_size(d, in->flags & AC_F_ALIGNED ? lanes : 1);
    return bytes & (bytes - 1) ? (uint32_t)ac_dtype_size(d, 1) : bytes;
}

static LLVMValueRef load(l_fn *f, const ac_ins *in)
{
    ac_dtype d = f->fn->buf.item[in->aux].dtype;
    LLVMTypeRef type = l_memory_type(f->M, d, in->lanes);
    LLVMValueRef v = LLVMBuildLoad2(f->M->b, type, address(f, in), "");
    LLVMSetAlignment(v, alignment(in, d, in->lanes));
    return d == AC_BOOL ? LLVMBuildICmp(f->M->b, LLVMIntNE, v, LLVMConstNull(type), "") : v;
}

static void store(l_fn *f, const ac_ins *in)
{
    ac_dtype d = f->fn->buf.item[in->aux].dtype;
    int32_t lanes = l_ins(f, in->b)->lanes;
    LLVMValueRef v = f->val[in->b];
    if (d == AC_BOOL)
        v = LLVMBuildZExt(f->M->b, v, l_memory_type(f->M, d, lanes), "");
    LLVMSetAlignment(LLVMBuildStore(f->M->b, v, address(f, in)), alignment(in, d, lanes));
}

/* For reading, into the second cache. The address may be outside of the buffer. */
static void prefetch(l_fn *f, const ac_ins *in)
{
    l_module *M = f->M;
    LLVMValueRef index = f->val[in->a];
    LLVMTypeRef type = l_memory_type(M, f->fn->buf.item[in->aux].dtype, 1);
    LLVMValueRef arg[4] = {LLVMBuildGEP2(M->b, type, f->buf[in->aux], &index, 1, ""), l_int(M, AC_I32, 0, 1),
                           l_int(M, AC_I32, 2, 1), l_int(M, AC_I32, 1, 1)};
    l_intrinsic(M, "llvm.prefetch", M->ptr, arg, 4);
}

static LLVMValueRef goes_on(l_fn *f, const ac_ins *loop, LLVMValueRef i)
{
    return LLVMBuildICmp(f->M->b, loop->k.i > 0 ? LLVMIntSLT : LLVMIntSGT, i, f->val[loop->b], "");
}

static block open_for(l_fn *f, ac_x x)
{
    const ac_ins *in = l_ins(f, x);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(f->M->b);
    block o = {.head = x, .body = new_block(f, "loop"), .exit = new_block(f, "exit")};
    LLVMBuildCondBr(f->M->b, goes_on(f, in, f->val[in->a]), o.body, o.exit);
    to(f, o.body);
    LLVMValueRef phi = LLVMBuildPhi(f->M->b, f->M->i32, "");
    set_name(phi, in->name);
    LLVMAddIncoming(phi, &f->val[in->a], &before, 1);
    f->val[x] = phi;
    return o;
}

/* A loop that is too long for full unrolling is not unrolled: its body is large enough already, and unrolling by four
 * slows down loops that wait for the caches. */
static bool stays_rolled(const l_fn *f, const ac_ins *loop)
{
    enum { SHORT = 64 };
    const ac_ins *lo = l_ins(f, loop->a), *hi = l_ins(f, loop->b);
    return lo->op == AC_L_CONST && hi->op == AC_L_CONST && (hi->k.i - lo->k.i) / loop->k.i > SHORT;
}

/* !0 = distinct !{!0, !{!"llvm.loop.unroll.disable"}} */
static void keep_rolled(const l_module *M, LLVMValueRef back)
{
    static const char KIND[] = "llvm.loop", OFF[] = "llvm.loop.unroll.disable";
    LLVMMetadataRef off = LLVMMDStringInContext2(M->lc, OFF, sizeof OFF - 1);
    LLVMMetadataRef self = LLVMTemporaryMDNode(M->lc, NULL, 0), part[] = {self, LLVMMDNodeInContext2(M->lc, &off, 1)};
    LLVMMetadataRef id = LLVMMDNodeInContext2(M->lc, part, 2);
    LLVMMetadataReplaceAllUsesWith(self, id);
    LLVMSetMetadata(back, LLVMGetMDKindIDInContext(M->lc, KIND, sizeof KIND - 1), LLVMMetadataAsValue(M->lc, id));
}

static void close_for(l_fn *f, const block *o)
{
    const ac_ins *in = l_ins(f, o->head);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(f->M->b);
    LLVMValueRef step = l_int(f->M, AC_I32, in->k.i, 1);
    LLVMValueRef next = LLVMBuildNSWAdd(f->M->b, f->val[o->head], step, "");
    LLVMAddIncoming(f->val[o->head], &next, &latch, 1);
    LLVMValueRef back = LLVMBuildCondBr(f->M->b, goes_on(f, in, next), o->body, o->exit);
    if (stays_rolled(f, in))
        keep_rolled(f->M, back);
    to(f, o->exit);
}

static block open_if(l_fn *f, ac_x x)
{
    block o = {.head = x, .body = new_block(f, "then"), .other = new_block(f, "else"), .exit = new_block(f, "end")};
    LLVMBuildCondBr(f->M->b, f->val[l_ins(f, x)->a], o.body, o.other);
    to(f, o.body);
    return o;
}

static void open_else(l_fn *f, block *o)
{
    LLVMBuildBr(f->M->b, o->exit);
    to(f, o->other);
    o->other = NULL;
}

static void close_if(l_fn *f, const block *o)
{
    LLVMBuildBr(f->M->b, o->exit);
    if (o->other) { /* there was no ELSE */
        to(f, o->other);
        LLVMBuildBr(f->M->b, o->exit);
    }
    to(f, o->exit);
}

/* Leave for `there` when the value is true. */
static void leave_if(l_fn *f, ac_x cond, LLVMBasicBlockRef there)
{
    LLVMBasicBlockRef stay = new_block(f, "stay");
    LLVMBuildCondBr(f->M->b, f->val[cond], there, stay);
    to(f, stay);
}

static void fail_if(l_fn *f, const ac_ins *in)
{
    LLVMBasicBlockRef fails = new_block(f, "fails"), here = LLVMGetInsertBlock(f->M->b);
    to(f, fails);
    LLVMBuildRet(f->M->b, l_int(f->M, AC_I32, in->aux, 1));
    to(f, here);
    leave_if(f, in->a, fails);
}

typedef AC_VEC(block) block_list;

static void close_block(l_fn *f, block_list *open)
{
    const block *o = &open->item[--open->n];
    if (l_ins(f, o->head)->op == AC_L_FOR)
        close_for(f, o);
    else
        close_if(f, o);
}

/* To the end of the innermost loop. */
static void break_if(l_fn *f, ac_x cond, const block_list *open)
{
    int32_t k = open->n - 1;
    while (l_ins(f, open->item[k].head)->op != AC_L_FOR)
        k--;
    leave_if(f, cond, open->item[k].exit);
}

static int value(l_fn *f, ac_x x)
{
    const ac_ins *in = l_ins(f, x);
    f->val[x] = l_value(f, x);
    if (f->val[x])
        return AC_OK;
    return ac_error(f->M->cx, (ac_place){0}, E0901, "the LLVM printer cannot print '%s' of %s in function '%s'",
                    ac_lop_text((ac_lop)in->op), ac_dtype_name((ac_dtype)in->dtype), f->fn->name);
}

/* open: the blocks around x. */
static int instruction(l_fn *f, ac_x x, block_list *open)
{
    LLVMBuilderRef b = f->M->b;
    const ac_ins *in = l_ins(f, x);
    switch ((ac_lop)in->op) {
    case AC_L_VAR:
        f->val[x] = l_slot(f, LLVMTypeOf(f->val[in->a]), in->name);
        LLVMBuildStore(b, f->val[in->a], f->val[x]);
        return AC_OK;
    case AC_L_GET:
        f->val[x] = LLVMBuildLoad2(b, LLVMGetAllocatedType(f->val[in->aux]), f->val[in->aux], "");
        return AC_OK;
    case AC_L_SET:
        LLVMBuildStore(b, f->val[in->a], f->val[in->aux]);
        return AC_OK;
    case AC_L_LOAD:
        f->val[x] = load(f, in);
        return AC_OK;
    case AC_L_STORE:
        store(f, in);
        return AC_OK;
    case AC_L_PREFETCH:
        prefetch(f, in);
        return AC_OK;
    case AC_L_TILE:
        return l_tile(f, in);
    case AC_L_REQUANT:
        return l_requant(f, in);
    case AC_L_FOR:
        ac_push(f->M->region, open, open_for(f, x));
        return AC_OK;
    case AC_L_IF:
        ac_push(f->M->region, open, open_if(f, x));
        return AC_OK;
    case AC_L_ELSE:
        open_else(f, &open->item[open->n - 1]);
        return AC_OK;
    case AC_L_END:
        close_block(f, open);
        return AC_OK;
    case AC_L_BREAK_IF:
        break_if(f, in->a, open);
        return AC_OK;
    case AC_L_FAIL_IF:
        fail_if(f, in);
        return AC_OK;
    case AC_L_NONE:
    case AC_L_COUNT:
        return AC_OK;
    // clang-format off
    case AC_L_CONST: case AC_L_CONSTV: case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD:
    case AC_L_MIN: case AC_L_MAX: case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL:
    case AC_L_TRUNC: case AC_L_RINT: case AC_L_AND: case AC_L_OR: case AC_L_XOR: case AC_L_NOT: case AC_L_SHL:
    case AC_L_SHR: case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE: case AC_L_SELECT: case AC_L_CAST:
    case AC_L_SATCAST: case AC_L_BITCAST: case AC_L_FMA: case AC_L_DOT4: case AC_L_DOT2: case AC_L_MMA:
    case AC_L_SPLAT: case AC_L_LANE: case AC_L_SHUFFLE: case AC_L_SUMLANES: case AC_L_MAXLANES:
        break;
        // clang-format on
    }
    return value(f, x);
}

static void call_piece(l_fn *f)
{
    l_module *M = f->M;
    const ac_piece *p = &f->pieces->item[f->called];
    LLVMValueRef callee = f->piece[f->called++], *arg = AC_NEW_N(M->region, LLVMValueRef, p->fn->buf.n + 1);
    uint32_t n = 0;
    for (int32_t i = 0; i < p->fn->buf.n; i++)
        if (p->fn->buf.item[i].role != AC_BUF_LOCAL)
            arg[n++] = f->buf[p->buf[i]];
    LLVMBuildCall2(M->b, LLVMGlobalGetValueType(callee), callee, arg, n, "");
}

/* A loop that is one call: the values that it needs, and the call. */
static int rows(l_fn *f, ac_x x, const ac_rows *r)
{
    for (x++; x < r->end; x++)
        if (r->needed[x])
            AC_TRY(value(f, x));
    l_rows(f, r);
    return AC_OK;
}

static int body(l_fn *f)
{
    block_list open = {0};
    ac_rows r;
    ac_nest nest;
    for (ac_x x = 1; x < f->fn->code.n; x++)
        if (f->called < f->pieces->n && ac_is_piece(f->fn, x)) {
            call_piece(f);
            x++; /* its END */
        } else if (ac_rows_find(f->M->region, f->M->target, f->fn, x, &r)) {
            AC_TRY(rows(f, x, &r));
            x = r.end;
        } else if (ac_nest_find(f->fn, x, &nest)) {
            for (ac_x k = x + 1; k < nest.end; k++)
                if (l_ins(f, k)->op == AC_L_CONST)
                    AC_TRY(value(f, k));
            AC_TRY(l_nest(f, &nest));
            x = nest.end;
        } else {
            AC_TRY(instruction(f, x, &open));
        }
    return AC_OK;
}

void l_attribute(l_module *M, LLVMValueRef f, LLVMAttributeIndex at, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(M->lc, kind, value));
}

LLVMValueRef l_inner_function(l_module *M, const char *name, LLVMTypeRef type, const char *inlining)
{
    LLVMValueRef f = LLVMAddFunction(M->mod, name, type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    l_attribute(M, f, L_WHOLE, "nounwind", 0);
    l_attribute(M, f, L_WHOLE, inlining, 0);
    if (M->m->section_code)
        LLVMSetSection(f, M->m->section_code);
    return f;
}

static int make_pieces(l_fn *f, const bool *restricted)
{
    l_module *M = f->M;
    f->piece = AC_NEW_N(M->region, LLVMValueRef, f->pieces->n + 1);
    for (int32_t k = 0; k < f->pieces->n; k++) {
        const ac_piece *p = &f->pieces->item[k];
        if (p->like < k) {
            f->piece[k] = f->piece[p->like];
            continue;
        }
        const bool *own = ac_pieces_restricted(M->region, f->pieces, k, restricted);
        const char *name = ac_strf(M->region, "%s_%s", M->m->name, p->fn->name);
        AC_TRY(l_function(M, p->fn, name, own, &f->piece[k]));
        if (M->m->section_code)
            LLVMSetSection(f->piece[k], M->m->section_code);
    }
    return AC_OK;
}

int l_function(l_module *M, const ac_loop_fn *given, const char *name, const bool *restricted, LLVMValueRef *out)
{
    const ac_pieces pieces = ac_share_pieces(M->cx, M->region, given, M->target, M->m->share, NULL);
    const ac_loop_fn *fn = ac_loop_unroll(M->cx, pieces.outer);
    if (fn && M->halves)
        fn = ac_loop_halves(M->cx, fn); /* the same where nothing has lanes */
    if (!fn)
        return AC_FAIL;
    l_fn f = {.M = M, .fn = fn, .pieces = &pieces};
    AC_TRY(make_pieces(&f, restricted));
    f.val = AC_NEW_N(M->region, LLVMValueRef, fn->code.n);
    f.buf = AC_NEW_N(M->region, LLVMValueRef, fn->buf.n + 1);
    LLVMTypeRef *param = AC_NEW_N(M->region, LLVMTypeRef, fn->buf.n + 1);
    uint32_t n = 0;
    for (int32_t i = 0; i < fn->buf.n; i++)
        if (fn->buf.item[i].role != AC_BUF_LOCAL)
            param[n++] = M->ptr;
    f.f = LLVMAddFunction(M->mod, name, LLVMFunctionType(fn->fails ? M->i32 : M->none, param, n, false));
    LLVMSetLinkage(f.f, LLVMInternalLinkage);
    l_attribute(M, f.f, L_WHOLE, "nounwind", 0);
    if (!pieces.n)
        l_attribute(M, f.f, L_WHOLE, "noinline", 0); /* one copy, and quick to compile */
    if (M->target->rvv) /* vectors only if the loops have them: the stack size that LLVM reports does not include
                         * spilled ones */
        l_attribute(M, f.f, L_WHOLE, "noimplicitfloat", 0);
    const bool sve = M->target->isa == AC_ISA_AARCH64 && M->target->vec_bytes > 16;
    if (sve) /* registers of this size at least, in units of 16 bytes */
        l_attribute(M, f.f, L_WHOLE, "vscale_range", (uint64_t)M->target->vec_bytes / 16 << 32 | 16);
    if (M->target->mve) { /* copy loops stay vector loops: memcpy of firmware libraries copies byte by byte */
        static const char *const NO[] = {"no-builtin-memcpy", "no-builtin-memset"};
        for (int i = 0; i < 2; i++)
            LLVMAddAttributeAtIndex(f.f, L_WHOLE,
                                    LLVMCreateStringAttribute(M->lc, NO[i], (unsigned)strlen(NO[i]), "", 0));
    }
    f.entry = new_block(&f, "entry");
    LLVMBasicBlockRef start = new_block(&f, "start");
    to(&f, f.entry);
    LLVMBuildBr(M->b, start);
    to(&f, start);
    n = 0;
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *m = &fn->buf.item[i];
        if (m->role == AC_BUF_LOCAL) {
            f.buf[i] = l_slot(&f, LLVMArrayType2(l_memory_type(M, m->dtype, 1), (uint64_t)m->count), m->name);
            const uint32_t align = m->align > 16 ? (uint32_t)m->align : 16;
            LLVMSetAlignment(f.buf[i], M->target->firmware && !M->target->vec_bytes ? 8 : align); /* as the stack is */
            continue;
        }
        f.buf[i] = LLVMGetParam(f.f, n++);
        set_name(f.buf[i], m->name);
        if (restricted && restricted[i])
            l_attribute(M, f.f, n, "noalias", 0);
    }
    if (!l_plane(&f, given, restricted))
        AC_TRY(body(&f));
    if (fn->fails)
        LLVMBuildRet(M->b, l_int(M, AC_I32, 0, 1));
    else
        LLVMBuildRetVoid(M->b);
    *out = f.f;
    return AC_OK;
}
