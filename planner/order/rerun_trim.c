/* rerun_trim.c - undoes drops that a plan within a budget does not need, and perturbs it; see rerun_search.h. */
#include "planner/order/rerun_search.h"

#include "base/random.h"

#include <string.h>

enum { ROUNDS = 4 };

/* Sets q->gain to the cost of each gap, the work of recomputing its value in it, and q->order to the gaps with a cost,
 * the most expensive first. */
static int32_t list_gaps(ac_rerun_search *q)
{
    const ac_rerun *k = q->k;
    int32_t n = 0;
    memset(q->gain, 0, (size_t)k->n_gaps * sizeof *q->gain);
    for (int32_t i = 0; i < k->instance.n; i++) {
        const ac_instance *x = &k->instance.item[i];
        const ac_event *e = &k->event.item[x->first];
        if (e->step == e->before || k->maker[x->value] != e->step)
            continue;
        const int32_t g = ac_rerun_gap(k, x->value, e->before);
        if (!q->gain[g]) {
            q->order[n++] = g;
            q->again[g] = e->before;
        }
        q->gain[g] += k->work[e->step];
    }
    for (int32_t gap = n / 2; gap > 0; gap /= 2)
        for (int32_t i = gap; i < n; i++)
            for (int32_t j = i; j >= gap && q->gain[q->order[j - gap]] < q->gain[q->order[j]]; j -= gap) {
                const int32_t g = q->order[j];
                q->order[j] = q->order[j - gap];
                q->order[j - gap] = g;
            }
    return n;
}

/* Would its value fit into the gap up to where it is made again, if nothing else changed? */
static bool may_fit(const ac_rerun_search *q, int32_t v, int32_t g, ac_bytes budget)
{
    const ac_order_value *x = &q->k->p->value[v];
    for (int32_t s = x->user[g - q->k->gap[v]] + 1; s < q->again[g]; s++)
        if (q->most[s] + x->size > budget)
            return false;
    return true;
}

/* The choice with another number for gap g, if it is cheaper. */
static bool better_with(ac_rerun_search *q, ac_rerun_choice *x, int32_t g, ac_hold hold, ac_bytes budget)
{
    const ac_hold before = x->hold[g];
    ac_rerun *k = q->k;
    x->hold[g] = hold;
    ac_rerun_run(k, x->hold, x->again - 1);
    if (k->possible && k->peak <= budget) {
        x->peak = k->peak;
        x->again = k->again;
        memcpy(q->most, k->most, (size_t)k->p->n * sizeof *k->most);
        return true;
    }
    x->hold[g] = before;
    return false;
}

void ac_rerun_trim(ac_rerun_search *q, ac_rerun_choice *x, ac_bytes budget)
{
    bool better = true;
    for (int32_t round = 0; round < ROUNDS && better; round++) {
        better = false;
        ac_rerun_take(q, x);
        const int32_t n = list_gaps(q);
        memcpy(q->most, q->k->most, (size_t)q->k->p->n * sizeof *q->most);
        for (int32_t i = 0; i < n; i++) {
            const int32_t g = q->order[i], v = q->k->owner[g];
            if (may_fit(q, v, g, budget) && better_with(q, x, g, (ac_hold){0}, budget))
                better = true;
            else if (q->gain[g] > q->k->work[q->k->maker[v]])
                better |= better_with(q, x, g, (ac_hold){x->hold[g].to, q->again[g]}, budget);
        }
    }
}

/* Keeps, at random, values that are dropped over some step, then drops values anew to meet the budget. */
void ac_rerun_shake(ac_rerun_search *q, ac_rerun_choice *x, ac_bytes budget)
{
    ac_rerun *k = q->k;
    const int32_t at = (int32_t)ac_random(&q->random, (uint64_t)k->p->n),
                  chance = 2 + (int32_t)ac_random(&q->random, 7);
    memcpy(q->other.hold, x->hold, (size_t)k->n_gaps * sizeof *x->hold);
    for (int32_t v = 0; v < k->p->n_values; v++) {
        const int32_t g = ac_rerun_may(k, v) ? ac_rerun_gap(k, v, at) : -1;
        const bool last = g >= 0 && g + 1 == k->gap[v] + k->p->value[v].n_users;
        if (g >= 0 && q->other.hold[g].from && !last && ac_random(&q->random, 8) < (uint64_t)chance)
            q->other.hold[g] = (ac_hold){0};
    }
    if (!ac_rerun_repair(q, &q->other, budget, budget))
        return;
    ac_rerun_trim(q, &q->other, budget);
    if (q->other.again < x->again || (q->other.again == x->again && q->other.peak < x->peak))
        ac_rerun_choice_set(q, x, &q->other);
}
