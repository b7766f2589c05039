/* build_math.h - functions that several formats have as one operator, said in a few canonical ones (build.h); the
 * passes fuse them. x is f32 (other float types where noted); NULL gives NULL. Each formula avoids overflow and
 * cancellation. */
#ifndef AC_IMPORT_BUILD_MATH_H
#define AC_IMPORT_BUILD_MATH_H
#include "import/build.h"

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
/* x - trunc(x / y) * y: the sign of the dividend. Integers and floats. */
ac_tensor *ac_build_fmod(const ac_build *b, ac_tensor *x, ac_tensor *y);

#endif
