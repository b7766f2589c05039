/* replay_run.c - runs the loops of a call: loops by their numbers, data-dependent branches on both sides, with a range
 * for every element of every argument; see replay.h.
 *
 * If one interval would forget that two operands come from the same number, a value is cut into parts: at the cuts that
 * the certificate names and, if a step fails otherwise, by the elements that a maximum can be. The rest of the block
 * runs for each part, and the results are joined. */
#include "prove/replay/replay_now.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST_STEPS = 40000000000; /* of a call */

counts shown;
replaying now;
static int32_t doubtful, left, at_work; /* left: loops that data may have left by now */
static bool breaking, by_cases;
static jmp_buf leave_call;
static char reason[400];

bool all_certain(void)
{
    return !has_parts() && !doubtful;
}

void not_shown(bool surely, const char *format, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    snprintf(reason, sizeof reason, "step %d %s, instruction %%%d (%s): %s", now.step, now.fn->name, at_work,
             at_work ? op_name[now.fn->code[at_work].op] : "", text);
    if (surely)
        refuse("%s", reason);
    longjmp(leave_call, 1);
}

/* ------------------------------------------------------------------ blocks */

static void run(int32_t from, int32_t to);

static void run_part(join *j, int32_t from, int32_t to)
{
    run(from, to);
    if (breaking)
        not_shown(false, "a loop may be left, by data");
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
        part.lo = lo > was.lo ? lo : was.lo;
        part.hi = hi < was.hi ? hi : was.hi;
        if (part.lo > part.hi)
            continue;
        change(v, part);
        run_part(&j, x + 1, to);
    }
    end_join(&j);
}

/* ... and for x equal to each of the elements that it is the maximum of. */
static bool run_cases(int32_t x, int32_t to)
{
    enum { MOST_CASES = 2048 };
    range *v = &now.fn->code[x].value[0];
    const range was = *v;
    int32_t list[MOST_CASES], n = 0;
    list_names(was.over, list, &n, MOST_CASES);
    if (n == MOST_CASES || n < 2)
        return false;
    join j = begin_join();
    for (int32_t i = 0; i < n; i++) {
        range one = was;
        one.name = list[i];
        change(v, one);
        run_part(&j, x + 1, to);
    }
    end_join(&j);
    return true;
}

/* Iterations of the loop x, from counter n on. */
static void iterate(int32_t x, whole n)
{
    const instruction *i = &now.fn->code[x];
    const whole end = now.fn->code[i->b].value[0].lo;
    for (; !breaking && (i->k > 0 ? n < end : n > end); n += i->k) {
        if (n + i->k > INT32_MAX || n + i->k < INT32_MIN)
            not_shown(all_certain(), "the counter of a loop overflows");
        change(&i->value[0], number(n));
        run(x + 1, i->end);
    }
    breaking = false;
}

static void run_loop(int32_t x)
{
    const instruction *i = &now.fn->code[x];
    const range lo = now.fn->code[i->a].value[0], hi = now.fn->code[i->b].value[0];
    if (lo.lo != lo.hi || hi.lo != hi.hi)
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
    if (!loop || now.fn->code[loop].end != to || left == MOST_LEFT)
        not_shown(false, "a loop may be left, by data");
    const instruction *i = &now.fn->code[loop];
    const whole n = i->value[0].lo;
    join j = begin_join();
    left++;
    narrow(now.fn->code, condition, true);
    end_part(&j);
    narrow(now.fn->code, condition, false);
    run(x + 1, to);
    if (!breaking)
        iterate(loop, n + i->k);
    breaking = false;
    end_part(&j);
    left--;
    end_join(&j);
    breaking = true; /* the loop has ended in either case */
}

