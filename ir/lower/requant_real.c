/* requant_real.c - computes results that the reference rounds in double, by two products of words; see
 * requant_real.h. */
#include "ir/lower/requant_real.h"
#include "ir/lower/requant_line.h"

#include <math.h>

enum { LOW_BITS = 31, MOST_POST = 61 };

int32_t ac_real_post(double scale)
{
    int e;
    if (!(scale > 0 && scale < 1))
        return 0;
    frexp(scale, &e);
    return LOW_BITS - e < MOST_POST ? LOW_BITS - e : MOST_POST;
}

int64_t ac_real_at(const ac_real *r, int32_t acc)
{
    const int64_t t = (int64_t)acc * r->high + ((int64_t)acc * r->low >> LOW_BITS);
    return (t + ((int64_t)1 << (r->post - 1)) + (acc < 0 ? -1 : 0)) >> r->post;
}

static int32_t clamped(const ac_real_steps *f, int64_t y)
{
    return (int32_t)(y < f->lo ? f->lo : y > f->hi ? f->hi : y);
}

static int32_t reference(const ac_real_steps *f, int64_t acc)
{
    return clamped(f, llround((double)acc * f->scale));
}

static bool same(const ac_real_steps *f, const ac_real *r, int64_t acc)
{
    return acc < f->from || acc > f->to || reference(f, acc) == clamped(f, ac_real_at(r, (int32_t)acc));
}

/* The two accumulators between which the reference reaches y: the estimate is off by at most one, as doubles round. */
static bool same_step(const ac_real_steps *f, const ac_real *r, int32_t y)
{
    const int64_t guess = (int64_t)ceil((y - 0.5) / f->scale);
    for (int64_t a = guess - 2; a <= guess + 1; a++)
        if (!same(f, r, a))
            return false;
    return reference(f, guess - 2) < y && reference(f, guess + 1) >= y;
}

bool ac_real_find(const ac_real_steps *f, int32_t post, ac_real *r)
{
    if (f->from > f->to || f->from < INT32_MIN || f->to > INT32_MAX || post < 1 || post > ac_real_post(f->scale))
        return false;
    const int64_t m = llround(ldexp(f->scale, LOW_BITS + post));
    *r = (ac_real){(int32_t)(m >> LOW_BITS), (int32_t)(m & INT32_MAX), post};
    if (!same(f, r, f->from) || !same(f, r, f->to))
        return false;
    const int32_t last = reference(f, f->to);
    for (int32_t y = reference(f, f->from) + 1; y <= last; y++)
        if (!same_step(f, r, y))
            return false;
    return true;
}

ac_x ac_lo_requant_real(ac_lower *L, ac_x acc, ac_x high, ac_x low, int32_t post)
{
    ac_lb *b = &L->b;
    ac_lo_requant_note(L, "acc * m, 93 bits, halves away from zero");
    const ac_x wide = ac_lb_cast(b, acc, AC_I64);
    const ac_x upper = ac_lb_mul(b, wide, ac_lb_cast(b, high, AC_I64));
    const ac_x lower = ac_lb_mul(b, wide, ac_lb_cast(b, low, AC_I64));
    const ac_x t = ac_lb_add(b, upper, ac_lb_shr(b, lower, ac_lb_like_int(b, lower, LOW_BITS)));
    const ac_x sign = ac_lb_cast(b, ac_lb_shr(b, acc, ac_lb_like_int(b, acc, 31)), AC_I64);
    const ac_x half = ac_lb_add(b, sign, ac_lb_int(b, AC_I64, (int64_t)1 << (post - 1)));
    return ac_lb_cast(b, ac_lb_shr(b, ac_lb_add(b, t, half), ac_lb_like_int(b, t, post)), AC_I32);
}
