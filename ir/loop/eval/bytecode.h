/* bytecode.h - the evaluator's bytecode: fixed-size instructions over a register file.
 *
 * A register is a place of 8 bytes for a scalar, or of lanes * element size for a vector, lanes side by side as in
 * memory. Operands are byte offsets into the file, so LANE and BITCAST cost nothing: they are names for (parts of)
 * other registers. There is one opcode per operator and type for scalars; vectors call the kernel of kernel.h that the
 * instruction carries. Constants are in the file before the program starts.
 *
 * bytecode.c makes it, eval.c runs it. Memory: the region given to ac_eval_compile. */
#ifndef AC_IR_LOOP_EVAL_BYTECODE_H
#define AC_IR_LOOP_EVAL_BYTECODE_H
#include "ir/loop/eval/copy_loop.h"
#include "ir/loop/eval/eval.h"
#include "ir/loop/kernel.h"
#include "ir/loop/scalar.h"

/* Opcodes other than arithmetic. R: register file, [x]: the register at offset x.
 *   MOV          [d] = [a], a scalar                        MOVV     [d] = [a], imm bytes
 *   SPLATk       n lanes of k bytes = [a]                    SHUFFLEk lane l = the k bytes at R + offset[l]
 *   LOADk STOREk k bytes at element [a] + [b] of buffer c    LOADV STOREV  n elements, imm bytes each
 *   LOADK        n elements through a kernel (conversion)    LOAD_X_I32    one element of type X, widened
 *   SELECT       [d] = [a] ? [b] : [c], scalars              SELECTV  the same for imm bytes
 *   KERNEL       kernel([d], [a], [b], [c], n)               NONZERO  fail when one of n lanes of c bytes at [a] is 0
 *   FOR_UP/DOWN  [d] = [a]; go to c unless inside [b]        NEXT_*   [d] += imm; go to c while inside [b]
 *   IF           go to c unless [a]                          BREAK_IF go to c if [a]
 *   JUMP         go to c                                     FAIL_IF  stop with status imm if [a]
 *   MMA      mma.c on buffers c and imm's low half, at elements [d], [a], [b]; n: the type; imm's high half: threads
 *   TILE     tiles.c on buffer c at element [a] and the others of imm at [b]; [d] steps
 *   REQUANT  requants.c to buffer c at element [d]; the table of imm at [a] and [b]
 *   COPY     the moves in `copy`, for [d], [d] + its step, .. before [b] (copy_loop.h) */
// clang-format off
#define AC_BC_PLAIN(X)                                                                                         \
    X(STOP) X(MOV) X(MOVV) X(SPLAT1) X(SPLAT2) X(SPLAT4) X(SPLAT8) X(SHUFFLE1) X(SHUFFLE2) X(SHUFFLE4)         \
    X(SHUFFLE8) X(LOAD1) X(LOAD2) X(LOAD4) X(LOAD8) X(LOAD16) X(LOAD32) X(LOAD64) X(LOADV) X(LOADK)            \
    X(STORE1) X(STORE2) X(STORE4) X(STORE8) X(STORE16) X(STORE32) X(STORE64) X(STOREV) X(SELECT) X(SELECTV)    \
    X(KERNEL) X(NONZERO) X(FOR_UP) X(FOR_DOWN) X(NEXT_UP) X(NEXT_DOWN) X(IF) X(JUMP) X(BREAK_IF) X(FAIL_IF)         \
    X(MMA) X(TILE) X(REQUANT) X(COPY)
