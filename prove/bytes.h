/* bytes.h - the bytes that arguments of calls take. */
#ifndef AC_PROVE_BYTES_H
#define AC_PROVE_BYTES_H
#include "prove/prove.h"

ac_bytes ac_p_arg_bytes(const ac_module *m, int32_t step, int32_t arg);
bool ac_p_arg_written(const ac_module *m, int32_t step, int32_t arg);
bool ac_p_args_overlap(const ac_module *m, int32_t step, int32_t i, int32_t j);

/* Claims about all calls in order: places, restrict, and what was written last. */
void ac_p_bytes(ac_ctx *cx, const ac_module *m, ac_verdict *v);

#endif
