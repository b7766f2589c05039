/* replay.c - replays a certificate of code: the calls in order, and the owner of every byte of each memory between
 * them; see replay.h. */
#include "prove/replay/replay.h"

#include "prove/replay/check_code.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define leave(status) (fflush(stdout), _Exit(status))

static int status = 2; /* exit status of a refusal: 2 until the file has been read, then 1 */

void refuse(const char *format, ...)
{
    va_list ap;
    printf("REFUSED ");
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    leave(status);
}

void *room(void *old, size_t n, size_t size)
{
    void *p = n > SIZE_MAX / 2 / size ? NULL : realloc(old, n * size + 1);
    if (!p)
        refuse("out of memory");
    return p;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, got = 1;
    if (!file)
        refuse("cannot open %s", path);
    while (got) {
        text = room(text, n + 65536 + 1, 1);
        n += got = fread(text + n, 1, 65536, file);
    }
    if (ferror(file) || memchr(text, '\0', n))
        refuse("%s is not a text file", path);
    text[n] = '\0';
    fclose(file);
    return text;
}

/* ------------------------------------------------------------------ bytes */

static void hold(program *c, const holding *h)
{
    memory *m = &c->memory[h->memory];
    for (int64_t i = 0; i < h->bytes; i++) {
        m->tensor[h->offset + i] = h->tensor;
        m->at[h->offset + i] = h->begin + i;
    }
}

static void expect(const program *c, const holding *h, int32_t step)
{
    const memory *m = &c->memory[h->memory];
    for (int64_t i = 0; i < h->bytes; i++)
        if (m->tensor[h->offset + i] != h->tensor || m->at[h->offset + i] != h->begin + i)
            refuse("step %d: byte %lld of tensor %d is read at %lld of %s, and something else is there", step,
                   (long long)(h->begin + i), h->tensor, (long long)(h->offset + i), m->name);
}

static holding of_argument(const argument *a)
{
    return (holding){a->index, a->tensor, a->offset, a->begin, a->bytes};
}

static void check_places(const program *c, int32_t step)
{
    const call *k = &c->call[step];
    const function *f = &c->fn[k->fn];
    for (int32_t i = 0; i < k->n_args; i++) {
        const argument *a = &k->arg[i];
        const buffer *b = &f->buf[i];
        if (a->place != AT_MEMORY)
            continue;
        const memory *m = &c->memory[a->index];
        const int64_t bytes = a->count * type_bytes(b->type);
        if (a->offset + bytes > m->bytes || a->offset + a->bytes > m->bytes)
            refuse("step %d: argument %s is not inside %s", step, b->name, m->name);
        if (bytes && (a->offset % b->align || m->align % b->align))
            refuse("step %d: argument %s is not aligned", step, b->name);
        if (b->role != SCRATCH && (!a->tensor || a->bytes < bytes))
            refuse("step %d: argument %s is larger than its tensor", step, b->name);
        for (int32_t j = 0; j < k->n_args && b->restricted; j++) {
            const argument *o = &k->arg[j];
            const bool written = b->role != IN || f->buf[j].role != IN;
            if (j != i && written && o->place == AT_MEMORY && o->index == a->index && o->offset < a->offset + bytes &&
                a->offset < o->offset + o->count * type_bytes(f->buf[j].type))
                refuse("step %d: restrict %s shares bytes with %s", step, b->name, f->buf[j].name);
        }
    }
}

static void check_call(program *c, int32_t step)
{
    const call *k = &c->call[step];
    const function *f = &c->fn[k->fn];
    check_places(c, step);
    for (int32_t i = 0; i < k->n_args; i++)
        if (k->arg[i].place == AT_MEMORY && (f->buf[i].role == IN || f->buf[i].role == INOUT)) {
            const holding h = of_argument(&k->arg[i]);
            k->arg[i].made = f->buf[i].role == INOUT && !left_at_all(h.tensor);
            if (!k->arg[i].made)
                expect(c, &h, step);
        }
    replay_call(c, step);
    for (int32_t i = 0; i < k->n_args; i++)
        if (k->arg[i].place == AT_MEMORY && f->buf[i].role != IN) {
            holding h = of_argument(&k->arg[i]);
            if (f->buf[i].role == SCRATCH) {
                h.tensor = -1;
                h.bytes = k->arg[i].count * type_bytes(f->buf[i].type);
            }
            hold(c, &h);
        }
}

/* ------------------------------------------------------------------ the verdict */

int check_code(const char *path)
{
    enum { SHOWN = 0, REFUSED = 1, INCOMPLETE = 3 };
    program c = {0};
    int32_t open = 0;
    read_code(read_text(path), &c);
    status = REFUSED;
    for (int32_t i = 0; i < c.n_before; i++) {
        hold(&c, &c.before[i]);
        left_by_anybody(c.before[i].tensor);
    }
    for (int32_t i = 0; i < c.n_calls; i++) {
        check_call(&c, i);
        open += c.call[i].open != NULL;
    }
    for (int32_t i = 0; i < c.n_after; i++)
        expect(&c, &c.after[i], c.n_calls);
    printf("%s %d of %d steps: accesses %lld, arithmetic %lld, shifts %lld, loops %lld, written %lld\n",
           open ? "INCOMPLETE" : "VALID", c.n_calls - open, c.n_calls, (long long)shown.accesses,
           (long long)shown.arithmetic, (long long)shown.shifts, (long long)shown.loops, (long long)shown.written);
    for (int32_t i = 0; i < c.n_calls; i++)
        if (c.call[i].open)
            printf("  not checked: %s\n", c.call[i].open);
    return open ? INCOMPLETE : SHOWN;
}
