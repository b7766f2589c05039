/* partly.c - data operations with some unknown bits: sums, logic, shifts and extensions keep the bits that do not
 * depend on the unknown ones, and the flags that follow from them. Other results are unknown. Library functions for
 * divisions and floats need this, since their counters share words with data. */
#include "timing/execute.h"

typedef struct bits {
    uint32_t v, u; /* v: 0 where u has a 1: unknown */
} bits;

static bits unknown_bits(uint32_t v, uint32_t u)
{
    return (bits){v & ~u, u};
}

static bits register_bits(const ac_core_state *s, uint8_t r)
{
    return unknown_bits(s->v[r], ac_unknown_bits(s, r));
}

static bits inverted(bits x)
{
    return unknown_bits(~x.v, x.u);
}

static bits all_unknown(void)
{
    return (bits){0, 0xffffffffu};
}

/* ------------------------------------------------------------------ shifts */

static bits rotated(bits x, uint32_t n)
{
    n &= 31;
    return n ? (bits){x.v >> n | x.v << (32 - n), x.u >> n | x.u << (32 - n)} : x;
}

static bits signed_shift(bits x, uint32_t n)
{
    n = n < 31 ? n : 31;
    return (bits){(uint32_t)((int32_t)x.v >> n), (uint32_t)((int32_t)x.u >> n)};
}

/* The bit that leaves last: a carry. */
static bits bit(bits x, uint32_t i)
{
    return i < 32 ? (bits){x.v >> i & 1, x.u >> i & 1} : (bits){0, 0};
}

static bits shifted(bits x, uint8_t shift, uint32_t n, bits *carry)
{
    if (shift == AC_RRX) {
        const bits in = *carry;
        *carry = bit(x, 0);
        return (bits){x.v >> 1 | in.v << 31, x.u >> 1 | in.u << 31};
    }
    if (!n)
        return x;
    switch (shift) {
    case AC_LSL:
        *carry = bit(x, 32 - n);
        return n < 32 ? (bits){x.v << n, x.u << n} : (bits){0, 0};
    case AC_LSR:
        *carry = bit(x, n - 1);
        return n < 32 ? (bits){x.v >> n, x.u >> n} : (bits){0, 0};
    case AC_ASR:
        *carry = bit(x, n < 32 ? n - 1 : 31);
        return signed_shift(x, n);
    default:
        x = rotated(x, n);
        *carry = bit(x, 31);
        return x;
    }
}

/* ------------------------------------------------------------------ sums */

static void put_flag(ac_core_state *s, ac_regs flag, bool *to, bits x)
{
    s->unknown = x.u ? s->unknown | flag : s->unknown & ~flag;
    *to = x.v & 1;
}

/* The sum of the least values and that of the largest: where carries agree, bits and flags are known. */
static bits sum(ac_core_state *s, bits a, bits b, bits carry, bool sets)
{
    const uint64_t least = (uint64_t)a.v + b.v + (carry.v & 1);
    const uint64_t most = (uint64_t)(a.v | a.u) + (b.v | b.u) + (carry.v | carry.u);
    const uint32_t carry_0 = ~((uint32_t)most ^ (a.v | a.u) ^ (b.v | b.u)); /* surely not carried into */
    const uint32_t carry_1 = (uint32_t)least ^ a.v ^ b.v;
    const uint32_t known = ~a.u & ~b.u & (carry_0 | carry_1);
    const bits r = unknown_bits((uint32_t)least, ~known);
    if (sets) {
        const bool signs = (a.u | b.u | r.u) >> 31;
        put_flag(s, AC_F_C, &s->c, (bits){(uint32_t)(least >> 32), least >> 32 != most >> 32});
        put_flag(s, AC_F_V, &s->o, (bits){(~(a.v ^ b.v) & (a.v ^ r.v)) >> 31, signs});
    }
    return r;
}

/* ------------------------------------------------------------------ the rest */

static bits conjunction(bits a, bits b)
{
    return unknown_bits(a.v & b.v, (a.u | b.u) & (a.v | a.u) & (b.v | b.u));
}

static bits disjunction(bits a, bits b)
{
    return inverted(conjunction(inverted(a), inverted(b)));
}

static bits extended(bits x, int n, bool is_signed)
{
    const bits up = {x.v << (32 - n), x.u << (32 - n)};
    return is_signed ? signed_shift(up, (uint32_t)(32 - n)) : (bits){up.v >> (32 - n), up.u >> (32 - n)};
}

static bits logic(const ac_insn *in, bits a, bits b)
{
    switch (in->op) {
    case AC_T_MOV:
        return b;
    case AC_T_MVN:
        return inverted(b);
    case AC_T_AND:
        return conjunction(a, b);
    case AC_T_BIC:
        return conjunction(a, inverted(b));
    case AC_T_ORR:
        return disjunction(a, b);
    case AC_T_ORN:
        return disjunction(a, inverted(b));
    default:
        return unknown_bits(in->option ? ~(a.v ^ b.v) : a.v ^ b.v, a.u | b.u);
    }
}

