/* match.h - compares the expressions of a loop with a form; private to rows.c and words.c.
 *
 *     ac_matcher s = {.fn = fn, .loop = loop, .r = r};         loop variables: of channels, and words.c's inner ones
 *     ac_match_linear(&s, x)      x = loop * by + channel * by_c + row * (by_r + pitch) + k + base
 *
 * Memory: none. Cost: the size of the expression. */
#ifndef AC_CODEGEN_DSP_MATCH_H
#define AC_CODEGEN_DSP_MATCH_H
#include "codegen/dsp/rows.h"

typedef struct ac_matcher {
    const ac_loop_fn *fn;
    ac_x loop, channel, row; /* FORs; 0: none */
    ac_rows *r;
    ac_x tile;
    int32_t stored; /* bits: pixel * 4 + channel */
} ac_matcher;

typedef struct ac_linear {
    int64_t by, by_c, by_r, k;
    ac_x pitch;
    ac_rows_sum base;
} ac_linear;

static inline const ac_ins *ac_match_ins(const ac_matcher *s, ac_x x)
{
    return &s->fn->code.item[x];
}
/* One lane of that operation and type? */
bool ac_match_is(const ac_matcher *s, ac_x x, ac_lop op, ac_dtype d);
bool ac_match_int(const ac_matcher *s, ac_x x, int64_t v);
bool ac_match_same(const ac_matcher *s, ac_x a, ac_x b);
/* Takes x as the value at *p; the first one decides. */
bool ac_match_agree(const ac_matcher *s, ac_x *p, ac_x x);
ac_linear ac_match_linear(const ac_matcher *s, ac_x x);
/* Adds the instructions of the loop that x needs to r->needed; false: one of them depends on a loop variable, or may
 * not be computed before the loop. */
bool ac_match_need(const ac_matcher *s, ac_x x);
/* A constant's word `by` * channel + k; *buf: the constant, -1: any. */
bool ac_match_load(const ac_matcher *s, ac_x x, int32_t *buf, int64_t by, int64_t k);
/* The operand of a cast to i64; of the cast of x >> 32 to i32; 0: x is not one. */
ac_x ac_match_widened(const ac_matcher *s, ac_x x);
ac_x ac_match_high(const ac_matcher *s, ac_x x);
/* x = by * m, m of channel c; returns by. */
ac_x ac_match_times_m(const ac_matcher *s, ac_x x, int32_t c);

/* rows.c: the form of pairs. */
bool ac_pairs_find(ac_region *region, const ac_loop_fn *fn, ac_x loop, ac_rows *r);

#endif
