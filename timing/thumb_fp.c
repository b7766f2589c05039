/* thumb_fp.c - decodes the floating-point instructions of Cortex-M. Moves, loads and stores are exact; results of
 * arithmetic are unknown, so only their registers matter. A double is two single registers. h and k are the halfwords
 * of the instruction. */
#include "timing/insn.h"

/* Singles have the extra bit lowest, doubles highest: d16 and later do not exist on Cortex-M. */
static uint8_t fp_register(uint32_t field, uint32_t extra, bool is_double)
{
    return (uint8_t)(AC_S0 + field * 2 + (is_double ? 0 : extra));
}

static uint8_t destination(uint32_t h, uint32_t k, bool is_double)
{
    return fp_register(ac_bits(k, 12, 4), ac_bits(h, 6, 1), is_double);
}

static uint8_t second_operand(uint32_t k, bool is_double)
{
    return fp_register(ac_bits(k, 0, 4), ac_bits(k, 5, 1), is_double);
}

static ac_regs words(uint8_t first, uint32_t n)
{
    return (n < 32 ? ((ac_regs)1 << n) - 1 : (ac_regs)0xffffffff) << first;
}

/* n registers from rd on; y: VLDR or VSTR, one value at an offset. */
static bool access(uint32_t address, uint32_t h, uint32_t k, bool is_double, ac_insn *in)
{
    const bool up = h & 0x80, before = h & 0x100, writes_back = h & 32;
    const bool single = before && !writes_back;
    const uint32_t n = !single ? k & 0xff : is_double ? 2 : 1, offset = (k & 0xff) * 4;
    in->op = AC_T_MANY;
    in->option = true;
    in->width = 4;
    in->load = h & 16;
    in->rn = (uint8_t)(h & 15);
    in->rd = destination(h, k, is_double);
    in->x = (uint8_t)n;
    in->y = single;
    in->write_back = writes_back;
    if (!n || n + in->rd > AC_S0 + 32 || (is_double && n % 2))
        return false;
    if (single) {
        in->imm = up ? offset : 0 - offset;
        if (in->rn == AC_PC) {
            in->literal = true;
            in->rn = AC_NOWHERE;
            in->imm += (address + 4) & ~3u;
        }
    } else {
        in->down = before;
        if (in->rn == AC_PC || up == before)
            return false;
    }
    in->reads = AC_REG(in->rn);
    in->writes = (in->load ? words(in->rd, n) : 0) | (writes_back ? AC_REG(in->rn) : 0);
    return true;
}

/* rd, and ra or AC_NOWHERE, become rm, and rn or AC_NOWHERE. */
static bool moved(uint8_t rd, uint8_t ra, uint8_t rm, uint8_t rn, ac_insn *in)
{
    in->op = AC_T_VMOV;
    in->rd = rd;
    in->ra = ra;
    in->rm = rm;
    in->rn = rn;
    in->reads = AC_REG(rm) | AC_REG(rn);
    in->writes = AC_REG(rd) | AC_REG(ra);
    return true;
}

static bool core_register(uint8_t r)
{
    return r != AC_SP && r != AC_PC;
}

/* Two core registers and a double, or two singles */
static bool transfer_two(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint8_t t = (uint8_t)ac_bits(k, 12, 4), t2 = (uint8_t)(h & 15), s = second_operand(k, k & 0x100);
    if ((k & 0xd0) != 0x10 || !core_register(t) || !core_register(t2) || s + 1 >= AC_S0 + 32 || (k & 0x100 && k & 0x20))
        return false;
    return h & 16 ? t != t2 && moved(t, t2, s, (uint8_t)(s + 1), in) : moved(s, (uint8_t)(s + 1), t, t2, in);
}

static bool transfer(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint8_t t = (uint8_t)ac_bits(k, 12, 4);
    if ((h & 0xffef) == 0xeee1 && (k & 0xfff) == 0xa10) { /* FPSCR */
        in->op = h & 16 ? AC_T_VMRS : AC_T_NOP;
        in->rd = h & 16 && t != AC_PC ? t : AC_NOWHERE;
        in->reads = h & 16 ? AC_F_FP : AC_REG(t);
        in->writes = !(h & 16) ? AC_F_FP : t == AC_PC ? AC_FLAGS : AC_REG(t);
        return t != AC_SP && (t != AC_PC || h & 16);
    }
    const bool half = k & 0x100; /* of a double */
    const uint8_t s = fp_register(h & 15, half ? ac_bits(h, 5, 1) : ac_bits(k, 7, 1), false);
    if (!core_register(t) || (h & 0xc0) || (k & 0x6f) || (half ? (k & 0x80) != 0 : (h & 0x20) != 0))
        return false;
    return h & 16 ? moved(t, AC_NOWHERE, s, AC_NOWHERE, in) : moved(s, AC_NOWHERE, t, AC_NOWHERE, in);
}

