/* schedule.c - finds loops whose branches depend only on loop-carried counters, never on data: schedules. Stripes are
 * such loops: `next` counts the rows of each of their steps.
 *
 * An invariant of all iterations is too weak for any of them (row 7 of one step, then row 3 of the next step). So the
 * engine walks a schedule iteration by iteration, with numbers in its counters; of each branch one side remains. */
#include "prove/facts/structure.h"
#include "prove/strategy/counters.h"
#include "prove/strategy/strategies.h"

enum { MOST_WORK = 1 << 26 }; /* instructions that are walked at most */

static bool mark(bool *list, ac_x x, bool by)
{
    const bool is_new = by && !list[x];
    list[x] |= by;
    return is_new;
}

/* True for loads that depend on data: not constants, the number of a call, or counters that calls keep. */
static bool loads_data(const ac_prover *p, const ac_ins *i)
{
    const bool in_turn = p->at->chunk >= 0 && i->op == AC_L_LOAD && i->aux < p->call->n_arg &&
                         (p->call->arg[i->aux].space == AC_SPACE_CHUNK || ac_p_has_counters(p, i->aux));
    return i->op == AC_L_LOAD && !in_turn && p->fn->buf.item[i->aux].role != AC_BUF_CONST;
}

/* False if the loop may end early depending on a condition other than a constant. */
static bool breaks_surely(const ac_prover *p, ac_x loop)
{
    for (ac_x x = loop + 1; x < p->end[loop]; x = ac_p_ins(p, x)->op == AC_L_FOR ? p->end[x] + 1 : x + 1) {
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_BREAK_IF && (ac_p_ins(p, i->a)->op != AC_L_CONST || !ac_p_ins(p, i->a)->k.i))
            return false;
    }
    return true;
}

/* By instruction: its value, or whether it runs, depends on data; by VAR: its contents do. Floats count as data;
 * integer constants do not, as they hold the shapes of calls of a shared kernel. */
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

/* True if the loop has a branch that depends on loop-carried variables, and does not depend on data itself. */
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
        carried[x] |= i->op == AC_L_LOAD && ac_p_has_counters(p, i->aux);
        carried[x] |= (i->a > 0 && carried[i->a]) || (i->b > 0 && carried[i->b]) || (i->c > 0 && carried[i->c]);
        decides |= i->op == AC_L_IF && carried[x] && !data[x];
    }
    return decides && !data[loop] && breaks_surely(p, loop);
}

typedef struct ac_schedules {
    bool *is; /* by FOR */
} ac_schedules;

static void find_schedules(ac_prover *p)
{
    const bool *data = by_data(p);
    p->schedules = AC_NEW(p->keep, ac_schedules);
    p->schedules->is = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    for (ac_x x = 1; x < p->fn->code.n; x++)
        p->schedules->is[x] = ac_p_ins(p, x)->op == AC_L_FOR && is_schedule(p, x, data);
}

/* Number of instructions from .. to - 1 on the longest path. */
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

bool ac_p_is_schedule(ac_prover *p, ac_x loop)
{
    if (!p->schedules)
        find_schedules(p);
    return p->schedules->is[loop];
}

bool ac_p_can_unroll(ac_prover *p, ac_x loop, ac_interval first, ac_interval trips)
{
    return trips.lo == trips.hi && first.lo == first.hi &&
           ac_sat_mul(trips.lo, longest_way(p, loop, p->end[loop])) <= MOST_WORK;
}
