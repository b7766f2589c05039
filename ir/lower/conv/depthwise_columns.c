/* depthwise_columns.c - int8 depthwise_conv_2d on processors that multiply one pair of numbers at a time.
 *
 * One channel of one output row at a time, in blocks of neighbouring columns with a sum each:
 *
 *     for ky of the rows that exist:
 *       load the weights of a filter row
 *       for each input column of the block:  load x once; multiply and add to every sum that it belongs to
 *     for column of the block:  finish and store
 *
 * so a 3x3 filter over five columns loads 10 numbers for 15 products. Columns outside of the input are the zero point,
 * a constant: the first and the last block have code of their own, the blocks between are a loop. The zero point of x
 * is folded into the bias; its share for skipped rows outside is subtracted first.
 *
 * Weights: [channel][filter row][filter column]. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/lower.h"

enum { MOST_TAPS = 8, MOST_COLUMNS = 8 };

typedef struct columns {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    int32_t x, w, acc;
    int32_t wide;   /* columns of a block */
    int64_t blocks; /* the last may have fewer columns */
} columns;

/* The constants of a channel of an output row. */
typedef struct line {
    ac_x n, oy, ic, oc;
    ac_x lo, hi;   /* filter rows inside */
    ac_x image, w; /* element of x: row 0, column 0; first weight */
    ac_x start;    /* of every sum */
} line;

/* Registers hold a sum for each column, a filter row, x, a product and three addresses. */
static int32_t most_columns(const ac_target *t, int64_t taps)
{
    const int64_t room = t->core - taps - 5;
    return room < 2 ? 5 : room > MOST_COLUMNS ? MOST_COLUMNS : (int32_t)room;
}

static void cut(columns *p)
{
    const int64_t out = p->win->x.out, most = most_columns(p->L->target, p->win->x.taps);
    p->blocks = (out + most - 1) / most;
    p->wide = (int32_t)((out + p->blocks - 1) / p->blocks);
    p->blocks = (out + p->wide - 1) / p->wide;
}

bool ac_depthwise_columns_fits(ac_lower *L, ac_channel *c, const ac_window *win)
{
    const ac_target *t = L->target;
    if (!t->core || t->vec_bytes || c->kind != AC_MACS_I8 || c->zw || !ac_tensor_is_const(c->w) ||
        (c->bias && !ac_tensor_is_const(c->bias)) || win->x.taps > MOST_TAPS)
        return false;
    columns p = {.L = L, .c = c, .win = win};
    int64_t begin, end;
    cut(&p);
    ac_slide_interior(&win->x, &begin, &end);
    /* only the first and the last block reach outside */
    return p.blocks <= 2 || (begin <= p.wide && end >= (p.blocks - 1) * p.wide);
}

static int32_t pack(const columns *p)
{
    ac_lower P;
    const int64_t taps = p->win->y.taps * p->win->x.taps, oc = p->win->oc;
    const int32_t to = ac_lo_pack_open(p->L, &P, "w", AC_I8, oc * taps), from = ac_lo_operand(&P, p->c->w);
    ac_lb *b = &P.b;
    const ac_x o = ac_lb_for_n(b, "oc", oc), k = ac_lb_for_n(b, "k", taps);
    const ac_x w = ac_lb_load(b, from, ac_lb_add(b, ac_lb_mul(b, k, ac_lb_i32(b, oc)), o), 1);
    ac_lb_store(b, to, ac_lb_add(b, ac_lb_mul(b, o, ac_lb_i32(b, taps)), k), w);
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(p->L, &P);
}

static ac_x load_w(const columns *p, ac_x at)
{
    return ac_lb_cast(&p->L->b, ac_lb_load(&p->L->b, p->w, at, 1), AC_I32);
}

/* The zero point times the weights of filter rows begin .. end - 1 goes to `sum`. */
static void outside(const columns *p, const line *l, ac_x begin, ac_x end, ac_x sum)
{
    ac_lb *b = &p->L->b;
    const ac_x taps = ac_lb_i32(b, p->win->x.taps);
    const ac_x k = ac_lb_for(b, "k", ac_lb_mul(b, begin, taps), ac_lb_mul(b, end, taps), 1, AC_MARK_SERIAL);
    const ac_x product = ac_lb_mul(b, load_w(p, ac_lb_add(b, l->w, k)), ac_lb_i32(b, p->c->zx));
    ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), product));
    ac_lb_end(b);
}

static void open_line(const columns *p, line *l)
{
    ac_lb *b = &p->L->b;
    const ac_slide *y = &p->win->y;
    l->w = ac_lb_mul(b, l->oc, ac_lb_i32(b, y->taps * p->win->x.taps));
    l->start = ac_channel_start(p->c, l->oc, 1);
    if (ac_slide_inside(y) || !p->c->zx)
        return;
    const ac_x sum = ac_lb_var(b, "start", l->start);
    outside(p, l, ac_lb_i32(b, 0), l->lo, sum);
    outside(p, l, l->hi, ac_lb_i32(b, y->taps), sum);
    l->start = ac_lb_get(b, sum);
}

