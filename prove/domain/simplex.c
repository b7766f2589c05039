/* simplex.c - the simplex method in fractions, with Gomory cuts for integers; see simplex.h.
 *
 * A row of the tableau expresses a basic variable by the free ones, which are 0; it has its own denominator and is in
 * lowest terms. A variable that increases the sum enters the basis, and the one that limits it first leaves, by Bland's
 * rule, which does not cycle. If the free variables cannot all be 0 at the start, an artificial variable, subtracted
 * from every row, is minimised first.
 *
 * All variables are integers, slack variables as well. So a row with a fractional right side implies a cut: the
 * fractional parts of its entries have to add up to that of the right side (R. Gomory, Outline of an algorithm for
 * integer solutions to linear programs, 1958). Cuts are added until the sum is small enough, or no cut is left. */
#include "prove/domain/simplex.h"

#include <string.h>

enum { COLUMNS = AC_SIMPLEX_COLUMNS + 2, MOST_CUTS = 40, ROUNDS = 30, MOST_PIVOTS = 400, ARTIFICIAL = -1 };

/* basic = (at[n] - sum of at[j] * free[j]) / by; of the sum itself, the last row, the same */
typedef struct row {
    int64_t at[COLUMNS], by;
} row;

/* Variables: 0 .. n_variables - 1, then what inequality i leaves over, n_variables + i, then what cuts do */
typedef struct table {
    row *row;
    int32_t *basic, free[COLUMNS];
    int32_t n_variables, n_known, n, m; /* n: columns; m: rows, not counting the sum; ... */
    int32_t room, next;                 /* ... and at most; the next new variable */
    int32_t pivots;
    bool lost; /* too large, or too long */
} table;

/* a * b - c * d */
static int64_t difference(table *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t x, y, z = 0;
    t->lost |= __builtin_mul_overflow(a, b, &x) || __builtin_mul_overflow(c, d, &y) || __builtin_sub_overflow(x, y, &z);
    t->lost |= z == INT64_MIN;
    return t->lost ? 0 : z;
}

/* In lowest terms, with a denominator above 0. */
static void reduce(table *t, row *r)
{
    int64_t g = r->by < 0 ? -r->by : r->by;
    for (int32_t j = 0; j <= t->n && g > 1; j++)
        g = r->at[j] ? ac_gcd(r->at[j] < 0 ? -r->at[j] : r->at[j], g) : g;
    g = r->by < 0 ? -g : g;
    for (int32_t j = 0; j <= t->n && g != 1; j++)
        r->at[j] /= g;
    r->by /= g;
}

/* The basic variable of row r and the free one of column c change places. */
static void pivot(table *t, int32_t r, int32_t c)
{
    row *from = &t->row[r];
    const int64_t p = from->at[c];
    for (int32_t i = 0; i <= t->m && !t->lost; i++) {
        row *x = &t->row[i];
        const int64_t mine = x->at[c];
        if (i == r || !mine)
            continue;
        for (int32_t j = 0; j <= t->n; j++)
            if (j != c)
                x->at[j] = difference(t, x->at[j], p, mine, from->at[j]);
        x->at[c] = difference(t, 0, 0, mine, from->by);
        x->by = difference(t, x->by, p, 0, 0);
        if (!t->lost)
            reduce(t, x);
    }
    from->at[c] = from->by;
    from->by = p;
    reduce(t, from);
    const int32_t out = t->basic[r];
    t->basic[r] = t->free[c];
    t->free[c] = out;
    t->lost |= ++t->pivots > MOST_PIVOTS;
}

/* Does row a end the growth of column c before row b does? Of both at once, that of the older variable. */
static bool ends_before(table *t, int32_t a, int32_t b, int32_t c)
{
    const int64_t d = difference(t, t->row[a].at[t->n], t->row[b].at[c], t->row[b].at[t->n], t->row[a].at[c]);
    return d < 0 || (d == 0 && t->basic[a] < t->basic[b]);
}

