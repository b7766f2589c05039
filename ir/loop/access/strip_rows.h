/* strip_rows.h - the state of a strip that is being built, and its windows of rows. Included by strip*.c only. */
#ifndef AC_IR_LOOP_ACCESS_STRIP_ROWS_H
#define AC_IR_LOOP_ACCESS_STRIP_ROWS_H
#include "ir/loop/access/strip.h"
#include "ir/loop/builder.h"

typedef struct ac_composer {
    const ac_stripe *s;
    int32_t number; /* of the strip */
    ac_lb b;
    ac_x **map;    /* by member, by its instruction */
    ac_x *next;    /* by unit: the variable that counts its steps */
    ac_x *first;   /* by tensor: the variable with its window's first row; 0: it never slides */
    ac_x *base;    /* by tensor: element at index 0 in the step being built; 0: none */
    ac_x row, col; /* of the step being built */
    ac_x part;     /* streamed: number of the row */
} ac_composer;

/* Counters that persist between rows are on the stack while a row runs, or, if memory is scarce, only in their
 * buffer. */
bool ac_strip_in_buffer(const ac_composer *c);
ac_x ac_strip_value(ac_composer *c, ac_x counter);
void ac_strip_become(ac_composer *c, ac_x counter, ac_x value);
void ac_strip_begin(ac_composer *c);                                     /* streamed: before the first row */
ac_x ac_strip_counter(ac_composer *c, const char *name, int32_t *place); /* a new one */

ac_x ac_strip_line(ac_composer *c, const ac_ramp *l, ac_x s); /* the value of the ramp in step s */
/* n elements move from element `from` of a buffer to element `to` of another one, or down in the same one; all three
 * are multiples of `row`. */
void ac_strip_move(ac_composer *c, int32_t to_buf, ac_x to, int32_t buf, ac_x from, ac_x n, int64_t row);
void ac_strip_move_down(ac_composer *c, int32_t buf, ac_x to, ac_x from, ac_x n, int64_t row);
void ac_strip_make_room(ac_composer *c, int32_t number, int32_t t); /* before unit `number` makes a row of tensor t */
/* The start of t's window, in elements of t, while unit `number` runs. */
void ac_strip_set_base(ac_composer *c, int32_t number, int32_t t);

#endif
