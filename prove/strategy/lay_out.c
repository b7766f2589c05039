/* lay_out.c - extends the pieces that a loop's body writes to all iterations, along the loop variable.
 *
 * A piece that every iteration writes becomes a longer one if the copies touch, else it gets one more stride. Guarded
 * pieces are laid out iteration by iteration; of many iterations only the last ones are, and the first ones together. A
 * piece whose place stops at a number, min(i, number), becomes two: up to there, and there. */
#include "prove/strategy/pieces.h"

static const ac_quotient *quotient_of(const ac_knowledge *k, int32_t unknown)
{
    int32_t lo = 0, hi = k->quotient.n; /* they are in order of age */
    while (lo < hi) {
        const int32_t at = lo + (hi - lo) / 2;
        if (k->quotient.item[at].unknown < unknown)
            lo = at + 1;
        else
            hi = at;
    }
    return lo < k->quotient.n && k->quotient.item[lo].unknown == unknown ? &k->quotient.item[lo] : NULL;
}

/* True if the sum has an unknown of the iteration other than its counter; quotients of older unknowns do not count. */
static bool is_of_iteration(const ac_prover *p, const ac_affine *a, int32_t counter, int32_t since)
{
    for (int32_t i = 0; i < a->n; i++) {
        const int32_t u = a->term[i].unknown;
        const ac_quotient *q = u >= since && u != counter ? quotient_of(&p->know, u) : NULL;
        if (q ? is_of_iteration(p, &q->of, 0, since) : u >= since && u != counter)
            return true;
    }
    return false;
}

/* base = a * i + b * q + ..., where q is the quotient of the loop variable i by a number that divides the iterations:
 * i = number * q + r, and q and r run by themselves. The strides of both are put into s, and q is taken out. */
static bool lay_out_quotient(ac_prover *p, ac_stretch *s, int32_t counter, ac_interval trips)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    const ac_affine i = ac_affine_unknown(counter);
    for (int32_t k = 0; k < p->know.quotient.n; k++) {
        const ac_quotient *q = &p->know.quotient.item[k];
        const int64_t b = ac_affine_coefficient(&s->base, q->unknown), a = ac_affine_coefficient(&s->base, counter);
        if (!b || !ac_affine_equal(&q->of, &i))
            continue;
        const int64_t whole = a * q->by + b;
        const ac_affine *least = u->falls ? &u->last : &u->first;
        if (u->step != 1 || !u->whole || least->lost || least->n || least->c || trips.lo != trips.hi ||
            trips.lo % q->by || a < 0 || whole < 0 || s->n + 2 > AC_STRIDES)
            return false;
        const ac_affine unknown = ac_affine_unknown(q->unknown);
        s->base = ac_affine_add(&s->base, &unknown, -b);
        s->base = ac_affine_add(&s->base, &i, -a);
        if (whole)
            ac_stretch_by(s, whole, trips.lo / q->by);
        if (a)
            ac_stretch_by(s, a, q->by);
        ac_stretch_settle(s);
        return !s->base.lost;
    }
    return false;
}

/* a with v in the place of an unknown */
static ac_affine substitute(const ac_affine *a, int32_t unknown, const ac_affine *v)
{
    const ac_affine u = ac_affine_unknown(unknown);
    const int64_t k = ac_affine_coefficient(a, unknown);
    const ac_affine rest = ac_affine_add(a, &u, -k);
    return ac_affine_add(&rest, v, k);
}

/* True if the iterations missing from the maximum number would write past the buffer: then they may be taken as done.
 * If the loop's length is the minimum of two sums, only a sum that shortens the loop matters. */
