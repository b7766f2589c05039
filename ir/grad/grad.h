/* grad.h - gradients are graphs: the nodes that compute them are added to the graph whose gradients they are.
 *
 *     ac_tensor *loss, *one, *w[2], *dw[2];
 *     AC_TRY(ac_grad(cx, g, &loss, &one, 1, w, 2, dw));        dw[i]: gradient of one * loss by w[i]; NULL: no path
 *
 * ac_grad adds the gradients of sum over j of sum(cotangent[j] * out[j]) by each wrt[i]: inputs, state, constants or
 * results; float tensors all. cotangent[j] has the shape and type of out[j] (or one that broadcasts to it); NULL:
 * out[j] does not count. Each operator's share is a function named in the last column of ir/ops/ops.def; no nodes
 * are added that reach no wanted tensor. The shares of several readers are added in the order of their nodes, from the
 * last one to the first, so the result is deterministic. Slices of one tensor are joined,
 * not padded and added.
 *
 * The graph: shapes known, no epilogues, no views (after pass pad, before fold). Only nodes are appended; they are
 * called `grad of NODE` and have NODE's place. Wanted tensors must not be folded into others before: a trained weight
 * is state, or the caller keeps passes from it.
 *
 * Errors: E0109 for each node on a path whose operator has no gradient, all at once; then nothing was added. Memory:
 * the context's region. Cost: linear in the nodes. Source: Linnainmaa 1970; operators' formulas are in their files. */
#ifndef AC_IR_GRAD_GRAD_H
#define AC_IR_GRAD_GRAD_H
#include "ir/graph/graph.h"

int ac_grad(ac_ctx *cx, ac_graph *g, ac_tensor *const *out, ac_tensor *const *cotangent, int32_t n_out,
            ac_tensor *const *wrt, int32_t n_wrt, ac_tensor **grad);

/* keep.c: nodes from number n_model on are gradients, and grad[] (entries may be NULL) the wanted ones. Results of the
 * model that they read stay alive until then; this minimises their bytes: results of element-wise operators and moves
 * are recomputed, by nodes called `NODE again`, before the first gradient that reads them. Values are bit-identical.
 * Cost: a minimum cut of the model's graph. It cannot fail. */
void ac_grad_keep(ac_graph *g, int32_t n_model, ac_tensor *const *grad, int32_t n_grad);

#endif
