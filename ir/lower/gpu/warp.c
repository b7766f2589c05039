/* warp.c - reduces values across the threads of a warp; see warp.h. */
#include "ir/lower/gpu/warp.h"

static int32_t warps_of(const ac_gpu_warps *w)
{
    return w->threads / GPU_LANES;
}

void ac_gpu_warps_open(ac_gpu_warps *w, ac_lower *L, int64_t items, int64_t each, ac_dtype d)
{
    ac_lb *b = &L->b;
    *w = (ac_gpu_warps){.L = L, .items = items, .threads = ac_gpu_warps_threads(items, each)};
    w->buf[0] = ac_lo_gpu_local(L, "part", d, w->threads, AC_WHERE_THREAD);
    w->buf[1] = ac_lo_gpu_local(L, "all", d, w->threads, AC_WHERE_THREAD);
    w->g = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, (items + warps_of(w) - 1) / warps_of(w)), 1, AC_MARK_GRID);
}

void ac_gpu_warps_phase(ac_gpu_warps *w)
{
    ac_lb *b = &w->L->b;
    w->t = ac_lb_for(b, "t", ac_lb_i32(b, 0), ac_lb_i32(b, w->threads), 1, AC_MARK_BLOCK);
    const ac_x item =
        ac_lb_add(b, ac_lb_mul(b, w->g, ac_lb_i32(b, warps_of(w))), ac_lb_div(b, w->t, ac_lb_i32(b, GPU_LANES)));
    w->lane = ac_lb_mod(b, w->t, ac_lb_i32(b, GPU_LANES));
    w->live = ac_lb_lt(b, item, ac_lb_i32(b, w->items));
    w->item = ac_lb_min(b, item, ac_lb_i32(b, w->items - 1));
}

void ac_gpu_warps_put(ac_gpu_warps *w, ac_x v)
{
    ac_lb_store(&w->L->b, w->buf[0], w->t, v);
}

ac_x ac_gpu_warps_get(ac_gpu_warps *w)
{
    return ac_lb_load(&w->L->b, w->buf[1], w->t, 1);
}

void ac_gpu_warps_end(ac_gpu_warps *w)
{
    ac_lb_end(&w->L->b);
}

/* Five halvings, alternating between the buffers `part` and `all`, ending in `all`. */
void ac_gpu_warps_reduce(ac_gpu_warps *w, ac_x (*op)(ac_lb *b, ac_x x, ac_x y))
{
    ac_lb *b = &w->L->b;
    int32_t from = 0;
    for (int32_t mask = GPU_LANES / 2; mask; mask /= 2, from = 1 - from) {
        const ac_x t = ac_lb_for(b, "t", ac_lb_i32(b, 0), ac_lb_i32(b, w->threads), 1, AC_MARK_BLOCK);
        const ac_x mine = ac_lb_load(b, w->buf[from], t, 1),
                   other = ac_lb_load(b, w->buf[from], ac_lb_xor(b, t, ac_lb_i32(b, mask)), 1);
        ac_lb_store(b, w->buf[1 - from], t, op(b, mine, other));
        ac_lb_end(b);
    }
}

void ac_gpu_warps_close(ac_gpu_warps *w)
{
    ac_lb_end(&w->L->b);
}
