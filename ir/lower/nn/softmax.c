/* softmax.c - lowers softmax and log_softmax along the last dimension.
 *
 *     f32, f64      e^(beta (x - max)) / sum; x - max - log(sum). Within a few ulp of the reference (order of the sum).
 *                   In vectors; the last vector of a row ends with the row and may overlap the one before it
 *     i8, u8        -> the same or i16: exp in Q5.26 -> Q0.31 and the reciprocal of the sum in fixed point, bit for bit
 *                   reference/softmax.h and log_softmax.h. exp depends on max - x alone: a table of 256
 *     i16           exp and 1 / (1 + x) by 513-sample tables (SoftmaxInt16), bit for bit
 *
 * Scratch: one row of the type for float softmax. */
#include "ir/lower/entries.h"
#include "ir/lower/fixed_point.h"
#include "ir/lower/gpu/warp.h"
#include "ir/lower/lookup.h"
#include "ir/lower/map/map.h"
#include "ir/lower/rows.h"

#include <math.h>

/* The row being worked on */
typedef struct row {
    ac_lo_rows r;
    int32_t e; /* scratch row; -1: none */
    float beta;
    bool log;
    ac_x max, sum; /* variables while they are gathered, then values */
    ac_x wide;     /* vector of maxima, then of sums */
    int32_t fresh; /* last lanes of a vector that no previous vector contains */
    /* fixed point */
    int32_t exp_buf, inverse_buf; /* tables */
    ac_multiplier q;
    int32_t diff_min, most_diff; /* the table ends with most_diff */
    ac_x inverse, down; /* 8 bits: reciprocal of the sum, and how far products are shifted; log: the sum's logarithm,
                           least difference */
    int32_t kept;       /* warps: the values of a lane's elements, in registers; -1: none */
} row;

/* A number system, element by element: the operations of both fixed-point schedules, and of the warps, on a row. */
typedef struct steps {
    ac_dtype d;   /* of max, values and sum */
    double least; /* below every element */
    ac_x (*value)(ac_lower *L, const row *r,
                  ac_x x); /* of an element, from which its term and its result are; max is known */
    ac_x (*term)(ac_lower *L, const row *r, ac_x v);   /* of the sum, from the value */
    void (*prepare)(ac_lower *L, row *r);              /* values derived from the sum that results need, once for a
                                                        * row */
    ac_x (*result)(ac_lower *L, const row *r, ac_x v); /* from the value, in the type of the output */
} steps;

/* Reduces a row to its max or sum: vectors in a vector variable, the remainder in a scalar one. */
static void max_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    const ac_x v = ac_lo_rows_load(L, &r->r, i, lanes);
    const ac_x one = lanes > 1 ? ac_lb_maxlanes(b, v) : v;
    ac_lb_set(b, r->max, ac_lb_max(b, one, ac_lb_get(b, r->max)));
}

static void wide_max_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb_set(&L->b, r->wide, ac_lb_max(&L->b, ac_lo_rows_load(L, &r->r, i, lanes), ac_lb_get(&L->b, r->wide)));
}

/* All of a row of at least `lanes` elements by vectors. The last one may overlap the one before it. */
static void by_vectors(ac_lower *L, row *r, int32_t lanes, ac_lo_step *f)
{
    const int64_t whole = r->r.depth - r->r.depth % lanes;
    r->fresh = lanes;
    ac_lo_strip(L, "c", whole, lanes, f, r);
    r->fresh = (int32_t)(r->r.depth - whole);
    if (r->fresh)
        f(L, r, ac_lb_i32(&L->b, r->r.depth - lanes), lanes);
}