static bool unknown(uint8_t op, uint8_t first, bool is_double, ac_insn *in)
{
    in->op = op;
    in->writes = words(first, is_double ? 2 : 1);
    return true;
}

/* Conversions, comparisons and other operations of one operand */
static bool one_operand(uint32_t h, uint32_t k, bool is_double, ac_insn *in)
{
    enum {
        MOVE,
        NEGATE,
        HALF_FROM,
        HALF_TO,
        COMPARE,
        COMPARE_ZERO,
        ROUND,
        WIDEN,
        FROM_INT,
        TO_UNSIGNED = 12,
        TO_SIGNED
    };
    const uint32_t number = h & 15;
    bool wide = is_double;
    if (!(k & 0x40)) /* an immediate */
        return !(k & 0xa0) && unknown(AC_T_FP, destination(h, k, wide), wide, in);
    if (number == MOVE && !(k & 0x80) && !is_double)
        return moved(destination(h, k, false), AC_NOWHERE, second_operand(k, false), AC_NOWHERE, in);
    if (number == COMPARE || number == COMPARE_ZERO) {
        in->op = AC_T_FP;
        in->writes = AC_F_FP;
        return true;
    }
    if (number == 9)
        return false;
    if (number == WIDEN && k & 0x80)
        wide = !is_double;
    else if (number == TO_UNSIGNED || number == TO_SIGNED || number == HALF_TO)
        wide = false;
    return unknown(number == NEGATE && k & 0x80 ? AC_T_FP_DIV : AC_T_FP, destination(h, k, wide), wide, in);
}

static bool arithmetic(uint32_t h, uint32_t k, bool is_double, ac_insn *in)
{
    const uint32_t number = ac_bits(h, 7, 1) << 2 | ac_bits(h, 4, 2);
    const uint8_t d = destination(h, k, is_double);
    switch (number) {
    case 0:
    case 1:
    case 5:
    case 6:
        return unknown(AC_T_FP_MLA, d, is_double, in);
    case 2:
    case 3:
        return unknown(AC_T_FP, d, is_double, in);
    case 4:
        return !(k & 0x40) && unknown(AC_T_FP_DIV, d, is_double, in);
    default:
        return one_operand(h, k, is_double, in);
    }
}

/* VSEL, VMAXNM, VMINNM, VRINTx and VCVTx of FPv5 */
static bool of_version_5(uint32_t h, uint32_t k, bool is_double, ac_insn *in)
{
    const bool converts = (h & 0xbc) == 0xbc;
    if (!converts && (h & 0x80) && (h & 0xb0) != 0x80 && (h & 0xbc) != 0xb8)
        return false;
    is_double &= !converts;
    in->reads = h & 0x80 ? 0 : AC_FLAGS;
    return unknown(AC_T_FP, destination(h, k, is_double), is_double, in);
}

bool ac_decode_thumb_fp(uint32_t address, uint32_t h, uint32_t k, ac_insn *in)
{
    const bool is_double = k & 0x100;
    if ((k & 0xe00) != 0xa00 || (h & 0xe000) != 0xe000)
        return false;
    if ((h & 0xfe00) == 0xec00) {
        if ((h & 0xffe0) == 0xec40)
            return transfer_two(h, k, in);
        return !(is_double && h & 0x40) && (h & 0x1a0) && access(address, h, k, is_double, in);
    }
    if ((h & 0xff00) == 0xee00 && k & 0x10)
        return transfer(h, k, in);
    if (is_double && ac_bits(h, 6, 1) && ((h & 0xbc) != 0xbc)) /* d16 and later; of conversions the single's bit */
        return false;
    if ((h & 0xff00) == 0xee00)
        return arithmetic(h, k, is_double, in);
    return (h & 0xff00) == 0xfe00 && !(k & 0x10) && of_version_5(h, k, is_double, in);
}
