/* decimal.c - m * 2^-k is m * 5^k with the decimal point k digits from the right: a product of whole numbers. Reading
 * divides whole numbers bit by bit. Both are exact for every double, so that nothing has to be estimated. */
#include "base/decimal.h"

#include "base/ascii.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* ---- digits of a float ---- */

enum { BASE = 1000000000, BASE_DIGITS = 9, BASE_LIMBS = AC_DECIMAL_MOST / BASE_DIGITS + 2 };

typedef struct limbs {
    int32_t n;
    uint32_t limb[BASE_LIMBS]; /* of 9 digits, the lowest first */
} limbs;

static void limbs_times(limbs *x, uint32_t by)
{
    uint64_t carry = 0;
    for (int32_t i = 0; i < x->n; i++) {
        carry += (uint64_t)x->limb[i] * by;
        x->limb[i] = (uint32_t)(carry % BASE);
        carry /= BASE;
    }
    for (; carry; carry /= BASE)
        x->limb[x->n++] = (uint32_t)(carry % BASE);
}

/* Multiplies x by base^exponent; `step` is base^step_exponent, the largest power in 32 bits. */
static void limbs_times_power(limbs *x, uint32_t base, uint32_t step, int32_t step_exponent, int32_t exponent)
{
    for (; exponent >= step_exponent; exponent -= step_exponent)
        limbs_times(x, step);
    uint32_t rest = 1;
    for (; exponent > 0; exponent--)
        rest *= base;
    limbs_times(x, rest);
}

/* The digits of m * 2^e. */
static void digits_of(uint64_t m, int32_t e, ac_decimal *d)
{
    limbs x = {0};
    d->n = d->point = 0;
    if (!m)
        return;
    for (; !(m & 1); m >>= 1)
        e++;
    for (; m; m /= BASE)
        x.limb[x.n++] = (uint32_t)(m % BASE);
    if (e > 0)
        limbs_times_power(&x, 2, 1u << 29, 29, e);
    else
        limbs_times_power(&x, 5, 1220703125, 13, -e);
    int32_t at = 0;
    for (int32_t i = x.n; i-- > 0;) {
        uint32_t limb = x.limb[i];
        char text[BASE_DIGITS];
        for (int32_t k = BASE_DIGITS; k-- > 0; limb /= 10)
            text[k] = (char)('0' + limb % 10);
        int32_t zeros = 0;
        while (!at && text[zeros] == '0')
            zeros++;
        memcpy(d->digit + at, text + zeros, (size_t)(BASE_DIGITS - zeros));
        at += BASE_DIGITS - zeros;
    }
    d->point = e < 0 ? at + e : at;
    while (d->digit[at - 1] == '0')
        at--;
    d->n = at;
}

/* |v| is *m * 2^*e, with all bits that the type stores: v is a float if `single`. */
static void take_apart(double v, bool single, uint64_t *m, int32_t *e)
{
    const int32_t stored = single ? 23 : 52, all_ones = single ? 0xff : 0x7ff;
    uint64_t bits;
    if (single) {
        const float f = (float)v;
        uint32_t half;
        memcpy(&half, &f, sizeof half);
        bits = half;
    } else {
        memcpy(&bits, &v, sizeof bits);
    }
    const int32_t exponent = (int32_t)(bits >> stored) & all_ones;
    assert(exponent < all_ones && "a finite number");
    *m = (bits & (((uint64_t)1 << stored) - 1)) | (uint64_t)(exponent > 0) << stored;
    *e = (exponent ? exponent : 1) - (all_ones >> 1) - stored;
}

void ac_decimal_of(double v, ac_decimal *d)
{
    uint64_t m;
    int32_t e;
    take_apart(v, false, &m, &e);
    digits_of(m, e, d);
}

void ac_decimal_round(ac_decimal *d, int32_t to)
{
    if (to >= d->n)
        return;
    if (to < 0) {
        d->n = d->point = 0;
        return;
    }
    const bool odd = to > 0 && (d->digit[to - 1] - '0') % 2;
    const bool up = d->digit[to] > '5' || (d->digit[to] == '5' && (d->n > to + 1 || odd));
    while (up && to > 0 && d->digit[to - 1] == '9')
        to--;
    while (!up && to > 0 && d->digit[to - 1] == '0')
        to--;
    if (up && to > 0) {
        d->digit[to - 1]++;
    } else if (up) {
        d->digit[to++] = '1';
        d->point++;
    }
    d->n = to;
    if (!to)
        d->point = 0;
}

