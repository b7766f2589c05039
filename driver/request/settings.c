/* settings.c - the meaning of the options for a target: those that it ignores, and why. */
#include "driver/request/settings.h"

#include "base/ascii.h"
#include "codegen/targets.h"
#include "driver/request/boards.h"
#include "driver/request/request.h"
#include "host/session.h"

#include <string.h>

static const ac_place NOWHERE = {0};

/* A GPU runs the elements of a step in no order: nothing may rest on one. */
static void drop_orders(ac_ctx *cx, const ac_options *o, const ac_settings *s)
{
    const bool rows = o->io == AC_OPT_IO_ROWS;
    if (s->gpu && (o->stripe.on || rows || o->overlap == AC_OPT_OVERLAP_ON))
        ac_warn(cx, NOWHERE, W0002, "target %s runs the elements of a step in no order: %s is ignored", s->target->name,
                rows           ? "--io rows"
                : o->stripe.on ? "--stripe"
                               : "--overlap");
}

/* GPUs have more than tasks; firmware has no threads; stripes carry rows from one iteration to the next. */
static int32_t threads_of(ac_ctx *cx, const ac_options *o, const ac_settings *s)
{
    if (o->threads < 2)
        return 1;
    if (s->gpu)
        ac_warn(cx, NOWHERE, W0002, "target %s has threads of its own: --threads is ignored", s->target->name);
    else if (s->target->firmware)
        ac_warn(cx, NOWHERE, W0002, "target %s is firmware and has no threads: --threads is ignored", s->target->name);
    else if (s->stripes)
        ac_warn(cx, NOWHERE, W0002, "rows of --stripe are made one after another: --threads is ignored");
    else
        return (int32_t)o->threads;
    return 1;
}

/* Threads share the weights that they read, and a GPU caches them itself. */
static ac_bytes cache_of(ac_ctx *cx, const ac_options *o, const ac_settings *s)
{
    if (o->cache_weights <= 0 || (!s->gpu && s->threads < 2))
        return o->cache_weights > 0 ? o->cache_weights : 0;
    if (s->gpu)
        ac_warn(cx, NOWHERE, W0002, "target %s caches weights itself: --cache-weights is ignored", s->target->name);
    else
        ac_warn(cx, NOWHERE, W0002, "--threads: each thread reads the weights in place, --cache-weights is ignored");
    return 0;
}

static int32_t tensor_cores_of(ac_ctx *cx, const ac_options *o, const ac_settings *s)
{
    static const int32_t KIND[] = {
        [AC_OPT_tensor_cores_none] = AC_TENSOR_BYTES, [AC_OPT_TENSOR_CORES_INT8] = AC_TENSOR_BYTES,
        [AC_OPT_TENSOR_CORES_OFF] = AC_TENSOR_OFF,    [AC_OPT_TENSOR_CORES_TF32] = AC_TENSOR_TF32,
        [AC_OPT_TENSOR_CORES_BF16] = AC_TENSOR_BF16,  [AC_OPT_TENSOR_CORES_F16] = AC_TENSOR_F16};
    const char *word = ac_option_text(o, AC_OPT_tensor_cores);
    const int32_t k = KIND[o->tensor_cores];
    if (o->tensor_cores && !s->gpu)
        ac_warn(cx, NOWHERE, W0002, "target %s has no tensor cores: --tensor-cores is ignored", s->target->name);
    else if (k >= AC_TENSOR_TF32 && o->exact)
        ac_warn(cx, NOWHERE, W0002, "--exact: tensor cores multiply no floats, --tensor-cores %s is ignored", word);
    else if (k >= AC_TENSOR_TF32 && !ac_target_tensor_cores(s->target))
        ac_warn(cx, NOWHERE, W0002, "target %s: tensor cores are used from sm_80 on, --tensor-cores %s is ignored",
                s->target->name, word);
    return k;
}

static int32_t winograd_of(const ac_options *o)
{
    static const int32_t TILE[] = {
        [AC_OPT_WINOGRAD_ALONE] = AC_WINOGRAD_CHEAPEST, [AC_OPT_WINOGRAD_2] = 2, [AC_OPT_WINOGRAD_4] = 4};
    return TILE[o->winograd];
}

static ac_share_price share_of(ac_ctx *cx, const ac_options *o, const ac_settings *s)
{
    const bool off = s->gpu || o->share_kernels == AC_OPT_SHARE_KERNELS_OFF;
    if (!o->share_kernels)
        return s->target->firmware ? AC_SHARE_AUTO : s->target->vec_bytes && !s->gpu ? AC_SHARE_LARGE : AC_SHARE_NEVER;
    if (s->gpu && o->share_kernels != AC_OPT_SHARE_KERNELS_OFF)
        ac_warn(cx, NOWHERE, W0002, "kernels of %s have their shapes built in: --share-kernels is ignored",
                s->target->name);
    return off ? AC_SHARE_NEVER : o->share_kernels == AC_OPT_SHARE_KERNELS_AUTO ? AC_SHARE_AUTO : AC_SHARE_BYTES;
}

