/* stage.h - the stages of the journey: functions of the values before them (driver/request/made.h) that return one
 * value more.
 *
 *     ac_made m = w->made;
 *     AC_TRY(ac_check_model(&m, &m.lowering));          value in, value out
 *
 *     AC_TRY(ac_check(w));                              the same for a compilation: only the stages that have not run
 *
 * stages.c runs them in order for an ac_work. It is the only file that stores a value. Errors: AC_FAIL, with
 * diagnostics. Memory: the context's region. */
#ifndef AC_DRIVER_STAGE_H
#define AC_DRIVER_STAGE_H
#include "driver/request/work.h"

/* stages.c: each runs the stages before it that have not run yet. */
int ac_read(ac_work *w, const char *const *path, int32_t n);
int ac_open(ac_work *w, const char *const *path, int32_t n); /* the files alone */
int ac_read_any(ac_work *w);                                 /* the opened files: a model, or a table of intervals */
int ac_read_opened(ac_work *w);                              /* the opened files: a model */
int ac_check(ac_work *w);
int ac_check_hinted(ac_work *w, const ac_schedule *hints); /* checked before: the loops again, with a hint for each */
int ac_infer(ac_work *w);                                  /* the passes up to `infer` alone: for other formats */
int ac_plan_model(ac_work *w);
int ac_plan_any(ac_work *w); /* a model, intervals, or a plan for TFLite Micro */
int ac_compile(ac_work *w);
int ac_load(ac_work *w); /* makes the compiled model runnable on this machine */

/* read.c */
int ac_source_open(ac_ctx *cx, const char *const *path, int32_t n, ac_source *s);
const char *ac_source_sha256(ac_ctx *cx, const ac_source *s); /* of the model file, in hex */
int ac_read_model(const ac_made *a, ac_imported **out);       /* the graph; E0001 if the file has none */
int ac_read_constants(const ac_made *a);                      /* --const: inputs become constants */

/* check.c */
int ac_check_model(const ac_made *a, const ac_lowering **out);
int ac_lower_hints(const ac_made *a, const ac_schedule *hints, const ac_lowering **out);
int ac_infer_model(const ac_made *a);
bool ac_text_channels_first(const ac_made *a); /* for the text form: pass layout has not run */

/* dims.c: the values of --dim, in its order; the dimension `range` (NULL: none) has the value `value`. E0501 for an
 * expression of unknown dimensions, and for values below 0. */
int ac_dims_pins(ac_ctx *cx, const ac_opt_dims *dim, const ac_dim_option *range, int64_t value, struct ac_pin **pin);

/* state.c: the pairs of --state, and E0501; a --state that would fit the model, or NULL */
int ac_state_find(const ac_made *a, struct ac_state_pair **list, int32_t *n);
const char *ac_state_guess(const ac_made *a);
/* A variant without --state whose growing caches, of the n pairs kept, have `more` rows more. NULL: none grows, or no
 * --dim gives its size. */
ac_work *ac_state_longer(const ac_made *a, const struct ac_state_pair *kept, int32_t n, int64_t more);

/* plan.c, with the report; *out also has them if the plan is over its budget (AC_FAIL) */
int ac_plan_graph_of(const ac_made *a, ac_made *out);

/* compile.c */
int ac_compile_plan(const ac_made *a, ac_module **out);
/* --name, else the other name, as a lower-case C identifier; a warning if --name is not one. */
const char *ac_c_prefix(const ac_made *a, const char *otherwise);
int ac_check_weights(const ac_made *a);               /* E0019 when no file gives the values of parameters */
void ac_put_learning(const ac_made *a, ac_module *m); /* learning.c: m->learning, of a step of training */

/* intervals.c */
bool ac_intervals_look_like(const ac_made *a);
int ac_intervals_read(const ac_made *a, const ac_problem **out);
int ac_intervals_plan(const ac_made *a, ac_made *out);
/* For problems that arenac only plans (`what` describes them): refuses options that would change the plan (E0503), and
 * ignores those about operators with a warning; with `orders`, --schedule search works. */
int ac_refuse_options(const ac_made *a, const char *what, bool orders);

/* tflm.c */
bool ac_tflm_wanted(const ac_request *q);
int ac_tflm_plan(const ac_made *a, ac_made *out);
int ac_tflm_emit(const ac_made *a, const char *kind, ac_sink *to);
int ac_tflm_show(const ac_made *a, ac_sink *to); /* the plan stored in a TFLite file, if there is one */

#endif
