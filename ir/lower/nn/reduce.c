/* reduce.c - lowers mean, sum, max, min, prod, any and all over some dimensions.
 *
 *     f32, f64     mean: the sum divided by the count. Sums along the last dimension run in lanes unless the order is
 *                  to be kept, max and min always
 *     plain int    sum and prod wrap; mean: the 64-bit sum divided towards zero
 *     quantised    i8, u8, i16: mean, prod and the sum of u8 in fixed point (reference/reduce.h), the sum of i8 and i16
 *                  in f32; max and min on stored values
 *     bool         any, all
 *
 * Nothing reduced: mean 0, sum 0, prod 1, max and min the type's lowest and highest finite value (infinite with
 * keep_nan), any false, all true.
 */
#include "ir/lower/entries.h"
#include "ir/lower/gpu/warp.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/axis.h"

#include <math.h>

enum { WIDES = 4 }; /* independent vectors: a max or min takes as long as several loads */

typedef struct reduction {
    ac_op op;
    const ac_tensor *in, *out;
    bool mapped;   /* in is the result of fused maps */
    int32_t x;     /* buffer of in; not if it is mapped */
    uint32_t mask; /* reduced dimensions */
    int64_t count; /* elements per result */
    int64_t stride[AC_MAX_RANK];
    ac_x idx[AC_MAX_RANK]; /* of in; only kept ones count outside of the reduction */
    ac_dtype acc;
    bool quantised;
    bool keep_nan;
    ac_x sum, wide[WIDES]; /* variables: the accumulator, and those of vectors */
    int32_t wides, wide_lanes;
    ac_x wide_from; /* position of the first element of a wide_step */
} reduction;

static bool reduced(const reduction *r, int32_t d)
{
    return r->mask >> d & 1;
}

/* The accumulator's type, or AC_NONE if the combination is not supported. */
static ac_dtype accumulator(const reduction *r)
{
    const ac_dtype d = r->in->dtype;
    if (r->op == AC_OP_REDUCE_ANY || r->op == AC_OP_REDUCE_ALL)
        return d == AC_BOOL ? AC_BOOL : AC_NONE;
    if (ac_mp_real(r->in) || (ac_dtype_is_int(d) && (r->op == AC_OP_REDUCE_MAX || r->op == AC_OP_REDUCE_MIN)))
        return d;
    if (r->quantised)
        return ac_dtype_bits(d) <= 16 && d != AC_U16 ? AC_I32 : AC_NONE;
    if (!ac_dtype_is_int(d) || d == AC_U64)
        return AC_NONE;
    return r->op == AC_OP_MEAN ? AC_I64 : d;
}

static ac_x start(ac_lower *L, const reduction *r)
{
    ac_lb *b = &L->b;
    double v = 0;
    const bool max = r->op == AC_OP_REDUCE_MAX;
    if (r->op == AC_OP_REDUCE_PROD || r->op == AC_OP_REDUCE_ALL)
        v = 1;
    if (max || r->op == AC_OP_REDUCE_MIN) {
        if (ac_dtype_is_int(r->acc)) {
            const int64_t most = r->acc == AC_U64 ? -1 : ac_dtype_max(r->acc);
            return ac_lb_int(b, r->acc, max ? ac_dtype_min(r->acc) : most);
        }
        v = r->keep_nan ? (double)INFINITY : r->acc == AC_F32 ? 3.4028234663852886e38 : 1.7976931348623157e308;
        v = max ? -v : v;
    }
    return ac_dtype_is_float(r->acc) ? ac_lb_num(b, r->acc, v) : ac_lb_int(b, r->acc, (int64_t)v);
}

/* The scale of one factor of a product: in / out^(1/n), so that the running product stays in the output's scale. */
static ac_multiplier prod_scale(const reduction *r)
{
    const double root = pow((double)ac_quant_scale(r->out), 1.0 / (double)(r->count ? r->count : 1));
    return ac_quantize_multiplier((double)ac_quant_scale(r->in) / root);
}

typedef ac_x extreme_fn(ac_lb *b, ac_x x, ac_x y);

