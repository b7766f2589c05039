/* claims.c - counts claims, and writes down doubts; see claims.h. */
#include "prove/facts/claims.h"

#include "prove/facts/survey.h"

const char *const ac_claim_text[AC_CLAIMS] = {
    [AC_CLAIM_ACCESS] = "accesses",   [AC_CLAIM_INTEGER] = "arithmetic", [AC_CLAIM_SHIFT] = "shifts",
    [AC_CLAIM_LOOP] = "loops",        [AC_CLAIM_WRITTEN] = "written",    [AC_CLAIM_ORDER] = "order",
    [AC_CLAIM_RESTRICT] = "restrict",
};

static ac_verdict_step *step_of(ac_verdict *v, int32_t step)
{
    return step >= 0 ? &v->step[step] : &v->sum;
}

void ac_verdict_proven(ac_verdict *v, int32_t step, ac_claim claim)
{
    step_of(v, step)->claims[claim]++;
    step_of(v, step)->proven[claim]++;
}

void ac_verdict_doubt(ac_ctx *cx, ac_verdict *v, ac_doubt doubt)
{
    step_of(v, doubt.step)->claims[doubt.claim]++;
    ac_push(cx->region, &v->doubt, doubt);
}

void ac_p_proven(ac_prover *p, ac_claim claim)
{
    if (!p->at->dry && !p->at->mute)
        ac_verdict_proven(p->out, p->step, claim);
}

void ac_p_doubt(ac_prover *p, ac_x x, ac_claim claim, bool wrong, const char *fmt, ...)
{
    const ac_survey *s = p->survey;
    if (!p->at->dry && s && s->failed)
        s->failed[x] = true;
    if (p->at->dry || p->at->mute)
        return;
    if (s && x && s->fine[x] && claim <= AC_CLAIM_SHIFT) {
        ac_p_proven(p, claim);
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    const char *reason = ac_vstrf(p->cx->region, fmt, ap);
    va_end(ap);
    ac_verdict_doubt(p->cx, p->out, (ac_doubt){p->step, x, claim, wrong, reason});
}

/* True if all terms are loop variables that have all their values: then the ends of the interval are reached. */
static bool is_attained(const ac_prover *p, const ac_affine *form)
{
    for (int32_t i = 0; i < form->n; i++)
        if (!p->know.unknown.item[form->term[i].unknown].attained)
            return false;
    return !p->at->uncertain && !form->lost;
}

bool ac_p_surely_above(ac_prover *p, const ac_affine *form, int64_t limit)
{
    const ac_interval in = ac_affine_interval(&p->know, form);
    return !p->at->uncertain && !form->lost && (in.lo > limit || (is_attained(p, form) && in.hi > limit));
}

bool ac_p_surely_below(ac_prover *p, const ac_affine *form, int64_t limit)
{
    const ac_interval in = ac_affine_interval(&p->know, form);
    return !p->at->uncertain && !form->lost && (in.hi < limit || (is_attained(p, form) && in.lo < limit));
}

ac_claims_mark ac_p_claims_mark(const ac_prover *p)
{
    return (ac_claims_mark){p->out->doubt.n, p->out->step[p->step]};
}

void ac_p_claims_rewind(ac_prover *p, const ac_claims_mark *mark)
{
    p->out->doubt.n = mark->doubts;
    p->out->step[p->step] = mark->step;
}
