/* plane.h - a loop function that is a depthwise convolution of 3x3 taps as a whole: its shape, for printers that have a
 * faster form than its loops, channel by channel. It computes the same as the loops where results do not overlap with
 * other buffers.
 *
 *     out[oy][ox][c] = sat8(((sum of x[oy stride - pad + ky][ox stride - pad + kx][c] * w[c][kx][ky]) * 2^pre * m[c][0]
 *                            >> 32) + m[c][1] >> post)            x outside: zero_x
 *
 * Memory: the region of the function. Passes that change loops drop it. */
#ifndef AC_IR_LOOP_PLANE_H
#define AC_IR_LOOP_PLANE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct ac_plane {
    int32_t x, w, m, out; /* buffers */
    int32_t channels, in_rows, in_columns, out_rows, out_columns;
    int32_t stride_y, stride_x, pad_y, pad_x; /* strides 1 or 2; pads 0 or 1 */
    int32_t zero_x, pre, post;
    bool apart; /* not the function as a whole: the body of its only loop that is marked apart (pieces.h) */
} ac_plane;

#endif
