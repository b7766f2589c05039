/* layout.h - private to pass layout: layout.c walks the graph, layout_rules.c moves a transpose past each kind of
 * operator, layout_turns.c has the transposes.
 *
 * A permutation p turns x into y = T_p(x): dimension d of y is dimension p[d] of x. */
#ifndef AC_IR_PASS_LAYOUT_H
#define AC_IR_PASS_LAYOUT_H
#include "ir/make/maker.h"
#include "ir/pass/passes.h"

typedef struct ac_layout {
    ac_ctx *cx;
    ac_graph *g;
    AC_VEC(ac_node *) order; /* the new execution order */
    ac_tensor **alias;       /* by tensor id below n_alias: the tensor that its readers read instead; NULL: itself */
    int32_t n_alias;
    int32_t changed;
} ac_layout;

/* Y = T_perm(x) */
typedef struct ac_turn {
    ac_tensor *x;
    int32_t perm[AC_MAX_RANK];
} ac_turn;

/* layout_turns.c: the permutation of a TRANSPOSE. false: invalid */
bool ac_layout_perm(ac_ctx *cx, const ac_node *n, int32_t *perm);
bool ac_layout_one_scale(const ac_tensor *t);                /* not a scale for each index of a dimension */
void ac_layout_place(ac_layout *s, ac_node *n);              /* next in the new order */
ac_maker ac_layout_maker(ac_layout *s, const ac_node *like); /* of nodes with the name and place of `like` */
/* The node of y, which a maker has just made: the caller puts it into the new order. */
ac_node *ac_layout_new(ac_layout *s, const ac_tensor *y);
/* t is the result of a transpose: *out. Unfused, and with one scale. */
bool ac_layout_turned(ac_layout *s, const ac_tensor *t, ac_turn *out);
/* z as an operand of an operator whose other operands have `rank` dimensions and come before T_p: z itself, reshaped
 * and transposed back. Constants are folded. */
ac_tensor *ac_layout_back(ac_layout *s, const ac_node *n, ac_tensor *z, int32_t rank, const int32_t *perm);
/* z in another shape, before n. Constants are folded. */
ac_tensor *ac_layout_reshaped(ac_layout *s, const ac_node *n, ac_tensor *z, int32_t rank, const int64_t *dim);

/* layout_rules.c: rewrites n so that it comes before the transpose of its operand(s): its result y is then T_q(new
 * result). false: n stays as it is. q has y's rank. */
bool ac_layout_rule(ac_layout *s, ac_node *n, int32_t *q);

#endif
