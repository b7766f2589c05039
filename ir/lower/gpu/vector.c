/* vector.c - products of few rows on a GPU: a warp to several results; see vector.h.
 *
 * A unit is 16 bytes of weights, neighbours along the sum. Lane l of a warp takes units l, l + 32, .. of a slice, for
 * `results` rows of weights and `rows` rows of x at once, and loads the weights of `deep` of its units before it
 * multiplies any, so that much is under way. Units after the last multiple of 32 * slices are loaded under a test.
 *
 * Order of a float sum: lane l has `parts` sums, element e of a unit in sum e % parts, one fma after another, the first
 * of lane 0 of slice 0 from the bias on; the parts are added as (0 + 2) + (1 + 3); then lanes ^ 16, 8, 4, 2, 1; then
 * the slices, one after another. A warp with several results exchanges halves of them: the same pairs are added. */
#include "ir/lower/gpu/vector.h"

#include "ir/lower/gpu/plan.h"
#include "ir/lower/gpu/warp.h"
#include "ir/lower/matrix.h"

enum {
    MOST_RESULTS = 4,  /* rows of weights of a warp */
    MOST_ROWS = 8,     /* of x, of a warp */
    UNDER_WAY = 12,    /* units of a lane */
    MANY_WARPS = 1024, /* enough for a GPU: then warps have more results */
    SOME_WARPS = 264,  /* fewer: then they have fewer rows */
    LEAST_DEPTH = 16
};

typedef struct vector {
    ac_lower *L;
    const ac_channel *c;
    ac_gpu_norm *norm; /* x is in shared memory, normalised; NULL: in memory */
    bool bytes;
    int64_t rows, depth;
    int32_t x, w;              /* buffers */
    int32_t threads, warps;    /* of a block */
    int32_t unit, piece;       /* elements of a unit; of a load of x */
    int32_t results, slices;   /* of a warp; warps that share a sum */
    int32_t tile, sums;        /* rows of a warp; its results, a power of two */
    int32_t parts;             /* sums of each result in a lane */
    int64_t groups, tiles;     /* of results; of rows */
    int32_t own, keep, send;   /* registers: sums, and the halves of an exchange */
    ac_x row[MOST_ROWS];       /* first elements of rows of x .. */
    ac_x weight[MOST_RESULTS]; /* .. and of w */
    ac_x acc[MOST_ROWS * MOST_RESULTS * 4];
    ac_x t, lane, warp, slice; /* of the phase */
    ac_x first_row, first;     /* of the warp: row of x, result */
} vector;

/* ------------------------------------------------------------------ the plan */

static int32_t most_unit(const ac_lower *L, const ac_channel *c, bool shared, int64_t depth)
{
    const bool bytes = c->kind == AC_MACS_I8;
    int32_t unit = bytes ? 16 : c->w->narrowed ? 8 : 4;
    const int32_t x_bytes = bytes ? 1 : c->x->narrowed ? 2 : 4, align = shared ? 16 : ac_lo_align(L, c->x);
    while (unit > 1 &&
           (depth % unit || (unit < 4 && unit * x_bytes < 8) || align < (unit * x_bytes < 16 ? unit * x_bytes : 16)))
        unit /= 2;
    return bytes && unit == 8 ? 4 : unit < 4 && c->w->narrowed ? 1 : unit;
}

bool ac_gpu_vector_fits(const ac_lower *L, const ac_channel *c, int64_t rows, int64_t depth)
{
    const bool fixed = ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias));
    const bool bytes = c->kind == AC_MACS_I8 && !c->zw && depth % 4 == 0 && ac_lo_align(L, c->x) >= 4;
    return L->target->isa == AC_ISA_CUDA && !L->exact && fixed && depth >= LEAST_DEPTH &&
           (c->kind == AC_MACS_F32 || bytes) && rows * c->n <= INT32_MAX && c->n * depth <= INT32_MAX;
}

static int64_t warps_of(const vector *v)
{
    return ac_gpu_over(v->c->n, v->results) * ac_gpu_over(v->rows, v->tile) * v->slices;
}

