/* compose_math.h - composes functions of several formats from canonical operators (maker.h); the passes fuse them.
 *
 * x is f32 (other float types as noted); NULL gives NULL. Each formula avoids overflow and cancellation. */
#ifndef AC_IR_MAKE_COMPOSE_MATH_H
#define AC_IR_MAKE_COMPOSE_MATH_H
#include "ir/make/maker.h"

ac_tensor *ac_make_add_number(const ac_maker *b, ac_tensor *x, double v);
ac_tensor *ac_make_mul_number(const ac_maker *b, ac_tensor *x, double v);
ac_tensor *ac_make_relu(const ac_maker *b, ac_tensor *x); /* any type */
ac_tensor *ac_make_elu(const ac_maker *b, ac_tensor *x, double alpha);
/* alpha * x + beta, at least 0 and at most 1. */
ac_tensor *ac_make_hard_sigmoid(const ac_maker *b, ac_tensor *x, double alpha, double beta);
ac_tensor *ac_make_swish(const ac_maker *b, ac_tensor *x, double alpha); /* x * sigmoid(alpha * x) */
ac_tensor *ac_make_atan2(const ac_maker *b, ac_tensor *y, ac_tensor *x);
/* bool: +infinity (up) or -infinity (down); of any type: integers are never infinite. */
ac_tensor *ac_make_is_inf(const ac_maker *b, ac_tensor *x, bool up, bool down);
/* SOFTMAX or LOG_SOFTMAX along `axis` of x. */
ac_tensor *ac_make_softmax(const ac_maker *b, ac_op op, ac_tensor *x, int32_t axis);
/* v [C] reshaped to `rank` dimensions: C along `axis`, 1 elsewhere. */
ac_tensor *ac_make_along(const ac_maker *b, ac_tensor *v, int32_t rank, int32_t axis);
/* (x - mean) / sqrt(variance + eps) * gamma + beta, each [C] along `axis`; gamma and beta may be NULL (1 and 0). If
 * all of them are constants: one factor and one summand per channel. */
ac_tensor *ac_make_batch_norm(const ac_maker *b, ac_tensor *x, int32_t axis, ac_tensor *mean, ac_tensor *variance,
                              double eps, ac_tensor *gamma, ac_tensor *beta);
/* x / sqrt(sum of x^2 + eps), the sum over the dimensions of the mask. */
ac_tensor *ac_make_unit_length(const ac_maker *b, ac_tensor *x, uint32_t mask, double eps);
/* x - trunc(x / y) * y: the sign of the dividend. Integers and floats. */
ac_tensor *ac_make_fmod(const ac_maker *b, ac_tensor *x, ac_tensor *y);
/* x resized along dimension d, as a product with matrix [out, x->dim[d]]: the weight of each input in each result. The
 * graph copies the matrix. x is f32. */
ac_tensor *ac_make_resample(const ac_maker *b, ac_tensor *x, int32_t d, int64_t out, const float *matrix);

#endif
