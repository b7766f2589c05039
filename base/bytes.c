/* bytes.c - reading little-endian numbers from a span of bytes, with bounds checked. */
#include "base/bytes.h"

#include <string.h>

bool ac_span_has(ac_span s, uint64_t at, uint64_t n)
{
    return at <= s.n && n <= s.n - at;
}

bool ac_span_sub(ac_span s, uint64_t at, uint64_t n, ac_span *out)
{
    if (!ac_span_has(s, at, n))
        return false;
    *out = (ac_span){s.p + at, (size_t)n};
    return true;
}

bool ac_span_starts(ac_span s, uint64_t at, const void *with, size_t n)
{
    return ac_span_has(s, at, n) && (!n || !memcmp(s.p + at, with, n));
}

/* `width` bytes, least significant first, whatever the host's order. */
static bool word(ac_span s, uint64_t at, unsigned width, uint64_t *out)
{
    if (!ac_span_has(s, at, width))
        return false;
    uint64_t v = 0;
    for (unsigned i = width; i-- > 0;)
        v = v << 8 | s.p[at + i];
    *out = v;
    return true;
}

bool ac_span_u8(ac_span s, uint64_t at, uint8_t *out)
{
    uint64_t v;
    if (!word(s, at, 1, &v))
        return false;
    *out = (uint8_t)v;
    return true;
}

bool ac_span_u16(ac_span s, uint64_t at, uint16_t *out)
{
    uint64_t v;
    if (!word(s, at, 2, &v))
        return false;
    *out = (uint16_t)v;
    return true;
}

bool ac_span_u32(ac_span s, uint64_t at, uint32_t *out)
{
    uint64_t v;
    if (!word(s, at, 4, &v))
        return false;
    *out = (uint32_t)v;
    return true;
}

bool ac_span_u64(ac_span s, uint64_t at, uint64_t *out)
{
    return word(s, at, 8, out);
}

bool ac_span_i32(ac_span s, uint64_t at, int32_t *out)
{
    uint32_t v;
    if (!ac_span_u32(s, at, &v))
        return false;
    memcpy(out, &v, sizeof v);
    return true;
}

bool ac_span_f32(ac_span s, uint64_t at, float *out)
{
    uint32_t v;
    if (!ac_span_u32(s, at, &v))
        return false;
    memcpy(out, &v, sizeof v);
    return true;
}

bool ac_span_varint(ac_span s, uint64_t *at, uint64_t *out)
{
    uint64_t v = 0, place = *at;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t b;
        if (!ac_span_u8(s, place++, &b))
            return false;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *at = place;
            *out = v;
            return true;
        }
    }
    return false;
}
