/* targets.h - the targets code can be printed for. targets.def lists them; ir/lower/target.h defines the fields.
 *
 *     const ac_target *t = ac_target_find("native");         the best row this CPU can run: its name is the row's own
 *
 * Cost: a walk over the table. Memory: constant. Errors: NULL for an unknown name. */
#ifndef AC_CODEGEN_TARGETS_H
#define AC_CODEGEN_TARGETS_H
#include "ir/lower/target.h"

#include <stddef.h>

const ac_target *ac_target_find(const char *name); /* also "native", and triples */
const ac_target *ac_target_at(int32_t i);          /* the i-th row, NULL after the last */
int32_t ac_target_count(void);
bool ac_target_runs_here(const ac_target *t); /* true if this machine can execute the code; false for firmware rows */
/* The missing features, "avx512f,avx512bw", in text (of `size` bytes; AC_TARGET_MISSING are enough) or a constant; "":
 * nothing. */
enum { AC_TARGET_MISSING = 256 };
const char *ac_target_missing(const ac_target *t, char *text, size_t size);

#endif
