/* fixed_point16.h - tanh and the logistic function in 16-bit fixed point, as TFLite's integer LSTM computes them (by
 * way of gemmlowp's FixedPoint<int16_t, ..>): 15 - i fraction bits for i integer bits, Newton division, Taylor series
 * for exp. Values are i32 holding 16-bit raws; results are those of the reference bit for bit. Any number of lanes. */
#ifndef AC_IR_LOWER_NN_FIXED_POINT16_H
#define AC_IR_LOWER_NN_FIXED_POINT16_H
#include "ir/lower/lower.h"

ac_x ac_lo_fx16_logistic(ac_lower *L, ac_x a, int32_t integer_bits); /* Qi.(15-i) -> Q0.15 */
ac_x ac_lo_fx16_tanh(ac_lower *L, ac_x a, int32_t integer_bits);     /* integer_bits 0..6 */

#endif
