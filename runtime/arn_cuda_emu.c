/* arn_cuda_emu.c - blocks, or clusters of them, one after another; threads as fibres if they wait for each other, else
 * one after another. */
#ifdef __APPLE__ /* ucontext and MAP_ANONYMOUS */
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE
#endif
#include "arn_cuda_emu.h"

#include "arn_cuda.h"
#include "arn_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { THREADS = 1024, RANKS = 8, WARP = 32, STACK = 256 << 10, STATIC = 48 << 10, SHARED = 256 << 10 };
enum { ARRAYS = 32, GAP = 128, ARGS = 256 };
enum state { READY, AT_BARRIER, AT_CLUSTER, AT_MAIL, AT_EXCHANGE, DONE };

/* A copy that is under way. */
struct late {
    unsigned char *to;
    const unsigned char *from; /* NULL: zeros */
    int bytes;
    uint32_t group;
};

/* Bytes that another block has sent. */
struct letter {
    unsigned char *to;
    size_t bytes;
    unsigned char value[16];
};

struct fibre {
    ucontext_t context;
    enum state state;
    int line;
    uint32_t bytes;      /* that it waits for */
    unsigned char begun; /* it has waited for the kernel before */
    uint32_t value, from;
    uint32_t words[ARN_EMU_WORDS];
    uint32_t gathered[ARN_EMU_WORDS]; /* words as they were when its warp went on */
    struct late *late;                /* in order of their groups */
    size_t n_late, room;
    uint32_t groups; /* complete ones */
};

/* A block of the present cluster: without clusters there is one. */
static struct block {
    struct fibre fibre[THREADS];
    unsigned char shared[SHARED] __attribute__((aligned(1024)));
    uint32_t epoch; /* barriers it has passed */
    uint32_t waits; /* for other blocks, passed */
    uint32_t mails; /* of them those for bytes */
    struct box {
        struct letter *letter;
        size_t n, room, bytes;
    } box[2]; /* in turn */
} block[RANKS], *here;

struct arn_emu_index arn_emu_thread, arn_emu_block;
static ucontext_t scheduler;
static unsigned char *stacks;
static size_t shared_used; /* without gaps */
static struct array {
    size_t at, n; /* with gaps */
} array[ARRAYS];  /* of the present kernel, in order; after each there is a gap that nothing may touch */
static int arrays, array_next;
static const struct arn_cuda_kernel *kernel;
static void *const *args;
static uint32_t shuffled = 1; /* random numbers, the same in each run */
uint32_t arn_emu_epoch, arn_emu_cluster_epoch, arn_emu_ranks;
int arn_emu_early;

/* arn_cuda_race.c; here, without it. */
__attribute__((weak)) void arn_race_begin(const void *from, size_t n)
{
    (void)from, (void)n;
}
__attribute__((weak)) void arn_race_watch(const void *from, size_t n, int what)
{
    (void)from, (void)n, (void)what;
}
__attribute__((weak)) void arn_race_look(const void *at, size_t n, int writes)
{
    (void)at, (void)n, (void)writes;
}
__attribute__((weak)) int arn_race_launch(const char *name)
{
    (void)name;
    return 0;
}

static void *next_array(size_t at, size_t bytes)
{
    const int k = array_next++;
    if (k == ARRAYS) {
        fprintf(stderr, "%s: more than %d arrays in shared memory\n", kernel->name, ARRAYS);
        abort();
    }
    if (k == arrays) {
        array[arrays++] = (struct array){at + (size_t)k * GAP, bytes};
        for (uint32_t r = 0; r < arn_emu_ranks; r++)
            arn_race_watch(block[r].shared + array[k].at, bytes, ARN_WATCH_BLOCK);
    }
    return here->shared + array[k].at;
}

void arn_emu_copy(void *to, const void *from, int bytes, int some)
{
    struct fibre *u = &here->fibre[arn_emu_thread.x];
    if (u->n_late == u->room) {
        u->room = u->room ? 2 * u->room : 64;
        u->late = realloc(u->late, u->room * sizeof *u->late);
        if (!u->late)
            abort();
    }
    u->late[u->n_late++] = (struct late){to, some ? from : NULL, bytes, u->groups};
    if ((uintptr_t)to % (size_t)bytes || (some && (uintptr_t)from % (size_t)bytes)) {
        fprintf(stderr, "%s: a late store at an address that is no multiple of %d\n", kernel->name, bytes);
        abort();
    }
    arn_race_look(to, (size_t)bytes, 1);
    if (some)
        arn_race_look(from, (size_t)bytes, 0);
    memset(to, 0xff, (size_t)bytes);
}