static int compare(const ac_decimal *a, const ac_decimal *b)
{
    if (!a->n || !b->n)
        return a->n ? 1 : b->n ? -1 : 0;
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    const int order = memcmp(a->digit, b->digit, (size_t)(a->n < b->n ? a->n : b->n));
    return order ? order : a->n - b->n;
}

/* Every number between the halves of the ways to the two neighbours reads back as v; the halves do if m is even. */
int ac_shortest(double v, bool single, int least)
{
    const int most = single ? 9 : 17;
    const uint64_t normal = (uint64_t)1 << (single ? 23 : 52);
    ac_decimal all, low, high;
    uint64_t m;
    int32_t e;
    take_apart(v, single, &m, &e);
    if (!m)
        return least;
    const bool closer = m == normal && e > (single ? -149 : -1074); /* the neighbour below is half as far */
    digits_of(m, e, &all);
    digits_of(closer ? 4 * m - 1 : 2 * m - 1, closer ? e - 2 : e - 1, &low);
    digits_of(2 * m + 1, e - 1, &high);
    for (int n = least; n < most; n++) {
        ac_decimal d = all;
        ac_decimal_round(&d, n);
        const int below = compare(&d, &low), above = compare(&d, &high);
        if (m % 2 ? below > 0 && above < 0 : below >= 0 && above <= 0)
            return n;
    }
    return most;
}

/* ---- the float of a text ---- */

enum { BITS_LIMBS = 96 }; /* 3,072 bits; 800 digits have 2,658, 5^1130 has 2,624 */

typedef struct bits {
    int32_t n;
    uint32_t limb[BITS_LIMBS]; /* of 32 bits, the lowest first */
} bits;

static void bits_times_add(bits *x, uint32_t by, uint32_t carry)
{
    uint64_t sum = carry;
    for (int32_t i = 0; i < x->n; i++, sum >>= 32) {
        sum += (uint64_t)x->limb[i] * by;
        x->limb[i] = (uint32_t)sum;
    }
    if (sum)
        x->limb[x->n++] = (uint32_t)sum;
}

static void bits_times_five(bits *x, int32_t exponent)
{
    for (; exponent >= 13; exponent -= 13)
        bits_times_add(x, 1220703125, 0);
    for (; exponent > 0; exponent--)
        bits_times_add(x, 5, 0);
}

static void bits_shift(bits *x, int32_t by)
{
    const int32_t whole = by / 32, rest = by % 32;
    uint64_t above = 0;
    if (rest) {
        for (int32_t i = 0; i < x->n; i++) {
            above |= (uint64_t)x->limb[i] << rest;
            x->limb[i] = (uint32_t)above;
            above >>= 32;
        }
        if (above)
            x->limb[x->n++] = (uint32_t)above;
    }
    if (whole) {
        memmove(x->limb + whole, x->limb, (size_t)x->n * sizeof *x->limb);
        memset(x->limb, 0, (size_t)whole * sizeof *x->limb);
        x->n += whole;
    }
}

static int32_t bits_length(const bits *x)
{
    return x->n * 32 - __builtin_clz(x->limb[x->n - 1]);
}

