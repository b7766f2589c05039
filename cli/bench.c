/* bench.c - time a model on this machine: whole runs, and with --per-op each step. */
#include "cli/cli.h"
#include "cli/host.h"
#include "cli/inputs.h"
#include "cli/tune.h"

#include "base/json_out.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench_arg {
    ac_cli *cli;
    ac_host host;
    ac_inputs inputs;
    double *best; /* ms, by step */
    double last;  /* when the previous step ended */
} bench_arg;

double ac_cli_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void lap(void *user, int32_t step)
{
    bench_arg *a = user;
    double t = ac_cli_now_ms(), ms = t - a->last;
    a->last = t;
    if (a->best[step] <= 0 || ms < a->best[step])
        a->best[step] = ms;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print(arenac_job *job, const bench_arg *a, const double *ms, int32_t n)
{
    double gmacs = (double)job->report.macs / (ms[0] * 1e6);
    if (a->cli->json) {
        ac_sink s;
        ac_sink_open(&s, &job->cx);
        ac_json j = ac_json_open(&s);
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "schema", "arenac-bench/1");
        ac_json_str(&j, "model", job->report.file);
        ac_json_str(&j, "target", job->target->name);
        ac_json_num(&j, "median_ms", ms[n / 2]);
        ac_json_num(&j, "min_ms", ms[0]);
        ac_json_int(&j, "runs", n);
        ac_json_int(&j, "threads", job->module->threads);
        ac_json_int(&j, "macs", job->report.macs);
        if (a->cli->per_op) {
            ac_json_arr(&j, "steps");
            for (int32_t i = 0; i < job->n_steps; i++) {
                ac_json_obj(&j, NULL);
                ac_json_int(&j, "step", i);
                ac_json_str(&j, "op", job->report.step[i].op);
                ac_json_str(&j, "name", job->report.step[i].name);
                ac_json_num(&j, "min_ms", a->best[i]);
                ac_json_int(&j, "macs", job->report.step[i].macs);
                ac_json_end(&j);
            }
            ac_json_end(&j);
        }
        ac_json_end(&j);
        fwrite(s.text, 1, s.n, stdout);
        return;
    }
    if (a->cli->per_op) {
        double sum = 0;
        for (int32_t i = 0; i < job->n_steps; i++)
            sum += a->best[i];
        for (int32_t i = 0; i < job->n_steps; i++)
            printf("%4d  %-36s %9.4f ms %5.1f %%  %8.2f GMAC/s\n", i, job->report.step[i].op, a->best[i],
                   100 * a->best[i] / sum, (double)job->report.step[i].macs / (a->best[i] * 1e6));
    }
    printf("%s on %s: %.3g G multiply-adds/s\n", job->report.file, job->target->name, gmacs);
    printf("median_ms=%.6g min_ms=%.6g runs=%d threads=%d\n", ms[n / 2], ms[0], n, job->module->threads);
}

static int bench_stage(arenac_job *job, void *arg)
{
    bench_arg *a = arg;
    int32_t n = a->cli->runs ? (int32_t)(a->cli->runs > 1000000 ? 1000000 : a->cli->runs) : 0;
    AC_TRY(ac_host_open(job, a->cli->backend ? a->cli->backend : "c", &a->host));
    AC_TRY(ac_inputs_fill(job, &a->inputs, &a->host));
    double t0 = ac_cli_now_ms();
    AC_TRY(ac_host_run(&a->host)); /* warm: pages touched, caches filled */
    if (!n) {                      /* about a second, at least 5 runs, at most 10,000 */
        double once = ac_cli_now_ms() - t0;
        n = once > 200 ? 5 : once < 0.1 ? 10000 : (int32_t)(1000 / once);
    }
    double *ms = AC_NEW_N(job->cx.region, double, n);
    a->best = AC_NEW_N(job->cx.region, double, job->n_steps + 1);
    for (int32_t i = 0; i < n; i++) {
        AC_TRY(ac_inputs_fill(job, &a->inputs, &a->host));
        double start = ac_cli_now_ms();
        AC_TRY(ac_host_run(&a->host));
        ms[i] = ac_cli_now_ms() - start;
    }
    if (a->cli->per_op) { /* apart from the timed runs: the clock calls cost something */
        a->host.hook = lap;
        a->host.hook_user = a;
        for (int32_t i = 0; i < n && i < 1000; i++) {
            a->last = ac_cli_now_ms();
            AC_TRY(ac_host_run(&a->host));
        }
    }
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    print(job, a, ms, n);
    return AC_OK;
}

int ac_cli_bench(ac_cli *cli)
{
    int status;
    if (!cli->target_given)
        cli->opt.target = ac_host_target(cli);
    cli->opt.host = true;
    cli->opt.weights = "blob";
    if (!cli->n_inputs)
        cli->random = true;
    if (!cli->tune && cli->output) {
        fputs("arenac: error[E0501]: -o names the file that bench --tune writes\n", stderr);
        return AC_EXIT_USAGE;
    }
    if (cli->tune) {
        status = ac_cli_tune(cli);
        if (status)
            return status;
    }
    arenac_job *job = ac_cli_open(cli, &status);
    if (!job)
        return status;
    static bench_arg a;
    a.cli = cli;
    if (ac_inputs_open(job, cli, cli->backend ? cli->backend : "c", &a.inputs) == 0 && arenac_compile(job) == 0 &&
        ac_inputs_check(job, &a.inputs) == 0)
        ac_job_guard(job, bench_stage, &a);
    ac_host_close(&a.host);
    ac_inputs_close(&a.inputs);
    return ac_cli_finish(cli, job);
}
