/* adjoint.h - what the functions that ops.def names in its column `gradient` are written in.
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
 * are not wanted may be made all the same: pass dead removes what nobody reads. Tensors may be NULL: something before
 * has failed and was reported, and so is the result.
 *
 * An adjoint may have dimensions of size 1 where its tensor has more: the same number everywhere there. ac_dy gives it
 * whole; ac_dy_thin as it is, for those that compute element by element. */
#ifndef AC_IR_GRAD_ADJOINT_H
#define AC_IR_GRAD_ADJOINT_H
#include "ir/graph/graph.h"

struct ac_reverse;
typedef struct ac_adjoint {
    ac_ctx *cx;
    ac_graph *g;
    const ac_node *node; /* whose gradient is made */
    struct ac_reverse *all;
    uint32_t now; /* a mask: operands below 32 that are given their shares in this call */
} ac_adjoint;

typedef int ac_grad_fn(ac_adjoint *a);

/* ------------------------------------------------------------------ adjoints (adjoint.c) */

bool ac_wants(const ac_adjoint *a, int32_t i);         /* is operand i on a path to something wanted? */
bool ac_has_dy(const ac_adjoint *a, int32_t i);        /* does result i count? */
ac_tensor *ac_dy_of(const ac_adjoint *a, int32_t i);   /* adjoint of result i; zeros where it does not count */
ac_tensor *ac_dy(const ac_adjoint *a);                 /* of result 0 */
ac_tensor *ac_dy_thin(const ac_adjoint *a);            /* the same; may be thinner than the result */
ac_tensor *ac_y(const ac_adjoint *a);                  /* result 0, before an activation that is no clamp */
void ac_give(ac_adjoint *a, int32_t i, ac_tensor *dx); /* of operand i's shape, or thinner */
/* The same of an operand that was broadcast to the result: dx has the result's shape, or is thinner. */
void ac_give_each(ac_adjoint *a, int32_t i, ac_tensor *dx);
/* dx is the share of elements begin .. begin + dx->dim[axis] - 1 along `axis`; the rest gets nothing. */
void ac_give_slice(ac_adjoint *a, int32_t i, int32_t axis, int64_t begin, ac_tensor *dx);
/* E0109: the operator has a gradient, but not for these attributes or operands. */
int ac_no_gradient(const ac_adjoint *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------ nodes (make.c) */

ac_tensor *ac_mk(const ac_adjoint *a, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs);
ac_tensor *ac_mk_1(const ac_adjoint *a, ac_op op, ac_tensor *x);
ac_tensor *ac_mk_2(const ac_adjoint *a, ac_op op, ac_tensor *x, ac_tensor *y);
ac_tensor *ac_mk_select(const ac_adjoint *a, ac_tensor *cond, ac_tensor *yes, ac_tensor *no);
ac_tensor *ac_mk_number(const ac_adjoint *a, const ac_tensor *like, double v); /* a scalar of like's type */
ac_tensor *ac_mk_zeros(const ac_adjoint *a, ac_dtype type, int32_t rank, const int64_t *dim);
ac_tensor *ac_mk_ints(const ac_adjoint *a, int32_t rank, const int64_t *dim, const int64_t *v); /* i64 */
ac_ints ac_mk_list(const ac_adjoint *a, int32_t n, const int64_t *v);
ac_tensor *ac_mk_scale(const ac_adjoint *a, ac_tensor *x, double v); /* x * v */
ac_tensor *ac_mk_shift(const ac_adjoint *a, ac_tensor *x, double v); /* x + v */
ac_tensor *ac_mk_cast(const ac_adjoint *a, ac_tensor *x, ac_dtype to);
/* [..,M,K] x [..,K,N] = [..,M,N]; with adj_x, adj_y these lie as [..,K,M], [..,N,K]. */
ac_tensor *ac_mk_matmul(const ac_adjoint *a, ac_tensor *x, bool adj_x, ac_tensor *y, bool adj_y);
ac_tensor *ac_mk_reshape(const ac_adjoint *a, ac_tensor *x, int32_t rank, const int64_t *dim);
ac_tensor *ac_mk_reshape_like(const ac_adjoint *a, ac_tensor *x, const ac_tensor *like);
ac_tensor *ac_mk_transpose(const ac_adjoint *a, ac_tensor *x, const int32_t *perm);
ac_tensor *ac_mk_swapped(const ac_adjoint *a, ac_tensor *x); /* its last two dimensions */
ac_tensor *ac_mk_reduce(const ac_adjoint *a, ac_op op, ac_tensor *x, uint32_t axes, bool keep); /* axes: a mask */
ac_tensor *ac_mk_slice(const ac_adjoint *a, ac_tensor *x, int32_t axis, int64_t begin, int64_t size);
ac_tensor *ac_mk_concat(const ac_adjoint *a, ac_tensor *const *x, int32_t n, int32_t axis);
ac_tensor *ac_mk_broadcast(const ac_adjoint *a, ac_tensor *x, int32_t rank, const int64_t *dim);
/* before and after each dimension; below 0: that many elements are left out. */
ac_tensor *ac_mk_pad(const ac_adjoint *a, ac_tensor *x, const int64_t *before, const int64_t *after);
ac_tensor *ac_mk_reverse(const ac_adjoint *a, ac_tensor *x, int32_t axis);
/* step - 1 zeros between any two elements along `axis`. */
ac_tensor *ac_mk_spread(const ac_adjoint *a, ac_tensor *x, int32_t axis, int64_t step);

#endif
