/* twins.h - a graph whose caches grow (--state), and the same model for other lengths of them: what of it depends
 * on the length. Between twins.c, which compares, and lengths.c, which has it computed of the position.
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
    int64_t rows_before;      /* a run, for which there is room */
    int64_t more;             /* rows that the other model has room for besides: 1 or -1 */
    ac_node **node[AC_TWINS]; /* as they were at first */
    const ac_graph *graph[AC_TWINS];
    bool *constant;        /* by tensor of g: nothing of it depends on inputs */
    bool *depends;         /* .. on the length, perhaps */
    int32_t n_tensors;     /* of g, at first */
    int32_t depth;         /* of what is made again at the moment */
    const ac_node *reader; /* the node at hand, for messages */
    ac_tensor *position;   /* i32 [1] */
    ac_tensor *as[2][2];   /* position as i32 or i64, [1] or []; NULL: not made yet */
    AC_VEC(ac_twin) known; /* AC_HERE: a constant; AC_NOW: what it is in each run */
};

bool ac_lengths_constant(const ac_lengths *l, const ac_tensor *t);
/* The node that a constant is of; NULL: none is known. */
const ac_node *ac_twin_maker(const ac_tensor *t);
/* Operand i of the nodes that made x. false: not all have it. */
bool ac_twin_operand(const ac_twin *x, int32_t i, ac_twin *o);
/* May a constant be another one for another length? Large ones are not computed for that. */
bool ac_twin_depends(const ac_lengths *l, const ac_twin *x);
/* The dimension in which two shapes differ; -1: none. false: there are several. */
bool ac_twin_axis(const ac_tensor *a, const ac_tensor *b, int32_t *axis);
/* Is it the same for all lengths, but for an element more for each row? known: its values could be computed. */
bool ac_twin_same(const ac_lengths *l, const ac_twin *x, bool *known);
/* Whole numbers that grow evenly with the length: their values, and by how much they grow with a row (in l->tmp); NULL:
 * they are no whole numbers, or do not. */
const int64_t *ac_twin_even(const ac_lengths *l, const ac_twin *x, const int64_t **slope);
/* Do shorter lengths agree, in which a constant of this name is what it is here (slope NULL), or is less? What no
 * constant there is named after was not computed of a length. */
bool ac_twin_agrees(const ac_lengths *l, const ac_tensor *t, const int64_t *slope);

#endif
