/* run.h - runs the graph passes: the rows of passes.def, in their order. */
#ifndef AC_IR_PASS_RUN_RUN_H
#define AC_IR_PASS_RUN_RUN_H
#include "ir/pass/pass.h"

typedef struct ac_pass_time {
    const char *name;
    double ms;
    int32_t changed;
} ac_pass_time;

/* The name of row i, in the order in which they run; NULL past the last one. */
const char *ac_pass_name(int32_t i);

/* Runs the array. *time: one row for each pass that ran (context's region). Unknown names in the options: E0501. */
int ac_pass_run(ac_ctx *cx, ac_graph *g, const ac_pass_options *opt, const ac_pass_time **time, int32_t *n_time);

#endif
