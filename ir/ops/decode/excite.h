/* excite.h - EXCITE: w2 act(w1 mean(x) + b1) + b2, the two small products of a squeeze-and-excitation block.
 *
 *     x   f32 [N,H,W,C]       its mean is taken over H and W
 *     w1  f32 [R,..,C]        b1 [R] or left out: sums of hidden values, then act: relu or swish
 *     w2  f32 [O,..,R]        b2 [O] or left out
 *     result f32 [N,1,1,O]
 *
 * Dimensions between the first and the last of w1 and w2 are 1.
 *
 * EXCITED_CONV_2D: a convolution of 1x1 of x times such values, after the logistic function if `logistic` is set.
 *
 *     x   f32 [N,H,W,C]       w [O,1,1,C], bias [O] or left out; result f32 [N,H,W,O]
 *     s   f32 [N,..,..,C]     sums of x over parts of its pixels: added and divided by H W, they are its mean
 *     w1, w2, b1, b2          as above, w2 [C,..,R] */
#ifndef AC_IR_OPS_DECODE_EXCITE_H
#define AC_IR_OPS_DECODE_EXCITE_H
#include "ir/graph/graph.h"

enum { AC_EXCITE_X, AC_EXCITE_W1, AC_EXCITE_W2, AC_EXCITE_B1, AC_EXCITE_B2, AC_EXCITE_OPERANDS };
enum {
    AC_EXCITED_X,
    AC_EXCITED_W,
    AC_EXCITED_S,
    AC_EXCITED_W1,
    AC_EXCITED_W2,
    AC_EXCITED_BIAS,
    AC_EXCITED_B1,
    AC_EXCITED_B2,
    AC_EXCITED_OPERANDS
};

typedef struct ac_excite {
    ac_tensor *x, *w1, *w2, *b1, *b2; /* b1, b2: NULL: none */
    int64_t images, pixels, channels, hidden, results;
    int64_t whole;              /* pixels of the mean; x has sums of `pixels` parts of them */
    bool relu, swish, logistic; /* of hidden values, of results */
} ac_excite;

/* Reads and checks attributes, types and shapes; AC_FAIL: reported. */
int ac_excite_of(ac_ctx *cx, const ac_node *n, ac_excite *out);
int ac_excited_of(ac_ctx *cx, const ac_node *n,
                  ac_excite *out); /* its x is s; the convolution's operands are checked */

#endif
