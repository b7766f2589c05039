/* by_channel.c - claims that hold because of what the constants are: each is shown for every channel by itself.
 *
 * A sum of products fits although the largest weight times the largest element, as often as there are products, would
 * not: no channel has all of its weights that large. Intervals over all channels at once cannot say so. Here everything
 * that a doubtful instruction depends on is computed again, with exact constants, for each value of the loop variables
 * that choose those: intervals where an operand is no constant, by lanes. A loop is gone through only where its
 * variable as an interval is not enough; those that choose constants first. Loops that change variables are run: what
 * an iteration that may be left out adds, may be added.
 *
 * So are places in memory that stay inside of their buffer for every row: those of a window, of which what is outside
 * is left out by quotients of the row's number. */
#include "prove/by_channel.h"

#include "prove/exact_lanes.h"

/* Lanes computed: for all claims of a function at once, and for one. */
enum { MOST_WORK = 64 * 1000 * 1000, MOST_OF_ONE = 6400 * 1000, MOST_ITERATIONS = 1 << 14 };

typedef struct cases {
    ac_lanes e;
    bool *claim;          /* by instruction: is it one of those whose claims are looked at? */
    bool *fits;           /* ... in all cases so far */
    ac_interval *room_of; /* ... between these */
    ac_interval *met;
    bool *is_in;     /* a claim depends on it */
    bool *chooses;   /* ... by way of an index of constants */
    bool *is_run;    /* by FOR: it changes variables that the claim depends on */
    AC_VEC(ac_x) in; /* in order */
    AC_VEC(ac_x) var;
    AC_VEC(ac_interval) saved; /* a stack of their values */
    int32_t top, lanes;        /* lanes of all variables */
    AC_VEC(ac_x) loop;         /* and loads of numbers, in the order in which they are gone through */
    int32_t choosing;          /* the first of them choose constants */
    bool *varies;              /* by instruction: it depends on variables */
    int64_t work, most;        /* lanes computed */
    bool room;                 /* for all lanes of variables */
    bool all;                  /* fit, in the case at work */
    bool windows;              /* what loops that are run are bounded by chooses constants, too */
} cases;

static bool is_block(ac_lop op)
{
    return op == AC_L_FOR || op == AC_L_IF;
}

/* ------------------------------------------------------------------ what a claim depends on */

/* 1: x is new on the list; an int, since callers join several by | and all must be entered. */
static int need(bool *list, ac_x x)
{
    const bool is_new = x > 0 && !list[x];
    if (is_new)
        list[x] = true;
    return is_new;
}

/* Whatever sets a variable, and the blocks around that. */
static bool setters(cases *c, ac_x var)
{
    const ac_prover *p = c->e.p;
    bool more = need(c->is_in, ac_p_ins(p, var)->a) | need(c->is_in, var);
    for (ac_x k = var; k < p->fn->code.n; k++) {
        if (ac_p_ins(p, k)->op != AC_L_SET || ac_p_ins(p, k)->aux != var)
            continue;
        more |= need(c->is_in, k) | need(c->is_in, ac_p_ins(p, k)->a);
        for (ac_x b = var; b < k; b++)
            if (is_block((ac_lop)ac_p_ins(p, b)->op) && ac_p_end(p, b) > k) {
                more |= need(c->is_in, b);
                c->is_run[b] |= ac_p_ins(p, b)->op == AC_L_FOR;
            }
    }
    return more;
}

/* The operands of x; did any come to the list? */
static bool operands(cases *c, ac_x x, bool *list)
{
    const ac_prover *p = c->e.p;
    const ac_ins *i = ac_p_ins(p, x);
    const ac_x tile = i->op == AC_L_LOAD ? ac_lanes_tile(&c->e, x) : 0;
    if (i->op == AC_L_CONST || i->op == AC_L_CONSTV || i->op == AC_L_SET || i->op == AC_L_VAR)
        return false;
    if (tile)
        return need(list, ac_p_ins(p, tile)->b) | need(list, ac_p_ins(p, tile)->c);
    if (i->op == AC_L_LOAD && list == c->is_in && ac_lanes_next_store(&c->e, x, 0)) {
        int more = need(list, i->a);
        for (ac_x s = ac_lanes_next_store(&c->e, x, 0); s; s = ac_lanes_next_store(&c->e, x, s))
            more |= need(list, ac_p_ins(p, s)->b);
        return more;
    }
    if (i->op == AC_L_LOAD)
        return ac_lanes_constant(&c->e, i->aux) && need(list, i->a);
    if (i->op == AC_L_GET)
        return list == c->is_in && setters(c, i->aux);
    if (i->op == AC_L_FOR && list == c->chooses && c->is_run[x] && !c->windows)
        return false;
    return need(list, i->a) | need(list, i->b) | need(list, i->c);
}

