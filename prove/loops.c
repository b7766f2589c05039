/* loops.c - finds the invariants of loops, claims that loops end, and walks their bodies.
 *
 * At the start of an iteration a variable is, by the first rule that fits:
 *   - v0 + d * iterations, if a body always adds the number d;
 *   - v0 + [lo, hi] * iterations, if it adds a value in [lo, hi]: accumulators;
 *   - in an interval that the body maps into itself: the body is walked until nothing changes, and ends that still move
 *     after some walks become those of the type (widening). Loops of few iterations are walked iteration by iteration.
 * */
#include "prove/facts/claims.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/strategy/counters.h"
#include "prove/strategy/extremes.h"
#include "prove/strategy/groups.h"
#include "prove/strategy/strategies.h"
#include "prove/walk.h"
#include "prove/written.h"

enum { FEW = 4 }; /* iterations that may be walked one by one */

typedef enum rule { ADDS, STAYS_IN, IS_FLOAT } rule;

typedef struct looped {
    ac_x x, end;
    const ac_x *var;
    int32_t n_var;
    ac_pvalue *entry, *head, *last; /* of each variable: before the loop, at the start and the end of an iteration */
    rule *how;
    ac_interval *adds;
    int32_t *head_unknown;
    ac_interval trips; /* number of iterations */
    ac_frame frame;
    int64_t step;
    ac_pvalue lo, hi;
    int32_t since;   /* unknowns from here on are those of an iteration */
    int32_t counter; /* the unknown of the loop variable, of the pass at work */
    bool has_witness;
    ac_interval *one_adds;  /* the increment of the iteration whose load gives the witness: there is one */
    bool settled;           /* the rules are known */
    ac_interval *after_any; /* of each variable: after an iteration from any values, if another one follows */
    bool *listed;           /* of each variable: its head has all of its values, which were listed */
} looped;

static ac_interval times_upto(ac_interval by, int64_t least, int64_t most)
{
    return (ac_interval){by.lo < 0 ? ac_sat_mul(by.lo, most) : ac_sat_mul(by.lo, least),
                         by.hi > 0 ? ac_sat_mul(by.hi, most) : ac_sat_mul(by.hi, least)};
}

/* The loop variable: an unknown between the loop's bounds. */
static int32_t counter_of(ac_prover *p, const looped *l)
{
    const bool up = l->step > 0;
    const int64_t s = up ? l->step : -l->step;
    const ac_pvalue *lo = &l->lo, *hi = &l->hi;
    const ac_interval range = ac_p_range(AC_I32);
    const int32_t u =
        ac_know(&p->know, up ? lo->in.lo : ac_sat_add(hi->in.lo, 1), up ? ac_sat_add(hi->in.hi, -1) : lo->in.hi);
    ac_unknown *it = &p->know.unknown.item[u];
    it->in = ac_interval_meet(it->in, range);
    it->of_loop = l->x;
    it->step = s;
    it->first = lo->form;
    ac_affine gap = ac_affine_add(&hi->form, &lo->form, -1); /* hi - lo */
    if (!up)
        gap = ac_affine_times(&gap, -1);
    /* The last value is lo + s * floor((gap - 1) / s): a sum, where s divides all but the number of gap. */
    bool whole = !gap.lost;
    for (int32_t k = 0; k < gap.n && whole; k++)
        whole = gap.term[k].k % s == 0;
    const ac_affine below = ac_affine_plus(&hi->form, up ? -1 : 1);
    ac_affine last = below;
    if (whole) {
        const int64_t rest = ((gap.c - 1) % s + s) % s;
        last = ac_affine_plus(&gap, -1 - rest);
        last = ac_affine_add(&lo->form, &last, up ? 1 : -1);
    }
    if (up) {
        ac_know_at_least(&p->know, u, 1, &lo->form);
        ac_know_at_most(&p->know, u, 1, &below);
        ac_know_at_most(&p->know, u, 1, &last);
    } else {
        ac_know_at_most(&p->know, u, 1, &lo->form);
        ac_know_at_least(&p->know, u, 1, &below);
        ac_know_at_least(&p->know, u, 1, &last);
    }
    it = &p->know.unknown.item[u];
    it->last = last;
    it->falls = !up;
    it->whole = whole;
    it->attained = whole && !gap.n && !lo->form.lost && !lo->form.n && !p->walk->point.uncertain;
    return u;
}

static bool is_at_most(ac_prover *p, const ac_affine *a, const ac_affine *b)
{
    const ac_affine room = ac_affine_add(b, a, -1);
    return !room.lost && ac_is_at_least(&p->know, &room, 0);
}

