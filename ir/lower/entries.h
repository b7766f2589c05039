/* entries.h - the functions that ops.def names in its column `loops`: of rows with MAP(f) and with LOOPS(f). For the
 * files that define or call them. */
#ifndef AC_IR_LOWER_ENTRIES_H
#define AC_IR_LOWER_ENTRIES_H
#include "ir/lower/lower.h"

#define MAP(f)    ac_map_fn f;
#define LOOPS(f)  ac_lower_fn f;
#define OP(loops) loops
#include "ir/ops/ops_loops.def"
#undef OP
#undef LOOPS
#undef MAP

/* gpu/cells.c: L->node is a SCAN whose body is c; one kernel for all steps, of one block or a cluster. */
struct ac_cells;
int ac_gpu_cells(ac_lower *L, const struct ac_cells *c);

#endif
