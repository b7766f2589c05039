/* small.c - a small product of bytes by tensor cores in few blocks, without steps: a block copies whole rows of x,
 * as the filter meets them, to shared memory, once; each of its 8 warps loads its fragments of the packed weights
 * while they are on their way, and multiplies all of its depth at once.
 *
 *     warp: 16 * tm rows, 8 * tn columns, a slice of the depth     slices of a tile are added in shared memory
 *
 * At most BLOCKS blocks, so that a cluster can run the product as one of its phases (codegen/join/clusters.h). Blocks
 * take neighbouring rows, all columns first. Weights are packed [columns of 8][slice][pair of steps][lane][4 words],
 * as lanes load them. */
#include "ir/lower/gpu/small.h"

#include "ir/lower/gpu/plan.h"
#include "ir/lower/lower.h"

enum {
    WARPS = 8,
    LANES = 32,
    BLOCKS = 8,
    STEP = 32, /* bytes of the depth that one instruction multiplies */
    ROWS = 16,
    COLUMNS = 8,
    PAD = 16, /* bytes after a row of x in shared memory: rows are in different banks */
    MOST_SHARED = 46 << 10,
    MOST_WORDS = 120, /* fragments of a thread */
    MOST_SUMS = 32,
    CLUSTER_MACS = 5 << 19, /* of a product that a cluster computes */
    MOST_MACS = 24 << 20,
    MULTIPROCESSORS = 132,
    MOST_PIECES = 4,
    MOST_LOADS = 16 /* of a thread, at once */
};

typedef struct small {
    ac_gpu_gemm *g;
    ac_lb *b;
    int64_t mb, nb;         /* blocks along rows and columns */
    int64_t wm, wn, slices; /* warps of a block */
    int64_t tm, tn;         /* pieces of a warp: of 16 rows, of 8 columns */
    int64_t steps;          /* of a slice */
    int64_t pitch;          /* words of a row in shared memory */
    int64_t sets;           /* of accumulators, that take steps in turn */
    int32_t piece;          /* bytes of a copy of x: 16, 4 or 1 */
    int32_t words, sums, part;
    int32_t scales; /* multipliers and shifts of the thread's columns; -1: loaded when they are needed */
    ac_x m0, n0, t, warp, lane, wy, wx, ws; /* of the block; of the thread */
} small;

static int64_t threads_of(const small *s)
{
    return s->wm * s->wn * s->slices * LANES;
}
static int64_t rows_of(const small *s)
{
    return s->wm * s->tm * ROWS;
}
static int64_t columns_of(const small *s)
{
    return s->wn * s->tn * COLUMNS;
}
static int64_t words_x(const small *s)
{
    return s->steps * s->tm * 4;
}
static int64_t words_w(const small *s)
{
    return s->steps * s->tn * 2;
}

/* False: it takes too many registers or too much shared memory, or a slice has nothing to do. */
static bool fits(small *s, int64_t wm, int64_t wn, int64_t tm, int64_t tn)
{
    const ac_gpu_gemm *g = s->g;
    const int64_t steps = ac_gpu_over(g->depth, STEP);
    s->wm = wm;
    s->wn = wn;
    s->tm = tm;
    s->tn = tn;
    s->slices = WARPS / (wm * wn);
    while (s->slices > 1 && steps < 2 * s->slices)
        s->slices /= 2;
    s->steps = ac_gpu_over(steps, s->slices);
    s->sets = tm * tn < 2 ? 2 : 1;
    s->pitch = (s->slices * s->steps * STEP + PAD) / 4;
    s->mb = ac_gpu_over(g->rows, rows_of(s));
    s->nb = ac_gpu_over(g->n, columns_of(s));
    const int64_t parts = (s->slices > 1 ? s->slices : 0) * rows_of(s) * columns_of(s);
    const int64_t threads = threads_of(s);
    return (rows_of(s) <= threads || rows_of(s) % threads == 0) &&
           rows_of(s) * s->pitch * 4 + parts * 4 <= MOST_SHARED && words_x(s) + words_w(s) <= MOST_WORDS &&
           tm * tn * 4 * s->sets <= MOST_SUMS;
}

