/* inline.h - between inline.c and flow.c: subgraphs that take the place of their node, and those that stay. */
#ifndef AC_IR_PASS_FLOW_INLINE_H
#define AC_IR_PASS_FLOW_INLINE_H
#include "ir/pass/passes.h"

typedef struct ac_inline ac_inline;

/* inline.c: the node at position `at` is IF or WHILE (OF_FLOW), its operands are known. Nodes are put in its place or
 * in front of it, so `at` is to be looked at again, unless it stays what it is. */
ac_inline *ac_inline_open(ac_pass *p);
int ac_inline_node(ac_inline *s, int32_t at);
bool ac_inline_stays(const ac_node *n); /* it runs subgraphs of its own, which are inferred */
void ac_inline_end(ac_inline *s);       /* subgraphs that were copied go; those that stay are numbered from 1 on */

/* A loop while it is unrolled. */
typedef struct ac_unrolled {
    const ac_node *n;
    int32_t from;   /* position of the first copied node */
    int64_t spent;  /* before the first copy */
    ac_tensor **in; /* its operands then */
    int32_t n_in;
    bool tried; /* whether it can stay */
} ac_unrolled;

struct ac_inline {
    ac_pass *p;
    ac_ctx *cx;
    ac_graph *g;         /* whose nodes are looked at: the main graph, or a subgraph that stays */
    ac_graph *model;     /* the main graph, which has the list of subgraphs */
    int32_t n_sub;       /* those of the file, to be copied; what stays comes after them */
    int32_t depth;       /* subgraphs around g */
    ac_tensor ***shared; /* by subgraph, by tensor: the one copy of a constant or of state in g */
    int64_t *spent;      /* nodes and tensors copied, in all graphs */
    /* the innermost is last */
    AC_VEC(ac_unrolled) unrolled;
};

/* Subgraph number `index`, which takes n_arg values and makes n_result; NULL: reported. Pays for a copy of it. */
const ac_graph *ac_inline_sub(ac_inline *s, const ac_node *host, int32_t index, int32_t n_arg, int32_t n_result);
/* A value passes from one name to another: the same type and quantisation. */
int ac_inline_passes(ac_inline *s, const ac_node *n, const ac_tensor *from, const ac_tensor *to);
/* The nodes of sub are appended to `to`; map: by tensor of sub. */
void ac_inline_nodes(ac_graph *to, const ac_graph *sub, ac_tensor *const *map);
/* A node is appended that makes `to`, which is `from` under its own name. */
int ac_inline_rename(ac_inline *s, const ac_node *n, ac_tensor *from, ac_tensor *to);
int ac_inline_condition(ac_inline *s, const ac_node *n, const ac_tensor *c); /* is it one boolean? E0104 */
/* The operator of the subgraph that may not run when its branch is not taken; NULL: all may. */
const ac_node *ac_inline_impure(const ac_inline *s, int32_t index);

void ac_inline_begin(ac_graph *g); /* flow.c: of the main graph: no IF or WHILE has been looked at */
/* flow.c: the condition of n is only known when the model runs, so n keeps subgraphs of its own, made for the shapes of
 * its operands. Of a WHILE, n_in are the values it takes besides the condition; nodes that rename what the loop never
 * changes are appended to the graph. */
int ac_flow_loop(ac_inline *s, ac_node *n, int32_t n_in);
/* *stays false: n is as it was, since both branches are so small that it is better to run them and select. */
int ac_flow_branch(ac_inline *s, ac_node *n, bool *stays);

#endif
