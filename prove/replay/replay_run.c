/* replay_run.c - running the loops of a call: loops by their numbers, branches that depend on data on both sides, every
 * element of every argument with what it can be; see replay.h.
 *
 * A value is also looked at in parts, where one interval would forget that two operands come from the same number: cuts
 * that the certificate names, and, where a step cannot be shown without, the elements that a largest one can be. The
 * rest of the block is run for each part, and what comes out is joined. */
#include "prove/replay/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST_STEPS = 40000000000; /* of a call */

counts shown;
static program *all;
static call *at_call;
static function *f;
static int32_t step;
static range *cell[2 * MAX_ARGS];
static int64_t limit[2 * MAX_ARGS];
static bool overlaps[2 * MAX_ARGS]; /* arguments that share bytes with another one */
static int32_t names, doubtful, at_work;
static int64_t steps;
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
    snprintf(reason, sizeof reason, "step %d %s, instruction %%%d (%s): %s", step, f->name, at_work,
             at_work ? op_name[f->code[at_work].op] : "", text);
    if (surely)
        refuse("%s", reason);
    longjmp(leave_call, 1);
}

/* ------------------------------------------------------------------ memory */

static const argument *argument_of(int32_t buf)
{
    return buf < at_call->n_args ? &at_call->arg[buf] : NULL;
}

/* Bytes of an element that has been stored by another argument since the call began are not this one's any more. */
static void check_bytes(int32_t buf, int64_t i, bool stores)
{
    const argument *a = argument_of(buf);
    const int64_t size = type_bytes(f->buf[buf].type);
    memory *m = &all->memory[a->index];
    const int32_t first = step * MAX_ARGS + 1;
    for (int64_t b = a->offset + i * size; b < a->offset + (i + 1) * size; b++)
        if (stores)
            put_stamp(&m->by[b], first + buf);
        else if (m->by[b] >= first && m->by[b] != first + buf)
            not_shown(all_certain(), "element %lld of %s has been overwritten by %s", (long long)i, f->buf[buf].name,
                      f->buf[m->by[b] - first].name);
}

/* Elements first .. last that the access may begin at, all inside. */
static void check_index(const instruction *x, int32_t lanes, int64_t *first, int64_t *last)
{
    const range *i = &f->code[x->a].value[0];
    const int64_t n = limit[x->aux];
    if (f->code[x->a].lanes != 1 || is_real(f->code[x->a].type))
        not_shown(true, "the index is no integer");
    if (i->lo < 0 || i->hi + lanes > n)
        not_shown(all_certain() && (i->hi < 0 || i->lo + lanes > n), "elements %lld .. %lld of %s[%lld]",
                  (long long)i->lo, (long long)(i->hi + lanes - 1), f->buf[x->aux].name, (long long)n);
    shown.accesses++;
    *first = (int64_t)i->lo;
    *last = (int64_t)i->hi;
}

static range element(int32_t buf, int64_t i)
{
    const argument *a = argument_of(buf);
    const constant *k = a && a->place == AT_CONSTANT ? &all->constant[a->index] : NULL;
    if (k)
        return k->value[k->all_alike ? 0 : i];
    range *e = &cell[buf][i];
    if (!e->written) /* of scratch and locals: the prover calls that undecided, too */
        not_shown(false, "element %lld of %s has not been written", (long long)i, f->buf[buf].name);
    shown.written++;
    if (a && a->place == AT_MEMORY && overlaps[buf])
        check_bytes(buf, i, false);
    if (!e->name && e->lo != e->hi && !is_real(f->buf[buf].type))
        e->name = ++names;
    return *e;
}

/* What one of elements first .. last is. */
static range any_of(int32_t buf, int64_t first, int64_t last)
{
    range r = element(buf, first);
    for (int64_t i = first + 1; i <= last; i++) {
        const range e = element(buf, i);
        r = joined(r, &e);
    }
    return r;
}

