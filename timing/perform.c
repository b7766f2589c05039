/* perform.c - the effect of one instruction on known and unknown values: data, memory, jumps. A result is unknown if an
 * operand is; see walk.h. */
#include "timing/walk.h"

/* Where run calls a function: the counts so far, which finish() makes those of the call. */
static void note_call(ac_walk *w, uint32_t target)
{
    const ac_timing_call call = {ac_elf_name_at(&w->elf, target), w->count.insns, w->count.cycles};
    if (!w->forks)
        ac_push(w->cx->region, &w->out->call, call);
}

/* ------------------------------------------------------------------ jumps */

static int call(ac_walk *w, const ac_insn *in, uint32_t target)
{
    const uint32_t back = w->s.pc + in->bytes;
    ac_cost_taken(w, in);
    w->s.v[in->rd] = w->elf.riscv ? back : back | 1;
    w->s.unknown &= ~in->writes;
    if (w->s.depth == AC_CALLS)
        return ac_walk_error(w, w->s.pc, "more than %d calls within each other", AC_CALLS);
    if (w->s.depth == 1) {
        w->step = target;
        note_call(w, target);
    }
    w->calls[w->s.depth++] = back;
    w->s.pc = target & ~1u;
    return AC_OK;
}

/* To an address in a register or in memory: a return, if a call waits for it there. */
static void jump(ac_walk *w, uint32_t target)
{
    target &= ~1u;
    for (int32_t d = w->s.depth; d-- > 0;)
        if (w->calls[d] == target) {
            w->s.depth = d;
            break;
        }
    w->s.pc = target;
}

static int jump_to_register(ac_walk *w, const ac_insn *in)
{
    if (w->s.unknown & in->reads)
        return ac_walk_error(w, w->s.pc, "data decides where the program jumps to");
    const uint32_t target = w->s.v[in->rm] + in->imm;
    if (in->op != AC_T_BX)
        return call(w, in, target);
    ac_cost_taken(w, in);
    jump(w, target);
    return AC_OK;
}

static int table(ac_walk *w, const ac_insn *in)
{
    uint32_t entry, unknown;
    const uint32_t base = in->literal ? in->imm : w->s.v[in->rn];
    if (w->s.unknown & in->reads)
        return ac_walk_error(w, w->s.pc, "data decides where the program jumps to");
    const uint32_t at = base + w->s.v[in->rm] * in->width;
    if (!ac_mem_load(&w->mem, at, in->width, &entry, &unknown) || unknown)
        return ac_walk_error(w, w->s.pc, "the table of jumps at 0x%x is not constant", at);
    ac_cost_taken(w, in);
    w->s.pc += in->bytes + 2 * entry;
    return AC_OK;
}

/* ------------------------------------------------------------------ memory */

static int load(ac_walk *w, const ac_insn *in, uint32_t at, uint8_t r)
{
    const int bits = in->is_signed ? in->width * 8 : 32;
    uint32_t value, unknown;
    if (!ac_mem_load(&w->mem, at, in->width, &value, &unknown))
        return ac_walk_error(w, w->s.pc, "a load from 0x%x, which is not memory of the program", at);
    ac_put_bits(&w->s, r, ac_sign_extend(value, bits), ac_sign_extend(unknown, bits));
    return AC_OK;
}

static int store(ac_walk *w, const ac_insn *in, uint32_t at, uint8_t r)
{
    if (!ac_mem_store(&w->mem, at, in->width, w->s.v[r], ac_unknown_bits(&w->s, r)))
        return ac_walk_error(w, w->s.pc, "a store to 0x%x, which is not memory that the program may write", at);
    return AC_OK;
}

void ac_walk_forget(ac_walk *w, ac_regs what)
{
    w->s.unknown |= what;
    for (; what; what &= what - 1) {
        w->s.v[__builtin_ctzll(what)] = 0;
        w->s.u[__builtin_ctzll(what)] = 0xffffffffu;
    }
}

/* The address is unknown: a load gives anything; after a store no byte of memory would be known. */
static int anywhere(ac_walk *w, const ac_insn *in)
{
    ac_walk_found(w, AC_FINDING_ADDRESS, w->s.pc, 0, 0);
    if (in->op == AC_T_MANY || w->s.unknown & AC_REG(ac_walk_sp(w)) || (!w->elf.riscv && in->load && in->rd == AC_PC))
        return ac_walk_error(w, w->s.pc, "data decides where the stack or the next instruction is");
    if (!in->load)
        return ac_walk_error(w, w->s.pc, "data decides where a store goes");
    ac_walk_forget(w, in->writes);
    if (in->op == AC_T_ACCESS && in->load && !in->is_signed && in->width < 4)
        ac_put_bits(&w->s, in->rd, 0, (1u << in->width * 8) - 1);
    w->s.pc += in->bytes;
    return AC_OK;
}

