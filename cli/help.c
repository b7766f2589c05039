/* help.c - --help, --help-all and manual pages, out of the tables of verbs and options. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { INDENT = 36, NARROW = 60, WIDE = 120, PIPED = 100 };

/* Columns of the terminal; $COLUMNS wins; 0: there is no terminal. */
static long terminal(void)
{
    struct winsize w;
    const char *said = getenv("COLUMNS");
    const long n = said ? strtol(said, NULL, 10) : 0;
    return n > 0 ? n : isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

/* Columns of the text, at most WIDE. */
static size_t columns(void)
{
    const long said = terminal(), n = said ? said : PIPED;
    return n < NARROW ? NARROW : n > WIDE ? WIDE : (size_t)n;
}

/* The words of the first `room` characters of the text in lines that end before the last column. The first line goes on
 * at column `at`, others begin at `indent`; a word that is too long stays whole. Returns how many lines
 * there are; to NULL: only counts them. */
static int fold(FILE *to, const char *text, size_t room, size_t at, size_t indent)
{
    const size_t width = columns() - 1;
    const char *const end = text + room;
    int lines = 1;
    for (bool first = true; text < end && *text; first = false) {
        const size_t word = strcspn(text, " "), n = word < (size_t)(end - text) ? word : (size_t)(end - text);
        if (!first && at + 1 + n > width) {
            if (to)
                fprintf(to, "\n%*s", (int)indent, "");
            at = indent;
            lines++;
        } else if (!first) {
            if (to)
                fputc(' ', to);
            at++;
        }
        if (to)
            fwrite(text, 1, n, to);
        at += n;
        text += n + (text[n] == ' ');
    }
    if (to)
        fputc('\n', to);
    return lines;
}

static int fold_all(FILE *to, const char *text, size_t at, size_t indent)
{
    return fold(to, text, strlen(text), at, indent);
}

void ac_help_overview(FILE *to)
{
    fprintf(to,
            "arenac %s: neural networks to C with every tensor offset baked in\n\n"
            "  arenac MODEL      the memory plan (same as arenac plan MODEL)\n",
            arenac_version());
    for (int i = 0; i < AC_VERB_COUNT; i++)
        fprintf(to, "  arenac %-10s %s\n", ac_verbs[i].name, ac_verbs[i].line);
    fputc('\n', to);
    fold_all(to, "Models: TFLite, ONNX, TensorFlow (.pb, .pbtxt, SavedModel), Caffe, MXNet, arenac text (.ag).", 0, 0);
    fprintf(to, "arenac help VERB lists the options.\n");
}

/* " FILE", or "[=2|4]" for an argument that may be left out; "" for none. */
static void argument_of(const arenac_option *o, char *text, size_t n)
{
    if (!o->argument)
        *text = 0;
    else if (o->argument[0] == '[')
        snprintf(text, n, "[=%s", o->argument + 1);
    else
        snprintf(text, n, " %s", o->argument);
}

/* What an option is, in short: up to the first semicolon or bracket. */
static int print_brief(FILE *to, const char *help)
{
    const size_t semicolon = strcspn(help, ";");
    const char *bracket = strstr(help, " (");
    return fold(to, help, bracket && (size_t)(bracket - help) < semicolon ? (size_t)(bracket - help) : semicolon,
                INDENT, INDENT);
}

/* Returns how many lines it takes; to NULL: only counts them. */
static int print_option(FILE *to, const arenac_option *o, bool all)
{
    char argument[64], left[96];
    argument_of(o, argument, sizeof argument);
    if (o->letter)
        snprintf(left, sizeof left, "-%c, --%s%s", o->letter, ac_option_word(o), argument);
    else
        snprintf(left, sizeof left, "    --%s%s", ac_option_word(o), argument);
    const bool alone = strlen(left) > INDENT - 3; /* on its line */
    if (to && alone)
        fprintf(to, "  %s\n%*s", left, INDENT, "");
    else if (to)
        fprintf(to, "  %-33s ", left);
    return alone + (all ? fold_all(to, o->help, INDENT, INDENT) : print_brief(to, o->help));
}

static bool takes_emit(ac_verb verb)
{
    const arenac_option *o;
    for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++)
        if (!strcmp(o->name, "emit"))
            return ac_verb_takes(verb, o);
    return false;
}

static bool comes_first(ac_verb verb, const arenac_option *o)
{
    const char *at = ac_verbs[verb].letter ? strchr(o->verbs, ac_verbs[verb].letter) : NULL;
    return at && at[1] == '!';
}

