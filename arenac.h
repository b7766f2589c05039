/* arenac.h - the door: a model in, a plan and code out. All that the command line and tests do goes through here;
 * driver/stage/stages.c shows the journey on one page.
 *
 *     arenac *a = arenac_open();                                   NULL: no memory
 *     const char *model[] = {"kws.tflite"};
 *     arenac_set(a, "target", "cortex-m4");                        options as on the command line
 *     if (arenac_read(a, model, 1) == 0 && arenac_compile(a) == 0 && arenac_emit(a, "c", "kws.c") == 0)
 *         arenac_commit(a);                                        files appear together, or none does
 *     arenac_print_diagnostics(a, stderr, false);
 *     int status = arenac_exit(a);                                 the exit status of the command line
 *     arenac_close(a);
 *
 * The stages: read -> check -> plan -> compile -> emit, commit. Each runs those before it that have not run, and none
 * runs twice. One arenac is one compilation: options are set before the first stage, and a second model takes a second
 * arenac.
 *
 * Errors: what returns int gives 0, or -1 with diagnostics recorded; running out of memory is such an error, too.
 * Nothing is printed but where a FILE is given; what belongs on standard output is an output named "-", written by
 * arenac_commit. Ownership: paths and values are copied; what is returned lives until arenac_close. Two of them share
 * nothing, and may work in two threads. Signals are the program's: files are mapped, and one that another process cuts
 * while it is read raises SIGBUS. */
#ifndef ARENAC_H
#define ARENAC_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arenac arenac;

const char *arenac_version(void);
arenac *arenac_open(void);
void arenac_close(arenac *a); /* NULL is fine */

/* ------------------------------------------------------------------ options */

/* One row of the table of options. */
typedef struct arenac_option {
    const char *name;     /* "target": --target on the command line */
    char letter;          /* 't': -t; 0: none */
    const char *verbs;    /* letters of the verbs that take it, '!' after those whose short help has it; "*": all */
    const char *argument; /* NULL: none; "a|b": one of these words; "[..]": may be left out */
    const char *group;    /* heading in help: "Memory plan" */
    const char *help;     /* one line */
} arenac_option;
const arenac_option *arenac_option_at(int32_t i); /* NULL after the last one */
/* Values that option i knows by name: words, targets, planners, passes ... n of them; NULL: any. */
const char *const *arenac_option_values(arenac *a, int32_t i, int32_t *n);

/* What option emit knows: a row of the tables of outputs. */
typedef struct arenac_kind {
    const char *name;      /* "svg" */
    const char *extension; /* ".svg"; "" where it names its files itself */
    const char *help;
} arenac_kind;
const arenac_kind *arenac_kind_at(int32_t i); /* NULL after the last one */

/* arenac_set(a, "stripe", "auto"); value NULL for an option without an argument. Repeatable ones add up. */
int arenac_set(arenac *a, const char *option, const char *value);

/* ------------------------------------------------------------------ the stages */

/* The model ("-": standard input), and after it the file with its weights where the format has one; with option "share"
 * several models. A CSV file of intervals is a packing problem, for arenac_plan alone. */
int arenac_read(arenac *a, const char *const *path, int32_t n);
int arenac_check(arenac *a);   /* shapes and loops of every operator; lists every problem */
int arenac_plan(arenac *a);    /* the memory plan, checked; over the budget: -1, and there is a plan all the same */
int arenac_compile(arenac *a); /* the plan, and calls bound to its offsets */
bool arenac_has_plan(const arenac *a);

/* An output of a kind of arenac_kind_at, or that a backend of one's own makes, to a path or "-". */
int arenac_emit(arenac *a, const char *kind, const char *path);
int arenac_write(arenac *a);  /* what options emit, output, lock and json request; the report where that leaves room */
int arenac_report(arenac *a); /* the report as text, to "-"; option verbose: more of it */
int arenac_commit(arenac *a); /* writes what was emitted */
/* If nothing has gone to "-" yet, prints how it ended there, as one JSON document: the whole report where the plan
 * exceeds its budget or differs from its lock, otherwise the diagnostics alone. What was emitted and not committed is
 * dropped. */
int arenac_print_json(arenac *a);

/* The arena and what no plan can beat, in bytes; -1: no plan. */
int64_t arenac_arena_bytes(const arenac *a);
int64_t arenac_bound_bytes(const arenac *a);

/* ------------------------------------------------------------------ running here */

/* After arenac_read: the model is compiled and made runnable on this machine (option backend). Its inputs and outputs
 * are in its memory, as the model has them: dense, row-major, little-endian. A run may overwrite inputs, and keeps
 * state. */
int arenac_load(arenac *a);
void *arenac_input(arenac *a, int32_t i, int64_t *bytes); /* NULL: there is no input i */
const void *arenac_output(arenac *a, int32_t i, int64_t *bytes);
int arenac_run(arenac *a); /* once */

/* ------------------------------------------------------------------ what verbs do besides */

/* Each is a verb of the command line, from its paths and options to outputs that arenac_commit writes. */
int arenac_verb_check(arenac *a, const char *const *path, int32_t n);
int arenac_verb_run(arenac *a, const char *const *path, int32_t n);
int arenac_verb_grad(arenac *a, const char *const *path, int32_t n);
int arenac_verb_bench(arenac *a, const char *const *path, int32_t n);
int arenac_verb_python(arenac *a, const char *const *path, int32_t n);
int arenac_verb_train(arenac *a, const char *const *path, int32_t n);
int arenac_verb_show(arenac *a, const char *const *path, int32_t n);
int arenac_verb_verify(arenac *a, const char *const *path, int32_t n);
int arenac_verb_prove(arenac *a, const char *const *path, int32_t n);
int arenac_verb_diff(arenac *a, const char *const *path, int32_t n);
int arenac_verb_convert(arenac *a, const char *const *path, int32_t n);
int arenac_verb_targets(arenac *a, const char *const *path, int32_t n);
int arenac_verb_ops(arenac *a, const char *const *name, int32_t n);
int arenac_verb_explain(arenac *a, const char *const *code, int32_t n);

/* ------------------------------------------------------------------ progress */

/* What it is doing: for another thread, which may ask at any time until arenac_close. */
typedef struct arenac_progress {
    const char *what;       /* "lowering" */
    int32_t done, total;    /* total 0: not known */
    const char *value_name; /* "loss"; NULL: there is none */
    double value;
} arenac_progress;
bool arenac_progress_now(const arenac *a, arenac_progress *to); /* false: nothing has begun */

/* A file that options were read from: a rule of --depfile names it, too. The path is copied. */
int arenac_depends(arenac *a, const char *path);

/* An error of the caller's own command line (E0501) at a place, as those of arenac_set: printed, counted and in JSON as
 * all others. line 0: of no file. Returns the exit status. */
int arenac_usage(arenac *a, const char *file, int line, const char *text);
int arenac_unreadable(arenac *a, const char *file); /* so is a file of options that cannot be read (E0301) */

/* ------------------------------------------------------------------ diagnostics */

void arenac_print_diagnostics(const arenac *a, FILE *to, bool color);
int arenac_exit(const arenac *a);
int32_t arenac_errors(const arenac *a);
int32_t arenac_warnings(const arenac *a);

/* How long each graph pass took: pass i, or NULL after the last one. */
typedef struct arenac_pass {
    const char *name;
    double ms;
    int32_t changed; /* how much of the graph */
} arenac_pass;
const arenac_pass *arenac_pass_at(const arenac *a, int32_t i);

#ifdef __cplusplus
}
#endif
#endif
