/* standardize.c - lowers standardize: each row of the last dimension, with mean 0 and variance 1.
 *
 *     f32, f64     d = x - mean(x), or x without `center`; d / sqrt(mean(d * d) + epsilon), d times the inverse of the
 *                  root unless exact
 *
 * GPUs: a warp for each row of 32 elements and more (f32, unless the order is to be kept), which it reads once, into
 * registers, up to 2,048 elements. */
#include "ir/lower/entries.h"
#include "ir/lower/gpu/warp.h"
#include "ir/lower/map/map.h"
#include "ir/lower/rows.h"

enum { MOST_HELD = 64 }; /* elements of a row that a lane holds */

typedef struct row {
    ac_lo_rows r;
    bool center, squares;   /* squares: the sum is of d * d */
    ac_x sum, mean, factor; /* sum: a variable */
    int32_t held;           /* the buffer of the elements in registers; -1: none */
    ac_x held_at;           /* of the present element in it */
    bool is_held;           /* it is there already */
} row;

static ac_x element(ac_lower *L, const row *r, ac_x i, int32_t lanes)
{
    if (r->held >= 0 && r->is_held)
        return ac_lb_load(&L->b, r->held, r->held_at, 1);
    const ac_x x = ac_lo_rows_load(L, &r->r, i, lanes);
    if (r->held >= 0)
        ac_lb_store(&L->b, r->held, r->held_at, x);
    return x;
}

static ac_x centered(ac_lower *L, const row *r, ac_x i, int32_t lanes)
{
    const ac_x x = element(L, r, i, lanes);
    return r->mean ? ac_lb_sub(&L->b, x, ac_lb_splat(&L->b, r->mean, lanes)) : x;
}

/* Adds elements i.. of the row, or their squares, to the sum. */
static void sum_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    ac_x v = centered(L, r, i, lanes);
    v = r->squares ? ac_lb_mul(b, v, v) : v;
    ac_lb_set(b, r->sum, ac_lb_add(b, ac_lb_get(b, r->sum), lanes > 1 ? ac_lb_sumlanes(b, v) : v));
}

static void divide_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    const ac_x v = centered(L, r, i, lanes);
    ac_lo_rows_store(L, &r->r, i, (L->exact ? ac_lb_div : ac_lb_mul)(&L->b, v, ac_lb_splat(&L->b, r->factor, lanes)),
                     lanes);
}

static ac_x zero(ac_lower *L, const row *r)
{
    return ac_lb_num(&L->b, r->r.in->dtype, 0);
}

static ac_x mean_of(ac_lower *L, const row *r, ac_x sum)
{
    return ac_lb_div(&L->b, sum, ac_lb_num(&L->b, r->r.in->dtype, (double)r->r.depth));
}

/* The inverse of the root; if exact, the root. */
static ac_x factor_of(ac_lower *L, const row *r, ac_x sum)
{
    ac_lb *b = &L->b;
    const double epsilon = (double)L->node->attrs.standardize.epsilon;
    const ac_x root = ac_lb_sqrt(b, ac_lb_add(b, mean_of(L, r, sum), ac_lb_num(b, r->r.in->dtype, epsilon)));
    return L->exact ? root : ac_lb_div(b, ac_lb_num(b, r->r.in->dtype, 1), root);
}

static void plain(ac_lower *L, row *r)
{
    const int32_t lanes = ac_lo_max_lanes(L, r->r.in->dtype), summed = L->exact ? 1 : lanes;
    ac_lo_rows_open(L, &r->r);
    for (int32_t squares = !r->center; squares < 2; squares++) {
        r->squares = squares;
        r->sum = ac_lb_var(&L->b, "sum", zero(L, r));
        ac_lo_strip(L, "c", r->r.depth, summed, sum_step, r);
        const ac_x sum = ac_lb_get(&L->b, r->sum);
        if (squares)
            r->factor = factor_of(L, r, sum);
        else
            r->mean = mean_of(L, r, sum);
    }
    ac_lo_strip(L, "c", r->r.depth, lanes, divide_step, r);
    ac_lo_rows_close(L, &r->r);
}

/* Elements that a lane holds. */
static int64_t held_of(const row *r)
{
    return (r->r.depth + GPU_LANES - 1) / GPU_LANES;
}

