/* depthwise.c - depthwise_conv_2d: operands, checks, both schedules.
 *
 * x     [N,H,W,C]          f32, i8, u8, i16
 * w     [1,KH,KW,O]        f32, i8 (also for f32 x: dynamic range), u8
 * bias  [O], may be absent f32, i32, i64
 * y     [N,OH,OW,O]        x's type
 *
 * O = C * multiplier; output channel oc reads x's channel oc / multiplier.
 * Number systems and references: channel.h. Dynamic range quantises each batch with a zero point.
 *
 * Schedule: channels in vectors, then tiles of output columns. Multiplier 1: vectors of x and w. Larger ones: vectors
 * of w, x in all lanes; or if that takes fewer, vectors of input channels, which shuffles repeat for each result.
 * Rows outside the input are never visited; the first and last columns, whose taps are cut, are computed one by one.
 * Each input column of a tile is loaded once for all taps that read it. Plain targets: the same with vectors of one,
 * four channels at a time instead of columns. Bytes with DOT4, or DOT2 of vectors: depthwise_dot.c; with products of
 * the halves of words: depthwise_pairs.c; on other processors that multiply one pair of bytes at a time:
 * depthwise_columns.c. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/conv/wide.h"
#include "ir/lower/entries.h"
#include "ir/lower/conv/spans.h"

enum { COLUMNS = 7, UNROLLED_TAPS = 9, CHANNELS = 4 };

typedef struct depthwise {
    ac_lower *L;
    ac_channel c;
    ac_window win;
    int64_t multiplier;
    int32_t x_buf, w_buf;
    int32_t lanes; /* of the present span */
    bool narrow;   /* products fit in i16 */
    bool repeats;  /* vectors of input channels; then */
    int32_t part;  /* of the multiplier * lanes results of a vector: lanes * part .. */
} depthwise;

/* The constants of a tile: image, output row, input channel, output channel. */
typedef struct place {
    ac_x n, oy, ic, oc;
} place;

static ac_x widen(const depthwise *d, ac_x v, int32_t zero, ac_x zero_x)
{
    ac_lb *b = &d->L->b;
    v = ac_lb_cast(b, v, AC_I16);
    if (zero_x)
        return ac_lb_sub(b, v, ac_lb_cast(b, zero_x, AC_I16));
    return zero ? ac_lb_sub(b, v, ac_lb_int(b, AC_I16, zero)) : v;
}

static ac_x load_x(const depthwise *d, ac_x at)
{
    ac_lb *b = &d->L->b;
    const int32_t lanes = d->multiplier == 1 || d->repeats ? d->lanes : 1;
    const ac_x x = d->narrow ? widen(d, ac_lb_load(b, d->x_buf, at, lanes), d->c.folded ? 0 : d->c.zx, d->c.zero_x)
                             : ac_channel_x(&d->c, d->x_buf, at, lanes);
    if (!d->repeats || lanes == 1)
        return x;
    int64_t from[AC_MAX_LANES];
    for (int32_t l = 0; l < lanes; l++)
        from[l] = (d->part * lanes + l) / d->multiplier;
    return ac_lb_shuffle(b, x, 0, from, lanes);
}

static ac_x load_w(const depthwise *d, ac_x at)
{
    if (d->narrow)
        return widen(d, ac_lb_load(&d->L->b, d->w_buf, at, d->lanes), 0, 0);
    return ac_channel_w(&d->c, d->w_buf, at, d->lanes);
}

static ac_x multiply_add(const depthwise *d, ac_x acc, ac_x x, ac_x w)
{
    ac_lb *b = &d->L->b;
    if (d->narrow)
        return ac_lb_add(b, acc, ac_lb_cast(b, ac_lb_mul(b, ac_lb_splat(b, x, d->lanes), w), AC_I32));
    return ac_channel_mac(&d->c, acc, ac_lb_splat(b, x, d->lanes), w);
}

