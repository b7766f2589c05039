/* requant_line.c - requantises by one product: finds the steps of the reference and a form that fits them, and proves
 * it; see requant_line.h. */
#include "ir/lower/requant_line.h"

#include <math.h>

enum {
    MOST_POINTS = 2 * 256 + 2, /* of bytes: both sides of 255 steps, and both ends */
    MOST_SCALE = 20,           /* bits below the unit of the result: sums stay within 63 bits */
    COMMON_POST = 17,          /* bits below the unit if they suffice: kernels with equal shifts can be merged */
    COMMON_PRE = 13            /* ... and equal factors: accumulators of nine products fit */
};

int64_t ac_line_at(const ac_line *line, const ac_line_of *of, int32_t acc)
{
    if (line->clip)
        acc = acc < line->from ? line->from : acc > line->to ? line->to : acc;
    const int64_t p = (int64_t)acc * ((int64_t)1 << line->pre) * of->m, sign = acc < 0 ? -1 : 0;
    const int64_t c = line->kind == AC_LINE_SIGNED ? (of->c ^ sign) + of->k : of->c;
    return ((p >> line->drop) + c) >> of->post;
}

/* One side of a step: the form is at least, or at most, `bound` at `acc`. */
typedef struct point {
    int32_t acc, y; /* y: of the reference */
    bool most;
} point;

typedef struct points {
    int32_t n;
    point at[MOST_POINTS];
} points;

static double multiplier_of(const ac_steps *f)
{
    return f->real ? f->scale : ldexp(f->q.m, f->q.shift - 31);
}

int64_t ac_steps_reach(const ac_steps *f, int64_t after, int32_t y)
{
    static const int32_t NEAR[] = {0, -1, 1, 2};
    const double guess = ceil((y - f->zero - 0.5) / multiplier_of(f)) - f->bias;
    for (int32_t k = 0; k < 4 && fabs(guess) < 2147483000.0; k++) {
        const int64_t a = (int64_t)guess + NEAR[k];
        if (a > after + 1 && a <= f->to && ac_steps_at(f, (int32_t)a) >= y && ac_steps_at(f, (int32_t)a - 1) < y)
            return a;
    }
    int64_t below = after, at = f->to;
    while (at - below > 1) {
        const int64_t mid = below + (at - below) / 2;
        if (ac_steps_at(f, (int32_t)mid) >= y)
            at = mid;
        else
            below = mid;
    }
    return at;
}

static void put(points *p, int64_t acc, int32_t y, bool most)
{
    p->at[p->n++] = (point){(int32_t)acc, y, most};
}

/* Both ends of every flat segment: the form is not below it at its first accumulator and not above it at its last
 * one. */
static void find_points(const ac_steps *f, points *p)
{
    p->n = 0;
    const int32_t last = ac_steps_at(f, (int32_t)f->to);
    int32_t y = ac_steps_at(f, (int32_t)f->from);
    put(p, f->from, y, false);
    for (int64_t at = f->from; y < last;) {
        at = ac_steps_reach(f, at, y + 1);
        put(p, at - 1, y, true);
        y = ac_steps_at(f, (int32_t)at);
        put(p, at, y, false);
    }
    put(p, f->to, last, true);
}

static bool fits_shifted(int64_t from, int64_t to, int32_t left)
{
    const int64_t unit = (int64_t)1 << left;
    return from >= INT32_MIN / unit && to <= INT32_MAX / unit;
}

/* True if every accumulator fits the reference's and the form's arithmetic, and the function has few steps. */
static bool in_range(const ac_steps *f, int32_t pre)
{
    const int64_t from = f->from + f->bias, to = f->to + f->bias;
    return f->from <= f->to && fits_shifted(f->from, f->to, pre) &&
           fits_shifted(from, to, f->real || f->q.shift < 0 ? 0 : f->q.shift) && (f->real || f->q.m >= 0) &&
           f->lo <= f->hi && (int64_t)f->hi - f->lo <= 255 && f->lo >= -256 && f->hi <= 256 &&
           (!f->real || (f->scale >= 0 && f->scale < 1e9));
}

/* The search of one channel: each m has an interval of valid c. */
typedef struct search {
    const ac_steps *f;
    const ac_line *line;
    int32_t post;
    int64_t k;
    points p;
} search;

