/* rerun_search.c - moves that drop results, and moves that keep them again; see rerun_search.h.
 *
 * A drop at step p: a value that is alive at p but unused there is dropped after its last use before p, and held again
 * only from its next use on. Single values and runs of values made one after another are tried: recomputing a run costs
 * each of its steps once, while single drops pay for the chain before them. Values for p may be recomputed some steps
 * earlier, if memory allows. Estimates select a few of these moves, and a run of each finds the best: the most bytes
 * over the budget, summed over steps, for the work that it adds. If none helps, the least harmful one is made anyway:
 * drops only grow, so this terminates. */
#include "planner/order/rerun_search.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 12, PLACES = 4, PATIENCE = 24, EARLY = 12, TWICE = 2, HELD = -1, TINY = 64 };

typedef struct ac_rerun_move {
    int32_t begin, end;  /* of q->alive: dropped at a step */
    int32_t value, from; /* where begin == end: made again at step `from`, before the one that it is made for; HELD */
    double worth;        /* as estimated */
} move;

void ac_rerun_search_open(ac_rerun_search *q)
{
    ac_rerun *k = q->k;
    ac_region *r = k->region;
    const int32_t n = k->p->n_values;
    q->random = AC_RANDOM_START;
    q->alive = AC_NEW_N(r, int32_t, n + 1);
    q->there = AC_NEW_N(r, bool, n + 1);
    q->seen = AC_NEW_N(r, int32_t, n + 1);
    q->todo = AC_NEW_N(r, int32_t, n + 1);
    q->over = AC_NEW_N(r, int32_t, k->p->n + 2);
    q->order = AC_NEW_N(r, int32_t, k->n_gaps + 1);
    q->hold = AC_NEW_N(r, ac_hold, k->n_gaps + 1);
    q->tries = AC_NEW_N(r, int8_t, k->n_gaps + 1);
    q->last = AC_NEW_N(r, int32_t, n + 1);
    q->gain = AC_NEW_N(r, int64_t, k->n_gaps + 1);
    q->again = AC_NEW_N(r, int32_t, k->n_gaps + 1);
    q->most = AC_NEW_N(r, ac_bytes, k->p->n + 1);
    q->move = AC_NEW_N(r, move, 4 * n + 64 * EARLY);
    q->other.hold = ac_rerun_keep(k);
    q->most_again = 0;
    for (int32_t s = 0; s < k->p->n; s++)
        q->most_again += k->work[s];
    q->most_again *= 8;
}

static void try(ac_rerun_search *q, const ac_hold *hold, int64_t limit)
{
    ac_rerun_run(q->k, hold, limit < q->most_again ? limit : q->most_again);
}

void ac_rerun_take(ac_rerun_search *q, ac_rerun_choice *x)
{
    try(q, x->hold, INT64_MAX);
    x->peak = q->k->possible ? q->k->peak : INT64_MAX;
    x->again = q->k->again;
}

ac_rerun_choice ac_rerun_choice_new(ac_rerun_search *q)
{
    ac_rerun_choice x = {.hold = ac_rerun_keep(q->k)};
    ac_rerun_take(q, &x);
    return x;
}

void ac_rerun_choice_set(ac_rerun_search *q, ac_rerun_choice *to, const ac_rerun_choice *x)
{
    memcpy(to->hold, x->hold, (size_t)q->k->n_gaps * sizeof *to->hold);
    to->peak = x->peak;
    to->again = x->again;
}

/* Bytes over the budget, summed over the steps. */
static double excess(const ac_rerun *k, ac_bytes budget)
{
    double sum = 0;
    for (int32_t s = 0; s < k->p->n; s++)
        sum += k->most[s] > budget ? (double)(k->most[s] - budget) : 0;
    return sum;
}

/* ------------------------------------------------------------------ candidates for drops */

static bool is_used_at(const ac_rerun *k, int32_t event, int32_t instance)
{
    const ac_event *e = &k->event.item[event];
    for (int32_t i = 0; i < k->p->step[e->step].n_values; i++)
        if (k->use.item[e->use + i] == instance)
            return true;
    return false;
}

/* Sets q->there to the values alive at the event, and q->alive to those that may be dropped, in the order they were
 * made. */
static void look_at(ac_rerun_search *q, int32_t event)
{
    const ac_rerun *k = q->k;
    const int32_t p = k->event.item[event].before;
    memset(q->there, 0, (size_t)k->p->n_values * sizeof *q->there);
    for (int32_t e = 0; e < event; e++) {
        const ac_event *x = &k->event.item[e];
        for (int32_t i = 0; i < k->p->step[x->step].n_values; i++)
            q->last[k->p->step[x->step].value[i]] = x->before;
    }
    q->n_alive = 0;
    for (int32_t n = 0; n < k->instance.n; n++) {
        const ac_instance *i = &k->instance.item[n];
        if (i->first > event || i->last < event)
            continue;
        q->there[i->value] = true;
        const bool leaves = k->event.item[i->first].before < p || k->event.item[i->last].before > p;
        if (i->first < event && i->last > event && leaves && ac_rerun_may(k, i->value) && !is_used_at(k, event, n))
            q->alive[q->n_alive++] = i->value;
    }
}

