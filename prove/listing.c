/* listing.c - a verdict as text and as JSON. */
#include "prove/prove.h"

#include "base/json_out.h"
#include "ir/loop/builder.h"
#include "ir/loop/extern.h"

static void put_counts(ac_sink *to, const ac_verdict_step *s)
{
    const char *between = "";
    for (int c = 0; c < AC_CLAIMS; c++) {
        if (!s->claims[c])
            continue;
        ac_putf(to, "%s%s %d", between, ac_claim_text[c], s->claims[c]);
        if (s->proven[c] < s->claims[c])
            ac_putf(to, " (%d not)", s->claims[c] - s->proven[c]);
        between = ", ";
    }
}

static void put_doubt(ac_sink *to, const ac_module *m, const ac_doubt *d)
{
    ac_putf(to, "    %s", d->wrong ? "WRONG " : "");
    if (d->ins) {
        const ac_loop_fn *fn = m->fn[m->call[d->step].fn];
        ac_putf(to, "%%%d (%s): ", d->ins, ac_lop_text((ac_lop)fn->code.item[d->ins].op));
    }
    ac_putf(to, "%s: %s\n", ac_claim_text[d->claim], d->reason);
}

/* Doubts of a step, those of one more than SHOWN by number alone. */
static void put_step(ac_sink *to, const ac_module *m, const ac_verdict *v, int32_t step, bool all)
{
    enum { SHOWN = 12 };
    int32_t n = 0;
    for (int32_t i = 0; i < v->doubt.n; i++)
        n += v->doubt.item[i].step == step;
    if (!n && !all)
        return;
    ac_putf(to, "  step %d  %s '%s'  %s: ", step, m->call[step].op, m->call[step].name, m->fn[m->call[step].fn]->name);
    put_counts(to, &v->step[step]);
    ac_putc(to, '\n');
    int32_t shown = 0;
    for (int32_t i = 0; i < v->doubt.n; i++)
        if (v->doubt.item[i].step == step && (all || shown < SHOWN)) {
            put_doubt(to, m, &v->doubt.item[i]);
            shown++;
        }
    if (shown < n)
        ac_putf(to, "    and %d more\n", n - shown);
}

/* Steps whose function is one of the user: it is not proven, but taken as its contract (extern.h) describes it. */
static int32_t put_assumptions(ac_sink *to, const ac_module *m)
{
    int32_t n = 0;
    for (int32_t i = 0; i < m->n_calls; i++) {
        const ac_extern *e = m->fn[m->call[i].fn]->call;
        if (!e)
            continue;
        ac_putf(to,
                "  assumption %d: %s, which computes custom operator '%s' of step %d '%s', reads and writes only its "
                "operands, results and scratch memory, and writes every element of its results\n",
                ++n, e->function, e->name, i, m->call[i].name);
    }
    return n;
}

void ac_verdict_put(ac_sink *to, const ac_module *m, const ac_verdict *v, bool steps)
{
    int32_t claims = 0, proven = 0;
    for (int c = 0; c < AC_CLAIMS; c++) {
        claims += v->sum.claims[c];
        proven += v->sum.proven[c];
    }
    for (int32_t i = 0; i < v->doubt.n; i++)
        if (v->doubt.item[i].step < 0)
            put_doubt(to, m, &v->doubt.item[i]);
    for (int32_t i = 0; i < v->n_steps; i++)
        put_step(to, m, v, i, steps);
    const int32_t assumptions = put_assumptions(to, m);
    ac_putf(to, "%s: ", m->source);
    if (!v->doubt.n)
        ac_putf(to, "proven; %d steps, %d claims (", v->n_steps, claims);
    else
        ac_putf(to, "%s; %d steps, %d of %d claims proven (", v->wrong ? "wrong" : "not proven", v->n_steps, proven,
                claims);
    put_counts(to, &v->sum);
    ac_put(to, ")");
    if (assumptions)
        ac_putf(to, "; %d assumption%s", assumptions, assumptions == 1 ? "" : "s");
    ac_put(to, "\n");
}

static void json_counts(ac_json *j, const ac_verdict_step *s)
{
    for (int c = 0; c < AC_CLAIMS; c++) {
        ac_json_obj(j, ac_claim_text[c]);
        ac_json_int(j, "claims", s->claims[c]);
        ac_json_int(j, "proven", s->proven[c]);
        ac_json_end(j);
    }
}

static void json_assumptions(ac_json *j, const ac_module *m)
{
    ac_json_arr(j, "assumptions");
    for (int32_t i = 0; i < m->n_calls; i++) {
        const ac_extern *e = m->fn[m->call[i].fn]->call;
        if (!e)
            continue;
        ac_json_obj(j, NULL);
        ac_json_int(j, "step", i);
        ac_json_str(j, "operator", e->name);
        ac_json_str(j, "name", m->call[i].name);
        ac_json_str(j, "calls", e->function);
        ac_json_end(j);
    }
    ac_json_end(j);
}

void ac_verdict_json(ac_sink *to, const ac_module *m, const ac_verdict *v)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-prove/1");
    ac_json_bool(&j, "proven", !v->doubt.n);
    ac_json_int(&j, "wrong", v->wrong);
    ac_json_int(&j, "undecided", v->doubt.n - v->wrong);
    ac_json_obj(&j, "sum");
    json_counts(&j, &v->sum);
    ac_json_end(&j);
    ac_json_arr(&j, "steps");
    for (int32_t i = 0; i < v->n_steps; i++) {
        ac_json_obj(&j, NULL);
        ac_json_int(&j, "step", i);
        ac_json_str(&j, "operator", m->call[i].op);
        ac_json_str(&j, "name", m->call[i].name);
        ac_json_str(&j, "function", m->fn[m->call[i].fn]->name);
        json_counts(&j, &v->step[i]);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    if (ac_module_custom(m))
        json_assumptions(&j, m);
    ac_json_arr(&j, "doubts");
    for (int32_t i = 0; i < v->doubt.n; i++) {
        const ac_doubt *d = &v->doubt.item[i];
        ac_json_obj(&j, NULL);
        ac_json_int(&j, "step", d->step);
        ac_json_int(&j, "instruction", d->ins);
        ac_json_str(&j, "claim", ac_claim_text[d->claim]);
        ac_json_bool(&j, "wrong", d->wrong);
        ac_json_str(&j, "reason", d->reason);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}

const char *ac_claims_str(ac_ctx *cx, int32_t n)
{
    return ac_strf(cx->region, "%d %s", n, n == 1 ? "claim about the code is" : "claims about the code are");
}
