/* report.h - the facts of one compilation as plain data, and their prints: text, JSON, Markdown, DOT, SVG and HTML.
 *
 *     ac_report r = {.file = "vww.tflite", .problem = &problem, .plan = &plan, .budget = -1, ...};
 *     ac_report_text(&sink, &r, 0, false);
 *
 * The driver fills the struct; a print plans nothing and measures nothing, so all of them say the same. Bytes are in
 * bytes, steps are positions in the execution order.
 *
 * Ownership: the report points to what others own, which has to outlive it; prints allocate from the sink's context.
 * Errors: prints cannot fail but for memory; ac_report_over_budget reports E0401. Cost: O(items + steps), and for the
 * picture the steps that tensors cover. */
#ifndef AC_PLANNER_REPORT_REPORT_H
#define AC_PLANNER_REPORT_REPORT_H
#include "planner/pack/slot.h"
#include "planner/pack/solve.h"

typedef struct ac_report_tensor {
    const char *name, *dtype, *shape; /* "i8", "[1,96,96,3]" */
    ac_bytes bytes;
    int32_t item;        /* row of the problem; -1: not in an arena (constant) */
    ac_bytes delta;      /* offset inside the item (views) */
    ac_step first, last; /* both inclusive */
    int32_t producer;    /* step, -1: graph input or constant */
    const int32_t *consumers;
    int32_t n_consumers;   /* steps */
    const bool *by_view;   /* n_consumers: it reads a view of the tensor alone; NULL: none does */
    const char *alias_of;  /* root tensor's name for views and in-place results, else NULL */
    const char *alias_how; /* "view" or "in-place" */
    bool input, output, state;
    bool through; /* not computed by a step: it consists of bytes of other tensors, and shares their consumers */
} ac_report_tensor;

typedef struct ac_report_step {
    const char *op, *name; /* "CONV_2D 1x1 8->16", node name */
    const char *fused;     /* operators computed in the same loops, "ADD RELU", or NULL */
    const char *requant;   /* how sums become bytes, if a shorter form than the reference's is proven; NULL */
    const char *result;    /* "i8 [1,96,96,3]", of its first result; NULL: not known */
    ac_bytes bytes;        /* of all results; -1: not known, as the next two */
    ac_bytes weights;      /* constants that it reads */
    int64_t macs;
    ac_bytes scratch;
    ac_bytes live;   /* bytes alive during the step, in all memories of tensors; shared bytes count once */
    ac_bytes code;   /* estimate, 0 unknown */
    int64_t traffic; /* bytes that its loops read and write, of tensors, scratch and weights; an estimate */
    int64_t moved;   /* bytes of them that it touches, each counted once: at least so many come and go */
    int64_t slow;    /* bytes that it reads from and writes to all memories but the first, if there are several */
    int64_t read;    /* bytes of weights that its loops read; an estimate */
    bool back;       /* of training: it comes after the loss */
    bool again;      /* it runs a second time, for a step that needs its result again */
} ac_report_step;

/* A launch of a kernel on a GPU */
typedef struct ac_report_launch {
    int32_t step, part; /* part: 0, 1, .. of the launches of the step */
    int64_t blocks;
    int32_t threads;   /* of a block */
    ac_bytes shared;   /* memory of a block */
    int64_t traffic;   /* bytes that its loops load and store, without shared memory and registers */
    int64_t moved;     /* bytes of them that it touches, each counted once */
    int64_t conflicts; /* passes over shared memory that conflicts of banks add (ir/loop/access/banks.h) */
    int64_t ns;        /* modelled, not measured: driver/facts/gpu_model.h */
} ac_report_launch;

/* A step of training under a budget: results that are computed again, with work in multiply-adds and elements. */
typedef struct ac_report_point {
    ac_bytes bytes; /* the most alive */
    int64_t again;
} ac_report_point;

typedef struct ac_report_again {
    int64_t work, again;  /* all steps once; recomputed */
    int64_t least;        /* proven: no plan in this order and so many bytes has less; -1: not known */
    ac_bytes least_bytes; /* proven: no plan in this order takes less; 0: not known */
    const ac_report_point *curve;
    int32_t n; /* plans for other budgets, the largest first */
} ac_report_again;