/* Estimates the cycles of a block: latencies, copies of x, fragments, products, results. */
static int64_t cycles(const small *s)
{
    enum { LATENCY = 1000, COPY = 50, FRAGMENT = 2, PRODUCT = 16, RESULT = 60, PART = 10 };
    const int64_t warps = s->wm * s->wn * s->slices, sums = s->tm * s->tn * 4;
    const int64_t pieces = ac_gpu_over(rows_of(s) * s->pitch * 4 / s->piece, warps * LANES);
    const int64_t own = s->steps * s->tm * (4 * FRAGMENT + s->tn * PRODUCT) + ac_gpu_over(sums, s->slices) * RESULT +
                        (s->slices > 1 ? (sums + ac_gpu_over(sums, s->slices) * s->slices) * PART : 0);
    return LATENCY + rows_of(s) * s->pitch * 4 / 64 + (pieces * COPY + own) * ac_gpu_over(warps, 4) / 2;
}

/* Chooses the pieces: those with the least estimate, on a cluster if it is small, else on a GPU. */
static bool share(small *s)
{
    const ac_gpu_gemm *g = s->g;
    const int64_t macs = g->rows * g->n * g->depth, blocks = macs <= CLUSTER_MACS ? BLOCKS : MULTIPROCESSORS;
    const int32_t align = ac_lo_align(g->L, g->c->x);
    int64_t least = INT64_MAX;
    s->piece = g->run % 16 == 0 && align >= 16 ? 16 : g->run % 4 == 0 && align >= 4 ? 4 : 1;
    small best = *s, at = *s;
    for (int64_t k = 0; k < 4 * 4 * MOST_PIECES * MOST_PIECES; k++) {
        const int64_t wm = INT64_C(1) << k % 4, wn = INT64_C(1) << k / 4 % 4;
        if (wm * wn > WARPS || !fits(&at, wm, wn, 1 + k / 16 % MOST_PIECES, 1 + k / 16 / MOST_PIECES))
            continue;
        const int64_t n = at.mb * at.nb, took = ac_gpu_over(n, blocks) * cycles(&at) * (n < BLOCKS ? BLOCKS : n) / n;
        if (took < least) {
            least = took;
            best = at;
        }
    }
    *s = best;
    return least < INT64_MAX;
}

bool ac_gpu_small_fits(ac_gpu_gemm *g)
{
    small s = {.g = g};
    const ac_lower *L = g->L;
    return g->elem == AC_I8 && ac_gpu_by_mma(g) && !g->y && g->many == 1 && !L->hint.vecs &&
           g->rows * g->n * g->depth <= MOST_MACS && share(&s);
}

static ac_x num(const small *s, int64_t v)
{
    return ac_lb_i32(s->b, v);
}
static ac_x by(const small *s, ac_x x, int64_t n, ac_x more)
{
    return ac_lb_add(s->b, ac_lb_mul(s->b, x, num(s, n)), more);
}

/* Word i of a lane's weights of a panel: the first element of the depth. Two steps are neighbours, so that a lane loads
 * 16 bytes; the last one may be alone. */
static int64_t pack_depth(const small *s, int64_t slice, int64_t i)
{
    return (slice * s->steps + i / 2) * STEP + i % 2 * STEP / 2;
}

/* Where words 4 p, 4 p + 1, .. of a lane are: pair p of a slice of a panel. */
static ac_x pack_at(const small *s, ac_lb *b, ac_x panel, ac_x slice, int64_t p, ac_x lane)
{
    const int64_t wide = 2 * p + 1 < s->steps ? 4 : 2, words = 2 * s->steps * LANES;
    const ac_x of = ac_lb_add(b, ac_lb_mul(b, panel, ac_lb_i32(b, s->slices)), slice),
               first = ac_lb_add(b, ac_lb_mul(b, of, ac_lb_i32(b, words)), ac_lb_i32(b, 4 * p * LANES));
    return ac_lb_add(b, first, ac_lb_mul(b, lane, ac_lb_i32(b, wide)));
}

