/* test_requant_float.c - requantisation in floats: the form agrees with the reference wherever it is found, with and
 * without FMA; it is found for scales of a hundredth and not where floats cannot have it. */
#include "ir/lower/requant_float.h"
#include "tests/unit/support/in_context.h"

#include <stdlib.h>

static uint64_t state = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* A channel with a scale near `scale`; clamped at its zero point (relu), or not. */
static ac_steps channel(double scale, bool real, bool relu)
{
    scale *= 0.7 + 0.6 * (rnd() / 4294967296.0);
    const int32_t zero = relu ? -128 : (int32_t)(rnd() % 256) - 128, most = 1000 + (int32_t)(rnd() % 2000000);
    return (ac_steps){.real = real,
                      .scale = scale,
                      .q = ac_quantize_multiplier(scale),
                      .zero = zero,
                      .lo = -128,
                      .hi = rnd() % 4 ? 127 : 100,
                      .from = -most,
                      .to = most / 2};
}

static int32_t form(const ac_steps *f, const ac_float_of *of, bool fma, int32_t acc)
{
    const int32_t y = ac_requant_float_at(of, fma, acc);
    return y < f->lo ? f->lo : y > f->hi ? f->hi : y;
}

/* How many of 200 channels have a form; it is right for both sides of all steps, for both signs, and anywhere. */
static int found(double scale, bool real, bool relu, bool fma)
{
    int count = 0;
    for (int k = 0; k < 200; k++) {
        const ac_steps f = channel(scale, real, relu);
        ac_float_of of;
        if (!ac_requant_float_find(&f, fma, &of))
            continue;
        count++;
        int64_t at = f.from;
        for (int32_t y = ac_steps_at(&f, (int32_t)f.from) + 1; y <= ac_steps_at(&f, (int32_t)f.to); y++) {
            at = ac_steps_reach(&f, at, y);
            MUST(form(&f, &of, fma, (int32_t)at) == y && form(&f, &of, fma, (int32_t)at - 1) == y - 1);
        }
        for (int i = 0; i < 2000; i++) {
            int32_t acc = i < 40 ? i - 20 : (int32_t)(f.from + (int64_t)(rnd() % (uint64_t)(f.to - f.from + 1)));
            acc = i == 40 ? (int32_t)f.from : i == 41 ? (int32_t)f.to : acc;
            MUST(form(&f, &of, fma, acc) == ac_steps_at(&f, acc));
        }
    }
    return count;
}

static void tests(ac_ctx *cx)
{
    (void)cx;
    for (int fma = 0; fma < 2; fma++)
        for (int real = 0; real < 2; real++) {
            MUST(found(0.02, real, true, fma) > 190);
            MUST(found(0.02, real, false, fma) > 190);
            MUST(found(0.004, real, true, fma) > 100);
            MUST(found(0.00002, real, false, fma) < 100);
        }
    ac_float_of of;
    ac_steps f = channel(0.02, false, false);
    f.scale = 0.7;
    f.q = ac_quantize_multiplier(f.scale);
    MUST(!ac_requant_float_find(&f, true, &of)); /* the result could be a float outside of int32 */
    f = channel(0.02, false, false);
    f.to = (int64_t)1 << 31;
    MUST(!ac_requant_float_find(&f, true, &of));
    f.from = 5;
    f.to = 4;
    MUST(!ac_requant_float_find(&f, true, &of));
    /* without steps: the zero point, or the clamp */
    f = (ac_steps){
        .scale = 0.001, .q = ac_quantize_multiplier(0.001), .zero = 7, .lo = -128, .hi = 127, .from = -9, .to = 9};
    MUST(ac_requant_float_find(&f, true, &of) && ac_requant_float_at(&of, true, -9) == 7);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
