/* place.c - see place.h: placed items, the offsets they forbid to the next item, and the place between. */
#include "planner/pack/place.h"

#include "base/radix.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A range of steps during which an item occupies the same part of its bytes. An item without gaps has one. */
typedef struct piece {
    ac_step begin, end;
    ac_bytes lo, hi; /* bytes of the item, hi > lo */
    int32_t item;
} piece;

/* Offsets lo <= x < hi are forbidden. */
typedef struct span {
    ac_bytes lo, hi;
} span;

typedef struct entry {
    ac_bytes offset, top;
    ac_step begin, end;
} entry;

/* Consecutive entries of the list. */
enum { BLOCK = 128 };
typedef struct block {
    ac_bytes top;
    ac_step last_begin, first_end; /* an item that is alive between them conflicts with all */
    bool solid;                    /* no item fits between two of them */
} block;

typedef struct placer {
    const ac_problem *p;
    ac_bytes *offset;
    ac_region *tmp;
    piece *piece; /* sorted by begin */
    int32_t n_pieces;
    int32_t *of, *first;           /* pieces of item i: of[first[i]..first[i + 1]) */
    int32_t *pair_of, *pair_first; /* pairs of item i, likewise; NULL: no pairs */
    ac_step *max_end; /* heap-shaped tree over pieces: the largest end among the placed ones, 0: none placed */
    int32_t leaves;
    AC_VEC(span) span; /* of the item being placed */
    ac_keyed *keyed;   /* to sort them: 2 * cap of these, cap of those */
    span *unsorted;
    int32_t cap;
    entry *list; /* placed pieces by offset, once the dense case has come up; only when `plain` */
    int32_t n_list;
    block *block;          /* of the list */
    int32_t n_blocks;      /* of those: up to date */
    int32_t run, skip;     /* 2^k - 1 after k dense items; so many more skip the tree */
    ac_bytes least, align; /* the smallest of the items, and of their alignments */
    entry *fresh;          /* placed since `list` was brought up to date */
    int32_t n_fresh, n_placed;
    bool plain; /* no gaps and no pairs: every conflict is a whole item */
} placer;

static void add_piece(placer *pl, int32_t i, ac_step begin, ac_step end, ac_bytes lo, ac_bytes hi)
{
    if (begin < end && lo < hi)
        pl->piece[pl->n_pieces++] = (piece){begin, end, lo, hi, i};
}

/* By begin; pieces of one begin stay in the order of the items. */
static void sort_pieces(placer *pl)
{
    ac_keyed *v = AC_NEW_N(pl->tmp, ac_keyed, pl->n_pieces);
    piece *sorted = AC_NEW_N(pl->tmp, piece, pl->n_pieces);
    for (int32_t k = 0; k < pl->n_pieces; k++)
        v[k] = (ac_keyed){(uint64_t)pl->piece[k].begin, k};
    ac_radix_sort(v, pl->n_pieces, AC_NEW_N(pl->tmp, ac_keyed, pl->n_pieces));
    for (int32_t k = 0; k < pl->n_pieces; k++)
        sorted[k] = pl->piece[v[k].value];
    pl->piece = sorted;
}

static void cut_pieces(placer *pl)
{
    const ac_problem *p = pl->p;
    int64_t most = p->n;
    for (int32_t i = 0; i < p->n; i++)
        most += 2 * (int64_t)p->item[i].n_gaps;
    pl->piece = AC_NEW_N(pl->tmp, piece, most);
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        ac_step t = it->life.begin;
        for (int32_t g = 0; g < it->n_gaps; g++) {
            add_piece(pl, i, t, it->gaps[g].life.begin, 0, it->size);
            add_piece(pl, i, it->gaps[g].life.begin, it->gaps[g].life.end, it->gaps[g].lo, it->gaps[g].hi);
            t = it->gaps[g].life.end;
            pl->plain = false;
        }
        add_piece(pl, i, t, it->life.end, 0, it->size);
    }
    sort_pieces(pl);
    pl->first = AC_NEW_N(pl->tmp, int32_t, (int64_t)p->n + 2);
    pl->of = AC_NEW_N(pl->tmp, int32_t, pl->n_pieces);
    for (int32_t k = 0; k < pl->n_pieces; k++)
        pl->first[pl->piece[k].item + 2]++;
    for (int32_t i = 0; i < p->n; i++)
        pl->first[i + 2] += pl->first[i + 1];
    for (int32_t k = 0; k < pl->n_pieces; k++) /* shifts first[] down by one place as it fills */
        pl->of[pl->first[pl->piece[k].item + 1]++] = k;
}

