/* depthwise_quads.c - depthwise_conv_2d of floats on a GPU, four channels to a thread. A block computes a tile of
 * pixels of some channels: it copies the filter, then the input that the tile meets, to shared memory by 16 bytes,
 * without registers between (late stores); outside of the input are zeros.
 *
 *     thread: quad + quads * (strip + strips * row)     a quad: four channels; a strip: `wide` columns of a row
 *
 * A thread holds the sums of its strip and reads each pixel of a row once for all of them. Sums begin with the bias, or
 * with 0 if it is added at the end (--exact), and run in the order of the filter. The tile is the one with the least
 * time by a model: a warp alone, instructions, shared memory, bytes into a multiprocessor. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/gpu/plan.h"
#include "ir/lower/lower.h"

enum {
    QUAD = 4,
    WARP = 32,
    WIDE = 7,
    HIGH = 16,
    MOST_THREADS = 256,
    LEAST_THREADS = 64,
    MOST_TAPS = 9,        /* of a row */
    MOST_ALL = 49,        /* of a filter */
    MOST_REGISTERS = 150, /* of a thread */
    MOST_BYTES = 46 << 10
};

typedef struct tile {
    int32_t quads, strips, rows, wide;
    int32_t threads;       /* whole warps */
    int64_t height, width; /* of the input that it meets */
} tile;

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    tile t;
    int32_t x, w, xs, ws, bias;
    ac_depthwise_block first;
} job;

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ------------------------------------------------------------------ the plan */

static int64_t cycles(const ac_lower *L, const ac_window *win, const tile *t)
{
    enum { LATENCY = 600, CURVE = 30, SIMPLE = 3, INTO = 64 };
    const ac_gpu_machine *m = ac_gpu_machine_of(L->target);
    const int64_t channels = (int64_t)QUAD * t->quads, across = (int64_t)t->wide * t->strips;
    const int64_t taps = win->y.taps * win->x.taps, columns = ac_depthwise_reach(&win->x, t->wide),
                  warps = t->threads / WARP;
    const int64_t blocks =
        win->n * ac_gpu_over(win->x.out, across) * ac_gpu_over(win->y.out, t->rows) * ac_gpu_over(win->oc, channels);
    const int64_t passes = ac_gpu_over(t->height * t->width * t->quads, t->threads),
                  more = ac_gpu_over(taps * t->quads, t->threads);
    const int64_t loads = win->y.taps * (columns + win->x.taps), end = ac_lo_has_long_chain(L) ? CURVE : SIMPLE;
    const int64_t issue =
        12 * passes + 8 * more + loads + taps * t->wide * QUAD * m->fma + t->wide * (QUAD * end + 12) + 120;
    const int64_t shared = (t->height * t->width + taps) * channels * 4;
    const int64_t bytes = shared + (int64_t)t->rows * across * channels * 4;
    int64_t fit = m->shared / (shared + 1024);
    fit = fit * warps > m->warps ? m->warps / warps : fit;
    fit = fit > m->blocks ? m->blocks : fit;
    const int64_t waves = ac_gpu_over(blocks, m->units * most(fit, 1)),
                  at = blocks < m->units * fit ? ac_gpu_over(blocks, m->units) : fit;
    const int64_t into = most(m->l2 / (blocks < m->units ? blocks : m->units), 1);
    const int64_t work = most(ac_gpu_over(at * warps, 4) * issue, 2 * at * warps * loads);
    return waves * most(LATENCY + issue, most(work, at * bytes / (into < INTO ? into : INTO)));
}

