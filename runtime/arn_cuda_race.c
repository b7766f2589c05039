/* arn_cuda_race.c - finds races of kernels: implements the functions that -fsanitize=thread calls around every access,
 * in place of its library. Kernels are compiled with that flag; the program is linked without it.
 *
 * If kernels start early, a thread must not touch the arena or the state before it has waited for the kernel before it.
 *
 * For each byte of the watched memories it stores the last writer and the readers since. Two accesses of one launch,
 * one of them a write, are a race unless one thread made both, or a barrier of their block separates them. */
#include "arn_cuda.h"
#include "arn_cuda_emu.h"

#include <stdio.h>
#include <stdlib.h>

enum { REGIONS = 8, SHARED_BY_MANY = -1 };

struct access {
    uint32_t launch, block, epoch;
    int32_t thread; /* SHARED_BY_MANY: several threads of this epoch */
};
struct cell {
    struct access write, read;
};
struct region {
    const unsigned char *from;
    size_t n;
    struct cell *cell;
    int of_block;
};

static struct region region[REGIONS];
static int regions;
static uint32_t number = 1; /* of the launch */
static const void *found;
static int early; /* memory was used before the kernel before had ended */
static struct access found_first;
static uint32_t found_block;
static int32_t found_thread;

void arn_race_watch(const void *from, size_t n, int of_block)
{
    for (int i = 0; i < regions; i++)
        if (region[i].from == from)
            return;
    if (!n || regions == REGIONS)
        return;
    struct cell *cell = calloc(n, sizeof *cell);
    if (!cell) {
        fprintf(stderr, "no memory to watch %zu bytes\n", n);
        exit(3);
    }
    region[regions++] = (struct region){from, n, cell, of_block};
}

/* Nonzero when the kernel that has just run had a race; the first is described. */
int arn_race_launch(const char *name)
{
    number++;
    if (early) {
        fprintf(stderr, "%s: memory is used before the kernel before has ended\n", name);
        early = 0;
        return ARN_CUDA_ERACE;
    }
    if (!found)
        return 0;
    fprintf(stderr, "%s: race on %p: block %u thread %d, and block %u thread %d%s\n", name, found, found_first.block,
            found_first.thread, found_block, found_thread,
            found_first.thread == SHARED_BY_MANY ? " (-1: several)" : "");
    found = NULL;
    return ARN_CUDA_ERACE;
}

static int same_place(const struct access *a)
{
    return a->launch == number && a->block == arn_emu_block.x && a->epoch == arn_emu_epoch;
}

static int races(const struct region *r, const struct access *a)
{
    if (r->of_block && a->block != arn_emu_block.x)
        return 0;
    if (a->launch != number || (a->block == arn_emu_block.x && a->epoch != arn_emu_epoch))
        return 0;
    return a->block != arn_emu_block.x || a->thread != (int32_t)arn_emu_thread.x;
}

static void look(const void *at, size_t n, int writes)
{
    const struct access now = {number, arn_emu_block.x, arn_emu_epoch, (int32_t)arn_emu_thread.x};
    for (int i = 0; i < regions; i++) {
        const size_t offset = (size_t)((const unsigned char *)at - region[i].from);
        if ((const unsigned char *)at < region[i].from || offset >= region[i].n)
            continue;
        if (arn_emu_early && !region[i].of_block && !arn_emu_begun[arn_emu_thread.x])
            early = 1;
        for (size_t k = offset; k < offset + n && k < region[i].n; k++) {
            struct cell *c = &region[i].cell[k];
            const struct access *with = races(&region[i], &c->write)            ? &c->write
                                        : writes && races(&region[i], &c->read) ? &c->read
                                                                                : NULL;
            if (with && !found) {
                found = at;
                found_first = *with;
                found_block = now.block;
                found_thread = now.thread;
            }
            if (writes) {
                c->write = now;
            } else if (!region[i].of_block && c->read.launch == number && c->read.block != now.block) {
                c->read.thread = SHARED_BY_MANY; /* of two blocks: no barrier orders them */
            } else {
                const int many = same_place(&c->read) && c->read.thread != now.thread;
                c->read = now;
                c->read.thread = many ? SHARED_BY_MANY : now.thread;
            }
        }
        return;
    }
}

/* The names that compilers know. */
#define ACCESS(name, n, writes) \
    void name(void *at);        \
    void name(void *at)         \
    {                           \
        look(at, n, writes);    \
    }
#define BOTH(n)                            \
    ACCESS(__tsan_read##n, n, 0)           \
    ACCESS(__tsan_write##n, n, 1)          \
    ACCESS(__tsan_unaligned_read##n, n, 0) \
    ACCESS(__tsan_unaligned_write##n, n, 1)
BOTH(1)
BOTH(2)
BOTH(4)
BOTH(8)
BOTH(16)
void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void *);
void __tsan_read_range(void *at, long n);
void __tsan_write_range(void *at, long n);
void *__tsan_memcpy(void *to, const void *from, unsigned long n);
void *__tsan_memset(void *to, int byte, unsigned long n);
void __tsan_init(void) {}
void __tsan_func_entry(void *pc)
{
    (void)pc;
}
void __tsan_func_exit(void *unused)
{
    (void)unused;
}
void __tsan_read_range(void *at, long n)
{
    look(at, (size_t)n, 0);
}
void __tsan_write_range(void *at, long n)
{
    look(at, (size_t)n, 1);
}
void *__tsan_memcpy(void *to, const void *from, unsigned long n)
{
    look(from, n, 0);
    look(to, n, 1);
    return memcpy(to, from, n);
}
void *__tsan_memset(void *to, int byte, unsigned long n)
{
    look(to, n, 1);
    return memset(to, byte, n);
}
