/* buffers.h - turns the buffers of a lowering into the parameters of its function; private to lower*.c. */
#ifndef AC_IR_LOWER_BUFFERS_H
#define AC_IR_LOWER_BUFFERS_H
#include "ir/lower/lower.h"

/* Puts parameters before locals, `last` (-1: none) after the other parameters, drops buffers that are neither read nor
 * written, and sums up scratch. Call it once, after ac_lb_close: buffer numbers change. While loops are built, buffers
 * are in the order they were requested, and a local is an argument of kind SCRATCH with bytes == LO_LOCAL. */
void ac_lo_settle(ac_lowered *w, int32_t last);

enum { LO_LOCAL = -1 };

#endif
