/* door.c - the functions of arenac.h beside the stages: verbs, and running a model here. */
#include "driver/verb/verbs.h"

typedef struct verb_call {
    ac_verb_fn *verb;
    const char *const *path;
    int32_t n;
} verb_call;

static int verb_stage(arenac *a, void *arg)
{
    const verb_call *c = arg;
    return c->verb(a, c->path, c->n);
}

int ac_verb_guard(arenac *a, ac_verb_fn *verb, const char *const *path, int32_t n)
{
    verb_call c = {verb, path, n};
    return ac_guard(a, verb_stage, &c);
}

int arenac_verb_check(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_check_verb, path, n);
}

int arenac_verb_run(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_run, path, n);
}

int arenac_verb_bench(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_bench, path, n);
}

int arenac_verb_python(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_python, path, n);
}

int arenac_verb_show(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_show, path, n);
}

int arenac_verb_verify(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_audit, path, n);
}

int arenac_verb_prove(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_prove_verb, path, n);
}

int arenac_verb_diff(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_diff, path, n);
}

int arenac_verb_convert(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_convert, path, n);
}

int arenac_verb_targets(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_targets, path, n);
}

int arenac_verb_ops(arenac *a, const char *const *name, int32_t n)
{
    return ac_verb_guard(a, ac_list_operators, name, n);
}

int arenac_verb_explain(arenac *a, const char *const *code, int32_t n)
{
    return ac_verb_guard(a, ac_explain, code, n);
}

/* ------------------------------------------------------------------ running here */

static int load_stage(arenac *a, void *arg)
{
    (void)arg;
    if (a->lowering && a->purpose != AC_FOR_RUNNING)
        return ac_error(&a->cx, (ac_place){.file = a->source.path}, E0501,
                        "the model is compiled for files: arenac_load comes before arenac_check");
    a->purpose = AC_FOR_RUNNING;
    return ac_load(a);
}

int arenac_load(arenac *a)
{
    return ac_guard(a, load_stage, NULL);
}

static void *at(const arenac *a, const ac_io *io, int32_t n, int32_t i, int64_t *bytes)
{
    if (!a->loaded || i < 0 || i >= n)
        return NULL;
    if (bytes)
        *bytes = io[i].bytes;
    return ac_session_at(&a->session, &io[i]);
}

void *arenac_input(arenac *a, int32_t i, int64_t *bytes)
{
    return a->loaded ? at(a, a->module->input, a->module->n_inputs, i, bytes) : NULL;
}

const void *arenac_output(arenac *a, int32_t i, int64_t *bytes)
{
    return a->loaded ? at(a, a->module->output, a->module->n_outputs, i, bytes) : NULL;
}

static int run_stage(arenac *a, void *arg)
{
    AC_TRY(load_stage(a, arg));
    return ac_session_run(&a->session);
}

int arenac_run(arenac *a)
{
    return ac_guard(a, run_stage, NULL);
}