/* Largest element of the row; `lanes` as for the following steps. */
static ac_x row_max(ac_lower *L, row *r, double least, int32_t lanes)
{
    ac_lb *b = &L->b;
    const ac_dtype d = r->r.in->dtype;
    const ac_x first = ac_dtype_is_float(d) ? ac_lb_num(b, d, least) : ac_lb_int(b, d, (int64_t)least);
    if (lanes > 1 && r->r.depth >= lanes) {
        r->wide = ac_lb_var(b, "wide", ac_lb_splat(b, first, lanes));
        by_vectors(L, r, lanes, wide_max_step);
        return ac_lb_maxlanes(b, ac_lb_get(b, r->wide));
    }
    r->max = ac_lb_var(b, "max", first);
    ac_lo_strip(L, "c", r->r.depth, lanes, max_step, r);
    return ac_lb_get(b, r->max);
}

static ac_x f32_exp(ac_lower *L, const row *r, ac_x i, int32_t lanes)
{
    ac_lb *b = &L->b;
    ac_x v = ac_lb_sub(b, ac_lo_rows_load(L, &r->r, i, lanes), ac_lb_splat(b, r->max, lanes));
    if (r->beta < 1 || r->beta > 1)
        v = ac_lb_mul(b, v, ac_lb_like(b, v, (double)r->beta));
    return r->beta < 0 ? ac_lo_exp(L, v) : ac_lo_exp_falling(L, v);
}

static void exp_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    const ac_x v = f32_exp(L, r, i, lanes);
    if (r->e >= 0)
        ac_lb_store(b, r->e, i, v);
    ac_x sum = ac_lb_get(b, r->sum);
    if (lanes == 1) {
        sum = ac_lb_add(b, sum, v);
    } else if (L->exact) {
        for (int32_t l = 0; l < lanes; l++)
            sum = ac_lb_add(b, sum, ac_lb_lane(b, v, l));
    } else {
        sum = ac_lb_add(b, sum, ac_lb_sumlanes(b, v));
    }
    ac_lb_set(b, r->sum, sum);
}

/* v in fresh lanes, 0 in lanes that the sum already includes. */
static ac_x fresh_of(ac_lower *L, const row *r, ac_x v, int32_t lanes)
{
    int64_t is_fresh[AC_MAX_LANES];
    for (int32_t l = 0; l < lanes; l++)
        is_fresh[l] = l >= lanes - r->fresh;
    return ac_lb_select(&L->b, ac_lb_constv(&L->b, AC_BOOL, is_fresh, lanes), v, ac_lb_like(&L->b, v, 0));
}

static void wide_exp_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    ac_x v = f32_exp(L, r, i, lanes);
    if (r->e >= 0)
        ac_lb_store(b, r->e, i, v);
    if (r->fresh < lanes)
        v = fresh_of(L, r, v, lanes);
    ac_lb_set(b, r->wide, ac_lb_add(b, ac_lb_get(b, r->wide), v));
}

/* Stores the row's exponentials in the scratch row and returns their sum. */
static ac_x row_sum(ac_lower *L, row *r, int32_t lanes)
{
    ac_lb *b = &L->b;
    const ac_x zero = ac_lb_num(b, r->r.in->dtype, 0);
    if (lanes > 1 && r->r.depth >= lanes && !L->exact) {
        r->wide = ac_lb_var(b, "wide", ac_lb_splat(b, zero, lanes));
        by_vectors(L, r, lanes, wide_exp_step);
        return ac_lb_sumlanes(b, ac_lb_get(b, r->wide));
    }
    r->sum = ac_lb_var(b, "sum", zero);
    ac_lo_strip(L, "c", r->r.depth, lanes, exp_step, r);
    return ac_lb_get(b, r->sum);
}

/* sum: its reciprocal, which costs half an ulp more than a division of each element; with --exact the sum. */
static void share_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    const ac_x e = ac_lb_load(&L->b, r->e, i, lanes), sum = ac_lb_splat(&L->b, r->sum, lanes);
    ac_lo_rows_store(L, &r->r, i, L->exact ? ac_lb_div(&L->b, e, sum) : ac_lb_mul(&L->b, e, sum), lanes);
}

