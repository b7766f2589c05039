/* cells.h - a SCAN whose body is a layer of cells (ir/ops/decode/cells.h) as one kernel for all steps, of one block or
 * a cluster; see cells.c. */
#ifndef AC_IR_LOWER_GPU_CELLS_H
#define AC_IR_LOWER_GPU_CELLS_H
#include "ir/lower/lower.h"
#include "ir/ops/decode/cells.h"

int ac_gpu_cells(ac_lower *L, const ac_cells *c);

#endif