/* The elements of a lane, one after another. */
static void each_of_lane(ac_lower *L, row *r, const ac_gpu_warps *w, void (*step)(ac_lower *, void *, ac_x, int32_t))
{
    ac_lb *b = &L->b;
    const ac_x depth = ac_lb_i32(b, r->r.depth);
    if (r->held < 0) {
        step(L, r, ac_lb_for(b, "c", w->lane, depth, GPU_LANES, AC_MARK_SERIAL), 1);
        ac_lb_end(b);
        return;
    }
    const ac_x n = ac_lb_i32(b, held_of(r)), i = ac_lb_for(b, "i", ac_lb_i32(b, 0), n, 1, AC_MARK_UNROLL);
    const ac_x c = ac_lb_add(b, w->lane, ac_lb_mul(b, i, ac_lb_i32(b, GPU_LANES)));
    r->held_at = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, w->threads)), w->t);
    const bool whole = r->r.depth % GPU_LANES == 0;
    if (!whole)
        ac_lb_if(b, ac_lb_lt(b, c, depth));
    step(L, r, c, 1);
    if (!whole)
        ac_lb_end(b);
    ac_lb_end(b);
}

static void open_phase(ac_lower *L, row *r, ac_gpu_warps *w)
{
    ac_gpu_warps_phase(w);
    r->r.base = ac_lb_mul(&L->b, w->item, ac_lb_i32(&L->b, r->r.depth));
}

static void warp_sum(ac_lower *L, row *r, ac_gpu_warps *w)
{
    r->sum = ac_lb_var(&L->b, "sum", zero(L, r));
    each_of_lane(L, r, w, sum_step);
    ac_gpu_warps_put(w, ac_lb_get(&L->b, r->sum));
    ac_gpu_warps_end(w);
    r->is_held = true;
    ac_gpu_warps_reduce(w, ac_lb_add);
}

static void warps(ac_lower *L, row *r)
{
    ac_lb *b = &L->b;
    ac_gpu_warps w;
    r->r.x = ac_lo_operand(L, r->r.in);
    const int64_t rows = ac_tensor_count(r->r.in) / r->r.depth;
    const int32_t threads = ac_gpu_warps_threads(rows, r->r.depth);
    const int32_t mean = ac_lo_gpu_local(L, "mean", AC_F32, threads, AC_WHERE_THREAD);
    if (held_of(r) <= MOST_HELD)
        r->held = ac_lo_gpu_local(L, "row", AC_F32, held_of(r) * threads, AC_WHERE_THREAD);
    ac_gpu_warps_open(&w, L, rows, r->r.depth, AC_F32);
    open_phase(L, r, &w);
    if (r->center) {
        warp_sum(L, r, &w);
        open_phase(L, r, &w);
        r->mean = mean_of(L, r, ac_gpu_warps_get(&w));
        ac_lb_store(b, mean, w.t, r->mean);
    }
    r->squares = true;
    warp_sum(L, r, &w);
    open_phase(L, r, &w);
    ac_lo_rows_index(L, &r->r, w.item);
    ac_lb_if(b, w.live);
    r->factor = factor_of(L, r, ac_gpu_warps_get(&w));
    r->mean = r->center ? ac_lb_load(b, mean, w.t, 1) : 0;
    each_of_lane(L, r, &w, divide_step);
    ac_lb_end(b);
    ac_gpu_warps_end(&w);
    ac_gpu_warps_close(&w);
}

int ac_lo_standardize(ac_lower *L)
{
    ac_tensor *in = L->node->in[0], *out = L->node->out[0];
    row r = {.r = {.in = in, .out = out, .depth = in->rank ? in->dim[in->rank - 1] : 1},
             .center = L->node->attrs.standardize.center,
             .held = -1};
    ac_lo_result_buf(L);
    if (!ac_mp_real(in) || in->dtype != out->dtype) {
        ac_mp_refuse(L, L->node);
        return AC_FAIL;
    }
    if (ac_tensor_count(in) == 0)
        return AC_OK;
    if (L->target->isa == AC_ISA_CUDA && !L->exact && in->dtype == AC_F32 && r.r.depth >= GPU_LANES)
        warps(L, &r);
    else
        plain(L, &r);
    return AC_OK;
}
