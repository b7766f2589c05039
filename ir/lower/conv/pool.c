/* pool.c - max_pool_2d, average_pool_2d, l2_pool_2d.
 *
 * x, y  [N,H,W,C]  f32; max and average also i8, u8, i16 with the same scale and zero point on both sides
 *
 * Only elements inside the input count: average and l2 divide by their number. Integer averages add half the number and
 * truncate (TFLite's reference: away from zero for i8 and i16), then the fused activation clamps. References: pooling.h
 * and integer_ops/pooling.h of TFLite; integers bit for bit, floats in the same order.
 *
 * Schedule: pixel, channels in vectors, the window. */
#include "ir/loop/tiles.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/spans.h"
#include "ir/lower/entries.h"
#include "ir/lower/gpu/plan.h"
#include "ir/lower/gpu/warp.h"

#include <math.h>
#include <string.h>

typedef struct pool {
    ac_lower *L;
    const ac_tensor *x;
    ac_window win;
    ac_op op;
    int32_t buf;
    int32_t lo, hi; /* integer clamp */
    bool keep_nan;
} pool;

static bool is_float(const pool *p)
{
    return p->x->dtype == AC_F32;
}

static ac_x start(const pool *p, int32_t lanes)
{
    ac_lb *b = &p->L->b;
    const ac_dtype d = p->x->dtype;
    if (p->op != AC_OP_MAX_POOL_2D)
        return ac_lb_splat(b, is_float(p) ? ac_lb_f32(b, 0) : ac_lb_i32(b, 0), lanes);
    const double least = p->keep_nan ? -(double)INFINITY : -3.4028234663852886e38;
    return ac_lb_splat(b, is_float(p) ? ac_lb_f32(b, least) : ac_lb_int(b, d, ac_dtype_min(d)), lanes);
}

static ac_x take(const pool *p, ac_x acc, ac_x v)
{
    ac_lb *b = &p->L->b;
    if (p->op == AC_OP_MAX_POOL_2D)
        return p->keep_nan ? ac_lb_max_nan(b, v, acc) : ac_lb_max(b, acc, v);
    if (p->op == AC_OP_L2_POOL_2D)
        return ac_lb_add(b, acc, ac_lb_mul(b, v, v));
    return ac_lb_add(b, acc, is_float(p) ? v : ac_lb_cast(b, v, AC_I32));
}

enum { RECIPROCAL = 22 }; /* bits of the fraction of 1 / count */

/* Firmware: quotients are products with a reciprocal, without a branch, a division or a clamp that depends on data. The
 * reciprocal is too large by at most count / 2^22 of it, so they are exact while |sum| * count < 2^22: |sum| is at most
 * 129 count for i8, 256 count for u8, and the products fit 32 bits. */
static bool multiplies(const pool *p)
{
    const int64_t taps = p->win.y.taps * p->win.x.taps, most = p->x->dtype == AC_I8 ? 129 : 256;
    const ac_target *t = p->L->target;
    return t->firmware && !t->vec_bytes && p->x->dtype != AC_I16 && most * taps * taps < (1 << RECIPROCAL);
}

/* acc / count, rounded to the nearest, ties away from zero */
static ac_x average_by_product(const pool *p, ac_x acc, ac_x count)
{
    ac_lb *b = &p->L->b;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    const ac_x one = ac_lb_div(b, ac_lb_i32(b, 1 << RECIPROCAL), count), by = ac_lb_add(b, one, ac_lb_i32(b, 1));
    ac_x half = ac_lb_splat(b, ac_lb_shr(b, count, ac_lb_i32(b, 1)), lanes), sign = 0;
    if (p->x->dtype == AC_I8) {
        sign = ac_lb_shr(b, acc, ac_lb_like_int(b, acc, 31));
        half = ac_lb_sub(b, ac_lb_xor(b, half, sign), sign);
    }
    const ac_x product = ac_lb_mul_wrap(b, ac_lb_add(b, acc, half), ac_lb_splat(b, by, lanes));
    const ac_x q = ac_lb_shr(b, product, ac_lb_like_int(b, product, RECIPROCAL));
    return sign ? ac_lb_sub(b, q, sign) : q; /* rounded down: below a negative quotient by less than 1 */
}

