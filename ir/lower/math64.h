/* math64.h - the f64 forms of the float functions of arithmetic.h whose f32 forms are different code; the others choose
 * coefficients by the type of x. Private to the math files. */
#ifndef AC_IR_LOWER_MATH64_H
#define AC_IR_LOWER_MATH64_H
#include "ir/lower/math_parts.h"

ac_x ac_lo_exp64(ac_lower *L, ac_x x, int32_t less); /* e^x / 2^less */
ac_x ac_lo_exp_scaled64(ac_lower *L, ac_x x, ac_x lo, ac_x v, int32_t shift);
ac_x ac_lo_expm1_64(ac_lower *L, ac_x x);
ac_x ac_lo_tanh64(ac_lower *L, ac_x x);

#endif
