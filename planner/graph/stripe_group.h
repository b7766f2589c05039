/* stripe_group.h - a run of steps as one function that works row by row (ir/loop/access/strip.h): units, windows,
 * bytes.
 *
 *     ac_stripes v;
 *     ac_stripes_open(&v, cx, how, region, from);
 *     ac_stripe_group q;
 *     if (ac_stripe_group_of(&v, 3, 8, how, tmp, &q))     steps 3 .. 7
 *         one = ac_stripe_lower(&v, &q);                   loops and arguments
 *
 * The steps are lowered again with the variant AC_VARIANT_ROWS, so that rows are outermost in their loops. A tensor
 * made and used up inside the group has no place in the arena besides its window; all others are whole. */
#ifndef AC_PLANNER_GRAPH_STRIPE_GROUP_H
#define AC_PLANNER_GRAPH_STRIPE_GROUP_H
#include "ir/loop/access/strip.h"
#include "planner/graph/planned.h"

/* How a step reads rows beyond those it needs, and how long the lines are that it gathers */
typedef enum ac_stripe_way { AC_STRIPE_LEAN, AC_STRIPE_WIDE, AC_STRIPE_LINE_1, AC_STRIPE_WAYS } ac_stripe_way;

/* Of a step */
typedef struct ac_stripe_form {
    ac_lowered *low; /* rows outermost */
    ac_part part;
    bool known, ok;
    const int32_t *narrow; /* in a strip: ids of the tensors that it reads or writes */
    const int64_t *from;   /* ... the first column of each */
    int32_t n_narrow;
} ac_stripe_form;

/* Some columns of a group's tensors, by tensor id: a strip computes columns fresh <= x < to, and its windows have
 * columns from <= x < to; the next strip reads those from `next` on again (next == to: none). */
typedef struct ac_stripe_strip {
    int64_t *from, *fresh, *to, *next;
    int64_t *pitch; /* the most columns that a strip leaves for the next one; 0: none */
} ac_stripe_strip;

/* A graph input that is streamed by rows: it has no place in the arena besides the window of the group that reads
 * it. */
typedef struct ac_stripe_streamed {
    ac_tensor *tensor; /* as its readers know it: itself, or a view of all of it; NULL: none */
    int64_t rows;
    int32_t first, last; /* steps that read it */
} ac_stripe_streamed;

typedef struct ac_stripe_how {
    ac_bytes align; /* of windows */
    bool paired;    /* windows share rooms where that takes less; more rows are moved */
} ac_stripe_how;

typedef struct ac_stripes {
    ac_ctx *cx;
    ac_region *region; /* of the forms and of the new steps */
    const ac_graph *g;
    ac_lowered *const *step;
    int32_t n_steps;
    const ac_liveness *live; /* of the steps as they are */
    const ac_target *target;
    bool exact;
    ac_stripe_form *form[AC_STRIPE_WAYS]; /* by step, made at first use */
    uint8_t *way;                         /* by step: the form that groups are built of; AC_STRIPE_LEAN at first */
    int32_t *made_at;                     /* by tensor id: step, -1: none */
    bool *viewed;                         /* by tensor id: it is a view, or has one */
    ac_stripe_streamed streamed;
    bool sums;                    /* sums over all rows may grow row by row */
    const ac_stripe_strip *strip; /* NULL: all columns */
    ac_bytes cache;               /* of copies of weights that a group makes in RAM; 0: none */
    const bool *copied;           /* by tensor id: groups copy its rows between its place and a window; NULL: none */
} ac_stripes;

typedef struct ac_stripe_group {
    int32_t begin, end; /* steps begin <= s < end */
    ac_stripe s;
    ac_arg *arg; /* of the parameters; members' scratch and windows are SCRATCH */
    int32_t n_args;
    int32_t *unit_of_tick;
    bool *cached;          /* by argument: a constant that is copied to RAM first */
    ac_bytes scratch;      /* all windows, pixels and members' scratch, each rounded up to `align` */
    ac_tensor **in, **out; /* from outside; needed outside, or by the caller */
    int32_t n_in, n_out;
    ac_tensor **tensor;           /* by s.tensor */
    struct ac_stripe_group *next; /* the strip of columns after this one, with the buffers of the first; NULL: none */
} ac_stripe_group;

/* `from` is packed; it and the region outlive everything made from v. */
void ac_stripes_open(ac_stripes *v, ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from);
/* The graph input, the largest one, that steps read only as rows of one tensor: v->streamed. false: none. */
bool ac_stripes_stream(ac_stripes *v);
const ac_stripe_form *ac_stripe_form_of(ac_stripes *v, int32_t step); /* in its way; ok: it may be in a group */
/* True if rows of t can be copied one by one: it has rows, *rows of them, and no views. */
bool ac_stripe_copyable(const ac_stripes *v, const ac_tensor *t, int64_t *rows);
/* True if only steps begin .. end - 1 use t. */
bool ac_stripes_is_inner(const ac_stripes *v, int32_t begin, int32_t end, const ac_tensor *t);
/* false: some step has no rows, or waits for ever. */
bool ac_stripe_group_of(ac_stripes *v, int32_t begin, int32_t end, ac_stripe_how how, ac_region *region,
                        ac_stripe_group *out);

/* stripe_narrow.c: room for n strips of a group's columns, and the columns of each; *stored: the bytes of halos that
 * they write and read in a run. false: some step cannot work on a part of its columns, or there are too few. */
ac_stripe_strip *ac_stripe_strips_new(ac_region *region, const ac_graph *g, int32_t n);
bool ac_stripe_split(const ac_stripes *v, int32_t begin, int32_t end, int32_t n, ac_stripe_strip *strip,
                     int64_t *stored);
/* stripe_strips.c: the group as strips of columns. All tensors from outside are copied. false: as above. */
bool ac_stripe_strips_of(ac_stripes *v, int32_t begin, int32_t end, int32_t n, ac_stripe_how how, ac_region *region,
                         ac_stripe_group *out);

ac_lowered *ac_stripe_lower(ac_stripes *v, ac_stripe_group *q); /* NULL: diagnostic */

#endif
