/* requant_line.h - requantisation by one product, proven equal to the reference.
 *
 * What a channel stores for an accumulator is a step function that never falls: requantise, add the zero point, clamp.
 * It has at most 255 steps in bytes, so a cheaper function that never falls either is equal to it everywhere if both
 * agree on the two sides of each step. Forms, sign = acc >> 31:
 *
 *     PLAIN    y = (acc * m + c) >> post                       c i64 holds rounding, zero point and perhaps the bias
 *     SIGNED   y = (acc * m + (c ^ sign) + k) >> post          c i32, at least 0: where negatives round differently
 *     high     the same with high halves only:  ((acc << pre) * m >> 32) + c  and so on, all i32
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
#include "ir/lower/lower.h"

/* The stored value of an accumulator, as the reference computes it. */
typedef struct ac_steps {
    bool real;            /* round(acc * scale) in double, half away from zero; else q with its two roundings */
    double scale;         /* of a real one */
    ac_multiplier q;      /* ... and else */
    int32_t zero, lo, hi; /* clamp(... + zero) */
    int64_t from, to;     /* accumulators that can occur, bias included */
} ac_steps;
int32_t ac_steps_at(const ac_steps *f, int32_t acc);

typedef enum ac_line_kind { AC_LINE_NONE, AC_LINE_PLAIN, AC_LINE_SIGNED } ac_line_kind;
/* What all channels of a step have in common. */
typedef struct ac_line {
    ac_line_kind kind;
    bool high;   /* of each product only the high half */
    bool vary;   /* post differs between channels */
    int32_t pre; /* acc is shifted to the left (high only) */
} ac_line;
/* ... and what a channel has of its own. SIGNED: k is one for all if post is, else c is. post: 32 and more where it
 * varies and products are whole. */
typedef struct ac_line_of {
    int32_t m, post;
    int64_t c, k;
} ac_line_of;
/* Not yet clamped. */
int64_t ac_line_at(const ac_line *line, const ac_line_of *of, int32_t acc);

/* The cheapest form for products of `mul` that n channels share, and the numbers of each. */
ac_line ac_line_find(const ac_steps *f, int64_t n, ac_mul mul, ac_line_of *of);
/* Are f and the form equal for all accumulators from f->from to f->to? */
bool ac_line_proven(const ac_steps *f, const ac_line *line, const ac_line_of *of);

#endif
