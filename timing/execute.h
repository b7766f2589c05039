/* execute.h - registers and flags of a core, and the effect of one instruction on them. Memory, branches and unknown
 * values are the walk's (walk.h). */
#ifndef AC_TIMING_EXECUTE_H
#define AC_TIMING_EXECUTE_H
#include "timing/insn.h"

typedef struct ac_core_state {
    uint32_t v[AC_REGISTERS];
    uint32_t u[AC_REGISTERS]; /* unknown bits of the registers in `unknown`: at least one, and 0 in v */
    ac_regs unknown;
    uint32_t pc;
    bool n, z, c, o;
    uint8_t ge, it; /* it: the rest of an IT block, as in EPSR */
    int32_t depth;  /* calls that have not returned */
} ac_core_state;

/* Data operations on known operands. sets: the instruction may set flags. */
void ac_execute(ac_core_state *s, const ac_insn *in, bool sets);
/* The same if an operand is unknown: bits that do not depend on it stay known. */
void ac_execute_partly(ac_core_state *s, const ac_insn *in, bool sets);
uint32_t ac_parallel(const ac_insn *in, uint32_t a, uint32_t b, uint8_t *ge);
uint32_t ac_saturate(const ac_insn *in, uint32_t a, uint32_t b);
uint32_t ac_long_product(ac_core_state *s, const ac_insn *in);
bool ac_condition(const ac_core_state *s, uint8_t cond);
bool ac_branch_holds(const ac_insn *in, uint32_t a, uint32_t b); /* BEQ to BGEU */

static inline uint32_t ac_unknown_bits(const ac_core_state *s, uint8_t r)
{
    return r != AC_NOWHERE && s->unknown >> r & 1 ? s->u[r] : 0;
}
static inline void ac_put_bits(ac_core_state *s, uint8_t r, uint32_t value, uint32_t unknown)
{
    if (r == AC_NOWHERE)
        return;
    s->v[r] = value & ~unknown;
    s->u[r] = unknown;
    s->unknown = unknown ? s->unknown | AC_REG(r) : s->unknown & ~AC_REG(r);
}

#endif
