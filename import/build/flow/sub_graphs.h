/* sub_graphs.h - turns two graphs or functions of the file into the subgraphs of an IF or WHILE, for file_flow.h, and
 * the nodes that a reader makes for one step into the subgraph of a SCAN.
 *
 *     ac_sub_pair p = {0};
 *     for each side k:
 *         ac_sub_enter(b, &r->g, &p.side[k]);       new nodes go to the subgraph
 *         ac_tensor *x = ac_sub_input(&p.side[k], like);
 *         ... make nodes, ac_push(.., &p.side[k].g->output, y) ...
 *         ac_sub_leave(b, &r->g, &p.side[k]);       on every path
 *     ac_node *n = ac_sub_run(b, AC_OP_IF, &condition, 1, &p);
 *
 * Their nodes may read tensors of graphs outside, which become inputs after x and operands of the node.
 *
 * `now`: where the reader keeps the graph that it makes nodes in. Memory: the region of the context. */
#ifndef AC_IMPORT_BUILD_FLOW_SUB_GRAPHS_H
#define AC_IMPORT_BUILD_FLOW_SUB_GRAPHS_H
#include "ir/make/maker.h"

typedef struct ac_sub {
    ac_graph *g, *outer;
    void *notes; /* of the reader, on g */
} ac_sub;
typedef AC_VEC(ac_tensor *) ac_sub_tensors; /* of graphs outside, each once */
typedef struct ac_sub_pair {
    ac_sub side[2]; /* IF: the branches; WHILE: condition, body */
    ac_sub_tensors captured;
} ac_sub_pair;

/* May be entered several times; nodes are appended. */
void ac_sub_enter(ac_maker *b, ac_graph **now, ac_sub *s);
void ac_sub_leave(ac_maker *b, ac_graph **now, ac_sub *s);
ac_tensor *ac_sub_input(ac_sub *s, const ac_tensor *like);
/* Adds the outer tensors that both graphs read to p->captured. AC_FAIL: refused. */
int ac_sub_capture(const ac_maker *b, ac_sub_pair *p);
/* Adds p->captured to the inputs of both graphs, and these to the model; *to: their numbers. */
void ac_sub_add(const ac_maker *b, ac_sub_pair *p, ac_attrs_flow *to);
/* Creates the IF or WHILE of operands in[], then p->captured, with both graphs; its results have the types and shapes
 * of their outputs. NULL: refused. */
ac_node *ac_sub_run(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, ac_sub_pair *p);

/* An input for one element of the sequence x of a SCAN: x without its first dimension. */
ac_tensor *ac_sub_element(ac_sub *s, const ac_tensor *x);
/* Creates the SCAN of in[] (states, then sequences) and of the values that s reads from outside, with the attributes a
 * (ir/ops/decode/scan.h); s has inputs for in[], and its outputs. NULL: refused. */
ac_node *ac_sub_scan(const ac_maker *b, ac_sub *s, ac_tensor *const *in, const ac_attrs_scan *a);

/* file_branch.c: gives outputs i of both graphs one size: pads the shorter one, and appends the valid length along
 * dimension *dim to both graphs; -1: they already have one size. AC_FAIL: refused. result: NULL, or its name in
 * messages. */
int ac_sub_alike(ac_maker *b, ac_graph **now, const ac_tensor *condition, ac_sub_pair *p, int32_t i, const char *result,
                 int32_t *dim);
/* A condition of the file as a bool scalar; NULL: E0104. */
ac_tensor *ac_sub_condition(const ac_maker *b, ac_tensor *c);

/* carried.c: the n values that a WHILE carries from one iteration to the next, then the counts of those of dynamic size
 * (counted.h). An iteration may change their lengths: a value that becomes longer is padded to --bound or to the most
 * that a bounded number of iterations can add (growth.c); without a bound it is refused. file_loop.c shows the order of
 * the calls. */
typedef struct ac_carried {
    int32_t n, all;            /* values; values and counts */
    ac_tensor **first;         /* before the loop: all of them, padded */
    int32_t *dim;              /* by value: the dimension of dynamic size; -1: none */
    int64_t turns;             /* upper bound of the iterations; -1: unknown */
    const char *const *result; /* NULL, or by value: NULL, or its name */
    ac_tensor **given;         /* by value: as it was before the loop */
    int32_t *tries;            /* by value: how often it was padded */
} ac_carried;

/* Appends the counts to first[], again after dim[] has changed. */
int ac_carried_counts(const ac_maker *b, ac_carried *c);
int ac_carried_begin(const ac_maker *b, ac_carried *c, int32_t n, ac_tensor *const *first);
void ac_carried_inputs(const ac_carried *c, ac_sub *s, ac_tensor **own);
/* cond: the graph whose output decides. *again: a value became dynamically sized, or longer: both graphs must be read
 * again. AC_FAIL with *wrong >= 0: that value does not keep its type and shape (not reported). */
int ac_carried_outputs(ac_maker *b, ac_graph **now, ac_carried *c, const ac_sub *cond, ac_sub *body,
                       ac_tensor *const *next, bool *again, int32_t *wrong);
void ac_carried_results(const ac_carried *c, const ac_node *made, ac_tensor **out);

/* growth.c: an upper bound of the iterations, if the condition compares a counter; -1: unknown. next[]: the values
 * after an iteration. */
int64_t ac_turns_at_most(const ac_maker *b, const ac_carried *c, const ac_sub *cond, const ac_sub *body,
                         ac_tensor *const *next);
/* An upper bound of the length of value k, dynamically sized, after all iterations; -1: unknown. */
int64_t ac_grown_at_most(const ac_maker *b, const ac_carried *c, const ac_sub *body, ac_tensor *const *next, int32_t k);

#endif
