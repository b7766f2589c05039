/* arn_cuda_emu.c - blocks one after another, threads of a block as fibres where they wait for each other, else one
 * after another. */
#include "arn_cuda_emu.h"

#include "arn_cuda.h"
#include "arn_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { THREADS = 1024, WARP = 32, STACK = 256 << 10, STATIC = 48 << 10, SHARED = 256 << 10 };
enum state { READY, AT_BARRIER, AT_EXCHANGE, DONE };

struct fibre {
    ucontext_t context;
    enum state state;
    int line;
    uint32_t value, from;
    uint32_t words[ARN_EMU_WORDS];
};

struct arn_emu_index arn_emu_thread, arn_emu_block;
static struct fibre fibre[THREADS];
static uint32_t gathered[THREADS][ARN_EMU_WORDS]; /* by thread: words as they were when its warp went on */
static ucontext_t scheduler;
static unsigned char *stacks, shared[SHARED] __attribute__((aligned(1024)));
static size_t shared_used;
static const struct arn_cuda_kernel *kernel;
static void *const *args;
uint32_t arn_emu_epoch;
int arn_emu_early;
unsigned char arn_emu_begun[THREADS];

/* arn_cuda_race.c; here, without it. */
__attribute__((weak)) void arn_race_watch(const void *from, size_t n, int of_block)
{
    (void)from, (void)n, (void)of_block;
}
__attribute__((weak)) int arn_race_launch(const char *name)
{
    (void)name;
    return 0;
}

void *arn_emu_shared(size_t bytes)
{
    void *at = shared + shared_used;
    shared_used += (bytes + 15) / 16 * 16;
    if (shared_used > STATIC) {
        fprintf(stderr, "%s: more than %d bytes of static shared memory\n", kernel->name, STATIC);
        abort();
    }
    return at;
}

void *arn_emu_dynamic(size_t at, size_t bytes)
{
    if (at + bytes > kernel->shared || at < shared_used || at % 16) {
        fprintf(stderr, "%s: %zu bytes at %zu of %u bytes of shared memory, of which %zu are in use\n", kernel->name,
                bytes, at, kernel->shared, shared_used);
        abort();
    }
    shared_used = at + bytes;
    return shared + at;
}

static void stop(enum state why, int line)
{
    struct fibre *f = &fibre[arn_emu_thread.x];
    f->state = why;
    f->line = line;
    swapcontext(&f->context, &scheduler);
}

void arn_emu_barrier(int line)
{
    stop(AT_BARRIER, line);
}

uint32_t arn_emu_exchange(uint32_t mine, uint32_t from_lane, int line)
{
    struct fibre *f = &fibre[arn_emu_thread.x];
    f->value = mine;
    f->from = from_lane;
    stop(AT_EXCHANGE, line);
    return f->value;
}

const uint32_t (*arn_emu_gather(const uint32_t *mine, int n, int line))[ARN_EMU_WORDS]
{
    struct fibre *f = &fibre[arn_emu_thread.x];
    memcpy(f->words, mine, (size_t)n * sizeof *mine);
    f->from = 0;
    stop(AT_EXCHANGE, line);
    return (const uint32_t(*)[ARN_EMU_WORDS]) & gathered[arn_emu_thread.x / WARP * WARP];
}

static void begin(void)
{
    shared_used = 0;
    kernel->twin(args);
    stop(DONE, 0);
}

static void resume(uint32_t t)
{
    arn_emu_thread.x = t;
    swapcontext(&scheduler, &fibre[t].context);
}

/* Resumes warps whose live threads all have a value to exchange, at one place. */
static int exchange(uint32_t n, uint32_t *other)
{
    int some = 0;
    for (uint32_t w = 0; w < n; w += WARP) {
        const uint32_t end = w + WARP < n ? w + WARP : n;
        uint32_t value[WARP], waiting = 0, live = 0;
        for (uint32_t t = w; t < end; t++) {
            live += fibre[t].state != DONE;
            waiting += fibre[t].state == AT_EXCHANGE;
            value[t - w] = fibre[t].value;
        }
        if (!waiting || waiting != live)
            continue;
        for (uint32_t t = w + 1; t < end; t++)
            if (fibre[t].state == AT_EXCHANGE && fibre[w].state == AT_EXCHANGE && fibre[t].line != fibre[w].line) {
                *other = t;
                return -1;
            }
        some = 1;
        for (uint32_t t = w; t < end; t++)
            memcpy(gathered[t], fibre[t].words, sizeof gathered[t]);
        for (uint32_t t = w; t < end; t++)
            if (fibre[t].state == AT_EXCHANGE) {
                const uint32_t from = fibre[t].from;
                fibre[t].value = w + from < end ? value[from] : fibre[t].value;
                fibre[t].state = READY;
            }
    }
    return some;
}

