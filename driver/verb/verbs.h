/* verbs.h - what a verb does between its paths and options and its outputs, besides the stages; arenac.c opens the
 * guard. Each gives AC_OK, or AC_FAIL with a diagnostic, and leaves outputs for ac_commit. */
#ifndef AC_DRIVER_VERBS_H
#define AC_DRIVER_VERBS_H
#include "driver/stage/stage.h"

typedef int ac_verb_fn(arenac *a, const char *const *path, int32_t n);

ac_verb_fn ac_check_verb;     /* show.c: check */
ac_verb_fn ac_run;            /* run.c: on this machine, compared with references */
ac_verb_fn ac_bench;          /* bench.c */
ac_verb_fn ac_python;         /* python.c */
ac_verb_fn ac_show;           /* show.c */
ac_verb_fn ac_audit;          /* audit.c: verify */
ac_verb_fn ac_prove_verb;     /* audit.c: prove */
ac_verb_fn ac_diff;           /* locks.c */
ac_verb_fn ac_convert;        /* convert.c */
ac_verb_fn ac_targets;        /* lists.c */
ac_verb_fn ac_explain;        /* lists.c */
ac_verb_fn ac_list_operators; /* list_operators.c: ops */

/* Runs a verb of a layer above inside the guard (door.c). */
int ac_verb_guard(arenac *a, ac_verb_fn *verb, const char *const *path, int32_t n);
int ac_load(arenac *a);                                     /* run.c: the compiled model is made runnable here */
int ac_tune(arenac *a, const char *const *path, int32_t n); /* tune.c: bench --tune; *a then uses the file it wrote */
/* open_outputs.c: outputs of which the file says no type or shape get what trials say; nothing is reported */
void ac_open_outputs(arenac *a, const char *const *path, int32_t n);
double ac_now_ms(void); /* bench.c */
struct ac_layer_bound;
/* bounds.c: what bounds each step on this machine; NULL: not for this run. With --html, also the page of what the
 * session measured, ms by step; E0502: nothing is known of the machine. */
int ac_layer_bounds(arenac *a, const double *ms, double whole_ms, const struct ac_layer_bound **bound);

#endif