/* For REDUCE_MAX and REDUCE_MIN. */
static extreme_fn *extreme_of(const reduction *r)
{
    if (r->op == AC_OP_REDUCE_MAX)
        return r->keep_nan ? ac_lb_max_nan : ac_lb_max;
    return r->keep_nan ? ac_lb_min_nan : ac_lb_min;
}

static ac_x next(ac_lower *L, const reduction *r, ac_x acc, ac_x v)
{
    ac_lb *b = &L->b;
    if (r->op == AC_OP_REDUCE_MAX || r->op == AC_OP_REDUCE_MIN) /* in this order NaN is passed over */
        return extreme_of(r)(b, v, acc);
    if (r->op == AC_OP_REDUCE_ANY)
        return ac_lb_or(b, acc, v);
    if (r->op == AC_OP_REDUCE_ALL)
        return ac_lb_and(b, acc, v);
    v = ac_lb_cast(b, v, r->acc);
    if (r->op != AC_OP_REDUCE_PROD)
        return ac_lb_add_wrap(b, acc, v);
    if (!r->quantised)
        return ac_lb_mul_wrap(b, acc, v);
    v = ac_lb_sub(b, v, ac_lb_like_int(b, v, ac_quant_zero(r->in)));
    ac_x at = ac_lb_i32(b, 0);
    for (int32_t d = 0; d < r->in->rank; d++)
        if (reduced(r, d))
            at = ac_lb_or(b, at, r->idx[d]);
    const ac_x p = ac_lb_mul(b, ac_lb_cast(b, acc, AC_I64), ac_lb_cast(b, v, AC_I64));
    const ac_x first = ac_lb_splat(b, ac_lb_eq(b, at, ac_lb_i32(b, 0)), ac_lb_lane_count(b, v));
    return ac_lb_select(b, first, v, ac_lo_requant64(L, p, prod_scale(r)));
}

/* sum * scale + bias in f32, rounded half away from zero: TFLite's kernel for sums of i8 and i16 (its reference kernel
 * reads i8 as u8; sums of u8 are those of the reference). */
static ac_x rescale_sum(ac_lower *L, const reduction *r, ac_x sum)
{
    ac_lb *b = &L->b;
    const float scale = ac_quant_scale(r->in) / ac_quant_scale(r->out);
    const float bias = (float)-ac_quant_zero(r->in) * scale * (float)r->count;
    ac_x v = ac_lb_cast(b, sum, AC_F32);
    v = ac_lb_add(b, ac_lb_mul(b, v, ac_lb_like(b, v, (double)scale)), ac_lb_like(b, v, (double)bias));
    v = ac_lb_satcast(b, ac_mp_round_away(L, v), AC_I32);
    v = ac_lb_clamp(b, v, ac_lb_like_int(b, v, -65536), ac_lb_like_int(b, v, 65535)); /* room for the zero point */
    return ac_mp_stored_full(L, v, r->out);
}

/* One multiply for scale and, for means, count: the multiplier is divided by the count after as many shifts as it has
 * bits. */
static ac_x rescale_fixed(ac_lower *L, const reduction *r, ac_x sum)
{
    ac_multiplier q = ac_quantize_multiplier((double)ac_quant_scale(r->in) / (double)ac_quant_scale(r->out));
    const int64_t divisor = r->op == AC_OP_MEAN ? r->count : 1;
    int32_t shift = 0;
    while (divisor >> (shift + 1) && shift < 62)
        shift++;
    shift = shift > 32 ? 32 : shift;
    shift = shift > 31 + q.shift ? 31 + q.shift : shift;
    q.m = (int32_t)(((int64_t)q.m << shift) / divisor);
    q.shift -= shift;
    const int64_t zero = (int64_t)ac_quant_zero(r->in) * r->count;
    sum = ac_lb_sub_wrap(&L->b, sum, ac_lb_like_int(&L->b, sum, (int32_t)(uint32_t)zero));
    return ac_mp_stored_full(L, ac_lo_requant(L, sum, q), r->out);
}

