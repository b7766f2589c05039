/* strip_order.c - the order of the units' steps, found by running the rules of strip.c on their counters alone. */
#include "ir/loop/access/strip.h"

static bool lacks(const ac_stripe *s, const int64_t *next, int32_t u)
{
    bool read = false;
    for (int32_t v = u + 1; v < s->n_units; v++)
        for (int32_t k = 0; k < s->unit[v].n_reads; k++) {
            const ac_stripe_read *r = &s->unit[v].read[k];
            if (s->tensor[r->tensor].unit != u)
                continue;
            read = true;
            if (ac_ramp_at(&r->need, next[v]) > next[u] || next[v] >= s->unit[v].limit)
                return true;
        }
    return !read;
}

static bool may_run(const ac_stripe *s, const int64_t *next, int32_t u)
{
    const ac_stripe_unit *x = &s->unit[u];
    if (next[u] >= x->limit)
        return false;
    for (int32_t k = 0; k < x->n_reads; k++) {
        const int32_t maker = s->tensor[x->read[k].tensor].unit;
        if (maker != u && next[maker] < ac_ramp_at(&x->read[k].need, next[u]))
            return false;
    }
    return !x->asked || lacks(s, next, u);
}

/* Rows of tensor t that somebody still needs. */
static int64_t alive(const ac_stripe *s, const int64_t *next, int32_t t)
{
    int64_t low = next[s->tensor[t].unit];
    for (int32_t u = 0; u < s->n_units; u++)
        for (int32_t k = 0; k < s->unit[u].n_reads; k++)
            if (s->tensor[s->unit[u].read[k].tensor].home == t && next[u] < s->unit[u].limit) {
                const int64_t v = ac_ramp_at(&s->unit[u].read[k].low, next[u]);
                low = v < low ? v : low;
            }
    return next[s->tensor[t].unit] - low;
}

bool ac_stripe_simulate(ac_stripe *s, int32_t *unit, ac_region *tmp)
{
    int64_t *next = AC_NEW_N(tmp, int64_t, s->n_units);
    s->ticks = 0;
    s->burst = 0;
    int64_t since = 0;
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (s->tensor[t].kind == AC_STRIPE_WINDOW)
            s->tensor[t].rows = 0;
    for (;;) {
        int32_t u = s->streamed >= 0 && !s->ticks ? 0 : s->n_units - 1; /* a row is there before anything runs */
        while (u >= 0 && !may_run(s, next, u))
            u--;
        if (u < 0)
            break;
        for (int32_t t = 0; t < s->n_tensors; t++)
            if (s->tensor[t].kind == AC_STRIPE_WINDOW && s->tensor[t].unit == u && s->tensor[t].home == t) {
                const int64_t n = alive(s, next, t) + 1; /* and the one that is made */
                s->tensor[t].rows = n > s->tensor[t].rows ? n : s->tensor[t].rows;
            }
        unit[s->ticks++] = u;
        next[u]++;
        since = u ? since + 1 : 0;
        s->burst = since > s->burst ? since : s->burst;
    }
    for (int32_t t = 0; t < s->n_tensors; t++)
        s->tensor[t].room = s->tensor[t].row * s->tensor[t].rows;
    for (int32_t u = 0; u < s->n_units; u++)
        if (next[u] < s->unit[u].limit)
            return false;
    return true;
}

static bool is_window(const ac_stripe *s, int32_t t)
{
    return s->tensor[t].kind == AC_STRIPE_WINDOW && s->tensor[t].home == t;
}

/* Does unit u make rows of tensor t, or read them? */
static bool uses(const ac_stripe *s, int32_t u, int32_t t)
{
    bool reads = false;
    for (int32_t k = 0; k < s->unit[u].n_reads; k++)
        reads |= s->tensor[s->unit[u].read[k].tensor].home == t;
    return reads || s->tensor[t].unit == u;
}

int64_t *ac_stripe_live(const ac_stripe *s, const int32_t *unit, ac_region *region)
{
    int64_t *live = AC_NEW_N(region, int64_t, s->n_tensors * s->ticks + 1);
    int64_t *next = AC_NEW_N(region, int64_t, s->n_units), *rows = AC_NEW_N(region, int64_t, s->n_tensors + 1);
    bool *changes = AC_NEW_N(region, bool, s->n_units * s->n_tensors + 1); /* rows of the tensor, when the unit ran */
    for (int32_t u = 0; u < s->n_units; u++)
        for (int32_t t = 0; t < s->n_tensors; t++)
            changes[u * s->n_tensors + t] = is_window(s, t) && uses(s, u, t);
    for (int32_t t = 0; t < s->n_tensors; t++)
        rows[t] = is_window(s, t) ? alive(s, next, t) : 0;
    for (int64_t tick = 0; tick < s->ticks; tick++) {
        const bool *changed = &changes[unit[tick] * s->n_tensors];
        for (int32_t t = 0; t < s->n_tensors; t++)
            if (is_window(s, t))
                live[t * s->ticks + tick] = (rows[t] + (s->tensor[t].unit == unit[tick])) * s->tensor[t].row;
        next[unit[tick]]++;
        for (int32_t t = 0; t < s->n_tensors; t++)
            if (changed[t])
                rows[t] = alive(s, next, t);
    }
    return live;
}

/* Only while one of the two gets a row do both have to fit. */
int64_t ac_stripe_room(const ac_stripe *s, const int32_t *unit, const int64_t *live, int32_t a, int32_t b)
{
    int64_t most = 0;
    for (int64_t tick = 0; tick < s->ticks; tick++) {
        const int64_t both = live[a * s->ticks + tick] + live[b * s->ticks + tick];
        if ((unit[tick] == s->tensor[a].unit || unit[tick] == s->tensor[b].unit) && both > most)
            most = both;
    }
    return most;
}

bool ac_stripe_slides(const ac_stripe *s, int32_t t)
{
    const ac_stripe_tensor *x = &s->tensor[t];
    return is_window(s, t) && !x->high && (x->mate >= 0 || x->rows < s->unit[x->unit].limit);
}

int32_t ac_stripe_counters(const ac_stripe *s)
{
    int32_t n = s->n_units;
    for (int32_t t = 0; t < s->n_tensors; t++)
        n += ac_stripe_slides(s, t);
    return n;
}
