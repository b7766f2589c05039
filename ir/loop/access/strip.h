/* strip.h - merges several functions into one that interleaves their steps: of the tensors between them, only the rows
 * that the next steps read are stored.
 *
 *     before   a: conv   x -> t     b: depthwise  t -> u    c: conv 1x1  u -> y         t and u whole
 *     after    for tick ..
 *                if (b can go on)    for ox { b's column: t -> u;  c's column: u -> y }  u: one pixel
 *                else                a's row: x -> t                                     t: a window of three rows
 *
 * A *unit* is a function or several that share the loops over rows and columns. The units run one step at a time:
 * always the last one whose input rows are available. A tensor between two units keeps a window of rows that slides:
 * when it is full, dead rows are dropped and the rest moves to the front, so that addresses stay linear and the bodies
 * are copied unchanged. Every element is computed once, by the same arithmetic: results are bit-identical.
 *
 * Two windows may share a *room*: one slides as before, from the room's beginning; the other has its newest row at the
 * room's end, so that it grows downwards. The room is as large as the maximum of both together at any time, which is
 * less than the sum of their maxima.
 *
 * A unit may *copy*: it fills the window of a tensor from outside with one row after the other, or it drains rows
 * of a result to their place outside. So units that compute touch only windows, and each row is moved once. A tensor
 * that only one unit reads, pixel by pixel, is copied by that unit: one pixel before each column.
 *
 * Several *strips* of columns may run one after the other in the same function. Each is a group of its own whose
 * windows hold only some columns of the rows. Columns that the next strip reads as well (a *halo*) are stored in a
 * buffer when a row is computed, and come back from there before the next strip computes the rest of that row.
 *
 * A tensor may be *streamed*: no unit computes it, and the caller passes its rows one by one. The function is then
 * called once for each of them, after the caller has written the row into the last place of its window; counters are
 * stored in a buffer between calls.
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
/* The line through all n values; false: none exists. */
bool ac_ramp_fit(const int64_t *value, int64_t n, ac_ramp *out);

typedef enum ac_stripe_kind {
    AC_STRIPE_WHOLE,  /* every element has a place */
    AC_STRIPE_WINDOW, /* `rows` rows of `row` elements */
    AC_STRIPE_PIXEL   /* `row` elements: one column, used up inside the unit */
} ac_stripe_kind;

/* The columns of a row that a window holds, in elements */
typedef struct ac_stripe_columns {
    int64_t all;         /* of a row outside of the group; of a step of the unit that copies pixels */
    int64_t from;        /* the window's first one, in that row */
    int64_t halo;        /* at the window's beginning: an earlier strip has computed them */
    int64_t kept, keeps; /* the next strip reads so many of the window's row, from element `kept` on */
    int32_t buf;         /* has the halos of all rows; used if halo or keeps are above 0 */
    int64_t pitch;       /* of a row in it */
} ac_stripe_columns;

typedef struct ac_stripe_tensor {
    ac_stripe_kind kind;
    int32_t unit; /* that makes it; -1: from outside */
    int64_t row, rows;
    ac_stripe_columns column;
    int32_t buf;   /* of the new function */
    int32_t home;  /* the tensor whose window holds it: itself, or an operand that it overwrites element by element */
    int32_t mate;  /* the tensor whose window shares the room from the other end; -1: none. Only for homes */
    bool high;     /* the newest row is the room's last */
    int32_t line;  /* windows of one row: the tensor whose buffer this one also uses, at other times; itself: its own
                    * buffer */
    int32_t lines; /* tensors in that buffer */
    int64_t room;  /* elements of the buffer */
} ac_stripe_tensor;

/* A unit reads rows of a tensor that an earlier one computes */
typedef struct ac_stripe_read {
    int32_t tensor;
    ac_ramp need, low; /* by the reader's step: rows that must be there; the first row read from then on */
} ac_stripe_read;

/* The members of a unit compute; or it has none, and copies rows of a tensor from, or to, a buffer. */
typedef enum ac_stripe_work_kind { AC_STRIPE_COMPUTES, AC_STRIPE_FILLS, AC_STRIPE_DRAINS } ac_stripe_work_kind;

typedef struct ac_stripe_unit {
    int32_t member, n_members; /* in ac_stripe.member, side by side */
    ac_stripe_work_kind does;
    int32_t copied, outside; /* FILLS, DRAINS: the tensor, whose window moves; the buffer with all of it */
    int32_t reader; /* FILLS: the unit that copies a pixel for each of its columns, and this one has no steps; 0: this
                     * one copies rows (unit 0 reads from no other) */
    int64_t steps, limit; /* the steps of its functions; how many of them are needed */
    ac_stripe_read *read;
    int32_t n_reads;
    bool asked; /* runs only when a reader lacks a row (it fills, or several units read only from outside) */
} ac_stripe_unit;

typedef struct ac_stripe_member {
    ac_part part;
    int32_t *buf;    /* by its buffer: buffer of the new function */
    int32_t *tensor; /* by its buffer: ac_stripe.tensor, or -1: whole */
    int64_t *row;    /* by its buffer: elements of a row, if it has fewer columns than the window; 0: as many. It is
                      * then used only in row s of step s */
    int64_t *at;     /* ... where they begin in the window's row */
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
    bool early;                  /* some row is computed before a reader lacks it */
    int32_t streamed;            /* the streamed tensor, of unit 0, which has no members; -1: none */
    int32_t part_buf, state_buf; /* streamed: i32[1], the row's number; i32[ac_stripe_counters()] */
    bool copies;                 /* bytes move by TILE SPREAD */
    int64_t burst;               /* streamed: most steps between two rows */
    bool apart;                  /* the units' bodies are loops marked apart (pieces.h) */
    int32_t word, moved;         /* rows move by `moved` bytes in an iteration, by `word` bytes in one; 0: elements */
} ac_stripe;

/* n strips, one after the other; name, note and buffers are those of the first. */
ac_loop_fn *ac_loop_stripe(ac_ctx *cx, ac_region *region, const ac_stripe *const *s, int32_t n);

/* Computes the execution order of the new function, and its buffer sizes. unit[tick] (room for the sum of all limits);
 * Sets the rows of windows, ticks, early and burst. false: a unit waits forever. */
bool ac_stripe_simulate(ac_stripe *s, int32_t *unit, ac_region *tmp);
/* Elements in use of every window while each tick runs: [tensor * ticks + tick]. Others: 0. */
int64_t *ac_stripe_live(const ac_stripe *s, const int32_t *unit, ac_region *region);
int64_t ac_stripe_copied(const ac_stripe *s, int32_t unit); /* elements that a unit copies in a run; 0: it computes */
/* Adds to bytes[b] the bytes that all calls together read from and write to buffer b, moves of windows included; at
 * most INT64_MAX / 4 for each. */
void ac_stripe_traffic(const ac_stripe *s, const int32_t *unit, int64_t *bytes, ac_region *tmp);
/* Room for the windows of a and b together, given that table. */
int64_t ac_stripe_room(const ac_stripe *s, const int32_t *unit, const int64_t *live, int32_t a, int32_t b);
bool ac_stripe_slides(const ac_stripe *s, int32_t tensor); /* true if its window ever drops rows from its front */
int32_t ac_stripe_counters(const ac_stripe *s);            /* elements of state_buf */

#endif
