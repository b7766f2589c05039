/* job.h - the inside of an arenac_job: what each stage of the journey leaves for the next. For arenac.c and cli/ only. */
#ifndef AC_DRIVER_JOB_H
#define AC_DRIVER_JOB_H
#include "arenac.h"
#include "base/file.h"
#include "base/sink.h"
#include "codegen/module.h"
#include "import/import.h"
#include "ir/pass/pass.h"
#include "planner/graph/live.h"
#include "planner/report/report.h"

struct arenac_job {
    ac_ctx cx;
    ac_options opt;
    const ac_target *target;
    const char *path;      /* the model as the user wrote it */
    const char *base;      /* the file's name without folders */
    const char *stem;      /* base without the extension; "model" for standard input */
    ac_file file, weights; /* weights: empty unless a second file was given */
    char sha256[65];
    ac_imported model;       /* as it was read */
    ac_graph *graph;         /* model.graph, changed by the passes */
    const ac_schedule *told; /* by step, what its lowering is told; NULL: nothing but the options */
    ac_lowered **step;       /* in execution order */
    int32_t n_steps;
    ac_lowered **lowered; /* the steps in the file's order, one for each node */
    int32_t n_lowered;
    ac_liveness *live;
    ac_plan plan;
    ac_order_result order;            /* of --schedule search */
    int32_t stripes;                  /* steps that are groups of steps */
    bool fed;                         /* an input is handed over by rows */
    ac_result row[AC_MAX_STRATEGIES]; /* what every strategy reached */
    int32_t n_rows;
    ac_report report;
    ac_module *module;
    AC_VEC(ac_output) output; /* built, not yet on disk */
    const ac_pass_time *pass; /* passes that ran */
    int32_t n_passes;
    int stage; /* 0 open, 1 read, 2 checked, 3 planned, 4 bound */
};

/* Pins the open dimensions of inputs to the shapes of arrays that the user gave (run): before arenac_check. */
int ac_job_shape_input(arenac_job *job, int32_t input, int32_t rank, const int64_t *dim);
/* Opens the file and sets path, base and stem; the stages that read it call this, and the first call does it. */
int ac_job_file(arenac_job *job, const char *path);

/* arenac.c: passes up to `infer` on a model that was read; refuses one whose weights are missing. */
int ac_job_infer(arenac_job *job);

/* job_options.c: what options mean for job->target. Those that it has no use for are ignored, with a warning. */
void ac_job_settle(arenac_job *job);
bool ac_job_is_gpu(const arenac_job *job);
int32_t ac_job_threads(const arenac_job *job); /* parts that a step is cut into */
int32_t ac_job_tensor(arenac_job *job);        /* --tensor-cores as lowerings are told */
void ac_job_note_winograd(arenac_job *job);    /* --winograd: which convolutions are left as they are, and why */
const char *ac_job_options(arenac_job *job);   /* as a command line: what generated files say they were made with */

/* job_plan.c: from `lowered` to step, live and plan, by the options; again from the start each time. */
int ac_job_plan(arenac_job *job);
/* job_price.c: adds to the last diagnostic (over the budget) what options not in use would take. */
void ac_job_price(arenac_job *job);
/* job_price.c: fills report.lower, what options not in use would take, each tried after the other. Of a large model they are named
 * and not tried, unless `all`. */
void ac_job_lower(arenac_job *job, bool all);
/* job_memory.c: the memories of --mem into *live; E0503 when the options contradict each other. */
int ac_job_memories(arenac_job *job, ac_live_options *live);
/* What --pin and --budget NAME= ask of job->live; E0503 when it cannot be. */
int ac_job_pin(arenac_job *job);
ac_bytes ac_job_budget(const arenac_job *job); /* of the first memory, -1: none */
/* Lives of the steps as they stand, packed and checked: live, plan, row. */
int ac_job_pack(arenac_job *job, ac_live_options live);
ac_solve_options ac_job_search(const arenac_job *job); /* what packing may spend, and what is enough */
bool ac_job_channels_first(const arenac_job *job);     /* as the text form says it: pass layout has not run */
bool ac_job_overlaps(const arenac_job *job);           /* do results start inside operands? */
/* job_recompute.c: step, live and plan become those with some steps run twice, if that takes less. */
int ac_job_recompute(arenac_job *job, ac_live_options live);
/* job_stripe.c: step, live and plan become those of the best groups of steps, if that takes less. */
int ac_job_stripe(arenac_job *job, ac_live_options live);

/* job_report.c: fills job->report. What every plan has, of whatever problem (kept, not copied): */
void ac_report_plan(arenac_job *job, const ac_problem *p, const char *format, const char *target);
void ac_report_model(arenac_job *job);  /* all of it, of a graph that has been planned */
int ac_report_compare(arenac_job *job); /* for the page: report.other, the plan of every strategy */
int ac_report_budget(arenac_job *job);  /* E0401 when the plan is larger than --budget */
/* The n steps become the report's, with the bytes alive in each. */
void ac_report_steps(arenac_job *job, ac_report_step *step, int32_t n);
/* The n rows become the report's, with the steps that read each; `read` is in order of steps. */
typedef struct ac_report_read {
    int32_t row, step;
} ac_report_read;
void ac_report_reads(arenac_job *job, ac_report_tensor *row, int32_t n, const ac_report_read *read, int32_t n_reads);
const char *ac_report_order_note(arenac_job *job,
                                 const char *more); /* what --schedule search won; `more` follows a win */

/* Writes text built elsewhere as one of the job's outputs. */
void ac_job_add_output(arenac_job *job, ac_sink *sink, const char *path);

/* All stages run inside this: running out of memory comes back here as E0402. Returns f's result or -1. */
int ac_job_guard(arenac_job *job, int (*f)(arenac_job *job, void *arg), void *arg);

#endif