static int diverged(uint32_t a, uint32_t b)
{
    static const char *const WHAT[] = {"runs", "waits at the barrier of line", "waits for its warp, line",
                                       "has ended, line"};
    fprintf(stderr, "%s, block %u: thread %u %s %d, thread %u %s %d\n", kernel->name, arn_emu_block.x, a,
            WHAT[fibre[a].state], fibre[a].line, b, WHAT[fibre[b].state], fibre[b].line);
    return ARN_CUDA_EBARRIER;
}

static void prepare(struct fibre *f, unsigned char *stack)
{
    f->state = READY;
    f->line = 0;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, begin, 0);
}

static int run_block(uint32_t n)
{
    memset(shared, 0xff, kernel->shared ? kernel->shared : STATIC);
    for (uint32_t t = 0; t < n; t++)
        prepare(&fibre[t], stacks + (size_t)t * STACK);
    for (arn_emu_epoch = 0;; arn_emu_epoch++) {
        int some;
        uint32_t other = 0;
        do {
            for (uint32_t k = 0; k < n; k++) {
                const uint32_t t = arn_emu_epoch & 1 ? n - 1 - k : k; /* the order turns around */
                if (fibre[t].state == READY)
                    resume(t);
            }
            some = exchange(n, &other);
            if (some < 0)
                return diverged(other / WARP * WARP, other);
        } while (some);
        for (uint32_t t = 1; t < n; t++)
            if (fibre[t].state != fibre[0].state || fibre[t].line != fibre[0].line)
                return diverged(0, t);
        if (fibre[0].state == DONE)
            return 0;
        if (fibre[0].state != AT_BARRIER)
            return diverged(0, n - 1);
        for (uint32_t t = 0; t < n; t++)
            fibre[t].state = READY;
    }
}

/* A kernel that ends although a thread has not waited frees the next one, while the one before it may still run. */
static int all_begun(void)
{
    for (uint32_t t = 0; arn_emu_early && t < kernel->threads; t++)
        if (!arn_emu_begun[t]) {
            fprintf(stderr, "%s, block %u: thread %u does not wait for the kernel before it\n", kernel->name,
                    arn_emu_block.x, t);
            return ARN_CUDA_EBARRIER;
        }
    return 0;
}

static int run_threads(uint32_t n)
{
    if (kernel->barriers)
        return run_block(n);
    for (uint32_t t = 0; t < n; t++) {
        arn_emu_thread.x = t;
        shared_used = 0;
        kernel->twin(args);
    }
    return 0;
}

int arn_emu_launch(const struct arn_cuda_kernel *k, uint32_t blocks, void *const *a)
{
    kernel = k;
    args = a;
    if (k->shared > SHARED) {
        fprintf(stderr, "%s: %u bytes of shared memory\n", k->name, k->shared);
        return ARN_CUDA_EDRIVER;
    }
    arn_race_watch(shared, sizeof shared, 1);
    if (k->barriers && !stacks) {
        void *at = mmap(NULL, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED || k->threads > THREADS) {
            fprintf(stderr, "%s: no memory for %u threads\n", k->name, k->threads);
            return ARN_CUDA_EBARRIER;
        }
        stacks = at;
    }
    for (uint32_t b = 0; b < blocks; b++) {
        arn_emu_block.x = b;
        memset(arn_emu_begun, 0, k->threads);
        int status = run_threads(k->threads);
        if (!status)
            status = all_begun();
        if (status)
            return status;
    }
    return arn_race_launch(k->name);
}

int arn_cuda_steps(const struct arn_cuda_model *m, const struct arn_mem *mem, const struct arn_hook *hook)
{
    enum { ARGS = 256 };
    static int32_t status;
    status = 0;
    arn_emu_early = m->early;
    arn_race_watch(mem->arena, (size_t)m->arena_bytes, 0);
    arn_race_watch(mem->state, (size_t)m->state_bytes, 0);
    for (int32_t i = 0, step = 0; step < m->n_steps; step++) {
        if (hook && hook->begin)
            hook->begin(hook->user, step);
        for (; i < m->n_launches && m->launch[i].step == step; i++) {
            const struct arn_cuda_launch *l = &m->launch[i];
            void *a[ARGS];
            if (l->n_args > ARGS) {
                fprintf(stderr, "%s has %d arguments\n", m->kernel[l->kernel].name, l->n_args);
                return ARN_CUDA_EDRIVER;
            }
            for (int32_t k = 0; k < l->n_args; k++) {
                const struct arn_cuda_arg *arg = &m->arg[l->first + k];
                const void *base = arg->space == ARN_CUDA_ARENA    ? mem->arena
                                   : arg->space == ARN_CUDA_STATE  ? mem->state
                                   : arg->space == ARN_CUDA_STATUS ? (void *)&status
                                   : m->weights                    ? m->weights
                                                                   : mem->weights;
                a[k] = (char *)(uintptr_t)base + arg->offset;
            }
            const int wrong = arn_emu_launch(&m->kernel[l->kernel], l->blocks, a);
            if (wrong)
                return wrong;
        }
        if (hook && hook->end)
            hook->end(hook->user, step);
    }
    return status;
}
