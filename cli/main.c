/* main.c - arenac VERB: the table of verbs. */
#include "cli/cli.h"
#include "cli/inputs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef int verb_fn(ac_cli *cli);

static int help(ac_cli *cli)
{
    ac_verb verb;
    if (cli->n_files == 0 || (cli->man && !strcmp(cli->file[0], "arenac"))) {
        if (cli->man)
            ac_help_man(stdout, true, AC_VERB_HELP);
        else
            ac_help_overview(stdout);
        return 0;
    }
    if (!ac_verb_find(cli->file[0], &verb)) {
        fprintf(stderr, "arenac: error[E0501]: unknown verb '%s'; arenac help lists them\n", cli->file[0]);
        return AC_EXIT_USAGE;
    }
    if (cli->man)
        ac_help_man(stdout, false, verb);
    else
        ac_help_print(stdout, verb, true);
    return 0;
}

arenac_job *ac_cli_start(ac_cli *cli, int *status)
{
    *status = AC_EXIT_USAGE;
    if (cli->n_files == 2)
        cli->opt.weights_file = cli->file[1];
    if (cli->n_files < 1 || cli->n_files > 2) {
        fprintf(stderr, "arenac: error[E0501]: %s takes one model, %d files given; arenac help %s\n",
                ac_verb_name(cli->verb), cli->n_files, ac_verb_name(cli->verb));
        return NULL;
    }
    arenac_job *job = arenac_open(&cli->opt);
    if (!job) {
        fputs("arenac: error[E0402]: out of memory\n", stderr);
        *status = AC_EXIT_INVALID;
    }
    return job;
}

arenac_job *ac_cli_open(ac_cli *cli, int *status)
{
    arenac_job *job = ac_cli_start(cli, status);
    if (!job || ac_cli_read(cli, job) == 0)
        return job;
    *status = ac_cli_finish(cli, job);
    return NULL;
}

/* With --json there is always one document: without a plan it holds the diagnostics alone. */
static int print_json(arenac_job *job, void *arg)
{
    (void)arg;
    ac_sink s;
    ac_sink_open(&s, &job->cx);
    ac_report_json(&s, NULL, &job->cx.diags);
    fwrite(s.text, 1, s.n, stdout);
    return AC_OK;
}

int ac_cli_finish(ac_cli *cli, arenac_job *job)
{
    const bool plans = cli->verb == AC_VERB_CHECK || cli->verb == AC_VERB_PLAN || cli->verb == AC_VERB_COMPILE;
    if (cli->json && plans && !job->report.plan)
        ac_job_guard(job, print_json, NULL);
    if (cli->time_passes)
        for (int32_t i = 0; i < job->n_passes; i++)
            fprintf(stderr, "%-12s %8.3f ms  %d changed\n", job->pass[i].name, job->pass[i].ms, job->pass[i].changed);
    int status = arenac_exit(job);
    if (!cli->quiet || status)
        arenac_print_diagnostics(job, stderr, cli->color);
    if (job->cx.diags.errors)
        fprintf(stderr, "%d error%s, %d warning%s\n", job->cx.diags.errors, job->cx.diags.errors == 1 ? "" : "s",
                job->cx.diags.warnings, job->cx.diags.warnings == 1 ? "" : "s");
    arenac_close(job);
    return status;
}

int main(int argc, char **argv)
{
    static verb_fn *const RUN[AC_VERB_COUNT] = {
        [AC_VERB_CHECK] = ac_cli_check,
        [AC_VERB_PLAN] = ac_cli_plan,
        [AC_VERB_COMPILE] = ac_cli_compile,
        [AC_VERB_PYTHON] = ac_cli_python,
        [AC_VERB_RUN] = ac_cli_run,
        [AC_VERB_BENCH] = ac_cli_bench,
        [AC_VERB_SHOW] = ac_cli_show,
        [AC_VERB_VERIFY] = ac_cli_verify,
        [AC_VERB_TARGETS] = ac_cli_targets,
        [AC_VERB_OPS] = ac_cli_ops,
        [AC_VERB_DIFF] = ac_cli_diff,
        [AC_VERB_CONVERT] = ac_cli_convert,
        [AC_VERB_EXPLAIN] = ac_cli_explain,
        [AC_VERB_COMPLETION] = ac_cli_completion,
        [AC_VERB_HELP] = help,
    };
    static ac_cli cli;        /* large: names and lists of options */
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, not a death */
    int status = ac_cli_parse(argc, argv, &cli);
    if (status < 0)
        status = RUN[cli.verb](&cli);
    if (fflush(stdout) || ferror(stdout)) {
        fputs("arenac: error[E0302]: cannot write to standard output\n", stderr);
        return status ? status : AC_EXIT_IO;
    }
    return status;
}
