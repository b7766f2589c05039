/* split.c - claims that hold for every part of a number's range, where they could not be shown for all of it at once.
 *
 * Intervals forget that two operands come from the same number: n and the position of its highest bit, a divisor and an
 * estimate of its reciprocal. So a value that a doubtful instruction depends on in several ways is chosen, its range is
 * cut (by powers of two, then evenly; at last into halves of those parts in which the claim fails), and the function
 * followed once for each part. What holds in all parts holds; and the values that were seen in any of the parts are all
 * there are, which narrows what is known for the next choice.
 *
 * The value has to be the same one wherever it is used: no variable may carry something of it from one iteration of a
 * loop around it to the next. */
#include "prove/by_channel.h"

enum {
    CHOICES = 64,
    CHOICES_OF_ONE = 8, /* each, to be cut and to be halved */
    EVEN_PARTS = 48,
    MOST_HALVES = 1 << 10,
    HALVES_IN_VAIN = 32,
    MOST_FAILING = 40,
    DEEPEST = 4000
};

typedef struct slice {
    int32_t *uses; /* by instruction: how often it is used by what the claim depends on; 0: not at all */
    AC_VEC(ac_x) todo;
} slice;

static void need(ac_prover *p, slice *s, ac_x x)
{
    if (x > 0 && !s->uses[x]++)
        ac_push(p->keep, &s->todo, x);
}

/* Everything that instruction x depends on, through variables too. */
static void slice_of(ac_prover *p, slice *s, ac_x x)
{
    need(p, s, x);
    for (int32_t at = 0; at < s->todo.n && at < DEEPEST; at++) {
        const ac_ins *i = ac_p_ins(p, s->todo.item[at]);
        if (i->op == AC_L_FOR || i->op == AC_L_LOAD)
            continue;
        need(p, s, i->a);
        need(p, s, i->b);
        need(p, s, i->c);
        if (i->op != AC_L_GET)
            continue;
        need(p, s, ac_p_ins(p, i->aux)->a);
        for (ac_x k = i->aux; k < p->fn->code.n; k++)
            if (ac_p_ins(p, k)->op == AC_L_SET && ac_p_ins(p, k)->aux == i->aux)
                need(p, s, ac_p_ins(p, k)->a);
    }
}

/* Has x a part in k, on which of the instructions before it is known? */
static bool comes_of(const ac_prover *p, const bool *on, ac_x k)
{
    const ac_ins *i = ac_p_ins(p, k);
    return (i->a > 0 && on[i->a]) || (i->b > 0 && on[i->b]) || (i->c > 0 && on[i->c]) ||
           (i->op == AC_L_GET && on[i->aux]);
}

/* By instruction, and of variables in what they hold: has x a part in it, or in whether it is run? What was stored in
 * memory may be anything, whatever x is. */
static bool *depending_on(const ac_prover *p, ac_x x)
{
    const int32_t n = p->fn->code.n;
    bool *on = AC_NEW_N(p->keep, bool, n + 1);
    on[x] = true;
    for (bool more = true; more;) {
        int32_t closed = 0; /* the end of a block that x opens */
        more = false;
        for (ac_x k = 1; k < n; k++) {
            const ac_ins *i = ac_p_ins(p, k);
            const bool is_new = !on[k] && (k < closed || comes_of(p, on, k));
            on[k] |= is_new;
            more |= is_new;
            if (on[k] && (i->op == AC_L_FOR || i->op == AC_L_IF) && ac_p_end(p, k) > closed)
                closed = ac_p_end(p, k);
            const ac_x to = !on[k]                   ? 0
                            : i->op == AC_L_SET      ? i->aux
                            : i->op == AC_L_BREAK_IF ? ac_p_loop_around(p, k)
                                                     : 0;
            if (to > 0 && !on[to])
                more = on[to] = true;
        }
    }
    return on;
}

/* Is x the same in everything that uses it? */
static bool is_of_one_iteration(const ac_prover *p, ac_x x)
{
    const bool *on = NULL;
    for (ac_x f = 1; f < x; f++) {
        if (ac_p_ins(p, f)->op != AC_L_FOR || p->end[f] < x)
            continue;
        on = on ? on : depending_on(p, x);
        for (ac_x k = f; k < p->end[f]; k++)
            if (ac_p_ins(p, k)->op == AC_L_SET && ac_p_ins(p, k)->aux < f && on[ac_p_ins(p, k)->aux])
                return false;
    }
    return true;
}

