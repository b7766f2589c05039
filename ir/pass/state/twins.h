/* twins.h - a graph whose caches grow (--state), and the same model for other lengths of them: which of its values
 * depend on the length. twins.c compares, lengths.c computes these values from the position.
 *
 *     x = the operand of a node in all graphs;  x.t[AC_HERE] is the graph's own
 *     if (ac_twin_depends(l, &x)) ..                         */
#ifndef AC_IR_PASS_STATE_TWINS_H
#define AC_IR_PASS_STATE_TWINS_H
#include "ir/pass/state/cache_rows.h"
#include "ir/pass/state/other_lengths.h"
#include "ir/pass/state/state.h"

/* The graph itself; the same model again, with constants folded; the model for a row more or fewer, folded too. */
enum { AC_HERE, AC_NOW, AC_OTHER, AC_TWINS };

typedef struct ac_twin {
    ac_tensor *t[AC_TWINS];
} ac_twin;

struct ac_lengths {
    ac_ctx *cx;
    ac_graph *g;
    ac_region *tmp;
    ac_row_walk *rows;
    const ac_other_lengths *from;
    int64_t rows_before;      /* rows of the caches of g */
    int64_t more;             /* additional rows of the caches of the other model: 1 or -1 */
    ac_node **node[AC_TWINS]; /* before g changes */
    const ac_graph *graph[AC_TWINS];
    bool *constant;        /* by tensor of g: independent of inputs */
    bool *depends;         /* by tensor of g: may depend on the length */
    int32_t n_tensors;     /* of g, before it changes */
    int32_t depth;         /* of the recursion: constants that are being recomputed */
    const ac_node *reader; /* the current node, for messages */
    ac_tensor *position;   /* i32 [1] */
    ac_tensor *as[2][2];   /* position as i32 or i64, [1] or []; NULL: not needed so far */
    AC_VEC(ac_twin) known; /* AC_HERE: a constant; AC_NOW: the tensor with its value in each run */
};

bool ac_lengths_constant(const ac_lengths *l, const ac_tensor *t);
/* The node that a constant was computed by; NULL: unknown. */
const ac_node *ac_twin_maker(const ac_tensor *t);
/* Operand i of the nodes that made x. false: some have no such operand. */
bool ac_twin_operand(const ac_twin *x, int32_t i, ac_twin *o);
/* True if a constant may differ for another length. Large ones are not computed to find out. */
bool ac_twin_depends(const ac_lengths *l, const ac_twin *x);
/* The dimension in which two shapes differ; -1: they are equal. false: they differ in several. */
bool ac_twin_axis(const ac_tensor *a, const ac_tensor *b, int32_t *axis);
/* True if it is the same for all lengths, except for one more element per row. known: its values could be computed. */
bool ac_twin_same(const ac_lengths *l, const ac_twin *x, bool *known);
/* Integers that grow linearly with the length: their values, and their growth per row (in l->tmp); NULL: not integers,
 * or not linear. */
const int64_t *ac_twin_even(const ac_lengths *l, const ac_twin *x, const int64_t **slope);
/* True if the constant of this name has the same value for shorter lengths (slope NULL), or one that is smaller in
 * proportion. A constant that is missing there is not computed from a length. */
bool ac_twin_agrees(const ac_lengths *l, const ac_tensor *t, const int64_t *slope);

#endif
