/* replay_ranges.h - integers and their ranges. */
#ifndef REPLAY_RANGES_H
#define REPLAY_RANGES_H
#include "prove/replay/replay.h"

static inline whole smaller(whole a, whole b)
{
    return a < b ? a : b;
}

static inline whole larger(whole a, whole b)
{
    return a > b ? a : b;
}

static inline bool is_known(const range *r)
{
    return r->lo == r->hi;
}

static inline range between(whole lo, whole hi)
{
    return (range){.lo = lo, .hi = hi, .written = true};
}

static inline bool fits(const range *r, type t)
{
    return r->lo >= type_lo(t) && r->hi <= type_hi(t);
}

/* replay_casts.c */
range converted(const instruction *x, const instruction *from, const range *a);
range joined_words(const instruction *code, const instruction *x, int32_t lane);
bool low_word(const instruction *x, const range *a, const range *b, range *r);

#endif
