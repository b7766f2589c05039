/* matmul.c - lowers batch_matmul.
 *
 * x  [..., M, K], or [..., K, M] with adj_x    f32, i8, i16
 * y  [..., K, N], or [..., N, K] with adj_y    f32, i8 (also for x of f32: dynamic range; and of i16), i16; constant or
 *                                              computed
 * any integers or f64 without scales: both of one type, and so is the result; sums wrap
 * i8, u8 without scales, result i32: less zero_x and zero_y; sums wrap
 * out [..., M, N]; leading dimensions broadcast
 *
 * Reference: TFLite's batch_matmul.h: integers bit for bit (zero points on both sides, multiplier per tensor from the
 * float product of the scales, int16 in 64 bits), floats within the order of summation. Dynamic range quantises each
 * row of x symmetrically.
 *
 * Schedule: tiles of rows of x by vectors of columns of y, an accumulator each; y is read in vectors along N. With
 * adj_y and vectors it is transposed first: once if constant, else per batch; not for few rows of floats, see
 * matmul_dots.c. The outer loop is over tiles of rows, or over tiles of columns if y is larger than half of the second
 * cache. Plain targets: one row, four columns. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/entries.h"
#include "ir/lower/gpu/product.h"
#include "ir/lower/matrix.h"
#include "ir/lower/nn/matmul_dots.h"
#include "ir/lower/conv/spans.h"

enum { ROWS = 8, VECS = 4 };

typedef struct matmul {
    ac_lower *L;
    ac_channel c;
    int64_t m, n, k;
    bool adj_x, adj_y;
    bool dots;      /* neither is transposed: matmul_dots.c */
    int32_t x, y;   /* buffers; y may be the transposed copy */
    int32_t floats; /* x is stored in 16 bits: buffer of a tile's rows as floats; -1: x has floats, or is read in
                     * place */
    int32_t rank;
    ac_x idx[AC_MAX_RANK]; /* batch position */
    ac_x x_at, y_at;       /* first elements of the present matrices */
} matmul;

/* `rows` rows from m on by `vecs` vectors of columns from n on. */
static void tile(matmul *v, ac_x m, int32_t rows, ac_x n, int32_t vecs, int32_t lanes)
{
    ac_lb *b = &v->L->b;
    ac_x acc[ROWS * VECS], y[VECS];
    for (int32_t i = 0; i < rows * vecs; i++)
        acc[i] = ac_lb_var(b, ac_strf(v->L->region, "c%d_%d", (int)(i / vecs), (int)(i % vecs)),
                           ac_channel_start(&v->c, n, lanes));
    ac_x k = ac_lb_for_n(b, "k", v->k);
    ac_x y_at = v->adj_y ? ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, v->k)), k)
                         : ac_lb_add(b, ac_lb_mul(b, k, ac_lb_i32(b, v->n)), n);
    const int64_t y_step = v->adj_y ? v->k : 1;
    for (int32_t i = 0; i < vecs; i++)
        y[i] = ac_channel_w(&v->c, v->y, ac_lb_add(b, ac_lb_add(b, v->y_at, y_at), ac_lb_i32(b, i * lanes * y_step)),
                            lanes);
    for (int32_t r = 0; r < rows; r++) {
        ac_x row = ac_lb_add(b, m, ac_lb_i32(b, r));
        ac_x at = v->adj_x ? ac_lb_add(b, ac_lb_mul(b, k, ac_lb_i32(b, v->m)), row)
                           : ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, v->k)), k);
        ac_x x = ac_lb_splat(b, ac_channel_x(&v->c, v->x, ac_lb_add(b, v->x_at, at), 1), lanes);
        for (int32_t i = 0; i < vecs; i++) {
            const ac_x a = acc[r * vecs + i];
            ac_lb_set(b, a, ac_channel_mac(&v->c, ac_lb_get(b, a), x, y[i]));
        }
    }
    ac_lb_end(b);
    for (int32_t i = 0; i < rows * vecs; i++) {
        ac_x idx[AC_MAX_RANK];
        memcpy(idx, v->idx, sizeof idx);
        idx[v->rank - 2] = ac_lb_add(b, m, ac_lb_i32(b, i / vecs));
        ac_x oc = ac_lb_add(b, n, ac_lb_i32(b, i % vecs * lanes));
        ac_gemm_store_lanes(v->L, ac_channel_done(&v->c, ac_lb_get(b, acc[i]), oc), oc, lanes, idx);
    }
}

