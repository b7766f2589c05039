/* arenac.h - the door: one model in, a plan and code out. Everything the command line does goes through here; start reading
 * arenac.c for the journey on one page.
 *
 *     ac_options opt;
 *     arenac_defaults(&opt);
 *     opt.target = "generic";
 *     arenac_job *job = arenac_open(&opt);              NULL: no memory
 *     if (arenac_read(job, "kws.tflite") == 0 && arenac_plan(job) == 0)
 *         arenac_print_report(job, stdout, 0);
 *     arenac_print_diagnostics(job, stderr, 0);
 *     int status = arenac_exit(job);                    the exit status of CLI.md
 *     arenac_close(job);
 *
 * Every function that returns int gives 0, or -1 with diagnostics recorded in the job; running out of memory is such an error
 * too. Two jobs share nothing and may work in two threads. Strings in options must outlive the job. */
#ifndef ARENAC_H
#define ARENAC_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arenac_job arenac_job;

typedef struct arenac_pair {
    const char *name;
    int64_t value;
} arenac_pair; /* --dim NAME=N */

/* --mem NAME:SIZE[@ADDR][,fast|slow][,ro][,align=N] */
typedef struct arenac_memory {
    const char *name;
    int64_t bytes;
    int64_t address; /* -1: not said */
    int64_t align;   /* of its address; 0: what the tensors need */
    int speed;       /* 1 fast, 0 not said, -1 slow */
    bool read_only;  /* for weights alone */
} arenac_memory;

typedef struct arenac_pin {
    const char *tensor, *memory;
    int64_t offset;
} arenac_pin; /* --pin TENSOR=MEM[@OFFSET]; -1: any */

typedef struct arenac_names {
    const char *const *item;
    int32_t n;
} arenac_names; /* --skip PASS ... */

typedef struct ac_options {
    const char *from;         /* format; NULL: guess by content */
    const char *weights_file; /* formats that keep weights apart (Caffe, MXNet): that file; NULL: none */
    const char *outputs;      /* NAME,NAME: tensors that are to be the outputs; NULL: what the file says */
    bool random_weights;      /* parameters that no file gives get random values made from `seed` */
    uint64_t seed;
    const char *target;     /* a row of codegen/targets.def */
    const char *planner;    /* "auto" or a strategy */
    const char *name;       /* C prefix; NULL: from the file name */
    const arenac_pair *dim; /* pinned symbolic dimensions */
    int32_t n_dims;
    const arenac_memory *mem; /* none: one arena without a limit */
    int32_t n_mems;
    const arenac_pin *pin; /* where single tensors must lie */
    int32_t n_pins;
    const char *budget_memory; /* what `budget` is about; NULL: the first memory */
    arenac_names skip, dump_after;
    const char *stop_after; /* pass; NULL: none */
    int64_t align;          /* of tensors; 0: the target's default */
    int64_t budget;         /* bytes; -1: none */
    int64_t effort;         /* 0..9: how long an exact search may take, in steps; -1: the planner's default */
    int64_t max_memory;     /* of the compiler itself, bytes */
    bool reference_tflite;  /* plan what TFLite itself would */
    bool schedule_search;   /* look for an execution order that needs less than the file's */
    bool recompute;         /* cheap results may be computed twice rather than kept */
    bool inplace, views;
    int overlap;             /* 1 on, 0 off, -1: on with stripes */
    bool stripe;             /* runs of steps may work row by row */
    const char *stripe_list; /* which ones: "2-5,conv1-pool1"; NULL: those that make the arena smallest */
    bool io_rows;            /* the largest input is handed over row by row (then stripe is on too) */
    bool preserve_input, preserve_all;
    bool quantized_io; /* inputs and outputs are integers where the model converts them */
    int64_t threads;   /* above 1: steps are cut into so many parts, at most 64 */
    const char *tuned; /* file of schedules that `bench --tune` measured; NULL: none */
    int winograd; /* 3x3 convolutions of floats by Winograd's F(2x2) or F(4x4): 2, 4, -1: where it is faster, 0: never */
    bool exact;   /* keep float order as written */
    const char *tensor_cores; /* GPUs: what they multiply: "off", "int8" (NULL: the same), "tf32", "bf16", "f16" */
    bool share_kernels;       /* functions that differ in whole numbers only become one with parameters */
    bool poison;              /* generated code overwrites dead bytes between steps */
    bool host;                /* generated code exports a descriptor for dlopen (run, bench) */
    bool caller_io;      /* inputs and outputs are the caller's memory; the code has the API of runtime/arn_host.h */
    const char *weights; /* "auto", "rodata", "asm", "blob" */
    const char *section_code, *section_rodata; /* of C and object files; NULL: the usual ones */
    bool werror;
    int32_t max_errors;
} ac_options;

void arenac_defaults(ac_options *opt);
const char *arenac_version(void);

arenac_job *arenac_open(const ac_options *opt);
void arenac_close(arenac_job *job);

int arenac_read(arenac_job *job, const char *path); /* "-": standard input; reads, checks, keeps the graph */
int arenac_check(arenac_job *job);                  /* shapes and lowering of every node; lists every problem */
int arenac_plan(arenac_job *job);                   /* arenac_check, then the memory plan, checked; E0401 over budget */
int arenac_compile(arenac_job *job);                /* arenac_plan, then binds calls to offsets */

int arenac_convert(arenac_job *job, const char *kind,
                   const char *path); /* after arenac_read: "ag", "onnx" as an output */

/* kind: "c" "h" "blob" "json" "md" "dot" "csv" "problem" "ag" "loops", with LLVM "o" "s" "ll" "bc" ("report" is the text). Appends an output; files appear
 * together in arenac_commit, or none does. path "-": standard output. */
int arenac_emit(arenac_job *job, const char *kind, const char *path);
int arenac_commit(arenac_job *job);

void arenac_print_report(arenac_job *job, FILE *to, int verbose);
void arenac_print_diagnostics(const arenac_job *job, FILE *to, bool color);
int arenac_exit(const arenac_job *job);

#ifdef __cplusplus
}
#endif
#endif
