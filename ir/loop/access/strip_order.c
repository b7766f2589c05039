/* strip_order.c - finds the order of the units' steps, and the bytes that they move, by running the rules of strip.c on
 * their counters only. */
#include "ir/loop/access/strip.h"
#include "ir/loop/access/traffic.h"

/* Indices 0 .. n - 1 by their key: item[first[key]] .. item[first[key + 1] - 1]. */
typedef struct lists {
    int32_t *first, *item;
} lists;

typedef struct reader {
    int32_t unit;
    const ac_stripe_read *read;
} reader;

/* The units' counters, and values derived from them; a step updates these only for units that use its rows. */
typedef struct run {
    const ac_stripe *s;
    reader *reader;
    lists of_window; /* readers of a window, by the tensor whose home it is */
    lists of_unit;   /* tensors that a unit makes */
    int64_t *next;   /* by unit: its next step */
    int64_t *low;    /* by window: the first row that a reader still needs; INT64_MAX: none needed */
    bool *ready;     /* by unit */
} run;

static lists by_key(const int32_t *key, int32_t n, int32_t n_keys, ac_region *region)
{
    const lists l = {AC_NEW_N(region, int32_t, n_keys + 2), AC_NEW_N(region, int32_t, n + 1)};
    for (int32_t i = 0; i < n; i++)
        l.first[key[i] + 2]++;
    for (int32_t k = 2; k < n_keys + 2; k++)
        l.first[k] += l.first[k - 1];
    for (int32_t i = 0; i < n; i++)
        l.item[l.first[key[i] + 1]++] = i; /* ends as the first of the next key */
    return l;
}

static bool is_window(const ac_stripe *s, int32_t t)
{
    return s->tensor[t].kind == AC_STRIPE_WINDOW && s->tensor[t].home == t;
}

static void find_low(run *r, int32_t window)
{
    r->low[window] = INT64_MAX;
    for (int32_t i = r->of_window.first[window]; i < r->of_window.first[window + 1]; i++) {
        const reader *x = &r->reader[r->of_window.item[i]];
        if (r->next[x->unit] >= r->s->unit[x->unit].limit)
            continue;
        const int64_t low = ac_ramp_at(&x->read->low, r->next[x->unit]);
        r->low[window] = low < r->low[window] ? low : r->low[window];
    }
}

/* The number of rows of the window that a reader still needs. */
static int64_t alive(const run *r, int32_t window)
{
    const int64_t made = r->next[r->s->tensor[window].unit];
    return made > r->low[window] ? made - r->low[window] : 0;
}

/* True if a later unit waits for a row of unit u, or will never read one. */
static bool lacks(const run *r, int32_t u)
{
    bool read = false;
    for (int32_t i = r->of_unit.first[u]; i < r->of_unit.first[u + 1]; i++) {
        const int32_t t = r->of_unit.item[i], home = r->s->tensor[t].home;
        for (int32_t k = r->of_window.first[home]; k < r->of_window.first[home + 1]; k++) {
            const reader *x = &r->reader[r->of_window.item[k]];
            if (x->unit == u || x->read->tensor != t)
                continue;
            read = true;
            if (r->next[x->unit] >= r->s->unit[x->unit].limit ||
                ac_ramp_at(&x->read->need, r->next[x->unit]) > r->next[u])
                return true;
        }
    }
    return !read;
}

static bool may_run(const run *r, int32_t u)
{
    const ac_stripe_unit *x = &r->s->unit[u];
    if (r->next[u] >= x->limit)
        return false;
    for (int32_t k = 0; k < x->n_reads; k++) {
        const int32_t maker = r->s->tensor[x->read[k].tensor].unit;
        if (maker != u && r->next[maker] < ac_ramp_at(&x->read[k].need, r->next[u]))
            return false;
    }
    return !x->asked || lacks(r, u);
}

static run begin(const ac_stripe *s, ac_region *region)
{
    int32_t n_reads = 0;
    for (int32_t u = 0; u < s->n_units; u++)
        n_reads += s->unit[u].n_reads;
    run r = {.s = s,
             .reader = AC_NEW_N(region, reader, n_reads + 1),
             .next = AC_NEW_N(region, int64_t, s->n_units + 1),
             .low = AC_NEW_N(region, int64_t, s->n_tensors + 1),
             .ready = AC_NEW_N(region, bool, s->n_units + 1)};
    int32_t *key = AC_NEW_N(region, int32_t, n_reads + s->n_tensors + 1);
    for (int32_t u = 0, n = 0; u < s->n_units; u++)
        for (int32_t k = 0; k < s->unit[u].n_reads; k++, n++) {
            r.reader[n] = (reader){u, &s->unit[u].read[k]};
            key[n] = s->tensor[s->unit[u].read[k].tensor].home;
        }
    r.of_window = by_key(key, n_reads, s->n_tensors, region);
    for (int32_t t = 0; t < s->n_tensors; t++)
        key[t] = s->tensor[t].unit;
    r.of_unit = by_key(key, s->n_tensors, s->n_units, region);
    for (int32_t t = 0; t < s->n_tensors; t++)
        find_low(&r, t);
    for (int32_t u = 0; u < s->n_units; u++)
        r.ready[u] = may_run(&r, u);
    return r;
}

