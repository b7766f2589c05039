/* test_decimal.c - base/decimal.h compared with the C library: digits by printf, numbers by strtod, on special values,
 * ties, every binade and random bits; and what %.*g of the fewest digits reads back. */
#include "base/decimal.h"
#include "base/format.h"
#include "tests/unit/support/expect.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 45;

static uint64_t random_bits(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static bool same_bits(double a, double b)
{
    return !memcmp(&a, &b, sizeof a) || (isnan(a) && isnan(b));
}

static void same_read(const char *text)
{
    const char *end;
    char *wanted_end;
    const double v = ac_read_real(text, &end), wanted = strtod(text, &wanted_end);
    if (same_bits(v, wanted) && end == wanted_end)
        return;
    fprintf(stderr, "'%.60s' is %a and %d bytes, expected %a and %d\n", text, v, (int)(end - text), wanted,
            (int)(wanted_end - text));
    CHECK(false);
}

static void same_text(const char *own, int n, const char *wanted, int wanted_n)
{
    if (strcmp(own, wanted))
        fprintf(stderr, "%s, expected %s\n", own, wanted);
    CHECK(n == wanted_n && !strcmp(own, wanted));
}

/* Prints v in both ways. */
#define SAME_TEXT(fmt, precision, v)                                                   \
    do {                                                                               \
        static char own[2000], wanted[2000];                                           \
        const int n = ac_print(own, sizeof own, fmt, precision, v);                    \
        same_text(own, n, wanted, snprintf(wanted, sizeof wanted, fmt, precision, v)); \
    } while (0)

static void fewest(double v, bool single)
{
    char text[40];
    int n = 1;
    for (; n < (single ? 9 : 17); n++) {
        snprintf(text, sizeof text, "%.*g", n, v);
        if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
            break;
    }
    if (ac_shortest(v, single, 1) != n)
        fprintf(stderr, "%a: %d digits, expected %d\n", v, ac_shortest(v, single, 1), n);
    CHECK(ac_shortest(v, single, 1) == n);
    CHECK(!v || ac_shortest(v, single, 6) >= 6);
}

static void one(double v)
{
    static char text[2000];
    if (!isfinite(v))
        return;
    for (int precision = 0; precision < 20; precision += 1 + precision / 4) {
        SAME_TEXT("%.*g", precision, v);
        SAME_TEXT("%.*e", precision, v);
        SAME_TEXT("%.*f", precision, v);
    }
    SAME_TEXT("%.*e", 770, v);
    SAME_TEXT("%.*f", 1074, v);
    fewest(v, false);
    for (int digits = 1; digits < 25; digits += 1 + digits / 6) {
        snprintf(text, sizeof text, "%.*e", digits, v);
        same_read(text);
    }
    const double next = nextafter(v, INFINITY); /* half of the way, and next to that */
    if (fabs(v) < 1e300 && fabs(v) > 1e-300 && sizeof(long double) > sizeof(double)) {
        snprintf(text, sizeof text, "%.800Lf", ((long double)v + (long double)next) / 2);
        same_read(text);
        strcat(text, "000000000000000000000000000001");
        same_read(text);
    }
    snprintf(text, sizeof text, "%a|", v);
    same_read(text);
    char own[40];
    ac_print(own, sizeof own, "%a|", v);
    CHECK(!strcmp(own, text));
}

static void one_float(float v)
{
    if (isfinite(v))
        fewest((double)v, true);
}

static void special(void)
{
    static const double V[] = {0,
                               -0.0,
                               0.1,
                               0.5,
                               1.5,
                               2.5,
                               9.5,
                               99.5,
                               0.05,
                               1e22,
                               1e23,
                               DBL_MIN,
                               DBL_MAX,
                               5e-324,
                               -1e-310,
                               123456789,
                               9999995,
                               999999.5,
                               0.00001,
                               0.0001,
                               1e15,
                               1e16,
                               FLT_MAX,
                               FLT_MIN,
                               1 / 3.0,
                               2 / 3.0,
                               1e-45,
                               16777216,
                               8388608,
                               6.1e-05,
                               2.2250738e-308,
                               4503599627370497.5};
    static const char *const TEXT[] = {
        "",
        "+",
        "-",
        ".",
        "-.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e+x",
        "0x",
        "0xg",
        "0x.p1",
        "0x1p",
        "0x1p+",
        "0x1.8p1",
        "0x.8",
        "0X1P-1074",
        "0x1p-1075",
        "0x1.0000000000001p-1075",
        "0x1.fffffffffffff8p0",
        "0x1.fffffffffffff7p0",
        "0x123456789abcdef123p-3",
        "0x1p1024",
        "0x1p99999999999",
        "0x0p99999",
        "inf",
        "-INFINITY",
        "infin",
        "nan",
        "-NaN",
        "  \t\n12.5x",
        "1.",
        ".5",
        "-.5e1",
        "00012",
        "000.000012",
        "0000",
        "0e99999999999",
        "1e99999999999",
        "1e-99999999999",
        "1e308",
        "1.8e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649"
        "01797758720709633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176"
        "4"
        "475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47e-324",
        "1e-400",
        "2.2250738585072011e-308",
        "9007199254740993",
        "9007199254740992.9999",
        "9007199254740993.00000000000000000000000000000000000000001",
        "1,5",
        "1.5.5",
        "1e5.5",
        "12345678901234567890123",
        "0.1e1e1",
        "1e23",
        "8.5e22",
        "1e22",
        "1e-22",
        "1e-23"};
    for (size_t i = 0; i < sizeof V / sizeof *V; i++) {
        one(V[i]);
        one_float((float)V[i]);
    }
    for (size_t i = 0; i < sizeof TEXT / sizeof *TEXT; i++)
        same_read(TEXT[i]);
    for (int e = -1074; e < 1024; e++) {
        one(ldexp(1, e));
        one(nextafter(ldexp(1, e), 0));
    }
    for (int e = -149; e < 128; e++) {
        one_float(ldexpf(1, e));
        one_float(nextafterf(ldexpf(1, e), 0));
        one_float(nextafterf(ldexpf(1, e), INFINITY));
    }
}

int main(void)
{
    special();
    for (int i = 0; i < 2000; i++) {
        const uint64_t bits = random_bits();
        double v;
        memcpy(&v, &bits, sizeof v);
        one(v);
        one((double)(int64_t)bits / (double)((uint64_t)1 << (bits & 63)));
    }
    for (int i = 0; i < 100000; i++) {
        const uint32_t bits = (uint32_t)random_bits();
        float v;
        memcpy(&v, &bits, sizeof v);
        one_float(v);
    }
    return check_done();
}
