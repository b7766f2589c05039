/* flow.h - merges several functions into one: in the two branches of a condition, in a loop that ends when a condition
 * is false, or in a loop of a fixed number of turns.
 *
 *     branch    if flag[0]              part 0
 *               else                    part 1
 *     loop      part 0 initialises the loop-carried values
 *               for turn in 0 .. 2^31-1
 *                 part 1                makes flag[0]
 *                 break_if !flag[0]
 *                 part 2
 *     steps     part 0 initialises the loop-carried values
 *               for turn in 0 .. turns-1
 *                 part 1
 *
 * Loops marked parallel become serial. */
#ifndef AC_IR_LOOP_ACCESS_FLOW_H
#define AC_IR_LOOP_ACCESS_FLOW_H
#include "ir/loop/loop.h"

/* The position of a buffer: a buffer of the new function, and the index of its first element there, at + turn *
 * pace. */
typedef struct ac_flow_place {
    int32_t buf;
    int64_t at, pace;
} ac_flow_place;

typedef struct ac_flow_call {
    const ac_loop_fn *fn;
    ac_flow_place *place; /* by buffer of fn */
} ac_flow_call;

typedef struct ac_flow_part {
    ac_flow_call *call;
    int32_t n;
} ac_flow_part;

typedef enum ac_flow_form { AC_FLOW_BRANCH, AC_FLOW_LOOP, AC_FLOW_STEPS } ac_flow_form;

typedef struct ac_flow_fn {
    const char *name, *note;
    ac_flow_form form;
    ac_flow_part part[3];
    AC_VEC(ac_buf) buf; /* parameters, then locals: names, types, roles */
    int32_t flag;       /* a buffer of one bool; not of STEPS */
    int64_t turns;      /* of STEPS */
} ac_flow_fn;

/* In `region`. NULL: a function cannot start inside of a buffer, or the loops are wrong (reported). */
ac_loop_fn *ac_loop_flow(ac_ctx *cx, ac_region *region, const ac_flow_fn *f);

#endif
