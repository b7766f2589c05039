/* proof.c - the checks of generated code that belong to its compilation: --prove and --selftest-cc. */
#include "driver/emit/emit.h"
#include "driver/stage/stage.h"

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
        ac_verdict_put(ac_pending_add(a->out, "-"), a->module, &v, false);
    return ac_proof_judge(a, &v);
}

int ac_compile_tested(ac_work *w)
{
    const bool compiled = w->made.module;
    AC_TRY(ac_compile(w));
    if (compiled)
        return AC_OK;
    if (w->opt.prove)
        AC_TRY(prove(&w->made));
    return w->opt.selftest_cc ? ac_selftest_cc(&w->made, &w->made.tested) : AC_OK;
}
