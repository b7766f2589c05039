/* depthwise_quads.c - depthwise_conv_2d of floats on a GPU, four channels to a thread. A block computes a tile of
 * pixels of some channels: it copies the filter, then the input that the tile meets, to shared memory by 16 bytes,
 * without registers between (late stores); outside of the input are zeros.
 *
 *     thread: quad + quads * (strip + strips * row)     a quad: four channels; a strip: `wide` columns of a row
 *
 * A thread holds the sums of its strip and reads each pixel of a row once for all of them. Sums begin with the bias, or
 * with 0 if it is added at the end (--exact), and run in the order of the filter. The tile is the one with the least
 * time by a model: a warp alone, instructions, shared memory, bytes into a multiprocessor.
 *
 * Sums of the tile's pixels: of a thread's strip, in order; then of threads k, k + groups, ..; then of the groups. */
#include "ir/lower/conv/depthwise_quads.h"

enum {
    WIDE = 7,
    HIGH = 16,
    MOST_THREADS = 256,
    LEAST_THREADS = 64,
    MOST_TAPS = 9,        /* of a row */
    MOST_ALL = 49,        /* of a filter */
    MOST_REGISTERS = 150, /* of a thread */
    MOST_BYTES = 46 << 10,
    MOST_PIXELS = 8
};

/* ------------------------------------------------------------------ the plan */

static int64_t cycles(const ac_target *target, const ac_window *win, bool long_end, const ac_quads_tile *t,
                      const ac_quads_more *add)
{
    enum { LATENCY = 600, CURVE = 30, SIMPLE = 3, INTO = 64 };
    const ac_gpu_machine *m = ac_gpu_machine_of(target);
    const int64_t channels = (int64_t)QUAD * t->quads, across = (int64_t)t->wide * t->strips;
    const int64_t taps = win->y.taps * win->x.taps, columns = ac_depthwise_reach(&win->x, t->wide),
                  warps = t->threads / WARP;
    const int64_t blocks =
        win->n * ac_gpu_over(win->x.out, across) * ac_gpu_over(win->y.out, t->rows) * ac_gpu_over(win->oc, channels);
    const int64_t passes = ac_gpu_over(t->height * t->width * t->quads, t->threads),
                  more = ac_gpu_over(taps * t->quads, t->threads);
    const int64_t loads = win->y.taps * (columns + win->x.taps), end = long_end ? CURVE : SIMPLE;
    const int64_t issue = add->issue + (add->issue ? 6 : 12) * passes + 8 * more + loads +
                          taps * t->wide * QUAD * m->fma + t->wide * (QUAD * end + 12) + 120;
    const int64_t tile = (t->height * t->width + taps) * channels * 4, shared = tile + add->shared;
    const int64_t bytes =
        (add->bytes ? taps * channels * 4 + add->bytes : tile) + (int64_t)t->rows * across * channels * 4;
    int64_t fit = m->shared / (shared + 1024);
    fit = fit * warps > m->warps ? m->warps / warps : fit;
    fit = ac_gpu_least(fit, m->blocks);
    const int64_t waves = ac_gpu_over(blocks, m->units * ac_gpu_most(fit, 1)),
                  at = blocks < m->units * fit ? ac_gpu_over(blocks, m->units) : fit;
    const int64_t into = ac_gpu_most(m->l2 / ac_gpu_least(blocks, m->units), 1);
    const int64_t work = ac_gpu_most(ac_gpu_over(at * warps, 4) * issue, 2 * at * warps * (loads + add->passes));
    return waves * ac_gpu_most(LATENCY + issue, ac_gpu_most(work, at * bytes / ac_gpu_least(into, INTO)));
}

