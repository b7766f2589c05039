/* js.h - a backend in two files, small enough to read in one sitting: the example of docs/add-backend.md.
 *
 *     js_fn.c        a loop function as a JavaScript function over typed arrays
 *     js_backend.c   the module: weights, the calls in order, exports; the interface of codegen/backend.h
 *
 * Memory: the context's region. Errors: E0502 for unsupported targets and options. */
#ifndef AC_TESTS_JS_H
#define AC_TESTS_JS_H
#include "base/sink.h"
#include "ir/loop/loop.h"

int js_print_fn(ac_ctx *cx, const ac_loop_fn *fn, const char *name, ac_sink *to);
const char *js_array(ac_dtype d); /* "Int8Array" */

#endif