/* A copy of v that reads rows m .. m+rows-1 of x, stored in 16 bits, as floats: they are converted once, in vectors,
 * instead of at each use in a tile. v itself if nothing has to be converted. */
static matmul floats_of(const matmul *v, ac_x m, int32_t rows)
{
    matmul own = *v;
    ac_lb *b = &v->L->b;
    if (v->floats < 0)
        return own;
    const int32_t lanes = ac_target_lanes(v->L->target, AC_F32);
    const ac_x from = ac_lb_add(b, v->x_at, ac_lb_mul(b, m, ac_lb_i32(b, v->k)));
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(rows * v->k, lanes, span);
    for (int32_t s = 0; s < spans; s++) {
        ac_x i =
            ac_lb_for(b, "i", ac_lb_i32(b, span[s].begin), ac_lb_i32(b, span[s].end), span[s].lanes, AC_MARK_SERIAL);
        ac_lb_store(b, v->floats, i, ac_lb_load(b, v->x, ac_lb_add(b, from, i), span[s].lanes));
        ac_lb_end(b);
    }
    own.x = v->floats;
    own.x_at = ac_lb_sub(b, ac_lb_i32(b, 0), ac_lb_mul(b, m, ac_lb_i32(b, v->k))); /* they begin m rows before it */
    own.floats = -1;
    return own;
}

/* Columns begin .. end-1, `vecs` vectors at a time, of `rows` rows from m on, or of all rows (cuts). */
static void columns(matmul *v, ac_x m, int32_t rows, const ac_gemm_cuts *cuts, const ac_lane_span *s, int32_t vecs)
{
    ac_lb *b = &v->L->b;
    const int64_t wide = (int64_t)vecs * s->lanes;
    if (s->begin >= s->end)
        return;
    const bool once = s->end - s->begin == wide;
    ac_x n = once ? ac_lb_for_n(b, "n", 1)
                  : ac_lb_for(b, "n", ac_lb_i32(b, s->begin), ac_lb_i32(b, s->end), wide, AC_MARK_PARALLEL);
    n = once ? ac_lb_i32(b, s->begin) : n;
    if (!cuts)
        tile(v, m, rows, n, vecs, s->lanes);
    for (int32_t c = 0; cuts && c < 2; c++) {
        if (!cuts->count[c])
            continue;
        ac_x i = ac_lb_for_each(b, "m", cuts->count[c]);
        m = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, cuts->size[c])), ac_lb_i32(b, cuts->first[c]));
        matmul own = floats_of(v, m, (int32_t)cuts->size[c]);
        tile(&own, m, (int32_t)cuts->size[c], n, vecs, s->lanes);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* True if the last vector of columns may overlap another one: no follower reads an operand stored in the bytes of the
 * result. */
static bool meets_others(const matmul *v, const ac_gemm_cuts *cuts)
{
    return v->c.kind == AC_MACS_F32 && !v->adj_y && !cuts && !v->L->node->n_fused;
}

static void row_tile(matmul *v, ac_x m, int32_t rows, const ac_gemm_cuts *cuts, int32_t vecs, int32_t lanes)
{
    const int64_t wide = (int64_t)vecs * lanes, whole = v->n / wide * wide;
    columns(v, m, rows, cuts, &(ac_lane_span){0, whole, lanes}, vecs);
    ac_lane_span span[AC_MAX_SPANS];
    int32_t spans = ac_spans(v->n - whole, lanes, span);
    const int64_t last = ac_align_up(v->n - whole, lanes);
    if (spans > 1 && last <= v->n && meets_others(v, cuts)) {
        spans = 1;
        span[0] = (ac_lane_span){v->n - whole - last, v->n - whole, lanes};
    }
    for (int32_t s = 0; s < spans; s++) {
        span[s].begin += whole;
        span[s].end += whole;
        columns(v, m, rows, cuts, &span[s], (int32_t)((span[s].end - span[s].begin) / span[s].lanes));
    }
}