static void log_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    row *r = with;
    ac_lb *b = &L->b;
    const ac_x v = ac_lb_sub(b, ac_lo_rows_load(L, &r->r, i, lanes), ac_lb_splat(b, r->max, lanes));
    ac_lo_rows_store(L, &r->r, i, ac_lb_sub(b, v, ac_lb_splat(b, r->sum, lanes)), lanes);
}

/* x[c] as the type that max and sum are in. */
static ac_x element(ac_lower *L, const row *r, ac_x c)
{
    const ac_x v = ac_lo_rows_load(L, &r->r, c, 1);
    return ac_dtype_is_float(r->r.in->dtype) ? v : ac_lb_cast(&L->b, v, AC_I32);
}

static ac_x itself(ac_lower *L, const row *r, ac_x v)
{
    (void)L;
    (void)r;
    return v;
}

/* beta (x - max) */
static ac_x shifted(ac_lower *L, const row *r, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x v = ac_lb_sub(b, x, r->max);
    return r->beta < 1 || r->beta > 1 ? ac_lb_mul(b, v, ac_lb_like(b, v, (double)r->beta)) : v;
}

static ac_x exp_of_f32(ac_lower *L, const row *r, ac_x v)
{
    return r->beta < 0 ? ac_lo_exp(L, v) : ac_lo_exp_falling(L, v);
}
static ac_x exp_f32(ac_lower *L, const row *r, ac_x x)
{
    return exp_of_f32(L, r, shifted(L, r, x));
}
static void keep(ac_lower *L, row *r)
{
    (void)L;
    (void)r;
}
static void log_of_sum(ac_lower *L, row *r)
{
    r->sum = ac_lo_log(L, r->sum);
}
static ac_x share_f32(ac_lower *L, const row *r, ac_x v)
{
    return ac_lb_div(&L->b, v, r->sum);
}
static ac_x less_f32(ac_lower *L, const row *r, ac_x v)
{
    return ac_lb_sub(&L->b, v, r->sum);
}
static const steps STEPS_F32[2] = {
    {AC_F32, -(double)3.402823466e38F, exp_f32, itself, keep, share_f32},
    {AC_F32, -(double)3.402823466e38F, shifted, exp_of_f32, log_of_sum, less_f32}, /* log_softmax */
};

/* A lane has columns t % 32, and every 32nd after it. It keeps the values of up to MOST_KEPT in registers. */
enum { MOST_KEPT = 16 };

static int64_t columns_of(const row *r)
{
    return (r->r.depth + GPU_LANES - 1) / GPU_LANES;
}

/* A loop over them. */
static ac_x open_columns(ac_lower *L, row *r, const ac_gpu_warps *w)
{
    ac_lb *b = &L->b;
    const ac_x depth = ac_lb_i32(b, r->r.depth);
    r->r.base = ac_lb_mul(b, w->item, depth);
    return ac_lb_for(b, "c", w->lane, depth, GPU_LANES, r->kept >= 0 ? AC_MARK_UNROLL : AC_MARK_SERIAL);
}

static ac_x kept_at(ac_lower *L, const ac_gpu_warps *w, ac_x c)
{
    ac_lb *b = &L->b;
    return ac_lb_add(b, ac_lb_mul(b, ac_lb_div(b, c, ac_lb_i32(b, GPU_LANES)), ac_lb_i32(b, w->threads)), w->t);
}

/* Adds the term of column c to the sum. */
static void add_term(ac_lower *L, row *r, const steps *s, const ac_gpu_warps *w, ac_x c)
{
    ac_lb *b = &L->b;
    const ac_x v = s->value(L, r, element(L, r, c)), sum = ac_lb_get(b, r->sum), term = s->term(L, r, v);
    if (r->kept >= 0)
        ac_lb_store(b, r->kept, kept_at(L, w, c), v);
    ac_lb_set(b, r->sum, ac_dtype_is_float(s->d) ? ac_lb_add(b, sum, term) : ac_lb_add_wrap(b, sum, term));
}

