/* thumb_wide.c - decodes Thumb's instructions of 32 bits, with the DSP extension; floats go to thumb_fp.c. Fields have
 * the names of the architecture manual: h is the first halfword, k the second. */
#include "timing/insn.h"

static uint8_t low_register(uint32_t k) /* bits 0 to 3 */
{
    return (uint8_t)(k & 15);
}

static uint8_t result(uint32_t k) /* bits 8 to 11 */
{
    return (uint8_t)ac_bits(k, 8, 4);
}

static uint8_t top(uint32_t k) /* bits 12 to 15 */
{
    return (uint8_t)ac_bits(k, 12, 4);
}

/* SP is allowed where compilers use it: additions, moves, bases. */
static bool general(uint8_t r)
{
    return r != AC_PC && r != AC_SP;
}

/* ------------------------------------------------------------------ operands */

static uint32_t shift_bits(uint32_t k)
{
    return ac_bits(k, 12, 3) << 2 | ac_bits(k, 6, 2);
}

static void shifted(uint32_t k, ac_insn *in)
{
    in->rm = low_register(k);
    in->shift = (uint8_t)ac_bits(k, 4, 2);
    in->amount = (uint8_t)shift_bits(k);
    if (in->shift == AC_ROR && !in->amount)
        in->shift = AC_RRX;
    else if (in->shift != AC_LSL && !in->amount)
        in->amount = 32;
}

static uint32_t immediate_12(uint32_t h, uint32_t k)
{
    return (h & 0x400) << 1 | ac_bits(k, 12, 3) << 8 | (k & 0xff);
}

static void expanded(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t bits = immediate_12(h, k), byte = bits & 0xff;
    static const uint32_t REPEAT[] = {1, 0x10001, 0x1000100, 0x1010101};
    if (bits < 0x400) {
        in->imm = byte * REPEAT[bits >> 8];
        return;
    }
    const uint32_t n = bits >> 7, x = 0x80 | (bits & 0x7f);
    in->imm = x >> n | x << (32 - n);
    in->carries = true;
    in->carry = in->imm >> 31;
}

/* The rows of data processing. Register 15 as the result makes it a comparison, as the first operand a move. */
static bool data_processing(uint32_t number, bool sets, uint8_t n, uint8_t d, ac_insn *in)
{
    static const uint8_t OP[16] = {AC_T_AND, AC_T_BIC, AC_T_ORR, AC_T_ORN, AC_T_EOR, 0,        AC_T_PKHBT, 0,
                                   AC_T_ADD, 0,        AC_T_ADC, AC_T_SBC, 0,        AC_T_SUB, AC_T_RSB,   0};
    const bool compares = d == AC_PC, moves = n == AC_PC;
    in->op = OP[number];
    in->rn = n;
    in->rd = d;
    in->sets = sets ? AC_SETS_FLAGS : AC_SETS_NOTHING;
    if (in->op == AC_T_NOP)
        return false;
    if (compares) {
        if (!sets || (number != 0 && number != 4 && number != 8 && number != 13))
            return false;
        in->rd = AC_NOWHERE;
    }
    if (moves) {
        if (number != 2 && number != 3)
            return false;
        in->op = number == 2 ? AC_T_MOV : AC_T_MVN;
        in->rn = AC_NOWHERE;
    }
    return true;
}

static bool data_shifted(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t number = ac_bits(h, 5, 4);
    if (k & 0x8000 || !data_processing(number, h & 16, low_register(h), result(k), in) || (k & 15) == AC_PC)
        return false;
    shifted(k, in);
    if (number != 6)
        return true;
    in->op = k & 0x20 ? AC_T_PKHTB : AC_T_PKHBT;
    return !(h & 16) && !(k & 0x10);
}

static bool data_immediate(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t number = ac_bits(h, 5, 4);
    expanded(h, k, in);
    return number != 6 && data_processing(number, h & 16, low_register(h), result(k), in);
}

static bool bit_field(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t number = ac_bits(h, 4, 5), low = shift_bits(k), count = k & 31;
    in->rd = result(k);
    in->rn = low_register(h);
    in->x = (uint8_t)low;
    in->y = (uint8_t)(count + 1);
    if (!general(in->rd) || (h & 0x400) || (k & 0x20))
        return false;
    if (number == 22) { /* keeps the other bits; rn 15: zeros */
        if (count < low)
            return false;
        in->op = AC_T_BFI;
        in->y = (uint8_t)(count - low + 1);
        in->ra = in->rd;
        in->rn = in->rn == AC_PC ? AC_NOWHERE : in->rn;
        return true;
    }
    in->op = number == 20 ? AC_T_SBFX : AC_T_UBFX;
    return general(in->rn) && low + in->y <= 32;
}

