/* minifloat.h - floats of 8 and 4 bits: sign, exponent, mantissa in one byte.
 *
 *     type exponent, mantissa, bias maximum infinity   NaN            -0
 *     f8e4m3fn     4  3   7                   448        none       0x7f, 0xff     yes
 *     f8e4m3fnuz   4  3   8                   240        none       0x80           no: 0x80 is NaN
 *     f8e5m2       5  2  15                   57344      0x7c       0x7d..0x7f     yes
 *     f8e5m2fnuz   5  2  16                   57344      none       0x80           no
 *     f4e2m1       2  1   1                   6          none       none           yes (sign is bit 3)
 *     f8e8m0       8  0 127                   2^127      none       0xff           no sign, no zero: 2^(code - 127)
 *
 * Rounding is to nearest, ties to even. Beyond the maximum: the maximum when saturating; else infinity if the type has
 * it, else NaN. A NaN without a code of its own becomes -0, as in the ONNX reference. f8e8m0 rounds up by default;
 * numbers below 0 are NaN, positive ones below its smallest value become that.
 *
 * The lowering of cast (ir/lower/map/small_floats.c) does the same in loops; these functions are for constants in text
 * form and for values that importers read. Source: OCP 8-bit Floating Point and Microscaling Formats specifications. */
#ifndef AC_IR_DTYPE_MINIFLOAT_H
#define AC_IR_DTYPE_MINIFLOAT_H
#include "ir/dtype/dtype.h"

typedef struct ac_minifloat {
    int32_t man, bias; /* bits of the mantissa */
    uint8_t sign;      /* the sign bit; 0: none */
    uint8_t most;      /* code of the greatest finite value */
    uint8_t over;      /* the result beyond it, when not saturating: infinity or NaN */
    uint8_t nan;       /* code of NaN, with the sign of the input unless `uz` */
    bool uz;           /* unsigned zero: 0x80 is the only NaN, -0 does not exist */
} ac_minifloat;

/* NULL: not such a type, or f8e8m0, which has neither sign nor mantissa. */
const ac_minifloat *ac_dtype_minifloat(ac_dtype d);
/* A float whose elements are codes in a byte: one of the table, f8e8m0 included. */
bool ac_dtype_is_minifloat(ac_dtype d);
float ac_minifloat_to_f32(ac_dtype d, uint8_t code);
uint8_t ac_f32_to_minifloat(ac_dtype d, float f); /* saturating */

#endif