static ac_x finish(ac_lower *L, const reduction *r, ac_x acc)
{
    ac_lb *b = &L->b;
    const bool sums = r->op == AC_OP_MEAN || r->op == AC_OP_SUM;
    if (r->count == 0 && sums)
        return ac_lb_cast(b, acc, r->out->dtype);
    if (r->quantised && sums)
        return r->op == AC_OP_MEAN || r->in->dtype == AC_U8 ? rescale_fixed(L, r, acc) : rescale_sum(L, r, acc);
    if (r->quantised && r->op == AC_OP_REDUCE_PROD)
        return ac_mp_stored_full(L, ac_lo_requant64(L, ac_lb_cast(b, acc, AC_I64), prod_scale(r)), r->out);
    if (r->op == AC_OP_MEAN)
        acc = ac_lb_div(b, acc, ac_lb_like(b, acc, (double)r->count));
    return ac_lb_cast(b, acc, r->out->dtype);
}

/* Flat index of the input element at r->idx. */
static ac_x position(ac_lower *L, const reduction *r)
{
    ac_x at = ac_lb_i32(&L->b, 0);
    for (int32_t d = 0; d < r->in->rank; d++)
        at = ac_lb_add(&L->b, at, ac_lb_mul(&L->b, r->idx[d], ac_lb_i32(&L->b, r->stride[d])));
    return at;
}

/* The element to reduce, at r->idx. */
static ac_x element(ac_lower *L, const reduction *r, int32_t lanes)
{
    return r->mapped ? ac_lo_mapped(L, r->idx, lanes) : ac_lb_load(&L->b, r->x, position(L, r), lanes);
}

static void put(ac_lower *L, const reduction *r, ac_x v, const ac_x *idx, int32_t lanes)
{
    if (r->mapped)
        ac_lb_store(&L->b, ac_lo_result_buf(L), ac_lo_flat(L, r->out, idx), v);
    else
        ac_lo_result(L, v, idx, lanes);
}

/* The lanes of v in one. */
static ac_x across(ac_lower *L, const reduction *r, ac_x v)
{
    ac_lb *b = &L->b;
    if (r->op == AC_OP_REDUCE_MAX && !r->keep_nan)
        return ac_lb_maxlanes(b, v);
    if (r->op != AC_OP_REDUCE_MAX && r->op != AC_OP_REDUCE_MIN)
        return ac_lb_sumlanes(b, v);
    for (int32_t n = ac_lb_lane_count(b, v) / 2; n > 1; n /= 2) {
        int64_t low[64], high[64];
        for (int32_t i = 0; i < n; i++)
            low[i] = i, high[i] = n + i;
        v = extreme_of(r)(b, ac_lb_shuffle(b, v, 0, low, n), ac_lb_shuffle(b, v, 0, high, n));
    }
    return extreme_of(r)(b, ac_lb_lane(b, v, 0), ac_lb_lane(b, v, 1));
}

/* Along the last dimension: full vectors into `wide`, the rest into acc. */
static void wide_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    reduction *r = with;
    ac_lb *b = &L->b;
    r->idx[r->in->rank - 1] = ac_lb_add(b, r->wide_from, i);
    ac_x v = element(L, r, lanes);
    if (!v)
        return;
    v = ac_lb_cast(b, v, r->acc);
    if (lanes == r->wide_lanes)
        ac_lb_set(b, r->wide[0], next(L, r, ac_lb_get(b, r->wide[0]), v));
    else
        ac_lb_set(b, r->sum, next(L, r, ac_lb_get(b, r->sum), lanes > 1 ? across(L, r, v) : v));
}

/* All of the last dimension: several vectors at a time, then the remainder. */
static void wide_steps(ac_lower *L, reduction *r, const char *name)
{
    ac_lb *b = &L->b;
    const int32_t last = r->in->rank - 1;
    const int64_t n = r->in->dim[last], each = (int64_t)r->wides * r->wide_lanes, whole = n / each * each;
    r->wide_from = ac_lb_i32(b, 0);
    if (r->wides > 1) {
        const ac_x i = ac_lb_for(b, name, ac_lb_i32(b, 0), ac_lb_i32(b, whole), each, AC_MARK_SERIAL);
        for (int32_t j = 0; j < r->wides; j++) {
            r->idx[last] = ac_lb_add(b, i, ac_lb_i32(b, (int64_t)j * r->wide_lanes));
            const ac_x v = ac_lb_cast(b, element(L, r, r->wide_lanes), r->acc);
            ac_lb_set(b, r->wide[j], next(L, r, ac_lb_get(b, r->wide[j]), v));
        }
        ac_lb_end(b);
        r->wide_from = ac_lb_i32(b, whole);
    }
    ac_lo_strip(L, name, r->wides > 1 ? n - whole : n, r->wide_lanes, wide_step, r);
}

