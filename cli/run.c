/* run.c - run a model on this machine: inputs from .npy files, outputs to .npy files, comparison with a reference. */
#include "cli/cli.h"
#include "cli/compare.h"
#include "cli/host.h"
#include "cli/inputs.h"
#include "codegen/bind.h"
#include "cli/npy.h"
#include "cli/taps.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct run_arg {
    ac_cli *cli;
    ac_host host;
    ac_inputs inputs;
} run_arg;

static int write_outputs(arenac_job *job, run_arg *a)
{
    const char *dir = a->cli->output_dir;
    if (!dir)
        return AC_OK;
    if (mkdir(dir, 0777) && errno != EEXIST)
        return ac_error(&job->cx, (ac_place){.file = dir}, E0302, "cannot create the folder: %s", strerror(errno));
    for (int32_t i = 0; i < job->module->n_outputs; i++) {
        const ac_io *o = &job->module->output[i];
        ac_sink *s = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(s, &job->cx);
        ac_npy_write(s, o->tensor->dtype, o->tensor->rank, o->tensor->dim, ac_host_at(&a->host, o));
        ac_job_add_output(job, s, ac_strf(job->cx.region, "%s/%d.npy", dir, i));
    }
    return ac_sink_commit_all(&job->cx, job->output.item, job->output.n);
}

static void print_outputs(arenac_job *job, run_arg *a)
{
    for (int32_t i = 0; i < job->module->n_outputs; i++) {
        const ac_io *o = &job->module->output[i];
        const ac_tensor *t = o->tensor;
        int64_t n = ac_tensor_count(t), show = n < 10 ? n : 10;
        printf("output %d '%s' %s:", i, t->name, ac_tensor_str(&job->cx, t));
        for (int64_t k = 0; k < show; k++)
            if (ac_dtype_is_float(t->dtype))
                printf(" %.6g", ac_dtype_get_num(t->dtype, ac_host_at(&a->host, o), k));
            else
                printf(" %lld", (long long)ac_dtype_get_int(t->dtype, ac_host_at(&a->host, o), k));
        printf("%s\n", n > show ? " ..." : "");
    }
}

static int compare_outputs(arenac_job *job, run_arg *a)
{
    int status = AC_OK;
    for (int32_t c = 0; c < a->cli->n_compares; c++) {
        int32_t i;
        AC_TRY(ac_io_find(job, "--compare", a->cli->compare[c].key, job->graph->output.item, job->graph->output.n, &i));
        const ac_io *o = &job->module->output[i];
        ac_npy want;
        AC_TRY(ac_npy_read(&job->cx, a->cli->compare[c].path, &want));
        if (ac_npy_fits(&job->cx, &want, o->tensor, "--compare") != AC_OK) {
            ac_npy_close(&want);
            status = AC_FAIL;
            continue;
        }
        ac_difference d = ac_compare(o->tensor->dtype, ac_host_at(&a->host, o), want.data, ac_tensor_count(o->tensor));
        ac_npy_close(&want);
        if (ac_close_enough(o->tensor->dtype, &d, a->cli->max_ulp)) {
            if (!a->cli->quiet)
                printf("output %d '%s': %s reference (%lld of %lld differ, max abs %.3g, max ULP %.0f)\n", i,
                       o->tensor->name, d.differ ? "within the bounds of the" : "equal to the", (long long)d.differ,
                       (long long)d.count, d.max_abs, d.max_ulp);
            continue;
        }
        ac_error(&job->cx, (ac_place){.file = job->path}, E0601, "output %d '%s' differs from %s", i, o->tensor->name,
                 want.path);
        status = ac_detail(
            &job->cx,
            "%lld of %lld elements, first at %lld; max abs %.6g (largest reference %.6g), max ULP %.0f, mean %.3g",
            (long long)d.differ, (long long)d.count, (long long)d.first, d.max_abs, d.scale, d.max_ulp, d.mean_abs);
    }
    return status;
}

/* ------------------------------------------------------------------ --per-node */

typedef struct per_node {
    run_arg *run;
    uint8_t **want; /* by step: what the evaluator computed */
    bool recording;
    int32_t bad;
} per_node;