static void put_result(ac_lower *L, row *r, const steps *s, const ac_gpu_warps *w, ac_x c)
{
    const ac_x v = r->kept >= 0 ? ac_lb_load(&L->b, r->kept, kept_at(L, w, c), 1) : s->value(L, r, element(L, r, c));
    ac_lo_rows_store(L, &r->r, c, s->result(L, r, v), 1);
}

static ac_x result_log_8(ac_lower *L, const row *r, ac_x x);

/* GPUs: a warp for each row. */
static int warp_rows(ac_lower *L, row *r, const steps *s)
{
    ac_lb *b = &L->b;
    const bool real = ac_dtype_is_float(s->d);
    ac_gpu_warps w;
    ac_x c;
    r->r.x = ac_lo_operand(L, r->r.in);
    const int64_t rows = ac_tensor_count(r->r.in) / r->r.depth;
    const int32_t threads = ac_gpu_warps_threads(rows, r->r.depth);
    if (columns_of(r) <= MOST_KEPT)
        r->kept = ac_lo_gpu_local(L, "value", s->d, columns_of(r) * threads, AC_WHERE_THREAD);
    const bool max_again = r->kept < 0 || s->result == result_log_8;
    const int32_t max_buf = max_again ? ac_lo_gpu_local(L, "max", s->d, threads, AC_WHERE_THREAD) : -1;
    ac_gpu_warps_open(&w, L, rows, r->r.depth, s->d);
    ac_gpu_warps_phase(&w);
    ac_x v = ac_lb_var(b, "max", real ? ac_lb_num(b, s->d, s->least) : ac_lb_int(b, s->d, (int64_t)s->least));
    c = open_columns(L, r, &w);
    ac_lb_set(b, v, ac_lb_max(b, element(L, r, c), ac_lb_get(b, v)));
    ac_lb_end(b);
    ac_gpu_warps_put(&w, ac_lb_get(b, v));
    ac_gpu_warps_end(&w);
    ac_gpu_warps_reduce(&w, ac_lb_max);
    ac_gpu_warps_phase(&w);
    r->max = ac_gpu_warps_get(&w);
    if (max_again)
        ac_lb_store(b, max_buf, w.t, r->max);
    r->sum = ac_lb_var(b, "sum", real ? ac_lb_num(b, s->d, 0) : ac_lb_int(b, s->d, 0));
    c = open_columns(L, r, &w);
    add_term(L, r, s, &w, c);
    ac_lb_end(b);
    ac_gpu_warps_put(&w, ac_lb_get(b, r->sum));
    ac_gpu_warps_end(&w);
    ac_gpu_warps_reduce(&w, real ? ac_lb_add : ac_lb_add_wrap);
    ac_gpu_warps_phase(&w);
    ac_lo_rows_index(L, &r->r, w.item);
    ac_lb_if(b, w.live);
    r->sum = ac_gpu_warps_get(&w);
    r->max = max_again ? ac_lb_load(b, max_buf, w.t, 1) : 0;
    s->prepare(L, r);
    c = open_columns(L, r, &w);
    put_result(L, r, s, &w, c);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_gpu_warps_end(&w);
    ac_gpu_warps_close(&w);
    return AC_OK;
}

static bool warps_fit(const ac_lower *L, const row *r)
{
    enum { LEAST = 8 }; /* if clusters join small steps: then threads without a column cost nothing */
    const int32_t least = L->target->gpu >= 90 ? LEAST : GPU_LANES;
    return L->target->isa == AC_ISA_CUDA && r->r.depth >= least;
}

