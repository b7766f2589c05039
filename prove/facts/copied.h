/* copied.h - scratch that holds elements of a constant, because nothing but copies of them is stored there:
 *
 *     for i in 0 .. n { c[i] = k[i] }                                          then c[x] is k[x]
 *     for block { base = ..; for i in 0 .. n { c[i] = k[i + base] }; .. }      then c[x] is k[x + base] after the copy
 *
 * In the second form every iteration of the loop around stores the same elements, before it reads any. Both hold for
 * elements that were stored; that no other is read is a claim of its own. */
#ifndef AC_PROVE_FACTS_COPIED_H
#define AC_PROVE_FACTS_COPIED_H
#include "prove/facts/prover.h"

typedef struct ac_copied {
    ac_const *konst; /* NULL: none */
    ac_x base;       /* a value; 0: the number 0 */
} ac_copied;

void ac_p_find_copied(const ac_prover *p, ac_copied *out);         /* out: by buffer */
ac_const *ac_p_argument_constant(const ac_prover *p, int32_t buf); /* NULL: the argument is not a constant */

#endif
