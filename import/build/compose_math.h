/* compose_math.h - functions that several formats have as one operator, said in a few canonical ones (build.h); the
 * passes fuse them. x is f32 (other float types where noted); NULL gives NULL. Each formula avoids overflow and
 * cancellation. */
#ifndef AC_IMPORT_BUILD_COMPOSE_MATH_H
#define AC_IMPORT_BUILD_COMPOSE_MATH_H
#include "import/build/build.h"

ac_tensor *ac_build_add_number(const ac_build *b, ac_tensor *x, double v);
ac_tensor *ac_build_mul_number(const ac_build *b, ac_tensor *x, double v);
ac_tensor *ac_build_relu(const ac_build *b, ac_tensor *x); /* any type */
ac_tensor *ac_build_elu(const ac_build *b, ac_tensor *x, double alpha);
ac_tensor *ac_build_softplus(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_expm1(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_log1p(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_tan(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_sinh(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_cosh(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_asin(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_acos(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_asinh(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_acosh(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_atanh(const ac_build *b, ac_tensor *x);
ac_tensor *ac_build_atan2(const ac_build *b, ac_tensor *y, ac_tensor *x);
/* bool: +infinity (up) or -infinity (down); of any type: integers are never infinite. */
ac_tensor *ac_build_is_inf(const ac_build *b, ac_tensor *x, bool up, bool down);
/* SOFTMAX or LOG_SOFTMAX along `axis` of x. */
ac_tensor *ac_build_softmax(const ac_build *b, ac_op op, ac_tensor *x, int32_t axis);
/* [C] as an operand of something with `rank` dimensions, of which `axis` has C elements. */
ac_tensor *ac_build_along(const ac_build *b, ac_tensor *v, int32_t rank, int32_t axis);
/* (x - mean) / sqrt(variance + eps) * gamma + beta, each [C] along `axis`; gamma and beta may be NULL (1 and 0). Of
 * constants a factor and a summand for each channel. */
ac_tensor *ac_build_batch_norm(const ac_build *b, ac_tensor *x, int32_t axis, ac_tensor *mean, ac_tensor *variance,
                               double eps, ac_tensor *gamma, ac_tensor *beta);
/* Elements of x become zero with probability `ratio`, by counted numbers: state of the graph. */
ac_tensor *ac_build_dropout(const ac_build *b, ac_tensor *x, double ratio);
/* x / sqrt(sum of x^2 + eps), the sum over the dimensions of the mask. */
ac_tensor *ac_build_unit_length(const ac_build *b, ac_tensor *x, uint32_t mask, double eps);
/* x - trunc(x / y) * y: the sign of the dividend. Integers and floats. */
ac_tensor *ac_build_fmod(const ac_build *b, ac_tensor *x, ac_tensor *y);

#endif
