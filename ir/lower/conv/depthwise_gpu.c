/* depthwise_gpu.c - depthwise_conv_2d on a GPU: a block computes a tile of pixels of a few channels. Its threads first
 * load the input of the tile into shared memory, without its zero point and with zeros outside.
 *
 *     thread: channel + channels * (strip + strips * row)     neighbouring threads read neighbouring elements
 *     a strip is WIDE or fewer columns of a row: a thread holds their sums, and reads each column of x once for all of
 *     them
 *
 * Sums run in the order of the filter, one column after another; integers are exact. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/lower.h"

enum {
    WIDE = 8,
    HIGH = 8,
    LANES = 32,
    MOST_TAPS = 9,
    MOST_WORDS = (48 << 10) / 4,
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
    int32_t x, w, xs;
    ac_x n, c0, oy0, ox0; /* of the block: image, first output channel, row and column */
} job;

/* Input positions that n output positions meet. */
static int64_t reach(const ac_slide *s, int64_t n)
{
    return (n - 1) * s->stride + ac_slide_reach(s);
}

static int32_t half_while(int32_t n, int64_t enough)
{
    while (n > 1 && n / 2 >= enough)
        n /= 2;
    return n;
}

/* The largest tile that fits shared memory; false: none does. */
static bool tile_of(const ac_window *win, tile *t)
{
    t->channels = half_while(LANES, win->oc < LEAST_CHANNELS ? LEAST_CHANNELS : win->oc);
    t->strips = LANES / t->channels;
    t->columns = half_while(WIDE, (win->x.out + t->strips - 1) / t->strips);
    t->rows = half_while(HIGH, win->y.out);
    for (;;) {
        t->height = reach(&win->y, t->rows);
        t->width = reach(&win->x, (int64_t)t->columns * t->strips);
        if (t->height <= MOST_WORDS && t->width <= MOST_WORDS && t->height * t->width * t->channels <= MOST_WORDS)
            return true;
        if (t->rows == 1 && t->columns == 1)
            return false;
        *(t->rows > t->columns ? &t->rows : &t->columns) /= 2;
    }
}

bool ac_gpu_depthwise_fits(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    tile t;
    const bool kind =
        c->kind == AC_MACS_F32 || c->kind == AC_MACS_I8 || c->kind == AC_MACS_U8 || c->kind == AC_MACS_I16;
    const bool pays = win->y.out * win->x.out >= LEAST_PIXELS && win->oc >= LEAST_CHANNELS;
    return L->target->isa == AC_ISA_CUDA && !L->variant && kind && (pays || L->hint.rows) && win->x.taps <= MOST_TAPS &&
           tile_of(win, &t);
}

static ac_x threads(const job *j)
{
    ac_lb *b = &j->L->b;
    return ac_lb_for(b, "t", ac_lb_i32(b, 0), ac_lb_i32(b, (int64_t)j->t.channels * j->t.strips * j->t.rows), 1,
                     AC_MARK_BLOCK);
}

static void load(const job *j)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    const ac_dtype d = j->c->kind == AC_MACS_F32 ? AC_F32 : AC_I32;
    const ac_x t = threads(j), channels = ac_lb_i32(b, j->t.channels);
    const int64_t n = j->t.height * j->t.width * j->t.channels;
    const ac_x e =
        ac_lb_for(b, "e", t, ac_lb_i32(b, n), (int64_t)j->t.channels * j->t.strips * j->t.rows, AC_MARK_SERIAL);
    const ac_x at = ac_lb_div(b, e, channels), oc = ac_lb_add(b, j->c0, ac_lb_mod(b, e, channels));
    const ac_x iy =
        ac_lb_add(b, ac_lb_sub(b, ac_lb_mul(b, j->oy0, ac_lb_i32(b, win->y.stride)), ac_lb_i32(b, win->y.pad)),
                  ac_lb_div(b, at, ac_lb_i32(b, j->t.width)));
    const ac_x ix =
        ac_lb_add(b, ac_lb_sub(b, ac_lb_mul(b, j->ox0, ac_lb_i32(b, win->x.stride)), ac_lb_i32(b, win->x.pad)),
                  ac_lb_mod(b, at, ac_lb_i32(b, j->t.width)));
    ac_lb_if(b, ac_lb_and(b, ac_lb_lt(b, oc, ac_lb_i32(b, win->oc)),
                          ac_lb_and(b, ac_lo_within(b, iy, win->y.in), ac_lo_within(b, ix, win->x.in))));
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, j->n, ac_lb_i32(b, win->y.in)), iy);
    const ac_x pixel = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, win->x.in)), ix);
    const ac_x from =
        ac_lb_add(b, ac_lb_mul(b, pixel, ac_lb_i32(b, win->ic)), ac_lb_div(b, oc, ac_lb_i32(b, j->multiplier)));
    ac_lb_store(b, j->xs, e, ac_channel_x(j->c, j->x, from, 1));
    ac_lb_else(b);
    ac_lb_store(b, j->xs, e, d == AC_F32 ? ac_lb_f32(b, 0) : ac_lb_i32(b, 0));
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* All columns of a strip, a filter row after another; ch: the channel in the tile, at: the strip's first element of xs.
 */
