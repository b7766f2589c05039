/* join.c - the state after two ways of a branch that data decides: bits that are known and equal in both. */
#include "timing/walk.h"

static void join_flags(ac_core_state *s, const ac_core_state *a)
{
    if (s->n != a->n || s->z != a->z)
        s->unknown |= AC_F_NZ;
    if (s->c != a->c)
        s->unknown |= AC_F_C;
    if (s->o != a->o)
        s->unknown |= AC_F_V;
    if (s->ge != a->ge)
        s->unknown |= AC_F_GE;
}

void ac_state_join(ac_core_state *s, const ac_core_state *a, bool riscv)
{
    const ac_regs flags = (s->unknown | a->unknown) & (AC_FLAGS | AC_F_GE | AC_F_FP);
    for (uint8_t r = 0; r < AC_NOWHERE; r++) {
        const uint32_t u = ac_unknown_bits(s, r) | ac_unknown_bits(a, r) | (s->v[r] ^ a->v[r]);
        ac_put_bits(s, r, s->v[r], u);
    }
    if (!riscv)
        s->unknown |= flags;
    join_flags(s, a);
}
