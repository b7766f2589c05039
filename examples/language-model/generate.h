/* generate.h - generates text with a language model: the output token with the largest logit is the next input. The
 * model is compiled under the name lm with its caches as state:
 *
 *     arenac compile tiny.onnx --dim past=63 --state 'present*=past*' --name lm -o lm.c
 */
#ifndef GENERATE_H
#define GENERATE_H
#include "lm.h"

/* Starts from an empty cache, calls `put` with each of `count` tokens after `first`. 0, or the status of a call that
 * failed. The memories are the caller's. */
int generate(const lm_mem *m, int first, int count, void (*put)(int token));

#endif
