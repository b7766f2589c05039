/* arenac.h - the compiler as a library: a model in, a plan and code out. The command line uses only this header;
 * driver/stage/stages.c shows the stages on one page.
 *
 *     arenac *a = arenac_open();                                   NULL: no memory
 *     const char *model[] = {"kws.tflite"};
 *     arenac_set(a, "target", "cortex-m4");                        options of the command line
 *     if (arenac_read(a, model, 1) == 0 && arenac_compile(a) == 0 && arenac_emit(a, "c", "kws.c") == 0)
 *         arenac_commit(a);                                        all files are written, or none
 *     arenac_print_diagnostics(a, stderr, false);
 *     int status = arenac_exit(a);                                 the exit status of the command line
 *     arenac_close(a);
 *
 * Stages: read -> check -> plan -> compile -> emit, commit. A stage first runs the stages before it that have not run;
 * no stage runs twice. One arenac is one compilation: set options before the first stage, and open a second arenac for
 * a second model.
 *
 * Errors: a function that returns int returns 0, or -1 after recording diagnostics; so does running out of memory.
 * Output: only functions with a FILE print. An output named "-" is standard output, written by arenac_commit.
 * Ownership: paths and values are copied; returned pointers are valid until arenac_close. Two arenacs share nothing and
 * may be used in two threads. Signals: files are mapped, so a file that another process truncates while it is read
 * raises SIGBUS, which the program has to handle. Locale: texts are read and written as in the C locale, also after
 * setlocale. */
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
    const char *verbs;    /* letters of its verbs, '!' after a letter: in the short help of that verb; "*": all */
    const char *argument; /* NULL: none; "a|b": one of these words; "[..]": may be left out */
    const char *group;    /* heading in help: "Memory plan" */
    const char *help;     /* one line */
} arenac_option;
const arenac_option *arenac_option_at(int32_t i); /* NULL after the last one */
/* The n named values of option i: words, targets, planners, passes ...; NULL: it has none. */
const char *const *arenac_option_values(arenac *a, int32_t i, int32_t *n);

/* A kind of output for the option emit: a row of the tables of outputs. */
typedef struct arenac_kind {
    const char *name;      /* "svg" */
    const char *extension; /* ".svg"; "": the output names its files */
    const char *help;
} arenac_kind;
const arenac_kind *arenac_kind_at(int32_t i); /* NULL after the last one */

/* arenac_set(a, "stripe", "auto"). value: NULL for an option without an argument. Repeatable options accumulate. */
int arenac_set(arenac *a, const char *option, const char *value);

/* ------------------------------------------------------------------ the stages */

/* path: the model ("-": standard input), followed by the file with its weights if the format has one; with option
 * "share" several models. A CSV file of intervals is a packing problem, for arenac_plan only. */
int arenac_read(arenac *a, const char *const *path, int32_t n);
int arenac_check(arenac *a);   /* shapes and loops of every operator; lists every problem */
int arenac_plan(arenac *a);    /* the memory plan, checked; -1 with a plan if it exceeds the budget */
int arenac_compile(arenac *a); /* the plan, and calls with its offsets */
bool arenac_has_plan(const arenac *a);

/* Adds an output to a path or "-": a kind of arenac_kind_at, or of a plug-in backend. */
int arenac_emit(arenac *a, const char *kind, const char *path);
int arenac_write(arenac *a);  /* outputs by options emit, output, lock, json; the report if "-" is free */
int arenac_report(arenac *a); /* the report as text, to "-"; more with option verbose */
int arenac_commit(arenac *a); /* writes all outputs */
/* Prints the outcome as one JSON document to "-", unless an output has been written there: the whole report if the plan
 * exceeds its budget or differs from its lock, otherwise only the diagnostics. Drops outputs that are not committed. */
int arenac_print_json(arenac *a);

/* The path of file i that was read, or of output i that is not committed; NULL after the last one.
 * Valid until arenac_close. */
const char *arenac_read_path(const arenac *a, int32_t i);
const char *arenac_output_path(const arenac *a, int32_t i);

/* The arena and its lower bound, in bytes; -1: no plan. */
int64_t arenac_arena_bytes(const arenac *a);
int64_t arenac_bound_bytes(const arenac *a);

/* ------------------------------------------------------------------ running here */

/* After arenac_read: compiles the model and makes it runnable on this machine (option backend). Inputs and outputs are
 * in the model's memory and layout: dense, row-major, little-endian. A run may overwrite inputs, and keeps state. */
int arenac_load(arenac *a);
void *arenac_input(arenac *a, int32_t i, int64_t *bytes); /* NULL: i is past the last input */
const void *arenac_output(arenac *a, int32_t i, int64_t *bytes);
int arenac_run(arenac *a); /* once */

/* ------------------------------------------------------------------ verbs */

/* Each runs a verb of the command line with its paths and options, and leaves outputs for arenac_commit. */
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
int arenac_verb_fit(arenac *a, const char *const *path, int32_t n);
int arenac_verb_convert(arenac *a, const char *const *path, int32_t n);
int arenac_verb_quantize(arenac *a, const char *const *path, int32_t n);
int arenac_verb_targets(arenac *a, const char *const *path, int32_t n);
int arenac_verb_ops(arenac *a, const char *const *name, int32_t n);
int arenac_verb_explain(arenac *a, const char *const *code, int32_t n);

/* ------------------------------------------------------------------ progress */

/* The present work. Another thread may call arenac_progress_now at any time until arenac_close. */
typedef struct arenac_progress {
    const char *what;       /* "lowering" */
    int32_t done, total;    /* total 0: unknown */
    const char *value_name; /* "loss"; NULL: no value */
    double value;
} arenac_progress;
bool arenac_progress_now(const arenac *a, arenac_progress *to); /* false: not started */

/* Adds a file that options were read from to the rule of --depfile. The path is copied. */
int arenac_depends(arenac *a, const char *path);

/* Records an error of the caller's command line (E0501) at a place, like those of arenac_set: it is printed, counted
 * and part of the JSON. line 0: not in a file. Returns the exit status. */
int arenac_usage(arenac *a, const char *file, int line, const char *text);
int arenac_unreadable(arenac *a, const char *file); /* a file of options is unreadable (E0301) */

/* ------------------------------------------------------------------ diagnostics */

void arenac_print_diagnostics(const arenac *a, FILE *to, bool color);
int arenac_exit(const arenac *a);
int32_t arenac_errors(const arenac *a);
int32_t arenac_warnings(const arenac *a);

/* The time of graph pass i; NULL after the last one. */
typedef struct arenac_pass {
    const char *name;
    double ms;
    int32_t changed; /* number of changes */
} arenac_pass;
const arenac_pass *arenac_pass_at(const arenac *a, int32_t i);

#ifdef __cplusplus
}
#endif
#endif
