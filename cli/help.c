/* help.c - prints -h, --help-all and manual pages from the tables of verbs and options. */
#include "cli/cli.h"

#include "base/format.h"
#include "base/sys/sys.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 36, VERBS = 20, NARROW = 60, WIDE = 120, PIPED = 100 };

/* Columns of the text: $COLUMNS, else those of the terminal, else PIPED; within NARROW..WIDE. */
static size_t columns(void)
{
    const char *given = getenv("COLUMNS");
    long n = given ? strtol(given, NULL, 10) : 0;
    if (n <= 0 && ac_sys_is_terminal(1))
        n = (long)ac_sys_columns(1);
    if (n <= 0)
        n = PIPED;
    return n < NARROW ? NARROW : n > WIDE ? WIDE : (size_t)n;
}

/* Prints the words of the first n characters of the text, folded before the last column. The first line starts at
 * column `at`, others at `indent`; a word is never split. */
static void fold(FILE *to, const char *text, size_t n, size_t at, size_t indent)
{
    const size_t width = columns() - 1;
    const char *const end = text + n;
    for (bool first = true; text < end; first = false) {
        const size_t blank = strcspn(text, " "), word = blank < (size_t)(end - text) ? blank : (size_t)(end - text);
        if (!first && at + 1 + word > width) {
            fprintf(to, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', to);
            at++;
        }
        fwrite(text, 1, word, to);
        at += word;
        text += word + (text[word] == ' ');
    }
    fputc('\n', to);
}

static void fold_all(FILE *to, const char *text, size_t at, size_t indent)
{
    fold(to, text, strlen(text), at, indent);
}

void ac_help_overview(FILE *to)
{
    fprintf(to, "arenac %s: neural networks to C with every tensor offset fixed\n", arenac_version());
    for (int i = 0; i < AC_VERB_COUNT; i++) {
        if (i == 0 || strcmp(ac_verbs[i].group, ac_verbs[i - 1].group) != 0)
            fprintf(to, "\n%s:\n", ac_verbs[i].group);
        fprintf(to, "  arenac %-10s ", ac_verbs[i].name);
        fold_all(to, ac_verbs[i].line, VERBS, VERBS);
    }
    fprintf(to, "\nExamples:\n"
                "  arenac model.tflite                   (same as arenac plan)\n"
                "  arenac compile model.onnx -o model.c\n"
                "  arenac run model.tflite --input 0=x.npy --output-dir out\n\n");
    fold_all(to,
             "Models: TFLite, ONNX, PyTorch (.pt2), TensorFlow (.pb, .pbtxt, SavedModel), Caffe, MXNet, text (.ag).", 0,
             0);
    fold_all(to, "arenac VERB -h shows the usual options of a verb, --help-all shows all.", 0, 0);
}

/* " FILE", or "[=2|4]" for an argument that may be left out; "" for none. */
static void argument_of(const arenac_option *o, char *text, size_t n)
{
    if (!o->argument)
        *text = 0;
    else if (o->argument[0] == '[')
        ac_print(text, n, "[=%s", o->argument + 1);
    else
        ac_print(text, n, " %s", o->argument);
}

/* Prints the help of an option up to the first semicolon or bracket. */
static void print_brief(FILE *to, const char *help)
{
    const size_t semicolon = strcspn(help, ";");
    const char *bracket = strstr(help, " (");
    fold(to, help, bracket && (size_t)(bracket - help) < semicolon ? (size_t)(bracket - help) : semicolon, INDENT,
         INDENT);
}

static void print_option(FILE *to, const arenac_option *o, bool all)
{
    char argument[64], left[96];
    argument_of(o, argument, sizeof argument);
    if (o->letter)
        ac_print(left, sizeof left, "-%c, --%s%s", o->letter, ac_option_word(o), argument);
    else
        ac_print(left, sizeof left, "    --%s%s", ac_option_word(o), argument);
    if (strlen(left) > INDENT - 3) /* on its own line */
        fprintf(to, "  %s\n%*s", left, INDENT, "");
    else
        fprintf(to, "  %-33s ", left);
    if (all)
        fold_all(to, o->help, INDENT, INDENT);
    else
        print_brief(to, o->help);
}

static bool takes_emit(ac_verb verb)
{
    const arenac_option *o;
    for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++)
        if (!strcmp(o->name, "emit"))
            return ac_verb_takes(verb, o);
    return false;
}

/* True if the short help of the verb has the option. */
static bool is_usual(ac_verb verb, const arenac_option *o)
{
    const char *at = ac_verbs[verb].letter ? strchr(o->verbs, ac_verbs[verb].letter) : NULL;
    return at && at[1] == '!';
}

/* True if no option before row i has its group. */
static bool begins_group(int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (!strcmp(arenac_option_at(k)->group, arenac_option_at(i)->group))
            return false;
    return true;
}