void arn_emu_group(void)
{
    here->fibre[arn_emu_thread.x].groups++;
}

void arn_emu_wait(uint32_t left)
{
    struct fibre *u = &here->fibre[arn_emu_thread.x];
    size_t k = 0;
    for (; k < u->n_late && u->late[k].group + left < u->groups; k++) {
        const struct late *c = &u->late[k];
        arn_race_look(c->to, (size_t)c->bytes, 1);
        if (c->from) {
            arn_race_look(c->from, (size_t)c->bytes, 0);
            memcpy(c->to, c->from, (size_t)c->bytes);
        } else {
            memset(c->to, 0, (size_t)c->bytes);
        }
    }
    u->n_late -= k;
    memmove(u->late, u->late + k, u->n_late * sizeof *u->late);
}

void *arn_emu_shared(size_t bytes)
{
    const size_t at = shared_used;
    shared_used += (bytes + 15) / 16 * 16;
    if (shared_used > STATIC) {
        fprintf(stderr, "%s: more than %d bytes of static shared memory\n", kernel->name, STATIC);
        abort();
    }
    return next_array(at, bytes);
}

void *arn_emu_dynamic(size_t at, size_t bytes)
{
    if (at + bytes > kernel->shared || at < shared_used || at % 16) {
        fprintf(stderr, "%s: %zu bytes at %zu of %u bytes of shared memory, of which %zu are in use\n", kernel->name,
                bytes, at, kernel->shared, shared_used);
        abort();
    }
    shared_used = at + bytes;
    return next_array(at, bytes);
}

/* The bytes between the arrays of a block are as they were. */
static int gaps_changed(const unsigned char *shared)
{
    for (int k = 0; k < arrays; k++) {
        const size_t end = k + 1 < arrays ? array[k + 1].at : array[k].at + array[k].n + GAP;
        for (size_t b = array[k].at + array[k].n; b < end; b++)
            if (shared[b] != 0xff)
                return 1;
    }
    return 0;
}

void *arn_emu_of(void *at, uint32_t rank, size_t size)
{
    const size_t offset = (size_t)((unsigned char *)at - here->shared);
    if (rank >= arn_emu_ranks || offset + size > SHARED) {
        fprintf(stderr, "%s: block %u of a cluster of %u, byte %zu\n", kernel->name, rank, arn_emu_ranks, offset);
        abort();
    }
    return block[rank].shared + offset;
}

void arn_emu_send(void *to, int rank, const void *value, size_t size)
{
    unsigned char *there = arn_emu_of(to, (uint32_t)rank, size);
    struct box *b = &block[rank].box[here->mails & 1];
    if (b->n == b->room) {
        b->room = b->room ? 2 * b->room : 64;
        b->letter = realloc(b->letter, b->room * sizeof *b->letter);
        if (!b->letter)
            abort();
    }
    struct letter *l = &b->letter[b->n++];
    l->to = there;
    l->bytes = size;
    memcpy(l->value, value, size);
    b->bytes += size;
    arn_race_look(there, size, 1);
    memset(there, 0xff, size);
}

void arn_emu_begin(void)
{
    here->fibre[arn_emu_thread.x].begun = 1;
}

int arn_emu_begun(void)
{
    return here->fibre[arn_emu_thread.x].begun;
}

static void stop(enum state why, int line)
{
    struct fibre *f = &here->fibre[arn_emu_thread.x];
    f->state = why;
    f->line = line;
    swapcontext(&f->context, &scheduler);
}

void arn_emu_barrier(int line)
{
    stop(AT_BARRIER, line);
}

void arn_emu_cluster_barrier(int line)
{
    stop(AT_CLUSTER, line);
}

void arn_emu_mail_wait(uint32_t bytes, int line)
{
    here->fibre[arn_emu_thread.x].bytes = bytes;
    stop(AT_MAIL, line);
}

uint32_t arn_emu_exchange(uint32_t mine, uint32_t from_lane, int line)
{
    struct fibre *f = &here->fibre[arn_emu_thread.x];
    f->value = mine;
    f->from = from_lane;
    stop(AT_EXCHANGE, line);
    return f->value;
}

