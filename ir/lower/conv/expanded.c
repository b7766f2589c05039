/* expanded.c - expanded_depthwise: a depthwise convolution of expanded values, each computed where a tap reads it; on
 * GPUs see expanded_quads.c. Sums begin with the bias on GPUs, else it is added at the end. Sums of tiles: of their
 * pixels, row after row. */
#include "ir/lower/conv/expanded.h"
#include "ir/lower/entries.h"
#include "ir/lower/window.h"

/* inner(a[c] + sum of x[pixel, k] * v[c, k]) */
static ac_x expanded_at(ac_lower *L, const ac_expanded *e, int32_t x, int32_t v, ac_x pixel, ac_x c)
{
    ac_lb *b = &L->b;
    const ac_x depth = ac_lb_i32(b, e->depth);
    if (!e->v)
        return ac_lb_load(b, x, ac_lb_add(b, ac_lb_mul(b, pixel, depth), c), 1);
    const ac_x acc = ac_lb_var(b, "e", e->a ? ac_lo_load_at(L, e->a, c, true, 1) : ac_lb_f32(b, 0)),
               k = ac_lb_for_n(b, "k", e->depth);
    const ac_x from = ac_lb_load(b, x, ac_lb_add(b, ac_lb_mul(b, pixel, depth), k), 1),
               weight = ac_lb_load(b, v, ac_lb_add(b, ac_lb_mul(b, c, depth), k), 1);
    ac_lb_set(b, acc, ac_lo_madd(L, from, weight, ac_lb_get(b, acc)));
    ac_lb_end(b);
    return ac_expanded_inner(L, ac_lb_get(b, acc));
}

/* The other result, from the first one. */
static void add_tiles(ac_lower *L, const ac_expanded *e)
{
    ac_lb *b = &L->b;
    const int32_t from = ac_lo_result_buf(L), to = ac_lo_output_buf(L, 1);
    const ac_x n = ac_lb_for_each(b, "n", e->images), tile = ac_lb_for_each(b, "tile", e->tiles),
               c = ac_lb_for_each(b, "c", e->channels), tiles_x = ac_lb_i32(b, e->tiles_x);
    const ac_x high = ac_lb_i32(b, e->tile_h), wide = ac_lb_i32(b, e->tile_w), down = ac_lb_i32(b, e->down.out),
               across = ac_lb_i32(b, e->across.out);
    const ac_x y0 = ac_lb_mul(b, ac_lb_div(b, tile, tiles_x), high),
               x0 = ac_lb_mul(b, ac_lb_mod(b, tile, tiles_x), wide), sum = ac_lb_var(b, "sum", ac_lb_f32(b, 0));
    const ac_x y = ac_lb_for(b, "y", y0, ac_lb_min(b, ac_lb_add(b, y0, high), down), 1, AC_MARK_SERIAL),
               x = ac_lb_for(b, "x", x0, ac_lb_min(b, ac_lb_add(b, x0, wide), across), 1, AC_MARK_SERIAL);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, n, down), y), pixel = ac_lb_add(b, ac_lb_mul(b, row, across), x);
    ac_lb_set(b, sum,
              ac_lb_add(b, ac_lb_get(b, sum),
                        ac_lb_load(b, from, ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, e->channels)), c), 1)));
    ac_lb_end(b);
    ac_lb_end(b);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, e->tiles)), tile);
    ac_lb_store(b, to, ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, e->channels)), c), ac_lb_get(b, sum));
    for (int q = 0; q < 3; q++)
        ac_lb_end(b);
}

static void tap(ac_lower *L, const ac_slide *s, const char *name, ac_x o, ac_x *k, ac_x *at)
{
    ac_x first, end;
    ac_slide_taps(&L->b, s, o, &first, &end);
    *k = ac_lb_for(&L->b, name, first, end, 1, AC_MARK_SERIAL);
    *at = ac_slide_at(&L->b, s, o, *k);
}

int ac_lo_expanded(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_expanded e;
    ac_channel c;
    AC_TRY(ac_expanded_of(L->cx, n, &e));
    AC_TRY(ac_channel_open(L, &c, e.x, e.w, e.b, e.channels, 3, n->attrs.expanded.act, AC_ROUND_FIXED));
    if (ac_gpu_expanded_fits(L, &e, &c))
        return ac_gpu_expanded(L, &e, &c);
    ac_channel_tables(&c, c.n, NULL, 0);
    const int32_t x = ac_lo_operand(L, e.x), v = e.v ? ac_lo_operand(L, e.v) : -1, w = ac_lo_operand(L, e.w);
    const ac_x i = ac_lb_for_each(b, "n", e.images), oy = ac_lb_for_each(b, "oy", e.down.out),
               ox = ac_lb_for_each(b, "ox", e.across.out), oc = ac_lb_for_each(b, "oc", c.n);
    const ac_x acc = ac_lb_var(b, "acc", ac_channel_start(&c, oc, 1));
    ac_x ky, iy, kx, ix;
    tap(L, &e.down, "ky", oy, &ky, &iy);
    tap(L, &e.across, "kx", ox, &kx, &ix);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, e.down.in)), iy),
               pixel = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, e.across.in)), ix);
    const ac_x place = ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, e.across.taps)), kx),
               weight = ac_lb_load(b, w, ac_lb_add(b, ac_lb_mul(b, place, ac_lb_i32(b, c.n)), oc), 1);
    ac_lb_set(b, acc, ac_lo_madd(L, expanded_at(L, &e, x, v, pixel, oc), weight, ac_lb_get(b, acc)));
    ac_lb_end(b);
    ac_lb_end(b);
    const ac_x idx[4] = {i, oy, ox, oc};
    ac_lo_result(L, ac_channel_done(&c, ac_lb_get(b, acc), oc), idx, 1);
    for (int q = 0; q < 4; q++)
        ac_lb_end(b);
    if (e.tiles)
        add_tiles(L, &e);
    return AC_OK;
}
