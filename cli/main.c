/* main.c - arenac VERB: parse, call the door, print. */
#include "cli/cli.h"

#include "base/format.h"
#include "base/interrupt.h"
#include "base/sys/sys.h"

#include <inttypes.h>
#include <string.h>

/* With --json there is always one document: of what failed it holds the diagnostics, and check has nothing else. */
static void print_json(const ac_cli *cli, int status)
{
    const ac_verb v = cli->verb;
    const bool planless = (v == AC_VERB_PLAN || v == AC_VERB_COMPILE) && !arenac_has_plan(cli->a);
    if (status || planless || v == AC_VERB_CHECK)
        arenac_print_json(cli->a);
}

/* Prints the diagnostics and what else goes to standard error; the exit status. */
static int finish(const ac_cli *cli)
{
    const arenac *a = cli->a;
    const int32_t errors = arenac_errors(a), warnings = arenac_warnings(a);
    if (cli->json)
        print_json(cli, arenac_exit(a));
    for (int32_t i = 0; cli->time_passes && arenac_pass_at(a, i); i++) {
        const arenac_pass *p = arenac_pass_at(a, i);
        char line[200];
        ac_print(line, sizeof line, "%-12s %8.3f ms  %d changed\n", p->name, p->ms, p->changed);
        fputs(line, stderr);
    }
    const int status = arenac_exit(a);
    if (!cli->quiet || status)
        arenac_print_diagnostics(a, stderr, cli->color);
    if (errors)
        fprintf(stderr, "%d error%s, %d warning%s\n", errors, errors == 1 ? "" : "s", warnings,
                warnings == 1 ? "" : "s");
    return status;
}

/* Also finds the option if an error precedes it. */
static bool asks_json(const ac_cli *cli, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--json"))
            return true;
    return cli->json;
}

/* The work of one command line; the exit status. */
static int work(int argc, char **argv, ac_cli *cli)
{
    *cli = (ac_cli){.a = arenac_open()};
    if (!cli->a) {
        fputs("arenac: error[E0403]: out of memory\n", stderr);
        return AC_EXIT_BUDGET;
    }
    int status = ac_cli_parse(argc, argv, cli);
    if (status > 0 && asks_json(cli, argc, argv))
        print_json(cli, status);
    if (status >= 0) {
        cli->watch = false;
        return status;
    }
    if (cli->json)
        ac_interrupt_json();
    if (cli->watch)
        ac_cli_remember(cli);
    ac_cli_progress(cli);
    status = ac_verbs[cli->verb].run(cli);
    ac_cli_progress_end();
    return status ? status : finish(cli);
}

int main(int argc, char **argv)
{
    static ac_cli cli;
    int64_t before = -1;
    ac_sys_main(&argc, &argv);
    ac_interrupt_guard();
    int status = work(argc, argv, &cli);
    if (cli.open && cli.a)
        ac_cli_show_page(&cli);
    while (cli.watch) {
        if (before >= 0 && arenac_arena_bytes(cli.a) >= 0)
            fprintf(stderr, "arena: %" PRId64 " B, before %" PRId64 " B\n", arenac_arena_bytes(cli.a), before);
        if (arenac_arena_bytes(cli.a) >= 0)
            before = arenac_arena_bytes(cli.a);
        ac_cli_remember(&cli);
        fflush(stdout);
        fprintf(stderr, "watching %s; Ctrl-C ends\n", cli.file[0]);
        arenac_close(cli.a);
        ac_cli_wait(&cli);
        status = work(argc, argv, &cli);
    }
    arenac_close(cli.a);
    if ((fflush(stdout) || ferror(stdout)) && !ac_sys_pipe_closed()) { /* head has read enough */
        fputs("arenac: error[E0302]: cannot write to standard output\n", stderr);
        return status ? status : AC_EXIT_IO;
    }
    return status;
}
