/* loop.c - the steps of a training, one after the other: samples in, loss out; state stays where it is. */
#include "driver/train/training.h"
#include "driver/verbs.h"

#include "base/interrupt.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const ac_io *state_io(const ac_module *m, const ac_tensor *t)
{
    for (int32_t i = 0; i < m->n_states; i++)
        if (m->state[i].tensor == t)
            return &m->state[i];
    return NULL;
}

/* Weights begin as the file has them; what the optimizer keeps is zero. */
static int open_state(ac_training *t)
{
    arenac *a = t->a;
    const ac_train_step *s = &t->step;
    t->weight_io = AC_NEW_N(a->cx.region, const ac_io *, s->weight.n + 1);
    t->slot_io = AC_NEW_N(a->cx.region, const ac_io *, s->slot.n + 1);
    for (int32_t i = 0; i < s->weight.n; i++) {
        const ac_io *io = t->weight_io[i] = state_io(a->module, s->weight.item[i].state);
        if (!io)
            return ac_error(&a->cx, (ac_place){0}, E0901, "weight '%s' has no memory", s->weight.item[i].name);
        memcpy(ac_session_at(&a->session, io), s->weight.item[i].first, (size_t)io->bytes);
    }
    for (int32_t i = 0; i < s->slot.n; i++)
        t->slot_io[i] = state_io(a->module, s->slot.item[i].state);
    return AC_OK;
}

static double rate_at(const ac_training *t, int64_t step)
{
    static const double PI = 3.14159265358979323846;
    const char *schedule = t->a->opt.lr_schedule;
    const double part = t->steps > 0 ? (double)step / (double)t->steps : 0;
    if (ac_is(schedule, "cosine"))
        return t->rate * (1 + cos(PI * part)) / 2;
    return ac_is(schedule, "step") ? t->rate * pow(0.1, floor(3 * part)) : t->rate;
}

static int one_step(ac_training *t, int64_t step)
{
    ac_session *s = &t->a->session;
    const float rate = (float)rate_at(t, step);
    ac_samples_fill(t, step);
    if (t->rate_io)
        memcpy(ac_session_at(s, t->rate_io), &rate, sizeof rate);
    AC_TRY(ac_session_run(s));
    t->loss = ac_dtype_get_num(AC_F32, ac_session_at(s, &s->module->output[0]), 0);
    return AC_OK;
}

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
    arenac *a = t->a;
    if (!a->opt.per_op)
        return AC_OK;
    ac_sink *to = ac_output_new(a, "-");
    const ac_report *r = a->report;
    times x = {.sum = AC_NEW_N(a->cx.region, double, r->n_steps + 1)};
    double all = 0;
    a->session.hook = lap;
    a->session.hook_user = &x;
    for (int32_t k = 0; k < OFTEN; k++) {
        ac_samples_fill(t, t->steps);
        x.last = ac_now_ms();
        AC_TRY(ac_session_run(&a->session));
    }
    a->session.hook = NULL;
    for (int32_t i = 0; i < r->n_steps; i++)
        all += x.sum[i];
    for (int32_t i = 0; i < r->n_steps; i++)
        ac_putf(to, "%4d  %-40s %9.4f ms %5.1f %%  %8.2f GMAC/s  %s\n", i, r->step[i].op, x.sum[i] / OFTEN,
                100 * x.sum[i] / all, (double)r->step[i].macs * OFTEN / (x.sum[i] * 1e6), r->step[i].name);
    return AC_OK;
}

/* ------------------------------------------------------------------ all of them */

/* One line on a terminal, written over again. */
static void show_progress(const ac_training *t, double from, double *shown)
{
    enum { PERIOD = 200 };
    const double now = ac_now_ms();
    if (!t->shows || now - *shown < PERIOD)
        return;
    const double per_s = (double)t->done / (now - from) * 1e3;
    const int64_t left = (int64_t)((double)(t->steps - t->first - t->done) / (per_s > 0 ? per_s : 1));
    *shown = now;
    fprintf(stderr, "\rstep %lld of %lld   loss %.5g   %.4g steps/s   %lld:%02lld left ",
            (long long)(t->first + t->done), (long long)t->steps, t->loss, per_s, (long long)(left / 60),
            (long long)(left % 60));
}

/* Has a signal come that ends the process? It waits until it is let in. */
static bool wants_end(void)
{
    static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t waiting;
    bool any = false;
    if (sigpending(&waiting))
        return false;
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++) {
        struct sigaction does;
        any |=
            sigismember(&waiting, ENDING[i]) == 1 && !sigaction(ENDING[i], NULL, &does) && does.sa_handler != SIG_IGN;
    }
    return any;
}

static int end_early(ac_training *t, int64_t next)
{
    AC_TRY(ac_checkpoint_write(t, next));
    fprintf(stderr, "%sarenac: stopped after step %lld; --resume %s goes on from there\n", t->shows ? "\r\033[K" : "",
            (long long)(next - 1), ac_checkpoint_path(t));
    return AC_OK;
}

static int all_steps(ac_training *t)
{
    const int64_t every = t->a->opt.checkpoint_every;
    const double from = ac_now_ms();
    double shown = from;
    for (int64_t k = t->first; k < t->steps; k++) {
        AC_TRY(one_step(t, k));
        t->done++;
        if (t->log)
            ac_putf(t->log, "%lld,%.9g\n", (long long)k, t->loss);
        if (every > 0 && (k + 1) % every == 0)
            AC_TRY(ac_checkpoint_write(t, k + 1));
        t->seconds = (ac_now_ms() - from) / 1e3;
        if (wants_end())
            return end_early(t, k + 1);
        show_progress(t, from, &shown);
    }
    if (t->shows)
        fputs("\r\033[K", stderr);
    return AC_OK;
}

int ac_training_run(ac_training *t)
{
    arenac *a = t->a;
    sigset_t before;
    AC_TRY(open_state(t));
    AC_TRY(ac_checkpoint_read(t));
    t->shows = isatty(2) && !a->opt.quiet;
    if (t->log)
        ac_put(t->log, "step,loss\n");
    ac_interrupt_hold(&before);
    const int status = all_steps(t);
    ac_interrupt_release(&before);
    return status;
}

void ac_training_sum_up(ac_training *t)
{
    ac_putf(ac_output_new(t->a, "-"), "steps=%lld seconds=%.3f steps_per_s=%.6g loss=%.9g peak_bytes=%lld\n",
            (long long)t->done, t->seconds, t->seconds > 0 ? (double)t->done / t->seconds : 0, t->loss,
            (long long)t->a->packed->plan->arena_bytes);
}
