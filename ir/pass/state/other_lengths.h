/* other_lengths.h - caches that grow (--state), and the model for other lengths of them: pass state compares the graph
 * with these, to find the constants that depend on the length. The caller prepares them before the pass:
 *
 *     ac_other_lengths l;
 *     ac_lengths_infer(&l, cx, g);                              after pass infer
 *     ac_lengths_find(&l, kept, n_kept);                        before pass state
 *     while (ac_lengths_next(&l, &want))
 *         ac_lengths_add(&l, &want, graph);                     of the model for that length; NULL: it has none
 *     opt.lengths = &l;                                         pass state folds constants of the graphs
 *
 * The lengths are: that of the graph, since constants are computed in the copy, not in the graph; a row more (or a row
 * less, if only then the model has the same operators); and, to distinguish a constant that grows evenly from one that
 * is cut off, half the rows, one row, and none. Memory: the context's region; the graphs are the caller's, until pass
 * state has run. */
#ifndef AC_IR_PASS_STATE_OTHER_LENGTHS_H
#define AC_IR_PASS_STATE_OTHER_LENGTHS_H
#include "ir/pass/pass.h"

typedef struct ac_length_want {
    int64_t more;  /* rows, besides those of the graph; negative: fewer */
    bool inferred; /* wanted as pass infer leaves it; else as pass state would get it */
    bool needed;   /* it is an error if the model cannot be compiled for this length */
} ac_length_want;

/* The constants of a graph after pass infer that have values, sorted by their names, which are unique. */
typedef struct ac_named_constants {
    const ac_tensor *item; /* copies: later passes change the tensors */
    int32_t n;
    int64_t less; /* rows that the caches have less than those of the main graph */
} ac_named_constants;

enum { AC_LENGTHS_FEW = 3 }; /* shorter lengths, at most */

typedef struct ac_other_lengths {
    ac_ctx *cx;
    const ac_graph *g;
    int64_t rows;  /* before a run, that the caches have room for; -1: none grows, or pass state will report an error */
    ac_graph *now; /* for the length of g */
    ac_graph *other; /* for a length that differs by `more`, 1 or -1; NULL: unknown */
    int64_t more;
    ac_named_constants named[1 + AC_LENGTHS_FEW]; /* of g, and of shorter lengths */
    int32_t n_named;
    int32_t step;     /* of ac_lengths_next */
    int64_t shortest; /* the largest .less wanted so far */
} ac_other_lengths;

void ac_lengths_infer(ac_other_lengths *l, ac_ctx *cx, const ac_graph *g);
void ac_lengths_find(ac_other_lengths *l, ac_state_pair *kept, int32_t n_kept); /* also sets kept[].axis, dim_name */
bool ac_lengths_next(ac_other_lengths *l, ac_length_want *want);
void ac_lengths_add(ac_other_lengths *l, const ac_length_want *want, ac_graph *graph);

/* The constant of this name; NULL: not found. */
const ac_tensor *ac_lengths_named(const ac_named_constants *list, const char *name);
/* The graphs have the same operators in the same order. */
bool ac_lengths_same_nodes(const ac_graph *g, const ac_graph *h);
/* The dimension along which `next` is `past` with more rows; -1: it is not, or another node reads `past` as well. */
int32_t ac_state_grows(const ac_graph *g, const ac_tensor *past, const ac_tensor *next);
/* The concatenation that makes `next` then; *axis: that dimension. NULL: it does not grow. */
ac_node *ac_state_grower(const ac_graph *g, const ac_tensor *past, const ac_tensor *next, int32_t *axis);

#endif
