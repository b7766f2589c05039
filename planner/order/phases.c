/* phases.c - the list scheduler of phases.h. */
#include "planner/order/phases.h"

#include <string.h>

enum {
    ANY = -2,   /* the threads that may do it: all */
    NONE = -3,  /* no single one */
    MOST = 256, /* steps of a phase */
    SIZES = 8
};

/* A phase that is being made, and the best prefix of it. */
typedef struct phase {
    int32_t step[MOST], where[MOST]; /* in the order of their placement; thread or AC_ALL_THREADS */
    int32_t n;
    double gain;
} phase;

typedef struct finder {
    const ac_order_problem *p;
    const ac_phases_how *how;
    double *rank;   /* by step: the longest way from its begin to the end of all */
    int32_t *left;  /* by step: predecessors that are not done */
    int32_t *users; /* by value: steps that are not done */
    ac_bytes alive; /* values that a later step needs */
    AC_VEC(int32_t) ready;
    /* Of the phase that is being made */
    int32_t *lacks, *by;  /* by step: predecessors that are neither done nor in the phase; the thread they are on */
    AC_VEC(int32_t) open; /* steps that may be placed */
    AC_VEC(int32_t) touched;
    double *time; /* by thread */
    ac_region *tmp;
} finder;

static bool is_cut(const finder *f, int32_t s)
{
    return f->how->slowest[s] < f->how->work[s];
}

static double alone(const finder *f, int32_t s)
{
    return is_cut(f, s) ? f->how->slowest[s] + f->how->fork : f->how->work[s];
}

/* Bytes that come to life with step s. */
static ac_bytes born(const finder *f, int32_t s)
{
    const ac_order_step *st = &f->p->step[s];
    ac_bytes bytes = st->scratch;
    for (int32_t k = 0; k < st->n_values; k++) {
        const ac_order_value *v = &f->p->value[st->value[k]];
        if (!v->at_start && v->n_users && v->user[0] == s)
            bytes += v->size;
    }
    for (int32_t k = 0; k < st->n_over; k++)
        if (f->users[st->over[k]] == 1 && !f->p->value[st->over[k]].at_end)
            return bytes - f->p->value[st->over[k]].size;
    return bytes;
}

/* ------------------------------------------------------------------ one phase */

static void open_phase(finder *f, int32_t part)
{
    f->open.n = f->touched.n = 0;
    for (int32_t k = 0; k < f->ready.n; k++) {
        const int32_t s = f->ready.item[k];
        if (f->how->alone[s] || f->how->part[s] != part)
            continue;
        f->by[s] = ANY;
        ac_push(f->tmp, &f->open, s);
    }
    memset(f->time, 0, (size_t)f->how->threads * sizeof *f->time);
}

/* Steps whose predecessors are now done or on one thread may be placed there. */
static void follow(finder *f, int32_t s, int32_t thread)
{
    const ac_order_step *st = &f->p->step[s];
    for (int32_t k = 0; k < st->n_succs; k++) {
        const int32_t x = st->succ[k];
        if (f->lacks[x] < 0) {
            f->lacks[x] = f->left[x];
            f->by[x] = ANY;
            ac_push(f->tmp, &f->touched, x);
        }
        f->lacks[x]--;
        f->by[x] = thread == AC_ALL_THREADS ? NONE : f->by[x] == ANY || f->by[x] == thread ? thread : NONE;
        if (!f->lacks[x] && f->by[x] != NONE && !f->how->alone[x] && f->how->part[x] == f->how->part[s])
            ac_push(f->tmp, &f->open, x);
    }
}

static int32_t first_free(const finder *f)
{
    int32_t best = 0;
    for (int32_t t = 1; t < f->how->threads; t++)
        best = f->time[t] < f->time[best] ? t : best;
    return best;
}

/* The open step that begins first, and of those the one with the longest way; its place in open. Steps above `size` are
 * cut and come first. */
static int32_t next(const finder *f, double size, int32_t *where)
{
    const int32_t free = first_free(f);
    int32_t best = -1;
    double begins = 0;
    for (int32_t k = 0; k < f->open.n; k++) {
        const int32_t s = f->open.item[k];
        const bool all = is_cut(f, s) && f->how->work[s] > size;
        if (all && f->by[s] != ANY)
            continue;
        const int32_t on = all ? AC_ALL_THREADS : f->by[s] == ANY ? free : f->by[s];
        const double at = all ? -1 : f->time[on];
        const int32_t b = best < 0 ? -1 : f->open.item[best];
        const bool longer = b >= 0 && (f->rank[s] > f->rank[b] || (f->rank[s] >= f->rank[b] && s < b));
        if (b < 0 || at < begins || (at <= begins && longer)) {
            best = k;
            begins = at;
            *where = on;
        }
    }
    return best;
}

static double longest(const finder *f)
{
    double most = 0;
    for (int32_t t = 0; t < f->how->threads; t++)
        most = f->time[t] > most ? f->time[t] : most;
    return most;
}

static void place(finder *f, int32_t s, int32_t where)
{
    for (int32_t t = 0; t < f->how->threads; t++)
        if (where == AC_ALL_THREADS)
            f->time[t] += f->how->slowest[s];
        else if (where == t)
            f->time[t] += f->how->work[s];
    follow(f, s, where);
}

