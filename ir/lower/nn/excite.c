/* excite.c - lowers excite: a mean and two products by constant weights.
 *
 *     mean     the sum of the pixels in order, times 1 / pixels
 *     hidden   act(b1 + w1 mean), sums in the order of the channels
 *     result   b2 + w2 hidden
 *
 * GPUs: see ir/lower/gpu/excite.h. Scratch: means and hidden values of an image. */
#include "ir/lower/entries.h"
#include "ir/lower/gpu/excite.h"

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

int ac_lo_excite(ac_lower *L)
{
    ac_lb *b = &L->b;
    ac_excite e;
    AC_TRY(ac_excite_of(L->cx, L->node, &e));
    if (ac_gpu_excite_fits(L, &e))
        return ac_gpu_excite(L, &e);
    const int32_t x = ac_lo_operand(L, e.x), w1 = ac_lo_operand(L, e.w1), w2 = ac_lo_operand(L, e.w2);
    const int32_t mean = ac_lo_scratch(L, "mean", AC_F32, e.channels),
                  hidden = ac_lo_scratch(L, "hidden", AC_F32, e.hidden);
    const ac_x n = ac_lb_for_n(b, "n", e.images), c = ac_lb_for_each(b, "c", e.channels);
    const ac_x sum = ac_lb_var(b, "sum", ac_lb_f32(b, 0)), p = ac_lb_for_n(b, "p", e.pixels);
    const ac_x pixel = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, e.pixels)), p);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, e.channels)), c);
    ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), ac_lb_load(b, x, at, 1)));
    ac_lb_end(b);
    ac_lb_store(b, mean, c, ac_lb_mul(b, ac_lb_get(b, sum), ac_lb_f32(b, 1.0 / (double)e.pixels)));
    ac_lb_end(b);
    const ac_x h = ac_lb_for_each(b, "h", e.hidden);
    ac_lb_store(b, hidden, h, ac_excite_hidden(L, product(L, w1, e.b1, h, mean, e.channels)));
    ac_lb_end(b);
    const ac_x o = ac_lb_for_each(b, "oc", e.results), zero = ac_lb_i32(b, 0), idx[4] = {n, zero, zero, o};
    ac_lo_result(L, product(L, w2, e.b2, o, hidden, e.hidden), idx, 1);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