/* The tile with the least cycles; false: none fits. */
static bool tile_of(const ac_lower *L, const ac_window *win, tile *best)
{
    int64_t least = INT64_MAX;
    tile t;
    for (t.quads = 2; t.quads <= 8; t.quads *= 2)
        for (t.rows = 1; t.rows <= HIGH && t.rows <= win->y.out; t.rows++)
            for (t.wide = 1; t.wide <= WIDE && t.wide <= win->x.out; t.wide++)
                for (t.strips = 1; (int64_t)(t.strips - 1) * t.wide < win->x.out; t.strips++) {
                    t.threads = (int32_t)ac_gpu_over((int64_t)t.quads * t.strips * t.rows, WARP) * WARP;
                    t.height = ac_depthwise_reach(&win->y, t.rows);
                    t.width = ac_depthwise_reach(&win->x, (int64_t)t.wide * t.strips);
                    const int64_t taps = win->y.taps * win->x.taps, pixels = t.height * t.width + taps;
                    const int64_t held = QUAD * (t.wide + ac_depthwise_reach(&win->x, t.wide) + win->x.taps) + 40;
                    if (t.threads > MOST_THREADS || t.height > MOST_BYTES || t.width > MOST_BYTES ||
                        pixels * t.quads * QUAD * 4 > MOST_BYTES || held > MOST_REGISTERS)
                        break;
                    const int64_t few = t.threads < LEAST_THREADS ? 100 : 0, took = cycles(L, win, &t) + few;
                    if (took < least) {
                        least = took;
                        *best = t;
                    }
                }
    return least < INT64_MAX;
}

bool ac_gpu_depthwise_quads_fits(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    tile t;
    const bool plain = c->kind == AC_MACS_F32 && win->oc == win->ic && win->oc % QUAD == 0 && !c->x->narrowed &&
                       !c->w->narrowed && c->out->dtype == AC_F32 && !ac_lo_by_table(L);
    const bool aligned = plain && ac_lo_align(L, c->x) >= 16 && ac_lo_align(L, c->w) >= 16;
    return aligned && win->x.taps <= MOST_TAPS && win->y.taps * win->x.taps <= MOST_ALL && tile_of(L, win, &t);
}

/* ------------------------------------------------------------------ phases */

static ac_x num(const job *j, int64_t v)
{
    return ac_lb_i32(&j->L->b, v);
}
static ac_x plus(const job *j, ac_x x, ac_x y)
{
    return ac_lb_add(&j->L->b, x, y);
}
static ac_x times(const job *j, ac_x x, int64_t by)
{
    return ac_lo_scaled(&j->L->b, x, by);
}

static ac_x threads(const job *j)
{
    return ac_lb_for(&j->L->b, "t", num(j, 0), num(j, j->t.threads), 1, AC_MARK_BLOCK);
}

/* Channel of a quad of the block, and whether it exists (0: surely). */
static ac_x channel_of(const job *j, ac_x quad, ac_x *exists)
{
    const ac_x ch = plus(j, j->first.c0, times(j, quad, QUAD));
    *exists = j->win->oc % (QUAD * j->t.quads) ? ac_lb_lt(&j->L->b, ch, num(j, j->win->oc)) : 0;
    return ch;
}

/* Opens a branch for piece `round` * threads + t of `pieces`. */
static ac_x open_piece(const job *j, ac_x t, int64_t round, int64_t pieces)
{
    ac_lb *b = &j->L->b;
    const ac_x e = plus(j, t, num(j, round * j->t.threads));
    ac_lb_if(b, (round + 1) * j->t.threads > pieces ? ac_lb_lt(b, e, num(j, pieces)) : ac_lb_int(b, AC_BOOL, 1));
    return e;
}

/* Piece e of shared memory gets four floats of `from` at `at`, or zeros if not `in` (0: surely in). */
static void copy(const job *j, int32_t to, ac_x e, int32_t from, ac_x at, ac_x in)
{
    ac_lb *b = &j->L->b;
    const ac_x v = ac_lb_load_flags(b, from, in ? ac_lb_select(b, in, at, num(j, 0)) : at, QUAD, AC_F_ALIGNED);
    ac_lb_store_late(b, to, times(j, e, QUAD), in ? ac_lb_select(b, in, v, ac_lb_like(b, v, 0)) : v);
}

