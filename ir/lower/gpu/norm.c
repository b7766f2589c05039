/* norm.c - normalises rows of a block; see norm.h. */
#include "ir/lower/gpu/norm.h"

#include "ir/lower/gpu/plan.h"

enum { LANES = 32, MOST_HELD = 64 }; /* elements of rows that a lane holds at once */

static ac_x num(const ac_gpu_norm *n, int64_t v)
{
    return ac_lb_i32(&n->L->b, v);
}
static ac_x open_phase(const ac_gpu_norm *n)
{
    return ac_lb_for(&n->L->b, "t", num(n, 0), num(n, n->threads), 1, AC_MARK_BLOCK);
}
static ac_x own(const ac_gpu_norm *n, ac_x t, int64_t k)
{
    return ac_lb_add(&n->L->b, num(n, k * n->threads), t);
}
static ac_x held(const ac_gpu_norm *n, int32_t buf, ac_x t, int64_t k)
{
    return ac_lb_load(&n->L->b, buf, own(n, t, k), 1);
}

static int32_t warps_of(const ac_gpu_norm *n)
{
    return n->threads / LANES;
}

void ac_gpu_norm_open(ac_gpu_norm *n, int32_t rows, int32_t threads)
{
    ac_lower *L = n->L;
    const int32_t bytes = n->x->narrowed ? 2 : 4, align = ac_lo_align(L, n->x), warps = threads / LANES;
    const int32_t kept = n->kept < 0 ? 16 : L->b.fn->buf.item[n->kept].align;
    n->rows = rows;
    n->threads = threads;
    n->share = rows < warps ? warps / rows : 1;
    n->wide = 4;
    while (n->wide > 1 && (n->depth % (LANES * n->wide * n->share) || align < n->wide * bytes || kept < n->wide * 4))
        n->wide /= 2;
    const int64_t sweep = (int64_t)LANES * n->wide * n->share;
    n->pieces = (int32_t)(ac_gpu_over(n->depth, sweep));
    const int32_t each = (int32_t)ac_gpu_over(rows, warps), most = MOST_HELD / (n->pieces * n->wide);
    n->chunk = each < most ? each : most > 1 ? most : 1;
    n->x_buf = ac_lo_operand(L, n->x);
    n->gain_buf = n->gain ? ac_lo_operand(L, n->gain) : -1;
    n->shift_buf = n->shift ? ac_lo_operand(L, n->shift) : -1;
    n->held = ac_lo_gpu_local(L, "row", AC_F32, (int64_t)n->chunk * n->pieces * n->wide * threads, AC_WHERE_THREAD);
    for (int32_t i = 0; i < 2; i++) {
        const bool given = i ? n->shift != NULL : n->gain != NULL;
        n->scale[i] = !given ? -1
                             : ac_lo_gpu_local(L, i ? "shift" : "gain", AC_F32, (int64_t)n->pieces * n->wide * threads,
                                               AC_WHERE_THREAD);
        n->part[i] = ac_lo_gpu_local(L, i ? "all" : "some", AC_F32, (int64_t)n->chunk * threads, AC_WHERE_THREAD);
    }
    if (n->share > 1)
        n->of_warp = ac_lo_gpu_local(L, "of_warp", AC_F32, 2 * warps, AC_WHERE_SHARED);
}

/* ------------------------------------------------------------------ places */

/* Row r of the chunk from `from` on, of the block. */
static ac_x row_of(const ac_gpu_norm *n, ac_x t, int32_t from, int32_t r)
{
    ac_lb *b = &n->L->b;
    const ac_x warp = ac_lb_div(b, t, num(n, LANES));
    return n->rows < warps_of(n) ? ac_lb_mod(b, warp, num(n, n->rows))
                                 : ac_lb_add(b, warp, num(n, (int64_t)(from + r) * warps_of(n)));
}

/* Which of the warps of its row the thread's warp is; from `share` on: it has no part. */
static ac_x part_of(const ac_gpu_norm *n, ac_x t)
{
    return n->rows < warps_of(n) ? ac_lb_div(&n->L->b, t, num(n, (int64_t)n->rows * LANES)) : num(n, 0);
}

