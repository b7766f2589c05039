/* quad_line.h - copies the windows of pixels into lines of 16 byte steps, for tiles of bytes (quad.h).
 *
 *     line     i8 [pixel][step][16]: a window's taps and channels; elements outside of the input are its zero point
 *
 * The end of the last step is any bytes: its weights are zero. */
#ifndef AC_IR_LOWER_QUAD_QUAD_LINE_H
#define AC_IR_LOWER_QUAD_QUAD_LINE_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

enum { AC_QUAD_DEPTH = 16 };

typedef struct ac_quad_line {
    ac_lower *L;
    ac_window win;        /* of a matrix: its rows are pixels of one row, taps 1 x 1 */
    int64_t depth, steps; /* products of an output; steps of a tile */
    int32_t zero;         /* point of x */
    int32_t x, line;      /* buffers */
    int32_t zeros;        /* the zero point as a buffer, if it is needed */
} ac_quad_line;

/* Creates the line and the zero point; the fields before are set. */
void ac_quad_line_open(ac_quad_line *v, int64_t pixels);
/* Stores something at the ends of its pixels, which windows leave alone: weights are zero there. */
void ac_quad_line_ends(const ac_quad_line *v, int64_t pixels);
/* Output position at = {n, oy, ox}: position i of row oy, or of image n (oy 0). */
void ac_quad_line_position(const ac_quad_line *v, ac_x n, ac_x oy, ac_x i, ac_x *at);
/* The window of output position at = {n, oy, ox} as pixel r of the line. */
void ac_quad_line_window(const ac_quad_line *v, const ac_x *at, ac_x r);

#endif
