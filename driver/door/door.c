/* door.c - the functions of arenac.h besides the stages: verbs, values of options, and running a model here. */
#include "driver/door/door.h"

#include "driver/quantize/verb.h"
#include "driver/train/train.h"

typedef struct verb_call {
    ac_verb_fn *verb;
    const char *const *path;
    int32_t n;
} verb_call;

static int verb_stage(ac_work *w, void *arg)
{
    const verb_call *c = arg;
    return c->verb(w, c->path, c->n);
}

static int run_verb(arenac *a, ac_verb_fn *verb, const char *const *path, int32_t n)
{
    verb_call c = {verb, path, n};
    return ac_guard(&a->work, verb_stage, &c);
}

int arenac_verb_check(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_check_verb, path, n);
}

int arenac_verb_run(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_run, path, n);
}

int arenac_verb_grad(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_grad_run, path, n);
}

int arenac_verb_train(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_train, path, n);
}

int arenac_verb_bench(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_bench, path, n);
}

int arenac_verb_python(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_python, path, n);
}

int arenac_verb_show(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_show, path, n);
}

int arenac_verb_verify(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_audit, path, n);
}

int arenac_verb_prove(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_prove_verb, path, n);
}

int arenac_verb_diff(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_diff, path, n);
}

int arenac_verb_fit(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_fit, path, n);
}

int arenac_verb_convert(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_convert, path, n);
}

int arenac_verb_quantize(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_quantize_verb, path, n);
}

int arenac_verb_targets(arenac *a, const char *const *path, int32_t n)
{
    return run_verb(a, ac_targets, path, n);
}

int arenac_verb_ops(arenac *a, const char *const *name, int32_t n)
{
    return run_verb(a, ac_list_operators, name, n);
}

int arenac_verb_explain(arenac *a, const char *const *code, int32_t n)
{
    return run_verb(a, ac_explain, code, n);
}

/* ------------------------------------------------------------------ values of options */

typedef struct values {
    ac_option_id option;
    const char *const *name;
    int32_t n;
} values;

static int values_stage(ac_work *w, void *arg)
{
    values *v = arg;
    return ac_option_values(&w->cx, v->option, &v->name, &v->n);
}

const char *const *arenac_option_values(arenac *a, int32_t i, int32_t *n)
{
    values v = {.option = (ac_option_id)i};
    *n = 0;
    if (!arenac_option_at(i) || ac_guard(&a->work, values_stage, &v) != AC_OK)
        return NULL;
    *n = v.n;
    return v.name;
}

/* ------------------------------------------------------------------ running here */

static int load_stage(ac_work *w, void *arg)
{
    (void)arg;
    if (w->made.lowering && w->request.purpose != AC_FOR_RUNNING)
        return ac_error(&w->cx, (ac_place){.file = w->source.path}, E0501,
                        "the model is compiled for files: arenac_load comes before arenac_check");
    w->request.purpose = AC_FOR_RUNNING;
    AC_TRY(ac_compile_tested(w));
    return ac_load(w);
}

int arenac_load(arenac *a)
{
    return ac_guard(&a->work, load_stage, NULL);
}

static void *at(const ac_work *w, const ac_io *io, int32_t n, int32_t i, int64_t *bytes)
{
    if (i < 0 || i >= n)
        return NULL;
    if (bytes)
        *bytes = io[i].bytes;
    return ac_session_at(&w->session, &io[i]);
}

void *arenac_input(arenac *a, int32_t i, int64_t *bytes)
{
    const ac_module *m = a->work.made.module;
    return a->work.loaded ? at(&a->work, m->input, m->n_inputs, i, bytes) : NULL;
}

const void *arenac_output(arenac *a, int32_t i, int64_t *bytes)
{
    const ac_module *m = a->work.made.module;
    return a->work.loaded ? at(&a->work, m->output, m->n_outputs, i, bytes) : NULL;
}

static int run_stage(ac_work *w, void *arg)
{
    AC_TRY(load_stage(w, arg));
    return ac_session_run(&w->session);
}

int arenac_run(arenac *a)
{
    return ac_guard(&a->work, run_stage, NULL);
}
