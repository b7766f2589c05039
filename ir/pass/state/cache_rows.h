/* cache_rows.h - the rows of a cache (--state), followed through the graph: along which dimension of each tensor they
 * are, as long as each element of it depends on the elements of its own row alone.
 *
 *     w.of[cache->id] = (ac_rows_at){.axis = 2};
 *     if (ac_rows_read(&w, n) && ac_rows_follow(&w, n, &to))         in the order of the graph
 *         w.of[n->out[0]->id] = to;
 *
 * grow.c asks where rows are that are not there yet, ring.c where rows lie in another order. */
#ifndef AC_IR_PASS_STATE_CACHE_ROWS_H
#define AC_IR_PASS_STATE_CACHE_ROWS_H
#include "ir/pass/passes.h"

typedef struct ac_rows_at {
    int32_t axis; /* of the tensor, along which the rows are; -1: it has none */
    bool zero;    /* what is missing is 0 */
} ac_rows_at;

typedef struct ac_row_walk {
    ac_ctx *cx;
    ac_region *tmp;
    ac_rows_at *of; /* by tensor; of those beyond n there are none */
    int32_t n;
} ac_row_walk;

ac_row_walk ac_rows_open(ac_ctx *cx, const ac_graph *g, ac_region *tmp);
ac_rows_at ac_rows_of(const ac_row_walk *w, const ac_tensor *t);     /* NULL has none */
void ac_rows_set(ac_row_walk *w, const ac_tensor *t, ac_rows_at at); /* also of one that is younger */
bool ac_rows_read(const ac_row_walk *w, const ac_node *n);           /* has an operand of n some? */
/* Where those of n's operands are in its result. false: they are in no dimension of it, or it reads all of them as if
 * they were there. */
bool ac_rows_follow(const ac_row_walk *w, const ac_node *n, ac_rows_at *to);

#endif
