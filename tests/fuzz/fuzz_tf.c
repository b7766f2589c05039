/* fuzz_tf.c - TensorFlow files from anybody. */
#define FUZZ_FORMAT "tensorflow"
#define FUZZ_GUESS  1
#include "tests/fuzz/fuzz_import.h"
