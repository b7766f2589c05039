/* ir.h - the internal interface of the LLVM printer: one LLVM module being built, one function of it.
 *
 *     llvm.c           the interface of codegen/backend.h; the module, opened, built and closed
 *     api.c            constants, init, run, reset: everything around the loop functions
 *     loop_function.c  a loop function: blocks, variables, memory
 *     instructions.c   an instruction that computes a value
 *     casts.c          casts, half floats, saturation
 *     lanes.c          shuffles, reductions: operations across lanes
 *     products.c       dot products and widening products: the machine's instructions
 *     tile.c           register tiles: inline assembly
 *     mve.c, rvv.c     ... and vectors of words, with MVE or RVV
 *     matrix.c         ... and matrix registers, with AMX
 *     inline_asm.c     instructions as text
 *     dsp.c            two halves or four bytes in a word of 32 bits
 *     soft.c           square roots and roundings for machines without them
 *     types.c          types, constants of a type, intrinsics
 *     machine.c        targets, passes, objects
 *     frames_of.c      the stack that an object needs
 *     jit.c            an object loaded into this process
 *
 * How values print. Lanes are LLVM vectors, of any width: LLVM splits what is wider than a register. A bool is i1 and
 * one byte in memory; f16 and bf16 are i16, because only casts interpret them. No instruction carries a fast-math flag,
 * and a fused multiply-add is printed exactly if the loops have one, so float results equal the evaluator's.
 *
 * Memory: LLVM's objects belong to the context, which llvm.c disposes of; the rest is in the region. */
#ifndef AC_CODEGEN_LLVM_IR_H
#define AC_CODEGEN_LLVM_IR_H
#include "codegen/backend.h"
#include "codegen/constants.h"
#include "codegen/share_pieces.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef struct l_module {
    ac_ctx *cx;
    ac_region *region;
    ac_module *m;
    const ac_target *target;
    ac_weights weights; /* RODATA or BLOB */
    LLVMContextRef lc;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    LLVMTargetMachineRef machine;
    LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr, none;
    LLVMTypeRef word;        /* an integer as wide as a pointer */
    bool halves;             /* values with lanes are words (ir/loop/halves.h), i32 */
    LLVMValueRef *fn;        /* of each function of the module */
    LLVMValueRef *konst;     /* rodata: the global of each constant */
    bool appended;           /* rodata: arenac appends the constants to the object (appended.c); uses offset, total */
    ac_bytes *offset, total; /* blob */
} l_module;

typedef struct l_fn {
    l_module *M;
    const ac_loop_fn *fn;
    LLVMValueRef f;
    LLVMValueRef *val;       /* of each instruction; VAR: its alloca */
    LLVMValueRef *buf;       /* address of each buffer */
    LLVMBasicBlockRef entry; /* variables are allocated here */
    const ac_pieces *pieces; /* functions already, */
    LLVMValueRef *piece;     /* ... these; */
    int32_t called;          /* so many calls of them are made */
} l_fn;

static inline const ac_ins *l_ins(const l_fn *f, ac_x x)
{
    return &f->fn->code.item[x];
}

/* machine.c */
int l_machine_open(l_module *M, bool for_this_process);          /* E0502: this LLVM does not support the target */
int l_optimise(l_module *M);                                     /* runs the passes */
int l_bytes(l_module *M, bool object, LLVMMemoryBufferRef *out); /* an object, or assembly text */

/* frames_of.c: stores the stack of the object that l_bytes generates in between in the module's `stack` */
void *l_frames_open(l_module *M);
void l_frames_close(l_module *M, void *watched, LLVMMemoryBufferRef object);

/* api.c */
int l_constants(l_module *M);
/* appended.c: true if the constants of this output (--emit) are appended to the object. If so, l_appended_constants
 * declares them, and l_append writes the object and them. */
bool l_appends(const l_module *M, const char *kind);
void l_appended_constants(l_module *M);
int l_append(l_module *M, const void *object, size_t n, ac_sink *to);
int l_api(l_module *M); /* after the loop functions */

/* types.c */
LLVMTypeRef l_type(const l_module *M, ac_dtype d, int32_t lanes); /* of a value */
LLVMTypeRef l_memory_type(const l_module *M, ac_dtype d, int32_t lanes);
LLVMTypeRef l_lanes(LLVMTypeRef one, int32_t lanes); /* one, or a vector of it */
/* over: the types an overloaded intrinsic is for; the short form: exactly one type, or NULL. */
LLVMValueRef l_intrinsic_of(const l_module *M, const char *name, LLVMTypeRef *over, uint32_t n_over, LLVMValueRef *arg,
                            uint32_t n);
