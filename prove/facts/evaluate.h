/* evaluate.h - abstract values of operators: ranges of types, joins, conditions, integer and float arithmetic. */
#ifndef AC_PROVE_FACTS_EVALUATE_H
#define AC_PROVE_FACTS_EVALUATE_H
#include "prove/facts/prover.h"

/* value.c */
ac_interval ac_p_range(ac_dtype d); /* of an integer type; U64: the upper end stands for INT64_MAX and beyond */
ac_pvalue ac_p_number(int64_t v);
ac_pvalue ac_p_unknown(ac_prover *p, ac_dtype d, ac_interval in); /* a new unknown within the interval; floats: any */
ac_pvalue ac_p_float_within(double least, double most, bool maybe_nan);
ac_pvalue ac_p_join(ac_prover *p, const ac_pvalue *a, const ac_pvalue *b, ac_dtype d); /* a value that is a or b */

/* Values of variables, and back. */
ac_pvalue *ac_p_variables(ac_prover *p, const ac_x *var, int32_t n);
void ac_p_set_variables(ac_prover *p, const ac_x *var, int32_t n, const ac_pvalue *v);

/* conditions.c */
/* Adds facts of the condition x, which is true or false here. False if the facts are weaker than the condition. */
bool ac_p_assume(ac_prover *p, ac_x x, bool truth);
/* `in`, narrowed by the facts that bound the sum by a number. */
ac_interval ac_p_by_facts(const ac_prover *p, const ac_affine *form, ac_interval in);

/* arithmetic.c: integer operators, with their claims. */
void ac_p_integer(ac_prover *p, ac_x x);
/* Arithmetic marked `wrap` is taken not to wrap while invariants are looked for. Before a pass over the call: nothing
 * is taken so yet. After it, true if something does wrap that was taken not to: the pass is void. */
void ac_p_trust_begin(ac_prover *p);
bool ac_p_trust_failed(const ac_prover *p);

/* floats.c */
void ac_p_float(ac_prover *p, ac_x x);
void ac_p_float_to_int(ac_prover *p, ac_x x);

#endif
