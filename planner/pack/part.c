/* part.c - extracts the items in one memory as a problem of that memory alone; each memory is packed and bounded by
 * itself. O(items + pairs). */
#include "planner/pack/problem.h"

ac_problem ac_problem_part(const ac_problem *p, const int32_t *mem, int32_t m, int32_t *back, ac_region *tmp)
{
    ac_problem q = {.mem = &p->mem[m], .n_mems = 1, .steps = p->steps};
    int32_t *there = AC_NEW_N(tmp, int32_t, p->n);
    q.item = AC_NEW_N(tmp, ac_item, p->n);
    q.pair = AC_NEW_N(tmp, ac_pair, p->n_pairs);
    for (int32_t i = 0; i < p->n; i++) {
        there[i] = -1;
        if (mem[i] != m)
            continue;
        there[i] = q.n;
        back[q.n] = i;
        q.item[q.n] = p->item[i];
        q.item[q.n].mem = -1;
        q.item[q.n++].mems = 0;
    }
    for (int32_t k = 0; k < p->n_pairs; k++) {
        ac_pair r = p->pair[k];
        if (there[r.a] < 0 || there[r.b] < 0)
            continue;
        r.a = there[r.a];
        r.b = there[r.b];
        q.pair[q.n_pairs++] = r;
    }
    return q;
}
