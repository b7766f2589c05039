/* args.c - argv into an arenac's options and a list of files: --long=VALUE, --long VALUE, -xVALUE, -xyz, --. */
#include "cli/cli.h"

#include "base/format.h"
#include "base/sys/sys.h"
#include "cli/options.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int ac_cli_wrong_at(const ac_cli *c, const char *file, int line, const char *text)
{
    const int status = arenac_usage(c->a, file, line, text);
    arenac_print_diagnostics(c->a, stderr, c->color);
    return status;
}

int ac_cli_wrong(const ac_cli *c, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    ac_vprint(text, sizeof text, fmt, args);
    va_end(args);
    return ac_cli_wrong_at(c, "arenac", 0, text);
}

/* The option of the verb with this name (n characters), or with this letter; NULL: it takes none. */
static const arenac_option *find(ac_verb verb, const char *name, size_t n, char letter)
{
    const arenac_option *o;
    for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++)
        if (ac_verb_takes(verb, o) && (name ? strlen(ac_option_word(o)) == n && !strncmp(ac_option_word(o), name, n)
                                            : letter && o->letter == letter))
            return o;
    return NULL;
}

/* "run, bench and grad": the verbs that have an option of this name; "": none. */
static void verbs_with(const char *word, char *text, size_t room)
{
    const char *name[AC_VERB_COUNT];
    int found = 0;
    size_t at = 0;
    for (int v = 0; v < AC_VERB_COUNT; v++)
        if (find((ac_verb)v, word, strlen(word), 0))
            name[found++] = ac_verbs[v].name;
    *text = 0;
    for (int i = 0; i < found && at < room; i++)
        at += (size_t)ac_print(text + at, room - at, "%s%s", !i ? "" : i + 1 < found ? ", " : " and ", name[i]);
}

/* The answer to a word of another tool; NULL: nothing is known. */
static const char *other_word(const char *word)
{
    static const char *const WORDS[][2] = {
#define WORD(word, answer) {word, answer},
#include "cli/words.def"
#undef WORD
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcmp(word, WORDS[i][0]))
            return WORDS[i][1];
    return NULL;
}

static int unknown_option(const ac_cli *c, const char *arg, size_t n)
{
    char others[256];
    const ac_verb verb = c->verb;
    const char *names[AC_CLI_OPTIONS];
    const arenac_option *o;
    int32_t k = 0;
    for (int32_t i = 0; k < AC_CLI_OPTIONS && (o = arenac_option_at(i)) != NULL; i++)
        if (ac_verb_takes(verb, o))
            names[k++] = ac_option_word(o);
    char word[64] = {0};
    memcpy(word, arg, n < sizeof word ? n : sizeof word - 1);
    verbs_with(word, others, sizeof others);
    if (*others)
        return ac_cli_wrong(c, "unknown option '--%s' of %s; %s %s it", word, ac_verbs[verb].name, others,
                            strchr(others, ' ') ? "have" : "has");
    char dashed[sizeof word + 2];
    ac_print(dashed, sizeof dashed, "--%s", word);
    const char *other = other_word(dashed), *near = ac_closest(word, names, k);
    if (other)
        return ac_cli_wrong(c, "unknown option '--%s'; try: %s", word, other);
    return near ? ac_cli_wrong(c, "unknown option '--%s'; did you mean '--%s'?", word, near)
                : ac_cli_wrong(c, "unknown option '--%s'; arenac %s --help-all lists the options", word,
                               ac_verbs[verb].name);
}

/* The number of a value among the words of an option. */
static int32_t word_of(const ac_cli *c, ac_option_id id, const char *value)
{
    int32_t n, k = 0;
    const char *const *word = arenac_option_values(c->a, (int32_t)id, &n);
    while (k < n && strcmp(word[k], value))
        k++;
    return k + 1;
}

/* Handles the options of the command line itself. Returns -1 to continue, else the exit status. */
static int own(ac_cli *c, int32_t id, const char *value)
{
    if (id == AC_OPT_help || id == AC_OPT_help_all) {
        ac_help_print(stdout, c->verb, id == AC_OPT_help_all);
        return 0;
    }
    if (id == AC_OPT_version) {
        printf("arenac %s\n", arenac_version());
        return 0;
    }
    if (id == AC_OPT_list_targets) {
        arenac_verb_targets(c->a, NULL, 0);
        arenac_commit(c->a);
        return 0;
    }
    c->json |= id == AC_OPT_json;
    c->quiet |= id == AC_OPT_quiet;
    c->time_passes |= id == AC_OPT_time_passes;
    c->man |= id == AC_OPT_man;
    c->watch |= id == AC_OPT_watch;
    c->open |= id == AC_OPT_open;
    c->verbose |= id == AC_OPT_verbose;
    if (id == AC_OPT_color) {
        const int32_t word = word_of(c, AC_OPT_color, value);
        c->color = word == AC_OPT_COLOR_ALWAYS || (c->color && word != AC_OPT_COLOR_NEVER);
        c->colored = word != AC_OPT_COLOR_AUTO;
    }
    if (id == AC_OPT_progress) {
        const int32_t word = word_of(c, AC_OPT_progress, value);
        c->progress_on = word == AC_OPT_PROGRESS_ON;
        c->progress_off = word == AC_OPT_PROGRESS_OFF;
    }
    if (id == AC_OPT_config)
        c->config = value;
    return -1;
}

static int32_t id_of(const arenac_option *o)
{
    int32_t i = 0;
    while (arenac_option_at(i) != o)
        i++;
    return i;
}