/* Four weights from element k of a channel on, 0 for those that do not exist. */
static ac_x pack_word(const small *s, ac_lb *b, int32_t w, ac_x channel, ac_x k)
{
    const ac_gpu_gemm *g = s->g;
    ac_x word = 0;
    for (int32_t j = 0; j < 4; j++) {
        const ac_x at = ac_lb_add(b, k, ac_lb_i32(b, j)), real = ac_lb_and(b, ac_lb_lt(b, channel, ac_lb_i32(b, g->n)),
                                                                           ac_lb_lt(b, at, ac_lb_i32(b, g->depth)));
        const ac_x from = ac_lb_add(b, ac_lb_mul(b, channel, ac_lb_i32(b, g->depth)), at),
                   v = ac_lb_load(b, w, ac_lb_select(b, real, from, ac_lb_i32(b, 0)), 1);
        const ac_x byte = ac_lb_and(b, ac_lb_cast(b, ac_lb_select(b, real, v, ac_lb_int(b, AC_I8, 0)), AC_I32),
                                    ac_lb_i32(b, 255)),
                   part = ac_lb_shl(b, byte, ac_lb_i32(b, 8 * j));
        word = word ? ac_lb_or(b, word, part) : part;
    }
    return word;
}

static int32_t pack(const small *s)
{
    const int64_t panels = s->nb * columns_of(s) / COLUMNS;
    ac_lower P;
    const int32_t buf = ac_lo_pack_open(s->g->L, &P, "w", AC_I32, panels * s->slices * s->steps * 2 * LANES);
    ac_lb *b = &P.b;
    const int32_t w = ac_lo_operand(&P, s->g->c->w);
    const ac_x panel = ac_lb_for_n(b, "p", panels), lane = ac_lb_for_n(b, "lane", LANES);
    const ac_x channel = ac_lb_add(b, ac_lb_mul(b, panel, ac_lb_i32(b, COLUMNS)), ac_lb_div(b, lane, ac_lb_i32(b, 4)));
    const ac_x quad = ac_lb_mul(b, ac_lb_mod(b, lane, ac_lb_i32(b, 4)), ac_lb_i32(b, 4));
    for (int64_t slice = 0; slice < s->slices; slice++)
        for (int64_t i = 0; i < 2 * s->steps; i++) {
            const ac_x at = pack_at(s, b, panel, ac_lb_i32(b, slice), i / 4, lane);
            ac_lb_store(b, buf, ac_lb_add(b, at, ac_lb_i32(b, i % 4)),
                        pack_word(s, b, w, channel, ac_lb_add(b, quad, ac_lb_i32(b, pack_depth(s, slice, i)))));
        }
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(s->g->L, &P);
}

static void open_phase(small *s)
{
    ac_lb *b = s->b;
    s->t = ac_lb_for(b, "t", num(s, 0), num(s, threads_of(s)), 1, AC_MARK_BLOCK);
    s->warp = ac_lb_div(b, s->t, num(s, LANES));
    s->lane = ac_lb_mod(b, s->t, num(s, LANES));
    const ac_x rest = ac_lb_div(b, s->warp, num(s, s->slices));
    s->ws = ac_lb_mod(b, s->warp, num(s, s->slices));
    s->wx = ac_lb_mod(b, rest, num(s, s->wn));
    s->wy = ac_lb_div(b, rest, num(s, s->wn));
}

static ac_x own(const small *s, int64_t k)
{
    return ac_lb_add(s->b, num(s, k * threads_of(s)), s->t);
}
static int64_t sum_at(const small *s, int64_t set, int64_t i, int64_t j)
{
    return ((set * s->tm + i) * s->tn + j) * 4;
}
/* The column of accumulator e of piece j. */
static ac_x column_at(const small *s, ac_x j, ac_x e)
{
    ac_lb *b = s->b;
    const ac_x q = ac_lb_mod(b, s->lane, num(s, 4)), piece = by(s, s->wx, s->tn, j);
    return ac_lb_add(b, s->n0, by(s, piece, COLUMNS, by(s, q, 2, ac_lb_mod(b, e, num(s, 2)))));
}

