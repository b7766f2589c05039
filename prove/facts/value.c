/* value.c - makes abstract values: numbers, unknowns of a type, and joins of two. */
#include "prove/facts/evaluate.h"

#include <math.h>

ac_interval ac_p_range(ac_dtype d)
{
    if (d == AC_BOOL)
        return (ac_interval){0, 1};
    if (d == AC_U64)
        return (ac_interval){0, INT64_MAX};
    return (ac_interval){ac_dtype_min(d), ac_dtype_max(d)};
}

ac_pvalue ac_p_number(int64_t v)
{
    return (ac_pvalue){.in = {v, v}, .form = ac_affine_of(v)};
}

ac_pvalue ac_p_unknown(ac_prover *p, ac_dtype d, ac_interval in)
{
    ac_pvalue v = {
        .in = in, .least = -(double)INFINITY, .most = (double)INFINITY, .maybe_nan = true, .form = {.lost = true}};
    if (!ac_dtype_is_float(d))
        v.form = ac_affine_unknown(ac_know(&p->know, in.lo, in.hi));
    return v;
}

ac_pvalue ac_p_float_within(double least, double most, bool maybe_nan)
{
    return (ac_pvalue){.least = least, .most = most, .maybe_nan = maybe_nan, .form = {.lost = true}};
}

ac_pvalue ac_p_join(ac_prover *p, const ac_pvalue *a, const ac_pvalue *b, ac_dtype d)
{
    if (ac_dtype_is_float(d))
        return ac_p_float_within(fmin(a->least, b->least), fmax(a->most, b->most), a->maybe_nan || b->maybe_nan);
    const ac_affine gap = ac_affine_add(&b->form, &a->form, -1);
    const ac_interval in = ac_interval_join(a->in, b->in);
    if (gap.lost)
        return ac_p_unknown(p, d, in);
    if (!gap.n && !gap.c)
        return (ac_pvalue){.in = in, .form = a->form};
    const ac_interval by = ac_interval_join(ac_affine_interval(&p->know, &gap), (ac_interval){0, 0});
    const int32_t u = ac_know(&p->know, by.lo, by.hi);
    ac_alternative *either = AC_NEW_N(p->tmp, ac_alternative, 2);
    either[1].value = gap;
    p->know.unknown.item[u].one_of = either;
    p->know.unknown.item[u].n_one_of = 2;
    const ac_affine more = ac_affine_unknown(u);
    const ac_affine form = ac_affine_add(&a->form, &more, 1);
    return form.lost ? ac_p_unknown(p, d, in) : (ac_pvalue){.in = in, .form = form};
}

ac_pvalue *ac_p_variables(ac_prover *p, const ac_x *var, int32_t n)
{
    ac_pvalue *v = AC_NEW_N(p->tmp, ac_pvalue, n + 1);
    for (int32_t k = 0; k < n; k++)
        v[k] = p->value[var[k]];
    return v;
}

void ac_p_set_variables(ac_prover *p, const ac_x *var, int32_t n, const ac_pvalue *v)
{
    for (int32_t k = 0; k < n; k++)
        p->value[var[k]] = v[k];
}
