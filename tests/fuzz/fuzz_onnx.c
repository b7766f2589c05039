/* fuzz_onnx.c - ONNX files from anybody. */
#define FUZZ_FORMAT "onnx"
#define FUZZ_GUESS  0
#define FUZZ_MUTATE fuzz_mutate_protobuf
#include "tests/fuzz/mutate_protobuf.h"

#include "tests/fuzz/fuzz_import.h"