/* The schedule for threads, by estimates of lowering in instructions; a gain is the time of one thread over that of
 * several. */
typedef struct ac_report_gain {
    int32_t threads;
    double gain;
} ac_report_gain;

typedef struct ac_report_threads {
    int32_t threads;
    const ac_slot *slot;      /* by step; NULL: one step after the other */
    const bool *cut;          /* by step: all threads do it, a chunk each */
    const double *time;       /* by step: on each thread that does it */
    double fork;              /* of starting and joining the threads */
    double gain, gain_before; /* of this schedule; of one step after the other */
    const ac_report_gain *more;
    int32_t n_more; /* gains of other numbers of threads */
} ac_report_threads;

typedef struct ac_report_pass {
    const char *name;
    double ms;
    int32_t changed;
} ac_report_pass;

/* A constant of the model that takes more bytes in read-only memory than in the file. */
typedef struct ac_report_larger {
    const char *name;  /* of the file's tensor; of tables, of the step */
    const char *dtype; /* as it is stored */
    const char *why;
    int32_t step;            /* the first one that reads it */
    ac_bytes bytes, in_file; /* in all forms that are stored */
} ac_report_larger;

/* Something that takes less than the plan: "--stripe auto", "rows instead of whole tensors". */
typedef struct ac_report_lower {
    const char *option, *what;
    ac_bytes bytes; /* -1: not tried */
} ac_report_lower;

/* The parts removed from an operator with weights, and their totals before (--dead). */
typedef struct ac_report_cut {
    const char *name, *op;
    int64_t channels, gone, inputs, inputs_gone; /* of its result and of its input */
    int64_t macs, macs_gone;
    ac_bytes bytes, bytes_gone; /* weights and biases */
} ac_report_cut;

typedef struct ac_report_cuts {
    const ac_report_cut *row; /* all that have integer weights */
    int32_t n;
    bool same; /* nothing, because no output depends on the inputs */
} ac_report_cuts;

/* A memory of tensors, if a plan has several: facts about its items. */
typedef struct ac_report_memory {
    int32_t mem;    /* row of the problem */
    ac_bytes bound; /* no plan of these items takes less */
    ac_bytes live;  /* the largest sum of them alive in one step, less what pairs may share at most */
    ac_step peak;   /* the step with most of them alive */
} ac_report_memory;

typedef struct ac_report {
    const char *file, *format; /* "vww.tflite", "TFLite v3, int8" */
    const char *target, *version;
    int32_t n_file_ops, n_activations, n_constants;
    const char *weight_memory; /* the read-only memory of the weights; NULL: unspecified */
    ac_bytes weight_budget;    /* its size */
    ac_bytes weight_bytes, state_bytes, scratch_bytes, code_bytes /* estimate unless built_by */, stack_bytes;
    int64_t weights_read;      /* bytes of weights that the loops of all steps read in a run; an estimate */
    bool cached;               /* some of them are copied to RAM first */
    ac_bytes small_code_bytes; /* made for size; 0: not known */
    const char *built_by;      /* the compiler that measured code and stack; NULL: estimates */
    int32_t n_kernels;         /* distinct functions of code_bytes */
    int64_t insns, least_insns, cycles_max; /* of a run, --time; insns 0: not requested; cycles_max 0: not modelled */
    bool constant_time;
    const char *timed_by; /* the compiler of that code */
    int64_t macs;
    ac_bytes budget;     /* -1: none */
    ac_bytes no_sharing; /* sum of all items, in whatever memory */
    ac_bytes live_bound, aligned_bound;
    ac_step peak;                   /* of all memories of tensors together */
    const ac_report_memory *memory; /* those of tensors that are in use, the first one first */
    int32_t n_memories;             /* 0: the plan may use one alone */
    const ac_problem *problem;
    const ac_plan *plan;
    const ac_result *rows;
    int32_t n_rows;             /* the result of every strategy */
    const char *planner_option; /* "auto", "tflite" ... as requested */
    const char *options;        /* those that change the plan: "-t generic --stripe auto"; NULL: no model */
    bool watched;               /* plan --watch: the page reloads itself */
    bool reference_tflite;
    int32_t recomputed;           /* steps that run a second time; 0: none */
    ac_bytes once_bytes;          /* arena without them */
    const ac_report_again *again; /* NULL: not of training, or the budget takes nothing */
    ac_bytes file_order_bytes;    /* arena in the file's order; 0: no other order was looked for */
    const ac_report_tensor *tensor;
    int32_t n_tensors;
    const ac_report_step *step;
    int32_t n_steps;
    const ac_report_launch *launch; /* in order, for a GPU */
    int32_t n_launches;             /* 0: another target */
    const ac_report_pass *pass;
    int32_t n_passes;
    const ac_report_cuts *cuts;       /* NULL: nothing was to be taken out */
    const ac_report_threads *threads; /* NULL: one thread */
    const ac_report_larger *larger;   /* the largest difference first */
    int32_t n_larger;
    const char *const *notes;
    int32_t n_notes;
    const ac_report_lower *lower;
    int32_t n_lower; /* other options; for the text */
    const ac_plan *other;
    int32_t n_others; /* the plan of every strategy (ac_solve_each), to compare in the page; needed for it only */
} ac_report;

