/* timed_report.c - the time of a run as text, and as JSON of schema arenac-time/1. */
#include "host/firmware/timed.h"

#include "base/json_out.h"

#include <string.h>

static const char *const KINDS[] = {"branch", "address", "division"};

static const char *range(ac_ctx *cx, const ac_timing *t)
{
    return t->insns == t->least_insns
               ? ac_strf(cx->region, "%s for every input", ac_commas(cx, t->insns))
               : ac_strf(cx->region, "%s to %s", ac_commas(cx, t->least_insns), ac_commas(cx, t->insns));
}

static const char *step_str(const ac_module *m, const ac_timing_finding *f)
{
    const int32_t s = ac_timed_step(m, f);
    return s < 0 ? "run" : ac_strf(m->cx->region, "step %d %s", s, m->call[s].op);
}

static void put_findings(const ac_module *m, const ac_timing *t, ac_sink *to)
{
    const char *last = "";
    for (int32_t i = 0; i < t->finding.n; i++) {
        const ac_timing_finding *f = &t->finding.item[i];
        const char *step = step_str(m, f);
        if (strcmp(step, last) != 0)
            ac_putf(to, "  %s\n", step);
        last = step;
        ac_putf(to, "    %-8s  0x%08x  %-10s  %10s times", KINDS[f->kind], f->at, f->insn, ac_commas(m->cx, f->times));
        if (f->insns)
            ac_putf(to, ", %s instructions", ac_commas(m->cx, f->insns));
        if (f->cycles && t->has_cycles)
            ac_putf(to, ", %s cycles", ac_commas(m->cx, f->cycles));
        ac_putf(to, "  %s\n", f->function);
    }
}

void ac_timed_text(const ac_module *m, const ac_timed *x, ac_sink *to)
{
    const ac_timing *t = &x->time;
    ac_ctx *cx = m->cx;
    ac_putf(to, "%s on %s, code of %s\n  instructions   %s\n", m->source, m->target->name, x->by, range(cx, t));
    if (t->has_cycles)
        ac_putf(to, "  cycles         %s, at most %s (%s, wait states of flash: %d)\n", ac_commas(cx, t->cycles),
                ac_commas(cx, t->most_cycles), t->from_manual ? "the manual's table" : "an estimate", x->wait);
    else
        ac_putf(to, "  cycles         not modelled for %s\n", m->target->name);
    if (ac_timing_is_constant(t)) {
        ac_put(to, "  constant time  yes: no branch, address or division depends on data\n");
        return;
    }
    ac_putf(to, "  constant time  no: %s branches, %s addresses and %s divisions depend on data\n",
            ac_commas(cx, t->branches), ac_commas(cx, t->addresses), ac_commas(cx, t->divisions));
    put_findings(m, t, to);
}

/* Steps that are functions of their own, in the order of their calls. */
static void put_steps(const ac_module *m, const ac_timing *t, ac_json *j)
{
    int32_t before = -1;
    ac_json_arr(j, "steps");
    for (int32_t i = 0; i < t->call.n; i++) {
        const ac_timing_call *c = &t->call.item[i];
        const int32_t step = ac_timed_call(m, c, before);
        if (step < 0)
            continue;
        before = step;
        ac_json_obj(j, NULL);
        ac_json_int(j, "step", step);
        ac_json_str(j, "op", m->call[step].op);
        ac_json_int(j, "insns", c->insns);
        ac_json_int_if(j, "cycles", c->cycles, t->has_cycles);
        ac_json_end(j);
    }
    ac_json_end(j);
}

void ac_timed_json(const ac_module *m, const ac_timed *x, ac_sink *to)
{
    const ac_timing *t = &x->time;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-time/1");
    ac_json_str(&j, "model", m->source);
    ac_json_str(&j, "target", m->target->name);
    ac_json_str(&j, "compiler", x->by);
    ac_json_int(&j, "insns", t->insns);
    ac_json_int(&j, "insns_min", t->least_insns);
    ac_json_int_if(&j, "cycles", t->cycles, t->has_cycles);
    ac_json_int_if(&j, "cycles_max", t->most_cycles, t->has_cycles);
    ac_json_bool(&j, "cycles_estimated", t->has_cycles && !t->from_manual);
    ac_json_int(&j, "wait_states", x->wait);
    ac_json_bool(&j, "constant_time", ac_timing_is_constant(t));
    put_steps(m, t, &j);
    ac_json_arr(&j, "depends_on_data");
    for (int32_t i = 0; i < t->finding.n; i++) {
        const ac_timing_finding *f = &t->finding.item[i];
        const int32_t step = ac_timed_step(m, f);
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "kind", KINDS[f->kind]);
        ac_json_int_if(&j, "step", step, step >= 0);
        ac_json_str(&j, "function", f->function);
        ac_json_int(&j, "address", f->at);
        ac_json_int(&j, "times", f->times);
        ac_json_int(&j, "insns", f->insns);
        ac_json_int_if(&j, "cycles", f->cycles, t->has_cycles);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}
