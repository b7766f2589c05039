/* panel.c - int8 convolution and fully_connected by tiles of pixels and channels; see panel.h and panel_kind.h.
 *
 *     for tile of pixels:       gather(line)
 *       for block of channels:  sums of products; finish and store each
 *
 * The zero point of x is in the bias. Without AC_VARIANT_ROWS tiles run over all pixels of an image, with it over those
 * of a row. */
#include "ir/lower/conv/panel.h"

#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/panel_kind.h"
#include "ir/lower/matrix.h"

/* ------------------------------------------------------------------ windows */

/* Copies the taps of filter row ky, whose input row begins at unit `base`: those between columns `left` and `right`
 * that exist. Bounds of the copies are positions of the input, not counts, so that the planner sees which rows are
 * read. */
static void put_taps(const ac_panel *p, ac_x base, ac_x ky, ac_x left, ac_x right, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_panel_numbers *k = &p->k;
    const ac_x zero = ac_lb_i32(b, 0), first = ac_lb_mul(b, ky, k->taps_x);
    if (p->win.x.dil == 1) {
        const ac_x begin = ac_lb_mul(b, ac_lb_max(b, left, zero), k->tap_units);
        const ac_x end = ac_lb_mul(b, ac_lb_min(b, right, k->columns), k->tap_units);
        p->kind->put(p, p->x, base, begin, end, ac_lb_mul(b, ac_lb_sub(b, first, left), k->tap_units), r, pixels);
        return;
    }
    const ac_x kx = ac_lb_for(b, "kx", zero, k->taps_x, 1, AC_MARK_SERIAL);
    const ac_x ix = ac_lb_add(b, left, ac_lb_mul(b, kx, k->dil_x));
    ac_lb_if(b, ac_lb_and(b, ac_lb_le(b, zero, ix), ac_lb_lt(b, ix, k->columns)));
    const ac_x begin = ac_lb_mul(b, ix, k->tap_units), shift = ac_lb_sub(b, ac_lb_add(b, first, kx), ix);
    p->kind->put(p, p->x, base, begin, ac_lb_add(b, begin, k->tap_units), ac_lb_mul(b, shift, k->tap_units), r, pixels);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* The rows of a window that begins at row `top` and column `left`; inside: all of it is. */
static void put_rows(const ac_panel *p, ac_x n, ac_x top, ac_x left, bool inside, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_panel_numbers *k = &p->k;
    const ac_x zero = ac_lb_i32(b, 0), ky = ac_lb_for(b, "ky", zero, k->taps_y, 1, AC_MARK_SERIAL);
    const ac_x iy = ac_lb_add(b, top, ac_lb_mul(b, ky, k->dil_y));
    if (!inside)
        ac_lb_if(b, ac_lb_and(b, ac_lb_le(b, zero, iy), ac_lb_lt(b, iy, k->rows)));
    const ac_x base = ac_lb_add(b, ac_lb_mul(b, n, k->image_units), ac_lb_mul(b, iy, k->row_units));
    if (inside) {
        const ac_x begin = ac_lb_mul(b, left, k->tap_units), first = ac_lb_mul(b, ky, k->taps_x);
        const ac_x shift = ac_lb_mul(b, ac_lb_sub(b, first, left), k->tap_units);
        if (p->bytes < 0 || !p->kind->put_run || !p->kind->put_run(p, base, begin, shift))
            p->kind->put(p, p->x, base, begin, ac_lb_add(b, begin, k->run_units), shift, r, pixels);
    } else {
        put_taps(p, base, ky, left, ac_lb_add(b, left, k->reach_x), r, pixels);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* Sets `at`, the start of a window that is inside. Row by row it uses constants, so that the planner sees which rows
 * are read. */
static ac_x begin_inside(const ac_panel *p, const ac_slide *s, ac_x at)
{
    ac_lb *b = &p->L->b;
    const int64_t last = s->in - (s->taps - 1) * s->dil - 1;
    if (!(p->L->variant & AC_VARIANT_ROWS))
        return at;
    if (s->pad)
        at = ac_lb_max(b, at, ac_lb_i32(b, 0));
    return (s->out - 1) * s->stride - s->pad > last ? ac_lb_min(b, at, ac_lb_i32(b, last)) : at;
}

/* The window of output position (oy, ox) of image n, as pixel r. If a part of it is outside, all of it is first filled
 * with zero points. For bytes, windows that are inside get a separate loop: a row of them is only a few words. */
static void put_window(const ac_panel *p, ac_x n, ac_x oy, ac_x ox, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_panel_numbers *k = &p->k;
    const ac_x zero = ac_lb_i32(b, 0);
    const ac_x top = ac_lb_sub(b, ac_lb_mul(b, oy, k->stride_y), k->pad_y), bottom = ac_lb_add(b, top, k->reach_y);
    const ac_x left = ac_lb_sub(b, ac_lb_mul(b, ox, k->stride_x), k->pad_x), right = ac_lb_add(b, left, k->reach_x);
    const ac_x before = ac_lb_lt(b, ac_lb_min(b, top, left), zero);
    const ac_x after = ac_lb_or(b, ac_lb_lt(b, k->rows, bottom), ac_lb_lt(b, k->columns, right));
    const bool two = p->bytes >= 0 && p->win.x.dil == 1;
    ac_lb_if(b, ac_lb_or(b, before, after));
    p->kind->put(p, -1, zero, zero, k->units, zero, r, pixels);
    if (two) {
        put_rows(p, n, top, left, false, r, pixels);
        ac_lb_else(b);
        put_rows(p, n, begin_inside(p, &p->win.y, top), begin_inside(p, &p->win.x, left), true, r, pixels);
        ac_lb_end(b);
    } else {
        ac_lb_end(b);
        put_rows(p, n, top, left, false, r, pixels);
    }
    if (p->kind->gathered)
        p->kind->gathered(p, r, pixels);
}

/* Windows are pixels of the input, one for each output position. */
static bool is_flat(const ac_window *w)
{
    return w->y.taps * w->x.taps * w->y.stride * w->x.stride == 1 && !w->y.pad && !w->x.pad && w->y.in == w->y.out &&
           w->x.in == w->x.out;
}

/* ... without a border. i: of the row, or of the image. */
static void put_pixel(const ac_panel_place *to, ac_x i, ac_x r, int32_t pixels)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0), row = to->oy ? ac_lb_mul(b, to->oy, p->k.row_units) : zero;
    const ac_x base = ac_lb_add(b, ac_lb_mul(b, to->n, p->k.image_units), row), begin = ac_lb_mul(b, i, p->k.tap_units);
    p->kind->put(p, p->x, base, begin, ac_lb_add(b, begin, p->k.tap_units), ac_lb_sub(b, zero, begin), r, pixels);
    if (p->kind->gathered)
        p->kind->gathered(p, r, pixels);
}

/* ------------------------------------------------------------------ tiles */

/* partial: positions may end inside the tile; if x is read in place, the last tile then begins earlier, and its first
 * pixels are not stored again. */
static void tile(const ac_panel_place *given, int32_t pixels, bool partial)
{
    const ac_panel *p = given->p;
    ac_lb *b = &p->L->b;
    ac_panel_place to = *given;
    const ac_x zero = ac_lb_i32(b, 0);
    ac_x at[3], begin = zero, end = ac_lb_i32(b, pixels);
    if (partial && p->in_place) {
        to.first = ac_lb_min(b, to.first, ac_lb_sub(b, p->k.positions, end));
        begin = ac_lb_sub(b, given->first, to.first);
    } else if (partial) {
        end = ac_lb_min(b, end, ac_lb_sub(b, p->k.positions, to.first));
    }
    const bool two = !p->in_place && p->kind->open_tile && p->kind->open_tile(&to);
    if (!p->in_place) {
        const ac_x r = ac_lb_for(b, "r", zero, end, 1, AC_MARK_SERIAL);
        const ac_x i = ac_lb_add(b, to.first, r);
        if (p->kind->open_pixel)
            p->kind->open_pixel(p, r);
        if (is_flat(&p->win)) {
            put_pixel(&to, i, r, pixels);
        } else {
            ac_panel_position(&to, i, at);
            put_window(p, at[0], at[1], at[2], r, pixels);
        }
        ac_lb_end(b);
    }
    if (p->kind->pack)
        p->kind->pack(&to);
    if (two)
        ac_lb_end(b);
    const ac_x oc = ac_lb_for(b, "oc", zero, p->k.channels, p->channels, AC_MARK_SERIAL);
    p->kind->block(&to, pixels, begin, end, oc);
    ac_lb_end(b);
    if (p->kind->finish)
        p->kind->finish(&to, begin, end);
}

/* `n` positions in tiles. A tile that is not full at the end is cheaper than a second copy of the code; in short rows
 * it is not. */
static void tiles(ac_panel_place *to, int64_t n, bool exactly)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0);
    if (!exactly) {
        to->first = ac_lb_for(b, "p", zero, p->k.positions, p->pixels, AC_MARK_SERIAL);
        tile(to, p->pixels, p->pixels > 1 && (!p->kind->pack || n % p->pixels));
        ac_lb_end(b);
        return;
    }
    const ac_gemm_cuts cut = ac_gemm_cut(n, p->pixels);
    for (int32_t s = 0; s < 2; s++) {
        if (!cut.count[s])
            continue;
        const ac_x begin = ac_lb_shape(b, cut.first[s]);
        const ac_x end = ac_lb_shape(b, cut.first[s] + cut.count[s] * cut.size[s]);
        to->first = ac_lb_for(b, "p", begin, end, cut.size[s], AC_MARK_SERIAL);
        tile(to, (int32_t)cut.size[s], false);
        ac_lb_end(b);
    }
}

