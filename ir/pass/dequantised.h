/* dequantised.h - real numbers that are computed from integers: (codes - zero) * scale, element by element.
 *
 *     ac_dequantised d;
 *     if (ac_dequantised_of(g, t, &d))         t is d.codes, cast, less d.zero, times d.scale, then moved
 *
 * zero and scale are constants of f32 with one number, or one for each index of one dimension of t. Nodes that
 * compute codes, zero and scale from constants are folded on the way. */
#ifndef AC_IR_PASS_DEQUANTISED_H
#define AC_IR_PASS_DEQUANTISED_H
#include "ir/graph/graph.h"

enum { AC_DEQUANTISED_MOVES = 4 };
typedef struct ac_dequantised {
    ac_tensor *codes, *zero, *scale;           /* zero NULL: 0 */
    const ac_node *move[AC_DEQUANTISED_MOVES]; /* reshapes and transpositions, from t towards the codes */
    int32_t n_moves;
    int32_t axis; /* of t, along which there are several scales; -1: there is one */
} ac_dequantised;

bool ac_dequantised_of(ac_graph *g, ac_tensor *t, ac_dequantised *d);

/* (x op c), c a constant of f32, without an activation: x; NULL: t is not that. */
ac_tensor *ac_dequantised_step(ac_graph *g, ac_tensor *t, ac_op op, ac_tensor **c);
/* The node that makes t, if it is of this operator and nothing is fused into it. */
ac_node *ac_made_by(const ac_tensor *t, ac_op op);
/* True for a constant that training does not change, and for NULL. */
bool ac_is_fixed(const ac_tensor *t);

#endif
