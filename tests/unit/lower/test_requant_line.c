/* test_requant_line.c - requantisation by one product against the reference: random multipliers, zero points, clamps
 * and ranges of accumulators, both sides of every step and random accumulators; multipliers that tie; cases that must
 * be refused; and a form that is wrong by one at one step, which must not be proven. */
#include "ir/lower/requant_line.h"
#include "tests/unit/support/expect.h"

#include <math.h>
#include <stdio.h>

static uint64_t state = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static double unit(void)
{
    return rnd() / 4294967296.0;
}

enum { CHANNELS = 8 };
typedef enum shape { NONE, RELU, RELU6, BYTES } shape; /* of the clamp; BYTES: u8 */

/* Channels whose scales differ by up to `spread` octaves; accumulators up to `reach` times the last step. */
static void draw(ac_steps *f, bool real, shape s, int spread, double reach, double scale)
{
    const int32_t zero = s == RELU ? -128 : s == BYTES ? (int32_t)(rnd() % 256) : (int32_t)(rnd() % 256) - 128;
    const int32_t lo = s == BYTES  ? 0
                       : s == NONE ? -128
                                   : zero,
                  hi = s == BYTES   ? 255
                       : s == RELU6 ? (zero + 127) / 2
                                    : 127;
    for (int i = 0; i < CHANNELS; i++) {
        const double own = scale * ldexp(1 + unit(), -(spread ? (int)rnd() % (spread + 1) : 0));
        const double most = fmin(256 / own * reach, 2147483647.0);
        f[i] = (ac_steps){.real = real,
                          .scale = own,
                          .q = ac_quantize_multiplier(own),
                          .zero = zero,
                          .lo = lo,
                          .hi = hi,
                          .from = -(int64_t)most,
                          .to = (int64_t)(most * unit())};
    }
}

static int64_t stored(const ac_steps *f, const ac_line *line, const ac_line_of *of, int64_t acc)
{
    const int64_t v = ac_line_at(line, of, (int32_t)acc);
    return v < f->lo ? f->lo : v > f->hi ? f->hi : v;
}

static bool within(const ac_steps *f, int64_t acc)
{
    return acc >= f->from && acc <= f->to;
}

/* Accumulators around every place where the real result is a whole number and a half, and anywhere. */
static void compare(const ac_steps *f, const ac_line *line, const ac_line_of *of)
{
    const double scale = f->real ? f->scale : ldexp(f->q.m, f->q.shift - 31);
    for (int32_t y = -256; y <= 256; y++)
        for (int32_t d = -3; d <= 3; d++) {
            const int64_t acc = llround((y - 0.5) / scale) + d;
            if (within(f, acc))
                MUST(stored(f, line, of, acc) == ac_steps_at(f, (int32_t)acc));
        }
    for (int i = 0; i < 64; i++) {
        const int64_t acc = f->from + (int64_t)((double)(f->to - f->from) * unit());
        MUST(stored(f, line, of, acc) == ac_steps_at(f, (int32_t)acc));
    }
    MUST(stored(f, line, of, f->from) == ac_steps_at(f, (int32_t)f->from));
    MUST(stored(f, line, of, f->to) == ac_steps_at(f, (int32_t)f->to));
    if (line->product != AC_LINE_LONG)
        for (int i = 0; i < 2; i++) { /* every sum is an i32 */
            int64_t acc = i ? f->to : f->from;
            if (line->clip)
                acc = acc < line->from ? line->from : acc > line->to ? line->to : acc;
            const int64_t p = (acc * ((int64_t)1 << line->pre) * of->m) >> line->drop;
            const int64_t c = line->kind == AC_LINE_SIGNED ? (acc < 0 ? -of->c - 1 : of->c) + of->k : of->c;
            MUST(p + c >= INT32_MIN && p + c <= INT32_MAX && of->c >= INT32_MIN && of->c <= INT32_MAX);
        }
}

/* How many of `layers` random steps have a form; each that has one is compared. */
static int found(int layers, bool real, shape s, int spread, double reach, ac_mul mul, int *is_signed)
{
    ac_steps f[CHANNELS];
    ac_line_of of[CHANNELS];
    int n = 0;
    for (int k = 0; k < layers; k++) {
        draw(f, real, s, spread, reach, ldexp(1, -1 - (int)(rnd() % 12)));
        const ac_line line = ac_line_find(f, CHANNELS, mul, of);
        n += line.kind != AC_LINE_NONE;
        *is_signed += line.kind == AC_LINE_SIGNED;
        for (int i = 0; i < CHANNELS && line.kind != AC_LINE_NONE; i++) {
            MUST(ac_line_proven(&f[i], &line, &of[i]));
            compare(&f[i], &line, &of[i]);
        }
    }
    return n;
}

