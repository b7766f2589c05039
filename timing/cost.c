/* cost.c - cycles of instructions by the rows of cores.def; see there for the rules. */
#include "timing/walk.h"

static const ac_core_cost CORES[] = {
#define CORE(target, manual, pipelines, ...) {target, manual, pipelines, {__VA_ARGS__}},
#include "timing/cores.def"
#undef CORE
};

const ac_core_cost *ac_core_find(const char *target)
{
    for (size_t i = 0; target && i < sizeof CORES / sizeof *CORES; i++)
        if (!strcmp(CORES[i].target, target))
            return &CORES[i];
    return NULL;
}

bool ac_timing_has_cycles(const char *core)
{
    return ac_core_find(core) != NULL;
}

static ac_cost row_of(const ac_insn *in)
{
    static const uint8_t ROW[AC_K_COUNT] = {[AC_K_MUL] = AC_C_MUL,
                                            [AC_K_MLA] = AC_C_MLA,
                                            [AC_K_LONG] = AC_C_LONG,
                                            [AC_K_LONG_MLA] = AC_C_LONG_MLA,
                                            [AC_K_DIVIDE] = AC_C_DIVIDE,
                                            [AC_K_LOAD] = AC_C_LOAD,
                                            [AC_K_PAIR] = AC_C_PAIR,
                                            [AC_K_MANY] = AC_C_MANY,
                                            [AC_K_FP] = AC_C_FP,
                                            [AC_K_FP_MLA] = AC_C_FP_MLA,
                                            [AC_K_FP_DIVIDE] = AC_C_FP_DIVIDE};
    const ac_op_kind kind = ac_op_kind_of[in->op];
    if (kind == AC_K_LOAD && !in->load)
        return AC_C_STORE;
    return kind == AC_K_MUL && in->ra != AC_NOWHERE ? AC_C_MLA : (ac_cost)ROW[kind];
}

static int32_t cycles_of(const ac_walk *w, const ac_insn *in, int k)
{
    const ac_cost row = row_of(in);
    if (row == AC_C_REFILL) /* rows without a column */
        return 1;
    return w->core->cycles[row][k] + (row == AC_C_MANY ? ac_insn_listed(in) : 0);
}

/* Words of flash that the instruction begins. */
static void fetch(ac_walk *w, const ac_insn *in)
{
    const uint32_t last = (w->s.pc + in->bytes - 1) >> 2;
    if (!w->code->slow)
        return;
    for (uint32_t word = w->s.pc >> 2; word <= last; word++)
        if (word != w->fetched) {
            w->fetched = word;
            w->count.cycles += w->task->wait;
            w->count.most += w->task->wait;
        }
}

void ac_cost_of(ac_walk *w, const ac_insn *in)
{
    w->count.insns++;
    w->count.least++;
    if (!w->core)
        return;
    const bool plain = in->op == AC_T_ACCESS && in->load && in->rd != AC_PC;
    w->count.cycles += cycles_of(w, in, 0) - (plain && w->loaded && w->core->pipelines);
    w->count.most += cycles_of(w, in, 1) - (plain && w->loaded && w->core->pipelines && !(w->loaded & in->reads));
    w->loaded = plain ? AC_REG(in->rd) : 0;
    if (w->task->wait)
        fetch(w, in);
}

void ac_cost_taken(ac_walk *w, const ac_insn *in)
{
    if (!w->core)
        return;
    const bool pops = in->op == AC_T_MANY && !w->core->pipelines; /* the M0+ takes one more */
    w->count.cycles += w->core->cycles[AC_C_REFILL][0] + pops;
    w->count.most += w->core->cycles[AC_C_REFILL][1] + pops;
    if (in->op == AC_T_BL) {
        w->count.cycles += w->core->cycles[AC_C_CALL][0];
        w->count.most += w->core->cycles[AC_C_CALL][1];
    }
    w->loaded = 0;
    w->fetched = UINT32_MAX;
}

/* Words that are not aligned take two or three transfers; constants wait for flash. */
void ac_cost_address(ac_walk *w, const ac_insn *in, uint32_t address)
{
    if (!w->core)
        return;
    int32_t more = in->width == 4 && address & 3 ? 1 + (int32_t)(address & 1) : in->width == 2 && address & 1;
    if (w->task->wait) {
        const ac_mem_block *b = ac_mem_find(&w->mem, address, 1);
        more += b && b->slow ? w->task->wait * (in->op == AC_T_PAIR   ? 2
                                                : in->op == AC_T_MANY ? ac_insn_listed(in)
                                                                      : 1)
                             : 0;
    }
    w->count.cycles += more;
    w->count.most += more;
}

int32_t ac_cost_spread(const ac_walk *w, const ac_insn *in)
{
    enum { LEAST = 2 };
    return w->core && w->core->cycles[row_of(in)][1] > LEAST ? w->core->cycles[row_of(in)][1] - LEAST : 0;
}

int32_t ac_cost_beyond_one(const ac_walk *w, const ac_insn *in, int k)
{
    return w->core ? cycles_of(w, in, k) - 1 : 0;
}
