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

/* By instruction: does what memory holds have a part in it, or in whether it is run? Of a variable: in what it holds.
 * Floats, too, count as that. */
static bool *by_data(const ac_prover *p)
{
    const int32_t n = p->fn->code.n;
    bool *data = AC_NEW_N(p->keep, bool, n + 1);
    for (bool more = true; more;) {
        more = false;
        int32_t closed = 0; /* the end of the outermost block that data opens */
        for (ac_x x = 1; x < n; x++) {
            const ac_ins *i = ac_p_ins(p, x);
            bool by = i->op == AC_L_LOAD || x < closed || (i->lanes && ac_dtype_is_float((ac_dtype)i->dtype));
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

/* Does x depend on a variable from before the loop that the loop sets? */
static bool is_carried(const ac_prover *p, ac_x loop, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (x <= loop)
        return false;
    if (i->op == AC_L_GET && i->aux < loop) {
        for (ac_x k = loop; k < p->end[loop]; k++)
            if (ac_p_ins(p, k)->op == AC_L_SET && ac_p_ins(p, k)->aux == i->aux)
                return true;
        return false;
    }
    return (i->a > 0 && is_carried(p, loop, i->a)) || (i->b > 0 && is_carried(p, loop, i->b)) ||
           (i->c > 0 && is_carried(p, loop, i->c));
}

static bool is_schedule(const ac_prover *p, ac_x loop, const bool *data)
{
    bool decides = false;
    for (ac_x x = loop + 1; x < p->end[loop]; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_BREAK_IF)
            return false;
        if (i->op == AC_L_FOR)
            x = p->end[x];
        else if (i->op == AC_L_IF)
            decides |= !data[x] && is_carried(p, loop, i->a);
    }
    return decides;
}

void ac_p_find_schedules(ac_prover *p)
{
    const bool *data = NULL;
    p->schedule = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    for (ac_x x = 1; x < p->fn->code.n; x++) {
        if (ac_p_ins(p, x)->op != AC_L_FOR)
            continue;
        data = data ? data : by_data(p);
        p->schedule[x] = !data[x] && is_schedule(p, x, data);
    }
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
    if (!p->schedule[loop] || trips.lo != trips.hi || first.lo != first.hi ||
        ac_sat_mul(trips.lo, longest_way(p, loop, end)) > MOST_WORK)
        return false;
    for (int64_t n = 0; n < trips.lo; n++) {
        const int64_t v = first.lo + n * step;
        p->value[loop] = (ac_pvalue){.in = {v, v}, .form = ac_affine_of(v)};
        ac_p_follow(p, loop + 1, end);
    }
    return true;
}
