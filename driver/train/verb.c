/* verb.c - the verb train: a step of the model is compiled, run over samples, and its weights are written. */
#include "driver/train/train.h"
#include "driver/train/training.h"

#include "ir/train/train.h"

#include <string.h>

static int prepare(ac_training *t, const char *const *path, int32_t n)
{
    ac_work *w = t->w;
    AC_TRY(ac_training_options(t));
    AC_TRY(ac_session_check(&w->cx, w->opt.backend));
    t->step.spec = &t->spec;
    w->request.purpose = AC_FOR_RUNNING;
    w->request.trains = true;
    w->request.extension = (ac_extension){.step = &t->step, .values_apart = true}; /* values are in the session */
    AC_TRY(ac_open(w, path, n));
    AC_TRY(ac_read_model(&w->made, &w->made.model));
    AC_TRY(ac_check_weights(&w->made));
    AC_TRY(ac_samples_open(t));
    const int64_t per_epoch = (t->rows + t->batch - 1) / t->batch;
    t->steps = w->opt.steps >= 0 ? w->opt.steps : w->opt.epochs * per_epoch;
    if (w->opt.shuffle.on) {
        t->seed = (uint64_t)w->opt.shuffle.seed;
        t->order = AC_NEW_N(w->cx.region, int64_t, t->rows);
        t->epoch = -1;
    }
    return AC_OK;
}

/* All that is done before the first step. */
static int open_step(ac_training *t, const char *const *path, int32_t n)
{
    ac_work *w = t->w;
    AC_TRY(prepare(t, path, n));
    AC_TRY(ac_compile(w));
    AC_TRY(ac_samples_bind(t));
    AC_TRY(ac_validation_check(t));
    if (w->opt.verbose)
        ac_report_put(&w->made, ac_pending_add(&w->out, "-"));
    AC_TRY(ac_load(w));
    AC_TRY(ac_steps_open(t));
    return ac_checkpoint_read(t);
}

static int train(ac_training *t, const char *const *path, int32_t n)
{
    ac_work *w = t->w;
    AC_TRY(ac_ranks_open(t));
    AC_TRY(ac_ranks_agree(t, open_step(t, path, n)));
    if (t->stopped)
        return AC_OK;
    t->log = w->opt.log ? ac_pending_add(&w->out, w->opt.log) : NULL;
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

int ac_train(ac_work *w, const char *const *path, int32_t n)
{
    ac_training *t = AC_NEW(w->cx.region, ac_training);
    t->w = w;
    t->path = path;
    t->n_paths = n;
    const int status = train(t, path, n);
    ac_samples_close(t);
    return status;
}