static void choose(vector *v)
{
    const int64_t units = v->depth / v->unit;
    v->tile = (int32_t)(v->rows < MOST_ROWS ? v->rows : MOST_ROWS);
    v->results = v->slices = 1;
    int32_t most = 1; /* warps that can share a sum */
    while (most < v->warps && units >= 2 * most * GPU_LANES)
        most *= 2;
    while (v->results < MOST_RESULTS && v->c->n * (v->results > 1 ? 1 : most) >= MANY_WARPS * 2 * v->results)
        v->results *= 2;
    while (v->slices < v->warps && warps_of(v) < MANY_WARPS && units >= 2 * v->slices * GPU_LANES)
        v->slices *= 2;
    while (v->tile > 1 && warps_of(v) < SOME_WARPS)
        v->tile = (v->tile + 1) / 2;
    v->sums = 1;
    while (v->sums < v->tile * v->results)
        v->sums *= 2;
    v->parts = !v->bytes && v->unit % 4 == 0 && v->sums <= 4 ? 4 : 1;
    v->groups = ac_gpu_over(v->c->n, v->results);
    v->tiles = ac_gpu_over(v->rows, v->tile);
}

/* ------------------------------------------------------------------ sums of a lane */

static ac_x k_of(const vector *v, int64_t k)
{
    return ac_lb_i32(&v->L->b, k);
}

/* Thread's element q of one of its arrays. */
static ac_x own_at(const vector *v, ac_x t, int64_t q)
{
    return ac_lb_add(&v->L->b, k_of(v, q * v->threads), t);
}

/* Blocks for all results of a tile of rows. */
static int64_t blocks_of(const vector *v)
{
    return ac_gpu_over(v->groups, v->warps / v->slices);
}

/* The first result of group `group` of block g. */
static ac_x first_of(const vector *v, ac_x g, ac_x group)
{
    ac_lb *b = &v->L->b;
    const ac_x before = ac_lb_mul(b, ac_lb_mod(b, g, k_of(v, blocks_of(v))), k_of(v, v->warps / v->slices));
    return ac_lb_mul(b, ac_lb_add(b, before, group), k_of(v, v->results));
}

/* Opens a phase: which warp, lane, and results. */
static void phase(vector *v, ac_x g)
{
    ac_lb *b = &v->L->b;
    v->t = ac_lb_for(b, "t", ac_lb_i32(b, 0), ac_lb_i32(b, v->threads), 1, AC_MARK_BLOCK);
    v->lane = ac_lb_mod(b, v->t, k_of(v, GPU_LANES));
    v->warp = ac_lb_div(b, v->t, k_of(v, GPU_LANES));
    v->slice = ac_lb_mod(b, v->warp, k_of(v, v->slices));
    v->first = first_of(v, g, ac_lb_div(b, v->warp, k_of(v, v->slices)));
    v->first_row = ac_lb_mul(b, ac_lb_div(b, g, k_of(v, blocks_of(v))), k_of(v, v->tile));
}

static void multiply_unit(vector *v, const ac_x *w, ac_x k)
{
    ac_lb *b = &v->L->b;
    for (int32_t m = 0; m < v->tile; m++)
        for (int32_t p = 0; p < v->unit; p += v->piece) {
            const ac_x x =
                ac_lb_load_flags(b, v->x, ac_lb_add(b, ac_lb_add(b, v->row[m], k), k_of(v, p)), v->piece, AC_F_ALIGNED);
            const ac_x words = v->bytes && v->unit > 4 ? ac_lb_bitcast(b, x, AC_I32) : x;
            for (int32_t r = 0; r < v->results; r++) {
                const ac_x *acc = &v->acc[(m * v->results + r) * 4];
                const int32_t steps = v->bytes ? v->unit / 4 : v->piece;
                for (int32_t l = 0; l < steps; l++) {
                    const ac_x a = acc[v->bytes ? 0 : (p + l) % v->parts];
                    const ac_x xl = ac_lb_lane(b, words, l), wl = ac_lb_lane(b, w[r], p + l), sum = ac_lb_get(b, a);
                    if (!v->bytes)
                        ac_lb_set(b, a, ac_lo_madd(v->L, xl, wl, sum));
                    else if (v->unit == 4)
                        ac_lb_set(b, a, ac_lb_dot4(b, x, w[r], sum));
                    else
                        ac_lb_set(b, a, ac_lb_dot4(b, ac_lb_bitcast(b, xl, AC_I8), ac_lb_bitcast(b, wl, AC_I8), sum));
                }
            }
        }
}