int64_t ac_quads_tile_of(const ac_target *target, const ac_window *win, bool long_end, ac_quads_more_fn *more,
                         const ac_expanded *e, ac_quads_tile *best)
{
    int64_t least = INT64_MAX;
    ac_quads_tile t = {0};
    for (t.quads = 2; t.quads <= 8; t.quads *= 2)
        for (t.rows = 1; t.rows <= HIGH && t.rows <= win->y.out; t.rows++)
            for (t.wide = 1; t.wide <= WIDE && t.wide <= win->x.out; t.wide++)
                for (t.strips = 1; (int64_t)(t.strips - 1) * t.wide < win->x.out; t.strips++) {
                    t.threads = (int32_t)ac_gpu_over((int64_t)t.quads * t.strips * t.rows, WARP) * WARP;
                    t.height = ac_depthwise_reach(&win->y, t.rows);
                    t.width = ac_depthwise_reach(&win->x, (int64_t)t.wide * t.strips);
                    const int64_t taps = win->y.taps * win->x.taps, pixels = t.height * t.width + taps;
                    const int64_t held = QUAD * (t.wide + ac_depthwise_reach(&win->x, t.wide) + win->x.taps) + 40;
                    if (e && e->tile_h && (t.rows != e->tile_h || (int64_t)t.wide * t.strips != e->tile_w))
                        continue;
                    if (t.threads > MOST_THREADS || t.height > MOST_BYTES || t.width > MOST_BYTES ||
                        pixels * t.quads * QUAD * 4 > MOST_BYTES || held > MOST_REGISTERS)
                        break;
                    for (t.pixels = 1; t.pixels <= (more ? MOST_PIXELS : 1); t.pixels *= 2) {
                        const ac_quads_more add = more ? more(target, win, &t, e) : (ac_quads_more){0};
                        const int64_t few = t.threads < LEAST_THREADS ? 100 : 0,
                                      took = cycles(target, win, long_end, &t, &add) + few;
                        if (took >= least ||
                            add.shared + (more ? pixels * t.quads * QUAD * 4 + 1024 : 0) > target->shared_bytes)
                            continue;
                        least = took;
                        *best = t;
                    }
                }
    return least < INT64_MAX ? least : 0;
}

bool ac_gpu_depthwise_taps(const ac_window *win)
{
    return win->x.taps <= MOST_TAPS && win->y.taps * win->x.taps <= MOST_ALL;
}

bool ac_gpu_depthwise_quads_fits(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    ac_quads_tile t;
    const bool plain = c->kind == AC_MACS_F32 && win->oc == win->ic && win->oc % QUAD == 0 && !c->x->narrowed &&
                       !c->w->narrowed && c->out->dtype == AC_F32 && !ac_lo_by_table(L);
    const bool aligned = plain && ac_lo_align(L, c->x) >= 16 && ac_lo_align(L, c->w) >= 16;
    return aligned && ac_gpu_depthwise_taps(win) &&
           ac_quads_tile_of(L->target, win, ac_lo_has_long_chain(L), NULL, NULL, &t);
}

/* ------------------------------------------------------------------ phases */

/* Channel of a quad of the block, and whether it exists (0: surely). */
static ac_x channel_of(const ac_quads *j, ac_x quad, ac_x *exists)
{
    const ac_x ch = ac_quads_plus(j, j->first.c0, ac_quads_times(j, quad, QUAD));
    *exists = j->win->oc % (QUAD * j->t.quads) ? ac_lb_lt(&j->L->b, ch, ac_quads_num(j, j->win->oc)) : 0;
    return ch;
}

/* The filter, and the bias of the thread's channels. */
static void copy_filter(const ac_quads *j)
{
    ac_lb *b = &j->L->b;
    const int64_t taps = j->win->y.taps * j->win->x.taps, pieces = taps * j->t.quads;
    const ac_x t = ac_quads_threads(j);
    ac_x exists;
    ac_lb_groups(b, t, AC_GROUPS_OPEN);
    for (int64_t i = 0; i * j->t.threads < pieces; i++) {
        const ac_x e = ac_quads_piece(j, t, i, pieces), tap = ac_lb_div(b, e, ac_quads_num(j, j->t.quads)),
                   ch = channel_of(j, ac_lb_mod(b, e, ac_quads_num(j, j->t.quads)), &exists);
        ac_quads_copy(j, j->ws, e, j->w, ac_quads_plus(j, ac_quads_times(j, tap, j->win->oc), ch), exists);
        ac_lb_end(b);
    }
    if (j->copy)
        j->copy(j, t);
    const ac_x ch = channel_of(j, ac_lb_mod(b, t, ac_quads_num(j, j->t.quads)), &exists);
    const ac_x bias = ac_channel_start(j->c, exists ? ac_lb_min(b, ch, ac_quads_num(j, j->win->oc - QUAD)) : ch, QUAD);
    for (int32_t l = 0; l < QUAD; l++)
        ac_lb_store(b, j->bias, ac_quads_plus(j, t, ac_quads_num(j, (int64_t)l * j->t.threads)),
                    ac_lb_lane(b, bias, l));
    ac_lb_end(b);
}

