/* spot.h - the index of a load as a sum, to be taken apart into the positions in the dimensions of a constant.
 *
 *     load f32x8 k[%9]          %9 = %i * 256 + %j         0 <= i < 1024, j = 0, 8, .. 248
 *
 *     ac_spot at = ac_spot_of(b, fn, map, x, lanes);       256 i + j
 *     ac_spot row = ac_spot_split(b, &at, 256);            row is i, and at is j: no division
 *
 * A quotient that cannot be read off the terms is computed by loops (div, mod), if the terms are loop variables or
 * indices that the loops check. All lanes of a load have the same quotient, or the split fails. Indices are not
 * negative. */
#ifndef AC_IR_LOWER_RECIPE_SPOT_H
#define AC_IR_LOWER_RECIPE_SPOT_H
#include "ir/loop/loop.h"

enum { AC_SPOT_TERMS = 16 };

/* base + sum of value * by, and + l in lane l of `lanes` if `along`. */
typedef struct ac_spot {
    int32_t n;
    struct ac_spot_term {
        ac_x value; /* i32, 0 <= value <= most, a multiple of unit */
        int64_t by, most, unit;
    } term[AC_SPOT_TERMS];
    int64_t base;
    int32_t lanes;
    bool along, failed;
} ac_spot;

/* Value x of fn; map[v] is value v in the function that b builds. */
ac_spot ac_spot_of(ac_lb *b, const ac_loop_fn *fn, const ac_x *map, ac_x x, int32_t lanes);
/* The quotient by `size`; *at becomes the remainder. */
ac_spot ac_spot_split(ac_lb *b, ac_spot *at, int64_t size);
/* to += from * by; lanes of `from` must be those of by 1, or all the same. */
void ac_spot_add(ac_spot *to, const ac_spot *from, int64_t by);
bool ac_spot_in_step(const ac_spot *s);          /* true if its first lane is at a multiple of the lanes */
ac_x ac_spot_value(ac_lb *b, const ac_spot *at); /* of the first lane */

#endif