/* Element index of x at (n, iy, column 0, ic). */
static ac_x x_row(const depthwise *d, const place *p, ac_x iy)
{
    ac_lb *b = &d->L->b;
    if (d->c.kind != AC_MACS_HYBRID) /* there x is the quantised batch */
        iy = ac_lb_add(b, ac_lb_mul(b, p->n, ac_lb_i32(b, d->win.y.in)), iy);
    return ac_lb_add(b, ac_lb_mul(b, iy, ac_lb_i32(b, d->win.x.in * d->win.ic)), p->ic);
}

static void store(const depthwise *d, const place *p, ac_x ox, ac_x acc, ac_x oc)
{
    ac_x idx[4] = {p->n, p->oy, ox, oc};
    ac_gemm_store_lanes(d->L, ac_channel_done(&d->c, acc, oc), oc, d->lanes, idx);
}

/* One output column with the taps that are inside; n neighbouring channels (n > 1 only with one lane, multiplier 1):
 * their accumulators. */
static void reduce_column(const depthwise *d, const place *p, ac_x ox, int32_t n, ac_x *acc)
{
    ac_lb *b = &d->L->b;
    const ac_window *w = &d->win;
    ac_x ylo, yhi, xlo, xhi;
    for (int32_t j = 0; j < n; j++)
        acc[j] = ac_lb_var(b, "acc", ac_channel_start(&d->c, ac_lb_add(b, p->oc, ac_lb_i32(b, j)), d->lanes));
    ac_slide_taps(b, &w->y, p->oy, &ylo, &yhi);
    ac_slide_taps(b, &w->x, ox, &xlo, &xhi);
    ac_x ky = ac_lb_for(b, "ky", ylo, yhi, 1, AC_MARK_SERIAL);
    ac_x row = x_row(d, p, ac_slide_at(b, &w->y, p->oy, ky));
    ac_x kx = ac_lb_for(b, "kx", xlo, xhi, 1, AC_MARK_SERIAL);
    ac_x x_at = ac_lb_add(b, row, ac_lb_mul(b, ac_slide_at(b, &w->x, ox, kx), ac_lb_i32(b, w->ic)));
    ac_x tap = ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, w->x.taps)), kx);
    ac_x w_at = ac_lb_add(b, ac_lb_mul(b, tap, ac_lb_i32(b, w->oc)), p->oc);
    for (int32_t j = 0; j < n; j++) {
        ac_x x = load_x(d, d->multiplier == 1 ? ac_lb_add(b, x_at, ac_lb_i32(b, j)) : x_at);
        ac_lb_set(b, acc[j], multiply_add(d, ac_lb_get(b, acc[j]), x, load_w(d, ac_lb_add(b, w_at, ac_lb_i32(b, j)))));
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

static void column(const depthwise *d, const place *p, ac_x ox, int32_t n)
{
    ac_lb *b = &d->L->b;
    ac_x acc[CHANNELS];
    reduce_column(d, p, ox, n, acc);
    for (int32_t j = 0; j < n; j++)
        store(d, p, ox, ac_lb_get(b, acc[j]), ac_lb_add(b, p->oc, ac_lb_i32(b, j)));
}

/* `n` output columns from ox on, all taps inside, filter columns unrolled: input columns are loaded once. */
static void tile(const depthwise *d, const place *p, ac_x ox, int32_t n)
{
    ac_lb *b = &d->L->b;
    const ac_window *w = &d->win;
    const ac_slide *sx = &w->x;
    ac_x acc[COLUMNS], tap[UNROLLED_TAPS], lo, hi;
    for (int32_t i = 0; i < n; i++)
        acc[i] = ac_lb_var(b, "acc", ac_channel_start(&d->c, p->oc, d->lanes));
    ac_slide_taps(b, &w->y, p->oy, &lo, &hi);
    ac_x ky = ac_lb_for(b, "ky", lo, hi, 1, AC_MARK_SERIAL);
    ac_x row = x_row(d, p, ac_slide_at(b, &w->y, p->oy, ky));
    row = ac_lb_add(b, row, ac_lb_mul(b, ac_slide_at(b, sx, ox, ac_lb_i32(b, 0)), ac_lb_i32(b, w->ic)));
    ac_x w_at = ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, sx->taps * w->oc)), p->oc);
    for (int32_t k = 0; k < sx->taps; k++)
        tap[k] = load_w(d, ac_lb_add(b, w_at, ac_lb_i32(b, k * w->oc)));
    for (int64_t at = 0; at <= (n - 1) * sx->stride + (sx->taps - 1) * sx->dil; at++) {
        ac_x x = 0;
        for (int32_t i = 0; i < n; i++) {
            const int64_t reach = at - i * sx->stride;
            if (reach < 0 || reach % sx->dil || reach / sx->dil >= sx->taps)
                continue;
            if (!x)
                x = load_x(d, ac_lb_add(b, row, ac_lb_i32(b, at * w->ic)));
            ac_lb_set(b, acc[i], multiply_add(d, ac_lb_get(b, acc[i]), x, tap[reach / sx->dil]));
        }
    }
    ac_lb_end(b);
    for (int32_t i = 0; i < n; i++)
        store(d, p, ac_lb_add(b, ox, ac_lb_i32(b, i)), ac_lb_get(b, acc[i]), p->oc);
}

