/* ins_fields.h - renames the values and buffers that an instruction uses, in all of its fields; for code that copies
 * instructions into another function. Computes integers.
 *
 *     ac_ins_move_values(&i, map);        value x is number map[x] in the other function; map[0] is 0: none
 *     ac_ins_move_buffers(&i, to);        buffer k is number to[k]
 *
 *     int32_t buf[AC_INS_BUFFERS];
 *     for (int32_t n = ac_ins_buffers(&i, buf) - 1; n >= 0; n--)
 *         used[buf[n]] = true; */
#ifndef AC_IR_LOOP_INS_FIELDS_H
#define AC_IR_LOOP_INS_FIELDS_H
#include "ir/loop/loop.h"

enum { AC_INS_BUFFERS = 3 };

void ac_ins_move_values(ac_ins *i, const ac_x *map);

/* Their number; the same buffer may come twice. */
int32_t ac_ins_buffers(const ac_ins *i, int32_t buf[AC_INS_BUFFERS]);
bool ac_ins_uses_buffer(const ac_ins *i, int32_t buf);
void ac_ins_move_buffers(ac_ins *i, const int32_t *to);

/* The result of an operation of integers that addresses use. False: it is not one. */
bool ac_ins_integer(const ac_ins *i, int64_t a, int64_t b, int64_t c, int64_t *to);

#endif
