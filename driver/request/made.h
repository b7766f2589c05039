/* made.h - the values of one compilation, from its files to its module. A stage reads those before it and adds its own:
 *
 *     read      ac_source, ac_imported  files, and the model in them            driver/stage/read.c
 *     check     ac_lowering             passes, then loops for every operator   driver/stage/check.c
 *     plan      ac_planned, ac_packed   order, live ranges, offsets             driver/stage/plan.c
 *     compile   ac_module               calls bound to offsets                  driver/stage/compile.c
 *     emit      outputs                 text                                    driver/emit/outputs.c
 *
 * A stage is a function of const ac_made that returns its own value; only driver/stage/stages.c puts it into the next
 * ac_made. So a value is made once, then only read; the exceptions are marked below. A file of intervals (intervals.c)
 * and a plan for TFLite Micro (tflm.c) have no graph: they go from the source straight to ac_packed, the input of
 * reports. */
#ifndef AC_DRIVER_MADE_H
#define AC_DRIVER_MADE_H
#include "arenac.h"
#include "base/file.h"
#include "base/progress.h"
#include "codegen/module.h"
#include "driver/request/pending.h"
#include "driver/request/request.h"
#include "driver/request/settings.h"
#include "host/npy.h"
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

/* The arrays that the user gives for inputs (--input), and the names of inputs that --const has made constants. Passes
 * move arrays: an input that became state has none, others are added. */
typedef struct ac_inputs {
    ac_npy *array; /* by position in the graph's inputs */
    bool *given;   /* NULL: not opened */
    int32_t n;
    bool moved;                  /* the passes have run */
    AC_VEC(ac_key_option) later; /* of inputs that the passes may add */
    AC_VEC(const char *) fixed;
} ac_inputs;

/* Results of the passes, besides the graph; the report has them. */
typedef struct ac_passed {
    const arenac_pass *row; /* those that ran, n of them */
    int32_t n;
    bool channels_first;              /* the operators of the graph have channels first: pass layout has not run */
    const struct ac_cuts *cuts;       /* pass channels; NULL: it did not run */
    const struct ac_state_pair *kept; /* pass state: --state */
    int32_t n_kept;
    const struct ac_storage *storage;   /* pass storage; NULL: floats are as in the file */
    const struct ac_products *products; /* pass integers; NULL: it did not run */
    const struct ac_ahead *ahead;       /* pass ahead; NULL: it did not run */
    struct ac_train_step *step;         /* --train: the step; NULL: inference */
    const char *guess;                  /* a --state that would fit the model; NULL: none */
} ac_passed;

typedef struct ac_lowering {
    ac_settings set;   /* the meaning of the options for the target */
    ac_graph *graph;   /* after the passes */
    ac_node **order;   /* of each step */
    ac_lowered **step; /* one for each node that needs code, in the file's order */
    int32_t n_steps;
    ac_passed passed;
} ac_lowering;

/* A plan of any problem. */
typedef struct ac_packed {
    const ac_problem *problem;
    const ac_plan *plan;
    const ac_result *row; /* the result of every strategy */
    int32_t n_rows;
    ac_solve_options search; /* the effort */
    ac_bytes budget;         /* of the first memory; -1: none */
} ac_packed;

struct ac_tflm;

typedef struct ac_made {
    /* for every stage: */
    ac_ctx *cx;            /* memory, names and diagnostics of this compilation */
    const ac_options *opt; /* those of the request */
    const ac_request *request;
    ac_pending *out;       /* outputs that are built on the way, such as those of --dump-after */
    struct ac_work *owner; /* opens variants: work.h */
    ac_session *evaluator; /* for one run of the evaluator at a time; closed with the compilation */
    /* values, NULL until their stage has run: */
    const ac_source *source;
    ac_imported *model;          /* read; the passes change its graph */
    ac_inputs *inputs;           /* opened after read; the passes move them */
    const ac_problem *intervals; /* read, in place of a model: a packing problem */
    const ac_lowering *lowering; /* check */
    const struct ac_tflm *tflm;  /* plan, for TFLite Micro */
    const ac_plan_how *how;      /* plan, of a graph */
    const ac_planned *planned;
    const ac_packed *packed; /* plan, of anything */
    ac_report *report;       /* plan; the savings of other options are added when it is printed */
    ac_module *module;       /* compile */
    const char *tested;      /* a line about the test of a compiler, for the report; NULL: not tested */
} ac_made;

#endif
