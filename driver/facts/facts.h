/* facts.h - numbers about a model and its plan, as plain data for planner/report.
 *
 *     ac_report *r = ac_facts_model(&made);           the report of a model's plan
 *     ac_facts_what_if(&made);                        adds what other options would save, if it is not known yet
 *
 * Memory: the context's region. Nothing here fails. */
#ifndef AC_DRIVER_FACTS_H
#define AC_DRIVER_FACTS_H
#include "driver/request/made.h"

/* facts.c: the part of a report that every plan has. */
ac_report *ac_facts_open(const ac_made *a, const ac_packed *packed, const char *format, const char *target);
bool ac_facts_over_budget(const ac_packed *packed);
/* The n steps become the report's, with the bytes alive in each. */
void ac_facts_steps(ac_ctx *cx, ac_report *r, ac_report_step *step, int32_t n);
/* The n rows become the report's, with the steps that read each; `read` is in order of steps. */
typedef struct ac_facts_read {
    int32_t row, step;
    bool by_view; /* the step reads a view of it */
} ac_facts_read;
void ac_facts_reads(ac_ctx *cx, ac_report *r, ac_report_tensor *row, int32_t n, const ac_facts_read *read,
                    int32_t n_reads);
/* `more` follows the bytes that another order saves. */
const char *ac_facts_order_note(ac_ctx *cx, const ac_plan_found *found, const ac_plan *plan, const char *more);

/* facts_model.c: the report of a planned model. */
ac_report *ac_facts_model(const ac_made *a);
void ac_facts_what_if(const ac_made *a);
/* Instructions of a run, estimated from the loops, whose bounds may depend on data. */
double ac_facts_instructions(const ac_planned *p);
/* Planning again with other options takes no noticeable time, or -v requests it. */
bool ac_facts_try(const ac_made *a);
/* Distinct constants that steps read, state excluded; *n: their number. */
ac_bytes ac_constant_bytes(ac_region *region, ac_lowered *const *step, int32_t n_steps, int32_t *n);

/* facts_layers.c */
/* "TFLite v3, i8": the format, and the types of the inputs, or of the outputs of a model without inputs. */
const char *ac_facts_title(const ac_made *a, const ac_graph *g);
/* A node as a row of the layer table; the caller adds macs and figures of a plan. */
ac_report_step ac_facts_layer(ac_ctx *cx, const ac_node *n);
/* The model as it was read: a row for each operator of the file, *n of them; (*layer_of)[i] is the row of node i.
 * macs: all shapes are known. */
ac_report_step *ac_facts_layers(const ac_made *a, bool macs, int32_t **layer_of, int32_t *n);

void ac_facts_threads(const ac_made *a, ac_report *r); /* facts_threads.c */
void ac_facts_notes(const ac_made *a, ac_report *r);   /* facts_notes.c */
/* facts_notes.c: true if --ahead matters; *off: its products are in loops. */
bool ac_facts_has_ahead(const ac_made *a, bool *off);

#endif
