/* backend.h - what every printer of a compiled module offers: one constant struct of functions.
 *
 * A backend turns a module (module.h: calls, loops, constants, offsets) into files, and perhaps into code in this
 * process. It prints loops and never asks for an operator. "c" and "cuda" are built in; the others are modules, arenac-NAME.so,
 * that are opened only when they are asked for (so start-up does not pay for them), looked for in $ARENAC_BACKENDS,
 * beside the executable, and in the install prefix. A module exports one function:
 *
 *     const ac_backend *arenac_backend(void);
 *
 *     const ac_backend *b = ac_backend_for(cx, "o");          NULL: E0502 with what to install
 *     AC_TRY(b->emit(m, "o", &names, &sink));
 *
 * docs/add-backend.md adds one. Memory: the context's region; images are the backend's and closed with it. */
#ifndef AC_CODEGEN_BACKEND_H
#define AC_CODEGEN_BACKEND_H
#include "codegen/module.h"
#include "runtime/arn_rt.h"

enum { AC_BACKEND_ABI = 2 }; /* of this header and of module.h */

typedef struct ac_emit_kind {
    const char *kind, *ext; /* --emit word and file extension; NULL kind: end of the list */
} ac_emit_kind;

/* What the output refers to: file names without folders */
typedef struct ac_emit_names {
    const char *header, *blob;
} ac_emit_names;

/* A module as code in this process; needs module.host and weights as a blob */
typedef struct ac_image {
    arn_init_fn *init;
    arn_run_fn *run;
    void *code; /* the backend's own */
} ac_image;

typedef struct ac_backend {
    uint32_t abi;     /* AC_BACKEND_ABI */
    const char *name; /* of --backend */
    const ac_emit_kind *kinds;
    /* One output. AC_FAIL with a diagnostic: E0502 for what the backend cannot say, E0901 for a broken program. */
    int (*emit)(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to);
    int (*open)(ac_module *m, ac_image *image); /* NULL: this backend only prints */
    void (*close)(ac_image *image);
} ac_backend;

extern const ac_backend ac_backend_cuda; /* codegen/cuda: built in */

const ac_backend *ac_backend_find(ac_ctx *cx, const char *name); /* by its name; NULL: E0502 */
const ac_backend *ac_backend_for(ac_ctx *cx, const char *kind);  /* by a kind it emits; NULL: E0502 */
/* The extension of a kind that a backend known by name emits, without opening anything; NULL: none of those. */
const char *ac_backend_ext(const char *kind);

#endif