/* Bounds of c for a given m, in units of the product. False: no c exists. */
static bool interval(const search *s, int64_t m, int64_t *lo, int64_t *hi)
{
    const ac_line *line = s->line;
    const int64_t one = (int64_t)1 << (s->post + line->drop), unit = (int64_t)1 << line->drop, k = s->k * unit;
    const bool is_signed = line->kind == AC_LINE_SIGNED, wide = line->product == AC_LINE_LONG;
    *hi = (int64_t)1 << (wide ? is_signed ? 30 : 61 : 29 + line->drop); /* sums stay within 63 and 31 bits */
    *lo = is_signed ? 0 : -*hi;
    for (int32_t i = 0; i < s->p.n; i++) {
        const point *q = &s->p.at[i];
        if (q->most ? q->y >= s->f->hi : q->y <= s->f->lo)
            continue; /* the clamp does it */
        int64_t c = (q->y + q->most) * one - q->most - k - m * q->acc * ((int64_t)1 << line->pre);
        bool most = q->most;
        if (is_signed && q->acc < 0) {
            c = -c - unit;
            most = !most;
        }
        if (most)
            *hi = c < *hi ? c : *hi;
        else
            *lo = c > *lo ? c : *lo;
    }
    return *lo <= *hi;
}

/* An integer c in the interval of m. */
static bool choose(const search *s, int64_t m, int64_t *c)
{
    int64_t lo, hi;
    if (!interval(s, m, &lo, &hi))
        return false;
    const int64_t unit = (int64_t)1 << s->line->drop;
    *c = (lo + (hi - lo) / 2) >> s->line->drop;
    if (*c * unit < lo)
        ++*c;
    return *c * unit >= lo && *c * unit <= hi;
}

static int64_t width(const search *s, int64_t m)
{
    int64_t lo, hi;
    interval(s, m, &lo, &hi);
    return hi - lo;
}

static bool equal(const ac_steps *f, const points *p, const ac_line *line, const ac_line_of *of)
{
    for (int32_t i = 0; i < p->n; i++) {
        const int64_t v = ac_line_at(line, of, p->at[i].acc), y = v < f->lo ? f->lo : v > f->hi ? f->hi : v;
        if (y != p->at[i].y || y != ac_steps_at(f, p->at[i].acc))
            return false;
    }
    return true;
}

static int64_t greatest(const ac_steps *f)
{
    return -f->from > f->to ? -f->from : f->to;
}

/* The maximum multiplier whose products fit the width; sums of words reserve a bit for c and k. */
static int64_t most_m(const ac_steps *f, const ac_line *line)
{
    if (line->product == AC_LINE_LONG || line->product == AC_LINE_HIGH)
        return INT32_MAX;
    const int64_t most = (((int64_t)1 << (30 + line->drop)) - 1) / (greatest(f) + 1);
    return most > INT32_MAX ? INT32_MAX : most;
}

/* f where its accumulators are clamped. */
static ac_steps clipped(const ac_steps *f, const ac_line *line)
{
    ac_steps g = *f;
    if (line->clip) {
        g.from = g.from < line->from ? line->from : g.from > line->to ? line->to : g.from;
        g.to = g.to > line->to ? line->to : g.to < line->from ? line->from : g.to;
    }
    return g;
}

/* The widest clamp, which preserves every step of every channel. */
static bool set_clip(const ac_steps *f, int64_t n, ac_line *line)
{
    int64_t from = INT32_MAX, to = INT32_MIN;
    for (int64_t i = 0; i < n; i++) {
        points p;
        if (!in_range(&f[i], 0))
            return false;
        find_points(&f[i], &p);
        if (p.n == 2)
            continue; /* without a step */
        from = p.at[1].acc < from ? p.at[1].acc : from;
        to = p.at[p.n - 2].acc > to ? p.at[p.n - 2].acc : to;
    }
    line->from = (int32_t)(from > to ? 0 : from);
    line->to = (int32_t)(from > to ? 0 : to);
    return true;
}

bool ac_steps_same(const ac_steps *f, ac_steps_fn *at, const void *with)
{
    points p;
    find_points(f, &p);
    for (int32_t i = 0; i < p.n; i++)
        if (at(with, p.at[i].acc) != ac_steps_at(f, p.at[i].acc))
            return false;
    return true;
}

bool ac_line_proven(const ac_steps *f, const ac_line *line, const ac_line_of *of)
{
    points p;
    const ac_steps g = clipped(f, line);
    if (!in_range(&g, line->pre) || of->m < 0 || of->m > most_m(&g, line) ||
        (line->kind == AC_LINE_SIGNED && (of->c < 0 || f->bias)))
        return false; /* the form may fall, or does not fit */
    find_points(f, &p);
    return equal(f, &p, line, of);
}

