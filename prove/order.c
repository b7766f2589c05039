/* order.c - arguments that share bytes: is every element of an operand read before another argument's element is
 * written over it?
 *
 * For a write and a read of bytes that may be the same there are two ways in which the write comes first: in an earlier
 * iteration of a loop around both, those further out being the same, or before it in the code with all common loops at
 * the same iteration. In each case the two have to touch different bytes whatever the loops inside are at: so for an
 * earlier iteration everything that the read knows from that loop on is renamed, and its loop variable is at least a
 * step further. Conditions of if are left out at first, as the question is easier to answer without; then what is true
 * where each of the two is done is said too, of the read in the names of its own iteration. What no sum says of all
 * iterations at once (which row of a deconvolution is half of another, rounded) is asked of halves of the iterations of
 * a loop around both, down to single ones, where unknowns have narrower intervals. */
#include "prove/bytes.h"
#include "prove/cover.h"
#include "prove/domain/digits.h"
#include "prove/domain/renaming.h"

enum { MOST_PAIRS = 40000, MOST_CASES = 1 << 16 };

/* A loop that is open. */
typedef struct ac_link {
    ac_x x;
    int32_t counter, since, until; /* unknowns from `since` on, before `until`, belong to an iteration */
    int32_t depth;                 /* 1: outermost */
    struct ac_link *up;
} ac_link;

/* A side of a branch that is open. */
typedef struct ac_side {
    ac_x branch;
    bool otherwise;
    struct ac_side *up;
} ac_side;

typedef struct touch {
    ac_x x;
    int32_t buf, order;
    bool writes;
    ac_affine index, n;
    const ac_link *loop;
    const ac_side *side;
    const ac_affine *fact; /* true where it is done */
    int32_t n_fact;
} touch;

typedef struct ac_touches {
    ac_link *loop;
    ac_side *side;
    AC_VEC(touch) touch;
    bool *overlaps; /* by argument: with another, and one of the two is written */
} ac_touches;

void ac_p_order_open(ac_prover *p)
{
    const int32_t n = p->call->n_arg;
    p->touches = AC_NEW(p->tmp, ac_touches);
    p->touches->overlaps = AC_NEW_N(p->tmp, bool, p->fn->buf.n + 1);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            p->touches->overlaps[i] |= i != j &&
                                       (ac_p_arg_written(p->m, p->step, i) || ac_p_arg_written(p->m, p->step, j)) &&
                                       ac_p_args_overlap(p->m, p->step, i, j);
}

void ac_p_order_loop(ac_prover *p, ac_x x, int32_t counter, int32_t since)
{
    ac_link *l = AC_NEW(p->tmp, ac_link);
    *l = (ac_link){x, counter, since, 0, p->touches->loop ? p->touches->loop->depth + 1 : 1, p->touches->loop};
    p->touches->loop = l;
}

void ac_p_order_end(ac_prover *p)
{
    p->touches->loop->until = p->know.unknown.n;
    p->touches->loop = p->touches->loop->up;
}

void ac_p_order_side(ac_prover *p, ac_x branch, bool otherwise)
{
    ac_side *s = AC_NEW(p->tmp, ac_side);
    *s = (ac_side){branch, otherwise, otherwise ? p->touches->side->up : p->touches->side};
    p->touches->side = s;
}

void ac_p_order_joined(ac_prover *p)
{
    p->touches->side = p->touches->side->up;
}

void ac_p_order_touch(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use)
{
    ac_touches *t = p->touches;
    if (!t->overlaps[buf])
        return;
    touch one = {x, buf, t->touch.n, use != AC_USE_READ, *index, *n, t->loop, t->side, NULL, p->know.fact.n};
    if (one.n_fact)
        one.fact = ac_copy(p->tmp, p->know.fact.item, (size_t)one.n_fact * sizeof *one.fact);
    ac_push(p->tmp, &t->touch, one);
}

/* Some iterations of a loop by themselves: unknowns from its counter on have the intervals that they have there. */
typedef struct some_iterations {
    const ac_link *loop;
    const ac_interval *any;           /* by unknown from the counter on: in any iteration */
    const struct some_iterations *of; /* of a loop further out; NULL: of any */
} some_iterations;

/* ------------------------------------------------------------------ pairs */

typedef struct pair {
    const touch *write, *read;
    int64_t distance; /* bytes from the read argument's first to the written one's */
    int64_t write_size, read_size;
    bool facts;                /* what is true where they are done is said */
    const some_iterations *in; /* that the write is done in; NULL: any */
} pair;

static void say(ac_prover *p, const ac_affine *fact, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        ac_know_fact(&p->know, &fact[i]);
}

