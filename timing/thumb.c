/* thumb.c - decodes Thumb's instructions of 16 bits; those of 32 bits go to thumb_wide.c. The form of an operand and
 * the sets of registers are those of insn.h. */
#include "timing/insn.h"

/* Reads and writes of an operation with two registers and an operand of the usual form. */
static void usual_sets(ac_insn *in)
{
    const bool logical = in->op == AC_T_MOV || in->op == AC_T_MVN || in->op == AC_T_AND || in->op == AC_T_ORR ||
                         in->op == AC_T_ORN || in->op == AC_T_EOR || in->op == AC_T_BIC || in->op == AC_T_SHIFT;
    const bool shifts = in->rm != AC_NOWHERE && (in->shift != AC_LSL || in->amount);
    in->reads |= AC_REG(in->rn) | AC_REG(in->rm) | AC_REG(in->ra);
    if (in->op == AC_T_ADC || in->op == AC_T_SBC || in->shift == AC_RRX)
        in->reads |= AC_F_C;
    in->writes |= AC_REG(in->rd);
    if (in->sets == AC_SETS_NOTHING)
        return;
    if (in->op == AC_T_MUL)
        in->writes |= AC_F_NZ;
    else if (!logical)
        in->writes |= AC_FLAGS;
    else
        in->writes |= AC_F_NZ | (shifts || in->carries || in->op == AC_T_SHIFT ? AC_F_C : 0);
}

static bool shift_immediate(uint32_t h, ac_insn *in)
{
    in->op = AC_T_MOV;
    in->rd = (uint8_t)ac_bits(h, 0, 3);
    in->rm = (uint8_t)ac_bits(h, 3, 3);
    in->shift = (uint8_t)ac_bits(h, 11, 2);
    in->amount = (uint8_t)ac_bits(h, 6, 5);
    if (in->shift != AC_LSL && !in->amount)
        in->amount = 32;
    return true;
}

/* ADDS and SUBS of three operands */
static bool add_subtract(uint32_t h, ac_insn *in)
{
    in->op = h & 0x200 ? AC_T_SUB : AC_T_ADD;
    in->rd = (uint8_t)ac_bits(h, 0, 3);
    in->rn = (uint8_t)ac_bits(h, 3, 3);
    if (h & 0x400)
        in->imm = ac_bits(h, 6, 3);
    else
        in->rm = (uint8_t)ac_bits(h, 6, 3);
    return true;
}

static bool immediate_8(uint32_t h, ac_insn *in)
{
    static const uint8_t OP[] = {AC_T_MOV, AC_T_SUB, AC_T_ADD, AC_T_SUB};
    const uint32_t k = ac_bits(h, 11, 2);
    const uint8_t r = (uint8_t)ac_bits(h, 8, 3);
    in->op = OP[k];
    in->rd = k == 1 ? AC_NOWHERE : r;
    in->rn = k ? r : AC_NOWHERE;
    in->imm = h & 0xff;
    if (k == 1)
        in->sets = AC_SETS_FLAGS;
    return true;
}

static bool two_registers(uint32_t h, ac_insn *in)
{
    static const uint8_t OP[] = {AC_T_AND, AC_T_EOR, AC_T_SHIFT, AC_T_SHIFT, AC_T_SHIFT, AC_T_ADC, AC_T_SBC, AC_T_SHIFT,
                                 AC_T_AND, AC_T_RSB, AC_T_SUB,   AC_T_ADD,   AC_T_ORR,   AC_T_MUL, AC_T_BIC, AC_T_MVN};
    enum { LSL = 2, LSR, ASR, ROR = 7, TST, RSB, CMP, CMN, MVN = 15 };
    const uint32_t k = ac_bits(h, 6, 4);
    const uint8_t d = (uint8_t)ac_bits(h, 0, 3), m = (uint8_t)ac_bits(h, 3, 3);
    const bool compares = k == TST || k == CMP || k == CMN;
    in->op = OP[k];
    in->rd = compares ? AC_NOWHERE : d;
    in->rn = k == RSB ? m : k == MVN ? AC_NOWHERE : d;
    in->rm = k == RSB ? AC_NOWHERE : m;
    if (in->op == AC_T_SHIFT)
        in->x = k == LSL ? AC_LSL : k == LSR ? AC_LSR : k == ASR ? AC_ASR : AC_ROR;
    if (compares)
        in->sets = AC_SETS_FLAGS;
    return true;
}