typedef struct listing {
    ac_verb verb;
    bool overview; /* the options that all verbs take */
    bool usual;    /* only options of the short help */
    bool man;      /* troff */
    void (*put)(FILE *to, const arenac_option *o);
} listing;

static bool is_listed(const listing *l, const arenac_option *o)
{
    return l->overview ? o->verbs[0] == '*' : l->usual ? is_usual(l->verb, o) : ac_verb_takes(l->verb, o);
}

/* Prints options below the heading of their group; groups in the order of the table. */
static void list_options(FILE *to, const listing *l)
{
    const arenac_option *first, *o;
    for (int32_t g = 0; (first = arenac_option_at(g)) != NULL; g++) {
        bool begun = !begins_group(g);
        if (begun)
            continue;
        for (int32_t i = g; (o = arenac_option_at(i)) != NULL; i++) {
            if (strcmp(o->group, first->group) != 0 || !is_listed(l, o))
                continue;
            if (!begun)
                fprintf(to, l->man ? ".SS %s\n" : "\n%s:\n", o->group);
            begun = true;
            l->put(to, o);
        }
    }
}

static void put_short(FILE *to, const arenac_option *o)
{
    print_option(to, o, false);
}

static void put_whole(FILE *to, const arenac_option *o)
{
    print_option(to, o, true);
}

/* Calls put for each example, a line of n characters. */
static void each_example(FILE *to, ac_verb verb, void (*put)(FILE *to, const char *line, size_t n))
{
    for (const char *s = ac_verbs[verb].examples; *s;) {
        const size_t n = strcspn(s, "\n");
        put(to, s, n);
        s += n + (s[n] == '\n');
    }
}

static void put_example(FILE *to, const char *line, size_t n)
{
    enum { AT = 9, DEEPER = 13 };
    fprintf(to, "  arenac ");
    fold(to, line, n, AT, DEEPER);
}

static void print_kinds(FILE *to)
{
    const arenac_kind *k;
    fprintf(to, "\nKinds of --emit:\n");
    for (int32_t i = 0; (k = arenac_kind_at(i)) != NULL; i++) {
        fprintf(to, "  %-16s %-16s ", k->name, k->extension);
        fold_all(to, k->help, INDENT, INDENT);
    }
}

void ac_help_print(FILE *to, ac_verb verb, bool all)
{
    const ac_verb_row *v = &ac_verbs[verb];
    fprintf(to, "arenac %s%s%s [options]\n", v->name, *v->args ? " " : "", v->args);
    fold_all(to, all ? v->text : v->line, 0, 0);
    list_options(to, &(listing){.verb = verb, .usual = !all, .put = all ? put_whole : put_short});
    if (all && takes_emit(verb))
        print_kinds(to);
    fprintf(to, "\nExamples:\n");
    each_example(to, verb, put_example);
    if (!all)
        fprintf(to, "\narenac %s --help-all lists all options.\n", v->name);
}

static void man_words(FILE *to, const char *s, size_t n)
{
    if (*s == '.' || *s == '\'') /* text, not a request */
        fputs("\\&", to);
    for (const char *end = s + n; s < end; s++)
        if (*s == '-')
            fputs("\\-", to);
        else if (*s == '\\')
            fputs("\\e", to);
        else
            fputc(*s, to);
}

static void man_text(FILE *to, const char *s)
{
    man_words(to, s, strlen(s));
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

static void man_example(FILE *to, const char *line, size_t n)
{
    fprintf(to, ".PP\n.B arenac ");
    man_words(to, line, n);
    fputc('\n', to);
}

void ac_help_man(FILE *to, bool overview, ac_verb verb)
{
    const char *dash = overview ? "" : "-", *name = overview ? "" : ac_verbs[verb].name;
    fprintf(to, ".TH ARENAC%s%s 1 \"\" \"arenac %s\" \"User Commands\"\n.SH NAME\narenac%s%s \\- ", dash, name,
            arenac_version(), overview ? "" : "\\-", name);
    man_text(to, overview ? "neural networks to C with every tensor offset fixed" : ac_verbs[verb].line);
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
    list_options(to, &(listing){.verb = verb, .overview = overview, .man = true, .put = man_option});
    if (!overview && takes_emit(verb))
        man_kinds(to);
    if (!overview) {
        fprintf(to, ".SH EXAMPLES\n");
        each_example(to, verb, man_example);
    }
    fprintf(to, ".SH EXIT STATUS\n0 done; 1 invalid model; 2 wrong command line; 3 a file or the host compiler failed; "
                "4 over a memory "
                "budget; 5 outputs differ; 6 plan changed; 7 unsafe plan; 8 unsupported; 70 internal error.\n");
}
