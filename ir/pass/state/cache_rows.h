/* cache_rows.h - follows the rows of a cache (--state) through the graph: their dimension in each tensor, as long as
 * each element depends on elements of its own row alone.
 *
 *     w.of[cache->id] = (ac_rows_at){.axis = 2};
 *     if (ac_rows_read(&w, n) && ac_rows_follow(&w, n, &to))         in the order of the graph
 *         w.of[n->out[0]->id] = to;
 *
 * grow.c follows invalid rows, ring.c rows in another order. */
#ifndef AC_IR_PASS_STATE_CACHE_ROWS_H
#define AC_IR_PASS_STATE_CACHE_ROWS_H
#include "ir/pass/passes.h"

typedef struct ac_rows_at {
    int32_t axis; /* the dimension of the rows; -1: the tensor has no rows */
    bool zero;    /* elements of invalid rows are 0 */
} ac_rows_at;

typedef struct ac_row_walk {
    ac_ctx *cx;
    ac_region *tmp;
    ac_rows_at *of; /* by tensor; tensors from n on have no rows */
    int32_t n;
} ac_row_walk;

ac_row_walk ac_rows_open(ac_ctx *cx, const ac_graph *g, ac_region *tmp);
ac_rows_at ac_rows_of(const ac_row_walk *w, const ac_tensor *t);     /* t may be NULL */
void ac_rows_set(ac_row_walk *w, const ac_tensor *t, ac_rows_at at); /* t may be newer than the walk */
bool ac_rows_read(const ac_row_walk *w, const ac_node *n);           /* an operand of n has rows */
/* The rows of n's operands in its result. false: they are not along a dimension of it, or n reads all rows as if they
 * were valid. */
bool ac_rows_follow(const ac_row_walk *w, const ac_node *n, ac_rows_at *to);

#endif
