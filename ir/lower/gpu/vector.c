/* vector.c - products of few rows on a GPU: a warp for each result; see vector.h. */
#include "ir/lower/gpu/vector.h"

#include "ir/lower/gpu/warp.h"
#include "ir/lower/matrix.h"

typedef struct vector {
    ac_lower *L;
    const ac_channel *c;
    int64_t depth;
    int32_t x, w; /* buffers */
} vector;

bool ac_gpu_vector_fits(const ac_lower *L, const ac_channel *c, int64_t rows, int64_t depth)
{
    const bool fixed = ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias));
    const bool bytes = c->kind == AC_MACS_I8 && !c->zw && depth % 4 == 0 && ac_lo_align(L, c->x) >= 4;
    return L->target->isa == AC_ISA_CUDA && !L->exact && fixed && depth >= 2 * GPU_LANES &&
           (c->kind == AC_MACS_F32 || bytes) && rows * c->n <= INT32_MAX;
}

/* Lanes take 4 elements at a time if rows are whole vectors. */
static void warp_sum(const vector *v, ac_gpu_warps *w, ac_x row, ac_x oc)
{
    ac_lb *b = &v->L->b;
    const bool bytes = v->c->kind == AC_MACS_I8;
    const int32_t wide = v->depth % 4 == 0 && (bytes || ac_lo_align(v->L, v->c->x) >= 16) ? 4 : 1;
    const ac_x depth = ac_lb_i32(b, v->depth), x_at = ac_lb_mul(b, row, depth), w_at = ac_lb_mul(b, oc, depth);
    const ac_x acc = ac_lb_var(b, "acc", bytes ? ac_lb_i32(b, 0) : ac_lb_f32(b, 0));
    const ac_x k =
        ac_lb_for(b, "k", ac_lb_mul(b, w->lane, ac_lb_i32(b, wide)), depth, (int64_t)wide * GPU_LANES, AC_MARK_SERIAL);
    const ac_x xv = ac_lb_load_flags(b, v->x, ac_lb_add(b, x_at, k), wide, AC_F_ALIGNED);
    const ac_x wv = ac_lb_load_flags(b, v->w, ac_lb_add(b, w_at, k), wide, AC_F_ALIGNED);
    if (bytes)
        ac_lb_set(b, acc, ac_lb_dot4(b, xv, wv, ac_lb_get(b, acc)));
    for (int32_t l = 0; l < wide && !bytes; l++)
        ac_lb_set(b, acc, ac_lo_madd(v->L, ac_lb_lane(b, xv, l), ac_lb_lane(b, wv, l), ac_lb_get(b, acc)));
    ac_lb_end(b);
    ac_gpu_warps_put(w, ac_lb_get(b, acc));
}

int ac_gpu_vector(ac_lower *L, ac_channel *c, int64_t n_rows, int64_t depth)
{
    ac_lb *b = &L->b;
    const ac_rows rows = {depth, depth, 1};
    const bool bytes = c->kind == AC_MACS_I8;
    ac_x idx[AC_MAX_RANK];
    ac_gpu_warps w;
    ac_channel_tables(c, c->n, bytes ? &rows : NULL, c->zx);
    vector v = {.L = L, .c = c, .depth = depth};
    v.x = ac_lo_operand(L, c->x);
    v.w = ac_lo_operand(L, c->w);
    ac_gpu_warps_open(&w, L, n_rows * c->n, bytes ? AC_I32 : AC_F32);
    ac_gpu_warps_phase(&w);
    warp_sum(&v, &w, ac_lb_div(b, w.item, ac_lb_i32(b, c->n)), ac_lb_mod(b, w.item, ac_lb_i32(b, c->n)));
    ac_gpu_warps_end(&w);
    ac_gpu_warps_reduce(&w, bytes ? ac_lb_add_wrap : ac_lb_add);
    ac_gpu_warps_phase(&w);
    const ac_x oc = ac_lb_mod(b, w.item, ac_lb_i32(b, c->n));
    ac_lb_if(b, ac_lb_and(b, w.live, ac_lb_eq(b, w.lane, ac_lb_i32(b, 0))));
    ac_row_index(L, ac_lb_div(b, w.item, ac_lb_i32(b, c->n)), idx);
    idx[c->out->rank - 1] = oc;
    const ac_x sum = ac_gpu_warps_get(&w);
    ac_lo_result(L, ac_channel_done(c, bytes ? ac_lb_add_wrap(b, sum, ac_channel_start(c, oc, 1)) : sum, oc), idx, 1);
    ac_lb_end(b);
    ac_gpu_warps_end(&w);
    ac_gpu_warps_close(&w);
    return AC_OK;
}