/* Iterations below max(b, c) that begin at no less than c are below b; also where `hi` is the least of several. */
static void bound_by_maximum(ac_prover *p, const looped *l, int32_t counter, ac_x hi)
{
    const ac_ins *i = ac_p_ins(p, hi);
    const ac_x side[2] = {i->a, i->b};
    for (int32_t k = 0; k < 2 && l->step > 0; k++) {
        if (i->op == AC_L_MIN)
            bound_by_maximum(p, l, counter, side[k]);
        if (i->op != AC_L_MAX || !is_at_most(p, &p->value[side[1 - k]].form, &l->lo.form))
            continue;
        const ac_affine last = ac_affine_plus(&p->value[side[k]].form, -1);
        ac_know_at_most(&p->know, counter, 1, &last);
    }
}

/* The value that a loop begins at: from min(a, c) up to at most c it has the iterations that it has from a. */
static ac_pvalue begin_of(ac_prover *p, const ac_ins *loop)
{
    const ac_ins *lo = ac_p_ins(p, loop->a);
    const ac_x side[2] = {lo->a, lo->b};
    for (int32_t k = 0; k < 2 && loop->k.i > 0 && lo->op == AC_L_MIN; k++)
        if (is_at_most(p, &p->value[loop->b].form, &p->value[side[1 - k]].form))
            return p->value[side[k]];
    return p->value[loop->a];
}

/* v0 + d * iterations, as a sum, when the loop variable is `at`. */
static bool sum_of_counter(const looped *l, int32_t k, const ac_affine *at, ac_affine *form)
{
    const int64_t d = l->adds[k].lo, s = l->step;
    if (d != l->adds[k].hi || d % s || at->lost || l->lo.form.lost)
        return false;
    const ac_affine so_far = ac_affine_add(at, &l->lo.form, -1);
    *form = ac_affine_add(&l->entry[k].form, &so_far, d / s);
    return !form->lost;
}

/* Walks the body once from the values in `head`; the values after it go to `last`. */
static void walk_body(ac_prover *p, looped *l)
{
    const int32_t facts = p->know.fact.n;
    l->counter = counter_of(p, l);
    bound_by_maximum(p, l, l->counter, ac_p_ins(p, l->x)->b);
    const ac_affine i = ac_affine_unknown(l->counter);
    p->value[l->x] = (ac_pvalue){.in = p->know.unknown.item[l->counter].in, .form = i};
    const ac_affine gap =
        l->step > 0 ? ac_affine_add(&l->hi.form, &l->lo.form, -1) : ac_affine_add(&l->lo.form, &l->hi.form, -1);
    const ac_affine runs = ac_affine_plus(&gap, -1);
    if (runs.n)
        ac_know_fact(&p->know, &runs);
    l->frame = (ac_frame){.var = l->var, .n_var = l->n_var, .up = p->walk->frame};
    l->frame.broken = AC_NEW_N(p->tmp, ac_pvalue, l->n_var + 1);
    p->walk->frame = &l->frame;
    ac_p_set_variables(p, l->var, l->n_var, l->head);
    for (int32_t k = 0; k < l->n_var && l->settled; k++) {
        ac_affine form;
        if (l->how[k] == ADDS && sum_of_counter(l, k, &i, &form))
            p->value[l->var[k]].form = form;
    }
    const int32_t uncertain = p->walk->point.uncertain;
    const int64_t times = p->walk->point.times;
    p->walk->point.uncertain += l->trips.lo < 1;
    p->walk->point.times = ac_sat_mul(times, l->trips.hi);
    ac_p_loop_begin(p, l->x, l->counter, l->since);
    const int32_t extremes = ac_p_extremes(p);
    ac_p_extremes_enter(p, l->x, l->counter, l->since);
    ac_p_walk(p, l->x + 1, l->end);
    ac_p_extremes_leave(p, l->x, extremes);
    ac_p_loop_end(p, l->counter, l->since, l->trips, l->frame.breaks);
    p->walk->point.uncertain = uncertain;
    p->walk->point.times = times;
    p->walk->frame = l->frame.up;
    for (int32_t k = 0; k < l->n_var; k++) {
        l->last[k] = p->value[l->var[k]];
        if (l->frame.breaks && !ac_dtype_is_float((ac_dtype)ac_p_ins(p, l->var[k])->dtype))
            l->last[k].in = ac_p_by_facts(p, &l->last[k].form, l->last[k].in);
    }
    p->know.fact.n = facts;
}