static ac_x average(const pool *p, ac_x acc, ac_x count)
{
    ac_lb *b = &p->L->b;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    if (multiplies(p))
        return average_by_product(p, acc, count);
    ac_x half = ac_lb_splat(b, ac_lb_shr(b, count, ac_lb_i32(b, 1)), lanes), up = ac_lb_add(b, acc, half);
    if (p->x->dtype != AC_U8)
        up = ac_lb_select(b, ac_lb_gt(b, acc, ac_lb_like_int(b, acc, 0)), up, ac_lb_sub(b, acc, half));
    return ac_lb_div(b, up, ac_lb_splat(b, count, lanes));
}

/* The stored value; count: elements of the window (i32, one lane). */
static ac_x finish(const pool *p, ac_x acc, ac_x count)
{
    ac_lb *b = &p->L->b;
    const ac_act act = p->L->node->attrs.pool.act;
    const ac_dtype d = p->x->dtype;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    if (is_float(p)) {
        if (p->op != AC_OP_MAX_POOL_2D)
            acc = ac_lb_div(b, acc, ac_lb_splat(b, ac_lb_cast(b, count, AC_F32), lanes));
        return ac_lo_act(p->L, p->op == AC_OP_L2_POOL_2D ? ac_lb_sqrt(b, acc) : acc, act);
    }
    if (p->op == AC_OP_AVERAGE_POOL_2D)
        acc = average(p, acc, count);
    const bool whole = p->lo <= ac_dtype_min(d) && p->hi >= ac_dtype_max(d); /* an average is as large as an element */
    if (!whole || !p->L->target->firmware)
        acc = ac_lb_clamp(b, acc, ac_lb_like_int(b, acc, p->lo), ac_lb_like_int(b, acc, p->hi));
    return ac_lb_cast(b, acc, d);
}

/* `lanes` channels from c on at pixel at = {n, oy, ox}. */
static void window(const pool *p, const ac_x *at, ac_x c, int32_t lanes)
{
    ac_lb *b = &p->L->b;
    const ac_window *w = &p->win;
    ac_x ylo, yhi, xlo, xhi, acc = ac_lb_var(b, "acc", start(p, lanes));
    ac_slide_taps(b, &w->y, at[1], &ylo, &yhi);
    ac_slide_taps(b, &w->x, at[2], &xlo, &xhi);
    ac_x ky = ac_lb_for(b, "ky", ylo, yhi, 1, AC_MARK_SERIAL);
    ac_x iy = ac_slide_at(b, &w->y, at[1], ky);
    ac_x row = ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, at[0], ac_lb_i32(b, w->y.in)), iy), ac_lb_i32(b, w->x.in));
    ac_x kx = ac_lb_for(b, "kx", xlo, xhi, 1, AC_MARK_SERIAL);
    ac_x i = ac_lb_mul(b, ac_lb_add(b, row, ac_slide_at(b, &w->x, at[2], kx)), ac_lb_i32(b, w->ic));
    ac_lb_set(b, acc, take(p, ac_lb_get(b, acc), ac_lb_load(b, p->buf, ac_lb_add(b, i, c), lanes)));
    ac_lb_end(b);
    ac_lb_end(b);
    ac_x count = ac_lb_mul(b, ac_lb_sub(b, yhi, ylo), ac_lb_sub(b, xhi, xlo));
    ac_x idx[4] = {at[0], at[1], at[2], c};
    ac_gemm_store_lanes(p->L, finish(p, ac_lb_get(b, acc), count), c, lanes, idx);
}

