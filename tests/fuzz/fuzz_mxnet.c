/* fuzz_mxnet.c - MXNet symbols, with or without weights (fuzz_pair.h). */
#define FUZZ_FORMAT "mxnet"
#include "fuzz_pair.h"