/* Fragments of weights, and the first sums. */
static void load_weights(small *s)
{
    ac_lb *b = s->b;
    const ac_gpu_gemm *g = s->g;
    open_phase(s);
    const ac_x panel = ac_lb_add(b, ac_lb_div(b, s->n0, num(s, COLUMNS)), ac_lb_mul(b, s->wx, num(s, s->tn)));
    for (int64_t j = 0; j < s->tn; j++)
        for (int64_t p = 0; 2 * p < s->steps; p++) {
            const int32_t wide = 2 * p + 1 < s->steps ? 4 : 2;
            const ac_x at = pack_at(s, b, ac_lb_add(b, panel, num(s, j)), s->ws, p, s->lane),
                       v = ac_lb_load_flags(b, g->w, at, wide, AC_F_ALIGNED);
            for (int32_t l = 0; l < wide; l++)
                ac_lb_store(b, s->words, own(s, words_x(s) + j * s->steps * 2 + p * 4 + l), ac_lb_lane(b, v, l));
        }
    for (int64_t j = 0; j < s->tn; j++)
        for (int64_t e = 0; e < 2; e++) {
            const ac_x col = ac_lb_min(b, column_at(s, num(s, j), num(s, e)), num(s, g->n - 1)),
                       first = ac_channel_start(g->c, col, 1);
            const ac_x v = s->slices > 1 ? ac_lb_select(b, ac_lb_eq(b, s->ws, num(s, 0)), first, num(s, 0)) : first;
            if (s->scales >= 0) {
                ac_lb_store(b, s->scales, own(s, 4 * j + 2 * e), ac_lb_load(b, g->c->m_buf, col, 1));
                ac_lb_store(b, s->scales, own(s, 4 * j + 2 * e + 1), ac_lb_load(b, g->c->shift_buf, col, 1));
            }
            for (int64_t i = 0; i < 2 * s->tm; i++)
                for (int64_t set = 0; set < s->sets; set++)
                    ac_lb_store(b, s->sums, own(s, sum_at(s, set, i / 2, j) + i % 2 * 2 + e), set ? num(s, 0) : v);
        }
    ac_lb_end(b);
}

/* Element k of the depth of row p, whose window begins at `at`; *inside: x has it. */
static ac_x element(const small *s, const ac_gpu_corner *at, ac_x p, ac_x k, ac_x *inside)
{
    ac_lb *b = s->b;
    const ac_gpu_gemm *g = s->g;
    const ac_window *win = g->win;
    *inside = ac_lb_lt(b, k, num(s, g->depth));
    if (!win)
        return by(s, p, g->depth, k);
    if (win->y.taps * win->x.taps == 1 && ac_slide_inside(&win->y) && ac_slide_inside(&win->x))
        return by(s, at->pixel, win->ic, k);
    const ac_x ic = ac_lb_mod(b, k, num(s, g->run)), tap = ac_lb_div(b, k, num(s, g->run));
    const ac_x ky = ac_lb_mul(b, ac_lb_div(b, tap, num(s, win->x.taps)), num(s, win->y.dil)),
               kx = ac_lb_mul(b, ac_lb_mod(b, tap, num(s, win->x.taps)), num(s, win->x.dil));
    *inside = ac_lb_and(b, *inside,
                        ac_lb_and(b, ac_lo_within(b, ac_lb_add(b, at->iy, ky), win->y.in),
                                  ac_lo_within(b, ac_lb_add(b, at->ix, kx), win->x.in)));
    return by(s, ac_lb_add(b, at->pixel, by(s, ky, win->x.in, kx)), win->ic, ic);
}

/* Copies pieces first, first + apart, .. of a row: all loads, then all stores; left: pieces from those of thread 0
 * on. */
