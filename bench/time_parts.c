/* time_parts.c - estimates the time of a run on as many processors as the model has threads, measured on one.
 *
 *     arenac compile m.onnx --name net -t native --threads 2 --weights asm -o net.c
 *     cc -O2 -I. -Iruntime net.c time_parts.c -o parts && ./parts 1      seconds
 *
 * Its pool runs the parts of a job one after the other and records the minimum time of each over all runs, in CPU time,
 * so a busy machine hardly disturbs it. Prints, in milliseconds: all of the work; what the caller does alone; the
 * longest parts added up; the run, which is these two and FORK_NS for each job; the quotient. Shared bandwidth and
 * caches are not included: the result is the best case. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_JOBS = 4096, FORK_NS = 300 };

static double least[MOST_JOBS][NET_THREADS], serial[MOST_JOBS + 1], last;
static double clock_ms; /* the time of reading the clock */
static int jobs;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void keep(double *least_ms, double ms)
{
    ms = ms > clock_ms ? ms - clock_ms : 1e-6;
    if (*least_ms == 0 || ms < *least_ms)
        *least_ms = ms;
}

static void run(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with)
{
    (void)pool;
    keep(&serial[jobs], now() - last);
    for (int32_t k = 0; k < parts; k++) {
        const double start = now();
        f(with, k);
        keep(&least[jobs][k], now() - start);
    }
    jobs += jobs < MOST_JOBS - 1;
    last = now();
}

int main(int argc, char **argv)
{
    static _Alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES];
    unsigned char *saved = malloc(NET_ARENA_BYTES);
    struct arn_pool pool = {run};
    net_mem m = {.arena = arena, .pool = &pool};
    const double until = now() + 1e3 * (argc > 1 ? atof(argv[1]) : 1.0); /* of CPU time, as all here */
    if (!saved || net_init(&m) != NET_OK)
        return 1;
    for (size_t i = 0; i + 4 <= NET_ARENA_BYTES; i += 4) {
        const float x = (float)(i / 4 % 23) * 0.04f - 0.44f;
        memcpy(saved + i, &x, 4);
    }
    double look = now();
    for (int k = 0; k < 1000; k++) { /* the least of many */
        const double next = now();
        if (k == 0 || next - look < clock_ms)
            clock_ms = next - look;
        look = next;
    }
    do {
        memcpy(arena, saved, NET_ARENA_BYTES);
        jobs = 0;
        last = now();
        if (net_run(&m) != NET_OK)
            return 1;
        keep(&serial[jobs], now() - last);
    } while (now() < until);
    double all = 0, caller = 0, longest = 0;
    for (int j = 0; j < jobs; j++) {
        double most = 0;
        for (int k = 0; k < NET_THREADS; k++) {
            all += least[j][k];
            most = least[j][k] > most ? least[j][k] : most;
        }
        longest += most;
        caller += serial[j];
    }
    caller += serial[jobs];
    const double run_ms = caller + longest + 1e-6 * FORK_NS * jobs;
    printf("work_ms=%.6g alone_ms=%.6g longest_ms=%.6g run_ms=%.6g jobs=%d gain=%.3f\n", all + caller, caller, longest,
           run_ms, jobs, (all + caller) / run_ms);
    return 0;
}
