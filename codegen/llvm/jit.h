/* jit.h - runs code in this process. l_jit_open takes ownership of the object; call l_jit_close even after a failed
 * open. Errors: E0901. */
#ifndef AC_CODEGEN_LLVM_JIT_H
#define AC_CODEGEN_LLVM_JIT_H
#include "codegen/backend.h"

#include <llvm-c/Core.h>

/* The function with the calls of a part in a host build, without the module's name. */
const char *l_steps_name(ac_region *r, const ac_module *m, int32_t part);
int l_jit_open(ac_ctx *cx, const ac_module *m, LLVMMemoryBufferRef object, ac_image *image);
void l_jit_close(ac_image *image);

#endif