/* m and c of one channel: the nearest m, else the one whose interval is widest. */
static bool fit(const ac_steps *f, const ac_line *line, ac_line_of *of)
{
    search s = {.f = f, .line = line, .post = of->post, .k = of->k};
    find_points(f, &s.p);
    const int64_t near = llround(ldexp(multiplier_of(f), of->post - line->pre + line->drop)), limit = most_m(f, line);
    int64_t best = near > limit ? limit : near, least = best - best / 256 - 2, most = best + best / 256 + 2;
    bool found = choose(&s, best, &of->c);
    least = least < 0 ? 0 : least;
    most = most > limit ? limit : most;
    while (!found && least < most) {
        best = least + (most - least) / 2;
        found = choose(&s, best, &of->c);
        if (width(&s, best) < width(&s, best + 1))
            least = best + 1;
        else
            most = best;
    }
    if (!found && !choose(&s, best = least, &of->c))
        return false;
    of->m = (int32_t)best;
    return equal(f, &s.p, line, of);
}

/* Smallest e with v < 2^e; at least -32. */
static int32_t exponent_of(double v)
{
    int e;
    return frexp(v, &e) > 0 && e > -32 ? e : -32;
}

/* The shift after the sum that n channels allow: the largest multiplier takes 31 bits, or the largest sum fills a word.
 * 0: no such form. */
static int32_t post_of(const ac_steps *f, int64_t n, const ac_line *line)
{
    int32_t post = MOST_SCALE;
    for (int64_t i = 0; i < n; i++) {
        const bool word = line->product != AC_LINE_LONG && line->product != AC_LINE_HIGH;
        const ac_steps g = clipped(&f[i], line);
        const double m = multiplier_of(&g);
        const int32_t own = word ? 30 - exponent_of(m * ((double)greatest(&g) + 1)) : line->pre - 1 - exponent_of(m);
        const int32_t with_c = 29 - exponent_of(m * (fabs((double)g.bias) + 1));
        post = own < post ? own : post;
        post = g.bias && with_c < post ? with_c : post;
    }
    if (line->product == AC_LINE_LONG)
        post += 32;
    return post > 0 ? post : 0;
}

/* Shifts before the product and bits dropped of it: the most that all accumulators fit and that still helps. */
static void set_shifts(const ac_steps *f, int64_t n, ac_line *line)
{
    double most = 0, scale = 0;
    for (int64_t i = 0; i < n; i++) {
        const ac_steps g = clipped(&f[i], line);
        most = fmax(most, (double)greatest(&g));
        scale = fmax(scale, multiplier_of(&f[i]));
    }
    const int32_t room = 31 - exponent_of(most), use = MOST_SCALE + 1 + exponent_of(scale);
    const int32_t bits = room < 0 ? 0 : room > 30 ? 30 : room;
    line->pre = line->product == AC_LINE_HIGH ? use < 0 ? 0 : use < bits ? use : bits : 0;
    line->drop = line->product == AC_LINE_HIGH ? 32 : line->product == AC_LINE_SPLIT ? bits < 16 ? bits : 16 : 0;
    if (line->product == AC_LINE_THIRDS) {
        const int32_t third = (31 - exponent_of(scale) - post_of(f, n, line)) / 2;
        line->drop = 2 * (third < bits ? third : bits);
    }
}

/* SIGNED with a shift per channel: the reference's multiplier takes all bits, so that all channels share one c. */
static bool fit_exactly(const ac_steps *f, const ac_line *line, ac_line_of *of)
{
    points p;
    find_points(f, &p);
    of->m = f->q.m;
    of->c = 1 << 30;
    return !f->real && of->post > 32 && equal(f, &p, line, of);
}

/* The constants of n channels that shift by `post` after the sum. nudge: add one unit of the product, for multipliers
 * that are powers of two: negatives have -c - 1, not -c. */
static bool fit_post(const ac_steps *f, int64_t n, const ac_line *line, int32_t post, int64_t nudge, ac_line_of *of)
{
    for (int64_t i = 0; i < n; i++) {
        const ac_steps g = clipped(&f[i], line);
        const bool is_signed = line->kind == AC_LINE_SIGNED;
        of[i].post = line->vary ? post_of(&f[i], 1, line) : post;
        if (!in_range(&g, line->pre) || (is_signed && g.bias) ||
            of[i].post <= (line->vary && line->product == AC_LINE_LONG ? 31 : 0))
            return false;
        of[i].k = is_signed ? (f->zero * 2 + 1) * ((int64_t)1 << (of[i].post - 1)) + nudge : 0;
        if (!(is_signed && line->vary ? fit_exactly : fit)(&g, line, &of[i]))
            return false;
    }
    return true;
}

