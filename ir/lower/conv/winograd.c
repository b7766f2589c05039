/* winograd.c - conv_2d 3x3 by Winograd's F(2x2,3x3) and F(4x4,3x3), float, opt-in.
 *
 * x [N,H,W,C], weights [O,3,3,C] (transformed when constants are made), out [N,H,W,O]; stride 1.
 *
 *     for n, strip of rows of tiles:
 *       copy the strip's input rows with their borders
 *       for tile, channels:      V[t][tile][c] = t-th element of the transformed input tile
 *       for block of outputs:
 *         for t, rows of tiles:  M[t][tile][o] = V[t] x U[t]           the register tiles of gemm.h
 *         for tile, outputs:     the tile's output rows, epilogue, store
 *
 * t runs over the 16 (36) elements of a transformed tile: 2.25 (4) times fewer multiplications than the direct sum. A
 * strip is as tall as half of the second cache can hold V, so that U is read once for it. */
#include "ir/lower/conv/winograd.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/spans.h"
#include "ir/lower/lower.h"

enum { SIDE = AC_WINOGRAD_SIDE, FROM_L3 = 8 };

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    ac_winograd w;
    ac_gemm_form f;
    int32_t x, strip, v, u, m; /* buffers */
    int64_t across, down;      /* tiles of a row, rows of tiles in the image */
    int64_t rows;              /* of tiles, in a strip */
    int64_t tiles;             /* in a strip */
    int64_t cols, row_step;    /* of a strip's row: columns, elements */
    bool far;                  /* the transformed weights do not fit the second cache */
    ac_gemm_cuts cuts;         /* tiles -> rows of register tiles */
} job;

static int64_t elements(const job *j)
{
    return (int64_t)j->w.in * j->w.in;
}

/* ---- the weights ---- */

/* u[block][t][k][channel in the block], computed in double: read from the first byte to the last for each strip. */
static int32_t transform_weights(job *j)
{
    const ac_gemm_form *f = &j->f;
    const int64_t matrix = ac_gemm_weight_bytes(f) / f->w_bytes;
    ac_lower P;
    const int32_t to = ac_lo_pack_open(j->L, &P, "u", AC_F32, matrix * elements(j)), from = ac_lo_operand(&P, j->c->w);
    ac_lb *b = &P.b;
    for (int32_t s = 0; s < 2; s++) {
        if (!f->block.count[s])
            continue;
        const int64_t width = f->block.size[s] * f->lanes;
        ac_x first = ac_gemm_block_channel(b, f, s, ac_lb_for_n(b, "block", f->block.count[s]));
        ac_x k = ac_lb_for_n(b, "k", f->depth), i = ac_lb_for_n(b, "oc", width), oc = ac_lb_add(b, first, i);
        ac_x in = ac_lb_min(b, oc, ac_lb_i32(b, f->n - 1)), g[3][3], half[3][SIDE], row[SIDE];
        ac_x base = ac_lb_add(b, ac_lb_mul(b, in, ac_lb_i32(b, 9 * f->depth)), k);
        for (int32_t y = 0; y < 3; y++)
            for (int32_t x = 0; x < 3; x++)
                g[y][x] = ac_lb_cast(
                    b, ac_lb_load(b, from, ac_lb_add(b, base, ac_lb_i32(b, (y * 3 + x) * f->depth)), 1), AC_F64);
        for (int32_t y = 0; y < 3; y++)
            ac_winograd_weights(&P, &j->w, g[y], half[y]);
        ac_x at = ac_lb_mul(b, ac_gemm_block_at(b, f, first), ac_lb_i32(b, elements(j)));
        at = ac_lb_add(b, at, ac_lb_add(b, ac_lb_mul(b, k, ac_lb_i32(b, width)), i));
        for (int32_t x = 0; x < j->w.in; x++) {
            ac_winograd_weights(&P, &j->w, (ac_x[3]){half[0][x], half[1][x], half[2][x]}, row);
            for (int32_t y = 0; y < j->w.in; y++) {
                ac_x v = ac_lb_select(b, ac_lb_eq(b, in, oc), ac_lb_cast(b, row[y], AC_F32), ac_lb_f32(b, 0));
                ac_lb_store(b, to, ac_lb_add(b, at, ac_lb_i32(b, (y * j->w.in + x) * f->depth * width)), v);
            }
        }
        for (int i_end = 0; i_end < 3; i_end++)
            ac_lb_end(b);
    }
    return ac_lo_pack_close(j->L, &P);
}

