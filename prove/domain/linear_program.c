/* linear_program.c - answers questions about sums that need several bounds at once: 320 y + 64 x + c <= 7999, by facts
 * about rows, columns and channels of an image.
 *
 * Ends of intervals, bounds and facts about the unknowns of the sum are linear inequalities. Each inequality by itself
 * narrows the intervals first; then simplex.h bounds the sum under all of them. If that fails, unknowns with
 * alternatives are replaced by each of these.
 *
 * Cost: tables of a row for each inequality and a column for each unknown, all together at most 2^MOST_SPLIT. */
#include "prove/domain/affine.h"
#include "prove/domain/simplex.h"

enum { MOST_COLUMNS = AC_SIMPLEX_COLUMNS, MOST_SAID = 120, MOST_ROWS = MOST_SAID + 2 * MOST_COLUMNS, MOST_SPLIT = 4 };

typedef struct program {
    ac_knowledge *k;
    int32_t unknown[MOST_COLUMNS];                   /* by variable: it is ... */
    int64_t least[MOST_COLUMNS], unit[MOST_COLUMNS]; /* ... least + unit * variable; loop variables have steps */
    ac_interval in[MOST_COLUMNS];                    /* of the variable */
    int32_t n_unknowns, n_rows;
    ac_inequality row[MOST_ROWS];
} program;

/* ------------------------------------------------------------------ inequalities */

/* -1: all columns are used, or the unknown has no lower end. */
static int32_t column_of(program *g, int32_t unknown)
{
    const ac_unknown *u = &g->k->unknown.item[unknown];
    const int32_t n = g->n_unknowns;
    for (int32_t j = 0; j < n; j++)
        if (g->unknown[j] == unknown)
            return j;
    if (n == MOST_COLUMNS || u->in.lo == INT64_MIN)
        return -1;
    const bool strides = u->of_loop && !u->falls && !u->first.lost && !u->first.n && u->first.c <= u->in.lo;
    g->unknown[n] = unknown;
    g->unit[n] = strides ? u->step : 1;
    g->least[n] = strides ? u->first.c : u->in.lo;
    const ac_interval by = {g->least[n], g->least[n]}, in = ac_interval_sub(u->in, by);
    g->in[n] = (ac_interval){0, in.hi == INT64_MAX || in.hi < 0 ? in.hi : in.hi / g->unit[n]};
    return g->n_unknowns++;
}

/* sum <= 0 as weights of variables, and the right side; false: it does not fit. */
static bool weights_of(program *g, const ac_affine *sum, int64_t *weight, int64_t *right)
{
    bool fits = !sum->lost && !__builtin_sub_overflow(INT64_C(0), sum->c, right);
    for (int32_t i = 0; i < sum->n && fits; i++) {
        const ac_term t = sum->term[i];
        const int32_t j = column_of(g, t.unknown);
        int64_t part;
        fits = j >= 0 && !__builtin_mul_overflow(t.k, g->least[j], &part) &&
               !__builtin_sub_overflow(*right, part, right) && !__builtin_mul_overflow(t.k, g->unit[j], &weight[j]);
    }
    return fits;
}

/* A sum that does not fit is omitted: that is sound. */
static void at_most_0(program *g, const ac_affine *sum)
{
    ac_inequality x = {{0}, 0};
    if (g->n_rows < MOST_SAID && weights_of(g, sum, x.weight, &x.most))
        g->row[g->n_rows++] = x;
}

static void bounds_of(program *g, int32_t unknown)
{
    const ac_unknown u = g->k->unknown.item[unknown];
    const ac_affine me = ac_affine_unknown(unknown);
    for (int32_t i = 0; i < u.at_most.n; i++) {
        const ac_affine mine = ac_affine_times(&me, u.at_most.item[i].k),
                        gap = ac_affine_add(&mine, &u.at_most.item[i].sum, -1);
        at_most_0(g, &gap);
    }
    for (int32_t i = 0; i < u.at_least.n; i++) {
        const ac_affine mine = ac_affine_times(&me, u.at_least.item[i].k),
                        gap = ac_affine_add(&u.at_least.item[i].sum, &mine, -1);
        at_most_0(g, &gap);
    }
}

/* All facts, and all bounds of their unknowns, of those of the sum, and of the unknowns that these bounds name. */
static void add_known(program *g)
{
    for (int32_t i = g->k->fact.n - 1; i >= 0; i--) {
        const ac_affine turned = ac_affine_times(&g->k->fact.item[i], -1);
        at_most_0(g, &turned);
    }
    for (int32_t j = 0; j < g->n_unknowns; j++)
        bounds_of(g, g->unknown[j]);
}

/* ------------------------------------------------------------------ intervals */