/* The first element of the lane's piece p. */
static ac_x column_of(const ac_gpu_norm *n, ac_x t, int32_t p)
{
    ac_lb *b = &n->L->b;
    const ac_x lane = ac_lb_mod(b, t, num(n, LANES)),
               of_row = ac_lb_add(b, ac_lo_scaled(b, part_of(n, t), LANES), lane);
    return ac_lb_add(b, ac_lo_scaled(b, of_row, n->wide), num(n, (int64_t)p * n->share * LANES * n->wide));
}

/* False: some lanes' piece p is after the row; pieces are single elements then. */
static bool whole(const ac_gpu_norm *n, int32_t p)
{
    return (int64_t)(p + 1) * n->share * LANES * n->wide <= n->depth;
}

/* Piece k of the thread's own in a buffer of registers. */
static ac_x piece_of(const ac_gpu_norm *n, int32_t buf, ac_x t, int32_t k)
{
    static const int64_t ALL[] = {0, 1, 2, 3};
    ac_lb *b = &n->L->b;
    ac_x v[4];
    for (int32_t l = 0; l < n->wide; l++)
        v[l] = held(n, buf, t, (int64_t)k * n->wide + l);
    if (n->wide == 1)
        return v[0];
    v[0] = ac_lb_shuffle(b, v[0], v[1], ALL, 2);
    return n->wide == 2 ? v[0] : ac_lb_shuffle(b, v[0], ac_lb_shuffle(b, v[2], v[3], ALL, 2), ALL, 4);
}

/* Piece k of the thread's own becomes the lane's piece p of a row at `from`; the last element after the row's end. */
static void load_piece(const ac_gpu_norm *n, ac_x t, int32_t p, int32_t buf, ac_x from, int32_t to, int32_t k)
{
    ac_lb *b = &n->L->b;
    const ac_x c = column_of(n, t, p), near = whole(n, p) ? c : ac_lb_min(b, c, num(n, n->depth - 1));
    const ac_x x = ac_lb_load_flags(b, buf, ac_lb_add(b, from, near), n->wide, n->wide > 1 ? AC_F_ALIGNED : 0);
    for (int32_t l = 0; l < n->wide; l++)
        ac_lb_store(b, to, own(n, t, (int64_t)k * n->wide + l), ac_lb_lane(b, x, l));
}

/* Gains and shifts do not wait for the kernel before. */
static void load_scales(const ac_gpu_norm *n)
{
    const ac_x t = open_phase(n);
    for (int32_t i = 0; i < 2; i++)
        for (int32_t p = 0; p < n->pieces && n->scale[i] >= 0; p++)
            load_piece(n, t, p, i ? n->shift_buf : n->gain_buf, num(n, 0), n->scale[i], p);
    ac_lb_end(&n->L->b);
}

/* ------------------------------------------------------------------ sums */

static void load_rows(const ac_gpu_norm *n, ac_x t, ac_x first, int32_t from)
{
    ac_lb *b = &n->L->b;
    for (int32_t r = 0; r < n->chunk; r++) {
        const ac_x row = ac_lb_min(b, ac_lb_add(b, first, row_of(n, t, from, r)), num(n, n->all - 1));
        for (int32_t p = 0; p < n->pieces; p++)
            load_piece(n, t, p, n->x_buf, ac_lo_scaled(b, row, n->depth), n->held, r * n->pieces + p);
    }
}

/* Sums of the rows, or of squares of their elements, into part[0]. */
static void lane_sums(const ac_gpu_norm *n, ac_x t, bool squares)
{
    ac_lb *b = &n->L->b;
    for (int32_t r = 0; r < n->chunk; r++) {
        ac_x sum = 0;
        for (int32_t p = 0; p < n->pieces; p++) {
            ac_x x = piece_of(n, n->held, t, r * n->pieces + p);
            if (squares)
                x = ac_lb_mul(b, x, x);
            if (!whole(n, p))
                x = ac_lb_select(b, ac_lb_lt(b, column_of(n, t, p), num(n, n->depth)), x, ac_lb_f32(b, 0));
            sum = sum ? ac_lb_add(b, sum, x) : x;
        }
        ac_lb_store(b, n->part[0], own(n, t, r), n->wide > 1 ? ac_lb_sumlanes(b, sum) : sum);
    }
}

