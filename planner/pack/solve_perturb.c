/* solve_perturb.c - the skyline filled under many priorities (fill_priority.h): first drawn at random, then climbing.
 *
 *   1. Draw priorities a * log(life) + b * log(size) + noise, with a, b and the strength of the noise drawn too, and
 *      with either preference at the edge; the best stay.
 *   2. Perturb the priorities of one to three items of the best at random; the change stays unless the arena grew (by
 *      more than a margin that shrinks to nothing).
 *   3. First fit in the order of the offsets produces the final plan, as in solve_valley.c; every plan, if an item
 *      has gaps, pairs or a fixed offset.
 *
 * A fill costs about a tenth of what an order-based search pays for a plan, and a change at the bottom moves everything
 * on top of it, which single moves cannot: on MiniMalloc's A..K it ends 6 % above the bound in the mean, where the six
 * priorities of solve_valley.c end 22 % above it.
 *
 * Cost: at most FILLS + FILLS_PER_ITEM * n fills and about WORK placements; counted, never timed, and all numbers are
 * integers before they are compared: the same plan on every machine. Bad if the best plan has a hole at the floor of a
 * valley. Source: ours; such a climb is known as threshold accepting (Dueck, Scheuer 1990). */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/incumbent.h"
#include "planner/pack/place.h"
#include "planner/pack/fill_priority.h"

#include "base/fixed.h"
#include "base/random.h"

#include <string.h>

enum { WORK = 800000, DRAWN = 128, FILLS = 256, FILLS_PER_ITEM = 12 };

typedef struct climber {
    const ac_problem *p;
    ac_priority_filler *filler;
    ac_incumbent best;
    uint64_t random;
} climber;

/* The arena under these priorities; a plan that is the smallest so far is kept. */
static ac_bytes try_keys(climber *s, const double *key, ac_priority_edge edge)
{
    return ac_incumbent_offer(&s->best, ac_priority_fill(s->filler, key, edge, s->best.fill));
}

static void draw_keys(climber *s, const int64_t *life, const int64_t *size, double *key)
{
    int64_t a = (int64_t)ac_random(&s->random, 768), b = (int64_t)ac_random(&s->random, 512); /* in 1/256 */
    uint64_t noise = ac_random(&s->random, AC_FIXED_ONE) << 8;
    for (int32_t i = 0; i < s->p->n; i++)
        key[i] = (double)(a * life[i] + b * size[i] + (int64_t)ac_random(&s->random, 2 * noise + 1));
}

static void climb(climber *s, double *key, ac_priority_edge edge, ac_bytes bound, int64_t fills)
{
    const int64_t start = fills;
    ac_bytes now = s->best.top;
    for (; fills > 0 && s->best.top > bound; fills--) {
        int32_t who[3], n = 1 + (int32_t)ac_random(&s->random, 3);
        double old[3];
        for (int32_t k = 0; k < n; k++) {
            who[k] = (int32_t)ac_random(&s->random, (uint64_t)s->p->n);
            old[k] = key[who[k]];
            double moved = old[k] + (double)ac_random(&s->random, AC_FIXED_ONE * 256 * 12) - AC_FIXED_ONE * 256 * 6;
            key[who[k]] = moved > 0 ? moved : 0;
        }
        ac_bytes top = try_keys(s, key, edge);
        if (top <= now + now / 256 * fills / start) {
            now = top;
            continue;
        }
        for (int32_t k = n; k--;) /* backwards, as one item may have been moved twice */
            key[who[k]] = old[k];
    }
}

/* Draws priorities and tries each with both edges; the best stay in best_key. Returns the edge that went with them. */
static ac_priority_edge explore(climber *s, ac_bytes bound, int64_t fills, double *best_key, ac_region *tmp)
{
    const ac_problem *p = s->p;
    int64_t *life = AC_NEW_N(tmp, int64_t, p->n), *size = AC_NEW_N(tmp, int64_t, p->n);
    for (int32_t i = 0; i < p->n; i++) {
        life[i] = ac_log2_fixed((uint64_t)(p->item[i].life.end - p->item[i].life.begin));
        size[i] = p->item[i].size ? ac_log2_fixed((uint64_t)p->item[i].size) : 0;
    }
    double *key = AC_NEW_N(tmp, double, p->n);
    ac_priority_edge edge = AC_ANY_BEGIN;
    ac_bytes best = INT64_MAX;
    for (int64_t k = 0; k < fills && s->best.top > bound; k++) {
        if (k % 2 == 0)
            draw_keys(s, life, size, key);
        ac_bytes top = try_keys(s, key, k % 2 ? AC_SAME_BEGIN : AC_ANY_BEGIN);
        if (top >= best)
            continue;
        best = top;
        edge = k % 2 ? AC_SAME_BEGIN : AC_ANY_BEGIN;
        memcpy(best_key, key, (size_t)p->n * sizeof *key);
    }
    return edge;
}

int ac_solve_perturb(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    AC_TRY(ac_solve_valley(p, offset, tmp));
    const ac_bytes bound = ac_problem_bound(p, tmp).aligned;
    const ac_bytes valley = ac_problem_top(p, offset);
    if (valley <= bound)
        return AC_OK;
    climber s = {.p = p, .best = ac_incumbent_open(p, offset, tmp), .random = AC_RANDOM_START};
    s.best.top = valley;
    s.filler = ac_priority_open(p, tmp);
    double *key = AC_NEW_N(tmp, double, p->n);
    int64_t fills = WORK / (s.best.plain ? p->n : 4 * (int64_t)p->n), most = FILLS + FILLS_PER_ITEM * (int64_t)p->n;
    fills = fills < most ? fills : most;
    const int64_t drawn = fills < 2 * DRAWN ? fills : DRAWN;
    ac_priority_edge edge = explore(&s, bound, drawn, key, tmp);
    if (fills > drawn)
        climb(&s, key, edge, bound, fills - drawn);
    if (s.best.top > bound)
        ac_incumbent_compact(&s.best, tmp);
    return AC_OK;
}
