/* check.c - stage check: graph passes, then loops for every operator. All that is unsupported is listed at
 * once. */
#include "driver/stage/stage.h"
#include "driver/stage/tune_file.h"

#include "codegen/targets.h"
#include "ir/lower/gpu/grid.h"
#include "ir/lower/held.h"
#include "ir/lower/node/node.h"
#include "ir/pass/run/run.h"
#include "ir/pass/state/other_lengths.h"
#include "planner/graph/flow_lower.h"

#include <string.h>

/* ------------------------------------------------------------------ passes */

/* --taps compares every result of the file: passes that remove some do not run. */
static void put_skips(arenac *a, ac_pass_options *p)
{
    const ac_opt_texts *skip = &a->opt.skip;
    const char **list = AC_NEW_N(a->cx.region, const char *, skip->n + AC_N_PASSES);
    for (int32_t i = 0; i < skip->n; i++)
        list[p->n_skip++] = skip->item[i];
    for (int32_t i = 0; i < AC_N_PASSES && a->opt.taps; i++)
        if (ac_pass_changes((ac_pass_id)i) & AC_CHANGES_RESULTS)
            list[p->n_skip++] = ac_pass_name(i);
    p->skip = list;
}

/* The nodes of a model whose operators depend on the sizes of its inputs; the passes take over from there. */
static int make_nodes(arenac *a)
{
    const ac_opt_dims *dim = &a->opt.dim;
    ac_pin *pin;
    for (int32_t i = 0; i < dim->n; i++) {
        const ac_dim_option *d = &dim->item[i];
        if (d->range) {
            ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                     "bad argument '%s=%lld..%lld' of --dim: ranges are for plan and compile", d->name,
                     (long long)d->lo, (long long)d->hi);
            if (a->purpose != AC_FOR_PYTHON)
                return ac_help(&a->cx, "--dim %s=%lld", d->name, (long long)d->hi);
            return ac_help(&a->cx,
                           "the sizes of a module are fixed: --dim %s=%lld and shorter inputs padded, or a module for "
                           "each size; arenac compile makes C for a range",
                           d->name, (long long)d->hi);
        }
    }
    AC_TRY(ac_dims_pins(&a->cx, dim, NULL, 0, &pin));
    return ac_import_nodes(&a->cx, a->model, pin, dim->n);
}

/* Convolutions are summed 16 products at a time: by SMLAD shorter filters cost more than they save. */
static int32_t least_taps_of(const ac_target *t)
{
    return t->mve ? 1 : t->dsp ? 16 : 0;
}

/* ------------------------------------------------------------------ --train */

static const char *target_of(const arenac *a)
{
    return a->opt.target                  ? a->opt.target
           : a->purpose == AC_FOR_RUNNING ? ac_session_target(a->opt.backend)
           : a->purpose == AC_FOR_PYTHON  ? "native"
                                          : "generic";
}

static int run_passes(arenac *a, const char *stop_after, const ac_target *t, ac_cuts *cuts, ac_lowering *low);

static int again_stage(arenac *one, void *arg)
{
    ac_lowering low;
    AC_TRY(ac_read_opened(one));
    return run_passes(one, *(const char *const *)arg, NULL, NULL, &low);
}

static int try_again(const arenac *a, arenac *one, const char *last)
{
    one->source = a->source;
    one->source.file.map = one->source.weights.map = NULL; /* which a closes */
    return ac_guard(one, again_stage, &last);
}

/* The model once more, up to this pass, for the options of `one`, which ac_open_like made of a. Diagnostics of a
 * failure are a's. */
static int run_again(arenac *a, arenac *one, const char *last)
{
    const int status = try_again(a, one, last);
    if (status != AC_OK)
        ac_diags_copy(&a->cx, &one->cx.diags);
    return status;
}

/* The model once more, for inference by the weights of the step. */
static int add_run(arenac *a, ac_graph *g)
{
    static const ac_option_id OWN[] = {AC_OPT_train, AC_OPT_bn};
    arenac *one = ac_open_like(a, OWN, sizeof OWN / sizeof *OWN);
    arenac_set(one, "bn", "frozen");
    one->trains = true;
    one->extension = (ac_extension){.step = AC_NEW(a->cx.region, ac_train_step), .like = a->step};
    AC_TRY(run_again(a, one, "depthwise"));
    return ac_train_add_run(&a->cx, g, a->step, one->model->graph, one->extension.step);
}

/* The code of a step on a CPU has inference as well. */
static bool wants_run(const arenac *a)
{
    const bool gpu = ac_target_find(target_of(a))->isa == AC_ISA_CUDA;
    return a->step && a->coded && a->opt.inference && !gpu && !ac_has_caller_io(a);
}

/* Of a model whose output is a softmax the loss need not be said. */
static bool has_loss(const arenac *a)
{
    const ac_graph *g = a->model->graph;
    const ac_node *n = g->output.n == 1 ? g->output.item[0]->def : NULL;
    return a->opt.loss || (n && n->op == AC_OP_SOFTMAX);
}