static int64_t size_of(ac_term t)
{
    return t.k == INT64_MIN ? INT64_MAX : t.k < 0 ? -t.k : t.k;
}

/* ahead = g * x + y: where rn <= y <= g - wn, whatever x is, the two are apart: rows that are interleaved. g is what
 * divides the largest coefficients, as many of them as there may be. */
static bool apart_in_rows(ac_prover *p, const ac_affine *ahead, const ac_affine *rn, const ac_affine *wn)
{
    for (int32_t t = 0; t < ahead->n; t++) {
        int64_t g = 0;
        for (int32_t i = 0; i < ahead->n; i++)
            g = size_of(ahead->term[i]) >= size_of(ahead->term[t]) ? ac_gcd(size_of(ahead->term[i]), g) : g;
        ac_affine y = ac_affine_of(ahead->c);
        for (int32_t i = 0; i < ahead->n; i++)
            if (ahead->term[i].k % g)
                y.term[y.n++] = ahead->term[i];
        const ac_interval in = ac_affine_interval(&p->know, &y);
        if (in.lo == INT64_MIN || in.hi == INT64_MAX)
            continue;
        for (int64_t row = in.lo / g - 1; row <= in.hi / g + 1 && row < in.lo / g + 4; row++) {
            const ac_affine at = ac_affine_plus(&y, -row * g), after = ac_affine_add(&at, rn, -1),
                            before = ac_affine_add(&at, wn, 1);
            if (ac_is_at_least(&p->know, &after, 0) && ac_is_at_most(&p->know, &before, g))
                return true;
        }
    }
    return false;
}

/* Are the bytes apart? */
static bool apart(ac_prover *p, const pair *q, const ac_affine *read_index)
{
    const ac_affine w = ac_affine_times(&q->write->index, q->write_size),
                    wn = ac_affine_times(&q->write->n, q->write_size), r = ac_affine_times(read_index, q->read_size),
                    rn = ac_affine_times(&q->read->n, q->read_size);
    ac_affine ahead = ac_affine_add(&w, &r, -1); /* of the write before the read */
    ahead = ac_affine_plus(&ahead, q->distance);
    const ac_affine after = ac_affine_add(&ahead, &rn, -1), before = ac_affine_add(&ahead, &wn, 1);
    return ac_is_at_most(&p->know, &before, 0) || ac_is_at_least(&p->know, &after, 0) ||
           apart_in_rows(p, &ahead, &rn, &wn) ||
           (q->facts && !q->in && !rn.n && !wn.n &&
            ac_apart_in_digits(&p->know, &ahead, (rn.c > wn.c ? rn.c : wn.c) - 1));
}

/* The write in an earlier iteration of the loop. */
static bool apart_later(ac_prover *p, const pair *q, const ac_link *loop)
{
    const int32_t known = p->know.unknown.n;
    const ac_unknown *u = &p->know.unknown.item[loop->counter];
    const int64_t step = u->step;
    const bool falls = u->falls;
    ac_renaming r;
    ac_renaming_open(&r, &p->know, loop->since, known);
    for (const some_iterations *in = q->in; in && loop->depth <= in->loop->depth; in = in->of) {
        r.any = in->any; /* it may be of other iterations than these */
        r.from = in->loop->counter;
        r.until = in->loop->until;
    }
    const ac_affine mine = ac_affine_unknown(loop->counter);
    const int32_t later = ac_renamed(&r, loop->counter);
    const ac_affine next = ac_affine_plus(&mine, falls ? -step : step);
    if (falls)
        ac_know_at_most(&p->know, later, 1, &next);
    else
        ac_know_at_least(&p->know, later, 1, &next);
    if (p->know.unknown.item[later].in.lo > p->know.unknown.item[later].in.hi) { /* there is none */
        p->know.unknown.n = known;
        return true;
    }
    /* ... and this iteration is not the last one */
    const ac_affine last = p->know.unknown.item[loop->counter].last;
    ac_affine left = falls ? ac_affine_add(&mine, &last, -1) : ac_affine_add(&last, &mine, -1);
    left = ac_affine_plus(&left, -step);
    const int32_t facts = p->know.fact.n, n_fact = q->facts ? q->read->n_fact : 0;
    ac_know_fact(&p->know, &left);
    /* the same, for what is asked of the older of the two */
    const ac_affine now = ac_affine_unknown(later);
    ac_affine ahead = falls ? ac_affine_add(&mine, &now, -1) : ac_affine_add(&now, &mine, -1);
    ahead = ac_affine_plus(&ahead, -step);
    ac_know_fact(&p->know, &ahead);
    ac_affine *sum = AC_NEW_N(p->tmp, ac_affine, n_fact + 1);
    if (n_fact)
        memcpy(sum, q->read->fact, (size_t)n_fact * sizeof *sum);
    sum[n_fact] = q->read->index;
    ac_rename_all(&r, sum, n_fact + 1);
    for (int32_t i = 0; i <= n_fact; i++)
        sum[i] = ac_rename_sum(&r, &sum[i]);
    say(p, sum, n_fact);
    pair moved = *q;
    touch read = *q->read;
    read.n = ac_rename_sum(&r, &q->read->n);
    moved.read = &read;
    const bool fine = apart(p, &moved, &sum[n_fact]) || (q->facts && ac_is_unreachable(&p->know));
    p->know.fact.n = facts;
    p->know.unknown.n = known;
    return fine;
}

