/* ins_buffers.h - the buffers that an instruction uses, in whichever of its fields: for everything that copies code
 * into another function.
 *
 *     int32_t buf[AC_INS_BUFFERS];
 *     for (int32_t n = ac_ins_buffers(&i, buf) - 1; n >= 0; n--)
 *         used[buf[n]] = true;
 *     ac_ins_move_buffers(&i, to);        buffer k is number to[k] in the other function */
#ifndef AC_IR_LOOP_INS_BUFFERS_H
#define AC_IR_LOOP_INS_BUFFERS_H
#include "ir/loop/loop.h"

enum { AC_INS_BUFFERS = 3 };

/* Their number; the same buffer may come twice. */
int32_t ac_ins_buffers(const ac_ins *i, int32_t buf[AC_INS_BUFFERS]);
void ac_ins_move_buffers(ac_ins *i, const int32_t *to);

#endif
