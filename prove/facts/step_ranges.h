/* step_ranges.h - the integers that steps can have stored to each tensor, for the steps that read it. */
#ifndef AC_PROVE_FACTS_STEP_RANGES_H
#define AC_PROVE_FACTS_STEP_RANGES_H
#include "prove/facts/prover.h"

/* The stores to a tensor without a root, and to views of it. */
typedef struct ac_step_range {
    const ac_tensor *root;
    ac_dtype dtype;
    ac_interval in;
    bool any, anything; /* something was stored; all values of its type are possible */
} ac_step_range;

typedef struct ac_step_ranges {
    ac_region *region;
    AC_VEC(ac_step_range) range;
} ac_step_ranges;

void ac_step_ranges_open(ac_step_ranges *s, const ac_module *m, ac_region *r);
/* Integers that argument `arg` of p's call, which it only reads, can hold; those of its type if unknown. */
ac_interval ac_step_ranges_given(const ac_step_ranges *s, const ac_prover *p, int32_t arg);
/* After p's call: argument `arg` holds integers in *stored, or unknown ones (NULL). */
void ac_step_ranges_leave(ac_step_ranges *s, const ac_prover *p, int32_t arg, const ac_interval *stored);

#endif