static void columns(const depthwise *d, const place *p, int64_t begin, int64_t end)
{
    ac_lb *b = &d->L->b;
    if (begin >= end)
        return;
    ac_x ox = ac_lb_for(b, "ox", ac_lb_i32(b, begin), ac_lb_i32(b, end), 1, AC_MARK_SERIAL);
    column(d, p, ox, 1);
    ac_lb_end(b);
}

/* One output row of one channel vector: cut columns, tiles, cut columns. */
static void row_of_tiles(const depthwise *d, const place *p)
{
    ac_lb *b = &d->L->b;
    const ac_slide *sx = &d->win.x;
    int64_t begin, end;
    ac_slide_interior(sx, &begin, &end);
    if (sx->taps > UNROLLED_TAPS)
        begin = end = sx->out;
    const int32_t hint = d->c.acc == AC_I64 || d->L->hint.rows > COLUMNS ? 0 : d->L->hint.rows;
    const int32_t wide = hint > 0 ? hint : d->c.acc == AC_I64 ? 2 : d->L->target->registers >= 32 ? COLUMNS : 4;
    const ac_gemm_cuts cuts = ac_gemm_cut(end - begin, wide);
    d->L->out->schedule.rows = (int32_t)cuts.size[0];
    d->L->out->schedule.vecs = 1;
    columns(d, p, 0, begin);
    for (int32_t s = 0; s < 2; s++) {
        if (!cuts.count[s])
            continue;
        ac_x i = ac_lb_for_n(b, "t", cuts.count[s]);
        ac_x ox = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, cuts.size[s])), ac_lb_i32(b, begin + cuts.first[s]));
        tile(d, p, ox, (int32_t)cuts.size[s]);
        ac_lb_end(b);
    }
    columns(d, p, end, sx->out);
}

/* Channels innermost to the pixel: vectors of one. */
static void plain_row(const depthwise *d, place p, int64_t channels)
{
    ac_lb *b = &d->L->b;
    const int64_t whole = channels / CHANNELS * CHANNELS, rest = channels - whole;
    const place first = p;
    ac_x ox = ac_lb_for_each(b, "ox", d->win.x.out);
    for (int part = 0; part < 2; part++) {
        const int32_t n = part ? (int32_t)rest : CHANNELS;
        if (part ? !rest : !whole)
            continue;
        ac_x i = part || whole == CHANNELS
                     ? ac_lb_for_n(b, "oc", 1)
                     : ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, whole), CHANNELS, AC_MARK_PARALLEL);
        if (part)
            i = ac_lb_i32(b, whole);
        p.oc = ac_lb_add(b, first.oc, i);
        p.ic = d->multiplier == 1 ? ac_lb_add(b, first.ic, i) : first.ic;
        column(d, &p, ox, n);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* All channels of output row oy, input channels in vectors. */