void ac_help_print(FILE *to, ac_verb verb, bool all)
{
    enum { LINES = 24, AROUND = 5 };
    const ac_verb_row *v = &ac_verbs[verb];
    const arenac_option *o;
    int shown = 0; /* lines, or options where nobody counts lines */
    bool more = false, full = false;
    fprintf(to, "arenac %s %s [options]\n", v->name, v->args);
    fold_all(to, v->line, 0, 0);
    fputc('\n', to);
    if (all) {
        fold_all(to, v->text, 0, 0);
        fputc('\n', to);
    }
    for (int turn = 0; turn < 2; turn++) /* what the verb is for, then the rest */
        for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++) {
            if (!ac_verb_takes(verb, o) || comes_first(verb, o) == turn)
                continue;
            const int lines = all || !terminal() ? 1 : print_option(NULL, o, false);
            full |= !all && shown + lines > LINES - AROUND;
            if (!all && (full || !strcmp(o->verbs, "*"))) {
                more = true;
                continue;
            }
            print_option(to, o, all);
            shown += lines;
        }
    if (more)
        fprintf(to, "  --help-all lists the rest.\n");
    if (all && takes_emit(verb)) {
        const arenac_kind *k;
        fprintf(to, "\nWhat --emit writes:\n");
        for (int32_t i = 0; (k = arenac_kind_at(i)) != NULL; i++) {
            fprintf(to, "  %-16s %-16s ", k->name, k->extension);
            fold_all(to, k->help, INDENT, INDENT);
        }
    }
}

static void man_text(FILE *to, const char *s)
{
    if (*s == '.' || *s == '\'') /* a line of text, no request */
        fputs("\\&", to);
    for (; *s; s++)
        if (*s == '-')
            fputs("\\-", to);
        else if (*s == '\\')
            fputs("\\e", to);
        else
            fputc(*s, to);
}

static void man_option(FILE *to, const arenac_option *o)
{
    char argument[64];
    argument_of(o, argument, sizeof argument);
    fprintf(to, ".TP\n.B ");
    if (o->letter)
        fprintf(to, "\\-%c, ", o->letter);
    fprintf(to, "\\-\\-");
    man_text(to, ac_option_word(o));
    fprintf(to, "%s\n", argument);
    man_text(to, o->help);
    fputc('\n', to);
}

static void man_kinds(FILE *to)
{
    const arenac_kind *k;
    fprintf(to, ".SH OUTPUTS\n");
    for (int32_t i = 0; (k = arenac_kind_at(i)) != NULL; i++) {
        fprintf(to, ".TP\n.B ");
        man_text(to, k->name);
        fputc('\n', to);
        man_text(to, k->help);
        if (*k->extension)
            fprintf(to, " (NAME%s)", k->extension);
        fputc('\n', to);
    }
}

void ac_help_man(FILE *to, bool overview, ac_verb verb)
{
    const char *dash = overview ? "" : "-", *name = overview ? "" : ac_verbs[verb].name;
    const arenac_option *o;
    fprintf(to, ".TH ARENAC%s%s 1 \"\" \"arenac %s\" \"User Commands\"\n.SH NAME\narenac%s%s \\- ", dash, name,
            arenac_version(), overview ? "" : "\\-", name);
    man_text(to, overview ? "neural networks to C with every tensor offset baked in" : ac_verbs[verb].line);
    fprintf(to, "\n.SH SYNOPSIS\n.B arenac %s\n", overview ? "VERB" : name);
    man_text(to, overview ? "[options] MODEL" : ac_verbs[verb].args);
    fprintf(to, "\n.SH DESCRIPTION\n");
    for (int i = 0; i < AC_VERB_COUNT && overview; i++) {
        fprintf(to, ".TP\n.B arenac %s ", ac_verbs[i].name);
        man_text(to, ac_verbs[i].args);
        fputc('\n', to);
        man_text(to, ac_verbs[i].text);
        fputc('\n', to);
    }
    if (!overview)
        man_text(to, ac_verbs[verb].text);
    fprintf(to, "\n.SH OPTIONS\n");
    for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++)
        if (overview ? o->verbs[0] == '*' : ac_verb_takes(verb, o))
            man_option(to, o);
    if (!overview && takes_emit(verb))
        man_kinds(to);
    fprintf(to, ".SH EXIT STATUS\n0 done; 1 invalid model; 2 wrong command line; 3 a file or the host compiler failed; "
                "4 over a memory "
                "budget; 5 outputs differ; 6 plan changed; 7 unsafe plan; 8 unsupported; 70 internal error.\n");
}
