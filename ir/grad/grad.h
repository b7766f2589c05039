/* grad.h - gradients are graphs: the nodes that compute them are added to the graph whose gradients they are.
 *
 *     ac_tensor *loss, *one, *w[2], *dw[2];
 *     AC_TRY(ac_grad(cx, g, &loss, &one, 1, w, 2, dw));        dw[i]: gradient of one * loss by w[i]; NULL: no path
 *
 * ac_grad adds the gradients of sum over j of sum(cotangent[j] * out[j]) by each wrt[i]: inputs, state, constants or
 * results; float tensors all. cotangent[j] has the shape and type of out[j] (or one that broadcasts to it); NULL:
 * out[j] does not count. Each operator's share is a function named in the last column of ir/ops/ops.def; nothing is
 * made that reaches no wanted tensor. What several readers send back is added in the order in which it is made, from
 * the last node of the graph to the first, so the result is the same for every run. Slices of one tensor are joined,
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

/* keep.c: nodes from number n_model on are gradients, of which grad[] (NULL: none) are wanted. What they read of the
 * model before them lives until they do; this makes it as few bytes as cheap operators can bring the rest back from:
 * those that work element by element or move elements are computed again, called `NODE again`, before the first
 * gradient that reads them. Values keep their bits. Cost: a minimum cut of the model's graph. Nothing fails. */
void ac_grad_keep(ac_graph *g, int32_t n_model, ac_tensor *const *grad, int32_t n_grad);

#endif
