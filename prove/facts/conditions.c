/* conditions.c - turns conditions of branches into facts, and reads bounds off facts. */
#include "prove/facts/evaluate.h"

/* a + slack <= b */
static bool assume_below(ac_prover *p, ac_x a, ac_x b, int64_t slack)
{
    const ac_affine gap = ac_affine_add(&p->value[b].form, &p->value[a].form, -1), f = ac_affine_plus(&gap, -slack);
    ac_know_fact(&p->know, &f);
    return !f.lost;
}

bool ac_p_assume(ac_prover *p, ac_x x, bool truth)
{
    const ac_ins *i = ac_p_ins(p, x);
    const bool numbers = i->op >= AC_L_EQ && i->op <= AC_L_LE && !ac_dtype_is_float((ac_dtype)ac_p_ins(p, i->a)->dtype);
    if (i->op == AC_L_NOT)
        return ac_p_assume(p, i->a, !truth);
    if ((i->op == AC_L_AND && truth) || (i->op == AC_L_OR && !truth)) {
        const bool a = ac_p_assume(p, i->a, truth), b = ac_p_assume(p, i->b, truth);
        return a && b;
    }
    if (numbers && (i->op == AC_L_LT || i->op == AC_L_LE)) {
        const int64_t slack = i->op == AC_L_LT;
        return truth ? assume_below(p, i->a, i->b, slack) : assume_below(p, i->b, i->a, 1 - slack);
    }
    if (numbers && truth == (i->op == AC_L_EQ)) {
        const bool a = assume_below(p, i->a, i->b, 0), b = assume_below(p, i->b, i->a, 0);
        return a && b;
    }
    return false;
}

ac_interval ac_p_by_facts(const ac_prover *p, const ac_affine *form, ac_interval in)
{
    for (int32_t i = 0; i < p->know.fact.n && !form->lost; i++) {
        const ac_affine *f = &p->know.fact.item[i];
        const ac_affine over = ac_affine_add(f, form, 1), under = ac_affine_add(form, f, -1);
        if (!over.lost && !over.n && over.c < in.hi) /* form = c - f, and f >= 0 */
            in.hi = over.c;
        if (!under.lost && !under.n && under.c > in.lo)
            in.lo = under.c;
    }
    return in;
}