static void gather(cases *c)
{
    const ac_prover *p = c->e.p;
    const int32_t n = p->fn->code.n;
    for (ac_x k = 1; k < n; k++)
        c->is_in[k] = c->claim[k];
    for (bool more = true; more;) {
        more = false;
        for (ac_x k = n - 1; k > 0; k--)
            if (c->is_in[k])
                more |= operands(c, k, c->is_in);
    }
    for (ac_x k = n - 1; k > 0; k--)
        if ((c->is_in[k] && ac_p_ins(p, k)->op == AC_L_LOAD) || c->chooses[k])
            operands(c, k, c->chooses);
    for (ac_x k = 1; k < n; k++) {
        if (c->is_in[k])
            ac_push(p->keep, &c->in, k);
        if (c->is_in[k] && ac_p_ins(p, k)->op == AC_L_VAR) {
            ac_push(p->keep, &c->var, k);
            const int32_t lanes = ac_p_ins(p, ac_p_ins(p, k)->a)->lanes;
            c->e.var[k] = (ac_lanes_var){lanes, AC_NEW_N(p->keep, ac_interval, lanes)};
            c->lanes += c->e.var[k].lanes;
            c->room &= c->e.var[k].lanes <= AC_LANES;
        }
    }
    for (int chosen = 1; chosen >= 0; chosen--) {
        for (int32_t k = 0; k < c->in.n; k++) {
            const ac_x x = c->in.item[k];
            const ac_ins *i = ac_p_ins(p, x);
            c->varies[x] = i->op == AC_L_GET || (i->a > 0 && c->varies[i->a]) || (i->b > 0 && c->varies[i->b]) ||
                           (i->c > 0 && c->varies[i->c]);
            const bool number = i->op == AC_L_LOAD && ac_p_has_numbers(p, i->aux);
            if ((number || (i->op == AC_L_FOR && !c->is_run[x])) && c->chooses[x] == chosen && !c->varies[x])
                ac_push(p->keep, &c->loop, x);
        }
        c->choosing = chosen ? c->loop.n : c->choosing;
    }
}

/* ------------------------------------------------------------------ running it */

/* The variables as they are now, on a stack: c->top goes back when they are no longer needed. */
static int32_t variables(cases *c)
{
    while (c->saved.n < c->top + c->lanes)
        ac_push(c->e.p->keep, &c->saved, ((ac_interval){0, 0}));
    const int32_t at = c->top;
    for (int32_t k = 0; k < c->var.n; k++) {
        const ac_lanes_var *v = &c->e.var[c->var.item[k]];
        memcpy(&c->saved.item[c->top], v->lane, (size_t)v->lanes * sizeof *v->lane);
        c->top += v->lanes;
    }
    return at;
}

static void put_back(cases *c, int32_t saved)
{
    for (int32_t k = 0; k < c->var.n; k++) {
        ac_lanes_var *v = &c->e.var[c->var.item[k]];
        memcpy(v->lane, &c->saved.item[saved], (size_t)v->lanes * sizeof *v->lane);
        saved += v->lanes;
    }
}

/* What a variable may hold: what it holds, or what it held then. */
static void join(cases *c, int32_t saved)
{
    for (int32_t k = 0; k < c->var.n; k++) {
        ac_lanes_var *v = &c->e.var[c->var.item[k]];
        for (int32_t l = 0; l < v->lanes; l++)
            v->lane[l] = ac_interval_join(v->lane[l], c->saved.item[saved++]);
    }
}

static void set(cases *c, ac_x var, ac_x value)
{
    ac_lanes_var *v = &c->e.var[var];
    memcpy(v->lane, c->e.lane[value], (size_t)v->lanes * sizeof *v->lane);
}

