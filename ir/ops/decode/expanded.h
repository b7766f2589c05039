/* expanded.h - EXPANDED_DEPTHWISE: a depthwise convolution of what a convolution of 1x1 computes, the first two thirds
 * of an inverted residual block.
 *
 *     x  f32 [N,H,W,C]
 *     v  f32 [E,1,1,C]        a [E] or left out: expanded values inner(v x + a); inner is an activation, swish, or
 *                             min(max(., low), high), where NaN passes. Without v they are x, and C is E
 *     w  f32 [1,KH,KW,E]      b [E] or left out: the filter of each expanded channel
 *     result f32 [N,OH,OW,E]
 *     sums f32 [N,T,1,E]      of the pixels of each of T tiles of tile_h x tile_w, as they are stored: another result,
 *                             if tile_h is given. Tiles go from left to right, then down
 *
 * Outside of x expanded values are zero. */
#ifndef AC_IR_OPS_DECODE_EXPANDED_H
#define AC_IR_OPS_DECODE_EXPANDED_H
#include "ir/graph/graph.h"
#include "ir/ops/decode/slide.h"

enum { AC_EXPANDED_X, AC_EXPANDED_W, AC_EXPANDED_B, AC_EXPANDED_V, AC_EXPANDED_A, AC_EXPANDED_OPERANDS };

typedef struct ac_expanded {
    ac_tensor *x, *v, *w, *a, *b; /* v, a, b: NULL: none */
    int64_t images, depth, channels;
    int64_t tile_h, tile_w, tiles_x, tiles; /* of the sums; 0: without them */
    ac_slide down, across;                  /* of the filter */
    bool swish;                             /* the inner function is one of many operations */
} ac_expanded;

/* Reads and checks attributes, types and shapes; AC_FAIL: reported. */
int ac_expanded_of(ac_ctx *cx, const ac_node *n, ac_expanded *out);

#endif
