/* lookup.h - functions of a 16-bit number by table: 513 samples and linear interpolation between them (TFLite's
 * LUTPopulate and LUTLookup for int16). Used by element-wise operators and softmax. */
#ifndef AC_IR_LOWER_LOOKUP_H
#define AC_IR_LOWER_LOOKUP_H
#include "ir/lower/arithmetic.h"

typedef float ac_curve(float x, float floor); /* floor: the least real value the result can store */

ac_curve ac_curve_exp; /* e^x, without a floor */

/* Samples over the whole range of inputs with scale si and zero point zi, in units of so. */
void ac_table_16(int16_t table[513], float si, int32_t zi, float so, int32_t zo, ac_curve *f);
/* The same for f over low .. high, with results in 1/32768, computed in double, as the reference does for softmax. */
void ac_table_16_unit(int16_t table[513], double low, double high, double (*f)(double));
/* The table's value at x (i32 within the range of i16; one lane), as i32. */
ac_x ac_lo_table_16(ac_lower *L, int32_t buf, ac_x x);

#endif