static bits field(const ac_insn *in, bits a, bits old)
{
    const uint32_t mask = in->y < 32 ? (1u << in->y) - 1 : 0xffffffffu;
    if (in->op == AC_T_BFI)
        return (bits){(old.v & ~(mask << in->x)) | (a.v & mask) << in->x, (old.u & ~(mask << in->x)) | (a.u & mask)
                                                                                                           << in->x};
    return extended((bits){a.v >> in->x, a.u >> in->x}, in->y, in->op == AC_T_SBFX);
}

static bits other(const ac_core_state *s, const ac_insn *in, bits a, bits b)
{
    const bool alone = in->rn == AC_NOWHERE;
    switch (in->op) {
    case AC_T_UXTB:
    case AC_T_SXTB:
        return alone ? extended(b, 8, in->op == AC_T_SXTB) : all_unknown();
    case AC_T_UXTH:
    case AC_T_SXTH:
        return alone ? extended(b, 16, in->op == AC_T_SXTH) : all_unknown();
    case AC_T_BFI:
    case AC_T_UBFX:
    case AC_T_SBFX:
        return field(in, a, register_bits(s, in->ra));
    case AC_T_MOVT:
        return (bits){(a.v & 0xffff) | in->imm << 16, a.u & 0xffff};
    case AC_T_PKHBT:
        return (bits){(a.v & 0xffff) | (b.v & 0xffff0000u), (a.u & 0xffff) | (b.u & 0xffff0000u)};
    case AC_T_PKHTB:
        return (bits){(a.v & 0xffff0000u) | (b.v & 0xffff), (a.u & 0xffff0000u) | (b.u & 0xffff)};
    case AC_T_CLZ:
    case AC_T_CTZ:
    case AC_T_CPOP:
        return (bits){0, 63};
    case AC_T_SLT:
    case AC_T_SLTU:
        return (bits){0, 1};
    case AC_T_REV:
        return (bits){__builtin_bswap32(b.v), __builtin_bswap32(b.u)};
    default:
        return all_unknown();
    }
}

/* By an amount that may be unknown */
static bits by_register(const ac_insn *in, bits a, bits b, bits *carry)
{
    if (b.u & (in->option ? 31u : 0xffu)) {
        *carry = (bits){0, 1};
        return all_unknown();
    }
    const uint32_t n = b.v & (in->option ? 31u : 0xffu);
    return shifted(a, in->x, in->y ? (32 - n) & 31 : n, carry);
}

static bits result(ac_core_state *s, const ac_insn *in, bits a, bits b, bits *carry, bool sets)
{
    const bits none = {0, 0}, one = {1, 0};
    switch (in->op) {
    case AC_T_ADD:
        return sum(s, a, b, none, sets);
    case AC_T_SUB:
        return sum(s, a, inverted(b), one, sets);
    case AC_T_RSB:
        return sum(s, inverted(a), b, one, sets);
    case AC_T_ADC:
        return sum(s, a, b, (bits){s->c, (s->unknown & AC_F_C) != 0}, sets);
    case AC_T_SBC:
        return sum(s, a, inverted(b), (bits){s->c, (s->unknown & AC_F_C) != 0}, sets);
    case AC_T_SHIFT:
        return by_register(in, a, b, carry);
    case AC_T_MOV:
    case AC_T_MVN:
    case AC_T_AND:
    case AC_T_BIC:
    case AC_T_ORR:
    case AC_T_ORN:
    case AC_T_EOR:
        return logic(in, a, b);
    default:
        return other(s, in, a, b);
    }
}

void ac_execute_partly(ac_core_state *s, const ac_insn *in, bool sets)
{
    bits carry = unknown_bits(s->c, (s->unknown & AC_F_C) != 0);
    bits a = register_bits(s, in->rn), b = {in->imm, 0};
    if (in->op == AC_T_VMOV) {
        b = register_bits(s, in->rm);
        ac_put_bits(s, in->rd, b.v, b.u);
        ac_put_bits(s, in->ra, a.v, a.u);
        return;
    }
    if (in->rm != AC_NOWHERE)
        b = in->amount || in->shift == AC_RRX ? shifted(register_bits(s, in->rm), in->shift, in->amount, &carry)
                                              : register_bits(s, in->rm);
    else if (in->carries)
        carry = (bits){in->carry, 0};
    const bool adds =
        in->op == AC_T_ADD || in->op == AC_T_SUB || in->op == AC_T_RSB || in->op == AC_T_ADC || in->op == AC_T_SBC;
    const bits r = result(s, in, a, b, &carry, sets);
    ac_put_bits(s, in->rd, r.v, r.u);
    if (in->writes & AC_REG(in->ra))
        ac_put_bits(s, in->ra, 0, 0xffffffffu);
    if (in->writes & AC_F_GE)
        s->unknown |= AC_F_GE;
    if (!sets)
        return;
    s->n = r.v >> 31;
    s->z = !r.v;
    s->unknown = r.u ? s->unknown | AC_F_NZ : s->unknown & ~AC_F_NZ;
    if (!adds && in->writes & AC_F_C)
        put_flag(s, AC_F_C, &s->c, carry);
}