/* The innermost loop around both. */
static const ac_link *common(const ac_link *a, const ac_link *b)
{
    while (a && b && a != b) {
        const int32_t da = a->depth, db = b->depth;
        a = da >= db ? a->up : a;
        b = db >= da ? b->up : b;
    }
    return a && b ? a : NULL;
}

/* On the two sides of one branch: of an iteration, only one of them is run. */
static bool is_either(const ac_side *a, const ac_side *b)
{
    for (; a; a = a->up)
        for (const ac_side *s = b; s; s = s->up)
            if (s->branch == a->branch && s->otherwise != a->otherwise)
                return true;
    return false;
}

/* In the same iteration. */
static bool apart_now(ac_prover *p, const pair *q)
{
    const int32_t facts = p->know.fact.n;
    if (q->facts)
        say(p, q->read->fact, q->read->n_fact);
    const bool fine = apart(p, q, &q->read->index) || (q->facts && ac_is_unreachable(&p->know));
    p->know.fact.n = facts;
    return fine;
}

static bool is_in_order(ac_prover *p, pair q)
{
    const ac_link *both = common(q.write->loop, q.read->loop);
    const int32_t facts = p->know.fact.n;
    const bool in_turn = q.write->order < q.read->order && !is_either(q.write->side, q.read->side);
    for (int with = 0; with < 2; with++) {
        q.facts = with;
        if (with)
            say(p, q.write->fact, q.write->n_fact);
        bool fine = !in_turn || apart_now(p, &q);
        for (const ac_link *l = both; l && fine; l = l->up)
            fine = apart_later(p, &q, l);
        p->know.fact.n = facts;
        if (fine)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ some iterations by themselves */

static bool is_in_order_by_cases(ac_prover *p, const pair *q, int32_t *pairs);

/* With the unknowns of the loop as they are in the iterations in which its variable is within `in`. */
static bool is_in_order_within(ac_prover *p, pair q, const ac_link *loop, ac_interval in, int32_t *pairs)
{
    ac_unknown *unknown = p->know.unknown.item;
    const int32_t n = loop->until - loop->counter;
    ac_interval *any = AC_NEW_N(p->tmp, ac_interval, n + 1);
    for (int32_t i = 0; i < n; i++)
        any[i] = unknown[loop->counter + i].in;
    unknown[loop->counter].in = in;
    for (int32_t u = loop->counter + 1; u < loop->until; u++)
        unknown[u].in = ac_know_within(&p->know, u);
    const some_iterations they = {loop, any, q.in};
    q.in = &they;
    const bool fine = is_in_order(p, q) || (in.lo == in.hi && is_in_order_by_cases(p, &q, pairs));
    for (int32_t i = 0; i < n; i++)
        p->know.unknown.item[loop->counter + i].in = any[i];
    return fine;
}

/* In iterations from .. to - 1, together or each half by itself. */
static bool is_in_order_by_halves(ac_prover *p, const pair *q, const ac_link *loop, int64_t from, int64_t to,
                                  int32_t *pairs)
{
    const ac_unknown u = p->know.unknown.item[loop->counter];
    const int64_t half = from + (to - from) / 2;
    const ac_interval in = {u.first.c + u.step * (u.falls ? 1 - to : from),
                            u.first.c + u.step * (u.falls ? -from : to - 1)};
    return ++*pairs <= MOST_PAIRS && (is_in_order_within(p, *q, loop, ac_interval_meet(u.in, in), pairs) ||
                                      (from < half && is_in_order_by_halves(p, q, loop, from, half, pairs) &&
                                       is_in_order_by_halves(p, q, loop, half, to, pairs)));
}

/* In iterations of a loop around both that are looked at by themselves; within one of those, of a loop further in. */
static bool is_in_order_by_cases(ac_prover *p, const pair *q, int32_t *pairs)
{
    const int32_t depth = q->in ? q->in->loop->depth : 0;
    for (const ac_link *l = common(q->write->loop, q->read->loop); l && l->depth > depth; l = l->up) {
        const ac_unknown u = p->know.unknown.item[l->counter];
        const int64_t n = (u.falls ? u.first.c - u.in.lo : u.in.hi - u.first.c) / u.step + 1;
        if (!u.first.lost && !u.first.n && n > 1 && n <= MOST_CASES && is_in_order_by_halves(p, q, l, 0, n, pairs))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ claims */

/* Bytes that a touch may reach, from the first of its argument; ends that are not known are those of int64_t. */
static ac_interval bytes_of(ac_prover *p, const touch *t, int64_t size)
{
    const ac_affine end = ac_affine_add(&t->index, &t->n, 1);
    return (ac_interval){ac_sat_mul(ac_affine_interval(&p->know, &t->index).lo, size),
                         ac_sat_mul(ac_affine_interval(&p->know, &end).hi, size)};
}

static const ac_link *outermost(const touch *t)
{
    const ac_link *l = t->loop;
    while (l && l->up)
        l = l->up;
    return l;
}

/* q.read with the writes of argument b among touches from .. to - 1. */
static bool is_in_order_with(ac_prover *p, pair *q, int32_t b, int32_t from, int32_t to, int32_t *pairs)
{
    for (int32_t i = from; i < to; i++) {
        q->write = &p->touches->touch.item[i];
        if (q->write->buf == b && q->write->writes &&
            (++*pairs > MOST_PAIRS || (!is_in_order(p, *q) && !is_in_order_by_cases(p, q, pairs))))
            return false;
    }
    return true;
}

/* Reads of argument a and writes of argument b. A read has to be compared with all writes in its outermost loop, and
 * with those before that loop; these are many where a schedule was followed, and mostly lie apart as a whole. */
static void claim_pair(ac_prover *p, int32_t a, int32_t b)
{
    const ac_touches *t = p->touches;
    const ac_loop_fn *fn = p->fn;
    pair q = {.distance = p->call->arg[b].offset - p->call->arg[a].offset,
              .write_size = ac_dtype_size(fn->buf.item[b].dtype, 1),
              .read_size = ac_dtype_size(fn->buf.item[a].dtype, 1)};
    const ac_interval nothing = {INT64_MAX, INT64_MIN};
    ac_interval written = nothing, more = nothing; /* by the writes before, and of, the loop at work, as bytes of a */
    int32_t pairs = 0, group = 0, after = 0;       /* touches of the outermost loop at work */
    for (int32_t k = 0; k < t->touch.n; k++) {
        const touch *one = &t->touch.item[k];
        if (k >= after) {
            const ac_link *loop = outermost(one);
            group = k;
            written = ac_interval_join(written, more);
            more = nothing;
            for (after = k + 1; loop && after < t->touch.n && outermost(&t->touch.item[after]) == loop;)
                after++;
        }
        if (one->buf == b && one->writes) {
            const ac_interval at = bytes_of(p, one, q.write_size), by = {q.distance, q.distance};
            more = ac_interval_join(more, ac_interval_add(at, by));
        }
        if (one->buf != a || one->writes)
            continue;
        const ac_interval at = bytes_of(p, one, q.read_size);
        const bool apart = written.hi <= at.lo || at.hi <= written.lo;
        q.read = one;
        if (!is_in_order_with(p, &q, b, apart ? group : 0, after, &pairs)) {
            if (ac_p_walked_in_order(p, a, b, q.distance))
                break;
            ac_p_doubt(p, one->x, AC_CLAIM_ORDER, false,
                       "'%s' may be read where '%s' (%%%d) has been written, %lld bytes on", fn->buf.item[a].name,
                       fn->buf.item[b].name, q.write->x, (long long)q.distance);
            return;
        }
    }
    ac_p_proven(p, AC_CLAIM_ORDER);
}

void ac_p_order_close(ac_prover *p)
{
    const int32_t n = p->call->n_arg;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            if (a == b || !ac_p_args_overlap(p->m, p->step, a, b) || !ac_p_arg_written(p->m, p->step, b))
                continue;
            if (!ac_p_arg_written(p->m, p->step, a))
                claim_pair(p, a, b);
            else if (a < b)
                ac_p_doubt(p, 0, AC_CLAIM_ORDER, false, "'%s' and '%s' share bytes, and both are written",
                           p->fn->buf.item[a].name, p->fn->buf.item[b].name);
        }
}
