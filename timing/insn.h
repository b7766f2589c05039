/* insn.h - a decoded instruction, the same for Thumb and RISC-V: an operation, registers, an immediate, and the sets of
 * registers and flags that it reads and writes.
 *
 *     ac_insn in;
 *     if (!ac_decode_thumb(address, bytes, n, &in))    ... not an instruction that this layer handles
 *     if (unknown & in.reads)                          ... an operand is unknown
 *
 * Registers: 0 to 31 are those of RISC-V, 0 to 15 those of Arm; 32 to 63 are the single-precision registers of Arm. The
 * flags of Arm have bits between. AC_NOWHERE takes results that the program drops. */
#ifndef AC_TIMING_INSN_H
#define AC_TIMING_INSN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AC_SP = 13, AC_LR = 14, AC_PC = 15, AC_S0 = 32, AC_NOWHERE = 64, AC_REGISTERS = 65 };
enum { AC_RV_RA = 1, AC_RV_SP = 2 };

typedef uint64_t ac_regs; /* a set of registers and flags */
#define AC_REG(r) ((r) == AC_NOWHERE ? 0 : (ac_regs)1 << (r))
#define AC_F_NZ   ((ac_regs)1 << 16)
#define AC_F_C    ((ac_regs)1 << 17)
#define AC_F_V    ((ac_regs)1 << 18)
#define AC_F_GE   ((ac_regs)1 << 19)
#define AC_F_FP   ((ac_regs)1 << 20) /* the flags of FPSCR */
#define AC_FLAGS  (AC_F_NZ | AC_F_C | AC_F_V)

typedef enum ac_op {
#define OP(id, name, kind) AC_T_##id,
#include "timing/ops.def"
#undef OP
    AC_T_COUNT
} ac_op;

/* How the walk treats an operation, and which row of cores.def is its cost. */
typedef enum ac_op_kind {
    AC_K_DATA,
    AC_K_MUL,
    AC_K_MLA,
    AC_K_LONG,
    AC_K_LONG_MLA,
    AC_K_DIVIDE,
    AC_K_LOAD,
    AC_K_PAIR, /* two words */
    AC_K_MANY, /* a list of registers */
    AC_K_BRANCH,
    AC_K_CALL,
    AC_K_JUMP, /* to an address in a register or in memory */
    AC_K_FP,   /* results are unknown: the walk computes no floats */
    AC_K_FP_MLA,
    AC_K_FP_DIVIDE,
    AC_K_IT,
    AC_K_COUNT
} ac_op_kind;

typedef enum ac_shift { AC_LSL, AC_LSR, AC_ASR, AC_ROR, AC_RRX } ac_shift;
typedef enum ac_sets { AC_SETS_NOTHING, AC_SETS_FLAGS, AC_SETS_OUTSIDE_IT } ac_sets;
enum { AC_ALWAYS = 14 };

/* rd: result, or the register that is loaded or stored; rn: first operand, or base; rm: second operand, shifted by
 * `amount`, or the immediate if rm is AC_NOWHERE; ra: third operand, or the second result. */
typedef struct ac_insn {
    uint8_t op, bytes /* of the instruction: 2 or 4; 0: not decoded yet */, rd, rn, rm, ra;
    uint8_t shift, amount, sets, cond;
    uint8_t width;                     /* bytes of an access */
    bool is_signed, post, write_back;  /* of an access; post: the base is the address */
    bool literal, carries, load, down; /* literal: imm is the address; carries: the immediate gives the carry */
    bool carry, option;                /* that carry; option: X or R of a product, top half, CBNZ */
    uint8_t x, y;                      /* halves of a product, lowest bit and width of a bit field */
    uint32_t imm;                      /* sign-extended; of a branch: its target; of a list: its registers */
    ac_regs reads, writes;
} ac_insn;

extern const uint8_t ac_op_kind_of[AC_T_COUNT];
extern const char *const ac_op_name[AC_T_COUNT];

/* n: bytes that are there. false: not an instruction that the walk handles. */
bool ac_decode_thumb(uint32_t address, const uint8_t *at, size_t n, ac_insn *in);
bool ac_decode_thumb_wide(uint32_t address, uint32_t first, uint32_t second, ac_insn *in);
bool ac_decode_thumb_fp(uint32_t address, uint32_t first, uint32_t second, ac_insn *in);
bool ac_decode_riscv(uint32_t address, const uint8_t *at, size_t n, ac_insn *in);

/* Of Arm */
ac_regs ac_condition_reads(uint8_t cond); /* flags */
bool ac_insn_jumps(const ac_insn *in);    /* to an address in a register or in memory */

static inline int32_t ac_insn_listed(const ac_insn *in) /* registers of a list */
{
    return in->option ? in->x : __builtin_popcount(in->imm);
}
static inline ac_insn ac_insn_nop(void)
{
    return (ac_insn){
        .op = AC_T_NOP, .rd = AC_NOWHERE, .rn = AC_NOWHERE, .rm = AC_NOWHERE, .ra = AC_NOWHERE, .cond = AC_ALWAYS};
}
static inline uint32_t ac_bits(uint32_t x, int low, int n)
{
    return x >> low & ((1u << n) - 1);
}
static inline uint32_t ac_sign_extend(uint32_t x, int bits)
{
    const uint32_t sign = 1u << (bits - 1);
    return ((x & (sign | (sign - 1))) ^ sign) - sign;
}

#endif
