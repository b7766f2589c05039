/* host.h - a compiled job made runnable on this machine: generated C through the host compiler, the loop evaluator, or code that
 * a backend (codegen/backend.h) makes in this process.
 *
 *     ac_host h;
 *     if (ac_host_open(job, "c", &h) == AC_OK) {
 *         memcpy(h.arena + job->module->input[0].offset, x, n);
 *         ac_host_run(&h);
 *     }
 *     ac_host_close(&h);                     also after a failed open
 *
 * "c": the C, its header and the weights (as a blob, never as text) go into a temporary folder that is removed at once;
 * $CC, else cc, compiles them; the result is loaded. Errors: E0303 with the compiler's first lines. */
#ifndef AC_CLI_HOST_H
#define AC_CLI_HOST_H
#include "cli/cli.h"
#include "codegen/backends/find.h"
#include "driver/job.h"

struct arn_threads;

/* Called after each step: step, and the host (arena as the step left it). */
typedef void ac_step_hook(void *user, int32_t step);

typedef struct ac_host {
    arenac_job *job;
    bool eval;
    bool cuda;              /* kernels, in the emulation or on a device */
    uint8_t *arena, *state; /* aligned as the module asks */
    uint8_t *fed;           /* an input that is handed over by rows, whole; NULL: none */
    const void **in;        /* by input: fed, or NULL */
    const uint8_t *weights; /* the blob */
    void *arena_base, *state_base, *weights_base, *fed_base;
    void *library;
    const ac_backend *backend;   /* NULL: c or eval */
    ac_image image;              /* init and run, unless eval */
    struct arn_threads *threads; /* NULL: the model is not cut into parts */
    ac_program **program;        /* eval: one for each function of the module */
    ac_step_hook *hook;
    void *hook_user;
} ac_host;

bool ac_host_is_cuda(const char *backend);
const char *ac_host_target(const ac_cli *cli); /* of `run` and `bench` without -t */
int ac_host_open(arenac_job *job, const char *backend, ac_host *h);
int ac_host_reset(ac_host *h); /* state back to its start; ac_host_open has done it */
int ac_host_run(ac_host *h);
void ac_host_close(ac_host *h);
/* A temporary folder (NULL: E0302), and its removal with all that is written there below. */
const char *ac_host_folder(ac_ctx *cx);
void ac_host_folder_remove(ac_ctx *cx, const char *dir);
/* The files of runtime/ become outputs in dir, written by the next commit. */
void ac_host_add_runtime(arenac_job *job, const char *dir);
/* Writes m.c, m.h and m.bin of a compiled job into dir and makes m.so of them and of `more`, files or flags for the compiler. */
int ac_host_compile(arenac_job *job, const char *dir, const char *const *more, int32_t n_more);
/* Address of an input, output or state tensor. */
uint8_t *ac_host_at(const ac_host *h, const ac_io *io);
/* Runs a program, its output to a file; the exit status, or -1 when it cannot be started. */
int ac_spawn(char *const *argv, const char *output);

#endif
