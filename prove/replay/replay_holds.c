/* replay_holds.c - the tensors whose bytes are in the memories between calls, and the places of a call's arguments in
 * them; see replay.h. */
#include "prove/replay/replay.h"

#include <string.h>

/* The first of those that end after `at`. */
static size_t first_after(const memory *m, int64_t at)
{
    size_t lo = 0, hi = m->n_held;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (m->held[mid].to > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

void hold(memory *m, int64_t from, int64_t bytes, int32_t tensor, int64_t begin)
{
    const int64_t to = from + bytes;
    const size_t a = first_after(m, from);
    size_t b = a, n = 0;
    held put[3];
    if (!bytes)
        return;
    while (b < m->n_held && m->held[b].from < to)
        b++;
    if (a < b && m->held[a].from < from) {
        put[n] = m->held[a];
        put[n++].to = from;
    }
    if (tensor)
        put[n++] = (held){from, to, begin, tensor};
    if (a < b && m->held[b - 1].to > to) {
        put[n] = m->held[b - 1];
        put[n].begin += to - put[n].from;
        put[n++].from = to;
    }
    m->held = room(m->held, m->n_held + n + 1, sizeof *m->held);
    memmove(m->held + a + n, m->held + b, (m->n_held - b) * sizeof *m->held);
    memcpy(m->held + a, put, n * sizeof *put);
    m->n_held = m->n_held - (b - a) + n;
}

void expect_held(const program *c, const holding *h, int32_t step)
{
    const memory *m = &c->memory[h->memory];
    int64_t at = h->offset;
    for (size_t i = first_after(m, at); at < h->offset + h->bytes; i++) {
        const held *s = &m->held[i];
        const int64_t byte = h->begin + at - h->offset;
        if (i == m->n_held || s->from > at || s->tensor != h->tensor || s->begin + at - s->from != byte)
            refuse("step %d: byte %lld of tensor %d is read at %lld of %s, and something else is there", step,
                   (long long)byte, h->tensor, (long long)at, m->name);
        at = s->to;
    }
}

/* ------------------------------------------------------------------ arguments */

static int64_t bytes_of(const program *c, const call *k, int32_t i)
{
    return k->arg[i].count * type_bytes(c->fn[k->fn].buf[i].type);
}

bool share_bytes(const program *c, const call *k, int32_t i, int32_t j)
{
    const argument *a = &k->arg[i], *b = &k->arg[j];
    return i != j && a->place == AT_MEMORY && b->place == AT_MEMORY && a->index == b->index &&
           a->offset < b->offset + bytes_of(c, k, j) && b->offset < a->offset + bytes_of(c, k, i);
}

static void check_restrict(const program *c, int32_t step, int32_t i)
{
    const call *k = &c->call[step];
    const function *f = &c->fn[k->fn];
    for (int32_t j = 0; j < k->n_args; j++)
        if ((f->buf[i].role != IN || f->buf[j].role != IN) && share_bytes(c, k, i, j))
            refuse("step %d: restrict %s shares bytes with %s", step, f->buf[i].name, f->buf[j].name);
}

static void check_given(const function *f, const call *k, int32_t step)
{
    const argument *a = &k->arg[k->given];
    if (a->place != AT_MEMORY || k->n_given > a->count)
        refuse("step %d: the caller writes beyond %s, or a constant", step, f->buf[k->given].name);
}

void check_places(const program *c, int32_t step)
{
    const call *k = &c->call[step];
    const function *f = &c->fn[k->fn];
    if (k->keeps)
        check_given(f, k, step);
    for (int32_t i = 0; i < k->n_args; i++) {
        argument *a = &k->arg[i];
        const buffer *b = &f->buf[i];
        if (a->place != AT_MEMORY)
            continue;
        const memory *m = &c->memory[a->index];
        const int64_t bytes = bytes_of(c, k, i), size = type_bytes(b->type);
        if (a->offset + bytes > m->bytes || a->offset + a->bytes > m->bytes)
            refuse("step %d: argument %s is not inside %s", step, b->name, m->name);
        if (bytes && (a->offset % b->align || m->align % b->align || a->offset % size || m->align % size))
            refuse("step %d: argument %s is not aligned", step, b->name);
        if (b->role != SCRATCH && (!a->tensor || a->bytes < bytes))
            refuse("step %d: argument %s is larger than its tensor", step, b->name);
        a->made = b->role == OUT || (b->role == INOUT && !left_at_all(a->tensor));
        if (a->made && a->bytes != bytes)
            refuse("step %d: argument %s is smaller than the bytes it makes", step, b->name);
        if (b->restricted)
            check_restrict(c, step, i);
        const holding h = {a->index, a->tensor, a->offset, a->begin, a->bytes};
        if (!a->made && b->role != SCRATCH)
            expect_held(c, &h, step);
    }
}

/* Runs of elements that are still the argument's. */
static void hold_written(memory *m, const argument *a, int64_t size, const range *cell)
{
    for (int64_t i = 0, n = 0; i < a->count; i += n + 1) {
        for (n = 0; i + n < a->count && (!cell || cell[i + n].written);)
            n++;
        hold(m, a->offset + i * size, n * size, a->tensor, a->begin + i * size);
    }
}

void hold_results(program *c, int32_t step, range *const *cell)
{
    const call *k = &c->call[step];
    const function *f = &c->fn[k->fn];
    for (int turn = 0; turn < 2; turn++)
        for (int32_t i = 0; i < k->n_args; i++) {
            const argument *a = &k->arg[i];
            const buffer *b = &f->buf[i];
            const bool stored = b->role != IN || (k->keeps && k->given == i);
            if (a->place != AT_MEMORY || !stored || (turn && b->role == SCRATCH))
                continue;
            if (turn)
                hold_written(&c->memory[a->index], a, type_bytes(b->type), cell ? cell[i] : NULL);
            else
                hold(&c->memory[a->index], a->offset, bytes_of(c, k, i), 0, 0);
        }
}
