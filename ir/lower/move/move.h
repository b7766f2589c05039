/* move.h - turns a strided copy into loops. A copy is a box with two sets of strides.
 *
 *     transpose [N,H,W,C] -> [N,C,H,W]:
 *         ac_move m = {0};
 *         ac_move_dim(&m, N, H*W*C, H*W*C);        extent, stride in the source, stride in the result
 *         ac_move_dim(&m, C, 1, H*W);
 *         ac_move_dim(&m, H, W*C, W);
 *         ac_move_dim(&m, W, C, 1);
 *         ac_lo_move(L, src, dst, &m);
 *
 * ac_lo_move merges neighbours that are contiguous on both sides (above: H and W become one loop), drops extents of 1,
 * emits no code for an empty box, copies contiguous runs with the target's vectors, and transposes boxes whose
 * contiguous dimensions differ between source and result in squares of vectors (squares.c). So an operator only has to
 * describe where elements go. A stride of 0 in the source repeats; a negative one goes back.
 *
 * Elements are moved as bits: any type of 8 bits or more. Every element of the box is read once and written once;
 * without squares, in row-major order of the box. Fills write a value that is known before the loops. */
#ifndef AC_IR_LOWER_MOVE_MOVE_H
#define AC_IR_LOWER_MOVE_MOVE_H
#include "ir/lower/lower.h"

enum { AC_MOVE_DIMS = 2 * AC_MAX_RANK + 2 };

typedef struct ac_move {
    int32_t n;
    struct ac_move_axis {
        int64_t extent, from, to;
    } dim[AC_MOVE_DIMS]; /* outermost first; strides in elements */
    int64_t from, to;    /* element the box starts at */
    bool once;           /* no other code of the node writes elements of this box: threads may share it */
} ac_move;

/* Computes the value to store from the value read (any lanes); `ctx` is the caller's. */
typedef ac_x ac_move_value(ac_lower *L, ac_x value, const void *ctx);

void ac_move_dim(ac_move *m, int64_t extent, int64_t from, int64_t to);
/* Row-major strides of t: stride[d] elements between neighbours of dimension d. */
void ac_move_strides(const ac_tensor *t, int64_t stride[AC_MAX_RANK]);

void ac_lo_move(ac_lower *L, int32_t src, int32_t dst, const ac_move *m);
/* Copies operand x to output i. Nothing else writes that output; its buffer is requested first. */
void ac_lo_move_output(ac_lower *L, ac_tensor *x, int32_t i, const ac_move *m);
/* The same from positions known only at run time, added to m->from and m->to. */
void ac_lo_move_at(ac_lower *L, int32_t src, ac_x from, int32_t dst, ac_x to, const ac_move *m);
/* The same with a computation on each element, at most `lanes` at a time. */
void ac_lo_move_each(ac_lower *L, int32_t src, ac_x from, int32_t dst, ac_x to, const ac_move *m, int32_t lanes,
                     ac_move_value *f, const void *ctx);
/* Initialises the result with x: by a copy, or in place if x is the state that holds the result. Returns the result's
 * buffer. */
int32_t ac_lo_start_as(ac_lower *L, ac_tensor *x);
/* Stores `value` (one lane) in every element of the box; strides of the source are ignored. */
void ac_lo_move_fill(ac_lower *L, ac_x value, int32_t dst, const ac_move *m);

/* Calls `body` for n elements in pieces: vectors of `max` lanes, then of half as many down to `min`, then one at a
 * time. `at` is the position of the first element of a piece. */
typedef void ac_run_body(ac_lower *L, ac_x at, int32_t lanes, void *ctx);
void ac_lo_run(ac_lower *L, const char *name, int64_t n, int32_t max, int32_t min, ac_run_body *body, void *ctx);

/* Private to move.c (squares.c). The edge of a square, 1: no squares; the axis that is contiguous in the source if the
 * last one is contiguous in the result only, or -1; the loops of a box of whole squares. */
int32_t ac_square_edge(const ac_lower *L, ac_dtype d);
int32_t ac_square_axis(const ac_move *m);
void ac_lo_squares(ac_lower *L, int32_t src, ac_x from, int32_t dst, ac_x to, const ac_move *m, ac_mark mark);

/* Refuses (E0108) types packed below a byte. */
int ac_lo_movable(ac_lower *L, const ac_tensor *t);

#endif