static int float_rows(ac_lower *L, row *r)
{
    if (warps_fit(L, r) && !L->exact && r->r.in->dtype == AC_F32)
        return warp_rows(L, r, &STEPS_F32[r->log]);
    const bool log = r->log;
    const ac_dtype d = r->r.in->dtype;
    const int32_t lanes = ac_lo_max_lanes(L, d);
    r->e = log ? -1 : ac_lo_scratch(L, "e", d, r->r.depth);
    ac_lo_rows_open(L, &r->r);
    r->max = row_max(L, r, d == AC_F64 ? -1.7976931348623157e308 : -(double)3.402823466e38F, lanes);
    r->sum = row_sum(L, r, lanes);
    if (log)
        r->sum = ac_lo_log(L, r->sum);
    else if (!L->exact)
        r->sum = ac_lb_div(&L->b, ac_lb_num(&L->b, d, 1), r->sum);
    ac_lo_strip(L, "c", r->r.depth, lanes, log ? log_step : share_step, r);
    ac_lo_rows_close(L, &r->r);
    return AC_OK;
}

/* Fixed point: a warp for each row, or row after row. */
static int fixed_rows(ac_lower *L, row *r, const steps *s)
{
    if (warps_fit(L, r))
        return warp_rows(L, r, s);
    ac_lb *b = &L->b;
    ac_lo_rows_open(L, &r->r);
    r->max = ac_lb_cast(b, row_max(L, r, s->least, 1), AC_I32);
    const ac_x sum = ac_lb_var(b, "sum", ac_lb_i32(b, 0));
    ac_x c = ac_lb_for_n(b, "c", r->r.depth);
    ac_lb_set(b, sum, ac_lb_add_wrap(b, ac_lb_get(b, sum), s->term(L, r, s->value(L, r, element(L, r, c)))));
    ac_lb_end(b);
    r->sum = ac_lb_get(b, sum);
    s->prepare(L, r);
    c = ac_lb_for_n(b, "c", r->r.depth);
    ac_lo_rows_store(L, &r->r, c, s->result(L, r, s->value(L, r, element(L, r, c))), 1);
    ac_lb_end(b);
    ac_lo_rows_close(L, &r->r);
    return AC_OK;
}

/* Smaller values add 0 to the sum in Q12.19, and are 0 when divided by it: the sum is at least 1. */
enum { LEAST_EXP = 1 << 11 };

/* e^-(d scale beta) for d = max - x, 0..255; differences too large for Q5.26 count as 0. The table for firmware ends
 * where values become negligible. */
static void exp_table_8(ac_lower *L, row *r)
{
    double real = (double)r->beta * (double)ac_quant_scale(r->r.in) * (double)(1 << 26);
    real = real < 2147483647.0 ? real : 2147483647.0;
    r->q = ac_quantize_multiplier(real);
    r->diff_min = -(int32_t)floor(31.0 * (double)(1 << 26) / ldexp(1, r->q.shift > 0 ? r->q.shift : 0));
    int32_t table[256], n = 256;
    for (int32_t d = 0; d < 256; d++)
        table[d] = -d >= r->diff_min ? ac_fx_exp_q5(ac_fx_requant(-d, r->q)) : 0;
    while (L->target->firmware && n > 1 && table[n - 1] < LEAST_EXP && table[n - 2] < LEAST_EXP)
        n--;
    r->most_diff = n - 1;
    r->exp_buf = ac_lo_table(L, "exp", AC_I32, n, table);
}

static ac_x exp_8(ac_lower *L, const row *r, ac_x x)
{
    ac_lb *b = &L->b;
    ac_x d = ac_lb_sub(b, r->max, x);
    if (r->most_diff < 255)
        d = ac_lb_min(b, d, ac_lb_i32(b, r->most_diff));
    return ac_lb_load(b, r->exp_buf, d, 1);
}

/* Q12.19, nearest; e >= 0. */
static ac_x term_8(ac_lower *L, const row *r, ac_x e)
{
    (void)r;
    ac_lb *b = &L->b;
    return ac_lb_shr(b, ac_lb_add(b, ac_lb_shr(b, e, ac_lb_i32(b, 11)), ac_lb_i32(b, 1)), ac_lb_i32(b, 1));
}

static ac_x term_log_8(ac_lower *L, const row *r, ac_x x)
{
    return term_8(L, r, exp_8(L, r, x));
}

