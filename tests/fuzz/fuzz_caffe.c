/* fuzz_caffe.c - Caffe nets, with or without weights (fuzz_pair.h). */
#define FUZZ_FORMAT "caffe"
#include "fuzz_pair.h"