static void copy_x(const ac_quads *j)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sy = &j->win->y, *sx = &j->win->x;
    const int64_t pieces = j->t.height * j->t.width * j->t.quads;
    const ac_x t = ac_quads_threads(j);
    ac_lb_groups(b, t, 0);
    const ac_x y0 = ac_lb_sub(b, ac_quads_times(j, j->first.oy0, sy->stride), ac_quads_num(j, sy->pad)),
               x0 = ac_lb_sub(b, ac_quads_times(j, j->first.ox0, sx->stride), ac_quads_num(j, sx->pad));
    for (int64_t i = 0; i * j->t.threads < pieces; i++) {
        ac_x exists;
        const ac_x e = ac_quads_piece(j, t, i, pieces), at = ac_lb_div(b, e, ac_quads_num(j, j->t.quads)),
                   ch = channel_of(j, ac_lb_mod(b, e, ac_quads_num(j, j->t.quads)), &exists);
        const ac_x iy = ac_quads_plus(j, y0, ac_lb_div(b, at, ac_quads_num(j, j->t.width))),
                   ix = ac_quads_plus(j, x0, ac_lb_mod(b, at, ac_quads_num(j, j->t.width)));
        const ac_x inside = ac_lb_and(b, ac_lo_within(b, iy, sy->in), ac_lo_within(b, ix, sx->in));
        const ac_x row = ac_quads_plus(j, ac_quads_times(j, j->first.n, sy->in), iy),
                   pixel = ac_quads_plus(j, ac_quads_times(j, row, sx->in), ix);
        ac_quads_copy(j, j->xs, e, j->x, ac_quads_plus(j, ac_quads_times(j, pixel, j->win->ic), ch),
                      exists ? ac_lb_and(b, exists, inside) : inside);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

static ac_x quad_at(const ac_quads *j, int32_t buf, ac_x pixel, ac_x quad)
{
    return ac_lb_load_flags(&j->L->b, buf,
                            ac_quads_times(j, ac_quads_plus(j, ac_quads_times(j, pixel, j->t.quads), quad), QUAD), QUAD,
                            AC_F_ALIGNED);
}

/* Row ky of the filter for all columns of the strip, whose first pixel of that row is `line`. */
static void sum_row(const ac_quads *j, int64_t ky, ac_x line, ac_x quad, const ac_x *acc)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sx = &j->win->x;
    ac_x tap[MOST_TAPS];
    for (int32_t k = 0; k < sx->taps; k++)
        tap[k] = quad_at(j, j->ws, ac_quads_num(j, ky * sx->taps + k), quad);
    for (int64_t x = 0; x < ac_depthwise_reach(sx, j->t.wide); x++) {
        ac_x v = 0;
        for (int32_t i = 0; i < j->t.wide; i++) {
            const int64_t k = x - i * sx->stride;
            if (k < 0 || k % sx->dil || k / sx->dil >= sx->taps)
                continue;
            v = v ? v : quad_at(j, j->xs, ac_quads_plus(j, line, ac_quads_num(j, x)), quad);
            ac_lb_set(b, acc[i], ac_lo_madd(j->L, v, tap[k / sx->dil], ac_lb_get(b, acc[i])));
        }
    }
}

/* Stores a result, which it returns. */
static ac_x put(const ac_quads *j, ac_x v, const ac_x *idx)
{
    ac_lo_result_buf(j->L); /* before what followers read */
    v = ac_lo_followed(j->L, v, idx, QUAD);
    ac_lo_put(j->L, v, idx);
    return v;
}

