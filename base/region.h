/* region.h - memory by lifetime: bump allocation, freed all at once.
 *
 * One ac_heap per compilation counts every byte and stores the target of the jump for when memory (or the budget of
 * --max-memory) runs out; regions are opened on it and closed whole. Nothing is freed alone.
 *
 *     ac_region *tmp = ac_region_open(heap);
 *     int32_t *x = AC_NEW_N(tmp, int32_t, n);      zeroed, aligned to 16
 *     ac_region_close(tmp);
 *
 * Cost: O(1) per allocation. Errors: running out of memory does not return; it ends the innermost ac_heap_guard, which
 * closes the regions opened inside it. Guards nest. All regions still open at ac_heap_close are freed.
 * Source of the method: allocation by lifetimes as in lcc (Hanson 1990). */
#ifndef AC_BASE_REGION_H
#define AC_BASE_REGION_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t ac_bytes; /* a size or an offset, in bytes; never a number of elements */

typedef struct ac_region ac_region;

typedef struct ac_heap {
    jmp_buf *on_oom; /* of the innermost guard; NULL: none, running out of memory aborts */
    ac_region *open; /* all open regions, newest first */
    size_t used;     /* bytes held now, by all regions */
    size_t peak;     /* largest `used` so far */
    size_t limit;    /* 0: no limit; else --max-memory */
    bool exhausted;  /* the system refused, not the limit */
} ac_heap;

/* Runs f(arg). false: memory ran out inside; regions opened there are closed, and the guard around this one is in force
 * again. */
bool ac_heap_guard(ac_heap *heap, void (*f)(void *arg), void *arg);
_Noreturn void ac_heap_give_up(ac_heap *heap);   /* called by allocations over the limit */
_Noreturn void ac_heap_exhausted(ac_heap *heap); /* ... and when the system gives nothing, to this heap or another */

/* Memory from elsewhere that counts: n bytes more, within the limit, or less. */
void ac_heap_count(ac_heap *heap, size_t n);
void ac_heap_uncount(ac_heap *heap, size_t n);

ac_region *ac_region_open(ac_heap *heap);
/* One that no guard closes which does not close r, so it may be opened inside of a guard and stay. */
ac_region *ac_region_open_beside(ac_region *r);
ac_heap *ac_region_heap(const ac_region *r); /* to open another one on it */
void ac_region_close(ac_region *r);          /* NULL is fine */
void ac_heap_close(ac_heap *heap);           /* frees every region still open */

/* Sizes have 64 bits even if addresses have 32: one that is too large counts as running out of memory. */
void *ac_alloc(ac_region *r, uint64_t bytes);                  /* zeroed, aligned to 16 */
void *ac_alloc_n(ac_region *r, uint64_t count, uint64_t size); /* the product is overflow-checked */
void *ac_copy(ac_region *r, const void *p, size_t size);
char *ac_strdup(ac_region *r, const char *s);
char *ac_strf(ac_region *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *ac_vstrf(ac_region *r, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

#define AC_NEW(r, T)      ((T *)ac_alloc((r), sizeof(T)))
#define AC_NEW_N(r, T, n) ((T *)ac_alloc_n((r), (uint64_t)(n), sizeof(T)))

/* Overflow-checked arithmetic on sizes: false leaves *out untouched. Negative operands are refused. */
bool ac_mul_ok(int64_t a, int64_t b, int64_t *out);
bool ac_add_ok(int64_t a, int64_t b, int64_t *out);
ac_bytes ac_gcd(ac_bytes a, ac_bytes b);          /* the greatest common divisor; gcd(0, b) is b */
ac_bytes ac_align_up(ac_bytes x, ac_bytes align); /* align >= 1, any integer; x >= 0 */

#endif
