/* eval.h - runs loop functions: the reference for all printers, and the way constants are computed.
 *
 *     ac_program *p = ac_eval_compile(cx, cx->region, fn);
 *     void *data[] = {x, y};                                memory of each parameter, in order
 *     int status;
 *     AC_TRY(ac_eval_run(cx, p, data, 2, &status));
 *
 * Flat bytecode over 8-byte registers (bytecode.h); a compiled program can be run many times. *status is 0, or that of
 * the FAIL_IF that ended the run. Every access is checked against its buffer: E0901 when a program reads or writes
 * outside. Memory: the region given; a run allocates its registers in a region of its own. */
#ifndef AC_IR_LOOP_EVAL_EVAL_H
#define AC_IR_LOOP_EVAL_EVAL_H
#include "ir/loop/loop.h"

typedef struct ac_program ac_program;
ac_program *ac_eval_compile(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn); /* NULL: diagnostic */
int ac_eval_run(ac_ctx *cx, const ac_program *p, void *const *data, int32_t n_data, int *status);
int ac_eval(ac_ctx *cx, const ac_loop_fn *fn, void *const *data, int32_t n_data, int *status); /* compile, run, drop */
/* The same for large data: releases the pages of files that it has read. */
int ac_eval_large(ac_ctx *cx, const ac_loop_fn *fn, void *const *data, int32_t n_data, int *status);

#endif
