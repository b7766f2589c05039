/* softmax.c - softmax and log_softmax along the last dimension.
 *
 *     f32, f64      e^(beta (x - max)) / sum; x - max - log(sum). Within a few ulp of the reference (order of the sum)
 *     i8, u8        -> the same or i16: exp in Q5.26 -> Q0.31 and the reciprocal of the sum in fixed point, bit for bit
 *                   reference/softmax.h and log_softmax.h. exp depends on max - x alone: a table of 256
 *     i16           exp and 1 / (1 + x) by 513-sample tables (SoftmaxInt16), bit for bit
 *
 * Scratch: one row of the type for float softmax. */
#include "ir/ops/fixed.h"
#include "ir/ops/gpu_warp.h"
#include "ir/ops/map.h"
#include "ir/ops/rows.h"
#include "ir/ops/table.h"

#include <math.h>

typedef struct row { /* the row being worked on */
    lo_rows r;
    int32_t e; /* scratch row; -1: none */
    float beta;
    ac_x max, sum; /* variables while they are gathered, then values */
    ac_x wide;     /* vector of maxima */
} row;

/* Vectors are gathered in a vector variable, the rest in the scalar one: max and sum of a row. */
static void max_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    const ac_x v = lo_rows_load(L, &r->r, i, lanes);
    const ac_x one = lanes > 1 ? lb_maxlanes(b, v) : v;
    lb_set(b, r->max, lb_max(b, one, lb_get(b, r->max)));
}

static void wide_max_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    lb_set(&L->b, r->wide, lb_max(&L->b, lo_rows_load(L, &r->r, i, lanes), lb_get(&L->b, r->wide)));
}

/* Largest element of the row; `lanes` as for the following steps. */
static ac_x row_max(ac_lower *L, row *r, double least, int32_t lanes)
{
    ac_lb *b = &L->b;
    const ac_dtype d = r->r.in->dtype;
    const ac_x first = ac_dtype_is_float(d) ? lb_num(b, d, least) : lb_int(b, d, (int64_t)least);
    r->max = lb_var(b, "max", first);
    if (lanes > 1 && r->r.depth >= 2 * lanes) {
        const int64_t whole = r->r.depth - r->r.depth % lanes;
        r->wide = lb_var(b, "wide", lb_splat(b, first, lanes));
        lo_strip(L, "c", whole, lanes, wide_max_step, r);
        lb_set(b, r->max, lb_maxlanes(b, lb_get(b, r->wide)));
        if (whole < r->r.depth) {
            const ac_x c = lb_for(b, "c", lb_i32(b, whole), lb_i32(b, r->r.depth), 1, AC_MARK_SERIAL);
            max_step(L, r, c, 1);
            lb_end(b);
        }
    } else {
        lo_strip(L, "c", r->r.depth, lanes, max_step, r);
    }
    return lb_get(b, r->max);
}

static ac_x f32_exp(ac_lower *L, const row *r, ac_x i, int32_t lanes)
{
    ac_lb *b = &L->b;
    ac_x v = lb_sub(b, lo_rows_load(L, &r->r, i, lanes), lb_splat(b, r->max, lanes));
    if (r->beta < 1 || r->beta > 1)
        v = lb_mul(b, v, lb_like(b, v, (double)r->beta));
    return lo_exp(L, v);
}

static void exp_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    const ac_x v = f32_exp(L, r, i, lanes);
    if (r->e >= 0)
        lb_store(b, r->e, i, v);
    ac_x sum = lb_get(b, r->sum);
    if (lanes == 1) {
        sum = lb_add(b, sum, v);
    } else if (L->exact) {
        for (int32_t l = 0; l < lanes; l++)
            sum = lb_add(b, sum, lb_lane(b, v, l));
    } else {
        sum = lb_add(b, sum, lb_sumlanes(b, v));
    }
    lb_set(b, r->sum, sum);
}

static void divide_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    lo_rows_store(L, &r->r, i, lb_div(&L->b, lb_load(&L->b, r->e, i, lanes), lb_splat(&L->b, r->sum, lanes)), lanes);
}

static void log_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    const ac_x v = lb_sub(b, lo_rows_load(L, &r->r, i, lanes), lb_splat(b, r->max, lanes));
    lo_rows_store(L, &r->r, i, lb_sub(b, v, lb_splat(b, r->sum, lanes)), lanes);
}

/* beta (x - max) of element c. */
static ac_x shifted(ac_lower *L, const row *r, ac_x c, ac_x max)
{
    ac_lb *b = &L->b;
    const ac_x v = lb_sub(b, lo_rows_load(L, &r->r, c, 1), max);
    return r->beta < 1 || r->beta > 1 ? lb_mul(b, v, lb_like(b, v, (double)r->beta)) : v;
}