/* True if y is larger than its share of the second cache and read for more than one tile of rows. Then the outer loop
 * is over columns: those of a tile stay in a cache for all rows. */
static bool columns_outside(const matmul *v, int32_t rows)
{
    const int64_t bytes = v->n * v->k * ac_dtype_size(v->c.w->dtype, 1);
    return rows > 1 && v->m > rows && !v->adj_y && bytes > v->L->target->l2_bytes / 2;
}

/* One product of matrices. */
static void product(matmul *v)
{
    ac_lower *L = v->L;
    ac_lb *b = &L->b;
    const int32_t lanes = ac_target_lanes(L->target, v->c.kind == AC_MACS_PLAIN ? v->c.acc : AC_F32);
    int32_t vecs = lanes > 1 && v->c.acc == AC_I64 ? 1 : lanes > 1 && L->target->registers < 32 ? 2 : VECS;
    while (vecs > 1 && (int64_t)(vecs - 1) * lanes >= v->n)
        vecs--;
    int32_t rows = lanes == 1 ? 1 : 6;
    if (v->c.kind == AC_MACS_HYBRID)
        rows = 1;
    const ac_schedule *hint = &L->hint;
    if (rows > 1 && hint->rows > 0 && hint->rows <= ROWS && hint->vecs > 0 && hint->vecs <= VECS &&
        (hint->rows + 1) * hint->vecs < L->target->registers && v->c.acc != AC_I64) {
        rows = hint->rows;
        vecs = hint->vecs;
    }
    const ac_gemm_cuts cuts = ac_gemm_cut(v->m, rows);
    L->out->schedule.rows = rows > 1 ? (int32_t)cuts.size[0] : 0;
    L->out->schedule.vecs = vecs;
    if (lanes > 1 && v->c.x->narrowed && !v->adj_x && v->c.kind == AC_MACS_F32)
        v->floats = ac_lo_scratch(L, "floats", AC_F32, cuts.size[0] * v->k);
    if (columns_outside(v, rows)) {
        row_tile(v, 0, 0, &cuts, vecs, lanes);
        return;
    }
    for (int32_t s = 0; s < 2; s++) {
        if (!cuts.count[s])
            continue;
        ac_x i = ac_lb_for_each(b, "m", cuts.count[s]);
        ac_x m = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, cuts.size[s])), ac_lb_i32(b, cuts.first[s]));
        if (v->c.kind == AC_MACS_HYBRID) {
            matmul row = *v;
            row.x = ac_lo_scratch(L, "xq", AC_I8, v->k);
            ac_x from = ac_lb_add(b, v->x_at, ac_lb_mul(b, m, ac_lb_i32(b, v->k)));
            ac_hybrid_quantize(&row.c, v->x, from, row.x, ac_lb_i32(b, 0), v->k, false);
            /* the copy is row m of a matrix that begins m rows before it */
            row.x_at = ac_lb_sub(b, ac_lb_i32(b, 0), ac_lb_mul(b, m, ac_lb_i32(b, v->k)));
            row_tile(&row, m, 1, NULL, vecs, lanes);
        } else {
            matmul own = floats_of(v, m, (int32_t)cuts.size[s]);
            row_tile(&own, m, (int32_t)cuts.size[s], NULL, vecs, lanes);
        }
        ac_lb_end(b);
    }
}

/* to[k][n] = from[n][k] */
static void transpose(ac_lb *b, int32_t to, ac_x to_at, int32_t from, ac_x from_at, int64_t n, int64_t k)
{
    ac_x i = ac_lb_for_n(b, "n", n), j = ac_lb_for_n(b, "k", k);
    ac_x v = ac_lb_load(b, from, ac_lb_add(b, from_at, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, k)), j)), 1);
    ac_lb_store(b, to, ac_lb_add(b, to_at, ac_lb_add(b, ac_lb_mul(b, j, ac_lb_i32(b, n)), i)), v);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Sets v->y, and for a constant y with adj_y its transposed copy. Returns the buffer to transpose from per batch, or
 * -1. */
