/* strip.h - several functions as one, step by step: no more of the tensors between them is kept than the next steps
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
 * Two windows may share a *room*: one slides as before, from the room's beginning; the other has its newest row at the
 * room's end, so that it grows downwards. The room holds what both need at the same time, which is less than what each
 * needs at its worst.
 *
 * A tensor may be *streamed*: nobody makes it, its rows are handed over one by one. The function is then called once
 * for each of them, after the row has been written into the last place of its window; counters live in a buffer between
 * calls.
 *
 * Which functions, units and windows: planner/graph/stripe_group.h. Memory: the region given. */
#ifndef AC_IR_LOOP_ACCESS_STRIP_H
#define AC_IR_LOOP_ACCESS_STRIP_H
#include "ir/loop/access/part.h"

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
    int32_t buf;   /* of the new function */
    int32_t home;  /* whose window it lives in: itself, or an operand that it is written over, element by element */
    int32_t mate;  /* whose window shares the room, from the other end; -1: nobody's. Only of homes */
    bool high;     /* the newest row is the room's last */
    int32_t line;  /* windows of one row: the tensor whose buffer this one is in too, at other times; itself: its own */
    int32_t lines; /* tensors in that buffer */
    int64_t room;  /* elements of the buffer */
} ac_stripe_tensor;

/* A unit reads rows of a tensor made by an earlier one */
typedef struct ac_stripe_read {
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
    int64_t ticks;               /* steps of all units together */
    bool early;                  /* some row is made before anybody lacks it */
    int32_t streamed;            /* tensor handed over by rows, of unit 0, which has no members; -1: none */
    int32_t part_buf, state_buf; /* streamed: i32[1], the row's number; i32[ac_stripe_counters()] */
    bool copies;                 /* bytes move by TILE SPREAD */
    int64_t burst;               /* streamed: most steps between two rows */
    bool apart;                  /* the units' bodies are loops marked apart (pieces.h) */
    int32_t word, moved;         /* rows move by `moved` bytes in an iteration, by `word` bytes in one; 0: elements */
} ac_stripe;

ac_loop_fn *ac_loop_stripe(ac_ctx *cx, ac_region *region, const ac_stripe *s);

/* The order that the new function runs in, and what it needs. unit[tick] (room for the sum of all limits); windows get
 * their rows, ticks, early and burst are set. false: a unit waits for ever. */
bool ac_stripe_simulate(ac_stripe *s, int32_t *unit, ac_region *tmp);
/* Elements in use of every window while each tick runs: [tensor * ticks + tick]. Others: 0. */
int64_t *ac_stripe_live(const ac_stripe *s, const int32_t *unit, ac_region *region);
/* Room for the windows of a and b together, given that table. */
int64_t ac_stripe_room(const ac_stripe *s, const int32_t *unit, const int64_t *live, int32_t a, int32_t b);
bool ac_stripe_slides(const ac_stripe *s, int32_t tensor); /* does its window ever drop rows from its front? */
int32_t ac_stripe_counters(const ac_stripe *s);            /* elements of state_buf */

#endif
