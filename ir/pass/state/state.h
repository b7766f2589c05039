/* state.h - between state.c, grow.c, turned.c and ring.c. */
#ifndef AC_IR_PASS_STATE_STATE_H
#define AC_IR_PASS_STATE_STATE_H
#include "ir/pass/passes.h"

/* n pairs for which ac_state_grows: past[i] gets the shape of next[i], and the graph an input `position` i32 [1], the
 * number of valid rows. g->output does not contain next[] any more. E0502 names a node that reads invalid rows.
 * lengths: the model for other lengths; NULL: unknown. */
int ac_state_grow(ac_ctx *cx, ac_graph *g, ac_tensor *const *past, ac_tensor *const *next, int32_t n,
                  const struct ac_other_lengths *lengths, const ac_tensor **position);

/* lengths.c: values that a graph computes from the length of its caches are computed from the position instead.
 *
 *     ac_lengths_open(cx, tmp, g, from, past, &rows, &l);       before g changes; *l NULL: other lengths are unknown
 *     ac_lengths_position(l, position);
 *     ac_lengths_node(l, i, &replaced);                         for each node that g had, in order
 *
 * rows_before: the length of the caches of g. New nodes are appended to g->node; if the caller empties it first and
 * appends each node after its call, they come before their readers. replaced: a new node replaces the node. AC_FAIL:
 * E0502, its use of the length cannot be expressed by the position. */
struct ac_row_walk;
typedef struct ac_lengths ac_lengths;
int ac_lengths_open(ac_ctx *cx, ac_region *tmp, ac_graph *g, const struct ac_other_lengths *from, int64_t rows_before,
                    struct ac_row_walk *rows, ac_lengths **out);
void ac_lengths_position(ac_lengths *l, ac_tensor *position); /* i32 [1] */
int ac_lengths_node(ac_lengths *l, int32_t at, bool *replaced);
int ac_lengths_outputs(const ac_lengths *l); /* E0502: one is a constant that depends on the length */

/* turned.c: a `next` that is a scatter into a transposed `state` becomes a scatter into `state`. */
int ac_state_turned(ac_ctx *cx, ac_graph *g, ac_tensor *state, ac_tensor *next);

/* ring.c: if `next` is `state` without its oldest rows, and new ones, it becomes an update of a ring, unless a node
 * needs the order of the rows. turn: a state for each ring (n_turns, at most n), followed by its next value. */
typedef struct ac_state_window {
    ac_tensor *state, *next;
    bool ring;              /* it is one now */
    const ac_node *ordered; /* NULL, or the node that needs the rows of a sliding window in order */
} ac_state_window;
int ac_state_ring(ac_ctx *cx, ac_graph *g, ac_state_window *window, int32_t n, ac_tensor **turn, int32_t *n_turns);

#endif
