/* renaming.h - what is known of one iteration of a loop, said of another one: its unknowns get copies, of which the
 * same is true.
 *
 *     ac_renaming r;
 *     ac_renaming_open(&r, know, counter, know->unknown.n);     unknowns from the counter on are an iteration's
 *     ac_rename_all(&r, sum, 2);                               copies of all that these two sums name
 *     other = ac_rename_sum(&r, &sum[0]);                      the sum in the other iteration */
#ifndef AC_PROVE_RENAMING_H
#define AC_PROVE_RENAMING_H
#include "prove/domain/affine.h"

typedef struct ac_renaming {
    ac_knowledge *know;
    int32_t since, n; /* unknowns since <= u < n belong to an iteration */
    int32_t *to;      /* by unknown from `since` on: its copy; 0: none yet. May be set beforehand */
    /* Unknowns from <= u < until of a copy have these intervals; NULL: those that they have now. */
    const ac_interval *any;
    int32_t from, until;
} ac_renaming;

void ac_renaming_open(ac_renaming *r, ac_knowledge *know, int32_t since, int32_t n);
int32_t ac_renamed(ac_renaming *r, int32_t unknown);
ac_affine ac_rename_sum(ac_renaming *r, const ac_affine *a);
/* What is in the sums, in order of age, so that bounds name older unknowns only. */
void ac_rename_all(ac_renaming *r, const ac_affine *sum, int32_t n);

#endif
