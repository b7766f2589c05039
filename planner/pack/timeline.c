/* timeline.c - see timeline.h: steps far apart are numbered by sorting those at which something changes. */
#include "planner/pack/timeline.h"

#include "base/radix.h"

enum { SPARSE = 4, SOME = 1024 }; /* numbered when there are more than SPARSE steps an item, and SOME */

static void add(ac_keyed *v, int32_t *n, ac_life life)
{
    v[(*n)++].key = (uint64_t)life.begin;
    v[(*n)++].key = (uint64_t)life.end;
}

ac_timeline ac_timeline_open(const ac_problem *p, ac_region *tmp)
{
    if (p->steps <= SPARSE * (int64_t)p->n + SOME)
        return (ac_timeline){.n = p->steps + 1};
    int64_t most = p->n + (int64_t)p->n_pairs;
    for (int32_t i = 0; i < p->n; i++)
        most += p->item[i].n_gaps;
    ac_keyed *v = AC_NEW_N(tmp, ac_keyed, 2 * most);
    int32_t n = 0, distinct = 0;
    for (int32_t i = 0; i < p->n; i++) {
        add(v, &n, p->item[i].life);
        for (int32_t g = 0; g < p->item[i].n_gaps; g++)
            add(v, &n, p->item[i].gaps[g].life);
    }
    for (int32_t k = 0; k < p->n_pairs; k++)
        add(v, &n, p->pair[k].life);
    ac_radix_sort(v, n, AC_NEW_N(tmp, ac_keyed, n));
    ac_step *step = AC_NEW_N(tmp, ac_step, n + 1);
    for (int32_t k = 0; k < n; k++)
        if (!k || v[k].key != v[k - 1].key)
            step[distinct++] = (ac_step)v[k].key;
    return (ac_timeline){.n = distinct ? distinct : 1, .step = step};
}

static bool takes_part(const ac_item *it)
{
    return it->fixed < 0 && it->size;
}

ac_begins ac_timeline_begins(const ac_timeline *t, const ac_problem *p, ac_region *tmp)
{
    ac_begins b = {.item = AC_NEW_N(tmp, int32_t, p->n), .first = AC_NEW_N(tmp, int32_t, (int64_t)t->n + 2)};
    for (int32_t i = 0; i < p->n; i++)
        if (takes_part(&p->item[i]))
            b.first[ac_timeline_at(t, p->item[i].life.begin) + 2]++;
    for (int32_t k = 0; k < t->n; k++)
        b.first[k + 2] += b.first[k + 1];
    for (int32_t i = 0; i < p->n; i++) /* shifts first[] down by one place as it fills */
        if (takes_part(&p->item[i]))
            b.item[b.first[ac_timeline_at(t, p->item[i].life.begin) + 1]++] = i;
    b.n = b.first[t->n];
    return b;
}
