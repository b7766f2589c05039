/* grid.h - a step becomes kernels of a GPU.
 *
 * Loops at the top of the function are marked grid, their iterations run at the same time; what comes between two of
 * them is run by one thread. Functions that have grid loops are left as they are. Memory: `region`. */
#ifndef AC_IR_LOWER_GPU_GRID_H
#define AC_IR_LOWER_GPU_GRID_H
#include "ir/lower/lowered.h"

int ac_lower_grid(ac_ctx *cx, ac_region *region, ac_lowered *low);

#endif
