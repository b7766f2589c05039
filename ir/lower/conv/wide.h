/* wide.h - int8 convolutions, depthwise ones and fully_connected on vectors with an output channel in each lane, of at
 * least 16 bytes (target.h: rvv): TILE OUTER and LANES (ir/loop/tiles.h), requantised by quad.h.
 *
 *     for pixels of a row, up to 8:    copy the rows of their windows into a line, unless they can be read in place
 *       for up to 32 output channels:  TILE; REQUANT and store each pixel
 *
 * Line     i8 [row of the filter][column][channel]: neighbouring windows share it; outside of the input are zero points
 * Weights  i8 [block of channels][row, column, channel of the filter][channel of the block]
 *
 *     if (ac_wide_conv(L, &c, &win)) ...        false: emitted no code, use another schedule */
#ifndef AC_IR_LOWER_CONV_WIDE_H
#define AC_IR_LOWER_CONV_WIDE_H
#include "ir/loop/tiles.h"
#include "ir/lower/quad/quad.h"

bool ac_wide_conv(ac_lower *L, ac_channel *c, const ac_window *win);
bool ac_wide_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth);
bool ac_wide_depthwise(ac_lower *L, ac_channel *c, const ac_window *win);

/* Private to wide.c and wide_line.c. */
typedef struct ac_wide {
    ac_quad q;
    ac_window win; /* of a matrix: its rows are pixels of one row, taps 1 x 1 */
    ac_tile_form form;
    bool matrix, flat;        /* flat: pixels are those of an image, not of a row */
    bool depthwise;           /* weights are [tap][channel] */
    int64_t positions;        /* pixels of an image, or of a row */
    int64_t parts;            /* of a window: rows of taps, or taps if columns are dilated */
    int64_t columns;          /* of a part */
    int32_t pixels;           /* of a tile */
    int32_t x, w, line, zero; /* line -1: x is read in place */
} ac_wide;

/* The windows of `rows` pixels from column ox of row oy on, to the line. */
void ac_wide_fill(const ac_wide *v, ac_x n, ac_x oy, ac_x ox, int32_t rows);

#endif