/* n units of a lane, `step` elements apart, from element k of the rows on. */
static void units(vector *v, ac_x k, int32_t n, int64_t step)
{
    ac_lb *b = &v->L->b;
    ac_x w[UNDER_WAY * MOST_RESULTS];
    for (int32_t u = 0; u < n; u++)
        for (int32_t r = 0; r < v->results; r++) {
            const ac_x at = ac_lb_add(b, ac_lb_add(b, v->weight[r], k), k_of(v, u * step));
            const ac_x unit = ac_lb_load_flags(b, v->w, at, v->unit, AC_F_ALIGNED);
            w[u * v->results + r] = v->bytes && v->unit > 4 ? ac_lb_bitcast(b, unit, AC_I32) : unit;
        }
    for (int32_t u = 0; u < n; u++)
        multiply_unit(v, &w[u * v->results], ac_lb_add(b, k, k_of(v, u * step)));
}

/* All units of the lane. */
static void lane_sums(vector *v)
{
    ac_lb *b = &v->L->b;
    const int64_t round = GPU_LANES * (int64_t)v->unit, all = v->depth / v->unit,
                  full = all / ((int64_t)GPU_LANES * v->slices), rest = all % ((int64_t)GPU_LANES * v->slices);
    int64_t deep = UNDER_WAY / v->results;
    for (int64_t d = deep; d > deep / 2 && full > deep; d--)
        if (full % d == 0) {
            deep = d;
            break;
        }
    const ac_x at = ac_lb_mul(b, v->lane, k_of(v, v->unit)), from = ac_lb_mul(b, v->slice, k_of(v, full * round));
    const int64_t whole = full / deep * deep;
    if (whole) {
        const ac_x k = ac_lb_for(b, "k", ac_lb_i32(b, 0), k_of(v, whole * round), deep * round, AC_MARK_SERIAL);
        units(v, ac_lb_add(b, ac_lb_add(b, from, k), at), (int32_t)deep, round);
        ac_lb_end(b);
    }
    if (full > whole)
        units(v, ac_lb_add(b, ac_lb_add(b, from, k_of(v, whole * round)), at), (int32_t)(full - whole), round);
    if (!rest)
        return;
    const ac_x unit = ac_lb_add(b, ac_lb_mul(b, v->slice, k_of(v, GPU_LANES)), v->lane);
    ac_lb_if(b, ac_lb_lt(b, unit, k_of(v, rest)));
    units(v, ac_lb_add(b, k_of(v, full * round * v->slices), ac_lb_mul(b, unit, k_of(v, v->unit))), 1, round);
    ac_lb_end(b);
}

/* The sum of result r of the warp begins with its bias, in lane 0 of slice 0. */
static ac_x start(const vector *v, int32_t r)
{
    ac_lb *b = &v->L->b;
    const ac_x oc = ac_lb_min(b, ac_lb_add(b, v->first, k_of(v, r)), k_of(v, v->c->n - 1)),
               bias = ac_channel_start(v->c, oc, 1);
    const ac_x is_first = ac_lb_eq(b, ac_lb_add(b, v->slice, v->lane), k_of(v, 0));
    return ac_lb_select(b, is_first, bias, ac_lb_f32(b, 0));
}