static bool saturate(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t number = ac_bits(h, 4, 5);
    const bool is_signed = number < 24, halves = number & 2 && !shift_bits(k);
    in->op = halves ? (is_signed ? AC_T_SSAT16 : AC_T_USAT16) : is_signed ? AC_T_SSAT : AC_T_USAT;
    in->rd = result(k);
    in->rm = low_register(h);
    in->shift = number & 2 ? AC_ASR : AC_LSL;
    in->amount = (uint8_t)shift_bits(k);
    in->y = (uint8_t)((k & 31) + (is_signed ? 1 : 0)); /* bits of the result */
    if (halves)
        in->shift = AC_LSL;
    return general(in->rd) && general(in->rm) && !(h & 0x400) && !(k & 0x20);
}

static bool plain_immediate(uint32_t address, uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t number = ac_bits(h, 4, 5), imm12 = immediate_12(h, k);
    const uint8_t n = low_register(h);
    in->rd = result(k);
    switch (number) {
    case 0:
    case 10:
        in->op = number ? AC_T_SUB : AC_T_ADD;
        in->rn = n;
        in->imm = imm12;
        if (n == AC_PC) {
            in->op = AC_T_MOV;
            in->rn = AC_NOWHERE;
            in->imm = ((address + 4) & ~3u) + (number ? 0 - imm12 : imm12);
        }
        return in->rd != AC_PC;
    case 4:
    case 12:
        in->op = number == 4 ? AC_T_MOV : AC_T_MOVT;
        in->imm = (uint32_t)n << 12 | imm12;
        in->rn = number == 4 ? AC_NOWHERE : in->rd;
        return general(in->rd);
    case 16:
    case 18:
    case 24:
    case 26:
        return saturate(h, k, in);
    case 20:
    case 22:
    case 28:
        return bit_field(h, k, in);
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ branches */

static bool barrier(uint32_t h, uint32_t k, ac_insn *in)
{
    in->op = AC_T_NOP;
    return (h == 0xf3af && (k == 0x8000 || k == 0x8001)) ||
           (h == 0xf3bf && (k & 0xff00) == 0x8f00 && ac_bits(k, 4, 4) >= 4 && ac_bits(k, 4, 4) <= 6);
}

static bool branch(uint32_t address, uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t s = ac_bits(h, 10, 1), j1 = ac_bits(k, 13, 1), j2 = ac_bits(k, 11, 1);
    in->op = AC_T_B;
    if (!(k & 0x1000)) {
        in->cond = (uint8_t)ac_bits(h, 6, 4);
        if (k & 0x4000 || in->cond >= AC_ALWAYS) {
            in->cond = AC_ALWAYS;
            return barrier(h, k, in);
        }
        in->imm = address + 4 +
                  ac_sign_extend(s << 20 | j2 << 19 | j1 << 18 | ac_bits(h, 0, 6) << 12 | ac_bits(k, 0, 11) << 1, 21);
        return true;
    }
    if (k & 0x4000) {
        in->op = AC_T_BL;
        in->rd = AC_LR;
    }
    in->imm = address + 4 +
              ac_sign_extend(s << 24 | (~(j1 ^ s) & 1) << 23 | (~(j2 ^ s) & 1) << 22 | ac_bits(h, 0, 10) << 12 |
                                 ac_bits(k, 0, 11) << 1,
                             25);
    return true;
}

/* ------------------------------------------------------------------ accesses */

static bool many(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t mode = ac_bits(h, 7, 2);
    in->op = AC_T_MANY;
    in->width = 4;
    in->rn = low_register(h);
    in->imm = k;
    in->load = h & 16;
    in->down = mode == 2;
    in->write_back = h & 32;
    if (in->rn == AC_PC || (mode != 1 && mode != 2) || k & 0x2000 || !k || (!in->load && k & 0x8000))
        return false;
    return !(in->write_back && k >> in->rn & 1);
}

static bool pair_or_table(uint32_t address, uint32_t h, uint32_t k, ac_insn *in)
{
    in->rn = low_register(h);
    if ((h & 0xfff0) == 0xe8d0 && (k & 0xffe0) == 0xf000) {
        in->op = AC_T_TABLE;
        in->width = k & 16 ? 2 : 1;
        in->rm = low_register(k);
        in->imm = address + 4;
        in->literal = in->rn == AC_PC;
        if (in->literal)
            in->rn = AC_NOWHERE;
        return general(in->rm) && in->rn != AC_SP;
    }
    if (!(h & 0x120)) /* exclusive accesses */
        return false;
    in->op = AC_T_PAIR;
    in->width = 4;
    in->load = h & 16;
    in->rd = top(k);
    in->ra = result(k);
    in->imm = (k & 0xff) * 4;
    if (!(h & 0x80))
        in->imm = 0 - in->imm;
    in->post = !(h & 0x100);
    in->write_back = h & 32;
    if (in->rn == AC_PC) {
        in->literal = true;
        in->imm += (address + 4) & ~3u;
        in->rn = AC_NOWHERE;
        return in->load && !in->write_back && !in->post && general(in->rd) && general(in->ra) && in->rd != in->ra;
    }
    return general(in->rd) && general(in->ra) && !(in->load && in->rd == in->ra);
}

/* The forms of an address besides a literal. */
static bool address_form(uint32_t h, uint32_t k, ac_insn *in)
{
    if (h & 0x80) {
        in->imm = k & 0xfff;
        return true;
    }
    if (!(k & 0x800)) {
        in->rm = low_register(k);
        in->amount = (uint8_t)ac_bits(k, 4, 2);
        return !(k & 0x7c0) && general(in->rm);
    }
    const bool indexed = k & 0x400, up = k & 0x200;
    in->write_back = k & 0x100;
    in->post = !indexed;
    in->imm = up ? k & 0xff : 0 - (k & 0xff);
    return (indexed || in->write_back) && !(indexed && up && !in->write_back); /* the last: without privileges */
}

static bool access(uint32_t address, uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t size = ac_bits(h, 5, 2);
    in->op = AC_T_ACCESS;
    in->width = (uint8_t)(1u << size);
    in->is_signed = h & 0x100;
    in->load = h & 16;
    in->rd = top(k);
    in->rn = low_register(h);
    if (size == 3 || (in->is_signed && (!in->load || size == 2)))
        return false;
    if (in->rn == AC_PC) {
        in->literal = true;
        in->rn = AC_NOWHERE;
        in->imm = ((address + 4) & ~3u) + (h & 0x80 ? k & 0xfff : 0 - (k & 0xfff));
        if (!in->load)
            return false;
    } else if (!address_form(h, k, in)) {
        return false;
    }
    if (in->rd == AC_PC && in->load && size < 2) { /* PLD */
        *in = ac_insn_nop();
        return true;
    }
    if (in->write_back && in->rd == in->rn)
        return false;
    return in->rd != AC_PC || in->load;
}

/* ------------------------------------------------------------------ registers and products */

static bool extend(uint32_t h, uint32_t k, ac_insn *in)
{
    static const uint8_t OP[] = {AC_T_SXTH, AC_T_UXTH, AC_T_SXTB16, AC_T_UXTB16, AC_T_SXTB, AC_T_UXTB};
    const uint32_t number = ac_bits(h, 4, 4);
    if (number > 5 || (k & 0x40))
        return false;
    in->op = OP[number];
    in->rn = low_register(h) == AC_PC ? AC_NOWHERE : low_register(h);
    in->shift = AC_ROR;
    in->amount = (uint8_t)(ac_bits(k, 4, 2) * 8);
    return in->rn != AC_SP;
}

static bool shift_register(uint32_t h, uint32_t k, ac_insn *in)
{
    in->op = AC_T_SHIFT;
    in->x = (uint8_t)ac_bits(h, 5, 2);
    in->rn = low_register(h);
    in->sets = h & 16 ? AC_SETS_FLAGS : AC_SETS_NOTHING;
    return !(k & 0x70) && general(in->rn);
}

static bool parallel(uint32_t h, uint32_t k, ac_insn *in)
{
    in->op = AC_T_PARALLEL;
    in->x = (uint8_t)ac_bits(h, 4, 3);
    in->y = (uint8_t)ac_bits(k, 4, 3);
    in->rn = low_register(h);
    if (in->x == 3 || in->x == 7 || in->y == 3 || in->y == 7 || !general(in->rn))
        return false;
    in->reads = AC_REG(in->rn) | AC_REG(in->rm);
    in->writes = AC_REG(in->rd) | (in->y == 0 || in->y == 4 ? AC_F_GE : 0);
    return true;
}

static bool miscellaneous(uint32_t h, uint32_t k, ac_insn *in)
{
    static const uint8_t SATURATE[] = {AC_T_QADD, AC_T_QDADD, AC_T_QSUB, AC_T_QDSUB};
    static const uint8_t REVERSE[] = {AC_T_REV, AC_T_REV16, AC_T_RBIT, AC_T_REVSH};
    const uint32_t group = ac_bits(h, 4, 2), number = ac_bits(k, 4, 2);
    in->rn = low_register(h);
    if (!general(in->rn) || (h & 0x40))
        return false;
    if (group == 0) {
        in->op = SATURATE[number];
    } else if (group == 2) {
        in->op = AC_T_SEL;
        in->reads = AC_REG(in->rn) | AC_REG(in->rm) | AC_F_GE;
        in->writes = AC_REG(in->rd);
        return number == 0;
    } else {
        in->op = group == 1 ? REVERSE[number] : AC_T_CLZ;
        if (in->rn != in->rm || (group == 3 && number))
            return false;
        in->rn = AC_NOWHERE;
    }
    return true;
}

static bool registers(uint32_t h, uint32_t k, ac_insn *in)
{
    in->rd = result(k);
    in->rm = low_register(k);
    if (top(k) != 15 || !general(in->rd) || !general(in->rm))
        return false;
    if (!(h & 0x80))
        return k & 0x80 ? extend(h, k, in) : shift_register(h, k, in);
    return k & 0x80 ? miscellaneous(h, k, in) : parallel(h, k, in);
}

static bool product(uint32_t h, uint32_t k, ac_insn *in)
{
    static const uint8_t OP[] = {AC_T_MLA,   AC_T_SMULXY, AC_T_SMUAD, AC_T_SMULW,
                                 AC_T_SMUSD, AC_T_SMMUL,  AC_T_SMMLS, AC_T_USAD8};
    const uint32_t number = ac_bits(h, 4, 3), variant = ac_bits(k, 4, 2);
    in->rd = result(k);
    in->rn = low_register(h);
    in->rm = low_register(k);
    in->ra = top(k);
    in->op = OP[number];
    in->option = variant & 1;
    in->x = (uint8_t)(variant >> 1);
    in->y = (uint8_t)(variant & 1);
    if (k & 0xc0 || !general(in->rd) || !general(in->rn) || !general(in->rm) || in->ra == AC_SP)
        return false;
    if (number != 1 && variant > 1)
        return false;
    if (number == 0 && variant) {
        in->op = AC_T_MLS;
        return in->ra != AC_PC;
    }
    if (in->ra == AC_PC) {
        in->ra = AC_NOWHERE;
        if (number == 0)
            in->op = AC_T_MUL;
        return number != 6;
    }
    return number != 7 || !variant;
}

static bool long_product(uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t number = ac_bits(h, 4, 3), variant = ac_bits(k, 4, 4);
    static const uint8_t OP[] = {AC_T_SMULL, AC_T_SDIV, AC_T_UMULL, AC_T_UDIV, AC_T_SMLAL, 0, AC_T_UMLAL, 0};
    const bool divides = number == 1 || number == 3;
    in->op = variant == (divides ? 15u : 0u) ? OP[number] : AC_T_NOP;
    in->rd = divides ? result(k) : top(k);
    in->ra = divides ? AC_NOWHERE : result(k);
    in->rn = low_register(h);
    in->rm = low_register(k);
    in->x = (uint8_t)(variant >> 1 & 1);
    in->y = (uint8_t)(variant & 1);
    in->option = variant & 1;
    if (number == 4 && variant >> 2 == 2)
        in->op = AC_T_SMLALXY;
    else if ((number == 4 || number == 5) && variant >> 1 == 6)
        in->op = number == 4 ? AC_T_SMLALD : AC_T_SMLSLD;
    else if (number == 6 && variant == 6)
        in->op = AC_T_UMAAL;
    if (in->op == AC_T_NOP || !general(in->rd) || !general(in->rn) || !general(in->rm) || (divides && top(k) != 15) ||
        (!divides && (!general(in->ra) || in->ra == in->rd)))
        return false;
    in->writes = AC_REG(in->rd) | AC_REG(in->ra);
    in->reads = AC_REG(in->rn) | AC_REG(in->rm) | (divides || number == 0 || number == 2 ? 0 : in->writes);
    return true;
}

bool ac_decode_thumb_wide(uint32_t address, uint32_t h, uint32_t k, ac_insn *in)
{
    const uint32_t group = ac_bits(h, 11, 2), row = ac_bits(h, 4, 7);
    if (row & 0x40 && group != 2)
        return ac_decode_thumb_fp(address, h, k, in);
    if (group == 1)
        return row & 0x20 ? data_shifted(h, k, in) : row & 4 ? pair_or_table(address, h, k, in) : many(h, k, in);
    if (group == 2) {
        if (k & 0x8000)
            return branch(address, h, k, in);
        return row & 0x20 ? plain_immediate(address, h, k, in) : data_immediate(h, k, in);
    }
    switch (row >> 3) {
    case 4:
    case 5:
        return registers(h, k, in);
    case 6:
        return product(h, k, in);
    case 7:
        return long_product(h, k, in);
    default:
        return access(address, h, k, in);
    }
}
