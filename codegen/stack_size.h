/* stack_size.h - stack of a compiled model from its loops alone: what is said where no compiler has been asked.
 *
 *     bytes = ac_stack_estimate(module);
 *
 * Firmware: an upper bound of what gcc 12 and LLVM 19 need at -O1 to -O3 and -Os, fitted to kernels of int8 and float
 * models on Cortex-M and RV32. Other targets: about what a compiler with optimisation needs. Cost: linear in the
 * instructions. Nothing fails. */
#ifndef AC_CODEGEN_STACK_SIZE_H
#define AC_CODEGEN_STACK_SIZE_H
#include "codegen/module.h"

ac_bytes ac_stack_estimate(const ac_module *m);

#endif