static void test_random(void)
{
    enum { LAYERS = 40 };
    for (int mul = AC_MUL_LOW; mul <= AC_MUL_LONG; mul++)
        for (int s = NONE; s <= BYTES; s++)
            for (int k = 0; k < 8; k++) {
                const double reach = k & 2 ? 1.5 : 0.3;
                const int spread = k & 4 ? 4 : 0;
                int is_signed = 0;
                const int n = found(LAYERS, k & 1, (shape)s, spread, reach, (ac_mul)mul, &is_signed);
                if (k & 1) /* functions that round half away from zero in double always have a form */
                    MUST(n == LAYERS && is_signed <= LAYERS / 10);
                else
                    MUST(n == LAYERS && (s == NONE || s == BYTES ? is_signed > 0 : is_signed == 0));
            }
}

/* Multipliers that are powers of two tie at every half, and negative ties round down. */
static void test_ties(void)
{
    for (int e = 1; e <= 14; e++)
        for (int zero = -128; zero <= 127; zero += 51) {
            const int64_t reach = (int64_t)600 << e;
            ac_steps f = {
                .real = true, .scale = ldexp(1, -e), .zero = zero, .lo = -128, .hi = 127, .from = -reach, .to = reach};
            ac_line_of of;
            for (int real = 0; real < 2; real++) {
                f.real = real;
                f.q = ac_quantize_multiplier(f.scale);
                const ac_line line = ac_line_find(&f, 1, AC_MUL_LONG, &of);
                MUST(line.kind != AC_LINE_NONE);
                for (int64_t acc = -reach; acc <= reach; acc += e > 8 ? rnd() % 7 + 1 : 1)
                    MUST(stored(&f, &line, &of, acc) == ac_steps_at(&f, (int32_t)acc));
            }
        }
}

static void test_refused(void)
{
    ac_line_of of;
    ac_steps f = {.q = {1 << 30, 3}, .lo = -128, .hi = 127, .from = -(1 << 29), .to = 1 << 29};
    MUST(ac_line_find(&f, 1, AC_MUL_LONG, &of).kind == AC_LINE_NONE); /* the left shift wraps */
    f.q = (ac_multiplier){-(1 << 30), -3};
    MUST(ac_line_find(&f, 1, AC_MUL_LONG, &of).kind == AC_LINE_NONE);
    f.q = (ac_multiplier){1 << 30, -3};
    f.hi = 32767;
    MUST(ac_line_find(&f, 1, AC_MUL_LONG, &of).kind == AC_LINE_NONE);
    f = (ac_steps){.q = {0, 0}, .zero = 5, .lo = -128, .hi = 127, .from = INT32_MIN, .to = INT32_MAX};
    const ac_line line = ac_line_find(&f, 1, AC_MUL_HIGH, &of);
    MUST(line.kind != AC_LINE_NONE && stored(&f, &line, &of, INT32_MIN) == 5 && stored(&f, &line, &of, INT32_MAX) == 5);
}

/* One unit of one step makes a difference that the proof sees. */
static void test_proof(void)
{
    const ac_steps f = {.q = {1518500250, -9}, .zero = -128, .lo = -128, .hi = 127, .from = -400000, .to = 400000};
    ac_line_of of;
    const ac_line line = ac_line_find(&f, 1, AC_MUL_LONG, &of);
    MUST(line.kind == AC_LINE_PLAIN && ac_line_proven(&f, &line, &of));
    ac_line_of wrong = of;
    wrong.c += of.m; /* as if each accumulator were greater by one */
    MUST(!ac_line_proven(&f, &line, &wrong));
    wrong = of;
    wrong.m += of.m >> 16;
    MUST(!ac_line_proven(&f, &line, &wrong));
    wrong = of;
    wrong.m = -of.m;
    MUST(!ac_line_proven(&f, &line, &wrong));
}

int main(void)
{
    test_random();
    test_ties();
    test_refused();
    test_proof();
    return check_done();
}
