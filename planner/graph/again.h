/* again.h - steps that run a second time: copies of them that make, or read, other tensors.
 *
 *     ac_swaps w = {0};
 *     ac_push(r, &w, ((ac_swap){t, ac_again_twin(g, r, t, NULL)}));
 *     step[at] = ac_again_step(r, step[k], &w);              makes and reads the twin wherever step k has t
 *
 * A step is never changed: others share it. Twins are tensors of g, a graph that the candidate plan has for itself.
 * Memory: the region r. Nothing fails. */
#ifndef AC_PLANNER_GRAPH_AGAIN_H
#define AC_PLANNER_GRAPH_AGAIN_H
#include "ir/lower/lowered.h"

typedef struct ac_swap {
    const ac_tensor *from;
    ac_tensor *to;
} ac_swap;
typedef AC_VEC(ac_swap) ac_swaps;

/* Is the step one of a single result, whole and without state of its own? */
bool ac_may_run_again(const ac_lowered *low);
/* By tensor, of roots: the only step that writes it, fully, if `may` allows that step to run again; below 0 if there is
 * no such step, or if the tensor lives to the end or is state. */
int32_t *ac_again_makers(ac_region *r, const ac_graph *g, ac_lowered *const *step, int32_t n,
                         bool (*may)(const ac_lowered *low));

ac_tensor *ac_swapped(const ac_swaps *w, ac_tensor *t); /* t where it is in no pair; of several pairs the last counts */
ac_lowered *ac_again_step(ac_region *r, const ac_lowered *low, const ac_swaps *w);
/* A tensor like t, with bytes of its own, or in `root` if t is a view. */
ac_tensor *ac_again_twin(ac_graph *g, ac_region *r, const ac_tensor *t, ac_tensor *root);

#endif
