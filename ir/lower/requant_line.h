/* requant_line.h - requantisation by one product, proven equal to the reference.
 *
 * The stored value of a channel is a monotonic step function of the accumulator: requantise, add the zero point, clamp.
 * Bytes have at most 255 steps, so a cheaper monotonic function is equal to it everywhere if both agree on the two
 * sides of each step. Forms, sign = acc >> 31:
 *
 *     PLAIN    y = (p + c) >> post                    c holds rounding, zero point and, if it has 64 bits, the bias
 *     SIGNED   y = (p + (c ^ sign) + k) >> post       c is not negative: where negatives round differently
 *
 *     LONG     p = acc * m, all of it                 i64; a sum of 64 bits is one instruction on Cortex-M3 and later
 *     HIGH     p = (acc << pre) * m >> 32             i32; the high half alone is one instruction on RISC-V
 *     WORD     p = acc * m                            i32, for small accumulators
 *     SPLIT    p = acc * (m >> drop) + (acc * (m % 2^drop) >> drop)        i32: floor(acc * m / 2^drop)
 *     THIRDS   the same with m in three parts, drop / 2 bits the lower two: m has all 31 bits
 *
 * then clamped to lo..hi. `post` differs between channels if their multipliers differ too much for a common one. The
 * two roundings of the reference (quant.c) move negative accumulators by 2^31 / q.m; unless a clamp hides that, no line
 * goes through both halves, and SIGNED has one for each.
 *
 *     ac_steps f[64] = {{.q = q, .zero = -128, .lo = -128, .hi = 127, .from = -90000, .to = 120000}, ...};
 *     ac_line line = ac_line_find(f, 64, AC_MUL_LONG, of);      line.kind is AC_LINE_NONE: no form fits all channels
 *
 * Each step is an inequality that is linear in m and c: for every m, c has an interval, and its width is concave in m.
 * The nearest m nearly always has one; else the search looks for the widest. Then every step is compared
 * (ac_line_proven). Cost: about 4 microseconds for a channel of 255 steps. */
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
    int32_t bias;         /* bias, added to accumulators first and included in a line's c; 0: accumulators contain it */
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

/* The smallest accumulator in (after, to] whose value is y or more; it must exist. */
int64_t ac_steps_reach(const ac_steps *f, int64_t after, int32_t y);

typedef enum ac_line_kind { AC_LINE_NONE, AC_LINE_PLAIN, AC_LINE_SIGNED } ac_line_kind;
typedef enum ac_line_product {
    AC_LINE_LONG,
    AC_LINE_HIGH,
    AC_LINE_WORD,
    AC_LINE_SPLIT,
    AC_LINE_THIRDS
} ac_line_product;
/* The part of a form that all channels of a step share. */
typedef struct ac_line {
    ac_line_kind kind;
    ac_line_product product;
    int32_t rank; /* place in the order of costs */
    bool vary;    /* post differs between channels */
    int32_t pre;  /* HIGH: acc is shifted to the left */
    int32_t drop; /* low bits of the product that are dropped: HIGH 32 */
    bool clip;    /* SPLIT, THIRDS: acc is clamped to from..to first; no channel has a step outside */
    int32_t from, to;
    bool wraps; /* for marking arithmetic as 32-bit: nothing in the loops bounds the accumulators */
    bool pairs; /* 2^pre is written as a product by 256: sums of the odd channels of TILE's pairs are already 256 times
                 * as large */
} ac_line;
/* The part of a form that differs by channel. SIGNED: k is common if post is, else c is common. post: at least 32 if it
 * varies and products are LONG. */
typedef struct ac_line_of {
    int32_t m, post;
    int64_t c, k;
} ac_line_of;
/* Not yet clamped. */
int64_t ac_line_at(const ac_line *line, const ac_line_of *of, int32_t acc);

/* The cheapest form for products of `mul` that n channels share, and the constants of each. SIGNED needs biases of 0:
 * the sign is that of the sum. */
ac_line ac_line_find(const ac_steps *f, int64_t n, ac_mul mul, ac_line_of *of);
/* True if f and the form are equal for all accumulators from f->from to f->to. */
bool ac_line_proven(const ac_steps *f, const ac_line *line, const ac_line_of *of);

/* True if `at`, which is monotonic, equals f for all of them after clamping. */
typedef int32_t ac_steps_fn(const void *with, int32_t acc);
bool ac_steps_same(const ac_steps *f, ac_steps_fn *at, const void *with);

/* requant_loops.c. The constants of ac_line_of as values, 0: none. post: less 32 for LONG; k: its high half for
 * LONG. */
typedef struct ac_line_values {
    ac_x m, c, k, post;
    ac_x middle, low; /* SPLIT, THIRDS: the lower parts of m, and m is the rest, shifted */
} ac_line_values;
/* Splits v->m, if the form has parts. */
void ac_line_cut(ac_lb *b, const ac_line *line, ac_line_values *v);
/* The form as loops: i32, not yet clamped. `of` has the constants that are not in v. */
ac_x ac_lo_requant_line(ac_lower *L, const ac_line *line, const ac_line_of *of, const ac_line_values *v, ac_x acc);
/* Clamped to lo..hi and stored as d: one instruction on many targets if the range is that of the type. */
ac_x ac_lo_requant_clamp(ac_lower *L, ac_x v, int32_t lo, int32_t hi, ac_dtype d);
/* The form as text for reports: "acc * m + c, 64 bits, by sign". Sets L->out->requant once. */
void ac_lo_requant_note(ac_lower *L, const char *form);
const char *ac_line_words(ac_region *r, const ac_line *line);
/* f of i32 as type d: a line on firmware targets if one is proven, else the reference's arithmetic. */
ac_x ac_lo_requant_steps(ac_lower *L, const ac_steps *f, ac_x acc, ac_dtype d);

#endif
