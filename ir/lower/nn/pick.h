/* pick.h - shared by operators that select elements by value: visits them in falling (or rising) order, and measures
 * the overlap of boxes.
 *
 *     ac_walk w = {.x = buffer, .base = first element, .n = how many};
 *     ac_walk_open(L, &w);
 *     for (..) { ac_walk_next(L, &w); ac_lb_get(b, w.index) is the next element, or -1 }
 *
 * Each step scans all elements, so it costs n, without sorting and without memory. */
#ifndef AC_IR_LOWER_NN_PICK_H
#define AC_IR_LOWER_NN_PICK_H
#include "ir/lower/arithmetic.h"

/* `value` and `index` are variables that hold the last element taken (index -1: none yet), and the next one at the end
 * (index -1: no more). Equal values are ordered by index. */
typedef struct ac_walk {
    int32_t x;      /* buffer */
    ac_x base;      /* of the row */
    int64_t n;      /* elements */
    ac_x least;     /* only values above this one count; 0: all */
    bool inclusive; /* .. and those equal to it */
    bool rising;    /* least first */
    bool keep_nan;  /* NaN is above all numbers and equal to NaN; without it, NaN is never taken */
    ac_x value, index;
} ac_walk;

void ac_walk_open(ac_lower *L, ac_walk *w);
void ac_walk_next(ac_lower *L, ac_walk *w);

/* An unsigned integer of as many bits that is ordered as floats are: NaN is above all numbers and equal to NaN, -0 is
 * equal to 0. */
ac_x ac_float_order(ac_lb *b, ac_x v);

typedef struct ac_box {
    ac_x top, left, bottom, right, area;
} ac_box;

ac_box ac_box_of(ac_lb *b, const ac_x corner[4]); /* two opposite corners: y, x, y, x */
/* Left, top, right, bottom; without area when they are the other way round. */
ac_box ac_box_ordered(ac_lb *b, const ac_x v[4]);
ac_box ac_box_at(ac_lb *b, int32_t buf, ac_x i);                 /* the i-th four values */
ac_x ac_box_overlap(ac_lb *b, const ac_box *p, const ac_box *q); /* area of the intersection over that of the union; 0
                                                                    for boxes without area */

#endif
