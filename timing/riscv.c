/* riscv.c - decodes RV32IMC with Zba and Zbb. Instructions of 16 bits are expanded to those of 32 first. */
#include "timing/insn.h"

static bool set(ac_insn *in, uint8_t op, uint32_t rd, uint32_t rn, uint32_t rm)
{
    in->op = op;
    in->rd = rd ? (uint8_t)rd : AC_NOWHERE;
    in->rn = (uint8_t)rn;
    in->rm = (uint8_t)rm;
    return true;
}

static bool immediate(ac_insn *in, uint8_t op, uint32_t rd, uint32_t rn, uint32_t imm)
{
    in->imm = imm;
    return set(in, op, rd, rn, AC_NOWHERE);
}

static uint32_t imm_i(uint32_t x)
{
    return ac_sign_extend(x >> 20, 12);
}

static uint32_t imm_s(uint32_t x)
{
    return ac_sign_extend(ac_bits(x, 25, 7) << 5 | ac_bits(x, 7, 5), 12);
}

static uint32_t imm_b(uint32_t x)
{
    return ac_sign_extend(x >> 31 << 12 | ac_bits(x, 7, 1) << 11 | ac_bits(x, 25, 6) << 5 | ac_bits(x, 8, 4) << 1, 13);
}

static uint32_t imm_j(uint32_t x)
{
    return ac_sign_extend(x >> 31 << 20 | ac_bits(x, 12, 8) << 12 | ac_bits(x, 20, 1) << 11 | ac_bits(x, 21, 10) << 1,
                          21);
}

/* ------------------------------------------------------------------ 32 bits */

/* Operations of one operand, of Zbb */
static bool unary(uint32_t x, uint32_t rd, uint32_t rs, ac_insn *in)
{
    static const struct {
        uint32_t imm;
        uint8_t form, op;
    } ROWS[] = {{0x600, 1, AC_T_CLZ},  {0x601, 1, AC_T_CTZ},  {0x602, 1, AC_T_CPOP}, {0x604, 1, AC_T_SXTB},
                {0x605, 1, AC_T_SXTH}, {0x287, 5, AC_T_ORCB}, {0x698, 5, AC_T_REV}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].imm == x >> 20 && ROWS[i].form == ac_bits(x, 12, 3))
            return set(in, ROWS[i].op, rd, AC_NOWHERE, rs);
    return false;
}

static bool shifted(uint32_t x, uint32_t rd, uint32_t rs, bool right, ac_insn *in)
{
    const uint32_t kind = x >> 25;
    if (kind && !(right && (kind == 0x20 || kind == 0x30)))
        return unary(x, rd, rs, in);
    in->amount = (uint8_t)ac_bits(x, 20, 5);
    in->shift = !right ? AC_LSL : kind == 0x20 ? AC_ASR : kind == 0x30 ? AC_ROR : AC_LSR;
    if (!in->amount)
        in->shift = AC_LSL;
    return set(in, AC_T_MOV, rd, AC_NOWHERE, rs);
}

static bool by_immediate(uint32_t x, uint32_t rd, uint32_t rs, ac_insn *in)
{
    static const uint8_t OP[] = {AC_T_ADD, 0, AC_T_SLT, AC_T_SLTU, AC_T_EOR, 0, AC_T_ORR, AC_T_AND};
    const uint32_t f = ac_bits(x, 12, 3);
    if (f == 1 || f == 5)
        return shifted(x, rd, rs, f == 5, in);
    return immediate(in, OP[f], rd, rs, imm_i(x));
}