/* The same; of tables, which are read in the same way again and again, it is remembered. */
static range window(int32_t buf, int64_t first, int64_t last)
{
    enum { REMEMBERED = 256 };
    static struct {
        const constant *k;
        int64_t first, last;
        range r;
    } seen[REMEMBERED];
    const argument *a = argument_of(buf);
    if (first == last || !a || a->place != AT_CONSTANT)
        return any_of(buf, first, last);
    const constant *k = &all->constant[a->index];
    const uint64_t at = ((uint64_t)first * 31 + (uint64_t)last) % REMEMBERED;
    if (seen[at].k != k || seen[at].first != first || seen[at].last != last) {
        seen[at].r = any_of(buf, first, last);
        seen[at].k = k, seen[at].first = first, seen[at].last = last;
    }
    return seen[at].r;
}

static void load(const instruction *x)
{
    enum { LOOKED_AT = 4096, NARROW = 64 };
    int64_t first, last;
    check_index(x, x->lanes, &first, &last);
    for (int32_t l = 0; l < x->lanes; l++) {
        x->value[l] = window(x->aux, first + l, last + l);
        if (x->narrow && (x->value[l].lo < -NARROW || x->value[l].hi > NARROW))
            not_shown(true, "%s is not within -64 .. 64", f->buf[x->aux].name);
    }
    if (last - first > LOOKED_AT)
        steps += (last - first) / 4;
}

static void store(const instruction *x)
{
    const instruction *v = &f->code[x->b];
    const int kind = (int)f->buf[x->aux].role;
    const argument *a = argument_of(x->aux);
    int64_t first, last;
    check_index(x, v->lanes, &first, &last);
    if (kind == IN || kind == CONSTANT)
        not_shown(true, "%s is not to be written", f->buf[x->aux].name);
    for (int64_t i = first; i <= last; i++)
        for (int32_t l = 0; l < v->lanes; l++) {
            range r = v->value[l];
            r.written = true;
            if (first != last) {
                r = joined(r, &cell[x->aux][i + l]);
                r.name = 0, r.over = 0, r.one_of = false;
            }
            change(&cell[x->aux][i + l], r);
            if (a && overlaps[x->aux])
                check_bytes(x->aux, i + l, true);
        }
}

/* ------------------------------------------------------------------ elements of tiles */

static void check_inside(int32_t buf, int64_t i)
{
    if (i < 0 || i >= limit[buf])
        not_shown(all_certain(), "element %lld of %s[%lld]", (long long)i, f->buf[buf].name, (long long)limit[buf]);
}

range element_of(int32_t buf, int64_t i)
{
    check_inside(buf, i);
    return element(buf, i);
}

void put_element(int32_t buf, int64_t i, range to)
{
    const int kind = (int)f->buf[buf].role;
    check_inside(buf, i);
    if (kind == IN || kind == CONSTANT)
        not_shown(true, "%s is not to be written", f->buf[buf].name);
    to.written = true;
    change(&cell[buf][i], to);
    if (argument_of(buf) && overlaps[buf])
        check_bytes(buf, i, true);
}

