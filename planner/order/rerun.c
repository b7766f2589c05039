/* rerun.c - events of a step of training, and the bytes that live at each; see rerun.h. */
#include "planner/order/rerun.h"

#include <string.h>

enum { MOST_EVENTS = 16 }; /* for each step; with more it is not a plan */

static const ac_order_value *value(const ac_rerun *k, int32_t v)
{
    return &k->p->value[v];
}

void ac_rerun_open(ac_rerun *k)
{
    const int32_t n = k->p->n_values;
    k->gap = AC_NEW_N(k->region, int32_t, n + 1);
    k->n_gaps = 0;
    for (int32_t v = 0; v < n; v++) {
        k->gap[v] = k->n_gaps;
        k->n_gaps += value(k, v)->n_users;
    }
    k->owner = AC_NEW_N(k->region, int32_t, k->n_gaps + 1);
    for (int32_t v = 0; v < n; v++)
        for (int32_t g = 0; g < value(k, v)->n_users; g++)
            k->owner[k->gap[v] + g] = v;
    k->next = AC_NEW_N(k->region, int32_t, k->n_gaps + 1);
    k->due = AC_NEW_N(k->region, int32_t, k->p->n + 1);
    k->now = AC_NEW_N(k->region, int32_t, n + 1);
    k->made = AC_NEW_N(k->region, int32_t, n + 1);
    k->past = AC_NEW_N(k->region, int32_t, n + 1);
    k->most = AC_NEW_N(k->region, ac_bytes, k->p->n + 1);
}

ac_hold *ac_rerun_keep(ac_rerun *k)
{
    ac_hold *hold = AC_NEW_N(k->region, ac_hold, k->n_gaps + 1);
    for (int32_t v = 0; v < k->p->n_values; v++)
        if (value(k, v)->n_users)
            hold[k->gap[v] + value(k, v)->n_users - 1].from = k->p->n;
    return hold;
}

int32_t ac_rerun_gap(const ac_rerun *k, int32_t v, int32_t s)
{
    const ac_order_value *x = value(k, v);
    int32_t lo = 0, hi = x->n_users; /* users before s */
    while (lo < hi) {
        const int32_t mid = (lo + hi) / 2;
        if (x->user[mid] < s)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? k->gap[v] + lo - 1 : -1;
}

/* ------------------------------------------------------------------ events */

static bool is_there(const ac_rerun *k, int32_t v, int32_t s)
{
    const ac_hold h = k->hold[k->gap[v] + k->past[v] - 1];
    return k->made[v] == s || s <= h.to || k->made[v] >= (h.from < 0 ? -h.from : h.from);
}

static void run(ac_rerun *k, int32_t step, int32_t before)
{
    const ac_order_step *st = &k->p->step[step];
    const ac_event e = {step, before, k->use.n};
    for (int32_t i = 0; i < st->n_values; i++) {
        const int32_t v = st->value[i];
        if (k->maker[v] == step || k->now[v] < 0) {
            k->now[v] = k->instance.n;
            k->made[v] = before;
            ac_push(k->region, &k->instance, ((ac_instance){v, k->event.n, k->event.n}));
        }
        k->instance.item[k->now[v]].last = k->event.n;
        ac_push(k->region, &k->use, k->now[v]);
    }
    ac_push(k->region, &k->event, e);
}

/* Makes v again for step s, and before it what that takes. */
static void make(ac_rerun *k, int32_t v, int32_t s)
{
    const int32_t maker = k->maker[v];
    const ac_order_step *st = &k->p->step[maker];
    for (int32_t i = 0; i < st->n_values && k->possible; i++) {
        const int32_t u = st->value[i];
        if (u == v)
            continue;
        if (k->written[u] >= 0 && k->written[u] < s)
            k->possible = false;
        else if (ac_rerun_may(k, u) && !is_there(k, u, s))
            make(k, u, s);
    }
    k->again += k->work[maker];
    k->possible &= k->again <= k->limit && k->event.n < MOST_EVENTS * k->p->n;
    if (k->possible)
        run(k, maker, s);
}

/* ------------------------------------------------------------------ bytes */

/* Bytes saved by in-place results: the event's result overwrites an operand that dies. */
static ac_bytes saved_by_place(const ac_rerun *k, int32_t event)
{
    const ac_event *e = &k->event.item[event];
    const ac_order_step *st = &k->p->step[e->step];
    for (int32_t o = 0; o < st->n_over; o++)
        for (int32_t i = 0; i < st->n_values; i++)
            if (st->value[i] == st->over[o] && !value(k, st->over[o])->at_end &&
                k->instance.item[k->use.item[e->use + i]].last == event)
                return value(k, st->over[o])->size;
    return 0;
}

static void add_lives(ac_rerun *k)
{
    if (k->room < k->event.n + 2) {
        k->room = 2 * k->event.n + 2;
        k->bytes = AC_NEW_N(k->region, ac_bytes, k->room);
    }
    memset(k->bytes, 0, (size_t)(k->event.n + 2) * sizeof *k->bytes);
    for (int32_t n = 0; n < k->instance.n; n++) {
        const ac_instance *i = &k->instance.item[n];
        const ac_order_value *v = value(k, i->value);
        k->bytes[v->at_start ? 0 : i->first] += v->size;
        k->bytes[v->at_end ? k->event.n : i->last + 1] -= v->size;
    }
}

static void measure(ac_rerun *k)
{
    ac_bytes sum = 0;
    add_lives(k);
    k->peak = k->at = -1;
    for (int32_t s = 0; s < k->p->n; s++)
        k->most[s] = 0;
    for (int32_t e = 0; e < k->event.n; e++) {
        const ac_event *x = &k->event.item[e];
        sum += k->bytes[e];
        const ac_bytes here = sum + k->p->step[x->step].scratch - saved_by_place(k, e);
        if (here > k->most[x->before])
            k->most[x->before] = here;
        if (here > k->peak) {
            k->peak = here;
            k->at = e;
        }
    }
}

static void start(ac_rerun *k, const ac_hold *hold, int64_t limit)
{
    k->hold = hold;
    k->limit = limit;
    k->again = 0;
    k->possible = true;
    k->instance.n = k->event.n = k->use.n = 0;
    for (int32_t v = 0; v < k->p->n_values; v++) {
        k->now[v] = -1;
        k->past[v] = 0;
    }
    for (int32_t s = 0; s < k->p->n; s++)
        k->due[s] = -1;
    for (int32_t g = 0; g < k->n_gaps; g++)
        if (hold[g].from < 0) {
            k->next[g] = k->due[-hold[g].from];
            k->due[-hold[g].from] = g;
        }
}

static void want(ac_rerun *k, int32_t v, int32_t s)
{
    if (k->possible && k->past[v] && ac_rerun_may(k, v) && !is_there(k, v, s))
        make(k, v, s);
}

void ac_rerun_run(ac_rerun *k, const ac_hold *hold, int64_t limit)
{
    start(k, hold, limit);
    for (int32_t s = 0; s < k->p->n && k->possible; s++) {
        const ac_order_step *st = &k->p->step[s];
        for (int32_t g = k->due[s]; g >= 0; g = k->next[g])
            want(k, k->owner[g], s);
        for (int32_t i = 0; i < st->n_values; i++)
            want(k, st->value[i], s);
        if (k->possible)
            run(k, s, s);
        for (int32_t i = 0; i < st->n_values; i++)
            k->past[st->value[i]]++;
    }
    k->spent += k->event.n;
    if (k->possible)
        measure(k);
}
