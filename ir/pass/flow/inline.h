/* inline.h - shared by infer.c, inline.c and flow.c: subgraphs that replace the node that runs them, and those that
 * stay. */
#ifndef AC_IR_PASS_FLOW_INLINE_H
#define AC_IR_PASS_FLOW_INLINE_H
#include "ir/flow/unroll.h"
#include "ir/pass/passes.h"

typedef struct ac_infer ac_infer;
typedef struct ac_inline ac_inline;

struct ac_inline {
    ac_pass *p;
    ac_infer *infer; /* of g */
    ac_ctx *cx;
    ac_graph *g;            /* whose nodes are looked at: the main graph, or a subgraph that stays */
    ac_graph *model;        /* the main graph, which has the list of subgraphs */
    int32_t n_sub;          /* those of the file, to be copied; what stays comes after them */
    int32_t depth;          /* subgraphs around g */
    int32_t nested;         /* nodes that are being replaced, each one inside a copy made for the one before */
    ac_tensor ***shared;    /* by subgraph, by tensor: the one copy of a constant or of state in g */
    ac_flow_budget *budget; /* steps: nodes and tensors copied, in all graphs */
};

ac_inline *ac_inline_open(ac_pass *p, ac_infer *infer);
/* n is IF or WHILE (OF_FLOW), its operands are known. Appends the nodes that replace it, or that rename values which it
 * leaves unchanged, and infers them; n is erased unless it stays. AC_FAIL: reported */
int ac_inline_node(ac_inline *s, ac_node *n);
void ac_inline_end(ac_inline *s); /* subgraphs that were copied go; those that stay are numbered from 1 on */

/* Subgraph number `index`, which takes n_arg values and makes n_result; NULL: reported. Pays for a copy of it. */
const ac_graph *ac_inline_sub(ac_inline *s, const ac_node *host, int32_t index, int32_t n_arg, int32_t n_result);
/* A value passes from one name to another: the same type and quantisation. */
int ac_inline_passes(ac_inline *s, const ac_node *n, const ac_tensor *from, const ac_tensor *to);
/* The nodes of sub are appended to `to`; map: by tensor of sub. */
void ac_inline_nodes(ac_graph *to, const ac_graph *sub, ac_tensor *const *map);
/* A node is appended that makes `to`, which is `from` under its own name. */
int ac_inline_rename(ac_inline *s, const ac_node *n, ac_tensor *from, ac_tensor *to);
/* The operator of the subgraph that may not run when its branch is not taken; NULL: all may. */
const ac_node *ac_inline_impure(const ac_inline *s, int32_t index);

/* infer.c: nodes from number `from` of the graph on, those that replace IF and WHILE included. */
void ac_infer_nodes(ac_infer *s, int32_t from);
/* No tensor of these is the result of a node that failed. */
bool ac_infer_knows(const ac_infer *s, ac_tensor *const *t, int32_t n);
/* flow.c: the condition of n is only known when the model runs, so n keeps subgraphs of its own, made for the shapes of
 * its operands. Of a WHILE, n_in are the values that it takes; nodes that rename what the loop never
 * changes are appended to the graph. */
int ac_flow_loop(ac_inline *s, ac_node *n, int32_t n_in);
/* *stays false: n is as it was, since both branches are so small that it is better to run them and select. */
int ac_flow_branch(ac_inline *s, ac_node *n, bool *stays);

#endif
