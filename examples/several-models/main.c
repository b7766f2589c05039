/* main.c - two models, one after the other, in one arena: the first one's bytes are free when the second one runs. */
#include "all.h"

#include <stdio.h>
#include <string.h>

static int largest(const int8_t *y, unsigned n)
{
    unsigned best = 0;
    for (unsigned k = 1; k < n; k++)
        if (y[k] > y[best])
            best = k;
    return (int)best;
}

static _Alignas(ALL_ARENA_ALIGN) uint8_t arena[ALL_ARENA_BYTES];

int main(void)
{
    const all_mem mem = {.arena = arena};
    const digits_mem digits = all_of_digits(&mem);
    const branch_mem branch = all_of_branch(&mem);
    if (digits_init(&digits) || branch_init(&branch))
        return 1;
    memset(digits_in0(&digits), 40, DIGITS_IN0_BYTES);
    if (digits_run(&digits))
        return 2;
    const int first = largest(digits_out0(&digits), DIGITS_OUT0_COUNT); /* copied: the next model writes over it */
    memset(branch_in0(&branch), 40, BRANCH_IN0_BYTES);
    if (branch_run(&branch))
        return 3;
    const int second = largest(branch_out0(&branch), BRANCH_OUT0_COUNT);
    printf("class %d and class %d, in %u bytes\n", first, second, (unsigned)ALL_ARENA_BYTES);
    return 0;
}
