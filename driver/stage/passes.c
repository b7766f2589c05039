/* passes.c - the graph passes of a model: their options, and the variants of the model that they need.
 *
 * --train turns the model into a step of training; the inference by its weights is the model read again. --state
 * compares the model with itself for other lengths of its caches. */
#include "driver/stage/passes.h"

#include "driver/stage/extend.h"
#include "driver/stage/inputs.h"
#include "driver/stage/stage.h"

#include "base/shell.h"
#include "codegen/targets.h"
#include "ir/lower/conv/expanded.h"
#include "ir/lower/gpu/excited_pays.h"
#include "ir/pass/run/run.h"
#include "ir/pass/state/other_lengths.h"

/* Unrolled, the steps of a loop are kernels of many threads; longer loops run on one thread. */
enum { MOST_STEPS_OF_GPU = 512 };

/* --taps compares every result of the file: passes that remove some do not run. */
static void put_skips(const ac_made *a, ac_pass_options *p)
{
    const ac_opt_texts *skip = &a->opt->skip;
    const char **list = AC_NEW_N(a->cx->region, const char *, skip->n + AC_N_PASSES);
    for (int32_t i = 0; i < skip->n; i++)
        list[p->n_skip++] = skip->item[i];
    for (int32_t i = 0; i < AC_N_PASSES && a->opt->taps; i++)
        if (ac_pass_changes((ac_pass_id)i) & AC_CHANGES_RESULTS)
            list[p->n_skip++] = ac_pass_name(i);
    p->skip = list;
}

/* Creates the nodes of a model whose operators depend on the sizes of its inputs. */
static int make_nodes(const ac_made *a)
{
    const ac_opt_dims *dim = &a->opt->dim;
    ac_pin *pin;
    for (int32_t i = 0; i < dim->n; i++) {
        const ac_dim_option *d = &dim->item[i];
        if (d->range) {
            const char *pinned = ac_shell_set(a->cx, d->name, ac_strf(a->cx->region, "%lld", (long long)d->hi));
            ac_error(a->cx, (ac_place){.file = "arenac"}, E0501,
                     "bad argument '%s=%lld..%lld' of --dim: ranges are for plan and compile", d->name,
                     (long long)d->lo, (long long)d->hi);
            if (a->request->purpose != AC_FOR_PYTHON)
                return ac_help(a->cx, "--dim %s", pinned);
            return ac_help(a->cx,
                           "the sizes of a module are fixed: --dim %s and shorter inputs padded, or a module for "
                           "each size; arenac compile makes C for a range",
                           pinned);
        }
    }
    AC_TRY(ac_dims_pins(a->cx, dim, NULL, 0, &pin));
    return ac_import_nodes(a->cx, a->model, pin, dim->n);
}

/* A convolution sums 16 products at a time: with SMLAD a shorter filter costs more than it saves. */
static int32_t least_taps_of(const ac_target *t)
{
    return t->mve ? 1 : t->dsp ? 16 : 0;
}

/* ------------------------------------------------------------------ the model again */

static int again_stage(ac_work *one, void *arg)
{
    ac_passed passed;
    AC_TRY(ac_read_model(&one->made, &one->made.model));
    AC_TRY(ac_read_constants(&one->made));
    return ac_run_passes(&one->made, *(const char *const *)arg, NULL, &passed);
}

/* Reads the model again for a variant, up to this pass. */
static int try_again(const ac_made *a, ac_work *one, const char *last)
{
    one->source = *a->source;
    one->source.file.map = one->source.weights.map = NULL; /* a closes them */
    return ac_guard(one, again_stage, &last);
}

/* The same; diagnostics of a failure are a's. */
static int run_again(const ac_made *a, ac_work *one, const char *last)
{
    const int status = try_again(a, one, last);
    if (status != AC_OK)
        ac_work_diags(a->owner, one);
    return status;
}

/* ------------------------------------------------------------------ --train */

/* The model again, for inference by the weights of the step. */
static int add_inference(const ac_made *a, ac_graph *g, ac_train_step *step)
{
    ac_work *one = ac_work_like(a->owner, AC_AS_INFERENCE);
    ac_train_step *run = AC_NEW(a->cx->region, ac_train_step);
    one->opt.bn = AC_OPT_BN_FROZEN;
    one->request.trains = true;
    one->request.extension = (ac_extension){.step = run, .like = step};
    AC_TRY(run_again(a, one, ac_pass_name(AC_PASS_state - 1)));
    return ac_train_add_run(a->cx, g, step, one->made.model->graph, run);
}

/* The code of a step on a CPU has inference as well. */
static bool wants_inference(const ac_made *a)
{
    const ac_request *q = a->request;
    const bool gpu = ac_target_find(ac_target_name(q))->isa == AC_ISA_CUDA;
    return q->wants_inference && q->opt->inference && !gpu && !ac_has_caller_io(q);
}

