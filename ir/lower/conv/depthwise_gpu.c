/* depthwise_gpu.c - depthwise_conv_2d on a GPU: a block computes a tile of pixels of a few channels. Its threads first
 * load the filter into registers, and the input of the tile into shared memory: whole vectors of channels where these
 * are aligned, all loads of a thread before the first store. Outside of the input the value is zero, or the zero point.
 *
 *     thread: channel + channels * (strip + strips * row)     neighbouring threads read neighbouring elements
 *     a strip is WIDE or fewer columns of a row: a thread holds their sums, and reads each column of x once for all of
 *     them
 *
 * i8 stays bytes in shared memory if its zero point is folded into the bias; other integers are words without it. The
 * tile is the one with the least estimate of cycles (`cycles`). Sums run in the order of the filter, one column after
 * another; integers are exact. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/gpu/plan.h"
#include "ir/lower/lower.h"

enum {
    WIDE = 8,
    HIGH = 16,
    STRIPS = 8,
    MOST_THREADS = 256,
    LEAST_THREADS = 64,
    MOST_TAPS = 9,   /* in a row */
    MOST_HELD = 49,  /* taps in registers */
    MOST_LOADS = 12, /* of a thread, at once */
    MOST_BYTES = 46 << 10,
    LEAST_PIXELS = 16,
    LEAST_CHANNELS = 8
};

typedef struct tile {
    int32_t channels, strips, rows, columns; /* of a block; columns: of a strip */
    int64_t height, width;                   /* of the input that it meets */
} tile;

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    int64_t multiplier;
    tile t;
    ac_dtype elem; /* of shared memory */
    int32_t wide;  /* elements of a load of x */
    bool held;     /* the filter is in registers */
    int32_t x, w, xs, tap;
    ac_depthwise_block first;
} job;

static int32_t threads_of(const tile *t)
{
    return t->channels * t->strips * t->rows;
}

/* Estimates the cycles of each multiprocessor of a GPU that has about a hundred: 64 bytes arrive and four warps issue
 * an instruction in a cycle. A block alone waits for its loads and for each instruction. */
static int64_t cycles(const ac_window *win, const tile *t, int32_t bytes)
{
    enum { MULTIPROCESSORS = 120, RESIDENT = 2048, LATENCY = 1000, CHAIN = 1 };
    const int64_t wide = (int64_t)t->columns * t->strips, threads = threads_of(t), warps = ac_gpu_over(threads, 32);
    const int64_t blocks =
        win->n * ac_gpu_over(win->x.out, wide) * ac_gpu_over(win->y.out, t->rows) * ac_gpu_over(win->oc, t->channels);
    const int64_t x_bytes = t->height * t->width * t->channels * bytes, taps = (int64_t)win->y.taps * win->x.taps;
    const int64_t own = win->y.taps * ac_depthwise_reach(&win->x, t->columns) + taps * t->columns +
                        20 * (int64_t)t->columns + 300 + 3 * taps;
    const int64_t loads = ac_gpu_over(ac_gpu_over(x_bytes, bytes == 4 ? 16 : 4), threads) * 24;
    const int64_t work = x_bytes / 64 + warps * (own + loads) / 4, rounds = ac_gpu_over(blocks, MULTIPROCESSORS);
    int64_t resident = RESIDENT / threads;
    resident = resident * x_bytes > (int64_t)200 << 10 ? ((int64_t)200 << 10) / x_bytes : resident;
    const int64_t alone = ac_gpu_over(rounds, resident < 1 ? 1 : resident) * (LATENCY + CHAIN * (own + loads));
    return rounds * work > alone ? rounds * work + LATENCY : alone;
}

/* The tile with the least cycles; false: none fits. */
static bool tile_of(const ac_window *win, int32_t bytes, tile *best)
{
    int64_t least = INT64_MAX;
    tile t;
    for (t.channels = LEAST_CHANNELS; t.channels <= 32; t.channels *= 2)
        for (t.rows = 1; t.rows <= HIGH && t.rows <= win->y.out; t.rows++)
            for (t.columns = 1; t.columns <= WIDE && t.columns <= win->x.out; t.columns++)
                for (t.strips = 1; t.strips <= STRIPS && (int64_t)(t.strips - 1) * t.columns < win->x.out; t.strips++) {
                    t.height = ac_depthwise_reach(&win->y, t.rows);
                    t.width = ac_depthwise_reach(&win->x, (int64_t)t.columns * t.strips);
                    if (t.height > MOST_BYTES || t.width > MOST_BYTES || threads_of(&t) > MOST_THREADS ||
                        t.height * t.width * t.channels * bytes > MOST_BYTES)
                        continue;
                    const int64_t few = threads_of(&t) < LEAST_THREADS ? 200 : 0, took = cycles(win, &t, bytes) + few;
                    if (took < least) {
                        least = took;
                        *best = t;
                    }
                }
    return least < INT64_MAX;
}