/* The work of recomputing q->alive[begin, end) from the other live values. */
static int64_t work_of(ac_rerun_search *q, int32_t begin, int32_t end)
{
    const ac_rerun *k = q->k;
    int32_t n = 0;
    int64_t work = 0;
    q->epoch++;
    for (int32_t i = begin; i < end; i++) {
        q->seen[q->alive[i]] = q->epoch;
        q->todo[n++] = q->alive[i];
    }
    while (n) {
        const int32_t maker = k->maker[q->todo[--n]];
        work += k->work[maker];
        for (int32_t i = 0; i < k->p->step[maker].n_values; i++) {
            const int32_t u = k->p->step[maker].value[i];
            if (q->seen[u] != q->epoch && ac_rerun_may(k, u) && !q->there[u]) {
                q->seen[u] = q->epoch;
                q->todo[n++] = u;
            }
        }
    }
    return work;
}

/* The bytes that steps over the budget lose if v is dropped in the gap that contains step p. */
static double relief(const ac_rerun_search *q, int32_t v, int32_t p)
{
    const ac_order_value *x = &q->k->p->value[v];
    const int32_t g = ac_rerun_gap(q->k, v, p) - q->k->gap[v];
    const int32_t end = g + 1 < x->n_users ? x->user[g + 1] : q->k->p->n, begin = x->user[g] + 1;
    return (double)x->size * (q->over[end] - q->over[begin < end ? begin : end]);
}

/* ------------------------------------------------------------------ moves */

static int by_worth(const void *a, const void *b)
{
    const move *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin - y->begin;
    if (x->end != y->end)
        return x->end - y->end;
    return x->value != y->value ? x->value - y->value : y->from - x->from;
}

/* The moves at an event, those that promise most first: single values, and runs of 2, 4, 8 ... of them. */
static void list_drops(ac_rerun_search *q, int32_t event, ac_bytes budget)
{
    const ac_rerun *k = q->k;
    const int32_t p = k->event.item[event].before;
    look_at(q, event);
    for (int32_t s = 0; s < k->p->n; s++)
        q->over[s + 1] = q->over[s] + (k->most[s] > budget);
    q->n_moves = 0;
    for (int32_t length = 1; length <= q->n_alive; length *= 2)
        for (int32_t begin = 0; begin + length <= q->n_alive; begin += (length + 1) / 2) {
            double sum = 0;
            for (int32_t i = begin; i < begin + length; i++)
                sum += relief(q, q->alive[i], p);
            q->move[q->n_moves++] =
                (move){begin, begin + length, -1, 0, sum / (double)(work_of(q, begin, begin + length) + 1)};
        }
    if (q->n_moves > 1)
        qsort(q->move, (size_t)q->n_moves, sizeof *q->move, by_worth);
}

static void add_move(ac_rerun_search *q, int32_t v, int32_t from, double worth)
{
    q->move[q->n_moves++] = (move){0, 0, v, from, worth};
}

/* Operands recomputed for step p could be recomputed earlier, while less memory is used; and they could have been held
 * until then. */
static int32_t list_others(ac_rerun_search *q, int32_t p, ac_bytes budget)
{
    const ac_rerun *k = q->k;
    const int32_t before = q->n_moves;
    for (int32_t i = 0; i < k->p->step[p].n_values; i++) {
        const int32_t v = k->p->step[p].value[i], g = ac_rerun_may(k, v) ? ac_rerun_gap(k, v, p) : -1;
        if (g < 0 || !k->hold[g].from || q->tries[g] == TWICE)
            continue;
        const int32_t begin = k->p->value[v].user[g - k->gap[v]];
        for (int32_t back = 0; back <= EARLY && p - back > begin; back++)
            if (k->most[p - back] + k->p->value[v].size <= budget)
                add_move(q, v, p - back, HUGE_VAL);
    }
    for (int32_t n = k->instance.n - 1, found = 0; q->noise && n >= 0 && found < EARLY; n--) {
        const int32_t v = k->instance.item[n].value;
        const ac_event *e = &k->event.item[k->instance.item[n].first];
        if (e->before == p && e->step != p && k->p->value[v].size * TINY > k->peak && ac_rerun_may(k, v) &&
            q->tries[ac_rerun_gap(k, v, p)] < TWICE) {
            add_move(q, v, HELD, 1e300 / (double)(k->p->value[v].size + 1));
            found++;
        }
    }
    qsort(q->move, (size_t)q->n_moves, sizeof *q->move, by_worth);
    return q->n_moves - before;
}

/* v is not held over step p any more: up to its last use before, and from its next one on. */
static void drop(ac_rerun_search *q, int32_t v, int32_t p, ac_hold *hold)
{
    ac_hold *h = &hold[ac_rerun_gap(q->k, v, p)];
    if (!h->from || p <= h->to)
        h->to = q->last[v];
    if (p >= abs(h->from))
        h->from = p + 1;
}