static ac_panel_numbers numbers_of(const ac_panel *p, int64_t positions)
{
    ac_lb *b = &p->L->b;
    const ac_slide *y = &p->win.y, *x = &p->win.x;
    const int64_t tap = p->win.ic / p->unit;
    return (ac_panel_numbers){.rows = ac_lb_shape(b, y->in),
                              .columns = ac_lb_shape(b, x->in),
                              .stride_y = ac_lb_shape(b, y->stride),
                              .stride_x = ac_lb_shape(b, x->stride),
                              .dil_y = ac_lb_shape(b, y->dil),
                              .dil_x = ac_lb_shape(b, x->dil),
                              .reach_y = ac_lb_shape(b, ac_slide_reach(y)),
                              .reach_x = ac_lb_shape(b, ac_slide_reach(x)),
                              .pad_y = ac_lb_shape(b, y->pad),
                              .pad_x = ac_lb_shape(b, x->pad),
                              .taps_y = ac_lb_shape(b, y->taps),
                              .taps_x = ac_lb_shape(b, x->taps),
                              .tap_units = ac_lb_shape(b, tap),
                              .run_units = ac_lb_shape(b, tap * x->taps),
                              .row_units = ac_lb_shape(b, tap * x->in),
                              .image_units = ac_lb_shape(b, tap * x->in * y->in),
                              .units = ac_lb_shape(b, tap * x->taps * y->taps),
                              .out_columns = ac_lb_shape(b, x->out),
                              .positions = ac_lb_shape(b, positions),
                              .steps = ac_lb_shape(b, p->steps),
                              .channels = ac_lb_shape(b, p->c->n),
                              .block_bytes = ac_lb_shape(b, p->steps * p->step)};
}

