/* main.c - prints 48 characters after the letter O. Token t is the character ' ' + t. */
#include "generate.h"

#include <stdio.h>

static _Alignas(LM_ARENA_ALIGN) uint8_t arena[LM_ARENA_BYTES];
static _Alignas(LM_ARENA_ALIGN) uint8_t state[LM_STATE_BYTES];

static void put(int token)
{
    putchar(' ' + token);
    fflush(stdout);
}

int main(void)
{
    const lm_mem m = {.arena = arena, .state = state};
    const int status = generate(&m, 'O' - ' ', 48, put);
    putchar('\n');
    return status;
}
