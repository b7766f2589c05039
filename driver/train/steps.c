/* steps.c - one step of a training: samples in, loss out; state stays where it is. Of several micro-batches the
 * gradients are added up by a fixed tree (runtime/arn_tree.h), then comes the update. */
#include "driver/train/training.h"

#include <math.h>
#include <string.h>

static float *floats_at(const ac_training *t, const ac_io *io)
{
    return (float *)(void *)ac_session_at(&t->w->session, io);
}

/* Gradients of micro-batch k, or the whole of a step that is one part. */
static int fill_and_run(void *with, int32_t k)
{
    ac_training *t = with;
    const int32_t count[] = {(int32_t)t->now, k};
    ac_samples_fill(t, t->now * t->batch + k * t->micro);
    for (int32_t i = 0; i < t->step.random.n; i++) /* after the seed; also after --resume, and of any process */
        memcpy(ac_session_at(&t->w->session, t->random_io[i]) + 2 * sizeof *count, count, sizeof count);
    return ac_session_part(&t->w->session, 0);
}

/* Weights begin with the values of the file, the state of the optimizer with zero. */
int ac_steps_open(ac_training *t)
{
    ac_work *w = t->w;
    const ac_train_step *s = &t->step;
    t->weight_io = AC_NEW_N(w->cx.region, const ac_io *, s->weight.n + 1);
    t->slot_io = AC_NEW_N(w->cx.region, const ac_io *, s->slot.n + 1);
    for (int32_t i = 0; i < s->weight.n; i++) {
        const ac_io *io = t->weight_io[i] = ac_module_io(w->made.module, s->weight.item[i].state);
        if (!io)
            return ac_error(&w->cx, (ac_place){0}, E0901, "weight '%s' has no memory", s->weight.item[i].name);
        memcpy(ac_session_at(&w->session, io), s->weight.item[i].first, (size_t)io->bytes);
    }
    for (int32_t i = 0; i < s->slot.n; i++)
        t->slot_io[i] = ac_module_io(w->made.module, s->slot.item[i].state);
    t->random_io = AC_NEW_N(w->cx.region, const ac_io *, s->random.n + 1);
    for (int32_t i = 0; i < s->random.n; i++)
        t->random_io[i] = ac_module_io(w->made.module, s->random.item[i]);
    t->sums_io = s->sums ? ac_module_io(w->made.module, s->sums) : NULL;
    if (t->sums_io)
        t->tree = (struct arn_tree){.block = floats_at(t, t->sums_io),
                                    .count = (size_t)ac_tensor_count(s->sums),
                                    .leaves = t->spec.micro_batches,
                                    .leaf = fill_and_run,
                                    .with = t,
                                    .ranks = t->ranks};
    const size_t room = (size_t)arn_tree_levels(t->spec.micro_batches) * t->tree.count;
    t->tree.room = AC_NEW_N(w->cx.region, float, room + 1);
    return AC_OK;
}

static double rate_at(const ac_training *t, int64_t step)
{
    static const double PI = 3.14159265358979323846;
    const ac_opt_word_lr_schedule schedule = t->w->opt.lr_schedule;
    const double part = t->steps > 0 ? (double)step / (double)t->steps : 0;
    if (schedule == AC_OPT_LR_SCHEDULE_COSINE)
        return t->rate * (1 + cos(PI * part)) / 2;
    return schedule == AC_OPT_LR_SCHEDULE_STEP ? t->rate * pow(0.1, floor(3 * part)) : t->rate;
}

int ac_steps_one(ac_training *t, int64_t step)
{
    ac_session *s = &t->w->session;
    const float rate = (float)rate_at(t, step);
    t->now = step;
    if (t->sums_io)
        AC_TRY(arn_tree_sum(&t->tree) ? AC_FAIL : AC_OK);
    if (t->rate_io)
        *floats_at(t, t->rate_io) = rate;
    AC_TRY(t->sums_io ? ac_session_part(s, 1) : fill_and_run(t, 0));
    const float loss = t->sums_io ? t->tree.block[t->tree.count - 1] : *floats_at(t, &s->module->output[0]);
    t->loss = (double)loss + 0.0; /* a mean of no loss at all may be -0 */
    return AC_OK;
}