static bool jump(uint8_t m, bool links, ac_insn *in)
{
    in->op = links ? AC_T_BLX : AC_T_BX;
    in->rm = m;
    in->rd = links ? AC_LR : AC_NOWHERE;
    in->sets = AC_SETS_NOTHING;
    return m != AC_PC;
}

static bool high_registers(uint32_t address, uint32_t h, ac_insn *in)
{
    const uint8_t d = (uint8_t)((h & 7) | (h >> 4 & 8)), m = (uint8_t)ac_bits(h, 3, 4);
    const uint32_t k = ac_bits(h, 8, 2);
    if (k == 3)
        return !(h & 7) && jump(m, h & 0x80, in);
    in->sets = k == 1 ? AC_SETS_FLAGS : AC_SETS_NOTHING;
    in->rm = m;
    if (d == AC_PC)
        return k == 2 && jump(m, false, in);
    in->op = k == 0 ? AC_T_ADD : k == 1 ? AC_T_SUB : AC_T_MOV;
    in->rd = k == 1 ? AC_NOWHERE : d;
    in->rn = k == 2 ? AC_NOWHERE : d;
    if (m == AC_PC) { /* a constant */
        in->rm = AC_NOWHERE;
        in->imm = address + 4;
    }
    return k != 1 || m != AC_PC;
}

static bool access(uint8_t t, uint8_t n, bool load, int width, bool is_signed, ac_insn *in)
{
    in->op = AC_T_ACCESS;
    in->sets = AC_SETS_NOTHING;
    in->rd = t;
    in->rn = n;
    in->load = load;
    in->width = (uint8_t)width;
    in->is_signed = is_signed;
    return true;
}

static bool access_register(uint32_t h, ac_insn *in)
{
    static const uint8_t WIDTH[] = {4, 2, 1, 1, 4, 2, 1, 2};
    const uint32_t k = ac_bits(h, 9, 3);
    in->rm = (uint8_t)ac_bits(h, 6, 3);
    return access((uint8_t)ac_bits(h, 0, 3), (uint8_t)ac_bits(h, 3, 3), k >= 3, WIDTH[k], k == 3 || k == 7, in);
}

static bool access_immediate(uint32_t h, ac_insn *in)
{
    const int width = h >> 12 == 8 ? 2 : h & 0x1000 ? 1 : 4;
    in->imm = ac_bits(h, 6, 5) * (uint32_t)width;
    return access((uint8_t)ac_bits(h, 0, 3), (uint8_t)ac_bits(h, 3, 3), h & 0x800, width, false, in);
}

static bool literal(uint32_t address, uint32_t h, ac_insn *in)
{
    in->imm = ((address + 4) & ~3u) + (h & 0xff) * 4;
    in->literal = true;
    return access((uint8_t)ac_bits(h, 8, 3), AC_NOWHERE, true, 4, false, in);
}

static bool address_of(uint32_t address, uint32_t h, ac_insn *in)
{
    in->sets = AC_SETS_NOTHING;
    in->rd = (uint8_t)ac_bits(h, 8, 3);
    in->imm = (h & 0xff) * 4;
    if (h & 0x800) {
        in->op = AC_T_ADD;
        in->rn = AC_SP;
    } else {
        in->op = AC_T_MOV;
        in->imm += (address + 4) & ~3u;
    }
    return true;
}

static bool many(uint8_t n, uint32_t list, bool load, bool down, bool write_back, ac_insn *in)
{
    in->op = AC_T_MANY;
    in->sets = AC_SETS_NOTHING;
    in->rn = n;
    in->imm = list;
    in->load = load;
    in->down = down;
    in->write_back = write_back;
    in->width = 4;
    return list != 0;
}

static bool it_or_hint(uint32_t h, ac_insn *in)
{
    in->sets = AC_SETS_NOTHING;
    in->op = h & 15 ? AC_T_IT : AC_T_NOP;
    in->imm = h & 0xff;
    return h & 15 ? (h >> 4 & 15) != 15 : (h & 0xff) == 0 || (h & 0xff) == 0x10; /* nop, yield */
}