static bool is_rest_outside(ac_prover *p, const ac_stretch *s, int32_t counter, int64_t most)
{
    const ac_unknown u = p->know.unknown.item[counter];
    const int32_t facts = p->know.fact.n;
    if (u.falls || u.first.lost || u.last.lost)
        return false;
    const ac_affine left_out = ac_affine_unknown(ac_know(&p->know, 0, most - 1)); /* iterations before it */
    const ac_affine at = ac_affine_add(&u.first, &left_out, u.step);
    const ac_affine base = substitute(&s->base, counter, &at), length = ac_affine_add(&u.last, &u.first, -1);
    const ac_term t = length.n ? length.term[length.n - 1] : (ac_term){0};
    const ac_unknown either = p->know.unknown.item[t.unknown];
    const bool two = either.n_one_of == 2;
    bool outside = !base.lost && !length.lost;
    for (int32_t c = 0; c < (two ? 2 : 1) && outside; c++) {
        const ac_affine far = two ? substitute(&length, t.unknown, &either.one_of[c].value) : length;
        const ac_affine there = two ? substitute(&base, t.unknown, &either.one_of[c].value) : base;
        if (!far.lost && !far.n && far.c >= (most - 1) * u.step)
            continue;
        const ac_affine gap = ac_affine_times(&left_out, u.step);
        const ac_affine over = ac_affine_add(&gap, &far, -1), beyond = ac_affine_plus(&over, -1);
        ac_know_fact(&p->know, &beyond);
        if (two)
            ac_know_guards(&p->know, &either.one_of[c]);
        outside = ac_is_at_least(&p->know, &there, p->count[s->buf]);
        p->know.fact.n = facts;
    }
    return outside;
}

/* A stride as long as the loop runs, which is a sum. */
static bool lay_out_many(ac_prover *p, ac_stretch *s, int32_t counter, int64_t k)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    const ac_affine far = ac_affine_add(&u->last, &u->first, -1), i = ac_affine_unknown(counter);
    ac_affine *many = AC_NEW(p->tmp, ac_affine);
    if (u->falls || k < 1 || u->step != 1 || !u->whole || s->n == AC_STRIDES || ac_stretch_is_many(s) || far.lost)
        return false;
    *many = ac_affine_plus(&far, 1);
    s->base = ac_affine_add(&s->base, &i, -k);
    s->base = ac_affine_add(&s->base, &u->first, k);
    ac_stretch_by_many(s, k, many);
    return !s->base.lost && !many->lost;
}

/* s for all values of the loop variable: from `first` on, `trips` of them, `step` apart. */
static bool lay_out(ac_prover *p, ac_stretch *s, int32_t counter, int32_t since, ac_interval trips)
{
    if (is_of_iteration(p, &s->base, counter, since) && !lay_out_quotient(p, s, counter, trips))
        return false;
    const int64_t k = ac_affine_coefficient(&s->base, counter);
    for (int32_t i = 0; i < s->n; i++)
        if (s->stride[i].many && is_of_iteration(p, s->stride[i].many, 0, since))
            return false;
    if (ac_affine_coefficient(&s->len, counter) || is_of_iteration(p, &s->base, counter, since) ||
        is_of_iteration(p, &s->len, counter, since))
        return false;
    if (!k)
        return trips.lo > 0;
    const bool all = trips.lo != trips.hi && k > 0 && s->n < AC_STRIDES && is_rest_outside(p, s, counter, trips.hi);
    const ac_unknown *u = &p->know.unknown.item[counter];
    const ac_affine i = ac_affine_unknown(counter);
    const ac_affine rest = ac_affine_add(&s->base, &i, -k);
    const int64_t by = (k < 0 ? -k : k) * u->step;
    /* the least value of the variable */
    const bool falls = u->falls, low_first = (k > 0) != falls;
    ac_affine least = low_first ? u->first : u->last;
    if (!low_first && trips.lo == trips.hi) /* which may be fewer than all */
        least = ac_affine_plus(&u->first, (falls ? 1 - trips.lo : trips.lo - 1) * u->step);
    if (least.lost)
        return false;
    if (all || trips.lo == trips.hi) {
        s->base = ac_affine_add(&rest, &least, k);
        if (s->n == AC_STRIDES)
            return false;
        ac_stretch_by(s, by, trips.hi);
        ac_stretch_settle(s);
        return !s->base.lost;
    }
    if (s->n || s->len.n || by > s->len.c || falls || k < 0 || !u->whole)
        return lay_out_many(p, s, counter, k);
    /* any number of copies that touch: from the first to the end of the last; empty if the loop does not run */
    const ac_affine far = ac_affine_add(&u->last, &u->first, -1), more = ac_affine_times(&far, k);
    if (by != s->len.c && trips.lo < 1)
        return lay_out_many(p, s, counter, k);
    s->base = ac_affine_add(&rest, &u->first, k);
    s->len = ac_affine_add(&s->len, &more, 1);
    return !s->base.lost && !s->len.lost;
}

