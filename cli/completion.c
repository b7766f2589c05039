/* completion.c - prints scripts that complete a command line in bash, zsh and fish: verbs, the options of each, and the
 * values of options, all from the tables. An argument without a list of values is a file. */
#include "cli/cli.h"

#include "base/format.h"

#include <string.h>

/* The argument of a verb that takes words rather than files. */
static void put_words_of(ac_verb verb)
{
    if (verb == AC_VERB_HELP)
        for (int v = 0; v < AC_VERB_COUNT; v++)
            printf(" %s", ac_verbs[v].name);
    if (verb == AC_VERB_COMPLETION)
        printf(" bash zsh fish");
    if (verb == AC_VERB_EXPLAIN)
        for (int i = 0; i < AC_CODE_COUNT; i++)
            printf(" %s", ac_code_name((ac_code)i));
}

static bool takes_words(ac_verb verb)
{
    return verb == AC_VERB_HELP || verb == AC_VERB_COMPLETION || verb == AC_VERB_EXPLAIN;
}

static bool needs_value(const arenac_option *o)
{
    return o->argument && *o->argument != '[';
}

static void put_values(arenac *a, int32_t option)
{
    int32_t n;
    const char *const *value = arenac_option_values(a, option, &n);
    for (int32_t k = 0; k < n; k++)
        printf("%s%s", k ? " " : "", value[k]);
}

static bool has_values(arenac *a, int32_t option)
{
    int32_t n;
    arenac_option_values(a, option, &n);
    return n > 0;
}

/* ------------------------------------------------------------------ bash */

/* VERB:--option) of an option that has values, or whose word means something else elsewhere. */
static void bash_option(arenac *a, ac_verb verb, int32_t i)
{
    const arenac_option *o = arenac_option_at(i);
    if (!needs_value(o))
        return;
    printf("    %s:--%s", ac_verbs[verb].name, ac_option_word(o));
    if (o->letter)
        printf("|%s:-%c", ac_verbs[verb].name, o->letter);
    printf(") ");
    if (has_values(a, i)) {
        printf("words=\"");
        put_values(a, i);
        puts("\" ;;");
    } else {
        puts("files=1 ;;");
    }
}

static void complete_bash(arenac *a)
{
    printf("_arenac() {\n"
           "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" verb=\"${COMP_WORDS[1]}\"\n"
           "  local words= files=\n  case \"$verb:$prev\" in\n");
    for (int v = 0; v < AC_VERB_COUNT; v++)
        for (int32_t i = 0; arenac_option_at(i); i++)
            if (ac_verb_takes((ac_verb)v, arenac_option_at(i)))
                bash_option(a, (ac_verb)v, i);
    printf("    *) if [ \"$COMP_CWORD\" = 1 ]; then\n      files=1 words=\"");
    for (int v = 0; v < AC_VERB_COUNT; v++)
        printf("%s%s", v ? " " : "", ac_verbs[v].name);
    printf("\"\n    elif [ \"${cur#-}\" != \"$cur\" ]; then\n      case \"$verb\" in\n");
    for (int v = 0; v < AC_VERB_COUNT; v++) {
        printf("      %s) words=\"", ac_verbs[v].name);
        for (int32_t i = 0, n = 0; arenac_option_at(i); i++)
            if (ac_verb_takes((ac_verb)v, arenac_option_at(i)))
                printf("%s--%s", n++ ? "\n" : "", ac_option_word(arenac_option_at(i)));
        puts("\" ;;");
    }
    printf("      esac\n    else\n      files=1\n      case \"$verb\" in\n");
    for (int v = 0; v < AC_VERB_COUNT; v++)
        if (takes_words((ac_verb)v)) {
            printf("      %s) files= words=\"", ac_verbs[v].name);
            put_words_of((ac_verb)v);
            puts("\" ;;");
        }
    printf("      esac\n    fi ;;\n  esac\n"
           "  COMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") )\n"
           "  [ -z \"$files\" ] || COMPREPLY+=( $(compgen -f -- \"$cur\") )\n}\n"
           "complete -o filenames -F _arenac arenac\n");
}

/* ------------------------------------------------------------------ zsh */

/* In single quotes, with what _arguments reads escaped. */
static void zsh_text(const char *s)
{
    for (; *s; s++)
        if (*s == '\'')
            printf("'\\''");
        else
            printf("%s%c", strchr("[]:\\", *s) ? "\\" : "", *s);
}