static void repeated_row(depthwise *d, ac_x n, ac_x oy, int32_t lanes)
{
    ac_lb *b = &d->L->b;
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(d->win.ic, lanes, span);
    for (int32_t s = 0; s < spans; s++) {
        d->lanes = span[s].lanes;
        const ac_x ic =
            ac_lb_for(b, "c", ac_lb_i32(b, span[s].begin), ac_lb_i32(b, span[s].end), d->lanes, AC_MARK_PARALLEL);
        for (d->part = 0; d->part < d->multiplier; d->part++) {
            const ac_x oc =
                ac_lb_add(b, ac_lb_mul(b, ic, ac_lb_i32(b, d->multiplier)), ac_lb_i32(b, (int64_t)d->part * d->lanes));
            row_of_tiles(d, &(place){n, oy, ic, oc});
        }
        ac_lb_end(b);
    }
}

/* True if input channels in vectors take fewer vectors than the results of each input channel do. */
static bool should_repeat(const depthwise *d, int32_t lanes)
{
    enum { MOST = 8 }; /* copies of the loops */
    const int64_t m = d->multiplier, each = m < 4 ? m : m / lanes + __builtin_popcountll((uint64_t)(m % lanes));
    const int64_t together = d->win.ic / lanes + __builtin_popcountll((uint64_t)(d->win.ic % lanes));
    return lanes > 1 && m > 1 && m <= MOST && m * together < d->win.ic * each;
}

/* All channels of output row oy. */
static void output_row(depthwise *d, ac_x n, ac_x oy, int32_t lanes)
{
    ac_lb *b = &d->L->b;
    const int64_t vector = d->multiplier == 1 ? d->win.oc : d->multiplier; /* channels that may share a vector */
    ac_x ic = d->multiplier == 1 ? ac_lb_for_n(b, "ic", 1) : ac_lb_for_each(b, "ic", d->win.ic);
    place p = {n, oy, ic, ac_lb_mul(b, ic, ac_lb_i32(b, d->multiplier))};
    const place first = p;
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = lanes > 1 ? ac_spans(vector, lanes, span) : 0;
    for (int32_t s = 0; s < spans; s++) {
        d->lanes = span[s].lanes;
        ac_x c = ac_lb_for(b, "c", ac_lb_i32(b, span[s].begin), ac_lb_i32(b, span[s].end), d->lanes, AC_MARK_PARALLEL);
        p.oc = ac_lb_add(b, first.oc, c);
        p.ic = d->multiplier == 1 ? ac_lb_add(b, first.ic, c) : first.ic;
        row_of_tiles(d, &p);
        ac_lb_end(b);
    }
    d->lanes = 1;
    if (!spans)
        plain_row(d, p, vector);
    ac_lb_end(b);
}

/* The results of a pixel leave the delay line and may overwrite the input. */
static void leave(const depthwise *d, ac_x pixel, ac_x oc, int32_t n, int32_t line, int64_t delay)
{
    ac_lb *b = &d->L->b;
    const ac_x width = ac_lb_i32(b, d->win.x.out),
               slot = ac_lb_mul(b, ac_lb_mod(b, pixel, ac_lb_i32(b, delay)), ac_lb_i32(b, CHANNELS));
    for (int32_t j = 0; j < n; j++) {
        const ac_x at = ac_lb_add(b, oc, ac_lb_i32(b, j));
        const ac_x idx[4] = {ac_lb_i32(b, 0), ac_lb_div(b, pixel, width), ac_lb_mod(b, pixel, width), at};
        ac_lo_result(d->L, ac_lb_load(b, line, ac_lb_add(b, slot, ac_lb_i32(b, j)), 1), idx, 1);
    }
}

