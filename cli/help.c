/* help.c - --help, --help-all and manual pages, out of the tables of verbs and options. */
#include "cli/cli.h"

#include <string.h>

void ac_help_overview(FILE *to)
{
    fprintf(to,
            "arenac %s: neural networks to C with every tensor offset baked in\n\n"
            "  arenac MODEL                    the memory plan (same as arenac plan MODEL)\n",
            arenac_version());
    for (int i = 0; i < AC_VERB_COUNT; i++)
        fprintf(to, "  arenac %-10s %-22s %s\n", ac_verbs[i].name, ac_verbs[i].args, ac_verbs[i].line);
    fprintf(to, "\nModels: TFLite, ONNX, TensorFlow (.pb, .pbtxt, SavedModel), Caffe, MXNet, arenac text "
                "(.ag).\narenac help VERB lists the options.\n");
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

static void print_option(FILE *to, const arenac_option *o)
{
    char argument[64], left[96];
    argument_of(o, argument, sizeof argument);
    if (o->letter)
        snprintf(left, sizeof left, "-%c, --%s%s", o->letter, ac_option_word(o), argument);
    else
        snprintf(left, sizeof left, "    --%s%s", ac_option_word(o), argument);
    fprintf(to, "  %-33s %s\n", left, o->help);
}

static bool takes_emit(ac_verb verb)
{
    const arenac_option *o;
    for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++)
        if (!strcmp(o->name, "emit"))
            return ac_verb_takes(verb, o);
    return false;
}

void ac_help_print(FILE *to, ac_verb verb, bool all)
{
    enum { LINES = 24 };
    const ac_verb_row *v = &ac_verbs[verb];
    const arenac_option *o;
    int shown = 0;
    bool more = false;
    fprintf(to, "arenac %s %s [options]\n%s\n\n%s\n\n", v->name, v->args, v->line, v->text);
    for (int32_t i = 0; (o = arenac_option_at(i)) != NULL; i++) {
        if (!ac_verb_takes(verb, o))
            continue;
        if (!all && (!strcmp(o->verbs, "*") || shown >= LINES - 8)) {
            more = true;
            continue;
        }
        print_option(to, o);
        shown++;
    }
    if (more)
        fprintf(to, "  --help-all lists the rest.\n");
    if (all && takes_emit(verb)) {
        const arenac_kind *k;
        fprintf(to, "\nWhat --emit writes:\n");
        for (int32_t i = 0; (k = arenac_kind_at(i)) != NULL; i++)
            fprintf(to, "  %-17s %-17s %s\n", k->name, k->extension, k->help);
    }
}

static void man_text(FILE *to, const char *s)
{
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
