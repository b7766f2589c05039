/* rerun_front.c - a ladder of budgets, down and up again; see rerun_search.h.
 *
 * Down: each budget is met by more drops, starting with those of the one above, then values whose drops no longer pay
 * are kept again. Up: a plan of the budget below has spare bytes now, and often it keeps values that cost less than the
 * plan from above. Then every budget is tried in other ways, at random, until the allowance is spent. */
#include "planner/order/rerun_search.h"

#include "base/random.h"

enum { STEP = 48, MOST = 512 };                       /* a budget is 1/STEP below the one before it */
enum { TRIES = 15, AIMS = 5, NOISE = 3, ROUNDS = 6 }; /* to get down; lower aims; ac_rerun_search.noise; up and down */

typedef struct ladder {
    ac_rerun_search *q;
    ac_bytes *budget;
    ac_rerun_choice *best; /* by budget; the first: all is kept */
    int32_t n;
} ladder;

/* From plans of higher budgets, with other dice, until one gets down to this one. */
static bool get_down(ladder *l, ac_rerun_choice *x, int64_t end)
{
    ac_rerun_search *q = l->q;
    bool found = false;
    q->noise = NOISE;
    for (int32_t n = 0; n < TRIES && !found && q->k->spent < end; n++) {
        const ac_bytes budget = l->budget[l->n];
        const int32_t back = 1 + (int32_t)ac_random(&q->random, 1 + (uint64_t)n / 2);
        ac_rerun_choice_set(q, x, &l->best[back < l->n ? l->n - back : 0]);
        found = ac_rerun_repair(q, x, budget, budget - budget / 16 * (n % AIMS));
    }
    q->noise = 0;
    return found;
}

/* Budgets below the last one, as far as they can be met. */
static void down(ladder *l, int64_t end)
{
    ac_rerun_search *q = l->q;
    ac_rerun_choice x = ac_rerun_choice_new(q);
    ac_rerun_choice_set(q, &x, &l->best[l->n - 1]);
    for (; l->n < MOST; l->n++) {
        const ac_bytes last = l->budget[l->n - 1], budget = l->budget[l->n] = last - (last / STEP + 1);
        if (x.peak > budget) {
            if (!ac_rerun_repair(q, &x, budget, budget) && !get_down(l, &x, end))
                break;
            ac_rerun_trim(q, &x, budget);
        }
        l->best[l->n] = ac_rerun_choice_new(q);
        ac_rerun_choice_set(q, &l->best[l->n], &x);
    }
}

/* Plans of lower budgets in place of dearer ones. */
static void inherit(ladder *l)
{
    for (int32_t i = l->n - 2; i >= 0; i--)
        if (l->best[i + 1].again < l->best[i].again)
            ac_rerun_choice_set(l->q, &l->best[i], &l->best[i + 1]);
}

static void up(ladder *l)
{
    ac_rerun_choice x = ac_rerun_choice_new(l->q);
    for (int32_t i = l->n - 1; i > 0; i--) {
        if (i + 1 < l->n) {
            ac_rerun_choice_set(l->q, &x, &l->best[i + 1]);
            ac_rerun_trim(l->q, &x, l->budget[i]);
        }
        if (i + 1 < l->n && x.again < l->best[i].again)
            ac_rerun_choice_set(l->q, &l->best[i], &x);
    }
}

static void shake(ladder *l, int64_t end)
{
    ac_rerun_search *q = l->q;
    q->noise = NOISE;
    for (int32_t i = 1; i < l->n && q->k->spent < end; i++)
        ac_rerun_shake(q, &l->best[i], l->budget[i]);
    q->noise = 0;
}

/* The plans that take less than all that cost no more. */
static ac_rerun_front front_of(const ladder *l)
{
    ac_rerun_front f = {.item = AC_NEW_N(l->q->k->region, ac_rerun_choice, l->n)};
    for (int32_t i = 0; i < l->n; i++) {
        while (f.n && f.item[f.n - 1].again >= l->best[i].again && f.item[f.n - 1].peak >= l->best[i].peak)
            f.n--;
        if (!f.n || l->best[i].peak < f.item[f.n - 1].peak)
            f.item[f.n++] = l->best[i];
    }
    return f;
}

ac_rerun_front ac_rerun_front_make(ac_rerun_search *q, int64_t events)
{
    ac_region *r = q->k->region;
    ladder l = {.q = q, .budget = AC_NEW_N(r, ac_bytes, MOST + 1), .best = AC_NEW_N(r, ac_rerun_choice, MOST), .n = 1};
    const int64_t part = events / (ROUNDS + 1);
    l.best[0] = ac_rerun_choice_new(q);
    l.budget[0] = l.best[0].peak;
    down(&l, part);
    for (int32_t round = 1; round <= ROUNDS; round++) {
        up(&l);
        shake(&l, part * (round + 1));
        down(&l, part * (round + 1));
    }
    up(&l);
    inherit(&l);
    return front_of(&l);
}
