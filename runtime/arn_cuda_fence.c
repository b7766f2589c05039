/* arn_cuda_fence.c - bounds of each argument of a kernel: for a launch of the emulation each is between pages that
 * cannot be touched.
 *
 * Arguments that overlap stay together in one piece, the others are apart, however close they are in the arena or in
 * the weights. A piece ends at the end of a page, but for at most 15 bytes that keep its address modulo 16. So an
 * access past its end faults, or changes those bytes; one before it faults if it is further away than its page begins.
 * Pieces of weights can only be read. arn_cuda_race.c sees every access, and misses none. */
#ifdef __APPLE__ /* ucontext and MAP_ANONYMOUS */
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE
#endif
#include "arn_cuda.h"
#include "arn_cuda_emu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { ARGS = 256, ALIGN = 16, FILL = 0xff, GUARD = 1 << 20 };

struct piece {
    char *from, *to; /* its own bytes, the caller's */
    size_t n;
    unsigned char *page, *end; /* pages that can be touched */
    int constant;
};

static struct piece piece[ARGS];
static int pieces;
static unsigned char *fence; /* all pages */
static size_t fence_bytes;
static char found[160];
static ucontext_t *escape;
static const struct arn_emu_index *who;

const char *arn_fence_found(void)
{
    return *found ? found : NULL;
}

int arn_fence_holds(const void *at)
{
    return fence && (const unsigned char *)at >= fence && (const unsigned char *)at < fence + fence_bytes;
}

void arn_fence_report(const void *at)
{
    const char *address = at;
    long long distance = 0;
    const struct piece *near = NULL;
    for (int i = 0; i < pieces; i++) {
        const struct piece *p = &piece[i];
        const long long off = address < p->from           ? p->from - address
                              : address >= p->from + p->n ? address - (p->from + p->n) + 1
                                                          : 0;
        if (!near || off < distance) {
            near = p;
            distance = off;
        }
    }
    if (!near || *found)
        return;
    if (!distance)
        snprintf(found, sizeof found, "thread %u stores to weights", who->x);
    else
        snprintf(found, sizeof found, "thread %u uses memory %lld bytes %s a tensor of %zu bytes", who->x, distance,
                 address < near->from ? "before" : "behind the end of", near->n);
}

static void fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (!arn_fence_holds(info->si_addr) || !escape) {
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(signal, &plain, NULL); /* it happens again, and ends the program */
        return;
    }
    arn_fence_report(info->si_addr);
    setcontext(escape);
}

static struct sigaction before[2];

void arn_fence_catch(void *to, const struct arn_emu_index *thread)
{
    struct sigaction ours = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    static const int SIGNAL[2] = {SIGSEGV, SIGBUS};
    for (int i = 0; i < 2; i++)
        if (to)
            sigaction(SIGNAL[i], &ours, &before[i]);
        else
            sigaction(SIGNAL[i], &before[i], NULL);
    escape = to;
    who = thread;
    if (to)
        *found = 0;
}

static int overlap(const struct piece *p, const struct piece *q)
{
    return p->to < q->to + q->n && q->to < p->to + p->n;
}

static void add(char *at, size_t n, int constant)
{
    struct piece own = {.to = at, .n = n, .constant = constant};
    for (int i = 0; i < pieces;) { /* those that overlap become one */
        const struct piece p = piece[i];
        if (!overlap(&p, &own)) {
            i++;
            continue;
        }
        char *from = p.to < own.to ? p.to : own.to;
        char *end = p.to + p.n > own.to + own.n ? p.to + p.n : own.to + own.n;
        own = (struct piece){.to = from, .n = (size_t)(end - from), .constant = p.constant && own.constant};
        piece[i] = piece[--pieces];
        i = 0;
    }
    piece[pieces++] = own;
}

static size_t pages(size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (n + ALIGN + page - 1) / page * page;
}

/* Places the pieces, and copies them. */
static int place(void)
{
    fence_bytes = GUARD;
    for (int i = 0; i < pieces; i++)
        fence_bytes += pages(piece[i].n) + GUARD;
    fence = mmap(NULL, fence_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fence == MAP_FAILED) {
        fence = NULL;
        return -1;
    }
    unsigned char *at = fence + GUARD;
    for (int i = 0; i < pieces; i++) {
        struct piece *p = &piece[i];
        p->page = at;
        p->end = at + pages(p->n);
        at = p->end + GUARD;
        if (mprotect(p->page, (size_t)(p->end - p->page), PROT_READ | PROT_WRITE))
            return -1;
        const uintptr_t last = (uintptr_t)p->end - p->n;
        p->from = (char *)(last - ((last - (uintptr_t)p->to) % ALIGN));
        memset(p->page, FILL, (size_t)(p->end - p->page));
        memcpy(p->from, p->to, p->n);
        if (p->constant && mprotect(p->page, (size_t)(p->end - p->page), PROT_READ))
            return -1;
    }
    return 0;
}

int arn_fence_open(const struct arn_cuda_arg *arg, int n, void *const *a, void **inside)
{
    pieces = 0;
    for (int i = 0; i < n && i < ARGS; i++)
        add(a[i], (size_t)arg[i].bytes, arg[i].space == ARN_CUDA_WEIGHTS);
    if (place())
        return -1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < pieces; k++)
            if ((char *)a[i] >= piece[k].to && (char *)a[i] + arg[i].bytes <= piece[k].to + piece[k].n)
                inside[i] = piece[k].from + ((char *)a[i] - piece[k].to);
    return 0;
}

int arn_fence_piece(int i, const void **from, size_t *n, int *constant)
{
    if (i >= pieces)
        return 0;
    *from = piece[i].from;
    *n = piece[i].n;
    *constant = piece[i].constant;
    return 1;
}

static int changed(const unsigned char *from, const unsigned char *to)
{
    while (from < to)
        if (*from++ != FILL)
            return 1;
    return 0;
}

void arn_fence_close(void)
{
    for (int i = 0; i < pieces && fence; i++) {
        const struct piece *p = &piece[i];
        if (p->constant || !p->page)
            continue;
        const unsigned char *from = (const unsigned char *)p->from, *to = from + p->n;
        if (!*found && (changed(p->page, from) || changed(to, p->end)))
            snprintf(found, sizeof found, "a thread stores outside of a tensor of %zu bytes", p->n);
        memcpy(p->to, p->from, p->n);
    }
    if (fence)
        munmap(fence, fence_bytes);
    fence = NULL;
}
