/* merge_steps.h - one launch for several small steps. */
#ifndef AC_CODEGEN_JOIN_MERGE_STEPS_H
#define AC_CODEGEN_JOIN_MERGE_STEPS_H
#include "codegen/module.h"

/* After ac_module_bind, before functions are merged. For GPUs from compute capability 9.0 on, unless steps call
 * hooks. */
void ac_module_merge_steps(ac_module *m);

#endif