/* x in the row that begins at element `row`, in column `first` + at; first 0: `at` is a column. */
static ac_x load_x(const columns *p, ac_x row, ac_x first, int64_t at)
{
    ac_lb *b = &p->L->b;
    const ac_window *w = p->win;
    if (!first && (at < 0 || at >= w->x.in))
        return ac_lb_i32(b, p->c->zx);
    if (first)
        row = ac_lb_add(b, row, first);
    return ac_lb_cast(b, ac_lb_load(b, p->x, ac_lb_add(b, row, ac_lb_i32(b, at * w->ic)), 1), AC_I32);
}

/* One filter row into the sums of n columns. */
static void filter_row(const columns *p, const line *l, ac_x ky, ac_x first, int64_t from, int32_t n, const ac_x *sum)
{
    ac_lb *b = &p->L->b;
    const ac_window *w = p->win;
    const ac_slide *s = &w->x;
    ac_x tap[MOST_TAPS];
    const ac_x row =
        ac_lb_add(b, l->image, ac_lb_mul(b, ac_slide_at(b, &w->y, l->oy, ky), ac_lb_i32(b, s->in * w->ic)));
    const ac_x w_at = ac_lb_add(b, l->w, ac_lb_mul(b, ky, ac_lb_i32(b, s->taps)));
    for (int32_t k = 0; k < s->taps; k++)
        tap[k] = load_w(p, ac_lb_add(b, w_at, ac_lb_i32(b, k)));
    for (int64_t at = 0; at <= (n - 1) * s->stride + (s->taps - 1) * s->dil; at++) {
        ac_x x = 0;
        for (int32_t i = 0; i < n; i++) {
            const int64_t reach = at - i * s->stride;
            if (reach < 0 || reach % s->dil || reach / s->dil >= s->taps)
                continue;
            if (!x)
                x = load_x(p, row, first, from + at);
            ac_lb_set(b, sum[i], ac_lb_add(b, ac_lb_get(b, sum[i]), ac_lb_mul(b, x, tap[reach / s->dil])));
        }
    }
}

/* Output columns block * wide .., n of them; `block` is a constant, or the value i. */
static void block(const columns *p, const line *l, int64_t number, ac_x i, int32_t n)
{
    ac_lb *b = &p->L->b;
    const ac_slide *s = &p->win->x;
    ac_x sum[MOST_COLUMNS], first = 0;
    int64_t from = number * p->wide * s->stride - s->pad;
    if (i) {
        first = ac_lb_mul(b, i, ac_lb_i32(b, p->wide * s->stride * p->win->ic));
        from = -s->pad;
    }
    for (int32_t j = 0; j < n; j++)
        sum[j] = ac_lb_var(b, "a", l->start);
    const ac_x ky = ac_lb_for(b, "ky", l->lo, l->hi, 1, AC_MARK_SERIAL);
    filter_row(p, l, ky, first, from, n, sum);
    ac_lb_end(b);
    for (int32_t j = 0; j < n; j++)
        ac_lb_store(b, p->acc, ac_lb_i32(b, j), ac_lb_get(b, sum[j]));
    const ac_x j = ac_lb_for_n(b, "j", n);
    const ac_x ox = ac_lb_add(b, i ? ac_lb_mul(b, i, ac_lb_i32(b, p->wide)) : ac_lb_i32(b, number * p->wide), j);
    const ac_x idx[4] = {l->n, l->oy, ox, l->oc};
    ac_lo_result(p->L, ac_channel_done(p->c, ac_lb_load(b, p->acc, j, 1), l->oc), idx, 1);
    ac_lb_end(b);
}

static void channel(const columns *p, line *l)
{
    ac_lb *b = &p->L->b;
    open_line(p, l);
    block(p, l, 0, 0, p->wide);
    if (p->blocks > 2) {
        const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 1), ac_lb_i32(b, p->blocks - 1), 1, AC_MARK_SERIAL);
        block(p, l, 1, i, p->wide);
        ac_lb_end(b);
    }
    if (p->blocks > 1)
        block(p, l, p->blocks - 1, 0, (int32_t)(p->win->x.out - (p->blocks - 1) * p->wide));
}

int ac_depthwise_columns(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    columns p = {.L = L, .c = c, .win = win};
    const ac_rows rows = {win->y.taps * win->x.taps, 1, win->oc};
    const int64_t multiplier = win->oc / win->ic;
    cut(&p);
    ac_channel_tables(c, c->n, &rows, c->zx);
    p.x = ac_lo_operand(L, c->x);
    p.acc = ac_lo_local(L, "acc", AC_I32, p.wide);
    p.w = pack(&p);
    line l = {.n = ac_lb_for_each(b, "n", win->n), .oy = ac_lb_for_each(b, "oy", win->y.out)};
    ac_slide_taps(b, &win->y, l.oy, &l.lo, &l.hi);
    l.ic = ac_lb_for_each(b, "ic", win->ic);
    const ac_x m = ac_lb_for_n(b, "m", multiplier);
    l.oc = ac_lb_add(b, ac_lb_mul(b, l.ic, ac_lb_i32(b, multiplier)), m);
    l.image = ac_lb_add(b, ac_lb_mul(b, l.n, ac_lb_i32(b, win->y.in * win->x.in * win->ic)), l.ic);
    channel(&p, &l);
    for (int32_t i = 0; i < 4; i++)
        ac_lb_end(b);
    return AC_OK;
}
