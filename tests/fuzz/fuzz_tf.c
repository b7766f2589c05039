/* fuzz_tf.c - TensorFlow files from anybody. */
#define FUZZ_FORMAT "tensorflow"
#define FUZZ_GUESS  1
#define FUZZ_MUTATE fuzz_mutate_protobuf
#include "tests/fuzz/mutate_protobuf.h"

#include "tests/fuzz/fuzz_import.h"
