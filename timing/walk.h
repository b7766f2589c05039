/* walk.h - the walk through a program: its state, and functions that files of this layer share. */
#ifndef AC_TIMING_WALK_H
#define AC_TIMING_WALK_H
#include "timing/elf.h"
#include "timing/execute.h"
#include "timing/memory.h"
#include "timing/timing.h"

/* Usual and most cycles of the kinds, with indices of ac_cost. */
typedef enum ac_cost {
    AC_C_REFILL,
    AC_C_MUL,
    AC_C_MLA,
    AC_C_LONG,
    AC_C_LONG_MLA,
    AC_C_DIVIDE,
    AC_C_LOAD,
    AC_C_STORE,
    AC_C_PAIR,
    AC_C_MANY,
    AC_C_CALL,
    AC_C_FP,
    AC_C_FP_MLA,
    AC_C_FP_DIVIDE,
    AC_C_COUNT
} ac_cost;

typedef struct ac_core_cost {
    const char *target;
    bool manual, pipelines;
    uint8_t cycles[AC_C_COUNT][2];
} ac_core_cost;

typedef struct ac_counts {
    int64_t insns, least, cycles, most;
} ac_counts;

enum { AC_NO_PLACE = 1 }; /* no instruction is there */
enum { AC_CALLS = 4096 }; /* most calls within each other */

/* Where a way ends: at one of two places, with this stack, or where the call returns. */
typedef struct ac_stop {
    uint32_t pc, early; /* AC_NO_PLACE: none */
    uint32_t sp;
    int32_t depth; /* of the call */
} ac_stop;

typedef struct ac_meet {
    uint32_t branch;
    uint32_t at;   /* where its ways meet again; AC_NO_PLACE: only at the end of the call */
    uint32_t loop; /* where those of them meet that come to the branch again; AC_NO_PLACE: none does */
} ac_meet;

typedef struct ac_walk {
    ac_ctx *cx;
    const ac_timing_task *task;
    ac_elf elf;
    ac_mem mem;
    ac_core_state s;
    const ac_core_cost *core; /* NULL: none */
    ac_counts count;
    ac_regs loaded;   /* results of the last instruction, if it is a load that the next load can follow closely */
    uint32_t fetched; /* the word of flash that was fetched last */
    int32_t forks;    /* ways inside of ways */
    int32_t inside;   /* forks since the outermost one began */
    int64_t left;     /* instructions before the walk gives up */
    uint32_t *calls;  /* addresses that calls return to, AC_CALLS of them */
    uint32_t step;    /* the last function that run called */
    AC_VEC(ac_insn) insn;
    AC_VEC(ac_meet) meets;
    const char *endless;       /* after an error: the function of a loop that data may end late; NULL: another error */
    AC_VEC(const char *) late; /* functions whose branches meet late: such loops have bounds for each of their ways */
    ac_mem_block *code;        /* the block of the last instruction */
    ac_timing *out;
} ac_walk;

static inline uint8_t ac_walk_sp(const ac_walk *w)
{
    return w->elf.riscv ? AC_RV_SP : AC_SP;
}

/* NULL, after an error: no code there, or an instruction that the walk does not handle. */
const ac_insn *ac_walk_fetch(ac_walk *w, uint32_t pc);
const ac_insn *ac_walk_decode(ac_walk *w, uint32_t pc); /* the same without an error */
int ac_walk_until(ac_walk *w, const ac_stop *stop);
int ac_walk_error(ac_walk *w, uint32_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void ac_walk_found(ac_walk *w, ac_finding_kind kind, uint32_t at, int64_t insns, int64_t cycles);

/* Keeps bits of s that are known and equal in both. Flags have the places of registers 16 to 20 of RISC-V. */
void ac_state_join(ac_core_state *s, const ac_core_state *a, bool riscv);
/* perform.c: performs it, whatever its condition; counts only what a taken branch costs more. */
int ac_walk_perform(ac_walk *w, const ac_insn *in, bool sets);
void ac_walk_compute(ac_walk *w, const ac_insn *in, bool sets); /* the same for kinds up to AC_K_DIVIDE */
void ac_walk_forget(ac_walk *w, ac_regs what);                  /* registers and flags are unknown */
/* rejoin.c: where all ways from the branch at pc meet again, and, if it is in a loop, where they meet on the way to its
 * next iteration: a compiler may have copied the end of the loop into each way. */
ac_stop ac_walk_rejoin(ac_walk *w, uint32_t pc);

/* cost.c */
const ac_core_cost *ac_core_find(const char *target);
void ac_cost_of(ac_walk *w, const ac_insn *in);
void ac_cost_taken(ac_walk *w, const ac_insn *in);
void ac_cost_address(ac_walk *w, const ac_insn *in, uint32_t address);
int32_t ac_cost_spread(const ac_walk *w, const ac_insn *in); /* of a division: most less least cycles */
int32_t ac_cost_beyond_one(const ac_walk *w, const ac_insn *in,
                           int k); /* more than a skipped one; k: 0 usual, 1 most */

#endif