/* The sum when the loop variable is v. A minimum or maximum of two sums that become numbers is replaced: the end of a
 * block of rows, which is smaller for the last block. */
static ac_affine at_iteration(ac_prover *p, const ac_affine *a, int32_t counter, int32_t since, const ac_affine *v)
{
    ac_affine sum = substitute(a, counter, v);
    for (int32_t i = sum.n - 1; i >= 0 && !sum.lost; i--) {
        const int32_t of = sum.term[i].unknown;
        const ac_unknown u = p->know.unknown.item[of];
        if (of < since || u.n_one_of != 2 || u.least == u.greatest)
            continue;
        const ac_affine x = substitute(&u.one_of[0].value, counter, v), y = substitute(&u.one_of[1].value, counter, v);
        if (!x.lost && !x.n && !y.lost && !y.n)
            sum = substitute(&sum, of, (x.c < y.c) == u.least ? &x : &y);
    }
    return sum;
}

bool ac_p_at_iteration(ac_prover *p, ac_stretch *s, int32_t counter, int32_t since, const ac_affine *v)
{
    ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, s->n_guard + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_guard; i++) {
        guard[n] = at_iteration(p, &s->guard[i], counter, since, v);
        if (guard[n].lost || is_of_iteration(p, &guard[n], counter, since) || (!guard[n].n && guard[n].c < 0))
            return false;
        n += guard[n].n > 0;
    }
    for (int32_t i = 0; i < s->n; i++) {
        if (!s->stride[i].many)
            continue;
        ac_affine *many = AC_NEW(p->tmp, ac_affine);
        *many = at_iteration(p, s->stride[i].many, counter, since, v);
        if (many->lost || is_of_iteration(p, many, counter, since))
            return false;
        s->stride[i] = many->n || many->c < 1 ? (ac_stride){s->stride[i].by, 0, many}
                                              : (ac_stride){s->stride[i].by, many->c, NULL};
    }
    s->guard = guard;
    s->n_guard = n;
    s->base = at_iteration(p, &s->base, counter, since, v);
    s->len = at_iteration(p, &s->len, counter, since, v);
    return !s->base.lost && !s->len.lost && !is_of_iteration(p, &s->base, counter, since) &&
           !is_of_iteration(p, &s->len, counter, since);
}

/* Which term of a sum is min(loop variable, number)? -1: none */
static int32_t clamped_term(const ac_prover *p, const ac_affine *a, int32_t counter, int64_t *number)
{
    const ac_affine i = ac_affine_unknown(counter);
    for (int32_t k = 0; k < a->n; k++) {
        const ac_unknown *u = &p->know.unknown.item[a->term[k].unknown];
        for (int32_t c = 0; c < u->n_one_of && u->least && u->n_one_of == 2; c++) {
            const ac_affine *other = &u->one_of[1 - c].value;
            *number = other->c;
            if (ac_affine_equal(&u->one_of[c].value, &i) && !other->lost && !other->n)
                return k;
        }
    }
    return -1;
}

/* base = a * min(i, number) + ...: the piece of the iterations up to the number, and that of all others. */
static bool lay_out_clamped(ac_prover *p, ac_cover_block *to, const ac_stretch *s, int32_t counter, int32_t since,
                            ac_interval trips)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    int64_t number = 0;
    const int32_t k = s->base.lost ? -1 : clamped_term(p, &s->base, counter, &number);
    if (k < 0 || trips.lo != trips.hi || u->falls || !u->whole || u->first.lost || u->first.n)
        return false;
    const int32_t least = s->base.term[k].unknown;
    const int64_t up_to = number < u->first.c ? 0 : (number - u->first.c) / u->step + 1;
    const ac_affine i = ac_affine_unknown(counter), n = ac_affine_of(number);
    ac_stretch moves = *s, stays = *s;
    moves.base = substitute(&s->base, least, &i);
    stays.base = substitute(&s->base, least, &n);
    if (up_to < 1 || up_to >= trips.lo || ac_affine_coefficient(&stays.base, counter) ||
        !lay_out(p, &moves, counter, since, (ac_interval){up_to, up_to}) ||
        !lay_out(p, &stays, counter, since, (ac_interval){trips.lo - up_to, trips.lo - up_to}))
        return false;
    ac_p_cover_add(p, to, moves);
    ac_p_cover_add(p, to, stays);
    return true;
}

