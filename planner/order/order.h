/* order.h - execution orders with a lower peak, on plain data: steps, the values they share, their dependencies.
 *
 * A value is a piece of memory (a tensor with all its views): alive from the first step that uses it to the last. The
 * live values depend only on the set of steps done, not on their order, so the best order is a path through these sets:
 *
 *     {} -> {a} -> {a,c} -> {a,c,b} -> ...
 *
 * Each arrow costs the bytes alive while that step runs; the worst arrow counts.
 *
 *     ac_order_problem *p = ac_order_new(region, n_steps, n_values);
 *     p->value[v] = (ac_order_value){.size = 4096};
 *     ac_order_use(p, step, v, lo, hi, writes);          for all uses, steps ascending
 *     ac_order_link(p);                                 predecessors: overlapping bytes, at least one of the two writes
 *     ac_order_result r = ac_order_search(p, steps, order, heap);
 *
 * ac_order_search: dynamic programming over the sets, layer by layer. The graph is first cut at steps that every other
 * step comes before or after; the parts are solved one by one. A layer that grows too wide keeps its best sets (beam
 * search) and is tried again wider while the allowance lasts. A ready step that does not raise the peak and leaves no
 * more bytes alive is taken without alternatives: that never loses. Cost: counted in steps, so the order is the same on
 * all machines; at most about 64 MiB at a time. Memory: the problem is the caller's region's. Nothing can fail. */
#ifndef AC_PLANNER_ORDER_ORDER_H
#define AC_PLANNER_ORDER_ORDER_H
#include "base/vec.h"
#include "planner/pack/problem.h"

typedef struct ac_order_value {
    ac_bytes size; /* as it counts: rounded up to its alignment */
    bool at_start; /* alive before the first step: an input */
    bool at_end;   /* alive after the last step: an output */
    int32_t *user; /* steps that use it, ascending, each once; set by ac_order_link */
    int32_t n_users;
} ac_order_value;

typedef struct ac_order_step {
    int32_t *pred, *succ, *value; /* ascending; value: all it uses; set by ac_order_link */
    int32_t n_preds, n_succs, n_values;
    ac_bytes scratch;
    int32_t result;  /* the value that may take the place of ... */
    int32_t over[8]; /* ... the first of these (same size) that dies in this step */
    int32_t n_over;
} ac_order_step;

typedef struct ac_order_use_row {
    int32_t step, value;
    int64_t lo, hi; /* bytes of the value */
    bool writes;
} ac_order_use_row;

typedef struct ac_order_edge {
    int32_t from, to; /* steps */
} ac_order_edge;

typedef struct ac_order_problem {
    ac_region *region;
    ac_order_step *step;
    int32_t n; /* in the file's order, which is valid */
    ac_order_value *value;
    int32_t n_values;
    AC_VEC(ac_order_use_row) use;
    AC_VEC(ac_order_edge) edge;
} ac_order_problem;

typedef struct ac_order_result {
    ac_bytes before, after; /* peak of the file's order and of the order found */
    bool optimal;           /* no order has a lower peak */
    int64_t steps;          /* work done */
} ac_order_result;

/* order_build.c */
ac_order_problem *ac_order_new(ac_region *r, int32_t n_steps, int32_t n_values);
void ac_order_use(ac_order_problem *p, int32_t step, int32_t value, int64_t lo, int64_t hi, bool writes);
void ac_order_before(ac_order_problem *p, int32_t from, int32_t to); /* of any two steps; before ac_order_link */
void ac_order_link(ac_order_problem *p);

/* order_search.c. order: room for p->n; order[i] is the step that runs i-th. */
ac_bytes ac_order_peak(const ac_order_problem *p, const int32_t *order, ac_heap *heap);
ac_order_result ac_order_search(const ac_order_problem *p, int64_t steps, int32_t *order, ac_heap *heap);

#endif