static void maximise(table *t)
{
    while (!t->lost) {
        int32_t c = -1, r = -1;
        for (int32_t j = 0; j < t->n; j++)
            if (t->row[t->m].at[j] < 0 && (c < 0 || t->free[j] < t->free[c]))
                c = j;
        if (c < 0)
            return;
        for (int32_t i = 0; i < t->m; i++)
            if (t->row[i].at[c] > 0 && (r < 0 || ends_before(t, i, r, c)))
                r = i;
        if (r < 0)
            t->lost = true; /* it grows without end */
        else
            pivot(t, r, c);
    }
}

/* ------------------------------------------------------------------ the start */

static void remove_column(table *t, int32_t c)
{
    t->free[c] = t->free[t->n - 1];
    for (int32_t i = 0; i <= t->m; i++) {
        t->row[i].at[c] = t->row[i].at[t->n - 1];
        t->row[i].at[t->n - 1] = t->row[i].at[t->n];
    }
    t->n--;
}

/* True if some values satisfy all rows, or if that is unknown. */
static bool find_values(table *t)
{
    int32_t worst = -1;
    for (int32_t i = 0; i < t->m; i++)
        if (t->row[i].at[t->n] < 0 && (worst < 0 || t->row[i].at[t->n] < t->row[worst].at[t->n]))
            worst = i;
    if (worst < 0)
        return true;
    const int32_t c = t->n++;
    for (int32_t i = 0; i <= t->m; i++) {
        t->row[i].at[t->n] = t->row[i].at[c];
        t->row[i].at[c] = i < t->m ? -1 : 1;
    }
    t->free[c] = ARTIFICIAL;
    pivot(t, worst, c);
    maximise(t);
    if (t->lost)
        return true;
    if (t->row[t->m].at[t->n] < 0)
        return false;
    for (int32_t i = 0; i < t->m; i++) /* it is 0: any other variable may be basic instead */
        for (int32_t j = 0; t->basic[i] == ARTIFICIAL && j < t->n; j++)
            if (t->row[i].at[j])
                pivot(t, i, j);
    for (int32_t j = 0; j < t->n; j++)
        if (t->free[j] == ARTIFICIAL)
            remove_column(t, j);
    return true;
}

/* The sum, of the variables that are free now. */
static void set_objective(table *t, const int64_t *weight)
{
    row *z = &t->row[t->m];
    *z = (row){.by = 1};
    for (int32_t j = 0; j < t->n; j++)
        if (t->free[j] >= 0 && t->free[j] < t->n_variables)
            z->at[j] = difference(t, 0, 0, weight[t->free[j]], 1);
    for (int32_t i = 0; i < t->m && !t->lost; i++) {
        const row *x = &t->row[i];
        const int64_t w = t->basic[i] >= 0 && t->basic[i] < t->n_variables ? weight[t->basic[i]] : 0,
                      by = difference(t, w, z->by, 0, 0);
        for (int32_t j = 0; j <= t->n && w; j++)
            z->at[j] = difference(t, z->at[j], x->by, difference(t, 0, 0, by, 1), x->at[j]);
        z->by = w ? difference(t, z->by, x->by, 0, 0) : z->by;
        if (!t->lost)
            reduce(t, z);
    }
}

/* ------------------------------------------------------------------ integers */

/* Row r's right side is below 0, and the sum cannot grow: the basic variable leaves for the least expensive free one
 * (dual simplex). False if no free variable fits: the rows have no solution. */
static bool pivot_dual(table *t, int32_t r)
{
    int32_t c = -1;
    const int64_t *z = t->row[t->m].at, *at = t->row[r].at;
    for (int32_t j = 0; j < t->n; j++) {
        if (at[j] >= 0)
            continue;
        const int64_t d = c < 0 ? 1 : difference(t, z[c], at[j], z[j], at[c]); /* entries are below 0 */
        if (d < 0 || c < 0 || (d == 0 && t->free[j] < t->free[c]))
            c = j;
    }
    if (c >= 0 && !t->lost)
        pivot(t, r, c);
    return c >= 0;
}