/* Nothing more is known of the variables from before x than their type. */
static void forget(cases *c, ac_x x)
{
    for (int32_t k = 0; k < c->var.n && c->var.item[k] < x; k++) {
        ac_lanes_var *v = &c->e.var[c->var.item[k]];
        for (int32_t l = 0; l < v->lanes; l++)
            v->lane[l] = ac_p_range((ac_dtype)ac_p_ins(c->e.p, c->var.item[k])->dtype);
    }
}

static void run(cases *c, int32_t from, int32_t to);

/* The first of what is in the list from `n` on that comes after x. */
static int32_t after(const cases *c, int32_t n, ac_x x)
{
    while (n < c->in.n && c->in.item[n] < x)
        n++;
    return n;
}

static void run_branch(cases *c, int32_t n)
{
    const ac_prover *p = c->e.p;
    const ac_x x = c->in.item[n];
    const ac_interval cond = c->e.lane[ac_p_ins(p, x)->a][0];
    const int32_t middle = after(c, n, p->end[x]), end = after(c, middle, ac_p_end(p, x));
    if (cond.lo == cond.hi) {
        run(c, cond.lo ? n + 1 : middle, cond.lo ? middle : end);
        return;
    }
    const int32_t top = c->top, before = variables(c);
    run(c, n + 1, middle);
    const int32_t then = variables(c);
    put_back(c, before);
    run(c, middle, end);
    join(c, then);
    c->top = top;
}

static bool breaks(const ac_prover *p, ac_x loop)
{
    for (ac_x k = loop; k < p->end[loop]; k++)
        if (ac_p_ins(p, k)->op == AC_L_BREAK_IF)
            return true;
    return false;
}

static void run_loop(cases *c, int32_t n)
{
    const ac_prover *p = c->e.p;
    const ac_x x = c->in.item[n];
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval from = c->e.lane[i->a][0], to = c->e.lane[i->b][0];
    const int64_t step = i->k.i;
    const int32_t end = after(c, n, p->end[x]);
    if (step < 1 || (step > 1 && from.lo != from.hi) || to.hi - from.lo > MOST_ITERATIONS * step || breaks(p, x)) {
        forget(c, x);
        for (ac_x k = x; k < p->end[x]; k++)
            if (c->claim[k])
                c->fits[k] = c->all = false;
        return;
    }
    c->e.fixed[x] = true;
    for (int64_t v = from.lo; v < to.hi && c->work < c->most; v += step) {
        const bool certain = v >= from.hi && v < to.lo;
        const int32_t top = c->top, before = certain ? 0 : variables(c);
        c->e.counter[x] = (ac_interval){v, v};
        c->work += ac_lanes_value(&c->e, x);
        run(c, n + 1, end);
        if (!certain)
            join(c, before);
        c->top = top;
    }
    c->e.fixed[x] = false;
}

static bool is_control(const cases *c, ac_x x)
{
    const ac_lop op = (ac_lop)ac_p_ins(c->e.p, x)->op;
    return op == AC_L_VAR || op == AC_L_SET || op == AC_L_IF || c->is_run[x];
}

static void look(cases *c, ac_x x)
{
    const ac_interval in = c->e.result;
    const bool fits = ac_interval_inside(in, c->room_of[x]) && in.lo != INT64_MIN && in.hi != INT64_MAX;
    c->fits[x] &= fits;
    c->all &= fits;
    c->met[x] = ac_interval_join(c->met[x], in);
}

static void run(cases *c, int32_t from, int32_t to)
{
    const ac_prover *p = c->e.p;
    for (int32_t n = from; n < to; n++) {
        const ac_x x = c->in.item[n];
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_VAR || i->op == AC_L_SET) {
            set(c, i->op == AC_L_VAR ? x : i->aux, i->a);
        } else if (i->op == AC_L_IF) {
            run_branch(c, n);
            n = after(c, n, ac_p_end(p, x)) - 1;
        } else if (c->is_run[x]) {
            run_loop(c, n);
            n = after(c, n, p->end[x]) - 1;
        } else {
            c->work += ac_lanes_value(&c->e, x);
            if (c->claim[x])
                look(c, x);
        }
    }
}

static bool go_through(cases *c, int32_t fixed, int32_t at_once, ac_x only);

