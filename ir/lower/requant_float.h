/* requant_float.h - requantisation to bytes in floats, proven equal to the reference.
 *
 * What a channel stores for an accumulator is a step function of at most 255 steps that never falls (requant_line.h).
 * So is
 *
 *     y = rint(float(acc) * scale + c)               then clamped to lo..hi
 *
 * since every operation of it never falls, however it rounds: product and sum once, where the target has FMA, else one
 * after the other. Both are equal everywhere if they agree on the two sides of each step. c holds the zero point; each
 * step is an inequality linear in c, and the middle of the interval that all of them leave is tried first, then its
 * neighbours, then other scales. Where the reference rounds negative accumulators differently, and no clamp cuts them
 * off, they have a c of their own. A result is an int32 for every accumulator of 32 bits: scales are 0.5 at most.
 *
 * Floats have 24 bits, so that scales of a thousandth and less may leave nothing that agrees with every step.
 *
 * Vectors of AVX2 need a conversion, an FMA and a conversion that rounds for that (with a sign: a comparison and a
 * choice more), where integers need fourteen instructions.
 *
 *     ac_float_of of;
 *     if (ac_requant_float_find(&f, true, &of)) ...
 *
 * Cost: about 6 microseconds for a channel of 255 steps. */
#ifndef AC_IR_LOWER_REQUANT_FLOAT_H
#define AC_IR_LOWER_REQUANT_FLOAT_H
#include "ir/lower/requant_line.h"

typedef struct ac_float_of {
    float scale, c, below; /* below: c of negative accumulators */
} ac_float_of;

static inline bool ac_requant_float_by_sign(const ac_float_of *of)
{
    return of->below < of->c || of->below > of->c;
}

/* False: nothing that was tried agrees, or f is no such function. fma: how the target rounds. */
bool ac_requant_float_find(const ac_steps *f, bool fma, ac_float_of *of);
const char *ac_requant_float_words(bool by_sign); /* for reports */
/* Not yet clamped. */
int32_t ac_requant_float_at(const ac_float_of *of, bool fma, int32_t acc);

/* The form as loops: scale, c and below f32, of one lane or as many as acc; below 0: it is c. i32, not yet clamped. */
ac_x ac_lo_requant_float(ac_lower *L, ac_x acc, ac_x scale, ac_x c, ac_x below);
/* With the numbers of `of` for every lane. */
ac_x ac_lo_requant_float_of(ac_lower *L, ac_x acc, const ac_float_of *of);

#endif