/* All lanes of a warp get its sums, in the buffer returned. */
static int32_t warp_sums(const ac_gpu_norm *n)
{
    ac_lb *b = &n->L->b;
    int32_t from = 0;
    for (int32_t mask = LANES / 2; mask; mask /= 2, from = 1 - from) {
        const ac_x t = open_phase(n), other = ac_lb_xor(b, t, num(n, mask));
        for (int32_t r = 0; r < n->chunk; r++)
            ac_lb_store(b, n->part[1 - from], own(n, t, r),
                        ac_lb_add(b, held(n, n->part[from], t, r), held(n, n->part[from], other, r)));
        ac_lb_end(b);
    }
    return n->part[from];
}

/* Warps that share a row hand on its sums, which all of them add: one row for each warp. `at`: where, of the shared
 * array. */
static void add_warps(const ac_gpu_norm *n, int32_t sums, int32_t at)
{
    ac_lb *b = &n->L->b;
    ac_x t = open_phase(n);
    ac_lb_if(b, ac_lb_eq(b, ac_lb_mod(b, t, num(n, LANES)), num(n, 0)));
    ac_lb_store(b, n->of_warp, ac_lb_add(b, ac_lb_div(b, t, num(n, LANES)), num(n, at)), held(n, sums, t, 0));
    ac_lb_end(b);
    ac_lb_end(b);
    t = open_phase(n);
    ac_x sum = 0;
    for (int32_t k = 0; k < n->share; k++) {
        const ac_x of = ac_lb_add(b, row_of(n, t, 0, 0), num(n, at + (int64_t)k * n->rows));
        const ac_x v = ac_lb_load(b, n->of_warp, of, 1);
        sum = sum ? ac_lb_add(b, sum, v) : v;
    }
    ac_lb_store(b, sums, own(n, t, 0), sum);
    ac_lb_end(b);
}

/* Sums over whole rows, in the buffer returned. */
static int32_t row_sums(const ac_gpu_norm *n, bool squares)
{
    const int32_t sums = warp_sums(n);
    if (n->share > 1)
        add_warps(n, sums, squares ? warps_of(n) : 0);
    return sums;
}

static ac_x mean_of(const ac_gpu_norm *n, int32_t sums, ac_x t, int32_t r)
{
    ac_lb *b = &n->L->b;
    return ac_lb_mul(b, held(n, sums, t, r), ac_lb_f32(b, 1 / (double)n->depth));
}

/* Elements become differences from the mean. */
static void subtract_means(const ac_gpu_norm *n, int32_t sums, ac_x t)
{
    ac_lb *b = &n->L->b;
    for (int32_t r = 0; r < n->chunk; r++) {
        const ac_x mean = mean_of(n, sums, t, r);
        for (int32_t e = 0; e < n->pieces * n->wide; e++) {
            const int64_t k = (int64_t)r * n->pieces * n->wide + e;
            ac_lb_store(b, n->held, own(n, t, k), ac_lb_sub(b, held(n, n->held, t, k), mean));
        }
    }
}

/* ------------------------------------------------------------------ results */

static ac_x finished(const ac_gpu_norm *n, ac_x t, int32_t r, int32_t p, ac_x factor)
{
    ac_lb *b = &n->L->b;
    ac_x v = ac_lb_mul(b, piece_of(n, n->held, t, r * n->pieces + p), ac_lb_splat(b, factor, n->wide));
    if (n->gain)
        v = ac_lb_mul(b, v, piece_of(n, n->scale[0], t, p));
    if (n->shift)
        v = ac_lb_add(b, v, piece_of(n, n->scale[1], t, p));
    return ac_lb_cast(b, ac_lb_cast(b, v, n->type), AC_F32);
}

/* 1 / sqrt(x) for x >= epsilon, within 3 units in the last place, without branches: a root and a division, correctly
 * rounded, are 50 instructions with calls, which the rows of a warp would wait for one after another. */
static ac_x inverse_root(const ac_gpu_norm *n, ac_x x)
{
    ac_lb *b = &n->L->b;
    if (n->epsilon < 1e-30) /* the guess is for normal numbers */
        return ac_lb_div(b, ac_lb_f32(b, 1), ac_lb_sqrt(b, x));
    x = ac_lb_min(b, x, ac_lb_f32(b, 3.402823466e38));
    const ac_x half = ac_lb_mul(b, x, ac_lb_f32(b, 0.5)), bits = ac_lb_shr(b, ac_lb_bitcast(b, x, AC_I32), num(n, 1));
    ac_x y = ac_lb_bitcast(b, ac_lb_sub_wrap(b, num(n, 0x5f375a86), bits), AC_F32);
    for (int32_t k = 0; k < 3; k++) {
        const ac_x xy = ac_lb_mul(b, half, y);
        y = ac_lb_mul(b, y, ac_lb_sub(b, ac_lb_f32(b, 1.5), ac_lb_mul(b, xy, y)));
    }
    return y;
}

