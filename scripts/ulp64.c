/* ulp64.c - the greatest error of a double function in generated code, over random arguments, against libquadmath.
 * Driven by ulp.sh f64, which compiles it with -DWANT=the function of __float128, -DLIMIT=greatest error allowed, and
 * the function generated twice: with mul then add (a.h), with fma (b.h).
 *
 * Two arguments of three have random bits (all binades), the third is near 0 or a tail. The error is |result - WANT(x)|
 * in units of the last place of a double at WANT(x) (2^-1074 below the normal range). */
#include "a.h"
#include "b.h"

#include <quadmath.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 quad;
enum { N = 65536 };
#define F(name, value)                                         \
    static inline __attribute__((unused)) quad name##q(quad x) \
    {                                                          \
        return value;                                          \
    }
F(sigmoid, 1 / (1 + expq(-x)))
F(elu, x > 0 ? x : expm1q(x))
F(softplus, x > 0 ? x + log1pq(expq(-x)) : log1pq(expq(x)))
F(less, x < 80 ? expq(x) : expq(80)) /* a greater e^x gives the same mish */
F(mish, x *(lessq(x) * (lessq(x) + 2) / (lessq(x) * (lessq(x) + 2) + 2)))
F(swish, x / (1 + expq(-x)))
F(quick, x / (1 + expq(-(quad)1.702f * x)))
F(gelu, x *erfcq(-x *M_SQRT1_2q) / 2)
F(gelu_tanh, x / (1 + expq(-2 * M_SQRT2q * M_2_SQRTPIq / 2 * x * (1 + 0.044715Q * x * x))))
F(rsqrt, 1 / sqrtq(x))

static _Alignas(64) unsigned char arena[2][A_ARENA_BYTES > B_ARENA_BYTES ? A_ARENA_BYTES : B_ARENA_BYTES];

static double error_of(double got, quad want)
{
    if (isnanq(want) || got != got)
        return isnanq(want) && got != got ? 0 : 1e30;
    const double rounded = (double)want;
    if (isinfq((quad)rounded) || isinfq((quad)got))
        return rounded == got ? 0 : fabsq(want) > 1.7976e308Q && fabsq((quad)got) > 1.7976e308Q ? 1 : 1e30;
    int e;
    frexpq(want, &e);
    return (double)(fabsq((quad)got - want) / ldexpq(1, e - 53 < -1074 ? -1074 : e - 53));
}

static uint64_t draw(void)
{
    static uint64_t s = 0x9e3779b97f4a7c15u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

int main(int argc, char **argv)
{
    const long blocks = (argc > 1 ? strtol(argv[1], NULL, 10) : 10000000) / N + 1;
    double worst[2] = {0, 0}, where[2] = {0, 0};
    const a_mem ma = {.arena = arena[0]};
    const b_mem mb = {.arena = arena[1]};
    if (a_init(&ma) || b_init(&mb))
        return 2;
    for (long block = 0; block < blocks; block++) {
        static const double SPAN[] = {1, 2, 30, 1000};
        static _Alignas(64) double x[N];
        for (int i = 0; i < N; i++) {
            const uint64_t bits = draw();
            memcpy(&x[i], &bits, 8);
            if (i % 3 == 2)
                x[i] = SPAN[i / 3 % 4] * ((double)(bits >> 11) * 0x1p-52 - 1);
        }
        memcpy(a_in0(&ma), x, sizeof x);
        memcpy(b_in0(&mb), x, sizeof x);
        if (a_run(&ma) || b_run(&mb))
            return 2;
        const double *const y[2] = {(const double *)(const void *)a_out0(&ma),
                                    (const double *)(const void *)b_out0(&mb)};
        for (int i = 0; i < N; i++) {
            const quad want = WANT((quad)x[i]);
            for (int k = 0; k < 2; k++) {
                const double e = error_of(y[k][i], want);
                if (e > worst[k]) {
                    worst[k] = e;
                    where[k] = x[i];
                }
            }
        }
    }
    printf("%.3f at %a with mul and add, %.3f at %a with fma, of %ld doubles\n", worst[0], where[0], worst[1], where[1],
           blocks * N);
    return !(worst[0] <= LIMIT && worst[1] <= LIMIT);
}
