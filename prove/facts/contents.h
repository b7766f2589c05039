/* contents.h - integers and floats that a load can give, by buffer: constants as they are, what the call itself stores
 * to scratch, locals and results, and what earlier steps stored to operands. */
#ifndef AC_PROVE_FACTS_CONTENTS_H
#define AC_PROVE_FACTS_CONTENTS_H
#include "prove/facts/copied.h"
#include "prove/facts/prover.h"
#include "prove/facts/step_ranges.h"

void ac_p_contents_open(ac_prover *p, const ac_step_ranges *earlier);
/* True if loads of some buffer see the call's own stores alone, and their numbers matter. */
bool ac_p_contents_own(const ac_prover *p);
void ac_p_contents_begin(ac_prover *p);  /* a pass: nothing is stored yet */
void ac_p_contents_settle(ac_prover *p); /* after a pass for the stores: they are all that own buffers hold */
/* After a pass over one of the step's calls: its stores join those of the calls before it, if it is not the first. */
void ac_p_contents_join(ac_prover *p, bool first);
bool ac_p_contents_left(const ac_prover *p, int32_t buf, ac_interval *in); /* ... all of them; false: unknown */

ac_interval ac_p_content(const ac_prover *p, int32_t buf);
/* The constant that the buffer is, or that is copied there as a whole; NULL: it is not one. */
ac_const *ac_p_constant(const ac_prover *p, int32_t buf);
ac_copied ac_p_copied(const ac_prover *p, int32_t buf);
/* Integers that a load of `lanes` elements from `index` on can give. */
ac_interval ac_p_loaded(ac_prover *p, int32_t buf, const ac_pvalue *index, int32_t lanes);
void ac_p_loaded_float(ac_prover *p, const ac_ins *i, ac_pvalue *v); /* v is narrowed to the floats of a constant */
void ac_p_put(ac_prover *p, int32_t buf, ac_interval in);            /* integers that are stored */
void ac_p_stored(ac_prover *p, ac_x x);                              /* instruction x stores integers */

#endif