static ac_x clamped(ac_lower *L, const row *r, ac_x v)
{
    ac_lb *b = &L->b;
    const ac_dtype d = r->r.out->dtype;
    return ac_lb_clamp(b, v, ac_lb_i32(b, ac_dtype_min(d)), ac_lb_i32(b, ac_dtype_max(d)));
}

static void prepare_8(ac_lower *L, row *r)
{
    ac_x log;
    r->inverse = ac_lo_fx_reciprocal(L, r->sum, &log);
    r->down =
        ac_lb_add(&L->b, log,
                  ac_lb_i32(&L->b, 12 - ac_dtype_bits(r->r.out->dtype))); /* bits over unit: log - 19; then 31 - bits */
}

/* p / 2^down to nearest, p >= 0; down is at most 31 in rows of less than 512: the sum is then below 2^28. */
static ac_x round_shift_8(ac_lower *L, const row *r, ac_x p)
{
    ac_lb *b = &L->b;
    if (r->r.depth >= 512)
        return ac_lo_fx_round_shift_v(L, p, r->down);
    const ac_x one = ac_lb_int(b, AC_U32, 1), down = ac_lb_cast(b, r->down, AC_U32);
    const ac_x half = ac_lb_shl(b, one, ac_lb_sub(b, down, one));
    return ac_lb_cast(b, ac_lb_shr(b, ac_lb_add(b, ac_lb_cast(b, p, AC_U32), half), down), AC_I32);
}

static ac_x result_8(ac_lower *L, const row *r, ac_x e)
{
    ac_lb *b = &L->b;
    const ac_x p = ac_lo_fx_mul(L, r->inverse, e);
    const ac_x v = ac_lb_add(b, round_shift_8(L, r, p), ac_lb_i32(b, ac_dtype_min(r->r.out->dtype)));
    return ac_lb_cast(b, clamped(L, r, v), r->r.out->dtype);
}

static void prepare_log_8(ac_lower *L, row *r)
{
    ac_lb *b = &L->b;
    const ac_multiplier back = ac_quantize_multiplier((double)((int64_t)1 << (31 - r->q.shift)) / (double)r->q.m);
    r->inverse = ac_lo_fx_log_q12(L, r->sum);
    const ac_x lowest = ac_lo_requant(L, ac_lb_add_wrap(b, r->inverse, ac_lb_i32(b, INT32_MIN)), back);
    r->down = ac_lb_max(b, ac_lb_i32(b, (int64_t)r->diff_min - 1), lowest);
}

static ac_x result_log_8(ac_lower *L, const row *r, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_dtype to = r->r.out->dtype;
    const ac_x d = ac_lb_sub(b, x, r->max);
    ac_x v = ac_lo_fx_round_shift(L, ac_lb_sub_wrap(b, ac_lo_requant(L, d, r->q), r->inverse), 22);
    v = clamped(L, r, ac_lb_add(b, v, ac_lb_i32(b, ac_dtype_max(to))));
    return ac_lb_cast(b, ac_lb_select(b, ac_lb_gt(b, d, r->down), v, ac_lb_i32(b, ac_dtype_min(to))), to);
}

static int softmax_8(ac_lower *L, row *r)
{
    const double least = (double)ac_dtype_min(r->r.in->dtype);
    const steps s = r->log ? (steps){AC_I32, least, itself, term_log_8, prepare_log_8, result_log_8}
                           : (steps){AC_I32, least, exp_8, term_8, prepare_8, result_8};
    exp_table_8(L, r);
    return fixed_rows(L, r, &s);
}

static double inverse_of_more(double x)
{
    return 1 / (1 + x);
}

/* e^((x - max) scale beta) in Q0.15; [-65535, 0] of the table's input is [-10, 0]. */
static ac_x exp_16(ac_lower *L, const row *r, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x d = ac_lb_sub(b, x, r->max);
    const ac_x scaled = ac_lb_add_wrap(b, ac_lo_requant(L, d, r->q), ac_lb_i32(b, 32767));
    return ac_lo_table_16(L, r->exp_buf, ac_lb_clamp(b, scaled, ac_lb_i32(b, -32768), ac_lb_i32(b, 32767)));
}