static void run_branch(int32_t x)
{
    const instruction *i = &now.fn->code[x];
    const int32_t middle = i->other ? i->other : i->end;
    const range cond = now.fn->code[i->a].value[0];
    if (cond.lo == cond.hi) {
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
    if (cond.lo == cond.hi && !cond.lo)
        return;
    if (i->op == OP_break_if && cond.lo != cond.hi) {
        leave_or_stay(x, to);
        return;
    }
    if (i->op == OP_break_if) {
        breaking = true;
        return;
    }
    if (cond.lo == cond.hi)
        not_shown(false, "the function fails always");
    doubtful++;
    narrow(now.fn->code, i->a, false);
}

static const cut *cut_of(int32_t x)
{
    for (int32_t i = 0; i < now.call->n_cuts; i++)
        if (now.call->cut[i].at == x)
            return &now.call->cut[i];
    return NULL;
}

static void value(instruction *i)
{
    for (int32_t l = 0; l < i->lanes; l++)
        switch ((int)i->op) {
        case OP_const:
            i->value[l] = number(i->type == U64 ? (whole)(uint64_t)i->k : (whole)i->k);
            if (is_real(i->type))
                i->value[l].least = i->value[l].most = i->f;
            i->value[l].nan = is_real(i->type) && i->f != i->f;
            break;
        case OP_constv:
            i->value[l] = number(i->type == U64 ? (whole)(uint64_t)i->pool[l] : (whole)i->pool[l]);
            if (is_real(i->type))
                i->value[l].least = i->value[l].most = i->reals[l];
            i->value[l].nan = is_real(i->type) && i->reals[l] != i->reals[l];
            break;
        case OP_get:
            i->value[l] = now.fn->code[i->aux].value[l];
            break;
        default:
            compute(now.fn->code, i, l);
        }
}

/* Does no loop around GET x, which its variable is older than, set it? */
static bool is_settled(int32_t x)
{
    for (int32_t k = now.fn->code[x].aux; k < x; k++)
        for (int32_t s = k; now.fn->code[k].op == OP_for && now.fn->code[k].end > x && s < now.fn->code[k].end; s++)
            if (now.fn->code[s].op == OP_set && now.fn->code[s].aux == now.fn->code[x].aux)
                return false;
    return true;
}

static void run(int32_t from, int32_t to)
{
    for (int32_t x = from; x < to && !breaking; x++) {
        instruction *i = &now.fn->code[x];
        at_work = x;
        if (++now.steps > MOST_STEPS)
            not_shown(false, "it takes too many steps");
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
        if (!i->value || i->lanes != 1 || i->op == OP_for || i->op == OP_var || i->value[0].lo == i->value[0].hi)
            continue;
        const cut *u = now.call->n_cuts ? cut_of(x) : NULL;
        if (u) {
            run_parts(x, to, u);
            return;
        }
        if (by_cases && i->op == OP_get && i->value[0].one_of && !i->value[0].name && is_settled(x) && run_cases(x, to))
            return;
    }
}

/* ------------------------------------------------------------------ a call */

static void find_overlaps(void)
{
    for (int32_t p = 0; p < now.call->n_args; p++) {
        const argument *a = &now.call->arg[p];
        now.overlaps[p] = false;
        for (int32_t q = 0; q < now.call->n_args; q++) {
            const argument *b = &now.call->arg[q];
            now.overlaps[p] |= q != p && a->place == AT_MEMORY && b->place == AT_MEMORY && a->index == b->index &&
                               a->offset < b->offset + b->count * type_bytes(now.fn->buf[q].type) &&
                               b->offset < a->offset + a->count * type_bytes(now.fn->buf[p].type);
        }
    }
}

static void open_buffer(int32_t b, int32_t task)
{
    const argument *a = argument_of(b);
    const int kind = (int)now.fn->buf[b].role;
    now.limit[b] = a ? a->count : now.fn->buf[b].count;
    if (a && a->place == AT_CONSTANT)
        return;
    if (task &&
        (kind == OUT || kind == INOUT || (kind == IN && a->place != AT_TASK) || (kind == SCRATCH && now.call->keeps)))
        return; /* the tasks before have written some of it */
    if (!task)
        now.cell[b] = room(NULL, (size_t)now.limit[b] + 1, sizeof *now.cell[b]);
    range first = of_type(now.fn->buf[b].type);
    first.written = kind == IN || (kind == INOUT && !a->made);
    if (kind == IN && a && a->place == AT_MEMORY)
        left_in(a->tensor, now.fn->buf[b].type, &first);
    for (int64_t i = 0; i < now.limit[b]; i++)
        now.cell[b][i] = first;
    if (a && a->place == AT_TASK)
        now.cell[b][0] = number(task);
}

/* The elements that the caller writes. */
static void give(int32_t b, int64_t n)
{
    range any = of_type(now.fn->buf[b].type);
    any.written = true;
    if (n > now.limit[b])
        not_shown(true, "the caller writes beyond %s", now.fn->buf[b].name);
    for (int64_t i = now.limit[b] - n; i < now.limit[b]; i++)
        now.cell[b][i] = any;
}

static void run_tasks(void)
{
    for (int32_t task = 0; task < now.call->tasks; task++) {
        for (int32_t b = 0; b < now.fn->n_buf; b++)
            open_buffer(b, task);
        if (now.call->keeps)
            give(now.call->given, now.call->n_given);
        for (int32_t b = 0; b < now.fn->n_buf && now.overlaps[b] && task; b++)
            not_shown(false, "tasks share bytes of %s", now.fn->buf[b].name);
        run(1, now.fn->n);
    }
    at_work = 0;
    for (int32_t b = 0; b < now.call->n_args; b++)
        for (int64_t i = 0; (now.fn->buf[b].role == OUT || now.call->arg[b].made) && i < now.limit[b]; i++)
            if (!now.cell[b][i].written)
                not_shown(all_certain(), "element %lld of %s is not written", (long long)i, now.fn->buf[b].name);
}

static bool attempt(void)
{
    begin_run();
    now.names = doubtful = left = 0;
    now.steps = 0;
    breaking = false;
    if (setjmp(leave_call))
        return false;
    run_tasks();
    return true;
}

/* Records the ranges that the call has stored to its arguments; unknown if the call is not proven. */
static void leave(bool known)
{
    for (int32_t b = 0; b < now.call->n_args; b++) {
        const argument *a = &now.call->arg[b];
        const int kind = (int)now.fn->buf[b].role;
        if (a->place == AT_MEMORY && kind == OUT && known)
            left_stored(a->tensor, now.fn->buf[b].type, now.cell[b], now.limit[b]);
        else if (a->place == AT_MEMORY && (kind == OUT || kind == INOUT))
            left_by_anybody(a->tensor);
    }
}

static void forget(void)
{
    for (int32_t b = 0; b < now.fn->n_buf; b++) {
        free(now.cell[b]);
        now.cell[b] = NULL;
    }
}

void replay_call(program *c, int32_t s)
{
    now.program = c;
    now.step = s;
    now.call = &c->call[s];
    now.fn = &c->fn[now.call->fn];
    if (now.fn->n_buf > 2 * MAX_ARGS || now.call->n_args >= MAX_ARGS)
        refuse("step %d: too many arguments", s);
    find_overlaps();
    for (int turn = 0; turn < 2; turn++) {
        const counts before = shown;
        by_cases = turn;
        now.call->open = NULL;
        if (!attempt()) {
            now.call->open = strcpy(room(NULL, strlen(reason) + 1, 1), reason);
            shown = before;
        }
        if (!now.call->open || turn)
            leave(!now.call->open);
        forget();
        if (!now.call->open)
            return;
        for (int32_t i = 0; i < c->n_memories; i++) /* again: nothing has been stored */
            for (int64_t b = 0; b < c->memory[i].bytes; b++)
                if (c->memory[i].by[b] > s * MAX_ARGS)
                    c->memory[i].by[b] = 0;
    }
}
