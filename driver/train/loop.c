/* loop.c - the steps of a training, in order: samples in, loss out; state stays where it is. */
#include "driver/train/training.h"
#include "driver/verb/verbs.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/shell.h"
#include "planner/report/layers.h"

#include <unistd.h>

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

/* ------------------------------------------------------------------ all of them */

/* Has a signal come that ends the process? It waits until it is let in. Of several processes, rank 0 decides. */
static bool wants_end(ac_training *t)
{
    static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t waiting;
    bool any = false;
    const bool known = !sigpending(&waiting);
    for (size_t i = 0; known && i < sizeof ENDING / sizeof *ENDING; i++) {
        struct sigaction does;
        any |=
            sigismember(&waiting, ENDING[i]) == 1 && !sigaction(ENDING[i], NULL, &does) && does.sa_handler != SIG_IGN;
    }
    float all = any;
    if (t->ranks)
        t->ranks->share(t->ranks->with, &all, 1);
    return all > 0;
}

static int end_early(ac_training *t, int64_t next)
{
    if (!ac_ranks_first(t))
        return AC_OK;
    AC_TRY(ac_checkpoint_write(t, next));
    fprintf(stderr, "%sarenac: stopped after step %lld; --resume %s continues from there\n",
            isatty(2) ? "\r\033[K" : "", (long long)(next - 1), ac_shell_word(&t->w->cx, ac_checkpoint_path(t)));
    return AC_OK;
}

static int all_steps(ac_training *t)
{
    const int64_t every = t->w->opt.checkpoint_every;
    const double from = ac_now_ms();
    ac_progress_begin(&t->w->cx, "training, step", t->steps);
    for (int64_t k = t->first; k < t->steps; k++) {
        AC_TRY(ac_steps_one(t, k));
        t->done++;
        if (t->log)
            ac_putf(t->log, "%lld,%.9g\n", (long long)k, t->loss);
        if (every > 0 && (k + 1) % every == 0 && ac_ranks_first(t))
            AC_TRY(ac_checkpoint_write(t, k + 1));
        t->seconds = (ac_now_ms() - from) / 1e3;
        if (wants_end(t))
            return end_early(t, k + 1);
        ac_progress_value(&t->w->cx, "loss", t->loss);
        ac_progress_at(&t->w->cx, k + 1);
    }
    return AC_OK;
}

int ac_training_run(ac_training *t)
{
    sigset_t before;
    if (t->log)
        ac_put(t->log, "step,loss\n");
    ac_interrupt_hold(&before);
    const int status = all_steps(t);
    ac_interrupt_release(&before);
    return status;
}

void ac_training_sum_up(ac_training *t)
{
    ac_putf(ac_pending_add(&t->w->out, "-"), "steps=%lld seconds=%.3f steps_per_s=%.6g loss=%.9g peak_bytes=%lld\n",
            (long long)t->done, t->seconds, t->seconds > 0 ? (double)t->done / t->seconds : 0, t->loss,
            (long long)t->w->made.packed->plan->arena_bytes);
}
