/* bind.h - turns lowered steps and a plan into a module: every argument becomes memory + constant offset.
 *
 *     ac_binding b = {live->item_of, live->delta, live->scratch_item, &live->problem, &plan, slot};
 *     ac_module_bind(m, graph, step, n_steps, &b);       m->cx, name, target ... must be set
 *
 * Cost: linear in steps and arguments; with dead bytes, in steps times items. Memory: the context's region. Nothing
 * fails. */
#ifndef AC_CODEGEN_BIND_H
#define AC_CODEGEN_BIND_H
#include "codegen/module.h"

/* Maps tensors and scratch arguments to memory, from liveness and plan. */
typedef struct ac_binding {
    const int32_t *item_of;       /* by tensor id */
    const ac_bytes *delta;        /* by tensor id */
    int32_t *const *scratch_item; /* by step and argument */
    const ac_problem *problem;
    const ac_plan *plan;
    const ac_slot *slot; /* by step; NULL: one after the other */
    bool dead;           /* find dead bytes, also without poison */
} ac_binding;

/* Distinct constants in order of first use: two that share the bytes of one tensor are merged, aligned for both. */
typedef struct ac_const_list {
    AC_VEC(ac_const *) konst;
    int32_t *slot, cap; /* open hash table of 1 + index; a power of two */
} ac_const_list;
int32_t ac_const_index(ac_region *r, ac_const_list *list, ac_const *k); /* k's index; added when new. O(1) */

/* Fills call, konst, input, output, state, ram, arena and state sizes and (with poison or b->dead) dead of *m. */
void ac_module_bind(ac_module *m, const ac_graph *g, ac_lowered *const *step, int32_t n_steps, const ac_binding *b);

/* The address of byte `delta` of an item: space, offset, index. */
ac_io ac_module_place(const ac_problem *p, const ac_plan *plan, int32_t item, ac_bytes delta);

#endif
