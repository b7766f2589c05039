/* training_options.c - what the options of the verb train say, and what must be said. */
#include "driver/train/training.h"

#include <string.h>

static const ac_place HERE = {.file = "arenac"};

static int missing(ac_ctx *cx, const char *option, const char *argument, const char *what)
{
    ac_error(cx, HERE, E0501, "train needs --%s: %s", option, what);
    return ac_help(cx, "--%s %s", option, argument);
}

static int check_given(arenac *a)
{
    const ac_options *o = &a->opt;
    ac_ctx *cx = &a->cx;
    if (!o->data.n)
        return missing(cx, "data", "INPUT=x.npy", "the samples");
    if (!o->loss)
        return missing(cx, "loss", "cross_entropy", "what is to become small");
    if (!o->optimizer)
        return missing(cx, "optimizer", "adam", "how weights change");
    if (o->lr < 0)
        return missing(cx, "lr", "0.001", "the learning rate");
    if (o->batch < 0)
        return missing(cx, "batch", "32", "the samples of a step");
    if (o->steps < 0 && o->epochs < 0)
        return missing(cx, "steps", "1000", "how long (or --epochs)");
    if (o->steps >= 0 && o->epochs >= 0)
        return ac_error(cx, HERE, E0501, "--steps and --epochs cannot be used together");
    if (!o->trained)
        return missing(cx, "trained", "OUT.onnx", "where the trained model goes (-o)");
    return ac_trained_check(a);
}

/* Targets are of one type of the step: whatever integers for classes. */
static int target_type(arenac *a, ac_train_spec *s)
{
    ac_npy y;
    const char *given = a->opt.train_target;
    if (s->loss == AC_LOSS_NAMED) {
        if (!given)
            return AC_OK;
        return ac_error(&a->cx, HERE, E0501, "--target does not go with a loss that is an output: it is an input");
    }
    if (!given)
        return missing(&a->cx, "target", "y.npy", "what the output should be");
    const char *eq = strchr(given, '=');
    AC_TRY(ac_npy_read(&a->cx, eq ? eq + 1 : given, &y));
    const bool ints = y.descr[1] == 'i' || y.descr[1] == 'u';
    s->target = AC_NONE;
    if (s->loss == AC_LOSS_CROSS_ENTROPY)
        s->target = !ints                        ? AC_F32
                    : !strcmp(y.descr + 1, "i8") ? AC_I64
                    : !strcmp(y.descr + 1, "i4") ? AC_I32
                    : !strcmp(y.descr + 1, "u1") ? AC_U8
                                                 : AC_I64;
    ac_npy_close(&y);
    return AC_OK;
}

int ac_training_options(ac_training *t)
{
    arenac *a = t->a;
    AC_TRY(check_given(a));
    AC_TRY(ac_settings_train(&a->cx, &a->opt, a->opt.optimizer, &t->spec));
    t->spec.output = a->opt.train_output;
    t->rate = a->opt.lr;
    t->batch = a->opt.batch;
    t->micro = ac_settings_micro_batch(&a->opt);
    return target_type(a, &t->spec);
}
