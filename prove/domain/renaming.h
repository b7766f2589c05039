/* renaming.h - copies the unknowns of an iteration of a loop, with their bounds, to speak of another iteration.
 *
 *     ac_renaming r;
 *     ac_renaming_open(&r, know, counter, know->unknown.n);     unknowns from the counter on belong to an iteration
 *     ac_rename_all(&r, sum, 2);                               copies of all unknowns that two sums name
 *     other = ac_rename_sum(&r, &sum[0]);                      the sum in the other iteration */
#ifndef AC_PROVE_RENAMING_H
#define AC_PROVE_RENAMING_H
#include "prove/domain/affine.h"

typedef struct ac_renaming {
    ac_knowledge *know;
    int32_t since, n; /* unknowns since <= u < n belong to an iteration */
    int32_t *to;      /* by unknown from `since` on: its copy; 0: none yet. May be set beforehand */
} ac_renaming;

void ac_renaming_open(ac_renaming *r, ac_knowledge *know, int32_t since, int32_t n);
int32_t ac_renamed(ac_renaming *r, int32_t unknown);
ac_affine ac_rename_sum(ac_renaming *r, const ac_affine *a);
/* Copies all unknowns of the sums in order of age, so that bounds name older unknowns only. */
void ac_rename_all(ac_renaming *r, const ac_affine *sum, int32_t n);

#endif
