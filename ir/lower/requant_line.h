/* requant_line.h - requantisation by one product, proven equal to the reference.
 *
 * What a channel stores for an accumulator is a step function that never falls: requantise, add the zero point, clamp.
 * It has at most 255 steps in bytes, so a cheaper function that never falls either is equal to it everywhere if both
 * agree on the two sides of each step. Forms, sign = acc >> 31:
 *
 *     PLAIN    y = (p + c) >> post                    c holds rounding, zero point and, where it has 64 bits, the bias
 *     SIGNED   y = (p + (c ^ sign) + k) >> post       c is not negative: where negatives round differently
 *
 *     LONG     p = acc * m, all of it                 i64; a sum of 64 bits is one instruction on Cortex-M3 and later
 *     HIGH     p = (acc << pre) * m >> 32             i32; the high half alone is one instruction on RISC-V
 *     WORD     p = acc * m                            i32, where accumulators are small
 *     SPLIT    p = acc * (m >> drop) + (acc * (m % 2^drop) >> drop)        i32: floor(acc * m / 2^drop)
 *     THIRDS   the same with m in three parts, drop / 2 bits the lower two: m has all 31 bits
 *
 * then clamped to lo..hi. `post` may differ between channels, where multipliers differ too much for one. The two
 * roundings of the reference (quant.c) move negative accumulators by 2^31 / q.m; unless a clamp cuts them off, no line
 * goes through both halves, and SIGNED has one for each.
 *
 *     ac_steps f[64] = {{.q = q, .zero = -128, .lo = -128, .hi = 127, .from = -90000, .to = 120000}, ...};
 *     ac_line line = ac_line_find(f, 64, AC_MUL_LONG, of);      line.kind is AC_LINE_NONE: no form fits all channels
 *
 * Each step is an inequality that is linear in m and c: c has an interval for every m, whose width is concave in m. The
 * nearest m nearly always has one; else the widest is searched for. Then every step is compared (ac_line_proven).
 * Cost: about 4 microseconds for a channel of 255 steps. */
#ifndef AC_IR_LOWER_REQUANT_LINE_H
#define AC_IR_LOWER_REQUANT_LINE_H
#include "ir/lower/fixed_point.h"

#include <math.h>

/* The stored value of an accumulator, as the reference computes it. */
typedef struct ac_steps {
    bool real;            /* round(acc * scale) in double, half away from zero; else q with its two roundings */
    double scale;         /* of a real one */
    ac_multiplier q;      /* ... and else */
    int32_t zero, lo, hi; /* clamp(... + zero) */
    int64_t from, to;     /* accumulators that can occur */
    int32_t bias;         /* added to them first: part of what a line's c holds; 0: they have theirs */
} ac_steps;
static inline int32_t ac_steps_at(const ac_steps *f, int32_t acc)
{
    int64_t y = f->zero;
    acc += f->bias;
    if (f->real) {
        const double v = round((double)acc * f->scale), most = 1073741824.0;
        y += (int64_t)(v < -most ? -most : v > most ? most : v);
    } else {
        y += ac_fx_requant(acc, f->q);
    }
    return (int32_t)(y < f->lo ? f->lo : y > f->hi ? f->hi : y);
}

/* The least accumulator in (after, to] whose value is y or more; there is one. */
int64_t ac_steps_reach(const ac_steps *f, int64_t after, int32_t y);

typedef enum ac_line_kind { AC_LINE_NONE, AC_LINE_PLAIN, AC_LINE_SIGNED } ac_line_kind;
typedef enum ac_line_product {
    AC_LINE_LONG,
    AC_LINE_HIGH,
    AC_LINE_WORD,
    AC_LINE_SPLIT,
    AC_LINE_THIRDS
} ac_line_product;
/* What all channels of a step have in common. */
typedef struct ac_line {
    ac_line_kind kind;
    ac_line_product product;
    int32_t rank; /* place in the order of costs */
    bool vary;    /* post differs between channels */
    int32_t pre;  /* HIGH: acc is shifted to the left */
    int32_t drop; /* low bits of the product that are left out: HIGH 32 */
    bool clip;    /* SPLIT, THIRDS: acc is clamped to from..to first; no channel has a step outside */
    int32_t from, to;
    bool wraps; /* arithmetic of 32 bits is marked so: nothing in the loops bounds the accumulators */
} ac_line;
/* ... and what a channel has of its own. SIGNED: k is one for all if post is, else c is. post: 32 and more where it
 * varies and products are LONG. */
typedef struct ac_line_of {
    int32_t m, post;
    int64_t c, k;
} ac_line_of;
/* Not yet clamped. */
int64_t ac_line_at(const ac_line *line, const ac_line_of *of, int32_t acc);

/* The cheapest form for products of `mul` that n channels share, and the numbers of each. SIGNED needs biases of 0: the
 * sign is that of the sum. */
ac_line ac_line_find(const ac_steps *f, int64_t n, ac_mul mul, ac_line_of *of);
/* Are f and the form equal for all accumulators from f->from to f->to? */
bool ac_line_proven(const ac_steps *f, const ac_line *line, const ac_line_of *of);

/* Is `at`, which never falls, equal to f for all of them, where it is clamped? */
typedef int32_t ac_steps_fn(const void *with, int32_t acc);
bool ac_steps_same(const ac_steps *f, ac_steps_fn *at, const void *with);

/* requant_loops.c. The numbers of ac_line_of as values, 0: none. post: less 32 for LONG; k: its high half for LONG. */
typedef struct ac_line_values {
    ac_x m, c, k, post;
    ac_x middle, low; /* SPLIT, THIRDS: the lower parts of m, and m is the rest, shifted */
} ac_line_values;
/* Makes the parts of v->m, where the form has parts. */
void ac_line_cut(ac_lb *b, const ac_line *line, ac_line_values *v);
/* The form as loops: i32, not yet clamped. `of` has the numbers that are not values. */
ac_x ac_lo_requant_line(ac_lower *L, const ac_line *line, const ac_line_of *of, const ac_line_values *v, ac_x acc);
/* Clamped to lo..hi and stored as d: one instruction on many targets where the range is the type's. */
ac_x ac_lo_requant_clamp(ac_lower *L, ac_x v, int32_t lo, int32_t hi, ac_dtype d);
/* The form in words, for reports: "acc * m + c, 64 bits, by sign". L->out->requant gets it, once. */
void ac_lo_requant_note(ac_lower *L, const char *form);
const char *ac_line_words(ac_region *r, const ac_line *line);
/* f of i32 as type d: a line on firmware targets where one is proven, else the reference's arithmetic. */
ac_x ac_lo_requant_steps(ac_lower *L, const ac_steps *f, ac_x acc, ac_dtype d);

#endif