/* ---- the input ---- */

/* Input rows of the tiles from row ty on; elements outside of the input are zero. */
static void copy_strip(const job *j, ac_x n, ac_x ty)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    const int64_t ic = w->ic, pad = w->x.pad < j->cols ? w->x.pad : j->cols, room = j->cols - pad;
    const int64_t left = pad * ic, middle = (room < w->x.in ? room : w->x.in) * ic;
    ac_x r = ac_lb_for_n(b, "r", j->rows * j->w.out + 2), to = ac_lb_mul(b, r, ac_lb_i32(b, j->row_step));
    ac_x iy = ac_lb_add(b, ac_lb_sub(b, ac_lb_mul(b, ty, ac_lb_i32(b, j->w.out)), ac_lb_i32(b, w->y.pad)), r);
    ac_lb_if(b, ac_lb_and(b, ac_lb_ge(b, iy, ac_lb_i32(b, 0)), ac_lb_lt(b, iy, ac_lb_i32(b, w->y.in))));
    ac_x from = ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, w->y.in)), iy), ac_lb_i32(b, w->x.in * ic));
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, to, left);
    ac_gemm_copy(j->L, &j->f, j->c, j->x, from, j->strip, ac_lb_add(b, to, ac_lb_i32(b, left)), middle);
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, ac_lb_add(b, to, ac_lb_i32(b, left + middle)),
                  j->row_step - left - middle);
    ac_lb_else(b);
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, to, j->row_step);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* `lanes` channels from c on of tile number p, whose first element in the strip is `from`. */
static void transform_input(const job *j, ac_x from, ac_x p, ac_x c, int32_t lanes)
{
    ac_lb *b = &j->L->b;
    const int32_t side = j->w.in;
    ac_x half[SIDE][SIDE], d[SIDE], row[SIDE];
    for (int32_t x = 0; x < side; x++) { /* columns first */
        for (int32_t y = 0; y < side; y++)
            d[y] = ac_lb_load(b, j->strip, ac_lb_add(b, from, ac_lb_i32(b, y * j->row_step + x * j->win->ic)), lanes);
        ac_winograd_input(j->L, &j->w, d, row);
        for (int32_t y = 0; y < side; y++)
            half[y][x] = row[y];
    }
    ac_x to = ac_lb_add(b, ac_lb_mul(b, p, ac_lb_i32(b, j->win->ic)), c);
    for (int32_t y = 0; y < side; y++) {
        ac_winograd_input(j->L, &j->w, half[y], row);
        for (int32_t x = 0; x < side; x++)
            ac_lb_store(b, j->v, ac_lb_add(b, to, ac_lb_i32(b, (y * side + x) * j->tiles * j->win->ic)), row[x]);
    }
}

