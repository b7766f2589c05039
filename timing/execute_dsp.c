/* execute_dsp.c - saturation, and sums and differences of the parts of two words. */
#include "timing/execute.h"

static uint32_t clamped(int64_t x, int64_t least, int64_t most)
{
    return (uint32_t)(x < least ? least : x > most ? most : x);
}

static uint32_t clamped_signed(int64_t x, int bits)
{
    return clamped(x, -((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
}

static uint32_t clamped_unsigned(int64_t x, int bits)
{
    return clamped(x, 0, ((int64_t)1 << bits) - 1);
}

static uint32_t halves(uint32_t low, uint32_t high)
{
    return (low & 0xffff) | high << 16;
}

/* a is rn, b is rm or rm shifted. QADD and the like: rm is the first operand. */
uint32_t ac_saturate(const ac_insn *in, uint32_t a, uint32_t b)
{
    const int64_t x = (int32_t)b, twice = (int32_t)clamped_signed((int64_t)(int32_t)a * 2, 32);
    switch (in->op) {
    case AC_T_SSAT:
        return clamped_signed(x, in->y);
    case AC_T_USAT:
        return clamped_unsigned(x, in->y);
    case AC_T_SSAT16:
        return halves(clamped_signed((int16_t)b, in->y), clamped_signed((int16_t)(b >> 16), in->y));
    case AC_T_USAT16:
        return halves(clamped_unsigned((int16_t)b, in->y), clamped_unsigned((int16_t)(b >> 16), in->y));
    case AC_T_QADD:
        return clamped_signed(x + (int32_t)a, 32);
    case AC_T_QSUB:
        return clamped_signed(x - (int32_t)a, 32);
    case AC_T_QDADD:
        return clamped_signed(x + twice, 32);
    default:
        return clamped_signed(x - twice, 32);
    }
}

enum { ADD8, ADD16, ASX, SUB8 = 4, SUB16, SAX };
enum { SIGNED, SATURATED, HALVED, UNSIGNED = 4, UNSIGNED_SATURATED, UNSIGNED_HALVED };

/* One part: its bits of the result, and of GE. */
static uint32_t part(uint8_t form, int64_t x, int64_t y, bool subtracts, int bits, bool *ge)
{
    const int64_t r = subtracts ? x - y : x + y;
    *ge = form == UNSIGNED && !subtracts ? r >> bits != 0 : r >= 0;
    switch (form) {
    case SATURATED:
        return clamped_signed(r, bits);
    case UNSIGNED_SATURATED:
        return clamped_unsigned(r, bits);
    case HALVED:
    case UNSIGNED_HALVED:
        return (uint32_t)((uint64_t)r >> 1);
    default:
        return (uint32_t)r;
    }
}

uint32_t ac_parallel(const ac_insn *in, uint32_t a, uint32_t b, uint8_t *ge)
{
    const int bits = in->x == ADD8 || in->x == SUB8 ? 8 : 16;
    const bool is_signed = in->y < UNSIGNED, crosses = in->x == ASX || in->x == SAX;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t result = 0;
    uint8_t flags = 0;
    for (int at = 0; at < 32; at += bits) {
        const bool subtracts = in->x == SUB8 || in->x == SUB16 || (in->x == ASX && !at) || (in->x == SAX && at);
        const uint32_t x = a >> at & mask, y = b >> (crosses ? 16 - at : at) & mask;
        bool is_ge;
        const uint32_t r = is_signed ? part(in->y, (int32_t)ac_sign_extend(x, bits), (int32_t)ac_sign_extend(y, bits),
                                            subtracts, bits, &is_ge)
                                     : part(in->y, x, y, subtracts, bits, &is_ge);
        result |= (r & mask) << at;
        if (is_ge)
            flags |= (uint8_t)((bits == 8 ? 1u : 3u) << (at / 8));
    }
    if (in->y == SIGNED || in->y == UNSIGNED)
        *ge = flags;
    return result;
}
