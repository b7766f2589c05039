/* schedule.c - loops that are a schedule: which of their branches is taken is said by variables that an iteration
 * leaves to the next, and no data has a part in it. Stripes are such: `next` counts the rows of each of their steps.
 *
 * What holds at the start of every iteration of one says little of any (row 7 of one step, then row 3 of the one after
 * it). So it is followed iteration by iteration, as if it stood there that many times, with numbers in those variables;
 * of each branch one side is left. */
#include "prove/prover.h"

enum { MOST_WORK = 1 << 26 }; /* instructions that are followed at most */

static bool mark(bool *list, ac_x x, bool by)
{
    const bool is_new = by && !list[x];
    list[x] |= by;
    return is_new;
}

/* The number of a call and what calls keep are none. */
static bool loads_data(const ac_prover *p, const ac_ins *i)
{
    const bool in_turn = p->chunk >= 0 && i->op == AC_L_LOAD && i->aux < p->call->n_arg &&
                         (p->call->arg[i->aux].space == AC_SPACE_CHUNK || ac_p_has_numbers(p, i->aux));
    return i->op == AC_L_LOAD && !in_turn && p->fn->buf.item[i->aux].role != AC_BUF_CONST;
}

/* It is left early, if where that is written it is certain: BREAK_IF true. */
static bool breaks_surely(const ac_prover *p, ac_x loop)
{
    for (ac_x x = loop + 1; x < p->end[loop]; x = ac_p_ins(p, x)->op == AC_L_FOR ? p->end[x] + 1 : x + 1) {
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_BREAK_IF && (ac_p_ins(p, i->a)->op != AC_L_CONST || !ac_p_ins(p, i->a)->k.i))
            return false;
    }
    return true;
}

/* By instruction: does what memory holds have a part in it, or in whether it is run? Of a variable: in what it holds.
 * Floats, too, count as that; integers of constants do not, as shapes are that calls of a shared kernel take. */
static bool *by_data(const ac_prover *p)
{
    const int32_t n = p->fn->code.n;
    bool *data = AC_NEW_N(p->keep, bool, n + 1);
    for (bool more = true; more;) {
        more = false;
        int32_t closed = 0; /* the end of the outermost block that data opens */
        for (ac_x x = 1; x < n; x++) {
            const ac_ins *i = ac_p_ins(p, x);
            bool by = loads_data(p, i) || x < closed || (i->lanes && ac_dtype_is_float((ac_dtype)i->dtype));
            by |= (i->a > 0 && data[i->a]) || (i->b > 0 && data[i->b]) || (i->c > 0 && data[i->c]);
            by |= i->op == AC_L_GET && data[i->aux];
            more |= mark(data, x, by);
            if (i->op == AC_L_SET)
                more |= mark(data, i->aux, data[x]);
            if (data[x] && (i->op == AC_L_FOR || i->op == AC_L_IF) && ac_p_end(p, x) > closed)
                closed = ac_p_end(p, x);
        }
    }
    return data;
}

/* Is there a branch that variables decide which an iteration leaves to the next, and nothing else that changes? */
static bool is_schedule(ac_prover *p, ac_x loop, const bool *data)
{
    int32_t n;
    const ac_x *var = ac_p_set_between(p, loop, p->end[loop], &n);
    bool *carried = AC_NEW_N(p->tmp, bool, p->end[loop] + 1); /* by instruction: it depends on one of those */
    bool decides = false;
    for (ac_x x = loop + 1; x < p->end[loop]; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_FOR) {
            x = p->end[x];
            continue;
        }
        for (int32_t k = 0; i->op == AC_L_GET && k < n; k++)
            carried[x] |= var[k] == i->aux;
        carried[x] |= i->op == AC_L_LOAD && ac_p_has_numbers(p, i->aux);
        carried[x] |= (i->a > 0 && carried[i->a]) || (i->b > 0 && carried[i->b]) || (i->c > 0 && carried[i->c]);
        decides |= i->op == AC_L_IF && carried[x] && !data[x];
    }
    return decides && !data[loop] && breaks_surely(p, loop);
}

static void find_schedules(ac_prover *p)
{
    const bool *data = by_data(p);
    p->schedule = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    for (ac_x x = 1; x < p->fn->code.n; x++)
        p->schedule[x] = ac_p_ins(p, x)->op == AC_L_FOR && is_schedule(p, x, data);
}

/* Instructions from .. to - 1 that are followed at most: of branches the longer side. */
static int64_t longest_way(const ac_prover *p, ac_x from, ac_x to)
{
    int64_t n = 0;
    for (ac_x x = from; x < to; x++, n++)
        if (ac_p_ins(p, x)->op == AC_L_IF) {
            const ac_x middle = p->end[x], end = ac_p_end(p, x);
            const int64_t then = longest_way(p, x + 1, middle), other = longest_way(p, middle, end);
            n += then > other ? then : other;
            x = end;
        }
    return n;
}

bool ac_p_follow_schedule(ac_prover *p, ac_x loop, ac_interval first, ac_interval trips, int64_t step)
{
    const ac_x end = p->end[loop];
    if (!p->schedule)
        find_schedules(p);
    if (!p->schedule[loop] || trips.lo != trips.hi || first.lo != first.hi ||
        ac_sat_mul(trips.lo, longest_way(p, loop, end)) > MOST_WORK)
        return false;
    const int32_t certain = p->certain;
    const ac_x at_turn = p->at_turn;
    p->certain = p->uncertain;
    p->at_turn = loop;
    for (int64_t n = 0; n < trips.lo && !p->leaving; n++) {
        const int64_t v = first.lo + n * step;
        p->value[loop] = (ac_pvalue){.in = {v, v}, .form = ac_affine_of(v)};
        ac_p_follow(p, loop + 1, end);
    }
    p->leaving = false;
    p->certain = certain;
    p->at_turn = at_turn;
    return true;
}
