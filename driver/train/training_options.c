/* training_options.c - the options of the verb train, and those that it requires. */
#include "driver/train/training.h"

#include <string.h>

static const ac_place HERE = {.file = "arenac"};

static int missing(ac_ctx *cx, const char *option, const char *argument, const char *what)
{
    ac_error(cx, HERE, E0501, "train needs --%s: %s", option, what);
    return ac_help(cx, "--%s %s", option, argument);
}

/* All that is missing, at once. */
static int check_given(ac_work *w)
{
    const ac_options *o = &w->opt;
    ac_ctx *cx = &w->cx;
    const struct {
        bool given;
        const char *option, *argument, *what;
    } NEEDS[] = {{o->data.n > 0, "data", "INPUT=x.npy", "the samples"},
                 {o->loss, "loss", "cross_entropy", "what is to become small"},
                 {o->optimizer, "optimizer", "adam", "how weights change"},
                 {o->lr >= 0, "lr", "0.001", "the learning rate"},
                 {o->batch >= 0, "batch", "32", "the samples of a step"},
                 {o->steps >= 0 || o->epochs >= 0, "steps", "1000", "how long (or --epochs)"},
                 {o->trained, "trained", "OUT.onnx", "where the trained model goes (-o)"}};
    int status = AC_OK;
    for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++)
        if (!NEEDS[i].given)
            status = missing(cx, NEEDS[i].option, NEEDS[i].argument, NEEDS[i].what);
    if (o->steps >= 0 && o->epochs >= 0)
        status = ac_error(cx, HERE, E0501, "--steps and --epochs cannot be used together");
    return status == AC_OK ? ac_trained_check(w) : status;
}

/* The type of the step's targets: for classes, that of the array, if the step supports it. */
static int target_type(ac_work *w, ac_train_spec *s)
{
    ac_npy y;
    const char *given = w->opt.train_target;
    if (s->loss == AC_LOSS_NAMED) {
        if (!given)
            return AC_OK;
        const char *near = ac_loss_near(w->opt.loss);
        ac_error(
            &w->cx, HERE, E0501,
            "--loss '%s' is not a loss of arenac, so it names an output of the model; --target does not go with that",
            w->opt.loss);
        return near ? ac_help(&w->cx, "did you mean '%s'?", near)
                    : ac_help(&w->cx, "the target of such a loss is an input of the model: --data INPUT=y.npy");
    }
    if (!given)
        return missing(&w->cx, "target", "y.npy", "what the output should be");
    const char *eq = strchr(given, '=');
    AC_TRY(ac_npy_read(&w->cx, eq ? eq + 1 : given, &y));
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
    ac_work *w = t->w;
    AC_TRY(check_given(w));
    AC_TRY(ac_settings_train(&w->cx, &w->opt, AC_OPT_optimizer, &t->spec));
    t->spec.output = w->opt.train_output;
    t->rate = w->opt.lr;
    t->batch = w->opt.batch;
    t->micro = ac_settings_micro_batch(&w->opt);
    return target_type(w, &t->spec);
}