/* A single window over a whole image, row by row: a running sum (or maximum) for each channel. */
static int accumulate(pool *p)
{
    ac_lower *L = p->L;
    ac_lb *b = &L->b;
    const ac_window *w = &p->win;
    ac_x ylo, yhi, xlo, xhi, zero = ac_lb_i32(b, 0), init = start(p, 1);
    const int32_t acc = ac_lo_scratch(L, "acc", ac_lb_dtype(b, init), w->oc);
    ac_x c = ac_lb_for_n(b, "c", w->oc);
    ac_lb_store(b, acc, c, init);
    ac_lb_end(b);
    ac_slide_taps(b, &w->y, zero, &ylo, &yhi);
    ac_slide_taps(b, &w->x, zero, &xlo, &xhi);
    ac_x iy = ac_slide_at(b, &w->y, zero, ac_lb_for(b, "ky", ylo, yhi, 1, AC_MARK_SERIAL));
    ac_x row = ac_lb_mul(b, iy, ac_lb_i32(b, w->x.in));
    ac_x ix = ac_slide_at(b, &w->x, zero, ac_lb_for(b, "kx", xlo, xhi, 1, AC_MARK_SERIAL));
    ac_x at = ac_lb_mul(b, ac_lb_add(b, row, ix), ac_lb_i32(b, w->ic));
    c = ac_lb_for_n(b, "c", w->oc);
    ac_lb_store(b, acc, c, take(p, ac_lb_load(b, acc, c, 1), ac_lb_load(b, p->buf, ac_lb_add(b, at, c), 1)));
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    c = ac_lb_for_n(b, "c", w->oc);
    const ac_x idx[4] = {zero, zero, zero, c}, count = ac_lb_mul(b, ac_lb_sub(b, yhi, ylo), ac_lb_sub(b, xhi, xlo));
    ac_lo_result(L, finish(p, ac_lb_load(b, acc, c, 1), count), idx, 1);
    ac_lb_end(b);
    return AC_OK;
}

enum { DEEP = 16, FOUR = 4 };

/* Processors with sums of sixteen products: averages of whole images are products with ones. */
static bool products_fit(const pool *p)
{
    const ac_window *w = &p->win;
    const ac_slide *y = &w->y, *x = &w->x;
    return p->L->target->mve && !p->L->variant && p->op == AC_OP_AVERAGE_POOL_2D && p->x->dtype == AC_I8 &&
           y->out * x->out == 1 && y->taps == y->in && x->taps == x->in && ac_slide_inside(y) && ac_slide_inside(x) &&
           y->in * x->in >= DEEP && w->ic % FOUR == 0 && w->ic <= AC_TILE_PITCH;
}

/* Four channels from c on of `pixels` pixels from element x on, sixteen pixels a step, to the slots of a line. */
static void turn_pixels(const pool *p, ac_tile t, ac_x x, int64_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0), all = ac_lb_i32(b, pixels);
    const ac_x first = ac_lb_for(b, "first", zero, all, DEEP, AC_MARK_SERIAL);
    ac_x n = ac_lb_i32(b, DEEP);
    if (pixels % DEEP)
        n = ac_lb_min(b, n, ac_lb_sub(b, all, first));
    ac_lb_tile(b, t, ac_lb_add(b, x, ac_lb_mul(b, first, ac_lb_i32(b, t.stride))),
               ac_lb_mul(b, first, ac_lb_i32(b, FOUR)), n);
    ac_lb_end(b);
}