static void copy_pieces(const small *s, const ac_gpu_corner *at, ac_x p, ac_x row, ac_x first, int64_t apart,
                        int64_t left)
{
    ac_lb *b = s->b;
    const ac_gpu_gemm *g = s->g;
    const int32_t n = (int32_t)(ac_gpu_over(left, apart) < MOST_LOADS ? ac_gpu_over(left, apart) : MOST_LOADS);
    const int64_t pieces = (s->pitch * 4 - PAD) / s->piece;
    ac_x piece[MOST_LOADS], v[MOST_LOADS];
    for (int32_t i = 0; i < n; i++) {
        ac_x inside;
        piece[i] = ac_lb_add(b, first, num(s, i * apart));
        const ac_x from = element(s, at, p, ac_lb_mul(b, piece[i], num(s, s->piece)), &inside),
                   x = ac_lb_load_flags(b, g->x, ac_lb_select(b, inside, from, num(s, 0)), s->piece,
                                        s->piece > 1 ? AC_F_ALIGNED : 0);
        v[i] = ac_lb_select(b, inside, x, ac_lb_like(b, x, g->c->zx));
    }
    for (int32_t i = 0; i < n; i++) {
        const bool some = (i + 1) * apart > left; /* not all threads have one */
        if (some)
            ac_lb_if(b, ac_lb_lt(b, piece[i], num(s, pieces)));
        ac_lb_store(b, g->sx, by(s, row, s->pitch * 4, ac_lb_mul(b, piece[i], num(s, s->piece))), v[i]);
        if (some)
            ac_lb_end(b);
    }
}

/* The block's rows of x, from shared memory's begin: a thread copies pieces of one row. */
static void copy_x(small *s)
{
    ac_lb *b = s->b;
    const ac_gpu_gemm *g = s->g;
    const int64_t rows = rows_of(s) < threads_of(s) ? rows_of(s) : threads_of(s), apart = threads_of(s) / rows;
    const int64_t pieces = (s->pitch * 4 - PAD) / s->piece;
    open_phase(s);
    const ac_x row_of = ac_lb_mod(b, s->t, num(s, rows)), first = ac_lb_div(b, s->t, num(s, rows));
    const bool idle = threads_of(s) % rows != 0; /* the last threads have no row */
    if (idle)
        ac_lb_if(b, ac_lb_lt(b, first, num(s, apart)));
    for (int64_t r = 0; r < rows_of(s); r += rows) {
        const ac_x row = ac_lb_add(b, row_of, num(s, r)),
                   p = ac_lb_min(b, ac_lb_add(b, s->m0, row), num(s, g->rows - 1));
        const ac_gpu_corner at = g->win ? ac_gpu_corner_of(g, p) : (ac_gpu_corner){0, 0, 0};
        for (int64_t n = 0; n < pieces; n += MOST_LOADS * apart)
            copy_pieces(s, &at, p, row, ac_lb_add(b, first, num(s, n)), apart, pieces - n);
    }
    if (idle)
        ac_lb_end(b);
    ac_lb_end(b);
}

static void load_x(small *s)
{
    ac_lb *b = s->b;
    open_phase(s);
    const ac_x row = by(s, ac_lb_mul(b, s->wy, num(s, s->tm)), ROWS, ac_lb_div(b, s->lane, num(s, 4)));
    const ac_x word = ac_lb_add(b, ac_lb_mul(b, s->ws, num(s, s->steps * STEP / 4)), ac_lb_mod(b, s->lane, num(s, 4))),
               from = ac_lb_mul(b, by(s, row, s->pitch, word), num(s, 4));
    for (int64_t i = 0; i < s->tm; i++)
        for (int64_t k = 0; k < s->steps; k++)
            for (int64_t e = 0; e < 4; e++) {
                const int64_t at = (i * ROWS + e % 2 * 8) * s->pitch + k * STEP / 4 + e / 2 * 4;
                const ac_x v = ac_lb_load_flags(b, s->g->sx, ac_lb_add(b, from, num(s, 4 * at)), 4, AC_F_ALIGNED);
                ac_lb_store(b, s->words, own(s, (i * s->steps + k) * 4 + e), ac_lb_bitcast(b, v, AC_I32));
            }
    ac_lb_end(b);
}

