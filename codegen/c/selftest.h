/* selftest.h - a C file that proves a compiled model on the machine where it runs: inputs, the outputs that they must
 * give bit for bit, and a function that compares.
 *
 *     ac_vectors v = {.n = 2, .input = in, .output = out};      in[set * module->n_inputs + i], likewise out
 *     ac_selftest_print(module, &v, "kws.h", "kws.selftest.c", to);
 *
 * The text needs the header of the model and <string.h>; it goes with the C and with an object of the same module.
 * Cost: linear in the vectors. Memory: none kept; the vectors are the caller's. Errors: none. */
#ifndef AC_CODEGEN_C_SELFTEST_H
#define AC_CODEGEN_C_SELFTEST_H
#include "codegen/module.h"

/* Sets of inputs with the outputs that belong to them: bytes as they lie in the arena of this machine. */
typedef struct ac_vectors {
    int32_t n;
    const uint8_t **input, **output;
} ac_vectors;

void ac_selftest_print(const ac_module *m, const ac_vectors *v, const char *header, const char *file, ac_sink *to);

#endif
