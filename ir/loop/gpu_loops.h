/* gpu_loops.h - recognises grid, cluster and block loops (gpu.c), which run from 0 to a constant in steps of 1. */
#ifndef AC_IR_LOOP_GPU_LOOPS_H
#define AC_IR_LOOP_GPU_LOOPS_H
#include "ir/loop/loop.h"

static inline bool ac_gpu_is_loop(const ac_loop_fn *fn, ac_x x, ac_mark mark)
{
    return fn->code.item[x].op == AC_L_FOR && fn->code.item[x].aux == (int32_t)mark;
}
/* Iterations of such a loop. */
static inline int64_t ac_gpu_trips(const ac_loop_fn *fn, ac_x loop)
{
    return fn->code.item[fn->code.item[loop].b].k.i;
}

#endif
