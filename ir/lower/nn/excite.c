/* excite.c - lowers excite: a mean and two products by constant weights; and excited_conv_2d, a convolution of 1x1 of x
 * times such values.
 *
 *     mean     the sum of the pixels in order, times 1 / pixels
 *     hidden   act(b1 + w1 mean), sums in the order of the channels
 *     result   b2 + w2 hidden
 *
 * GPUs: see ir/lower/gpu/excite.h, staged.c. Scratch: means, hidden values and gates of an image. */
#include "ir/lower/channel.h"
#include "ir/lower/entries.h"
#include "ir/lower/gpu/excite.h"
#include "ir/lower/gpu/excite_parts.h"
#include "ir/lower/gpu/product.h"

/* b[at] + sum over k < depth of w[at, k] * v[k] */
static ac_x product(ac_lower *L, int32_t w, ac_tensor *bias, ac_x at, int32_t v, int64_t depth)
{
    ac_lb *b = &L->b;
    const ac_x sum = ac_lb_var(b, "sum", bias ? ac_lo_load_at(L, bias, at, true, 1) : ac_lb_f32(b, 0));
    const ac_x k = ac_lb_for_n(b, "k", depth);
    const ac_x weight = ac_lb_load(b, w, ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, depth)), k), 1);
    ac_lb_set(b, sum, ac_lo_madd(L, ac_lb_load(b, v, k, 1), weight, ac_lb_get(b, sum)));
    ac_lb_end(b);
    return ac_lb_get(b, sum);
}

typedef struct plain {
    const ac_excite *e;
    int32_t x, w1, w2, mean, hidden;
} plain;

static plain open_plain(ac_lower *L, const ac_excite *e)
{
    plain p = {.e = e, .x = ac_lo_operand(L, e->x), .w1 = ac_lo_operand(L, e->w1), .w2 = ac_lo_operand(L, e->w2)};
    p.mean = ac_lo_scratch(L, "mean", AC_F32, e->channels);
    p.hidden = ac_lo_scratch(L, "hidden", AC_F32, e->hidden);
    return p;
}

/* Hidden values of image n. */
static void hide(ac_lower *L, const plain *q, ac_x n)
{
    ac_lb *b = &L->b;
    const ac_excite *e = q->e;
    const ac_x c = ac_lb_for_each(b, "c", e->channels);
    const ac_x sum = ac_lb_var(b, "sum", ac_lb_f32(b, 0)), p = ac_lb_for_n(b, "p", e->pixels);
    const ac_x pixel = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, e->pixels)), p);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, e->channels)), c);
    ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), ac_lb_load(b, q->x, at, 1)));
    ac_lb_end(b);
    ac_lb_store(b, q->mean, c, ac_lb_mul(b, ac_lb_get(b, sum), ac_lb_f32(b, 1.0 / (double)e->whole)));
    ac_lb_end(b);
    const ac_x h = ac_lb_for_each(b, "h", e->hidden);
    ac_lb_store(b, q->hidden, h, ac_excite_hidden(L, e, product(L, q->w1, e->b1, h, q->mean, e->channels)));
    ac_lb_end(b);
}

int ac_lo_excite(ac_lower *L)
{
    ac_lb *b = &L->b;
    ac_excite e;
    AC_TRY(ac_excite_of(L->cx, L->node, &e));
    if (ac_gpu_excite_fits(L, &e))
        return ac_gpu_excite(L, &e);
    const plain q = open_plain(L, &e);
    const ac_x n = ac_lb_for_n(b, "n", e.images);
    hide(L, &q, n);
    const ac_x o = ac_lb_for_each(b, "oc", e.results), zero = ac_lb_i32(b, 0), idx[4] = {n, zero, zero, o};
    ac_lo_result(L, product(L, q.w2, e.b2, o, q.hidden, e.hidden), idx, 1);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

int ac_lo_excited(ac_lower *L)
{
    const ac_node *node = L->node;
    ac_tensor *x = node->in[AC_EXCITED_X], *w = node->in[AC_EXCITED_W];
    const int64_t image = x->dim[1] * x->dim[2], depth = x->dim[3];
    ac_lb *b = &L->b;
    ac_excite e;
    ac_channel c;
    AC_TRY(ac_excited_of(L->cx, node, &e));
    AC_TRY(ac_channel_open(L, &c, x, w, ac_node_in(node, AC_EXCITED_BIAS), w->dim[0], 0, node->attrs.excited.act,
                           AC_ROUND_FIXED));
    if (ac_gpu_excited_fits(L, &c, &e, image))
        return ac_gpu_excited_rows(L, &c, &e, image);
    ac_channel_tables(&c, c.n, NULL, 0);
    const plain q = open_plain(L, &e);
    const int32_t x_buf = ac_lo_operand(L, x), w_buf = ac_lo_operand(L, w),
                  gate = ac_lo_scratch(L, "gate", AC_F32, depth);
    const ac_x n = ac_lb_for_n(b, "n", e.images);
    hide(L, &q, n);
    const ac_x o = ac_lb_for_each(b, "o", depth), v = product(L, q.w2, e.b2, o, q.hidden, e.hidden);
    ac_lb_store(b, gate, o, e.logistic ? ac_lo_sigmoid(L, v) : v);
    ac_lb_end(b);
    const ac_x oy = ac_lb_for_each(b, "oy", x->dim[1]), ox = ac_lb_for_each(b, "ox", x->dim[2]),
               oc = ac_lb_for_each(b, "oc", c.n);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, x->dim[1])), oy),
               pixel = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, x->dim[2])), ox);
    const ac_x acc = ac_lb_var(b, "acc", ac_channel_start(&c, oc, 1)), k = ac_lb_for_n(b, "ic", depth);
    const ac_x from = ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, depth)), k),
               weight = ac_lb_add(b, ac_lb_mul(b, oc, ac_lb_i32(b, depth)), k);
    const ac_x gated = ac_lb_mul(b, ac_lb_load(b, x_buf, from, 1), ac_lb_load(b, gate, k, 1));
    ac_lb_set(b, acc, ac_lo_madd(L, gated, ac_lb_load(b, w_buf, weight, 1), ac_lb_get(b, acc)));
    ac_lb_end(b);
    const ac_x idx[4] = {n, oy, ox, oc};
    ac_lo_result(L, ac_channel_done(&c, ac_lb_get(b, acc), oc), idx, 1);
    for (int i = 0; i < 4; i++)
        ac_lb_end(b);
    return AC_OK;
}
