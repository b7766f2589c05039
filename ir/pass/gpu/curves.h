/* curves.h - finds activations that are nodes of their own, and removes nodes that a pass has made superfluous. */
#ifndef AC_IR_PASS_GPU_CURVES_H
#define AC_IR_PASS_GPU_CURVES_H
#include "ir/graph/graph.h"

typedef struct ac_curve {
    ac_act act;      /* RELU, RELU6 or NONE */
    bool swish;      /* x sigmoid(x), as one node or two */
    bool clamp;      /* min(max(x, low), high), where NaN passes */
    float low, high; /* of it */
} ac_curve;

/* x, if t is such a function of x and has no other reader, else t. *readers: how many nodes then read x for t alone.
 * uses: readers by tensor id. */
ac_tensor *ac_before_curve(ac_ctx *cx, const int32_t *uses, ac_tensor *t, ac_curve *curve, int32_t *readers);
/* A reader of t has gone: nodes without a reader go as well. */
void ac_release(int32_t *uses, ac_tensor *t);

#endif