void spend(int64_t n)
{
    steps += n;
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

/* The rest of the block, for x in one part after the other. */
static void run_parts(int32_t x, int32_t to, const cut *u)
{
    range *v = &f->code[x].value[0];
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

/* ... and for x being one of the elements that it is the largest of. */
static bool run_cases(int32_t x, int32_t to)
{
    enum { MOST_CASES = 2048 };
    range *v = &f->code[x].value[0];
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

static void run_loop(int32_t x)
{
    const instruction *i = &f->code[x];
    const range lo = f->code[i->a].value[0], hi = f->code[i->b].value[0];
    if (lo.lo != lo.hi || hi.lo != hi.hi)
        not_shown(false, "the bounds of a loop depend on data");
    shown.loops++;
    for (whole n = lo.lo; i->k > 0 ? n < hi.lo : n > hi.lo; n += i->k) {
        if (n + i->k > INT32_MAX || n + i->k < INT32_MIN)
            not_shown(all_certain(), "the counter of a loop overflows");
        change(&i->value[0], number(n));
        run(x + 1, i->end);
        if (breaking)
            break;
    }
    breaking = false;
}

static void run_branch(int32_t x)
{
    const instruction *i = &f->code[x];
    const int32_t middle = i->other ? i->other : i->end;
    const range cond = f->code[i->a].value[0];
    if (cond.lo == cond.hi) {
        if (cond.lo)
            run(x + 1, middle);
        else if (i->other)
            run(i->other + 1, i->end);
        return;
    }
    join j = begin_join();
    narrow(f->code, i->a, true);
    run_part(&j, x + 1, middle);
    narrow(f->code, i->a, false);
    run_part(&j, i->other ? i->other + 1 : i->end, i->end);
    end_join(&j);
}

static void leave_early(const instruction *i)
{
    const range cond = f->code[i->a].value[0];
    if (cond.lo == cond.hi && !cond.lo)
        return;
    if (i->op == OP_break_if && cond.lo != cond.hi)
        not_shown(false, "a loop may be left, by data");
    if (i->op == OP_break_if) {
        breaking = true;
        return;
    }
    if (cond.lo == cond.hi)
        not_shown(false, "the function fails always");
    doubtful++;
    narrow(f->code, i->a, false);
}

static const cut *cut_of(int32_t x)
{
    for (int32_t i = 0; i < at_call->n_cuts; i++)
        if (at_call->cut[i].at == x)
            return &at_call->cut[i];
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
            i->value[l] = f->code[i->aux].value[l];
            break;
        default:
            compute(f->code, i, l);
        }
}

/* Does no loop around GET x, which its variable is older than, set it? */
static bool is_settled(int32_t x)
{
    for (int32_t k = f->code[x].aux; k < x; k++)
        for (int32_t s = k; f->code[k].op == OP_for && f->code[k].end > x && s < f->code[k].end; s++)
            if (f->code[s].op == OP_set && f->code[s].aux == f->code[x].aux)
                return false;
    return true;
}

static void run(int32_t from, int32_t to)
{
    for (int32_t x = from; x < to && !breaking; x++) {
        instruction *i = &f->code[x];
        at_work = x;
        if (++steps > MOST_STEPS)
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
                change(&i->value[l], f->code[i->a].value[l]);
            break;
        case OP_set:
            for (int32_t l = 0; l < f->code[i->a].lanes; l++)
                change(&f->code[i->aux].value[l], f->code[i->a].value[l]);
            break;
        case OP_load:
            load(i);
            break;
        case OP_store:
            store(i);
            break;
        case OP_break_if:
        case OP_fail_if:
            leave_early(i);
            break;
        case OP_prefetch:
            break;
        case OP_tile:
            run_tile(f->code, i);
            break;
        case OP_requant:
            run_requant(f->code, i);
            break;
        case OP_mma:
            not_shown(false, "instructions of this kind are not replayed");
        default:
            value(i);
        }
        if (!i->value || i->lanes != 1 || i->op == OP_for || i->op == OP_var || i->value[0].lo == i->value[0].hi)
            continue;
        const cut *u = at_call->n_cuts ? cut_of(x) : NULL;
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
    for (int32_t p = 0; p < at_call->n_args; p++) {
        const argument *a = &at_call->arg[p];
        overlaps[p] = false;
        for (int32_t q = 0; q < at_call->n_args; q++) {
            const argument *b = &at_call->arg[q];
            overlaps[p] |= q != p && a->place == AT_MEMORY && b->place == AT_MEMORY && a->index == b->index &&
                           a->offset < b->offset + b->count * type_bytes(f->buf[q].type) &&
                           b->offset < a->offset + a->count * type_bytes(f->buf[p].type);
        }
    }
}

static void open_buffer(int32_t b, int32_t task)
{
    const argument *a = argument_of(b);
    const int kind = (int)f->buf[b].role;
    limit[b] = a ? a->count : f->buf[b].count;
    if (a && a->place == AT_CONSTANT)
        return;
    if (task &&
        (kind == OUT || kind == INOUT || (kind == IN && a->place != AT_TASK) || (kind == SCRATCH && at_call->keeps)))
        return; /* the tasks before have written some of it */
    if (!task)
        cell[b] = room(NULL, (size_t)limit[b] + 1, sizeof *cell[b]);
    range first = of_type(f->buf[b].type);
    first.written = kind == IN || (kind == INOUT && !a->made);
    if (kind == IN && a && a->place == AT_MEMORY)
        left_in(a->tensor, f->buf[b].type, &first);
    for (int64_t i = 0; i < limit[b]; i++)
        cell[b][i] = first;
    if (a && a->place == AT_TASK)
        cell[b][0] = number(task);
}

/* What the caller puts there. */
static void give(int32_t b, int64_t n)
{
    range any = of_type(f->buf[b].type);
    any.written = true;
    if (n > limit[b])
        not_shown(true, "the caller writes beyond %s", f->buf[b].name);
    for (int64_t i = limit[b] - n; i < limit[b]; i++)
        cell[b][i] = any;
}

static void run_tasks(void)
{
    for (int32_t task = 0; task < at_call->tasks; task++) {
        for (int32_t b = 0; b < f->n_buf; b++)
            open_buffer(b, task);
        if (at_call->keeps)
            give(at_call->given, at_call->n_given);
        for (int32_t b = 0; b < f->n_buf && overlaps[b] && task; b++)
            not_shown(false, "tasks share bytes of %s", f->buf[b].name);
        run(1, f->n);
    }
    at_work = 0;
    for (int32_t b = 0; b < at_call->n_args; b++)
        for (int64_t i = 0; (f->buf[b].role == OUT || at_call->arg[b].made) && i < limit[b]; i++)
            if (!cell[b][i].written)
                not_shown(all_certain(), "element %lld of %s is not written", (long long)i, f->buf[b].name);
}

static bool attempt(void)
{
    begin_run();
    names = doubtful = 0;
    steps = 0;
    breaking = false;
    if (setjmp(leave_call))
        return false;
    run_tasks();
    return true;
}

/* What the call has put into its arguments; nobody knows where it was not shown. */
static void leave(bool known)
{
    for (int32_t b = 0; b < at_call->n_args; b++) {
        const argument *a = &at_call->arg[b];
        const int kind = (int)f->buf[b].role;
        if (a->place == AT_MEMORY && kind == OUT && known)
            left_stored(a->tensor, f->buf[b].type, cell[b], limit[b]);
        else if (a->place == AT_MEMORY && (kind == OUT || kind == INOUT))
            left_by_anybody(a->tensor);
    }
}

static void forget(void)
{
    for (int32_t b = 0; b < f->n_buf; b++) {
        free(cell[b]);
        cell[b] = NULL;
    }
}

void replay_call(program *c, int32_t s)
{
    all = c;
    step = s;
    at_call = &c->call[s];
    f = &c->fn[at_call->fn];
    if (f->n_buf > 2 * MAX_ARGS || at_call->n_args >= MAX_ARGS)
        refuse("step %d: too many arguments", s);
    find_overlaps();
    for (int turn = 0; turn < 2; turn++) {
        const counts before = shown;
        by_cases = turn;
        at_call->open = NULL;
        if (!attempt()) {
            at_call->open = strcpy(room(NULL, strlen(reason) + 1, 1), reason);
            shown = before;
        }
        if (!at_call->open || turn)
            leave(!at_call->open);
        forget();
        if (!at_call->open)
            return;
        for (int32_t i = 0; i < c->n_memories; i++) /* once more: nothing has been stored */
            for (int64_t b = 0; b < c->memory[i].bytes; b++)
                if (c->memory[i].by[b] > s * MAX_ARGS)
                    c->memory[i].by[b] = 0;
    }
}
