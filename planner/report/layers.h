/* layers.h - the layer table: a row for each layer of a model, or step of a plan, with its short name, operator,
 * result, bytes, weights and multiply-adds; what is alive, of a plan; and what it took, where that was measured. show,
 * plan -v, --emit md, and bench and train with --per-op print it.
 *
 *     ac_layers_text(&sink, &(ac_layers){.step = r->step, .n = r->n_steps, .planned = true});
 *
 * Columns are as wide as their cells; what is not known is "?", and a measured share is that of the sum. Memory: the
 * context's region. Cost: O(n), and that of short names (names.h). */
#ifndef AC_PLANNER_REPORT_LAYERS_H
#define AC_PLANNER_REPORT_LAYERS_H
#include "planner/report/report.h"

typedef enum ac_layer_unit { AC_LAYER_NONE, AC_LAYER_MS, AC_LAYER_INSTRUCTIONS } ac_layer_unit;

/* The least time that a machine takes for a step, by what it attains. */
typedef struct ac_layer_bound {
    double peak;    /* multiply-adds of a ms; 0: not known, or the step has none */
    double ms;      /* 0: not known */
    const char *by; /* what takes so long: "compute", "L2", "memory"; NULL: not known */
} ac_layer_bound;

typedef struct ac_layers {
    const ac_report_step *step;
    int32_t n;
    const struct ac_name_list *names; /* short ones of the whole report; NULL: of these steps alone */
    bool planned;                     /* live and scratch are those of a plan */
    const double *cost;               /* n: what each took, in `unit`; not read where that is AC_LAYER_NONE */
    ac_layer_unit unit;
    const ac_layer_bound *bound; /* n: with AC_LAYER_MS; NULL: not known */
} ac_layers;

/* Lines of text, the first of them the titles. */
void ac_layers_text(ac_sink *to, const ac_layers *l);

#endif
