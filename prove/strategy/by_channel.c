/* by_channel.c - proves claims that depend on the values of constants, for every channel separately.
 *
 * A sum of products can fit although the maximum weight times the maximum element, times the number of products, does
 * not: no channel has only weights that large. Intervals over all channels cannot show it. So the slice of a doubtful
 * instruction is computed again, by lanes, with exact constants, for each value of the loop variables that select
 * constants; other operands stay intervals. A loop is enumerated only if the interval of its variable is not enough,
 * beginning with loops that select constants. Loops that change variables are run: the increment of an iteration that
 * may be skipped is optional.
 *
 * In the same way, places in memory are shown to stay inside their buffer for every row: rows of a window, whose
 * elements outside the image are excluded by quotients of the row number. */
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/facts/survey.h"
#include "prove/strategy/counters.h"
#include "prove/strategy/exact_lanes.h"
#include "prove/strategy/strategies.h"

/* Lanes computed: for all claims of a function at once, and for one. */
enum { MOST_WORK = 64 * 1000 * 1000, MOST_OF_ONE = 6400 * 1000, MOST_ITERATIONS = 1 << 14 };

typedef struct cases {
    ac_lanes e;
    bool *claim;          /* by instruction: its claim is checked */
    bool *fits;           /* ... in all cases so far */
    ac_interval *room_of; /* ... between these */
    ac_interval *met;
    bool *is_in;     /* by instruction: it is in the slice */
    bool *chooses;   /* ... and has a part in an index of constants */
    bool *is_run;    /* by FOR: it changes variables that the claim depends on */
    AC_VEC(ac_x) in; /* in order */
    AC_VEC(ac_x) var;
    AC_VEC(ac_interval) saved; /* a stack of their values */
    int32_t top, lanes;        /* lanes of all variables */
    AC_VEC(ac_x) loop;         /* and loads of counters, in order of enumeration */
    int32_t choosing;          /* the first of them choose constants */
    bool *varies;              /* by instruction: it depends on variables */
    int64_t work, most;        /* lanes computed */
    bool room;                 /* for all lanes of variables */
    bool all;                  /* fit, in the case at work */
    bool windows;              /* bounds of loops that are run count as selecting constants */
} cases;

static bool is_block(ac_lop op)
{
    return op == AC_L_FOR || op == AC_L_IF;
}

/* ------------------------------------------------------------------ the slice of a claim */

/* 1: x is new on the list; an int, since callers join several by | and all must be entered. */
static int add_to_list(bool *list, ac_x x)
{
    const bool is_new = x > 0 && !list[x];
    if (is_new)
        list[x] = true;
    return is_new;
}

/* Adds every SET of the variable, and its enclosing blocks, to the slice. */
static bool add_setters(cases *c, ac_x var)
{
    const ac_prover *p = c->e.p;
    bool more = add_to_list(c->is_in, ac_p_ins(p, var)->a) | add_to_list(c->is_in, var);
    for (ac_x k = var; k < p->fn->code.n; k++) {
        if (ac_p_ins(p, k)->op != AC_L_SET || ac_p_ins(p, k)->aux != var)
            continue;
        more |= add_to_list(c->is_in, k) | add_to_list(c->is_in, ac_p_ins(p, k)->a);
        for (ac_x b = var; b < k; b++)
            if (is_block((ac_lop)ac_p_ins(p, b)->op) && ac_p_end(p, b) > k) {
                more |= add_to_list(c->is_in, b);
                c->is_run[b] |= ac_p_ins(p, b)->op == AC_L_FOR;
            }
    }
    return more;
}

