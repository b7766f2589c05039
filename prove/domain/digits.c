/* digits.c - compares places as numbers in mixed radix: two are equal only if all digits are.
 *
 *     64 * (4 * (t / 8) + i) + 4 * (t % 8) + j,  i < 4, j < 4     digits t / 8, i, t % 8, j of 256, 64, 4, 1
 *
 * So no other thread of a GPU touches an element of the block that a thread works on, although places neither rise nor
 * fall with the thread's number. */
#include "prove/domain/digits.h"

#include <stdlib.h>

typedef struct digit {
    int64_t unit;
    ac_affine is;
} digit;

enum { DIGITS = 2 * AC_TERMS };

/* The unknown that q divides, and *by, the divisor; 0: q is not a quotient. */
static int32_t dividend(const ac_knowledge *k, int32_t q, int64_t *by)
{
    const ac_unknown *u = &k->unknown.item[q];
    for (int32_t i = 0; i < u->at_most.n; i++) {
        const ac_known_bound *most = &u->at_most.item[i];
        const ac_affine least = ac_affine_plus(&most->sum, 1 - most->k);
        const bool plain = most->k > 1 && most->sum.n == 1 && !most->sum.c && most->sum.term[0].k == 1;
        for (int32_t j = 0; j < u->at_least.n && plain; j++)
            if (u->at_least.item[j].k == most->k && ac_affine_equal(&u->at_least.item[j].sum, &least)) {
                *by = most->k;
                return most->sum.term[0].unknown;
            }
    }
    return 0;
}

/* The divisor if q is a quotient of `of`, or of the same unknown as `of`; else 0. */
static int64_t divisor(const ac_knowledge *k, int32_t q, int32_t of)
{
    int64_t by = 0, by_of = 0;
    const int32_t t = dividend(k, q, &by);
    if (!t || t == of)
        return by;
    return dividend(k, of, &by_of) == t && by > by_of && by % by_of == 0 ? by / by_of : 0;
}

/* If a digit and its quotient by some number are both digits, replaces the first one by its remainder. */
static bool replace_by_remainder(const ac_knowledge *k, digit *d, int32_t n)
{
    for (int32_t a = 0; a < n; a++) {
        int64_t by = 0, part;
        int32_t at = -1;
        for (int32_t b = 0; b < n && d[a].is.n == 1; b++) {
            const int64_t one =
                b != a && d[b].is.n == 1 ? divisor(k, d[b].is.term[0].unknown, d[a].is.term[0].unknown) : 0;
            if (one && (at < 0 || one < by)) {
                at = b;
                by = one;
            }
        }
        if (at < 0 || __builtin_mul_overflow(d[a].unit, by, &part) ||
            __builtin_add_overflow(d[at].unit, part, &d[at].unit))
            continue;
        d[a].is = ac_affine_add(&d[a].is, &d[at].is, -by);
        return true;
    }
    return false;
}

static int by_unit(const void *a, const void *b)
{
    const digit *x = a, *y = b;
    return x->unit < y->unit ? 1 : x->unit > y->unit ? -1 : 0;
}

/* Adds up digits of equal units. Returns how many are left, the largest unit first. */
static int32_t add_equal_units(digit *d, int32_t n)
{
    int32_t to = 0;
    for (int32_t i = 0; i < n; i++) {
        if (d[i].unit < 0) {
            d[i].unit = d[i].unit == INT64_MIN ? INT64_MAX : -d[i].unit;
            d[i].is = ac_affine_times(&d[i].is, -1);
        }
        int32_t same = 0;
        while (same < to && d[same].unit != d[i].unit)
            same++;
        if (same < to) {
            d[same].is = ac_affine_add(&d[same].is, &d[i].is, 1);
        } else if (d[i].unit) {
            d[to++] = d[i];
        }
    }
    qsort(d, (size_t)to, sizeof *d, by_unit);
    return to;
}

static bool is_within(ac_knowledge *k, const ac_affine *a, int64_t most)
{
    return ac_is_at_most_lp(k, a, most) && ac_is_at_least_lp(k, a, -most);
}

bool ac_apart_in_digits(ac_knowledge *know, const ac_affine *ahead, int64_t most)
{
    digit d[DIGITS];
    int32_t n = 0;
    const int32_t facts = know->fact.n;
    for (int32_t i = 0; i < ahead->n; i++, n++)
        d[n] = (digit){ahead->term[i].k, ac_affine_unknown(ahead->term[i].unknown)};
    while (replace_by_remainder(know, d, n))
        ;
    n = add_equal_units(d, n);
    ac_affine rest = *ahead; /* the digits that may differ from 0 */
    for (int32_t i = 0; i < n; i++) {
        rest = ac_affine_add(&rest, &d[i].is, -d[i].unit);
        if (rest.lost || (!is_within(know, &rest, d[i].unit - 1 - most) && !is_within(know, &d[i].is, 0)))
            break;
        const ac_affine turned = ac_affine_times(&d[i].is, -1);
        ac_know_fact(know, &d[i].is);
        ac_know_fact(know, &turned);
    }
    const ac_affine zero = ac_affine_of(0);
    const bool apart = know->fact.n > facts && ac_is_at_most_lp(know, &zero, -1);
    know->fact.n = facts;
    return apart;
}
