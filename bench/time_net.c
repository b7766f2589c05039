/* time_net.c - times generated code as a program of its own would run it: no library, one arena.
 *
 *     arenac compile m.tflite --name net -t native --weights asm -o net.c
 *     cc -O2 -I. net.c time_net.c -o net && ./net 0.5      seconds; prints median_ms= min_ms= cpu_min_ms= runs=
 *
 * With --threads N: add -Iruntime runtime/arn_pool.c -pthread; the CPU time is that of all threads. On a busy machine
 * it is the steadier figure of one thread. Inputs are written again before every run, outside of the timed part: the
 * code may reuse their bytes. As a shared library it is net_time alone: bench/layers.py has many of them in one
 * process. */
#include "net.h"
#ifdef NET_THREADS
#include "arn_pool.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 1 << 20 };

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static unsigned noise(void)
{
    static unsigned seed = 1;
    return (seed = seed * 1664525u + 1013904223u) >> 8;
}

/* Floats in [-1, 1), bytes of any value, wider integers small enough to be an index. */
static void fill(unsigned char *to, size_t bytes, size_t count, int real)
{
    for (size_t i = 0; i < count; i++) {
        const size_t size = bytes / count;
        const float f = (float)noise() / 8388608.0f - 1.0f;
        const long long k = size == 1 ? (long long)noise() : (long long)(noise() % 100);
        memcpy(to + i * size, real ? (const void *)&f : (const void *)&k, size);
    }
}

#define FILL(i)                                                                \
    do {                                                                       \
        fill(saved + NET_IN##i##_OFFSET, NET_IN##i##_BYTES, NET_IN##i##_COUNT, \
             _Generic(net_in##i(&m), float * : 1, default : 0));               \
    } while (0)
#define COPY(i) memcpy(net_in##i(&m), saved + NET_IN##i##_OFFSET, NET_IN##i##_BYTES)
#ifdef NET_IN1_BYTES
#define EACH(F) \
    F(0);       \
    F(1)
#else
#define EACH(F) F(0)
#endif

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The shortest of n sorted times that is at least half of the median: a CPU clock that lags gives shorter ones. */
static double least_of(const double *ms, size_t n)
{
    size_t i = 0;
    while (ms[i] < ms[n / 2] / 2)
        i++;
    return ms[i];
}

/* Runs the model for `seconds`, three times at least. to: the median and the least wall time and the least CPU time of
 * a run, in milliseconds, and the number of runs. 0 or 1, as the program's status. */
int net_time(double seconds, double to[4])
{
    static _Alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES];
    unsigned char *saved = malloc(NET_ARENA_BYTES);
    double *ms = malloc(MOST_RUNS * sizeof *ms), *used = malloc(MOST_RUNS * sizeof *used);
    const double until = now(CLOCK_MONOTONIC) + 1e3 * seconds;
    net_mem m = {.arena = arena};
    size_t runs = 0;
#ifdef NET_THREADS
    static struct arn_threads threads;
    if (arn_threads_open(&threads, NET_THREADS))
        return 1;
    m.pool = &threads.pool;
#endif
    if (!saved || !ms || !used || net_init(&m) != NET_OK)
        return 1;
    EACH(FILL);
    do {
        EACH(COPY);
        const double cpu = now(CLOCK_PROCESS_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
        if (net_run(&m) != NET_OK)
            return 1;
        ms[runs] = now(CLOCK_MONOTONIC) - start;
        used[runs++] = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    } while (runs < MOST_RUNS && (runs < 3 || now(CLOCK_MONOTONIC) < until));
    qsort(ms, runs, sizeof *ms, by_value);
    qsort(used, runs, sizeof *used, by_value);
    to[0] = ms[runs / 2];
    to[1] = ms[0];
    to[2] = least_of(used, runs);
    to[3] = (double)runs;
    free(saved);
    free(ms);
    free(used);
    return 0;
}

int main(int argc, char **argv)
{
    double ms[4];
    if (net_time(argc > 1 ? atof(argv[1]) : 1.0, ms))
        return 1;
    printf("median_ms=%.6g min_ms=%.6g cpu_min_ms=%.6g runs=%.0f\n", ms[0], ms[1], ms[2], ms[3]);
    return 0;
}
