/* run.h - runs the graph passes: the rows of passes.def, in their order.
 *
 * The list can be run in pieces, so that the caller changes or compares the graph between two passes:
 *
 *     ac_passes r;
 *     AC_TRY(ac_passes_open(&r, cx, g, &opt));
 *     AC_TRY(ac_passes_run(&r, AC_PASS_grow));       all passes before grow
 *     if (ac_passes_next(&r, AC_PASS_grow))          it is not skipped, and no earlier pass was the last one
 *         .. add nodes ..
 *     AC_TRY(ac_passes_run(&r, AC_N_PASSES));        the rest
 *
 * The graph is verified after each pass (ac_graph_verify), and compared with the column `changes` of its row. Passes
 * are timed, and can be skipped, stopped after and dumped by name. Errors: E0501 for unknown names in the options,
 * those of the passes, and E0901 for a pass that breaks a rule. */
#ifndef AC_IR_PASS_RUN_RUN_H
#define AC_IR_PASS_RUN_RUN_H
#include "ir/pass/pass.h"

typedef enum ac_pass_id {
#define PASS(name) AC_PASS_##name,
#define ON_REQUEST PASS
#define BY_CALLER  PASS
#include "ir/pass/passes_ids.def"
#undef PASS
#undef ON_REQUEST
#undef BY_CALLER
    AC_N_PASSES
} ac_pass_id;

typedef struct ac_pass_time {
    const char *name;
    double ms;
    int32_t changed;
} ac_pass_time;

typedef struct ac_passes {
    ac_ctx *cx;
    ac_graph *graph;
    const ac_pass_options *opt; /* the caller's, until the last pass has run */
    int32_t next;               /* row */
    bool over;                  /* opt->stop_after has run */
    bool channels_first;        /* the graph's operators have channels first: pass layout has not run */
    double since;               /* ms: when the pass before ended; the caller's work counts for the next one */
    int32_t nodes;              /* ... and the number of nodes then */
    ac_pass_time *time;         /* of each pass that has run, or had nothing to do; context's region */
    int32_t n_time;
} ac_passes;

int ac_passes_open(ac_passes *r, ac_ctx *cx, ac_graph *g, const ac_pass_options *opt);
int ac_passes_run(ac_passes *r, int32_t end);           /* the rows before `end` that have not run yet */
bool ac_passes_next(const ac_passes *r, ac_pass_id id); /* row `id` comes next, and will run */
int ac_pass_run(ac_passes *r, ac_ctx *cx, ac_graph *g, const ac_pass_options *opt); /* opens, and runs all */

const char *ac_pass_name(int32_t i);    /* of row i; NULL past the last one */
uint32_t ac_pass_changes(ac_pass_id i); /* AC_CHANGES_.. */

#endif
