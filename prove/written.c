/* written.c - elements of buffers that are certainly written when the code gets to an instruction, as far as loops
 * and branches say so; and the claims that what a call reads of its own is written before, and its results wholly.
 *
 * A store makes a piece (stretch.h); pieces that meet become one; at the end of a loop each of its pieces is laid out
 * along the loop variable (a longer piece where the copies meet, else one more stride); of a branch stays what both
 * sides write, or what only lies outside of the buffer where the branch is not taken; the rest is guarded by what is
 * true on its side, until a loop of few iterations is laid out one by one. Pieces belong to the block that made them:
 * what is visible are those of all open blocks. */
#include "prove/cover.h"
#include "prove/stretch.h"

enum { PIECES = 192 };

typedef ac_stretch piece;

typedef struct block {
    AC_VEC(piece) piece;
    AC_VEC(piece) then;       /* of a branch: what the first side wrote */
    const ac_affine *fact[2]; /* ... and what is true on its sides */
    int32_t n_fact[2];
    bool kept;              /* for the other calls of the step too */
    int32_t counter, since; /* of a loop; else 0 */
    struct block *up;
} block;

typedef struct ac_cover {
    block *open;
} ac_cover;

static bool is_off(const ac_prover *p)
{
    return p->dry || p->mute;
}

/* Is a buffer one whose contents at the start are not the call's own business? */
static bool is_followed(const ac_prover *p, int32_t buf)
{
    const ac_role role = p->fn->buf.item[buf].role;
    return role == AC_BUF_OUT || role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL;
}

/* ------------------------------------------------------------------ blocks */

static void add(ac_prover *p, block *b, piece s)
{
    if (s.base.lost || s.len.lost)
        return;
    for (bool joined = true; joined;) {
        ac_stretch_settle(&s);
        joined = false;
        for (int32_t i = b->piece.n - 1; i >= 0 && !joined; i--) {
            piece *old = &b->piece.item[i];
            piece first = *old;
            joined = old->buf == s.buf && ac_stretch_join(&first, &s);
            if (joined)
                s = first;
            else
                joined = old->buf == s.buf && ac_stretch_join(&s, old);
            if (joined)
                *old = b->piece.item[--b->piece.n];
        }
    }
    if (b->piece.n < PIECES)
        ac_push(b->kept ? p->keep : p->tmp, &b->piece, s);
}

static block *open_block(ac_prover *p)
{
    block *b = AC_NEW(p->tmp, block);
    if (!p->cover)
        p->cover = AC_NEW(p->tmp, ac_cover);
    b->up = p->cover->open;
    return p->cover->open = b;
}

void ac_p_cover_open(ac_prover *p)
{
    p->cover = NULL;
    open_block(p);
}

void ac_p_loop_begin(ac_prover *p, ac_x x, int32_t counter, int32_t since)
{
    if (is_off(p))
        return;
    block *b = open_block(p);
    b->counter = counter;
    b->since = since;
    ac_p_order_loop(p, x, counter, since);
}

/* Is something in the sum made by an iteration, other than its counter? */
static bool is_of_iteration(const ac_affine *a, int32_t counter, int32_t since)
{
    for (int32_t i = 0; i < a->n; i++)
        if (a->term[i].unknown >= since && a->term[i].unknown != counter)
            return true;
    return false;
}

/* base = a * i + b * q + ..., where q is the quotient of the loop variable i by a number that divides the iterations:
 * i = number * q + r, and q and r run by themselves. The strides of both are put into s, and q is taken out. */