/* AC_VARIANT_INPLACE: channels outermost. Once the window has passed a pixel, this channel of it is dead, so with a
 * delay line of as many pixels as the window looks back, the result can be stored exactly over the input. */
static void in_place(depthwise *d, ac_x first, int32_t n)
{
    ac_lb *b = &d->L->b;
    const ac_window *w = &d->win;
    const int64_t pixels = w->y.out * w->x.out, back = w->y.pad * w->x.out + w->x.pad;
    const int64_t delay = back < 1 ? 1 : back < pixels ? back : pixels;
    const int32_t line = ac_lo_scratch(d->L, "line", d->L->node->out[0]->dtype, delay * CHANNELS);
    const ac_x oy = ac_lb_for_n(b, "oy", w->y.out), ox = ac_lb_for_n(b, "ox", w->x.out);
    const place p = {ac_lb_i32(b, 0), oy, first, first};
    ac_x acc[CHANNELS], value[CHANNELS];
    reduce_column(d, &p, ox, n, acc);
    for (int32_t j = 0; j < n; j++)
        value[j] = ac_channel_done(&d->c, ac_lb_get(b, acc[j]), ac_lb_add(b, first, ac_lb_i32(b, j)));
    const ac_x pixel = ac_lb_add(b, ac_lb_mul(b, oy, ac_lb_i32(b, w->x.out)), ox), far = ac_lb_i32(b, delay);
    ac_lb_if(b, ac_lb_ge(b, pixel, far));
    leave(d, ac_lb_sub(b, pixel, far), first, n, line, delay);
    ac_lb_end(b);
    const ac_x slot = ac_lb_mul(b, ac_lb_mod(b, pixel, far), ac_lb_i32(b, CHANNELS));
    for (int32_t j = 0; j < n; j++)
        ac_lb_store(b, line, ac_lb_add(b, slot, ac_lb_i32(b, j)), value[j]);
    ac_lb_end(b);
    ac_lb_end(b);
    const ac_x rest = ac_lb_for(b, "p", ac_lb_i32(b, pixels - delay), ac_lb_i32(b, pixels), 1, AC_MARK_SERIAL);
    leave(d, rest, first, n, line, delay);
    ac_lb_end(b);
}

static bool in_place_fits(const depthwise *d)
{
    const ac_slide *y = &d->win.y, *x = &d->win.x;
    return d->win.n == 1 && d->multiplier == 1 && d->c.kind != AC_MACS_HYBRID && !d->L->target->vec_bytes &&
           y->stride == 1 && x->stride == 1 && y->in == y->out && x->in == x->out && y->pad >= 0 && x->pad >= 0;
}

static void all_in_place(depthwise *d)
{
    ac_lower *L = d->L;
    ac_lb *b = &L->b;
    const int64_t whole = d->win.oc / CHANNELS * CHANNELS;
    d->lanes = 1;
    L->out->overwrite[L->out->n_overwrite++] = d->c.x;
    if (whole) {
        const ac_x oc = whole == CHANNELS
                            ? ac_lb_for_n(b, "oc", 1)
                            : ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, whole), CHANNELS, AC_MARK_SERIAL);
        in_place(d, oc, CHANNELS);
        ac_lb_end(b);
    }
    if (d->win.oc > whole)
        in_place(d, ac_lb_i32(b, whole), (int32_t)(d->win.oc - whole));
}