LLVMValueRef l_intrinsic(const l_module *M, const char *name, LLVMTypeRef over, LLVMValueRef *arg, uint32_t n);
LLVMValueRef l_int(const l_module *M, ac_dtype d, int64_t v, int32_t lanes);
LLVMValueRef l_real(const l_module *M, ac_dtype d, double v, int32_t lanes);
LLVMValueRef l_splat(const l_module *M, LLVMValueRef one, int32_t lanes);

/* loop_function.c. l_attribute: of a function's parameter, counted from 1, or of the function. */
#define L_WHOLE ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)
void l_attribute(l_module *M, LLVMValueRef f, LLVMAttributeIndex at, const char *name, uint64_t value);
/* A function, still empty, that only code of this module calls; inlining: "noinline" or "alwaysinline". */
LLVMValueRef l_inner_function(l_module *M, const char *name, LLVMTypeRef type, const char *inlining);
struct ac_nest;
int l_nest(l_fn *f, const struct ac_nest *n); /* nests.c */
int l_function(l_module *M, const ac_loop_fn *fn, const char *name, const bool *restricted, LLVMValueRef *out);
LLVMValueRef l_slot(l_fn *f, LLVMTypeRef type, const char *name); /* on the stack, allocated once in the entry block */

/* instructions.c, casts.c, lanes.c, soft.c: NULL for an instruction they do not handle. */
LLVMValueRef l_value(l_fn *f, ac_x x);
LLVMValueRef l_cast(l_module *M, LLVMValueRef v, ac_dtype from, ac_dtype to, int32_t lanes);
LLVMValueRef l_satcast(l_module *M, LLVMValueRef v, ac_dtype from, ac_dtype to, int32_t lanes);
LLVMValueRef l_extreme(l_module *M, LLVMValueRef a, LLVMValueRef b, ac_dtype d, bool most); /* MIN, MAX */
LLVMValueRef l_cross(l_fn *f, const ac_ins *in); /* LANE SHUFFLE SUMLANES MAXLANES DOT4 DOT2 */
LLVMValueRef l_permute(l_module *M, LLVMValueRef a, LLVMValueRef b, const int64_t *lane, int32_t n); /* b may be NULL */
LLVMValueRef l_every(l_module *M, LLVMValueRef v, int32_t first, int32_t step, int32_t n); /* first, first + step, .. */
LLVMValueRef l_lane(l_module *M, LLVMValueRef v, int32_t lanes, int64_t at);
/* SQRT FLOOR CEIL TRUNC RINT: the machine's own, or integer arithmetic. */
LLVMValueRef l_rounding(l_fn *f, ac_lop op, LLVMValueRef v, ac_dtype d, int32_t lanes);

/* inline_asm.c: operands of inline assembly, in LLVM's letters; their names in the text; the statement. */
typedef struct l_operand {
    LLVMValueRef value;
    const char *letter;
    bool changes;
} l_operand;
void l_asm_names(l_module *M, const l_operand *o, int32_t n, const char **name);
void l_asm_call(l_module *M, const l_operand *o, int32_t n, const char *text, const char *clobbers);
LLVMValueRef l_asm_address(l_fn *f, int32_t buf, LLVMValueRef index);

/* tile.c: the function of this module that is assembly alone, made at its first use; name: without the module's. */
LLVMValueRef l_naked_function(l_module *M, const char *name, LLVMTypeRef type, const char *text);
/* rows.c */
struct ac_rows;
void l_rows(l_fn *f, const struct ac_rows *r);
bool l_plane(l_fn *f, const ac_loop_fn *fn,
             const bool *restricted); /* the call for fn->plane; false: print the loops */
/* tile.c, mve.c, rvv.c, matrix.c */
int l_tile(l_fn *f, const ac_ins *in);
int l_mve_tile(l_fn *f, const ac_ins *in);
int l_requant(l_fn *f, const ac_ins *in);
void l_rvv_tile(l_fn *f, const ac_ins *in);
void l_matrix_tile(l_fn *f, const ac_ins *in);
void l_rvv_requant(l_fn *f, const ac_ins *in);

/* products.c. l_widening: ADD and MUL of lanes that were narrower, by one instruction; NULL: the target has none. */
LLVMValueRef l_dot(l_fn *f, const ac_ins *in);
LLVMValueRef l_widening(l_fn *f, const ac_ins *in);

/* dsp.c: a word, or a scalar from words; NULL: neither. */
LLVMValueRef l_halves(l_fn *f, ac_x x);

#endif
