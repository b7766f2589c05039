/* part.h - views a loop function as a sequence of steps, the iterations of its outermost loop, and finds the elements
 * that each of them touches.
 *
 *     acc[..] = 0                     before: no input is read
 *     for oy 0 .. 24                  steps
 *       for ox 0 .. 24                columns (if all of a step happens in one inner loop)
 *         ...
 *     out[..] = acc[..]               after: no input is read; results written here are `late`
 *
 * A convolution as lowered reads three rows of its input in a step and writes one of its output. Code that interleaves
 * the steps of several functions (strip.h) only has to store these rows of a tensor between them. All of this is
 * derived from the loops. */
#ifndef AC_IR_LOOP_ACCESS_PART_H
#define AC_IR_LOOP_ACCESS_PART_H
#include "ir/loop/loop.h"

/* Elements lo <= i < hi; none when lo >= hi */
typedef struct ac_span {
    int64_t lo, hi;
} ac_span;

typedef struct ac_part {
    const ac_loop_fn *fn;
    int32_t row, row_end; /* FOR and END of the steps */
    int32_t col, col_end; /* ... of the columns; 0: a step is one piece */
    int64_t steps, cols;
    ac_span *touch; /* [buf * steps + step]: the elements read of an IN, written of an OUT parameter */
    bool *pixel;    /* by buffer: column x of step s stays inside elements [(s * cols + x) * c, .. + c) with
                       c = count / (steps * cols) */
    bool late;      /* all results are written after the last step; touch[] does not contain them */
} ac_part;

static inline ac_span ac_part_span(const ac_part *p, int32_t buf, int64_t step)
{
    return p->touch[buf * p->steps + step];
}

/* false: fn does not have this form, its addresses are unknown, or it calls a function of the user. touch and pixel
 * come from `region`. */
bool ac_part_of(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn, ac_part *out);
/* True if buffer `buf` is used only in the steps, or, if there are columns, only in those. */
bool ac_part_stays_inside(const ac_part *p, int32_t buf);

#endif
