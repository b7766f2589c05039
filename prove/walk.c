/* walk.c - walks the blocks of a function in order: branches on both sides, and what variables hold after them. Loops
 * are in loops.c. */
#include "prove/walk.h"

#include "prove/accesses.h"
#include "prove/facts/claims.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/strategy/extremes.h"
#include "prove/values.h"
#include "prove/written.h"

/* ------------------------------------------------------------------ branches */

/* Is what follows the branch at x looked at for each side by itself? */
static bool goes_apart(const ac_prover *p, ac_x x)
{
    enum { DEEPEST = 3 };
    return p->walk->apart && p->walk->apart[x] && p->walk->sides < DEEPEST && !p->at->dry && !p->at->mute;
}

/* The branch at x, of a block that ends at `to`. Returns where to go on. */
static ac_x walk_branch(ac_prover *p, ac_x x, ac_x to)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval cond = p->value[i->a].in;
    const ac_x middle = p->end[x], end = ac_p_end(p, x);
    if (cond.lo == cond.hi) {
        if (cond.lo)
            ac_p_walk(p, x + 1, middle);
        else if (middle != end)
            ac_p_walk(p, middle + 1, end);
        return end;
    }
    int32_t n;
    const bool apart = goes_apart(p, x);
    const ac_x *var = ac_p_set_between(p, x, apart ? to : end, &n);
    const ac_pvalue *before = ac_p_variables(p, var, n);
    const int32_t facts = p->know.fact.n, extremes = ac_p_extremes(p);
    p->walk->point.uncertain++;
    p->walk->sides += apart;
    const bool all_true = ac_p_assume(p, i->a, true);
    ac_p_branch_begin(p, x, all_true ? facts : p->know.fact.n);
    ac_p_walk(p, x + 1, middle);
    if (apart)
        ac_p_walk(p, end + 1, to);
    p->know.fact.n = facts;
    ac_p_extremes_keep(p, extremes);
    const ac_pvalue *then = ac_p_variables(p, var, n);
    ac_p_set_variables(p, var, n, before);
    const bool all_false = ac_p_assume(p, i->a, false);
    ac_p_branch_else(p, x, all_false ? facts : p->know.fact.n);
    const int32_t otherwise = p->know.fact.n;
    if (middle != end)
        ac_p_walk(p, middle + 1, end);
    if (apart)
        ac_p_walk(p, end + 1, to);
    p->know.fact.n = otherwise;
    ac_p_extremes_keep(p, extremes);
    ac_p_branch_end(p);
    p->know.fact.n = facts;
    p->walk->point.uncertain--;
    p->walk->sides -= apart;
    for (int32_t k = 0; k < n; k++)
        p->value[var[k]] = ac_p_join(p, &then[k], &p->value[var[k]], (ac_dtype)ac_p_ins(p, var[k])->dtype);
    return apart ? to : end;
}

/* ------------------------------------------------------------------ statements */

/* Is the innermost loop around x the one that is followed as a schedule? */
static bool is_of_schedule(const ac_prover *p, ac_x x)
{
    const ac_x loop = ac_p_loop_around(p, x);
    return loop > 0 && loop == p->walk->schedule;
}

static void walk_exit(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval cond = p->value[i->a].in;
    ac_frame *f = p->walk->frame;
    if (i->op == AC_L_BREAK_IF && is_of_schedule(p, x)) {
        p->walk->leaving = p->walk->point.uncertain == p->walk->certain;
        if (!p->walk->leaving)
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
        p->walk->point.uncertain++;
    if (i->op == AC_L_FAIL_IF)
        ac_p_extreme_asked(p, x, i->a);
    ac_p_assume(p, i->a, false);
}

void ac_p_walk(ac_prover *p, ac_x from, ac_x to)
{
    for (ac_x x = from; x < to && !p->walk->leaving; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        switch ((int)i->op) {
        case AC_L_FOR:
            ac_p_loop(p, x);
            x = p->end[x];
            break;
        case AC_L_IF:
            x = walk_branch(p, x, to);
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
            walk_exit(p, x);
            break;
        default:
            ac_p_value(p, x);
        }
    }
}
