/* split.c - claims that hold for every part of a number's range, where they could not be shown for all of it at once.
 *
 * Intervals forget that two operands come from the same number: n and the position of its highest bit, a divisor and an
 * estimate of its reciprocal. So a value that a doubtful instruction depends on in several ways is chosen, its range is
 * cut (by powers of two, then evenly), and the function followed once for each part. What holds in all parts holds; and
 * the values that were seen in any of the parts are all there are, which narrows what is known for the next choice.
 *
 * The value has to be the same one wherever it is used: no variable may carry something from one iteration of a loop
 * around it to the next. */
#include "prove/by_channel.h"

enum { CHOICES = 64, CHOICES_OF_ONE = 8, EVEN_PARTS = 48, MOST_FAILING = 40, DEEPEST = 4000 };

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

/* Is x the same in everything that uses it? */
static bool is_of_one_iteration(const ac_prover *p, ac_x x)
{
    for (ac_x f = 1; f < x; f++) {
        if (ac_p_ins(p, f)->op != AC_L_FOR || p->end[f] < x)
            continue;
        for (ac_x k = f; k < p->end[f]; k++)
            if (ac_p_ins(p, k)->op == AC_L_SET && ac_p_ins(p, k)->aux < f)
                return false;
    }
    return true;
}

static bool can_split(const ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval in = p->refined[x];
    return i->lanes == 1 && i->op != AC_L_CONST && i->op != AC_L_FOR && ac_dtype_is_int((ac_dtype)i->dtype) &&
           in.lo < in.hi && in.lo != INT64_MIN && in.hi != INT64_MAX && !p->was_split[x];
}

/* The value to split: what the claim uses most often, at least twice; of several the first in the code. */
static ac_x choice(ac_prover *p, ac_x doubtful)
{
    slice s = {.uses = AC_NEW_N(p->keep, int32_t, p->fn->code.n + 1)};
    slice_of(p, &s, doubtful);
    ac_x best = 0;
    for (ac_x x = 1; x < doubtful; x++)
        if (s.uses[x] > 1 && s.uses[x] > s.uses[best] && can_split(p, x) && is_of_one_iteration(p, x))
            best = x;
    return best;
}

/* Up to the next power of two, or a part of even size. */
int64_t ac_p_part_end(int64_t lo, int64_t hi, int64_t at, bool even)
{
    const ac_interval in = {lo, hi};
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

static void split(ac_prover *p, ac_x x, bool even)
{
    const ac_interval in = p->refined[x];
    const int32_t n = p->fn->code.n;
    p->failed = AC_NEW_N(p->keep, bool, n + 1);
    p->seen = AC_NEW_N(p->keep, ac_interval, n + 1);
    p->was_seen = AC_NEW_N(p->keep, bool, n + 1);
    p->split = x;
    p->mute = true;
    ac_push(p->cx->region, &p->out->cut, ((ac_verdict_cut){p->step, x, in.lo, in.hi, even}));
    for (int64_t at = in.lo;;) {
        p->part = (ac_interval){at, ac_p_part_end(in.lo, in.hi, at, even)};
        ac_p_follow_all(p);
        if (p->part.hi >= in.hi)
            break;
        at = p->part.hi + 1;
    }
    p->mute = false;
    p->split = 0;
    for (ac_x k = 1; k < n; k++) {
        p->fine[k] |= !p->failed[k];
        if (p->was_seen[k])
            p->refined[k] = ac_interval_meet(p->refined[k], p->seen[k]);
    }
    p->failed = NULL;
    p->seen = NULL;
}

/* A pass over everything, that notes which instructions have doubts and what values are. */
static int32_t survey(ac_prover *p, ac_x *first, const bool **failed)
{
    int32_t n = 0;
    p->failed = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    p->seen = AC_NEW_N(p->keep, ac_interval, p->fn->code.n + 1);
    p->was_seen = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    p->mute = true;
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
    p->refined = AC_NEW_N(p->keep, ac_interval, n + 1);
    for (ac_x x = 0; x < n; x++)
        p->refined[x] = (ac_interval){INT64_MIN, INT64_MAX};
    ac_x first = 0;
    const bool *failed;
    while (survey(p, &first, &failed) && ac_p_by_channel(p, failed))
        ;
    for (int32_t k = 0, of_one = 0; k < CHOICES; k++) {
        const ac_x before = first;
        const int32_t failing = survey(p, &first, &failed);
        of_one = first == before ? of_one + 1 : 0;
        if (!failing || failing > MOST_FAILING || of_one > CHOICES_OF_ONE)
            return;
        const ac_x x = choice(p, first);
        if (!x)
            return;
        split(p, x, false);
        if (p->refined[x].hi / 4 <= p->refined[x].lo || p->refined[x].hi - p->refined[x].lo < EVEN_PARTS)
            split(p, x, true);
        p->was_split[x] = true;
    }
}
