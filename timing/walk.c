/* walk.c - the loop over instructions, with branches and IT blocks. Where data decides a branch the walk goes both ways
 * to the place where they meet again, counts the longer one, and keeps the bits that both leave equal. Loops that data
 * may end early are ways inside of ways. */
#include "timing/walk.h"

enum { DEEPEST = 128, MOST_INSIDE = 1 << 13 };

typedef struct way {
    ac_core_state s;
    ac_counts count;
} way;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static int go(ac_walk *w, const ac_insn *in, bool taken, const ac_stop *stop)
{
    w->count = (ac_counts){0};
    w->loaded = 0;
    if (taken)
        AC_TRY(ac_walk_perform(w, in, false));
    else
        w->s.pc += in->bytes;
    return ac_walk_until(w, stop);
}

static int both(ac_walk *w, const ac_insn *in, const ac_stop *stop, ac_region *r, way *a, way *b)
{
    const ac_core_state start = w->s;
    const uint32_t *calls = start.depth ? ac_copy(r, w->calls, (size_t)start.depth * sizeof *w->calls) : NULL;
    const int32_t first = ac_mem_mark(&w->mem);
    AC_TRY(go(w, in, false, stop));
    *a = (way){w->s, w->count};
    const ac_mem_changes changes = ac_mem_undo(&w->mem, first, r);
    if (calls)
        memcpy(w->calls, calls, (size_t)start.depth * sizeof *w->calls);
    w->s = start;
    const int32_t second = ac_mem_mark(&w->mem);
    AC_TRY(go(w, in, true, stop));
    *b = (way){w->s, w->count};
    ac_mem_join(&w->mem, &changes, second, r);
    return AC_OK;
}

static int fork_at(ac_walk *w, const ac_insn *in)
{
    const uint32_t pc = w->s.pc;
    const ac_counts before = w->count;
    const ac_stop stop = ac_walk_rejoin(w, pc);
    way a, b;
    if (w->forks == DEEPEST) {
        ac_walk_error(w, pc, "a loop that only data ends, or that data may end after more than %d rounds", DEEPEST);
        return AC_FAIL;
    }
    if (!w->forks)
        w->inside = 0;
    else if (++w->inside > MOST_INSIDE)
        return ac_walk_error(w, pc, "more than %d branches that data decides within one", MOST_INSIDE);
    w->forks++;
    ac_region *r = ac_region_open(&w->cx->heap);
    const int status = both(w, in, &stop, r, &a, &b);
    ac_region_close(r);
    w->forks--;
    AC_TRY(status);
    w->s = b.s;
    ac_state_join(&w->s, &a.s, w->elf.riscv);
    if (b.s.it != a.s.it || b.s.depth != a.s.depth || b.s.pc != a.s.pc)
        return ac_walk_error(w, pc, "the two ways of a branch that data decides do not meet again");
    w->count = (ac_counts){before.insns + larger(a.count.insns, b.count.insns),
                           before.least + (a.count.least < b.count.least ? a.count.least : b.count.least),
                           before.cycles + larger(a.count.cycles, b.count.cycles),
                           before.most + larger(a.count.most, b.count.most)};
    w->loaded = 0;
    w->fetched = UINT32_MAX;
    ac_walk_found(w, AC_FINDING_BRANCH, pc, distance(a.count.insns, b.count.insns),
                  distance(a.count.cycles, b.count.cycles));
    return AC_OK;
}

/* ------------------------------------------------------------------ branches */

/* A branch whose condition is known */
static int branch(ac_walk *w, const ac_insn *in)
{
    if (w->s.unknown & in->reads)
        return fork_at(w, in);
    const bool taken = in->op == AC_T_B     ? ac_condition(&w->s, in->cond)
                       : in->op == AC_T_CBZ ? (w->s.v[in->rn] == 0) != in->option
                                            : ac_branch_holds(in, w->s.v[in->rn], w->s.v[in->rm]);
    if (taken)
        return ac_walk_perform(w, in, false);
    w->s.pc += in->bytes;
    return AC_OK;
}

/* ------------------------------------------------------------------ IT blocks */

static ac_regs read_by(uint8_t cond)
{
    static const ac_regs BY[] = {AC_F_NZ, AC_F_C, AC_F_NZ, AC_F_V, AC_F_NZ | AC_F_C, AC_F_NZ | AC_F_V, AC_FLAGS, 0};
    return BY[cond >> 1];
}