static int products(const pool *p)
{
    ac_lower *L = p->L;
    ac_lb *b = &L->b;
    const ac_window *w = &p->win;
    const int64_t pixels = w->y.in * w->x.in, steps = (pixels + DEEP - 1) / DEEP;
    int8_t *ones = AC_NEW_N(L->region, int8_t, steps * DEEP);
    memset(ones, 1, (size_t)pixels);
    const int32_t line = ac_lo_line(L, "line", AC_I8, steps * DEEP * FOUR);
    const int32_t one = ac_lo_table(L, "ones", AC_I8, steps * DEEP, ones), acc = ac_lo_local(L, "acc", AC_I32, FOUR);
    const ac_x zero = ac_lb_i32(b, 0), count = ac_lb_i32(b, pixels);
    const int8_t none = 0;
    const ac_tile fill = {.form = AC_TILE_SPREAD,
                          .rows = 1,
                          .channels = 1,
                          .x = ac_lo_table(L, "none", AC_I8, 1, &none),
                          .acc = line,
                          .shift = 1};
    ac_lb_tile(b, fill, zero, zero, ac_lb_i32(b, steps * DEEP * FOUR)); /* all of the last step is read */
    const ac_x n = ac_lb_for_n(b, "n", w->n);
    const ac_x c = ac_lb_for(b, "c", zero, ac_lb_i32(b, w->ic), FOUR, AC_MARK_SERIAL);
    const ac_tile spread = {.form = AC_TILE_SPREAD,
                            .rows = 1,
                            .channels = FOUR,
                            .x = p->buf,
                            .acc = line,
                            .pitch = DEEP,
                            .shift = 1,
                            .depth = b->fn->buf.item[p->buf].align % FOUR ? 0 : FOUR,
                            .stride = (int32_t)w->ic};
    turn_pixels(p, spread, ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, pixels * w->ic)), c), pixels);
    const ac_tile sum = {.form = AC_TILE_BYTES, .rows = 1, .channels = FOUR, .x = one, .w = line, .acc = acc};
    ac_lb_tile(b, sum, zero, zero, ac_lb_i32(b, steps));
    const ac_x l = ac_lb_for(b, "l", zero, ac_lb_i32(b, FOUR), 1, AC_MARK_SERIAL), one_bit = ac_lb_i32(b, 1);
    const ac_x slot = ac_lb_add(b, ac_lb_shl(b, ac_lb_and(b, l, one_bit), one_bit), ac_lb_shr(b, l, one_bit));
    const ac_x most = ac_lb_i32(b, pixels * 128); /* known, so that rounding does not overflow */
    const ac_x total = ac_lb_clamp(b, ac_lb_load(b, acc, slot, 1), ac_lb_neg(b, most), most);
    const ac_x idx[4] = {n, zero, zero, ac_lb_add(b, c, l)};
    ac_lo_result(L, finish(p, total, count), idx, 1);
    for (int32_t k = 0; k < 3; k++)
        ac_lb_end(b);
    return AC_OK;
}

/* GPUs: a warp for each result, if windows are large, inside of the input, and few. */
static bool warps_fit(const pool *p)
{
    enum { FEW = 1 << 12, LEAST = 32, MOST = 512 };
    const ac_window *w = &p->win;
    const int64_t taps = w->y.taps * w->x.taps;
    return p->L->target->isa == AC_ISA_CUDA && !p->L->variant && !is_float(p) && taps >= LEAST && taps <= MOST &&
           w->n * w->y.out * w->x.out * w->oc <= FEW && ac_slide_inside(&w->y) && ac_slide_inside(&w->x);
}

/* The index of result `item` of all: image, row, column, channel. */
static void index_of(const pool *p, ac_x item, ac_x at[4])
{
    ac_lb *b = &p->L->b;
    const ac_window *w = &p->win;
    at[3] = ac_lb_mod(b, item, ac_lb_i32(b, w->oc));
    const ac_x pixel = ac_lb_div(b, item, ac_lb_i32(b, w->oc)), line = ac_lb_div(b, pixel, ac_lb_i32(b, w->x.out));
    at[0] = ac_lb_div(b, line, ac_lb_i32(b, w->y.out));
    at[1] = ac_lb_mod(b, line, ac_lb_i32(b, w->y.out));
    at[2] = ac_lb_mod(b, pixel, ac_lb_i32(b, w->x.out));
}

