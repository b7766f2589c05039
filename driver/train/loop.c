/* loop.c - the steps of a training, in order: samples in, loss out; state stays where it is. */
#include "driver/train/training.h"
#include "driver/verb/verbs.h"

#include "base/clock.h"
#include "base/shell.h"
#include "base/sys/sys.h"
#include "planner/report/layers.h"

#include <math.h>

/* ------------------------------------------------------------------ --per-op */

typedef struct times {
    double *sum; /* ms, by step of the plan */
    double last;
} times;

static void lap(void *user, int32_t step)
{
    times *x = user;
    const double now = ac_now_ms();
    x->sum[step] += now - x->last;
    x->last = now;
}

/* More steps, with a clock between their parts: when the weights have been taken. */
int ac_training_parts(ac_training *t)
{
    enum { OFTEN = 20 };
    ac_work *w = t->w;
    if (!w->opt.per_op)
        return AC_OK;
    ac_sink *to = ac_pending_add(&w->out, "-");
    const ac_report *r = w->made.report;
    times x = {.sum = AC_NEW_N(w->cx.region, double, r->n_steps + 1)};
    w->session.hook = lap;
    w->session.hook_user = &x;
    for (int32_t k = 0; k < OFTEN; k++) {
        ac_samples_fill(t, t->steps * t->batch);
        x.last = ac_now_ms();
        AC_TRY(ac_session_run(&w->session));
    }
    w->session.hook = NULL;
    for (int32_t i = 0; i < r->n_steps; i++)
        x.sum[i] /= OFTEN;
    ac_layers_text(to, &(ac_layers){.step = r->step, .n = r->n_steps, .cost = x.sum, .unit = AC_LAYER_MS});
    return AC_OK;
}

/* ------------------------------------------------------------------ NaN and infinity */

static const char *not_finite(double x)
{
    return isnan(x) ? "NaN" : "infinite";
}

static int diverged(ac_training *t, const char *what, double x)
{
    ac_ctx *cx = &t->w->cx;
    ac_error(cx, (ac_place){.file = t->path[0]}, E0111, "%s is %s in step %lld of %lld", what, not_finite(x),
             (long long)t->now, (long long)t->steps);
    if (t->saved)
        ac_detail(cx, "checkpoint %s, after step %lld, has finite weights", ac_shell_word(cx, ac_checkpoint_path(t)),
                  (long long)(t->saved - 1));
    return ac_help(cx, "lower --lr (%g), limit gradients with --clip-norm, or continue with --keep-going", t->rate);
}

/* The first element of a state that is not finite; 0: all are finite. */
static double not_finite_in(const ac_training *t, const ac_io *io)
{
    const void *data = ac_session_at(&t->w->session, io);
    const int64_t n = ac_dtype_is_float(io->tensor->dtype) ? ac_tensor_count(io->tensor) : 0;
    for (int64_t i = 0; i < n; i++) {
        const double x = ac_dtype_get_num(io->tensor->dtype, data, i);
        if (!isfinite(x))
            return x;
    }
    return 0;
}

/* Are the weights, and the state of the optimizer, finite after the last step? *finite: if --keep-going accepts any. */
static int check_state(ac_training *t, bool *finite)
{
    const int32_t n = t->step.weight.n;
    *finite = true;
    for (int32_t i = 0; i < n + t->step.slot.n; i++) {
        const double x = not_finite_in(t, i < n ? t->weight_io[i] : t->slot_io[i - n]);
        *finite = x == 0;
        if (!*finite)
            return t->w->opt.keep_going
                       ? AC_OK
                       : diverged(t,
                                  ac_strf(t->w->cx.region, "'%s'",
                                          i < n ? t->step.weight.item[i].name : t->step.slot.item[i - n].state->name),
                                  x);
    }
    return AC_OK;
}

/* A checkpoint replaces the one before only if all of it is finite. */
static int save(ac_training *t, int64_t next)
{
    bool finite;
    AC_TRY(check_state(t, &finite));
    if (!finite || !ac_ranks_first(t))
        return AC_OK;
    AC_TRY(ac_checkpoint_write(t, next));
    t->saved = next;
    return AC_OK;
}

/* ------------------------------------------------------------------ all of them */

/* Has a signal come that ends the process? It waits until it is let in. Of several processes, rank 0 decides. */
static bool wants_end(ac_training *t)
{
    float all = ac_sys_end_waits();
    if (t->ranks)
        t->ranks->share(t->ranks->with, &all, 1);
    return all > 0;
}

static int end_early(ac_training *t, int64_t next)
{
    if (!ac_ranks_first(t))
        return AC_OK;
    AC_TRY(save(t, next));
    if (t->saved != next)
        return AC_OK;
    fprintf(stderr, "%sarenac: stopped after step %lld; --resume %s continues from there\n",
            ac_sys_is_terminal(2) ? "\r\033[K" : "", (long long)(next - 1),
            ac_shell_word(&t->w->cx, ac_checkpoint_path(t)));
    return AC_OK;
}

static int all_steps(ac_training *t)
{
    const int64_t every = t->w->opt.checkpoint_every;
    const double from = ac_now_ms();
    bool finite;
    ac_progress_begin(&t->w->cx, "training, step", t->steps);
    for (int64_t k = t->first; k < t->steps; k++) {
        AC_TRY(ac_steps_one(t, k));
        t->done++;
        if (t->log)
            ac_putf(t->log, "%lld,%.9g\n", (long long)k, t->loss);
        if (!isfinite(t->loss) && !t->w->opt.keep_going)
            return diverged(t, "the loss", t->loss);
        if (every > 0 && (k + 1) % every == 0)
            AC_TRY(save(t, k + 1));
        t->seconds = (ac_now_ms() - from) / 1e3;
        if (wants_end(t))
            return end_early(t, k + 1);
        ac_progress_value(&t->w->cx, "loss", t->loss);
        ac_progress_at(&t->w->cx, k + 1);
    }
    return check_state(t, &finite);
}

int ac_training_run(ac_training *t)
{
    ac_sys_held before;
    if (t->log)
        ac_put(t->log, "step,loss\n");
    ac_sys_hold(&before);
    const int status = all_steps(t);
    ac_sys_release(&before);
    return status;
}

void ac_training_sum_up(ac_training *t)
{
    ac_putf(ac_pending_add(&t->w->out, "-"), "steps=%lld seconds=%.3f steps_per_s=%.6g loss=%.9g peak_bytes=%lld\n",
            (long long)t->done, t->seconds, t->seconds > 0 ? (double)t->done / t->seconds : 0, t->loss,
            (long long)t->w->made.packed->plan->arena_bytes);
}
