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

typedef struct fork_ways {
    const ac_insn *in;
    ac_stop stop;
    way a, b;
    bool late; /* they meet only where they agree on bits that both know */
    bool met;  /* both ways end at one place */
} fork_ways;

/* Straight code from pc on writes r before it reads it. */
static bool is_dead(ac_walk *w, uint32_t pc, uint8_t r)
{
    enum { FAR = 16 };
    for (int i = 0; i < FAR; i++) {
        const ac_insn *in = ac_walk_decode(w, pc);
        if (!in || ac_op_kind_of[in->op] > AC_K_DIVIDE || in->reads & AC_REG(r))
            return false;
        if (in->writes & AC_REG(r))
            return true;
        pc += in->bytes;
    }
    return false;
}

/* A register that is in use has known bits that differ between both ways. */
static bool disagree(ac_walk *w, const ac_core_state *a, const ac_core_state *b)
{
    for (uint8_t r = 0; r < AC_NOWHERE; r++)
        if ((a->v[r] ^ b->v[r]) & ~ac_unknown_bits(a, r) & ~ac_unknown_bits(b, r) && !is_dead(w, a->pc, r))
            return true;
    return false;
}

static int both(ac_walk *w, fork_ways *f, ac_region *r)
{
    const ac_core_state start = w->s;
    const size_t calls = (size_t)start.depth * sizeof *w->calls;
    const uint32_t *const kept = ac_copy(r, w->calls, calls);
    const int32_t first = ac_mem_mark(&w->mem);
    AC_TRY(go(w, f->in, false, &f->stop));
    f->a = (way){w->s, w->count};
    const ac_mem_changes changes = ac_mem_undo(&w->mem, first, r);
    memcpy(w->calls, kept, calls);
    w->s = start;
    const int32_t second = ac_mem_mark(&w->mem);
    AC_TRY(go(w, f->in, true, &f->stop));
    f->b = (way){w->s, w->count};
    f->met = f->a.s.pc == f->b.s.pc && f->a.s.depth == f->b.s.depth && f->a.s.it == f->b.s.it &&
             !(f->late && disagree(w, &f->a.s, &f->b.s));
    if (f->met) {
        ac_mem_join(&w->mem, &changes, second, r);
        return AC_OK;
    }
    ac_mem_undo(&w->mem, second, r);
    memcpy(w->calls, kept, calls);
    w->s = start;
    return AC_OK;
}

/* The nearer of two places first; the end of the call last. */
static int go_both(ac_walk *w, fork_ways *f)
{
    ac_region *r = ac_region_open(&w->cx->heap);
    int status = both(w, f, r);
    if (status == AC_OK && !f->met && f->stop.early != AC_NO_PLACE) {
        f->stop.early = AC_NO_PLACE;
        status = both(w, f, r);
    }
    if (status == AC_OK && !f->met && f->late) {
        f->stop = (ac_stop){.pc = AC_NO_PLACE, .early = AC_NO_PLACE, .depth = w->s.depth};
        f->late = false;
        status = both(w, f, r);
    }
    ac_region_close(r);
    return status;
}

static bool is_late(const ac_walk *w, uint32_t pc)
{
    const char *name = w->late.n ? ac_elf_name_at(&w->elf, pc) : NULL;
    for (int32_t i = 0; i < w->late.n; i++)
        if (w->late.item[i] == name)
            return true;
    return false;
}

static void add_longer(ac_walk *w, const ac_counts *before, const ac_counts *a, const ac_counts *b)
{
    w->count = (ac_counts){before->insns + larger(a->insns, b->insns),
                           before->least + (a->least < b->least ? a->least : b->least),
                           before->cycles + larger(a->cycles, b->cycles), before->most + larger(a->most, b->most)};
    w->loaded = 0;
    w->fetched = UINT32_MAX;
}

static int fork_at(ac_walk *w, const ac_insn *in)
{
    const uint32_t pc = w->s.pc;
    const ac_counts before = w->count;
    fork_ways f = {.in = in, .stop = ac_walk_rejoin(w, pc), .late = is_late(w, pc)};
    w->endless = w->forks == DEEPEST ? ac_elf_name_at(&w->elf, pc) : NULL;
    if (w->forks == DEEPEST)
        return ac_walk_error(w, pc, "a loop that only data ends, or that data may end after more than %d rounds",
                             DEEPEST);
    w->inside = w->forks ? w->inside + 1 : 0;
    if (w->inside > MOST_INSIDE)
        return ac_walk_error(w, pc, "more than %d branches that data decides within one", MOST_INSIDE);
    w->forks++;
    const int status = go_both(w, &f);
    w->forks--;
    AC_TRY(status);
    if (!f.met)
        return ac_walk_error(w, pc, "the two ways of a branch that data decides do not meet again");
    w->s = f.b.s;
    ac_state_join(&w->s, &f.a.s, w->elf.riscv);
    add_longer(w, &before, &f.a.count, &f.b.count);
    ac_walk_found(w, AC_FINDING_BRANCH, pc, distance(f.a.count.insns, f.b.count.insns),
                  distance(f.a.count.cycles, f.b.count.cycles));
    return AC_OK;
}

/* ------------------------------------------------------------------ branches */

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

static bool leaves(const ac_insn *in)
{
    const ac_op_kind kind = ac_op_kind_of[in->op];
    return kind == AC_K_BRANCH || kind == AC_K_CALL || ac_insn_jumps(in);
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
    const uint8_t cond = (uint8_t)(w->s.it >> 4);
    w->s.it = (uint8_t)(w->s.it & 7 ? (w->s.it & 0xe0) | (w->s.it << 1 & 0x1f) : 0);
    if (w->s.unknown & ac_condition_reads(cond))
        return leaves(in) ? fork_at(w, in) : maybe(w, in);
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
    return (w->s.pc == stop->pc || w->s.pc == stop->early) && w->s.v[ac_walk_sp(w)] == stop->sp;
}

int ac_walk_until(ac_walk *w, const ac_stop *stop)
{
    while (w->s.depth >= stop->depth && !reached(w, stop)) {
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
