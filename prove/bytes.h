/* bytes.h - the bytes that arguments of calls take. */
#ifndef AC_PROVE_BYTES_H
#define AC_PROVE_BYTES_H
#include "prove/prove.h"

ac_bytes ac_p_arg_bytes(const ac_module *m, int32_t step, int32_t arg);
bool ac_p_arg_written(const ac_module *m, int32_t step, int32_t arg);
bool ac_p_args_overlap(const ac_module *m, int32_t step, int32_t i, int32_t j);
/* Does the call both write and read a tensor of which nothing was there before it? Then it has to write it first. */
bool ac_p_made_here(const ac_module *m, int32_t step, int32_t arg);

/* Claims about all calls in order: places, restrict, and what was written last. */
void ac_p_bytes(ac_ctx *cx, const ac_module *m, ac_verdict *v);

#endif