static bool miscellaneous(uint32_t address, uint32_t h, ac_insn *in)
{
    static const uint8_t EXTEND[] = {AC_T_SXTH, AC_T_SXTB, AC_T_UXTH, AC_T_UXTB};
    static const uint8_t REVERSE[] = {AC_T_REV, AC_T_REV16, AC_T_NOP, AC_T_REVSH};
    in->sets = AC_SETS_NOTHING;
    if ((h & 0xff00) == 0xb000) {
        in->op = h & 0x80 ? AC_T_SUB : AC_T_ADD;
        in->rd = in->rn = AC_SP;
        in->imm = (h & 0x7f) * 4;
        return true;
    }
    if ((h & 0xf500) == 0xb100) {
        in->op = AC_T_CBZ;
        in->rn = (uint8_t)(h & 7);
        in->option = h & 0x800;
        in->imm = address + 4 + (h >> 3 & 0x40) + (h >> 2 & 0x3e);
        return true;
    }
    if ((h & 0xff00) == 0xb200 || (h & 0xff00) == 0xba00) {
        in->op = (h & 0xff00) == 0xb200 ? EXTEND[ac_bits(h, 6, 2)] : REVERSE[ac_bits(h, 6, 2)];
        in->rd = (uint8_t)ac_bits(h, 0, 3);
        in->rm = (uint8_t)ac_bits(h, 3, 3);
        return in->op != AC_T_NOP;
    }
    if ((h & 0xfe00) == 0xb400)
        return many(AC_SP, (h & 0xff) | (h & 0x100) << 6, false, true, true, in);
    if ((h & 0xfe00) == 0xbc00)
        return many(AC_SP, (h & 0xff) | (h & 0x100) << 7, true, false, true, in);
    return (h & 0xff00) == 0xbf00 && it_or_hint(h, in);
}

static bool branch(uint32_t address, uint32_t h, ac_insn *in)
{
    in->op = AC_T_B;
    in->sets = AC_SETS_NOTHING;
    if (h >> 12 == 13) {
        in->cond = (uint8_t)ac_bits(h, 8, 4);
        in->imm = address + 4 + ac_sign_extend((h & 0xff) << 1, 9);
        return in->cond < AC_ALWAYS;
    }
    in->imm = address + 4 + ac_sign_extend((h & 0x7ff) << 1, 12);
    return true;
}

static bool narrow(uint32_t address, uint32_t h, ac_insn *in)
{
    const uint8_t low = (uint8_t)ac_bits(h, 8, 3);
    switch (h >> 12) {
    case 0:
    case 1:
        return (h >> 11 & 3) == 3 ? add_subtract(h, in) : shift_immediate(h, in);
    case 2:
    case 3:
        return immediate_8(h, in);
    case 4:
        return h & 0x800 ? literal(address, h, in) : h & 0x400 ? high_registers(address, h, in) : two_registers(h, in);
    case 5:
        return access_register(h, in);
    case 6:
    case 7:
    case 8:
        return access_immediate(h, in);
    case 9:
        in->imm = (h & 0xff) * 4;
        return access(low, AC_SP, h & 0x800, 4, false, in);
    case 10:
        return address_of(address, h, in);
    case 11:
        return miscellaneous(address, h, in);
    case 12:
        return many(low, h & 0xff, h & 0x800, false, !(h & 0x800) || !(h >> low & 1), in);
    default:
        return branch(address, h, in);
    }
}

/* The sets of accesses, lists and branches. */
static void other_sets(ac_insn *in)
{
    const ac_regs base = in->write_back || in->post ? AC_REG(in->rn) : 0;
    if (in->reads || in->writes) /* of floats */
        return;
    in->reads = AC_REG(in->rn) | AC_REG(in->rm);
    in->writes = base;
    if (in->op == AC_T_B)
        in->reads = ac_condition_reads(in->cond);
    else if (in->op == AC_T_BL || in->op == AC_T_BLX)
        in->writes = AC_REG(AC_LR);
    else if (in->op == AC_T_ACCESS && in->load)
        in->writes |= AC_REG(in->rd);
    else if (in->op == AC_T_PAIR && in->load)
        in->writes |= AC_REG(in->rd) | AC_REG(in->ra);
    else if (in->op == AC_T_MANY && in->load && !in->option)
        in->writes |= in->imm & 0x7fff;
}

bool ac_decode_thumb(uint32_t address, const uint8_t *at, size_t n, ac_insn *in)
{
    const uint32_t h = n >= 2 ? at[0] | (uint32_t)at[1] << 8 : 0;
    const bool wide = h >> 11 >= 0x1d;
    *in = ac_insn_nop();
    in->sets = wide ? AC_SETS_NOTHING : AC_SETS_OUTSIDE_IT;
    if (n < (wide ? 4u : 2u))
        return false;
    if (wide ? !ac_decode_thumb_wide(address, h, at[2] | (uint32_t)at[3] << 8, in) : !narrow(address, h, in))
        return false;
    in->bytes = wide ? 4 : 2;
    if (in->op >= AC_T_ACCESS && in->op <= AC_T_IT)
        other_sets(in);
    else if (!in->reads && !in->writes)
        usual_sets(in);
    return true;
}