static void sum(const job *j, ac_x ch, ac_x oc, ac_x at, const ac_x *acc)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sy = &j->win->y, *sx = &j->win->x;
    const ac_x ky = ac_lb_for_n(b, "ky", sy->taps);
    ac_x tap[MOST_TAPS];
    for (int32_t k = 0; k < sx->taps; k++) {
        const ac_x row = ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, sx->taps)), ac_lb_i32(b, k));
        tap[k] = ac_channel_w(j->c, j->w, ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, j->win->oc)), oc), 1);
    }
    const ac_x line = ac_lb_add(b, at, ac_lb_mul(b, ky, ac_lb_i32(b, sy->dil * j->t.width)));
    for (int64_t x = 0; x < reach(sx, j->t.columns); x++) {
        ac_x v = 0;
        for (int32_t i = 0; i < j->t.columns; i++) {
            const int64_t k = x - i * sx->stride;
            if (k < 0 || k % sx->dil || k / sx->dil >= sx->taps)
                continue;
            if (!v)
                v = ac_lb_load(
                    b, j->xs,
                    ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, line, ac_lb_i32(b, x)), ac_lb_i32(b, j->t.channels)), ch),
                    1);
            ac_lb_set(b, acc[i], ac_channel_mac(j->c, ac_lb_get(b, acc[i]), v, tap[k / sx->dil]));
        }
    }
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
    const ac_x oy = ac_lb_add(b, j->oy0, row), column = ac_lb_mul(b, strip, ac_lb_i32(b, j->t.columns)),
               oc = ac_lb_add(b, j->c0, ch);
    ac_x acc[WIDE];
    ac_lb_if(b, ac_lb_and(b, ac_lb_lt(b, oc, ac_lb_i32(b, win->oc)), ac_lb_lt(b, oy, ac_lb_i32(b, win->y.out))));
    for (int32_t i = 0; i < j->t.columns; i++)
        acc[i] = ac_lb_var(b, "acc", ac_channel_start(j->c, oc, 1));
    const ac_x line = ac_lb_mul(b, ac_lb_mul(b, row, ac_lb_i32(b, win->y.stride)), ac_lb_i32(b, j->t.width));
    sum(j, ch, oc, ac_lb_add(b, line, ac_lb_mul(b, column, ac_lb_i32(b, win->x.stride))), acc);
    for (int32_t i = 0; i < j->t.columns; i++) {
        const ac_x ox = ac_lb_add(b, ac_lb_add(b, j->ox0, column), ac_lb_i32(b, i)), idx[4] = {j->n, oy, ox, oc};
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

int ac_gpu_depthwise(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    job j = {.L = L, .c = c, .win = win, .multiplier = win->oc / win->ic};
    tile_of(win, &j.t);
    ac_channel_tables(c, c->n, NULL, 0);
    const int64_t wide = (int64_t)j.t.columns * j.t.strips, across = (win->x.out + wide - 1) / wide,
                  down = (win->y.out + j.t.rows - 1) / j.t.rows, deep = (win->oc + j.t.channels - 1) / j.t.channels;
    j.x = ac_lo_operand(L, c->x);
    j.w = ac_lo_operand(L, c->w);
    j.xs = ac_lo_gpu_local(L, "xs", c->kind == AC_MACS_F32 ? AC_F32 : AC_I32, j.t.height * j.t.width * j.t.channels,
                           AC_WHERE_SHARED);
    ac_x at = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, win->n * across * down * deep), 1, AC_MARK_GRID);
    j.c0 = digit(b, &at, deep, j.t.channels);
    j.ox0 = digit(b, &at, across, wide);
    j.oy0 = digit(b, &at, down, j.t.rows);
    j.n = at;
    load(&j);
    multiply(&j);
    ac_lb_end(b);
    return AC_OK;
}
