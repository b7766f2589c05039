/* places.h - where a reader finds the elements of a tensor if the nodes that only move them are left out.
 *
 * A reader walks along some axes. Each axis is a step in the flat tensor; `first` is the element at its start. In the
 * operand of a transpose, a slice, a reshape or a broadcast the same elements have other steps:
 *
 *     ac_places p = {.t = k, .n = 2, .axis = {{heads, 64 * 12}, {columns, 1}}};
 *     while (ac_places_step(g, &p))          p.t is the operand now, p.first and the steps are those in it
 *         ; */
#ifndef AC_IR_PASS_PLACES_H
#define AC_IR_PASS_PLACES_H
#include "ir/graph/graph.h"

enum { AC_PLACES_AXES = 5 };
typedef struct ac_places {
    ac_tensor *t;
    int64_t first;
    int32_t n;
    struct {
        int64_t count, step;
    } axis[AC_PLACES_AXES];
} ac_places;

/* Elements between neighbours of each dimension. */
void ac_steps_of(int32_t rank, const int64_t *dim, int64_t step[AC_MAX_RANK]);
/* The same of t, broadcast to `rank` dimensions: 0 along those that repeat it. */
void ac_steps_broadcast(const ac_tensor *t, int32_t rank, int64_t step[AC_MAX_RANK]);
/* Steps in a tensor whose dimensions dim[] have steps to[], and whose first element is `base`. false: an axis goes over
 * the end of a dimension; nothing changed. */
bool ac_places_move(ac_places *p, int32_t rank, const int64_t *dim, const int64_t *to, int64_t base);
/* One node further: p->t becomes the operand of the node that makes it. false: that does more than move elements, or p
 * cannot follow; nothing changed. */
bool ac_places_step(ac_graph *g, ac_places *p);

#endif
