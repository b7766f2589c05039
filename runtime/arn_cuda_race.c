/* arn_cuda_race.c - finds races of kernels: implements the functions that -fsanitize=thread calls around every access,
 * in place of its library. Kernels are compiled with that flag; the program is linked without it.
 *
 * If kernels start early, a thread must not touch the arena or the state before it has waited for the kernel before it.
 *
 * Every access has to be inside of one argument of the kernel, or of one array in shared memory.
 *
 * For each byte of the watched memories it stores the last writer and the readers since. Two accesses of one launch,
 * one of them a write, are a race unless one thread made both, or a barrier of their block or of their cluster
 * separates them. */
#include "arn_cuda.h"
#include "arn_cuda_emu.h"

#include <stdio.h>
#include <stdlib.h>

enum { REGIONS = 1024, SHARED_BY_MANY = -1 };

struct access {
    uint32_t launch, block, epoch, cluster_epoch;
    int32_t thread;  /* SHARED_BY_MANY: several threads of this epoch */
    int32_t several; /* blocks of this epoch of the cluster; 2: and blocks of other clusters */
};
struct cell {
    struct access write, read;
};
struct region {
    const unsigned char *from;
    size_t n;
    int what;          /* ARN_WATCH_... */
    struct cell *cell; /* by byte; kept for regions of later launches */
    size_t cells;
};

static struct region region[REGIONS];
static int regions;
static uint32_t number = 1; /* of the launch */
static const void *found;
static const unsigned char *block_memory;
static size_t block_bytes;
static int outside; /* of an array in shared memory */
static int early;   /* memory was used before the kernel before had ended */
static struct access found_first;
static uint32_t found_block;
static int32_t found_thread;

void arn_race_begin(const void *shared, size_t n)
{
    regions = 0;
    block_memory = shared;
    block_bytes = n;
}

void arn_race_watch(const void *from, size_t n, int what)
{
    if (!n)
        return;
    if (regions == REGIONS) {
        fprintf(stderr, "more than %d memories to watch\n", REGIONS);
        exit(3);
    }
    struct region *r = &region[regions++];
    r->from = from;
    r->n = n;
    r->what = what;
    if (what == ARN_WATCH_BOUNDS || n <= r->cells)
        return;
    free(r->cell);
    r->cells = n;
    if (!(r->cell = calloc(n, sizeof *r->cell))) {
        fprintf(stderr, "no memory to watch %zu bytes\n", n);
        exit(3);
    }
}

/* At the end of the program, or when the library that contains the model is unloaded. */
__attribute__((destructor)) static void release(void)
{
    for (int k = 0; k < REGIONS; k++)
        free(region[k].cell);
}

/* Nonzero when the kernel that has just run had a race; the first is described. */
int arn_race_launch(const char *name)
{
    number++;
    if (outside) {
        fprintf(stderr, "%s: a thread uses shared memory outside of its arrays\n", name);
        outside = 0;
        return ARN_CUDA_EBOUNDS;
    }
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

static uint32_t cluster_of(uint32_t block)
{
    return block / arn_emu_ranks;
}

/* True if the access is of this launch, and no barrier separates it from the present thread. */
static int is_now(const struct region *r, const struct access *a)
{
    if (a->launch != number || (r->what == ARN_WATCH_BLOCK && cluster_of(a->block) != cluster_of(arn_emu_block.x)))
        return 0;
    if (a->several == 2 || cluster_of(a->block) != cluster_of(arn_emu_block.x))
        return 1;
    if (a->several || a->block != arn_emu_block.x)
        return a->cluster_epoch == arn_emu_cluster_epoch;
    return a->epoch == arn_emu_epoch;
}

static int races(const struct region *r, const struct access *a)
{
    return is_now(r, a) && (a->several || a->block != arn_emu_block.x || a->thread != (int32_t)arn_emu_thread.x);
}

/* The readers since the last barrier, with one more. */
static void add_reader(const struct region *r, struct access *a, const struct access *now)
{
    struct access all = *now;
    if (is_now(r, a)) {
        all.thread = a->thread == now->thread && a->block == now->block ? now->thread : SHARED_BY_MANY;
        all.several = a->several == 2 || cluster_of(a->block) != cluster_of(now->block)
                          ? 2
                          : a->several || a->block != now->block;
    }
    *a = all;
}

static void look_at(const struct region *r, const unsigned char *at, size_t n, int writes)
{
    const struct access now = {number, arn_emu_block.x, arn_emu_epoch, arn_emu_cluster_epoch, (int32_t)arn_emu_thread.x,
                               0};
    if (arn_emu_early && r->what == ARN_WATCH_MEMORY && !arn_emu_begun())
        early = 1;
    for (size_t k = (size_t)(at - r->from), end = k + n; k < end; k++) {
        struct cell *c = &r->cell[k];
        const struct access *with = races(r, &c->write) ? &c->write : writes && races(r, &c->read) ? &c->read : NULL;
        if (with && !found) {
            found = at;
            found_first = *with;
            found_block = now.block;
            found_thread = now.thread;
        }
        if (writes)
            c->write = now;
        else
            add_reader(r, &c->read, &now);
    }
}

/* Memory of a kernel that is in no region is outside of its tensors and arrays. */
void arn_race_look(const void *address, size_t n, int writes)
{
    const unsigned char *at = address;
    for (int i = 0; i < regions; i++) {
        const struct region *r = &region[i];
        if (at < r->from || at + n > r->from + r->n)
            continue;
        if (r->what != ARN_WATCH_BOUNDS)
            look_at(r, at, n, writes);
        return;
    }
    if (arn_fence_holds(at))
        arn_fence_report(at + n - 1);
    else if (at >= block_memory && at < block_memory + block_bytes)
        outside = 1;
}

/* The names that compilers know. */
#define ACCESS(name, n, writes)       \
    void name(void *at);              \
    void name(void *at)               \
    {                                 \
        arn_race_look(at, n, writes); \
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
    arn_race_look(at, (size_t)n, 0);
}
void __tsan_write_range(void *at, long n)
{
    arn_race_look(at, (size_t)n, 1);
}
void *__tsan_memcpy(void *to, const void *from, unsigned long n)
{
    arn_race_look(from, n, 0);
    arn_race_look(to, n, 1);
    return memcpy(to, from, n);
}
void *__tsan_memset(void *to, int byte, unsigned long n)
{
    arn_race_look(to, n, 1);
    return memset(to, byte, n);
}