/* Adds the operands of x to the list; true if any is new. */
static bool add_operands(cases *c, ac_x x, bool *list)
{
    const ac_prover *p = c->e.p;
    const ac_ins *i = ac_p_ins(p, x);
    const ac_x tile = i->op == AC_L_LOAD ? ac_lanes_tile(&c->e, x) : 0;
    if (i->op == AC_L_CONST || i->op == AC_L_CONSTV || i->op == AC_L_SET || i->op == AC_L_VAR)
        return false;
    if (tile)
        return add_to_list(list, ac_p_ins(p, tile)->b) | add_to_list(list, ac_p_ins(p, tile)->c);
    if (i->op == AC_L_LOAD && list == c->is_in && ac_lanes_next_store(&c->e, x, 0)) {
        int more = add_to_list(list, i->a);
        for (ac_x s = ac_lanes_next_store(&c->e, x, 0); s; s = ac_lanes_next_store(&c->e, x, s))
            more |= add_to_list(list, ac_p_ins(p, s)->b);
        return more;
    }
    if (i->op == AC_L_LOAD)
        return ac_lanes_constant(&c->e, i->aux) && add_to_list(list, i->a);
    if (i->op == AC_L_GET)
        return list == c->is_in && add_setters(c, i->aux);
    if (i->op == AC_L_FOR && list == c->chooses && c->is_run[x] && !c->windows)
        return false;
    return add_to_list(list, i->a) | add_to_list(list, i->b) | add_to_list(list, i->c);
}

static void find_slice(cases *c)
{
    const ac_prover *p = c->e.p;
    const int32_t n = p->fn->code.n;
    for (ac_x k = 1; k < n; k++)
        c->is_in[k] = c->claim[k];
    for (bool more = true; more;) {
        more = false;
        for (ac_x k = n - 1; k > 0; k--)
            if (c->is_in[k])
                more |= add_operands(c, k, c->is_in);
    }
    for (ac_x k = n - 1; k > 0; k--)
        if ((c->is_in[k] && ac_p_ins(p, k)->op == AC_L_LOAD) || c->chooses[k])
            add_operands(c, k, c->chooses);
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
            const bool number = i->op == AC_L_LOAD && ac_p_has_counters(p, i->aux);
            if ((number || (i->op == AC_L_FOR && !c->is_run[x])) && c->chooses[x] == chosen && !c->varies[x])
                ac_push(p->keep, &c->loop, x);
        }
        c->choosing = chosen ? c->loop.n : c->choosing;
    }
}

/* ------------------------------------------------------------------ running it */

/* The variables as they are now, on a stack: c->top goes back when they are no longer needed. */
static int32_t save_variables(cases *c)
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

static void restore_variables(cases *c, int32_t saved)
{
    for (int32_t k = 0; k < c->var.n; k++) {
        ac_lanes_var *v = &c->e.var[c->var.item[k]];
        memcpy(v->lane, &c->saved.item[saved], (size_t)v->lanes * sizeof *v->lane);
        saved += v->lanes;
    }
}

/* Joins the variables with their saved values. */
static void join_variables(cases *c, int32_t saved)
{
    for (int32_t k = 0; k < c->var.n; k++) {
        ac_lanes_var *v = &c->e.var[c->var.item[k]];
        for (int32_t l = 0; l < v->lanes; l++)
            v->lane[l] = ac_interval_join(v->lane[l], c->saved.item[saved++]);
    }
}

static void set_variable(cases *c, ac_x var, ac_x value)
{
    ac_lanes_var *v = &c->e.var[var];
    memcpy(v->lane, c->e.lane[value], (size_t)v->lanes * sizeof *v->lane);
}

/* Variables declared before x may hold any value of their type. */
static void forget_variables(cases *c, ac_x x)
{
    for (int32_t k = 0; k < c->var.n && c->var.item[k] < x; k++) {
        ac_lanes_var *v = &c->e.var[c->var.item[k]];
        for (int32_t l = 0; l < v->lanes; l++)
            v->lane[l] = ac_p_range((ac_dtype)ac_p_ins(c->e.p, c->var.item[k])->dtype);
    }
}

static void run_slice(cases *c, int32_t from, int32_t to);

/* The first entry of the list, from `n` on, that is not before x. */
static int32_t index_after(const cases *c, int32_t n, ac_x x)
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
    const int32_t middle = index_after(c, n, p->end[x]), end = index_after(c, middle, ac_p_end(p, x));
    if (cond.lo == cond.hi) {
        run_slice(c, cond.lo ? n + 1 : middle, cond.lo ? middle : end);
        return;
    }
    const int32_t top = c->top, before = save_variables(c);
    run_slice(c, n + 1, middle);
    const int32_t then = save_variables(c);
    restore_variables(c, before);
    run_slice(c, middle, end);
    join_variables(c, then);
    c->top = top;
}