/* The model becomes a step of training. */
static int open_step(arenac *a)
{
    ac_train_spec *spec = AC_NEW(a->cx.region, ac_train_spec);
    if (!a->opt.train || ac_extend_grows(a))
        return AC_OK;
    if (!has_loss(a) || a->opt.batch < 0) {
        ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "--train needs --%s", has_loss(a) ? "batch" : "loss");
        return ac_help(&a->cx, has_loss(a) ? "--batch 8" : "--loss cross_entropy");
    }
    AC_TRY(ac_settings_train(&a->cx, &a->opt, AC_OPT_train, spec));
    spec->target = spec->loss == AC_LOSS_CROSS_ENTROPY ? AC_I32 : AC_NONE;
    a->step = AC_NEW(a->cx.region, ac_train_step);
    a->step->spec = spec;
    a->extension.step = a->step;
    return AC_OK;
}

/* ------------------------------------------------------------------ the list */

/* The model for other lengths of its caches (--state), while the passes run. */
typedef struct longer {
    arenac *one[3 + AC_LENGTHS_FEW];
    int32_t n;
} longer;

/* The model for the lengths that pass state compares. None if no --dim gives the length. */
static int add_lengths(arenac *a, ac_other_lengths *l, longer *made)
{
    ac_length_want want;
    while (ac_lengths_next(l, &want)) {
        arenac *one = ac_state_longer(a, want.more);
        if (!one)
            return a->cx.diags.errors ? AC_FAIL : AC_OK;
        made->one[made->n++] = one;
        const char *last = ac_pass_name(want.inferred ? AC_PASS_infer : AC_PASS_state - 1);
        const int status = want.needed ? run_again(a, one, last) : try_again(a, one, last);
        if (status != AC_OK && want.needed)
            return ac_help(&a->cx, "--state compares the model with itself for caches of other lengths: a dimension "
                                   "that grows with them is given as one that does, --dim all=past+n say");
        ac_lengths_add(l, &want, status == AC_OK ? one->model->graph : NULL);
    }
    return AC_OK;
}

/* The passes, and what this file does between them. */
static int run_list(arenac *a, ac_passes *r, ac_other_lengths *l, longer *made)
{
    AC_TRY(ac_passes_run(r, AC_PASS_infer + 1));
    if (r->opt->n_kept)
        ac_lengths_infer(l, r->cx, r->graph);
    AC_TRY(ac_passes_run(r, AC_PASS_state));
    if (r->opt->n_kept && ac_passes_next(r, AC_PASS_state)) {
        ac_lengths_find(l, r->opt->kept, r->opt->n_kept);
        AC_TRY(add_lengths(a, l, made));
    }
    AC_TRY(ac_passes_run(r, AC_PASS_grow));
    if (ac_passes_next(r, AC_PASS_grow)) {
        AC_TRY(ac_extend_grow(a));
        if (wants_run(a))
            AC_TRY(add_run(a, r->graph));
    }
    return ac_passes_run(r, AC_N_PASSES);
}

/* *row: the passes that ran, n of them. t: NULL for what fits any target. cuts: NULL for all channels to stay. */
static int run_passes(arenac *a, const char *stop_after, const ac_target *t, ac_cuts *cuts, ac_lowering *low)
{
    ac_storage *storage = NULL;
    AC_TRY(open_step(a));
    AC_TRY(ac_settings_storage(&a->cx, &a->opt, &storage));
    const ac_options *o = &a->opt;
    const bool reference = o->reference == AC_OPT_REFERENCE_TFLITE;
    ac_pass_options p = {.stop_after = stop_after,
                         .dump_after = o->dump_after.item,
                         .n_dump = o->dump_after.n,
                         .reference = reference,
                         .views = o->views && !reference,
                         .quantized_io = o->quantized_io,
                         .exact = o->exact,
                         .channels_first = a->model->channels_first,
                         .declared = a->model->declared,
                         .least_taps = t ? least_taps_of(t) : 0,
                         .plane_lanes = t && !t->firmware && !t->gpu ? ac_target_lanes(t, AC_F32) : 0,
                         .plane_bytes = t ? t->l2_bytes / 2 : 0,
                         .grows = ac_extend_grows(a),
                         .cuts = cuts,
                         .products = o->qdq == AC_OPT_QDQ_EXACT ? NULL : AC_NEW(a->cx.region, ac_products),
                         .storage = storage};
    ac_other_lengths lengths = {0};
    p.lengths = &lengths;
    longer made = {0};
    ac_passes r;
    ac_sink *dump = AC_NEW(a->cx.region, ac_sink);
    a->products = p.products;
    a->storage = p.storage;
    put_skips(a, &p);
    AC_TRY(make_nodes(a));
    AC_TRY(ac_state_find(a, &p.kept, &p.n_kept));
    a->kept = p.kept;
    a->n_kept = p.n_kept;
    AC_TRY(ac_extend_file(a));
    ac_sink_open(dump, &a->cx);
    p.dump = dump;
    const int32_t n_inputs = a->model->graph->input.n;
    ac_tensor **input = ac_copy(a->cx.region, a->model->graph->input.item, (size_t)n_inputs * sizeof *input);
    int status = ac_passes_open(&r, &a->cx, a->model->graph, &p);
    if (status == AC_OK)
        status = run_list(a, &r, &lengths, &made);
    while (made.n)
        arenac_close(made.one[--made.n]);
    if (status == AC_OK && p.n_kept)
        status = ac_inputs_move(a, input, n_inputs);
    if (dump->n)
        ac_push(a->cx.region, &a->output, ((ac_output){dump, "-"}));
    arenac_pass *out = AC_NEW_N(a->cx.region, arenac_pass, r.n_time + 1);
    for (int32_t i = 0; i < r.n_time; i++)
        out[i] = (arenac_pass){r.time[i].name, r.time[i].ms, r.time[i].changed};
    low->pass = out;
    low->n_passes = r.n_time;
    low->channels_first = r.channels_first;
    if (status == AC_OK)
        ac_state_guess(a);
    return status;
}

