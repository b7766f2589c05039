/* fuzz_tflite.c - TFLite files from anybody. */
#define FUZZ_FORMAT "tflite"
#define FUZZ_GUESS  1
#include "tests/fuzz/fuzz_import.h"
