/* state.h - between state.c, grow.c, turned.c and ring.c. */
#ifndef AC_IR_PASS_STATE_STATE_H
#define AC_IR_PASS_STATE_STATE_H
#include "ir/pass/passes.h"

/* append.c: appends a node whose result is *y, a new tensor of this name. attrs: NULL for the defaults. */
int ac_state_make(ac_ctx *cx, ac_graph *g, ac_op op, const char *name, ac_tensor *const *in, int32_t n_in,
                  const ac_attrs *attrs, ac_tensor **y);
/* Of n pairs for which ac_state_grows: past[i] gets the shape of next[i], and the graph an input `position` i32 [1],
 * the number of rows that are there. g->output has none of next[] any more. E0502 names what reads rows that are
 * not. lengths: what depends on the room; NULL: not known. */
int ac_state_grow(ac_ctx *cx, ac_graph *g, ac_tensor *const *past, ac_tensor *const *next, int32_t n,
                  const struct ac_other_lengths *lengths, const ac_tensor **position);

/* lengths.c: what a graph computes of the length of its caches is computed of the position instead.
 *
 *     ac_lengths_open(cx, tmp, g, from, past, &rows, &l);       before g changes; *l NULL: nothing is known of lengths
 *     ac_lengths_position(l, position);
 *     ac_lengths_node(l, i, &replaced);                         for each node that g had, in order
 *
 * rows_before: the length for which g is. New nodes are appended to g->node, before what reads them if g is built up
 * again so. replaced: the node itself is one of them now. AC_FAIL: E0502, it computes of the length in a way that
 * cannot be computed of the position. */
struct ac_row_walk;
typedef struct ac_lengths ac_lengths;
int ac_lengths_open(ac_ctx *cx, ac_region *tmp, ac_graph *g, const struct ac_other_lengths *from, int64_t rows_before,
                    struct ac_row_walk *rows, ac_lengths **out);
void ac_lengths_position(ac_lengths *l, ac_tensor *position); /* i32 [1] */
int ac_lengths_node(ac_lengths *l, int32_t at, bool *replaced);
int ac_lengths_outputs(const ac_lengths *l); /* E0502: one is a constant that depends on the length */

/* turned.c: `next` that is made of a turned `state` by a scatter becomes a scatter into `state`; anything else
 * stays as it is. */
int ac_state_turned(ac_ctx *cx, ac_graph *g, ac_tensor *state, ac_tensor *next);

/* ring.c: `next` that is `state` without its oldest rows, and new ones, becomes an update of a ring, if nobody
 * needs the order of the rows. turn: of each ring (n_turns, at most n) a state, and its value in the next run. */
typedef struct ac_state_window {
    ac_tensor *state, *next;
    bool ring;              /* it is one now */
    const ac_node *ordered; /* it slides, and this node needs its rows in their order; NULL */
} ac_state_window;
int ac_state_ring(ac_ctx *cx, ac_graph *g, ac_state_window *window, int32_t n, ac_tensor **turn, int32_t *n_turns);

#endif