static int warps(const pool *p)
{
    ac_lower *L = p->L;
    ac_lb *b = &L->b;
    const ac_window *w = &p->win;
    const int64_t taps = w->y.taps * w->x.taps;
    const bool max = p->op == AC_OP_MAX_POOL_2D;
    ac_gpu_warps all;
    ac_gpu_warps_open(&all, L, w->n * w->y.out * w->x.out * w->oc, taps, AC_I32);
    ac_gpu_warps_phase(&all);
    ac_x at[4];
    index_of(p, all.item, at);
    ac_x acc = ac_lb_i32(b, max ? ac_dtype_min(p->x->dtype) : 0);
    for (int64_t from = 0; from < taps; from += GPU_LANES) {
        const ac_x k = ac_lb_add(b, all.lane, ac_lb_i32(b, from)), tap = ac_lb_min(b, k, ac_lb_i32(b, taps - 1));
        const ac_x iy = ac_slide_at(b, &w->y, at[1], ac_lb_div(b, tap, ac_lb_i32(b, w->x.taps))),
                   ix = ac_slide_at(b, &w->x, at[2], ac_lb_mod(b, tap, ac_lb_i32(b, w->x.taps)));
        const ac_x row = ac_lb_add(b, ac_lb_mul(b, at[0], ac_lb_i32(b, w->y.in)), iy),
                   i = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, w->x.in)), ix);
        ac_x v = ac_lb_load(b, p->buf, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, w->ic)), at[3]), 1);
        v = ac_lb_cast(b, v, AC_I32);
        if (!max)
            v = ac_lb_select(b, ac_lb_lt(b, k, ac_lb_i32(b, taps)), v, ac_lb_i32(b, 0));
        acc = max ? ac_lb_max(b, acc, v) : ac_lb_add(b, acc, v);
    }
    ac_gpu_warps_put(&all, acc);
    ac_gpu_warps_end(&all);
    ac_gpu_warps_reduce(&all, max ? ac_lb_max : ac_lb_add_wrap);
    ac_gpu_warps_phase(&all);
    index_of(p, all.item, at);
    ac_lb_if(b, ac_lb_and(b, all.live, ac_lb_eq(b, all.lane, ac_lb_i32(b, 0))));
    const int64_t most = max ? 1 << 16 : taps << 16; /* of a sum of words: known, so that no sum overflows */
    const ac_x sum = ac_lb_clamp(b, ac_gpu_warps_get(&all), ac_lb_i32(b, -most), ac_lb_i32(b, most));
    ac_lo_result(L, finish(p, sum, ac_lb_i32(b, taps)), at, 1);
    ac_lb_end(b);
    ac_gpu_warps_end(&all);
    ac_gpu_warps_close(&all);
    return AC_OK;
}

/* Processors with many registers and no vectors: SCALARS channels share what a loop costs. */
static int schedule(pool *p)
{
    enum { SCALARS = 4 };
    ac_lower *L = p->L;
    ac_lb *b = &L->b;
    /* max of small integers needs no wider lanes, but an epilogue does */
    const bool small = p->op == AC_OP_MAX_POOL_2D && !L->node->n_fused;
    ac_lane_span span[AC_MAX_SPANS];
    int32_t lanes = ac_target_lanes(L->target, small ? p->x->dtype : AC_F32);
    if (L->target->dsp && lanes == 1 && !is_float(p) && p->win.oc % SCALARS == 0)
        lanes = SCALARS;
    const int32_t spans = ac_spans(p->win.oc, lanes, span);
    ac_x n = ac_lb_for_each(b, "n", p->win.n), oy = ac_lb_for_each(b, "oy", p->win.y.out),
         ox = ac_lb_for_each(b, "ox", p->win.x.out);
    const ac_x at[3] = {n, oy, ox};
    for (int32_t s = 0; s < spans; s++) {
        ac_x c =
            ac_lb_for(b, "c", ac_lb_i32(b, span[s].begin), ac_lb_i32(b, span[s].end), span[s].lanes, AC_MARK_PARALLEL);
        window(p, at, c, span[s].lanes);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

enum { MOST_LOADS = 25, QUAD = 4 };

/* GPUs: the largest of few elements, by threads that load all of them before they compare. Outside of x the nearest
 * element is taken again, which is in the window as well: the result is the same, bit for bit. */
static bool loads_all(const pool *p)
{
    const ac_window *w = &p->win;
    return p->L->target->isa == AC_ISA_CUDA && p->op == AC_OP_MAX_POOL_2D && w->y.dil == 1 && w->x.dil == 1 &&
           w->y.taps * w->x.taps <= MOST_LOADS;
}

static int load_all(const pool *p)
{
    ac_lower *L = p->L;
    ac_lb *b = &L->b;
    const ac_window *w = &p->win;
    const bool four = is_float(p) && !p->x->narrowed && w->ic % QUAD == 0 && ac_lo_align(L, p->x) >= QUAD * 4 &&
                      !ac_lo_by_table(L) && !L->node->n_fused;
    const int32_t lanes = four ? QUAD : 1;
    const int64_t items = w->n * w->y.out * w->x.out * w->oc / lanes;
    ac_x at = ac_lb_for_each(b, "i", items), v[MOST_LOADS];
    const ac_x c = ac_lb_mul(b, ac_lb_mod(b, at, ac_lb_i32(b, w->oc / lanes)), ac_lb_i32(b, lanes));
    at = ac_lb_div(b, at, ac_lb_i32(b, w->oc / lanes));
    const ac_x ox = ac_lb_mod(b, at, ac_lb_i32(b, w->x.out)), line = ac_lb_div(b, at, ac_lb_i32(b, w->x.out)),
               oy = ac_lb_mod(b, line, ac_lb_i32(b, w->y.out)), n = ac_lb_div(b, line, ac_lb_i32(b, w->y.out));
    int32_t loads = 0;
    for (int64_t ky = 0; ky < w->y.taps; ky++)
        for (int64_t kx = 0; kx < w->x.taps; kx++) {
            const ac_x iy = ac_lb_clamp(b, ac_slide_at(b, &w->y, oy, ac_lb_i32(b, ky)), ac_lb_i32(b, 0),
                                        ac_lb_i32(b, w->y.in - 1)),
                       ix = ac_lb_clamp(b, ac_slide_at(b, &w->x, ox, ac_lb_i32(b, kx)), ac_lb_i32(b, 0),
                                        ac_lb_i32(b, w->x.in - 1));
            const ac_x row = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, w->y.in)), iy),
                       pixel = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, w->x.in)), ix);
            v[loads++] = ac_lb_load_flags(b, p->buf, ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, w->ic)), c), lanes,
                                          four ? AC_F_ALIGNED : 0);
        }
    ac_x acc = start(p, lanes);
    for (int32_t i = 0; i < loads; i++)
        acc = take(p, acc, v[i]);
    const ac_x idx[4] = {n, oy, ox, c}, begin = b->fn->code.n;
    ac_lo_result(L, finish(p, acc, ac_lb_i32(b, 1)), idx, lanes);
    if (four)
        ac_gpu_align_quads(b, begin);
    ac_lb_end(b);
    return AC_OK;
}

