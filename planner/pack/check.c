/* check.c - the rules of problem.h, applied to a plan by someone who has never seen a solver.
 *
 * A sweep over the steps keeps, per memory, the byte ranges occupied now: a list sorted by address for items that must
 * be disjoint from everything, a loose list for items with pair rules and for those that already broke a rule. A new
 * range is compared with its neighbours in the first and with all of the second. O(n log n) comparisons, O(n) memory;
 * the loose list costs O(its length) per range. */
#include "planner/pack/problem.h"

#include "base/radix.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { FINDINGS = 20 }; /* unless the context sets a number */

/* Bytes of a memory that an item occupies during some steps */
typedef struct range {
    ac_step begin, end;
    ac_bytes lo, hi;
    int32_t item;
} range;

typedef struct overlapping {
    int32_t a, b;
} overlapping;

typedef struct checker {
    ac_ctx *cx;
    ac_region *tmp;
    const char *file;
    const ac_problem *p;
    const ac_plan *plan;
    range *range;
    int32_t n_ranges;
    bool *paired;             /* per item: some pair names it */
    AC_VEC(int32_t) live;     /* ranges, pairwise disjoint, by lo */
    AC_VEC(int32_t) loose;    /* ranges, in order of arrival */
    int32_t found, most;      /* errors so far; enough of them */
    AC_VEC(overlapping) seen; /* overlaps already reported, one per two items */
} checker;

static int32_t memory_of(const checker *c, int32_t i)
{
    return c->plan->mem ? c->plan->mem[i] : 0;
}

static ac_place at_item(const checker *c, int32_t i)
{
    return (ac_place){.file = c->file, .node = c->p->item[i].name};
}

/* check_item's errors all go through here, so that no rule forgets to count. */
#define BROKEN(c, i, ...) ((c)->found++, (void)ac_error((c)->cx, at_item(c, i), E0701, __VA_ARGS__))

static const char *commas(const checker *c, ac_bytes n)
{
    return ac_commas(c->cx, n);
}

/* Rules about one item; false: its bytes cannot be compared with anything. */
static bool check_item(checker *c, int32_t i)
{
    const ac_item *it = &c->p->item[i];
    ac_bytes at = c->plan->offset[i];
    int32_t m = memory_of(c, i);
    if (m < 0 || m >= c->p->n_mems) {
        BROKEN(c, i, "placed in memory %d, there are %d", m, c->p->n_mems);
        return false;
    }
    bool allowed = it->mem >= 0 ? it->mem == m : !it->mems || (m < 32 && (it->mems >> m & 1u));
    if (!allowed) {
        BROKEN(c, i, "placed in memory '%s', where it is not allowed", c->p->mem[m].name);
    }
    if (at < 0 || at > INT64_MAX - it->size) {
        BROKEN(c, i, "offset %s lies outside its memory", commas(c, at));
        return false;
    }
    if (at % it->align) {
        BROKEN(c, i, "offset %s is not a multiple of its alignment %s", commas(c, at), commas(c, it->align));
    }
    if (it->fixed >= 0 && it->fixed != at) {
        BROKEN(c, i, "its offset is fixed at %s, the plan has %s", commas(c, it->fixed), commas(c, at));
    }
    ac_bytes capacity = c->p->mem[m].capacity;
    if (capacity >= 0 && at + it->size > capacity) {
        BROKEN(c, i, "bytes %s to %s lie outside memory '%s' of %s bytes", commas(c, at), commas(c, at + it->size),
               c->p->mem[m].name, commas(c, capacity));
    } else if (c->plan->mem_bytes && at + it->size > c->plan->mem_bytes[m]) {
        BROKEN(c, i, "bytes %s to %s lie outside the %s bytes the plan claims", commas(c, at), commas(c, at + it->size),
               commas(c, c->plan->mem_bytes[m]));
    }
    return true;
}

/* Do the pair rules let a and b (items) share bytes at their offsets? */
static bool may_share(const checker *c, int32_t a, int32_t b)
{
    if (!c->paired[a] || !c->paired[b])
        return false;
    bool ruled = false, fine = true;
    for (int32_t k = 0; k < c->p->n_pairs; k++) {
        const ac_pair *q = &c->p->pair[k];
        if (!((q->a == a && q->b == b) || (q->a == b && q->b == a)))
            continue;
        ac_bytes d = c->plan->offset[q->b] - c->plan->offset[q->a];
        bool below = q->max_below != INT64_MIN && d <= q->max_below;
        bool above = q->min_above != INT64_MAX && d >= q->min_above;
        ruled = true;
        fine = fine && (below || above);
    }
    return ruled && fine;
}

static void report_overlap(checker *c, const range *x, const range *y)
{
    int32_t a = x->item < y->item ? x->item : y->item, b = x->item < y->item ? y->item : x->item;
    for (int32_t k = 0; k < c->seen.n; k++)
        if (c->seen.item[k].a == a && c->seen.item[k].b == b)
            return;
    if (c->found >= c->most)
        return;
    c->found++;
    ac_push(c->tmp, &c->seen, ((overlapping){a, b}));
    const range *p = x->item == a ? x : y, *q = x->item == a ? y : x;
    ac_step from = x->begin > y->begin ? x->begin : y->begin, to = x->end < y->end ? x->end : y->end;
    ac_error(c->cx, at_item(c, a), E0701, "shares bytes with '%s' while both are alive", c->p->item[b].name);
    ac_detail(c->cx, "'%s' bytes [%s, %s), steps %d to %d", c->p->item[a].name, commas(c, p->lo), commas(c, p->hi),
              p->begin, p->end - 1);
    ac_detail(c->cx, "'%s' bytes [%s, %s), steps %d to %d", c->p->item[b].name, commas(c, q->lo), commas(c, q->hi),
              q->begin, q->end - 1);
    ac_detail(c->cx, "in common: bytes [%s, %s), steps %d to %d", commas(c, p->lo > q->lo ? p->lo : q->lo),
              commas(c, p->hi < q->hi ? p->hi : q->hi), from, to - 1);
}