static void look(void *user, int32_t s)
{
    per_node *p = user;
    arenac_job *job = p->run->host.job;
    const ac_tensor *t = ac_node_result(job->step[s]->node);
    int32_t item = job->live->item_of[t->id];
    const ac_io io = ac_module_place(&job->live->problem, &job->plan, item, job->live->delta[t->id]);
    const uint8_t *at = ac_host_at(&p->run->host, &io);
    if (p->recording) {
        p->want[s] = ac_copy(job->cx.region, at, (size_t)ac_tensor_bytes(t));
        return;
    }
    ac_difference d = ac_compare(t->dtype, at, p->want[s], ac_tensor_count(t));
    bool ok = ac_close_enough(t->dtype, &d, p->run->cli->max_ulp);
    p->bad += !ok;
    printf("%4d  %-24s %-32s %10.3g %8.0f %10.3g %8lld%s\n", s, ac_ops[job->step[s]->node->op].tflite,
           job->step[s]->node->name, d.max_abs, d.max_ulp, d.mean_abs, (long long)(ok ? 0 : d.differ),
           ok            ? ""
           : p->bad == 1 ? "   <-- first bad step"
                         : "   <--");
}

static int run_per_node(arenac_job *job, run_arg *a, const char *backend)
{
    per_node p = {a, AC_NEW_N(job->cx.region, uint8_t *, job->n_steps + 1), true, 0};
    AC_TRY(ac_host_open(job, "eval", &a->host));
    AC_TRY(ac_inputs_fill(job, &a->inputs, &a->host));
    a->host.hook = look;
    a->host.hook_user = &p;
    AC_TRY(ac_host_run(&a->host));
    ac_host_close(&a->host);
    AC_TRY(ac_host_open(job, backend, &a->host));
    AC_TRY(ac_inputs_fill(job, &a->inputs, &a->host));
    a->host.hook = look;
    a->host.hook_user = &p;
    p.recording = false;
    printf("step  operator                 name                                max abs  max ULP       mean   differ\n");
    AC_TRY(ac_host_run(&a->host));
    a->host.hook = NULL;
    if (p.bad)
        return ac_error(&job->cx, (ac_place){.file = job->path}, E0601,
                        "%d steps differ from the reference interpreter", p.bad);
    return AC_OK;
}

/* ------------------------------------------------------------------ --taps */

typedef struct tapped {
    run_arg *run;
    ac_taps taps;
} tapped;

static void look_at_taps(void *user, int32_t s)
{
    tapped *t = user;
    ac_taps_look(&t->taps, &t->run->host, s);
}

static int run_taps(arenac_job *job, run_arg *a, const char *backend)
{
    tapped t = {.run = a};
    AC_TRY(ac_taps_open(job, a->cli->taps, &t.taps));
    AC_TRY(ac_host_open(job, backend, &a->host));
    AC_TRY(ac_inputs_fill(job, &a->inputs, &a->host));
    a->host.hook = look_at_taps;
    a->host.hook_user = &t;
    AC_TRY(ac_host_run(&a->host));
    a->host.hook = NULL;
    return ac_taps_close(&t.taps);
}

/* ------------------------------------------------------------------ the verb */

static int run_stage(arenac_job *job, void *arg)
{
    run_arg *a = arg;
    const char *backend = a->cli->backend ? a->cli->backend : "c";
    if (a->cli->per_node) {
        AC_TRY(run_per_node(job, a, backend));
    } else if (a->cli->taps) {
        AC_TRY(run_taps(job, a, backend));
    } else {
        AC_TRY(ac_host_open(job, backend, &a->host));
        for (int64_t i = 0; i < (a->cli->runs ? a->cli->runs : 1); i++) {
            AC_TRY(ac_inputs_fill(job, &a->inputs, &a->host)); /* a run may overwrite its inputs */
            AC_TRY(ac_host_run(&a->host));
        }
    }
    AC_TRY(compare_outputs(job, a));
    AC_TRY(write_outputs(job, a));
    if (!a->cli->output_dir && !a->cli->n_compares && !a->cli->per_node && !a->cli->taps && !a->cli->quiet)
        print_outputs(job, a);
    return AC_OK;
}

int ac_cli_run(ac_cli *cli)
{
    int status;
    const char *backend = cli->backend ? cli->backend : "c";
    if (!cli->target_given)
        cli->opt.target = ac_host_target(cli);
    cli->opt.host = true;
    cli->opt.weights = "blob";
    arenac_job *job = ac_cli_open(cli, &status);
    if (!job)
        return status;
    static run_arg a;
    a.cli = cli;
    if (ac_inputs_open(job, cli, backend, &a.inputs) == 0 && arenac_compile(job) == 0 &&
        ac_inputs_check(job, &a.inputs) == 0)
        ac_job_guard(job, run_stage, &a);
    ac_host_close(&a.host);
    ac_inputs_close(&a.inputs);
    return ac_cli_finish(cli, job);
}