static int32_t right_side(matmul *v)
{
    ac_lower *L = v->L;
    ac_tensor *y = v->c.w;
    const bool turn = v->adj_y && ac_target_lanes(L->target, AC_F32) > 1 && v->n > 1 && !v->dots;
    if (!turn) {
        v->y = ac_lo_operand(L, y);
        return -1;
    }
    v->adj_y = false;
    if (!ac_tensor_is_const(y)) {
        const int32_t from = ac_lo_operand(L, y);
        v->y = ac_lo_scratch(L, "yt", y->dtype, v->n * v->k);
        return from;
    }
    ac_lower P;
    const int64_t one = v->n * v->k, all = ac_tensor_count(y);
    const int32_t to = ac_lo_pack_open(L, &P, "y", y->dtype, all), from = ac_lo_operand(&P, y);
    ac_x at = ac_lb_mul(&P.b, ac_lb_for_n(&P.b, "i", all / one), ac_lb_i32(&P.b, one));
    transpose(&P.b, to, at, from, at, v->n, v->k);
    ac_lb_end(&P.b);
    v->y = ac_lo_pack_close(L, &P);
    return -1;
}

static int schedule(matmul *v)
{
    ac_lower *L = v->L;
    ac_lb *b = &L->b;
    ac_channel_tables(&v->c, v->n, NULL, 0);
    v->x = ac_lo_operand(L, v->c.x);
    v->dots = v->adj_y && !v->adj_x && !ac_tensor_is_const(v->c.w) && ac_dots_fit(L, &v->c, v->m, v->k);
    const int32_t turn = right_side(v);
    for (int32_t i = 0; i < v->rank - 2; i++)
        v->idx[i] = ac_lb_for_each(b, "b", v->c.out->dim[i]);
    v->x_at = ac_matrix_at(L, v->c.x, v->idx);
    v->y_at = ac_matrix_at(L, v->c.w, v->idx);
    if (turn >= 0) {
        transpose(b, v->y, ac_lb_i32(b, 0), turn, v->y_at, v->n, v->k);
        v->y_at = ac_lb_i32(b, 0);
    }
    if (v->dots)
        ac_lo_dots(L, &(ac_dots){.c = &v->c,
                                 .m = v->m,
                                 .n = v->n,
                                 .k = v->k,
                                 .x = v->x,
                                 .y = v->y,
                                 .x_at = v->x_at,
                                 .y_at = v->y_at,
                                 .idx = v->idx,
                                 .rank = v->rank});
    else
        product(v);
    for (int32_t i = 0; i < v->rank - 2; i++)
        ac_lb_end(b);
    return AC_OK;
}

int ac_lo_matmul(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *y = n->in[1], *out = n->out[0];
    if (x->rank < 2 || y->rank < 2)
        return ac_lower_refuse(L, "operands are %s and %s: supported are at least 2 dimensions", ac_shape_str(L->cx, x),
                               ac_shape_str(L->cx, y));
    matmul v = {
        .L = L, .adj_x = n->attrs.matmul.adj_x, .adj_y = n->attrs.matmul.adj_y, .rank = out->rank, .floats = -1};
    v.m = out->dim[out->rank - 2];
    v.n = out->dim[out->rank - 1];
    v.k = x->dim[v.adj_x ? x->rank - 2 : x->rank - 1];
    AC_TRY(
        ac_channel_open(L, &v.c, x, y, NULL, v.n, v.adj_y ? y->rank - 2 : y->rank - 1, AC_ACT_NONE, AC_ROUND_MATMUL));
    for (int32_t i = 0; v.c.per_channel && i < y->quant->n; i++)
        if (y->quant->zero[i])
            return ac_lower_refuse(L, "'%s' has a scale for each column and zero point %d: supported is 0", y->name,
                                   (int)y->quant->zero[i]);
    if (v.c.kind == AC_MACS_HYBRID && v.adj_x)
        return ac_lower_refuse(L, "adj_x with f32 input and i8 weights: supported without adj_x");
    if (ac_tensor_count(out) == 0)
        return AC_OK;
    if (ac_gpu_gemm_fits(L, &v.c, ac_tensor_count(out) / (v.m * v.n), v.m, v.n, v.k))
        return ac_gpu_matrices(L, &v.c, v.adj_x, v.adj_y, v.k);
    return schedule(&v);
}
