/* execute.c - data operations of both instruction sets on known values; see execute.h. Shifts by a register, divisions
 * and saturation follow the architecture manuals, also at their ends. */
#include "timing/execute.h"

bool ac_condition(const ac_core_state *s, uint8_t cond)
{
    bool holds = true;
    switch (cond >> 1) {
    case 0:
        holds = s->z;
        break;
    case 1:
        holds = s->c;
        break;
    case 2:
        holds = s->n;
        break;
    case 3:
        holds = s->o;
        break;
    case 4:
        holds = s->c && !s->z;
        break;
    case 5:
        holds = s->n == s->o;
        break;
    case 6:
        holds = s->n == s->o && !s->z;
        break;
    default:
        return true;
    }
    return holds != (cond & 1);
}

bool ac_branch_holds(const ac_insn *in, uint32_t a, uint32_t b)
{
    switch (in->op) {
    case AC_T_BEQ:
        return a == b;
    case AC_T_BNE:
        return a != b;
    case AC_T_BLT:
        return (int32_t)a < (int32_t)b;
    case AC_T_BGE:
        return (int32_t)a >= (int32_t)b;
    case AC_T_BLTU:
        return a < b;
    default:
        return a >= b;
    }
}

/* x shifted by n, 0 to 255; *carry: the last bit out, unchanged if n is 0. */
static uint32_t shifted(uint32_t x, uint8_t shift, uint32_t n, bool *carry)
{
    if (shift == AC_RRX) {
        const uint32_t in = *carry;
        *carry = x & 1;
        return x >> 1 | in << 31;
    }
    if (!n)
        return x;
    switch (shift) {
    case AC_LSL:
        *carry = n <= 32 && x >> (32 - n) & 1;
        return n < 32 ? x << n : 0;
    case AC_LSR:
        *carry = n <= 32 && x >> (n - 1) & 1;
        return n < 32 ? x >> n : 0;
    case AC_ASR:
        n = n < 32 ? n : 32;
        *carry = (uint64_t)(int64_t)(int32_t)x >> (n - 1) & 1;
        return (uint32_t)((int64_t)(int32_t)x >> n);
    default:
        n &= 31;
        x = n ? x >> n | x << (32 - n) : x;
        *carry = x >> 31;
        return x;
    }
}

static uint32_t sum(ac_core_state *s, uint32_t a, uint32_t b, bool carry, bool sets)
{
    const uint64_t wide = (uint64_t)a + b + carry;
    const uint32_t r = (uint32_t)wide;
    if (sets) {
        s->c = wide >> 32;
        s->o = (~(a ^ b) & (a ^ r)) >> 31;
    }
    return r;
}

static uint32_t reversed_bits(uint32_t x)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

static uint32_t swapped_16(uint32_t x)
{
    return (x & 0xff00ff) << 8 | (x >> 8 & 0xff00ff);
}

static uint32_t extended(uint8_t op, uint32_t x)
{
    switch (op) {
    case AC_T_SXTB:
        return ac_sign_extend(x, 8);
    case AC_T_SXTH:
        return ac_sign_extend(x, 16);
    case AC_T_UXTB:
        return x & 0xff;
    case AC_T_UXTH:
        return x & 0xffff;
    case AC_T_UXTB16:
        return x & 0xff00ff;
    default:
        return (ac_sign_extend(x, 8) & 0xffff) | ac_sign_extend(x >> 16, 8) << 16;
    }
}

/* With a, by halves for the form of 16 bits */
static uint32_t extended_sum(uint8_t op, uint32_t a, uint32_t x)
{
    const uint32_t e = extended(op, x);
    if (op != AC_T_SXTB16 && op != AC_T_UXTB16)
        return a + e;
    return ((a + e) & 0xffff) | ((a >> 16) + (e >> 16)) << 16;
}

static uint32_t divided(uint8_t op, uint32_t a, uint32_t b)
{
    const bool overflows = a == 0x80000000u && b == 0xffffffffu;
    switch (op) {
    case AC_T_SDIV:
        return !b ? 0 : overflows ? a : (uint32_t)((int32_t)a / (int32_t)b);
    case AC_T_UDIV:
        return b ? a / b : 0;
    case AC_T_DIV:
        return !b ? 0xffffffffu : overflows ? a : (uint32_t)((int32_t)a / (int32_t)b);
    case AC_T_DIVU:
        return b ? a / b : 0xffffffffu;
    case AC_T_REM:
        return !b ? a : overflows ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
    default:
        return b ? a % b : a;
    }
}

