/* fuzz_text.c - our own text form, from anybody. */
#define FUZZ_FORMAT "text"
#define FUZZ_GUESS  0
#include "tests/fuzz/fuzz_import.h"