int ac_cli_set(ac_cli *c, const arenac_option *o, const char *value)
{
    if (arenac_set(c->a, o->name, value)) {
        arenac_print_diagnostics(c->a, stderr, c->color);
        return AC_EXIT_USAGE;
    }
    return own(c, id_of(o), value);
}

/* As ac_cli_set; the command line gives it. */
static int set(ac_cli *c, const arenac_option *o, const char *value)
{
    c->given[id_of(o)] = true;
    return ac_cli_set(c, o, value);
}

static bool needs_value(const arenac_option *o)
{
    return o->argument && o->argument[0] != '[';
}

/* -vv, -qv, -oFILE: all but the last are flags. *value: the text after the last one, or NULL. */
static int parse_letters(ac_cli *c, const char *arg, const arenac_option **o, const char **value)
{
    for (const char *p = arg + 1; *p; p++) {
        *o = find(c->verb, NULL, 0, *p);
        if (!*o)
            return ac_cli_wrong(c, "unknown option '%s' of %s; --help lists the options", arg, ac_verbs[c->verb].name);
        if (needs_value(*o)) {
            *value = p[1] ? p + 1 : NULL;
            return -1;
        }
        if (p[1]) {
            const int status = set(c, *o, NULL);
            if (status >= 0)
                return status;
        }
    }
    return -1;
}

/* The words of an argument with several ("RANK PATTERN") as one text; they may also be given as one. *at: the first of
 * them. NULL: some are missing. */
static const char *join_words(ac_cli *c, const arenac_option *o, const char *value, int argc, char **argv, int *at)
{
    size_t n = strlen(value);
    if (n + 1 > sizeof c->words || strchr(value, ' '))
        return value;
    memcpy(c->words, value, n + 1);
    for (const char *p = strchr(o->argument, ' '); p; p = strchr(p + 1, ' ')) {
        if (*at + 1 >= argc)
            return NULL;
        n += (size_t)ac_print(c->words + n, sizeof c->words - n, " %s", argv[++*at]);
        if (n >= sizeof c->words)
            return NULL;
    }
    return c->words;
}

/* Option argv[*at], and the next one where that is its value. Returns -1 to go on, else the exit status. */
static int parse_one(ac_cli *c, int argc, char **argv, int *at)
{
    const char *arg = argv[*at], *value = NULL;
    const arenac_option *o = NULL;
    if (arg[1] == '-') {
        const size_t n = strcspn(arg + 2, "=");
        o = find(c->verb, arg + 2, n, 0);
        if (!o)
            return unknown_option(c, arg + 2, n);
        value = arg[2 + n] == '=' ? arg + 3 + n : NULL;
    } else if (!strcmp(arg, "-Werror")) {
        o = find(c->verb, "Werror", 6, 0);
    } else {
        const int status = parse_letters(c, arg, &o, &value);
        if (status >= 0)
            return status;
    }
    if (needs_value(o) && !value && *at + 1 < argc)
        value = argv[++*at];
    if (needs_value(o) && value && strchr(o->argument, ' '))
        value = join_words(c, o, value, argc, argv, at);
    if (needs_value(o) && !value)
        return ac_cli_wrong(c, "option '--%s' needs an argument: %s", ac_option_word(o), o->argument);
    return set(c, o, value);
}

/* The first word is a verb, or a model to be planned. Returns -1 to go on, else the exit status. */
static int parse_verb(int argc, char **argv, ac_cli *cli, int *first)
{
    *first = 1;
    if (argc < 2) {
        ac_help_overview(stderr);
        return AC_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        ac_help_overview(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "version")) {
        printf("arenac %s\n", arenac_version());
        return 0;
    }
    if (ac_verb_find(argv[1], &cli->verb)) {
        *first = 2;
    } else if (argv[1][0] != '-' && !strpbrk(argv[1], "./")) { /* no file name either: most likely a typing error */
        const char *other = other_word(argv[1]), *near = ac_verb_closest(argv[1]);
        if (other && !ac_sys_may_read(argv[1]))
            return ac_cli_wrong(cli, "unknown verb '%s'; try: %s", argv[1], other);
        if (near && !ac_sys_may_read(argv[1]))
            return ac_cli_wrong(cli, "unknown verb '%s'; did you mean '%s'?", argv[1], near);
    }
    return -1;
}

int ac_cli_parse(int argc, char **argv, ac_cli *cli)
{
    int i;
    cli->color = ac_sys_is_terminal(2) && !getenv("NO_COLOR");
    cli->verb = AC_VERB_PLAN;
    int status = parse_verb(argc, argv, cli, &i);
    bool only_files = false;
    for (; i < argc && status < 0; i++) {
        if (!only_files && !strcmp(argv[i], "--"))
            only_files = true;
        else if (!only_files && argv[i][0] == '-' && argv[i][1])
            status = parse_one(cli, argc, argv, &i);
        else if (cli->n_files == AC_CLI_MAX)
            status = ac_cli_wrong(cli, "too many files (%s)", argv[i]);
        else
            cli->file[cli->n_files++] = argv[i];
    }
    status = status < 0 ? ac_cli_config(cli) : status;
    if (status < 0 && cli->watch && cli->n_files && !strcmp(cli->file[0], "-"))
        status = ac_cli_wrong(cli, "--watch needs a file, not standard input");
    if (status < 0 && cli->open && !cli->given[AC_OPT_emit])
        arenac_set(cli->a, "emit", "html");
    if (status < 0 && !cli->colored && ac_sys_is_terminal(1) && !getenv("NO_COLOR"))
        arenac_set(cli->a, "color", "always");
    return status;
}