static bool lay_out_quotient(ac_prover *p, piece *s, int32_t counter, ac_interval trips)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    const ac_affine i = ac_affine_unknown(counter);
    for (int32_t k = 0; k < p->know.quotient.n; k++) {
        const ac_quotient *q = &p->know.quotient.item[k];
        const int64_t b = ac_affine_coefficient(&s->base, q->unknown), a = ac_affine_coefficient(&s->base, counter);
        if (!b || !ac_affine_equal(&q->of, &i))
            continue;
        const int64_t whole = a * q->by + b;
        if (u->falls || u->step != 1 || u->first.lost || u->first.n || u->first.c || trips.lo != trips.hi ||
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

/* Would the iterations that are left out, of the most there can be, write beyond the buffer? Then they may as well be
 * taken for done. The bound of the loop is a sum, or the least of two: of these only what leaves some out matters. */
static bool is_rest_outside(ac_prover *p, const piece *s, int32_t counter, int64_t most)
{
    const ac_unknown u = p->know.unknown.item[counter];
    const int32_t facts = p->know.fact.n;
    if (u.falls || u.first.lost || u.first.n || u.last.lost)
        return false;
    const int64_t end = u.first.c + (most - 1) * u.step, k = ac_affine_coefficient(&s->base, counter);
    const ac_affine i = ac_affine_unknown(counter), left_out = ac_affine_unknown(ac_know(&p->know, u.first.c, end));
    ac_affine base = ac_affine_add(&s->base, &i, -k);
    base = ac_affine_add(&base, &left_out, k);
    const ac_term t = u.last.n ? u.last.term[u.last.n - 1] : (ac_term){0};
    const ac_unknown *least = &p->know.unknown.item[t.unknown];
    const bool two = t.k == 1 && least->n_one_of == 2;
    bool outside = !base.lost;
    for (int32_t c = 0; c < (two ? 2 : 1) && outside; c++) {
        ac_affine last = u.last;
        if (two) {
            last.n--;
            last = ac_affine_add(&last, &least->one_of[c].value, 1);
        }
        if (!last.lost && !last.n && last.c >= end)
            continue;
        const ac_affine gap = ac_affine_add(&left_out, &last, -1), beyond = ac_affine_plus(&gap, -1);
        ac_know_fact(&p->know, &beyond);
        outside = ac_is_at_least(&p->know, &base, p->count[s->buf]);
        p->know.fact.n = facts;
    }
    return outside;
}

/* s for all values of the loop variable: from `first` on, `trips` of them, `step` apart. */
static bool laid_out(ac_prover *p, piece *s, int32_t counter, int32_t since, ac_interval trips)
{
    if (is_of_iteration(&s->base, counter, since) && !lay_out_quotient(p, s, counter, trips))
        return false;
    const int64_t k = ac_affine_coefficient(&s->base, counter);
    if (ac_affine_coefficient(&s->len, counter) || is_of_iteration(&s->base, counter, since) ||
        is_of_iteration(&s->len, counter, since))
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
    const ac_affine least = low_first ? u->first : u->last;
    if (least.lost)
        return false;
    if (all || (trips.lo == trips.hi && u->whole)) {
        s->base = ac_affine_add(&rest, &least, k);
        if (s->n == AC_STRIDES)
            return false;
        ac_stretch_by(s, by, trips.hi);
        ac_stretch_settle(s);
        return !s->base.lost;
    }
    if (s->n || s->len.n || by > s->len.c || falls || k < 0 || !u->whole)
        return false;
    /* any number of copies that meet: from the first to the end of the last, none where the loop is not run */
    const ac_affine far = ac_affine_add(&u->last, &u->first, -1), more = ac_affine_times(&far, k);
    if (by != s->len.c && trips.lo < 1)
        return false;
    s->base = ac_affine_add(&rest, &u->first, k);
    s->len = ac_affine_add(&s->len, &more, 1);
    return !s->base.lost && !s->len.lost;
}

/* a with v in the place of an unknown */
static ac_affine put_in(const ac_affine *a, int32_t unknown, const ac_affine *v)
{
    const ac_affine u = ac_affine_unknown(unknown);
    const int64_t k = ac_affine_coefficient(a, unknown);
    const ac_affine rest = ac_affine_add(a, &u, -k);
    return ac_affine_add(&rest, v, k);
}

/* The piece in the iteration in which the loop variable is v; false: it is not written then, or nobody knows. */
static bool at_iteration(ac_prover *p, piece *s, int32_t counter, int32_t since, const ac_affine *v)
{
    ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, s->n_guard + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_guard; i++) {
        guard[n] = put_in(&s->guard[i], counter, v);
        if (guard[n].lost || is_of_iteration(&guard[n], counter, since) || (!guard[n].n && guard[n].c < 0))
            return false;
        n += guard[n].n > 0;
    }
    s->guard = guard;
    s->n_guard = n;
    s->base = put_in(&s->base, counter, v);
    s->len = put_in(&s->len, counter, v);
    return !s->base.lost && !s->len.lost && !is_of_iteration(&s->base, counter, since) &&
           !is_of_iteration(&s->len, counter, since);
}

/* Is something of the block written in some iterations only? */
static bool is_guarded(const block *b, int32_t since)
{
    for (int32_t i = 0; i < b->piece.n; i++)
        for (int32_t g = 0; g < b->piece.item[i].n_guard; g++)
            if (is_of_iteration(&b->piece.item[i].guard[g], 0, since))
                return true;
    return false;
}

/* The piece in each of the iterations that there are at most, guarded by what the loop's bound says of that one: the
 * bound is the least of two sums. */
static void lay_out_each(ac_prover *p, block *to, const piece *s, int32_t counter, int32_t since, int64_t most)
{
    const ac_unknown u = p->know.unknown.item[counter];
    const ac_term t = u.last.n ? u.last.term[u.last.n - 1] : (ac_term){0};
    const ac_unknown least = p->know.unknown.item[t.unknown];
    if (u.falls || u.first.lost || u.last.lost || t.k != 1 || least.n_one_of != 2)
        return;
    for (int64_t n = 0; n < most; n++) {
        const ac_affine v = ac_affine_plus(&u.first, n * u.step);
        ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, s->n_guard + 2);
        piece one = *s;
        for (int32_t k = 0; k < s->n_guard; k++)
            guard[k] = s->guard[k];
        for (int32_t k = 0; k < 2; k++) {
            ac_affine last = u.last;
            last.n--;
            last = ac_affine_add(&last, &least.one_of[k].value, 1);
            guard[one.n_guard++] = ac_affine_add(&last, &v, -1);
        }
        one.guard = guard;
        if (at_iteration(p, &one, counter, since, &v))
            add(p, to, one);
    }
}

