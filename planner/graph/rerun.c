/* rerun.c - events of a step of training, and the bytes that live at each; see rerun.h. */
#include "planner/graph/rerun.h"

static const ac_order_value *value(const ac_rerun *k, int32_t v)
{
    return &k->p->value[v];
}

static int32_t last_use(const ac_rerun *k, int32_t v)
{
    const ac_order_value *x = value(k, v);
    return x->n_users ? x->user[x->n_users - 1] : -1;
}

/* Is v dropped by the time of step s? */
static bool is_dropped(const ac_rerun *k, int32_t v, int32_t s)
{
    return k->split[v] >= 0 && s > value(k, v)->user[k->split[v]];
}

static int32_t new_instance(ac_rerun *k, int32_t v)
{
    ac_push(k->region, &k->instance, ((ac_instance){v, k->event.n, k->event.n}));
    return k->now[v] = k->instance.n - 1;
}

static void make(ac_rerun *k, int32_t v, int32_t s);

/* What a step that runs again for step s reads of v has to be there. */
static void need(ac_rerun *k, int32_t v, int32_t s)
{
    const bool overwritten = k->written[v] >= 0 && k->written[v] < s;
    k->possible &= !overwritten;
    if (overwritten || value(k, v)->at_start || value(k, v)->at_end || k->maker[v] < 0)
        return;
    const bool lives = last_use(k, v) >= s && !is_dropped(k, v, s),
               just_made = k->event.item[k->instance.item[k->now[v]].first].before == s;
    if (!lives && !just_made)
        make(k, v, s);
}

static void run(ac_rerun *k, int32_t step, int32_t before)
{
    const ac_order_step *st = &k->p->step[step];
    ac_event e = {step, before, AC_NEW_N(k->region, int32_t, st->n_values + 1)};
    for (int32_t i = 0; i < st->n_values; i++) {
        const int32_t v = st->value[i];
        const bool makes = k->maker[v] == step || k->now[v] < 0;
        e.instance[i] = makes ? new_instance(k, v) : k->now[v];
        k->instance.item[e.instance[i]].last = k->event.n;
    }
    ac_push(k->region, &k->event, e);
}

static void make(ac_rerun *k, int32_t v, int32_t s)
{
    const int32_t maker = k->maker[v];
    const ac_order_step *st = &k->p->step[maker];
    for (int32_t i = 0; i < st->n_values && k->possible; i++)
        if (st->value[i] != v)
            need(k, st->value[i], s);
    if (k->possible) {
        k->again += k->work[maker];
        run(k, maker, s);
    }
}

/* Instances that lie over an operand that dies: the event's result takes no place of its own. */
static ac_bytes saved_by_place(const ac_rerun *k, int32_t event)
{
    const ac_event *e = &k->event.item[event];
    const ac_order_step *st = &k->p->step[e->step];
    for (int32_t o = 0; o < st->n_over; o++)
        for (int32_t i = 0; i < st->n_values; i++)
            if (st->value[i] == st->over[o] && !value(k, st->over[o])->at_end &&
                k->instance.item[e->instance[i]].last == event)
                return value(k, st->over[o])->size;
    return 0;
}

static void measure(ac_rerun *k)
{
    ac_bytes *change = AC_NEW_N(k->region, ac_bytes, k->event.n + 2), sum = 0;
    bool *seen = AC_NEW_N(k->region, bool, k->p->n_values + 1);
    for (int32_t n = 0; n < k->instance.n; n++) {
        const ac_instance *i = &k->instance.item[n];
        const ac_order_value *v = value(k, i->value);
        change[v->at_start && !seen[i->value] ? 0 : i->first] += v->size;
        change[v->at_end && k->now[i->value] == n ? k->event.n : i->last + 1] -= v->size;
        seen[i->value] = true;
    }
    k->peak = -1;
    for (int32_t e = 0; e < k->event.n; e++) {
        sum += change[e];
        const ac_bytes here = sum + k->p->step[k->event.item[e].step].scratch - saved_by_place(k, e);
        if (here > k->peak) {
            k->peak = here;
            k->at = k->event.item[e].before;
            k->peaks = 0;
        }
        k->peaks += here == k->peak;
    }
}

void ac_rerun_run(ac_rerun *k)
{
    k->now = AC_NEW_N(k->region, int32_t, k->p->n_values + 1);
    for (int32_t v = 0; v < k->p->n_values; v++)
        k->now[v] = -1;
    k->possible = true;
    for (int32_t s = 0; s < k->p->n && k->possible; s++) {
        const ac_order_step *st = &k->p->step[s];
        for (int32_t i = 0; i < st->n_values && k->possible; i++) {
            const int32_t v = st->value[i];
            if (is_dropped(k, v, s) &&
                k->event.item[k->instance.item[k->now[v]].first].before <= value(k, v)->user[k->split[v]])
                make(k, v, s);
        }
        run(k, s, s);
    }
    if (k->possible)
        measure(k);
}
