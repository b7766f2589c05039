/* lock.h - a plan as text, kept next to the model in version control, so that a change of the plan is a line in a
 * review.
 *
 *     arenac-lock 1
 *     model vww_96_int8.tflite
 *     planner search
 *     options -t%20generic            those given that change the plan; older locks do not have this line
 *     operators 31
 *     graph 5d0c...                   sha256 of the structure: operators, types, shapes, edges; no names, no weights
 *     memory arena 55296
 *     memory state 0
 *
 *     # name bytes memory offset first last
 *     t58 18432 arena 36864 0 1       sorted by name; steps are inclusive on both sides
 *
 * In names, blanks, control characters and '%' are written as %20 and so on. The file does not change with the version
 * of arenac, the machine or the order of the tensors in the model.
 *
 *     ac_lock *now = ac_lock_of(cx, report), *then;
 *     AC_TRY(ac_lock_read(cx, "vww.lock", text, n, &then));
 *     AC_TRY(ac_lock_check(cx, then, now));              E0602 naming what changed; exit 6
 *
 * Cost: O(n log n). Memory: the context's region. Errors: E0020 with line and column for a text that is not a lock. */
#ifndef AC_PLANNER_REPORT_LOCK_H
#define AC_PLANNER_REPORT_LOCK_H
#include "planner/report/report.h"

typedef struct ac_lock_row {
    const char *name, *mem;
    ac_bytes bytes, offset;
    ac_step first, last; /* both inclusive */
} ac_lock_row;

typedef struct ac_lock_mem {
    const char *name;
    ac_bytes bytes;
} ac_lock_mem;

typedef struct ac_lock {
    const char *file; /* where it was read from; NULL: made from a report */
    const char *model, *planner, *graph;
    const char *options; /* NULL: unknown */
    int32_t operators;
    ac_lock_mem *mem;
    int32_t n_mems;   /* the arena first */
    ac_lock_row *row; /* sorted by name */
    int32_t n;
} ac_lock;

/* How the rows of `b` differ from those of `a`. A tensor of another size counts as resized, not as moved. */
typedef struct ac_lock_delta {
    int32_t common, added, removed, resized, moved, relived;
    const ac_lock_row *largest, *largest_to; /* the largest moved tensor, before and after; NULL: none */
    bool same_graph, same_mems;
    bool same; /* nothing at all is different */
} ac_lock_delta;

ac_lock *ac_lock_of(ac_ctx *cx, const ac_report *r);
void ac_lock_write(ac_sink *to, const ac_lock *lock);
bool ac_lock_looks_like(const char *text, size_t n);
int ac_lock_read(ac_ctx *cx, const char *file, const char *text, size_t n, ac_lock **out);
ac_lock_delta ac_lock_compare(const ac_lock *a, const ac_lock *b);
/* The plan `now` against the lock: AC_OK, or E0602 with a line for each kind of change. */
int ac_lock_check(ac_ctx *cx, const ac_lock *locked, const ac_lock *now);

/* diff.c - arenac diff: its lines (docs/reports.md), a table for a merge request, or JSON (schema arenac-diff/1). */
void ac_lock_diff_text(ac_sink *to, const ac_lock *a, const ac_lock *b, bool verbose);
void ac_lock_diff_md(ac_sink *to, const ac_lock *a, const ac_lock *b);
void ac_lock_diff_json(ac_sink *to, const ac_lock *a, const ac_lock *b);
/* Short names of the rows (names.h), unique in both locks. */
const struct ac_name_list *ac_lock_names(ac_ctx *cx, const ac_lock *a, const ac_lock *b);
bool ac_lock_strangers(const ac_lock *a, const ac_lock *b); /* made from two models that have little in common */

#endif