static void index_pairs(placer *pl)
{
    const ac_problem *p = pl->p;
    if (!p->n_pairs)
        return;
    pl->plain = false;
    pl->pair_first = AC_NEW_N(pl->tmp, int32_t, (int64_t)p->n + 2);
    pl->pair_of = AC_NEW_N(pl->tmp, int32_t, 2 * (int64_t)p->n_pairs);
    for (int32_t k = 0; k < p->n_pairs; k++) {
        pl->pair_first[p->pair[k].a + 2]++;
        pl->pair_first[p->pair[k].b + 2]++;
    }
    for (int32_t i = 0; i < p->n; i++)
        pl->pair_first[i + 2] += pl->pair_first[i + 1];
    for (int32_t k = 0; k < p->n_pairs; k++) {
        pl->pair_of[pl->pair_first[p->pair[k].a + 1]++] = k;
        pl->pair_of[pl->pair_first[p->pair[k].b + 1]++] = k;
    }
}

static void mark_placed(placer *pl, int32_t i)
{
    for (int32_t f = pl->first[i]; f < pl->first[i + 1]; f++) {
        const piece *q = &pl->piece[pl->of[f]];
        for (int32_t at = pl->leaves + pl->of[f]; at && pl->max_end[at] < q->end; at /= 2)
            pl->max_end[at] = q->end;
        pl->fresh[pl->n_fresh++] = (entry){pl->offset[i] + q->lo, pl->offset[i] + q->hi, q->begin, q->end};
        pl->n_placed++;
    }
}

static placer *open_placer(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    placer *pl = AC_NEW(tmp, placer);
    *pl = (placer){.p = p, .offset = offset, .tmp = tmp, .plain = true, .leaves = 1};
    cut_pieces(pl);
    index_pairs(pl);
    while (pl->leaves < pl->n_pieces)
        pl->leaves *= 2;
    pl->max_end = AC_NEW_N(tmp, ac_step, 2 * (int64_t)pl->leaves);
    pl->fresh = AC_NEW_N(tmp, entry, pl->n_pieces);
    pl->list = AC_NEW_N(tmp, entry, pl->n_pieces);
    pl->block = AC_NEW_N(tmp, block, pl->n_pieces / BLOCK + 1);
    pl->least = pl->align = INT64_MAX;
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].size > 0) {
            pl->least = p->item[i].size < pl->least ? p->item[i].size : pl->least;
            pl->align = p->item[i].align < pl->align ? p->item[i].align : pl->align;
        }
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].fixed >= 0) {
            offset[i] = p->item[i].fixed;
            mark_placed(pl, i);
        }
    return pl;
}

/* The offsets that piece q of item i may not use because of piece o of the placed item o->item. */
static span forbidden(const placer *pl, int32_t i, const piece *q, const piece *o)
{
    ac_bytes base = pl->offset[o->item];
    span s = {base + o->lo - q->hi + 1, base + o->hi - q->lo};
    if (!pl->pair_of)
        return s;
    for (int32_t f = pl->pair_first[i]; f < pl->pair_first[i + 1]; f++) {
        const ac_pair *r = &pl->p->pair[pl->pair_of[f]];
        int32_t other = r->a == i ? r->b : r->a;
        if (other != o->item)
            continue;
        /* The rule speaks of d = offset[b] - offset[a]; x is the offset of i. Forbidden: max_below < d < min_above. */
        if (r->b == i) {
            if (r->max_below > s.lo - 1 - base)
                s.lo = base + r->max_below + 1;
            if (r->min_above < s.hi - base)
                s.hi = base + r->min_above;
        } else { /* base - min_above < x < base - max_below */
            if (r->min_above < base - s.lo + 1)
                s.lo = base - r->min_above + 1;
            if (r->max_below > base - s.hi)
                s.hi = base - r->max_below;
        }
    }
    return s;
}