const char *ac_target_name(const ac_request *q)
{
    return q->opt->target                 ? q->opt->target
           : q->purpose == AC_FOR_RUNNING ? ac_session_target(q->opt->backend)
           : q->purpose == AC_FOR_PYTHON  ? "native"
                                          : "generic";
}

static const char *closest_target(ac_ctx *cx, const char *name)
{
    const int32_t n = ac_target_count();
    const char **names = AC_NEW_N(cx->region, const char *, n);
    for (int32_t i = 0; i < n; i++)
        names[i] = ac_target_at(i)->name;
    return ac_closest(name, names, n);
}

/* The target; with --align below its own, a copy that promises no more: loads of several bytes rely on that. */
static const ac_target *aligned_for(ac_ctx *cx, const ac_target *t, int64_t align)
{
    if (!align || align >= t->align)
        return t;
    ac_target *own = AC_NEW(cx->region, ac_target);
    *own = *t;
    own->align = (int32_t)align;
    return own;
}

/* The target for a name that other tools have; NULL: it is in no table. */
static const char *target_of_word(const char *name)
{
    static const struct {
        const char *word, *target;
    } WORDS[] = {
#define WORD(word, target) {word, target},
#include "driver/request/target_words.def"
#undef WORD
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (ac_same_letters(WORDS[i].word, name))
            return WORDS[i].target;
    return NULL;
}

static int find_target(ac_ctx *cx, const char *name, const ac_target **out)
{
    if ((*out = ac_target_find(name)))
        return AC_OK;
    const char *word = target_of_word(name);
    const char *near = closest_target(cx, name);
    const ac_board_row *board = ac_boards_of_chip(name);
    ac_error(cx, NOWHERE, E0501, "unknown target '%s'", name);
    if (ac_boards_find(name))
        return ac_help(cx, "it is a board: --board %s; arenac targets lists targets", name);
    if (word)
        return ac_help(cx, "-t %s is the target for %s; arenac targets lists all", word, name);
    if (board)
        return ac_help(
            cx, "give the core, -t %s for %s, or a board, such as --board %s; arenac targets --boards lists them",
            board->target, name, board->name);
    return near ? ac_help(cx, "did you mean '%s'? arenac targets lists them", near)
                : ac_help(cx, "arenac targets lists them");
}

/* A target, or a list of GPUs: kernels are made for the one of the lowest capability. */
static int find_targets(ac_ctx *cx, const char *text, ac_settings *s)
{
    if (!strchr(text, ','))
        return find_target(cx, text, &s->target);
    char *list = ac_strdup(cx->region, text), *save = NULL;
    s->image = AC_NEW_N(cx->region, const ac_target *, strlen(text) + 1);
    for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        const ac_target *t;
        AC_TRY(find_target(cx, name, &t));
        if (t->isa != AC_ISA_CUDA)
            return ac_error(cx, NOWHERE, E0501, "a list of targets is one of GPUs, but it has '%s'", t->name);
        int32_t at = s->n_images++;
        for (; at > 0 && s->image[at - 1]->gpu > t->gpu; at--)
            s->image[at] = s->image[at - 1];
        s->image[at] = t;
    }
    if (!s->n_images)
        return find_target(cx, text, &s->target);
    s->target = s->image[0];
    return AC_OK;
}

int ac_settings_make(ac_ctx *cx, const ac_options *o, const char *target, ac_settings *out)
{
    ac_settings s = {0};
    AC_TRY(find_targets(cx, target, &s));
    s.target = aligned_for(cx, s.target, o->align);
    s.gpu = s.target->isa == AC_ISA_CUDA;
    s.reference = o->reference == AC_OPT_REFERENCE_TFLITE;
    s.dead = o->dead ? o->dead == AC_OPT_DEAD_ON : s.target->firmware;
    s.stripes = !s.gpu && (o->stripe.on || o->io == AC_OPT_IO_ROWS);
    drop_orders(cx, o, &s);
    s.threads = threads_of(cx, o, &s);
    s.cache = cache_of(cx, o, &s);
    s.tensor_cores = tensor_cores_of(cx, o, &s);
    s.winograd = winograd_of(o);
    s.share = share_of(cx, o, &s);
    *out = s;
    return AC_OK;
}

