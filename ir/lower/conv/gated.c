/* gated.c - gated_conv_2d: a convolution of 1x1 of x times a gate, a number for each image and channel.
 *
 * x [N,H,W,C], w [O,1,1,C], gate [N,1,1,C], bias [O] or none, y [N,H,W,O]; f32. Sums in the order of the channels, of
 * products (x * gate) * w. GPUs: products of floats, see ir/lower/gpu/staged.c. */
#include "ir/lower/channel.h"
#include "ir/lower/entries.h"
#include "ir/lower/gpu/product.h"

int ac_lo_gated_conv(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *w = n->in[1], *gate = n->in[2];
    const int64_t image = x->dim[1] * x->dim[2], depth = x->dim[3];
    ac_lb *b = &L->b;
    ac_channel c;
    AC_TRY(ac_channel_open(L, &c, x, w, ac_node_in(n, 3), w->dim[0], 0, n->attrs.act.act, AC_ROUND_FIXED));
    if (ac_gpu_gated_fits(L, &c, image, x->dim[0] * image, depth))
        return ac_gpu_gated_rows(L, &c, gate, image, x->dim[0] * image, depth);
    ac_channel_tables(&c, c.n, NULL, 0);
    const int32_t x_buf = ac_lo_operand(L, x), w_buf = ac_lo_operand(L, w), gate_buf = ac_lo_operand(L, gate);
    const ac_x i = ac_lb_for_each(b, "n", x->dim[0]), oy = ac_lb_for_each(b, "oy", x->dim[1]),
               ox = ac_lb_for_each(b, "ox", x->dim[2]), oc = ac_lb_for_each(b, "oc", c.n);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, x->dim[1])), oy),
               pixel = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, x->dim[2])), ox);
    const ac_x acc = ac_lb_var(b, "acc", ac_channel_start(&c, oc, 1)), k = ac_lb_for_n(b, "ic", depth);
    const ac_x from = ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, depth)), k),
               factor = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, depth)), k),
               weight = ac_lb_add(b, ac_lb_mul(b, oc, ac_lb_i32(b, depth)), k);
    const ac_x v = ac_lb_mul(b, ac_lb_load(b, x_buf, from, 1), ac_lb_load(b, gate_buf, factor, 1));
    ac_lb_set(b, acc, ac_lo_madd(L, v, ac_lb_load(b, w_buf, weight, 1), ac_lb_get(b, acc)));
    ac_lb_end(b);
    const ac_x idx[4] = {i, oy, ox, oc};
    ac_lo_result(L, ac_channel_done(&c, ac_lb_get(b, acc), oc), idx, 1);
    for (int q = 0; q < 4; q++)
        ac_lb_end(b);
    return AC_OK;
}