static uint32_t field(const ac_insn *in, uint32_t a, uint32_t old)
{
    const uint32_t mask = in->y < 32 ? (1u << in->y) - 1 : 0xffffffffu;
    if (in->op == AC_T_BFI)
        return (old & ~(mask << in->x)) | (a & mask) << in->x;
    return in->op == AC_T_UBFX ? a >> in->x & mask : ac_sign_extend(a >> in->x, in->y);
}

static uint32_t bytes_with_bits(uint32_t x)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 8)
        r |= x >> i & 0xff ? 0xffu << i : 0;
    return r;
}

static uint32_t differences(uint32_t a, uint32_t b)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 8) {
        const uint32_t x = a >> i & 0xff, y = b >> i & 0xff;
        r += x > y ? x - y : y - x;
    }
    return r;
}

static uint32_t selected(uint32_t a, uint32_t b, uint8_t ge)
{
    uint32_t mask = 0;
    for (int i = 0; i < 4; i++)
        mask |= ge >> i & 1 ? 0xffu << (8 * i) : 0;
    return (a & mask) | (b & ~mask);
}

static int64_t half(uint32_t x, bool high)
{
    return (int16_t)(high ? x >> 16 : x & 0xffff);
}

static uint32_t product_32(const ac_insn *in, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t m = in->option ? b >> 16 | b << 16 : b;
    switch (in->op) {
    case AC_T_MUL:
    case AC_T_MLA:
        return c + a * b;
    case AC_T_MLS:
        return c - a * b;
    case AC_T_SMULXY:
        return c + (uint32_t)(half(a, in->x) * half(b, in->y));
    case AC_T_SMULW:
        return c + (uint32_t)((int64_t)(int32_t)a * half(b, in->y) >> 16);
    case AC_T_SMUAD:
        return c + (uint32_t)(half(a, 0) * half(m, 0) + half(a, 1) * half(m, 1));
    case AC_T_SMUSD:
        return c + (uint32_t)(half(a, 0) * half(m, 0) - half(a, 1) * half(m, 1));
    case AC_T_SMMUL:
    case AC_T_SMMLS: {
        const uint64_t p = (uint64_t)((int64_t)(int32_t)a * (int32_t)b), high = (uint64_t)c << 32;
        return (uint32_t)(((in->op == AC_T_SMMUL ? high + p : high - p) + (in->option ? 0x80000000u : 0)) >> 32);
    }
    case AC_T_MULH:
        return (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32);
    case AC_T_MULHSU:
        return (uint32_t)((int64_t)(int32_t)a * (int64_t)b >> 32);
    case AC_T_MULHU:
        return (uint32_t)((uint64_t)a * b >> 32);
    default:
        return c + differences(a, b);
    }
}