/* Unit u makes its next step. */
static void step(run *r, int32_t u)
{
    const ac_stripe *s = r->s;
    r->next[u]++;
    r->ready[u] = may_run(r, u);
    for (int32_t i = r->of_unit.first[u]; i < r->of_unit.first[u + 1]; i++) {
        const int32_t home = s->tensor[r->of_unit.item[i]].home;
        for (int32_t k = r->of_window.first[home]; k < r->of_window.first[home + 1]; k++) {
            const int32_t v = r->reader[r->of_window.item[k]].unit;
            r->ready[v] = may_run(r, v);
        }
    }
    for (int32_t k = 0; k < s->unit[u].n_reads; k++) {
        const ac_stripe_tensor *t = &s->tensor[s->unit[u].read[k].tensor];
        find_low(r, t->home);
        if (s->unit[t->unit].asked)
            r->ready[t->unit] = may_run(r, t->unit);
    }
}

bool ac_stripe_simulate(ac_stripe *s, int32_t *unit, ac_region *tmp)
{
    run r = begin(s, tmp);
    s->ticks = 0;
    s->burst = 0;
    s->early = false;
    int64_t since = 0;
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (s->tensor[t].kind == AC_STRIPE_WINDOW)
            s->tensor[t].rows = 0;
    for (;;) {
        int32_t u = s->streamed >= 0 && !s->ticks ? 0 : s->n_units - 1; /* a row is there before anything runs */
        while (u >= 0 && !r.ready[u])
            u--;
        if (u < 0)
            break;
        for (int32_t i = r.of_unit.first[u]; i < r.of_unit.first[u + 1]; i++) {
            ac_stripe_tensor *t = &s->tensor[r.of_unit.item[i]];
            if (!is_window(s, r.of_unit.item[i]))
                continue;
            const int64_t n = alive(&r, r.of_unit.item[i]) + 1; /* and the one that is made */
            t->rows = n > t->rows ? n : t->rows;
        }
        s->early |= s->unit[u].n_members && !lacks(&r, u);
        unit[s->ticks++] = u;
        step(&r, u);
        since = u ? since + 1 : 0;
        s->burst = since > s->burst ? since : s->burst;
    }
    for (int32_t t = 0; t < s->n_tensors; t++)
        s->tensor[t].room = s->tensor[t].row * s->tensor[t].rows;
    for (int32_t u = 0; u < s->n_units; u++)
        if (r.next[u] < s->unit[u].limit)
            return false;
    return true;
}

/* Records the contents of window t from tick from[t] up to tick `to`. */
static void fill(const run *r, int32_t t, int64_t *live, int64_t *from, int64_t to)
{
    const int64_t held = alive(r, t) * r->s->tensor[t].row;
    for (; from[t] < to; from[t]++)
        live[t * r->s->ticks + from[t]] = held;
}

int64_t *ac_stripe_live(const ac_stripe *s, const int32_t *unit, ac_region *region)
{
    int64_t *live = AC_NEW_N(region, int64_t, s->n_tensors * s->ticks + 1);
    int64_t *from = AC_NEW_N(region, int64_t, s->n_tensors + 1);
    run r = begin(s, region);
    for (int64_t tick = 0; tick < s->ticks; tick++) {
        const int32_t u = unit[tick];
        for (int32_t i = r.of_unit.first[u]; i < r.of_unit.first[u + 1]; i++) {
            const int32_t t = r.of_unit.item[i];
            if (!is_window(s, t))
                continue;
            fill(&r, t, live, from, tick);
            live[t * s->ticks + from[t]++] = (alive(&r, t) + 1) * s->tensor[t].row;
        }
        for (int32_t k = 0; k < s->unit[u].n_reads; k++)
            if (is_window(s, s->tensor[s->unit[u].read[k].tensor].home))
                fill(&r, s->tensor[s->unit[u].read[k].tensor].home, live, from, tick + 1);
        step(&r, u);
    }
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (is_window(s, t))
            fill(&r, t, live, from, s->ticks);
    return live;
}

/* Both have to fit only while one of the two gets a row. */
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

/* ------------------------------------------------------------------ traffic */

