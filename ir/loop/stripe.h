/* stripe.h - several functions as one, step by step: no more of the tensors between them is kept than the next steps
 * read.
 *
 *     before   a: conv   x -> t     b: depthwise  t -> u    c: conv 1x1  u -> y         t and u whole
 *     after    for tick ..
 *                if (b can go on)    for ox { b's column: t -> u;  c's column: u -> y }  u: one pixel
 *                else                a's row: x -> t                                     t: a window of three rows
 *
 * A *unit* is a function or several that share the loops over rows and columns. The units run one step at a time: the
 * last one that has the rows it needs. A tensor between two units keeps a window of rows that slides: when it is full,
 * rows that nobody needs any more are dropped and the rest moves to the front, so that addresses stay linear and the
 * bodies are copied as they are. Every element is computed once, by the same arithmetic: results are the same bits.
 *
 * Which functions, units and windows: planner/stripe_group.h. Memory: the region given. */
#ifndef AC_IR_LOOP_STRIPE_H
#define AC_IR_LOOP_STRIPE_H
#include "ir/loop/part.h"

/* s -> min(max((a * s + b) / c, lo), hi), a step of one unit in steps of another; division rounds down. */
typedef struct ac_ramp {
    int64_t a, b, c, lo, hi;
} ac_ramp;
int64_t ac_ramp_at(const ac_ramp *l, int64_t s);
/* The line through all n values; false: there is none. */
bool ac_ramp_fit(const int64_t *value, int64_t n, ac_ramp *out);

typedef enum ac_stripe_kind {
    AC_STRIPE_WHOLE,  /* every element has a place */
    AC_STRIPE_WINDOW, /* `rows` rows of `row` elements */
    AC_STRIPE_PIXEL   /* `row` elements: one column, used up inside the unit */
} ac_stripe_kind;

typedef struct ac_stripe_tensor {
    ac_stripe_kind kind;
    int32_t unit; /* that makes it; -1: from outside */
    int64_t row, rows;
    int32_t buf;  /* of the new function */
    int32_t home; /* whose window it lives in: itself, or an operand that it is written over, element by element */
} ac_stripe_tensor;

typedef struct ac_stripe_read { /* a unit reads rows of a tensor made by an earlier one */
    int32_t tensor;
    ac_ramp need, low; /* by the reader's step: rows that must be there; the first row read from then on */
} ac_stripe_read;

typedef struct ac_stripe_unit {
    int32_t member, n_members; /* in ac_stripe.member, side by side */
    int64_t steps, limit;      /* of its functions; how many of them anybody needs */
    ac_stripe_read *read;
    int32_t n_reads;
    bool asked; /* runs only when a reader lacks a row (several units read only from outside) */
} ac_stripe_unit;

typedef struct ac_stripe_member {
    ac_part part;
    int32_t *buf;    /* by its buffer: buffer of the new function */
    int32_t *tensor; /* by its buffer: ac_stripe.tensor, or -1: whole */
} ac_stripe_member;

typedef struct ac_stripe {
    const char *name, *note;
    ac_buf *buf;
    int32_t n_bufs; /* parameters, then locals */
    ac_stripe_member *member;
    int32_t n_members;
    ac_stripe_unit *unit;
    int32_t n_units; /* a unit reads from earlier ones only */
    ac_stripe_tensor *tensor;
    int32_t n_tensors;
    int64_t ticks; /* steps of all units together */
} ac_stripe;

ac_loop_fn *ac_loop_stripe(ac_ctx *cx, ac_region *region, const ac_stripe *s);

/* The order that the new function runs in, and what it needs. unit[tick] (room for the sum of all limits); windows get
 * their rows, ticks is set. false: a unit waits for ever. */
bool ac_stripe_simulate(ac_stripe *s, int32_t *unit, ac_region *tmp);

#endif
