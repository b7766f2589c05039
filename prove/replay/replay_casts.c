/* replay_casts.c - computes the range of a value that becomes one of another type: casts, and bits that are taken for
 * others; see replay.h. */
#include "prove/replay/replay_ranges.h"

#include <math.h>

/* Towards zero, and inside the type. */
static whole saturated(type t, double v)
{
    if (v <= (double)type_lo(t))
        return type_lo(t);
    return v >= ldexp(1, (int)type_bytes(t) * 8 - (type_lo(t) < 0)) ? type_hi(t) : smaller((whole)v, type_hi(t));
}

range converted(const instruction *x, const instruction *from, const range *a)
{
    const bool was_real = is_real(from->type), saturates = x->op == OP_satcast;
    if (x->op == OP_bitcast)
        return was_real || is_real(x->type) || type_bytes(from->type) != type_bytes(x->type) ? of_type(x->type)
                                                                                             : wrapped(*a, x->type);
    if (is_real(x->type)) {
        if (was_real) /* of 16 bits: neither type has the numbers of the other */
            return from->type == x->type || type_bytes(from->type) < type_bytes(x->type) ? *a
                                                                                         : real_rounded(x->type, *a);
        return real_of_four(x->type, (double)a->lo, (double)a->hi, (double)a->lo, (double)a->hi);
    }
    if (x->type == BOOL) {
        const bool zero = was_real ? a->least <= 0 && a->most >= 0 : a->lo <= 0 && a->hi >= 0;
        return was_real || (zero && !is_known(a)) ? between(0, 1) : number(!zero);
    }
    if (was_real && !saturates) {
        const double lo = (double)type_lo(x->type), hi = (double)type_hi(x->type);
        if (a->nan || !(trunc(a->least) >= lo) || !(trunc(a->most) <= hi) ||
            trunc(a->most) >= ldexp(1, (int)type_bytes(x->type) * 8 - (type_lo(x->type) < 0)))
            not_shown(false, "a float of %g .. %g becomes an integer%s", a->least, a->most, a->nan ? ", or nan" : "");
        shown.arithmetic++;
    }
    if (was_real)
        return a->nan ? of_type(x->type) : between(saturated(x->type, a->least), saturated(x->type, a->most));
    if (fits(a, x->type))
        return *a;
    if (!saturates)
        return wrapped(*a, x->type);
    return between(smaller(larger(a->lo, type_lo(x->type)), type_hi(x->type)),
                   larger(smaller(a->hi, type_hi(x->type)), type_lo(x->type)));
}

/* ------------------------------------------------------------------ bits */

/* Numbers of other sizes in the same bytes, lowest byte first: known if all of their bytes are. */
static range same_bytes(const instruction *a, const instruction *x, int32_t lane)
{
    const int64_t from = type_bytes(a->type), to = type_bytes(x->type);
    uint64_t bits = 0;
    for (int64_t k = 0; k < to; k++) {
        const int64_t at = lane * to + k;
        const range *v = &a->value[at / from];
        if (!is_known(v))
            return of_type(x->type);
        bits |= ((uint64_t)v->lo >> (at % from * 8) & 255) << (k * 8);
    }
    return wrapped(number((whole)bits), x->type);
}

/* Words of 32 bits as lanes of 64, the lower word first, and lanes of 64 bits as words. */
range joined_words(const instruction *code, const instruction *x, int32_t lane)
{
    const instruction *a = &code[x->a];
    const int64_t from = type_bytes(a->type), to = type_bytes(x->type);
    if (is_real(a->type) || is_real(x->type) || a->type == BOOL || x->type == BOOL)
        return of_type(x->type);
    if (from + to != 12)
        return same_bytes(a, x, lane);
    if (to == 8) {
        const range low = wrapped(a->value[2 * lane], U32), high = wrapped(a->value[2 * lane + 1], I32);
        range r = between(high.lo * ((whole)1 << 32) + low.lo, high.hi * ((whole)1 << 32) + low.hi);
        r = wrapped(r, x->type);
        r.words = true;
        r.low = (int64_t)low.lo;
        r.low_most = (int64_t)low.hi;
        return r;
    }
    const range *v = &a->value[lane / 2];
    if (lane % 2)
        return wrapped(between(v->lo >> 32, v->hi >> 32), x->type);
    if (v->words)
        return wrapped(between(v->low, v->low_most), x->type);
    if (fits(v, x->type))
        return between(v->lo, v->hi);
    const whole high = v->lo >> 32;
    return high == v->hi >> 32 ? wrapped(between(v->lo - (high << 32), v->hi - (high << 32)), x->type)
                               : of_type(x->type);
}

/* 64-bit operations that mask the lower word, or shift it up. */
bool low_word(const instruction *x, const range *a, const range *b, range *r)
{
    const whole ones = ((whole)1 << 32) - 1;
    if (type_bytes(x->type) != 8 || !a->words || !is_known(b))
        return false;
    if (x->op == OP_and && b->lo == ones) {
        *r = between(a->low, a->low_most);
        return true;
    }
    if (x->op != OP_shl || b->lo != 32)
        return false;
    const range top = wrapped(between(a->low, a->low_most), type_lo(x->type) < 0 ? I32 : U32);
    *r = between(top.lo * ((whole)1 << 32), top.hi * ((whole)1 << 32));
    shown.shifts++;
    return true;
}
