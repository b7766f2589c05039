/* requant_float.c - searches for a form in floats and proves it; see requant_float.h. */
#include "ir/lower/requant_float.h"

#include "ir/dtype/fma.h"

#include <math.h>

enum { MOST_STEPS = 256, NEAR = 3, SCALES = 12 }; /* neighbours to try on either side: of c, of scales */

/* A sum of floats up to 257 rounds by at most 2^-16; without FMA, a product up to 514 has rounded by 2^-15 before. If
 * the exact sum is farther than that from a half, the float is on the same side of it. */
static double clear_of(bool fma)
{
    return fma ? 2e-5 : 5e-5;
}

/* The smallest accumulators whose values are first, first + 1, .. */
typedef struct thresholds {
    int32_t n, first;
    int32_t at[MOST_STEPS];
    int32_t low, high; /* the steps with the tightest bounds of c for the previous scale */
} thresholds;

int32_t ac_requant_float_at(const ac_float_of *of, bool fma, int32_t acc)
{
    const float a = (float)acc, c = acc < 0 ? of->below : of->c;
    if (fma)
        return (int32_t)rintf(ac_fmaf(a, of->scale, c));
    const volatile float p = a * of->scale; /* rounded on its own, even if this compiler fuses operations */
    return (int32_t)rintf(p + c);
}

static bool in_range(const ac_steps *f, double scale)
{
    return f->from <= f->to && f->from >= INT32_MIN && f->to <= INT32_MAX && !f->bias && scale >= 0 && scale <= 0.5 &&
           f->lo <= f->hi && (int64_t)f->hi - f->lo < MOST_STEPS && f->lo >= -256 && f->hi <= 256;
}

/* ... of multipliers below 1, with products that fit 64 bits and accumulators that fit 32. */
static bool inverts(const ac_steps *f)
{
    enum { MOST = 20, ZERO = 256 }; /* 2^10 values of 2^20 stay below 2^31 */
    return !f->real && f->q.m > 0 && f->q.shift <= 0 && f->q.shift >= -MOST && f->zero >= -ZERO && f->zero <= ZERO;
}

/* The smallest product of accumulator and multiplier whose result is y or more, without zero point: it inverts both
 * roundings. A value is round(floor(a * m / 2^31 + 1/2) / 2^e), the outer one away from zero. */
static int64_t least_product(int32_t e, int64_t y)
{
    const int64_t half = e ? ((int64_t)1 << e) / 2 : 0, even = y * ((int64_t)1 << e) - half,
                  least = even + (e && even < 0);
    return least * ((int64_t)1 << 31) - (1 << 30);
}

/* The products grow by a constant from one value to the next, except where values become positive. So quotients need no
 * division. */
static void invert(const ac_steps *f, int32_t last, thresholds *t)
{
    const int32_t e = -f->q.shift;
    const int64_t m = f->q.m, more = (int64_t)1 << (31 + e), whole = more / m, part = more % m;
    int64_t at = f->from, a = 0, over = 0; /* a * m - over is the product, over less than m: a is rounded up */
    for (int32_t y = t->first; y <= last; y++) {
        const int64_t value = (int64_t)y - f->zero;
        if (y == t->first || value == 1) {
            const int64_t p = least_product(e, value);
            a = p / m + (p % m > 0);
            over = a * m - p;
        } else {
            a += whole + (part > over);
            over += part > over ? m - part : -part;
        }
        at = a > at ? a : at + 1;
        t->at[t->n++] = (int32_t)at;
    }
}

static void find_thresholds(const ac_steps *f, double scale, thresholds *t)
{
    const int32_t last = ac_steps_at(f, (int32_t)f->to);
    const double each = scale > 0 ? 1 / scale : 0;
    int64_t at = f->from;
    t->n = t->low = t->high = 0;
    t->first = ac_steps_at(f, (int32_t)at) + 1;
    if (inverts(f)) {
        invert(f, last, t);
        return;
    }
    for (int32_t y = t->first; y <= last; y++) {
        const double guess = (y - f->zero - 0.5) * each;
        int64_t a = guess > -2147483000.0 && guess < 2147483000.0 ? (int64_t)guess : at;
        a += guess > (double)a; /* up */
        at = a > at + 1 && a <= f->to && ac_steps_at(f, (int32_t)a) >= y && ac_steps_at(f, (int32_t)a - 1) < y
                 ? a
                 : ac_steps_reach(f, at, y);
        t->at[t->n++] = (int32_t)at;
    }
}

/* The values of c that satisfy every step: step k requires off[k] <= c < off[k] + scale, in exact arithmetic. */
typedef struct gap {
    double lo, hi, least; /* lo: the maximum of off; least: the minimum */
    double off[MOST_STEPS];
} gap;

static double off_of(const thresholds *t, double scale, int32_t k)
{
    return t->first + k - 0.5 - (double)t->at[k] * scale;
}

/* false: no c does. */
static bool find_gap(thresholds *t, double scale, gap *g)
{
    enum { LANES = 4 };
    if (off_of(t, scale, t->low) >= off_of(t, scale, t->high) + scale)
        return false;                  /* neighbouring scales mostly fail at the same two steps */
    for (int32_t k = 0; k < t->n; k++) /* in lanes */
        g->off[k] = off_of(t, scale, k);
    for (int32_t k = t->n; k % LANES; k++)
        g->off[k] = g->off[0];
    double most[LANES], least[LANES];
    for (int32_t l = 0; l < LANES; l++)
        most[l] = least[l] = g->off[0];
    for (int32_t k = 0; k < t->n; k += LANES)
        for (int32_t l = 0; l < LANES; l++) {
            const double at = g->off[k + l];
            most[l] = at > most[l] ? at : most[l];
            least[l] = at < least[l] ? at : least[l];
        }
    for (int32_t l = 1; l < LANES; l++) {
        most[0] = most[l] > most[0] ? most[l] : most[0];
        least[0] = least[l] < least[0] ? least[l] : least[0];
    }
    g->lo = most[0];
    g->least = least[0];
    g->hi = g->least + scale;
    if (g->lo < g->hi)
        return true;
    for (int32_t k = 0; k < t->n; k++) {
        t->low = g->off[k] >= g->lo ? k : t->low;
        t->high = g->off[k] <= g->least ? k : t->high;
    }
    return false;
}