/* True if the order of the elements does not change the result. (Of +0 and -0 either may be the larger.) */
static bool any_order(const reduction *r)
{
    const bool extreme = r->op == AC_OP_REDUCE_MAX || r->op == AC_OP_REDUCE_MIN;
    return extreme || ((r->op == AC_OP_SUM || r->op == AC_OP_MEAN) && r->acc == AC_I32);
}

/* How many lanes run along the last dimension: sums of floats only if their order need not be kept. */
static int32_t wide_lanes(const ac_lower *L, const reduction *r)
{
    const int32_t last = r->in->rank - 1;
    const bool sums = r->op == AC_OP_SUM || r->op == AC_OP_MEAN;
    if (last < 0 || !reduced(r, last) || (r->acc != AC_I32 && r->acc != AC_F32) ||
        (!any_order(r) && (!sums || L->exact)))
        return 1;
    const int32_t lanes = ac_target_lanes(L->target, AC_F32);
    return r->in->dim[last] < 2 * lanes ? 1 : lanes;
}

/* Merges reduced dimensions at the end into one, if that does not change results. */
static void join(const ac_lower *L, reduction *r, ac_tensor *joined)
{
    int32_t first = r->in->rank;
    while (first > 0 && reduced(r, first - 1))
        first--;
    if (r->mapped || !any_order(r) || first >= r->in->rank - 1 || ac_target_lanes(L->target, AC_F32) == 1)
        return;
    *joined = *r->in;
    joined->dim[r->in->rank - 1] = ac_dim_product(r->in->dim, first, r->in->rank);
    for (int32_t d = first; d < r->in->rank - 1; d++)
        joined->dim[d] = 1;
    r->in = joined;
}

/* The indices of the result at r->idx. */
static void result_index(ac_lower *L, const reduction *r, ac_x *idx)
{
    const bool keep = r->out->rank == r->in->rank;
    int32_t k = 0;
    for (int32_t d = 0; d < r->in->rank; d++)
        if (!reduced(r, d) || keep)
            idx[k++] = reduced(r, d) ? ac_lb_i32(&L->b, 0) : r->idx[d];
}

/* One result (or `lanes` of them): the loops over the reduced dimensions and the store. */
static void one_result(ac_lower *L, reduction *r, int32_t lanes)
{
    static const char *const name[AC_MAX_RANK] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    ac_lb *b = &L->b;
    const int32_t last = r->in->rank - 1;
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, start(L, r), lanes));
    r->sum = acc;
    r->wide_lanes = wide_lanes(L, r);
    r->wides =
        !r->mapped && any_order(r) && r->wide_lanes > 1 && r->in->dim[last] >= 2 * WIDES * r->wide_lanes ? WIDES : 1;
    const int32_t inner = r->wide_lanes > 1 ? last : r->in->rank; /* dimensions walked one by one */
    if (r->wide_lanes > 1)
        for (int32_t j = 0; j < r->wides; j++)
            r->wide[j] = ac_lb_var(b, "wide", ac_lb_splat(b, start(L, r), r->wide_lanes));
    for (int32_t d = 0; d < inner; d++)
        if (reduced(r, d))
            r->idx[d] = ac_lb_for_n(b, name[d], r->in->dim[d]);
    if (r->wide_lanes > 1)
        wide_steps(L, r, name[last]);
    else {
        const ac_x v = element(L, r, lanes);
        if (v)
            ac_lb_set(b, acc, next(L, r, ac_lb_get(b, acc), v));
    }
    for (int32_t d = 0; d < inner; d++)
        if (reduced(r, d))
            ac_lb_end(b);
    ac_x sum = ac_lb_get(b, acc);
    if (r->wide_lanes > 1) {
        ac_x wide = ac_lb_get(b, r->wide[0]);
        for (int32_t j = 1; j < r->wides; j++)
            wide = next(L, r, wide, ac_lb_get(b, r->wide[j]));
        sum = next(L, r, sum, across(L, r, wide));
    }
    ac_x idx[AC_MAX_RANK];
    result_index(L, r, idx);
    put(L, r, finish(L, r, sum), idx, lanes);
}

