/* adjoint.h - the functions of the column `gradient` of ops.def are written with these.
 *
 *     int ac_gr_mul(ac_adjoint *a)                    z = x * y
 *     {
 *         ac_tensor *dz = ac_dy(a);
 *         ac_give_each(a, 0, MUL(dz, a->node->in[1]));
 *         ac_give_each(a, 1, MUL(dz, a->node->in[0]));
 *         return AC_OK;
 *     }
 *
 * Such a function is called for a node, for all operands or first for its weights, when the adjoints of all its
 * results are complete; it reads them (ac_dy), and gives each operand that is wanted (ac_wants) its share. Shares that
 * are not wanted may be made all the same: pass dead removes unused nodes. Tensors may be NULL: an error was reported,
 * and the result is NULL as well.
 *
 * An adjoint may have dimensions of size 1 where its tensor has more: the same number everywhere there. ac_dy gives it
 * whole; ac_dy_thin as it is, for those that compute element by element. */
#ifndef AC_IR_GRAD_ADJOINT_H
#define AC_IR_GRAD_ADJOINT_H
#include "ir/make/maker.h"

struct ac_reverse;
typedef struct ac_adjoint {
    ac_maker b;          /* of the nodes of the gradient */
    const ac_node *node; /* whose gradient is made */
    struct ac_reverse *all;
    uint32_t now; /* a mask: operands below 32 that are given their shares in this call */
} ac_adjoint;

typedef int ac_grad_fn(ac_adjoint *a);

/* ------------------------------------------------------------------ adjoints (adjoint.c) */

bool ac_wants(const ac_adjoint *a, int32_t i);         /* operand i is on a path to a wanted tensor */
bool ac_has_dy(const ac_adjoint *a, int32_t i);        /* result i has an adjoint */
ac_tensor *ac_dy_of(const ac_adjoint *a, int32_t i);   /* adjoint of result i; zeros if it has none */
ac_tensor *ac_dy(const ac_adjoint *a);                 /* of result 0 */
ac_tensor *ac_dy_thin(const ac_adjoint *a);            /* the same; may be thinner than the result */
ac_tensor *ac_y(const ac_adjoint *a);                  /* result 0, before an activation other than a clamp */
void ac_give(ac_adjoint *a, int32_t i, ac_tensor *dx); /* of operand i's shape, or thinner */
/* The same of an operand that was broadcast to the result: dx has the result's shape, or is thinner. */
void ac_give_each(ac_adjoint *a, int32_t i, ac_tensor *dx);
/* dx is the share of elements begin .. begin + dx->dim[axis] - 1 along `axis`; the rest gets nothing. */
void ac_give_slice(ac_adjoint *a, int32_t i, int32_t axis, int64_t begin, ac_tensor *dx);
/* E0109: the operator has a gradient, but not for these attributes or operands. */
int ac_no_gradient(const ac_adjoint *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
