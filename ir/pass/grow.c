/* grow.c - pass grow: the graph gets what was asked for besides inference. */
#include "ir/pass/passes.h"

/* ac_pass_grow: whoever runs the passes adds nodes, inputs and state (ac_pass_options.grow): gradients, a loss, updates
 * of weights.
 *   before:  input %x: f32[4]   %y = exp %x   output %y
 *   after:   input %x: f32[4]   input %dy: f32[4]   %y = exp %x   %dx = mul %dy %y   output %dx
 * needs: shapes known, operators canonical and channels last, no epilogues, no views.  guarantees: the same; what
 * constants allow is folded, fused and removed by the passes after it. */
int ac_pass_grow(ac_pass *p)
{
    const int32_t before = p->graph->node.n;
    AC_TRY(p->opt->grow(p->opt->with, p->cx, p->graph));
    p->changed = p->graph->node.n - before;
    return AC_OK;
}
