/* replay_memory.c - checks accesses to a call's arguments and arrays: each must be inside its buffer, and read elements
 * that were written and not overwritten by another argument. */
#include "prove/replay/replay_now.h"

const argument *argument_of(int32_t buf)
{
    return buf < now.call->n_args ? &now.call->arg[buf] : NULL;
}

/* Bytes of an element that has been stored by another argument since the call began are not this one's any more. */
static void check_bytes(int32_t buf, int64_t i, bool stores)
{
    const argument *a = argument_of(buf);
    const int64_t size = type_bytes(now.fn->buf[buf].type);
    memory *m = &now.program->memory[a->index];
    const int32_t first = now.step * MAX_ARGS + 1;
    for (int64_t b = a->offset + i * size; b < a->offset + (i + 1) * size; b++)
        if (stores)
            put_stamp(&m->by[b], first + buf);
        else if (m->by[b] >= first && m->by[b] != first + buf)
            not_shown(all_certain(), "element %lld of %s has been overwritten by %s", (long long)i,
                      now.fn->buf[buf].name, now.fn->buf[m->by[b] - first].name);
}

/* Elements first .. last that the access may begin at, all inside. */
static void check_index(const instruction *x, int32_t lanes, int64_t *first, int64_t *last)
{
    const range *i = &now.fn->code[x->a].value[0];
    const int64_t n = now.limit[x->aux];
    if (now.fn->code[x->a].lanes != 1 || is_real(now.fn->code[x->a].type))
        not_shown(true, "the index is no integer");
    if (i->lo < 0 || i->hi + lanes > n)
        not_shown(all_certain() && (i->hi < 0 || i->lo + lanes > n), "elements %lld .. %lld of %s[%lld]",
                  (long long)i->lo, (long long)(i->hi + lanes - 1), now.fn->buf[x->aux].name, (long long)n);
    shown.accesses++;
    *first = (int64_t)i->lo;
    *last = (int64_t)i->hi;
}

static range element(int32_t buf, int64_t i)
{
    const argument *a = argument_of(buf);
    const constant *k = a && a->place == AT_CONSTANT ? &now.program->constant[a->index] : NULL;
    if (k)
        return k->value[k->all_alike ? 0 : i];
    range *e = &now.cell[buf][i];
    if (!e->written) /* of scratch and locals: for the prover as well, this is undecided */
        not_shown(false, "element %lld of %s has not been written", (long long)i, now.fn->buf[buf].name);
    shown.written++;
    if (a && a->place == AT_MEMORY && now.overlaps[buf])
        check_bytes(buf, i, false);
    if (!e->name && e->lo != e->hi && !is_real(now.fn->buf[buf].type))
        e->name = ++now.names;
    return *e;
}

/* The join of elements first .. last. */
static range any_of(int32_t buf, int64_t first, int64_t last)
{
    range r = element(buf, first);
    for (int64_t i = first + 1; i <= last; i++) {
        const range e = element(buf, i);
        r = joined(r, &e);
    }
    return r;
}

/* The same, cached for tables, which are read repeatedly with the same bounds. */
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
    const constant *k = &now.program->constant[a->index];
    const uint64_t at = ((uint64_t)first * 31 + (uint64_t)last) % REMEMBERED;
    if (seen[at].k != k || seen[at].first != first || seen[at].last != last) {
        seen[at].r = any_of(buf, first, last);
        seen[at].k = k, seen[at].first = first, seen[at].last = last;
    }
    return seen[at].r;
}

void load(const instruction *x)
{
    enum { LOOKED_AT = 4096, NARROW = 64 };
    int64_t first, last;
    check_index(x, x->lanes, &first, &last);
    for (int32_t l = 0; l < x->lanes; l++) {
        x->value[l] = window(x->aux, first + l, last + l);
        if (x->narrow && (x->value[l].lo < -NARROW || x->value[l].hi > NARROW))
            not_shown(true, "%s is not within -64 .. 64", now.fn->buf[x->aux].name);
    }
    if (last - first > LOOKED_AT)
        now.steps += (last - first) / 4;
}

void store(const instruction *x)
{
    const instruction *v = &now.fn->code[x->b];
    const int kind = (int)now.fn->buf[x->aux].role;
    const argument *a = argument_of(x->aux);
    int64_t first, last;
    check_index(x, v->lanes, &first, &last);
    if (kind == IN || kind == CONSTANT)
        not_shown(true, "%s is not to be written", now.fn->buf[x->aux].name);
    for (int64_t i = first; i <= last; i++)
        for (int32_t l = 0; l < v->lanes; l++) {
            range r = v->value[l];
            r.written = true;
            if (first != last) {
                r = joined(r, &now.cell[x->aux][i + l]);
                r.name = 0, r.over = 0, r.one_of = false;
            }
            change(&now.cell[x->aux][i + l], r);
            if (a && now.overlaps[x->aux])
                check_bytes(x->aux, i + l, true);
        }
}

/* ------------------------------------------------------------------ elements of tiles */

static void check_inside(int32_t buf, int64_t i)
{
    if (i < 0 || i >= now.limit[buf])
        not_shown(all_certain(), "element %lld of %s[%lld]", (long long)i, now.fn->buf[buf].name,
                  (long long)now.limit[buf]);
}

range element_of(int32_t buf, int64_t i)
{
    check_inside(buf, i);
    return element(buf, i);
}

void put_element(int32_t buf, int64_t i, range to)
{
    const int kind = (int)now.fn->buf[buf].role;
    check_inside(buf, i);
    if (kind == IN || kind == CONSTANT)
        not_shown(true, "%s is not to be written", now.fn->buf[buf].name);
    to.written = true;
    change(&now.cell[buf][i], to);
    if (argument_of(buf) && now.overlaps[buf])
        check_bytes(buf, i, true);
}

void spend(int64_t n)
{
    now.steps += n;
}
