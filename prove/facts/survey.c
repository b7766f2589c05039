/* survey.c - narrows values by the ranges that earlier passes have found, and notes ranges for later ones. */
#include "prove/facts/survey.h"

#include "prove/facts/evaluate.h"

void ac_p_survey_value(ac_prover *p, ac_x x)
{
    const ac_survey *s = p->survey;
    ac_pvalue *v = &p->value[x];
    if (x == s->split)
        *v = ac_p_unknown(p, (ac_dtype)ac_p_ins(p, x)->dtype, s->part);
    v->in = ac_interval_meet(v->in, s->refined[x]);
    if (v->form.n == 1 && v->form.term[0].k == 1 && !v->form.c && !v->form.lost) {
        ac_unknown *u = &p->know.unknown.item[v->form.term[0].unknown];
        u->in = ac_interval_meet(u->in, v->in);
    }
    if (s->seen && !p->at->dry) {
        s->seen[x] = s->was_seen[x] ? ac_interval_join(s->seen[x], v->in) : v->in;
        s->was_seen[x] = true;
    }
}