static void step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    reduction *r = with;
    r->idx[r->in->rank - 1] = i;
    one_result(L, r, lanes);
}

/* True if the elements of each result are contiguous. */
static bool is_contiguous(const reduction *r)
{
    int32_t first = 0;
    while (first < r->in->rank && !reduced(r, first))
        first++;
    return r->mask >> first == (1u << (r->in->rank - first)) - 1;
}

/* GPUs: a warp for each result if its elements are contiguous. Otherwise neighbouring threads, one for each result,
 * read neighbouring elements, which is better unless there are too few results. */
static bool warps_fit(const ac_lower *L, const reduction *r)
{
    enum { FEW = 1 << 14 };
    const bool order = r->op == AC_OP_REDUCE_MAX || r->op == AC_OP_REDUCE_MIN;
    const bool sums = r->op == AC_OP_SUM || r->op == AC_OP_MEAN;
    return L->target->isa == AC_ISA_CUDA && r->count >= GPU_LANES && (order || sums) &&
           (r->acc == AC_I32 || (r->acc == AC_F32 && (order || !L->exact))) && ac_tensor_count(r->in) > 0 &&
           (is_contiguous(r) || ac_tensor_count(r->in) / r->count < FEW);
}

/* Element k of a result: the indices of reduced dimensions; `item`: those of the others. */
static void split(ac_lower *L, const reduction *r, ac_x item, ac_x k, ac_x *idx)
{
    ac_x left[2] = {item, k};
    for (int32_t d = r->in->rank - 1; d >= 0; d--) {
        ac_x *at = &left[reduced(r, d)];
        const uint32_t before = (1u << d) - 1, same = reduced(r, d) ? r->mask : ~r->mask;
        idx[d] = same & before ? ac_lb_mod(&L->b, *at, ac_lb_i32(&L->b, r->in->dim[d])) : *at;
        *at = ac_lb_div(&L->b, *at, ac_lb_i32(&L->b, r->in->dim[d]));
    }
}

static int warps(ac_lower *L, reduction *r)
{
    ac_lb *b = &L->b;
    const bool sums = r->op == AC_OP_SUM || r->op == AC_OP_MEAN;
    ac_gpu_warps w;
    ac_gpu_warps_open(&w, L, ac_tensor_count(r->in) / r->count, r->count, r->acc);
    ac_gpu_warps_phase(&w);
    const bool by_index = r->mapped || !is_contiguous(r);
    const ac_x acc = ac_lb_var(b, "acc", start(L, r)), base = ac_lb_mul(b, w.item, ac_lb_i32(b, r->count));
    const ac_x k = ac_lb_for(b, "k", w.lane, ac_lb_i32(b, r->count), GPU_LANES, AC_MARK_SERIAL);
    if (by_index)
        split(L, r, w.item, k, r->idx);
    const ac_x v = by_index ? element(L, r, 1) : ac_lb_load(b, r->x, ac_lb_add(b, base, k), 1);
    if (v)
        ac_lb_set(b, acc, next(L, r, ac_lb_get(b, acc), v));
    ac_lb_end(b);
    ac_gpu_warps_put(&w, ac_lb_get(b, acc));
    ac_gpu_warps_end(&w);
    ac_gpu_warps_reduce(&w, !sums ? extreme_of(r) : r->acc == AC_I32 ? ac_lb_add_wrap : ac_lb_add);
    ac_gpu_warps_phase(&w);
    ac_x idx[AC_MAX_RANK];
    split(L, r, w.item, ac_lb_i32(b, 0), r->idx);
    result_index(L, r, idx);
    ac_lb_if(b, ac_lb_and(b, w.live, ac_lb_eq(b, w.lane, ac_lb_i32(b, 0))));
    put(L, r, finish(L, r, ac_gpu_warps_get(&w)), idx, 1);
    ac_lb_end(b);
    ac_gpu_warps_end(&w);
    ac_gpu_warps_close(&w);
    return AC_OK;
}

/* Neighbouring results that are made at once. */
static int32_t lanes_of(const ac_lower *L, const reduction *r)
{
    const int32_t a = ac_lo_max_lanes(L, r->acc), b = ac_lo_max_lanes(L, r->quantised ? AC_I32 : r->in->dtype);
    return a < b ? a : b;
}