static bool may_break(const ac_prover *p, ac_x loop)
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
    const int32_t end = index_after(c, n, p->end[x]);
    if (step < 1 || (step > 1 && from.lo != from.hi) || to.hi - from.lo > MOST_ITERATIONS * step || may_break(p, x)) {
        forget_variables(c, x);
        for (ac_x k = x; k < p->end[x]; k++)
            if (c->claim[k])
                c->fits[k] = c->all = false;
        return;
    }
    c->e.fixed[x] = true;
    for (int64_t v = from.lo; v < to.hi && c->work < c->most; v += step) {
        const bool certain = v >= from.hi && v < to.lo;
        const int32_t top = c->top, before = certain ? 0 : save_variables(c);
        c->e.counter[x] = (ac_interval){v, v};
        c->work += ac_lanes_value(&c->e, x);
        run_slice(c, n + 1, end);
        if (!certain)
            join_variables(c, before);
        c->top = top;
    }
    c->e.fixed[x] = false;
}

static bool is_control(const cases *c, ac_x x)
{
    const ac_lop op = (ac_lop)ac_p_ins(c->e.p, x)->op;
    return op == AC_L_VAR || op == AC_L_SET || op == AC_L_IF || c->is_run[x];
}

static void check_claim(cases *c, ac_x x)
{
    const ac_interval in = c->e.result;
    const bool fits = ac_interval_inside(in, c->room_of[x]) && in.lo != INT64_MIN && in.hi != INT64_MAX;
    c->fits[x] &= fits;
    c->all &= fits;
    c->met[x] = ac_interval_join(c->met[x], in);
}

static void run_slice(cases *c, int32_t from, int32_t to)
{
    const ac_prover *p = c->e.p;
    for (int32_t n = from; n < to; n++) {
        const ac_x x = c->in.item[n];
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_VAR || i->op == AC_L_SET) {
            set_variable(c, i->op == AC_L_VAR ? x : i->aux, i->a);
        } else if (i->op == AC_L_IF) {
            run_branch(c, n);
            n = index_after(c, n, ac_p_end(p, x)) - 1;
        } else if (c->is_run[x]) {
            run_loop(c, n);
            n = index_after(c, n, p->end[x]) - 1;
        } else {
            c->work += ac_lanes_value(&c->e, x);
            if (c->claim[x])
                check_claim(c, x);
        }
    }
}

static bool enumerate(cases *c, int32_t fixed, int32_t at_once, ac_x only);

/* The values v of a loop that selects no constants: all at once, or all but the first and the last, as the ends of an
 * image differ. */
static bool enumerate_range(cases *c, int32_t fixed, int32_t at_once, ac_x only, ac_interval v)
{
    const ac_x loop = c->loop.item[fixed];
    c->e.counter[loop] = v;
    if (v.lo == v.hi || enumerate(c, fixed + 1, at_once, only))
        return v.lo < v.hi || enumerate(c, fixed + 1, at_once, only);
    const int64_t middle = v.lo + (v.hi - v.lo) / 2;
    if (v.hi - v.lo < 4)
        return enumerate_range(c, fixed, at_once, only, (ac_interval){v.lo, middle}) &&
               enumerate_range(c, fixed, at_once, only, (ac_interval){middle + 1, v.hi});
    return enumerate_range(c, fixed, at_once, only, (ac_interval){v.lo, v.lo}) &&
           enumerate_range(c, fixed, at_once, only, (ac_interval){v.hi, v.hi}) &&
           enumerate_range(c, fixed, at_once, only, (ac_interval){v.lo + 1, v.hi - 1});
}

/* The loop's bounds; false: they are not numbers here. */
static bool loop_bounds(cases *c, ac_x loop, int64_t *from, int64_t *to)
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

/* The values of load x in all calls: each is a case, unless they are too many. */
static bool counter_values(const cases *c, ac_x x, int64_t *from, int64_t *to)
{
    const ac_interval in = c->e.known[x];
    *from = in.lo;
    *to = in.hi + 1;
    return in.lo >= INT32_MIN && in.hi <= INT32_MAX && in.hi - in.lo < MOST_ITERATIONS;
}