/* funct7 and funct3 of operations with two registers */
static const struct {
    uint8_t kind, form, op;
} TWO[] = {{0x00, 0, AC_T_ADD},  {0x20, 0, AC_T_SUB},    {0x00, 2, AC_T_SLT},   {0x00, 3, AC_T_SLTU},
           {0x00, 4, AC_T_EOR},  {0x00, 6, AC_T_ORR},    {0x00, 7, AC_T_AND},   {0x01, 0, AC_T_MUL},
           {0x01, 1, AC_T_MULH}, {0x01, 2, AC_T_MULHSU}, {0x01, 3, AC_T_MULHU}, {0x01, 4, AC_T_DIV},
           {0x01, 5, AC_T_DIVU}, {0x01, 6, AC_T_REM},    {0x01, 7, AC_T_REMU},  {0x20, 7, AC_T_BIC},
           {0x20, 6, AC_T_ORN},  {0x05, 4, AC_T_MIN},    {0x05, 5, AC_T_MINU},  {0x05, 6, AC_T_MAX},
           {0x05, 7, AC_T_MAXU}};

static bool two_registers(uint32_t x, uint32_t rd, uint32_t rn, uint32_t rm, ac_insn *in)
{
    const uint32_t kind = x >> 25, form = ac_bits(x, 12, 3);
    if (kind == 0x10 && (form == 2 || form == 4 || form == 6)) { /* sh1add and so on */
        in->amount = (uint8_t)(form / 2);
        return set(in, AC_T_ADD, rd, rm, rn);
    }
    if (kind == 0x04 && form == 4 && !rm)
        return set(in, AC_T_UXTH, rd, AC_NOWHERE, rn);
    if ((form == 1 && (!kind || kind == 0x30)) || (form == 5 && (!kind || kind == 0x20 || kind == 0x30))) {
        in->option = true; /* the amount is modulo 32 */
        in->x = form == 1 && !kind ? AC_LSL : kind == 0x20 ? AC_ASR : kind == 0x30 ? AC_ROR : AC_LSR;
        in->y = form == 1 && kind == 0x30; /* rol */
        return set(in, AC_T_SHIFT, rd, rn, rm);
    }
    if (kind == 0x20 && form == 4) { /* xnor */
        in->option = true;
        return set(in, AC_T_EOR, rd, rn, rm);
    }
    for (size_t i = 0; i < sizeof TWO / sizeof *TWO; i++)
        if (TWO[i].kind == kind && TWO[i].form == form)
            return set(in, TWO[i].op, rd, rn, rm);
    return false;
}

static bool access(uint32_t x, uint32_t rd, uint32_t rn, bool load, ac_insn *in)
{
    const uint32_t f = ac_bits(x, 12, 3);
    in->load = load;
    in->width = (uint8_t)(1u << (f & 3));
    in->is_signed = load && f < 2;
    immediate(in, AC_T_ACCESS, rd, rn, load ? imm_i(x) : imm_s(x));
    if (!load)
        in->rd = (uint8_t)ac_bits(x, 20, 5);
    in->reads = AC_REG(rn);
    in->writes = load ? AC_REG(in->rd) : 0;
    return load ? f <= 2 || f == 4 || f == 5 : f <= 2;
}

static bool branch(uint32_t address, uint32_t x, uint32_t rn, uint32_t rm, ac_insn *in)
{
    static const uint8_t OP[] = {AC_T_BEQ, AC_T_BNE, 0, 0, AC_T_BLT, AC_T_BGE, AC_T_BLTU, AC_T_BGEU};
    set(in, OP[ac_bits(x, 12, 3)], 0, rn, rm);
    in->imm = address + imm_b(x);
    in->reads = AC_REG(rn) | AC_REG(rm);
    return in->op != AC_T_NOP;
}

