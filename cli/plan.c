/* plan.c - the verbs plan (of a model or of a CSV problem), check and compile. */
#include "cli/inputs.h"
#include "cli/offline.h"
#include "cli/rt_files.h"

#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "codegen/targets.h"
#include "planner/report/lock.h"

#include <string.h>

/* ------------------------------------------------------------------ where outputs go */

/* Reports and plans; code is what backends emit. */
static const struct kind_row {
    const char *kind, *ext;
} KINDS[] = {
    {"json", ".json"},
    {"md", ".md"},
    {"dot", ".dot"},
    {"csv", ".csv"},
    {"problem", ".problem.csv"},
    {"ag", ".ag"},
    {"loops", ".loops"},
    {"svg", ".svg"},
    {"html", ".html"},
    {"lock", ".lock"},
    {"tflite", ".planned.tflite"},
    {"tflm-buffer-plan", ".buffer_plan.h"},
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n > k && !strcmp(s + n - k, end);
}

/* The output stem: -o without an extension that belongs to one of the kinds; else the model's own stem. */
static const char *stem(arenac_job *job, const char *output)
{
    if (!output)
        return job->stem;
    const char *dot = strrchr(output, '.'), *code = dot ? ac_backend_ext(dot + 1) : NULL;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (ends_with(output, KINDS[i].ext))
            return ac_strf(job->cx.region, "%.*s", (int)(strlen(output) - strlen(KINDS[i].ext)), output);
    return code && ends_with(output, code)
               ? ac_strf(job->cx.region, "%.*s", (int)(strlen(output) - strlen(code)), output)
               : output;
}

static bool lists(const char *list, const char *kind)
{
    const size_t n = strlen(kind);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && !strncmp(p, kind, n))
            return true;
    return false;
}

/* The files of runtime/ beside the other outputs. */
static void emit_runtime(const ac_cli *cli, arenac_job *job)
{
    const int folder = cli->output ? (int)(ac_path_name(cli->output) - cli->output) : 0;
    for (int i = 0; i < ac_rt_count; i++) {
        const char *dot = strrchr(ac_rt_files[i].name, '.');
        if (!strcmp(dot, ".py") || !strcmp(ac_rt_files[i].name, "arn_capsule.c"))
            continue; /* of Python modules */
        ac_sink *to = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(to, &job->cx);
        ac_put_n(to, ac_rt_files[i].data, ac_rt_files[i].n);
        ac_job_add_output(
            job, to, ac_strf(job->cx.region, "%.*s%s", folder, cli->output ? cli->output : "", ac_rt_files[i].name));
    }
}

static int emit_list(ac_cli *cli, arenac_job *job, const char *list)
{
    int32_t kinds = 1, status = 0;
    for (const char *p = list; *p; p++)
        kinds += *p == ',';
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
        const char *kind = ac_strf(job->cx.region, "%.*s", (int)strcspn(p, ","), p);
        const struct kind_row *row = NULL;
        for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
            if (!strcmp(KINDS[i].kind, kind))
                row = &KINDS[i];
        if (!strcmp(kind, "rt") && job->stage >= 4) {
            emit_runtime(cli, job);
            continue;
        }
        const char *ext = row ? row->ext : ac_backend_ext(kind);
        if (ext && !row && job->stage < 4) {
            status = ac_error(&job->cx, (ac_place){0}, E0501, "--emit %s belongs to arenac compile", kind);
            continue;
        }
        if (!ext && (job->stage < 4 || !ac_backend_for(&job->cx, kind, job->target))) {
            if (job->stage < 4)
                ac_error(&job->cx, (ac_place){0}, E0502, "--emit %s is not available in this version", kind);
            status = ac_help(&job->cx, "available: " AC_CLI_KINDS);
            continue;
        }
        if (!cli->offline && !strncmp(kind, "tfl", 3)) {
            status = ac_error(&job->cx, (ac_place){0}, E0501, "--emit %s belongs to arenac plan", kind);
            continue;
        }
        const char *path;
        if (cli->output && (kinds == 1 || !strcmp(cli->output, "-")))
            path = cli->output;
        else if (!cli->output && kinds == 1 && row)
            path = "-";
        else
            path = ac_strf(job->cx.region, "%s%s", stem(job, cli->output),
                           ext ? ext : ac_strf(job->cx.region, ".%s", kind));
        if (cli->offline ? ac_cli_offline_emit(cli, job, kind, path) : arenac_emit(job, kind, path))
            status = -1;
    }
    return status;
}

