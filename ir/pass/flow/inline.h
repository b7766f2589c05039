/* inline.h - subgraphs: copies whose nodes replace the IF or WHILE that runs them (inline.c), and copies that stay
 * graphs, since the condition depends on data (flow.c). infer.c decides, and infers the copies. */
#ifndef AC_IR_PASS_FLOW_INLINE_H
#define AC_IR_PASS_FLOW_INLINE_H
#include "ir/flow/unroll.h"
#include "ir/ops/decode/scan.h"
#include "ir/pass/passes.h"

typedef struct ac_inline {
    ac_pass *p;
    ac_ctx *cx;
    ac_graph *g;            /* whose nodes are looked at: the main graph, or a subgraph that stays */
    ac_graph *model;        /* the main graph, which has the list of subgraphs */
    int32_t n_sub;          /* those of the file, to be copied; copies that stay come after them */
    int32_t depth;          /* subgraphs around g */
    ac_tensor ***shared;    /* by subgraph, by tensor: the one copy of a constant or of state in g */
    ac_flow_budget *budget; /* steps: nodes and tensors copied, in all graphs */
} ac_inline;

ac_inline *ac_inline_open(ac_pass *p, const ac_inline *outer); /* outer: of the graph around; NULL: the main graph */
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

/* The nodes of subgraph number `index` on `arg` are appended to the graph; result[] are its outputs. */
int ac_inline_copy(ac_inline *s, const ac_node *host, int32_t index, ac_tensor *const *arg, int32_t n_arg,
                   ac_tensor **result, int32_t n_result);
/* Appends to = condition ? yes : no. A scalar condition broadcasts to every shape. */
int ac_inline_select(ac_inline *s, const ac_node *n, ac_tensor *c, ac_tensor *yes, ac_tensor *no, ac_tensor *to);
ac_tensor *ac_inline_scalar(ac_inline *s, const ac_node *n, ac_tensor *c); /* c, one element, as a scalar */

/* flow.c. The role of an operand in the copies for a node that stays. */
typedef enum ac_flow_role {
    AC_FLOW_CARRIED, /* an input, whose value an iteration leaves to the next */
    AC_FLOW_READ,    /* an input */
    AC_FLOW_FIXED    /* a constant of the copy */
} ac_flow_role;
/* A copy of subgraph `index` for n_arg operands, made for their shapes. Carried inputs come first. */
typedef struct ac_flow_copied {
    int32_t index;
    ac_tensor *const *arg;
    const ac_flow_role *as;
    int32_t n_arg, n_out; /* of the subgraph */
    const bool *wanted;   /* outputs of the copy; NULL: all */
} ac_flow_copied;
ac_graph *ac_flow_copy(ac_inline *s, const ac_node *n, const ac_flow_copied *c); /* not inferred. NULL: reported */
/* WHILE: the roles of its n_in values (besides the condition); changes: by result. NULL: reported */
ac_flow_role *ac_flow_loop_roles(ac_inline *s, const ac_node *n, int32_t n_in, bool *changes);
/* n stays, with these subgraphs, inferred; nodes that rename values which the loop never changes are appended. */
int ac_flow_keep_loop(ac_inline *s, ac_node *n, int32_t n_in, const ac_flow_role *as, ac_graph *cond, ac_graph *body);
ac_flow_role *ac_flow_branch_roles(ac_inline *s, const ac_node *n); /* IF: of its operands after the condition */
/* *stays false: both branches are small, so n is unchanged: it is better to run them and select. */
int ac_flow_keep_branch(ac_inline *s, ac_node *n, const ac_flow_role *as, ac_graph *yes, ac_graph *no, bool *stays);
int32_t ac_flow_add_subgraph(ac_inline *s, ac_graph *g); /* to those of the model; its number */
int64_t ac_flow_cost(const ac_graph *g);                 /* multiply-adds and elements; large if it runs subgraphs */

/* scan.c. The roles of the operands of SCAN n, and tensors of the types and shapes that its subgraph takes for each. */
int ac_scan_roles(ac_inline *s, const ac_node *n, const ac_scan *c, ac_flow_role *as, ac_tensor **arg);
/* False if all steps of the subgraph are so few multiply-adds and elements that a copy for each is faster. */
bool ac_scan_is_long(const ac_scan *c, const ac_graph *body);
/* n stays, with this subgraph, inferred. */
int ac_flow_keep_scan(ac_inline *s, ac_node *n, const ac_scan *c, const ac_flow_role *as, ac_graph *body);
/* Unrolled: the arguments of step t (nodes for elements of the sequences are appended); and collected result i,
 * from element[step * elements + ..]. */
int ac_scan_step(ac_inline *s, const ac_node *n, const ac_scan *c, int64_t t, ac_tensor *const *state, ac_tensor **arg);
int ac_scan_collect(ac_inline *s, const ac_node *n, const ac_scan *c, int32_t i, ac_tensor *const *element);

#endif
