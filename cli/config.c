/* config.c - options out of a file, --config FILE or ./arenac.conf: `key = value` lines, a key alone for an option
 * without a value, comments from '#' on. An option that the command line gives is left out, and so is one that the verb
 * does not take: a file is for all verbs of a project. */
#include "cli/cli.h"

#include "base/format.h"
#include "base/sys/sys.h"

#include <stdlib.h>
#include <string.h>

static const char DEFAULT[] = "arenac.conf";

/* Options refused in a file that the user did not name: they write files or run commands, and folders are untrusted. */
static const char *const NAMED_ONLY[] = {"output",  "trained", "output-dir",  "evidence",
                                         "depfile", "log",     "update-lock", "selftest-cc"};
/* Options of the command line alone. */
static const char *const NEVER[] = {"config", "help", "help-all", "version", "man", "list-targets"};

static bool is_among(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

static int wrong(const ac_cli *c, const char *path, int line, const char *key, const char *text)
{
    char all[512];
    ac_print(all, sizeof all, "'%s' %s", key, text);
    return ac_cli_wrong_at(c, path, line, all);
}

static int unknown(const ac_cli *c, const char *path, int line, const char *key)
{
    char all[512];
    const char *names[AC_CLI_OPTIONS];
    const arenac_option *o;
    int32_t n = 0;
    for (int32_t i = 0; n < AC_CLI_OPTIONS && (o = arenac_option_at(i)) != NULL; i++)
        names[n++] = ac_option_word(o);
    const char *near = ac_closest(key, names, n);
    ac_print(all, sizeof all, near ? "unknown option '%s'; did you mean '%s'?" : "unknown option '%s'", key, near);
    return ac_cli_wrong_at(c, path, line, all);
}

/* The option of this verb, or, with *other, of another one. NULL: unknown. */
static const arenac_option *find(ac_verb verb, const char *key, bool *other, int32_t *index)
{
    const arenac_option *o, *found = NULL;
    *other = true;
    for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++) {
        if (strcmp(ac_option_word(o), key) != 0)
            continue;
        found = found ? found : o;
        if (!ac_verb_takes(verb, o))
            continue;
        *other = false;
        *index = i;
        return o;
    }
    return found;
}

/* Blanks at both ends are cut off. */
static char *trim(char *s)
{
    s += strspn(s, " \t\r\n");
    for (size_t n = strlen(s); n && strchr(" \t\r\n", s[n - 1]);)
        s[--n] = 0;
    return s;
}

/* A '#' at the start or after a blank begins a comment. */
static void cut_comment(char *s)
{
    for (char *p = s; (p = strchr(p, '#')) != NULL; p++)
        if (p == s || p[-1] == ' ' || p[-1] == '\t') {
            *p = 0;
            return;
        }
}

static int set_line(ac_cli *c, const char *path, int line, char *text, bool named)
{
    char *eq = strchr(text, '='), *value = NULL;
    bool other;
    int32_t i = 0;
    if (eq) {
        *eq = 0;
        value = trim(eq + 1);
    }
    const char *key = trim(text);
    const arenac_option *o = find(c->verb, key, &other, &i);
    if (!o)
        return unknown(c, path, line, key);
    if (is_among(o->name, NEVER, sizeof NEVER / sizeof *NEVER))
        return wrong(c, path, line, key, "belongs to the command line");
    if (!named && is_among(o->name, NAMED_ONLY, sizeof NAMED_ONLY / sizeof *NAMED_ONLY))
        return wrong(c, path, line, key, "writes files or runs commands: name this file with --config to allow it");
    if (value && !o->argument && strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return wrong(c, path, line, key, "takes no value, or on or off");
    const bool taken = !other && !c->given[i];
    if (c->verbose && !other)
        fprintf(stderr, "%s:%d: %s%s%s%s\n", path, line, key, value ? " = " : "", value ? value : "",
                taken ? "" : " (the command line has another)");
    if (!taken || (value && !o->argument && !strcmp(value, "off")))
        return -1;
    const int status = ac_cli_set(c, o, o->argument ? value : NULL);
    if (status >= 0)
        fprintf(stderr, "  | %s:%d: %s%s%s\n", path, line, key, value ? " = " : "", value ? value : "");
    return status;
}

int ac_cli_config(ac_cli *c)
{
    const char *path = c->config ? c->config : DEFAULT;
    int status = -1, n = 0;
    const bool asks = c->verb == AC_VERB_HELP || c->verb == AC_VERB_EXPLAIN || c->verb == AC_VERB_COMPLETION;
    if (!c->config && (asks || !ac_sys_may_read(path)))
        return -1;
    char *all = ac_sys_text(path, NULL);
    if (!all) {
        status = arenac_unreadable(c->a, path);
        arenac_print_diagnostics(c->a, stderr, c->color);
        return status;
    }
    arenac_depends(c->a, path);
    for (char *line = all, *next; status < 0 && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        n++;
        cut_comment(line);
        char *text = trim(line);
        if (*text)
            status = set_line(c, path, n, text, c->config != NULL);
    }
    free(all);
    return status;
}
