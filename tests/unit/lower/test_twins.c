/* test_twins.c - which constants are equal: all bytes are compared, and the type if requested. */
#include "ir/lower/lowered.h"
#include "tests/unit/support/in_context.h"

static ac_ctx cx;

enum { N = 256 };

static ac_const *constant(const uint8_t *bytes, ac_dtype d, int64_t count)
{
    ac_const *k = AC_NEW(cx.region, ac_const);
    *k = (ac_const){.name = "k", .dtype = d, .count = count, .align = 1, .data = bytes};
    return k;
}

/* A copy of N bytes with a different one at `other`. */
static const uint8_t *copy_but(const uint8_t *bytes, int32_t other)
{
    uint8_t *copy = ac_copy(cx.region, bytes, N);
    copy[other] ^= 1;
    return copy;
}

static void tests(ac_ctx *c)
{
    uint8_t bytes[N], same[N];
    for (int32_t i = 0; i < N; i++)
        same[i] = bytes[i] = (uint8_t)(i * 7);
    ac_const *k[] = {constant(bytes, AC_U8, N),
                     constant(copy_but(bytes, N - 1), AC_U8, N),
                     constant(copy_but(bytes, N / 2), AC_U8, N),
                     constant(copy_but(bytes, 0), AC_U8, N),
                     constant(same, AC_U8, N),
                     constant(same, AC_U8, N / 2),
                     constant(same, AC_I8, N)};
    const int32_t *any = ac_const_twins(c->region, k, 7, false), *typed = ac_const_twins(c->region, k, 7, true);
    for (int32_t i = 0; i < 4; i++)
        CHECK(any[i] == i && typed[i] == i);
    CHECK(any[4] == 0 && typed[4] == 0);
    CHECK(any[5] == 5 && typed[5] == 5);
    CHECK(any[6] == 0 && typed[6] == 6);
}

int main(void)
{
    return in_context(&cx, tests);
}