/* The filter, and the bias of the thread's channels. */
static void copy_filter(const job *j)
{
    ac_lb *b = &j->L->b;
    const int64_t taps = j->win->y.taps * j->win->x.taps, pieces = taps * j->t.quads;
    const ac_x t = threads(j);
    ac_x exists;
    ac_lb_groups(b, t, AC_GROUPS_OPEN);
    for (int64_t i = 0; i * j->t.threads < pieces; i++) {
        const ac_x e = open_piece(j, t, i, pieces), tap = ac_lb_div(b, e, num(j, j->t.quads)),
                   ch = channel_of(j, ac_lb_mod(b, e, num(j, j->t.quads)), &exists);
        copy(j, j->ws, e, j->w, plus(j, times(j, tap, j->win->oc), ch), exists);
        ac_lb_end(b);
    }
    const ac_x ch = channel_of(j, ac_lb_mod(b, t, num(j, j->t.quads)), &exists);
    const ac_x bias = ac_channel_start(j->c, exists ? ac_lb_min(b, ch, num(j, j->win->oc - QUAD)) : ch, QUAD);
    for (int32_t l = 0; l < QUAD; l++)
        ac_lb_store(b, j->bias, plus(j, t, num(j, (int64_t)l * j->t.threads)), ac_lb_lane(b, bias, l));
    ac_lb_end(b);
}

static void copy_x(const job *j)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sy = &j->win->y, *sx = &j->win->x;
    const int64_t pieces = j->t.height * j->t.width * j->t.quads;
    const ac_x t = threads(j);
    ac_lb_groups(b, t, 0);
    const ac_x y0 = ac_lb_sub(b, times(j, j->first.oy0, sy->stride), num(j, sy->pad)),
               x0 = ac_lb_sub(b, times(j, j->first.ox0, sx->stride), num(j, sx->pad));
    for (int64_t i = 0; i * j->t.threads < pieces; i++) {
        ac_x exists;
        const ac_x e = open_piece(j, t, i, pieces), at = ac_lb_div(b, e, num(j, j->t.quads)),
                   ch = channel_of(j, ac_lb_mod(b, e, num(j, j->t.quads)), &exists);
        const ac_x iy = plus(j, y0, ac_lb_div(b, at, num(j, j->t.width))),
                   ix = plus(j, x0, ac_lb_mod(b, at, num(j, j->t.width)));
        const ac_x inside = ac_lb_and(b, ac_lo_within(b, iy, sy->in), ac_lo_within(b, ix, sx->in));
        const ac_x row = plus(j, times(j, j->first.n, sy->in), iy), pixel = plus(j, times(j, row, sx->in), ix);
        copy(j, j->xs, e, j->x, plus(j, times(j, pixel, j->win->ic), ch),
             exists ? ac_lb_and(b, exists, inside) : inside);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

static ac_x quad_at(const job *j, int32_t buf, ac_x pixel, ac_x quad)
{
    return ac_lb_load_flags(&j->L->b, buf, times(j, plus(j, times(j, pixel, j->t.quads), quad), QUAD), QUAD,
                            AC_F_ALIGNED);
}

/* Row ky of the filter for all columns of the strip, whose first pixel of that row is `line`. */
static void sum_row(const job *j, int64_t ky, ac_x line, ac_x quad, const ac_x *acc)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sx = &j->win->x;
    ac_x tap[MOST_TAPS];
    for (int32_t k = 0; k < sx->taps; k++)
        tap[k] = quad_at(j, j->ws, num(j, ky * sx->taps + k), quad);
    for (int64_t x = 0; x < ac_depthwise_reach(sx, j->t.wide); x++) {
        ac_x v = 0;
        for (int32_t i = 0; i < j->t.wide; i++) {
            const int64_t k = x - i * sx->stride;
            if (k < 0 || k % sx->dil || k / sx->dil >= sx->taps)
                continue;
            v = v ? v : quad_at(j, j->xs, plus(j, line, num(j, x)), quad);
            ac_lb_set(b, acc[i], ac_lo_madd(j->L, v, tap[k / sx->dil], ac_lb_get(b, acc[i])));
        }
    }
}

