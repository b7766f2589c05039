/* backend.h - the interface of every printer of a compiled module: one constant struct of functions.
 *
 * A backend turns a module (module.h: calls, loops, constants, offsets) into files, and perhaps into code in this
 * process. It prints loops and never depends on operators. "c" and "cuda" are built in; the others are modules,
 * arenac-NAME.so, that are opened only on demand, so that they do not slow down start-up (codegen/backends/find.h). A
 * module exports one function:
 *
 *     const ac_backend *arenac_backend(void);
 *
 * A slot that is marked optional may be NULL or false. docs/add-backend.md adds a backend:
 *
 *     static const ac_emit_kind KINDS[] = {{"js", ".js", NULL, "an ES module"}, {NULL, NULL, NULL, NULL}};
 *     static const ac_backend JS = {.abi = AC_BACKEND_ABI, .name = "js", .kinds = KINDS, .emit = emit};
 *
 * Memory: the context's region; images belong to the backend and are closed with it. Errors: see each slot. */
#ifndef AC_CODEGEN_BACKEND_H
#define AC_CODEGEN_BACKEND_H
#include "codegen/module.h"
#include "runtime/arn_rt.h"

enum { AC_BACKEND_ABI = 6 }; /* of this header and of module.h */

/* A kind of output. Those of arenac's own backends are the rows of kinds.def, in ac_emit_kinds; the table of all kinds
 * of --emit also includes kinds.def. */
typedef struct ac_emit_kind {
    const char *kind, *ext; /* --emit word and file extension; NULL kind: end of the list */
    const char *backends;   /* names of the backends that print it, between blanks; NULL: the backend with this list */
    const char *help;       /* description, one line */
} ac_emit_kind;

extern const ac_emit_kind ac_emit_kinds[];

/* Files that the output refers to: the header, without a folder; the weights of .incbin, NULL: the path of the output
 * and .bin, which works from every working directory of the compiler */
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
    /* The instruction set that it is made for. There it has priority over others that emit the same kind. ANY: none. */
    ac_isa isa;
    const ac_emit_kind *kinds; /* its list, ac_emit_kinds or its own */
    bool memories;             /* supports several memories for tensors (module.n_ram); optional */
    bool caller_io;            /* supports inputs and outputs in the caller's memory (module.caller_io); optional */
    /* One output. AC_FAIL with a diagnostic: E0502 for unsupported features, E0901 for a broken program. */
    int (*emit)(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to);
    /* Code in this process, and its end. Both are optional: without them the backend only prints. */
    int (*open)(ac_module *m, ac_image *image);
    void (*close)(ac_image *image);
} ac_backend;

/* kinds.c */
const ac_emit_kind *ac_emit_kind_find(const ac_emit_kind *list, const char *kind); /* NULL: not in the list */
const char *ac_backend_ext(const char *kind); /* the extension of a row of kinds.def; NULL: unknown kind */
bool ac_backend_emits(const ac_backend *b, const char *kind);

#endif