static bool wide(uint32_t address, uint32_t x, ac_insn *in)
{
    const uint32_t rd = ac_bits(x, 7, 5), rn = ac_bits(x, 15, 5), rm = ac_bits(x, 20, 5);
    switch (x & 0x7f) {
    case 0x37:
        return immediate(in, AC_T_MOV, rd, AC_NOWHERE, x & 0xfffff000);
    case 0x17:
        return immediate(in, AC_T_MOV, rd, AC_NOWHERE, address + (x & 0xfffff000));
    case 0x13:
        return by_immediate(x, rd, rn, in);
    case 0x33:
        return two_registers(x, rd, rn, rm, in);
    case 0x03:
        return access(x, rd, rn, true, in);
    case 0x23:
        return access(x, rd, rn, false, in);
    case 0x63:
        return branch(address, x, rn, rm, in);
    case 0x6f:
        return immediate(in, rd ? AC_T_BL : AC_T_B, rd, AC_NOWHERE, address + imm_j(x));
    case 0x67:
        in->imm = imm_i(x);
        return !ac_bits(x, 12, 3) && set(in, rd ? AC_T_BLX : AC_T_BX, rd, AC_NOWHERE, rn);
    case 0x0f:
        return set(in, AC_T_NOP, 0, AC_NOWHERE, AC_NOWHERE) && !ac_bits(x, 12, 3); /* fence */
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ 16 bits */

static uint32_t type_i(uint32_t opcode, uint32_t form, uint32_t rd, uint32_t rs, uint32_t imm)
{
    return (imm & 0xfff) << 20 | rs << 15 | form << 12 | rd << 7 | opcode;
}

static uint32_t type_s(uint32_t base, uint32_t rs, uint32_t imm)
{
    return ac_bits(imm, 5, 7) << 25 | rs << 20 | base << 15 | 2 << 12 | ac_bits(imm, 0, 5) << 7 | 0x23;
}

static uint32_t type_r(uint32_t kind, uint32_t form, uint32_t rd, uint32_t rn, uint32_t rm)
{
    return kind << 25 | rm << 20 | rn << 15 | form << 12 | rd << 7 | 0x33;
}

static uint32_t type_j(uint32_t rd, uint32_t imm)
{
    return ac_bits(imm, 20, 1) << 31 | ac_bits(imm, 1, 10) << 21 | ac_bits(imm, 11, 1) << 20 |
           ac_bits(imm, 12, 8) << 12 | rd << 7 | 0x6f;
}

static uint32_t type_b(uint32_t form, uint32_t rs, uint32_t imm)
{
    return ac_bits(imm, 12, 1) << 31 | ac_bits(imm, 5, 6) << 25 | rs << 15 | form << 12 | ac_bits(imm, 1, 4) << 8 |
           ac_bits(imm, 11, 1) << 7 | 0x63;
}

static uint32_t quadrant_0(uint32_t h)
{
    const uint32_t rd = 8 + ac_bits(h, 2, 3), rs = 8 + ac_bits(h, 7, 3);
    const uint32_t word = ac_bits(h, 5, 1) << 6 | ac_bits(h, 10, 3) << 3 | ac_bits(h, 6, 1) << 2;
    const uint32_t stack =
        ac_bits(h, 7, 4) << 6 | ac_bits(h, 11, 2) << 4 | ac_bits(h, 5, 1) << 3 | ac_bits(h, 6, 1) << 2;
    switch (h >> 13) {
    case 0:
        return stack ? type_i(0x13, 0, rd, 2, stack) : 0;
    case 2:
        return type_i(0x03, 2, rd, rs, word);
    case 6:
        return type_s(rs, rd, word);
    default:
        return 0;
    }
}

static uint32_t arithmetic_1(uint32_t h, uint32_t imm)
{
    static const uint32_t FORM[] = {0, 4, 6, 7};
    const uint32_t rd = 8 + ac_bits(h, 7, 3), rs = 8 + ac_bits(h, 2, 3), k = ac_bits(h, 5, 2);
    switch (ac_bits(h, 10, 2)) {
    case 0:
    case 1:
        return h & 0x1000 ? 0 : type_i(0x13, 5, rd, rd, (imm & 31) | (h & 0x400));
    case 2:
        return type_i(0x13, 7, rd, rd, imm);
    default:
        return h & 0x1000 ? 0 : type_r(k ? 0 : 0x20, FORM[k], rd, rd, rs);
    }
}

static uint32_t quadrant_1(uint32_t h)
{
    const uint32_t rd = ac_bits(h, 7, 5), imm = ac_sign_extend(ac_bits(h, 12, 1) << 5 | ac_bits(h, 2, 5), 6);
    const uint32_t jump = ac_sign_extend(ac_bits(h, 12, 1) << 11 | ac_bits(h, 8, 1) << 10 | ac_bits(h, 9, 2) << 8 |
                                             ac_bits(h, 6, 1) << 7 | ac_bits(h, 7, 1) << 6 | ac_bits(h, 2, 1) << 5 |
                                             ac_bits(h, 11, 1) << 4 | ac_bits(h, 3, 3) << 1,
                                         12);
    const uint32_t near_by = ac_sign_extend(ac_bits(h, 12, 1) << 8 | ac_bits(h, 5, 2) << 6 | ac_bits(h, 2, 1) << 5 |
                                                ac_bits(h, 10, 2) << 3 | ac_bits(h, 3, 2) << 1,
                                            9);
    const uint32_t stack = ac_sign_extend(ac_bits(h, 12, 1) << 9 | ac_bits(h, 3, 2) << 7 | ac_bits(h, 5, 1) << 6 |
                                              ac_bits(h, 2, 1) << 5 | ac_bits(h, 6, 1) << 4,
                                          10);
    switch (h >> 13) {
    case 0:
        return type_i(0x13, 0, rd, rd, imm);
    case 1:
        return type_j(1, jump);
    case 2:
        return type_i(0x13, 0, rd, 0, imm);
    case 3:
        if (rd == 2)
            return stack ? type_i(0x13, 0, 2, 2, stack) : 0;
        return imm ? imm << 12 | rd << 7 | 0x37 : 0;
    case 4:
        return arithmetic_1(h, imm);
    case 5:
        return type_j(0, jump);
    default:
        return type_b(h >> 13 & 1, 8 + ac_bits(h, 7, 3), near_by);
    }
}

static uint32_t quadrant_2(uint32_t h)
{
    const uint32_t rd = ac_bits(h, 7, 5), rs = ac_bits(h, 2, 5);
    switch (h >> 13) {
    case 0:
        return h & 0x1000 ? 0 : type_i(0x13, 1, rd, rd, rs);
    case 2:
        return rd ? type_i(0x03, 2, rd, 2, ac_bits(h, 2, 2) << 6 | ac_bits(h, 12, 1) << 5 | ac_bits(h, 4, 3) << 2) : 0;
    case 4:
        if (rs)
            return type_r(0, 0, rd, h & 0x1000 ? rd : 0, rs);
        return rd ? type_i(0x67, 0, h & 0x1000 ? 1 : 0, rd, 0) : 0;
    case 6:
        return type_s(2, rs, ac_bits(h, 7, 2) << 6 | ac_bits(h, 9, 4) << 2);
    default:
        return 0;
    }
}

bool ac_decode_riscv(uint32_t address, const uint8_t *at, size_t n, ac_insn *in)
{
    const uint32_t h = n >= 2 ? at[0] | (uint32_t)at[1] << 8 : 0;
    const bool is_wide = (h & 3) == 3;
    *in = ac_insn_nop();
    if (n < (is_wide ? 4u : 2u))
        return false;
    const uint32_t x = is_wide        ? h | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24
                       : (h & 3) == 0 ? quadrant_0(h)
                       : (h & 3) == 1 ? quadrant_1(h)
                                      : quadrant_2(h);
    if (!wide(address, x, in))
        return false;
    in->bytes = is_wide ? 4 : 2;
    if (!in->reads && !in->writes) {
        in->reads = AC_REG(in->rn) | AC_REG(in->rm);
        in->writes = AC_REG(in->rd);
    }
    return true;
}