/* The words of the present thread's warp, by lane. */
static uint32_t all_words[WARP][ARN_EMU_WORDS];

const uint32_t (*arn_emu_gather(const uint32_t *mine, int n, int line))[ARN_EMU_WORDS]
{
    struct fibre *f = &here->fibre[arn_emu_thread.x], *first = &here->fibre[arn_emu_thread.x / WARP * WARP];
    memcpy(f->words, mine, (size_t)n * sizeof *mine);
    f->from = 0;
    stop(AT_EXCHANGE, line);
    for (int t = 0; t < WARP; t++)
        memcpy(all_words[t], first[t].gathered, sizeof all_words[t]);
    return (const uint32_t(*)[ARN_EMU_WORDS])all_words;
}

static void begin(void)
{
    shared_used = 0;
    array_next = 0;
    kernel->twin(args);
    stop(DONE, 0);
}

static void resume(uint32_t t)
{
    arn_emu_thread.x = t;
    swapcontext(&scheduler, &here->fibre[t].context);
}

/* Resumes warps of this block whose live threads all have a value to exchange, at one place. */
static int exchange(uint32_t n, uint32_t *other)
{
    struct fibre *fibre = here->fibre;
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
            memcpy(fibre[t].gathered, fibre[t].words, sizeof fibre[t].gathered);
        for (uint32_t t = w; t < end; t++)
            if (fibre[t].state == AT_EXCHANGE) {
                const uint32_t from = fibre[t].from;
                fibre[t].value = w + from < end ? value[from] : fibre[t].value;
                fibre[t].state = READY;
            }
    }
    return some;
}

static int diverged(const struct block *one, uint32_t a, const struct block *two, uint32_t b)
{
    static const char *const WHAT[] = {"runs",
                                       "waits at the barrier of line",
                                       "waits for its cluster, line",
                                       "waits for bytes of its cluster, line",
                                       "waits for its warp, line",
                                       "has ended, line"};
    const uint32_t first = arn_emu_block.x - (uint32_t)(here - block);
    const struct fibre *f = &one->fibre[a], *g = &two->fibre[b];
    fprintf(stderr, "%s, block %u: thread %u %s %d, ", kernel->name, first + (uint32_t)(one - block), a, WHAT[f->state],
            f->line);
    if (one != two)
        fprintf(stderr, "block %u: ", first + (uint32_t)(two - block));
    fprintf(stderr, "thread %u %s %d\n", b, WHAT[g->state], g->line);
    return ARN_CUDA_EBARRIER;
}

static void prepare(struct fibre *f, unsigned char *stack)
{
    f->n_late = 0;
    f->groups = 0;
    f->state = READY;
    f->line = 0;
    f->begun = 0;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, begin, 0);
}

/* Runs a block up to a barrier of its cluster, or to its end. */
static int run_block(struct block *b, uint32_t n)
{
    struct fibre *fibre = b->fibre;
    arn_emu_block.x += (uint32_t)(b - here);
    here = b;
    arn_emu_cluster_epoch = b->waits;
    for (arn_emu_epoch = b->epoch;; arn_emu_epoch = ++b->epoch) {
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
                return diverged(b, other / WARP * WARP, b, other);
        } while (some);
        for (uint32_t t = 1; t < n; t++)
            if (fibre[t].state != fibre[0].state || fibre[t].line != fibre[0].line)
                return diverged(b, 0, b, t);
        if (fibre[0].state == DONE || fibre[0].state == AT_CLUSTER || fibre[0].state == AT_MAIL)
            return 0;
        if (fibre[0].state != AT_BARRIER)
            return diverged(b, 0, b, n - 1);
        for (uint32_t t = 0; t < n; t++)
            fibre[t].state = READY;
    }
}

