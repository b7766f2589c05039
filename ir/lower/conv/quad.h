/* quad.h - int8 convolutions and fully_connected four output channels at a time, on processors with vectors of four
 * words and sums of sixteen products (target.h: mve): TILE and REQUANT.
 *
 *     ac_quad q;
 *     if (ac_quad_open(L, &q, &c))                     a table of constants; false: does not fit
 *         q.acc = ...local array...                     sums of TILE: [row][4]
 *         ac_quad_store(&q, row, oc, idx);              requantises those of a row, channels oc .. oc + 3, and stores
 *
 * The table is [channels / 4] of {bias 4, multiplier 4, -shift 4}; with one scale for all channels {multiplier 4,
 * -shift 4} and the biases. The reference's two roundings are those of the vector instructions (requants.h).
 * fully_connected, which the reference rounds in double, has accumulators shifted to the left as far as they go, and
 * the result is compared with the reference's at every step; where one differs, the schedule is another. */
#ifndef AC_IR_LOWER_CONV_QUAD_H
#define AC_IR_LOWER_CONV_QUAD_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

enum { AC_QUAD = 4 };

typedef struct ac_quad {
    ac_lower *L;
    ac_channel *c;
    int32_t table, acc;
    int32_t y; /* four bytes of a local array, where results do not go to the tensor as they are */
    int32_t pre;
    bool away;
} ac_quad;

bool ac_quad_open(ac_lower *L, ac_quad *q, ac_channel *c);
void ac_quad_store(const ac_quad *q, int32_t row, ac_x oc, ac_x *idx);

/* Schedules; false: no code was made, and another schedule is to be taken. */
bool ac_quad_conv(ac_lower *L, ac_channel *c, const ac_window *win);
bool ac_quad_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth);
bool ac_quad_depthwise(ac_lower *L, ac_channel *c, const ac_window *win);

#endif
