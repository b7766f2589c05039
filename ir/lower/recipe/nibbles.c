/* nibbles.c - packs and unpacks constants of 2 and 4 bits; see nibbles.h. */
#include "ir/lower/recipe/nibbles.h"

static int32_t per_byte(const ac_tensor *t)
{
    return 8 / ac_dtype_file_bits(t->dtype);
}

ac_bytes ac_nibbles_bytes(const ac_tensor *t)
{
    if (ac_dtype_file_bits(t->dtype) >= 8)
        return ac_tensor_bytes(t);
    return (ac_tensor_count(t) + per_byte(t) - 1) / per_byte(t);
}

/* The buffer of L with t packed, if it exists already; else -1. */
static int32_t find(const ac_lower *L, const ac_tensor *t)
{
    for (int32_t i = 0; i < L->out->arg.n; i++) {
        const ac_const *k = L->out->arg.item[i].konst;
        if (L->out->arg.item[i].kind == AC_ARG_CONST && k->maker && k->dtype == AC_U8 && k->maker->arg.n == 2 &&
            k->maker->arg.item[0].konst->source == t && k->count == ac_nibbles_bytes(t))
            return i;
    }
    return -1;
}

static int32_t packed(ac_lower *L, ac_tensor *t)
{
    ac_lower P;
    const int32_t per = per_byte(t), bits = 8 / per, made = find(L, t);
    const int64_t count = ac_tensor_count(t), bytes = ac_nibbles_bytes(t);
    if (made >= 0)
        return made;
    const int32_t to = ac_lo_pack_open(L, &P, "codes", AC_U8, bytes), from = ac_lo_operand(&P, t);
    ac_lb *b = &P.b;
    const ac_x i = ac_lb_for_n(b, "i", bytes);
    ac_x v = 0;
    for (int32_t e = 0; e < per; e++) {
        ac_x at = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, per)), ac_lb_i32(b, e));
        at = count % per ? ac_lb_min(b, at, ac_lb_i32(b, count - 1)) : at;
        ac_x code = ac_lb_bitcast(b, ac_lb_load(b, from, at, 1), AC_U8);
        code = ac_lb_and(b, code, ac_lb_int(b, AC_U8, (1 << bits) - 1));
        code = ac_lb_shl(b, code, ac_lb_int(b, AC_U8, e * bits));
        v = v ? ac_lb_or(b, v, code) : code;
    }
    ac_lb_store(b, to, i, v);
    ac_lb_end(b);
    return ac_lo_pack_close(L, &P);
}

static bool begins_with_byte(const ac_spot *at, int32_t per)
{
    bool yes = at->base % per == 0 && at->lanes % per == 0;
    for (int32_t i = 0; i < at->n; i++)
        yes &= at->term[i].by * at->term[i].unit % per == 0;
    return yes;
}

/* a0 b0 a1 b1 .. */
static ac_x zip(ac_lb *b, ac_x x, ac_x y)
{
    int64_t pattern[AC_MAX_LANES];
    const int32_t half = ac_lb_lane_count(b, x);
    for (int32_t l = 0; l < 2 * half; l++)
        pattern[l] = ac_zip_lane(l, half);
    return ac_lb_shuffle(b, x, y, pattern, 2 * half);
}

/* Field e of each byte of v, not extended yet. */
static ac_x field(ac_lb *b, ac_x v, int32_t e, int32_t bits)
{
    v = e ? ac_lb_shr(b, v, ac_lb_like_int(b, v, e * bits)) : v;
    return (e + 1) * bits < 8 ? ac_lb_and(b, v, ac_lb_like_int(b, v, (1 << bits) - 1)) : v;
}

/* The elements of consecutive bytes. */
static ac_x unpacked(ac_lb *b, ac_x v, int32_t per)
{
    const int32_t bits = 8 / per;
    if (per == 2)
        return zip(b, field(b, v, 0, bits), field(b, v, 1, bits));
    return zip(b, zip(b, field(b, v, 0, bits), field(b, v, 2, bits)),
               zip(b, field(b, v, 1, bits), field(b, v, 3, bits)));
}

ac_x ac_nibbles_load(ac_lower *L, ac_tensor *t, const ac_spot *at)
{
    ac_lb *b = &L->b;
    const int32_t per = per_byte(t), bits = 8 / per;
    ac_spot in = *at;
    ac_x v;
    const bool whole_rows = t->rank < 2 || t->dim[t->rank - 1] % per == 0;
    if (at->along ? !begins_with_byte(at, per) : !whole_rows && L->target->vec_bytes) /* else stored in both forms */
        return 0;
    in.along = false;
    const ac_spot byte = ac_spot_split(b, &in, per);
    if (byte.failed)
        return 0;
    const int32_t from = packed(L, t);
    if (at->along) {
        v = unpacked(b, ac_lb_load(b, from, ac_spot_value(b, &byte), at->lanes / per), per);
    } else {
        v = ac_lb_load(b, from, ac_spot_value(b, &byte), 1);
        v = ac_lb_shr(b, v, ac_lb_cast(b, ac_lb_mul(b, ac_spot_value(b, &in), ac_lb_i32(b, bits)), AC_U8));
        v = ac_lb_and(b, v, ac_lb_like_int(b, v, (1 << bits) - 1));
    }
    v = ac_lb_bitcast(b, v, ac_dtype_loops(t->dtype));
    if (ac_dtype_is_signed(t->dtype)) {
        const ac_x sign = ac_lb_like_int(b, v, 1 << (bits - 1));
        v = ac_lb_sub_wrap(b, ac_lb_xor(b, v, sign), sign);
    }
    return ac_lb_splat(b, v, at->lanes);
}
