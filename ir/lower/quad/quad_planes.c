/* quad_planes.c - int8 depthwise convolution whose windows are sixteen bytes of a line of one channel; see quad.h and
 * the spots of codegen/nests.h.
 *
 *     for some output rows, 4 channels:
 *       SPREAD: their input rows to four lines, a column after the other, `height` bytes each
 *       a nest over rows and columns
 *
 *     line of a channel    a0 b0 c0 d0 e0 f0 | a1 b1 c1 d1 e1 f1 | a2 ...     rows a to f, columns 0, 1
 *                          `- window of 3 x 3: bytes 0-2, 6-8, 12-14
 *                             `- of the next output row: one byte on; of the next column: six
 *
 * Columns and rows outside of the input are zero points, so the zero point of x is in the bias. Other bytes of a window
 * have weights of zero. AC_VARIANT_ROWS: one output row at a time. */
#include "ir/lower/quad/quad.h"

#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"

/* Each output row of a block after the first keeps the result a row further from the operand that it may overlap, and
 * saves the more instructions the shorter the rows are: two rows, or more if these are few results. */
enum { WINDOW = 16, ROWS = 2, FEW = 48 };

typedef struct planes {
    ac_quad q;
    const ac_window *win;
    int32_t height, rows; /* bytes of a column; output rows of a block */
    int32_t pitch, bytes; /* of a line; of all lines */
    int32_t x, w, line, zero, y;
} planes;

/* Sets the largest height at which a window spans sixteen bytes, and the numbers that follow; false: too large. */
static bool choose(planes *d, bool by_row)
{
    const ac_slide *y = &d->win->y, *x = &d->win->x;
    const int64_t taps = ac_slide_reach(y), wide = ac_slide_reach(x);
    int64_t height = wide > 1 ? (WINDOW - taps) / (wide - 1) : WINDOW;
    if (taps > WINDOW || height < taps)
        return false;
    height = by_row ? taps : height;
    d->rows = (int32_t)((height - taps) / y->stride) + 1;
    const int32_t few = x->out * ROWS > FEW ? ROWS : (int32_t)(FEW / x->out);
    const int32_t most = y->out < few ? (int32_t)y->out : few;
    d->rows = d->rows > most ? most : d->rows;
    height = (d->rows - 1) * y->stride + taps;
    const int64_t pitch = ((x->out - 1) * x->stride + wide) * height;
    d->height = (int32_t)height;
    d->pitch = (int32_t)pitch;
    d->bytes = (int32_t)(AC_QUAD * pitch + WINDOW);
    return pitch <= AC_TILE_PITCH && height * x->stride <= AC_TILE_SHIFT;
}

/* [block of 4][slot][16] */
static void pack_weights(planes *d)
{
    ac_lower P;
    const ac_window *win = d->win;
    const int32_t to = ac_lo_pack_open(d->q.L, &P, "w", AC_I8, win->oc * WINDOW);
    ac_lb *b = &P.b;
    const int32_t w = ac_lo_operand(&P, d->q.c->w);
    const ac_x i = ac_lb_for_n(b, "i", win->oc * WINDOW);
    ac_lb_store(b, to, i, ac_lb_int(b, AC_I8, 0));
    ac_lb_end(b);
    const ac_x oc = ac_lb_for_n(b, "oc", win->oc), ky = ac_lb_for_n(b, "ky", win->y.taps);
    const ac_x kx = ac_lb_for_n(b, "kx", win->x.taps);
    const ac_x low = ac_lb_and(b, oc, ac_lb_i32(b, 1)), high = ac_lb_and(b, oc, ac_lb_i32(b, 2));
    ac_x slot = ac_lb_sub(b, oc, ac_lb_add(b, low, high)); /* 0, 2, 1, 3 */
    slot = ac_lb_add(b, slot, ac_lb_add(b, ac_lo_scaled(b, low, 2), ac_lb_shr(b, high, ac_lb_i32(b, 1))));
    const ac_x tap = ac_lb_add(b, ac_lo_scaled(b, ky, win->x.taps), kx);
    ac_x at = ac_lb_add(b, ac_lo_scaled(b, kx, win->x.dil * d->height), ac_lo_scaled(b, ky, win->y.dil));
    at = ac_lb_add(b, at, ac_lo_scaled(b, slot, WINDOW));
    ac_lb_store(b, to, at, ac_lb_load(b, w, ac_lb_add(b, ac_lo_scaled(b, tap, win->oc), oc), 1));
    for (int k = 0; k < 3; k++)
        ac_lb_end(b);
    d->w = ac_lo_pack_close(d->q.L, &P);
}

static void fill(const planes *d)
{
    ac_lb *b = &d->q.L->b;
    const ac_tile t = {
        .form = AC_TILE_SPREAD, .rows = 1, .channels = 1, .x = d->zero, .acc = d->line, .pitch = 0, .shift = 1};
    ac_lb_tile(b, t, ac_lb_i32(b, 0), ac_lb_i32(b, 0), ac_lb_i32(b, d->bytes));
}

/* Rows begin .. end - 1 of the input, `row` elements from the image's first one, of four channels from ch on; row iy
 * goes to the first bytes of columns. */
