/* extend.h - changes a model's graph to what a request wants besides inference (driver/request/extension.h), in two
 * places of the passes:
 *
 *     AC_TRY(ac_extend_file(a, e));       before the passes: weights become state, or get other values
 *     AC_TRY(ac_extend_grow(a, e));       in pass grow: gradients, a loss, updates
 *
 * Errors: those of ir/train and ir/grad; E0304 for a gradient that does not fit. Memory: the context's region. */
#ifndef AC_DRIVER_EXTEND_H
#define AC_DRIVER_EXTEND_H
#include "driver/request/made.h"

int ac_extend_file(const ac_made *a, const ac_extension *e);
bool ac_extend_grows(const ac_extension *e); /* ac_extend_grow has work to do */
int ac_extend_grow(const ac_made *a, const ac_extension *e);

#endif