/* True if both sides of each step agree, and the ends. A step agrees if c is farther from its bounds than floats
 * round. */
static bool same(const ac_steps *f, const thresholds *t, const gap *g, const ac_float_of *of, bool fma)
{
    enum { EXACT = 1 << 24 }; /* as floats */
    const double far = t->n && t->at[0] > -EXACT && t->at[t->n - 1] < EXACT ? clear_of(fma) : (double)INFINITY,
                 above = (double)of->c - far, below = (double)of->c + far - (double)of->scale;
    const bool clear = t->n && g->lo < above && g->least > below; /* all are */
    for (int32_t k = clear ? t->n : 0; k < t->n; k++) {
        const int32_t y = t->first + k;
        if (g->off[k] < above && g->off[k] > below)
            continue;
        if (ac_requant_float_at(of, fma, t->at[k]) < y || ac_requant_float_at(of, fma, t->at[k] - 1) >= y)
            return false;
    }
    const int32_t begin = ac_requant_float_at(of, fma, (int32_t)f->from),
                  end = ac_requant_float_at(of, fma, (int32_t)f->to);
    return (begin >= t->first - 1 || t->first - 1 == f->lo) &&
           (end <= t->first + t->n - 1 || t->first + t->n - 1 == f->hi);
}

/* The i-th float that is tried near x: itself, the next one, the one before, the second next, .. */
static float near(float x, int32_t i)
{
    for (int32_t k = (i + 1) / 2; k > 0; k--)
        x = nextafterf(x, i % 2 ? INFINITY : -INFINITY);
    return x;
}

/* The c of a scale, for all accumulators or those of one sign. */
static bool find_c(const ac_steps *f, thresholds *t, bool fma, ac_float_of *of)
{
    gap g;
    if (t->n && !find_gap(t, (double)of->scale, &g))
        return false;
    const float c = t->n ? (float)((g.lo + g.hi) / 2) : (float)f->zero; /* the middle; no steps: the zero point */
    for (int32_t k = 0; k <= 2 * NEAR; k++) {
        of->c = of->below = near(c, k);
        if (same(f, t, &g, of, fma))
            return true;
    }
    return false;
}

/* One c for all accumulators. */
static bool find_one(const ac_steps *f, double scale, bool fma, ac_float_of *of)
{
    thresholds t;
    gap g;
    find_thresholds(f, scale, &t);
    if (t.n && !find_gap(&t, scale, &g)) /* nor is anything left for scales nearby */
        return false;
    for (int32_t i = 0; i <= 2 * SCALES; i++) {
        of->scale = near((float)scale, i);
        if (of->scale >= 0 && find_c(f, &t, fma, of))
            return true;
    }
    return false;
}

/* Searches one c for accumulators below 0 and one for the others. */
static bool find_both(const ac_steps *f, double scale, bool fma, ac_float_of *of)
{
    ac_steps below = *f, above = *f;
    below.to = -1;
    above.from = 0;
    thresholds b, a;
    find_thresholds(&below, scale, &b);
    find_thresholds(&above, scale, &a);
    for (int32_t i = 0; i <= 2 * SCALES; i++) {
        ac_float_of other;
        of->scale = other.scale = near((float)scale, i);
        if (of->scale >= 0 && find_c(&above, &a, fma, of) && find_c(&below, &b, fma, &other)) {
            of->below = other.c;
            return true;
        }
    }
    return false;
}

const char *ac_requant_float_words(bool by_sign)
{
    return by_sign ? "rint(acc * scale + c) in f32, c by sign" : "rint(acc * scale + c) in f32";
}

bool ac_requant_float_find(const ac_steps *f, bool fma, ac_float_of *of)
{
    const double scale = f->real ? f->scale : ldexp(f->q.m, f->q.shift - 31);
    return in_range(f, scale) &&
           (find_one(f, scale, fma, of) || (f->from < 0 && f->to >= 0 && find_both(f, scale, fma, of)));
}

ac_x ac_lo_requant_float(ac_lower *L, ac_x acc, ac_x scale, ac_x c, ac_x below)
{
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    scale = ac_lb_splat(b, scale, lanes);
    c = ac_lb_splat(b, c, lanes);
    if (below)
        c = ac_lb_select(b, ac_lb_lt(b, acc, ac_lb_like_int(b, acc, 0)), ac_lb_splat(b, below, lanes), c);
    const ac_x x = ac_lb_cast(b, acc, AC_F32);
    /* fused as in the proof, even if the model's floats are not (--exact) */
    const ac_x v = L->target->fma ? ac_lb_fma(b, x, scale, c) : ac_lb_add(b, ac_lb_mul(b, x, scale), c);
    return ac_lb_cast(b, ac_lb_rint(b, v), AC_I32);
}

ac_x ac_lo_requant_float_of(ac_lower *L, ac_x acc, const ac_float_of *of)
{
    ac_lb *b = &L->b;
    const ac_x below = ac_requant_float_by_sign(of) ? ac_lb_f32(b, (double)of->below) : 0;
    return ac_lo_requant_float(L, acc, ac_lb_f32(b, (double)of->scale), ac_lb_f32(b, (double)of->c), below);
}