/* The place in `live` of the first range that begins at `lo` or above. */
static int32_t place_in_live(const checker *c, ac_bytes lo)
{
    int32_t from = 0, to = c->live.n;
    while (from < to) {
        int32_t mid = from + (to - from) / 2;
        if (c->range[c->live.item[mid]].lo < lo)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void arrive(checker *c, int32_t r)
{
    const range *x = &c->range[r];
    int32_t at = place_in_live(c, x->lo);
    bool clash = false;
    if (at && c->range[c->live.item[at - 1]].hi > x->lo) {
        clash = true;
        report_overlap(c, x, &c->range[c->live.item[at - 1]]);
    }
    for (int32_t k = at; k < c->live.n && c->range[c->live.item[k]].lo < x->hi; k++) {
        clash = true;
        report_overlap(c, x, &c->range[c->live.item[k]]);
    }
    for (int32_t k = 0; k < c->loose.n; k++) {
        const range *y = &c->range[c->loose.item[k]];
        if (x->lo < y->hi && y->lo < x->hi && x->item != y->item && !may_share(c, x->item, y->item))
            report_overlap(c, x, y);
    }
    if (clash || c->paired[x->item]) {
        ac_push(c->tmp, &c->loose, r);
        return;
    }
    ac_push(c->tmp, &c->live, r);
    memmove(&c->live.item[at + 1], &c->live.item[at], (size_t)(c->live.n - 1 - at) * sizeof *c->live.item);
    c->live.item[at] = r;
}

static void leave(checker *c, int32_t r)
{
    int32_t at = place_in_live(c, c->range[r].lo);
    if (at < c->live.n && c->live.item[at] == r) {
        c->live.n--;
        memmove(&c->live.item[at], &c->live.item[at + 1], (size_t)(c->live.n - at) * sizeof *c->live.item);
        return;
    }
    for (int32_t k = 0; k < c->loose.n; k++)
        if (c->loose.item[k] == r) {
            c->loose.n--;
            memmove(&c->loose.item[k], &c->loose.item[k + 1], (size_t)(c->loose.n - k) * sizeof *c->loose.item);
            return;
        }
}

static void add_range(checker *c, int32_t i, ac_step begin, ac_step end, ac_bytes lo, ac_bytes hi)
{
    ac_bytes at = c->plan->offset[i];
    if (begin < end && lo < hi)
        c->range[c->n_ranges++] = (range){begin, end, at + lo, at + hi, i};
}

static void add_item(checker *c, int32_t i)
{
    const ac_item *it = &c->p->item[i];
    ac_step t = it->life.begin;
    for (int32_t g = 0; g < it->n_gaps; g++) {
        const ac_gap *x = &it->gaps[g];
        add_range(c, i, t, x->life.begin, 0, it->size);
        add_range(c, i, x->life.begin, x->life.end, x->lo, x->hi);
        t = x->life.end;
    }
    add_range(c, i, t, it->life.end, 0, it->size);
}

static void sweep(checker *c)
{
    const int32_t n = 2 * c->n_ranges;
    ac_keyed *event = AC_NEW_N(c->tmp, ac_keyed, n); /* by step; ranges that go before those that come; then range */
    for (int32_t r = 0; r < c->n_ranges; r++) {
        event[2 * r] = (ac_keyed){(uint64_t)c->range[r].begin * 2 + 1, r};
        event[2 * r + 1] = (ac_keyed){(uint64_t)c->range[r].end * 2, r};
    }
    ac_radix_sort(event, n, AC_NEW_N(c->tmp, ac_keyed, n));
    for (int32_t k = 0; k < n && c->found < c->most; k++)
        if (event[k].key & 1)
            arrive(c, event[k].value);
        else
            leave(c, event[k].value);
}

int ac_plan_check(ac_ctx *cx, const char *file, const ac_problem *p, const ac_plan *plan)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    checker c = {.cx = cx, .tmp = tmp, .file = file, .p = p, .plan = plan};
    c.most = cx->diags.limit ? cx->diags.limit : FINDINGS;
    int64_t most = p->n;
    for (int32_t i = 0; i < p->n; i++)
        most += 2 * (int64_t)p->item[i].n_gaps;
    c.range = AC_NEW_N(tmp, range, most);
    c.paired = AC_NEW_N(tmp, bool, p->n);
    for (int32_t k = 0; k < p->n_pairs; k++)
        c.paired[p->pair[k].a] = c.paired[p->pair[k].b] = true;
    bool *comparable = AC_NEW_N(tmp, bool, p->n);
    for (int32_t i = 0; i < p->n && c.found < c.most; i++)
        comparable[i] = check_item(&c, i);
    for (int32_t m = 0; m < p->n_mems && c.found < c.most; m++) {
        c.n_ranges = c.live.n = c.loose.n = 0;
        for (int32_t i = 0; i < p->n; i++)
            if (comparable[i] && memory_of(&c, i) == m)
                add_item(&c, i);
        sweep(&c);
    }
    ac_region_close(tmp);
    return c.found ? AC_FAIL : AC_OK;
}
