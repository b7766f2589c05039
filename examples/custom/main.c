/* main.c - runs the model of sensor.ag with the operators of acme.c. */
#include "sensor.h"

#include <stdio.h>

float acme_peak(void);

static _Alignas(SENSOR_ARENA_ALIGN) unsigned char arena[SENSOR_ARENA_BYTES];

int main(void)
{
    const sensor_mem mem = {.arena = arena};
    if (sensor_init(&mem) != SENSOR_OK)
        return 1;
    for (unsigned i = 0; i < SENSOR_IN0_COUNT; i++)
        sensor_in0(&mem)[i] = (float)(i % 4) - 1.0f;
    if (sensor_run(&mem) != SENSOR_OK)
        return 1;
    for (unsigned i = 0; i < SENSOR_OUT0_COUNT; i++)
        printf("%.4f ", (double)sensor_out0(&mem)[i]);
    printf("peak %.4f\n", (double)acme_peak());
    return 0;
}