/* A position reads only itself; if a line is gathered, it is read completely before any of it is written, and never
 * later. */
static bool stays_in_place(const ac_panel *p)
{
    const ac_node *n = p->L->node;
    const ac_tensor *from = p->c->x, *to = ac_node_result(n);
    for (int32_t f = 0; f < n->n_fused; f++)
        for (int32_t i = 0; i < n->fused[f]->n_in; i++)
            if (n->fused[f]->in[i] == from)
                return false;
    return is_flat(&p->win) && !ac_tensor_is_const(from) && ac_tensor_same_shape(from, to) &&
           ac_dtype_bits(from->dtype) == ac_dtype_bits(to->dtype);
}

static int lower(ac_panel *p)
{
    ac_lower *L = p->L;
    ac_lb *b = &L->b;
    bool by_row = L->variant & AC_VARIANT_ROWS && p->win.y.out > 1;
    int64_t positions = by_row ? p->win.x.out : p->win.y.out * p->win.x.out;
    p->bytes = p->rows = -1;
    p->kind->prepare(p, positions);
    if (!p->in_place && stays_in_place(p))
        L->out->overwrite[L->out->n_overwrite++] = p->c->x;
    if (p->pixels == 1 && p->win.y.out > 1) { /* rows are as good, and need no divisions */
        by_row = true;
        positions = p->win.x.out;
    }
    p->k = numbers_of(p, positions);
    ac_panel_place to = {.p = p, .n = ac_lb_for_n(b, "n", p->win.n)};
    if (by_row)
        to.oy = ac_lb_for_n(b, "oy", p->win.y.out);
    tiles(&to, positions, by_row && !p->kind->pack);
    if (by_row)
        ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

/* The first kind that can do it. */
static const ac_panel_kind *kind_of(const ac_lower *L, const ac_channel *c, int64_t depth, int64_t positions)
{
    static const ac_panel_kind *const KINDS[] = {&ac_panel_pairs, &ac_panel_words, &ac_panel_plain};
    if (c->kind != AC_MACS_I8 || c->zw || c->w->dtype != AC_I8 || L->target->vec_bytes || !ac_tensor_is_const(c->w) ||
        (c->bias && !ac_tensor_is_const(c->bias)))
        return NULL;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if ((!KINDS[i]->suits || KINDS[i]->suits(positions)) && KINDS[i]->fits(L, c, depth))
            return KINDS[i];
    return NULL;
}

bool ac_panel_fits(ac_lower *L, const ac_channel *c, int64_t depth)
{
    return kind_of(L, c, depth, 0) != NULL;
}

int ac_panel_conv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_panel p = {.L = L, .c = c, .win = *win, .depth = win->y.taps * win->x.taps * win->ic};
    p.kind = kind_of(L, c, p.depth, L->variant & AC_VARIANT_ROWS ? win->x.out : win->y.out * win->x.out);
    return lower(&p);
}

int ac_panel_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    const ac_slide one = {.in = 1, .out = 1, .taps = 1, .stride = 1, .dil = 1}, all = {rows, rows, 1, 1, 1, 0};
    ac_panel p = {.L = L, .c = c, .win = {.n = 1, .ic = depth, .oc = c->n, .y = one, .x = all}, .depth = depth};
    p.kind = kind_of(L, c, depth, rows);
    return lower(&p);
}