/* 0 .. n - 1 in an order that differs from call to call. */
static void shuffle(uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        shuffled = shuffled * 1664525u + 1013904223u;
        const uint32_t at = (shuffled >> 16) % (i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

/* The block goes on. */
static void release_block(struct block *b, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++)
        b->fibre[t].state = READY;
    b->epoch++;
    b->waits++;
}

/* The block has all bytes that it waits for: now they are there. */
static int takes_mail(struct block *b, uint32_t n)
{
    struct box *box = &b->box[b->mails & 1];
    if (b->fibre[0].state != AT_MAIL || box->bytes != b->fibre[0].bytes)
        return 0;
    for (size_t k = 0; k < box->n; k++)
        memcpy(box->letter[k].to, box->letter[k].value, box->letter[k].bytes);
    box->n = box->bytes = 0;
    b->mails++;
    release_block(b, n);
    return 1;
}

/* Nothing runs: all blocks have ended, or wait for each other and go on; else there is an error. */
static int settle(uint32_t n, int *ended)
{
    const struct fibre *f = block[0].fibre;
    for (uint32_t r = 0; r < arn_emu_ranks; r++) {
        const struct box *box = &block[r].box[block[r].mails & 1];
        if (block[r].fibre[0].state == AT_MAIL || (block[r].fibre[0].state == DONE && box[0].bytes)) {
            fprintf(stderr, "%s, block %u: waits for %u bytes of its cluster, and gets %zu\n", kernel->name,
                    arn_emu_block.x - (uint32_t)(here - block) + r, block[r].fibre[0].bytes, box->bytes);
            return ARN_CUDA_EBARRIER;
        }
    }
    for (uint32_t r = 1; r < arn_emu_ranks; r++)
        if (block[r].fibre[0].state != f->state || block[r].fibre[0].line != f->line)
            return diverged(&block[0], 0, &block[r], 0);
    *ended = f->state == DONE;
    for (uint32_t r = 0; r < arn_emu_ranks && !*ended; r++)
        release_block(&block[r], n);
    return 0;
}

/* The blocks of a cluster, each as far as it gets, in an order that changes with each round. */
static int run_cluster(uint32_t n)
{
    uint32_t order[RANKS];
    for (uint32_t r = 0; r < arn_emu_ranks; r++) {
        struct block *b = &block[r];
        memset(b->shared, 0xff, (kernel->shared ? kernel->shared : STATIC) + ARRAYS * GAP);
        b->epoch = b->waits = b->mails = 0;
        b->box[0].n = b->box[0].bytes = b->box[1].n = b->box[1].bytes = 0;
        for (uint32_t t = 0; t < n; t++)
            prepare(&b->fibre[t], stacks + ((size_t)r * THREADS + t) * STACK);
    }
    for (int ended = 0; !ended;) {
        int some = 0, wrong = 0;
        shuffle(order, arn_emu_ranks);
        for (uint32_t k = 0; k < arn_emu_ranks && !wrong; k++) {
            struct block *b = &block[order[k]];
            while (!wrong && (b->fibre[0].state == READY || takes_mail(b, n))) {
                some = 1;
                wrong = run_block(b, n);
            }
        }
        if (!wrong && !some)
            wrong = settle(n, &ended);
        if (wrong)
            return wrong;
    }
    return 0;
}

/* A kernel that ends although a thread has not waited frees the next one, while the one before it may still run. */
static int all_begun(void)
{
    for (uint32_t r = 0; arn_emu_early && r < arn_emu_ranks; r++)
        for (uint32_t t = 0; t < kernel->threads; t++)
            if (!block[r].fibre[t].begun) {
                fprintf(stderr, "%s, block %u: thread %u does not wait for the kernel before it\n", kernel->name,
                        arn_emu_block.x - (uint32_t)(here - block) + r, t);
                return ARN_CUDA_EBARRIER;
            }
    return 0;
}

/* From block `first` on: one, or a cluster. */
static int run_threads(uint32_t first, uint32_t n)
{
    here = block;
    arn_emu_block.x = first;
    if (kernel->barriers)
        return run_cluster(n);
    for (uint32_t t = 0; t < n; t++) {
        block->fibre[t].begun = 0;
        arn_emu_thread.x = t;
        kernel->twin(args);
    }
    return 0;
}

static int run_blocks(uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b += arn_emu_ranks) {
        int status = run_threads(b, kernel->threads);
        if (!status)
            status = all_begun();
        for (uint32_t r = 0; r < arn_emu_ranks && !status; r++)
            if (gaps_changed(block[r].shared)) {
                fprintf(stderr, "%s, block %u: a thread stores outside of an array in shared memory\n", kernel->name,
                        b + r);
                status = ARN_CUDA_EBOUNDS;
            }
        if (status)
            return status;
    }
    return 0;
}

