/* module.h - a compiled model before it is printed: calls in execution order, each argument bound to a memory and an
 * offset.
 *
 * Filled by the driver and bind.h from the lowered nodes and the plan; printers (C, CUDA, LLVM) only read it. Nothing
 * here depends on operators. All in the context's region. */
#ifndef AC_CODEGEN_MODULE_H
#define AC_CODEGEN_MODULE_H
#include "base/sink.h"
#include "codegen/share_groups.h"
#include "ir/graph/graph.h"
#include "ir/lower/lowered.h"
#include "ir/lower/target.h"
#include "planner/pack/slot.h"

typedef enum ac_space {
    AC_SPACE_ARENA,
    AC_SPACE_STATE,
    AC_SPACE_CONST,
    AC_SPACE_IN, /* a graph input or output in the caller's memory (--host): a separate pointer */
    AC_SPACE_OUT,
    AC_SPACE_CHUNK, /* i32[1], see ac_call.low->chunks */
    AC_SPACE_SHAPE  /* numbers of the size, from `number` on: i32 */
} ac_space;

typedef struct ac_bound_arg {
    ac_space space;
    ac_bytes offset; /* bytes from the memory's base; CONST: index in ac_module.konst */
    int32_t index;   /* IN, OUT: its number; ARENA, and with rows: index in ac_module.ram */
    bool shares;     /* overlaps another argument of the same call: no restrict, no noalias */
    /* With ac_module.sizes: 1 + the index of the size's number that is the offset (CONST: the index in ac_sizes.konst);
     * 0: none */
    int32_t number;
} ac_bound_arg;

typedef struct ac_call {
    const ac_lowered *low;
    const char *op, *name;   /* "CONV_2D", node name: comments */
    const char *fused;       /* "ADD, RELU" or NULL */
    int32_t fn;              /* index in ac_module.fn: equal functions are shared */
    const ac_bound_arg *arg; /* one for each parameter of the function */
    int32_t n_arg;
    int32_t steps; /* of the plan, if it is more than one (codegen/join/merge_steps.h); else 0 */
    /* Of these steps, by step and argument: the parameter of the function, or the local buffer that has it instead */
    const int32_t *const *param;
} ac_call;

/* A graph input or output, or a state tensor */
typedef struct ac_io {
    const ac_tensor *tensor;
    ac_space space;
    ac_bytes offset, bytes;
    int32_t index;  /* ARENA: index in ac_module.ram */
    bool clobbered; /* inputs: bytes are reused before run returns */
    int32_t part;   /* inputs: available from this part of the program on */
    /* Rows above 0: a streamed input. Each row has row_bytes and is copied to ram[index] + row_at before its call. */
    int32_t rows;
    ac_bytes row_bytes, row_at;
} ac_io;

/* One memory of tensors, and one pointer of the API. Hosts hold all memories in one block: this one begins at `base`
 * there. */
typedef struct ac_module_ram {
    const char *name;      /* C identifier, lower case: "arena", "dtcm" */
    ac_bytes bytes, align; /* align: of its address */
    ac_bytes base;
    int64_t address; /* where the caller has it; -1: unknown */
    bool optimal;    /* the plan reaches the lower bound of its contents */
} ac_module_ram;

/* Calls that are one function, NAME_<name>(mem): all of them, or those of one part of the program (ac_node.part). */
typedef struct ac_module_part {
    const char *name;
    int32_t begin, end;
} ac_module_part;

enum { AC_MAX_PARTS = 4 };

typedef enum ac_weights { AC_WEIGHTS_AUTO, AC_WEIGHTS_RODATA, AC_WEIGHTS_ASM, AC_WEIGHTS_BLOB } ac_weights;

/* Bytes of memory that hold no value before a call runs: ranges of ram, sorted, disjoint */
typedef struct ac_range {
    ac_bytes begin, end;
    int32_t ram;
} ac_range;

typedef struct ac_dead {
    const ac_range *range;
    int32_t n;
} ac_dead;

/* The time of run, known from its object code. */
typedef struct ac_run_time {
    int64_t insns, least_insns; /* for every input */
    int64_t cycles_max;         /* 0: the core has no table */
    int32_t wait;               /* wait states of flash */
    bool constant, estimate;    /* constant: nothing depends on data; estimate: the table is not the manual's */
    const char *by;             /* "arm-none-eabi-gcc 12.2.1 -O2" */
} ac_run_time;

/* Results of compiling the module: the stack of run, summed from frames; code size. */
typedef struct ac_built {
    ac_bytes stack;            /* the most of all levels that optimise */
    ac_bytes plain_stack;      /* of code that is not optimised; 0: `stack` */
    ac_bytes clang_stack;      /* an upper bound for clang, if it is not installed; 0: `stack` */
    const char *how;           /* "arm-none-eabi-gcc 12.2.1 and clang 19.1.7"; NULL: not compiled, use estimates */
    ac_bytes code, small_code; /* including functions of the compiler's library; 0: unknown */
    const ac_run_time *time;   /* --time; NULL: not requested */
} ac_built;

