/* verb.c - the verb train: a step of the model is compiled, run over samples, and its weights are written. */
#include "driver/train/training.h"
#include "driver/verb/verbs.h"

#include "ir/train/train.h"

#include <stdlib.h>
#include <string.h>

static int prepare(ac_training *t, const char *const *path, int32_t n)
{
    arenac *a = t->a;
    AC_TRY(ac_training_options(t));
    AC_TRY(ac_session_check(&a->cx, a->opt.backend));
    t->step.spec = &t->spec;
    a->purpose = AC_FOR_RUNNING;
    a->trains = true;
    a->extension = (ac_extension){.step = &t->step, .values_apart = true}; /* values are in the session */
    AC_TRY(ac_source_open(a, path, n));
    AC_TRY(ac_read_model(a));
    AC_TRY(ac_check_weights(a));
    AC_TRY(ac_samples_open(t));
    const int64_t per_epoch = (t->rows + t->batch - 1) / t->batch;
    t->steps = a->opt.steps >= 0 ? a->opt.steps : a->opt.epochs * per_epoch;
    if (!ac_is(a->opt.shuffle, "off")) {
        char *end;
        t->seed = strtoull(a->opt.shuffle, &end, 10);
        if (*end)
            return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                            "bad argument '%s' of --shuffle, expected off or a number", a->opt.shuffle);
        t->order = AC_NEW_N(a->cx.region, int64_t, t->rows);
        t->epoch = -1;
    }
    return AC_OK;
}

/* All that is done before the first step. */
static int open_step(ac_training *t, const char *const *path, int32_t n)
{
    arenac *a = t->a;
    AC_TRY(prepare(t, path, n));
    AC_TRY(ac_compile(a));
    AC_TRY(ac_samples_bind(t));
    AC_TRY(ac_validation_check(t));
    if (a->opt.verbose)
        ac_report_put(a, ac_output_new(a, "-"));
    AC_TRY(ac_load(a));
    AC_TRY(ac_steps_open(t));
    return ac_checkpoint_read(t);
}

static int train(ac_training *t, const char *const *path, int32_t n)
{
    arenac *a = t->a;
    AC_TRY(ac_ranks_open(t));
    AC_TRY(ac_ranks_agree(t, open_step(t, path, n)));
    if (t->stopped)
        return AC_OK;
    t->log = a->opt.log ? ac_output_new(a, a->opt.log) : NULL;
    AC_TRY(ac_ranks_fail(t, ac_training_run(t)));
    ac_ranks_close(t);
    if (!ac_ranks_first(t))
        return AC_OK;
    AC_TRY(ac_training_validate(t));
    AC_TRY(ac_trained_write(t));
    AC_TRY(ac_training_parts(t));
    ac_training_sum_up(t);
    return AC_OK;
}

static int train_verb(arenac *a, const char *const *path, int32_t n)
{
    ac_training *t = AC_NEW(a->cx.region, ac_training);
    t->a = a;
    t->path = path;
    t->n_paths = n;
    const int status = train(t, path, n);
    ac_samples_close(t);
    return status;
}

int arenac_verb_train(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, train_verb, path, n);
}
