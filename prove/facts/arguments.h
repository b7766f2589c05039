/* arguments.h - the bytes that arguments of calls occupy, and which arguments are written. */
#ifndef AC_PROVE_FACTS_ARGUMENTS_H
#define AC_PROVE_FACTS_ARGUMENTS_H
#include "codegen/module.h"

ac_bytes ac_p_arg_bytes(const ac_module *m, int32_t step, int32_t arg);
bool ac_p_arg_written(const ac_module *m, int32_t step, int32_t arg);
bool ac_p_args_overlap(const ac_module *m, int32_t step, int32_t i, int32_t j);
/* True if the call reads and writes a tensor that nothing has written before: the call has to write it first. */
bool ac_p_made_here(const ac_module *m, int32_t step, int32_t arg);

#endif