/* Where a block stores its rows, as in ac_gpu_norm_rows. */
typedef struct places {
    ac_x first, keeps;
    int32_t buf, pitch, padded;
} places;

/* Stores a piece in the result of all rows. */
static void keep(const ac_gpu_norm *n, ac_x row, ac_x column, ac_x v, ac_x keeps)
{
    ac_lb *b = &n->L->b;
    ac_lb_if(b, n->all % n->rows ? ac_lb_and(b, keeps, ac_lb_lt(b, row, num(n, n->all))) : keeps);
    ac_lb_store_flags(b, n->kept, ac_lb_add(b, ac_lo_scaled(b, row, n->depth), column), v,
                      n->wide > 1 ? AC_F_ALIGNED : 0);
    ac_lb_end(b);
}

/* Stores row r of the chunk. */
static void store_row(const ac_gpu_norm *n, int32_t squares, ac_x t, int32_t from, int32_t r, const places *to)
{
    ac_lb *b = &n->L->b;
    const int32_t warps = warps_of(n);
    const bool few = n->rows < warps, last = few ? warps % n->rows != 0 : (from + r + 1) * warps > n->rows;
    const ac_x row = row_of(n, t, from, r), part = part_of(n, t);
    const ac_x spread = ac_lb_add(b, mean_of(n, squares, t, r), ac_lb_f32(b, n->epsilon));
    const ac_x factor = inverse_root(n, spread), at = ac_lo_scaled(b, row, to->pitch);
    const ac_x exists = few ? ac_lb_lt(b, part, num(n, n->share)) : ac_lb_lt(b, row, num(n, n->rows));
    ac_lb_if(b, last ? exists : ac_lb_int(b, AC_BOOL, 1));
    for (int32_t p = 0; p < n->pieces; p++) {
        const ac_x c = column_of(n, t, p), v = finished(n, t, r, p, factor);
        ac_lb_if(b, whole(n, p) ? ac_lb_int(b, AC_BOOL, 1) : ac_lb_lt(b, c, num(n, n->depth)));
        ac_lb_store_flags(b, to->buf, ac_lb_add(b, at, c), v, n->wide > 1 ? AC_F_ALIGNED : 0);
        if (n->kept >= 0)
            keep(n, ac_lb_add(b, to->first, row), c, v, to->keeps);
        ac_lb_end(b);
    }
    if (to->padded > n->depth) {
        const ac_x lane = ac_lb_mod(b, t, num(n, LANES));
        ac_lb_if(b, ac_lb_and(b, ac_lb_lt(b, lane, num(n, to->padded - n->depth)), ac_lb_eq(b, part, num(n, 0))));
        ac_lb_store(b, to->buf, ac_lb_add(b, at, ac_lb_add(b, lane, num(n, n->depth))), ac_lb_f32(b, 0));
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

void ac_gpu_norm_rows(const ac_gpu_norm *n, ac_x first, int32_t to, int32_t pitch, int32_t padded, int32_t left,
                      ac_x keeps)
{
    const places at = {first, keeps, to, pitch, padded};
    ac_lb *b = &n->L->b;
    const int32_t warps = warps_of(n), each = (int32_t)ac_gpu_over(n->rows, warps);
    if (n->gain || n->shift)
        load_scales(n);
    for (int32_t from = 0; from < each; from += n->chunk) {
        ac_x t = open_phase(n);
        load_rows(n, t, first, from);
        lane_sums(n, t, !n->center);
        ac_lb_end(b);
        int32_t sums = row_sums(n, !n->center);
        if (n->center) {
            t = open_phase(n);
            subtract_means(n, sums, t);
            lane_sums(n, t, true);
            ac_lb_end(b);
            sums = row_sums(n, true);
        }
        t = open_phase(n);
        if (left >= 0 && from + n->chunk >= each)
            ac_lb_groups(b, t, left + 1);
        for (int32_t r = 0; r < n->chunk && from + r < each; r++)
            store_row(n, sums, t, from, r, &at);
        ac_lb_end(b);
    }
}