/* GPUs: a warp for each row. An element's exponential is computed for the sum, and again for the result. */
static int warp_rows(ac_lower *L, row *r, bool log, int64_t rows)
{
    ac_lb *b = &L->b;
    const ac_x depth = lb_i32(b, r->r.depth);
    gpu_warps w;
    r->r.x = lo_operand(L, r->r.in);
    const int32_t max_buf = lo_gpu_local(L, "max", AC_F32, (int64_t)4 * GPU_LANES, AC_WHERE_THREAD);
    gpu_warps_open(&w, L, rows, AC_F32);
    gpu_warps_phase(&w);
    r->r.base = lb_mul(b, w.item, depth);
    ac_x v = lb_var(b, "max", lb_f32(b, -(double)3.402823466e38F));
    ac_x c = lb_for(b, "c", w.lane, depth, GPU_LANES, AC_MARK_SERIAL);
    lb_set(b, v, lb_max(b, lo_rows_load(L, &r->r, c, 1), lb_get(b, v)));
    lb_end(b);
    gpu_warps_put(&w, lb_get(b, v));
    gpu_warps_end(&w);
    gpu_warps_reduce(&w, lb_max);
    gpu_warps_phase(&w);
    r->r.base = lb_mul(b, w.item, depth);
    ac_x max = gpu_warps_get(&w);
    lb_store(b, max_buf, w.t, max);
    v = lb_var(b, "sum", lb_f32(b, 0));
    c = lb_for(b, "c", w.lane, depth, GPU_LANES, AC_MARK_SERIAL);
    lb_set(b, v, lb_add(b, lb_get(b, v), lo_exp(L, shifted(L, r, c, max))));
    lb_end(b);
    gpu_warps_put(&w, lb_get(b, v));
    gpu_warps_end(&w);
    gpu_warps_reduce(&w, lb_add);
    gpu_warps_phase(&w);
    r->r.base = lb_mul(b, w.item, depth);
    ac_x at = w.item;
    for (int32_t d = r->r.in->rank - 2; d >= 0; d--) {
        r->r.idx[d] = d ? lb_mod(b, at, lb_i32(b, r->r.in->dim[d])) : at;
        at = lb_div(b, at, lb_i32(b, r->r.in->dim[d]));
    }
    lb_if(b, w.live);
    const ac_x sum = log ? lo_log(L, gpu_warps_get(&w)) : gpu_warps_get(&w);
    max = lb_load(b, max_buf, w.t, 1);
    c = lb_for(b, "c", w.lane, depth, GPU_LANES, AC_MARK_SERIAL);
    v = shifted(L, r, c, max);
    lo_rows_store(L, &r->r, c, log ? lb_sub(b, v, sum) : lb_div(b, lo_exp(L, v), sum), 1);
    lb_end(b);
    lb_end(b);
    gpu_warps_end(&w);
    gpu_warps_close(&w);
    return AC_OK;
}

static int float_rows(ac_lower *L, row *r, bool log)
{
    const int64_t rows = ac_tensor_count(r->r.in) / r->r.depth;
    if (L->target->isa == AC_ISA_CUDA && !L->exact && r->r.in->dtype == AC_F32 && r->r.depth >= GPU_LANES)
        return warp_rows(L, r, log, rows);
    ac_lb *b = &L->b;
    const ac_dtype d = r->r.in->dtype;
    const int32_t lanes = lo_max_lanes(L, d);
    r->e = log ? -1 : lo_scratch(L, "e", d, r->r.depth);
    lo_rows_open(L, &r->r);
    r->max = row_max(L, r, d == AC_F64 ? -1.7976931348623157e308 : -(double)3.402823466e38F, lanes);
    r->sum = lb_var(b, "sum", lb_num(b, d, 0));
    lo_strip(L, "c", r->r.depth, lanes, exp_step, r);
    r->sum = lb_get(b, r->sum);
    if (log)
        r->sum = lo_log(L, r->sum);
    lo_strip(L, "c", r->r.depth, lanes, log ? log_step : divide_step, r);
    lo_rows_close(L, &r->r);
    return AC_OK;
}

/* e^-(d scale beta) for d = max - x, 0..255; differences too large for Q5.26 count as 0. */
static int32_t exp_table_8(ac_lower *L, const row *r, ac_multiplier *q, int32_t *diff_min)
{
    double real = (double)r->beta * (double)ac_scale(r->r.in) * (double)(1 << 26);
    real = real < 2147483647.0 ? real : 2147483647.0;
    *q = ac_quantize_multiplier(real);
    *diff_min = -(int32_t)floor(31.0 * (double)(1 << 26) / (double)((int64_t)1 << q->shift));
    int32_t table[256];
    for (int32_t d = 0; d < 256; d++)
        table[d] = -d >= *diff_min ? fx_exp_q5(fx_requant(-d, *q)) : 0;
    return lo_table(L, "exp", AC_I32, 256, table);
}

