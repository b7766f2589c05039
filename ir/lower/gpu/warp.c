#include "ir/lower/gpu/warp.h"

enum { WARPS = 4, THREADS = WARPS * GPU_LANES };

void gpu_warps_open(gpu_warps *w, ac_lower *L, int64_t items, ac_dtype d)
{
    ac_lb *b = &L->b;
    *w = (gpu_warps){.L = L, .items = items};
    w->buf[0] = lo_gpu_local(L, "part", d, THREADS, AC_WHERE_THREAD);
    w->buf[1] = lo_gpu_local(L, "all", d, THREADS, AC_WHERE_THREAD);
    w->g = lb_for(b, "g", lb_i32(b, 0), lb_i32(b, (items + WARPS - 1) / WARPS), 1, AC_MARK_GRID);
}

void gpu_warps_phase(gpu_warps *w)
{
    ac_lb *b = &w->L->b;
    w->t = lb_for(b, "t", lb_i32(b, 0), lb_i32(b, THREADS), 1, AC_MARK_BLOCK);
    const ac_x item = lb_add(b, lb_mul(b, w->g, lb_i32(b, WARPS)), lb_div(b, w->t, lb_i32(b, GPU_LANES)));
    w->lane = lb_mod(b, w->t, lb_i32(b, GPU_LANES));
    w->live = lb_lt(b, item, lb_i32(b, w->items));
    w->item = lb_min(b, item, lb_i32(b, w->items - 1));
}

void gpu_warps_put(gpu_warps *w, ac_x v)
{
    lb_store(&w->L->b, w->buf[0], w->t, v);
}

ac_x gpu_warps_get(gpu_warps *w)
{
    return lb_load(&w->L->b, w->buf[1], w->t, 1);
}

void gpu_warps_end(gpu_warps *w)
{
    lb_end(&w->L->b);
}

/* Five halvings: from part to all and back, the last one to all. */
void gpu_warps_reduce(gpu_warps *w, ac_x (*op)(ac_lb *b, ac_x x, ac_x y))
{
    ac_lb *b = &w->L->b;
    int32_t from = 0;
    for (int32_t mask = GPU_LANES / 2; mask; mask /= 2, from = 1 - from) {
        const ac_x t = lb_for(b, "t", lb_i32(b, 0), lb_i32(b, THREADS), 1, AC_MARK_BLOCK);
        const ac_x mine = lb_load(b, w->buf[from], t, 1),
                   other = lb_load(b, w->buf[from], lb_xor(b, t, lb_i32(b, mask)), 1);
        lb_store(b, w->buf[1 - from], t, op(b, mine, other));
        lb_end(b);
    }
}

void gpu_warps_close(gpu_warps *w)
{
    lb_end(&w->L->b);
}
