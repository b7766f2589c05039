/* moving.h - integers that move with a loop: in iteration i between lo + by * i and hi + by * i.
 *
 *     ac_moving_in in = {.affine = true, .n = 49};
 *     ac_moving i = {0, 0, 2, true};                       the loop's variable: 0, 2, .. 96
 *     ac_moving sum = ac_moving_of(&in, add, i, ac_moving_exactly(3), AC_MOVING_UNKNOWN);
 *     if (in.lost) ...                                     it is not affine: take the iterations one by one
 *
 * Outside of such a loop `by` is 0, and the values are intervals. Cost: constant. Overflow: addresses are far below
 * 2^63. */
#ifndef AC_IR_LOOP_ACCESS_MOVING_H
#define AC_IR_LOOP_ACCESS_MOVING_H
#include "ir/loop/loop.h"

typedef struct ac_moving {
    int64_t lo, hi, by;
    bool known;
} ac_moving;

/* Where values are computed */
typedef struct ac_moving_in {
    bool affine; /* in a loop that is evaluated as a whole */
    int64_t n;   /* ... its iterations */
    bool lost;   /* ... something is not affine */
} ac_moving_in;

static const ac_moving AC_MOVING_UNKNOWN = {0};

static inline ac_moving ac_moving_exactly(int64_t v)
{
    return (ac_moving){v, v, 0, true};
}

static inline bool ac_moving_is_exact(ac_moving v)
{
    return v.known && v.lo == v.hi && !v.by;
}

/* Of the instruction with operands a, b, c. A result that overflows its type is unknown. */
ac_moving ac_moving_of(ac_moving_in *in, const ac_ins *i, ac_moving a, ac_moving b, ac_moving c);

#endif
