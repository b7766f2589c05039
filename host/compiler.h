/* compiler.h - compiles a module, its C or its kernels, to a shared library of the host with the host compiler.
 *
 *     const char *dir = ac_build_folder(cx);                      NULL: E0302
 *     if (ac_build_c(m, dir, NULL, 0) == AC_OK)                   dir/m.so
 *         ...
 *     ac_folder_end(dir);                                         always
 *
 * The C, its header and the weights (as a blob, never as text) go into a temporary folder; $CC, else cc, compiles them.
 * Errors: E0303 with the compiler's first lines, E0502 without a GPU. Memory: the context's region. */
#ifndef AC_HOST_COMPILER_H
#define AC_HOST_COMPILER_H
#include "base/interrupt.h"
#include "codegen/backend.h"
#include "codegen/module.h"

const char *ac_build_folder(ac_ctx *cx);
/* m.h, and m.bin with its folder: assemblers look in the working folder first, which may have another m.bin. */
ac_emit_names ac_build_names(ac_ctx *cx, const char *dir);
int ac_build_runtime(ac_ctx *cx, const char *dir); /* the files of runtime/ into dir */
/* m.c, m.h and m.bin in dir, and m.so of them and of `more`, files or flags for the compiler. */
int ac_build_c(ac_module *m, const char *dir, const char *const *more, int32_t n_more);
/* Compiles C that is not a module: writes text.c to dir, and makes text.so from it, with one more flag. */
int ac_build_text(ac_ctx *cx, const char *dir, const char *c, const char *flag);
/* The kernels and what runs them: for "cuda" the driver, else the emulation, with "cuda-race" a look at every
 * access. */
int ac_build_kernels(ac_module *m, const char *dir, const char *backend);

#endif