/* True if all rows and columns of an image are reduced, and sums of all channels may grow together. */
static bool grows(const ac_lower *L, const reduction *r)
{
    return L->variant & AC_VARIANT_ROWS && L->variant & AC_VARIANT_SUMS && !r->mapped && r->in->rank == 4 &&
           r->in->dim[0] == 1 && r->in->dim[1] > 1 && r->mask == (1u << 1 | 1u << 2) && !L->node->n_fused;
}

/* Row by row: an accumulator for each channel. */
static int grow(ac_lower *L, reduction *r)
{
    ac_lb *b = &L->b;
    const int64_t channels = r->in->dim[3];
    const int32_t acc = ac_lo_scratch(L, "acc", r->acc, channels);
    ac_x c = ac_lb_for_n(b, "c", channels);
    ac_lb_store(b, acc, c, start(L, r));
    ac_lb_end(b);
    r->idx[0] = ac_lb_i32(b, 0);
    r->idx[1] = ac_lb_for_n(b, "y", r->in->dim[1]);
    r->idx[2] = ac_lb_for_n(b, "x", r->in->dim[2]);
    r->idx[3] = c = ac_lb_for_n(b, "c", channels);
    const ac_x v = element(L, r, 1);
    if (v)
        ac_lb_store(b, acc, c, next(L, r, ac_lb_load(b, acc, c, 1), v));
    for (int32_t k = 0; k < 3; k++)
        ac_lb_end(b);
    r->idx[3] = c = ac_lb_for_n(b, "c", channels);
    ac_x idx[AC_MAX_RANK];
    result_index(L, r, idx);
    put(L, r, finish(L, r, ac_lb_load(b, acc, c, 1)), idx, 1);
    ac_lb_end(b);
    return L->refused ? AC_FAIL : AC_OK;
}

int ac_lo_reduce(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    ac_lb *b = &L->b;
    const ac_node *end = ac_node_reduction(L->node), *n = end ? end : L->node;
    ac_tensor *in = n->in[0];
    reduction r = {.op = n->op, .in = in, .out = n->out[0], .mapped = end != NULL, .count = 1};
    AC_TRY(ac_reduce_axes(L->cx, n, &r.mask));
    r.quantised = ac_mp_quantised(in) && ac_mp_quantised(r.out);
    r.acc = accumulator(&r);
    r.keep_nan = n->attrs.reduce.keep_nan && ac_mp_real(in);
    if (!r.acc || in->dtype != r.out->dtype || ac_mp_quantised(in) != ac_mp_quantised(r.out)) {
        ac_mp_refuse(L, n);
        return AC_FAIL;
    }
    if (r.quantised && (r.op == AC_OP_REDUCE_MAX || r.op == AC_OP_REDUCE_MIN) &&
        !ac_quant_equal(in->quant, r.out->quant))
        return ac_lower_refuse(L, "%s needs the same scale and zero point on both sides", ac_ops[r.op].text);
    ac_lo_result_buf(L);
    if (!r.mapped)
        r.x = ac_lo_operand(L, in);
    int64_t stride = 1;
    for (int32_t d = in->rank - 1; d >= 0; stride *= in->dim[d--]) {
        r.stride[d] = stride;
        r.count *= reduced(&r, d) ? in->dim[d] : 1;
    }
    if (warps_fit(L, &r))
        return warps(L, &r);
    if (grows(L, &r))
        return grow(L, &r);
    ac_tensor joined;
    join(L, &r, &joined);
    const int32_t last = in->rank - 1;
    const bool strip = last >= 0 && !reduced(&r, last);
    for (int32_t d = 0; d < in->rank - strip; d++)
        if (!reduced(&r, d))
            r.idx[d] = ac_lb_for_each(b, name[d], in->dim[d]);
    if (strip)
        ac_lo_strip_each(L, "c", in->dim[last], lanes_of(L, &r), step, &r);
    else
        one_result(L, &r, 1);
    for (int32_t d = 0; d < in->rank - strip; d++)
        if (!reduced(&r, d))
            ac_lb_end(b);
    return L->refused ? AC_FAIL : AC_OK;
}
