/* target.h - the features and costs of a target: lowerings choose schedules by them, printers choose instructions. The
 * table is codegen/targets.def. */
#ifndef AC_IR_LOWER_TARGET_H
#define AC_IR_LOWER_TARGET_H
#include "ir/dtype/dtype.h"

typedef enum ac_isa {
    AC_ISA_ANY,
    AC_ISA_X86,
    AC_ISA_ARM,
    AC_ISA_AARCH64,
    AC_ISA_RISCV,
    AC_ISA_WASM,
    AC_ISA_CUDA
} ac_isa;

/* Float operations that are instructions; others become integer arithmetic, never a library call. */
enum {
    AC_FP_SQRT32 = 1,
    AC_FP_SQRT64 = 2,
    AC_FP_ROUND32 = 4, /* floor, ceil, trunc, rint */
    AC_FP_ROUND64 = 8,
    AC_FP_HALF = 16, /* f16 to f32 and back */
    AC_FP_BF16 = 32  /* f32 to bf16, except that subnormals become 0 */
};

/* The widest product of two words that is an instruction: the low half only; the high half by another one; both halves,
 * with a sum of 64 bits (SMLAL); also the high half with a sum of 32 bits (SMMLA). */
typedef enum ac_mul { AC_MUL_LOW, AC_MUL_HIGH, AC_MUL_LONG, AC_MUL_SUMS } ac_mul;

typedef struct ac_target {
    const char *name, *help;
    int32_t vec_bytes;    /* widest vector register: 0 (plain C), 16, 32 or 64 */
    int32_t registers;    /* vector registers */
    bool fma;             /* fma is native and used: otherwise mul, then add */
    bool dot_u8s8;        /* DOT4 u8 x i8 is one instruction (VNNI) */
    const char *features; /* for __attribute__((target("..."))); "" none */
    int32_t align;        /* default alignment of tensors, bytes */
    int32_t l1_bytes, l2_bytes;
    bool firmware; /* no host: run and bench refuse it */
    ac_isa isa;
    int32_t gpu;   /* GPUs: compute capability, 80 for 8.0; 0: no GPU */
    bool dot_i8i8; /* DOT4 i8 x i8 is one instruction (Arm sdot) */
    int32_t fp;    /* AC_FP_... */
    /* For printers of object files, in LLVM's terms; triple "": this machine's. */
    const char *triple, *cpu, *attributes, *abi;
    bool dsp;     /* products of the 16-bit halves of a word, both added: SMLAD, with SXTB16, SSAT and SMMULR */
    bool mve;     /* sums of 16 products of bytes, and vectors of words: Arm's MVE, in the loops that use it */
    bool rvv;     /* vectors of 16 bytes or more with a channel in each lane: RISC-V's Zve32x, for the same loops */
    int32_t core; /* firmware: general registers that a kernel can count on; 0: not counted */
    ac_mul mul;   /* firmware */
    bool amx;     /* products of matrices of bytes (AMX int8) */
    int32_t shared_bytes; /* GPUs: shared memory that a block can have */
} ac_target;

/* Lanes of `d` in the widest vector; 1 on plain targets. */
static inline int32_t ac_target_lanes(const ac_target *t, ac_dtype d)
{
    int32_t bits = ac_dtype_bits(d);
    return t->vec_bytes ? t->vec_bytes * 8 / bits : 1;
}

/* SSAT and USAT: Armv7-M and later, which are the targets with long products. */
static inline bool ac_target_saturates(const ac_target *t)
{
    return t->firmware && t->isa == AC_ISA_ARM && t->mul == AC_MUL_LONG;
}

/* Tensor cores are used from compute capability 8.0 on. */
static inline bool ac_target_tensor_cores(const ac_target *t)
{
    return t->gpu >= 80;
}

/* A kernel may start before the previous one has ended, and waits for it: from compute capability 9.0 on. */
static inline bool ac_target_early(const ac_target *t)
{
    return t->gpu >= 90;
}

/* Words of two 16-bit halves are not split (ir/loop/halves.h): DOT2 of one pair is an instruction. */
static inline bool ac_target_halves(const ac_target *t)
{
    return t->dsp && !t->vec_bytes;
}

/* The products that requantisation uses. */
static inline ac_mul ac_target_mul(const ac_target *t)
{
    return t->mul == AC_MUL_LONG && t->dsp ? AC_MUL_SUMS : t->mul;
}

/* DOT2 is one instruction: pmaddwd, i32x4.dot_i16x8_s. Others multiply and add lane by lane, widening. */
static inline bool ac_target_pairs(const ac_target *t)
{
    return t->isa == AC_ISA_X86 || t->isa == AC_ISA_WASM;
}

#endif
