/* part.h - a loop function as a row of steps: the iterations of its outermost loop, and what each of them touches.
 *
 *     acc[..] = 0                     before: no input is read
 *     for oy 0 .. 24                  steps
 *       for ox 0 .. 24                columns (where everything of a step happens in one inner loop)
 *         ...
 *     out[..] = acc[..]               after: no input is read; results written here are `late`
 *
 * A convolution as lowered reads three rows of its input in a step and writes one of its output. Whoever runs the steps
 * of several functions in turn (strip.h) needs no more of a tensor in between than these rows. Known from the loops
 * alone. */
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
    ac_span *touch; /* [buf * steps + step]: what is read of an IN, written of an OUT parameter */
    bool *pixel;    /* by buffer: column x of step s stays inside elements [(s * cols + x) * c, .. + c) with
                       c = count / (steps * cols) */
    bool late;      /* all results are written after the last step; touch[] does not tell which */
} ac_part;

static inline ac_span ac_part_span(const ac_part *p, int32_t buf, int64_t step)
{
    return p->touch[buf * p->steps + step];
}

/* false: fn has no such form, or its addresses are not known. touch and pixel come from `region`. */
bool ac_part_of(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn, ac_part *out);
/* Is buffer `buf` used only in the steps, or in the columns where there are any? */
bool ac_part_stays_inside(const ac_part *p, int32_t buf);

#endif
