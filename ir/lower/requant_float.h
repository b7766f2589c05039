/* requant_float.h - requantisation to bytes in floats, proven equal to the reference.
 *
 * The stored value of a channel is a monotonic step function of the accumulator with at most 255 steps
 * (requant_line.h). So is
 *
 *     y = rint(float(acc) * scale + c)               then clamped to lo..hi
 *
 * since each operation is monotonic however it rounds (one rounding for product and sum if the target has FMA, else
 * two). Both are equal everywhere if they agree on the two sides of each step. c holds the zero point; each step is an
 * inequality linear in c. The search tries the middle of the interval that satisfies all of them, then its neighbours,
 * then other scales. If the reference rounds negative accumulators differently and no clamp hides that, they get a
 * separate c. A result is an int32 for every accumulator of 32 bits: scales are 0.5 at most.
 *
 * Floats have 24 bits, so for scales of a thousandth and less there may be no c that agrees with every step.
 *
 * Vectors of AVX2 need a conversion, an FMA and a conversion that rounds for that (with a sign: also a comparison and a
 * selection); integers need fourteen instructions.
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

/* False: no candidate agrees, or f is not such a function. fma: how the target rounds. */
bool ac_requant_float_find(const ac_steps *f, bool fma, ac_float_of *of);
const char *ac_requant_float_words(bool by_sign); /* for reports */
/* Not yet clamped. */
int32_t ac_requant_float_at(const ac_float_of *of, bool fma, int32_t acc);

/* The form as loops: scale, c and below f32, with one lane or as many as acc; below == 0: use c. i32, not yet
 * clamped. */
ac_x ac_lo_requant_float(ac_lower *L, ac_x acc, ac_x scale, ac_x c, ac_x below);
/* With the constants of `of` in every lane. */
ac_x ac_lo_requant_float_of(ac_lower *L, ac_x acc, const ac_float_of *of);

#endif
