/* proof.c - the checks of generated code that belong to its compilation: --prove, --time and --selftest-cc. */
#include "driver/emit/emit.h"
#include "driver/stage/stage.h"

#include <string.h>

int ac_proof_judge(const ac_made *a, const ac_verdict *v)
{
    const ac_place at = {.file = a->source->path};
    const int32_t open = v->doubt.n - v->wrong;
    if (open) {
        ac_error(a->cx, at, E0703, "%s not proven", ac_claims_str(a->cx, open));
        ac_help(a->cx, "the steps are listed; the prover may follow the code of other options (--stripe off, "
                       "--overlap off, another -t), and --selftest-cc tests steps that are not proven");
    }
    if (v->wrong) /* last, since the exit status is that of the last */
        ac_error(a->cx, at, E0702, "%s wrong", ac_claims_str(a->cx, v->wrong));
    return v->doubt.n ? AC_FAIL : AC_OK;
}

static int prove(const ac_made *a)
{
    ac_verdict v;
    AC_TRY(ac_prove(a->cx, a->module, NULL, &v));
    if (v.doubt.n)
        ac_verdict_put(ac_pending_add(a->out, "-"), ac_module_steps(a->module), &v, false);
    return ac_proof_judge(a, &v);
}

/* compile: the object if --emit has it, and no C */
static const char *backend_of(const ac_made *a)
{
    const char *emit = a->opt->emit;
    return ac_emits(emit, "o") && !ac_emits(emit, "c") ? "llvm" : a->opt->backend;
}

int ac_time_of_run(const ac_made *a, ac_timed *t)
{
    const ac_timed_how how = {.backend = backend_of(a),
                              .cc = a->opt->time_cc,
                              .program = a->opt->time_program,
                              .wait = (int32_t)a->opt->wait_states};
    if (strcmp(how.backend, "c") != 0 && strcmp(how.backend, "llvm") != 0)
        return ac_error(a->cx, (ac_place){0}, E0502, "--time supports --backend c and llvm, not %s", how.backend);
    if (how.cc && how.program)
        return ac_error(a->cx, (ac_place){.file = "arenac"}, E0501,
                        "--time-cc and --time-program contradict each other");
    ac_progress_begin(a->cx, "time of a run", 0);
    return ac_board_time(a->module, &how, t);
}

/* For the header and the report */
static int state_time(const ac_made *a)
{
    ac_timed t;
    AC_TRY(ac_time_of_run(a, &t));
    ac_run_time *to = AC_NEW(a->cx->region, ac_run_time);
    *to = (ac_run_time){.insns = t.time.insns,
                        .least_insns = t.time.least_insns,
                        .cycles_max = t.time.has_cycles ? t.time.most_cycles : 0,
                        .wait = t.wait,
                        .constant = ac_timing_is_constant(&t.time),
                        .estimate = !t.time.from_manual,
                        .by = t.by};
    a->module->built.time = to;
    if (!a->report)
        return AC_OK;
    a->report->insns = to->insns;
    a->report->least_insns = to->least_insns;
    a->report->cycles_max = to->cycles_max;
    a->report->constant_time = to->constant;
    a->report->timed_by = to->by;
    return AC_OK;
}

int ac_compile_tested(ac_work *w)
{
    const bool compiled = w->made.module;
    AC_TRY(ac_compile(w));
    if (compiled)
        return AC_OK;
    if (w->opt.prove)
        AC_TRY(prove(&w->made));
    if (w->opt.time)
        AC_TRY(state_time(&w->made));
    return w->opt.selftest_cc ? ac_selftest_cc(&w->made, &w->made.tested) : AC_OK;
}
