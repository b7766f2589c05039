/* region.c - regions: chunks from the heap, freed together; the heap counts and limits them. */
#include "base/region.h"

#include "base/format.h"

#include <stdlib.h>
#include <string.h>

typedef struct chunk {
    struct chunk *next;
    size_t size, used; /* bytes after the header */
} chunk;

struct ac_region {
    ac_heap *heap;
    ac_region *next;
    chunk *chunks;
};

/* Many regions hold little: the first chunk of each is small. */
enum { ALIGN = 16, FIRST = 8 * 1024, CHUNK = 64 * 1024 };
static const size_t HEADER = (sizeof(chunk) + ALIGN - 1) / ALIGN * ALIGN;

_Noreturn void ac_heap_give_up(ac_heap *heap)
{
    if (!heap->on_oom)
        abort(); /* an allocation outside of every guard: a fault of ours */
    longjmp(*heap->on_oom, 1);
}

_Noreturn void ac_heap_exhausted(ac_heap *heap)
{
    heap->exhausted = true;
    ac_heap_give_up(heap);
}

bool ac_heap_guard(ac_heap *heap, void (*f)(void *arg), void *arg)
{
    jmp_buf here;
    jmp_buf *const outer = heap->on_oom;
    ac_region *const open = heap->open;
    volatile bool ran_out = true;
    heap->on_oom = &here;
    if (setjmp(here) == 0) {
        f(arg);
        ran_out = false;
    }
    while (ran_out && heap->open != open)
        ac_region_close(heap->open);
    heap->on_oom = outer;
    return !ran_out;
}

static void check_limit(ac_heap *heap, size_t more)
{
    heap->exhausted = false;
    if (heap->limit && (more > heap->limit || heap->used > heap->limit - more))
        ac_heap_give_up(heap);
}

static void add(ac_heap *heap, size_t size)
{
    heap->used += size;
    if (heap->used > heap->peak)
        heap->peak = heap->used;
}

void ac_heap_count(ac_heap *heap, size_t n)
{
    check_limit(heap, n);
    add(heap, n);
}

void ac_heap_uncount(ac_heap *heap, size_t n)
{
    heap->used -= n;
}

/* Zeroed: the system zeroes a large block, and never backs its untouched pages. */
static void *take(ac_heap *heap, size_t size)
{
    check_limit(heap, size);
    void *p = calloc(1, size);
    if (!p)
        ac_heap_exhausted(heap);
    add(heap, size);
    return p;
}

ac_region *ac_region_open(ac_heap *heap)
{
    ac_region *r = take(heap, sizeof *r);
    r->heap = heap;
    r->chunks = NULL;
    r->next = heap->open;
    heap->open = r;
    return r;
}

ac_region *ac_region_open_beside(ac_region *r)
{
    ac_region *beside = take(r->heap, sizeof *beside);
    beside->heap = r->heap;
    beside->chunks = NULL;
    beside->next = r->next;
    r->next = beside;
    return beside;
}

ac_heap *ac_region_heap(const ac_region *r)
{
    return r->heap;
}

void ac_region_close(ac_region *r)
{
    if (!r)
        return;
    ac_heap *heap = r->heap;
    for (chunk *c = r->chunks, *next; c; c = next) {
        next = c->next;
        heap->used -= c->size + HEADER;
        free(c);
    }
    ac_region **p = &heap->open;
    while (*p && *p != r)
        p = &(*p)->next;
    if (*p)
        *p = r->next;
    heap->used -= sizeof *r;
    free(r);
}

void ac_heap_close(ac_heap *heap)
{
    while (heap->open)
        ac_region_close(heap->open);
}

void *ac_alloc(ac_region *r, uint64_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        ac_heap_give_up(r->heap);
    size_t size = ((size_t)bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!size)
        size = ALIGN;
    chunk *c = r->chunks;
    if (!c || c->size - c->used < size) {
        const size_t usual = c ? CHUNK : FIRST;
        size_t room = size > usual / 4 ? size : usual;
        chunk *fresh = take(r->heap, room + HEADER);
        fresh->size = room;
        fresh->used = 0;
        if (c && room == size && c->size - c->used >= ALIGN) {
            fresh->next = c->next; /* a large block goes after it: the current chunk stays in use */
            c->next = fresh;
        } else {
            fresh->next = c;
            r->chunks = fresh;
        }
        c = fresh;
    }
    void *p = (char *)c + HEADER + c->used;
    c->used += size;
    return p;
}

void *ac_alloc_n(ac_region *r, uint64_t count, uint64_t size)
{
    if (size && count > UINT64_MAX / size)
        ac_heap_give_up(r->heap);
    return ac_alloc(r, count * size);
}

void *ac_copy(ac_region *r, const void *p, size_t size)
{
    void *q = ac_alloc(r, size);
    if (size)
        memcpy(q, p, size);
    return q;
}

char *ac_strdup(ac_region *r, const char *s)
{
    return ac_copy(r, s, strlen(s) + 1);
}

char *ac_vstrf(ac_region *r, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char here[256];
    const int n = ac_vprint(here, sizeof here, fmt, ap);
    const size_t size = (size_t)(n < 0 ? 0 : n) + 1;
    char *s = ac_alloc(r, size);
    if (n >= 0 && size <= sizeof here)
        memcpy(s, here, size);
    else if (n >= 0)
        ac_vprint(s, size, fmt, again);
    va_end(again);
    return s;
}

char *ac_strf(ac_region *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = ac_vstrf(r, fmt, ap);
    va_end(ap);
    return s;
}

bool ac_mul_ok(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || (b && a > INT64_MAX / b))
        return false;
    *out = a * b;
    return true;
}

bool ac_add_ok(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || a > INT64_MAX - b)
        return false;
    *out = a + b;
    return true;
}

ac_bytes ac_gcd(ac_bytes a, ac_bytes b)
{
    while (b) {
        ac_bytes c = a % b;
        a = b;
        b = c;
    }
    return a;
}

ac_bytes ac_align_up(ac_bytes x, ac_bytes align)
{
    return align <= 1 ? x : (x + align - 1) / align * align;
}
