/* layout.h - private to pass layout: layout.c walks the graph, layout_rules.c says how each operator passes a transpose
 * on.
 *
 * A permutation p turns x into y = T_p(x): dimension d of y is dimension p[d] of x. */
#ifndef AC_IR_PASS_LAYOUT_H
#define AC_IR_PASS_LAYOUT_H
#include "ir/pass/passes.h"

typedef struct ac_layout {
    ac_ctx *cx;
    ac_graph *g;
    AC_VEC(ac_node *) order; /* the new execution order */
    ac_tensor **alias;       /* by tensor id below n_alias: what its readers are to read instead */
    int32_t n_alias;
    int32_t changed;
} ac_layout;

/* Y = T_perm(x) */
typedef struct ac_turn {
    ac_tensor *x;
    int32_t perm[AC_MAX_RANK];
} ac_turn;

/* Is t made by a transpose, and of what? Unfused, and no scale for each index of a dimension. */
bool ac_layout_turned(ac_layout *s, const ac_tensor *t, ac_turn *out);
/* z as an operand beside values of `rank` dimensions before T_p: z itself, reshaped and transposed back. Constants are
 * folded. */
ac_tensor *ac_layout_back(ac_layout *s, const ac_node *n, ac_tensor *z, int32_t rank, const int32_t *perm);
/* z in another shape, before n. Constants are folded. */
ac_tensor *ac_layout_reshaped(ac_layout *s, const ac_node *n, ac_tensor *z, int32_t rank, const int64_t *dim);

/* Rewrites n so that it computes in front of the transpose of its operand(s): its result y is then T_q(new result).
 * false: n stays as it is. q has y's rank. */
bool ac_layout_rule(ac_layout *s, ac_node *n, int32_t *q);

#endif
