/* prove.c - proves all calls of a module, in order; see prove.h. */
#include "prove/prove.h"

#include "base/progress.h"
#include "prove/facts/arguments.h"
#include "prove/facts/contents.h"
#include "prove/facts/structure.h"
#include "prove/memory_map.h"
#include "prove/pass.h"
#include "prove/phases.h"
#include "prove/retry.h"
#include "prove/walk.h"

static void prove_call(ac_ctx *cx, const ac_module *m, int32_t step, ac_step_ranges *ranges, const bool *without,
                       ac_verdict *v)
{
    ac_region *keep = ac_region_open(ac_region_heap(cx->region));
    const ac_call *call = &m->call[step];
    const ac_loop_fn *fn = m->fn[call->fn];
    bool *made = AC_NEW_N(keep, bool, fn->buf.n + 1);
    for (int32_t a = 0; a < call->n_arg; a++)
        made[a] = ac_p_made_here(m, step, a);
    ac_walk walk;
    ac_prover p = {.cx = cx,
                   .keep = keep,
                   .m = m,
                   .step = step,
                   .call = call,
                   .fn = fn,
                   .end = ac_p_match_ends(keep, fn),
                   .count = ac_p_count_buffers(keep, call, fn),
                   .made = made,
                   .without = without,
                   .at = &walk.point,
                   .out = v};
    ac_p_pass_open(&p, &walk);
    ac_p_retry(&p, ranges);
    for (int32_t a = 0; a < call->n_arg; a++) {
        ac_interval in;
        const bool any = ac_p_contents_left(&p, a, &in);
        ac_step_ranges_leave(ranges, &p, a, any ? &in : NULL);
    }
    ac_region_close(p.tmp);
    ac_region_close(keep);
}

int ac_prove(ac_ctx *cx, const ac_module *printed, const bool *without, ac_verdict *v)
{
    const ac_module *m = ac_module_steps(printed);
    *v = (ac_verdict){.step = AC_NEW_N(cx->region, ac_verdict_step, m->n_calls + 1),
                      .by_element = AC_NEW_N(cx->region, bool, m->n_calls + 1),
                      .n_steps = m->n_calls};
    ac_step_ranges ranges;
    ac_step_ranges_open(&ranges, m, cx->region);
    ac_progress_begin(cx, "proving", m->n_calls);
    for (int32_t i = 0; i < m->n_calls; i++) {
        ac_progress_at(cx, i);
        prove_call(cx, m, i, &ranges, without, v);
    }
    ac_p_claim_memory(cx, m, v);
    ac_p_claim_phases(cx, printed, v);
    for (int32_t i = 0; i < v->n_steps; i++)
        for (int c = 0; c < AC_CLAIMS; c++) {
            v->sum.claims[c] += v->step[i].claims[c];
            v->sum.proven[c] += v->step[i].proven[c];
        }
    for (int32_t i = 0; i < v->doubt.n; i++)
        v->wrong += v->doubt.item[i].wrong;
    return cx->diags.errors ? AC_FAIL : AC_OK;
}