/* The loss is given, or the output is a softmax. */
static bool has_loss(const ac_made *a)
{
    const ac_graph *g = a->model->graph;
    const ac_node *n = g->output.n == 1 ? g->output.item[0]->def : NULL;
    return a->opt->loss || (n && n->op == AC_OP_SOFTMAX);
}

/* --train: the model becomes a step of training. *step: NULL without it, or if the request makes the step. */
static int open_step(const ac_made *a, ac_train_step **step)
{
    *step = NULL;
    if (!a->opt->train || ac_extend_grows(&a->request->extension))
        return AC_OK;
    if (!has_loss(a) || a->opt->batch < 0) {
        ac_error(a->cx, (ac_place){.file = "arenac"}, E0501, "--train needs --%s", has_loss(a) ? "batch" : "loss");
        return ac_help(a->cx, has_loss(a) ? "--batch 8" : "--loss cross_entropy");
    }
    ac_train_spec *spec = AC_NEW(a->cx->region, ac_train_spec);
    AC_TRY(ac_settings_train(a->cx, a->opt, AC_OPT_train, spec));
    spec->target = spec->loss == AC_LOSS_CROSS_ENTROPY ? AC_I32 : AC_NONE;
    *step = AC_NEW(a->cx->region, ac_train_step);
    (*step)->spec = spec;
    return AC_OK;
}

/* ------------------------------------------------------------------ --state */

/* The model for other lengths of its caches (--state), while the passes run. */
typedef struct longer {
    ac_work *one[3 + AC_LENGTHS_FEW];
    int32_t n;
} longer;