bool ac_gpu_depthwise_fits(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    tile t;
    const bool kind =
        c->kind == AC_MACS_F32 || c->kind == AC_MACS_I8 || c->kind == AC_MACS_U8 || c->kind == AC_MACS_I16;
    const bool pays = win->y.out * win->x.out >= LEAST_PIXELS && win->oc >= LEAST_CHANNELS;
    return L->target->isa == AC_ISA_CUDA && !L->variant && kind && (pays || L->hint.rows) && win->x.taps <= MOST_TAPS &&
           tile_of(win, 4, &t);
}

static ac_x threads(const job *j)
{
    ac_lb *b = &j->L->b;
    return ac_lb_for(b, "t", ac_lb_i32(b, 0), ac_lb_i32(b, threads_of(&j->t)), 1, AC_MARK_BLOCK);
}

/* The filter of the thread's channel. */
static void hold_filter(const job *j)
{
    ac_lb *b = &j->L->b;
    const int64_t all = j->win->y.taps * j->win->x.taps;
    const ac_x t = threads(j), ch = ac_lb_mod(b, t, ac_lb_i32(b, j->t.channels)),
               oc = ac_lb_min(b, ac_lb_add(b, j->first.c0, ch), ac_lb_i32(b, j->win->oc - 1));
    for (int64_t k = 0; k < all; k++)
        ac_lb_store(b, j->tap, ac_lb_add(b, ac_lb_i32(b, k * threads_of(&j->t)), t),
                    ac_channel_w(j->c, j->w, ac_lb_add(b, ac_lb_i32(b, k * j->win->oc), oc), 1));
    ac_lb_end(b);
}

/* Piece e of the tile, `wide` channels of a pixel: as in shared memory. */
static ac_x piece(const job *j, ac_x e)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    const ac_slide *sy = &win->y, *sx = &win->x;
    const ac_x each = ac_lb_i32(b, j->t.channels / j->wide), at = ac_lb_div(b, e, each),
               oc = ac_lb_add(b, j->first.c0, ac_lb_mul(b, ac_lb_mod(b, e, each), ac_lb_i32(b, j->wide)));
    const ac_x y0 = ac_lb_sub(b, ac_lb_mul(b, j->first.oy0, ac_lb_i32(b, sy->stride)), ac_lb_i32(b, sy->pad)),
               x0 = ac_lb_sub(b, ac_lb_mul(b, j->first.ox0, ac_lb_i32(b, sx->stride)), ac_lb_i32(b, sx->pad));
    const ac_x iy = ac_lb_add(b, y0, ac_lb_div(b, at, ac_lb_i32(b, j->t.width))),
               ix = ac_lb_add(b, x0, ac_lb_mod(b, at, ac_lb_i32(b, j->t.width)));
    const ac_x inside = ac_lb_and(b, ac_lb_lt(b, oc, ac_lb_i32(b, win->oc)),
                                  ac_lb_and(b, ac_lo_within(b, iy, sy->in), ac_lo_within(b, ix, sx->in)));
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, j->first.n, ac_lb_i32(b, sy->in)), iy),
               pixel = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, sx->in)), ix);
    ac_x from = ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, win->ic)), ac_lb_div(b, oc, ac_lb_i32(b, j->multiplier)));
    from =
        ac_lb_select(b, inside, from, ac_lb_i32(b, 0)); /* loads have no test, so they need not wait for each other */
    const ac_x v = j->elem == AC_I32 ? ac_channel_x(j->c, j->x, from, 1)
                                     : ac_lb_load_flags(b, j->x, from, j->wide, j->wide > 1 ? AC_F_ALIGNED : 0);
    return ac_lb_select(b, inside, v, ac_lb_like(b, v, j->elem == AC_I8 ? j->c->zx : 0));
}