static void input_tiles(const job *j)
{
    ac_lb *b = &j->L->b;
    const int64_t ic = j->win->ic;
    ac_x ty = ac_lb_for_n(b, "ty", j->rows), tx = ac_lb_for_n(b, "tx", j->across);
    ac_x p = ac_lb_add(b, ac_lb_mul(b, ty, ac_lb_i32(b, j->across)), tx);
    ac_x from = ac_lb_add(b, ac_lb_mul(b, ty, ac_lb_i32(b, j->w.out * j->row_step)),
                          ac_lb_mul(b, tx, ac_lb_i32(b, j->w.out * ic)));
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(ic, ac_target_lanes(j->L->target, AC_F32), span);
    for (int32_t s = 0; s < spans; s++) {
        ac_x c =
            ac_lb_for(b, "c", ac_lb_i32(b, span[s].begin), ac_lb_i32(b, span[s].end), span[s].lanes, AC_MARK_SERIAL);
        transform_input(j, ac_lb_add(b, from, c), p, c, span[s].lanes);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

/* ---- products ---- */

/* While tile `index` of a t runs, it prefetches its share of the weights of the next t (or block) into the second
 * cache. */
static void fetch_ahead(const job *j, ac_gemm_tile *t, ac_x index, int64_t width)
{
    ac_lb *b = &j->L->b;
    const int64_t tiles = j->cuts.count[0] + j->cuts.count[1], ic = j->win->ic;
    t->ahead_step = (width + tiles - 1) / tiles;
    ac_x share = ac_lb_add(b, ac_lb_mul(b, index, ac_lb_i32(b, ic * t->ahead_step)), ac_lb_i32(b, ic * width));
    t->ahead = ac_lb_add(b, t->w_at, share);
}

/* M[t] of the channels of a block, for all t. */
static void products(const job *j, ac_x oc, int32_t s)
{
    ac_lb *b = &j->L->b;
    const int64_t ic = j->win->ic, width = j->f.block.size[s] * j->f.lanes;
    ac_x t_at = ac_lb_for_n(b, "t", elements(j));
    for (int32_t k = 0; k < 2; k++) {
        if (!j->cuts.count[k])
            continue;
        ac_x i = ac_lb_for_n(b, "p", j->cuts.count[k]);
        ac_x p = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, j->cuts.size[k])), ac_lb_i32(b, j->cuts.first[k]));
        p = ac_lb_add(b, ac_lb_mul(b, t_at, ac_lb_i32(b, j->tiles)), p);
        ac_gemm_tile t = {.L = j->L,
                          .f = &j->f,
                          .c = j->c,
                          .x_buf = j->v,
                          .w_buf = j->u,
                          .rows = (int32_t)j->cuts.size[k],
                          .vecs = (int32_t)j->f.block.size[s],
                          .w_at = ac_lb_add(b, ac_lb_mul(b, ac_gemm_block_at(b, &j->f, oc), ac_lb_i32(b, elements(j))),
                                            ac_lb_mul(b, t_at, ac_lb_i32(b, ic * width))),
                          .oc = oc};
        ac_x base = ac_lb_mul(b, p, ac_lb_i32(b, ic)), to = ac_lb_mul(b, p, ac_lb_i32(b, width));
        for (int32_t r = 0; r < t.rows; r++)
            t.row[r] = ac_lb_add(b, base, ac_lb_i32(b, r * ic));
        ac_gemm_all_runs(&t);
        if (j->far)
            fetch_ahead(j, &t, k ? ac_lb_add(b, i, ac_lb_i32(b, j->cuts.count[0])) : i, width);
        ac_x acc[GEMM_ROWS * GEMM_VECS];
        ac_gemm_reduce(&t, acc);
        for (int32_t a = 0; a < t.rows * t.vecs; a++)
            ac_lb_store(b, j->m, ac_lb_add(b, to, ac_lb_i32(b, (int64_t)a * j->f.lanes)), acc[a]);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* ---- the output ---- */

static void place_of(const void *user, ac_x r, ac_x *idx)
{
    const ac_x *at = user;
    (void)r;
    for (int i = 0; i < 3; i++)
        idx[i] = at[i];
}

/* One tile of one vector of channels: through a line of the stack, so that the code has the epilogue once, and loop
 * bounds skip pixels outside of the image. */
static void output_tile(const job *j, ac_x from, int64_t width, ac_x n, ac_x oy, ac_x ox, ac_x oc)
{
    ac_lb *b = &j->L->b;
    const int32_t side = j->w.in, out = j->w.out, lanes = j->f.lanes;
    ac_x half[AC_WINOGRAD_SIDE][SIDE], d[SIDE], row[SIDE];
    const int32_t line = ac_lo_local(j->L, "line", AC_F32, (int64_t)out * out * lanes);
    for (int32_t x = 0; x < side; x++) {
        for (int32_t y = 0; y < side; y++)
            d[y] = ac_lb_load(b, j->m, ac_lb_add(b, from, ac_lb_i32(b, (y * side + x) * j->tiles * width)), lanes);
        ac_winograd_output(j->L, &j->w, d, row);
        for (int32_t y = 0; y < out; y++)
            half[y][x] = row[y];
    }
    for (int32_t y = 0; y < out; y++) {
        ac_winograd_output(j->L, &j->w, half[y], row);
        for (int32_t x = 0; x < out; x++)
            ac_lb_store(b, line, ac_lb_i32(b, (int64_t)(y * out + x) * lanes), row[x]);
    }
    const ac_slide *sy = &j->win->y, *sx = &j->win->x;
    const bool even_y = sy->out % (out * j->rows) == 0, even_x = sx->out % out == 0;
    ac_x ey = ac_lb_i32(b, out), ex = ey;
    if (!even_y)
        ey = ac_lb_min(b, ey, ac_lb_sub(b, ac_lb_i32(b, sy->out), oy));
    if (!even_x)
        ex = ac_lb_min(b, ex, ac_lb_sub(b, ac_lb_i32(b, sx->out), ox));
    ac_x y = ac_lb_for(b, "y", ac_lb_i32(b, 0), ey, 1, AC_MARK_SERIAL),
         x = ac_lb_for(b, "x", ac_lb_i32(b, 0), ex, 1, AC_MARK_SERIAL);
    const ac_x at[3] = {n, ac_lb_add(b, oy, y), ac_lb_add(b, ox, x)};
    ac_x pixel = ac_lb_add(b, ac_lb_mul(b, y, ac_lb_i32(b, out)), x);
    ac_x v = ac_lb_load(b, line, ac_lb_mul(b, pixel, ac_lb_i32(b, lanes)), lanes);
    const ac_gemm_tile t = {.L = j->L, .f = &j->f, .c = j->c, .rows = 1, .vecs = 1, .oc = oc};
    ac_gemm_store(&t, &v, place_of, at);
    ac_lb_end(b);
    ac_lb_end(b);
}

static void output_tiles(const job *j, ac_x n, ac_x first, ac_x oc, int32_t s)
{
    ac_lb *b = &j->L->b;
    const int64_t width = j->f.block.size[s] * j->f.lanes;
    ac_x ty = ac_lb_for_n(b, "ty", j->rows), tx = ac_lb_for_n(b, "tx", j->across),
         v = ac_lb_for_n(b, "v", j->f.block.size[s]);
    ac_x p = ac_lb_add(b, ac_lb_mul(b, ty, ac_lb_i32(b, j->across)), tx), c = ac_lb_mul(b, v, ac_lb_i32(b, j->f.lanes));
    ac_x oy = ac_lb_mul(b, ac_lb_add(b, first, ty), ac_lb_i32(b, j->w.out)),
         ox = ac_lb_mul(b, tx, ac_lb_i32(b, j->w.out));
    output_tile(j, ac_lb_add(b, ac_lb_mul(b, p, ac_lb_i32(b, width)), c), width, n, oy, ox, ac_lb_add(b, oc, c));
    for (int i = 0; i < 3; i++)
        ac_lb_end(b);
}

/* ---- the choice ---- */

/* The reason why it does not apply; NULL: it does. */
static const char *refuses(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    const ac_slide *y = &win->y, *x = &win->x;
    if (c->kind != AC_MACS_F32)
        return "it is for float inputs and weights";
    if (y->taps != 3 || x->taps != 3)
        return "it is for 3x3 windows";
    if (y->stride != 1 || x->stride != 1 || y->dil != 1 || x->dil != 1)
        return "it is for stride 1 and dilation 1";
    if (y->pad < 0 || x->pad < 0)
        return "pads are negative";
    if (ac_target_lanes(L->target, AC_F32) < 4)
        return "the target has no vectors";
    if (!ac_gemm_fits(L, c) || !ac_tensor_is_const(c->w))
        return "its weights are not constant, or make one channel";
    if (L->exact)
        return "--exact keeps the order of the sums";
    return L->variant ? "rows are made one by one" : NULL;
}

/* Sizes of strips and tiles; schedule.cost: estimated cycles of all of it. */
static job plan(ac_lower *L, ac_channel *c, const ac_window *win, int32_t out)
{
    job j = {.L = L, .c = c, .win = win, .w = ac_winograd_of(out), .f = ac_gemm_form_of(L, c, 1, 1, 1, win->ic, true)};
    j.across = (win->x.out + out - 1) / out;
    j.down = (win->y.out + out - 1) / out;
    const int64_t row = elements(&j) * j.across * win->ic * 4, room = L->target->l2_bytes / 2;
    const int64_t most = row * j.down <= room ? j.down : room / row > 1 ? room / row : 1;
    const int64_t strips = (j.down + most - 1) / most;
    j.rows = (j.down + strips - 1) / strips;
    j.tiles = j.rows * j.across;
    j.cols = j.across * out + 2;
    j.row_step = j.cols * win->ic;
    ac_gemm_form_tile(L, c, &j.f, 1, j.tiles);
    j.cuts = ac_gemm_cut(j.tiles, j.f.rows);
    ac_schedule *s = &L->out->schedule;
    s->winograd = out;
    const double e = (double)elements(&j), tiles = (double)(win->n * strips * j.tiles), lanes = j.f.lanes;
    const double pixels = (double)(win->n * win->y.out * win->x.out);
    const double moves =
        tiles * (double)(win->ic + c->n) / lanes * e * 4; /* transforms: load, store, about 4 operations */
    double weights = (double)ac_gemm_weight_bytes(&j.f) * e;
    j.far = L->target->l2_bytes && weights > (double)room / 2;
    weights = weights > (double)room ? weights * (double)(win->n * strips) / FROM_L3 : 0;
    const double sums = s->cost / pixels * e * tiles;
    s->cost = (sums > weights ? sums : weights) + moves;
    return j;
}

/* Are all indices i32? */
static bool indexable(const job *j)
{
    const double e = (double)elements(j), tiles = (double)j->tiles;
    const double wide =
        (double)(j->f.block.size[0] * j->f.lanes > j->win->ic ? j->f.block.size[0] * j->f.lanes : j->win->ic);
    const double strip = (double)((j->rows * j->w.out + 2) * j->row_step);
    return e * (double)ac_gemm_weight_bytes(&j->f) / j->f.w_bytes <= INT32_MAX && e * tiles * wide <= INT32_MAX &&
           strip <= INT32_MAX;
}

static void emit(job *j)
{
    ac_lower *L = j->L;
    ac_lb *b = &L->b;
    const ac_gemm_form *f = &j->f;
    ac_channel_tables(j->c, (f->n + f->lanes - 1) / f->lanes * f->lanes, NULL, 0);
    j->x = ac_lo_operand(L, j->c->x);
    j->u = transform_weights(j);
    j->strip = ac_lo_scratch(L, "strip", AC_F32, (j->rows * j->w.out + 2) * j->row_step);
    j->v = ac_lo_scratch(L, "v", AC_F32, elements(j) * j->tiles * j->win->ic);
    j->m = ac_lo_scratch(L, "m", AC_F32, elements(j) * j->tiles * f->block.size[0] * f->lanes);
    ac_x n = ac_lb_for_each(b, "n", j->win->n);
    ac_x ty = ac_lb_mul(b, ac_lb_for_each(b, "strip_y", (j->down + j->rows - 1) / j->rows), ac_lb_i32(b, j->rows));
    copy_strip(j, n, ty);
    input_tiles(j);
    for (int32_t s = 0; s < 2; s++) {
        if (!f->block.count[s])
            continue;
        ac_x oc = ac_gemm_block_channel(b, f, s, ac_lb_for_n(b, "ob", f->block.count[s]));
        products(j, oc, s);
        output_tiles(j, n, ty, oc, s);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Estimated cycles of the direct sum: pixels of a row are the rows of its tiles. */
static double direct_cost(ac_lower *L, const ac_channel *c, const ac_window *win)
{
    ac_gemm_form f = ac_gemm_form_of(L, c, 1, 3, 1, 3 * win->ic, true);
    ac_gemm_form_tile(L, c, &f, 1, win->x.out);
    return L->out->schedule.cost;
}

bool ac_winograd_take(ac_lower *L, ac_channel *c, const ac_window *win)
{
    int32_t out = L->hint.winograd;
    ac_schedule *s = &L->out->schedule;
    if (!out || out == AC_WINOGRAD_NEVER)
        return false;
    s->refused = refuses(L, c, win);
    if (s->refused)
        return false;
    if (out == AC_WINOGRAD_CHEAPEST) {
        const ac_schedule hint = L->hint;
        L->hint.rows = L->hint.vecs = 0; /* a hint for a tile must not change rounding */
        double best = direct_cost(L, c, win);
        out = 0;
        for (int32_t side = 2; side <= 4; side += 2) {
            const job j = plan(L, c, win, side);
            if (s->cost < best && indexable(&j)) {
                best = s->cost;
                out = side;
            }
        }
        L->hint = hint;
    }
    if (!out) {
        *s = (ac_schedule){.refused = "the direct sum is estimated to be faster"};
        return false;
    }
    job j = plan(L, c, win, out);
    if (indexable(&j)) {
        emit(&j);
        return true;
    }
    *s = (ac_schedule){.refused = "its transformed weights or tiles have too many elements"};
    return false;
}
