/* fuzz_text.c - our own text form, from anybody. */
#define FUZZ_FORMAT "text"
#define FUZZ_GUESS  0
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "tests/fuzz/fuzz_import.h"