static void sums(vector *v, ac_x g)
{
    ac_lb *b = &v->L->b;
    phase(v, g);
    const ac_x zero = v->bytes ? ac_lb_i32(b, 0) : ac_lb_f32(b, 0);
    for (int32_t m = 0; m < v->tile; m++)
        v->row[m] = v->norm ? k_of(v, m * ac_align_up(v->depth, 4))
                            : ac_lb_mul(b, ac_lb_min(b, ac_lb_add(b, v->first_row, k_of(v, m)), k_of(v, v->rows - 1)),
                                        k_of(v, v->depth));
    for (int32_t r = 0; r < v->results; r++)
        v->weight[r] =
            ac_lb_mul(b, ac_lb_min(b, ac_lb_add(b, v->first, k_of(v, r)), k_of(v, v->c->n - 1)), k_of(v, v->depth));
    for (int32_t q = 0; q < v->tile * v->results; q++)
        for (int32_t p = 0; p < v->parts; p++)
            v->acc[q * 4 + p] = ac_lb_var(b, "acc", p || !v->c->bias_first ? zero : start(v, q % v->results));
    lane_sums(v);
    for (int32_t q = 0; q < v->sums; q++) {
        const ac_x *acc = &v->acc[q * 4];
        ac_x sum = q < v->tile * v->results ? ac_lb_get(b, acc[0]) : zero;
        if (v->parts == 4 && q < v->tile * v->results)
            sum = ac_lb_add(b, ac_lb_add(b, sum, ac_lb_get(b, acc[2])),
                            ac_lb_add(b, ac_lb_get(b, acc[1]), ac_lb_get(b, acc[3])));
        ac_lb_store(b, v->own, own_at(v, v->t, q), sum);
    }
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ sums of a warp */

static ac_x plus(const vector *v, ac_x x, ac_x y)
{
    return v->bytes ? ac_lb_add_wrap(&v->L->b, x, y) : ac_lb_add(&v->L->b, x, y);
}

/* Afterwards lane l has the sum of result l / (32 / sums) as its element 0 of the array returned. */
static int32_t exchange(vector *v)
{
    ac_lb *b = &v->L->b;
    int32_t mask = GPU_LANES / 2, from = v->own, to = v->keep;
    for (int32_t n = v->sums / 2; n >= 1; n /= 2, mask /= 2) {
        ac_x t = ac_lb_for(b, "t", ac_lb_i32(b, 0), k_of(v, v->threads), 1, AC_MARK_BLOCK);
        const ac_x upper = ac_lb_ne(b, ac_lb_and(b, t, k_of(v, mask)), ac_lb_i32(b, 0));
        for (int32_t i = 0; i < n; i++) {
            const ac_x low = ac_lb_load(b, v->own, own_at(v, t, i), 1),
                       high = ac_lb_load(b, v->own, own_at(v, t, i + n), 1);
            ac_lb_store(b, v->keep, own_at(v, t, i), ac_lb_select(b, upper, high, low));
            ac_lb_store(b, v->send, own_at(v, t, i), ac_lb_select(b, upper, low, high));
        }
        ac_lb_end(b);
        t = ac_lb_for(b, "t", ac_lb_i32(b, 0), k_of(v, v->threads), 1, AC_MARK_BLOCK);
        for (int32_t i = 0; i < n; i++) {
            const ac_x other = ac_lb_load(b, v->send, own_at(v, ac_lb_xor(b, t, k_of(v, mask)), i), 1);
            ac_lb_store(b, v->own, own_at(v, t, i), plus(v, ac_lb_load(b, v->keep, own_at(v, t, i), 1), other));
        }
        ac_lb_end(b);
    }
    for (; mask; mask /= 2) {
        const ac_x t = ac_lb_for(b, "t", ac_lb_i32(b, 0), k_of(v, v->threads), 1, AC_MARK_BLOCK);
        const ac_x mine = ac_lb_load(b, from, own_at(v, t, 0), 1),
                   other = ac_lb_load(b, from, own_at(v, ac_lb_xor(b, t, k_of(v, mask)), 0), 1);
        ac_lb_store(b, to, own_at(v, t, 0), plus(v, mine, other));
        ac_lb_end(b);
        const int32_t was = from;
        from = to;
        to = was;
    }
    return from;
}

/* Stores result q of a warp whose results begin at row first_row and channel first, if it exists, in the threads whose
 * `writes` is true (0: in all). */
static void store(const vector *v, ac_x sum, ac_x q, ac_x first, ac_x writes)
{
    ac_lower *L = v->L;
    ac_lb *b = &L->b;
    const ac_channel *c = v->c;
    ac_x idx[AC_MAX_RANK];
    const ac_x row = ac_lb_add(b, v->first_row, ac_lb_div(b, q, k_of(v, v->results))),
               oc = ac_lb_add(b, first, ac_lb_mod(b, q, k_of(v, v->results)));
    ac_x ok = ac_lb_and(b, ac_lb_lt(b, oc, k_of(v, c->n)), ac_lb_lt(b, row, k_of(v, v->rows)));
    ok = writes ? ac_lb_and(b, writes, ok) : ok;
    if (v->sums != v->tile * v->results)
        ok = ac_lb_and(b, ok, ac_lb_lt(b, q, k_of(v, v->tile * v->results)));
    ac_lb_if(b, ok);
    ac_row_index(L, row, idx);
    idx[c->out->rank - 1] = oc;
    sum = v->bytes ? ac_lb_add_wrap(b, sum, ac_channel_start(c, oc, 1)) : sum;
    ac_lo_result(L, ac_channel_done(c, sum, oc), idx, 1);
    ac_lb_end(b);
}

/* Lanes that hold a result of their own, and which. */
static ac_x holds(const vector *v)
{
    ac_lb *b = &v->L->b;
    return ac_lb_eq(b, ac_lb_mod(b, v->lane, k_of(v, GPU_LANES / v->sums)), ac_lb_i32(b, 0));
}
static ac_x which(const vector *v)
{
    return ac_lb_div(&v->L->b, v->lane, k_of(v, GPU_LANES / v->sums));
}

/* The slices of a sum are warps: through shared memory. */
static void add_slices(vector *v, ac_x g, int32_t all)
{
    ac_lb *b = &v->L->b;
    const int32_t part =
        ac_lo_gpu_local(v->L, "part", v->bytes ? AC_I32 : AC_F32, (int64_t)v->warps * v->sums, AC_WHERE_SHARED);
    phase(v, g);
    ac_lb_if(b, holds(v));
    ac_lb_store(b, part, ac_lb_add(b, ac_lb_mul(b, v->warp, k_of(v, v->sums)), which(v)),
                ac_lb_load(b, all, own_at(v, v->t, 0), 1));
    ac_lb_end(b);
    ac_lb_end(b);
    phase(v, g);
    const ac_x group = ac_lb_div(b, v->t, k_of(v, v->sums)), q = ac_lb_mod(b, v->t, k_of(v, v->sums));
    ac_lb_if(b, ac_lb_lt(b, group, k_of(v, v->warps / v->slices)));
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, group, k_of(v, (int64_t)v->slices * v->sums)), q);
    ac_x sum = ac_lb_load(b, part, at, 1);
    for (int32_t s = 1; s < v->slices; s++)
        sum = plus(v, sum, ac_lb_load(b, part, ac_lb_add(b, at, k_of(v, (int64_t)s * v->sums)), 1));
    store(v, sum, q, first_of(v, g, group), 0);
    ac_lb_end(b);
    ac_lb_end(b);
}