/* Scalar conversions common enough for an opcode; others are kernels over one lane. */
#define AC_BC_CASTS(X)                                                                                         \
    X(cast, I8, int8_t, I32, int32_t) X(cast, U8, uint8_t, I32, int32_t) X(cast, I16, int16_t, I32, int32_t)   \
    X(cast, I32, int32_t, I64, int64_t) X(cast, I64, int64_t, I32, int32_t) X(cast, I32, int32_t, F32, float)  \
    X(cast, F32, float, I32, int32_t) X(cast, I32, int32_t, I8, int8_t) X(cast, I32, int32_t, U8, uint8_t)     \
    X(cast, BOOL, uint8_t, I32, int32_t) X(sat, I32, int32_t, I8, int8_t) X(sat, I32, int32_t, U8, uint8_t)    \
    X(sat, I32, int32_t, I16, int16_t) X(sat, F32, float, I8, int8_t) X(cast, F32, float, F64, double)         \
    X(cast, F64, double, F32, float) X(cast, I32, int32_t, U32, uint32_t) X(cast, U32, uint32_t, I32, int32_t) \
    X(cast, I64, int64_t, U64, uint64_t) X(cast, U64, uint64_t, I64, int64_t) X(sat, I64, int64_t, I32, int32_t)
#define AC_BC_LOADS(X) X(I8, int8_t) X(U8, uint8_t) X(I16, int16_t) X(U16, uint16_t)

#define AC_BC_INT(X, T, t)                                                                                     \
    AC_INT_BINARY(X, T, t) AC_INT_UNARY(X, T, t) AC_COMPARE(X, T, t) X(MULADD, T, t)
#define AC_BC_FLOAT(X, T, t)                                                                                   \
    AC_FLOAT_BINARY(X, T, t) AC_FLOAT_UNARY(X, T, t) AC_COMPARE(X, T, t) X(MULADD, T, t) X(FMA, T, t)
#define AC_BC_BOOL(X, T, t) X(AND, T, t) X(OR, T, t) X(XOR, T, t) X(NOT, T, t) X(EQ, T, t) X(NE, T, t)

enum ac_bcop {
#define PLAIN(name) BC_##name,
#define ARITH(op, T, t) BC_##op##_##T,
#define INT(T, t, w, bits, lo, hi) AC_BC_INT(ARITH, T, t)
#define FLOAT(T, t, s) AC_BC_FLOAT(ARITH, T, t)
#define CAST(how, S, s, T, t) BC_##how##_##S##_##T,
#define LOADX(S, s) BC_LOAD_##S##_I32,
    AC_BC_PLAIN(PLAIN) AC_INT_TYPES(INT) AC_FLOAT_TYPES(FLOAT) AC_BC_BOOL(ARITH, BOOL, uint8_t)
    AC_BC_CASTS(CAST) AC_BC_LOADS(LOADX)
    BC_COUNT
#undef PLAIN
#undef ARITH
#undef INT
#undef FLOAT
#undef CAST
#undef LOADX
};
// clang-format on

/* A loop that moves elements of `bytes` bytes: from [a] + [b] of a buffer to the same of another one, each time so many
 * elements further. */
typedef struct ac_bc_place {
    uint32_t a, b, buf;
    int64_t step;
} ac_bc_place;

typedef struct ac_bc_copy {
    int32_t n;
    uint32_t bytes, lanes;
    int64_t step; /* of the loop */
    ac_bc_place from[AC_COPY_PAIRS], to[AC_COPY_PAIRS];
} ac_bc_copy;

typedef struct ac_bc {
    uint16_t op; /* enum ac_bcop */
    uint16_t n;  /* lanes */
    uint32_t d, a, b, c;
    union {
        int64_t imm;
        ac_kernel kernel;
        const uint32_t *offset; /* SHUFFLE: of each lane's source */
        const ac_bc_copy *copy;
    } u;
} ac_bc;

struct ac_program {
    const char *name; /* of the function, for messages */
    ac_bc *code;
    int32_t n;
    const ac_buf *buf; /* parameters, then locals */
    int32_t n_buf, n_param;
    char *image;                 /* the register file at the start: constants */
    size_t constants, registers; /* bytes: of the image; of the whole file */
    size_t locals;               /* bytes of all local buffers */
};

#endif
