/* expanded_quads.c - expanded_depthwise on a GPU: a block expands the pixels that its tile meets, to some channels, in
 * shared memory; then it is a tile of depthwise_quads.c.
 *
 *     copies: filter, weights of the block's channels with their biases; pixels of x with all their channels
 *     expand: a thread has four channels of `pixels` pixels; sums begin with the bias and run over the channels of x
 *
 * Pixels outside of x are zeros and are not expanded. */
#include "ir/lower/conv/depthwise_quads.h"
#include "ir/lower/conv/expanded.h"

enum { PAD = 4 }; /* rows of pixels begin in different banks */

/* Rows and columns of x in a tile, at most. */
static int64_t high(const ac_quads_tile *t, const ac_window *win)
{
    return ac_gpu_least(t->height, win->y.in);
}
static int64_t across(const ac_quads_tile *t, const ac_window *win)
{
    return ac_gpu_least(t->width, win->x.in);
}

static int64_t pitch(const ac_expanded *e)
{
    return e->depth + PAD;
}

/* Copies of a thread for a row of pixels. */
static int64_t row_copies(const ac_quads_tile *t, const ac_window *win, const ac_expanded *e)
{
    return ac_gpu_over(across(t, win) * (e->depth / QUAD), t->threads);
}

/* Groups of threads that expand the same channels; rounds of a thread. */
static int64_t groups(const ac_quads_tile *t)
{
    return t->threads / t->quads;
}
static int64_t rounds(const ac_quads_tile *t, const ac_window *win)
{
    return ac_gpu_over(high(t, win) * across(t, win), groups(t) * t->pixels);
}

static ac_quads_more expansion(const ac_target *target, const ac_window *win, const ac_quads_tile *t,
                               const ac_expanded *e)
{
    enum { COPY = 12, PHASES = 100, SHORT = 30, LONG = 400, STEP = 8 }; /* SHORT, LONG: ends of four values */
    const ac_gpu_machine *m = ac_gpu_machine_of(target);
    const int64_t pixels = high(t, win) * across(t, win), steps = e->depth / QUAD, channels = (int64_t)QUAD * t->quads;
    const int64_t copies = high(t, win) * row_copies(t, win, e) + ac_gpu_over((e->depth + 1) * t->quads, t->threads);
    const int64_t step = QUAD * QUAD * t->pixels * m->fma + t->pixels + QUAD + STEP;
    const int64_t copied = 4 * (pixels * pitch(e) + (e->depth + 1) * channels);
    return (ac_quads_more){.issue = COPY * copies +
                                    rounds(t, win) * (steps * step + t->pixels * (e->swish ? LONG : SHORT)) + PHASES,
                           .passes = rounds(t, win) * steps * (t->pixels + QUAD),
                           .shared = copied,
                           .bytes = copied};
}

/* ------------------------------------------------------------------ weights */

/* Channel c of each block of channels, zeros for those that do not exist; row `depth`: biases. */
static int32_t pack(ac_lower *L, const ac_expanded *e, int64_t channels)
{
    ac_lower P;
    const int64_t blocks = ac_gpu_over(e->channels, channels);
    const int32_t to = ac_lo_pack_open(L, &P, "v", AC_F32, blocks * channels * (e->depth + 1));
    ac_lb *b = &P.b;
    const int32_t from = ac_lo_operand(&P, e->v), bias = e->a ? ac_lo_operand(&P, e->a) : -1;
    const ac_x block = ac_lb_for_n(b, "block", blocks), c = ac_lb_for_n(b, "c", channels);
    const ac_x ch = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, channels)), c),
               in = ac_lb_lt(b, ch, ac_lb_i32(b, e->channels)), near = ac_lb_min(b, ch, ac_lb_i32(b, e->channels - 1));
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, channels * (e->depth + 1))), c),
               zero = ac_lb_f32(b, 0);
    const ac_x k = ac_lb_for_n(b, "k", e->depth);
    const ac_x v = ac_lb_load(b, from, ac_lb_add(b, ac_lb_mul(b, near, ac_lb_i32(b, e->depth)), k), 1);
    ac_lb_store(b, to, ac_lb_add(b, at, ac_lb_mul(b, k, ac_lb_i32(b, channels))), ac_lb_select(b, in, v, zero));
    ac_lb_end(b);
    const ac_x first = bias < 0 ? zero : ac_lb_select(b, in, ac_lb_load(b, bias, near, 1), zero);
    ac_lb_store(b, to, ac_lb_add(b, at, ac_lb_i32(b, channels * e->depth)), first);
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(L, &P);
}

