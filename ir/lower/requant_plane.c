/* requant_plane.c - finds the two products that compute a sum of bytes, and proves them; see requant_plane.h. */
#include "ir/lower/requant_plane.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 256, PAIRS = SIDE * SIDE, MOST_POST = 24 };

int32_t ac_plane_at(const ac_plane *p, int32_t y, int32_t z)
{
    return (y * p->a + p->c + z * p->b) >> p->post;
}

/* A bound of c for given a and b: at least, or at most, value - a * y - b * z. */
typedef struct bound {
    int64_t value;
    int32_t y, z;
} bound;

/* The bounds that can be the strictest ones for a and b near the first ones. */
typedef struct bounds {
    bound *at[2]; /* of least values, of greatest */
    int32_t n[2];
} bounds;

static int64_t value_of(const bound *b, int64_t a, int64_t c)
{
    return b->value - a * b->y - c * b->z;
}

/* The bound of a pair: is = 0 at least, 1 at most. False: the clamp leaves it free. */
static bool bound_of(const ac_pairs *f, int32_t i, int is, int32_t post, bound *b)
{
    const int32_t v = f->value[i];
    *b = (bound){(int64_t)(v + is) * ((int64_t)1 << post) - is, i / SIDE + f->least[0], i % SIDE + f->least[1]};
    return is ? v < f->hi : v > f->lo;
}

/* The tightest bounds over all pairs. */
static void extremes(const ac_pairs *f, int32_t post, int64_t a, int64_t b, int64_t limit[2])
{
    const int64_t one = (int64_t)1 << post;
    int64_t least = -((int64_t)1 << 40), most = (int64_t)1 << 40;
    for (int32_t y = 0; y < SIDE; y++) {
        int64_t at = a * (y + f->least[0]) + b * f->least[1];
        for (const int16_t *v = &f->value[y * SIDE]; v < &f->value[(y + 1) * SIDE]; v++, at += b) {
            const int64_t low = *v * one - at, high = low + one - 1;
            least = *v > f->lo && low > least ? low : least;
            most = *v < f->hi && high < most ? high : most;
        }
    }
    limit[0] = least;
    limit[1] = most;
}

static void collect(const ac_pairs *f, ac_region *tmp, int32_t post, int64_t a, int64_t b, const int64_t limit[2],
                    bounds *s)
{
    for (int is = 0; is < 2; is++) {
        s->at[is] = AC_NEW_N(tmp, bound, PAIRS);
        s->n[is] = 0;
    }
    for (int32_t i = 0; i < PAIRS; i++)
        for (int is = 0; is < 2; is++) {
            bound q;
            if (bound_of(f, i, is, post, &q) && llabs(value_of(&q, a, b) - limit[is]) <= ((int64_t)1 << post) / 32)
                s->at[is][s->n[is]++] = q;
        }
}

/* Width of the interval of c, which begins at *lo; negative: it is empty. */
static int64_t width(const bounds *s, int64_t a, int64_t b, int64_t *lo)
{
    int64_t limit[2] = {-((int64_t)1 << 40), (int64_t)1 << 40};
    for (int is = 0; is < 2; is++)
        for (int32_t i = 0; i < s->n[is]; i++) {
            const int64_t v = value_of(&s->at[is][i], a, b);
            if (is ? v < limit[1] : v > limit[0])
                limit[is] = v;
        }
    *lo = limit[0];
    return limit[1] - limit[0];
}

/* The b near `b` whose interval is widest for a. */
static int64_t widest_b(const bounds *s, int64_t a, int64_t b, int64_t reach, int64_t *best)
{
    int64_t lo, least = b - reach, most = b + reach;
    while (least < most) {
        const int64_t mid = least + (most - least) / 2;
        if (width(s, a, mid, &lo) < width(s, a, mid + 1, &lo))
            least = mid + 1;
        else
            most = mid;
    }
    *best = least;
    return width(s, a, least, &lo);
}

static bool equal(const ac_pairs *f, const ac_plane *p)
{
    for (int32_t y = 0; y < SIDE; y++) {
        const int16_t *value = &f->value[y * SIDE];
        int32_t other = 0;
        uint32_t at = (uint32_t)((y + f->least[0]) * p->a + p->c + f->least[1] * p->b);
        for (int32_t z = 0; z < SIDE; z++, at += (uint32_t)p->b) {
            const int32_t v = (int32_t)at >> p->post;
            other |= (v < f->lo ? f->lo : v > f->hi ? f->hi : v) ^ value[z];
        }
        if (other)
            return false;
    }
    return true;
}

/* True if every product and every sum fits a word, in the order of ac_plane_at and in the other one. */
static bool fits(const ac_pairs *f, int64_t a, int64_t b, int64_t c)
{
    for (int i = 0; i < 4; i++) {
        const int64_t y = a * (f->least[0] + (i & 1 ? SIDE - 1 : 0)), z = b * (f->least[1] + (i & 2 ? SIDE - 1 : 0));
        const int64_t sums[] = {y, z, y + c, z + c, y + c + z};
        for (int k = 0; k < 5; k++)
            if (llabs(sums[k]) > INT32_MAX)
                return false;
    }
    return true;
}

/* The c in the middle of lo .. lo + w. */
static bool set_c(const ac_pairs *f, int64_t lo, int64_t w, int64_t a, int64_t b, ac_plane *p)
{
    const int64_t c = lo + w / 2;
    if (w < 0 || llabs(c) > INT32_MAX)
        return false;
    p->a = (int32_t)a;
    p->b = (int32_t)b;
    p->c = (int32_t)c;
    return fits(f, a, b, c) && equal(f, p);
}

/* a and b, or the two near them whose interval is widest. */
static bool search(const ac_pairs *f, ac_region *tmp, int64_t a, int64_t b, ac_plane *p)
{
    int64_t limit[2];
    extremes(f, p->post, a, b, limit);
    if (set_c(f, limit[0], limit[1] - limit[0], a, b, p))
        return true;
    bounds s;
    collect(f, tmp, p->post, a, b, limit, &s);
    const int64_t reach = ((int64_t)1 << p->post) >> 14;
    int64_t least = a - reach, most = a + reach, best, other, lo;
    while (least < most) {
        const int64_t mid = least + (most - least) / 2;
        if (widest_b(&s, mid, b, reach, &best) < widest_b(&s, mid + 1, b, reach, &other))
            least = mid + 1;
        else
            most = mid;
    }
    widest_b(&s, least, b, reach, &best);
    const int64_t w = width(&s, least, best, &lo);
    return set_c(f, lo, w, least, best, p);
}

bool ac_plane_find(const ac_pairs *f, ac_region *tmp, ac_plane *p)
{
    if (!(fabs(f->slope[0]) < 4096 && fabs(f->slope[1]) < 4096))
        return false;
    int64_t a, b, c;
    int32_t post = MOST_POST + 1;
    do {
        post--;
        a = llround(ldexp(f->slope[0], post));
        b = llround(ldexp(f->slope[1], post));
        c = (2 * f->out + 1) * ((int64_t)1 << (post - 1)) - a * f->zero[0] - b * f->zero[1];
    } while (post > 1 && !fits(f, a, b, c));
    *p = (ac_plane){.post = post};
    return search(f, tmp, a, b, p);
}