/* The model for the lengths that pass state compares. None if no --dim gives the length. */
static int add_lengths(const ac_made *a, const ac_pass_options *p, longer *made)
{
    ac_length_want want;
    while (ac_lengths_next(p->lengths, &want)) {
        ac_work *one = ac_state_longer(a, p->kept, p->n_kept, want.more);
        if (!one)
            return a->cx->diags.errors ? AC_FAIL : AC_OK;
        made->one[made->n++] = one;
        const char *last = ac_pass_name(want.inferred ? AC_PASS_infer : AC_PASS_state - 1);
        const int status = want.needed ? run_again(a, one, last) : try_again(a, one, last);
        if (status != AC_OK && want.needed)
            return ac_help(a->cx, "--state compares the model with itself for caches of other lengths: a dimension "
                                  "that grows with them is given as one that does, --dim all=past+n say");
        ac_lengths_add(p->lengths, &want, status == AC_OK ? one->made.model->graph : NULL);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ the list */

static int find_expansions(const ac_passes *r, const ac_target *t, ac_expansions *all)
{
    AC_TRY(ac_find_expansions(r->cx, r->graph, all));
    for (int32_t i = 0; i < all->n; i++)
        all->item[i].pays = ac_gpu_expanded_pays(t, all->item[i].e);
    return AC_OK;
}

static int find_excitements(const ac_passes *r, const ac_target *t, ac_excitements *all)
{
    AC_TRY(ac_find_excitements(r->cx, r->graph, all));
    for (int32_t i = 0; i < all->n; i++) {
        ac_excitement *m = &all->item[i];
        m->pays = ac_gpu_expanded_tiles(t, m->e, m->long_end) &&
                  ac_gpu_excited_pays(t, m->sums, m->conv->in[1]->dim[0], m->e);
    }
    return AC_OK;
}

/* The passes, and the changes of the driver between them. t, step: NULL: none. */
static int run_list(const ac_made *a, ac_passes *r, const ac_target *t, const ac_extension *e, ac_train_step *step,
                    longer *made)
{
    const ac_pass_options *p = r->opt;
    AC_TRY(ac_passes_run(r, AC_PASS_infer + 1));
    if (p->n_kept)
        ac_lengths_infer(p->lengths, r->cx, r->graph);
    AC_TRY(ac_passes_run(r, AC_PASS_state));
    if (p->n_kept && ac_passes_next(r, AC_PASS_state)) {
        ac_lengths_find(p->lengths, p->kept, p->n_kept);
        AC_TRY(add_lengths(a, p, made));
    }
    AC_TRY(ac_passes_run(r, AC_PASS_grow));
    if (ac_passes_next(r, AC_PASS_grow)) {
        AC_TRY(ac_extend_grow(a, e));
        if (step && wants_inference(a))
            AC_TRY(add_inference(a, r->graph, step));
    }
    AC_TRY(ac_passes_run(r, AC_PASS_expand));
    if (ac_passes_next(r, AC_PASS_expand))
        AC_TRY(find_expansions(r, t, p->expansions));
    AC_TRY(ac_passes_run(r, AC_PASS_excited));
    if (ac_passes_next(r, AC_PASS_excited))
        AC_TRY(find_excitements(r, t, p->excitements));
    return ac_passes_run(r, AC_N_PASSES);
}

static int run(const ac_made *a, const ac_target *t, ac_pass_options *p, const ac_extension *e, ac_passed *out)
{
    ac_graph *g = a->model->graph;
    ac_other_lengths lengths = {0};
    longer made = {0};
    ac_passes r;
    ac_sink *dump = AC_NEW(a->cx->region, ac_sink);
    p->lengths = &lengths;
    ac_sink_open(dump, a->cx);
    p->dump = dump;
    const int32_t n_inputs = g->input.n;
    ac_tensor **input = ac_copy(a->cx->region, g->input.item, (size_t)n_inputs * sizeof *input);
    int status = ac_passes_open(&r, a->cx, g, p);
    if (status == AC_OK)
        status = run_list(a, &r, t, e, out->step, &made);
    while (made.n)
        ac_work_close(made.one[--made.n]);
    if (status == AC_OK && (p->n_kept || p->random->inputs))
        status = ac_inputs_move(a, input, n_inputs);
    if (dump->n)
        ac_pending_put(a->out, dump, "-");
    arenac_pass *row = AC_NEW_N(a->cx->region, arenac_pass, r.n_time + 1);
    for (int32_t i = 0; i < r.n_time; i++)
        row[i] = (arenac_pass){r.time[i].name, r.time[i].ms, r.time[i].changed};
    out->row = row;
    out->n = r.n_time;
    out->channels_first = r.channels_first;
    return status;
}

int ac_run_passes(const ac_made *a, const char *last, const ac_settings *set, ac_passed *out)
{
    const ac_options *o = a->opt;
    const ac_request *q = a->request;
    const ac_target *t = set ? set->target : NULL;
    const bool reference = o->reference == AC_OPT_REFERENCE_TFLITE;
    ac_storage *storage = NULL;
    ac_extension extension = q->extension;
    ac_train_step *step;
    AC_TRY(open_step(a, &step));
    if (step)
        extension.step = step;
    AC_TRY(ac_settings_storage(a->cx, o, &storage));
    const bool floats = t && t->gpu && !storage && set && set->tensor_cores <= AC_TENSOR_OFF;
    ac_pass_options p = {.stop_after = last,
                         .dump_after = o->dump_after.item,
                         .n_dump = o->dump_after.n,
                         .reference = reference,
                         .views = o->views && !reference,
                         .quantized_io = o->quantized_io,
                         .exact = o->exact,
                         .channels_first = a->model->channels_first,
                         .declared = a->model->declared,
                         .least_taps = t ? least_taps_of(t) : 0,
                         .rows = t && t->gpu,
                         .gpu = t ? t->gpu : 0,
                         .expansions = floats ? AC_NEW(a->cx->region, ac_expansions) : NULL,
                         .excitements = floats ? AC_NEW(a->cx->region, ac_excitements) : NULL,
                         .gates = floats,
                         .halves = t && t->gpu,
                         .plane_lanes = t && !t->firmware && !t->gpu ? ac_target_lanes(t, AC_F32) : 0,
                         .plane_bytes = t ? t->l2_bytes / 2 : 0,
                         .nodes = ac_extend_grows(&extension) || ac_trains(q) || q->unrolls,
                         .ahead = t ? AC_NEW(a->cx->region, ac_ahead) : NULL,
                         .unrolls = t && t->gpu ? MOST_STEPS_OF_GPU : 0,
                         .cells = t && !o->exact && !storage ? t->gpu : 0,
                         .grows = ac_extend_grows(&extension),
                         .cuts = set && set->dead ? AC_NEW(a->cx->region, ac_cuts) : NULL,
                         .products = o->qdq == AC_OPT_QDQ_EXACT ? NULL : AC_NEW(a->cx->region, ac_products),
                         .storage = storage};
    const ac_noise noise = {.seed = o->seed > 0 ? (uint64_t)o->seed : 0,
                            .inputs = o->noise == AC_OPT_NOISE_INPUT,
                            .advances = !p.grows && !extension.like};
    p.random = &noise;
    if (p.ahead)
        p.ahead->off = o->ahead ? o->ahead == AC_OPT_AHEAD_OFF : t->firmware;
    put_skips(a, &p);
    AC_TRY(make_nodes(a));
    AC_TRY(ac_state_find(a, &p.kept, &p.n_kept));
    AC_TRY(ac_extend_file(a, &extension));
    *out = (ac_passed){
        .kept = p.kept, .n_kept = p.n_kept, .storage = storage, .products = p.products, .ahead = p.ahead, .step = step};
    const int status = run(a, t, &p, &extension, out);
    out->cuts = p.cuts && p.cuts->row ? p.cuts : NULL;
    if (status == AC_OK)
        out->guess = ac_state_guess(a);
    return status;
}

int ac_infer_model(const ac_made *a)
{
    ac_passed passed;
    return ac_run_passes(a, ac_pass_name(AC_PASS_infer), NULL, &passed);
}

bool ac_text_channels_first(const ac_made *a)
{
    return a->lowering ? a->lowering->passed.channels_first : a->model->channels_first;
}
