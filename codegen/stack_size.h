/* stack_size.h - estimates the stack of a compiled model from its loops, for reports without a compiler run.
 *
 *     bytes = ac_stack_estimate(module, optimised);
 *
 * Firmware: above the stack of gcc and clang for int8, int16 and float models, plain and in stripes, on Cortex-M and
 * RV32: at all levels that optimise 1.1 to 4 times as much, most often 1.5 times; else of code that is not optimised.
 * Other targets: about the stack of an optimising compiler. Cost: linear in the instructions. Nothing fails. */
#ifndef AC_CODEGEN_STACK_SIZE_H
#define AC_CODEGEN_STACK_SIZE_H
#include "codegen/module.h"

ac_bytes ac_stack_estimate(const ac_module *m, bool optimised);

#endif
