/* main.c - as many samples at a time as there are, up to NET_MAX, in one arena. */
#include "net.h"

#include <stdio.h>

static _Alignas(NET_ARENA_ALIGN) uint8_t arena[NET_ARENA_BYTES];

int main(void)
{
    const net_mem mem = {.arena = arena};
    for (int32_t n = NET_MIN; n <= NET_MAX + 1; n++) {
        uint32_t bytes = 0;
        if (net_init(&mem, n)) {
            printf("%d samples: not possible\n", (int)n);
            continue;
        }
        float *x = net_in0(&mem, n, &bytes);
        for (uint32_t i = 0; i < bytes / sizeof *x; i++)
            x[i] = (float)(i % 5) / 4;
        if (net_run(&mem, n))
            return 1;
        const float *y = net_out0(&mem, n, &bytes);
        printf("%d samples: %u probabilities, the first %.3f\n", (int)n, (unsigned)(bytes / sizeof *y), (double)y[0]);
    }
    return 0;
}
