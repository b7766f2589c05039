/* fuzz_caffe.c - Caffe nets, with or without weights (fuzz_pair.h). */
#define FUZZ_FORMAT "caffe"
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "tests/fuzz/fuzz_pair.h"