/* How many iterations, from the first on, write every piece of the block: guards that say more of later ones. */
static int64_t iterations_of_all(const ac_prover *p, const block *b, int32_t counter, int64_t trips)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    int64_t all = u->falls ? 0 : trips;
    for (int32_t i = 0; i < b->piece.n; i++)
        for (int32_t g = 0; g < b->piece.item[i].n_guard; g++) {
            const ac_affine *guard = &b->piece.item[i].guard[g];
            const int64_t k = ac_affine_coefficient(guard, counter), at_first = ac_sat_add(guard->c, k * u->first.c);
            const int64_t holds = k >= 0 || guard->n != 1 || at_first < 0 ? 0 : at_first / (-k * u->step) + 1;
            if (k)
                all = holds < all ? holds : all;
        }
    return all;
}

/* What all pieces write in the first iterations, as one where they meet. */
static void lay_out_first(ac_prover *p, const block *b, int32_t counter, int32_t since, int64_t n)
{
    block one = {.kept = b->kept};
    for (int32_t i = 0; i < b->piece.n && n; i++) {
        piece s = b->piece.item[i];
        ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, s.n_guard + 1);
        int32_t guards = 0;
        bool of_iteration = false;
        for (int32_t g = 0; g < s.n_guard; g++)
            if (!ac_affine_coefficient(&s.guard[g], counter)) {
                of_iteration |= s.guard[g].lost || is_of_iteration(&s.guard[g], counter, since);
                guard[guards++] = s.guard[g];
            }
        s.guard = guard;
        s.n_guard = guards;
        if (!of_iteration)
            add(p, &one, s);
    }
    for (int32_t i = 0; i < one.piece.n; i++)
        if (laid_out(p, &one.piece.item[i], counter, since, (ac_interval){n, n}))
            add(p, b->up, one.piece.item[i]);
}

static void lay_out_rest(ac_prover *p, const block *b, int32_t counter, int32_t since, int64_t from, int64_t trips)
{
    const ac_unknown *u = &p->know.unknown.item[counter];
    for (int64_t n = from; n < trips; n++)
        for (int32_t i = 0; i < b->piece.n; i++) {
            piece s = b->piece.item[i];
            const ac_affine v = ac_affine_of(u->first.c + (u->falls ? -n : n) * u->step);
            if (at_iteration(p, &s, counter, since, &v))
                add(p, b->up, s);
        }
}

