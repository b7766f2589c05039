/* ops.c - kinds and names of operations, from ops.def, and facts that follow from a decoded instruction. */
#include "timing/insn.h"

const uint8_t ac_op_kind_of[AC_T_COUNT] = {
#define OP(id, name, kind) AC_K_##kind,
#include "timing/ops.def"
#undef OP
};

const char *const ac_op_name[AC_T_COUNT] = {
#define OP(id, name, kind) name,
#include "timing/ops.def"
#undef OP
};

ac_regs ac_condition_reads(uint8_t cond)
{
    static const ac_regs BY[] = {AC_F_NZ, AC_F_C, AC_F_NZ, AC_F_V, AC_F_NZ | AC_F_C, AC_F_NZ | AC_F_V, AC_FLAGS, 0};
    return BY[cond >> 1];
}

bool ac_insn_jumps(const ac_insn *in)
{
    return ac_op_kind_of[in->op] == AC_K_JUMP || (in->op == AC_T_MANY && in->load && !in->option && in->imm & 0x8000) ||
           (in->op == AC_T_ACCESS && in->load && in->rd == AC_PC);
}
