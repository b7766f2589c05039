/* verbs.h - the verbs of the command line: from paths and options, through the stages, to outputs. The door
 * (driver/door/door.c) runs them in a guard. Each gives AC_OK, or AC_FAIL with a diagnostic, and leaves outputs for
 * ac_commit. */
#ifndef AC_DRIVER_VERBS_H
#define AC_DRIVER_VERBS_H
#include "driver/emit/emit.h"
#include "driver/stage/inputs.h"
#include "driver/stage/stage.h"

typedef int ac_verb_fn(ac_work *w, const char *const *path, int32_t n);

ac_verb_fn ac_check_verb;     /* show.c: check */
ac_verb_fn ac_run;            /* run.c: on this machine, compared with references */
ac_verb_fn ac_bench;          /* bench.c */
ac_verb_fn ac_python;         /* python.c */
ac_verb_fn ac_show;           /* show.c */
ac_verb_fn ac_audit;          /* audit.c: verify */
ac_verb_fn ac_prove_verb;     /* audit.c: prove */
ac_verb_fn ac_diff;           /* diff.c */
ac_verb_fn ac_convert;        /* convert.c */
ac_verb_fn ac_fit;            /* fit.c */
ac_verb_fn ac_targets;        /* lists.c */
ac_verb_fn ac_explain;        /* lists.c */
ac_verb_fn ac_list_operators; /* list_operators.c: ops */

/* convert.c: the model's graph as text, its large constants in a file next to it. */
int ac_write_text(ac_work *w, bool channels_first, const char *path);
int ac_tune(ac_work *w, const char *const *path, int32_t n); /* tune.c: bench --tune; w then uses the file it wrote */
/* open_outputs.c: outputs without a type or shape in the file get those of trials; nothing is reported */
void ac_open_outputs(ac_work *w, const char *const *path, int32_t n);
struct ac_layer_bound;
/* bounds.c: the bound of each step on this machine; NULL: not for this run. With --html, also the page of the session's
 * measurements, ms by step; E0502: the machine is unknown. */
int ac_layer_bounds(ac_work *w, const double *ms, double whole_ms, const struct ac_layer_bound **bound);
/* lists.c: the named values of an option. */
int ac_option_values(ac_ctx *cx, ac_option_id option, const char *const **name, int32_t *n);

#endif