/* Narrows the interval of variable j by an inequality, for any values of the others. True if it became smaller. */
static bool narrow(program *g, const ac_inequality *x, int32_t j)
{
    int64_t room = x->most; /* weight * variable is at most this */
    for (int32_t i = 0; i < g->n_unknowns; i++) {
        const int64_t w = x->weight[i], least = w > 0 ? ac_sat_mul(w, g->in[i].lo) : ac_sat_mul(w, g->in[i].hi);
        if (i != j && w && (least == INT64_MIN || __builtin_sub_overflow(room, least, &room)))
            return false;
    }
    const int64_t w = x->weight[j];
    if (!w || w == INT64_MIN || room == INT64_MIN)
        return false;
    const int64_t by = w < 0 ? -w : w, floor = room / by - (room % by < 0);
    ac_interval *in = &g->in[j];
    if (w > 0 ? floor >= in->hi : -floor <= in->lo)
        return false;
    if (w > 0)
        in->hi = floor;
    else
        in->lo = -floor;
    return true;
}

/* False if an interval becomes empty. The intervals become rows. */
static bool narrow_all(program *g)
{
    enum { ROUNDS = 6 };
    bool more = true;
    for (int32_t round = 0; round < ROUNDS && more; round++) {
        more = false;
        for (int32_t i = 0; i < g->n_rows; i++)
            for (int32_t j = 0; j < g->n_unknowns; j++) {
                more |= narrow(g, &g->row[i], j);
                if (g->in[j].lo > g->in[j].hi)
                    return false;
            }
    }
    for (int32_t j = 0; j < g->n_unknowns; j++) {
        if (g->in[j].hi != INT64_MAX) {
            g->row[g->n_rows].weight[j] = 1;
            g->row[g->n_rows++].most = g->in[j].hi;
        }
        if (g->in[j].lo > 0) {
            g->row[g->n_rows].weight[j] = -1;
            g->row[g->n_rows++].most = -g->in[j].lo;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ questions */

static bool is_at_most(ac_knowledge *k, const ac_affine *a, ac_region *r, int32_t *taken, int32_t n_taken);

/* The youngest unknown of the program that has alternatives and is not among `taken`; 0: none. */
static int32_t next_alternatives(const program *g, const int32_t *taken, int32_t n_taken)
{
    int32_t best = 0;
    for (int32_t j = 0; j < g->n_unknowns; j++) {
        bool is_new = g->k->unknown.item[g->unknown[j]].n_one_of > 0 && g->unknown[j] > best;
        for (int32_t i = 0; i < n_taken && is_new; i++)
            is_new = taken[i] != g->unknown[j];
        best = is_new ? g->unknown[j] : best;
    }
    return best;
}

static bool is_at_most_for_each(ac_knowledge *k, const ac_affine *a, ac_region *r, int32_t unknown, int32_t *taken,
                                int32_t n_taken)
{
    const ac_unknown u = k->unknown.item[unknown];
    const ac_affine me = ac_affine_unknown(unknown);
    bool all = true;
    taken[n_taken] = unknown;
    for (int32_t i = 0; i < u.n_one_of && all; i++) {
        const int32_t facts = k->fact.n;
        const ac_affine over = ac_affine_add(&me, &u.one_of[i].value, -1), under = ac_affine_times(&over, -1);
        ac_push(k->region, &k->fact, over);
        ac_push(k->region, &k->fact, under);
        ac_know_guards(k, &u.one_of[i]);
        all = is_at_most(k, a, r, taken, n_taken + 1);
        k->fact.n = facts;
    }
    return all;
}

/* a <= 0? */
static bool is_at_most(ac_knowledge *k, const ac_affine *a, ac_region *r, int32_t *taken, int32_t n_taken)
{
    program *g = AC_NEW(r, program);
    int64_t weight[MOST_COLUMNS] = {0}, most;
    g->k = k;
    if (!weights_of(g, a, weight, &most))
        return false;
    add_known(g);
    if (!narrow_all(g) || ac_simplex_at_most(r, g->row, g->n_rows, g->n_unknowns, weight, most))
        return true; /* or the code is not reached */
    const int32_t unknown = n_taken < MOST_SPLIT ? next_alternatives(g, taken, n_taken) : 0;
    return unknown && is_at_most_for_each(k, a, r, unknown, taken, n_taken);
}

bool ac_is_at_most_lp(ac_knowledge *k, const ac_affine *a, int64_t limit)
{
    int32_t taken[MOST_SPLIT + 1];
    const ac_affine q = ac_affine_plus(a, limit == INT64_MIN ? 0 : -limit);
    if (q.lost || limit == INT64_MIN)
        return false;
    if (ac_affine_interval(k, a).hi <= limit)
        return true;
    ac_region *r = ac_region_open(ac_region_heap(k->region));
    const bool proven = is_at_most(k, &q, r, taken, 0);
    ac_region_close(r);
    return proven;
}

bool ac_is_at_least_lp(ac_knowledge *k, const ac_affine *a, int64_t limit)
{
    const ac_affine turned = ac_affine_times(a, -1);
    return limit != INT64_MIN && ac_is_at_most_lp(k, &turned, -limit);
}

bool ac_is_from_0(ac_knowledge *k, const ac_affine *a, const ac_affine *over)
{
    return (ac_is_at_least(k, a, 0) || ac_is_at_least_lp(k, a, 0)) &&
           (ac_is_at_most(k, over, 0) || ac_is_at_most_lp(k, over, 0));
}
