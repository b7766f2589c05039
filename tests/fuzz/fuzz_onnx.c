/* fuzz_onnx.c - ONNX files from anybody. */
#define FUZZ_FORMAT "onnx"
#define FUZZ_GUESS  0
#include "tests/fuzz/fuzz_import.h"