static void multiply(const job *j)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    const ac_x t = threads(j), quad = ac_lb_mod(b, t, num(j, j->t.quads)), rest = ac_lb_div(b, t, num(j, j->t.quads));
    const ac_x strip = ac_lb_mod(b, rest, num(j, j->t.strips)), row = ac_lb_div(b, rest, num(j, j->t.strips));
    const ac_x oy = plus(j, j->first.oy0, row), column = times(j, strip, j->t.wide);
    ac_x exists, acc[WIDE];
    const ac_x ch = channel_of(j, quad, &exists);
    const bool whole = j->t.threads == j->t.quads * j->t.strips * j->t.rows && win->y.out % j->t.rows == 0;
    ac_x live = whole ? ac_lb_int(b, AC_BOOL, 1)
                      : ac_lb_and(b, ac_lb_lt(b, row, num(j, j->t.rows)), ac_lb_lt(b, oy, num(j, win->y.out)));
    live = exists ? ac_lb_and(b, exists, live) : live;
    ac_lb_if(b, live);
    ac_x start[QUAD];
    static const int64_t ALL[] = {0, 1, 2, 3};
    for (int32_t l = 0; l < QUAD; l++)
        start[l] = ac_lb_load(b, j->bias, plus(j, t, num(j, (int64_t)l * j->t.threads)), 1);
    const ac_x bias = ac_lb_shuffle(b, ac_lb_shuffle(b, start[0], start[1], ALL, 2),
                                    ac_lb_shuffle(b, start[2], start[3], ALL, 2), ALL, QUAD);
    for (int32_t i = 0; i < j->t.wide; i++)
        acc[i] = ac_lb_var(b, "acc", bias);
    const ac_x line = plus(j, times(j, times(j, row, win->y.stride), j->t.width), times(j, column, win->x.stride));
    for (int64_t ky = 0; ky < win->y.taps; ky++)
        sum_row(j, ky, plus(j, line, num(j, ky * win->y.dil * j->t.width)), quad, acc);
    for (int32_t i = 0; i < j->t.wide; i++) {
        const ac_x ox = plus(j, plus(j, j->first.ox0, column), num(j, i)), idx[4] = {j->first.n, oy, ox, ch};
        ac_lb_if(b, win->x.out % (j->t.wide * j->t.strips) ? ac_lb_lt(b, ox, num(j, win->x.out))
                                                           : ac_lb_int(b, AC_BOOL, 1));
        const ac_x begin = b->fn->code.n;
        ac_lo_result(j->L, ac_channel_done(j->c, ac_lb_get(b, acc[i]), ch), idx, QUAD);
        ac_gpu_align_quads(b, begin);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

int ac_gpu_depthwise_quads(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    job j = {.L = L, .c = c, .win = win};
    tile_of(L, win, &j.t);
    c->bias_first = !L->exact;
    ac_channel_tables(c, c->n, NULL, 0);
    const int64_t channels = (int64_t)QUAD * j.t.quads;
    j.x = ac_lo_operand(L, c->x);
    j.w = ac_lo_operand(L, c->w);
    j.xs = ac_lo_gpu_local(L, "xs", AC_F32, j.t.height * j.t.width * channels, AC_WHERE_SHARED);
    j.ws = ac_lo_gpu_local(L, "ws", AC_F32, win->y.taps * win->x.taps * channels, AC_WHERE_SHARED);
    j.bias = ac_lo_gpu_local(L, "bias", AC_F32, (int64_t)QUAD * j.t.threads, AC_WHERE_THREAD);
    j.first = ac_gpu_depthwise_blocks(L, win, j.t.rows, (int64_t)j.t.wide * j.t.strips, channels);
    copy_filter(&j);
    copy_x(&j);
    multiply(&j);
    ac_lb_end(b);
    return AC_OK;
}
