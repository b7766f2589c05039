/* affine.c - sums of unknowns, and questions about their bounds; see affine.h. */
#include "prove/domain/affine.h"

/* ------------------------------------------------------------------ intervals */

static bool is_end(int64_t v)
{
    return v == INT64_MIN || v == INT64_MAX;
}

int64_t ac_sat_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (is_end(a) && !is_end(b))
        return a;
    if (is_end(b) && !is_end(a))
        return b;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

int64_t ac_sat_mul(int64_t a, int64_t b)
{
    int64_t product;
    if (!a || !b)
        return 0;
    if (is_end(a) || is_end(b) || __builtin_mul_overflow(a, b, &product))
        return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
    return product;
}

static int64_t negate(int64_t v)
{
    return v == INT64_MIN ? INT64_MAX : v == INT64_MAX ? INT64_MIN : -v;
}

ac_interval ac_interval_add(ac_interval a, ac_interval b)
{
    return (ac_interval){ac_sat_add(a.lo, b.lo), ac_sat_add(a.hi, b.hi)};
}

ac_interval ac_interval_sub(ac_interval a, ac_interval b)
{
    return (ac_interval){ac_sat_add(a.lo, negate(b.hi)), ac_sat_add(a.hi, negate(b.lo))};
}

ac_interval ac_interval_mul(ac_interval a, ac_interval b)
{
    const int64_t p[4] = {ac_sat_mul(a.lo, b.lo), ac_sat_mul(a.lo, b.hi), ac_sat_mul(a.hi, b.lo),
                          ac_sat_mul(a.hi, b.hi)};
    ac_interval r = {p[0], p[0]};
    for (int i = 1; i < 4; i++) {
        r.lo = p[i] < r.lo ? p[i] : r.lo;
        r.hi = p[i] > r.hi ? p[i] : r.hi;
    }
    return r;
}