/* The tile of x into shared memory. */
static void load(const job *j)
{
    ac_lb *b = &j->L->b;
    const int64_t pieces = j->t.height * j->t.width * j->t.channels / j->wide, n = threads_of(&j->t);
    const ac_x t = threads(j);
    ac_x v[MOST_LOADS], e[MOST_LOADS];
    for (int64_t from = 0; from < pieces; from += MOST_LOADS * n) {
        const int32_t loads =
            (int32_t)(ac_gpu_over(pieces - from, n) < MOST_LOADS ? ac_gpu_over(pieces - from, n) : MOST_LOADS);
        for (int32_t i = 0; i < loads; i++) {
            e[i] = ac_lb_add(b, t, ac_lb_i32(b, from + i * n));
            v[i] = piece(j, from + (i + 1) * n > pieces ? ac_lb_min(b, e[i], ac_lb_i32(b, pieces - 1)) : e[i]);
        }
        for (int32_t i = 0; i < loads; i++) {
            const bool last = from + (i + 1) * n > pieces;
            if (last)
                ac_lb_if(b, ac_lb_lt(b, e[i], ac_lb_i32(b, pieces)));
            ac_lb_store(b, j->xs, ac_lb_mul(b, e[i], ac_lb_i32(b, j->wide)), v[i]);
            if (last)
                ac_lb_end(b);
        }
    }
    ac_lb_end(b);
}

/* One row of the filter for all columns of a strip; ch: the channel in the tile, line: the strip's first pixel. */
static void sum_row(const job *j, ac_x ch, ac_x line, const ac_x *tap, const ac_x *acc)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sx = &j->win->x;
    for (int64_t x = 0; x < ac_depthwise_reach(sx, j->t.columns); x++) {
        ac_x v = 0;
        for (int32_t i = 0; i < j->t.columns; i++) {
            const int64_t k = x - i * sx->stride;
            if (k < 0 || k % sx->dil || k / sx->dil >= sx->taps)
                continue;
            if (!v) {
                const ac_x pixel = ac_lb_add(b, line, ac_lb_i32(b, x));
                v = ac_lb_load(b, j->xs, ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, j->t.channels)), ch), 1);
                v = j->elem == AC_I8 ? ac_lb_cast(b, v, AC_I32) : v;
            }
            ac_lb_set(b, acc[i], ac_channel_mac(j->c, ac_lb_get(b, acc[i]), v, tap[k / sx->dil]));
        }
    }
}

/* All columns of a strip, a filter row after another; at: the strip's first pixel of xs. */
static void sum(const job *j, ac_x t, ac_x ch, ac_x oc, ac_x at, const ac_x *acc)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sy = &j->win->y, *sx = &j->win->x;
    ac_x tap[MOST_TAPS];
    for (int32_t y = 0; y < sy->taps && j->held; y++) {
        for (int32_t k = 0; k < sx->taps; k++)
            tap[k] = ac_lb_load(b, j->tap,
                                ac_lb_add(b, ac_lb_i32(b, (int64_t)(y * sx->taps + k) * threads_of(&j->t)), t), 1);
        sum_row(j, ch, ac_lb_add(b, at, ac_lb_i32(b, (int64_t)y * sy->dil * j->t.width)), tap, acc);
    }
    if (j->held)
        return;
    const ac_x ky = ac_lb_for_n(b, "ky", sy->taps);
    for (int32_t k = 0; k < sx->taps; k++) {
        const ac_x row = ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, sx->taps)), ac_lb_i32(b, k));
        tap[k] = ac_channel_w(j->c, j->w, ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, j->win->oc)), oc), 1);
    }
    sum_row(j, ch, ac_lb_add(b, at, ac_lb_mul(b, ky, ac_lb_i32(b, sy->dil * j->t.width))), tap, acc);
    ac_lb_end(b);
}

