/* cli.h - the parsed command line, and one function for each verb.
 *
 * cli/ uses only arenac.h and base/: each verb is a function of arenac.h. A verb returns the exit status; data goes to
 * standard output, diagnostics to standard error. */
#ifndef AC_CLI_CLI_H
#define AC_CLI_CLI_H
#include "arenac.h"
#include "base/diag.h"

typedef enum ac_verb {
#define VERB(id, name, letter, group, fn, args, line, text, examples) AC_VERB_##id,
#include "cli/verbs.def"
#undef VERB
    AC_VERB_COUNT
} ac_verb;

enum { AC_CLI_MAX = 256, AC_CLI_OPTIONS = 256 }; /* files on a command line; options there are at most */

typedef struct ac_cli {
    ac_verb verb;
    arenac *a; /* with the options of the command line */
    const char *file[AC_CLI_MAX];
    int32_t n_files;
    char words[4096];                          /* an argument of several words */
    bool json, quiet, time_passes, man, color; /* options that the command line handles itself */
    bool watch, open;                          /* --watch, --open */
    const char *page;                          /* with --open: the page that was written; NULL: none */
    bool verbose, colored;                     /* --color is always or never */
    bool progress_on, progress_off;            /* neither: on a terminal */
    const char *config;                        /* --config; NULL: the default one, if there is one */
    bool given[AC_CLI_OPTIONS];                /* on the command line, by row of the table */
} ac_cli;

typedef int ac_cli_fn(ac_cli *cli);
#define VERB(id, name, letter, group, fn, args, line, text, examples) ac_cli_fn fn;
#include "cli/verbs.def"
#undef VERB

/* One row of the table of verbs. */
typedef struct ac_verb_row {
    const char *name;
    char letter;
    const char *group; /* heading in the list of verbs */
    ac_cli_fn *run;
    const char *args, *line, *text;
    const char *examples; /* command lines, one per line, without "arenac " */
} ac_verb_row;
extern const ac_verb_row ac_verbs[AC_VERB_COUNT];
bool ac_verb_find(const char *name, ac_verb *verb);
const char *ac_verb_closest(const char *name); /* the verb that was probably meant; NULL: none is near */
bool ac_verb_takes(ac_verb verb, const arenac_option *o);
const char *ac_option_word(const arenac_option *o); /* its name as it is written after -- */

/* args.c: parses argv. Returns -1 to go on, else the exit status (help and version are printed, errors reported). */
int ac_cli_parse(int argc, char **argv, ac_cli *cli);

/* An error of the command line: "arenac: error[E0501]: ...", printed; the exit status. */
int ac_cli_wrong(const ac_cli *c, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* The same, at a line of a file of options. */
int ac_cli_wrong_at(const ac_cli *c, const char *file, int line, const char *text);

/* Sets an option, in the compilation and in *c. Returns -1 to go on, else the exit status, with errors reported. */
int ac_cli_set(ac_cli *c, const arenac_option *o, const char *value);

/* config.c: the options of a file, after those of the command line. Returns as ac_cli_parse. */
int ac_cli_config(ac_cli *c);

/* progress.c: starts showing the progress of long work; ended before anything else is printed. */
void ac_cli_progress(const ac_cli *cli);
void ac_cli_progress_end(void);

/* watch.c: --open shows the page that was written; --watch waits until a file changes. */
void ac_cli_show_page(const ac_cli *cli);
const char *ac_cli_page(const ac_cli *cli); /* among the outputs, before they are written; NULL: none */
void ac_cli_remember(const ac_cli *cli);    /* the files of the work, as they are now; called before it and after it */
void ac_cli_wait(const ac_cli *cli);        /* until one of them changes and is complete */

/* help.c */
void ac_help_print(FILE *to, ac_verb verb, bool all);
void ac_help_overview(FILE *to);
void ac_help_man(FILE *to, bool overview, ac_verb verb);

#endif