static void multiply(small *s)
{
    ac_lb *b = s->b;
    open_phase(s);
    for (int64_t k = 0; k < s->steps; k++)
        for (int64_t i = 0; i < s->tm; i++)
            for (int64_t j = 0; j < s->tn; j++)
                ac_lb_mma(b, AC_I8, s->sums, own(s, sum_at(s, k % s->sets, i, j)), s->words,
                          own(s, (i * s->steps + k) * 4), own(s, words_x(s) + (j * s->steps + k) * 2));
    ac_lb_end(b);
}

static ac_x sum(const small *s, int64_t i, int64_t j, int64_t e)
{
    ac_x v = ac_lb_load(s->b, s->sums, own(s, sum_at(s, 0, i, j) + e), 1);
    for (int64_t set = 1; set < s->sets; set++)
        v = ac_lb_add_wrap(s->b, v, ac_lb_load(s->b, s->sums, own(s, sum_at(s, set, i, j) + e), 1));
    return v;
}

/* Accumulator n of the warp's tile in shared memory, as slice `slice` has it. */
static ac_x part_at(const small *s, ac_x slice, ac_x n)
{
    const ac_x tile = by(s, s->wy, s->wn, s->wx), at = by(s, tile, s->slices, slice);
    return by(s, by(s, at, s->tm * s->tn * 4, n), LANES, s->lane);
}

static void give_parts(small *s)
{
    open_phase(s);
    for (int64_t n = 0; n < s->tm * s->tn * 4; n++)
        ac_lb_store(s->b, s->part, part_at(s, s->ws, num(s, n)), sum(s, n / 4 / s->tn, n / 4 % s->tn, n % 4));
    ac_lb_end(s->b);
}

/* A result of the thread: its row, its place, its value before the followers. */
typedef struct result {
    ac_x p, col, v, idx[AC_MAX_RANK];
} result;

/* The result of accumulator n, whose sum is v. Loads of tables come before tests, so that they need not wait for each
 * other. */
static result result_of(const small *s, ac_x n, ac_x v)
{
    ac_lb *b = s->b;
    const ac_gpu_gemm *g = s->g;
    const ac_x e = ac_lb_mod(b, n, num(s, 4)), piece = ac_lb_div(b, n, num(s, 4));
    const ac_x i = ac_lb_div(b, piece, num(s, s->tn)), j = ac_lb_mod(b, piece, num(s, s->tn));
    const ac_x g_row = by(s, ac_lb_div(b, e, num(s, 2)), 8, ac_lb_div(b, s->lane, num(s, 4)));
    result r = {.p = ac_lb_add(b, s->m0, by(s, by(s, s->wy, s->tm, i), ROWS, g_row)), .col = column_at(s, j, e)};
    r.v = ac_channel_done(g->c, v, g->n % columns_of(s) ? ac_lb_min(b, r.col, num(s, g->n - 1)) : r.col);
    ac_gpu_index(g, r.p, r.idx);
    r.idx[g->c->out->rank - 1] = r.col;
    return r;
}

/* Stores all results of the thread, after all loads of the followers if all results exist: a result may be stored over
 * an operand. */
static void store(small *s, result *r, int64_t n)
{
    ac_lb *b = s->b;
    const ac_gpu_gemm *g = s->g;
    const bool all_rows = g->rows % rows_of(s) == 0, all_columns = g->n % columns_of(s) == 0;
    for (int64_t k = 0; k < n && all_rows && all_columns; k++)
        r[k].v = ac_lo_followed(g->L, r[k].v, r[k].idx, 1);
    for (int64_t k = 0; k < n; k++) {
        const ac_x row = ac_lb_lt(b, r[k].p, num(s, g->rows)), column = ac_lb_lt(b, r[k].col, num(s, g->n));
        if (all_rows && all_columns) {
            ac_lo_put(g->L, r[k].v, r[k].idx);
            continue;
        }
        ac_lb_if(b, all_rows ? column : all_columns ? row : ac_lb_and(b, row, column));
        ac_lo_result(g->L, r[k].v, r[k].idx, 1);
        ac_lb_end(b);
    }
}