/* True if some piece of the block is not written in every iteration. */
static bool is_guarded(const ac_prover *p, const ac_cover_block *b, int32_t since)
{
    for (int32_t i = 0; i < b->piece.n; i++)
        for (int32_t g = 0; g < b->piece.item[i].n_guard; g++)
            if (is_of_iteration(p, &b->piece.item[i].guard[g], 0, since))
                return true;
    return false;
}

/* The piece in each possible iteration, guarded by the condition that the iteration runs: the loop's bound is the
 * minimum of two sums. */
static void lay_out_each(ac_prover *p, ac_cover_block *to, const ac_stretch *s, int32_t counter, int32_t since,
                         int64_t most)
{
    const ac_unknown u = p->know.unknown.item[counter];
    const ac_term t = u.last.n ? u.last.term[u.last.n - 1] : (ac_term){0};
    const ac_unknown least = p->know.unknown.item[t.unknown];
    if (u.falls || u.first.lost || u.last.lost || t.k != 1 || least.n_one_of != 2)
        return;
    for (int64_t n = 0; n < most; n++) {
        const ac_affine v = ac_affine_plus(&u.first, n * u.step);
        ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, s->n_guard + 2);
        ac_stretch one = *s;
        for (int32_t k = 0; k < s->n_guard; k++)
            guard[k] = s->guard[k];
        for (int32_t k = 0; k < 2; k++) {
            ac_affine last = u.last;
            last.n--;
            last = ac_affine_add(&last, &least.one_of[k].value, 1);
            guard[one.n_guard++] = ac_affine_add(&last, &v, -1);
        }
        one.guard = guard;
        if (ac_p_at_iteration(p, &one, counter, since, &v))
            ac_p_cover_add(p, to, one);
    }
}

/* True if a guard that depends on the loop variable alone holds in the first iteration. */
static bool holds_at_first(const ac_affine *guard, int64_t k, const ac_unknown *u)
{
    return ac_sat_add(guard->c, ac_sat_mul(k, u->first.c)) >= 0;
}

/* How many iterations, from the first on, write the pieces that the first one writes, and no others. */
static int64_t iterations_alike(const ac_prover *p, const ac_cover_block *b, int32_t counter, int64_t trips)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    int64_t all = u->falls ? 0 : trips;
    for (int32_t i = 0; i < b->piece.n; i++)
        for (int32_t g = 0; g < b->piece.item[i].n_guard; g++) {
            const ac_affine *guard = &b->piece.item[i].guard[g];
            const int64_t k = ac_affine_coefficient(guard, counter);
            if (!k)
                continue;
            const int64_t at_first = ac_sat_add(guard->c, ac_sat_mul(k, u->first.c)), by = ac_sat_mul(k, u->step);
            int64_t alike = all;
            if (guard->n != 1 || by == INT64_MIN)
                alike = 0;
            else if (at_first >= 0 && by < 0) /* from 0 on down: true as long as it is not below 0 */
                alike = at_first / -by + 1;
            else if (at_first < 0 && by > 0 && at_first > INT64_MIN)
                alike = (-at_first - 1) / by + 1;
            all = alike < all ? alike : all;
        }
    return all;
}

