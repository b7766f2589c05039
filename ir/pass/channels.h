/* channels.h - what pass channels finds out: of every channel the interval of its stored values, and whether anybody
 * needs it.
 *
 * A channel is an index of a tensor's last dimension. Values are exact: of integers, as they lie in memory.
 *
 *     ac_channels_values(&s);       ranges.c: intervals, from the inputs on
 *     ac_channels_needs(&s);        needs.c: what has to stay
 *     ac_channels_cut(&s);          cut.c: the rest goes
 *
 * Everything lives in the pass's region `tmp`, but what becomes part of the graph. Included by ir/pass/ only. */
#ifndef AC_IR_PASS_CHANNELS_H
#define AC_IR_PASS_CHANNELS_H
#include "ir/pass/passes.h"

/* What becomes of a channel. One that is idle keeps its place, since others do that lie beside it; its value can be any
 * of its interval. */
enum { AC_CHANNEL_GONE, AC_CHANNEL_IDLE, AC_CHANNEL_NEEDED };

/* lo[c] <= stored value <= hi[c] for all positions of channel c < n. n == 0: nothing is known. */
typedef struct ac_span {
    int32_t n;
    int32_t *lo, *hi;
} ac_span;

/* The products of an integer operator with weights, conv_2d, depthwise_conv_2d and fully_connected alike:
 *
 *     sum[o] = bias[o] + sum over taps t and i < ins of (x[channel(o, i)] - zx) * (w(o, t, i) - zw) */
typedef struct ac_sums {
    ac_tensor *x, *w, *bias, *y;      /* bias: NULL where there is none */
    int64_t outs, taps, ins;          /* ins: 1 for depthwise, whose output o reads channel o / times */
    int64_t o_step, tap_step, i_step; /* w(o, t, i) lies at o * o_step + t * tap_step + i * i_step */
    int64_t times;                    /* depthwise: outputs of an input channel; 0: output o reads all channels */
    int32_t zx, zw;
    const void *data; /* of w */
    bool *outside;    /* by tap: some output position has it outside of x, where it counts as zx */
    bool wide;        /* sums of 64 bits */
    bool folds;       /* what constant channels add, and every part of it, fits beside the bias */
    int64_t *lo, *hi; /* sum[o] is between; NULL: it may wrap */
} ac_sums;

typedef struct ac_channels {
    ac_ctx *cx;
    ac_graph *g;
    ac_region *tmp;
    ac_span *span;  /* by tensor id */
    bool *constant; /* by tensor id: of the file, or folded; results that the pass finds constant are none */
    uint8_t **need; /* by tensor id: AC_CHANNEL_... of each channel */
    ac_sums **sums; /* by position of the node; NULL: no such operator */
    bool again;     /* needs.c: a need has grown */
} ac_channels;

static inline int64_t ac_last_dim(const ac_tensor *t)
{
    return t->rank ? t->dim[t->rank - 1] : 1;
}

static inline int64_t ac_sums_weight(const ac_sums *t, int64_t o, int64_t tap, int64_t i)
{
    const int64_t at = o * t->o_step + tap * t->tap_step + i * t->i_step;
    return (t->w->dtype == AC_U8 ? ((const uint8_t *)t->data)[at] : ((const int8_t *)t->data)[at]) - t->zw;
}

static inline int64_t ac_sums_channel(const ac_sums *t, int64_t o, int64_t i)
{
    return t->times ? o / t->times : i;
}

static inline bool ac_span_fixed(const ac_span *s, int64_t c)
{
    return c < s->n && s->lo[c] == s->hi[c];
}

/* Rows of channels.def; `i` is the position of n in the graph. */
typedef void ac_values_fn(ac_channels *s, const ac_node *n, int32_t i, ac_span *y);
typedef void ac_needs_fn(ac_channels *s, const ac_node *n, int32_t i);
typedef void ac_cut_fn(ac_channels *s, ac_node *n, int32_t i);

/* sums.c: the operator at position i of the graph; NULL when it is none, or its weights are not known now. */
ac_sums *ac_sums_open(ac_channels *s, const ac_node *n);
/* Bounds of the sums, and whether constants may move into the bias. */
void ac_sums_bound(ac_channels *s, ac_sums *t);

/* ends.c: what an operator makes of given values: the operator itself says it, evaluated. NULL: it cannot be. */
/* The stored results of n with sum[o] in place of its products. */
const void *ac_ends_of_sums(ac_channels *s, const ac_node *n, const ac_sums *t, const int64_t *sum);
/* The result, of y's type, shape and quantisation, of n for these operands. */
const void *ac_ends_run(ac_channels *s, const ac_node *n, ac_tensor *const *in, int32_t n_in, const ac_tensor *y);
/* A constant like t, but of this shape; data is not copied. */
ac_tensor *ac_ends_like(ac_channels *s, const ac_tensor *t, int32_t rank, const int64_t *dim, const void *data);
/* `v` as an element of integers of type d. */
void ac_ends_put(ac_dtype d, void *to, int64_t at, int64_t v);

void ac_channels_values(ac_channels *s);
void ac_channels_needs(ac_channels *s);
int32_t ac_channels_cut(ac_channels *s); /* channels that went */

/* Does a channel of a result of n stay, or does n work on state? */
bool ac_channels_used(const ac_channels *s, const ac_node *n);
/* Can the result of n be a constant, of the least values of its channels, that is small enough to be stored? *uniform:
 * they are all the same. */
bool ac_channels_constant(const ac_channels *s, const ac_node *n, bool *uniform);
/* n's result has the channels of operand 0, each made of nothing but that channel. */
bool ac_channels_kept(const ac_channels *s, const ac_node *n);
/* Concatenation along the last dimension. */
bool ac_channels_joined(const ac_channels *s, const ac_node *n);

#endif