void ac_p_loop_end(ac_prover *p, int32_t counter, int32_t since, ac_interval trips, bool breaks)
{
    enum { ONE_BY_ONE = 16 };
    if (is_off(p))
        return;
    ac_p_order_end(p);
    block *b = p->cover->open;
    p->cover->open = b->up;
    if (breaks)
        return;
    const ac_unknown *u = &p->know.unknown.item[counter];
    if (is_guarded(b, since) && trips.lo == trips.hi && !u->first.lost && !u->first.n) {
        const int64_t whole = trips.lo <= ONE_BY_ONE ? 0 : iterations_of_all(p, b, counter, trips.lo);
        if (trips.lo - whole <= ONE_BY_ONE) {
            lay_out_first(p, b, counter, since, whole);
            lay_out_rest(p, b, counter, since, whole, trips.lo);
            return;
        }
    }
    for (int32_t i = 0; i < b->piece.n; i++) {
        bool whole = true;
        for (int32_t g = 0; g < b->piece.item[i].n_guard; g++)
            whole &= !is_of_iteration(&b->piece.item[i].guard[g], 0, since);
        piece s = b->piece.item[i];
        if (whole && laid_out(p, &s, counter, since, trips))
            add(p, b->up, s);
        else if (trips.lo != trips.hi && trips.hi <= 2 * ONE_BY_ONE)
            lay_out_each(p, b->up, &b->piece.item[i], counter, since, trips.hi);
    }
}

static void keep_facts(ac_prover *p, block *b, int side, int32_t from)
{
    b->n_fact[side] = p->know.fact.n - from;
    if (b->n_fact[side] > 0)
        b->fact[side] = ac_copy(p->tmp, p->know.fact.item + from, (size_t)b->n_fact[side] * sizeof(ac_affine));
}

void ac_p_branch_begin(ac_prover *p, ac_x x, int32_t facts)
{
    if (is_off(p))
        return;
    keep_facts(p, open_block(p), 0, facts);
    ac_p_order_side(p, x, false);
}

void ac_p_branch_else(ac_prover *p, ac_x x, int32_t facts)
{
    if (is_off(p))
        return;
    ac_p_order_side(p, x, true);
    block *b = p->cover->open;
    b->then.item = b->piece.item;
    b->then.n = b->piece.n;
    b->piece.item = NULL;
    b->piece.n = b->piece.cap = 0;
    keep_facts(p, b, 1, facts);
}

/* Is nothing of s inside its buffer, as the facts are now? */
static bool is_outside(ac_prover *p, const piece *s)
{
    return ac_is_at_least(&p->know, &s->base, p->count[s->buf]);
}

/* s is written on one side only: where what is true on that side is true. */
static void add_guarded(ac_prover *p, const block *b, int side, piece s)
{
    enum { GUARDS = 3 };
    const int32_t n = s.n_guard + b->n_fact[side];
    if (!b->n_fact[side] || n > GUARDS)
        return;
    ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, n);
    memcpy(guard, b->fact[side], (size_t)b->n_fact[side] * sizeof *guard);
    if (s.n_guard)
        memcpy(guard + b->n_fact[side], s.guard, (size_t)s.n_guard * sizeof *guard);
    s.guard = guard;
    s.n_guard = n;
    add(p, b->up, s);
}

static bool is_same(const piece *a, const piece *b)
{
    return ac_stretch_strides_equal(a, b) && ac_stretch_guards_equal(a, b) && ac_affine_equal(&a->base, &b->base) &&
           ac_affine_equal(&a->len, &b->len);
}

void ac_p_branch_end(ac_prover *p)
{
    if (is_off(p))
        return;
    block *b = p->cover->open;
    bool *both = AC_NEW_N(p->tmp, bool, b->piece.n + 1);
    p->cover->open = b->up;
    ac_p_order_joined(p);
    for (int32_t i = 0; i < b->then.n; i++) {
        const piece *s = &b->then.item[i];
        bool always = !s->n_guard && is_outside(p, s);
        for (int32_t k = 0; k < b->piece.n && !always; k++) {
            const piece *e = &b->piece.item[k];
            both[k] |= is_same(s, e);
            always = is_same(s, e) || (!s->n && !s->n_guard && !e->n_guard && s->buf == e->buf &&
                                       ac_stretch_holds(p, e, &s->base, &s->len));
        }
        if (always)
            add(p, b->up, *s);
        else
            add_guarded(p, b, 0, *s);
    }
    for (int32_t k = 0; k < b->piece.n; k++)
        if (!both[k])
            add_guarded(p, b, 1, b->piece.item[k]);
}

