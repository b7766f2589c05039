/* grid.h - turns a step into kernels of a GPU.
 *
 * Loops at the top of the function are marked grid, and their iterations run at the same time; one thread runs the code
 * between two of them. Functions that have grid loops are not changed. Memory: `region`. */
#ifndef AC_IR_LOWER_GPU_GRID_H
#define AC_IR_LOWER_GPU_GRID_H
#include "ir/lower/lowered.h"

int ac_lower_grid(ac_ctx *cx, ac_region *region, ac_lowered *low);

#endif
