/* find.h - a backend by its name, or by what it emits. This folder is the only place that knows which are built in.
 *
 *     const ac_backend *b = ac_backend_for(cx, "o", target);          NULL: E0502 with what to install
 *     AC_TRY(b->emit(m, "o", &names, &sink));
 *
 * Modules, arenac-NAME.so, are looked for as base/plugin.h says.
 *
 * Cost: nothing for those built in, opening a shared library for a module. Memory: modules stay open until the process
 * ends, because code made by them may still run. Errors: E0502. */
#ifndef AC_CODEGEN_BACKENDS_FIND_H
#define AC_CODEGEN_BACKENDS_FIND_H
#include "codegen/backend.h"

const ac_backend *ac_backend_find(ac_ctx *cx, const char *name);                         /* by its name */
const ac_backend *ac_backend_for(ac_ctx *cx, const char *kind, const ac_target *target); /* by a kind it emits */

#endif
