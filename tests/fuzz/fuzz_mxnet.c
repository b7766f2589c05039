/* fuzz_mxnet.c - MXNet symbols, with or without weights (fuzz_pair.h). */
#define FUZZ_FORMAT "mxnet"
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "tests/fuzz/fuzz_pair.h"