static void fill_lines(const planes *d, ac_x image, ac_x iy, ac_x begin, ac_x end, ac_x ch)
{
    ac_lb *b = &d->q.L->b;
    const ac_slide *x = &d->win->x;
    const int64_t pad = x->pad > 0 ? x->pad : 0, skip = pad - x->pad, room = d->pitch / d->height - pad;
    const int64_t columns = room < x->in - skip ? room : x->in - skip;
    const ac_tile t = {.form = AC_TILE_SPREAD,
                       .rows = 1,
                       .channels = AC_QUAD,
                       .x = d->x,
                       .acc = d->line,
                       .pitch = d->pitch,
                       .shift = d->height,
                       .depth = b->fn->buf.item[d->x].align % 4 ? 0 : 4,
                       .stride = (int32_t)d->win->ic};
    const ac_x row = ac_lb_for(b, "row", begin, end, 1, AC_MARK_SERIAL);
    ac_x from = ac_lb_add(b, ac_lo_scaled(b, image, d->win->y.in), row);
    from = ac_lb_add(b, ac_lo_scaled(b, from, x->in), ac_lb_i32(b, skip));
    from = ac_lb_add(b, ac_lo_scaled(b, from, d->win->ic), ch);
    ac_lb_tile(b, t, from, ac_lb_add(b, ac_lb_sub(b, row, iy), ac_lb_i32(b, pad * d->height)), ac_lb_i32(b, columns));
    ac_lb_end(b);
}

/* Four channels from ch on, of `rows` output rows from oy on. */
static void nest(const planes *d, ac_x image, ac_x oy, ac_x rows, ac_x ch)
{
    ac_lb *b = &d->q.L->b;
    const int64_t oc = d->win->oc, columns = d->win->x.out;
    ac_x out = ac_lb_add(b, ac_lo_scaled(b, image, d->win->y.out), oy);
    out = ac_lb_add(b, ac_lo_scaled(b, out, columns * oc), ch);
    const ac_tile t = {.form = AC_TILE_EACH,
                       .rows = 1,
                       .channels = AC_QUAD,
                       .x = d->line,
                       .w = d->w,
                       .acc = d->q.acc,
                       .pitch = d->pitch,
                       .shift = (int32_t)(d->height * d->win->x.stride),
                       .depth = WINDOW};
    const ac_x w = ac_lo_scaled(b, ch, WINDOW);
    ac_x m, bias;
    ac_quad_places(&d->q, ch, AC_QUAD, &m, &bias);
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), rows, 1, AC_MARK_NEST);
    const ac_x j = ac_lb_for(b, "j", ac_lb_i32(b, 0), ac_lb_i32(b, columns), 1, AC_MARK_NEST);
    const ac_x x = ac_lb_add(b, ac_lo_scaled(b, i, d->win->y.stride), ac_lo_scaled(b, j, t.shift));
    ac_lb_tile(b, t, x, w, ac_lb_i32(b, 1));
    const ac_x y = ac_lb_add(b, ac_lb_add(b, out, ac_lo_scaled(b, i, columns * oc)), ac_lo_scaled(b, j, oc));
    ac_quad_requantise(&d->q, 0, ch, AC_QUAD, d->y, y);
    ac_lb_end(b);
    ac_lb_end(b);
}

bool ac_quad_planes(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    planes d = {.win = win};
    if (!L->target->mve || L->node->n_fused || win->ic != win->oc || win->ic % AC_QUAD || win->ic > AC_TILE_PITCH ||
        win->x.pad < 0 || win->x.out < 1 || c->lo != INT8_MIN || c->hi != INT8_MAX ||
        !choose(&d, L->variant & AC_VARIANT_ROWS) || !ac_quad_open(L, &d.q, c))
        return false;
    const int8_t zero = (int8_t)c->zx;
    d.x = ac_lo_operand(L, c->x);
    d.y = ac_lo_result_buf(L);
    d.zero = ac_lo_table(L, "zero", AC_I8, 1, &zero);
    d.line = ac_lo_line(L, "line", AC_I8, d.bytes);
    d.q.acc = ac_lo_local(L, "acc", AC_I32, AC_QUAD);
    pack_weights(&d);
    const ac_x n = ac_lb_for_n(b, "n", win->n);
    const ac_x oy = ac_lb_for(b, "oy", ac_lb_i32(b, 0), ac_lb_i32(b, win->y.out), d.rows, AC_MARK_SERIAL);
    const ac_x iy = ac_slide_at(b, &win->y, oy, ac_lb_i32(b, 0)), end = ac_lb_add(b, iy, ac_lb_i32(b, d.height));
    const ac_x from = win->y.pad > 0 ? ac_lb_max(b, iy, ac_lb_i32(b, 0)) : iy;
    const ac_x to = ac_lb_min(b, end, ac_lb_i32(b, win->y.in));
    ac_x rows = ac_lb_i32(b, d.rows);
    if (win->y.out % d.rows)
        rows = ac_lb_min(b, rows, ac_lb_sub(b, ac_lb_i32(b, win->y.out), oy));
    fill(&d);
    const ac_x ch = ac_lb_for(b, "ch", ac_lb_i32(b, 0), ac_lb_i32(b, win->ic), AC_QUAD, AC_MARK_SERIAL);
    fill_lines(&d, n, iy, from, to, ch);
    nest(&d, n, oy, rows, ch);
    for (int k = 0; k < 3; k++)
        ac_lb_end(b);
    return true;
}