static ac_dtype type_of(const ac_prover *p, const looped *l, int32_t k)
{
    return (ac_dtype)ac_p_ins(p, l->var[k])->dtype;
}

static ac_pvalue any_value(ac_prover *p, const looped *l, int32_t k)
{
    const ac_dtype d = type_of(p, l, k);
    return ac_p_unknown(p, d, ac_dtype_is_float(d) ? (ac_interval){0} : ac_p_range(d));
}

/* The increment of variable k in a walk from any values; false: the walk does not add to it. */
static bool increment_of(const ac_prover *p, const looped *l, int32_t k, ac_interval *more)
{
    const ac_affine start = ac_affine_unknown(l->head_unknown[k]);
    const ac_affine by = ac_affine_add(&l->last[k].form, &start, -1);
    bool adds = !by.lost;
    for (int32_t v = 0; v < l->n_var; v++)
        adds &= !l->head_unknown[v] || !ac_affine_coefficient(&by, l->head_unknown[v]);
    *more = ac_affine_interval(&p->know, &by);
    return adds;
}

static const struct {
    ac_strategy id;
    ac_loop_applies *applies;
    ac_witness_strategy *function;
} WITNESSES[] = {
#define AC_ROWS_WITNESS(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static bool find_witness(ac_prover *p, const looped *l, ac_witness *w)
{
    for (size_t r = 0; r < sizeof WITNESSES / sizeof *WITNESSES; r++)
        if (ac_p_on(p, WITNESSES[r].id) && WITNESSES[r].applies(p, l->x) &&
            WITNESSES[r].function(p, l->x, l->counter, w))
            return true;
    return false;
}

/* Walks the body from any values, to find the variables that it adds to. */
static void find_rules(ac_prover *p, looped *l)
{
    for (int32_t k = 0; k < l->n_var; k++) {
        l->head[k] = any_value(p, l, k);
        l->head_unknown[k] = ac_dtype_is_float(type_of(p, l, k)) ? 0 : l->head[k].form.term[0].unknown;
    }
    walk_body(p, l);
    for (int32_t k = 0; k < l->n_var; k++) {
        l->after_any[k] = l->last[k].in;
        l->how[k] = ac_dtype_is_float(type_of(p, l, k))  ? IS_FLOAT
                    : increment_of(p, l, k, &l->adds[k]) ? ADDS
                                                         : STAYS_IN;
    }
    for (int32_t k = 0; k < l->n_var; k++) { /* a sum that leaves its type bounds nothing */
        const ac_interval all = times_upto(l->adds[k], 0, l->trips.hi);
        if (l->how[k] == ADDS && l->trips.hi <= FEW && !ac_interval_inside(all, ac_p_range(type_of(p, l, k))))
            l->how[k] = STAYS_IN;
    }
    ac_witness w = {0};
    if (!find_witness(p, l, &w))
        return;
    p->walk->point.witness = w.load;
    p->walk->point.witness_value = w.value;
    l->has_witness = !w.of_thread;
    walk_body(p, l);
    p->walk->point.witness = 0;
    for (int32_t k = 0; k < l->n_var; k++) {
        if (l->how[k] == ADDS && !increment_of(p, l, k, &l->one_adds[k]))
            l->one_adds[k] = l->adds[k];
        if (l->how[k] == ADDS && !l->has_witness) /* one of the threads of a group has it */
            ac_p_group_adds(p, l->var[k], l->adds[k], l->one_adds[k]);
    }
}

static void set_heads(ac_prover *p, looped *l)
{
    for (int32_t k = 0; k < l->n_var; k++) {
        const ac_dtype d = type_of(p, l, k);
        if (l->how[k] != ADDS)
            continue;
        const int64_t most = ac_sat_add(l->trips.hi, -1);
        const ac_interval before = l->entry[k].in, met = ac_interval_join(before, l->after_any[k]);
        ac_interval more = times_upto(l->adds[k], 0, most);
        const ac_interval in = ac_interval_meet(ac_interval_add(before, more), ac_interval_meet(ac_p_range(d), met));
        if (l->frame.breaks && before.lo == before.hi)
            more = ac_interval_meet(more, ac_interval_sub(in, before));
        const ac_affine u = ac_affine_unknown(ac_know(&p->know, more.lo, more.hi));
        const ac_affine form = ac_affine_add(&l->entry[k].form, &u, 1);
        l->head[k] = form.lost ? ac_p_unknown(p, d, in) : (ac_pvalue){.in = in, .form = form};
    }
}

/* Walks few iterations in order: the head of a variable is the join over all of them. */
static void walk_each_iteration(ac_prover *p, looped *l)
{
    ac_pvalue *all = AC_NEW_N(p->tmp, ac_pvalue, l->n_var + 1);
    for (int32_t k = 0; k < l->n_var; k++)
        all[k] = l->how[k] == STAYS_IN ? l->entry[k] : l->head[k];
    for (int64_t n = 0; n < l->trips.hi; n++) {
        for (int32_t k = 0; k < l->n_var; k++) {
            if (l->how[k] != STAYS_IN || l->listed[k])
                continue;
            const ac_interval in = n ? l->last[k].in : l->entry[k].in;
            l->head[k] = ac_p_unknown(p, type_of(p, l, k), in);
            all[k].in = ac_interval_join(all[k].in, in);
        }
        if (n + 1 < l->trips.hi)
            walk_body(p, l);
    }
    for (int32_t k = 0; k < l->n_var; k++)
        if (l->how[k] == STAYS_IN && !l->listed[k])
            l->head[k] = ac_p_unknown(p, type_of(p, l, k), all[k].in);
}

static const struct {
    ac_strategy id;
    ac_loop_applies *applies;
    ac_list_strategy *function;
} LISTS[] = {
#define AC_ROWS_LIST(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static bool can_list(ac_prover *p, ac_x loop, ac_x var)
{
    for (size_t r = 0; r < sizeof LISTS / sizeof *LISTS; r++)
        if (ac_p_on(p, LISTS[r].id) && LISTS[r].applies(p, loop) && LISTS[r].function(p, loop, var))
            return true;
    return false;
}

/* Lists the values that variables of tree walks have at the start of an iteration: for each value, an iteration gives
 * the next ones, until no new one appears. Gives up on too many values, or one that cannot be a place. */
static void list_values(ac_prover *p, looped *l)
{
    enum { MOST_VALUES = 1 << 17, MOST_AT_ONCE = 8 };
    AC_VEC(int64_t) value = {0};
    bool *seen = NULL, *walks = AC_NEW_N(p->tmp, bool, l->n_var + 1);
    ac_interval all = {INT64_MAX, INT64_MIN};
    int32_t n_walks = 0;
    for (int32_t k = 0; k < l->n_var; k++) {
        walks[k] = l->how[k] == STAYS_IN && can_list(p, l->x, l->var[k]);
        n_walks += walks[k];
        all = walks[k] ? ac_interval_join(all, l->entry[k].in) : all;
    }
    if (n_walks > 1 && ac_p_breaks_off(p, l->x)) /* the end of one may end the other */
        return;
    ac_interval more = all;
    const int32_t unknowns = p->know.unknown.n, quotients = p->know.quotient.n;
    for (int32_t n = 0; all.lo <= all.hi; n++) {
        p->walk->tree_steps -= l->end - l->x;
        if (more.lo < 0 || more.hi >= MOST_VALUES || (n && more.hi - more.lo >= MOST_AT_ONCE) ||
            p->walk->tree_steps < 0)
            return;
        seen = seen ? seen : AC_NEW_N(p->tmp, bool, MOST_VALUES);
        for (int64_t v = more.lo; v <= more.hi; v++) {
            if (!seen[v])
                ac_push(p->tmp, &value, v);
            seen[v] = true;
        }
        all = ac_interval_join(all, more);
        if (n == value.n)
            break;
        more = (ac_interval){INT64_MAX, INT64_MIN};
        for (int32_t k = 0; k < l->n_var; k++)
            l->head[k] = walks[k]
                             ? (ac_pvalue){.in = {value.item[n], value.item[n]}, .form = ac_affine_of(value.item[n])}
                         : l->how[k] == ADDS ? l->head[k]
                                             : any_value(p, l, k);
        walk_body(p, l);
        for (int32_t k = 0; k < l->n_var; k++)
            more = walks[k] ? ac_interval_join(more, l->last[k].in) : more;
        p->know.unknown.n = unknowns; /* nothing outside the walk names them */
        p->know.quotient.n = quotients;
    }
    for (int32_t k = 0; k < l->n_var; k++)
        if (walks[k]) {
            l->listed[k] = true;
            l->head[k] = ac_p_unknown(p, type_of(p, l, k), all);
        }
}

/* Finds intervals that the body maps into themselves. */
static void find_intervals(ac_prover *p, looped *l)
{
    enum { WIDEN_AFTER = 2, PASSES = 7 };
    bool moving = false;
    list_values(p, l);
    for (int32_t k = 0; k < l->n_var; k++) {
        moving |= l->how[k] == STAYS_IN && !l->listed[k];
        if (l->how[k] == STAYS_IN && !l->listed[k])
            l->head[k] = ac_p_unknown(p, type_of(p, l, k), l->entry[k].in);
        if (l->how[k] == IS_FLOAT)
            l->head[k] = any_value(p, l, k);
    }
    for (int32_t n = 0; moving; n++) {
        if (n == WIDEN_AFTER && l->trips.hi <= FEW) {
            walk_each_iteration(p, l);
            return;
        }
        walk_body(p, l);
        moving = false;
        for (int32_t k = 0; k < l->n_var; k++) {
            if (l->how[k] != STAYS_IN || l->listed[k])
                continue;
            const ac_interval range = ac_p_range(type_of(p, l, k));
            ac_interval in = l->head[k].in;
            const ac_interval last = l->last[k].in;
            if (ac_interval_inside(last, in))
                continue;
            moving = true;
            if (n >= WIDEN_AFTER)
                in = (ac_interval){last.lo < in.lo || n > PASSES ? range.lo : in.lo,
                                   last.hi > in.hi || n > PASSES ? range.hi : in.hi};
            l->head[k] = ac_p_unknown(p, type_of(p, l, k), ac_interval_join(in, last));
        }
    }
}

/* The increment of all iterations. That of the witness is `one_adds`. */
static ac_interval total_increment(const looped *l, int32_t k)
{
    if (l->frame.breaks || !l->has_witness || l->trips.lo < 1)
        return times_upto(l->adds[k], l->frame.breaks ? 0 : l->trips.lo, l->trips.hi);
    return ac_interval_add(times_upto(l->adds[k], l->trips.lo - 1, l->trips.hi - 1), l->one_adds[k]);
}

/* The values of variables after the loop. */
static void set_after(ac_prover *p, looped *l)
{
    for (int32_t k = 0; k < l->n_var; k++) {
        const ac_dtype d = type_of(p, l, k);
        ac_pvalue v;
        if (l->how[k] == ADDS) {
            const ac_interval more = total_increment(l, k);
            const ac_affine u =
                more.lo == more.hi ? ac_affine_of(more.lo) : ac_affine_unknown(ac_know(&p->know, more.lo, more.hi));
            ac_affine form = ac_affine_add(&l->entry[k].form, &u, 1);
            const ac_affine gap = ac_affine_add(&l->hi.form, &l->lo.form, -1);
            if (more.lo != more.hi && l->step == 1 && !l->frame.breaks && ac_is_at_least(&p->know, &gap, 0))
                sum_of_counter(l, k, &l->hi.form, &form);
            const ac_interval in = ac_interval_meet(ac_p_range(d), ac_interval_add(l->entry[k].in, more));
            v = form.lost ? ac_p_unknown(p, d, in) : (ac_pvalue){.in = in, .form = form};
        } else if (l->how[k] == STAYS_IN) {
            const ac_interval after = l->trips.lo > 0 ? l->last[k].in : l->head[k].in;
            v = ac_p_unknown(p, d, l->listed[k] ? ac_interval_meet(l->head[k].in, after) : after);
        } else {
            v = ac_p_unknown(p, d, (ac_interval){0});
        }
        p->value[l->var[k]] = l->frame.breaks ? ac_p_join(p, &v, &l->frame.broken[k], d) : v;
        if (l->how[k] == STAYS_IN)
            ac_p_extreme_found(p, l->x, l->var[k], l->counter, &l->entry[k], l->trips.lo > 0 && !l->frame.breaks);
    }
}

/* The claims about a loop itself: its counter does not overflow. */
static void claim_loop(ac_prover *p, const looped *l)
{
    const ac_affine past = ac_affine_plus(&l->hi.form, l->step > 0 ? l->step - 1 : l->step + 1);
    const ac_interval range = ac_p_range(AC_I32);
    const bool bounded =
        l->step > 0 ? ac_is_at_most(&p->know, &past, range.hi) : ac_is_at_least(&p->know, &past, range.lo);
    if (bounded)
        ac_p_proven(p, AC_CLAIM_LOOP);
    else
        ac_p_doubt(p, l->x, AC_CLAIM_LOOP, false,
                   "the counter may pass the end of i32: the bound is %lld .. %lld, the step %lld",
                   (long long)l->hi.in.lo, (long long)l->hi.in.hi, (long long)l->step);
}

static ac_interval trips_of(const ac_prover *p, const looped *l)
{
    const ac_affine gap =
        l->step > 0 ? ac_affine_add(&l->hi.form, &l->lo.form, -1) : ac_affine_add(&l->lo.form, &l->hi.form, -1);
    ac_interval in = l->step > 0 ? ac_interval_sub(l->hi.in, l->lo.in) : ac_interval_sub(l->lo.in, l->hi.in);
    if (!gap.lost)
        in = ac_interval_meet(in, ac_affine_interval(&p->know, &gap));
    const int64_t s = l->step > 0 ? l->step : -l->step;
    in.lo = in.lo <= 0 ? 0 : (in.lo + s - 1) / s;
    in.hi = in.hi <= 0 ? 0 : ac_sat_add(in.hi, s - 1) / s;
    return in;
}

static const struct {
    ac_strategy id;
    ac_loop_applies *applies;
    ac_loop_strategy *function;
} UNROLLED[] = {
#define AC_ROWS_LOOP(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

/* Walks the loop iteration by iteration, as if its body was repeated; false: no strategy applies. */
static bool walk_unrolled(ac_prover *p, const looped *l)
{
    bool unroll = false;
    for (size_t r = 0; r < sizeof UNROLLED / sizeof *UNROLLED && !unroll; r++)
        unroll = ac_p_on(p, UNROLLED[r].id) && UNROLLED[r].applies(p, l->x) &&
                 UNROLLED[r].function(p, l->x, l->lo.in, l->trips);
    if (!unroll)
        return false;
    ac_walk *w = p->walk;
    const int32_t certain = w->certain;
    const ac_x schedule = w->schedule;
    w->certain = w->point.uncertain;
    w->schedule = l->x;
    for (int64_t n = 0; n < l->trips.lo && !w->leaving; n++) {
        p->value[l->x] = ac_p_number(l->lo.in.lo + n * l->step);
        ac_p_walk(p, l->x + 1, l->end);
    }
    w->leaving = false;
    w->certain = certain;
    w->schedule = schedule;
    return true;
}

/* A loop of one iteration is its body. */
static bool walk_once(ac_prover *p, const looped *l)
{
    if (l->trips.lo != 1 || l->trips.hi != 1 || ac_p_breaks_off(p, l->x))
        return false;
    p->value[l->x] = l->lo;
    ac_p_walk(p, l->x + 1, l->end);
    return true;
}

void ac_p_loop(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    looped l = {.x = x, .end = p->end[x], .step = i->k.i, .lo = begin_of(p, i), .hi = p->value[i->b]};
    claim_loop(p, &l);
    ac_p_group_forget(p, x);
    l.trips = trips_of(p, &l);
    l.since = p->know.unknown.n;
    if (!l.trips.hi || walk_once(p, &l) || walk_unrolled(p, &l))
        return;
    ac_p_counters_forget(p, x, l.end);
    l.var = ac_p_set_between(p, x, l.end, &l.n_var);
    l.entry = ac_p_variables(p, l.var, l.n_var);
    l.head = ac_p_variables(p, l.var, l.n_var);
    l.last = ac_p_variables(p, l.var, l.n_var);
    l.how = AC_NEW_N(p->tmp, rule, l.n_var + 1);
    l.adds = AC_NEW_N(p->tmp, ac_interval, l.n_var + 1);
    l.one_adds = AC_NEW_N(p->tmp, ac_interval, l.n_var + 1);
    l.after_any = AC_NEW_N(p->tmp, ac_interval, l.n_var + 1);
    l.head_unknown = AC_NEW_N(p->tmp, int32_t, l.n_var + 1);
    l.listed = AC_NEW_N(p->tmp, bool, l.n_var + 1);
    const bool dry = p->walk->point.dry;
    bool numbers = false;
    for (int32_t k = 0; k < l.n_var; k++)
        numbers |= !ac_dtype_is_float(type_of(p, &l, k));
    p->walk->point.dry = true;
    if (numbers)
        find_rules(p, &l);
    else
        for (int32_t k = 0; k < l.n_var; k++)
            l.how[k] = IS_FLOAT;
    set_heads(p, &l);
    l.settled = true;
    find_intervals(p, &l);
    p->walk->point.dry = dry;
    walk_body(p, &l);
    set_after(p, &l);
    ac_p_extremes_leave(p, x, 0);
    ac_p_counters_forget(p, x, l.end);
}
