/* shapes.h - shapes of one node at a time, for pass infer. A failed node is reported once: its results are unknown, and
 * their readers are skipped. */
#ifndef AC_IR_PASS_FLOW_SHAPES_H
#define AC_IR_PASS_FLOW_SHAPES_H
#include "ir/pass/passes.h"

typedef struct ac_shapes {
    ac_pass *p;
    ac_graph *g;
    bool *unknown;          /* by tensor id: its shape could not be inferred, which is reported */
    int32_t n_unknown, cap; /* tensors seen so far: more come when subgraphs are copied */
    bool failed;
} ac_shapes;

/* Checks the tensors that are new since the last call and are not results. */
void ac_shapes_see(ac_shapes *s);
bool ac_shapes_operands(const ac_shapes *s, const ac_node *n);            /* all operands of n are known */
bool ac_shapes_known(const ac_shapes *s, ac_tensor *const *t, int32_t n); /* all of these are */
int ac_shapes_node(ac_shapes *s, ac_node *n);
bool ac_shapes_fold(ac_shapes *s, ac_node *n); /* the result is small and depends on small constants: now it is one */
void ac_shapes_give_up(ac_shapes *s, const ac_node *n); /* n has failed */

#endif