static void copy_weights(const ac_quads *j, ac_x t)
{
    ac_lb *b = &j->L->b;
    const int64_t pieces = (j->e->depth + 1) * j->t.quads, n = ac_gpu_over(pieces, j->t.threads);
    const ac_x block = ac_lb_div(b, j->first.c0, ac_quads_num(j, (int64_t)QUAD * j->t.quads)),
               from = ac_quads_times(j, block, pieces * QUAD);
    for (int64_t i = 0; i < n; i++) {
        const ac_x e = ac_quads_piece(j, t, i, pieces);
        ac_quads_copy(j, j->vs, e, j->v, ac_quads_plus(j, from, ac_quads_times(j, e, QUAD)), 0);
        ac_lb_end(b);
    }
}

/* ------------------------------------------------------------------ pixels */

/* Of one axis: the tile's first position, the first one in x, and the end of those in x. */
typedef struct range {
    ac_x first, in, end;
} range;

static range range_of(const ac_quads *j, const ac_slide *s, ac_x o, int64_t reach)
{
    ac_lb *b = &j->L->b;
    const ac_x first = ac_lb_sub(b, ac_quads_times(j, o, s->stride), ac_quads_num(j, s->pad));
    return (range){first, s->pad > 0 ? ac_lb_max(b, first, ac_quads_num(j, 0)) : first,
                   ac_lb_min(b, ac_quads_plus(j, first, ac_quads_num(j, reach)), ac_quads_num(j, s->in))};
}

/* Pixel p of the tile's part of x: its row and column there, and whether it is in the tile. */
typedef struct pixel {
    ac_x y, x, live;
} pixel;

static pixel pixel_of(const ac_quads *j, const range *down, const range *right, ac_x p)
{
    ac_lb *b = &j->L->b;
    const ac_x width = ac_quads_num(j, across(&j->t, j->win));
    const ac_x y = ac_quads_plus(j, down->in, ac_lb_div(b, p, width)),
               x = ac_quads_plus(j, right->in, ac_lb_mod(b, p, width));
    return (pixel){y, x, ac_lb_and(b, ac_lb_lt(b, y, down->end), ac_lb_lt(b, x, right->end))};
}

/* Zeros for pixels of the tile outside of x. */
static void clear_border(const ac_quads *j, ac_x t, const range *down, const range *right)
{
    ac_lb *b = &j->L->b;
    const int64_t pieces = j->t.height * j->t.width * j->t.quads;
    if (ac_slide_inside(&j->win->y) && ac_slide_inside(&j->win->x) && j->win->y.out % j->t.rows == 0 &&
        j->win->x.out % (j->t.wide * j->t.strips) == 0)
        return;
    for (int64_t i = 0; i * j->t.threads < pieces; i++) {
        const ac_x e = ac_quads_piece(j, t, i, pieces), at = ac_lb_div(b, e, ac_quads_num(j, j->t.quads));
        const ac_x y = ac_quads_plus(j, down->first, ac_lb_div(b, at, ac_quads_num(j, j->t.width))),
                   x = ac_quads_plus(j, right->first, ac_lb_mod(b, at, ac_quads_num(j, j->t.width)));
        const ac_x inside = ac_lb_and(b, ac_lo_within(b, y, j->win->y.in), ac_lo_within(b, x, j->win->x.in));
        ac_lb_if(b, ac_lb_eq(b, inside, ac_lb_int(b, AC_BOOL, 0)));
        ac_lb_store_flags(b, j->xs, ac_quads_times(j, e, QUAD), ac_lb_splat(b, ac_lb_f32(b, 0), QUAD), AC_F_ALIGNED);
        ac_lb_end(b);
        ac_lb_end(b);
    }
}

