/* quantised_arithmetic.h - private to the element-wise family: two-operand arithmetic on quantised tensors. */
#ifndef AC_IR_LOWER_MAP_QUANTISED_ARITHMETIC_H
#define AC_IR_LOWER_MAP_QUANTISED_ARITHMETIC_H
#include "ir/lower/map/map.h"

ac_x ac_mp_quant_sum(ac_lower *L, const ac_node *n, const ac_x *arg, bool minus);
ac_x ac_mp_quant_mul(ac_lower *L, const ac_node *n, const ac_x *arg);
ac_x ac_mp_quant_div(ac_lower *L, const ac_node *n, const ac_x *arg);
ac_x ac_mp_quant_sqdiff(ac_lower *L, const ac_node *n, const ac_x *arg);
/* Compares real values as TFLite does: both sides shifted left by 8 and rescaled; gives the two i32 to compare. */
void ac_mp_quant_sides(ac_lower *L, const ac_node *n, const ac_x *arg, ac_x side[2]);

#endif
