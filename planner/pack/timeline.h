/* timeline.h - the steps of a problem as small numbers in the same order, so that a table by step is O(items) long.
 *
 *     const ac_timeline t = ac_timeline_open(p, tmp);
 *     ac_bytes *change = AC_NEW_N(tmp, ac_bytes, t.n);
 *     change[ac_timeline_at(&t, p->item[i].life.begin)] += ...
 *
 * Most problems use nearly all of their steps and keep them as they are; where they are far apart (times of a trace,
 * say) those that begin or end something are numbered. Cost: a look-up O(1), or O(log n) where steps were numbered;
 * opening O(items). Memory: `tmp`. Cannot fail but for memory. */
#ifndef AC_PLANNER_PACK_TIMELINE_H
#define AC_PLANNER_PACK_TIMELINE_H
#include "planner/pack/problem.h"

typedef struct ac_timeline {
    int32_t n;           /* numbers are 0..n-1 */
    const ac_step *step; /* of each number, ascending; NULL: numbers are steps */
} ac_timeline;

ac_timeline ac_timeline_open(const ac_problem *p, ac_region *tmp);

/* Of a step at which a life, a gap or a pair of the problem begins or ends. */
static inline int32_t ac_timeline_at(const ac_timeline *t, ac_step step)
{
    if (!t->step)
        return step;
    int32_t lo = 0, hi = t->n;
    while (hi - lo > 1) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (t->step[mid] <= step)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static inline ac_step ac_timeline_step(const ac_timeline *t, int32_t number)
{
    return t->step ? t->step[number] : number;
}

/* The free items with bytes by begin, then index. */
typedef struct ac_begins {
    int32_t *item, n;
    int32_t *first; /* per number 0..timeline.n: the first in item[] that begins then or later */
} ac_begins;

ac_begins ac_timeline_begins(const ac_timeline *t, const ac_problem *p, ac_region *tmp);

#endif
