/* replay_run.c - runs the loops of a call: loops by their numbers, data-dependent branches on both sides, with a range
 * for every element of every argument; see replay.h.
 *
 * If one interval would forget that two operands come from the same number, a value is cut into parts: at the cuts that
 * the certificate names and, if a step fails otherwise, by the elements that a maximum can be. The rest of the block
 * runs for each part, and the results are joined. */
#include "prove/replay/replay_now.h"
#include "prove/replay/replay_ranges.h"

#include <stdlib.h>

static void run_part(join *j, int32_t from, int32_t to)
{
    run(from, to);
    if (now.leaving)
        not_shown(false, "a loop may end early, depending on data");
    end_part(j);
}

/* Runs the rest of the block for each part of x. */
static void run_parts(int32_t x, int32_t to, const cut *u)
{
    range *v = &now.fn->code[x].value[0];
    const range was = *v;
    join j = begin_join();
    for (int32_t i = -1; i <= u->n; i++) {
        range part = was;
        const whole lo = i < 0 ? was.lo : i < u->n ? u->lo[i] : (whole)u->hi[u->n - 1] + 1;
        const whole hi = i < 0 ? (whole)u->lo[0] - 1 : i < u->n ? u->hi[i] : was.hi;
        part.lo = larger(lo, was.lo);
        part.hi = smaller(hi, was.hi);
        if (part.lo > part.hi)
            continue;
        change(v, part);
        run_part(&j, x + 1, to);
    }
    end_join(&j);
}

static const cut *cut_of(int32_t x)
{
    for (int32_t i = 0; i < now.call->n_cuts; i++)
        if (now.call->cut[i].at == x)
            return &now.call->cut[i];
    return NULL;
}

/* Where cases end: before the next value that is cut, as each of its parts would run for each case. */
static int32_t end_of_cases(int32_t x, int32_t to)
{
    while (now.cases == UNTIL_A_CUT && ++x < to) {
        const int32_t first = x, end = now.fn->code[x].end;
        for (int32_t i = 0; i < now.call->n_cuts; i++)
            if (now.call->cut[i].at >= first && now.call->cut[i].at <= (end ? end : first))
                return first;
        x = end ? end : x;
    }
    return to;
}

/* Runs code up to `to` for x, of a variable, equal to each of the elements that it is the maximum of. */
static bool run_cases(int32_t x, int32_t to)
{
    enum { MOST_CASES = 2048 };
    range *v = &now.fn->code[x].value[0], *variable = &now.fn->code[now.fn->code[x].aux].value[0];
    int32_t *list = room(NULL, MOST_CASES, sizeof *list);
    const int32_t n = list_names(v->over, list, MOST_CASES);
    range one = *v;
    if (n < 2) {
        free(list);
        return false;
    }
    join j = begin_join();
    for (int32_t i = 0; i < n; i++) {
        one.name = list[i];
        one.one_of = false; /* once */
        change(v, one);
        change(variable, one);
        run_part(&j, x + 1, to);
    }
    end_join(&j);
    free(list);
    return true;
}

/* Iterations of the loop x, from counter n on. */
static void iterate(int32_t x, whole n)
{
    const instruction *i = &now.fn->code[x];
    const whole end = now.fn->code[i->b].value[0].lo;
    for (; !now.leaving && (i->k > 0 ? n < end : n > end); n += i->k) {
        if (n + i->k > INT32_MAX || n + i->k < INT32_MIN)
            not_shown(all_certain(), "the counter of a loop overflows");
        spend(1);
        change(&i->value[0], number(n));
        run(x + 1, i->end);
    }
    now.leaving = false;
}

static void run_loop(int32_t x)
{
    const instruction *i = &now.fn->code[x];
    const range lo = now.fn->code[i->a].value[0], hi = now.fn->code[i->b].value[0];
    if (!is_known(&lo) || !is_known(&hi))
        not_shown(false, "the bounds of a loop depend on data");
    shown.loops++;
    iterate(x, lo.lo);
}

/* A loop whose END is `to` may end at x, depending on data: the rest of it runs completely, or not at all. */
static void leave_or_stay(int32_t x, int32_t to)
{
    enum { MOST_LEFT = 4096 };
    const int32_t condition = now.fn->code[x].a;
    int32_t loop = x - 1;
    while (loop > 0 && (now.fn->code[loop].op != OP_for || now.fn->code[loop].end < x))
        loop--;
    if (!loop || now.fn->code[loop].end != to || now.left == MOST_LEFT)
        not_shown(false, "a loop may end early, depending on data");
    const instruction *i = &now.fn->code[loop];
    const whole n = i->value[0].lo;
    join j = begin_join();
    now.left++;
    narrow(now.fn->code, condition, true);
    end_part(&j);
    narrow(now.fn->code, condition, false);
    run(x + 1, to);
    if (!now.leaving)
        iterate(loop, n + i->k);
    now.leaving = false;
    end_part(&j);
    now.left--;
    end_join(&j);
    now.leaving = true; /* the loop has ended in either case */
}

