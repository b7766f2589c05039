/* node.h - the entry to lowering: turns one node into loops, and cuts them into chunks.
 *
 *     ac_lowered *low = ac_lower_node(cx, cx->region, n, target, 0, false);
 *     if (!low)
 *         return AC_FAIL;                                    reported
 *     AC_TRY(ac_lower_chunks(cx, cx->region, low, 4, AC_FORK_COST));
 *
 * The row of ops.def names the function that lowers an operator; only this folder includes all families. */
#ifndef AC_IR_LOWER_NODE_NODE_H
#define AC_IR_LOWER_NODE_NODE_H
#include "ir/lower/lowered.h"
#include "ir/lower/target.h"

/* Calls the row's lowering, sets macs, scratch, overwrite; verifies the loops. NULL: diagnostic. */
ac_lowered *ac_lower_node(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                          bool exact);
/* The same with choices made; hint NULL is ac_lower_node. */
ac_lowered *ac_lower_hinted(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                            bool exact, const ac_schedule *hint);

/* A SCAN whose body is c (ir/ops/decode/cells.h), on a GPU. */
struct ac_cells;
ac_lowered *ac_lower_cells(ac_ctx *cx, ac_region *region, const ac_node *n, const struct ac_cells *c,
                           const ac_target *t);

enum {
    AC_FORK_COST = 3000 /* instructions of about a fifth of a nanosecond that fork and join cost */
};
/* chunks.c: cuts the step into `chunks` calls (ac_lowered.chunks) if its loops allow it and the estimated gain is above
 * `pays` instructions; results stay bit-identical. The scratch grows, every chunk has its own. */
int ac_lower_chunks(ac_ctx *cx, ac_region *region, ac_lowered *low, int32_t chunks, double pays);
/* The estimated time of the slowest of that many chunks, or of the whole step if it would not be cut. Changes
 * nothing. */
double ac_lower_slowest(ac_ctx *cx, const ac_lowered *low, int32_t chunks, double pays);

/* promise.c: the results of a node whose operands are constants become lazy ones; its loops run when their bytes are
 * first needed. */
ac_promise_fn ac_lower_promise;

#endif
