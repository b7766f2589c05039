/* time_decode.c - a step of a language model, timed inside of the process that calls it (bench/decode.py).
 *
 *     arenac compile step.onnx --dim past=63 --state 'present*=past*' --threads N --name lm --weights asm -o lm.c
 *     cc -O2 -shared -fPIC -I. -Iruntime lm.c time_decode.c runtime/arn_pool.c -pthread -o decode.so
 *
 * One thread: decode_open, then steps, then decode_close. */
#include "lm.h"
#ifdef LM_THREADS
#include "arn_pool.h"
static struct arn_threads threads;
#endif

#include <time.h>

int decode_open(void);
double decode_step(int token, int n);
void decode_close(void);

static _Alignas(LM_ARENA_ALIGN) uint8_t arena[LM_ARENA_BYTES];
static _Alignas(LM_ARENA_ALIGN) uint8_t state[LM_STATE_BYTES];
static lm_mem m = {.arena = arena, .state = state};

int decode_open(void)
{
#ifdef LM_THREADS
    if (arn_threads_open(&threads, LM_THREADS))
        return -1;
    m.pool = &threads.pool;
#endif
    return lm_init(&m);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Milliseconds of the step for `token` after n others; negative: it failed. */
double decode_step(int token, int n)
{
    lm_in0(&m)[0] = token;
    lm_in1(&m)[0] = n;
    lm_in2(&m)[0] = n;
    const double begin = now();
    return lm_run(&m) ? -1.0 : now() - begin;
}

void decode_close(void)
{
#ifdef LM_THREADS
    arn_threads_close(&threads);
#endif
}