ac_interval ac_interval_join(ac_interval a, ac_interval b)
{
    return (ac_interval){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

ac_interval ac_interval_meet(ac_interval a, ac_interval b)
{
    const ac_interval m = {a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    return m.lo <= m.hi ? m : a; /* they are disjoint: the code is not reached */
}

ac_interval ac_interval_clamp(ac_interval a, ac_interval range)
{
    return (ac_interval){a.lo < range.lo   ? range.lo
                         : a.lo > range.hi ? range.hi
                                           : a.lo,
                         a.hi > range.hi   ? range.hi
                         : a.hi < range.lo ? range.lo
                                           : a.hi};
}

bool ac_interval_inside(ac_interval a, ac_interval of)
{
    return a.lo >= of.lo && a.hi <= of.hi;
}

/* ------------------------------------------------------------------ sums */

ac_affine ac_affine_of(int64_t c)
{
    return (ac_affine){.c = c};
}

ac_affine ac_affine_unknown(int32_t unknown)
{
    return (ac_affine){.n = 1, .term = {{1, unknown}}};
}

ac_affine ac_affine_add(const ac_affine *a, const ac_affine *b, int64_t times)
{
    ac_affine r = {.lost = a->lost || b->lost};
    int64_t part;
    if (__builtin_mul_overflow(b->c, times, &part) || __builtin_add_overflow(a->c, part, &r.c))
        r.lost = true;
    for (int32_t i = 0, j = 0; !r.lost && (i < a->n || j < b->n);) {
        ac_term t;
        if (j == b->n || (i < a->n && a->term[i].unknown < b->term[j].unknown)) {
            t = a->term[i++];
        } else {
            t = b->term[j++];
            r.lost |= __builtin_mul_overflow(t.k, times, &t.k);
            if (i < a->n && a->term[i].unknown == t.unknown)
                r.lost |= __builtin_add_overflow(t.k, a->term[i++].k, &t.k);
        }
        if (!t.k)
            continue;
        if (r.n == AC_TERMS)
            r.lost = true;
        else
            r.term[r.n++] = t;
    }
    return r;
}

ac_affine ac_affine_times(const ac_affine *a, int64_t k)
{
    const ac_affine zero = {0};
    return ac_affine_add(&zero, a, k);
}

ac_affine ac_affine_plus(const ac_affine *a, int64_t c)
{
    const ac_affine b = ac_affine_of(c);
    return ac_affine_add(a, &b, 1);
}

bool ac_affine_equal(const ac_affine *a, const ac_affine *b)
{
    const ac_affine d = ac_affine_add(a, b, -1);
    return !d.lost && !d.n && !d.c;
}

int64_t ac_affine_coefficient(const ac_affine *a, int32_t unknown)
{
    for (int32_t i = 0; i < a->n; i++)
        if (a->term[i].unknown == unknown)
            return a->term[i].k;
    return 0;
}

ac_interval ac_affine_interval(const ac_knowledge *k, const ac_affine *a)
{
    ac_interval r = {a->c, a->c};
    if (a->lost)
        return (ac_interval){INT64_MIN, INT64_MAX};
    for (int32_t i = 0; i < a->n; i++) {
        const ac_interval u = k->unknown.item[a->term[i].unknown].in;
        const ac_interval by = {a->term[i].k, a->term[i].k};
        r = ac_interval_add(r, ac_interval_mul(u, by));
    }
    return r;
}

/* ------------------------------------------------------------------ knowledge */

/* Rounded down, by > 0. */
static int64_t floor_of(int64_t a, int64_t by)
{
    return a / by - (a % by < 0);
}

/* The terms' common divisor comes out: g X + c <= 0 for integers is X + ceil(c / g) <= 0. */
static void divide_by_gcd(ac_affine *q)
{
    int64_t g = 0;
    for (int32_t i = 0; i < q->n; i++) {
        if (q->term[i].k == INT64_MIN)
            return;
        g = ac_gcd(q->term[i].k < 0 ? -q->term[i].k : q->term[i].k, g);
    }
    if (g < 2 || q->c == INT64_MIN)
        return;
    for (int32_t i = 0; i < q->n; i++)
        q->term[i].k /= g;
    q->c = -floor_of(-q->c, g);
}

void ac_know_open(ac_knowledge *k, ac_region *region)
{
    *k = (ac_knowledge){.region = region};
    ac_push(region, &k->unknown, ((ac_unknown){.in = {0, 0}}));
}

int32_t ac_know(ac_knowledge *k, int64_t lo, int64_t hi)
{
    ac_push(k->region, &k->unknown, ((ac_unknown){.in = {lo, hi}}));
    return k->unknown.n - 1;
}

/* times * u <= sum (up: >= sum), divided by the common divisor and rounded to the side that holds for integers. */
static ac_known_bound whole_bound(int64_t times, const ac_affine *sum, bool up)
{
    ac_known_bound b = {times, *sum};
    int64_t g = times;
    for (int32_t i = 0; i < sum->n; i++)
        g = ac_gcd(sum->term[i].k < 0 ? -sum->term[i].k : sum->term[i].k, g);
    for (int32_t i = 0; i < sum->n; i++)
        b.sum.term[i].k /= g;
    b.k /= g;
    b.sum.c = up ? -floor_of(-sum->c, g) : floor_of(sum->c, g);
    return b;
}

void ac_know_at_most(ac_knowledge *k, int32_t unknown, int64_t times, const ac_affine *sum)
{
    ac_unknown *u = &k->unknown.item[unknown];
    if (sum->lost)
        return;
    const int64_t hi = ac_affine_interval(k, sum).hi;
    if (hi != INT64_MAX && floor_of(hi, times) < u->in.hi)
        u->in.hi = floor_of(hi, times);
    if (sum->n)
        ac_push(k->region, &u->at_most, whole_bound(times, sum, false));
}

void ac_know_at_least(ac_knowledge *k, int32_t unknown, int64_t times, const ac_affine *sum)
{
    ac_unknown *u = &k->unknown.item[unknown];
    if (sum->lost)
        return;
    const int64_t lo = ac_affine_interval(k, sum).lo;
    if (lo != INT64_MIN && -floor_of(negate(lo), times) > u->in.lo)
        u->in.lo = -floor_of(negate(lo), times);
    if (sum->n)
        ac_push(k->region, &u->at_least, whole_bound(times, sum, true));
}

/* A sum that is at most min(a, b) is at most a and at most b: adds the fact for each. */
static bool fact_of_each(ac_knowledge *k, const ac_affine *f)
{
    if (!f->n)
        return false;
    const ac_term t = f->term[f->n - 1];
    const ac_unknown u = k->unknown.item[t.unknown];
    if (!(u.least && t.k > 0) && !(u.greatest && t.k < 0))
        return false;
    for (int32_t i = 0; i < u.n_one_of; i++) {
        ac_affine rest = *f;
        rest.n--;
        rest = ac_affine_add(&rest, &u.one_of[i].value, t.k);
        ac_know_fact(k, &rest);
    }
    return true;
}

void ac_know_fact(ac_knowledge *k, const ac_affine *at_least_0)
{
    ac_affine turned = ac_affine_times(at_least_0, -1);
    divide_by_gcd(&turned);
    turned = ac_affine_times(&turned, -1);
    if (!turned.lost && (turned.n || turned.c < 0) && !fact_of_each(k, &turned))
        ac_push(k->region, &k->fact, turned);
}

void ac_know_guards(ac_knowledge *k, const ac_alternative *a)
{
    for (int32_t i = 0; i < a->n_guard; i++)
        if (a->guard[i].n)
            ac_know_fact(k, &a->guard[i]);
}

/* The unknown that is floor(a / by). */
static int32_t quotient_of(ac_knowledge *k, const ac_affine *a, int64_t by)
{
    enum { LOOKED_AT = 24 };
    for (int32_t i = k->quotient.n - 1; i >= 0 && i >= k->quotient.n - LOOKED_AT; i--)
        if (k->quotient.item[i].by == by && ac_affine_equal(&k->quotient.item[i].of, a))
            return k->quotient.item[i].unknown;
    const ac_interval in = ac_affine_interval(k, a);
    const int32_t q =
        ac_know(k, in.lo == INT64_MIN ? in.lo : floor_of(in.lo, by), in.hi == INT64_MAX ? in.hi : floor_of(in.hi, by));
    const ac_affine least = ac_affine_plus(a, 1 - by);
    ac_know_at_most(k, q, by, a);
    ac_know_at_least(k, q, by, &least);
    ac_push(k->region, &k->quotient, ((ac_quotient){*a, by, q}));
    return q;
}

ac_affine ac_know_quotient(ac_knowledge *k, const ac_affine *a, int64_t by)
{
    ac_affine whole = ac_affine_of(floor_of(a->c, by)), rest = ac_affine_of(a->c - whole.c * by);
    whole.lost = rest.lost = a->lost;
    for (int32_t i = 0; i < a->n; i++) {
        ac_affine *to = a->term[i].k % by ? &rest : &whole;
        to->term[to->n] = a->term[i];
        to->term[to->n++].k /= to == &whole ? by : 1;
    }
    const ac_interval in = ac_affine_interval(k, &rest);
    if (rest.lost || (in.lo >= 0 && in.hi < by))
        return whole;
    if (!whole.n && !whole.c)
        return ac_affine_unknown(quotient_of(k, a, by));
    const ac_affine more = ac_affine_unknown(quotient_of(k, &rest, by));
    return ac_affine_add(&whole, &more, 1);
}

/* ------------------------------------------------------------------ questions */

static bool at_most_0(ac_knowledge *k, ac_affine q, int32_t depth);

/* q with its last term t.k * u replaced, where times * u is `sum` or beyond it on the side that does not matter. */
static bool with_bound(ac_knowledge *k, const ac_affine *q, int64_t times, const ac_affine *sum, int32_t depth)
{
    ac_affine rest = *q;
    int64_t by = rest.term[--rest.n].k;
    const int64_t g = ac_gcd(by < 0 ? -by : by, times);
    rest = ac_affine_times(&rest, times / g);
    rest = ac_affine_add(&rest, sum, by / g);
    return !rest.lost && at_most_0(k, rest, depth + 1);
}

/* Facts about the unknown of t, q's last term. Facts that name younger unknowns, which then return to q, are tried
 * once. */
static bool by_facts(ac_knowledge *k, const ac_affine *q, ac_term t, int32_t depth)
{
    for (int32_t i = k->fact.n - 1; i >= 0; i--) {
        const ac_affine *f = &k->fact.item[i];
        const int64_t times = ac_affine_coefficient(f, t.unknown);
        if (!times || (times < 0) != (t.k > 0) || times == INT64_MIN)
            continue;
        const bool younger = f->term[f->n - 1].unknown != t.unknown;
        if (younger && !k->may_turn)
            continue;
        const ac_affine u = ac_affine_unknown(t.unknown);
        const ac_affine rest = ac_affine_add(f, &u, -times); /* rest + times * u >= 0 */
        const ac_affine sum = times < 0 ? rest : ac_affine_times(&rest, -1);
        const bool before = k->may_turn;
        k->may_turn &= !younger;
        const bool proven = with_bound(k, q, times < 0 ? -times : times, &sum, depth);
        k->may_turn = before;
        if (proven)
            return true;
    }
    return false;
}

static bool by_alternatives(ac_knowledge *k, const ac_affine *q, const ac_unknown *u, int32_t depth)
{
    for (int32_t i = 0; i < u->n_one_of; i++) {
        const int32_t facts = k->fact.n;
        ac_know_guards(k, &u->one_of[i]);
        const bool proven = with_bound(k, q, 1, &u->one_of[i].value, depth);
        k->fact.n = facts;
        if (!proven)
            return false;
    }
    return u->n_one_of > 0;
}

static bool at_most_0(ac_knowledge *k, ac_affine q, int32_t depth)
{
    enum { DEEPEST = 40 };
    divide_by_gcd(&q);
    if (ac_affine_interval(k, &q).hi <= 0)
        return true;
    if (!q.n || depth > DEEPEST || --k->steps < 0)
        return false;
    const ac_term t = q.term[q.n - 1];
    const ac_unknown u = k->unknown.item[t.unknown]; /* a copy: questions make no unknowns, but let it be so */
    const ac_known_bound *bound = t.k > 0 ? u.at_most.item : u.at_least.item;
    for (int32_t i = (t.k > 0 ? u.at_most.n : u.at_least.n) - 1; i >= 0; i--)
        if (with_bound(k, &q, bound[i].k, &bound[i].sum, depth))
            return true;
    if (by_facts(k, &q, t, depth) || by_alternatives(k, &q, &u, depth))
        return true;
    const int64_t end = t.k > 0 ? u.in.hi : u.in.lo;
    const ac_affine number = ac_affine_of(end);
    return !is_end(end) && with_bound(k, &q, 1, &number, depth);
}

bool ac_is_at_most(ac_knowledge *k, const ac_affine *a, int64_t limit)
{
    if (a->lost || limit == INT64_MIN)
        return false;
    if (ac_affine_interval(k, a).hi <= limit)
        return true;
    const ac_affine q = ac_affine_plus(a, -limit);
    for (int turn = 0; turn < 2 && !q.lost; turn++) {
        k->steps = AC_KNOW_STEPS;
        k->may_turn = turn;
        if (at_most_0(k, q, 0))
            return true;
    }
    return false;
}

bool ac_is_at_least(ac_knowledge *k, const ac_affine *a, int64_t limit)
{
    if (limit == INT64_MIN)
        return true;
    const ac_affine q = ac_affine_times(a, -1);
    return ac_is_at_most(k, &q, -limit);
}

/* Do the facts about a loop variable alone leave none of the values that it runs through, `step` apart? */
static bool is_passed_over(const ac_knowledge *k, int32_t unknown)
{
    const ac_unknown *u = &k->unknown.item[unknown];
    if (!u->of_loop || u->falls || u->step < 2 || u->first.lost || u->first.n)
        return false;
    int64_t lo = u->first.c, hi = u->in.hi;
    for (int32_t i = 0; i < k->fact.n; i++) {
        const ac_affine *f = &k->fact.item[i];
        const int64_t times = ac_affine_coefficient(f, unknown);
        if (f->lost || f->n != 1 || !times || times == INT64_MIN || f->c == INT64_MIN)
            continue;
        if (times > 0 && -floor_of(f->c, times) > lo) /* the least with times * u + c >= 0 */
            lo = -floor_of(f->c, times);
        else if (times < 0 && floor_of(f->c, -times) < hi)
            hi = floor_of(f->c, -times);
    }
    const int64_t away = ac_sat_add(lo, -u->first.c) % u->step;
    return ac_sat_add(lo, away ? u->step - away : 0) > hi;
}

bool ac_is_unreachable(ac_knowledge *k)
{
    for (int32_t i = k->fact.n - 1; i >= 0; i--) {
        const ac_affine f = k->fact.item[i];
        if (ac_is_at_most(k, &f, -1) || (f.n == 1 && is_passed_over(k, f.term[0].unknown)))
            return true;
    }
    return false;
}
