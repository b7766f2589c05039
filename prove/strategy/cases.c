/* cases.c - chooses the value that a proof by cases cuts into parts, and the parts.
 *
 * Intervals forget that two operands come from the same number: n and the position of its highest bit, a divisor and an
 * estimate of its reciprocal. So a value that a doubtful instruction uses in several ways is chosen, and retry.c walks
 * the function once for each part of its range.
 *
 * The value has to be the same one in all its uses: no variable may carry anything of it from one iteration of a loop
 * around it to the next. */
#include "prove/strategy/cases.h"

#include "prove/facts/structure.h"
#include "prove/facts/survey.h"
#include "prove/strategy/strategies.h"

enum { DEEPEST = 4000, EVEN_PARTS = 48, CHOICES_OF_ONE = 8 /* values that are cut for one claim, and halved */ };

/* By instruction. */
typedef struct ac_cases {
    bool *cut;    /* its range was cut */
    ac_x *halved; /* the last claim that had its failing parts halved; 0: none */
} ac_cases;

void ac_p_cases_begin(ac_prover *p)
{
    p->cases = AC_NEW(p->keep, ac_cases);
    p->cases->cut = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    p->cases->halved = AC_NEW_N(p->keep, ac_x, p->fn->code.n + 1);
}

typedef struct slice {
    int32_t *uses; /* by instruction: number of uses in the slice of the claim */
    AC_VEC(ac_x) todo;
} slice;

static void add_to_slice(ac_prover *p, slice *s, ac_x x)
{
    if (x > 0 && !s->uses[x]++)
        ac_push(p->keep, &s->todo, x);
}

/* The slice of instruction x, through variables. */
static void slice_of(ac_prover *p, slice *s, ac_x x)
{
    add_to_slice(p, s, x);
    for (int32_t at = 0; at < s->todo.n && at < DEEPEST; at++) {
        const ac_ins *i = ac_p_ins(p, s->todo.item[at]);
        if (i->op == AC_L_FOR || i->op == AC_L_LOAD)
            continue;
        add_to_slice(p, s, i->a);
        add_to_slice(p, s, i->b);
        add_to_slice(p, s, i->c);
        if (i->op != AC_L_GET)
            continue;
        add_to_slice(p, s, ac_p_ins(p, i->aux)->a);
        for (ac_x k = i->aux; k < p->fn->code.n; k++)
            if (ac_p_ins(p, k)->op == AC_L_SET && ac_p_ins(p, k)->aux == i->aux)
                add_to_slice(p, s, ac_p_ins(p, k)->a);
    }
}

/* True if k uses an instruction that is on the list. */
static bool comes_of(const ac_prover *p, const bool *on, ac_x k)
{
    const ac_ins *i = ac_p_ins(p, k);
    return (i->a > 0 && on[i->a]) || (i->b > 0 && on[i->b]) || (i->c > 0 && on[i->c]) ||
           (i->op == AC_L_GET && on[i->aux]);
}

/* By instruction: its value, or whether it runs, depends on x; by VAR: its contents do. Memory is taken to hold any
 * value for any x. */
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

/* True if x is the same value in all its uses. */
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
    const ac_interval in = p->survey->refined[x];
    return i->lanes == 1 && i->op != AC_L_CONST && i->op != AC_L_FOR && ac_dtype_is_int((ac_dtype)i->dtype) &&
           in.lo < in.hi && in.lo != INT64_MIN && in.hi != INT64_MAX;
}

/* The value that the claim uses most often, at least twice, of those that were not chosen yet; the first of several. */
static ac_x choose(ac_prover *p, ac_x doubtful, bool halve)
{
    slice s = {.uses = AC_NEW_N(p->keep, int32_t, p->fn->code.n + 1)};
    slice_of(p, &s, doubtful);
    ac_x best = 0;
    for (ac_x x = 1; x < doubtful; x++) {
        const bool had = halve ? p->cases->halved[x] == doubtful : p->cases->cut[x];
        if (s.uses[x] > 1 && s.uses[x] > s.uses[best] && !had && can_split(p, x) && is_of_one_iteration(p, x))
            best = x;
    }
    if (best && halve)
        p->cases->halved[best] = doubtful;
    if (best)
        p->cases->cut[best] = true;
    return best;
}

bool ac_p_choose_cut(ac_prover *p, ac_x doubtful, int32_t tries, ac_cut *cut)
{
    *cut = (ac_cut){tries < CHOICES_OF_ONE ? choose(p, doubtful, false) : 0, false};
    if (!cut->value)
        *cut = (ac_cut){choose(p, doubtful, true), true};
    return cut->value;
}

bool ac_p_is_cut_evenly(ac_interval in)
{
    return in.hi / 4 <= in.lo || in.hi - in.lo < EVEN_PARTS;
}

int64_t ac_p_part_end(ac_interval in, int64_t at, bool even)
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
