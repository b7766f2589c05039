/* stage.h - what each stage of the journey leaves for the next: a value, made once, then only read. For driver/ only.
 *
 *     read      ac_source, ac_imported  files, and the model in them            driver/stage/read.c
 *     check     ac_lowering             passes, then loops for every operator   driver/stage/check.c
 *     plan      ac_planned, ac_packed   order, lives, offsets                   driver/stage/plan.c
 *     compile   ac_module               calls bound to offsets                  driver/stage/compile.c
 *     emit      outputs                 text                                    driver/emit/outputs.c
 *
 * A file of intervals (intervals.c) and a plan for TFLite Micro (tflm.c) have no graph: they go from the source
 * straight to ac_packed, of which reports are made. Several models (several.c) are an arenac each, and one arena around
 * them. */
#ifndef AC_DRIVER_STAGE_H
#define AC_DRIVER_STAGE_H
#include "arenac.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/sink.h"
#include "codegen/module.h"
#include "driver/stage/extend.h"
#include "driver/stage/inputs.h"
#include "driver/options/options.h"
#include "driver/options/settings.h"
#include "host/session.h"
#include "import/import.h"
#include "planner/graph/planned.h"
#include "planner/report/report.h"

/* The files that the user named. They stay open: constants point into them. */
typedef struct ac_source {
    const char *path;      /* as the user wrote it */
    const char *base;      /* without folders */
    const char *stem;      /* base without its extension; "model" for standard input */
    ac_file file, weights; /* weights: empty unless there is a second file */
} ac_source;

typedef struct ac_lowering {
    ac_settings set;   /* what the options mean for the target */
    ac_graph *graph;   /* after the passes */
    ac_node **order;   /* of each step */
    ac_lowered **step; /* one for each node that needs code, in the file's order */
    int32_t n_steps;
    const arenac_pass *pass; /* those that ran */
    int32_t n_passes;
    bool channels_first;        /* the operators of the graph have channels first: pass layout has not run */
    const struct ac_cuts *cuts; /* what pass channels took out; NULL: it did not run */
} ac_lowering;

/* A plan of whatever problem. */
typedef struct ac_packed {
    const ac_problem *problem;
    const ac_plan *plan;
    const ac_result *row; /* what every strategy reached */
    int32_t n_rows;
    ac_solve_options search; /* what was spent on it */
    ac_bytes budget;         /* of the first memory; -1: none */
} ac_packed;

/* What a model is compiled for: files that the options request; a run on this machine, with the weights apart and a
 * descriptor; a Python module, whose inputs and outputs are the caller's. */
typedef enum ac_purpose { AC_FOR_FILES, AC_FOR_RUNNING, AC_FOR_PYTHON } ac_purpose;

struct ac_tflm;
struct ac_several;

struct arenac {
    ac_ctx cx;
    struct ac_progress progress; /* cx.progress, but for compilations that another one has begun: that one's */
    ac_options opt;
    const ac_options *stated; /* what generated code repeats: opt, or that of all models when this is one of several */
    ac_purpose purpose;
    const ac_schedule *hints; /* for each step, what its lowering should choose; NULL: its own choice */
    ac_source source;
    ac_imported *model;          /* after read: as the file has it */
    AC_VEC(const char *) fixed;  /* inputs that --const has made constants */
    const ac_problem *intervals; /* ... or a packing problem */
    const struct ac_tflm *tflm;  /* ... or a plan for TFLite Micro */
    struct ac_several *several;  /* ... or several models */
    const ac_lowering *lowering; /* after check */
    const ac_plan_how *how;      /* after plan, of a graph */
    ac_planned *planned;
    const ac_packed *packed; /* after plan, of anything */
    ac_report *report;
    const char *said;   /* what was found of the code, in a line for the report; NULL: nobody asked */
    ac_module *module;  /* after compile */
    ac_session session; /* after load; zero before */
    ac_session beside;  /* one that is open for a while: where memory runs out, it is closed with this */
    bool loaded;
    ac_inputs inputs;                 /* of run and bench */
    bool any_input;                   /* inputs that nobody gives are random */
    bool watched;                     /* of a run: a hook is called around steps; or options say so */
    bool for_tflm;                    /* planned as TFLite Micro runs it */
    bool changed;                     /* diff found something: the exit status says so */
    arenac *parent, *child, *sibling; /* compilations that this one has begun: they end with it */
    ac_extension extension;           /* what the graph becomes besides inference */
    struct ac_train_step *step;       /* --train: what the model became; NULL: it is itself */
    bool coded;                       /* --train: code is made, which has inference beside the step */
    bool says_written;                /* the files are listed once they appeared */
    const struct ac_state_pair *kept; /* --state: what pass state did */
    int32_t n_kept;
    const struct ac_storage *storage;   /* what pass storage did; NULL: floats are as in the file */
    const struct ac_products *products; /* what pass integers did; NULL: nothing was asked of it */
    const char *guess;                  /* what --state could say, for the report; NULL: nothing */
    bool trains;                        /* parameters of the file are weights that training changes */
    AC_VEC(ac_output) output;           /* built, not yet written */
    const char *folder;                 /* of -o FOLDER/: made when they are written; NULL: no output is for it */
};