static void multiply(const ac_quads *j)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    const ac_x t = ac_quads_threads(j), quad = ac_lb_mod(b, t, ac_quads_num(j, j->t.quads)),
               rest = ac_lb_div(b, t, ac_quads_num(j, j->t.quads));
    const ac_x strip = ac_lb_mod(b, rest, ac_quads_num(j, j->t.strips)),
               row = ac_lb_div(b, rest, ac_quads_num(j, j->t.strips));
    const ac_x oy = ac_quads_plus(j, j->first.oy0, row), column = ac_quads_times(j, strip, j->t.wide);
    ac_x exists, acc[WIDE];
    const ac_x ch = channel_of(j, quad, &exists);
    const bool whole = j->t.threads == j->t.quads * j->t.strips * j->t.rows && win->y.out % j->t.rows == 0;
    ac_x live = whole ? ac_lb_int(b, AC_BOOL, 1)
                      : ac_lb_and(b, ac_lb_lt(b, row, ac_quads_num(j, j->t.rows)),
                                  ac_lb_lt(b, oy, ac_quads_num(j, win->y.out)));
    live = exists ? ac_lb_and(b, exists, live) : live;
    const ac_x sum = j->part < 0 ? 0 : ac_lb_var(b, "sum", ac_lb_splat(b, ac_lb_f32(b, 0), QUAD));
    ac_lb_if(b, live);
    ac_x start[QUAD];
    static const int64_t ALL[] = {0, 1, 2, 3};
    for (int32_t l = 0; l < QUAD; l++)
        start[l] = ac_lb_load(b, j->bias, ac_quads_plus(j, t, ac_quads_num(j, (int64_t)l * j->t.threads)), 1);
    const ac_x bias = ac_lb_shuffle(b, ac_lb_shuffle(b, start[0], start[1], ALL, 2),
                                    ac_lb_shuffle(b, start[2], start[3], ALL, 2), ALL, QUAD);
    for (int32_t i = 0; i < j->t.wide; i++)
        acc[i] = ac_lb_var(b, "acc", bias);
    const ac_x line = ac_quads_plus(j, ac_quads_times(j, ac_quads_times(j, row, win->y.stride), j->t.width),
                                    ac_quads_times(j, column, win->x.stride));
    for (int64_t ky = 0; ky < win->y.taps; ky++)
        sum_row(j, ky, ac_quads_plus(j, line, ac_quads_num(j, ky * win->y.dil * j->t.width)), quad, acc);
    for (int32_t i = 0; i < j->t.wide; i++) {
        const ac_x ox = ac_quads_plus(j, ac_quads_plus(j, j->first.ox0, column), ac_quads_num(j, i)),
                   idx[4] = {j->first.n, oy, ox, ch};
        ac_lb_if(b, win->x.out % (j->t.wide * j->t.strips) ? ac_lb_lt(b, ox, ac_quads_num(j, win->x.out))
                                                           : ac_lb_int(b, AC_BOOL, 1));
        const ac_x begin = b->fn->code.n, v = put(j, ac_channel_done(j->c, ac_lb_get(b, acc[i]), ch), idx);
        ac_gpu_align_quads(b, begin);
        if (sum)
            ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), v));
        ac_lb_end(b);
    }
    ac_lb_end(b);
    if (sum)
        ac_lb_store_flags(b, j->part, ac_quads_times(j, t, QUAD), ac_lb_get(b, sum), AC_F_ALIGNED);
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ sums of pixels */

/* Threads that have pixels of the same channels; groups of them. */
static int64_t strips_of(const ac_quads *j)
{
    return (int64_t)j->t.strips * j->t.rows;
}
static int64_t groups_of(const ac_quads *j)
{
    const int64_t most = j->t.threads / (QUAD * j->t.quads), n = strips_of(j);
    int64_t groups = 1;
    while (groups * groups < n && groups < most)
        groups++;
    return groups * groups < 2 * groups + 4 ? 1 : groups; /* so few that one thread adds all of them sooner */
}