/* ------------------------------------------------------------------ claims */

/* Is what guards the piece true? */
static bool is_run(ac_prover *p, const piece *s)
{
    bool run = true;
    for (int32_t i = 0; run && i < s->n_guard; i++)
        run = ac_is_at_least(&p->know, &s->guard[i], 0);
    return run;
}

/* Together: pieces that are written wherever this is run; of the loop of block `first` (NULL: none) those of its first
 * iteration, in which they come before this read too. */
static bool is_written_together(ac_prover *p, const block *first, int32_t buf, const ac_affine *index,
                                const ac_affine *n)
{
    block all = {0};
    for (const block *b = p->cover->open; b; b = b->up)
        for (int32_t i = 0; i < b->piece.n; i++) {
            piece s = b->piece.item[i];
            if (s.buf != buf)
                continue;
            if (b == first) {
                const ac_affine v = p->know.unknown.item[b->counter].first;
                if (v.lost || !at_iteration(p, &s, b->counter, b->since, &v))
                    continue;
            }
            if (!is_run(p, &s))
                continue;
            s.n_guard = 0;
            add(p, &all, s);
        }
    for (int32_t i = 0; i < all.piece.n; i++)
        if (ac_stretch_holds(p, &all.piece.item[i], index, n))
            return true;
    return false;
}

static bool is_written(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n)
{
    for (const block *b = p->cover->open; b; b = b->up)
        for (int32_t i = 0; i < b->piece.n; i++)
            if (b->piece.item[i].buf == buf && is_run(p, &b->piece.item[i]) &&
                ac_stretch_holds(p, &b->piece.item[i], index, n))
                return true;
    if (is_written_together(p, NULL, buf, index, n))
        return true;
    for (const block *b = p->cover->open; b; b = b->up)
        if (b->counter && is_written_together(p, b, buf, index, n))
            return true;
    return false;
}

void ac_p_cover(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use)
{
    if (is_off(p))
        return;
    ac_p_order_touch(p, x, buf, index, n, use);
    if (!is_followed(p, buf))
        return;
    if (use == AC_USE_WRITE) {
        add(p, p->cover->open, (piece){.base = *index, .len = *n, .buf = buf});
    } else if (use == AC_USE_READ) {
        if (is_written(p, buf, index, n))
            ac_p_proven(p, AC_CLAIM_WRITTEN);
        else if (!ac_is_unreachable(&p->know))
            ac_p_doubt(p, x, AC_CLAIM_WRITTEN, false, "'%s' is read before it is certainly written",
                       p->fn->buf.item[buf].name);
    }
}

/* Has the step written all of its results, in all of its calls? */
void ac_p_cover_close(ac_prover *p, bool last)
{
    const ac_affine zero = {0};
    if (!p->results) {
        p->results = AC_NEW(p->keep, ac_cover);
        p->results->open = AC_NEW(p->keep, block);
        p->results->open->kept = true;
    }
    for (int32_t i = 0; i < p->cover->open->piece.n; i++) {
        const piece *s = &p->cover->open->piece.item[i];
        if (!s->base.n && !s->len.n && !s->n_guard && s->buf < p->call->n_arg)
            add(p, p->results->open, *s);
    }
    p->cover = p->results;
    for (int32_t b = 0; b < p->call->n_arg && last; b++) {
        if (p->fn->buf.item[b].role != AC_BUF_OUT || !p->count[b])
            continue;
        const ac_affine n = ac_affine_of(p->count[b]);
        if (is_written(p, b, &zero, &n))
            ac_p_proven(p, AC_CLAIM_WRITTEN);
        else
            ac_p_doubt(p, 0, AC_CLAIM_WRITTEN, false, "result '%s' is not certainly written as a whole",
                       p->fn->buf.item[b].name);
    }
}
