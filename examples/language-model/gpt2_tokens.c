/* gpt2_tokens.c - numbers of tokens go in, those that GPT-2 goes on with come out, each as soon as it is known:
 *
 *     gpt2 COUNT TOKEN...
 *
 * The model is that of gpt2.py, compiled under the name gpt2 with its caches as state. */
#include "gpt2.h"
#ifdef GPT2_THREADS /* compiled with --threads: the pool of runtime/arn_pool.h is one that is there */
#include "arn_pool.h"
static struct arn_threads threads;
#endif

#include <stdio.h>
#include <stdlib.h>

static _Alignas(GPT2_ARENA_ALIGN) uint8_t arena[GPT2_ARENA_BYTES];
static _Alignas(GPT2_ARENA_ALIGN) uint8_t state[GPT2_STATE_BYTES];

/* The most likely token after `token`, before which there were n others; negative: the run failed. */
static int next_token(const gpt2_mem *m, int token, int n)
{
    gpt2_in0(m)[0] = token; /* inputs may be overwritten: they are set before each run */
    gpt2_in1(m)[0] = n;     /* position_ids: the position of the token */
    gpt2_in2(m)[0] = n;     /* position: rows that the caches have */
    if (gpt2_run(m))        /* a token that is not in the vocabulary, or no room for one more row */
        return -1;
    const float *logits = gpt2_out0(m);
    int best = 0;
    for (int i = 1; i < (int)GPT2_OUT0_COUNT; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

int main(int argc, char **argv)
{
    gpt2_mem m = {.arena = arena, .state = state};
#ifdef GPT2_THREADS
    if (arn_threads_open(&threads, GPT2_THREADS))
        return 1;
    m.pool = &threads.pool;
#endif
    if (argc < 3 || gpt2_init(&m)) {
        fputs("usage: gpt2 COUNT TOKEN...\n", stderr);
        return 2;
    }
    const int given = argc - 2, end = given + atoi(argv[1]);
    int token = atoi(argv[2]);
    for (int n = 0; n + 1 < end; n++) { /* the tokens that are given, then those that came out */
        token = next_token(&m, n < given ? atoi(argv[2 + n]) : token, n);
        if (token < 0) {
            fprintf(stderr, "\ngpt2: token %d of %d could not be taken\n", n + 1, end);
            return 1;
        }
        if (n + 1 >= given) {
            printf("%d ", token);
            fflush(stdout);
        }
    }
    putchar('\n');
#ifdef GPT2_THREADS
    arn_threads_close(&threads);
#endif
    return 0;
}
