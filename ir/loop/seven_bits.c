/* seven_bits.c - recognises products of bytes whose pairwise sums fit in 16 bits, so that printers may use an
 * instruction that saturates there (x86's pmaddubsw): products of bytes that are at most 127 because they were masked,
 *
 *     %3 = and u32x8 %2 0x0F0F0F0F
 *     %4 = bitcast u8x32 %3                 all bytes are at most 15
 *
 *
 * and products of bytes by constants that are known to be in -64 .. 64 (2 * 255 * 64 < 2^15):
 *
 *     %3 = load i8x32 w[%2] narrow */
#include "ir/loop/builder.h"

static bool masks(const ac_loop_fn *fn, const ac_ins *k)
{
    const int32_t bits = ac_dtype_bits((ac_dtype)k->dtype);
    const uint64_t top = UINT64_C(0x8080808080808080) >> (64 - bits);
    bool all = ac_ins_known(k) && ac_dtype_is_int((ac_dtype)k->dtype);
    for (int32_t l = 0; l < k->lanes && all; l++)
        all = !((uint64_t)ac_lb_lane_of(fn, k, l) & top);
    return all;
}

static const ac_ins *source(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = &fn->code.item[x];
    while (i->op == AC_L_BITCAST)
        i = &fn->code.item[i->a];
    return i;
}

bool ac_ins_pairs_fit(const ac_loop_fn *fn, const ac_ins *dot)
{
    const ac_ins *a = source(fn, dot->a), *b = source(fn, dot->b);
    if (b->op == AC_L_LOAD && b->flags & AC_F_NARROW)
        return true;
    return a->op == AC_L_AND && (masks(fn, &fn->code.item[a->a]) || masks(fn, &fn->code.item[a->b]));
}
