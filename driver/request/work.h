/* work.h - one compilation: its request, the values made so far, and its memory, open files and session.
 *
 *     ac_work *one = ac_work_like(w, AC_AS_PART);         a variant: the same options, except those of the column own
 *     one->opt.bn = AC_OPT_BN_FROZEN;                       changed values, until the first stage
 *     int status = ac_guard(one, stage, &arg);              running out of memory becomes E0402
 *     ac_work_diags(w, one);                                its diagnostics are w's as well
 *     ac_work_close(one);                                   or with w
 *
 * A variant borrows the files that its parent has mapped, and reports progress in its place. */
#ifndef AC_DRIVER_WORK_H
#define AC_DRIVER_WORK_H
#include "driver/request/made.h"

typedef struct ac_work {
    ac_ctx cx;
    struct ac_progress progress; /* cx.progress, but for a variant: that of its parent */
    ac_options opt;              /* changed until the first stage */
    size_t memory_here;          /* bytes that the process may use; 0: unknown (memory.h) */
    ac_request request;
    ac_source source;
    ac_inputs inputs;
    ac_made made;
    ac_pending out;
    ac_session session; /* after load */
    ac_session evaluator;
    bool loaded;                              /* the session is open */
    bool changed;                             /* the verb diff found a difference, for the exit status */
    struct ac_work *parent, *child, *sibling; /* variants end with their parent */
} ac_work;

/* A context with default options. AC_FAIL: no memory. */
int ac_work_start(ac_work *w);
/* Closes all that w and its variants own. */
void ac_work_end(ac_work *w);

/* A new compilation with the options of w, except those that `as` does not inherit. */
ac_work *ac_work_like(ac_work *w, ac_variant as);
void ac_work_close(ac_work *variant);                   /* NULL is fine */
void ac_work_diags(ac_work *w, const ac_work *variant); /* adds the diagnostics of a variant to w's */
void ac_work_take_diags(ac_work *w, ac_work *variant);  /* the same, and the variant has none then */

/* Limits of memory and diagnostics by the options. */
void ac_work_limits(ac_work *w);
int ac_work_exit(const ac_work *w); /* exit status of the command */

/* Runs f(w, arg) so that running out of memory inside comes back as E0402. Guards nest. */
typedef int ac_work_fn(ac_work *w, void *arg);
int ac_guard(ac_work *w, ac_work_fn *f, void *arg);

#endif
