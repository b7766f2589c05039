/* timing.c - starts a walk: memory of the program and of the task, registers of a call, the result; see timing.h. */
#include "timing/walk.h"

#include <stdlib.h>

enum { STACK = 1 << 20, POINTERS = 16 };
static const int64_t LONGEST = INT64_C(1) << 36;

static int load_program(ac_walk *w)
{
    for (int32_t i = 0; i < w->elf.segment.n; i++) {
        const ac_elf_segment *s = &w->elf.segment.item[i];
        ac_mem_block *b = ac_mem_add(&w->mem, s->at, s->all_bytes);
        if (!b)
            return ac_error(w->cx, (ac_place){.file = w->task->path}, E0012,
                            "segment %d overlaps another, or is one too many", i);
        if (s->bytes)
            memcpy(b->data, w->elf.bytes + s->offset, s->bytes);
        b->writable = s->writable;
        b->code = s->code;
        b->slow = !s->writable;
        if (s->code)
            b->decoded = AC_NEW_N(w->mem.region, uint32_t, s->all_bytes / 2 + 1);
    }
    return AC_OK;
}

/* A place that the program leaves free, from `from` on. */
static ac_mem_block *add_free(ac_walk *w, uint32_t from, int64_t bytes, int64_t align)
{
    enum { TRIES = 64, STEP = 1 << 22 };
    ac_mem_block *b = NULL;
    const int64_t a = align > 16 ? align : 16;
    for (int i = 0; !b && i < TRIES && bytes < INT32_MAX; i++) {
        const int64_t at = ac_align_up((int64_t)from + (int64_t)i * STEP, a);
        b = at + bytes < UINT32_MAX ? ac_mem_add(&w->mem, (uint32_t)at, (uint64_t)bytes) : NULL;
    }
    return b;
}

static int no_space(ac_walk *w)
{
    return ac_error(w->cx, (ac_place){.file = w->task->path}, E0502,
                    "the program leaves no addresses for the model's memories");
}

/* NAME_mem, and the memories that it points to. */
static int add_memories(ac_walk *w, uint32_t *structure)
{
    enum { FROM = 0x70000000 };
    uint32_t next = FROM;
    ac_mem_block *pointers = add_free(w, next, POINTERS * 4, 16);
    if (!pointers || w->task->n_memories > POINTERS)
        return no_space(w);
    *structure = pointers->at;
    for (int32_t i = 0; i < w->task->n_memories; i++) {
        const ac_timing_memory *m = &w->task->memory[i];
        if (!m->bytes)
            continue;
        ac_mem_block *b = add_free(w, pointers->at + 4096, m->bytes, m->align);
        if (!b)
            return no_space(w);
        b->writable = !m->data;
        b->slow = m->slow;
        if (m->data)
            memcpy(b->data, m->data, (size_t)m->bytes);
        else
            ac_mem_forget(&w->mem, b);
        for (int k = 0; k < 4; k++)
            pointers->data[i * 4 + k] = (uint8_t)(b->at >> (8 * k));
    }
    return AC_OK;
}

static int start(ac_walk *w, uint32_t at)
{
    enum { STACK_AT = 0x60000000, A0 = 10 };
    uint32_t structure = 0;
    AC_TRY(add_memories(w, &structure));
    ac_mem_block *stack = add_free(w, STACK_AT, STACK, 16), *end = stack ? add_free(w, STACK_AT, 16, 16) : NULL;
    if (!stack || !end)
        return no_space(w);
    stack->writable = true;
    ac_mem_forget(&w->mem, stack);
    w->s.unknown = w->elf.riscv ? ~(ac_regs)1 : ~(ac_regs)0;
    const uint8_t sp = ac_walk_sp(w), lr = w->elf.riscv ? AC_RV_RA : AC_LR, first = w->elf.riscv ? A0 : 0;
    w->s.v[sp] = stack->at + STACK;
    w->s.v[first] = structure;
    w->s.v[lr] = end->at | (w->elf.riscv ? 0 : 1);
    w->s.unknown &= ~(AC_REG(sp) | AC_REG(lr) | AC_REG(first));
    w->s.pc = at;
    w->calls = AC_NEW_N(w->cx->region, uint32_t, AC_CALLS);
    w->calls[0] = end->at;
    w->s.depth = 1;
    return AC_OK;
}

static int by_weight(const void *a, const void *b)
{
    const ac_timing_finding *x = a, *y = b;
    const int64_t p = x->cycles + x->insns, q = y->cycles + y->insns;
    return p != q ? (p < q ? 1 : -1) : x->at != y->at ? (x->at < y->at ? -1 : 1) : (int)x->kind - (int)y->kind;
}

static void finish(ac_walk *w)
{
    ac_timing *t = w->out;
    int64_t insns = w->count.insns, cycles = w->count.cycles;
    for (int32_t i = t->call.n - 1; i >= 0; i--) {
        ac_timing_call *c = &t->call.item[i];
        const ac_timing_call begin = *c;
        c->insns = insns - begin.insns;
        c->cycles = cycles - begin.cycles;
        insns = begin.insns;
        cycles = begin.cycles;
    }
    int64_t *const sum[] = {&t->branches, &t->addresses, &t->divisions};
    t->insns = w->count.insns;
    t->least_insns = w->count.least;
    t->has_cycles = w->core;
    t->from_manual = w->core && w->core->manual;
    t->cycles = w->count.cycles;
    t->most_cycles = w->count.most;
    for (int32_t i = 0; i < t->finding.n; i++)
        *sum[t->finding.item[i].kind] += t->finding.item[i].times;
    if (t->finding.n)
        qsort(t->finding.item, (size_t)t->finding.n, sizeof *t->finding.item, by_weight);
}

static int walk(ac_ctx *cx, const ac_timing_task *task, ac_walk *w)
{
    *w->out = (ac_timing){0};
    AC_TRY(ac_elf_read(cx, task->path, task->bytes, task->n, &w->elf));
    const ac_elf_symbol *run = ac_elf_function(&w->elf, task->run);
    if (!run) {
        ac_error(cx, (ac_place){.file = task->path}, E0021, "the program has no function '%s'", task->run);
        return ac_help(cx, "keep its table of symbols, and give the name of the model (--name)");
    }
    AC_TRY(load_program(w));
    AC_TRY(start(w, run->at));
    const ac_stop stop = {.pc = AC_NO_PLACE, .early = AC_NO_PLACE, .depth = 1};
    AC_TRY(ac_walk_until(w, &stop));
    finish(w);
    return AC_OK;
}

int ac_timing_walk(ac_ctx *cx, const ac_timing_task *task, ac_timing *out)
{
    enum { ROUNDS = 8 };
    const ac_walk first = {.cx = cx,
                           .task = task,
                           .mem = {.region = cx->region},
                           .core = ac_core_find(task->core),
                           .fetched = UINT32_MAX,
                           .left = task->longest ? task->longest : LONGEST,
                           .out = out};
    const ac_diags before = cx->diags;
    ac_walk w = first;
    for (int status = walk(cx, task, &w);; status = walk(cx, task, &w)) {
        if (status == AC_OK || !w.endless || w.late.n == ROUNDS)
            return status;
        for (int32_t i = 0; i < w.late.n; i++)
            if (w.late.item[i] == w.endless)
                return status;
        ac_quietly(cx, before, status);
        ac_push(cx->region, &w.late, w.endless);
        ac_walk next = first;
        next.late.item = w.late.item, next.late.n = w.late.n, next.late.cap = w.late.cap;
        w = next;
    }
}
