/* overlap.c - claims that every element of an operand is read before an argument that shares bytes overwrites it.
 *
 * A write precedes a read of the same bytes in two cases: in an earlier iteration of a loop around both, with all outer
 * loops at the same iteration; or earlier in the code, with all common loops at the same iteration. In each case the
 * two must touch different bytes for all iterations of the inner loops. For an earlier iteration, the unknowns of the
 * read from that loop on are renamed, and its loop variable is at least one step larger. Conditions of branches are
 * ignored first, as the question is simpler without them; then the facts of both accesses are added, those of the read
 * renamed. Reads that no sum shows to be in order (a row of
 * a deconvolution is half of another, rounded) are left to the strategies of the point READS. */
#include "prove/strategy/overlap.h"

#include "prove/domain/digits.h"
#include "prove/domain/renaming.h"
#include "prove/facts/arguments.h"
#include "prove/facts/claims.h"
#include "prove/strategy/strategies.h"

enum { MOST_PAIRS = 40000 };

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

typedef struct ac_overlap {
    ac_link *loop;
    ac_side *side;
    AC_VEC(touch) touch;
    bool *overlaps; /* by argument: with another, and one of the two is written */
} ac_overlap;

void ac_p_overlap_open(ac_prover *p)
{
    const int32_t n = p->call->n_arg;
    p->overlap = AC_NEW(p->tmp, ac_overlap);
    p->overlap->overlaps = AC_NEW_N(p->tmp, bool, p->fn->buf.n + 1);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            p->overlap->overlaps[i] |= i != j &&
                                       (ac_p_arg_written(p->m, p->step, i) || ac_p_arg_written(p->m, p->step, j)) &&
                                       ac_p_args_overlap(p->m, p->step, i, j);
}

void ac_p_overlap_loop(ac_prover *p, ac_x x, int32_t counter, int32_t since)
{
    ac_link *l = AC_NEW(p->tmp, ac_link);
    *l = (ac_link){x, counter, since, 0, p->overlap->loop ? p->overlap->loop->depth + 1 : 1, p->overlap->loop};
    p->overlap->loop = l;
}

void ac_p_overlap_loop_end(ac_prover *p)
{
    p->overlap->loop->until = p->know.unknown.n;
    p->overlap->loop = p->overlap->loop->up;
}

void ac_p_overlap_side(ac_prover *p, ac_x branch, bool otherwise)
{
    ac_side *s = AC_NEW(p->tmp, ac_side);
    *s = (ac_side){branch, otherwise, otherwise ? p->overlap->side->up : p->overlap->side};
    p->overlap->side = s;
}

void ac_p_overlap_join(ac_prover *p)
{
    p->overlap->side = p->overlap->side->up;
}

void ac_p_overlap_use(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use)
{
    ac_overlap *t = p->overlap;
    if (!t->overlaps[buf])
        return;
    touch one = {x, buf, t->touch.n, use != AC_USE_READ, *index, *n, t->loop, t->side, NULL, p->know.fact.n};
    if (one.n_fact)
        one.fact = ac_copy(p->tmp, p->know.fact.item, (size_t)one.n_fact * sizeof *one.fact);
    ac_push(p->tmp, &t->touch, one);
}

/* ------------------------------------------------------------------ pairs */

typedef struct ac_access_pair {
    const touch *write, *read;
    int64_t distance; /* bytes from the read argument's first to the written one's */
    int64_t write_size, read_size;
    bool facts; /* the facts of both are added */
} ac_access_pair;

static void add_facts(ac_prover *p, const ac_affine *fact, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        ac_know_fact(&p->know, &fact[i]);
}

bool ac_p_apart_by_bounds(ac_prover *p, const ac_access_gap *g)
{
    const ac_affine after = ac_affine_add(&g->ahead, &g->rn, -1), before = ac_affine_add(&g->ahead, &g->wn, 1);
    return ac_is_at_most(&p->know, &before, 0) || ac_is_at_least(&p->know, &after, 0);
}

bool ac_p_has_facts(const ac_prover *p, const ac_access_gap *g)
{
    (void)p;
    return g->facts && !g->rn.n && !g->wn.n;
}

bool ac_p_apart_in_digits(ac_prover *p, const ac_access_gap *g)
{
    return ac_apart_in_digits(&p->know, &g->ahead, (g->rn.c > g->wn.c ? g->rn.c : g->wn.c) - 1);
}