static bool can_split(const ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval in = p->refined[x];
    return i->lanes == 1 && i->op != AC_L_CONST && i->op != AC_L_FOR && ac_dtype_is_int((ac_dtype)i->dtype) &&
           in.lo < in.hi && in.lo != INT64_MIN && in.hi != INT64_MAX;
}

/* The value to cut, or whose parts to halve: what the claim uses most often, at least twice; of several the first. */
static ac_x choice(ac_prover *p, ac_x doubtful, bool halve)
{
    slice s = {.uses = AC_NEW_N(p->keep, int32_t, p->fn->code.n + 1)};
    slice_of(p, &s, doubtful);
    ac_x best = 0;
    for (ac_x x = 1; x < doubtful; x++) {
        const bool had = halve ? p->halved[x] == doubtful : p->was_split[x];
        if (s.uses[x] > 1 && s.uses[x] > s.uses[best] && !had && can_split(p, x) && is_of_one_iteration(p, x))
            best = x;
    }
    return best;
}

/* Up to the next power of two, or a part of even size. */
static int64_t part_end(ac_interval in, int64_t at, bool even)
{
    if (even) {
        const int64_t size = in.hi / EVEN_PARTS - in.lo / EVEN_PARTS + 1;
        return in.hi - at < size ? in.hi : at + size - 1;
    }
    if (at < 0)
        return at == -1 ? -1 : at / 2 - (at % 2 != 0) < in.hi ? at / 2 - (at % 2 != 0) : in.hi;
    int64_t end = 0;
    while (end < at)
        end = end * 2 + 1;
    return end < in.hi ? end : in.hi;
}

/* What was met in parts: claims that failed, and values. */
typedef struct parts {
    bool *failed, *was_seen;
    ac_interval *seen;
    ac_verdict_cut cut;
    ac_x claim;     /* a part in which it fails is halved, */
    int32_t halved; /* as often as this so far */
    bool helps;
} parts;

static bool may_halve(const parts *all, ac_interval in)
{
    return all->claim && in.lo < in.hi && all->halved < (all->helps ? MOST_HALVES : HALVES_IN_VAIN);
}

static void follow_part(ac_prover *p, parts *all, ac_interval in)
{
    const int32_t n = p->fn->code.n;
    memset(p->failed, 0, (size_t)n * sizeof *p->failed);
    memset(p->was_seen, 0, (size_t)n * sizeof *p->was_seen);
    p->part = in;
    ac_p_follow_all(p);
    all->helps |= all->claim && !p->failed[all->claim];
    if (p->failed[all->claim] && may_halve(all, in)) {
        const int64_t half = in.lo + (in.hi - in.lo) / 2;
        all->halved++;
        follow_part(p, all, (ac_interval){in.lo, half});
        follow_part(p, all, (ac_interval){half + 1, in.hi});
        return;
    }
    ac_push(p->cx->region, &all->cut.end, in.hi);
    for (ac_x k = 1; k < n; k++) {
        all->failed[k] |= p->failed[k];
        if (p->was_seen[k])
            all->seen[k] = all->was_seen[k] ? ac_interval_join(all->seen[k], p->seen[k]) : p->seen[k];
        all->was_seen[k] |= p->was_seen[k];
    }
}

static void open_notes(ac_prover *p)
{
    const int32_t n = p->fn->code.n + 1;
    p->failed = AC_NEW_N(p->keep, bool, n);
    p->seen = AC_NEW_N(p->keep, ac_interval, n);
    p->was_seen = AC_NEW_N(p->keep, bool, n);
    p->mute = true;
}