void ac_report_text(ac_sink *to, const ac_report *r, int verbose, bool color); /* docs/reports.md; verbose 0..2 */
void ac_report_json(ac_sink *to, const ac_report *r, const ac_diags *diags); /* schema arenac-report/1; r may be NULL */
void ac_report_md(ac_sink *to, const ac_report *r);                          /* a table for a merge request */
void ac_report_dot(ac_sink *to, const ac_report *r);   /* the graph, steps as boxes, tensors as edges */
void ac_report_curve(ac_sink *to, const ac_report *r); /* of r->again: bytes against work, as a part of a page */
void ac_report_svg(ac_sink *to, const ac_report *r);   /* time x address as an image, no script */
void ac_report_html(ac_sink *to, const ac_report *r);  /* the same, searchable, in one file */
/* peak.c - the live items of a step: one row per item, largest first. `tensor` is the row of its root tensor, or -1 if
 * it is not a tensor (an item of a CSV problem, scratch). */
typedef struct ac_report_alive {
    int32_t item, tensor;
    ac_bytes bytes; /* occupied in this step: less than the size inside a gap */
} ac_report_alive;
/* `mem`: a memory. */
const ac_report_alive *ac_report_alive_at(ac_ctx *cx, const ac_report *r, int32_t mem, ac_step step, int32_t *n);
/* Bytes of a memory in use in a step: fewer than are alive where results overlap operands. */
ac_bytes ac_report_used_at(ac_ctx *cx, const ac_report *r, int32_t mem, ac_step step);

/* memories.c - figures of each memory of a plan, and of all of them. */
/* Sets r->memory, r->peak and r->live_bound if the plan may use several memories for tensors; else does nothing. */
void ac_report_memories(ac_ctx *cx, ac_report *r);
/* By step, n of them: bytes of a memory that are alive; -1: of all that hold tensors. */
ac_bytes *ac_report_live(ac_ctx *cx, const ac_report *r, int32_t mem, int32_t n);
ac_bytes ac_report_bytes(const ac_report *r);               /* of all memories of tensors: the arena, if it is one */
ac_bytes ac_report_lower_bound(const ac_report *r);         /* of the same: the best one known */
int64_t ac_report_slow(const ac_report *r);                 /* bytes of a run that other memories than the first move */
ac_bytes ac_report_bound_of(const ac_report *r, int32_t m); /* of one of them */
ac_step ac_report_peak_of(const ac_report *r, int32_t m);   /* the step with most of it alive */
bool ac_report_is_intervals(const ac_report *r);            /* a problem of intervals, without a model */
double ac_report_percent(ac_bytes part, ac_bytes whole);    /* 100 * part / whole; 0 for an empty whole */
/* E0401 naming the tensors alive at the peak and what would help. AC_FAIL. */
int ac_report_over_budget(ac_ctx *cx, const ac_report *r);
/* Adds to an E0401 of memory 0 that no plan and no option avoids: the part of the model that must change. AC_FAIL. */
int ac_report_help_smaller(ac_ctx *cx, const ac_report *r);

#endif
