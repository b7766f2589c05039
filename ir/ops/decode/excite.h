/* excite.h - EXCITE: w2 act(w1 mean(x) + b1) + b2, the two small products of a squeeze-and-excitation block.
 *
 *     x   f32 [N,H,W,C]       its mean is taken over H and W
 *     w1  f32 [R,..,C]        b1 [R] or left out: sums of hidden values, then act: relu or swish
 *     w2  f32 [O,..,R]        b2 [O] or left out
 *     result f32 [N,1,1,O]
 *
 * Dimensions between the first and the last of w1 and w2 are 1. */
#ifndef AC_IR_OPS_DECODE_EXCITE_H
#define AC_IR_OPS_DECODE_EXCITE_H
#include "ir/graph/graph.h"

enum { AC_EXCITE_X, AC_EXCITE_W1, AC_EXCITE_W2, AC_EXCITE_B1, AC_EXCITE_B2, AC_EXCITE_OPERANDS };

typedef struct ac_excite {
    ac_tensor *x, *w1, *w2, *b1, *b2; /* b1, b2: NULL: none */
    int64_t images, pixels, channels, hidden, results;
} ac_excite;

/* Reads and checks attributes, types and shapes; AC_FAIL: reported. */
int ac_excite_of(ac_ctx *cx, const ac_node *n, ac_excite *out);

#endif