/* One spelling of an option, followed by its help and its argument. */
static void zsh_spelling(arenac *a, int32_t i, const char *spelling, const char *join)
{
    const arenac_option *o = arenac_option_at(i);
    printf(" \\\n      '*%s%s[", spelling, o->argument ? join : "");
    zsh_text(o->help);
    putchar(']');
    if (o->argument) {
        printf("%s:", needs_value(o) ? "" : ":");
        zsh_text(o->argument);
        printf(has_values(a, i) ? ":(" : ":_files");
        put_values(a, i);
        if (has_values(a, i))
            putchar(')');
    }
    putchar('\'');
}

static void zsh_option(arenac *a, int32_t i)
{
    const arenac_option *o = arenac_option_at(i);
    char spelling[64];
    ac_print(spelling, sizeof spelling, "--%s", ac_option_word(o));
    zsh_spelling(a, i, spelling, needs_value(o) ? "=" : "=-");
    ac_print(spelling, sizeof spelling, "-%c", o->letter);
    if (o->letter)
        zsh_spelling(a, i, spelling, "+");
}

static void complete_zsh(arenac *a)
{
    printf("#compdef arenac\n_arenac() {\n  local -a verbs\n  verbs=(");
    for (int v = 0; v < AC_VERB_COUNT; v++) {
        printf("\n    '%s:", ac_verbs[v].name);
        zsh_text(ac_verbs[v].line);
        putchar('\'');
    }
    printf(")\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    _files\n    return\n  fi\n"
           "  local verb=${words[2]}\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n");
    for (int v = 0; v < AC_VERB_COUNT; v++) {
        printf("  %s) _arguments -s", ac_verbs[v].name);
        for (int32_t i = 0; arenac_option_at(i); i++)
            if (ac_verb_takes((ac_verb)v, arenac_option_at(i)))
                zsh_option(a, i);
        printf(" \\\n      '*:%s:", takes_words((ac_verb)v) ? "word" : "file");
        printf(takes_words((ac_verb)v) ? "(" : "_files");
        put_words_of((ac_verb)v);
        printf("%s' ;;\n", takes_words((ac_verb)v) ? ")" : "");
    }
    printf("  *) _files ;;\n  esac\n}\n"
           "if [ \"$funcstack[1]\" = _arenac ]; then\n  _arenac \"$@\"\nelse\n  compdef _arenac arenac\nfi\n");
}

/* ------------------------------------------------------------------ fish */

static void fish_text(const char *s)
{
    putchar('\'');
    for (; *s; s++)
        printf("%s%c", strchr("'\\", *s) ? "\\" : "", *s);
    putchar('\'');
}

static void fish_option(arenac *a, int32_t i)
{
    const arenac_option *o = arenac_option_at(i);
    printf("complete -c arenac -n '");
    if (!strcmp(o->verbs, "*")) {
        printf("not __fish_use_subcommand");
    } else {
        printf("__fish_seen_subcommand_from");
        for (int v = 0; v < AC_VERB_COUNT; v++)
            if (ac_verb_takes((ac_verb)v, o))
                printf(" %s", ac_verbs[v].name);
    }
    printf("' -l %s", ac_option_word(o));
    if (o->letter)
        printf(" -s %c", o->letter);
    if (needs_value(o))
        printf(" -r");
    if (has_values(a, i)) {
        printf(" -f -a '");
        put_values(a, i);
        printf("'");
    }
    printf(" -d ");
    fish_text(o->help);
    putchar('\n');
}

static void complete_fish(arenac *a)
{
    for (int v = 0; v < AC_VERB_COUNT; v++) {
        printf("complete -c arenac -n __fish_use_subcommand -a %s -d ", ac_verbs[v].name);
        fish_text(ac_verbs[v].line);
        putchar('\n');
        if (!takes_words((ac_verb)v))
            continue;
        printf("complete -c arenac -n '__fish_seen_subcommand_from %s' -f -a '", ac_verbs[v].name);
        put_words_of((ac_verb)v);
        puts("'");
    }
    for (int32_t i = 0; arenac_option_at(i); i++)
        fish_option(a, i);
}

/* ------------------------------------------------------------------ the verb */

int ac_cli_completion(ac_cli *cli)
{
    static const struct {
        const char *name;
        void (*print)(arenac *a);
    } SHELLS[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
    enum { N = sizeof SHELLS / sizeof *SHELLS };
    const char *shell = cli->n_files == 1 ? cli->file[0] : "", *names[N];
    for (int i = 0; i < N; i++) {
        names[i] = SHELLS[i].name;
        if (!strcmp(shell, names[i])) {
            SHELLS[i].print(cli->a);
            return 0;
        }
    }
    const char *near = ac_closest(shell, names, N);
    if (near)
        return ac_cli_wrong(cli, "unknown shell '%s'; did you mean '%s'?", shell, near);
    return ac_cli_wrong(cli, "name a shell: bash, zsh or fish");
}
