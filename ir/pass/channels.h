/* channels.h - the facts that pass channels collects: for every channel, the interval of its stored values, and whether
 * it is needed.
 *
 * A channel is an index of a tensor's last dimension. Values are exact: stored integers.
 *
 *     ac_channels_values(&s);       ranges.c: intervals, from the inputs on
 *     ac_channels_needs(&s);        needs.c: the channels that have to stay
 *     ac_channels_cut(&s);          cut.c: removes the others
 *
 * Memory: the pass's region `tmp`, except for parts of the graph. Included by ir/pass/ only. */
#ifndef AC_IR_PASS_CHANNELS_H
#define AC_IR_PASS_CHANNELS_H
#include "ir/pass/passes.h"

/* The fate of a channel. An idle one is unused, but keeps its place next to a channel that stays; its value may be
 * anything in its interval. */
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
    ac_tensor *x, *w, *bias, *y;      /* bias may be NULL */
    int64_t outs, taps, ins;          /* ins: 1 for depthwise, whose output o reads channel o / times */
    int64_t o_step, tap_step, i_step; /* w(o, t, i) is at o * o_step + t * tap_step + i * i_step */
    int64_t times;                    /* depthwise: outputs of an input channel; 0: output o reads all channels */
    int32_t zx, zw;
    const void *data; /* of w */
    bool *outside;    /* by tap: it is outside of x for some output position, and reads zx there */
    bool wide;        /* sums of 64 bits */
    bool folds;       /* the bias can hold the terms of constant channels, and every partial sum of them */
    int64_t *lo, *hi; /* sum[o] is between; NULL: it may wrap */
} ac_sums;

typedef struct ac_channels {
    ac_ctx *cx;
    ac_graph *g;
    ac_region *tmp;
    ac_span *span;  /* by tensor id */
    bool *constant; /* by tensor id: constant before the pass */
    uint8_t **need; /* by tensor id: AC_CHANNEL_... of each channel */
    ac_sums **sums; /* by position of the node; NULL: another operator */
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

/* sums.c: the sums of n; NULL: another operator, or its weights are not constant. */
ac_sums *ac_sums_open(ac_channels *s, const ac_node *n);
/* Bounds of the sums, and whether constants may move into the bias. */
void ac_sums_bound(ac_channels *s, ac_sums *t);

/* ends.c: evaluates an operator for given values. NULL: it cannot be evaluated. */
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

/* True if a channel of a result of n stays, or n reads or writes state. */
bool ac_channels_used(const ac_channels *s, const ac_node *n);
/* True if the result of n can be a constant, of the minimum of each channel, that is small enough to be stored.
 * *uniform: these are all equal. */
bool ac_channels_constant(const ac_channels *s, const ac_node *n, bool *uniform);
/* Each channel of n's result depends on the same channel of operand 0 alone. */
bool ac_channels_kept(const ac_channels *s, const ac_node *n);
/* Concatenation along the last dimension. */
bool ac_channels_joined(const ac_channels *s, const ac_node *n);

#endif