/* Sum of the row's exponentials in Q12.19; r->max is set. */
static ac_x sum_8(ac_lower *L, row *r, int32_t table)
{
    ac_lb *b = &L->b;
    const ac_x sum = lb_var(b, "sum", lb_i32(b, 0));
    const ac_x c = lb_for_n(b, "c", r->r.depth);
    const ac_x d = lb_sub(b, r->max, lb_cast(b, lo_rows_load(L, &r->r, c, 1), AC_I32));
    const ac_x e = lb_load(b, table, d, 1);
    const ac_x q12 =
        lb_shr(b, lb_add(b, lb_shr(b, e, lb_i32(b, 11)), lb_i32(b, 1)), lb_i32(b, 1)); /* nearest, e >= 0 */
    lb_set(b, sum, lb_add_wrap(b, lb_get(b, sum), q12));
    lb_end(b);
    return lb_get(b, sum);
}

static int softmax_8(ac_lower *L, row *r)
{
    ac_lb *b = &L->b;
    ac_multiplier q;
    int32_t diff_min;
    const int32_t table = exp_table_8(L, r, &q, &diff_min);
    const int32_t bits = ac_dtype_bits(r->r.out->dtype);
    const int64_t lo = ac_dtype_min(r->r.out->dtype), hi = ac_dtype_max(r->r.out->dtype);
    lo_rows_open(L, &r->r);
    r->max = lb_cast(b, row_max(L, r, (double)ac_dtype_min(r->r.in->dtype), 1), AC_I32);
    const ac_x sum = sum_8(L, r, table);
    ac_x log;
    const ac_x inverse = lo_fx_reciprocal(L, sum, &log);
    const ac_x down = lb_add(b, log, lb_i32(b, 12 - bits)); /* bits over unit: log - 19; then 31 - bits */
    const ac_x c = lb_for_n(b, "c", r->r.depth);
    const ac_x d = lb_sub(b, r->max, lb_cast(b, lo_rows_load(L, &r->r, c, 1), AC_I32));
    const ac_x p = lo_fx_mul(L, inverse, lb_load(b, table, d, 1));
    ac_x v = lb_add(b, lo_fx_round_shift_v(L, p, down), lb_i32(b, lo));
    v = lb_clamp(b, v, lb_i32(b, lo), lb_i32(b, hi));
    lo_rows_store(L, &r->r, c, lb_cast(b, v, r->r.out->dtype), 1);
    lb_end(b);
    lo_rows_close(L, &r->r);
    return AC_OK;
}

static int log_softmax_8(ac_lower *L, row *r)
{
    ac_lb *b = &L->b;
    ac_multiplier q;
    int32_t diff_min;
    const int32_t table = exp_table_8(L, r, &q, &diff_min);
    const int64_t lo = ac_dtype_min(r->r.out->dtype), hi = ac_dtype_max(r->r.out->dtype);
    const ac_multiplier back = ac_quantize_multiplier((double)((int64_t)1 << (31 - q.shift)) / (double)q.m);
    lo_rows_open(L, &r->r);
    r->max = lb_cast(b, row_max(L, r, (double)ac_dtype_min(r->r.in->dtype), 1), AC_I32);
    const ac_x log = lo_fx_log_q12(L, sum_8(L, r, table));
    const ac_x lowest = lo_requant(L, lb_add_wrap(b, log, lb_i32(b, INT32_MIN)), back);
    const ac_x least = lb_max(b, lb_i32(b, (int64_t)diff_min - 1), lowest);
    const ac_x c = lb_for_n(b, "c", r->r.depth);
    const ac_x d = lb_sub(b, lb_cast(b, lo_rows_load(L, &r->r, c, 1), AC_I32), r->max);
    ac_x v = lo_fx_round_shift(L, lb_sub_wrap(b, lo_requant(L, d, q), log), 22);
    v = lb_clamp(b, lb_add(b, v, lb_i32(b, hi)), lb_i32(b, lo), lb_i32(b, hi));
    v = lb_select(b, lb_gt(b, d, least), v, lb_i32(b, lo));
    lo_rows_store(L, &r->r, c, lb_cast(b, v, r->r.out->dtype), 1);
    lb_end(b);
    lo_rows_close(L, &r->r);
    return AC_OK;
}

static float curve_exp(float x, float floor)
{
    (void)floor;
    return (float)exp((double)x);
}
static float curve_inverse(float x, float floor)
{
    (void)floor;
    return 1.0f / (1.0f + x);
}

