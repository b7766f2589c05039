/* common.h - finds the code of a step that every chunk runs; the rest, tails for example, is run by chunk 0 alone.
 *
 *     const int32_t *run = ac_common_runs(tmp, &cut);
 *     if (!run[x]) ...        every chunk runs instruction x
 *     if (run[x] == run[y])   x and y may be copied into one branch of chunk 0, at the end of their run
 *
 * Every chunk runs the split loops, the blocks around them, and the code that computes their operands, scratch and
 * variables. An element of a result that is stored elsewhere is thus computed by one chunk, which also is the only one
 * that reads the operands for it: so the result may overwrite an operand. */
#ifndef AC_IR_LOWER_NODE_COMMON_H
#define AC_IR_LOWER_NODE_COMMON_H
#include "ir/lower/node/cut.h"

/* By instruction: 0: every chunk runs it, else the number of its run. A run is code of one block that is copied
 * together, after code of all chunks that is next to it; no value of a run is used in another. The array is from
 * `tmp`. */
const int32_t *ac_common_runs(ac_region *tmp, const ac_cut *cut);
/* True if the runs before x, an instruction that every chunk runs, end there. */
bool ac_common_ends_run(const ac_cut *cut, ac_x x);

#endif
