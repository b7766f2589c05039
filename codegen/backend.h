/* backend.h - what every printer of a compiled module offers: one constant struct of functions.
 *
 * A backend turns a module (module.h: calls, loops, constants, offsets) into files, and perhaps into code in this
 * process. It prints loops and never looks at an operator. "c" and "cuda" are built in; the others are modules,
 * arenac-NAME.so, that are opened only when they are needed, so that start-up does not pay for them
 * (codegen/backends/find.h). A module exports one function:
 *
 *     const ac_backend *arenac_backend(void);
 *
 * A slot that is marked optional may be NULL or false. docs/add-backend.md adds a backend:
 *
 *     static const ac_emit_kind KINDS[] = {{"js", ".js", NULL, "an ES module"}, {NULL, NULL, NULL, NULL}};
 *     static const ac_backend JS = {.abi = AC_BACKEND_ABI, .name = "js", .kinds = KINDS, .emit = emit};
 *
 * Memory: the context's region; images are the backend's and closed with it. Errors: as each slot says. */
#ifndef AC_CODEGEN_BACKEND_H
#define AC_CODEGEN_BACKEND_H
#include "codegen/module.h"
#include "runtime/arn_rt.h"

enum { AC_BACKEND_ABI = 5 }; /* of this header and of module.h */

/* A kind of output. Those of arenac's own backends are the rows of kinds.def, in ac_emit_kinds; the table of everything
 * that --emit knows takes these rows by including kinds.def too. */
typedef struct ac_emit_kind {
    const char *kind, *ext; /* --emit word and file extension; NULL kind: end of the list */
    const char *backends;   /* names of the backends that print it, between blanks; NULL: the one whose list it is */
    const char *help;       /* what it is, in a line */
} ac_emit_kind;

extern const ac_emit_kind ac_emit_kinds[];

/* What the output refers to: the header, without a folder; the weights of .incbin, NULL: the output's own path and
 * .bin, which the compiler knows wherever it is called */
typedef struct ac_emit_names {
    const char *header, *blob;
} ac_emit_names;

/* A module as code in this process; needs module.host and weights as a blob */
typedef struct ac_image {
    arn_init_fn *init;
    arn_run_fn *part[AC_MAX_PARTS]; /* by module.part */
    void *code;                     /* the backend's own */
} ac_image;

typedef struct ac_backend {
    uint32_t abi;     /* AC_BACKEND_ABI */
    const char *name; /* of --backend */
    /* The instruction set that it is made for: there it goes before others that emit the same kind. ANY: none. */
    ac_isa isa;
    const ac_emit_kind *kinds; /* its list, ac_emit_kinds or its own */
    bool memories;             /* knows several memories for tensors (module.n_ram); optional */
    bool caller_io;            /* knows inputs and outputs in the caller's memory (module.caller_io); optional */
    /* One output. AC_FAIL with a diagnostic: E0502 for what the backend cannot say, E0901 for a broken program. */
    int (*emit)(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to);
    /* Code in this process, and its end. Optional, both: without them the backend only prints. */
    int (*open)(ac_module *m, ac_image *image);
    void (*close)(ac_image *image);
} ac_backend;

/* kinds.c */
const ac_emit_kind *ac_emit_kind_find(const ac_emit_kind *list, const char *kind); /* NULL: not in the list */
const char *ac_backend_ext(const char *kind); /* the extension of a row of kinds.def; NULL: there is none */
bool ac_backend_emits(const ac_backend *b, const char *kind);

#endif
