/* verbs.c - the table of verbs, and the calls of each into arenac.h. A verb returns 0 and leaves its verdict in the
 * diagnostics, or prints the reason and returns an exit status of its own. */
#include "cli/cli.h"

#include <string.h>

const ac_verb_row ac_verbs[AC_VERB_COUNT] = {
#define VERB(id, name, letter, group, fn, args, line, text, examples) \
    {name, letter, group, fn, args, line, text, examples},
#include "cli/verbs.def"
#undef VERB
};

bool ac_verb_find(const char *name, ac_verb *verb)
{
    for (int i = 0; i < AC_VERB_COUNT; i++)
        if (!strcmp(ac_verbs[i].name, name)) {
            *verb = (ac_verb)i;
            return true;
        }
    return false;
}

bool ac_verb_takes(ac_verb verb, const arenac_option *o)
{
    return o->verbs[0] == '*' || (ac_verbs[verb].letter && strchr(o->verbs, ac_verbs[verb].letter));
}

const char *ac_option_word(const arenac_option *o)
{
    const char *dot = strchr(o->name, '.');
    return dot ? dot + 1 : o->name;
}

const char *ac_verb_closest(const char *name)
{
    const char *names[AC_VERB_COUNT];
    for (int v = 0; v < AC_VERB_COUNT; v++)
        names[v] = ac_verbs[v].name;
    return ac_closest(name, names, AC_VERB_COUNT);
}

static int read_files(ac_cli *cli)
{
    return arenac_read(cli->a, cli->file, cli->n_files);
}

/* Output may go to the terminal that progress is shown on. */
static void commit(ac_cli *cli)
{
    ac_cli_progress_end();
    arenac_commit(cli->a);
}

/* ------------------------------------------------------------------ the stages */

int ac_cli_check(ac_cli *cli)
{
    arenac_verb_check(cli->a, cli->file, cli->n_files);
    commit(cli);
    return 0;
}

/* Over the budget, or other than its lock, a plan is written all the same, and so are the kinds of output besides one
 * that is not available here. */
static bool is_worth_writing(const arenac *a)
{
    const int status = arenac_exit(a);
    return status == 0 || status == AC_EXIT_BUDGET || status == AC_EXIT_CHANGED || status == AC_EXIT_UNSUPPORTED;
}

int ac_cli_plan(ac_cli *cli)
{
    arenac *a = cli->a;
    if (read_files(cli) == 0 && (arenac_plan(a) == 0 || arenac_has_plan(a)))
        arenac_write(a);
    cli->page = cli->open ? ac_cli_page(cli) : NULL;
    if (!arenac_has_plan(a) || is_worth_writing(a))
        commit(cli);
    return 0;
}

int ac_cli_compile(ac_cli *cli)
{
    arenac *a = cli->a;
    if (read_files(cli) || arenac_compile(a)) {
        if (!arenac_has_plan(a)) /* the graphs of --dump-after */
            commit(cli);
    } else if (arenac_write(a) == 0 && arenac_exit(a) == 0) {
        commit(cli);
    }
    return 0;
}

/* ------------------------------------------------------------------ the others */

typedef int door_fn(arenac *a, const char *const *path, int32_t n);

/* Prints the text from before a failure as well. */
static int call(ac_cli *cli, door_fn *verb)
{
    verb(cli->a, cli->file, cli->n_files);
    commit(cli);
    return 0;
}

/* Files appear when all went well. */
static int call_whole(ac_cli *cli, door_fn *verb)
{
    if (verb(cli->a, cli->file, cli->n_files) == 0)
        commit(cli);
    return 0;
}

int ac_cli_run(ac_cli *cli)
{
    return call(cli, arenac_verb_run);
}

int ac_cli_grad(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_grad);
}

int ac_cli_bench(ac_cli *cli)
{
    return call(cli, arenac_verb_bench);
}

int ac_cli_train(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_train);
}

int ac_cli_python(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_python);
}

int ac_cli_show(ac_cli *cli)
{
    return call(cli, arenac_verb_show);
}

int ac_cli_verify(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_verify);
}

int ac_cli_prove(ac_cli *cli)
{
    return call(cli, arenac_verb_prove);
}

int ac_cli_diff(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_diff);
}

int ac_cli_fit(ac_cli *cli)
{
    return call(cli, arenac_verb_fit);
}

int ac_cli_convert(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_convert);
}

int ac_cli_quantize(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_quantize);
}

int ac_cli_targets(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_targets);
}

int ac_cli_ops(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_ops);
}

int ac_cli_explain(ac_cli *cli)
{
    return call_whole(cli, arenac_verb_explain);
}

int ac_cli_help(ac_cli *cli)
{
    const char *name = cli->n_files ? cli->file[0] : "arenac";
    ac_verb verb;
    if (!cli->n_files || (cli->man && !strcmp(name, "arenac"))) {
        if (cli->man)
            ac_help_man(stdout, true, AC_VERB_HELP);
        else
            ac_help_overview(stdout);
        return 0;
    }
    if (!ac_verb_find(name, &verb)) {
        const char *near = ac_verb_closest(name);
        if (near)
            return ac_cli_wrong(cli, "unknown verb '%s'; did you mean '%s'?", name, near);
        return ac_cli_wrong(cli, "unknown verb '%s'; arenac help lists them", name);
    }
    if (cli->man)
        ac_help_man(stdout, false, verb);
    else
        ac_help_print(stdout, verb, true);
    return 0;
}
