/* chunk_bytes.h - finds the elements that some iterations of a loop touch.
 *
 *     ac_chunk_bytes(tmp, fn, end, loop, 0, trips / 2, touched);
 *     touched[b].lo .. touched[b].hi                        elements of buffer b
 *
 * A span extends from the first to the last element touched, including any gaps: iterations that take every second
 * column span nearly everything. Accesses at unknown positions span the whole buffer. Cost: O(instructions). */
#ifndef AC_IR_LOWER_NODE_CHUNK_BYTES_H
#define AC_IR_LOWER_NODE_CHUNK_BYTES_H
#include "ir/loop/access/part.h"

/* Iterations from <= i < to of the FOR `loop`. end: by FOR and IF, its END. touched: by buffer. */
void ac_chunk_bytes(ac_region *tmp, const ac_loop_fn *fn, const int32_t *end, ac_x loop, int64_t from, int64_t to,
                    ac_span *touched);

#endif
