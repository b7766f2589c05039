/* bits.c - bitwise logic and shifts of plain integers.
 *
 * A shift by at least the width of the type gives the result of as many shifts by one bit: zeros, or copies of the sign
 * for a signed shift to the right. A negative count shifts by 0. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

static bool plain(const ac_node *n)
{
    return n->in[0]->dtype == n->in[1]->dtype && n->in[0]->dtype == n->out[0]->dtype && ac_mp_plain_int(n->in[0]) &&
           ac_mp_plain_int(n->in[1]) && ac_mp_plain_int(n->out[0]);
}

ac_x ac_mp_bitwise_and(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return plain(n) ? ac_lb_and(&L->b, arg[0], arg[1]) : ac_mp_refuse(L, n);
}

ac_x ac_mp_bitwise_or(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return plain(n) ? ac_lb_or(&L->b, arg[0], arg[1]) : ac_mp_refuse(L, n);
}

ac_x ac_mp_bitwise_xor(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return plain(n) ? ac_lb_xor(&L->b, arg[0], arg[1]) : ac_mp_refuse(L, n);
}

/* The count between 0 and the last bit; *all: every bit is shifted out. */
static ac_x count_of(ac_lower *L, ac_x y, ac_x *all)
{
    ac_lb *b = &L->b;
    const ac_dtype d = ac_lb_dtype(b, y);
    const ac_x last = ac_lb_like_int(b, y, ac_dtype_bits(d) - 1);
    *all = ac_lb_gt(b, y, last);
    y = ac_lb_min(b, y, last);
    return ac_dtype_is_signed(d) ? ac_lb_max(b, y, ac_lb_like_int(b, y, 0)) : y;
}

ac_x ac_mp_shift_left(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    ac_x all;
    if (!plain(n))
        return ac_mp_refuse(L, n);
    const ac_x y = count_of(L, arg[1], &all);
    return ac_lb_select(b, all, ac_lb_like_int(b, arg[0], 0), ac_lb_shl(b, arg[0], y));
}

ac_x ac_mp_shift_right(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    ac_x all;
    if (!plain(n))
        return ac_mp_refuse(L, n);
    const ac_x y = count_of(L, arg[1], &all), v = ac_lb_shr(b, arg[0], y);
    return ac_dtype_is_signed(n->in[0]->dtype) ? v : ac_lb_select(b, all, ac_lb_like_int(b, v, 0), v);
}