static void run_branch(int32_t x)
{
    const instruction *i = &now.fn->code[x];
    const int32_t middle = i->other ? i->other : i->end;
    const range cond = now.fn->code[i->a].value[0];
    if (is_known(&cond)) {
        if (cond.lo)
            run(x + 1, middle);
        else if (i->other)
            run(i->other + 1, i->end);
        return;
    }
    join j = begin_join();
    narrow(now.fn->code, i->a, true);
    run_part(&j, x + 1, middle);
    narrow(now.fn->code, i->a, false);
    run_part(&j, i->other ? i->other + 1 : i->end, i->end);
    end_join(&j);
}

static void leave_early(int32_t x, int32_t to)
{
    const instruction *i = &now.fn->code[x];
    const range cond = now.fn->code[i->a].value[0];
    if (is_known(&cond) && !cond.lo)
        return;
    if (i->op == OP_break_if && !is_known(&cond)) {
        leave_or_stay(x, to);
        return;
    }
    if (i->op == OP_break_if) {
        now.leaving = true;
        return;
    }
    if (is_known(&cond))
        not_shown(false, "the function always fails");
    now.doubtful++;
    narrow(now.fn->code, i->a, false);
}

static range constant_of(type t, int64_t k, double f)
{
    return is_real(t) ? real_between(f, f, false) : number(t == U64 ? (whole)(uint64_t)k : (whole)k);
}

static void value(instruction *i)
{
    for (int32_t l = 0; l < i->lanes; l++)
        switch ((int)i->op) {
        case OP_const:
            i->value[l] = constant_of(i->type, i->k, i->f);
            break;
        case OP_constv:
            i->value[l] = constant_of(i->type, i->pool[l], i->reals[l]);
            break;
        case OP_get:
            i->value[l] = now.fn->code[i->aux].value[l];
            break;
        default:
            compute(now.fn->code, i, l);
        }
}

/* True unless a loop around GET x that is inside the block of its variable sets the variable. */
static bool is_settled(int32_t x)
{
    const instruction *code = now.fn->code;
    const int32_t variable = code[x].aux;
    int32_t k = variable; /* the outermost of these loops has all others in it */
    while (k < x && (code[k].op != OP_for || code[k].end < x))
        k++;
    for (int32_t s = k; k < x && s < code[k].end; s++)
        if (code[s].op == OP_set && code[s].aux == variable)
            return false;
    return true;
}

void run(int32_t from, int32_t to)
{
    for (int32_t x = from; x < to && !now.leaving; x++) {
        instruction *i = &now.fn->code[x];
        now.at_work = x;
        spend(1);
        switch ((int)i->op) {
        case OP_for:
            run_loop(x);
            x = i->end;
            break;
        case OP_if:
            run_branch(x);
            x = i->end;
            break;
        case OP_var:
            for (int32_t l = 0; l < i->lanes; l++)
                change(&i->value[l], now.fn->code[i->a].value[l]);
            break;
        case OP_set:
            for (int32_t l = 0; l < now.fn->code[i->a].lanes; l++)
                change(&now.fn->code[i->aux].value[l], now.fn->code[i->a].value[l]);
            break;
        case OP_load:
            load(i);
            break;
        case OP_store:
            store(i);
            break;
        case OP_break_if:
        case OP_fail_if:
            leave_early(x, to);
            break;
        case OP_prefetch:
            break;
        case OP_tile:
            run_tile(now.fn->code, i);
            break;
        case OP_requant:
            run_requant(now.fn->code, i);
            break;
        case OP_mma:
            not_shown(false, "instructions of this kind are not replayed");
        default:
            value(i);
        }
        if (!i->value || i->lanes != 1 || i->op == OP_for || i->op == OP_var || is_known(&i->value[0]))
            continue;
        const cut *u = now.call->n_cuts ? cut_of(x) : NULL;
        if (u) {
            run_parts(x, to, u);
            return;
        }
        if (now.cases && i->op == OP_get && i->value[0].one_of && !i->value[0].name && is_settled(x)) {
            const int32_t end = end_of_cases(x, to);
            x = run_cases(x, end) ? end - 1 : x;
        }
    }
}