/* True if any window is empty; the reference kernel rejects those. */
static bool empty(const ac_slide *s)
{
    return s->pad >= s->taps || (s->out - 1) * s->stride - s->pad >= s->in;
}

int ac_lo_pool(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *y = n->out[0];
    const ac_dtype d = x->dtype;
    if (x->rank != 4 || y->rank != 4)
        return ac_lower_refuse(L, "input is %s: supported are 4 dimensions [N,H,W,C]", ac_shape_str(L->cx, x));
    if (d != y->dtype || (d != AC_F32 && (n->op == AC_OP_L2_POOL_2D || (d != AC_I8 && d != AC_U8 && d != AC_I16))))
        return ac_lower_refuse(L, "input %s, output %s: supported are f32%s on both sides", ac_dtype_name(d),
                               ac_dtype_name(y->dtype), n->op == AC_OP_L2_POOL_2D ? "" : ", i8, u8 and i16");
    if (d != AC_F32 && n->attrs.pool.act == AC_ACT_TANH)
        return ac_lower_refuse(
            L, "activation tanh on quantised values: only none, relu, relu6 and relu_n1_to_1 are supported");
    pool p = {
        .L = L, .x = x, .win = ac_window_pool(n, x), .op = n->op, .keep_nan = n->attrs.pool.keep_nan && d == AC_F32};
    if (empty(&p.win.y) || empty(&p.win.x))
        return ac_lower_refuse(L, "a pooling window is entirely in the padding");
    if (d != AC_F32)
        ac_quantized_act_range(n->attrs.pool.act, y, &p.lo, &p.hi);
    p.buf = ac_lo_operand(L, x);
    if (L->variant & AC_VARIANT_ROWS && p.win.n * p.win.y.out * p.win.x.out == 1)
        return accumulate(&p);
    if (products_fit(&p))
        return products(&p);
    if (warps_fit(&p))
        return warps(&p);
    return loads_all(&p) ? load_all(&p) : schedule(&p);
}
