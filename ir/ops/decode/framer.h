/* framer.h - decodes SIGNAL_FRAMER, and counts the rows of signal operators with state.
 *
 * The state of a row: the number of steps received (counted up to the first valid frame), then the samples that the
 * next frame may need. prefill: zeros precede the first sample, and every frame is valid. */
#ifndef AC_IR_OPS_DECODE_FRAMER_H
#define AC_IR_OPS_DECODE_FRAMER_H
#include "ir/graph/graph.h"

/* Rows of the last dimension (of the last two, counted as one: last = 2). */
static inline int64_t ac_rows_of(const ac_tensor *x, int32_t last)
{
    int64_t rows = 1;
    for (int32_t d = 0; d + last < x->rank; d++)
        rows *= x->dim[d];
    return rows;
}

typedef struct ac_framer {
    int64_t rows, frames, size, step;
    int64_t kept; /* samples of the state */
    int64_t fill; /* steps until a frame is valid; the frame is the oldest part of the samples */
} ac_framer;

static inline ac_framer ac_framer_of(const ac_node *n)
{
    const ac_attrs_signal_framer *a = &n->attrs.signal_framer;
    const ac_tensor *x = n->in[0];
    ac_framer f = {.rows = ac_rows_of(x, 1),
                   .frames = x->dim[x->rank - 1] / a->frame_step,
                   .size = a->frame_size,
                   .step = a->frame_step};
    f.fill = a->prefill ? 0 : (f.size + f.step - 1) / f.step;
    f.kept = a->prefill ? f.size - f.step : (f.fill - 1) * f.step;
    return f;
}

#endif