static inline bool ac_has_caller_io(const arenac *a)
{
    return a->opt.host || a->purpose == AC_FOR_PYTHON;
}

/* Do weights change in what is compiled: a step of training? */
static inline bool ac_trains(const arenac *a)
{
    return a->trains || a->opt.train;
}

/* Runs f(a, arg) so that running out of memory inside comes back as E0402. Guards nest. */
typedef int ac_stage_fn(arenac *a, void *arg);
int ac_guard(arenac *a, ac_stage_fn *f, void *arg);

/* read.c */
int ac_read(arenac *a, const char *const *path, int32_t n);
int ac_source_open(arenac *a, const char *const *path, int32_t n); /* the files alone */
const char *ac_source_sha256(arenac *a);                           /* of the model file, in hex */
int ac_read_opened(arenac *a);                                     /* the model in them */
int ac_read_any(arenac *a);                                        /* ... or a table of lifetimes */
/* --name, else the other name, as a lower-case C identifier; a warning where --name is none. */
const char *ac_c_prefix(arenac *a, const char *otherwise);
int ac_read_model(arenac *a); /* the graph; E0001 where there is none in the file */
/* Pins open dimensions of an input to the shape of an array that the user gave: before check. */
void ac_shape_input(arenac *a, int32_t input, int32_t rank, const int64_t *dim);

/* check.c */
int ac_check(arenac *a);
int ac_check_hinted(arenac *a, const ac_schedule *hints); /* checked before: the loops once more, by a hint for each */
int ac_infer(arenac *a);                                  /* the passes up to `infer` alone: for other formats */
bool ac_text_channels_first(const arenac *a);             /* as the text form says it: pass layout has not run */

/* dims.c: what --dim gives, in its order, where the range is `value` (range NULL: there is none). E0501 for what is not
 * made of the others, and below 0. */
int ac_dims_pins(ac_ctx *cx, const ac_opt_dims *dim, const ac_dim_option *range, int64_t value, struct ac_pin **pin);

/* state.c: the pairs of --state, and E0501; and what --state could say of this model (arenac.guess) */
int ac_state_find(arenac *a, struct ac_state_pair **list, int32_t *n);
void ac_state_guess(arenac *a);
/* The same model without --state, its growing caches with room for so many rows more; it ends with a. NULL: none grows,
 * or no --dim says by how much. */
arenac *ac_state_longer(arenac *a, int64_t more);

/* plan.c */
int ac_plan_model(arenac *a);
int ac_plan_any(arenac *a); /* whatever was read */

/* compile.c */
int ac_compile(arenac *a);
int ac_prove_code(arenac *a);    /* audit.c: of what was compiled; E0702 or E0703 for what is wrong or not proven */
int ac_evidence(arenac *a);      /* evidence.c: the folder of --evidence, about the outputs that there are by now */
int ac_selftest_cc(arenac *a);   /* selftest_cc.c: E0601 where a compiler makes something else of what was compiled */
int ac_check_weights(arenac *a); /* E0019 when no file gives the values of parameters */
void ac_put_learning(arenac *a, ac_module *m); /* fills m->learning, of a step of training; else nothing */