void ac_settings_note_winograd(ac_ctx *cx, const ac_settings *s, ac_lowered *const *step, int32_t n)
{
    enum { SHOWN = 16 };
    int32_t left = 0, done = 0;
    for (int32_t i = 0; i < n; i++) {
        left += step[i]->schedule.refused != NULL;
        done += step[i]->schedule.winograd != 0;
    }
    if (!s->winograd || (done && !left))
        return;
    if (!done)
        ac_warn(cx, NOWHERE, W0002, "--winograd: no convolution of this model takes it");
    else
        ac_note(cx, NOWHERE, W0002, "--winograd: %d convolution%s it, %d do not", done, done == 1 ? " takes" : "s take",
                left);
    for (int32_t i = 0, shown = 0; i < n && shown < SHOWN; i++)
        if (step[i]->schedule.refused && ++shown)
            ac_detail(cx, "'%s': %s", step[i]->node->name, step[i]->schedule.refused);
    if (left > SHOWN)
        ac_detail(cx, "and %d more", left - SHOWN);
}

/* --recompute, if steps are whole and may be overwritten. */
static bool recomputes(ac_ctx *cx, const ac_options *o, const ac_settings *s, ac_place at)
{
    const char *against = s->reference                            ? "--reference tflite"
                          : o->preserve == AC_OPT_PRESERVE_ALL    ? "a run that keeps every tensor"
                          : o->io == AC_OPT_IO_ROWS && s->stripes ? "--io rows"
                          : s->stripes                            ? "--stripe"
                                                                  : NULL;
    if (o->recompute && against)
        ac_warn(cx, at, W0002, "--recompute does not go with %s: it is ignored", against);
    return o->recompute && !against;
}

/* Those whose options are given, or the default. */
static ac_reductions asked(const ac_options *o)
{
    ac_reductions r = 0;
#define REDUCTION(id, option, what, with, fn) r |= ac_options_say(o, option) ? AC_REDUCE(id) : 0;
#include "planner/graph/reductions.def"
#undef REDUCTION
    return r;
}

ac_reductions ac_settings_reductions(ac_ctx *cx, const ac_options *o, const ac_settings *s, const char *file)
{
    const ac_place at = {.file = file};
    const bool whole = s->reference || o->preserve == AC_OPT_PRESERVE_ALL;
    ac_reductions r = asked(o);
    if (!recomputes(cx, o, s, at))
        r &= ~AC_REDUCE(RECOMPUTE);
    if (s->stripes && (r & AC_REDUCE(ROWS)) && whole)
        ac_warn(cx, at, W0002, "%s needs whole inputs: --io rows is ignored",
                s->reference ? "--reference tflite" : "a run that keeps every tensor");
    if (s->stripes) /* also by --stripe A-B or --io rows */
        r |= AC_REDUCE(STRIPE) | (o->overlap ? 0 : AC_REDUCE(OVERLAP));
    if (!s->stripes || whole)
        r &= ~(AC_REDUCE(STRIPE) | AC_REDUCE(ROWS));
    if (s->reference)
        r &= ~(AC_REDUCE(INPLACE) | AC_REDUCE(OVERLAP));
    if (s->gpu)
        r &= ~AC_REDUCE(OVERLAP);
    return r;
}

/* ------------------------------------------------------------------ storage of floats */

static int add_storage(ac_ctx *cx, const char *word, int n, int32_t *what)
{
    static const char *const WORD[] = {"weights", "activations", "state", "io"};
    for (int32_t i = 0; i < 4; i++)
        if ((int)strlen(WORD[i]) == n && !memcmp(word, WORD[i], (size_t)n)) {
            *what |= 1 << i; /* AC_STORE_WEIGHTS .. */
            return AC_OK;
        }
    ac_error(cx, NOWHERE, E0501, "--float-storage-of: '%.*s' is not among weights, activations, state, io", n, word);
    const char *near = ac_closest(ac_strf(cx->region, "%.*s", n, word), WORD, 4);
    return near ? ac_help(cx, "did you mean '%s'?", near) : AC_FAIL;
}

int ac_settings_storage(ac_ctx *cx, const ac_options *o, ac_storage **out)
{
    *out = NULL;
    if (o->float_storage == AC_OPT_FLOAT_STORAGE_F32) {
        if (o->float_storage_of)
            ac_warn(cx, NOWHERE, W0002, "--float-storage-of is left out: floats stay f32 without --float-storage");
        return AC_OK;
    }
    const char *other = o->train ? "train" : o->reference ? "reference" : NULL;
    if (other) {
        ac_error(cx, NOWHERE, E0502, "--float-storage %s does not go with --%s",
                 ac_option_text(o, AC_OPT_float_storage), other);
        return ac_help(cx, o->train ? "train in f32, and compile the trained model with --float-storage"
                                    : "a reference plan is of tensors as the file has them");
    }
    ac_storage *s = AC_NEW(cx->region, ac_storage);
    s->type = o->float_storage == AC_OPT_FLOAT_STORAGE_F16 ? AC_F16 : AC_BF16;
    for (const char *w = o->float_storage_of; w && *w; w += *w == ',') {
        const int n = (int)strcspn(w, ",");
        AC_TRY(add_storage(cx, w, n, &s->what));
        w += n;
    }
    if (!s->what)
        s->what = AC_STORE_WEIGHTS | AC_STORE_ACTIVATIONS | AC_STORE_STATE;
    *out = s;
    return AC_OK;
}

