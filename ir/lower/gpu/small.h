/* small.h - a small product of bytes by tensor cores: few blocks, no steps. */
#ifndef AC_IR_LOWER_GPU_SMALL_H
#define AC_IR_LOWER_GPU_SMALL_H
#include "ir/lower/gpu/tile.h"

/* After its types are chosen; true: ac_gpu_small_product emits it. */
bool ac_gpu_small_fits(ac_gpu_gemm *g);
int ac_gpu_small_product(ac_gpu_gemm *g);

#endif