/* The values v of a loop. Where they choose no constants all may do at once, or all but the first and the last: the
 * ends of an image are different. */
static bool go_range(cases *c, int32_t fixed, int32_t at_once, ac_x only, ac_interval v)
{
    const ac_x loop = c->loop.item[fixed];
    c->e.counter[loop] = v;
    if (v.lo == v.hi || go_through(c, fixed + 1, at_once, only))
        return v.lo < v.hi || go_through(c, fixed + 1, at_once, only);
    const int64_t middle = v.lo + (v.hi - v.lo) / 2;
    if (v.hi - v.lo < 4)
        return go_range(c, fixed, at_once, only, (ac_interval){v.lo, middle}) &&
               go_range(c, fixed, at_once, only, (ac_interval){middle + 1, v.hi});
    return go_range(c, fixed, at_once, only, (ac_interval){v.lo, v.lo}) &&
           go_range(c, fixed, at_once, only, (ac_interval){v.hi, v.hi}) &&
           go_range(c, fixed, at_once, only, (ac_interval){v.lo + 1, v.hi - 1});
}

/* The loop's bounds, where they are numbers here. */
static bool bounds(cases *c, ac_x loop, int64_t *from, int64_t *to)
{
    const ac_ins *i = ac_p_ins(c->e.p, loop);
    for (int32_t n = 0; c->in.item[n] < loop; n++)
        if (!is_control(c, c->in.item[n]))
            c->work += ac_lanes_value(&c->e, c->in.item[n]);
    const ac_interval a = c->e.lane[i->a][0], b = c->e.lane[i->b][0];
    *from = a.lo;
    *to = b.lo;
    return a.lo == a.hi && b.lo == b.hi;
}

/* What the load x gives in any call: each of them is a case, if they are not too many. */
static bool numbers(const cases *c, ac_x x, int64_t *from, int64_t *to)
{
    const ac_interval in = c->e.known[x];
    *from = in.lo;
    *to = in.hi + 1;
    return in.lo >= INT32_MIN && in.hi <= INT32_MAX && in.hi - in.lo < MOST_ITERATIONS;
}

/* Runs it for the values of the loops from `fixed` on. `at_once` of them have to have one. Of a single claim, `only`,
 * further ones get some where it does not fit otherwise. */
static bool go_through(cases *c, int32_t fixed, int32_t at_once, ac_x only)
{
    if (fixed >= at_once) {
        const ac_interval met = c->met[only];
        c->all = true;
        run(c, 0, c->in.n);
        if (c->all || !only)
            return c->all;
        c->met[only] = met; /* of a case that does not count */
        c->fits[only] = true;
        if (fixed == c->loop.n || c->work > c->most)
            return false;
    }
    const ac_x loop = c->loop.item[fixed];
    const bool is_loop = ac_p_ins(c->e.p, loop)->op == AC_L_FOR;
    const int64_t step = is_loop ? ac_p_ins(c->e.p, loop)->k.i : 1;
    int64_t from, to;
    if (!(is_loop ? bounds(c, loop, &from, &to) : numbers(c, loop, &from, &to)))
        return go_through(c, fixed + 1, at_once, only);
    bool all = true;
    c->e.fixed[loop] = true;
    if (fixed >= c->choosing && step == 1)
        all = from >= to || go_range(c, fixed, at_once, only, (ac_interval){from, to - 1});
    else
        for (int64_t v = from; (all || !only) && (step > 0 ? v < to : v > to); v += step) {
            c->e.counter[loop] = (ac_interval){v, v};
            all &= go_through(c, fixed + 1, at_once, only);
        }
    c->e.fixed[loop] = false;
    return all;
}

/* ------------------------------------------------------------------ claims */

static bool is_sum(const ac_ins *i)
{
    return ac_p_promises(i) && i->lanes <= AC_LANES;
}

