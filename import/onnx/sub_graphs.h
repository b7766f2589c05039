/* sub_graphs.h - for adapters of operators that run graphs (flow_nodes.c, loop_nodes.c): a graph of the file as a
 * subgraph of the model.
 *
 *     ac_onx_sub s = {0};
 *     ac_onx_captured c = {0};
 *     ac_onx_sub_enter(n, &s);                      nodes made on behalf of n go to the subgraph
 *     ac_tensor *x = ac_onx_sub_input(&s, like);
 *     ... ac_onx_call_graph(n, graph, &x, 1, out, 1), ac_push(.., &s.g->output, out[0]) ...
 *     ac_onx_sub_leave(n, &s);                      on every path
 *     AC_TRY(ac_onx_sub_captured(n, &s, &c));       what it reads from outside
 *     sub[0] = ac_onx_sub_add(n, &s, &c);           its number; inputs are x, then what it reads from outside */
#ifndef AC_IMPORT_ONNX_SUB_GRAPHS_H
#define AC_IMPORT_ONNX_SUB_GRAPHS_H
#include "import/onnx/proto/onnx.h"

typedef struct ac_onx_sub {
    ac_graph *g, *outer;
} ac_onx_sub;
typedef AC_VEC(ac_tensor *) ac_onx_captured; /* tensors of graphs outside, each once */

/* Again and again: nodes are appended. */
void ac_onx_sub_enter(ac_onx_node *n, ac_onx_sub *s);
void ac_onx_sub_leave(ac_onx_node *n, ac_onx_sub *s);
ac_tensor *ac_onx_sub_input(ac_onx_sub *s, const ac_tensor *like);
/* Appends to c, which may have those of other subgraphs. AC_FAIL: refused. */
int ac_onx_sub_captured(ac_onx_node *n, const ac_onx_sub *s, ac_onx_captured *c);
/* All of c become further inputs, and the graph is the model's; its number. */
int32_t ac_onx_sub_add(ac_onx_node *n, ac_onx_sub *s, const ac_onx_captured *c);
/* The node that runs both, on in[] and what they read from outside; results are like the outputs of `like`. NULL:
 * refused. */
ac_node *ac_onx_sub_run(ac_onx_node *n, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_onx_captured *c,
                        const int32_t sub[2], const ac_onx_sub *like);

/* flow_nodes.c: a value that is a bool of one element, as a scalar; NULL: E0104. */
ac_tensor *ac_onx_condition(ac_onx_node *n, ac_tensor *c);
/* Every `stride`th of `part`, `count` of them, as one tensor with a new dimension `axis`. NULL: reported. */
ac_tensor *ac_onx_collect(ac_onx_node *n, ac_tensor *const *part, int64_t count, int32_t stride, int64_t axis,
                          bool backwards);

#endif