/* The constants with the common shift after the sum, and a shift before the product. */
static bool fit_pre(const ac_steps *f, int64_t n, ac_line *line, int32_t pre, int64_t nudge, ac_line_of *of)
{
    ac_line common = *line;
    common.pre = pre;
    if (!fit_post(f, n, &common, COMMON_POST, nudge, of))
        return false;
    *line = common;
    return true;
}

/* The constants of n channels, with the shifts that other steps use if they suffice. */
static bool fit_all(const ac_steps *f, int64_t n, ac_line *line, int64_t nudge, ac_line_of *of)
{
    if (line->clip && !set_clip(f, n, line))
        return false;
    set_shifts(f, n, line);
    const int32_t post = post_of(f, n, line), spare = post - COMMON_POST;
    const int32_t room = line->pre, own = room - spare;
    if (line->product == AC_LINE_HIGH && !line->vary && spare > 0 && own >= 0 &&
        ((own < COMMON_PRE && COMMON_PRE <= room && fit_pre(f, n, line, COMMON_PRE, nudge, of)) ||
         fit_pre(f, n, line, own, nudge, of)))
        return true;
    return fit_post(f, n, line, post, nudge, of);
}

/* Tries forms in the order of their cost, for all widths of products that the target has. */
static const struct {
    ac_line_kind kind;
    ac_line_product product;
    bool vary, clip;
    int64_t nudge;
} FORMS[] = {{AC_LINE_PLAIN, AC_LINE_WORD, false, false, 0},    {AC_LINE_PLAIN, AC_LINE_HIGH, false, false, 0},
             {AC_LINE_PLAIN, AC_LINE_HIGH, true, false, 0},     {AC_LINE_PLAIN, AC_LINE_SPLIT, false, false, 0},
             {AC_LINE_SIGNED, AC_LINE_WORD, false, false, 0},   {AC_LINE_SIGNED, AC_LINE_WORD, false, false, 1},
             {AC_LINE_SIGNED, AC_LINE_HIGH, false, false, 0},   {AC_LINE_SIGNED, AC_LINE_HIGH, false, false, 1},
             {AC_LINE_SIGNED, AC_LINE_SPLIT, false, false, 0},  {AC_LINE_SIGNED, AC_LINE_SPLIT, false, false, 1},
             {AC_LINE_PLAIN, AC_LINE_SPLIT, false, true, 0},    {AC_LINE_SIGNED, AC_LINE_SPLIT, false, true, 0},
             {AC_LINE_SIGNED, AC_LINE_SPLIT, false, true, 1},   {AC_LINE_PLAIN, AC_LINE_THIRDS, false, false, 0},
             {AC_LINE_PLAIN, AC_LINE_THIRDS, false, true, 0},   {AC_LINE_SIGNED, AC_LINE_THIRDS, false, false, 0},
             {AC_LINE_SIGNED, AC_LINE_THIRDS, false, false, 1}, {AC_LINE_SIGNED, AC_LINE_THIRDS, false, true, 0},
             {AC_LINE_SIGNED, AC_LINE_THIRDS, false, true, 1},  {AC_LINE_PLAIN, AC_LINE_LONG, false, false, 0},
             {AC_LINE_SIGNED, AC_LINE_LONG, false, false, 0},   {AC_LINE_SIGNED, AC_LINE_LONG, false, false, 1},
             {AC_LINE_PLAIN, AC_LINE_LONG, true, false, 0},     {AC_LINE_SIGNED, AC_LINE_LONG, true, false, 0}};

ac_line ac_line_find(const ac_steps *f, int64_t n, ac_mul mul, ac_line_of *of)
{
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        ac_line line = {.kind = FORMS[i].kind,
                        .product = FORMS[i].product,
                        .rank = (int32_t)i,
                        .vary = FORMS[i].vary,
                        .clip = FORMS[i].clip};
        const bool high = line.product == AC_LINE_HIGH,
                   parts = line.product == AC_LINE_SPLIT || line.product == AC_LINE_THIRDS;
        const bool sum = mul == AC_MUL_SUMS && line.kind == AC_LINE_PLAIN && !line.vary; /* else LONG is cheaper */
        if ((high && mul != AC_MUL_HIGH && !sum) || (parts && mul != AC_MUL_LOW))
            continue;
        if (fit_all(f, n, &line, FORMS[i].nudge, of))
            return line;
    }
    return (ac_line){.kind = AC_LINE_NONE};
}