static void multiply(const job *j)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    const ac_x t = threads(j), ch = ac_lb_mod(b, t, ac_lb_i32(b, j->t.channels)),
               rest = ac_lb_div(b, t, ac_lb_i32(b, j->t.channels));
    const ac_x strip = ac_lb_mod(b, rest, ac_lb_i32(b, j->t.strips)),
               row = ac_lb_div(b, rest, ac_lb_i32(b, j->t.strips));
    const ac_x oy = ac_lb_add(b, j->first.oy0, row), column = ac_lb_mul(b, strip, ac_lb_i32(b, j->t.columns)),
               oc = ac_lb_add(b, j->first.c0, ch);
    ac_x acc[WIDE];
    ac_lb_if(b, ac_lb_and(b, ac_lb_lt(b, oc, ac_lb_i32(b, win->oc)), ac_lb_lt(b, oy, ac_lb_i32(b, win->y.out))));
    for (int32_t i = 0; i < j->t.columns; i++)
        acc[i] = ac_lb_var(b, "acc", ac_channel_start(j->c, oc, 1));
    const ac_x line = ac_lb_mul(b, ac_lb_mul(b, row, ac_lb_i32(b, win->y.stride)), ac_lb_i32(b, j->t.width));
    sum(j, t, ch, oc, ac_lb_add(b, line, ac_lb_mul(b, column, ac_lb_i32(b, win->x.stride))), acc);
    for (int32_t i = 0; i < j->t.columns; i++) {
        const ac_x ox = ac_lb_add(b, ac_lb_add(b, j->first.ox0, column), ac_lb_i32(b, i)),
                   idx[4] = {j->first.n, oy, ox, oc};
        ac_lb_if(b, ac_lb_lt(b, ox, ac_lb_i32(b, win->x.out)));
        ac_lo_result(j->L, ac_channel_done(j->c, ac_lb_get(b, acc[i]), oc), idx, 1);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

/* The last of `n` digits of *at, times `by`; the rest stays. */
static ac_x digit(ac_lb *b, ac_x *at, int64_t n, int64_t by)
{
    const ac_x d = ac_lb_mod(b, *at, ac_lb_i32(b, n));
    *at = ac_lb_div(b, *at, ac_lb_i32(b, n));
    return ac_lb_mul(b, d, ac_lb_i32(b, by));
}

ac_depthwise_block ac_gpu_depthwise_blocks(ac_lower *L, const ac_window *win, int64_t rows, int64_t columns,
                                           int64_t channels)
{
    ac_lb *b = &L->b;
    const int64_t across = ac_gpu_over(win->x.out, columns), down = ac_gpu_over(win->y.out, rows),
                  deep = ac_gpu_over(win->oc, channels);
    ac_depthwise_block first;
    ac_x at = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, win->n * across * down * deep), 1, AC_MARK_GRID);
    first.c0 = digit(b, &at, deep, channels);
    first.ox0 = digit(b, &at, across, columns);
    first.oy0 = digit(b, &at, down, rows);
    first.n = at;
    return first;
}

/* Elements of a load: channels of a pixel that are neighbours in x and in the tile. */
static int32_t wide_of(const job *j)
{
    const bool words = j->elem == AC_I32 || j->multiplier > 1 || j->win->ic % 4;
    const int32_t align = ac_lo_align(j->L, j->c->x), each = j->c->x->narrowed ? 2 : (int32_t)ac_dtype_size(j->elem, 1);
    const bool most = j->elem == AC_I8 && j->win->ic % 16 == 0 && j->t.channels % 16 == 0 && align >= 16;
    return words || align < 4 * each ? 1 : most ? 16 : 4;
}

int ac_gpu_depthwise(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    const int64_t taps = win->y.taps * win->x.taps;
    const ac_rows rows = {taps, 1, win->oc};
    const bool bytes = ac_depthwise_by_bytes(c);
    job j = {.L = L, .c = c, .win = win, .multiplier = win->oc / win->ic, .held = taps <= MOST_HELD};
    j.elem = c->kind == AC_MACS_F32 ? AC_F32 : bytes ? AC_I8 : AC_I32;
    tile_of(win, (int32_t)ac_dtype_size(j.elem, 1), &j.t);
    j.wide = wide_of(&j);
    ac_channel_tables(c, c->n, bytes ? &rows : NULL, c->zx);
    j.x = ac_lo_operand(L, c->x);
    j.w = ac_lo_operand(L, c->w);
    j.xs = ac_lo_gpu_local(L, "xs", j.elem, j.t.height * j.t.width * j.t.channels, AC_WHERE_SHARED);
    if (j.held)
        j.tap = ac_lo_gpu_local(L, "tap", c->kind == AC_MACS_F32 ? AC_F32 : AC_I32, taps * threads_of(&j.t),
                                AC_WHERE_THREAD);
    j.first = ac_gpu_depthwise_blocks(L, win, j.t.rows, (int64_t)j.t.columns * j.t.strips, j.t.channels);
    if (j.held)
        hold_filter(&j);
    load(&j);
    multiply(&j);
    ac_lb_end(b);
    return AC_OK;
}
