/* random_main.c - prints the numbers of some runs of small.ag (random.sh), a line each. */
#include "small.h"

#include <stdio.h>

static union {
    uint8_t bytes[SMALL_ARENA_BYTES];
    double aligned[1];
} arena, state;

static void print_run(const small_mem *m)
{
    int i;
    if (small_run(m) != SMALL_OK)
        printf("failed ");
    for (i = 0; i < 4; i++)
        printf("%u ", (unsigned)small_out0(m)[i]);
    printf("\n");
}

int main(void)
{
    small_mem m = {0};
    m.arena = arena.bytes + (SMALL_ARENA_ALIGN - (uintptr_t)arena.bytes % SMALL_ARENA_ALIGN) % SMALL_ARENA_ALIGN;
    m.state = state.bytes;
    if (small_init(&m) != SMALL_OK)
        return 1;
    print_run(&m); /* seed 0, runs 0 and 1 */
    print_run(&m);
    small_seed(&m, 0xfedcba9876543210u, 7); /* runs 7 and 8 */
    print_run(&m);
    print_run(&m);
    small_reset(&m); /* run 0 */
    print_run(&m);
    return 0;
}