static int bits_compare(const bits *a, const bits *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int32_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static void bits_subtract(bits *a, const bits *b)
{
    int64_t borrow = 0;
    for (int32_t i = 0; i < a->n; i++) {
        borrow += (int64_t)a->limb[i] - (i < b->n ? b->limb[i] : 0);
        a->limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    while (a->n && !a->limb[a->n - 1])
        a->n--;
}

/* x / y * 2^e to the nearest double; x and y are not 0, and are overwritten. */
static double quotient(bits *x, bits *y, int32_t e)
{
    const int32_t longer = bits_length(x) - bits_length(y);
    bits_shift(longer < 0 ? x : y, longer < 0 ? -longer : longer);
    e += longer;
    if (bits_compare(x, y) < 0) {
        bits_shift(x, 1);
        e--;
    }
    /* the value is x / y * 2^e, 1 <= x / y < 2; doubles below 2^-1022 have fewer bits */
    const int32_t kept = e >= -1022 ? 53 : e + 1075;
    uint64_t m = 0, result;
    if (e > 1023)
        return __builtin_inf();
    for (int32_t i = 0; i < kept; i++) {
        const bool one = x->n && bits_compare(x, y) >= 0;
        if (one)
            bits_subtract(x, y);
        m = m << 1 | one;
        bits_shift(x, 1);
    }
    const int half = kept < 0 || !x->n ? -1 : bits_compare(x, y); /* of the rest with half a unit */
    m += half > 0 || (half == 0 && m % 2);
    result = kept == 53 ? ((uint64_t)(e + 1022) << 52) + m : m;
    double v;
    memcpy(&v, &result, sizeof v);
    return v;
}

/* digits * 10^exponent */
static double decimal_value(const char *digit, int32_t n, int32_t exponent)
{
    static const double POWER[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { EXACT_DIGITS = 15, EXACT_POWER = 22 }; /* both operands are exact, and the result is rounded once */
    if (!n || n + exponent < -330)
        return 0;
    if (n + exponent > 310)
        return __builtin_inf();
    if (n <= EXACT_DIGITS && exponent >= -EXACT_POWER && exponent <= EXACT_POWER && FLT_EVAL_METHOD == 0) {
        int64_t whole = 0;
        for (int32_t i = 0; i < n; i++)
            whole = whole * 10 + (digit[i] - '0');
        return exponent < 0 ? (double)whole / POWER[-exponent] : (double)whole * POWER[exponent];
    }
    bits x = {0}, y = {.n = 1, .limb = {1}};
    for (int32_t i = 0; i < n; i++)
        bits_times_add(&x, 10, (uint32_t)(digit[i] - '0'));
    bits_times_five(exponent < 0 ? &y : &x, exponent < 0 ? -exponent : exponent);
    return quotient(&x, &y, exponent);
}

/* The number after e, E, p or P; *at stays if the text has neither. */
static int32_t exponent_at(const char **at, char letter)
{
    enum { FAR = 100000 };
    const char *p = *at;
    if (ac_lower(*p) != letter)
        return 0;
    p++;
    const bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (!ac_is_digit(*p))
        return 0;
    int32_t v = 0;
    for (; ac_is_digit(*p); p++)
        v = v < FAR ? v * 10 + (*p - '0') : v;
    *at = p;
    return negative ? -v : v;
}

static int32_t near(int64_t v)
{
    enum { FAR = 1000000 };
    return v < -FAR ? -FAR : v > FAR ? FAR : (int32_t)v;
}

static double read_decimal(const char *p, const char **end)
{
    char digit[AC_DECIMAL_MOST];
    int32_t n = 0;
    int64_t point = 0;
    bool any = false, after = false, more = false;
    for (; ac_is_digit(*p) || (*p == '.' && !after); p++) {
        if (*p == '.') {
            after = true;
            continue;
        }
        any = true;
        point -= after;
        if (n < AC_DECIMAL_MOST - 1 && (n || *p != '0'))
            digit[n++] = *p;
        else if (n) {
            more |= *p != '0';
            point++;
        }
    }
    if (!any)
        return 0;
    if (more) { /* no double, and no half of the way to the next, has so many digits */
        digit[n++] = '1';
        point--;
    }
    *end = p;
    point += exponent_at(end, 'e');
    for (; n && digit[n - 1] == '0'; n--)
        point++;
    return decimal_value(digit, n, near(point));
}

static double read_hexadecimal(const char *p, const char **end)
{
    uint64_t m = 0;
    int64_t e = 0;
    bool any = false, after = false;
    for (; ac_hex_digit(*p) >= 0 || (*p == '.' && !after); p++) {
        if (*p == '.') {
            after = true;
            continue;
        }
        any = true;
        e -= after ? 4 : 0;
        if (m >> 59) {
            m |= *p != '0'; /* below all bits of a double */
            e += 4;
        } else {
            m = m << 4 | (uint64_t)ac_hex_digit(*p);
        }
    }
    if (!any)
        return 0;
    *end = p;
    e += exponent_at(end, 'p');
    bits x = {.n = m >> 32 ? 2 : 1, .limb = {(uint32_t)m, (uint32_t)(m >> 32)}}, y = {.n = 1, .limb = {1}};
    return !m || e < -2000 ? 0 : quotient(&x, &y, near(e));
}

static bool word_at(const char **p, const char *word)
{
    const char *at = *p;
    for (; *word && ac_lower(*at) == *word; at++)
        word++;
    if (!*word)
        *p = at;
    return !*word;
}

double ac_read_real(const char *text, const char **end)
{
    const char *p = text;
    double v = 0;
    *end = text;
    while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
        p++;
    const bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (word_at(&p, "infinity") || word_at(&p, "inf")) {
        v = __builtin_inf();
        *end = p;
    } else if (word_at(&p, "nan")) {
        v = __builtin_nan("");
        *end = p;
    } else {
        if (p[0] == '0' && ac_lower(p[1]) == 'x')
            v = read_hexadecimal(p + 2, end);
        if (*end == text)
            v = read_decimal(p, end);
    }
    return negative && *end != text ? -v : v;
}