static void apply(ac_rerun_search *q, const move *m, int32_t p, ac_hold *hold)
{
    if (m->begin == m->end && m->from == HELD)
        hold[ac_rerun_gap(q->k, m->value, p)].to = p;
    else if (m->begin == m->end)
        hold[ac_rerun_gap(q->k, m->value, p)].from = -m->from;
    for (int32_t i = m->begin; i < m->end; i++)
        drop(q, q->alive[i], p, hold);
}

typedef struct found {
    move m;
    int32_t p;     /* -1: none */
    double excess; /* with it */
    double worth;  /* bytes for work; not above 0: it does not help by itself */
} found;

/* Does the move take enough from the step that it may hurt elsewhere? */
static bool is_large(const ac_rerun_search *q, const move *m, ac_bytes over)
{
    ac_bytes sum = 0;
    for (int32_t i = m->begin; i < m->end; i++)
        sum += q->k->p->value[q->alive[i]].size;
    return m->begin == m->end || sum >= over / 4;
}

/* The best drop at an event, into *best if it is better. */
static void look_for(ac_rerun_search *q, const ac_rerun_choice *x, int32_t event, ac_bytes budget, double now,
                     found *best)
{
    const int32_t p = q->k->event.item[event].before;
    int32_t tried = TRIED;
    const ac_bytes over = q->k->most[p] - budget;
    list_drops(q, event, budget);
    if (q->k->event.item[event].step != p)
        tried += list_others(q, p, budget);
    for (int32_t i = 0; i < q->n_moves && (i < tried || best->worth <= 0); i++) {
        if (!is_large(q, &q->move[i], over)) {
            tried++;
            continue;
        }
        memcpy(q->hold, x->hold, (size_t)q->k->n_gaps * sizeof *x->hold);
        apply(q, &q->move[i], p, q->hold);
        try(q, q->hold, INT64_MAX);
        if (!q->k->possible)
            continue;
        found f = {q->move[i], p, excess(q->k, budget), 0};
        const int64_t work = q->k->again - x->again;
        f.worth = (now - f.excess) / (double)(work > 1 ? work : 1);
        if (q->noise)
            f.worth *= 1 + q->noise * (double)ac_random(&q->random, 1024) / 1024;
        if (best->p < 0 || (f.worth > 0 ? f.worth > best->worth : best->worth <= 0 && f.excess < best->excess))
            *best = f;
    }
}

/* The event with the most bytes of those for a step. */
static int32_t event_of(const ac_rerun *k, int32_t step)
{
    ac_bytes sum = 0;
    int32_t at = -1;
    ac_bytes most = -1;
    for (int32_t e = 0; e < k->event.n; e++) {
        sum += k->bytes[e];
        if (k->event.item[e].before == step && sum + k->p->step[k->event.item[e].step].scratch > most) {
            most = sum + k->p->step[k->event.item[e].step].scratch;
            at = e;
        }
    }
    return at;
}

/* Another step over the budget than those that were looked at: the first of the most bytes. */
static int32_t next_place(const ac_rerun_search *q, const int32_t *place, int32_t n, ac_bytes budget)
{
    int32_t best = -1;
    for (int32_t s = 0; s < q->k->p->n; s++) {
        bool is_new = q->k->most[s] > budget && (best < 0 || q->k->most[s] > q->k->most[best]);
        for (int32_t i = 0; i < n; i++)
            is_new &= place[i] != s;
        if (is_new)
            best = s;
    }
    return best;
}

/* One drop more: the best at the step with the most bytes; one that helps at another step; or the one that hurts
 * least: numbers of gaps only grow, so this ends. False: nothing is left to drop. */
static bool improve(ac_rerun_search *q, ac_rerun_choice *x, ac_bytes budget)
{
    int32_t place[PLACES];
    found best = {.p = -1};
    const double now = excess(q->k, budget);
    for (int32_t n = 0; n < PLACES && best.worth <= 0; n++) {
        place[n] = next_place(q, place, n, budget);
        if (place[n] < 0)
            break;
        look_for(q, x, event_of(q->k, place[n]), budget, now, &best);
        ac_rerun_take(q, x);
    }
    if (best.p < 0)
        return false;
    look_at(q, event_of(q->k, best.p));
    apply(q, &best.m, best.p, x->hold);
    if (best.m.begin == best.m.end)
        q->tries[ac_rerun_gap(q->k, best.m.value, best.p)]++;
    ac_rerun_take(q, x);
    return true;
}

bool ac_rerun_repair(ac_rerun_search *q, ac_rerun_choice *x, ac_bytes budget, ac_bytes aim)
{
    double least = HUGE_VAL;
    memset(q->tries, 0, (size_t)q->k->n_gaps * sizeof *q->tries);
    ac_rerun_take(q, x);
    for (int32_t tries = PATIENCE; x->peak > budget; tries--) {
        const double now = excess(q->k, aim);
        if (now < least) {
            least = now;
            tries = PATIENCE;
        }
        if (!tries || !improve(q, x, aim))
            return false;
    }
    return true;
}
