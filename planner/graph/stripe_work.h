/* stripe_work.h - shared by the files that build a group of steps; others include stripe_group.h.
 *
 *     stripe_group.c   tensors, units, reads and their order
 *     stripe_window.c  the stored part of each tensor, bytes shared by windows
 *     stripe_lower.c   parameters, then the new function */
#ifndef AC_PLANNER_GRAPH_STRIPE_WORK_H
#define AC_PLANNER_GRAPH_STRIPE_WORK_H
#include "planner/graph/stripe_group.h"

enum { AC_STRIPE_PARAMS = 120 }; /* C99 promises 127 parameters */

typedef struct ac_stripe_work {
    ac_stripes *v;
    ac_region *r;
    ac_stripe_group *q;
    int32_t n;          /* steps */
    int32_t n_filled;   /* tensors that units 0 .. copy from outside; they are the first in ac_stripe.tensor */
    int32_t *unit_of;   /* by step - begin */
    int32_t *place;     /* by step - begin: its member */
    ac_tensor **tensor; /* by ac_stripe.tensor */
    int32_t *maker;     /* ... step - begin, -1: rows come from outside */
    int32_t *maker_buf; /* ... buffer of its loops */
    bool strict;        /* a step that looks ahead in another unit's rows does not join */
    bool refused;       /* strict made a difference */
} ac_stripe_work;

static inline const ac_stripe_form *ac_stripe_work_form(const ac_stripe_work *w, int32_t k)
{
    const int32_t s = w->q->begin + k;
    return &w->v->form[w->v->way[s]][s];
}

/* True if both are the same tensor, maybe with some of its columns. */
static inline bool ac_stripe_is_same(const ac_stripe_work *w, const ac_tensor *a, const ac_tensor *b)
{
    return a == b || (w->v->strip && a && b && a->id == b->id);
}

static inline ac_tensor *ac_stripe_tensor_of(const ac_lowered *low, int32_t a)
{
    return a < low->arg.n && low->arg.item[a].kind == AC_ARG_TENSOR ? low->arg.item[a].tensor : NULL;
}

/* stripe_narrow.c: a step for the columns of v->strip; NULL: it cannot be split. */
const ac_node *ac_stripe_narrow(const ac_stripes *v, const ac_node *n, ac_stripe_form *form);
int64_t ac_stripe_first_column(const ac_stripe_form *f, const ac_tensor *t); /* of t, that the step works on */

/* stripe_group.c */
int32_t ac_stripe_find(const ac_stripe_work *w, const ac_tensor *t);  /* in ac_stripe.tensor; -1: made outside */
bool ac_stripe_is_inner(const ac_stripe_work *w, const ac_tensor *t); /* no step outside of the group reads t */
int32_t ac_stripe_pixel_reader(const ac_stripe_work *w, int32_t i);   /* the unit that copies pixels of i; -1: none */
bool ac_stripe_drains(const ac_stripe_work *w, int32_t i);            /* tensor i: a unit copies its rows outside */
bool ac_stripe_in_rows(const ac_part *p, int32_t buf);                /* step s writes row s, all rows are equal */

/* stripe_window.c: kinds, homes, rows, rooms; the order of units. false: one of them waits for ever. */
bool ac_stripe_windows(ac_stripe_work *w, bool paired);

/* stripe_lower.c: parameters of the new function; false: too many. */
bool ac_stripe_buffers(ac_stripe_work *w, ac_bytes align);

/* stripe_cache.c: constants that the rows of the group read again: q->cached, and their bytes. false: they take more
 * than is allowed. */
bool ac_stripe_cache(const ac_stripes *v, ac_stripe_group *q, ac_bytes align, ac_region *region);

#endif