/* Channel c's sum of lines k, k + groups, .. of `from`, whose lines have the block's channels. */
static ac_x sum_lines(const ac_quads *j, int32_t from, ac_x item, int64_t groups, int64_t lines)
{
    ac_lb *b = &j->L->b;
    const int64_t channels = (int64_t)QUAD * j->t.quads;
    ac_x sum = ac_lb_load(b, from, item, 1);
    for (int64_t k = groups; k < lines; k += groups) {
        const ac_x at = ac_quads_plus(j, item, ac_quads_num(j, k * channels));
        const bool all = k + groups <= lines;
        const ac_x near = all ? at : ac_lb_min(b, at, ac_quads_num(j, lines * channels - 1)),
                   more = ac_lb_load(b, from, near, 1);
        const ac_x in = all ? 0 : ac_lb_lt(b, item, ac_quads_num(j, (lines - k) * channels));
        sum = ac_quads_plus(j, sum, in ? ac_lb_select(b, in, more, ac_lb_f32(b, 0)) : more);
    }
    return sum;
}

static void add_strips(const ac_quads *j)
{
    ac_lb *b = &j->L->b;
    const ac_expanded *e = j->e;
    const int64_t channels = (int64_t)QUAD * j->t.quads, groups = groups_of(j);
    const int32_t to = ac_lo_output_buf(j->L, 1);
    ac_x t;
    if (groups > 1) {
        t = ac_quads_threads(j);
        const ac_x item = ac_quads_piece(j, t, 0, groups * channels);
        ac_lb_store(b, j->some, item, sum_lines(j, j->part, item, groups, strips_of(j)));
        ac_lb_end(b);
        ac_lb_end(b);
    }
    t = ac_quads_threads(j);
    const ac_x c = ac_quads_piece(j, t, 0, channels), ch = ac_quads_plus(j, j->first.c0, c);
    const bool many = groups > 1;
    ac_lb_if(b, e->channels % channels ? ac_lb_lt(b, ch, ac_quads_num(j, e->channels)) : ac_lb_int(b, AC_BOOL, 1));
    const ac_x down = ac_lb_div(b, j->first.oy0, ac_quads_num(j, e->tile_h)),
               tile = ac_quads_plus(j, ac_quads_times(j, down, e->tiles_x),
                                    ac_lb_div(b, j->first.ox0, ac_quads_num(j, e->tile_w))),
               of_all = ac_quads_plus(j, ac_quads_times(j, j->first.n, e->tiles), tile);
    ac_lb_store(b, to, ac_quads_plus(j, ac_quads_times(j, of_all, e->channels), ch),
                sum_lines(j, many ? j->some : j->part, c, 1, many ? groups : strips_of(j)));
    for (int k = 0; k < 3; k++)
        ac_lb_end(b);
}

int ac_quads_all(ac_quads *j)
{
    ac_lower *L = j->L;
    const ac_window *win = j->win;
    const int64_t channels = (int64_t)QUAD * j->t.quads;
    j->xs = ac_lo_gpu_local(L, "xs", AC_F32, j->t.height * j->t.width * channels, AC_WHERE_SHARED);
    j->ws = ac_lo_gpu_local(L, "ws", AC_F32, win->y.taps * win->x.taps * channels, AC_WHERE_SHARED);
    j->bias = ac_lo_gpu_local(L, "bias", AC_F32, (int64_t)QUAD * j->t.threads, AC_WHERE_THREAD);
    j->part = j->some = -1;
    if (j->e && j->e->tiles) {
        j->part = ac_lo_gpu_local(L, "part", AC_F32, (int64_t)QUAD * j->t.threads, AC_WHERE_SHARED);
        if (groups_of(j) > 1)
            j->some = ac_lo_gpu_local(L, "some", AC_F32, groups_of(j) * channels, AC_WHERE_SHARED);
    }
    j->first = ac_gpu_depthwise_blocks(L, win, j->t.rows, (int64_t)j->t.wide * j->t.strips, channels);
    copy_filter(j);
    (j->fill ? j->fill : copy_x)(j);
    multiply(j);
    if (j->part >= 0)
        add_strips(j);
    ac_lb_end(&L->b);
    return AC_OK;
}

int ac_gpu_depthwise_quads(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_quads j = {.L = L, .c = c, .win = win};
    ac_quads_tile_of(L->target, win, ac_lo_has_long_chain(L), NULL, NULL, &j.t);
    c->bias_first = !L->exact;
    ac_channel_tables(c, c->n, NULL, 0);
    j.x = ac_lo_operand(L, c->x);
    j.w = ac_lo_operand(L, c->w);
    return ac_quads_all(&j);
}
