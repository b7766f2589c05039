/* emit.h - stage emit: outputs by their kinds, and writing them.
 *
 *     AC_TRY(ac_emit(&w->made, "c", "kws.c"));        built, among w->out
 *     AC_TRY(ac_write(&w->made));                     all that --emit, -o, --lock, --evidence and --json request
 *     AC_TRY(ac_commit(&w->made));                    all files appear, or none
 *
 * Everything here reads the values of a compilation and adds to its pending outputs. Memory: the context's region.
 * Errors: E0302, E0501, E0502, and those of backends. */
#ifndef AC_DRIVER_EMIT_H
#define AC_DRIVER_EMIT_H
#include "driver/request/work.h"
#include "host/firmware/timed.h"
#include "prove/prove.h"

/* outputs.c */
int ac_emit(const ac_made *a, const char *kind, const char *path);
/* The output of a part, under the part's guard; outputs and diagnostics of the part become the whole's. */
int ac_emit_part(ac_work *whole, ac_work *part, const char *kind, const char *path);
void ac_report_put(const ac_made *a, ac_sink *to);          /* the report as text */
const char *ac_output_stem(ac_ctx *cx, const char *output); /* output without an extension that is one of a kind */
/* A plan of CSV form has one memory: E0502 with several memories of tensors. */
int ac_csv_possible(const ac_made *a);

/* requested.c */
int ac_write(const ac_made *a);
const char *ac_blob_path(const ac_made *a, const char *code); /* of the weights that belong to a file of code */

/* project.c: --emit zephyr, make ...: a folder for a build system. Of one model, or of several in one arena. */
typedef struct ac_project_part {
    const char *stem;                        /* of its files */
    ac_work *work;                           /* its files are emitted; NULL: they are the texts below */
    const ac_sink *code, *header, *selftest; /* code NULL: the part has none */
} ac_project_part;
typedef struct ac_project {
    const char *name;        /* C prefix of the whole */
    const char *made_of;     /* "kws.tflite", "2 models" */
    const ac_module *module; /* of one model, or of the first part */
    bool state;
    const ac_project_part *part;
    int32_t n;
} ac_project;
typedef struct ac_project_file {
    const char *path;
    const ac_sink *text; /* its content; NULL: that of `work` by --emit kind */
    ac_work *work;
    const char *kind;
} ac_project_file;
typedef AC_VEC(ac_project_file) ac_project_content;
bool ac_project_is(const char *kind);
/* The files of the folder, in order. E0501 and E0502 for a module or a folder that the kind does not support. */
int ac_project_list(const ac_made *a, const ac_project *p, const char *kind, const char *folder,
                    ac_project_content *files);

/* outputs.c: the files of the folder become outputs. */
int ac_emit_project(const ac_made *a, const ac_project *p, const char *kind, const char *folder);

/* written.c: --depfile, an output of its own; and all outputs as files, with the list of them */
void ac_depfile_put(const ac_made *a);
int ac_commit(const ac_made *a);
/* The document of --json for a command that failed before it. The report is in it if the plan exceeds its budget or
 * differs from its lock (told); otherwise the diagnostics alone. */
bool ac_written_is_told(const ac_made *a);
int ac_written_json(const ac_made *a);

/* lock.c: --lock and --update-lock. E0602 if the plan is not the locked one. */
int ac_lock_plan(const ac_made *a);

/* proof.c */
int ac_compile_tested(ac_work *w);                         /* stage compile, then --prove, --time and --selftest-cc */
int ac_proof_judge(const ac_made *a, const ac_verdict *v); /* E0702 for wrong claims, E0703 for unproven ones */
int ac_time_of_run(const ac_made *a, ac_timed *t);         /* of --time; errors of host/firmware/timed.h */

int ac_selftest_cc(const ac_made *a, const char **line); /* selftest_cc.c: E0601 if the compiler's code differs */
int ac_evidence(const ac_made *a); /* evidence.c: the folder of --evidence, about the outputs built by now */

#endif
