/* decimal.h - floats as decimal digits and back, exactly, the same on every host and under every locale.
 *
 *     ac_decimal d;
 *     ac_decimal_of(0.1, &d);              every digit: 0.1000000000000000055511151231257827...
 *     ac_decimal_round(&d, 3);             "1", point 0: 0.1; ties go to the even digit
 *     ac_shortest(0.1f, true, 1)           1: so many digits of %.*g read back as the same float
 *     ac_read_real("0.1 and more", &end)   0.1, end at " and more"
 *
 * Cost: a float near 1 takes tens of nanoseconds each way, the smallest double some microseconds. No allocation. */
#ifndef AC_BASE_DECIMAL_H
#define AC_BASE_DECIMAL_H
#include <stdbool.h>
#include <stdint.h>

enum { AC_DECIMAL_MOST = 800 }; /* digits; a double has at most 767 */

typedef struct ac_decimal {
    int32_t n;     /* digits, without zeros at either end; 0: the number is 0 */
    int32_t point; /* the value is 0.digits times 10^point */
    char digit[AC_DECIMAL_MOST];
} ac_decimal;

void ac_decimal_of(double v, ac_decimal *d);      /* of |v|, which is finite */
void ac_decimal_round(ac_decimal *d, int32_t to); /* to so many digits, also 0 or fewer */
/* The least number of digits, from `least` on, that read back as v: as a float if `single`, else as a double. */
int ac_shortest(double v, bool single, int least);
/* The number at the start of `text`, rounded to nearest: a decimal or hexadecimal one, inf, infinity or nan, after
 * blanks and a sign, as strtod in the C locale. *end: the first byte after it, or `text` (0) without one. */
double ac_read_real(const char *text, const char **end);

#endif
