/* banks.h - counts how often shared memory of a GPU is passed over, and how often without conflicts of banks.
 *
 * Shared memory has 32 banks of four bytes. A warp's access takes a pass for each different word of one bank: lanes
 * that touch the same word share it. An access of 8 bytes a lane takes two passes at least (half a warp each), one of
 * 16 bytes four.
 *
 * Indices are computed for the lanes of the first warp, in the first iteration of each loop around the access; lanes
 * whose branch is not taken leave it out. An index that depends on a loaded value counts without conflicts. Trips of
 * loops with open bounds: ac_loop_trips. Cost: O(instructions * 32). */
#ifndef AC_IR_LOOP_ACCESS_BANKS_H
#define AC_IR_LOOP_ACCESS_BANKS_H
#include "ir/loop/loop.h"

typedef struct ac_banks {
    double passes; /* of all warps of all blocks of one launch */
    double least;  /* without conflicts */
} ac_banks;

/* Of a function with one grid loop. Memory: `region`, until it returns. */
ac_banks ac_loop_banks(ac_region *region, const ac_loop_fn *fn);

#endif