static int schedule(depthwise *d)
{
    ac_lower *L = d->L;
    ac_lb *b = &L->b;
    const ac_window *win = &d->win;
    ac_channel *c = &d->c;
    const ac_rows rows = {win->y.taps * win->x.taps, 1, win->oc};
    const bool inside = ac_slide_inside(&win->y) && ac_slide_inside(&win->x);
    const bool fold = inside && ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias)) && !c->zw;
    ac_channel_tables(c, c->n, fold ? &rows : NULL, c->zx);
    const bool hybrid = c->kind == AC_MACS_HYBRID;
    const int32_t x = ac_lo_operand(L, c->x), lanes = ac_target_lanes(L->target, AC_F32);
    const int64_t image = win->y.in * win->x.in * win->ic;
    d->x_buf = hybrid ? ac_lo_scratch(L, "xq", AC_I8, image) : x;
    d->w_buf = ac_lo_operand(L, c->w);
    d->narrow = lanes > 1 && !c->zw && c->w->dtype == AC_I8 &&
                (c->kind == AC_MACS_I8 || c->kind == AC_MACS_SUM || hybrid); /* 255 * 128 */
    if (L->variant == AC_VARIANT_INPLACE) {
        all_in_place(d);
        return AC_OK;
    }
    ac_x n = ac_lb_for_each(b, "n", win->n);
    if (hybrid)
        ac_hybrid_quantize(c, x, ac_lb_mul(b, n, ac_lb_i32(b, image)), d->x_buf, ac_lb_i32(b, 0), image, true);
    ac_x oy = ac_lb_for_each(b, "oy", win->y.out);
    d->repeats = should_repeat(d, lanes);
    if (d->repeats)
        repeated_row(d, n, oy, lanes);
    else
        output_row(d, n, oy, d->multiplier == 1 || d->multiplier >= 4 ? lanes : 1);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

int ac_lo_depthwise(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = n->n_in > 2 ? n->in[2] : NULL;
    if (x->rank != 4 || w->rank != 4 || n->out[0]->rank != 4 || w->dim[0] != 1)
        return ac_lower_refuse(L, "input is %s, weights are %s: supported are [N,H,W,C] and [1,KH,KW,O]",
                               ac_shape_str(L->cx, x), ac_shape_str(L->cx, w));
    depthwise d = {.L = L, .win = ac_window_conv(n, x, w->dim[1], w->dim[2])};
    if (d.win.ic < 1 || d.win.oc % d.win.ic || w->dim[3] != d.win.oc)
        return ac_lower_refuse(L, "%lld output channels are not a multiple of %lld input channels",
                               (long long)w->dim[3], (long long)d.win.ic);
    d.multiplier = d.win.oc / d.win.ic;
    AC_TRY(ac_channel_open(L, &d.c, x, w, bias, d.win.oc, 3, n->attrs.conv.act, AC_ROUND_FIXED));
    if (L->variant == AC_VARIANT_INPLACE && !in_place_fits(&d))
        return ac_lower_refuse(L, "this window cannot be computed in place");
    if (ac_gpu_depthwise_words_fit(L, &d.c, &d.win))
        return ac_gpu_depthwise_words(L, &d.c, &d.win);
    if (ac_gpu_depthwise_fits(L, &d.c, &d.win))
        return ac_gpu_depthwise_quads_fits(L, &d.c, &d.win) ? ac_gpu_depthwise_quads(L, &d.c, &d.win)
                                                            : ac_gpu_depthwise(L, &d.c, &d.win);
    if (L->variant != AC_VARIANT_INPLACE &&
        (ac_quad_planes(L, &d.c, &d.win) || ac_quad_depthwise(L, &d.c, &d.win) || ac_wide_depthwise(L, &d.c, &d.win)))
        return AC_OK;
    if (L->variant != AC_VARIANT_INPLACE && ac_depthwise_dot_fits(L, &d.c, &d.win))
        return ac_depthwise_dot(L, &d.c, &d.win);
    if (L->variant != AC_VARIANT_INPLACE && ac_depthwise_pairs_fits(L, &d.c, &d.win))
        return ac_depthwise_pairs(L, &d.c, &d.win);
    if (L->variant != AC_VARIANT_INPLACE && ac_depthwise_columns_fits(L, &d.c, &d.win))
        return ac_depthwise_columns(L, &d.c, &d.win);
    return schedule(&d);
}
