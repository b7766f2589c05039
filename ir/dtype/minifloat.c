/* minifloat.c - converts floats of 8 and 4 bits to numbers and back. */
#include "ir/dtype/minifloat.h"

#include <math.h>
#include <string.h>

const ac_minifloat *ac_dtype_minifloat(ac_dtype d)
{
    static const ac_minifloat E4M3FN = {3, 7, 0x80, 0x7e, 0x7f, 0x7f, false},
                              E4M3FNUZ = {3, 8, 0x80, 0x7f, 0x80, 0x80, true},
                              E5M2 = {2, 15, 0x80, 0x7b, 0x7c, 0x7e, false},
                              E5M2FNUZ = {2, 16, 0x80, 0x7f, 0x80, 0x80, true},
                              E2M1 = {1, 1, 0x08, 0x07, 0x07, 0x08, false};
    return d == AC_F8E4M3FN     ? &E4M3FN
           : d == AC_F8E4M3FNUZ ? &E4M3FNUZ
           : d == AC_F8E5M2     ? &E5M2
           : d == AC_F8E5M2FNUZ ? &E5M2FNUZ
           : d == AC_F4E2M1     ? &E2M1
                                : NULL;
}

bool ac_dtype_is_minifloat(ac_dtype d)
{
    return d == AC_F8E8M0 || ac_dtype_minifloat(d);
}

float ac_minifloat_to_f32(ac_dtype d, uint8_t code)
{
    const ac_minifloat *m = ac_dtype_minifloat(d);
    if (!m) /* f8e8m0 */
        return code == 255 ? NAN : ldexpf(1, code - 127);
    if (m->uz && code == m->nan)
        return NAN;
    const int size = code & (m->sign - 1), exp = size >> m->man, rest = size & ((1 << m->man) - 1);
    if (!m->uz && m->sign == 0x80 && size > m->most)
        return size == m->over && m->over != m->nan ? (code & m->sign ? -INFINITY : INFINITY) : NAN;
    const float v =
        exp ? ldexpf((float)(rest + (1 << m->man)), exp - m->bias - m->man) : ldexpf((float)rest, 1 - m->bias - m->man);
    return code & m->sign ? -v : v;
}

static uint8_t power_above(float f)
{
    int exp;
    if (isnan(f) || f < 0)
        return 255;
    if (f <= 0x1p-127f)
        return 0;
    if (f > 0x1p127f)
        return 254;
    const float part = frexpf(f, &exp); /* f = part 2^exp, 1/2 <= part < 1 */
    return (uint8_t)(exp - 1 + (part > 0.5f) + 127);
}

uint8_t ac_f32_to_minifloat(ac_dtype d, float f)
{
    const ac_minifloat *m = ac_dtype_minifloat(d);
    if (!m)
        return power_above(f);
    const uint8_t sign = signbit(f) ? m->sign : 0;
    if (isnan(f))
        return m->uz ? m->nan : (uint8_t)(m->nan | sign);
    int exp = 1 - m->bias, real;
    const float size = fabsf(f);
    if (size >= ldexpf(1, 20)) /* above all of them */
        return m->most | sign;
    (void)frexpf(size, &real);
    if (size > 0 && real - 1 > exp)
        exp = real - 1;
    const int steps = (int)rintf(ldexpf(size, m->man - exp)); /* of the last place; a carry raises the exponent */
    const int code = steps + ((exp + m->bias - 1) << m->man);
    const uint8_t v = code > m->most ? m->most : (uint8_t)code;
    return m->uz && !v ? 0 : v | sign;
}