static void open_cases(cases *c, ac_prover *p, const ac_lanes *e, const bool *claim, int64_t most, bool windows)
{
    const int32_t n = p->fn->code.n;
    *c = (cases){.e = *e, .room = true, .most = most, .windows = windows};
    c->claim = ac_copy(p->keep, claim, (size_t)n * sizeof *claim);
    c->fits = AC_NEW_N(p->keep, bool, n);
    c->met = AC_NEW_N(p->keep, ac_interval, n);
    c->room_of = AC_NEW_N(p->keep, ac_interval, n);
    c->is_in = AC_NEW_N(p->keep, bool, n);
    c->chooses = AC_NEW_N(p->keep, bool, n);
    c->is_run = AC_NEW_N(p->keep, bool, n);
    c->varies = AC_NEW_N(p->keep, bool, n);
    for (ac_x x = 0; x < n; x++) {
        c->fits[x] = true;
        c->met[x] = (ac_interval){INT64_MAX, INT64_MIN};
        if (c->claim[x])
            c->room_of[x] = ac_p_range((ac_dtype)ac_p_ins(p, x)->dtype);
    }
    gather(c);
}

/* Notes which of the claims hold. */
static bool conclude(const cases *c, ac_prover *p)
{
    bool any = false;
    for (ac_x x = 1; x < p->fn->code.n && c->work <= c->most; x++)
        if (c->claim[x] && c->fits[x] && c->met[x].lo <= c->met[x].hi) {
            p->refined[x] = ac_interval_meet(p->refined[x], c->met[x]);
            any = p->fine[x] = true;
        }
    return any;
}

static bool is_same_choice(const cases *a, const cases *b)
{
    bool same = a->choosing == b->choosing;
    for (int32_t k = 0; k < a->choosing && same; k++)
        same = a->loop.item[k] == b->loop.item[k];
    return same;
}

/* The place that the load or store x accesses is narrowed, if it is inside of the buffer whatever the loops' variables
 * are. */
static bool by_place(ac_prover *p, const ac_lanes *e, ac_x x, bool *claim)
{
    const ac_ins *i = ac_p_ins(p, x);
    if ((i->op != AC_L_LOAD && i->op != AC_L_STORE) || !is_sum(ac_p_ins(p, i->a)))
        return false;
    cases c;
    claim[i->a] = true;
    open_cases(&c, p, e, claim, MOST_OF_ONE, true);
    claim[i->a] = false;
    c.room_of[i->a] = (ac_interval){0, p->count[i->aux] - (i->lanes > 1 ? i->lanes : 1)};
    if (!c.room)
        return false;
    const ac_interval before = p->refined[i->a];
    c.fits[i->a] = go_through(&c, 0, 0, i->a);
    return conclude(&c, p) && (p->refined[i->a].lo > before.lo || p->refined[i->a].hi < before.hi);
}

bool ac_p_by_channel(ac_prover *p, const bool *failed)
{
    const int32_t n = p->fn->code.n;
    bool any = false, *claim = AC_NEW_N(p->keep, bool, n), *done = AC_NEW_N(p->keep, bool, n);
    cases *one = AC_NEW_N(p->keep, cases, n);
    ac_lanes e;
    ac_lanes_open(&e, p);
    for (ac_x x = 1; x < n; x++) {
        done[x] = !failed[x] || p->fine[x] || !is_sum(ac_p_ins(p, x));
        claim[x] = true;
        if (!done[x])
            open_cases(&one[x], p, &e, claim, MOST_OF_ONE, true);
        claim[x] = false;
    }
    for (ac_x x = 1; x < n; x++) {
        if (done[x])
            continue;
        for (ac_x y = x; y < n; y++) /* those whose constants are chosen by the same loops, at once */
            claim[y] = !done[y] && is_same_choice(&one[x], &one[y]);
        bool left = true;
        for (int windows = 0; windows < 2 && left; windows++) {
            cases c;
            open_cases(&c, p, &e, claim, MOST_WORK, windows);
            if (c.room)
                go_through(&c, 0, c.choosing, 0);
            any |= conclude(&c, p);
            left = false;
            for (ac_x y = x; y < n; y++)
                left |= claim[y] && !p->fine[y];
        }
        for (ac_x y = x; y < n; y++) {
            done[y] |= claim[y];
            claim[y] = false;
        }
    }
    for (ac_x x = 1; x < n; x++)
        if (failed[x] && !p->fine[x] && is_sum(ac_p_ins(p, x)) && one[x].room) {
            one[x].fits[x] = go_through(&one[x], 0, 0, x);
            any |= conclude(&one[x], p);
        }
    for (ac_x x = 1; x < n; x++)
        any |= failed[x] && !p->fine[x] && by_place(p, &e, x, claim);
    return any;
}