int ac_gpu_vector(ac_lower *L, ac_channel *c, ac_gpu_norm *norm, int64_t n_rows, int64_t depth)
{
    ac_lb *b = &L->b;
    const ac_rows rows = {depth, depth, 1};
    const bool bytes = c->kind == AC_MACS_I8;
    const ac_dtype d = bytes ? AC_I32 : AC_F32;
    vector v = {.L = L,
                .c = c,
                .norm = norm,
                .bytes = bytes,
                .rows = n_rows,
                .depth = depth,
                .unit = most_unit(L, c, norm, depth)};
    v.piece = bytes || (c->x->narrowed && !norm) || v.unit < 4 ? v.unit : 4;
    v.threads = ac_gpu_warps_threads(c->n * n_rows, depth);
    v.warps = v.threads / GPU_LANES;
    choose(&v);
    ac_channel_tables(c, c->n, bytes ? &rows : NULL, c->zx);
    c->bias_first = c->kind == AC_MACS_F32;
    if (norm)
        ac_gpu_norm_open(norm, v.tile, v.threads);
    v.x = norm ? ac_lo_gpu_local(L, "rows", AC_F32, v.tile * ac_align_up(depth, 4), AC_WHERE_SHARED)
               : ac_lo_operand(L, c->x);
    v.w = ac_lo_operand(L, c->w);
    v.own = ac_lo_gpu_local(L, "sum", d, (int64_t)v.sums * v.threads, AC_WHERE_THREAD);
    v.keep = ac_lo_gpu_local(L, "keep", d, (int64_t)(v.sums > 1 ? v.sums / 2 : 1) * v.threads, AC_WHERE_THREAD);
    if (v.sums > 1)
        v.send = ac_lo_gpu_local(L, "send", d, (int64_t)v.sums / 2 * v.threads, AC_WHERE_THREAD);
    const ac_x g = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, blocks_of(&v) * v.tiles), 1, AC_MARK_GRID);
    if (norm) {
        const ac_x first = ac_lb_mul(b, ac_lb_div(b, g, k_of(&v, blocks_of(&v))), k_of(&v, v.tile));
        ac_gpu_norm_rows(norm, first, v.x, (int32_t)ac_align_up(depth, 4), (int32_t)depth, -1,
                         ac_lb_eq(b, ac_lb_mod(b, g, k_of(&v, blocks_of(&v))), k_of(&v, 0)));
    }
    sums(&v, g);
    const int32_t all = exchange(&v);
    if (v.slices > 1) {
        add_slices(&v, g, all);
    } else {
        phase(&v, g);
        store(&v, ac_lb_load(b, all, own_at(&v, v.t, 0), 1), which(&v), v.first, holds(&v));
        ac_lb_end(b);
    }
    ac_lb_end(b);
    return AC_OK;
}