/* e^((x - max) scale beta) in Q0.15; [-65535, 0] of the table's input is [-10, 0]. */
static ac_x exp_16(ac_lower *L, const row *r, int32_t table, ac_multiplier q, ac_x c)
{
    ac_lb *b = &L->b;
    const ac_x d = lb_sub(b, lb_cast(b, lo_rows_load(L, &r->r, c, 1), AC_I32), r->max);
    const ac_x scaled = lb_add_wrap(b, lo_requant(L, d, q), lb_i32(b, 32767));
    return lo_table_16(L, table, lb_clamp(b, scaled, lb_i32(b, -32768), lb_i32(b, 32767)));
}

static int softmax_16(ac_lower *L, row *r)
{
    ac_lb *b = &L->b;
    int16_t e[513], inverse[513];
    ac_table_16(e, 10.0f / 65535, 32767, 2.0f / 65535, 0, curve_exp);
    ac_table_16(inverse, 1.0f / 65535, -32768, 2.0f / 65535, 0, curve_inverse);
    const int32_t exp_buf = lo_table(L, "exp", AC_I16, 513, e);
    const int32_t inverse_buf = lo_table(L, "inverse", AC_I16, 513, inverse);
    const ac_multiplier q = ac_quantize_multiplier((double)ac_scale(r->r.in) * (double)r->beta / (10.0 / 65535.0));
    lo_rows_open(L, &r->r);
    r->max = lb_cast(b, row_max(L, r, -32768, 1), AC_I32);
    const ac_x sum_var = lb_var(b, "sum", lb_i32(b, 0));
    ac_x c = lb_for_n(b, "c", r->r.depth);
    lb_set(b, sum_var, lb_add(b, lb_get(b, sum_var), exp_16(L, r, exp_buf, q, c)));
    lb_end(b);
    const ac_x sum = lb_max(b, lb_get(b, sum_var), lb_i32(b, 1));
    const ac_x log = lo_fx_floor_log2(L, sum);
    /* sum = (1 + f) * 2^log; f in 16 bits, rounded, recentred for the table. */
    ac_x f = lb_shl(b, lb_cast(b, sum, AC_I64), lb_cast(b, lb_sub(b, lb_i32(b, 30), log), AC_I64));
    f = lb_shr(b, lb_add(b, f, lb_int(b, AC_I64, 1 << 13)), lb_int(b, AC_I64, 14));
    f = lb_sub(b, lb_cast(b, f, AC_I32), lb_i32(b, (1 << 15) + (1 << 16)));
    const ac_x factor = lo_table_16(L, inverse_buf, lb_clamp(b, f, lb_i32(b, -32768), lb_i32(b, 32767)));
    const ac_x log64 = lb_cast(b, log, AC_I64), one = lb_int(b, AC_I64, 1);
    const ac_x half = lb_shr(b, lb_shl(b, one, log64), one);
    c = lb_for_n(b, "c", r->r.depth);
    const ac_x p = lb_mul(b, lb_cast(b, exp_16(L, r, exp_buf, q, c), AC_I64), lb_cast(b, factor, AC_I64));
    const ac_x v = lb_cast(b, lb_shr(b, lb_add(b, p, half), log64), AC_I32);
    lo_rows_store(L, &r->r, c, lb_cast(b, lb_clamp(b, v, lb_i32(b, 0), lb_i32(b, 32767)), AC_I16), 1);
    lb_end(b);
    lo_rows_close(L, &r->r);
    return AC_OK;
}

static int lower(ac_lower *L, bool log, float beta)
{
    ac_tensor *in = L->node->in[0], *out = L->node->out[0];
    row r = {.r = {.in = in, .out = out, .depth = in->rank ? in->dim[in->rank - 1] : 1}, .beta = beta, .e = -1};
    lo_result_buf(L);
    if (ac_tensor_count(in) == 0)
        return AC_OK;
    if (in->dtype == out->dtype && mp_real(in))
        return float_rows(L, &r, log);
    const bool quantised = mp_quantised(in) && mp_quantised(out);
    if (quantised && (in->dtype == AC_I8 || in->dtype == AC_U8) &&
        (out->dtype == in->dtype || (!log && out->dtype == AC_I16)))
        return log ? log_softmax_8(L, &r) : softmax_8(L, &r);
    if (quantised && !log && in->dtype == AC_I16 && out->dtype == AC_I16)
        return softmax_16(L, &r);
    mp_refuse(L, L->node);
    return AC_FAIL;
}

int lo_softmax(ac_lower *L)
{
    return lower(L, false, L->node->attrs.softmax.beta);
}
int lo_log_softmax(ac_lower *L)
{
    return lower(L, true, 1);
}
