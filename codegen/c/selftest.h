/* selftest.h - prints a C file that tests a compiled model on the machine where it runs: inputs, the outputs that they
 * must give bit for bit, and a function that compares.
 *
 *     ac_vectors v = {.n = 2, .input = in, .output = out};      in[set * module->n_inputs + i], likewise out
 *     ac_selftest_print(module, &v, "kws.h", "kws.selftest.c", to);
 *
 * The text needs the header of the model and <string.h>; it works with the C and with an object of the same module.
 * Cost: linear in the vectors. Memory: none kept; the vectors belong to the caller. Errors: none. */
#ifndef AC_CODEGEN_C_SELFTEST_H
#define AC_CODEGEN_C_SELFTEST_H
#include "codegen/module.h"

/* Sets of inputs with their outputs: bytes in the format of this machine's arena. */
typedef struct ac_vectors {
    int32_t n;
    const uint8_t **input, **output;
} ac_vectors;

void ac_selftest_print(const ac_module *m, const ac_vectors *v, const char *header, const char *file, ac_sink *to);

/* Parts of it, for other programs around a model (step_test.h): arrays input0.. of all sets; the function put_row of a
 * streamed input, whose user is &set; copies of inputs of `set` to the memory of m; if the target has AMX,
 * REQUEST_AMX(), which requests its registers. */
void ac_selftest_put_inputs(const ac_module *m, const ac_vectors *v, ac_sink *to);
void ac_selftest_put_fill(const ac_module *m, ac_sink *to);
void ac_selftest_put_copies(const ac_module *m, ac_sink *to);
void ac_selftest_put_request(const ac_module *m, ac_sink *to);

#endif
