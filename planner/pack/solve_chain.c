/* solve_chain.c - the skyline filled with chains (fill_chain.h) under many values.
 *
 *   1. One fill by size times life (fill_priority.h), in case the work does not suffice for one fill of chains.
 *   2. value = life^a * size^b with a, b and the weight of equal heights from a short table, then drawn at random.
 *   3. Up to CLIMB items: the values of one to three items of the best are perturbed at random; the change stays unless
 *      the arena grew (by more than a margin that shrinks to nothing).
 *   4. First fit in the order of the offsets has the last word, as in solve_valley.c.
 *
 * Long lives are worth more than in proportion (a above 1) since they fit nowhere later; sizes matter little: a chain
 * covers time. On rectangles cut into 100,000 pieces this ends 10 % above the bound, where single items end 14 % above
 * it, and a fill takes half the time.
 *
 * Cost: WORK_PER_ITEM * n, at most WORK; counted, never timed, all in integers: the same plan on every machine.
 * Bad where the best plan has a hole at the floor of a valley. Source: see fill_chain.h; the climb as in
 * solve_perturb.c. */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/fill_chain.h"
#include "planner/pack/incumbent.h"
#include "planner/pack/fill_priority.h"

#include "base/fixed.h"
#include "base/random.h"

#include <string.h>

enum { WORK = 250000000, WORK_PER_ITEM = 25000, DRAWN = 24, CLIMB = 20000, MOST = 40 };

/* In 1/256. */
typedef struct weights {
    int32_t life, size, match;
} weights;

static const weights USUAL[] = {{384, 51, 256}, {384, 26, 384}, {333, 26, 0},   {282, 26, 0},
                                {435, 26, 256}, {435, 102, 0},  {282, 51, 256}, {384, 102, 384}};
enum { USUAL_N = sizeof USUAL / sizeof *USUAL };

typedef struct chains {
    const ac_problem *p;
    ac_chain_filler *chain;
    ac_incumbent best;
    int64_t *life, *size; /* logarithms */
    int64_t *power;       /* logarithms of the values tried, at most MOST */
    int64_t *value;
    int64_t work;
    uint64_t random;
} chains;

static int64_t value_of(int64_t power)
{
    return ac_exp2_fixed(power < 0 ? 0 : power);
}

/* The arena under the values at hand; a plan that is the smallest so far is kept. */
static ac_bytes try_values(chains *s, int32_t match)
{
    const ac_bytes top = ac_chain_fill(s->chain, s->value, match, &s->work, s->best.fill);
    if (top == INT64_MAX)
        return top;
    if (!s->best.plain)
        s->work -= 64 * (int64_t)s->p->n;
    return ac_incumbent_offer(&s->best, top);
}

static void set_values(chains *s, weights w)
{
    int64_t most = INT64_MIN;
    for (int32_t i = 0; i < s->p->n; i++) {
        s->power[i] = (s->life[i] * w.life + s->size[i] * w.size) / 256;
        most = s->power[i] > most ? s->power[i] : most;
    }
    for (int32_t i = 0; i < s->p->n; i++) {
        s->power[i] += MOST * AC_FIXED_ONE - most;
        s->value[i] = value_of(s->power[i]);
    }
}

static weights draw_weights(chains *s)
{
    weights w = {.life = 256 + (int32_t)ac_random(&s->random, 205)};
    w.size = (int32_t)ac_random(&s->random, 128);
    w.match = (int32_t)ac_random(&s->random, 512);
    return w;
}

/* Tries weights until `fills` are done, the work is spent or the bound is met; returns the best. */
static weights explore(chains *s, ac_bytes bound, int64_t fills)
{
    weights best = USUAL[0];
    ac_bytes best_top = INT64_MAX;
    for (int64_t k = 0; k < fills && s->work > 0 && s->best.top > bound; k++) {
        const weights w = k < USUAL_N ? USUAL[k] : draw_weights(s);
        set_values(s, w);
        const ac_bytes top = try_values(s, w.match);
        if (top < best_top) {
            best_top = top;
            best = w;
        }
    }
    return best;
}

static void climb(chains *s, weights w, ac_bytes bound)
{
    const int64_t start = s->work;
    set_values(s, w);
    ac_bytes now = try_values(s, w.match);
    while (s->work > 0 && s->best.top > bound) {
        int32_t who[3], n = 1 + (int32_t)ac_random(&s->random, 3);
        int64_t old[3];
        for (int32_t k = 0; k < n; k++) {
            who[k] = (int32_t)ac_random(&s->random, (uint64_t)s->p->n);
            old[k] = s->power[who[k]];
            const int64_t moved = old[k] + (int64_t)ac_random(&s->random, AC_FIXED_ONE * 6) - AC_FIXED_ONE * 3;
            s->power[who[k]] = moved < MOST * AC_FIXED_ONE ? moved : MOST * AC_FIXED_ONE;
            s->value[who[k]] = value_of(s->power[who[k]]);
        }
        const ac_bytes top = try_values(s, w.match);
        if (top <= now + now / 256 * (s->work > 0 ? s->work : 0) / start) {
            now = top;
            continue;
        }
        for (int32_t k = n; k--;) { /* backwards, as one item may have been moved twice */
            s->power[who[k]] = old[k];
            s->value[who[k]] = value_of(old[k]);
        }
    }
}

/* Step 1, and what the others need. */
static void start(chains *s, ac_region *tmp)
{
    const ac_problem *p = s->p;
    s->life = AC_NEW_N(tmp, int64_t, p->n);
    s->size = AC_NEW_N(tmp, int64_t, p->n);
    s->power = AC_NEW_N(tmp, int64_t, p->n);
    s->value = AC_NEW_N(tmp, int64_t, p->n);
    double *area = AC_NEW_N(tmp, double, p->n);
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        s->life[i] = ac_log2_fixed((uint64_t)(it->life.end - it->life.begin));
        s->size[i] = it->size ? ac_log2_fixed((uint64_t)it->size) : 0;
        area[i] = (double)(it->life.end - it->life.begin) * (double)it->size;
    }
    ac_incumbent_offer(&s->best, ac_priority_fill(ac_priority_open(p, tmp), area, AC_ANY_BEGIN, s->best.fill));
    s->chain = ac_chain_open(p, tmp);
}

int ac_solve_chain(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    if (!p->n)
        return AC_OK;
    const ac_bytes bound = ac_problem_bound(p, tmp).aligned;
    chains s = {.p = p, .best = ac_incumbent_open(p, offset, tmp), .random = AC_RANDOM_START};
    s.work = p->n < WORK / WORK_PER_ITEM ? (int64_t)WORK_PER_ITEM * p->n : WORK;
    start(&s, tmp);
    const weights w = explore(&s, bound, p->n <= CLIMB ? DRAWN : INT64_MAX);
    if (s.work > 0 && s.best.top > bound)
        climb(&s, w, bound);
    if (s.best.top > bound)
        ac_incumbent_compact(&s.best, tmp);
    return AC_OK;
}