/* All placed pieces alive together with q; false: there are so many that a scan of the list is cheaper. */
static bool collect(placer *pl, int32_t i, const piece *q, int32_t limit)
{
    int32_t stack[64], depth = 0;
    stack[depth++] = 1;
    int32_t width = pl->leaves; /* leaves under the node are found from its depth: see `left` below */
    while (depth) {
        int32_t node = stack[--depth];
        if (pl->max_end[node] <= q->begin)
            continue;
        if (node >= width) {
            const piece *o = &pl->piece[node - width];
            if (o->begin >= q->end || o->item == i)
                continue;
            span s = forbidden(pl, i, q, o);
            if (s.lo < s.hi)
                ac_push(pl->tmp, &pl->span, s);
            if (pl->span.n > limit)
                return false;
            continue;
        }
        /* The right child first, so the left one is looked at next; skip it when all its begins are too late. */
        int32_t left = 2 * node + 1;
        while (left < width)
            left *= 2;
        if (left - width < pl->n_pieces && pl->piece[left - width].begin < q->end)
            stack[depth++] = 2 * node + 1;
        stack[depth++] = 2 * node;
    }
    return true;
}

static int entry_by_offset(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void update_list(placer *pl)
{
    int32_t f = pl->n_fresh - 1, l = pl->n_list - 1;
    qsort(pl->fresh, (size_t)pl->n_fresh, sizeof *pl->fresh, entry_by_offset);
    for (int32_t to = pl->n_fresh + pl->n_list - 1; f >= 0; to--)
        pl->list[to] = l >= 0 && pl->list[l].offset > pl->fresh[f].offset ? pl->list[l--] : pl->fresh[f--];
    pl->n_list += pl->n_fresh;
    pl->n_fresh = 0;
    pl->n_blocks = (l + 1) / BLOCK < pl->n_blocks ? (l + 1) / BLOCK : pl->n_blocks;
}

static const block *block_at(placer *pl, int32_t k)
{
    for (; pl->n_blocks <= k; pl->n_blocks++) {
        const entry *e = pl->list + (int64_t)pl->n_blocks * BLOCK;
        block c = {.top = e->top, .last_begin = e->begin, .first_end = e->end, .solid = true};
        for (int32_t i = 1; i < BLOCK; i++) {
            c.solid &= ac_align_up(c.top, pl->align) + pl->least > e[i].offset;
            c.top = e[i].top > c.top ? e[i].top : c.top;
            c.last_begin = e[i].begin > c.last_begin ? e[i].begin : c.last_begin;
            c.first_end = e[i].end < c.first_end ? e[i].end : c.first_end;
        }
        pl->block[pl->n_blocks] = c;
    }
    return &pl->block[k];
}

static void scan_list(placer *pl, const piece *q)
{
    update_list(pl);
    pl->span.n = 0;
    for (int32_t k = 0; k < pl->n_list; k++) {
        const entry *e = &pl->list[k];
        const block *c = k % BLOCK == 0 && k + BLOCK <= pl->n_list ? block_at(pl, k / BLOCK) : NULL;
        if (c && c->solid && c->last_begin < q->end && q->begin < c->first_end) {
            ac_push(pl->tmp, &pl->span, ((span){e->offset - q->hi + 1, c->top}));
            k += BLOCK - 1;
            continue;
        }
        if (e->begin < q->end && q->begin < e->end)
            ac_push(pl->tmp, &pl->span, ((span){e->offset - q->hi + 1, e->top}));
    }
}

/* By lo; the order of equal ones makes no difference to any fit. */
static void sort_spans(placer *pl)
{
    const int32_t n = pl->span.n;
    span *s = pl->span.item;
    if (n > 24) {
        if (pl->cap < n) {
            pl->cap = pl->span.cap;
            pl->keyed = AC_NEW_N(pl->tmp, ac_keyed, 2 * (int64_t)pl->cap);
            pl->unsorted = AC_NEW_N(pl->tmp, span, pl->cap);
        }
        ac_bytes least = s[0].lo;
        for (int32_t k = 1; k < n; k++)
            least = s[k].lo < least ? s[k].lo : least;
        for (int32_t k = 0; k < n; k++) /* from 0 up: few bytes differ, which makes few passes */
            pl->keyed[k] = (ac_keyed){(uint64_t)(s[k].lo - least), k};
        ac_radix_sort(pl->keyed, n, pl->keyed + pl->cap);
        memcpy(pl->unsorted, s, (size_t)n * sizeof *s);
        for (int32_t k = 0; k < n; k++)
            s[k] = pl->unsorted[pl->keyed[k].value];
        return;
    }
    for (int32_t i = 1; i < n; i++) {
        span x = s[i];
        int32_t k = i;
        for (; k && s[k - 1].lo > x.lo; k--)
            s[k] = s[k - 1];
        s[k] = x;
    }
}

static void find_conflicts(placer *pl, int32_t i)
{
    pl->span.n = 0;
    int32_t limit = pl->plain ? 64 + pl->n_placed / 16 : INT32_MAX;
    for (int32_t f = pl->first[i]; f < pl->first[i + 1]; f++) {
        if (!pl->skip && collect(pl, i, &pl->piece[pl->of[f]], limit))
            continue;
        pl->run = pl->skip || pl->run > 63 ? pl->run : 2 * pl->run + 1;
        pl->skip = pl->skip ? pl->skip - 1 : pl->run;
        scan_list(pl, &pl->piece[pl->of[f]]); /* plain: this is the item's only piece */
        return;
    }
    pl->run = 0;
    sort_spans(pl);
}

static ac_bytes lowest(const placer *pl, ac_bytes align)
{
    ac_bytes at = 0;
    for (int32_t k = 0; k < pl->span.n && pl->span.item[k].lo <= at; k++)
        if (pl->span.item[k].hi > at)
            at = ac_align_up(pl->span.item[k].hi, align);
    return at;
}

static ac_bytes snuggest(const placer *pl, ac_bytes align, ac_bytes size, bool as_tflite)
{
    ac_bytes now = 0, best = -1, best_gap = INT64_MAX;
    for (int32_t k = 0; k < pl->span.n && best_gap; k++) {
        const span *s = &pl->span.item[k];
        ac_bytes at = ac_align_up(now, align), next = s->lo + size - 1; /* where the neighbour begins */
        if (at < s->lo && (as_tflite ? next - at : next - now) < best_gap) {
            best = at;
            best_gap = next - now;
        }
        now = s->hi > now ? s->hi : now;
    }
    return best >= 0 ? best : ac_align_up(now, align);
}

static void put(placer *pl, int32_t i, ac_fit fit)
{
    const ac_item *it = &pl->p->item[i];
    pl->offset[i] = 0;
    if (!it->size)
        return;
    find_conflicts(pl, i);
    pl->offset[i] =
        fit == AC_FIRST_FIT ? lowest(pl, it->align) : snuggest(pl, it->align, it->size, fit == AC_TFLITE_FIT);
    mark_placed(pl, i);
}

void ac_place_in_order(const ac_problem *p, ac_bytes *offset, const int32_t *order, ac_fit fit, ac_region *tmp)
{
    placer *pl = open_placer(p, offset, tmp);
    for (int32_t k = 0; k < p->n; k++)
        if (p->item[order[k]].fixed < 0)
            put(pl, order[k], fit);
}

int32_t *ac_order_by(const ac_problem *p, const ac_bytes *key, ac_region *tmp)
{
    ac_keyed *v = AC_NEW_N(tmp, ac_keyed, p->n), *spare = AC_NEW_N(tmp, ac_keyed, p->n);
    int32_t *order = AC_NEW_N(tmp, int32_t, p->n);
    for (int32_t i = 0; i < p->n; i++)
        v[i] = (ac_keyed){(uint64_t)p->item[i].life.begin, i};
    ac_radix_sort(v, p->n, spare);
    for (int32_t k = 0; key && k < p->n; k++) /* descending, and negative numbers after the others */
        v[k].key = ~((uint64_t)key[v[k].value] ^ (uint64_t)1 << 63);
    if (key)
        ac_radix_sort(v, p->n, spare);
    for (int32_t k = 0; k < p->n; k++)
        order[k] = v[k].value;
    return order;
}

int32_t *ac_order_of(const ac_problem *p, const ac_bytes *offset, ac_region *tmp)
{
    ac_bytes *key = AC_NEW_N(tmp, ac_bytes, p->n);
    for (int32_t i = 0; i < p->n; i++)
        key[i] = -offset[i];
    return ac_order_by(p, key, tmp);
}

ac_bytes ac_problem_top(const ac_problem *p, const ac_bytes *offset)
{
    ac_bytes top = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (offset[i] + p->item[i].size > top)
            top = offset[i] + p->item[i].size;
    return top;
}
