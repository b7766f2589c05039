/* gpt2_prompt.c - as gpt2_tokens.c, with a model that takes several tokens at once: those that are given go in blocks
 * of GPT2_MAX, those that come out one by one, with the same weights and caches.
 *
 *     gpt2 COUNT TOKEN...
 *
 * The model is that of gpt2.py --prompt, compiled under the name gpt2 for sizes n=1..GPT2_MAX. */
#include "gpt2.h"

#include <stdio.h>
#include <stdlib.h>

static _Alignas(GPT2_ARENA_ALIGN) uint8_t arena[GPT2_ARENA_BYTES];
static _Alignas(GPT2_ARENA_ALIGN) uint8_t state[GPT2_STATE_BYTES];

/* The most likely token after `n` of them, before which there were `before` others; negative: the run failed. */
static long next_token(const gpt2_mem *m, char *const *token, int n, int before)
{
    uint32_t bytes;
    int64_t *tokens = gpt2_in0(m, n, NULL), *places = gpt2_in1(m, n, NULL);
    int32_t *position = gpt2_in2(m, n, NULL);
    for (int i = 0; i < n; i++) {
        tokens[i] = atoi(token[i]);
        places[i] = before + i;
    }
    *position = before;
    if (gpt2_run(m, n)) /* a token that is not in the vocabulary, or no room for so many rows */
        return -1;
    const float *logits = gpt2_out0(m, n, &bytes);
    const long words = (long)(bytes / sizeof *logits) / n;
    logits += (n - 1) * words; /* after the last one */
    long best = 0;
    for (long i = 1; i < words; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

int main(int argc, char **argv)
{
    const gpt2_mem m = {.arena = arena, .state = state};
    if (argc < 3 || gpt2_init(&m, GPT2_MIN)) {
        fputs("usage: gpt2 COUNT TOKEN...\n", stderr);
        return 2;
    }
    const int given = argc - 2, end = given + atoi(argv[1]);
    char text[24], *last = text;
    for (int n = 0; n + 1 < end;) {
        const int left = given - n, now = left > GPT2_MAX ? GPT2_MAX : left > 0 ? left : 1;
        const long token = next_token(&m, left > 0 ? argv + 2 + n : &last, now, n);
        if (token < 0) {
            fprintf(stderr, "\ngpt2: token %d of %d could not be taken\n", n + 1, end);
            return 1;
        }
        n += now;
        snprintf(text, sizeof text, "%ld", token);
        if (n >= given)
            printf("%s ", text);
    }
    putchar('\n');
    return 0;
}
