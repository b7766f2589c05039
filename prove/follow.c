/* follow.c - the structure of a function: its blocks in order, what variables hold, what is true in branches. Loops
 * are in loops.c. */
#include "ir/loop/ins_fields.h"
#include "prove/cover.h"
#include "prove/extremes.h"

#include <math.h>

/* ------------------------------------------------------------------ conditions */

static bool assume_below(ac_prover *p, ac_x a, ac_x b, int64_t slack) /* a + slack <= b */
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

/* ------------------------------------------------------------------ variables */

ac_pvalue ac_p_join(ac_prover *p, const ac_pvalue *a, const ac_pvalue *b, ac_dtype d)
{
    if (ac_dtype_is_float(d))
        return (ac_pvalue){.least = fmin(a->least, b->least),
                           .most = fmax(a->most, b->most),
                           .maybe_nan = a->maybe_nan || b->maybe_nan,
                           .form = {.lost = true}};
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

bool ac_p_stores_between(const ac_prover *p, ac_x from, ac_x to, int32_t buf)
{
    for (ac_x k = from; k < to; k++)
        if (ac_p_ins(p, k)->op != AC_L_LOAD && ac_ins_uses_buffer(ac_p_ins(p, k), buf))
            return true;
    return false;
}

/* Variables declared before x that the instructions from x up to `to` set; asked once, then known. */
const ac_x *ac_p_set_between(ac_prover *p, ac_x x, ac_x to, int32_t *n)
{
    ac_pset *known = &p->set[x];
    if (!known->var || known->to != to) {
        *known = (ac_pset){.to = to};
        known->var = AC_NEW_N(p->keep, ac_x, to - x + 1);
        bool *seen = AC_NEW_N(p->tmp, bool, x + 1);
        for (ac_x k = x; k < to; k++) {
            const ac_ins *i = ac_p_ins(p, k);
            if (i->op == AC_L_SET && i->aux < x && !seen[i->aux]) {
                seen[i->aux] = true;
                known->var[known->n++] = i->aux;
            }
        }
    }
    *n = known->n;
    return known->var;
}

ac_pvalue *ac_p_values_of(ac_prover *p, const ac_x *var, int32_t n)
{
    ac_pvalue *v = AC_NEW_N(p->tmp, ac_pvalue, n + 1);
    for (int32_t k = 0; k < n; k++)
        v[k] = p->value[var[k]];
    return v;
}

void ac_p_set_values(ac_prover *p, const ac_x *var, int32_t n, const ac_pvalue *v)
{
    for (int32_t k = 0; k < n; k++)
        p->value[var[k]] = v[k];
}

/* ------------------------------------------------------------------ branches */

/* Is what follows the branch at x looked at for each side by itself? */
static bool goes_apart(const ac_prover *p, ac_x x)
{
    enum { DEEPEST = 3 };
    return p->apart && p->apart[x] && p->sides < DEEPEST && !p->dry && !p->mute;
}

/* The branch at x, of a block that ends at `to`. Returns where to go on. */
static ac_x branch(ac_prover *p, ac_x x, ac_x to)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval cond = p->value[i->a].in;
    const ac_x middle = p->end[x], end = ac_p_end(p, x);
    if (cond.lo == cond.hi) {
        if (cond.lo)
            ac_p_follow(p, x + 1, middle);
        else if (middle != end)
            ac_p_follow(p, middle + 1, end);
        return end;
    }
    int32_t n;
    const bool apart = goes_apart(p, x);
    const ac_x *var = ac_p_set_between(p, x, apart ? to : end, &n);
    const ac_pvalue *before = ac_p_values_of(p, var, n);
    const int32_t facts = p->know.fact.n, extremes = ac_p_extremes(p);
    p->uncertain++;
    p->sides += apart;
    const bool all_true = ac_p_assume(p, i->a, true);
    ac_p_branch_begin(p, x, all_true ? facts : p->know.fact.n);
    ac_p_follow(p, x + 1, middle);
    if (apart)
        ac_p_follow(p, end + 1, to);
    p->know.fact.n = facts;
    ac_p_extremes_keep(p, extremes);
    const ac_pvalue *then = ac_p_values_of(p, var, n);
    ac_p_set_values(p, var, n, before);
    const bool all_false = ac_p_assume(p, i->a, false);
    ac_p_branch_else(p, x, all_false ? facts : p->know.fact.n);
    const int32_t otherwise = p->know.fact.n;
    if (middle != end)
        ac_p_follow(p, middle + 1, end);
    if (apart)
        ac_p_follow(p, end + 1, to);
    p->know.fact.n = otherwise;
    ac_p_extremes_keep(p, extremes);
    ac_p_branch_end(p);
    p->know.fact.n = facts;
    p->uncertain--;
    p->sides -= apart;
    for (int32_t k = 0; k < n; k++)
        p->value[var[k]] = ac_p_join(p, &then[k], &p->value[var[k]], (ac_dtype)ac_p_ins(p, var[k])->dtype);
    return apart ? to : end;
}

/* ------------------------------------------------------------------ statements */

/* Is the innermost loop around x the one that is followed as a schedule? */
static bool is_of_schedule(const ac_prover *p, ac_x x)
{
    const ac_x loop = ac_p_loop_around(p, x);
    return loop > 0 && loop == p->at_turn;
}

static void leave_early(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval cond = p->value[i->a].in;
    ac_pframe *f = p->frame;
    if (i->op == AC_L_BREAK_IF && is_of_schedule(p, x)) {
        p->leaving = p->uncertain == p->certain;
        if (!p->leaving)
            ac_p_doubt(p, x, AC_CLAIM_LOOP, false, "the loop may be left here");
        return;
    }
    if (i->op == AC_L_BREAK_IF && f && cond.hi) {
        for (int32_t k = 0; k < f->n_var; k++) {
            const ac_dtype d = (ac_dtype)ac_p_ins(p, f->var[k])->dtype;
            f->broken[k] = f->breaks ? ac_p_join(p, &f->broken[k], &p->value[f->var[k]], d) : p->value[f->var[k]];
        }
        f->breaks = true;
    }
    if (cond.hi)
        p->uncertain++;
    if (i->op == AC_L_FAIL_IF)
        ac_p_extreme_asked(p, x, i->a);
    ac_p_assume(p, i->a, false);
}

void ac_p_follow(ac_prover *p, ac_x from, ac_x to)
{
    for (ac_x x = from; x < to && !p->leaving; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        switch ((int)i->op) {
        case AC_L_FOR:
            ac_p_loop(p, x);
            x = p->end[x];
            break;
        case AC_L_IF:
            x = branch(p, x, to);
            break;
        case AC_L_VAR:
            p->value[x] = p->value[i->a];
            break;
        case AC_L_SET:
            ac_p_extreme_of_one(p, x);
            p->value[i->aux] = p->value[i->a];
            break;
        case AC_L_STORE:
        case AC_L_TILE:
        case AC_L_REQUANT:
        case AC_L_MMA:
            ac_p_access(p, x);
            break;
        case AC_L_BREAK_IF:
        case AC_L_FAIL_IF:
            leave_early(p, x);
            break;
        default:
            ac_p_value(p, x);
        }
    }
}
