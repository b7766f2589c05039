/* reverse.h - the state of each tensor while ac_grad goes from the last node to the first. For ir/grad/ only. */
#ifndef AC_IR_GRAD_REVERSE_H
#define AC_IR_GRAD_REVERSE_H
#include "ir/grad/adjoint.h"

/* The share of a part of a tensor. */
typedef struct ac_share {
    ac_tensor *dx;
    int32_t axis, order; /* order: of the shares */
    int64_t begin;
} ac_share;

typedef struct ac_sum {
    bool needs;       /* depends on a wanted tensor */
    bool counts;      /* ... and an output with a cotangent depends on it: it has an adjoint */
    int32_t left;     /* readers that have not given their shares */
    ac_tensor *whole; /* the sum of the shares so far */
    AC_VEC(ac_share) part;
    ac_tensor *done;   /* complete; NULL: not complete, or no shares */
    ac_tensor *before; /* the adjoint of the value before the node's own activation; NULL: none, or not made yet */
} ac_sum;

typedef struct ac_reverse {
    ac_sum *sum; /* by tensor id; tensors that ac_grad itself makes have none */
    int32_t n;
    bool failed; /* an error was reported */
} ac_reverse;

/* The sum of all shares of t, computed when first needed; NULL: no shares. The nodes are a's. */
ac_tensor *ac_sum_complete(const ac_adjoint *a, const ac_tensor *t);
void ac_sum_add(const ac_adjoint *a, const ac_tensor *t, ac_tensor *dx);
/* dy * act'(x), y = act(x) */
ac_tensor *ac_before_act(const ac_adjoint *a, ac_act act, ac_tensor *y, ac_tensor *dy);

#endif