/* Enumerates the loops from `fixed` on; the first `at_once` must have a concrete value. For a single claim, `only`,
 * further loops get values if it does not fit otherwise. */
static bool enumerate(cases *c, int32_t fixed, int32_t at_once, ac_x only)
{
    if (fixed >= at_once) {
        const ac_interval met = c->met[only];
        c->all = true;
        run_slice(c, 0, c->in.n);
        if (c->all || !only)
            return c->all;
        c->met[only] = met; /* without the failed case */
        c->fits[only] = true;
        if (fixed == c->loop.n || c->work > c->most)
            return false;
    }
    const ac_x loop = c->loop.item[fixed];
    const bool is_loop = ac_p_ins(c->e.p, loop)->op == AC_L_FOR;
    const int64_t step = is_loop ? ac_p_ins(c->e.p, loop)->k.i : 1;
    int64_t from, to;
    if (!(is_loop ? loop_bounds(c, loop, &from, &to) : counter_values(c, loop, &from, &to)))
        return enumerate(c, fixed + 1, at_once, only);
    bool all = true;
    c->e.fixed[loop] = true;
    if (fixed >= c->choosing && step == 1)
        all = from >= to || enumerate_range(c, fixed, at_once, only, (ac_interval){from, to - 1});
    else
        for (int64_t v = from; (all || !only) && (step > 0 ? v < to : v > to); v += step) {
            c->e.counter[loop] = (ac_interval){v, v};
            all &= enumerate(c, fixed + 1, at_once, only);
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
    find_slice(c);
}

/* Notes which of the claims hold. */
static bool note_claims(const cases *c, ac_prover *p)
{
    bool any = false;
    for (ac_x x = 1; x < p->fn->code.n && c->work <= c->most; x++)
        if (c->claim[x] && c->fits[x] && c->met[x].lo <= c->met[x].hi) {
            p->survey->refined[x] = ac_interval_meet(p->survey->refined[x], c->met[x]);
            any = p->survey->fine[x] = true;
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

bool ac_p_by_channel(ac_prover *p, const bool *failed)
{
    const int32_t n = p->fn->code.n;
    bool any = false, *claim = AC_NEW_N(p->keep, bool, n), *done = AC_NEW_N(p->keep, bool, n);
    cases *one = AC_NEW_N(p->keep, cases, n);
    ac_lanes e;
    ac_lanes_open(&e, p);
    for (ac_x x = 1; x < n; x++) {
        done[x] = !failed[x] || p->survey->fine[x] || !is_sum(ac_p_ins(p, x));
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
                enumerate(&c, 0, c.choosing, 0);
            any |= note_claims(&c, p);
            left = false;
            for (ac_x y = x; y < n; y++)
                left |= claim[y] && !p->survey->fine[y];
        }
        for (ac_x y = x; y < n; y++) {
            done[y] |= claim[y];
            claim[y] = false;
        }
    }
    for (ac_x x = 1; x < n; x++)
        if (failed[x] && !p->survey->fine[x] && is_sum(ac_p_ins(p, x)) && one[x].room) {
            one[x].fits[x] = enumerate(&one[x], 0, 0, x);
            any |= note_claims(&one[x], p);
        }
    return any;
}

/* Narrows the place that the load or store x accesses, if it is inside the buffer for all values of the loop variables.
 * */
static bool is_place_inside(ac_prover *p, const ac_lanes *e, ac_x x, bool *claim)
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
    const ac_interval before = p->survey->refined[i->a];
    c.fits[i->a] = enumerate(&c, 0, 0, i->a);
    return note_claims(&c, p) && (p->survey->refined[i->a].lo > before.lo || p->survey->refined[i->a].hi < before.hi);
}

bool ac_p_by_place(ac_prover *p, const bool *failed)
{
    bool any = false, *claim = AC_NEW_N(p->keep, bool, p->fn->code.n);
    ac_lanes e = {0};
    for (ac_x x = 1; x < p->fn->code.n; x++) {
        if (!failed[x] || p->survey->fine[x])
            continue;
        if (!e.p)
            ac_lanes_open(&e, p);
        any |= is_place_inside(p, &e, x, claim);
    }
    return any;
}
