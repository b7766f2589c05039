/* test_requant_plane.c - sums of two bytes by two products of words, against TFLite's arithmetic written out: random
 * scales, zero points and clamps, all 65,536 pairs; sums that tie; and that a plane which is wrong once is not taken.
 */
#include "ir/lower/requant_plane.h"
#include "tests/unit/support/in_context.h"

#include <math.h>

static ac_ctx context;
static uint64_t state = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static double between(double lo, double hi)
{
    return lo + (hi - lo) * (rnd() / 4294967296.0);
}

/* The two roundings of MultiplyByQuantizedMultiplier; shifts of these tests go to the right. */
static int32_t rescale(int64_t x, ac_multiplier q)
{
    int64_t v = (x * q.m + (1 << 30)) >> 31;
    if (q.shift < 0) {
        const int64_t half = (int64_t)1 << (-q.shift - 1);
        v = v < 0 ? -((-v + half) >> -q.shift) : (v + half) >> -q.shift;
    }
    return (int32_t)v;
}

static int16_t value[65536];

static void reference(ac_pairs *f, double sy, double sz, double so, bool minus)
{
    const double twice = 2 * fmax(sy, sz);
    const ac_multiplier qy = ac_quantize_multiplier(sy / twice), qz = ac_quantize_multiplier(sz / twice),
                        qo = ac_quantize_multiplier(twice / (1048576 * so));
    f->slope[0] = sy / so;
    f->slope[1] = (minus ? -1 : 1) * sz / so;
    f->value = value;
    for (int32_t i = 0; i < 65536; i++) {
        const int32_t y = rescale((int64_t)(i / 256 + f->least[0] - f->zero[0]) * 1048576, qy),
                      z = rescale((int64_t)(i % 256 + f->least[1] - f->zero[1]) * 1048576, qz);
        const int32_t v = rescale(minus ? y - z : y + z, qo) + f->out;
        value[i] = (int16_t)(v < f->lo ? f->lo : v > f->hi ? f->hi : v);
    }
}

static bool compare(const ac_pairs *f, const ac_plane *p)
{
    for (int32_t i = 0; i < 65536; i++) {
        const int32_t v = ac_plane_at(p, i / 256 + f->least[0], i % 256 + f->least[1]);
        if ((v < f->lo ? f->lo : v > f->hi ? f->hi : v) != value[i])
            return false;
    }
    return true;
}

static void tests(ac_ctx *cx)
{
    enum { SUMS = 120 };
    int found = 0;
    for (int k = 0; k < SUMS; k++) {
        const bool is_u8 = k % 3 == 2, ties = k % 4 == 3;
        const int32_t least = is_u8 ? 0 : -128;
        ac_pairs f = {.least = {least, least}, .lo = least, .hi = least + 255, .out = least + (int32_t)(rnd() % 256)};
        f.zero[0] = least + (int32_t)(rnd() % 256);
        f.zero[1] = least + (int32_t)(rnd() % 256);
        f.lo = k & 8 ? f.out : f.lo;
        const double sy = ties ? 0.125 : between(0.01, 0.2), sz = ties ? 0.125 * (1 << rnd() % 3) : between(0.01, 0.2);
        reference(&f, sy, sz, ties ? 0.5 : fmax(sy, sz) * between(0.6, 2), k & 2);
        ac_plane p;
        if (!ac_plane_find(&f, cx->region, &p))
            continue;
        found++;
        MUST(compare(&f, &p));
        value[rnd() % 65536] ^= 1; /* a reference without a plane */
        MUST(!ac_plane_find(&f, cx->region, &p) || compare(&f, &p));
    }
    MUST(found >= SUMS * 9 / 10);
    ac_pairs f = {.least = {-128, -128}, .slope = {1e9, 1}, .lo = -128, .hi = 127, .value = value};
    ac_plane p;
    MUST(!ac_plane_find(&f, cx->region, &p));
}

int main(void)
{
    return in_context(&context, tests);
}
