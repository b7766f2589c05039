/* measure.h - a compiled model on one of QEMU's boards: instructions, stack and flash.
 *
 *     ac_figures f;
 *     AC_TRY(ac_board_measure(module, &vectors, "c", 0, &f));    or "llvm": the object; wait states of flash
 *     f.insns, f.stack, f.code                                   f.step[i]: of step i; NULL for an object
 *
 * The model becomes C, or an object, with its self-test; the target's gcc builds it with runtime/board, QEMU counts
 * instructions; cycles are those of a walk through the same program (timed.h). C is built twice: the second program
 * counts steps, whose hooks would cost the first some instructions. The files are in a temporary folder meanwhile.
 *
 * Errors: E0303 for tools that are missing (with the packages to install) or fail, E0304 for a run that stops, E0502
 * for a target without a board, E0601 for outputs that are not the evaluator's. Memory: the context's region. */
#ifndef AC_HOST_FIRMWARE_MEASURE_H
#define AC_HOST_FIRMWARE_MEASURE_H
#include "codegen/c/selftest.h"
#include "codegen/module.h"

typedef struct ac_figures {
    int64_t insns;
    int64_t *step;               /* by call of the module */
    int64_t cycles, most_cycles; /* 0: the core has no table, or the walk finds no bound */
    bool estimate;               /* the table is not the manual's */
    ac_bytes stack, code /* with libgcc */, constants;
    const char *machine, *compiler; /* "QEMU's mps2-an386", "arm-none-eabi-gcc 12.2.1 -O2" */
} ac_figures;

int ac_board_measure(ac_module *m, const ac_vectors *v, const char *backend, int32_t wait, ac_figures *out);

#endif
