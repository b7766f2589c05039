/* emit.h - the internal interface of the files that print a whole module.
 *
 *     c.c the interface of the backend
 *     source.c      the .c, top to bottom: functions, constants, init, reset
 *     calls.c       the calls: run, run_row, chunks and phases for a pool of threads
 *     sizes.c       run and places of a program of many sizes
 *     header.c      the .h: the API of docs/generated-c.md
 *     arrays.c      constants as C text, or as a blob pulled in by the assembler
 *     short_names.c names of tensors in comments; firmware only
 *     braces.c      bodies of if and for get braces; firmware only
 *     fit_lines.c   long lines are broken; firmware only
 *     descriptor.c  the descriptor of runtime/arn_model.def, for `run` and `bench`
 *
 * Memory: the context's region. Errors: AC_FAIL if a constant cannot be computed or a function cannot be printed. */
#ifndef AC_CODEGEN_C_EMIT_H
#define AC_CODEGEN_C_EMIT_H
#include "codegen/backend.h"
#include "codegen/c/printer.h"
#include "codegen/constants.h"

typedef struct ac_short_names ac_short_names;

typedef struct ac_emit {
    ac_module *m;
    ac_region *region;
    ac_cfile file;
    ac_sink *to;
    ac_weights weights;
    const char **fn;             /* C name of each function */
    const char **konst;          /* rodata: an expression that points to the constant */
    ac_bytes *offset, total;     /* asm, blob */
    const char *blob_name;       /* NULL: next to the file */
    const ac_short_names *names; /* firmware; NULL: names in comments are only truncated */
} ac_emit;

/* short_names.c. NULL: no names. */
const ac_short_names *ac_emit_short_names(const ac_module *m);
const char *ac_emit_short_name(const ac_emit *e, const char *name); /* as comment text */
const char *ac_emit_short_note(const ac_emit *e, const char *note); /* a text that contains names, possibly in quotes */

/* braces.c, fit_lines.c: `from` with braces around all bodies, with no line over 120 columns. */
void ac_emit_braced(ac_sink *from, ac_sink *to);
void ac_emit_fitted(ac_sink *from, ac_sink *to);

/* arrays.c */
void ac_emit_rodata(ac_emit *e, int32_t i, const char *name); /* the definition; sets e->konst[i] */
void ac_emit_asm(ac_emit *e);                                 /* .incbin and its symbol */
const char *ac_emit_blob_of(const ac_module *m);              /* NAME of the symbol NAME_blob */

/* places.c */
const char *ac_emit_upper(const ac_module *m);                    /* "KWS" */
const char *ac_emit_ram_upper(const ac_module *m, int32_t index); /* "ARENA", "DTCM" */
const char *ac_emit_ram(const ac_emit *e, int32_t index); /* the local pointer to ram[index]: "arena", "mem_dtcm" */
const char *ac_emit_place(const ac_emit *e, ac_bound_arg at, ac_dtype d); /* "(float *)(void *)(arena + 0x40)" */
const char *ac_emit_pointer_to(const ac_emit *e, const char *address, ac_dtype d, bool readonly); /* of a byte's */
const char *ac_emit_shapes(const ac_emit *e, const ac_call *c, bool offsets); /* "x i8 [1,49,10,1] at 0x0100 -> ..." */
const char *ac_emit_step_title(const ac_emit *e, int32_t i);                  /* "3: CONV_2D 'conv1', then RELU" */

/* source.c */
const char *ac_emit_steps(const ac_emit *e, int32_t fn); /* its calls, as lines of a comment: the first with names and
                                                          * shapes, the others by number; NULL: none */
int ac_emit_take_names(ac_emit *e, ac_cnames *names);    /* names of functions and constants, in addition to those
                                                              * of the API */
int ac_emit_reset(ac_emit *e, ac_cnames *names);         /* the function NAME_reset, if there is state */
int ac_emit_init(ac_emit *e);                            /* the function NAME_init */
int ac_emit_check_weights(ac_emit *e);                   /* arrays.c: NAME_check_weights */

/* calls.c */
void ac_emit_parts(ac_emit *e);                         /* tasks of a pool: chunks of steps, steps that run in
                                                         * parallel */
bool ac_emit_has_part(const ac_module *m, int32_t i);   /* true if call i is a separate function, for a pool */
void ac_emit_learning(const ac_module *m, ac_sink *to); /* learning.c: the API of a training step, for the header */
void ac_emit_run(ac_emit *e);
/* The body of a function with parameter m, from the memories that calls begin .. end - 1 touch to its end. */
void ac_emit_calls(ac_emit *e, int32_t begin, int32_t end);
const char *ac_emit_steps_name(const ac_emit *e, const ac_module_part *part); /* the function of its calls, for hosts */

/* runtime/arn_custom.h, one file, inside the tool (cmake/embed.cmake). */
typedef struct ac_text_file {
    const char *name;
    const unsigned char *data;
    size_t n;
} ac_text_file;
extern const ac_text_file ac_custom_types_files[];
extern const int ac_custom_types_count;
/* custom_call.c: takes the names of functions of the user that m calls. E0502: C or the API of m has that name. */
int ac_emit_take_custom(const ac_module *m, ac_cnames *names);
/* Their prototypes and types, for headers; nothing if m calls none. */
void ac_emit_custom(const ac_module *m, ac_sink *to);

/* sizes.c: of a module with sizes. */
void ac_emit_sizes(ac_emit *e); /* run, and the addresses of inputs and outputs */

/* header.c: the common part of the headers of all dialects. */
void ac_emit_header_begin(const ac_module *m, const char *runtime, ac_sink *to); /* runtime: its header, or NULL */
void ac_emit_header_statuses(const ac_module *m, ac_sink *to);
void ac_emit_header_end(ac_sink *to);
void ac_emit_texts(const ac_module *m, ac_sink *to); /* codes of inputs and outputs that are texts */

/* descriptor.c */
void ac_emit_host_types(ac_emit *e);
void ac_emit_host_model(ac_emit *e);
void ac_emit_host_api(ac_emit *e); /* NAME_open, NAME_run_dl, ... on top of runtime/arn_host.h */

/* The files. The .c includes "<header_name>". */
int ac_emit_source(ac_module *m, const char *header_name, const char *blob_name, ac_sink *to);
int ac_emit_header(const ac_module *m, ac_sink *to);

extern const ac_backend ac_backend_c; /* c.c */

#endif
