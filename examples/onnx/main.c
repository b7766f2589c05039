/* main.c - runs the model on the 64 floats of a file and prints the class. usage: main x.bin */
#include "net.h"

#include <stdio.h>

static _Alignas(NET_ARENA_ALIGN) uint8_t arena[NET_ARENA_BYTES];

int main(int argc, char **argv)
{
    const net_mem mem = {.arena = arena};
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t best = 0;
    if (!f || net_init(&mem))
        return 1;
    const size_t n = fread(net_in0(&mem), sizeof *net_in0(&mem), NET_IN0_COUNT, f);
    fclose(f);
    if (n != NET_IN0_COUNT || net_run(&mem))
        return 2;
    const float *y = net_out0(&mem);
    for (size_t k = 1; k < NET_OUT0_COUNT; k++)
        if (y[k] > y[best])
            best = k;
    printf("class %zu\n", best);
    return 0;
}
