/* ulp.c - the greatest error of a float function in generated code, over all 2^32 arguments. Driven by ulp.sh, which compiles it with
 * -DWANT=the function in double, -DLIMIT=greatest error allowed, and the function generated twice: with mul then add (a.h), with fma (b.h).
 *
 * The error is |result - WANT(x)| in units of the last place of a float at WANT(x) (2^-149 below the normal range). NaN has to give NaN,
 * results beyond the largest float infinity, and the greatest finite argument's neighbour may round either way. */
#include "a.h"
#include "b.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 65536 };
static _Alignas(64) unsigned char arena[2][A_ARENA_BYTES > B_ARENA_BYTES ? A_ARENA_BYTES : B_ARENA_BYTES];

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double elu(double x) { return x > 0 ? x : expm1(x); }

static double error_of(float got, double want)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(got) || isinf((float)want))
        return isinf(got) && isinf((float)want) && (got > 0) == (want > 0) ? 0 : fabs(want) > 3.4028e38 && fabsf(got) > 3.4028e38f ? 1 : INFINITY;
    int e;
    frexp(want, &e);
    return fabs((double)got - want) / ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

int main(int argc, char **argv)
{
    const unsigned long step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1; /* every step-th block of 65,536 */
    double worst[2] = {0, 0};
    float at[2] = {0, 0};
    (void)sigmoid;
    (void)elu;
    const a_mem ma = {.arena = arena[0]};
    const b_mem mb = {.arena = arena[1]};
    if (a_init(&ma) || b_init(&mb))
        return 2;
    for (unsigned long block = 0; block < 65536; block += step) {
        static float x[N];
        static double want[N];
        for (unsigned long i = 0; i < N; i++) {
            const unsigned bits = (unsigned)(block << 16 | i);
            memcpy(&x[i], &bits, 4);
            want[i] = WANT((double)x[i]);
        }
        memcpy(a_in0(&ma), x, sizeof x);
        memcpy(b_in0(&mb), x, sizeof x);
        if (a_run(&ma) || b_run(&mb))
            return 2;
        for (int k = 0; k < 2; k++) {
            const float *y = (const float *)(const void *)(k ? (const void *)b_out0(&mb) : (const void *)a_out0(&ma));
            for (int i = 0; i < N; i++) {
                const double e = error_of(y[i], want[i]);
                if (e > worst[k]) {
                    worst[k] = e;
                    at[k] = x[i];
                }
            }
        }
    }
    printf("%.3f at %a with mul and add, %.3f at %a with fma\n", worst[0], (double)at[0], worst[1], (double)at[1]);
    return !(worst[0] <= LIMIT && worst[1] <= LIMIT);
}