/* Fills x with the best phase if steps above `size` are cut. */
static void make_phase(finder *f, int32_t part, double size, phase *x)
{
    ac_bytes bytes = f->alive;
    double sum = 0;
    int32_t best = 0, where = 0;
    x->n = 0;
    x->gain = 0;
    open_phase(f, part);
    for (int32_t k; x->n < MOST && (k = next(f, size, &where)) >= 0;) {
        const int32_t s = f->open.item[k];
        f->open.item[k] = f->open.item[--f->open.n];
        if (bytes + born(f, s) > f->how->limit)
            continue;
        bytes += born(f, s);
        x->step[x->n] = s;
        x->where[x->n++] = where;
        place(f, s, where);
        sum += alone(f, s);
        const double gain = sum - longest(f) - f->how->fork;
        if (x->n > 1 && gain > x->gain) {
            x->gain = gain;
            best = x->n;
        }
    }
    x->n = best;
    for (int32_t k = 0; k < f->touched.n; k++)
        f->lacks[f->touched.item[k]] = -1;
}

/* The most different times of the steps that are ready, and 0: at most SIZES. */
static int32_t sizes(const finder *f, double *size)
{
    int32_t n = 0;
    for (double below = -1; n < SIZES - 1;) {
        double most = 0;
        for (int32_t k = 0; k < f->ready.n; k++) {
            const double w = f->how->work[f->ready.item[k]];
            most = (below < 0 || w < below) && w > most ? w : most;
        }
        if (most <= 0)
            break;
        size[n++] = below = most;
    }
    size[n++] = 0;
    return n;
}

/* ------------------------------------------------------------------ all of them */

static void finish(finder *f, int32_t s)
{
    const ac_order_step *st = &f->p->step[s];
    for (int32_t k = 0; k < st->n_values; k++) {
        const ac_order_value *v = &f->p->value[st->value[k]];
        if (!v->at_start && v->user[0] == s)
            f->alive += v->size;
        if (!--f->users[st->value[k]] && !v->at_end)
            f->alive -= v->size;
    }
    for (int32_t k = 0; k < f->ready.n; k++)
        if (f->ready.item[k] == s) {
            f->ready.item[k] = f->ready.item[--f->ready.n];
            break;
        }
    for (int32_t k = 0; k < st->n_succs; k++)
        if (!--f->left[st->succ[k]])
            ac_push(f->tmp, &f->ready, st->succ[k]);
}

/* Appends the phase at `at` in the order of planner/pack/slot.h; returns its end. */
static int32_t append(finder *f, const phase *x, int32_t at, int32_t *order, ac_slot *slot)
{
    const int32_t begin = at;
    for (int32_t t = AC_ALL_THREADS; t < f->how->threads; t++)
        for (int32_t k = 0; k < x->n; k++)
            if (x->where[k] == t) {
                order[at] = x->step[k];
                slot[at++] = (ac_slot){t, begin, begin + x->n};
            }
    for (int32_t k = begin; k < at; k++)
        finish(f, order[k]);
    return at;
}

static int32_t first_ready(const finder *f)
{
    int32_t least = f->ready.item[0];
    for (int32_t k = 1; k < f->ready.n; k++)
        least = f->ready.item[k] < least ? f->ready.item[k] : least;
    return least;
}

static void start(finder *f, ac_phases_found *found)
{
    const ac_order_problem *p = f->p;
    for (int32_t v = 0; v < p->n_values; v++) {
        f->users[v] = p->value[v].n_users;
        f->alive += p->value[v].at_start ? p->value[v].size : 0;
    }
    for (int32_t s = p->n - 1; s >= 0; s--) {
        for (int32_t k = 0; k < p->step[s].n_succs; k++) {
            const double after = f->rank[p->step[s].succ[k]];
            f->rank[s] = after > f->rank[s] ? after : f->rank[s];
        }
        f->rank[s] += alone(f, s);
        found->one += f->how->work[s];
        found->before += alone(f, s);
        f->lacks[s] = -1;
        f->left[s] = p->step[s].n_preds;
        if (!f->left[s])
            ac_push(f->tmp, &f->ready, s);
    }
}

ac_phases_found ac_phases_find(const ac_order_problem *p, const ac_phases_how *how, int32_t *order, ac_slot *slot,
                               ac_heap *heap)
{
    ac_region *tmp = ac_region_open(heap);
    finder f = {.p = p, .how = how, .tmp = tmp};
    ac_phases_found found = {0};
    phase *now = AC_NEW(tmp, phase), *best = AC_NEW(tmp, phase);
    f.rank = AC_NEW_N(tmp, double, p->n + 1);
    f.left = AC_NEW_N(tmp, int32_t, p->n + 1);
    f.lacks = AC_NEW_N(tmp, int32_t, p->n + 1);
    f.by = AC_NEW_N(tmp, int32_t, p->n + 1);
    f.users = AC_NEW_N(tmp, int32_t, p->n_values + 1);
    f.time = AC_NEW_N(tmp, double, how->threads);
    start(&f, &found);
    found.after = found.before;
    for (int32_t at = 0; at < p->n;) {
        const int32_t s = first_ready(&f);
        double size[SIZES];
        best->n = 0;
        best->gain = 0;
        for (int32_t k = 0, n = f.ready.n > 1 ? sizes(&f, size) : 0; k < n; k++) {
            make_phase(&f, how->part[s], size[k], now);
            if (now->n && now->gain > best->gain)
                *best = *now;
        }
        if (!best->n)
            *best = (phase){.step = {s}, .where = {is_cut(&f, s) ? AC_ALL_THREADS : 0}, .n = 1};
        found.shared += best->n > 1;
        found.after -= best->gain;
        at = append(&f, best, at, order, slot);
    }
    ac_region_close(tmp);
    return found;
}
