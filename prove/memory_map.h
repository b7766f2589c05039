/* memory_map.h - claims about the calls in order: places of arguments, restrict, and the last writer of every byte. */
#ifndef AC_PROVE_MEMORY_MAP_H
#define AC_PROVE_MEMORY_MAP_H
#include "prove/facts/verdict.h"

void ac_p_claim_memory(ac_ctx *cx, const ac_module *m, ac_verdict *v);

#endif