/* Whether a kind of the list holds kernels, whose weights may lie in a file of their own: all but headers. */
static bool emits_code(arenac_job *job, const char *list)
{
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
        const char *kind = ac_strf(job->cx.region, "%.*s", (int)strcspn(p, ","), p);
        if (strcmp(kind, "h") && ac_backend_ext(kind))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ plan of a CSV problem */

static bool looks_like_csv(const ac_cli *cli, const ac_file *f)
{
    if (cli->opt.from)
        return !strcmp(cli->opt.from, "csv");
    static const char *const HEADS[] = {"id,",    "buffer,", "buffer_id,", "lower,", "start,",
                                        "begin,", "upper,",  "size,",      "end,"};
    for (size_t i = 0; i < sizeof HEADS / sizeof *HEADS; i++)
        if (f->n > strlen(HEADS[i]) && !memcmp(f->data, HEADS[i], strlen(HEADS[i])))
            return true;
    return ends_with(cli->file[0], ".csv");
}

int ac_cli_refuse_options(const ac_cli *cli, arenac_job *job, const char *what, bool orders)
{
    const ac_options *o = &cli->opt;
    const ac_place at = {.file = job->path};
    if (o->n_mems || o->n_pins) {
        ac_error(&job->cx, at, E0503, "%s does not apply: %s, in one memory", o->n_mems ? "--mem" : "--pin", what);
        return ac_help(&job->cx, "--budget SIZE limits it");
    }
    const struct {
        bool given;
        const char *option;
    } LEFT[] = {
        {o->stripe, "--stripe"},
        {o->io_rows, "--io rows"},
        {o->schedule_search && !orders, "--schedule search"},
        {o->overlap > 0, "--overlap"},
        {o->quantized_io, "--quantized-io"},
        {o->preserve_input || o->preserve_all, "--preserve"},
        {o->reference_tflite, "--reference tflite"},
    };
    for (size_t k = 0; k < sizeof LEFT / sizeof *LEFT; k++)
        if (LEFT[k].given)
            ac_warn(&job->cx, at, W0002, "%s: %s is ignored", what, LEFT[k].option);
    return AC_OK;
}

static void csv_report(arenac_job *job, const ac_problem *p)
{
    ac_report_plan(job, p, "interval problem", "none");
    ac_report_tensor *t = AC_NEW_N(job->cx.region, ac_report_tensor, p->n + 1);
    for (int32_t i = 0; i < p->n; i++)
        t[i] = (ac_report_tensor){.name = p->item[i].name,
                                  .dtype = "",
                                  .shape = "",
                                  .bytes = p->item[i].size,
                                  .item = i,
                                  .first = p->item[i].life.begin,
                                  .last = p->item[i].life.end - 1,
                                  .producer = -1};
    job->report.tensor = t;
    job->report.n_tensors = p->n;
}

static int plan_csv_stage(arenac_job *job, void *arg)
{
    ac_cli *cli = arg;
    ac_problem p = {0};
    AC_TRY(ac_cli_refuse_options(cli, job, "intervals are planned as they are", false));
    AC_TRY(
        ac_problem_read_csv(&job->cx, job->path, (const char *)job->file.data, job->file.n, cli->ignore_offsets, &p));
    for (int32_t i = 0; i < p.n; i++)
        if (p.item[i].align < cli->opt.align)
            p.item[i].align = cli->opt.align;
    ac_solve_options search = ac_job_search(job);
    if (cli->emit && strstr(cli->emit, "certificate")) {
        search.certificate = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(search.certificate, &job->cx);
    }
    AC_TRY(ac_solve_all(&job->cx, &p, cli->opt.planner, &search, &job->plan, job->row, &job->n_rows));
    csv_report(job, &p);
    const char *emit = cli->emit ? cli->emit : cli->output ? "csv" : NULL;
    for (const char *e = emit; e && *e; e += strcspn(e, ","), e += *e == ',') {
        ac_sink *to = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(to, &job->cx);
        size_t n = strcspn(e, ",");
        if (n == 3 && !strncmp(e, "csv", n))
            ac_problem_write_csv(to, &p, &job->plan);
        else if (n == 7 && !strncmp(e, "problem", n))
            ac_problem_write_csv(to, &p, NULL);
        else if (n == 11 && !strncmp(e, "certificate", n) && search.certificate->n)
            to = search.certificate;
        else if (n == 11 && !strncmp(e, "certificate", n))
            return ac_error(&job->cx, (ac_place){.file = job->path}, E0502,
                            "there is no certificate: the lower bound proves the plan, or nothing does");
        else if (n == 4 && !strncmp(e, "json", n))
            ac_report_json(to, &job->report, &job->cx.diags);
        else if (n == 2 && !strncmp(e, "md", n))
            ac_report_md(to, &job->report);
        else if (n == 3 && !strncmp(e, "svg", n))
            ac_report_svg(to, &job->report);
        else if (n == 4 && !strncmp(e, "html", n)) {
            AC_TRY(ac_report_compare(job));
            ac_report_html(to, &job->report);
        } else if (n == 4 && !strncmp(e, "lock", n))
            ac_lock_write(to, ac_lock_of(&job->cx, &job->report));
        else
            return ac_error(&job->cx, (ac_place){0}, E0502, "--emit %.*s is not available for a CSV problem", (int)n,
                            e);
        bool many = strchr(emit, ',') != NULL;
        const char *path = !cli->output ? "-"
                           : many && strcmp(cli->output, "-")
                               ? ac_strf(job->cx.region, "%s.%s%.*s", stem(job, cli->output), n == 7 ? "problem." : "",
                                         (int)(n == 7 ? 3 : n), n == 7 ? "csv" : e)
                               : cli->output;
        ac_job_add_output(job, to, path);
    }
    int locked = ac_cli_lock(cli, job);
    if (cli->json) {
        ac_sink *to = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(to, &job->cx);
        ac_report_json(to, &job->report, &job->cx.diags);
        ac_job_add_output(job, to, "-");
    } else if (!cli->quiet && !(emit && !cli->output)) {
        ac_sink *to = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(to, &job->cx);
        ac_report_text(to, &job->report, cli->verbose, false);
        ac_job_add_output(job, to, "-");
    }
    return ac_report_budget(job) == AC_OK ? locked : AC_FAIL;
}

/* Tries what else could be done. Not having the memory for that is no failure. */
static int lower_stage(arenac_job *job, void *arg)
{
    ac_job_lower(job, ((ac_cli *)arg)->verbose > 0);
    return AC_OK;
}

static void try_lower(ac_cli *cli, arenac_job *job)
{
    const arenac_job before = *job;
    if (ac_job_guard(job, lower_stage, cli) == AC_OK)
        return;
    const ac_ctx mine = job->cx;
    *job = before;
    job->cx = mine;
    ac_quietly(&job->cx, before.cx.diags, AC_FAIL);
}

static int open_stage(arenac_job *job, void *arg)
{
    return ac_job_file(job, ((ac_cli *)arg)->file[0]);
}

/* ------------------------------------------------------------------ verbs */

int ac_cli_plan(ac_cli *cli)
{
    int status;
    if (cli->share || cli->range)
        return ac_cli_share(cli);
    arenac_job *job = ac_cli_start(cli, &status);
    if (!job)
        return status;
    if (ac_job_guard(job, open_stage, cli) != AC_OK)
        return ac_cli_finish(cli, job);
    if (looks_like_csv(cli, &job->file)) { /* a CSV problem is no model: look before reading */
        if (ac_job_guard(job, plan_csv_stage, cli) == AC_OK || arenac_exit(job) == AC_EXIT_BUDGET ||
            arenac_exit(job) == AC_EXIT_CHANGED)
            arenac_commit(job);
        return ac_cli_finish(cli, job);
    }
    const bool tflm = ac_cli_offline_wanted(cli);
    if (!tflm && ac_cli_read(cli, job))
        return ac_cli_finish(cli, job);
    bool planned = (tflm ? ac_cli_offline_plan(cli, job) : arenac_plan(job)) == 0 ||
                   job->stage >= 3; /* over budget: the report is wanted all the same */
    if (planned && cli->emit)
        emit_list(cli, job, cli->emit);
    if (planned && cli->output && !cli->emit)
        arenac_emit(job, "csv", cli->output);
    if (planned)
        ac_cli_lock(cli, job);
    if (planned && cli->json)
        arenac_emit(job, "json", "-");
    if (planned && arenac_commit(job) == 0 && !cli->json && !cli->quiet &&
        !(cli->emit && !cli->output && !strchr(cli->emit, ','))) {
        if (!tflm && arenac_exit(job) == 0)
            try_lower(cli, job);
        arenac_print_report(job, stdout, cli->verbose);
    }
    return ac_cli_finish(cli, job);
}

int ac_cli_check(ac_cli *cli)
{
    int status;
    arenac_job *job = ac_cli_open(cli, &status);
    if (!job)
        return status;
    if (arenac_check(job) == 0 && !cli->quiet && !cli->json)
        printf("%s: fine; %d operators, %d steps for %s\n", cli->file[0], (int)job->model.file_ops, job->n_steps,
               job->target->name);
    return ac_cli_finish(cli, job);
}

int ac_cli_compile(ac_cli *cli)
{
    int status;
    if (cli->share || cli->range)
        return ac_cli_share(cli);
    arenac_job *job = ac_cli_open(cli, &status);
    if (!job)
        return status;
    if (arenac_compile(job) == 0) {
        bool piped = cli->output && !strcmp(cli->output, "-");
        const bool gpu = job->target->isa == AC_ISA_CUDA;
        const char *emit = cli->emit ? cli->emit : gpu ? (piped ? "cu" : "cu,h") : piped ? "c" : "c,h";
        ac_weights w = ac_module_weights(job->module);
        if (!cli->emit && !piped && cli->output && !ends_with(cli->output, ".c"))
            emit = gpu ? "cu,h" : "c,h"; /* a stem */
        emit_list(cli, job, emit);
        ac_cli_lock(cli, job);
        bool needs_blob = w == AC_WEIGHTS_BLOB && (!cli->emit || emits_code(job, cli->emit));
        if (!piped && (needs_blob || (w == AC_WEIGHTS_ASM && (lists(emit, "c") || lists(emit, "cu")))))
            arenac_emit(job, "blob", ac_strf(job->cx.region, "%s.bin", stem(job, cli->output)));
        if (cli->json)
            arenac_emit(job, "json", "-");
        if (arenac_exit(job) == 0 && arenac_commit(job) == 0 && !cli->quiet && !cli->json && !piped)
            arenac_print_report(job, stdout, cli->verbose);
    }
    return ac_cli_finish(cli, job);
}