typedef struct ac_module {
    ac_ctx *cx;
    const char *name;    /* C prefix, lower case: "vww" */
    const char *source;  /* model file name without folders */
    const char *sha256;  /* of the model file, hex */
    const char *options; /* as shown in the header comment: "-t generic" */
    const char *version; /* arenac's */
    const ac_target *target;
    const ac_target *const *image; /* GPUs: the program contains the kernels, compiled for these; the first is target */
    int32_t n_images;
    const ac_loop_fn **fn; /* distinct functions, in order of first call */
    int32_t n_fn;
    ac_call *call;
    int32_t n_calls;
    const ac_slot *slot;               /* by call: its phase, for steps that run in parallel; NULL: only chunks do */
    ac_module_part part[AC_MAX_PARTS]; /* in execution order; just one, "run", unless the program has several */
    int32_t n_parts;
    ac_const **konst;        /* distinct constants that calls use, in order of first use */
    const char **konst_name; /* NULL, or by constant: a name for all files that share it; NULL: its own */
    bool *konst_extern;      /* with konst_name: the definition is in another file */
    int32_t n_konst;
    /* The module whose block of constants contains those of this module, for asm and blob, if several modules share
     * one. It has only a name and constants. NULL: the module has its own block */
    const struct ac_module *block;
    const int32_t *in_block; /* by constant: its index in the block */
    bool block_extern;       /* the block is defined with another module */
    ac_io *input, *output, *state;
    int32_t n_inputs, n_outputs, n_states;
    const ac_io **random; /* states with seed and counter of random numbers, without learning */
    int32_t n_random;
    const ac_counted *counted; /* outputs whose size depends on the data */
    int32_t n_counted;
    const ac_io *streamed;                 /* the input that is passed row by row; NULL: none */
    const struct ac_learning *learning;    /* learning.h; NULL: no weights change */
    const struct ac_sizes *sizes;          /* sizes.h: the program is for many sizes; NULL: for one */
    int32_t streamed_call, streamed_input; /* the call made once for each of its rows; its index */
    ac_module_ram *ram;                    /* at least 1, "arena" without --mem */
    int32_t n_ram;
    ac_bytes arena_bytes, arena_align, state_bytes; /* arena: all of ram in one block */
    int64_t state_address;                          /* from --mem; -1: not given */
    ac_share_price share;                           /* of kernels, and of the pieces of stripes */
    ac_weights weights;
    const char *section_code, *section_rodata; /* NULL: the usual ones */
    int32_t threads;    /* above 1: calls with low->chunks run once for each chunk 0, 1, .., through a pool */
    bool poison;        /* debug build of the code: fill the arena's dead bytes between calls and check */
    bool check_weights; /* C: NAME_check_weights compares a CRC-32 of the constants */
    bool host;          /* for `run` and `bench`: also exports a struct of function pointers, see c/descriptor.c */
    bool hooks;         /* with host: steps call a hook; slower to compile */
    bool caller_io; /* inputs and outputs are in the caller's memory; implies host and the API of runtime/arn_host.h */
    ac_built built; /* for headers and reports; set by the code printer or after running a compiler */
    ac_dead *dead;  /* by call, for poison and step tests; NULL: not requested */
    const struct ac_module *apart; /* with a call for each step, if calls are several (codegen/join/merge_steps.h) */
} ac_module;

/* The module with a call for each step of the plan. */
static inline const ac_module *ac_module_steps(const ac_module *m)
{
    return m->apart ? m->apart : m;
}

/* dedupe.c: merges structurally equal loop functions; fills fn, n_fn, call[].fn. */
void ac_module_dedupe(ac_module *m);

/* bind.c: the port of t: a state, an input or an output; NULL: it is not a port. */
const ac_io *ac_module_io(const ac_module *m, const ac_tensor *t);

/* bind.c: the texts of all inputs and outputs; NULL: they hold numbers. */
const ac_vocabulary *ac_module_words(const ac_module *m);

/* All calls are one function. */
static inline void ac_module_whole(ac_module *m)
{
    m->part[0] = (ac_module_part){.name = "run", .end = m->n_calls};
    m->n_parts = 1;
}

/* The offset of byte `offset` of ram[index] if all of them are one block. */
static inline ac_bytes ac_module_at(const ac_module *m, int32_t index, ac_bytes offset)
{
    return m->ram[index].base + offset;
}

/* custom.c: the first function of the module that calls one of the user (operators of --custom); NULL: none does. */
const ac_loop_fn *ac_module_custom(const ac_module *m);
/* E0502 if there is one: `what` does not support it. */
int ac_module_without_custom(const ac_module *m, const char *what);

/* share_kernels.c: merges functions that differ only in integers, which it puts into a table, if that pays by the
 * criterion m->share. Call it after dedupe. */
void ac_module_share_kernels(ac_module *m);

/* bind.c: for each parameter of function fn: true if it overlaps no other one in any call. Those may be `restrict`,
 * `noalias`. */
bool *ac_module_restricted(const ac_module *m, int32_t fn);

#endif
