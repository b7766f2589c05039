/* loop.c - the steps of a training, one after the other: samples in, loss out; state stays where it is. */
#include "driver/train/training.h"
#include "driver/verbs.h"

#include <math.h>
#include <string.h>

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
        t->slot_io[i] = state_io(a->module, s->slot.item[i]);
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

/* One more step, with a clock between its parts; its loss does not count. */
static int time_parts(ac_training *t, ac_sink *to)
{
    enum { OFTEN = 20 };
    arenac *a = t->a;
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

int ac_training_run(ac_training *t)
{
    arenac *a = t->a;
    AC_TRY(open_state(t));
    if (t->log)
        ac_put(t->log, "step,loss\n");
    const double from = ac_now_ms();
    for (int64_t k = t->first; k < t->steps; k++) {
        AC_TRY(one_step(t, k));
        t->done++;
        if (t->log)
            ac_putf(t->log, "%lld,%.9g\n", (long long)k, t->loss);
    }
    t->seconds = (ac_now_ms() - from) / 1e3;
    ac_sink *to = ac_output_new(a, "-");
    if (a->opt.per_op) /* the weights are those after the last step all the same */
        AC_TRY(time_parts(t, to));
    ac_putf(to, "steps=%lld seconds=%.3f steps_per_s=%.6g loss=%.9g peak_bytes=%lld\n", (long long)t->done, t->seconds,
            t->seconds > 0 ? (double)t->done / t->seconds : 0, t->loss, (long long)a->packed->plan->arena_bytes);
    return AC_OK;
}
