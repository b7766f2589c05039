/* inside.c - shows that elements are inside their buffer, by the sum of unknowns that their index is. */
#include "prove/strategy/strategies.h"

bool ac_p_inside_by_sum(ac_prover *p, int32_t buf, const ac_pvalue *index, const ac_affine *n)
{
    const ac_affine end = ac_affine_add(&index->form, n, 1), over = ac_affine_plus(&end, -p->count[buf]),
                    first = index->in.lo >= 0 ? ac_affine_of(0) : index->form;
    return !index->form.lost && ac_is_from_0(&p->know, &first, &over);
}
