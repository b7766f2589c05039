/* timing.h - instructions and cycles of one run, from a linked program alone.
 *
 * The walk executes NAME_run of an ELF file with every byte of inputs, activations and state unknown; constants and
 * addresses are known. Where a branch depends on data it goes both ways up to the place where they meet again, and
 * counts the longer one: the result holds for every input.
 *
 *     ac_timing_memory mem[] = {{.bytes = 16000, .align = 16}};
 *     const ac_timing_task task = {.path = "kws.elf", .bytes = p, .n = n, .run = "kws_run", .core = "cortex-m4",
 *                                  .memory = mem, .n_memories = 1};
 *     ac_timing t;
 *     AC_TRY(ac_timing_walk(cx, &task, &t));
 *     t.insns                     most instructions of a run; t.least_insns: a run takes at least so many
 *     t.finding[i]                a branch, address or division that depends on data
 *
 * Cost: 30 to 60 million instructions a second. Errors: E0010 to E0017 for the file, E0704 for a program whose time
 * cannot be known, with the address: an unknown instruction, a loop or jump that data decides, an access outside of
 * memory. Memory: the context's region. */
#ifndef AC_TIMING_TIMING_H
#define AC_TIMING_TIMING_H
#include "base/sink.h"

/* One pointer of NAME_mem: a memory of the plan, the state, or weights. */
typedef struct ac_timing_memory {
    ac_bytes bytes, align; /* bytes 0: the pointer is NULL */
    const uint8_t *data;   /* constants; NULL: unknown and writable */
    bool slow;             /* constants in flash: loads wait */
} ac_timing_memory;

typedef struct ac_timing_task {
    const char *path; /* for messages */
    const uint8_t *bytes;
    size_t n;
    const char *run;  /* name of the function; its argument points to the memories' addresses */
    const char *core; /* of cores.def; one without a row there: instructions only */
    int64_t longest;  /* instructions before the walk gives up; 0: 2^36 */
    int32_t wait;     /* wait states of flash: of each word of 32 bits that is fetched or loaded there */
    const ac_timing_memory *memory;
    int32_t n_memories;
} ac_timing_task;

typedef enum ac_finding_kind { AC_FINDING_BRANCH, AC_FINDING_ADDRESS, AC_FINDING_DIVISION } ac_finding_kind;

/* An instruction whose path, address or duration depends on data. */
typedef struct ac_timing_finding {
    ac_finding_kind kind;
    uint32_t at;
    const char *function, *insn; /* names */
    const char *step;            /* the function that run called meanwhile; that of run itself */
    int64_t times;               /* executions */
    int64_t insns, cycles;       /* how much they may differ, in all */
} ac_timing_finding;

/* A function that run calls, with what run does after it up to the next call. */
typedef struct ac_timing_call {
    const char *function;
    int64_t insns, cycles; /* most; usual */
} ac_timing_call;

typedef struct ac_timing {
    int64_t insns, least_insns;
    bool has_cycles, from_manual;           /* the core has a table; it is the manual's, not an estimate */
    int64_t cycles, most_cycles;            /* usual ones; the most that the tables allow */
    AC_VEC(ac_timing_call) call;            /* in order */
    AC_VEC(ac_timing_finding) finding;      /* most cycles or instructions first */
    int64_t branches, addresses, divisions; /* executions that depend on data */
} ac_timing;

int ac_timing_walk(ac_ctx *cx, const ac_timing_task *task, ac_timing *out);
bool ac_timing_has_cycles(const char *core); /* cores.def has a row for the core */
/* No branch and no address depends on data. */
static inline bool ac_timing_is_constant(const ac_timing *t)
{
    return !t->branches && !t->addresses && !t->divisions;
}

#endif