/* The next instruction, or the one at the address that was loaded */
static int after_load(ac_walk *w, const ac_insn *in, bool to_pc, const char *what)
{
    if (!to_pc) {
        w->s.pc += in->bytes;
        return AC_OK;
    }
    if (w->s.unknown & AC_REG(AC_PC))
        return ac_walk_error(w, w->s.pc, "data decides where %s to", what);
    ac_cost_taken(w, in);
    jump(w, w->s.v[AC_PC]);
    return AC_OK;
}

/* One value, or two */
static int access(ac_walk *w, const ac_insn *in)
{
    if (w->s.unknown & in->reads)
        return anywhere(w, in);
    const uint32_t base = in->literal ? in->imm : w->s.v[in->rn];
    const uint32_t offset = in->literal ? 0 : in->rm != AC_NOWHERE ? w->s.v[in->rm] << in->amount : in->imm;
    const uint32_t at = in->post ? base : base + offset;
    const bool to_pc = in->load && in->rd == AC_PC && !w->elf.riscv;
    ac_cost_address(w, in, at);
    AC_TRY(in->load ? load(w, in, at, in->rd) : store(w, in, at, in->rd));
    if (in->op == AC_T_PAIR)
        AC_TRY(in->load ? load(w, in, at + 4, in->ra) : store(w, in, at + 4, in->ra));
    if (in->post || in->write_back)
        ac_put_bits(&w->s, in->rn, base + offset, 0);
    return after_load(w, in, to_pc, "the program jumps");
}

/* Register k of a list, in the order of addresses */
static uint8_t listed(const ac_insn *in, uint32_t *list, int32_t k)
{
    if (in->option)
        return (uint8_t)(in->rd + k);
    const uint8_t r = (uint8_t)__builtin_ctz(*list);
    *list &= *list - 1;
    return r;
}

static int many(ac_walk *w, const ac_insn *in)
{
    const int32_t n = ac_insn_listed(in);
    const uint32_t base = in->literal ? 0 : w->s.v[in->rn], size = (uint32_t)n * 4;
    const uint32_t start = in->option && in->y ? base + in->imm : in->down ? base - size : base;
    uint32_t list = in->imm;
    bool to_pc = false;
    if (w->s.unknown & in->reads)
        return anywhere(w, in);
    ac_cost_address(w, in, start);
    for (int32_t k = 0; k < n; k++) {
        const uint8_t r = listed(in, &list, k);
        AC_TRY(in->load ? load(w, in, start + (uint32_t)k * 4, r) : store(w, in, start + (uint32_t)k * 4, r));
        to_pc |= in->load && r == AC_PC;
    }
    if (in->write_back)
        ac_put_bits(&w->s, in->rn, in->down ? start : base + size, 0);
    return after_load(w, in, to_pc, "the function returns");
}

/* ------------------------------------------------------------------ data */

void ac_walk_compute(ac_walk *w, const ac_insn *in, bool sets)
{
    const ac_op_kind kind = ac_op_kind_of[in->op];
    /* in an IT block; others without flags have none among their results, which may be registers of RISC-V */
    const ac_regs no_flags = !sets && in->sets != AC_SETS_NOTHING ? AC_FLAGS : 0, writes = in->writes & ~no_flags;
    if (kind >= AC_K_FP) {
        ac_walk_forget(w, in->writes);
    } else if (w->s.unknown & in->reads) {
        ac_execute_partly(&w->s, in, sets);
        if (kind == AC_K_DIVIDE)
            ac_walk_found(w, AC_FINDING_DIVISION, w->s.pc, 0, ac_cost_spread(w, in));
    } else {
        /* a shift by 0 leaves the carry as it is */
        const ac_regs stays = in->op == AC_T_SHIFT && !(w->s.v[in->rm] & 0xff) ? w->s.unknown & AC_F_C : 0;
        ac_execute(&w->s, in, sets);
        w->s.unknown = (w->s.unknown & ~writes) | stays;
    }
    w->s.pc += in->bytes;
}

int ac_walk_perform(ac_walk *w, const ac_insn *in, bool sets)
{
    switch ((ac_op_kind)ac_op_kind_of[in->op]) {
    case AC_K_LOAD:
    case AC_K_PAIR:
        return access(w, in);
    case AC_K_MANY:
        return many(w, in);
    case AC_K_BRANCH:
        ac_cost_taken(w, in);
        w->s.pc = in->imm;
        return AC_OK;
    case AC_K_CALL:
        return in->op == AC_T_BL ? call(w, in, in->imm) : jump_to_register(w, in);
    case AC_K_JUMP:
        return in->op == AC_T_TABLE ? table(w, in) : jump_to_register(w, in);
    case AC_K_IT:
        w->s.it = (uint8_t)in->imm;
        w->s.pc += in->bytes;
        return AC_OK;
    case AC_K_DATA:
    case AC_K_MUL:
    case AC_K_MLA:
    case AC_K_LONG:
    case AC_K_LONG_MLA:
    case AC_K_DIVIDE:
    case AC_K_FP:
    case AC_K_FP_MLA:
    case AC_K_FP_DIVIDE:
    case AC_K_COUNT:
        break;
    }
    ac_walk_compute(w, in, sets);
    return AC_OK;
}