/* Piece `round` * threads + t of each row of the tile's part of x: places are the same in all rows. */
typedef struct piece {
    ac_x exists, live, from, to; /* live: its column is in x */
} piece;

static piece piece_of(const ac_quads *j, ac_x t, int64_t round, const range *right)
{
    ac_lb *b = &j->L->b;
    const int64_t steps = j->e->depth / QUAD, n = across(&j->t, j->win) * steps;
    const ac_x e = ac_quads_plus(j, t, ac_quads_num(j, round * j->t.threads));
    const ac_x p = ac_lb_div(b, e, ac_quads_num(j, steps)),
               part = ac_quads_times(j, ac_lb_mod(b, e, ac_quads_num(j, steps)), QUAD);
    const ac_x x = ac_quads_plus(j, right->in, p);
    return (piece){(round + 1) * j->t.threads > n ? ac_lb_lt(b, e, ac_quads_num(j, n)) : ac_lb_int(b, AC_BOOL, 1),
                   ac_lb_lt(b, x, right->end), ac_quads_plus(j, ac_quads_times(j, x, j->e->depth), part),
                   ac_quads_plus(j, ac_quads_times(j, p, pitch(j->e)), part)};
}

static void copy_pixels(const ac_quads *j)
{
    ac_lb *b = &j->L->b;
    const int64_t n = row_copies(&j->t, j->win, j->e), line = across(&j->t, j->win) * pitch(j->e);
    const ac_x t = ac_quads_threads(j);
    ac_lb_groups(b, t, 0);
    const range down = range_of(j, &j->win->y, j->first.oy0, j->t.height),
                right = range_of(j, &j->win->x, j->first.ox0, j->t.width);
    clear_border(j, t, &down, &right);
    piece *list = AC_NEW_N(j->L->region, piece, n);
    for (int64_t i = 0; i < n; i++)
        list[i] = piece_of(j, t, i, &right);
    const ac_x row = ac_lb_for_n(b, "row", high(&j->t, j->win)), y = ac_quads_plus(j, down.in, row);
    const ac_x image = ac_quads_plus(j, ac_quads_times(j, j->first.n, j->win->y.in), y),
               from = ac_quads_times(j, image, j->win->x.in * j->e->depth), to = ac_quads_times(j, row, line);
    for (int64_t i = 0; i < n; i++) {
        const piece *e = &list[i];
        const ac_x in = ac_lb_and(b, e->live, ac_lb_lt(b, y, down.end)), at = ac_quads_plus(j, from, e->from);
        ac_lb_if(b, e->exists);
        const ac_x v = ac_lb_load_flags(b, j->x, ac_lb_select(b, in, at, ac_quads_num(j, 0)), QUAD, AC_F_ALIGNED);
        ac_lb_store_late(b, j->rows, ac_quads_plus(j, to, e->to), ac_lb_select(b, in, v, ac_lb_like(b, v, 0)));
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ products */

static ac_x quad_at(const ac_quads *j, int32_t buf, ac_x at)
{
    return ac_lb_load_flags(&j->L->b, buf, at, QUAD, AC_F_ALIGNED);
}

ac_x ac_expanded_inner(ac_lower *L, ac_x e)
{
    ac_lb *b = &L->b;
    const ac_attrs_expanded *a = &L->node->attrs.expanded;
    if (a->swish)
        return ac_lo_swish(L, e, 1);
    if (!a->clamp)
        return ac_lo_act(L, e, a->inner);
    return ac_lb_min(b, ac_lb_like(b, e, (double)a->high), ac_lb_max(b, ac_lb_like(b, e, (double)a->low), e));
}

/* The expanded values of `pixels` pixels from p on, `step` apart. */
static void expand_some(const ac_quads *j, const range *down, const range *right, ac_x quad, ac_x p, int64_t step)
{
    ac_lb *b = &j->L->b;
    const int64_t channels = (int64_t)QUAD * j->t.quads, all = high(&j->t, j->win) * across(&j->t, j->win);
    const int32_t n = j->t.pixels;
    const ac_x column = ac_quads_times(j, quad, QUAD),
               bias = quad_at(j, j->vs, ac_quads_plus(j, column, ac_quads_num(j, channels * j->e->depth)));
    ac_x *acc = AC_NEW_N(j->L->region, ac_x, n), *near = AC_NEW_N(j->L->region, ac_x, n);
    for (int32_t i = 0; i < n; i++) {
        acc[i] = ac_lb_var(b, "e", bias);
        near[i] = ac_quads_plus(j, p, ac_quads_num(j, i * step));
    }
    const ac_x k = ac_lb_for(b, "k", ac_quads_num(j, 0), ac_quads_num(j, j->e->depth), QUAD, AC_MARK_SERIAL);
    ac_x v[QUAD];
    for (int32_t q = 0; q < QUAD; q++)
        v[q] = quad_at(j, j->vs,
                       ac_quads_plus(j, column, ac_quads_times(j, ac_quads_plus(j, k, ac_quads_num(j, q)), channels)));
    for (int32_t i = 0; i < n; i++) {
        const ac_x row = ac_lb_min(b, near[i], ac_quads_num(j, all - 1));
        const ac_x x = quad_at(j, j->rows, ac_quads_plus(j, ac_quads_times(j, row, pitch(j->e)), k));
        for (int32_t q = 0; q < QUAD; q++)
            ac_lb_set(b, acc[i],
                      ac_lo_madd(j->L, ac_lb_splat(b, ac_lb_lane(b, x, q), QUAD), v[q], ac_lb_get(b, acc[i])));
    }
    ac_lb_end(b);
    for (int32_t i = 0; i < n; i++) {
        const pixel at = pixel_of(j, down, right, near[i]);
        const ac_x value = ac_expanded_inner(j->L, ac_lb_get(b, acc[i]));
        const ac_x row = ac_quads_times(j, ac_lb_sub(b, at.y, down->first), j->t.width),
                   place = ac_quads_plus(j, row, ac_lb_sub(b, at.x, right->first));
        ac_lb_if(b, ac_lb_and(b, ac_lb_lt(b, near[i], ac_quads_num(j, all)), at.live));
        ac_lb_store_flags(b, j->xs, ac_quads_plus(j, ac_quads_times(j, place, channels), column), value, AC_F_ALIGNED);
        ac_lb_end(b);
    }
}

static void expand(const ac_quads *j)
{
    ac_lb *b = &j->L->b;
    copy_pixels(j);
    const ac_x t = ac_quads_threads(j), quad = ac_lb_mod(b, t, ac_quads_num(j, j->t.quads)),
               group = ac_lb_div(b, t, ac_quads_num(j, j->t.quads));
    const range down = range_of(j, &j->win->y, j->first.oy0, j->t.height),
                right = range_of(j, &j->win->x, j->first.ox0, j->t.width);
    const int64_t step = groups(&j->t), n = rounds(&j->t, j->win);
    const ac_x round = ac_lb_for_n(b, "round", n);
    expand_some(j, &down, &right, quad, ac_quads_plus(j, ac_quads_times(j, round, step * j->t.pixels), group), step);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ all of it */

static ac_window window_of(const ac_expanded *e)
{
    return (ac_window){e->images, e->channels, e->channels, e->down, e->across};
}

/* The work of a block besides the depthwise convolution; NULL: it does no other. */
static ac_quads_more_fn *work_of(const ac_expanded *e)
{
    return e->v ? expansion : NULL;
}

static bool sizes_fit(const ac_expanded *e)
{
    return e->channels % QUAD == 0 && e->depth % QUAD == 0 && (!e->v || e->depth >= 2 * QUAD);
}

bool ac_gpu_expanded_tiles(const ac_target *t, ac_expanded *e, bool long_end)
{
    ac_quads_tile tile;
    const ac_window win = window_of(e);
    if (!sizes_fit(e) || !ac_gpu_depthwise_taps(&win) || !ac_quads_tile_of(t, &win, long_end, work_of(e), e, &tile))
        return false;
    e->tile_h = tile.rows;
    e->tile_w = (int64_t)tile.wide * tile.strips;
    e->tiles_x = ac_gpu_over(e->across.out, e->tile_w);
    e->tiles = ac_gpu_over(e->down.out, e->tile_h) * e->tiles_x;
    return true;
}

bool ac_gpu_expanded_pays(const ac_target *t, const ac_expanded *e)
{
    enum { LAUNCH = 1400 };
    ac_quads_tile tile;
    const ac_window win = window_of(e);
    const int64_t pixels = e->images * e->down.in * e->across.in,
                  apart = ac_quads_tile_of(t, &win, e->swish, NULL, NULL, &tile),
                  as_one = ac_quads_tile_of(t, &win, e->swish, expansion, e, &tile);
    const ac_gpu_shape shape = {.many = 1, .rows = pixels, .n = e->channels, .depth = e->depth, .piece = QUAD};
    return sizes_fit(e) && ac_gpu_depthwise_taps(&win) && as_one && apart &&
           as_one < apart + ac_gpu_plan_product(t, &shape).cycles + LAUNCH;
}

bool ac_gpu_expanded_fits(const ac_lower *L, const ac_expanded *e, const ac_channel *c)
{
    ac_quads_tile tile;
    const ac_window win = window_of(e);
    const bool fixed = !e->v || (ac_tensor_is_const(e->v) && (!e->a || ac_tensor_is_const(e->a)) && !e->v->narrowed);
    const bool plain = L->target->isa == AC_ISA_CUDA && fixed && sizes_fit(e) && !e->x->narrowed && !e->w->narrowed &&
                       c->out->dtype == AC_F32 && !ac_lo_by_table(L) && e->images > 0;
    return plain && ac_lo_align(L, e->x) >= 16 && ac_lo_align(L, e->w) >= 16 && ac_gpu_depthwise_taps(&win) &&
           ac_quads_tile_of(L->target, &win, ac_lo_has_long_chain(L), work_of(e), e, &tile);
}

int ac_gpu_expanded(ac_lower *L, const ac_expanded *e, ac_channel *c)
{
    const ac_window win = window_of(e);
    ac_quads j = {.L = L, .c = c, .win = &win, .e = e};
    ac_quads_tile_of(L->target, &win, ac_lo_has_long_chain(L), work_of(e), e, &j.t);
    c->bias_first = !L->exact;
    ac_channel_tables(c, c->n, NULL, 0);
    const int64_t channels = (int64_t)QUAD * j.t.quads, pixels = high(&j.t, &win) * across(&j.t, &win);
    j.x = ac_lo_operand(L, e->x);
    j.w = ac_lo_operand(L, e->w);
    if (!e->v)
        return ac_quads_all(&j);
    j.copy = copy_weights;
    j.fill = expand;
    j.v = pack(L, e, channels);
    j.vs = ac_lo_gpu_local(L, "vs", AC_F32, (e->depth + 1) * channels, AC_WHERE_SHARED);
    j.rows = ac_lo_gpu_local(L, "rows", AC_F32, pixels * pitch(e), AC_WHERE_SHARED);
    return ac_quads_all(&j);
}
