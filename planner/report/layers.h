/* layers.h - the layer table: a row for each layer of a model, or step of a plan, with its short name, operator,
 * result, bytes, weights and multiply-adds; live bytes, for a plan; and its cost, if that was measured. Printed by
 * show, plan -v, --emit md, and bench and train with --per-op.
 *
 *     ac_layers_text(&sink, &(ac_layers){.step = r->step, .n = r->n_steps, .planned = true});
 *
 * Columns are as wide as their cells; an unknown value is "?", and a measured share is a share of the sum. Memory: the
 * context's region. Cost: O(n), and that of short names (names.h). */
#ifndef AC_PLANNER_REPORT_LAYERS_H
#define AC_PLANNER_REPORT_LAYERS_H
#include "planner/report/report.h"

typedef enum ac_layer_unit { AC_LAYER_NONE, AC_LAYER_MS, AC_LAYER_INSTRUCTIONS } ac_layer_unit;

/* A lower bound of the time of a step, from the rates that the machine attains. */
typedef struct ac_layer_bound {
    double peak;    /* multiply-adds of a ms; 0: not known, or the step has none */
    double ms;      /* 0: not known */
    const char *by; /* the limiting resource: "compute", "L2", "memory"; NULL: unknown */
} ac_layer_bound;

typedef struct ac_layers {
    const ac_report_step *step;
    int32_t n;
    const struct ac_name_list *names; /* short ones of the whole report; NULL: of these steps alone */
    bool planned;                     /* live and scratch are those of a plan */
    const double *cost;               /* n: the cost of each, in `unit`; not read for AC_LAYER_NONE */
    ac_layer_unit unit;
    const ac_layer_bound *bound; /* n: with AC_LAYER_MS; NULL: not known */
} ac_layers;

/* Lines of text, the first of them the titles. */
void ac_layers_text(ac_sink *to, const ac_layers *l);

#endif
