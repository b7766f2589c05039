/* hybrid.h - f32 input that is quantised at run time, for weights of 8 bits. */
#ifndef AC_IR_LOWER_CONV_HYBRID_H
#define AC_IR_LOWER_CONV_HYBRID_H
#include "ir/lower/channel.h"

/* Quantises `count` floats of x from index x_at to i8 in q from q_at, as TFLite's SymmetricQuantizeFloats (range
 * +-127) or AsymmetricQuantizeFloats (range -128..127, zero point nudged); sets c->scale_x and c->zero_x. */
void ac_hybrid_quantize(ac_channel *c, int32_t x, ac_x x_at, int32_t q, ac_x q_at, int64_t count, bool asymmetric);

#endif