/* Slices share the results of a tile: each adds the parts of some. */
static void finish(small *s)
{
    ac_lb *b = s->b;
    const int64_t all = s->tm * s->tn * 4, each = ac_gpu_over(all, s->slices);
    const bool some = each * s->slices > all;
    result r[MOST_SUMS];
    open_phase(s);
    for (int64_t k = 0; k < each; k++) {
        const ac_x n = ac_lb_add(b, ac_lb_mul(b, s->ws, num(s, each)), num(s, k));
        ac_x v = s->slices == 1 ? sum(s, k / 4 / s->tn, k / 4 % s->tn, k % 4) : 0;
        if (some)
            ac_lb_if(b, ac_lb_lt(b, n, num(s, all)));
        for (int64_t slice = 0; slice < s->slices && s->slices > 1; slice++) {
            const ac_x part = ac_lb_load(b, s->part, part_at(s, num(s, slice), n), 1);
            v = v ? ac_lb_add_wrap(b, v, part) : part;
        }
        if (s->scales >= 0) {
            const int64_t at = 4 * (k / 4 % s->tn) + 2 * (k % 2);
            s->g->c->given_m = ac_lb_load(b, s->scales, own(s, at), 1);
            s->g->c->given_shift = ac_lb_load(b, s->scales, own(s, at + 1), 1);
        }
        r[k] = result_of(s, n, v);
        if (!some)
            continue;
        store(s, &r[k], 1);
        ac_lb_end(b);
    }
    s->g->c->given_m = s->g->c->given_shift = 0;
    if (!some)
        store(s, r, each);
    ac_lb_end(b);
}

static void open_buffers(small *s)
{
    ac_gpu_gemm *g = s->g;
    ac_lower *L = g->L;
    ac_lo_result_buf(L);
    g->x = ac_lo_operand(L, g->c->x);
    g->w = pack(s);
    g->sx = ac_lo_gpu_local(L, "sx", AC_I8, rows_of(s) * s->pitch * 4, AC_WHERE_SHARED);
    s->words = ac_lo_gpu_local(L, "words", AC_I32, (words_x(s) + words_w(s)) * threads_of(s), AC_WHERE_THREAD);
    s->scales = s->slices == 1 && ac_channel_loads(g->c)
                    ? ac_lo_gpu_local(L, "scale", AC_I32, 4 * s->tn * threads_of(s), AC_WHERE_THREAD)
                    : -1;
    s->sums = ac_lo_gpu_local(L, "acc", AC_I32, s->sets * s->tm * s->tn * 4 * threads_of(s), AC_WHERE_THREAD);
    if (s->slices > 1)
        s->part = ac_lo_gpu_local(L, "part", AC_I32, s->slices * rows_of(s) * columns_of(s), AC_WHERE_SHARED);
}

int ac_gpu_small_product(ac_gpu_gemm *g)
{
    small s = {.g = g, .b = &g->L->b};
    ac_lb *b = s.b;
    share(&s);
    open_buffers(&s);
    const ac_x block = ac_lb_for(b, "g", num(&s, 0), num(&s, s.mb * s.nb), 1, AC_MARK_GRID);
    g->q = num(&s, 0);
    s.m0 = ac_lb_mul(b, ac_lb_div(b, block, num(&s, s.nb)), num(&s, rows_of(&s)));
    s.n0 = ac_lb_mul(b, ac_lb_mod(b, block, num(&s, s.nb)), num(&s, columns_of(&s)));
    load_weights(&s);
    copy_x(&s);
    load_x(&s);
    multiply(&s);
    if (s.slices > 1)
        give_parts(&s);
    finish(&s);
    ac_lb_end(b);
    return AC_OK;
}
