/* solve_exact_model.c - the problem as the flat arrays of solve_exact.h.
 *
 * A section is a maximal set of items that have bytes in one step; a sweep over begins and ends closes one whenever
 * something ends after something began. Two items conflict if they are members of one section. */
#include "planner/pack/solve_exact.h"
#include "planner/pack/strategies.h"

#include <stdlib.h>
#include <string.h>

typedef struct event {
    ac_step at;
    int32_t up; /* 0 sorts first: lives are half-open */
    int32_t item;
} event;

static int by_time(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->up != y->up)
        return x->up < y->up ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static void add_events(const ac_exact *x, int32_t i, event *e, int32_t *n)
{
    const ac_item *it = &x->p->item[x->origin[i]];
    ac_step t = it->life.begin;
    for (int32_t g = 0; g <= it->n_gaps; g++) {
        ac_step end = g < it->n_gaps ? it->gaps[g].life.begin : it->life.end;
        if (t < end) {
            e[(*n)++] = (event){t, 1, i};
            e[(*n)++] = (event){end, 0, i};
        }
        t = g < it->n_gaps ? it->gaps[g].life.end : t;
    }
}

/* Fills step[] and the rows of section -> items. */
static void find_sections(ac_exact *x, int32_t n_gaps)
{
    event *e = AC_NEW_N(x->region, event, 2 * ((int64_t)x->n + n_gaps));
    int32_t n = 0, n_live = 0;
    int32_t *live = AC_NEW_N(x->region, int32_t, (int64_t)x->n + n_gaps);
    ac_words first = {0}, member = {0}, step = {0};
    for (int32_t i = 0; i < x->n; i++)
        add_events(x, i, e, &n);
    if (n)
        qsort(e, (size_t)n, sizeof *e, by_time);
    bool grown = false;
    for (int32_t k = 0; k < n; k++) {
        if (e[k].up) {
            live[n_live++] = e[k].item;
            grown = true;
            continue;
        }
        if (grown) {
            ac_push(x->region, &first, member.n);
            ac_push(x->region, &step, e[k].at - 1);
            for (int32_t m = 0; m < n_live; m++)
                ac_push(x->region, &member, live[m]);
            grown = false;
        }
        for (int32_t m = 0; m < n_live; m++)
            if (live[m] == e[k].item) {
                live[m] = live[--n_live];
                break;
            }
    }
    x->n_sections = first.n;
    ac_push(x->region, &first, member.n);
    x->member = (ac_rows){first.item, member.item};
    x->step = step.item;
}

static void transpose_sections(ac_exact *x)
{
    int32_t total = x->member.first[x->n_sections];
    x->section = (ac_rows){AC_NEW_N(x->region, int32_t, (int64_t)x->n + 1), AC_NEW_N(x->region, int32_t, total)};
    int32_t *fill = AC_NEW_N(x->region, int32_t, (int64_t)x->n + 1);
    for (int32_t m = 0; m < total; m++)
        x->section.first[x->member.item[m] + 1]++;
    for (int32_t i = 0; i < x->n; i++) {
        x->section.first[i + 1] += x->section.first[i];
        fill[i] = x->section.first[i];
    }
    for (int32_t s = 0; s < x->n_sections; s++)
        for (int32_t m = x->member.first[s]; m < x->member.first[s + 1]; m++)
            x->section.item[fill[x->member.item[m]]++] = s;
    x->first_section = AC_NEW_N(x->region, int32_t, x->n);
    x->last_section = AC_NEW_N(x->region, int32_t, x->n);
    for (int32_t i = 0; i < x->n; i++) {
        x->first_section[i] = x->section.item[x->section.first[i]];
        x->last_section[i] = x->section.item[x->section.first[i + 1] - 1];
    }
}

static void find_neighbours(ac_exact *x)
{
    ac_words v = {0};
    int32_t *seen = AC_NEW_N(x->region, int32_t, x->n);
    x->neighbour.first = AC_NEW_N(x->region, int32_t, (int64_t)x->n + 1);
    for (int32_t i = 0; i < x->n; i++) {
        for (int32_t k = x->section.first[i]; k < x->section.first[i + 1]; k++) {
            int32_t s = x->section.item[k];
            for (int32_t m = x->member.first[s]; m < x->member.first[s + 1]; m++) {
                int32_t j = x->member.item[m];
                if (j == i || seen[j] == i + 1)
                    continue;
                seen[j] = i + 1;
                ac_push(x->region, &v, j);
            }
        }
        x->neighbour.first[i + 1] = v.n;
    }
    x->neighbour.item = v.item;
}

static bool same_life(const ac_item *a, const ac_item *b)
{
    if (a->life.begin != b->life.begin || a->life.end != b->life.end || a->n_gaps != b->n_gaps)
        return false;
    for (int32_t g = 0; g < a->n_gaps; g++)
        if (a->gaps[g].life.begin != b->gaps[g].life.begin || a->gaps[g].life.end != b->gaps[g].life.end)
            return false;
    return true;
}

/* Sizes, alignments, and who equals whom. Everything above an item starts at a multiple of the common divisor of all
 * alignments, so only the topmost item of a section takes less than its size rounded up to it. */
