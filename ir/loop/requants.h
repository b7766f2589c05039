/* requants.h - REQUANT: turns accumulators into stored bytes, `lanes` at a time, on processors with vectors of words.
 *
 *     v = acc[lanes * row + l] + table[bias + l]                 wraps
 *     v = v * 2^pre * table[at + l] / 2^31, rounded to nearest, ties up; saturated
 *     v = v / 2^e rounded to nearest, ties up; ties away from zero with `away`;  table[at + lanes + l] = -e, e >= 0
 *     y[l] = clamp(v + zero, lo, hi)                             l < lanes
 *
 * which is the reference's requantisation (docs/numerics.md) with shifts to the right. Like a STORE of `lanes` elements
 * to buffer aux from element a on; b is `at` and c is `bias`, elements of one table of constants.
 *
 *     ac_requants q = {.y = out, .acc = acc, .lanes = 4, .row = 1, .table = t, .zero = -128, .lo = -128, .hi = 127};
 *     ac_lb_requant(b, q, y_at, at, bias);
 *
 * `away` needs e >= 1 in all lanes: negative values are decremented before the shift. */
#ifndef AC_IR_LOOP_REQUANTS_H
#define AC_IR_LOOP_REQUANTS_H
#include "ir/loop/loop.h"

typedef struct ac_requants {
    int32_t y, acc, table; /* buffers: i8; a local array of i32; i32 */
    int32_t lanes;         /* <= 32 */
    int32_t row;           /* < 16 */
    int32_t zero, lo, hi;  /* bytes */
    int32_t pre;           /* < 32 */
    bool away;
} ac_requants;

void ac_lb_requant(ac_lb *b, ac_requants q, ac_x y_at, ac_x at, ac_x bias);
ac_requants ac_ins_requant(const ac_ins *i);
void ac_requant_put(ac_ins *i, const ac_requants *q);

/* The definition of a lane. acc: with the bias. */
int32_t ac_requant_at(const ac_requants *q, int32_t acc, int32_t m, int32_t e);
void ac_requant_run(const ac_requants *q, const int32_t *acc, const int32_t *m, const int32_t *bias, int8_t *y);

#endif
