/* time_threads.c - compares one thread with N, in alternating turns in one process.
 *
 *     arenac compile m.tflite --name one --weights asm -o one.c
 *     arenac compile m.tflite --name many --weights asm --threads N -o many.c
 *     cc -O2 -I. -Iruntime one.c many.c time_threads.c runtime/arn_pool.c -pthread -o both && ./both 1.0
 *
 * Processors of one machine may differ in speed, and vary over time: statically divided work ends with the slowest one.
 * So one thread is timed on each processor, then the threads, each on its own; a turn takes some 10 ms, and figures are
 * medians over the turns. Prints slow_ms= (one thread on the slowest processor) fast_ms= all_ms= (the threads) gain=
 * (slow / all) of_mean= (the mean of one thread / all) turns= */
#include "many.h"
#include "one.h"

#include "arn_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_TURNS = 1 << 16, PROCESSORS = MANY_THREADS };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

static one_mem one;
static many_mem many;
static struct arn_threads alone, all;

/* Zeros: floats and indices of any type. Inputs may share bytes with what a run writes. */
static void fill(void)
{
    memset(one_in0(&one), 0, ONE_IN0_BYTES);
    memset(many_in0(&many), 0, MANY_IN0_BYTES);
#ifdef ONE_IN1_BYTES
    memset(one_in1(&one), 0, ONE_IN1_BYTES);
    memset(many_in1(&many), 0, MANY_IN1_BYTES);
#endif
#ifdef ONE_IN2_BYTES
    memset(one_in2(&one), 0, ONE_IN2_BYTES);
    memset(many_in2(&many), 0, MANY_IN2_BYTES);
#endif
}

/* Milliseconds of a run of `runs`, after one that is not counted, because the caches of a new processor are cold. */
static double timed(int threads, int runs)
{
    double spent = 0;
    for (int i = 0; i <= runs; i++) {
        fill();
        const double start = now();
        if (threads ? many_run(&many) != MANY_OK : one_run(&one) != ONE_OK)
            exit(1);
        spent += i ? now() - start : 0;
    }
    return spent / runs;
}

int main(int argc, char **argv)
{
    static _Alignas(ONE_ARENA_ALIGN) unsigned char first[ONE_ARENA_BYTES];
    static _Alignas(MANY_ARENA_ALIGN) unsigned char second[MANY_ARENA_BYTES];
    static double slow[MOST_TURNS], fast[MOST_TURNS], at_once[MOST_TURNS], gain[MOST_TURNS], of_mean[MOST_TURNS];
    const double until = now() + 1e3 * (argc > 1 ? atof(argv[1]) : 1.0);
    int32_t number[PROCESSORS];
    size_t n = 0;
    one.arena = first;
    many.arena = second;
    if (arn_threads_open(&alone, 1) || arn_threads_open(&all, MANY_THREADS) || one_init(&one) || many_init(&many))
        return 1;
    many.pool = &all.pool;
    timed(0, 1);
    const double first_ms = timed(0, 2);
    const int runs = first_ms > 5 ? 1 : (int)(5 / first_ms) + 1;
    do {
        double most = 0, least = 1e300, sum = 0;
        for (int32_t k = 0; k < PROCESSORS; k++) {
            if (arn_threads_pin(&alone, &k))
                return 1;
            const double ms = timed(0, runs);
            most = ms > most ? ms : most;
            least = ms < least ? ms : least;
            sum += ms;
        }
        for (int32_t k = 0; k < PROCESSORS; k++)
            number[k] = k;
        if (arn_threads_pin(&all, number))
            return 1;
        const double ms = timed(1, runs);
        slow[n] = most;
        fast[n] = least;
        at_once[n] = ms;
        gain[n] = most / ms;
        of_mean[n++] = sum / PROCESSORS / ms;
    } while (n < MOST_TURNS && now() < until);
    printf("slow_ms=%.4g fast_ms=%.4g all_ms=%.4g gain=%.3f of_mean=%.3f turns=%zu\n", median(slow, n), median(fast, n),
           median(at_once, n), median(gain, n), median(of_mean, n), n);
    arn_threads_close(&all);
    arn_threads_close(&alone);
    return 0;
}