/* The pieces of the first n iterations, which all write the same ones; joined if they touch. */
static void lay_out_first(ac_prover *p, const ac_cover_block *b, int32_t counter, int32_t since, int64_t n)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    ac_cover_block one = {.kept = b->kept};
    for (int32_t i = 0; i < b->piece.n && n; i++) {
        ac_stretch s = b->piece.item[i];
        ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, s.n_guard + 1);
        int32_t guards = 0;
        bool left_out = false;
        for (int32_t g = 0; g < s.n_guard; g++) {
            const int64_t k = ac_affine_coefficient(&s.guard[g], counter);
            if (k) {
                left_out |= !holds_at_first(&s.guard[g], k, u);
            } else {
                left_out |= s.guard[g].lost || is_of_iteration(p, &s.guard[g], counter, since);
                guard[guards++] = s.guard[g];
            }
        }
        s.guard = guard;
        s.n_guard = guards;
        if (!left_out)
            ac_p_cover_add(p, &one, s);
    }
    for (int32_t i = 0; i < one.piece.n; i++)
        if (lay_out(p, &one.piece.item[i], counter, since, (ac_interval){n, n}))
            ac_p_cover_add(p, b->up, one.piece.item[i]);
}

/* Pieces in iterations from .. trips - 1 of a loop whose first value is a number, one by one. */
static void lay_out_rest(ac_prover *p, ac_cover_block *to, const ac_stretch *piece, int32_t pieces, int32_t counter,
                         int32_t since, int64_t from, int64_t trips)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    for (int64_t n = from; n < trips; n++)
        for (int32_t i = 0; i < pieces; i++) {
            ac_stretch s = piece[i];
            const ac_affine v = ac_affine_of(u->first.c + (u->falls ? -n : n) * u->step);
            if (ac_p_at_iteration(p, &s, counter, since, &v))
                ac_p_cover_add(p, to, s);
        }
}

/* The maximum number of iterations: less than by intervals if the bounds share an unknown. */
static int64_t most_iterations(ac_prover *p, int32_t counter, ac_interval trips)
{
    const ac_unknown u = p->know.unknown.item[counter];
    const ac_affine length = u.falls ? ac_affine_add(&u.first, &u.last, -1) : ac_affine_add(&u.last, &u.first, -1);
    int64_t lo = trips.lo > 0 ? trips.lo : 1, hi = trips.hi;
    while (lo < hi && !length.lost && hi != INT64_MAX) { /* hi holds */
        const int64_t n = lo + (hi - lo) / 2;
        if (ac_is_at_most(&p->know, &length, ac_sat_mul(n, u.step) - 1))
            hi = n;
        else
            lo = n + 1;
    }
    return hi;
}

void ac_p_cover_loop_end(ac_prover *p, int32_t counter, int32_t since, ac_interval trips, bool breaks)
{
    enum { ONE_BY_ONE = 16 };
    ac_cover_block *b = p->cover->open;
    p->cover->open = b->up;
    if (breaks)
        return;
    const ac_unknown *u = &p->know.unknown.item[counter];
    const bool counts = trips.lo == trips.hi && !u->first.lost && !u->first.n;
    if (counts && is_guarded(p, b, since)) {
        const int64_t whole = trips.lo <= ONE_BY_ONE ? 0 : iterations_alike(p, b, counter, trips.lo);
        if (trips.lo - whole <= ONE_BY_ONE) {
            lay_out_first(p, b, counter, since, whole);
            lay_out_rest(p, b->up, b->piece.item, b->piece.n, counter, since, whole, trips.lo);
            return;
        }
    }
    if (b->piece.n && trips.lo != trips.hi) {
        trips.hi = most_iterations(p, counter, trips);
        ac_p_cover_rows(b, 3);
    }
    for (int32_t i = 0; i < b->piece.n; i++) {
        bool whole = true;
        for (int32_t g = 0; g < b->piece.item[i].n_guard; g++)
            whole &= !is_of_iteration(p, &b->piece.item[i].guard[g], 0, since);
        ac_stretch s = b->piece.item[i];
        const bool laid = whole && lay_out(p, &s, counter, since, trips);
        if (whole && !laid && lay_out_clamped(p, b->up, &b->piece.item[i], counter, since, trips))
            continue;
        if (laid)
            ac_p_cover_add(p, b->up, s);
        else if (counts && trips.lo <= ONE_BY_ONE)
            lay_out_rest(p, b->up, &b->piece.item[i], 1, counter, since, 0, trips.lo);
        if ((!laid || s.len.n || ac_stretch_is_many(&s)) && trips.lo != trips.hi && trips.hi <= 4 * ONE_BY_ONE)
            lay_out_each(p, b->up, &b->piece.item[i], counter, since, trips.hi);
    }
}
