/* cli.h - the parsed command line, and one function for each verb.
 *
 * A verb returns the exit status of CLI.md; data goes to stdout, diagnostics to stderr. */
#ifndef AC_CLI_CLI_H
#define AC_CLI_CLI_H
#include "driver/job.h"

/* All that --emit knows, for help and messages. */
#define AC_CLI_KINDS \
    "c,h,o,s,ll,bc,cu,ptx,cubin,json,svg,html,md,dot,csv,problem,lock,ag,loops,rt,tflite,tflm-buffer-plan"

typedef enum ac_verb {
#define VERB(id, name, letter, args, line, text) AC_VERB_##id,
#include "cli/verbs.def"
#undef VERB
    AC_VERB_COUNT
} ac_verb;

enum { AC_CLI_MAX = 256 }; /* repeats of one option */

typedef struct ac_keyfile {
    const char *key, *path;
} ac_keyfile; /* --input KEY=F.npy */

typedef struct ac_cli {
    ac_verb verb;
    const char *file[AC_CLI_MAX];
    int32_t n_files;
    ac_options opt;
    bool reference_tflm;            /* plan what TFLite Micro will run */
    struct ac_cli_offline *offline; /* that plan; NULL: the plan is arenac's own */
    const char *lock;               /* --lock FILE; NULL: none */
    bool update_lock, md;
    const char *output, *emit, *output_dir, *backend, *loops, *taps;
    ac_keyfile input[AC_CLI_MAX], compare[AC_CLI_MAX], fixed[AC_CLI_MAX]; /* fixed: --const */
    int32_t n_inputs, n_compares, n_fixed;
    arenac_pair dim[AC_CLI_MAX];
    const char *share; /* --share: "exclusive", "concurrent"; NULL: one model */
    const char *range; /* --dim NAME=LO..HI; NULL: none */
    int64_t range_lo, range_hi;
    arenac_memory mem[AC_CLI_MAX];
    arenac_pin pin[AC_CLI_MAX];
    const char *skip[AC_CLI_MAX], *dump_after[AC_CLI_MAX];
    bool random, per_node, per_op, tune, json, quiet, time_passes, ignore_offsets, man, color, target_given;
    int64_t seed, runs, max_ulp;
    int verbose;
} ac_cli;

/* Parses argv. Returns -1 to go on, else the exit status (help and version are printed, errors reported). */
int ac_cli_parse(int argc, char **argv, ac_cli *cli);
/* "64K" -> 65536; false with nothing written when malformed. */
bool ac_parse_size(const char *text, int64_t *out);
void ac_help_print(FILE *to, ac_verb verb, bool all);
void ac_help_overview(FILE *to);
void ac_help_man(FILE *to, bool overview, ac_verb verb);
bool ac_verb_find(const char *name, ac_verb *verb);
const char *ac_verb_name(ac_verb verb);

/* share.c: plan or compile of several models with --share, or of one for every value of a --dim range. */
int ac_cli_share(ac_cli *cli);

int ac_cli_check(ac_cli *cli);
int ac_cli_plan(ac_cli *cli);
int ac_cli_compile(ac_cli *cli);
int ac_cli_python(ac_cli *cli);
int ac_cli_run(ac_cli *cli);
int ac_cli_bench(ac_cli *cli);
int ac_cli_show(ac_cli *cli);
int ac_cli_verify(ac_cli *cli);
int ac_cli_diff(ac_cli *cli);
int ac_cli_convert(ac_cli *cli);
int ac_cli_targets(ac_cli *cli);
int ac_cli_ops(ac_cli *cli);
int ac_cli_explain(ac_cli *cli);
int ac_cli_completion(ac_cli *cli);

/* diff.c: what --lock and --update-lock ask for, on a planned job. 0, or -1 with E0602 when the plan is not the locked one. */
int ac_cli_lock(const ac_cli *cli, arenac_job *job);
/* plan.c: for plans of what arenac does not compile (`what` says how those are made): options that would change the plan are
 * refused (E0503), those about operators are ignored with a warning; with `orders`, --schedule search works. */
int ac_cli_refuse_options(const ac_cli *cli, arenac_job *job, const char *what, bool orders);

double ac_cli_now_ms(void); /* bench.c */
/* Prints the job's diagnostics (and --time-passes), closes it, returns its exit status. */
int ac_cli_finish(ac_cli *cli, arenac_job *job);
/* A job for the one file of the command line; NULL after printing why not, with *status. */
arenac_job *ac_cli_start(ac_cli *cli, int *status); /* empty */
arenac_job *ac_cli_open(ac_cli *cli, int *status);  /* with the model read */

#endif