/* Of a value that was cut before, parts of both: a certificate has one cut of it. */
static void note_cut(ac_prover *p, ac_verdict_cut cut)
{
    ac_verdict *v = p->out;
    for (int32_t i = 0; i < v->cut.n; i++) {
        const ac_verdict_cut old = v->cut.item[i];
        if (old.step != cut.step || old.ins != cut.ins)
            continue;
        ac_verdict_cut both = {cut.step, cut.ins, cut.lo, {0}};
        const int64_t last = cut.end.item[cut.end.n - 1];
        for (int32_t a = 0, b = 0; b < cut.end.n;) {
            const int64_t of_old = a < old.end.n ? old.end.item[a] : last, of_new = cut.end.item[b];
            const int64_t end = of_old < of_new ? of_old : of_new;
            a += of_old == end;
            b += of_new == end;
            if (end >= cut.lo)
                ac_push(p->cx->region, &both.end, end);
        }
        v->cut.item[i] = both;
        return;
    }
    ac_push(p->cx->region, &v->cut, cut);
}

/* `claim`: the parts in which it fails are halved; 0: none. A cut that shows something of what `failed` is noted. */
static void split(ac_prover *p, ac_x x, bool even, ac_x claim, const bool *failed)
{
    const ac_interval in = p->refined[x];
    open_notes(p);
    parts all = {p->failed, p->was_seen, p->seen, {p->step, x, in.lo, {0}}, claim, 0, false};
    open_notes(p);
    p->split = x;
    for (int64_t at = in.lo, end; at <= in.hi; at = end + 1) {
        end = part_end(in, at, even);
        follow_part(p, &all, (ac_interval){at, end});
    }
    p->mute = false;
    p->split = 0;
    p->failed = NULL;
    p->seen = NULL;
    if (claim && !all.helps)
        return;
    bool shows = false;
    for (ac_x k = 1; k < p->fn->code.n; k++) {
        shows |= !p->fine[k] && failed[k] && !all.failed[k];
        p->fine[k] |= !all.failed[k];
        if (all.was_seen[k])
            p->refined[k] = ac_interval_meet(p->refined[k], all.seen[k]);
    }
    if (shows)
        note_cut(p, all.cut);
}

/* A pass over everything, that notes which instructions have doubts and what values are. */
static int32_t survey(ac_prover *p, ac_x *first, const bool **failed)
{
    int32_t n = 0;
    open_notes(p);
    ac_p_follow_all(p);
    p->mute = false;
    for (ac_x x = p->fn->code.n - 1; x > 0; x--) {
        if (p->was_seen[x])
            p->refined[x] = ac_interval_meet(p->refined[x], p->seen[x]);
        if (p->failed[x] && !p->fine[x]) {
            *first = x;
            n++;
        }
    }
    *failed = p->failed;
    p->failed = NULL;
    p->seen = NULL;
    return n;
}

void ac_p_split(ac_prover *p)
{
    const int32_t n = p->fn->code.n;
    p->fine = AC_NEW_N(p->keep, bool, n + 1);
    p->was_split = AC_NEW_N(p->keep, bool, n + 1);
    p->halved = AC_NEW_N(p->keep, ac_x, n + 1);
    p->refined = AC_NEW_N(p->keep, ac_interval, n + 1);
    for (ac_x x = 0; x < n; x++)
        p->refined[x] = (ac_interval){INT64_MIN, INT64_MAX};
    ac_x first = 0;
    const bool *failed;
    while (survey(p, &first, &failed) && ac_p_by_channel(p, failed))
        p->out->by_element[p->step] = true;
    for (int32_t k = 0, of_one = 0; k < CHOICES; k++) {
        const ac_x before = first;
        const int32_t failing = survey(p, &first, &failed);
        of_one = first == before ? of_one + 1 : 0;
        if (!failing || failing > MOST_FAILING || of_one > 2 * CHOICES_OF_ONE)
            return;
        ac_x x = of_one < CHOICES_OF_ONE ? choice(p, first, false) : 0;
        const bool halve = !x;
        x = halve ? choice(p, first, true) : x;
        if (!x)
            return;
        if (halve)
            p->halved[x] = first;
        p->was_split[x] = true;
        split(p, x, false, halve ? first : 0, failed);
        if (halve)
            continue;
        if (p->refined[x].hi / 4 <= p->refined[x].lo || p->refined[x].hi - p->refined[x].lo < EVEN_PARTS)
            split(p, x, true, 0, failed);
    }
}