/* The cut that row i implies, as its right side is a fraction. */
static void add_cut(table *t, int32_t i)
{
    t->row[t->m + 1] = t->row[t->m];
    row *x = &t->row[t->m];
    const row of = t->row[i == t->m ? t->m + 1 : i];
    *x = (row){.by = of.by};
    for (int32_t j = 0; j <= t->n; j++) {
        const int64_t rest = of.at[j] % of.by;
        x->at[j] = -(rest < 0 ? rest + of.by : rest);
    }
    t->basic[t->m++] = t->next++;
}

/* Of all rows, that of the sum first. True if any was added. */
static bool add_cuts(table *t)
{
    const int32_t m = t->m;
    for (int32_t i = m; i >= 0 && t->m < t->room; i--) {
        const row *x = &t->row[i == m ? t->m : i];
        if (x->at[t->n] % x->by)
            add_cut(t, i == m ? t->m : i);
    }
    return t->m > m;
}

/* Removes cuts that are not tight. */
static void drop_cuts(table *t)
{
    int32_t to = 0;
    for (int32_t i = 0; i < t->m; i++) {
        if (t->basic[i] >= t->n_variables + t->n_known && t->row[i].at[t->n] > 0)
            continue;
        t->basic[to] = t->basic[i];
        t->row[to++] = t->row[i];
    }
    t->row[to] = t->row[t->m];
    t->m = to;
}

/* True if the sum cannot reach `enough`: no free variable increases it, and its value is less. */
static bool is_below(table *t, int64_t enough)
{
    const row *z = &t->row[t->m];
    for (int32_t j = 0; j < t->n; j++)
        if (z->at[j] < 0)
            return false;
    return difference(t, z->at[t->n], 1, enough, z->by) < 0 && !t->lost;
}

/* True if cuts bring the maximum of the sum below `enough`. */
static bool is_below_by_cuts(table *t, int64_t enough)
{
    for (int32_t round = 0; round < ROUNDS && !t->lost; round++) {
        if (!add_cuts(t))
            return false; /* there are integers with that sum */
        for (int32_t r = 0; r < t->m && !t->lost; r++) {
            if (t->row[r].at[t->n] >= 0)
                continue;
            if (!pivot_dual(t, r))
                return !t->lost;
            r = -1;
        }
        if (is_below(t, enough))
            return true;
        drop_cuts(t);
    }
    return false;
}

bool ac_simplex_at_most(ac_region *region, const ac_inequality *known, int32_t n_known, int32_t n_variables,
                        const int64_t *weight, int64_t limit)
{
    table t = {.n_variables = n_variables, .n_known = n_known, .n = n_variables, .m = n_known};
    t.room = n_known + MOST_CUTS;
    t.next = n_variables + n_known;
    t.row = AC_NEW_N(region, row, n_known + MOST_CUTS + 1);
    t.basic = AC_NEW_N(region, int32_t, n_known + MOST_CUTS + 1);
    for (int32_t j = 0; j < n_variables; j++)
        t.free[j] = j;
    for (int32_t i = 0; i < n_known; i++) {
        memcpy(t.row[i].at, known[i].weight, (size_t)n_variables * sizeof *known[i].weight);
        t.row[i].at[n_variables] = known[i].most;
        t.row[i].by = 1;
        t.basic[i] = n_variables + i;
    }
    t.row[n_known].by = 1;
    if (limit == INT64_MAX)
        return true;
    if (!find_values(&t))
        return true;
    set_objective(&t, weight);
    maximise(&t);
    return !t.lost && (is_below(&t, limit + 1) || is_below_by_cuts(&t, limit + 1));
}
