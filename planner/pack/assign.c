/* assign.c - see assign.h: greedy choices, and exchanges that improve the best of them. */
#include "planner/pack/assign.h"

#include <stdlib.h>
#include <string.h>

enum { EXCHANGE_ITEMS = 2048 };

typedef enum rule { PER_BYTE, PER_BYTE_AND_STEP, ALONE, RULES } rule;

typedef struct ranked {
    double key;
    int32_t item;
} ranked;

typedef struct chooser {
    const ac_problem *p;
    const int64_t *value;
    ac_bytes capacity;
    const bool *free; /* by item: may be left out */
    ac_bytes *used;   /* by step: bytes of fixed and of chosen items */
    bool *in;         /* by item: chosen */
} chooser;

int64_t *ac_assign_value(const ac_problem *p, ac_region *tmp)
{
    int64_t *value = AC_NEW_N(tmp, int64_t, p->n);
    bool any = false;
    for (int32_t i = 0; i < p->n; i++)
        any |= p->item[i].traffic > 0;
    for (int32_t i = 0; i < p->n; i++)
        value[i] = any ? p->item[i].traffic : p->item[i].size;
    return value;
}

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? 1 : -1) : (x->item > y->item) - (x->item < y->item);
}

static double worth(const chooser *c, int32_t i, rule r)
{
    const ac_item *it = &c->p->item[i];
    const double value = (double)c->value[i], bytes = (double)it->size;
    switch (r) {
    case PER_BYTE:
        return value / bytes;
    case PER_BYTE_AND_STEP:
        return value / bytes / (double)(it->life.end - it->life.begin);
    case ALONE:
    case RULES:
        break;
    }
    return value;
}

static int32_t rank_by(const chooser *c, rule r, ranked *list)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->p->n; i++)
        if (c->free[i])
            list[n++] = (ranked){worth(c, i, r), i};
    if (n)
        qsort(list, (size_t)n, sizeof *list, by_key);
    return n;
}

static void add(chooser *c, int32_t i, int sign)
{
    const ac_item *it = &c->p->item[i];
    for (ac_step t = it->life.begin; t < it->life.end; t++)
        c->used[t] += sign * it->size;
    c->in[i] = sign > 0;
}

static bool fits(const chooser *c, int32_t i)
{
    const ac_item *it = &c->p->item[i];
    if (it->size > c->capacity)
        return false;
    for (ac_step t = it->life.begin; t < it->life.end; t++)
        if (c->used[t] > c->capacity - it->size)
            return false;
    return true;
}

/* Adds the items that fit, in the order of the list; returns the added value. */
static double fill(chooser *c, const ranked *list, int32_t n)
{
    double sum = 0;
    for (int32_t k = 0; k < n; k++)
        if (!c->in[list[k].item] && fits(c, list[k].item)) {
            add(c, list[k].item, 1);
            sum += (double)c->value[list[k].item];
        }
    return sum;
}

/* Adds u and removes the items in its way, the lowest value per byte first (the list begins with the highest); undone
 * unless the value grows. */
static bool exchange(chooser *c, int32_t u, const ranked *list, int32_t n, int32_t *out)
{
    int32_t n_out = 0;
    int64_t lost = 0;
    if (c->p->item[u].size > c->capacity)
        return false;
    for (int32_t k = n - 1; k >= 0 && !fits(c, u) && lost < c->value[u]; k--) {
        const int32_t i = list[k].item;
        if (!c->in[i] || !ac_life_overlap(c->p->item[i].life, c->p->item[u].life))
            continue;
        add(c, i, -1);
        lost += c->value[i];
        out[n_out++] = i;
    }
    const bool pays = lost < c->value[u] && fits(c, u);
    if (pays)
        add(c, u, 1);
    for (int32_t k = n_out - 1; k >= 0; k--) /* without u all of them fit again, with it perhaps some */
        if (!pays || fits(c, out[k]))
            add(c, out[k], 1);
    return pays;
}

void ac_assign_choose(const ac_problem *p, const int32_t *mem, int32_t m, const int64_t *value, bool *chosen,
                      ac_region *tmp)
{
    ranked *list = AC_NEW_N(tmp, ranked, p->n);
    bool *best = AC_NEW_N(tmp, bool, p->n);
    chooser c = {.p = p, .value = value, .capacity = p->mem[m].capacity, .free = chosen};
    c.in = AC_NEW_N(tmp, bool, p->n);
    c.used = AC_NEW_N(tmp, ac_bytes, p->steps + 1);
    for (int32_t i = 0; i < p->n; i++)
        if (mem[i] == m && !chosen[i])
            add(&c, i, 1);
    double most = -1;
    for (int r = 0; r < RULES; r++) {
        const int32_t n = rank_by(&c, (rule)r, list);
        const double sum = fill(&c, list, n);
        if (sum > most) {
            most = sum;
            memcpy(best, c.in, (size_t)p->n * sizeof *best);
        }
        for (int32_t k = 0; k < n; k++)
            if (c.in[list[k].item])
                add(&c, list[k].item, -1);
    }
    for (int32_t i = 0; i < p->n; i++)
        if (chosen[i] && best[i])
            add(&c, i, 1);
    const int32_t n = rank_by(&c, PER_BYTE, list);
    if (n <= EXCHANGE_ITEMS) {
        int32_t *out = AC_NEW_N(tmp, int32_t, n + 1);
        bool better = true;
        for (int round = 0; better && round < 4; round++) {
            better = false;
            for (int32_t k = 0; k < n; k++)
                better |= !c.in[list[k].item] && exchange(&c, list[k].item, list, n, out);
        }
        fill(&c, list, n);
    }
    for (int32_t i = 0; i < p->n; i++)
        chosen[i] = chosen[i] && c.in[i];
}
