/* ulp.c - the greatest error of a float function in generated code, over all 2^32 arguments. Driven by ulp.sh, which
 * compiles it with -DWANT=the function in double (a name of libm, or of those below), -DLIMIT=greatest error allowed,
 * and the function generated twice: with mul then add (a.h), with fma (b.h).
 *
 * The error is |result - WANT(x)| in units of the last place of a float at WANT(x) (2^-149 below the normal range). NaN
 * has to give NaN, and results beyond the largest float infinity. fast_errors() has loops that compilers turn into
 * vectors (-Ofast: this file only); a block where it finds too much, or NaN and infinity, is looked at again one by one
 * by exact_block(). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 65536 };
void fast_errors(const float *x, const float *const *got, double *worst, int *at);

/* Functions that libm does not have; a double keeps enough digits of a float's result everywhere. */
#define F(name, value)                                          \
    static inline __attribute__((unused)) double name(double x) \
    {                                                           \
        return value;                                           \
    }
F(sigmoid, 1 / (1 + exp(-x)))
F(elu, x > 0 ? x : expm1(x))
F(softplus, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)))
F(less, x < 40 ? exp(x) : exp(40.0)) /* a greater e^x gives the same mish */
F(mish, x *(less(x) * (less(x) + 2) / (less(x) * (less(x) + 2) + 2)))
F(swish, x / (1 + exp(-x)))
F(quick, x / (1 + exp(-(double)1.702f * x)))
F(gelu, 0.5 * x * erfc(-0.70710678118654752440 * x))
F(gelu_tanh, x / (1 + exp(-1.59576912160573071176 * x * (1 + 0.044715 * x * x))))
F(rsqrt, 1 / sqrt(x))
F(selu, (double)1.05070102214813232421875f * (x > 0 ? x : (double)1.67326319217681884765625f * expm1(x)))
F(celu, x > 0 ? x : expm1(x))
F(hard_sigmoid, (double)0.2f * x + 0.5 < 0 ? 0 : (double)0.2f * x + 0.5 > 1 ? 1 : (double)0.2f * x + 0.5)
F(softsign, x / (1 + fabs(x)))
F(rcbrt, 1 / cbrt(x))

#ifdef FAST
static double fast_error(const double *want, const float *got, int *at)
{
    static double error[N];
    double worst = 0;
    for (int i = 0; i < N; i++) {
        union {
            double d;
            int64_t i;
        } w = {want[i]}, unit;
        const int64_t e = (w.i >> 52 & 0x7ff) - 1022 - 24;
        unit.i = ((e < -149 ? -149 : e) + 1023) << 52;
        const double d = (double)got[i] - want[i];
        error[i] = (d < 0 ? -d : d) / unit.d;
        worst = error[i] > worst ? error[i] : worst;
    }
    for (*at = 0; *at < N - 1 && error[*at] < worst;)
        ++*at;
    return worst;
}

/* Greatest errors of both functions in a block of finite arguments */
void fast_errors(const float *x, const float *const *got, double *worst, int *at)
{
    static double want[N];
    for (int i = 0; i < N; i++)
        want[i] = WANT((double)x[i]);
    for (int k = 0; k < 2; k++)
        worst[k] = fast_error(want, got[k], &at[k]);
}
#else
#include "a.h"
#include "b.h"
static _Alignas(64) unsigned char arena[2][A_ARENA_BYTES > B_ARENA_BYTES ? A_ARENA_BYTES : B_ARENA_BYTES];

static double error_of(float got, double want)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(got) || isinf((float)want))
        return isinf(got) && isinf((float)want) && (got > 0) == (want > 0) ? 0
               : fabs(want) > 3.4028e38 && fabsf(got) > 3.4028e38f         ? 1
                                                                           : INFINITY;
    int e;
    frexp(want, &e);
    return fabs((double)got - want) / ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

static double exact_block(const float *x, const float *got, int *at)
{
    double worst = 0;
    *at = 0;
    for (int i = 0; i < N; i++) {
        const double e = error_of(got[i], WANT((double)x[i]));
        if (e > worst) {
            worst = e;
            *at = i;
        }
    }
    return worst;
}

int main(int argc, char **argv)
{
    const unsigned long step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1; /* every step-th block of 65,536 */
    double worst[2] = {0, 0};
    float where[2] = {0, 0};
    unsigned long long looked = 0;
    const a_mem ma = {.arena = arena[0]};
    const b_mem mb = {.arena = arena[1]};
    if (a_init(&ma) || b_init(&mb))
        return 2;
    for (unsigned long block = 0; block < 65536; block += step) {
        static _Alignas(64) float x[N];
        for (unsigned long i = 0; i < N; i++) {
            const unsigned bits = (unsigned)(block << 16 | i);
            memcpy(&x[i], &bits, 4);
        }
        memcpy(a_in0(&ma), x, sizeof x);
        memcpy(b_in0(&mb), x, sizeof x);
        if (a_run(&ma) || b_run(&mb))
            return 2;
        const float *const y[2] = {(const float *)(const void *)a_out0(&ma), (const float *)(const void *)b_out0(&mb)};
        double error[2] = {INFINITY, INFINITY};
        int at[2];
        if ((block & 0x7f80) != 0x7f80)
            fast_errors(x, y, error, at);
        for (int k = 0; k < 2; k++) {
            if (!(error[k] <= LIMIT))
                error[k] = exact_block(x, y[k], &at[k]);
            if (error[k] > worst[k]) {
                worst[k] = error[k];
                where[k] = x[at[k]];
            }
        }
        looked += N;
    }
    printf("%.3f at %a with mul and add, %.3f at %a with fma, of %llu floats\n", worst[0], (double)where[0], worst[1],
           (double)where[1], looked);
    return !(worst[0] <= LIMIT && worst[1] <= LIMIT);
}
#endif