int ac_infer(arenac *a)
{
    ac_lowering low;
    return run_passes(a, "infer", NULL, NULL, &low);
}

bool ac_text_channels_first(const arenac *a)
{
    return a->lowering ? a->lowering->channels_first : a->model->channels_first;
}

/* ------------------------------------------------------------------ loops */

static ac_lowered *lower_step(arenac *a, const ac_lowering *low, int32_t i, ac_schedule hint)
{
    ac_ctx *cx = &a->cx;
    const ac_settings *s = &low->set;
    hint.tensor = s->tensor_cores;
    hint.threads = s->threads;
    const ac_flow_how flow = {.target = s->target, .exact = a->opt.exact, .hint = hint};
    ac_lowered *step = ac_flow_lower(cx, cx->region, low->graph, low->order[i], &flow);
    if (!step || (s->gpu ? ac_lower_grid(cx, cx->region, step)
                         : ac_lower_chunks(cx, cx->region, step, s->threads, AC_FORK_COST)) != AC_OK)
        return NULL;
    return step;
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
static int share_tables(arenac *a, ac_lowering *low, const ac_schedule *hints)
{
    ac_region *r = a->cx.region;
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
static int lower_all(arenac *a, ac_lowering *low)
{
    ac_ctx *cx = &a->cx;
    const ac_schedule *hints = a->hints;
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

int ac_check_hinted(arenac *a, const ac_schedule *hints)
{
    ac_lowering *low = AC_NEW(a->cx.region, ac_lowering);
    *low = *a->lowering;
    a->hints = hints;
    a->lowering = low;
    return lower_all(a, low);
}

/* A GPU gets all of its work at once, and a caller's memory is handed over for all of it. */
static int check_parts(arenac *a, const ac_lowering *low)
{
    const ac_graph *g = low->graph;
    if (!g->node.n || !g->node.item[g->node.n - 1]->part || (!low->set.gpu && !ac_has_caller_io(a)))
        return AC_OK;
    ac_error(&a->cx, (ac_place){.file = "arenac"}, E0502,
             "late updates (--update late, --micro-batch, --mpi) are not available %s%s",
             low->set.gpu ? "for target " : "with --host", low->set.gpu ? low->set.target->name : "");
    return ac_help(&a->cx, "leave these options out: weights are then updated in the same run");
}

int ac_check(arenac *a)
{
    if (a->lowering)
        return AC_OK;
    if (!a->model) /* intervals, or a model for TFLite Micro: the reader says what that is */
        AC_TRY(ac_read_model(a));
    ac_lowering *low = AC_NEW(a->cx.region, ac_lowering);
    AC_TRY(ac_settings_make(&a->cx, &a->opt, target_of(a), &low->set));
    ac_cuts *cuts = low->set.dead ? AC_NEW(a->cx.region, ac_cuts) : NULL;
    AC_TRY(run_passes(a, a->opt.stop_after, low->set.target, cuts, low));
    low->cuts = cuts && cuts->row ? cuts : NULL;
    low->graph = a->model->graph;
    ac_graph_own_outputs(low->graph, ac_has_caller_io(a));
    AC_TRY(check_parts(a, low));
    low->order = AC_NEW_N(a->cx.region, ac_node *, low->graph->node.n + 1);
    low->n_steps = ac_order_keep(low->graph, low->order);
    low->step = AC_NEW_N(a->cx.region, ac_lowered *, low->n_steps + 1);
    AC_TRY(lower_all(a, low));
    ac_settings_note_winograd(&a->cx, &low->set, low->step, low->n_steps);
    a->lowering = low;
    return AC_OK;
}
