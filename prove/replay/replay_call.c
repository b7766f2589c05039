/* replay_call.c - replays one call: opens its buffers, runs its tasks, and records its results; see replay.h. */
#include "prove/replay/replay_now.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

counts shown;
replaying now;
static jmp_buf leave_call;
static char reason[400];

bool all_certain(void)
{
    return !has_parts() && !now.doubtful;
}

void not_shown(bool surely, const char *format, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    snprintf(reason, sizeof reason, "step %d %s, instruction %%%d (%s): %s", now.step, now.fn->name, now.at_work,
             now.at_work ? op_name[now.fn->code[now.at_work].op] : "", text);
    if (surely)
        refuse("%s", reason);
    longjmp(leave_call, 1);
}

void spend(int64_t n)
{
    now.steps += n;
    if (now.steps > now.most_steps)
        not_shown(false, "it takes too many steps");
}

/* ------------------------------------------------------------------ buffers */

static void find_sharing(void)
{
    memset(now.n_sharing, 0, sizeof now.n_sharing);
    for (int32_t p = 0; p < now.call->n_args; p++)
        for (int32_t q = 0; q < now.call->n_args; q++)
            if (share_bytes(now.program, now.call, p, q))
                now.sharing[p][now.n_sharing[p]++] = q;
}

/* Limits the steps of the call by its elements: the code of a model takes fewer; a loop that does nothing, more. */
static void limit_steps(void)
{
    const int64_t most = 40000000000, each = 16384, some = 1 << 24, elements = 1 << 26;
    int64_t n = 0, arrays = 0;
    for (int32_t b = 0; b < now.fn->n_buf; b++) {
        const argument *a = argument_of(b);
        now.limit[b] = a ? a->count : now.fn->buf[b].count;
        n += a ? now.limit[b] : 0;
        arrays += a ? 0 : now.limit[b];
    }
    if (n + arrays > elements)
        not_shown(false, "its arguments have too many elements");
    now.most_steps = some + n * each < most ? some + n * each : most;
}

/* The value of an element when a task begins. */
static range first_value(int32_t b, int32_t task)
{
    const argument *a = argument_of(b);
    const buffer *u = &now.fn->buf[b];
    if (a && a->place == AT_TASK)
        return number(task);
    range first = u->role == IN || u->role == INOUT ? left_in(a->tensor, u->type) : of_type(u->type);
    if (u->role == INOUT && now.call->tasks > 1 && !now.call->keeps) { /* another task may have stored there */
        first = of_type(u->type);
        first.hi = u->type == BOOL ? 255 : first.hi;
    }
    first.written = u->role == IN || (u->role == INOUT && !a->made);
    return first;
}

static void open_buffer(int32_t b, int32_t task)
{
    const argument *a = argument_of(b);
    const range first = first_value(b, task);
    if (a && a->place == AT_CONSTANT)
        return;
    if (!now.cell[b])
        now.cell[b] = room(NULL, (size_t)now.limit[b] + 1, sizeof *now.cell[b]);
    for (int64_t i = 0; i < now.limit[b]; i++)
        now.cell[b][i] = first;
    spend(now.limit[b] / 4);
}

/* Tasks that keep scratch run in order and see the stores of those before; others in any order, or at once, so that
 * each begins with the bytes before all of them. */
static void open_buffers(int32_t task)
{
    for (int32_t b = 0; b < now.fn->n_buf; b++) {
        const argument *a = argument_of(b);
        const bool one_of_each = !a || a->place == AT_TASK || !now.call->keeps;
        if (!task || (one_of_each && (now.fn->buf[b].role != IN || (a && a->place == AT_TASK))))
            open_buffer(b, task);
    }
}

/* The elements that the caller writes. */
static void give(int32_t b, int64_t n)
{
    const range any = of_type(now.fn->buf[b].type);
    for (int64_t i = now.limit[b] - n; i < now.limit[b]; i++) {
        change(&now.cell[b][i], any);
        overwrite(b, i, true);
    }
}

/* ------------------------------------------------------------------ tasks */