/* An access outside of the arguments comes back here from its signal. */
static int run_fenced(uint32_t blocks)
{
    static ucontext_t back;
    static volatile int entered, status;
    entered = status = 0;
    getcontext(&back);
    if (!entered) {
        entered = 1;
        arn_fence_catch(&back, &arn_emu_thread);
        status = run_blocks(blocks);
    }
    arn_fence_catch(NULL, &arn_emu_thread);
    return status;
}

/* At the end of the program, or when the library that contains the model is unloaded. */
__attribute__((destructor)) static void release(void)
{
    for (int r = 0; r < RANKS; r++) {
        for (int t = 0; t < THREADS; t++)
            free(block[r].fibre[t].late);
        free(block[r].box[0].letter);
        free(block[r].box[1].letter);
    }
}

static int prepare_launch(const struct arn_cuda_kernel *k, uint32_t blocks)
{
    kernel = k;
    arrays = 0;
    arn_emu_ranks = k->cluster ? k->cluster : 1;
    arn_race_begin(block, sizeof block);
    if (k->threads > THREADS || arn_emu_ranks > RANKS || blocks % arn_emu_ranks || k->shared + ARRAYS * GAP > SHARED) {
        fprintf(stderr, "%s: %u threads in %u blocks, clusters of %u, %u bytes of shared memory\n", k->name, k->threads,
                blocks, arn_emu_ranks, k->shared);
        return ARN_CUDA_EDRIVER;
    }
    if (k->barriers && !stacks) {
        void *at = mmap(NULL, (size_t)RANKS * THREADS * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) {
            fprintf(stderr, "%s: no memory for %u threads\n", k->name, k->threads);
            return ARN_CUDA_EBARRIER;
        }
        stacks = at;
    }
    return 0;
}

static void watch_arguments(void)
{
    const void *from;
    size_t n;
    int constant;
    for (int i = 0; arn_fence_piece(i, &from, &n, &constant); i++)
        arn_race_watch(from, n, constant ? ARN_WATCH_BOUNDS : ARN_WATCH_MEMORY);
}

int arn_emu_launch(const struct arn_cuda_model *m, const struct arn_cuda_launch *l, void *const *a)
{
    static void *inside[ARGS];
    const struct arn_cuda_kernel *k = &m->kernel[l->kernel];
    int status = prepare_launch(k, l->blocks);
    if (status)
        return status;
    if (l->n_args > ARGS || arn_fence_open(m->arg + l->first, l->n_args, a, inside)) {
        fprintf(stderr, "%s: no memory for its %d arguments\n", k->name, l->n_args);
        return ARN_CUDA_EDRIVER;
    }
    watch_arguments();
    args = inside;
    arn_emu_early = m->early;
    status = run_fenced(l->blocks);
    const int race = arn_race_launch(k->name);
    arn_fence_close();
    if (arn_fence_found()) {
        fprintf(stderr, "%s, block %u: %s\n", k->name, arn_emu_block.x, arn_fence_found());
        return ARN_CUDA_EBOUNDS;
    }
    return status ? status : race;
}

int arn_cuda_steps(const struct arn_cuda_model *m, const struct arn_mem *mem, const struct arn_hook *hook)
{
    static int32_t status;
    status = 0;
    for (int32_t i = 0, step = 0; step < m->n_steps; step++) {
        if (hook && hook->begin)
            hook->begin(hook->user, step);
        for (; i < m->n_launches && m->launch[i].step == step; i++) {
            const struct arn_cuda_launch *l = &m->launch[i];
            void *a[ARGS];
            for (int32_t k = 0; k < l->n_args && k < ARGS; k++) {
                const struct arn_cuda_arg *arg = &m->arg[l->first + k];
                const void *base = arg->space == ARN_CUDA_ARENA    ? mem->arena
                                   : arg->space == ARN_CUDA_STATE  ? mem->state
                                   : arg->space == ARN_CUDA_STATUS ? (void *)&status
                                   : m->weights                    ? m->weights
                                                                   : mem->weights;
                a[k] = (char *)(uintptr_t)base + arg->offset;
            }
            const int wrong = arn_emu_launch(m, l, a);
            if (wrong)
                return wrong;
        }
        if (hook && hook->end)
            hook->end(hook->user, step);
    }
    return status;
}
