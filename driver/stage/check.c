/* check.c - stage check: graph passes (passes.c), then loops for every operator. All unsupported operators are reported
 * together. */
#include "driver/stage/passes.h"
#include "driver/stage/stage.h"
#include "driver/stage/tune_file.h"

#include "ir/lower/gpu/grid.h"
#include "ir/lower/held.h"
#include "ir/lower/node/cached.h"
#include "ir/lower/node/node.h"
#include "planner/graph/flow_lower.h"

static ac_lowered *lower_step(const ac_made *a, const ac_lowering *low, int32_t i, ac_schedule hint)
{
    ac_ctx *cx = a->cx;
    const ac_settings *s = &low->set;
    hint.tensor = s->tensor_cores;
    hint.threads = s->threads;
    const ac_flow_how flow = {.target = s->target, .exact = a->opt->exact, .hint = hint};
    ac_lowered *step = ac_flow_lower(cx, cx->region, low->graph, low->order[i], &flow);
    if (!step || (s->gpu ? ac_lower_grid(cx, cx->region, step)
                         : ac_lower_chunks(cx, cx->region, step, s->threads, AC_FORK_COST)) != AC_OK)
        return NULL;
    return ac_lower_cached(cx, cx->region, step, s->target, s->cache);
}

/* Does the step read, as it is, a matrix that another one has laid out for itself? */
static bool reads_held(const ac_lowered *step, const ac_rows_held *held, int32_t n)
{
    enum { WORTH = 1024 }; /* bytes: code that finds the rows there is longer */
    for (int32_t i = 0; i < step->arg.n; i++) {
        const ac_tensor *t = step->arg.item[i].konst ? step->arg.item[i].konst->source : NULL;
        for (int32_t k = 0; t && k < n && ac_tensor_bytes(t) >= WORTH; k++)
            if (ac_held_is(&held[k], t))
                return true;
    }
    return false;
}

/* Rows that are looked up are read where products have them: an embedding that makes the logits too is there once. */
static int share_tables(const ac_made *a, ac_lowering *low, const ac_schedule *hints)
{
    ac_region *r = a->cx->region;
    AC_VEC(ac_rows_held) held = {0};
    for (int32_t i = 0; i < low->n_steps; i++)
        for (int32_t k = 0; k < low->step[i]->held.n; k++)
            ac_push(r, &held, low->step[i]->held.item[k]);
    for (int32_t i = 0; i < low->n_steps; i++) {
        if (low->step[i]->held.n || !reads_held(low->step[i], held.item, held.n))
            continue;
        ac_schedule hint = hints[i];
        hint.held = held.item;
        hint.n_held = held.n;
        low->step[i] = lower_step(a, low, i, hint);
        if (!low->step[i])
            return AC_FAIL;
    }
    return AC_OK;
}

/* Every node, so that all that is unsupported is listed at once. */
static int lower_all(const ac_made *a, ac_lowering *low, const ac_schedule *hints)
{
    ac_ctx *cx = a->cx;
    int status = AC_OK;
    if (!hints)
        AC_TRY(ac_tune_read(a, &low->set, low->order, low->n_steps, &hints));
    ac_schedule *hint = AC_NEW_N(cx->region, ac_schedule, low->n_steps + 1);
    ac_progress_begin(cx, "lowering", low->n_steps);
    for (int32_t i = 0; i < low->n_steps; i++) {
        ac_progress_at(cx, i);
        hint[i] = hints ? hints[i] : (ac_schedule){.winograd = low->set.winograd};
        low->step[i] = lower_step(a, low, i, hint[i]);
        if (!low->step[i])
            status = AC_FAIL;
    }
    return status == AC_OK ? share_tables(a, low, hint) : AC_FAIL;
}

int ac_lower_hints(const ac_made *a, const ac_schedule *hints, const ac_lowering **out)
{
    ac_lowering *low = AC_NEW(a->cx->region, ac_lowering);
    *low = *a->lowering;
    *out = low;
    return lower_all(a, low, hints);
}

/* A GPU gets all of its work at once, and a caller's memory is handed over for all of it. */
static int check_parts(const ac_made *a, const ac_lowering *low)
{
    const ac_graph *g = low->graph;
    if (!g->node.n || !g->node.item[g->node.n - 1]->part || (!low->set.gpu && !ac_has_caller_io(a->request)))
        return AC_OK;
    ac_error(a->cx, (ac_place){.file = "arenac"}, E0502,
             "late updates (--update late, --micro-batch, --mpi) are not available %s%s",
             low->set.gpu ? "for target " : "with --host", low->set.gpu ? low->set.target->name : "");
    return ac_help(a->cx, "leave these options out: weights are then updated in the same run");
}

int ac_check_model(const ac_made *a, const ac_lowering **out)
{
    ac_lowering *low = AC_NEW(a->cx->region, ac_lowering);
    AC_TRY(ac_settings_make(a->cx, a->opt, ac_target_name(a->request), &low->set));
    AC_TRY(ac_run_passes(a, a->opt->stop_after, &low->set, &low->passed));
    low->graph = a->model->graph;
    ac_graph_own_outputs(low->graph, ac_has_caller_io(a->request));
    AC_TRY(check_parts(a, low));
    low->order = AC_NEW_N(a->cx->region, ac_node *, low->graph->node.n + 1);
    low->n_steps = ac_order_keep(low->graph, low->order);
    low->step = AC_NEW_N(a->cx->region, ac_lowered *, low->n_steps + 1);
    AC_TRY(lower_all(a, low, a->request->hints));
    ac_settings_note_winograd(a->cx, &low->set, low->step, low->n_steps);
    *out = low;
    return AC_OK;
}