/* Joins the elements that the tasks so far have stored, if tasks run in any order. */
static void gather(bool last)
{
    for (int32_t b = 0; b < now.call->n_args; b++) {
        if (now.call->arg[b].place != AT_MEMORY || now.fn->buf[b].role == IN || now.fn->buf[b].role == SCRATCH)
            continue;
        const size_t n = (size_t)now.limit[b];
        if (!now.all[b])
            now.all[b] = memcpy(room(NULL, n + 1, sizeof **now.all), now.cell[b], n * sizeof **now.all);
        for (size_t i = 0; i < n; i++) {
            const range *mine = &now.cell[b][i];
            range *ours = &now.all[b][i];
            *ours = mine->written && ours->written ? joined(*ours, mine) : mine->written ? *mine : *ours;
        }
        if (last)
            memcpy(now.cell[b], now.all[b], n * sizeof **now.all);
        spend((int64_t)n);
    }
}

/* Tasks in any order may overwrite operands that no other task reads; nothing else shares bytes. */
static void watch_sharing(void)
{
    for (int32_t b = 0; b < now.call->n_args; b++) {
        for (int32_t k = 0; k < now.n_sharing[b]; k++) {
            const int one = (int)now.fn->buf[b].role, other = (int)now.fn->buf[now.sharing[b][k]].role;
            if (one + other != IN + OUT && one + other != IN + IN)
                not_shown(false, "tasks share bytes of %s", now.fn->buf[b].name);
        }
        const size_t n = ((size_t)now.limit[b] + 1) * sizeof **now.reader;
        if (now.n_sharing[b] && now.fn->buf[b].role == IN)
            now.reader[b] = memset(room(NULL, n, 1), 0, n);
    }
}

static void run_tasks(void)
{
    const bool any_order = now.call->tasks > 1 && !now.call->keeps;
    if (any_order)
        watch_sharing();
    for (int32_t task = 0; task < now.call->tasks; task++) {
        now.task = task;
        open_buffers(task);
        if (now.call->keeps)
            give(now.call->given, now.call->n_given);
        run(1, now.fn->n);
        if (any_order)
            gather(task + 1 == now.call->tasks);
    }
    now.at_work = 0;
    for (int32_t b = 0; b < now.call->n_args; b++)
        for (int64_t i = 0; now.call->arg[b].place == AT_MEMORY && now.call->arg[b].made && i < now.limit[b]; i++)
            if (!now.cell[b][i].written)
                not_shown(all_certain() && now.cell[b][i].lost >= 0, "element %lld of %s is not written", (long long)i,
                          now.fn->buf[b].name);
}

static bool attempt(void)
{
    begin_run();
    now.names = now.doubtful = now.left = now.at_work = 0;
    now.steps = 0;
    now.leaving = false;
    if (setjmp(leave_call))
        return false;
    limit_steps();
    run_tasks();
    return true;
}

/* ------------------------------------------------------------------ its results */

/* Ranges that the call has stored to its arguments; unknown if the call is not proven. */
static void leave(bool known)
{
    for (int32_t b = 0; b < now.call->n_args; b++) {
        const argument *a = &now.call->arg[b];
        const int kind = (int)now.fn->buf[b].role;
        if (a->place != AT_MEMORY || (kind != OUT && kind != INOUT))
            continue;
        if (kind == OUT && known)
            left_stored(a->tensor, now.fn->buf[b].type, now.cell[b], now.limit[b]);
        else
            left_unknown(a->tensor, now.fn->buf[b].type);
    }
    hold_results(now.program, now.step, known ? now.cell : NULL);
}

static void forget(void)
{
    for (int32_t b = 0; b < now.fn->n_buf; b++) {
        free(now.cell[b]);
        now.cell[b] = NULL;
    }
    for (int32_t b = 0; b < now.call->n_args; b++) {
        free(now.all[b]);
        free(now.reader[b]);
        now.all[b] = NULL;
        now.reader[b] = NULL;
    }
}

void replay_call(program *c, int32_t s)
{
    now.program = c;
    now.step = s;
    now.call = &c->call[s];
    now.fn = &c->fn[now.call->fn];
    check_places(c, s);
    if (now.call->keeps && now.fn->buf[now.call->given].role != SCRATCH)
        left_unknown(now.call->arg[now.call->given].tensor, now.fn->buf[now.call->given].type);
    find_sharing();
    for (int turn = NO_CASES; turn <= TO_THE_END; turn++) {
        const counts before = shown;
        now.cases = (enum cases)turn;
        now.call->open = NULL;
        if (!attempt()) {
            now.call->open = strcpy(room(NULL, strlen(reason) + 1, 1), reason);
            shown = before;
        }
        if (!now.call->open || turn == TO_THE_END)
            leave(!now.call->open);
        forget();
        if (!now.call->open)
            return;
    }
}