/* sum = (1 + f) * 2^log; f in 16 bits, rounded, recentred for the table. */
static void prepare_16(ac_lower *L, row *r)
{
    ac_lb *b = &L->b;
    const ac_x sum = ac_lb_max(b, r->sum, ac_lb_i32(b, 1)), log = ac_lo_fx_floor_log2(L, sum);
    ac_x f = ac_lb_shl(b, ac_lb_cast(b, sum, AC_I64), ac_lb_cast(b, ac_lb_sub(b, ac_lb_i32(b, 30), log), AC_I64));
    f = ac_lb_shr(b, ac_lb_add(b, f, ac_lb_int(b, AC_I64, 1 << 13)), ac_lb_int(b, AC_I64, 14));
    f = ac_lb_sub(b, ac_lb_cast(b, f, AC_I32), ac_lb_i32(b, (1 << 15) + (1 << 16)));
    r->inverse = ac_lo_table_16(L, r->inverse_buf, ac_lb_clamp(b, f, ac_lb_i32(b, -32768), ac_lb_i32(b, 32767)));
    r->down = ac_lb_cast(b, log, AC_I64);
}

static ac_x result_16(ac_lower *L, const row *r, ac_x e)
{
    ac_lb *b = &L->b;
    const ac_x one = ac_lb_int(b, AC_I64, 1), half = ac_lb_shr(b, ac_lb_shl(b, one, r->down), one);
    const ac_x p = ac_lb_mul(b, ac_lb_cast(b, e, AC_I64), ac_lb_cast(b, r->inverse, AC_I64));
    const ac_x v = ac_lb_cast(b, ac_lb_shr(b, ac_lb_add(b, p, half), r->down), AC_I32);
    return ac_lb_cast(b, ac_lb_clamp(b, v, ac_lb_i32(b, 0), ac_lb_i32(b, 32767)), AC_I16);
}

static int softmax_16(ac_lower *L, row *r)
{
    const steps s = {AC_I32, -32768, exp_16, itself, prepare_16, result_16};
    int16_t e[513], inverse[513];
    ac_table_16_unit(e, -10, 0, exp);
    ac_table_16_unit(inverse, 0, 1, inverse_of_more);
    r->exp_buf = ac_lo_table(L, "exp", AC_I16, 513, e);
    r->inverse_buf = ac_lo_table(L, "inverse", AC_I16, 513, inverse);
    r->q = ac_quantize_multiplier((double)ac_quant_scale(r->r.in) * (double)r->beta / (10.0 / 65535.0));
    return fixed_rows(L, r, &s);
}

static int lower(ac_lower *L, bool log, float beta)
{
    ac_tensor *in = L->node->in[0], *out = L->node->out[0];
    row r = {.r = {.in = in, .out = out, .depth = in->rank ? in->dim[in->rank - 1] : 1},
             .beta = beta,
             .log = log,
             .e = -1,
             .kept = -1};
    ac_lo_result_buf(L);
    if (ac_tensor_count(in) == 0)
        return AC_OK;
    if (in->dtype == out->dtype && ac_mp_real(in))
        return float_rows(L, &r);
    const bool quantised = ac_mp_quantised(in) && ac_mp_quantised(out);
    if (quantised && (in->dtype == AC_I8 || in->dtype == AC_U8) &&
        (out->dtype == in->dtype || (!log && out->dtype == AC_I16)))
        return softmax_8(L, &r);
    if (quantised && !log && in->dtype == AC_I16 && out->dtype == AC_I16)
        return softmax_16(L, &r);
    ac_mp_refuse(L, L->node);
    return AC_FAIL;
}

int ac_lo_softmax(ac_lower *L)
{
    return lower(L, false, L->node->attrs.softmax.beta);
}
int ac_lo_log_softmax(ac_lower *L)
{
    return lower(L, true, 1);
}
