/* step_test.h - prints a C file that tests the steps of a compiled model one by one: tables of operands, of how their
 * values are chosen, and of the hashes of the expected results, for the program of runtime/steps.
 *
 *     ac_step_tests t = {.whole = vectors, .sets = 64, .operand = o, .first = first, ...};
 *     ac_step_hooks_print(module, "m.c", to);            the file to compile instead of m.c: its text, with hooks
 *     ac_step_test_print(module, &t, "m.h", "m.bin", to);
 *
 * The first whole.n sets are runs of the whole model: every step is compared. In the sets after them a step whose kind
 * is not STEP_KEEP gets generated operands and is compared; the others run on the current contents.
 *
 * Cost: linear in the tables. Memory: none kept. Errors: none. */
#ifndef AC_CODEGEN_C_STEP_TEST_H
#define AC_CODEGEN_C_STEP_TEST_H
#include "codegen/c/selftest.h"
#include "runtime/steps/steps.h"

typedef struct ac_step_tests {
    ac_vectors whole;      /* inputs of the model; outputs are ignored */
    int32_t sets;          /* whole.n of them are runs of the whole model */
    step_operand *operand; /* of all calls, one call after the other; bits: of this machine */
    int32_t *first;        /* of each call, its first operand; and one more */
    step_range *range;     /* of all calls: sorted, disjoint bytes that are dead before it, or not its to write */
    int32_t *first_range;  /* of each call, and one more */
    uint8_t **kind;        /* [set][call] */
    uint32_t **hash;       /* [set][operand] */
    int32_t *status;       /* [set]: the result of run */
} ac_step_tests;

void ac_step_hooks_print(const ac_module *m, const char *source, ac_sink *to);
void ac_step_test_print(const ac_module *m, const ac_step_tests *t, const char *header, const char *blob, ac_sink *to);

#endif