/* facts.c: the report of a plan. What every plan has: */
ac_report *ac_facts_open(arenac *a, const ac_packed *packed, const char *format, const char *target);
void ac_facts_model(arenac *a);   /* all of it, of a model that was planned */
void ac_facts_what_if(arenac *a); /* what reductions that were not asked for would take */
/* Of what steps read that is no state: equal ones once; *n: how many there are. */
ac_bytes ac_constant_bytes(ac_region *region, ac_lowered *const *step, int32_t n_steps, int32_t *n);
int ac_facts_budget(arenac *a); /* E0401 when the plan is larger than --budget */
bool ac_facts_over_budget(const arenac *a);
bool ac_facts_try(const arenac *a); /* is it a matter of no time to plan once more with other options, or asked for? */
/* facts_layers.c: "TFLite v3, i8": the format, and the types of the inputs; of the outputs where there are none. */
const char *ac_facts_title(arenac *a, const ac_graph *g);
/* A node as a row of the layer table; macs and what a plan knows are left to the caller. */
ac_report_step ac_facts_layer(ac_ctx *cx, const ac_node *n);
/* The model as it was read: a row for each operator of the file, *n of them, whatever nodes it became; (*layer_of)[i]
 * is that of node i. macs: are all shapes known? */
ac_report_step *ac_facts_layers(arenac *a, bool macs, int32_t **layer_of, int32_t *n);
/* The n steps become the report's, with the bytes alive in each. */
void ac_facts_steps(arenac *a, ac_report_step *step, int32_t n);
void ac_facts_threads(arenac *a); /* facts_threads.c */
void ac_facts_notes(arenac *a);   /* facts_notes.c */
/* The n rows become the report's, with the steps that read each; `read` is in order of steps. */
typedef struct ac_facts_read {
    int32_t row, step;
    bool by_view; /* the step reads a view of it */
} ac_facts_read;
void ac_facts_reads(arenac *a, ac_report_tensor *row, int32_t n, const ac_facts_read *read, int32_t n_reads);
const char *ac_facts_order_note(arenac *a, const ac_plan_found *found, const char *more); /* `more` follows a win */

/* outputs.c */
ac_sink *ac_output_new(arenac *a, const char *path); /* an empty output, to be filled */
int ac_emit(arenac *a, const char *kind, const char *path);
/* A plan of CSV form says no memory: that is the only one. E0502 with several; what is pinned to others than RAM is not
 * in it. */
int ac_csv_possible(arenac *a);
int ac_write(arenac *a);
int ac_commit(arenac *a);
const char *ac_output_stem(arenac *a, const char *output); /* output without an extension that is one of a kind */
const char *ac_blob_path(arenac *a, const char *code);     /* of the weights beside a file of code */
bool ac_emits(const char *list, const char *kind);         /* is the kind in a list like --emit's? NULL: no */
void ac_report_put(arenac *a, ac_sink *to);                /* the report as text */

/* project.c: --emit zephyr, make ...: a folder for a build system */
bool ac_project_wanted(const arenac *a);
bool ac_project_is(const char *kind); /* is it such a folder? */
int ac_project_put(arenac *a, const char *kind, const char *folder);

/* written.c: --depfile, an output of its own; and the list of files, which commit prints where ac_write wants it */
void ac_depfile_put(arenac *a);
int ac_written_say(arenac *a, const ac_output *out, int32_t n);
/* With nothing on standard output so far: the document of --json about how it ended, instead of outputs that wait. */
int ac_written_json(arenac *a);

/* locks.c: --lock and --update-lock. E0602 when the plan is not the locked one. */
int ac_lock_plan(arenac *a);

/* intervals.c */
bool ac_intervals_look_like(const arenac *a);
int ac_intervals_read(arenac *a);
int ac_intervals_plan(arenac *a);
/* For plans of what arenac does not compile (`what` says how those are made): options that would change the plan are
 * refused (E0503), those about operators are ignored with a warning; with `orders`, --schedule search works. */
int ac_refuse_options(arenac *a, const char *what, bool orders);

/* tflm.c */
bool ac_tflm_wanted(const arenac *a);
int ac_tflm_plan(arenac *a);
int ac_tflm_emit(arenac *a, const char *kind, ac_sink *to);
int ac_tflm_show(arenac *a, ac_sink *to); /* the plan stored in a TFLite file, if there is one */

/* several.c */
bool ac_several_wanted(const arenac *a);
int ac_several_read(arenac *a, const char *const *path, int32_t n);
int ac_several_check(arenac *a);
int ac_several_plan(arenac *a);
int ac_several_compile(arenac *a);
int ac_several_write(arenac *a);
void ac_several_report(arenac *a, ac_sink *to);
bool ac_several_has_plan(const arenac *a);
/* A new arenac with the options of `a` but those named; it ends with `a`, or with arenac_close before. */
arenac *ac_open_like(arenac *a, const ac_option_id *without, int32_t n);

#endif