static void add_bytes(const ac_stripe *s, int64_t *bytes, int32_t buf, double elements)
{
    const double most = (double)(INT64_MAX / 4);
    const double sum = (double)bytes[buf] + elements * (double)ac_dtype_size(s->buf[buf].dtype, 1);
    bytes[buf] = sum > most ? (int64_t)most : (int64_t)sum;
}

/* The row that tensor t's window moves when it makes room after `row` rows, as strip.c does; first: of its window. */
static int64_t slid(const run *r, int32_t t, int64_t row, int64_t *first)
{
    const ac_stripe_tensor *x = &r->s->tensor[t];
    const int64_t low = r->low[t] < row ? r->low[t] : row;
    if (x->mate >= 0 ? *first >= low : row - *first != x->rows)
        return 0;
    *first = low;
    return x->rows > 1 ? row - low : 0;
}

/* Rows that move before unit u makes the next row of tensor t. */
static void add_moves(const run *r, int32_t t, int64_t *first, int64_t *bytes)
{
    const ac_stripe *s = r->s;
    const ac_stripe_tensor *x = &s->tensor[t];
    const int64_t row = r->next[x->unit];
    if (x->high && x->mate >= 0) {
        const ac_stripe_tensor *mate = &s->tensor[x->mate];
        const int64_t n = slid(r, x->mate, r->next[mate->unit], &first[x->mate]);
        add_bytes(s, bytes, mate->buf, 2.0 * (double)(n * mate->row));
    }
    const int64_t n = x->high                  ? row - (r->low[t] < row ? r->low[t] : row)
                      : ac_stripe_slides(s, t) ? slid(r, t, row, &first[t])
                                               : 0;
    if (x->rows > 1)
        add_bytes(s, bytes, x->buf, 2.0 * (double)(n * x->row));
}

int64_t ac_stripe_copied(const ac_stripe *s, int32_t unit)
{
    const ac_stripe_unit *u = &s->unit[unit];
    if (u->does == AC_STRIPE_COMPUTES)
        return 0;
    if (!u->reader)
        return u->limit * (s->tensor[u->copied].row - s->tensor[u->copied].column.halo);
    const ac_stripe_unit *by = &s->unit[u->reader];
    return by->limit * s->member[by->member].part.cols * s->tensor[u->copied].row;
}

void ac_stripe_traffic(const ac_stripe *s, const int32_t *unit, int64_t *bytes, ac_region *tmp)
{
    for (int32_t u = 0; u < s->n_units; u++) {
        const ac_stripe_unit *x = &s->unit[u];
        for (int32_t m = x->member; m < x->member + x->n_members; m++) {
            const ac_part *p = &s->member[m].part;
            int64_t *own = AC_NEW_N(tmp, int64_t, p->fn->buf.n + 1);
            ac_loop_traffic(p->fn, own);
            for (int32_t a = 0; a < p->fn->buf.n; a++)
                add_bytes(s, bytes, s->member[m].buf[a],
                          (double)own[a] / (double)ac_dtype_size(p->fn->buf.item[a].dtype, 1) * (double)x->limit /
                              (double)x->steps);
        }
        if (x->does == AC_STRIPE_COMPUTES)
            continue;
        const double moved = (double)ac_stripe_copied(s, u);
        add_bytes(s, bytes, s->tensor[x->copied].buf, moved);
        add_bytes(s, bytes, x->outside, moved);
    }
    for (int32_t t = 0; t < s->n_tensors; t++) {
        const ac_stripe_columns *k = &s->tensor[t].column;
        if (k->halo + k->keeps == 0)
            continue;
        const double moved = (double)(s->unit[s->tensor[t].unit].limit * (k->halo + k->keeps));
        add_bytes(s, bytes, s->tensor[t].buf, moved);
        add_bytes(s, bytes, k->buf, moved);
    }
    run r = begin(s, tmp);
    int64_t *first = AC_NEW_N(tmp, int64_t, s->n_tensors + 1);
    for (int64_t tick = 0; tick < s->ticks; tick++) {
        for (int32_t i = r.of_unit.first[unit[tick]]; i < r.of_unit.first[unit[tick] + 1]; i++)
            if (is_window(s, r.of_unit.item[i]) && r.of_unit.item[i] != s->streamed)
                add_moves(&r, r.of_unit.item[i], first, bytes);
        step(&r, unit[tick]);
    }
    if (s->streamed >= 0) { /* it moves down by a row after each call */
        const ac_stripe_tensor *x = &s->tensor[s->streamed];
        add_bytes(s, bytes, x->buf, 2.0 * (double)((x->rows - 1) * x->row * s->unit[0].steps));
    }
}