/* ------------------------------------------------------------------ training */

static double given_or(double given, double otherwise)
{
    return given >= 0 ? given : otherwise;
}

static int check_ranges(ac_ctx *cx, const ac_train_spec *s)
{
    if (s->beta1 >= 1 || s->beta2 >= 1)
        return ac_error(cx, (ac_place){.file = "arenac"}, E0501, "bad argument '%g' of --%s, expected less than 1",
                        s->beta1 >= 1 ? s->beta1 : s->beta2, s->beta1 >= 1 ? "beta1" : "beta2");
    if (s->momentum >= 1)
        return ac_error(cx, (ac_place){.file = "arenac"}, E0501,
                        "bad argument '%g' of --momentum, expected less than 1", s->momentum);
    return AC_OK;
}

int64_t ac_settings_micro_batch(const ac_options *o)
{
    enum { SHARES = 8 }; /* of a batch: for as many processes, whatever their number is now */
    int64_t n = SHARES;
    while (o->batch % n)
        n /= 2;
    return o->micro_batch > 0 ? o->micro_batch : o->mpi ? o->batch / n : o->batch;
}

/* Micro-batches, and when updates are made. */
static int settle_parts(ac_ctx *cx, const ac_options *o, ac_train_spec *s)
{
    int64_t near = ac_settings_micro_batch(o);
    if (o->batch > 0 && o->batch % near) {
        ac_error(cx, (ac_place){.file = "arenac"}, E0501,
                 "a batch of %lld samples cannot be cut into micro-batches of %lld", (long long)o->batch,
                 (long long)near);
        while (near > o->batch || o->batch % near)
            near--;
        return ac_help(cx, "--micro-batch %lld divides it", (long long)near);
    }
    s->micro_batches = o->batch > 0 ? (int32_t)(o->batch / near) : 1;
    s->late = s->micro_batches > 1 || o->mpi || o->update == AC_OPT_UPDATE_LATE;
    if (!s->late || o->update != AC_OPT_UPDATE_EARLY)
        return AC_OK;
    return ac_error(cx, (ac_place){.file = "arenac"}, E0501,
                    "--update early does not go with %s: gradients are complete at the end",
                    o->mpi ? "--mpi" : "--micro-batch");
}

int ac_settings_train(ac_ctx *cx, const ac_options *o, ac_option_id optimizer, ac_train_spec *s)
{
    if (!ac_optimizer_find(ac_option_text(o, optimizer), &s->optimizer))
        return AC_FAIL; /* its words are optimizers */
    if (o->loss && !ac_loss_find(o->loss, &s->loss)) {
        s->loss = AC_LOSS_NAMED;
        s->loss_name = o->loss;
    }
    const bool adamw = s->optimizer == AC_ADAMW, rms = s->optimizer == AC_RMSPROP, grad = s->optimizer == AC_ADAGRAD;
    const bool moves = s->optimizer == AC_MOMENTUM || s->optimizer == AC_NESTEROV;
    s->momentum = given_or(o->momentum, moves ? 0.9 : 0);
    s->weight_decay = given_or(o->weight_decay, adamw ? 0.01 : 0);
    s->beta1 = given_or(o->beta1, 0.9);
    s->beta2 = given_or(o->beta2, rms ? 0.99 : 0.999);
    s->eps = given_or(o->eps, grad ? 1e-10 : 1e-8);
    s->clip_norm = given_or(o->clip_norm, 0);
    s->freeze = o->freeze.item;
    s->n_freeze = o->freeze.n;
    s->only = o->train_only.item;
    s->n_only = o->train_only.n;
    s->seed = o->seed > 0 ? (uint64_t)o->seed : 0;
    ac_train_adapter *lora = AC_NEW_N(cx->region, ac_train_adapter, o->lora.n + 1);
    for (int32_t i = 0; i < o->lora.n; i++)
        lora[i] = (ac_train_adapter){o->lora.item[i].pattern, o->lora.item[i].rank};
    s->lora = lora;
    s->n_lora = o->lora.n;
    AC_TRY(settle_parts(cx, o, s));
    return check_ranges(cx, s);
}
