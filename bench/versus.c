/* versus.c - several builds of one model timed in one process, turn by turn; used by bench/llvm.py.
 *
 *     cc -include net.h versus.c -ldl;   versus MS ROUNDS A.so B.so ...
 *
 * Every library holds the net_init and net_run that net.h declares, so all of them get one arena and one input. A round
 * runs each library for MS milliseconds, without the first run of a turn, which reloads the weights that the others
 * evicted from the caches. Prints one line per round with the minimum CPU milliseconds of each library, and finally,
 * for each library, the number of output bytes that differ from A's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 8 };

typedef struct build {
    int (*init)(const net_mem *m);
    int (*run)(const net_mem *m);
} build;

static _Alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES];
static unsigned char first[NET_ARENA_BYTES], saved[NET_ARENA_BYTES];
static const net_mem mem = {.arena = arena};

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Floats in [-1, 1), bytes of any value, wider integers small enough to be an index. */
static void fill(unsigned char *to, size_t bytes, size_t count, int real)
{
    static unsigned seed = 1;
    const size_t size = bytes / count;
    for (size_t i = 0; i < count; i++) {
        const unsigned noise = (seed = seed * 1664525u + 1013904223u) >> 8;
        const float f = (float)noise / 8388608.0f - 1.0f;
        const long long k = size == 1 ? (long long)noise : (long long)(noise % 100);
        memcpy(to + i * size, real ? (const void *)&f : (const void *)&k, size);
    }
}

#define FILL(i)                                                            \
    fill(saved + NET_IN##i##_OFFSET, NET_IN##i##_BYTES, NET_IN##i##_COUNT, \
         _Generic(net_in##i(&mem), float * : 1, default : 0))
#define COPY(i) memcpy(arena + NET_IN##i##_OFFSET, saved + NET_IN##i##_OFFSET, NET_IN##i##_BYTES)
#ifdef NET_IN1_BYTES
#define EACH(F) (F(0), F(1))
#else
#define EACH(F) F(0)
#endif

/* The least CPU milliseconds of the runs that fit into `ms`; negative when one fails. */
static double turn(const build *b, double ms)
{
    double least = 1e30;
    const double until = now(CLOCK_MONOTONIC) + ms;
    for (int i = 0; i < 2 || now(CLOCK_MONOTONIC) < until; i++) {
        EACH(COPY);
        const double start = now(CLOCK_THREAD_CPUTIME_ID);
        if (b->run(&mem) != NET_OK)
            return -1;
        const double used = now(CLOCK_THREAD_CPUTIME_ID) - start;
        if (i && used < least)
            least = used;
    }
    return least;
}

static size_t differing(const unsigned char *a, const unsigned char *b, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        k += a[i] != b[i];
    return k;
}

int main(int argc, char **argv)
{
    static build lib[MOST];
    size_t differ[MOST] = {0};
    const int n = argc - 3;
    if (n < 1 || n > MOST)
        return 2;
    EACH(FILL);
    for (int k = 0; k < n; k++) {
        void *so = dlopen(argv[3 + k], RTLD_NOW | RTLD_LOCAL);
        void *init = so ? dlsym(so, "net_init") : NULL, *run = so ? dlsym(so, "net_run") : NULL;
        if (!init || !run) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        memcpy(&lib[k].init, &init, sizeof init);
        memcpy(&lib[k].run, &run, sizeof run);
        EACH(COPY);
        if (lib[k].init(&mem) != NET_OK || lib[k].run(&mem) != NET_OK)
            return 1;
        const unsigned char *out = (const unsigned char *)net_out0(&mem);
        if (k)
            differ[k] = differing(first, out, NET_OUT0_BYTES);
        else
            memcpy(first, out, NET_OUT0_BYTES);
    }
    for (int round = atoi(argv[2]); round > 0; round--)
        for (int k = 0; k < n; k++) {
            const double ms = turn(&lib[k], atof(argv[1]));
            if (ms < 0)
                return 1;
            printf("%.6g%s", ms, k < n - 1 ? " " : "\n");
        }
    for (int k = 0; k < n; k++)
        printf("%zu%s", differ[k], k < n - 1 ? " " : "\n");
    return 0;
}
