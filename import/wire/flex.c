/* flex.c - numbers of a FlexBuffer map. */
#include "import/wire/flex.h"

#include <string.h>

enum { T_INT = 1, T_UINT, T_FLOAT, T_INDIRECT_INT = 6, T_INDIRECT_UINT, T_INDIRECT_FLOAT, T_MAP, T_BOOL = 26 };

static bool read_uint(ac_span s, uint64_t at, uint32_t width, uint64_t *out)
{
    if ((width != 1 && width != 2 && width != 4 && width != 8) || !ac_span_has(s, at, width))
        return false;
    *out = 0;
    for (uint32_t i = 0; i < width; i++)
        *out |= (uint64_t)s.p[at + i] << (8 * i);
    return true;
}

/* The target of the backward offset of `width` bytes at `at`. */
static bool follow(ac_span s, uint64_t at, uint32_t width, uint64_t *to)
{
    uint64_t back;
    if (!read_uint(s, at, width, &back) || back > at)
        return false;
    *to = at - back;
    return true;
}

static bool read_int(ac_span s, uint64_t at, uint32_t width, double *out)
{
    uint64_t v;
    if (!read_uint(s, at, width, &v))
        return false;
    const uint64_t sign = (uint64_t)1 << (8 * width - 1);
    *out = v & sign ? -(double)(sign - (v & (sign - 1))) : (double)v; /* two's complement */
    return true;
}

static bool read_float(ac_span s, uint64_t at, uint32_t width, double *out)
{
    uint64_t bits;
    float f;
    if ((width != 4 && width != 8) || !read_uint(s, at, width, &bits))
        return false;
    if (width == 8) {
        memcpy(out, &bits, 8);
        return true;
    }
    const uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, 4);
    *out = (double)f;
    return true;
}

/* A value of `width` bytes at `at`; indirect values have the width of their type. */
static bool read_number(ac_span s, uint64_t at, uint32_t width, uint8_t type, double *out)
{
    const uint32_t kind = type >> 2, own = 1u << (type & 3);
    uint64_t v;
    if (kind == T_INDIRECT_INT || kind == T_INDIRECT_UINT || kind == T_INDIRECT_FLOAT) {
        if (!follow(s, at, width, &at))
            return false;
        width = own;
    }
    if (kind == T_INT || kind == T_INDIRECT_INT)
        return read_int(s, at, width, out);
    if (kind == T_FLOAT || kind == T_INDIRECT_FLOAT)
        return read_float(s, at, width, out);
    if ((kind != T_UINT && kind != T_INDIRECT_UINT && kind != T_BOOL) || !read_uint(s, at, width, &v))
        return false;
    *out = (double)v;
    return true;
}

static bool key_is(ac_span s, uint64_t at, const char *key)
{
    return ac_span_starts(s, at, key, strlen(key) + 1);
}

ac_flex ac_flex_number(ac_span s, const char *key, double *out)
{
    if (s.n < 3)
        return AC_FLEX_BROKEN;
    const uint32_t root_width = s.p[s.n - 1], width = 1u << (s.p[s.n - 2] & 3);
    uint64_t map, keys, n, key_width;
    if (s.p[s.n - 2] >> 2 != T_MAP || root_width > s.n - 2 || !follow(s, s.n - 2 - root_width, root_width, &map))
        return AC_FLEX_BROKEN;
    if (map < 3 * (uint64_t)width || !read_uint(s, map - width, width, &n) ||
        !read_uint(s, map - 2 * width, width, &key_width) || !follow(s, map - 3 * width, width, &keys) || n > s.n ||
        key_width > 8 || !ac_span_has(s, map, n * width + n))
        return AC_FLEX_BROKEN;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at;
        if (!follow(s, keys + i * key_width, (uint32_t)key_width, &at))
            return AC_FLEX_BROKEN;
        if (key_is(s, at, key))
            return read_number(s, map + i * width, width, s.p[map + n * width + i], out) ? AC_FLEX_FOUND
                                                                                         : AC_FLEX_BROKEN;
    }
    return AC_FLEX_ABSENT;
}
