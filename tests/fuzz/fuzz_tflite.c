/* fuzz_tflite.c - TFLite files from anybody. */
#define FUZZ_FORMAT "tflite"
#define FUZZ_GUESS  1
#define FUZZ_MUTATE fuzz_mutate_flatbuffer
#include "tests/fuzz/mutate_flatbuffer.h"

#include "tests/fuzz/fuzz_import.h"