static void fill_items(ac_exact *x)
{
    ac_bytes unit = 0;
    for (int32_t i = 0; i < x->n; i++)
        unit = ac_gcd(unit, x->p->item[x->origin[i]].align);
    for (int32_t i = 0; i < x->n; i++) {
        const ac_item *it = &x->p->item[x->origin[i]];
        x->size[i] = it->size;
        x->align[i] = it->align;
        x->padded[i] = ac_align_up(it->size, unit);
        x->fixed[i] = it->fixed >= 0 ? it->fixed : -1;
        x->twin[i] = -1;
        for (int32_t j = i - 1; j >= 0 && x->twin[i] < 0 && x->fixed[i] < 0; j--) {
            const ac_item *b = &x->p->item[x->origin[j]];
            if (it->size == b->size && it->align == b->align && b->fixed < 0 && same_life(it, b))
                x->twin[i] = j;
        }
    }
}

typedef struct ranked {
    ac_bytes key[3];
    int32_t item;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x->key[k] != y->key[k])
            return x->key[k] > y->key[k] ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static uint64_t draw(uint64_t *random) /* xorshift64* */
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return *random * 0x2545f4914f6cdd1dull;
}

/* v less up to a quarter of it. */
static ac_bytes perturbed(ac_bytes v, uint64_t *random)
{
    return v - v / 1024 * (ac_bytes)(draw(random) >> 56);
}

void ac_exact_reorder(ac_exact *x, int32_t order)
{
    uint64_t random = 0x9e3779b97f4a7c15u * (uint64_t)(order + 1);
    ranked *r = x->ranked;
    for (int32_t i = 0; i < x->n; i++) {
        const ac_item *it = &x->p->item[x->origin[i]];
        ac_bytes size = x->size[i], total = 0, life = ((ac_bytes)it->life.end - it->life.begin) << 20;
        if (order >= AC_EXACT_ORDERS) {
            life = perturbed(life, &random);
            size = perturbed(size, &random);
        }
        ac_bytes steps = (life >> 20) + 1, area = size > INT64_MAX / steps ? INT64_MAX : steps * size;
        for (int32_t k = x->section.first[i]; k < x->section.first[i + 1]; k++) {
            ac_bytes sum = 0;
            int32_t s = x->section.item[k];
            for (int32_t m = x->member.first[s]; m < x->member.first[s + 1]; m++)
                sum += x->size[x->member.item[m]];
            total = sum > total ? sum : total;
        }
        switch (order % 4) {
        case 0:
            r[i] = (ranked){{life, area, total}, i};
            break;
        case 1:
            r[i] = (ranked){{total, area, life}, i};
            break;
        case 2:
            r[i] = (ranked){{total, life, area}, i};
            break;
        case 3:
            r[i] = (ranked){{size, life, total}, i};
            break;
        }
    }
    qsort(r, (size_t)x->n, sizeof *r, by_key);
    for (int32_t k = 0; k < x->n; k++)
        x->rank[r[k].item] = k;
}

static void open_items(ac_exact *x)
{
    x->size = AC_NEW_N(x->region, ac_bytes, x->n);
    x->padded = AC_NEW_N(x->region, ac_bytes, x->n);
    x->align = AC_NEW_N(x->region, ac_bytes, x->n);
    x->fixed = AC_NEW_N(x->region, ac_bytes, x->n);
    x->twin = AC_NEW_N(x->region, int32_t, x->n);
    x->rank = AC_NEW_N(x->region, int32_t, x->n);
    x->ranked = AC_NEW_N(x->region, ranked, x->n);
    fill_items(x);
}

static void open_state(ac_exact *x)
{
    ac_region *r = x->region;
    x->low = AC_NEW_N(r, int64_t, x->n);
    x->defer = AC_NEW_N(r, int64_t, x->n);
    x->at = AC_NEW_N(r, int64_t, x->n);
    x->floor = AC_NEW_N(r, int64_t, x->n_sections);
    x->need = AC_NEW_N(r, int64_t, x->n_sections);
    x->roof = AC_NEW_N(r, int64_t, x->n_sections);
    x->cross = AC_NEW_N(r, int64_t, (int64_t)x->n_sections + 1);
    x->left = AC_NEW_N(r, int64_t, x->n_sections);
    x->dirty = AC_NEW_N(r, bool, x->n_sections);
    x->failed = AC_NEW_N(r, ac_exact_failed, (int64_t)1 << AC_EXACT_FAILED_BITS);
}

ac_exact *ac_exact_open(const ac_problem *p, ac_region *tmp)
{
    ac_exact *x = AC_NEW(tmp, ac_exact);
    x->p = p;
    x->region = tmp;
    x->origin = AC_NEW_N(tmp, int32_t, p->n);
    int32_t n_gaps = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        ac_step bytes_in = it->life.end - it->life.begin;
        for (int32_t g = 0; g < it->n_gaps; g++) {
            if (it->gaps[g].hi > it->gaps[g].lo)
                return NULL;
            bytes_in -= it->gaps[g].life.end - it->gaps[g].life.begin;
        }
        if (!it->size || !bytes_in)
            continue;
        n_gaps += it->n_gaps;
        x->origin[x->n++] = i;
    }
    if (p->n_pairs || x->n > AC_EXACT_MAX_ITEMS)
        return NULL;
    open_items(x);
    find_sections(x, n_gaps);
    transpose_sections(x);
    find_neighbours(x);
    open_state(x);
    return x;
}
