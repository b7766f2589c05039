/* traffic.h - estimates how many bytes a function moves; the planner places the tensors with the most traffic in the
 * fastest memories.
 *
 * Counted per buffer from the loads and stores and the iterations of the loops around them; a loop from lo to
 * min(lo + c, end), a part of a longer one, has all of its c, any other with bounds that depend on values
 * AC_UNKNOWN_TRIPS iterations, and both branches of a condition count: an estimate.
 * Cost: O(instructions). */
#ifndef AC_IR_LOOP_ACCESS_TRAFFIC_H
#define AC_IR_LOOP_ACCESS_TRAFFIC_H
#include "ir/loop/loop.h"

enum { AC_UNKNOWN_TRIPS = 3 };

/* Iterations of the FOR at `loop`; *known is false if its bounds are not constant, and then the result is an
 * estimate. */
int64_t ac_loop_trips(const ac_loop_fn *fn, ac_x loop, bool *known);

/* Adds to bytes[b] what one call reads from and writes to buffer b; at most INT64_MAX / 4 for each. */
void ac_loop_traffic(const ac_loop_fn *fn, int64_t *bytes);

#endif