static bool leaves(const ac_insn *in)
{
    const ac_op_kind kind = ac_op_kind_of[in->op];
    return kind == AC_K_BRANCH || kind == AC_K_CALL || kind == AC_K_JUMP ||
           (in->op == AC_T_MANY && in->load && !in->option && in->imm & 0x8000) ||
           (in->op == AC_T_ACCESS && in->load && in->rd == AC_PC);
}

/* Data decides whether it happens: results are unknown unless they stay equal. */
static int maybe(ac_walk *w, const ac_insn *in)
{
    const ac_core_state before = w->s;
    const uint32_t pc = w->s.pc;
    const int32_t cycles = ac_cost_beyond_one(w, in, 0);
    if (cycles)
        ac_walk_found(w, AC_FINDING_BRANCH, pc, 0, cycles);
    if (in->op == AC_T_ACCESS && !in->load && !(w->s.unknown & in->reads)) {
        const uint32_t offset = in->rm != AC_NOWHERE ? w->s.v[in->rm] << in->amount : in->imm;
        const uint32_t at = in->post ? w->s.v[in->rn] : w->s.v[in->rn] + offset;
        ac_cost_address(w, in, at);
        if (!ac_mem_maybe_store(&w->mem, at, in->width, w->s.v[in->rd], ac_unknown_bits(&w->s, in->rd)))
            return ac_walk_error(w, pc, "a store to 0x%x, which is not memory that the program may write", at);
        if (in->post || in->write_back)
            ac_walk_forget(w, AC_REG(in->rn));
        w->s.pc += in->bytes;
        return AC_OK;
    }
    if (ac_op_kind_of[in->op] == AC_K_PAIR || in->op == AC_T_MANY)
        return ac_walk_error(w, pc, "data decides whether several registers are moved");
    AC_TRY(ac_walk_perform(w, in, in->sets == AC_SETS_FLAGS));
    ac_state_join(&w->s, &before, w->elf.riscv);
    return AC_OK;
}

static int step_in_it(ac_walk *w, const ac_insn *in)
{
    const uint8_t cond = w->s.it >> 4;
    w->s.it = w->s.it & 7 ? (uint8_t)((w->s.it & 0xe0) | (w->s.it << 1 & 0x1f)) : 0;
    if (leaves(in) && w->s.unknown & read_by(cond))
        return fork_at(w, in);
    if (w->s.unknown & read_by(cond))
        return maybe(w, in);
    if (ac_condition(&w->s, cond))
        return in->op == AC_T_B && in->cond != AC_ALWAYS ? branch(w, in)
                                                         : ac_walk_perform(w, in, in->sets == AC_SETS_FLAGS);
    w->count.cycles -= ac_cost_beyond_one(w, in, 0); /* skipped */
    w->count.most -= ac_cost_beyond_one(w, in, 1);
    w->loaded = 0;
    w->s.pc += in->bytes;
    return AC_OK;
}

/* ------------------------------------------------------------------ the loop */

static bool reached(const ac_walk *w, const ac_stop *stop)
{
    return stop->returns ? w->s.depth < stop->depth : w->s.v[w->elf.riscv ? AC_RV_SP : AC_SP] == stop->sp;
}

int ac_walk_until(ac_walk *w, const ac_stop *stop)
{
    while (w->s.pc != stop->pc || !reached(w, stop)) {
        const ac_insn *in = ac_walk_fetch(w, w->s.pc);
        if (!in)
            return AC_FAIL;
        if (!w->left--)
            return ac_walk_error(w, w->s.pc, "the run does not end within %lld instructions",
                                 (long long)w->count.insns);
        ac_cost_of(w, in);
        if (w->s.it)
            AC_TRY(step_in_it(w, in));
        else if (ac_op_kind_of[in->op] <= AC_K_DIVIDE)
            ac_walk_compute(w, in, in->sets != AC_SETS_NOTHING);
        else if (ac_op_kind_of[in->op] == AC_K_BRANCH)
            AC_TRY(branch(w, in));
        else
            AC_TRY(ac_walk_perform(w, in, false));
    }
    return AC_OK;
}
