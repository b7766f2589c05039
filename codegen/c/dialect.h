/* dialect.h - the differences between C and CUDA, as one value: both are dialects of one printer.
 *
 * function.c, the operators and the helpers print loop functions; where dialects differ, they call the file's dialect
 * (ac_cfile.dialect). A dialect is a constant struct: words and functions. A slot that is marked optional may be NULL:
 * then the printer's own form is printed.
 *
 *     ac_dialect_c      dialect.c                    functions of a .c file; vectors are GNU C's, with x86 intrinsics
 *     ac_dialect_cuda   codegen/cuda/kernel_text.c   kernels of a .cu file
 *
 * Memory: the file's region. Errors: as printer.h. */
#ifndef AC_CODEGEN_C_DIALECT_H
#define AC_CODEGEN_C_DIALECT_H
#include "codegen/c/printer.h"

typedef struct ac_dialect {
    const char *restrict_word; /* of a parameter that overlaps no other */
    const char *unroll;        /* the line before a loop marked unroll; NULL: none */
    const char *status;        /* the int32_t * parameter for the status of a FAIL_IF; NULL: the status is returned */
    bool only_used;            /* unused buffers are omitted from the parameters */

    /* The same program in a form whose every instruction can be printed. NULL: diagnostic. */
    const ac_loop_fn *(*form)(ac_cfile *F, const ac_loop_fn *fn);
    /* Corrects the lists of values that are live and that are printed at their use. Optional. */
    void (*review)(const ac_loop_fn *fn, ac_cuse *use, ac_region *r);

    const char *(*head)(const ac_cfn *f); /* all before the parameters: "static void kws_relu_2(" */
    const char *(*local)(const ac_cfn *f, const ac_buf *b, const char *name); /* the declaration of a LOCAL buffer */
    const char *(*vector_type)(ac_cfile *F, ac_dtype d, int32_t lanes);       /* of a local that holds such a value */
    ac_cexpr (*special)(ac_cfile *F, double v, bool wide);                    /* infinity or NaN; wide: as f64 */

    /* An instruction that the dialect prints differently. .text NULL: not different. Optional. */
    ac_cexpr (*value)(ac_cfn *f, ac_x x);
    const char *(*statement)(ac_cfn *f, ac_x x); /* STORE, MMA; NULL: it has none. Optional. */
    /* Opens a loop in its own way, indents, and sets the loop's value: true. close_loop: after its brace. Optional. */
    bool (*open_loop)(ac_cfn *f, ac_x x);
    void (*close_loop)(ac_cfn *f, ac_x x);

    const char *(*native)(const char *helper); /* the dialect's function that replaces a helper; NULL: none.
                                                * Optional. */
    void (*put_helper)(ac_cfile *F, const char *name, const char *text); /* a row of scalar_helpers.c, into the file */
} ac_dialect;

extern const ac_dialect ac_dialect_c;

/* dialect.c: true if the macro NAME_NOINLINE keeps the function from being inlined. Firmware only. */
bool ac_c_stays_apart(const ac_target *t, const ac_loop_fn *fn);
/* function.c: the form for plain scalars and vectors of the target's registers. */
const ac_loop_fn *ac_c_form(ac_cfile *F, const ac_loop_fn *fn);

#endif
