/* session.h - a compiled module made runnable on this machine: generated C through the host compiler, the loop
 * evaluator, or code that a backend (codegen/backend.h) makes in this process.
 *
 *     ac_session s = {0};
 *     if (ac_session_open(&s, module, "kws.tflite", "c") == AC_OK) {
 *         memcpy(ac_session_at(&s, &module->input[0]), x, n);
 *         ac_session_run(&s);
 *     }
 *     ac_session_close(&s);                     also after a failed open, and of a zeroed one
 *
 * The module was bound with weights as a blob and a descriptor (module.host). Memory: arenas and weights are the
 * session's own, everything else the context's region. Errors: E0303 the host compiler, E0304 a run that stopped,
 * E0402, E0502 a backend that is not there, E0504 code that this machine cannot run. */
#ifndef AC_HOST_SESSION_H
#define AC_HOST_SESSION_H
#include "codegen/backend.h"
#include "host/custom.h"

struct arn_threads;
struct ac_program;

/* Called after each step: its number; the arena is as the step left it. */
typedef void ac_step_hook(void *user, int32_t step);

typedef struct ac_session {
    ac_module *module;
    const char *file;       /* the model's, for messages */
    bool eval;              /* the evaluator */
    bool cuda;              /* kernels, in the emulation or on a device */
    uint8_t *arena, *state; /* aligned as the module needs */
    uint8_t *streamed;      /* an input that is streamed by rows, whole; NULL: none */
    const void **in;        /* by input: streamed, or NULL */
    const uint8_t *weights; /* the blob */
    void *arena_base, *state_base, *weights_base, *streamed_base;
    void *library;
    ac_custom_calls custom;      /* functions of the user that the module calls */
    const ac_backend *backend;   /* NULL: c or eval */
    ac_image image;              /* init and run, unless eval */
    struct arn_threads *threads; /* NULL: steps are not cut into tasks */
    struct ac_program **program; /* eval: one for each function of the module */
    ac_step_hook *hook;
    void *hook_user;
} ac_session;

bool ac_session_is_cuda(const char *backend);
const char *ac_session_target(const char *backend);    /* its default target */
int ac_session_check(ac_ctx *cx, const char *backend); /* is there such a backend? known before a model is compiled */
int ac_session_open(ac_session *s, ac_module *m, const char *file, const char *backend);
int ac_session_run(ac_session *s);                /* all parts of the program, one after the other */
int ac_session_part(ac_session *s, int32_t part); /* module.part[part] alone */
/* The evaluator: one call, call[step], whose status is that of its function. */
int ac_session_step(ac_session *s, int32_t step, int *status);
int ac_session_reset(ac_session *s); /* state as it is before the first run */
void ac_session_close(ac_session *s);
uint8_t *ac_session_at(const ac_session *s, const ac_io *io); /* address of an input, output or state tensor */

#endif