static const struct {
    ac_strategy id;
    ac_gap_applies *applies;
    ac_gap_strategy *function;
} APART[] = {
#define AC_ROWS_APART(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

/* True if the write and the read, at read_index, share no byte. */
static bool are_apart(ac_prover *p, const ac_access_pair *q, const ac_affine *read_index)
{
    const ac_affine w = ac_affine_times(&q->write->index, q->write_size), r = ac_affine_times(read_index, q->read_size);
    ac_access_gap g = {.ahead = ac_affine_add(&w, &r, -1),
                       .rn = ac_affine_times(&q->read->n, q->read_size),
                       .wn = ac_affine_times(&q->write->n, q->write_size),
                       .facts = q->facts};
    g.ahead = ac_affine_plus(&g.ahead, q->distance);
    for (size_t i = 0; i < sizeof APART / sizeof *APART; i++)
        if (ac_p_on(p, APART[i].id) && (!APART[i].applies || APART[i].applies(p, &g)) && APART[i].function(p, &g))
            return true;
    return false;
}

/* The write in an earlier iteration of the loop. */
static bool apart_in_earlier_iteration(ac_prover *p, const ac_access_pair *q, const ac_link *loop)
{
    const int32_t known = p->know.unknown.n;
    const ac_unknown *u = &p->know.unknown.item[loop->counter];
    const int64_t step = u->step;
    const bool falls = u->falls;
    ac_renaming r;
    ac_renaming_open(&r, &p->know, loop->since, known);
    const ac_affine mine = ac_affine_unknown(loop->counter);
    const int32_t later = ac_renamed(&r, loop->counter);
    const ac_affine next = ac_affine_plus(&mine, falls ? -step : step);
    if (falls)
        ac_know_at_most(&p->know, later, 1, &next);
    else
        ac_know_at_least(&p->know, later, 1, &next);
    if (p->know.unknown.item[later].in.lo > p->know.unknown.item[later].in.hi) { /* no iteration comes later */
        p->know.unknown.n = known;
        return true;
    }
    /* ... and this iteration is not the last one */
    const ac_affine last = p->know.unknown.item[loop->counter].last;
    ac_affine left = falls ? ac_affine_add(&mine, &last, -1) : ac_affine_add(&last, &mine, -1);
    left = ac_affine_plus(&left, -step);
    const int32_t facts = p->know.fact.n, n_fact = q->facts ? q->read->n_fact : 0;
    ac_know_fact(&p->know, &left);
    /* the same, for questions that replace the older of the two */
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
    add_facts(p, sum, n_fact);
    ac_access_pair moved = *q;
    touch read = *q->read;
    read.n = ac_rename_sum(&r, &q->read->n);
    moved.read = &read;
    const bool fine = are_apart(p, &moved, &sum[n_fact]) || (q->facts && ac_is_unreachable(&p->know));
    p->know.fact.n = facts;
    p->know.unknown.n = known;
    return fine;
}

/* The innermost loop around both. */
static const ac_link *common_loop(const ac_link *a, const ac_link *b)
{
    while (a && b && a != b) {
        const int32_t da = a->depth, db = b->depth;
        a = da >= db ? a->up : a;
        b = db >= da ? b->up : b;
    }
    return a && b ? a : NULL;
}

/* True if the two are on different sides of one branch: an iteration runs only one of them. */
static bool are_exclusive(const ac_side *a, const ac_side *b)
{
    for (; a; a = a->up)
        for (const ac_side *s = b; s; s = s->up)
            if (s->branch == a->branch && s->otherwise != a->otherwise)
                return true;
    return false;
}

/* In the same iteration. */
static bool apart_in_same_iteration(ac_prover *p, const ac_access_pair *q)
{
    const int32_t facts = p->know.fact.n;
    if (q->facts)
        add_facts(p, q->read->fact, q->read->n_fact);
    const bool fine = are_apart(p, q, &q->read->index) || (q->facts && ac_is_unreachable(&p->know));
    p->know.fact.n = facts;
    return fine;
}

/* True if the write never precedes the read on the same byte. */
static bool is_in_order(ac_prover *p, ac_access_pair q)
{
    const ac_link *both = common_loop(q.write->loop, q.read->loop);
    const int32_t facts = p->know.fact.n;
    const bool in_turn = q.write->order < q.read->order && !are_exclusive(q.write->side, q.read->side);
    for (int with = 0; with < 2; with++) {
        q.facts = with;
        if (with)
            add_facts(p, q.write->fact, q.write->n_fact);
        bool fine = !in_turn || apart_in_same_iteration(p, &q);
        for (const ac_link *l = both; l && fine; l = l->up)
            fine = apart_in_earlier_iteration(p, &q, l);
        p->know.fact.n = facts;
        if (fine)
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

static const struct {
    ac_strategy id;
    ac_reads_strategy *function;
} READS[] = {
#define AC_ROWS_READS(id, applies, function) {id, function},
#include "prove/strategy/rows.h"
};

/* q.read with the writes of argument b among touches from .. to - 1. */
static bool is_in_order_with(ac_prover *p, ac_access_pair *q, int32_t b, int32_t from, int32_t to, int32_t *pairs)
{
    for (int32_t i = from; i < to; i++) {
        q->write = &p->overlap->touch.item[i];
        if (q->write->buf == b && q->write->writes && (++*pairs > MOST_PAIRS || !is_in_order(p, *q)))
            return false;
    }
    return true;
}

static bool are_all_in_order(ac_prover *p, int32_t read, int32_t written, int64_t distance)
{
    for (size_t r = 0; r < sizeof READS / sizeof *READS; r++)
        if (ac_p_on(p, READS[r].id) && READS[r].function(p, read, written, distance))
            return true;
    return false;
}

/* Reads of argument a and writes of argument b. A read is compared with all writes in its outermost loop, and with
 * those before that loop: many if a schedule was unrolled, which mostly are at other bytes altogether. */
static void claim_pair(ac_prover *p, int32_t a, int32_t b)
{
    const ac_overlap *t = p->overlap;
    const ac_loop_fn *fn = p->fn;
    ac_access_pair q = {.distance = p->call->arg[b].offset - p->call->arg[a].offset,
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
            if (are_all_in_order(p, a, b, q.distance))
                break;
            ac_p_doubt(p, one->x, AC_CLAIM_ORDER, false,
                       "'%s' may be read where '%s' (%%%d) has been written, %lld bytes on", fn->buf.item[a].name,
                       fn->buf.item[b].name, q.write->x, (long long)q.distance);
            return;
        }
    }
    ac_p_proven(p, AC_CLAIM_ORDER);
}

void ac_p_overlap_close(ac_prover *p)
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