/* The low word; the high one goes to ra. */
uint32_t ac_long_product(ac_core_state *s, const ac_insn *in)
{
    const uint32_t a = s->v[in->rn], b = s->v[in->rm], m = in->option ? b >> 16 | b << 16 : b;
    const uint64_t old = (uint64_t)s->v[in->ra] << 32 | s->v[in->rd];
    uint64_t r;
    switch (in->op) {
    case AC_T_SMULL:
        r = (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
        break;
    case AC_T_UMULL:
        r = (uint64_t)a * b;
        break;
    case AC_T_SMLAL:
        r = old + (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
        break;
    case AC_T_UMLAL:
        r = old + (uint64_t)a * b;
        break;
    case AC_T_UMAAL:
        r = (uint64_t)a * b + s->v[in->ra] + s->v[in->rd];
        break;
    case AC_T_SMLALXY:
        r = old + (uint64_t)(half(a, in->x) * half(b, in->y));
        break;
    case AC_T_SMLALD:
        r = old + (uint64_t)(half(a, 0) * half(m, 0) + half(a, 1) * half(m, 1));
        break;
    default:
        r = old + (uint64_t)(half(a, 0) * half(m, 0) - half(a, 1) * half(m, 1));
        break;
    }
    s->v[in->ra] = (uint32_t)(r >> 32);
    return (uint32_t)r;
}

/* The operations without carry: a and b are the operands, b shifted. */
static uint32_t computed(ac_core_state *s, const ac_insn *in, uint32_t a, uint32_t b)
{
    switch (in->op) {
    case AC_T_MOV:
        return b;
    case AC_T_UXTB:
    case AC_T_UXTH:
    case AC_T_SXTB:
    case AC_T_SXTH:
    case AC_T_SXTB16:
    case AC_T_UXTB16:
        return extended_sum(in->op, a, b);
    case AC_T_MVN:
        return ~b;
    case AC_T_AND:
        return a & b;
    case AC_T_ORR:
        return a | b;
    case AC_T_ORN:
        return a | ~b;
    case AC_T_EOR:
        return in->option ? ~(a ^ b) : a ^ b;
    case AC_T_BIC:
        return a & ~b;
    case AC_T_MOVT:
        return (a & 0xffff) | in->imm << 16;
    case AC_T_CLZ:
        return b ? (uint32_t)__builtin_clz(b) : 32;
    case AC_T_CTZ:
        return b ? (uint32_t)__builtin_ctz(b) : 32;
    case AC_T_CPOP:
        return (uint32_t)__builtin_popcount(b);
    case AC_T_ORCB:
        return bytes_with_bits(b);
    case AC_T_RBIT:
        return reversed_bits(b);
    case AC_T_REV:
        return __builtin_bswap32(b);
    case AC_T_REV16:
        return swapped_16(b);
    case AC_T_REVSH:
        return ac_sign_extend(swapped_16(b), 16);
    case AC_T_PKHBT:
        return (a & 0xffff) | (b & 0xffff0000u);
    case AC_T_PKHTB:
        return (a & 0xffff0000u) | (b & 0xffff);
    case AC_T_BFI:
    case AC_T_SBFX:
    case AC_T_UBFX:
        return field(in, a, s->v[in->ra]);
    case AC_T_SEL:
        return selected(a, b, s->ge);
    case AC_T_PARALLEL:
        return ac_parallel(in, a, b, &s->ge);
    case AC_T_SLT:
        return (int32_t)a < (int32_t)b;
    case AC_T_SLTU:
        return a < b;
    case AC_T_MIN:
        return (int32_t)a < (int32_t)b ? a : b;
    case AC_T_MAX:
        return (int32_t)a > (int32_t)b ? a : b;
    case AC_T_MINU:
        return a < b ? a : b;
    case AC_T_MAXU:
        return a > b ? a : b;
    case AC_T_SDIV:
    case AC_T_UDIV:
    case AC_T_DIV:
    case AC_T_DIVU:
    case AC_T_REM:
    case AC_T_REMU:
        return divided(in->op, a, b);
    case AC_T_SMULL:
    case AC_T_UMULL:
    case AC_T_SMLAL:
    case AC_T_UMLAL:
    case AC_T_UMAAL:
    case AC_T_SMLALXY:
    case AC_T_SMLALD:
    case AC_T_SMLSLD:
        return ac_long_product(s, in);
    case AC_T_SSAT:
    case AC_T_USAT:
    case AC_T_SSAT16:
    case AC_T_USAT16:
    case AC_T_QADD:
    case AC_T_QDADD:
    case AC_T_QSUB:
    case AC_T_QDSUB:
        return ac_saturate(in, a, b);
    default:
        return product_32(in, a, b, s->v[in->ra]);
    }
}

void ac_execute(ac_core_state *s, const ac_insn *in, bool sets)
{
    uint32_t r;
    bool carry = s->c;
    if (in->op == AC_T_NOP)
        return;
    if (in->op == AC_T_VMOV) { /* one or two registers */
        const uint32_t first = s->v[in->rm], second = s->v[in->rn];
        s->v[in->rd] = first;
        s->v[in->ra] = second;
        s->v[AC_NOWHERE] = 0;
        return;
    }
    const uint32_t a = s->v[in->rn];
    uint32_t b = in->imm;
    if (in->rm != AC_NOWHERE)
        b = in->amount || in->shift == AC_RRX ? shifted(s->v[in->rm], in->shift, in->amount, &carry) : s->v[in->rm];
    else if (in->carries)
        carry = in->carry;
    switch (in->op) {
    case AC_T_ADD:
        r = sum(s, a, b, false, sets);
        break;
    case AC_T_ADC:
        r = sum(s, a, b, s->c, sets);
        break;
    case AC_T_SUB:
        r = sum(s, a, ~b, true, sets);
        break;
    case AC_T_SBC:
        r = sum(s, a, ~b, s->c, sets);
        break;
    case AC_T_RSB:
        r = sum(s, ~a, b, true, sets);
        break;
    case AC_T_SHIFT:
        b = in->option ? b & 31 : b & 0xff;
        r = shifted(a, in->x, in->y ? (32 - b) & 31 : b, &carry);
        if (sets)
            s->c = carry;
        break;
    default:
        r = computed(s, in, a, b);
        if (sets && in->writes & AC_F_C)
            s->c = carry;
        break;
    }
    s->v[in->rd] = r;
    s->v[AC_NOWHERE] = 0;
    if (sets) {
        s->n = r >> 31;
        s->z = !r;
    }
}
