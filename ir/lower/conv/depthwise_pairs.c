/* depthwise_pairs.c - int8 depthwise_conv_2d on targets that multiply the halves of two words and add both products
 * (SMLAD).
 *
 * One channel of one output row at a time. Two adjacent rows of the input form a pair: the two elements of an input
 * column are one word, packed once (PKHBT) and multiplied by the words of all filter columns that read it, so a 3x3
 * filter costs three loads, one packing and six multiplications for nine products.
 *
 *     input rows   a  b  c  d ..            pair (0,2):  {a0,a2} {b0,b2} {c0,c2}     row 1:  a1 b1 c1
 *     output 0  =  {a0,a2}.p0 + a1*s0 + {b0,b2}.p1 + b1*s1 + {c0,c2}.p2 + c1*s2
 *
 * Columns stream by: each is loaded once and added to the sums of all windows that contain it. Few output columns are
 * unrolled; many are a loop over PER at a time, with its sums in variables, between unrolled ends.
 *
 * Borders. Columns outside of the input are the zero point, a constant. For rows outside, other rows are read, with
 * weights of zero: the rows of a filter column are the bytes of one or two words, so that is a mask. The bias contains
 * the zero point's products for them, which are subtracted. Only output rows at a border pay for this. Two ways: the
 * whole window moves into the input and the bytes of the words with it, so that rows stay at equal distances; or, row
 * by row (AC_VARIANT_ROWS, not WIDE) and for tall filters, each row is clamped separately, which reads only rows that
 * are needed.
 *
 * Nothing is copied, and no state is kept between rows.
 *
 * Weights: [channel][filter column][row], bytes; a word of them may end with bytes of the next column, which are
 * ignored. Two rows are halves. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/lower.h"

#include "ir/loop/plane.h"

enum { WHOLE = 5, PER = 2, TERMS = 8, TAPS = 16, OPEN = 32, MOST_ROWS = 8, CODE = 480 };

/* The rows of a filter column that are multiplied at once: one, or two of them. */
typedef struct term {
    int32_t row, mate; /* -1: none */
    int32_t word;
} term;

typedef struct pairs {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    int32_t x_buf, w_buf;
    int32_t words; /* of a filter column */
    int32_t step;  /* bits from row to row in a word */
    int64_t size;  /* bytes of a filter column */
    term t[TERMS];
    int32_t terms;
    int32_t open;        /* sums besides the one that ends next */
    bool moves;          /* cut windows move into the input, their weights with them */
    int64_t first, last; /* output columns whose new input columns are inside */
    int64_t loops;
} pairs;

/* The constants of a channel of an output row. */
typedef struct line {
    ac_x n, oy, oc;
    ac_x at[MOST_ROWS]; /* element of x: column 0 of the row that each filter row reads; moves: of the first of them */
    ac_x next;          /* in the loop: elements from column 0 to the next column */
    ac_x start;         /* of every sum */
    ac_x w[TAPS][TERMS];
    ac_x sum[OPEN]; /* 0: not begun */
} line;

/* Columns of a window that previous windows have already read. */
static int64_t seen_of(const ac_slide *s)
{
    return ac_slide_reach(s) > s->stride ? ac_slide_reach(s) - s->stride : 0;
}

static void terms(pairs *p)
{
    const int32_t rows = (int32_t)p->win->y.taps;
    p->step = rows == 2 ? 16 : 8;
    p->size = rows * p->step / 8;
    p->words = (rows + 3) / 4;
    for (int32_t g = 0; g < p->words; g++) {
        const int32_t k = 4 * g, n = rows - k < 4 ? rows - k : 4;
        if (rows == 2) {
            p->t[p->terms++] = (term){0, 1, 0};
            continue;
        }
        p->t[p->terms++] = (term){k, n > 2 ? k + 2 : -1, g};
        if (n > 1)
            p->t[p->terms++] = (term){k + 1, n > 3 ? k + 3 : -1, g};
    }
}

/* ------------------------------------------------------------------ weights */

static int32_t pack(const pairs *p)
{
    ac_lower P;
    const int64_t kh = p->win->y.taps, kw = p->win->x.taps, oc = p->win->oc, rest = 4 * p->words - p->size;
    const int32_t to = ac_lo_pack_open(p->L, &P, "w", AC_I8, oc * kw * p->size + rest),
                  from = ac_lo_operand(&P, p->c->w);
    ac_lb *b = &P.b;
    const ac_x o = ac_lb_for_n(b, "oc", oc), kx = ac_lb_for_n(b, "kx", kw);
    const ac_x at = ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, o, ac_lb_i32(b, kw)), kx), ac_lb_i32(b, p->size));
    const ac_x i = ac_lb_for_n(b, "i", 4 * p->words); /* the next results are stored later */
    ac_lb_store(b, to, ac_lb_add(b, at, i), ac_lb_int(b, AC_I8, 0));
    ac_lb_end(b);
    const ac_x ky = ac_lb_for_n(b, "ky", kh);
    const ac_x tap = ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, kw)), kx);
    const ac_x w = ac_lb_load(b, from, ac_lb_add(b, ac_lb_mul(b, tap, ac_lb_i32(b, oc)), o), 1);
    ac_lb_store(b, to, ac_lb_add(b, at, ac_lb_mul(b, ky, ac_lb_i32(b, p->step / 8))), w);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(p->L, &P);
}

/* The values that depend on extents: kernels that differ only in them may be merged (--share-kernels). */
static ac_x number(ac_lb *b, int64_t v)
{
    return v ? ac_lb_shape(b, v) : ac_lb_i32(b, 0);
}

static ac_x u32(ac_lb *b, int64_t v)
{
    return ac_lb_int(b, AC_U32, v);
}

/* Bytes 0 and 2, or 1 and 3, as halves. */
static ac_x widened(ac_lb *b, ac_x word, bool odd)
{
    ac_x v = ac_lb_bitcast(b, word, AC_I16);
    const ac_x byte = ac_lb_like_int(b, v, 8);
    if (!odd)
        v = ac_lb_shl(b, v, byte);
    return ac_lb_shr(b, v, byte);
}

/* The weights of a term, out of the words of its filter column. */
static ac_x weights(const pairs *p, const term *t, const ac_x *word)
{
    ac_lb *b = &p->L->b;
    const int32_t byte = t->row % 4;
    if (t->mate >= 0)
        return widened(b, word[t->word], byte == 1);
    return ac_lb_cast(b, ac_lb_cast(b, ac_lb_shr(b, word[t->word], u32(b, 8 * byte)), AC_I8), AC_I32);
}

/* ------------------------------------------------------------------ rows that are cut */

typedef struct cut {
    ac_x any;            /* bool; 0: no row is cut anywhere */
    ac_x kept[2];        /* bits of the words whose rows are inside */
    ac_x lost[2];        /* ... and outside; neither contains the bits past the last row */
    ac_x down, up;       /* places that the words move by, u32 */
    ac_x row[MOST_ROWS]; /* of the input, read for each filter row */
} cut;

/* Rows of the input for output row oy, all inside. */
static void rows_of(const pairs *p, ac_x oy, ac_x moved, cut *c)
{
    ac_lb *b = &p->L->b;
    const ac_slide *y = &p->win->y;
    const ac_x top = ac_lb_add(b, ac_slide_at(b, y, oy, ac_lb_i32(b, 0)), ac_lb_mul(b, moved, ac_lb_i32(b, y->dil)));
    for (int32_t k = 0; k < y->taps; k++) {
        c->row[k] = ac_lb_add(b, top, ac_lb_i32(b, k * y->dil));
        if (!p->moves && y->pad > k * y->dil)
            c->row[k] = ac_lb_max(b, c->row[k], ac_lb_i32(b, 0));
        if (!p->moves && (y->out - 1) * y->stride - y->pad + k * y->dil >= y->in)
            c->row[k] = ac_lb_min(b, c->row[k], number(b, y->in - 1));
    }
}

/* Filter rows inside: ac_slide_taps, with the end of the input as a constant. Every window has at least one. */
static void taps_inside(const pairs *p, ac_x oy, ac_x *lo, ac_x *hi)
{
    ac_lb *b = &p->L->b;
    const ac_slide *y = &p->win->y;
    const ac_x top = ac_slide_at(b, y, oy, ac_lb_i32(b, 0)), zero = ac_lb_i32(b, 0), dil = ac_lb_i32(b, y->dil);
    const ac_x round = ac_lb_i32(b, y->dil - 1);
    *lo = zero;
    *hi = ac_lb_i32(b, y->taps);
    if (y->pad > 0)
        *lo = ac_lb_div(b, ac_lb_add(b, ac_lb_max(b, ac_lb_sub(b, zero, top), zero), round), dil);
    if ((y->out - 1) * y->stride - y->pad + (y->taps - 1) * y->dil >= y->in)
        *hi = ac_lb_min(b, *hi, ac_lb_div(b, ac_lb_add(b, ac_lb_sub(b, number(b, y->in), top), round), dil));
}

static cut cut_of(const pairs *p, ac_x oy)
{
    ac_lb *b = &p->L->b;
    const ac_slide *y = &p->win->y;
    cut c = {0};
    ac_x lo, hi;
    taps_inside(p, oy, &lo, &hi);
    const ac_x missing = ac_lb_sub(b, ac_lb_i32(b, y->taps), hi), none = ac_lb_i32(b, 0);
    rows_of(p, oy, p->moves ? ac_lb_sub(b, lo, missing) : none, &c);
    if (ac_slide_inside(y))
        return c;
    c.any = ac_lb_gt(b, ac_lb_add(b, lo, missing), none);
    const ac_x step = ac_lb_i32(b, p->step);
    c.down = ac_lb_cast(b, ac_lb_mul(b, lo, step), AC_U32);
    c.up = ac_lb_cast(b, ac_lb_mul(b, missing, step), AC_U32);
    const ac_dtype d = p->words > 1 ? AC_U64 : AC_U32;
    const int64_t bits = y->taps * p->step, all = bits >= 64 ? -1 : (int64_t)(((uint64_t)1 << bits) - 1);
    const ac_x full = ac_lb_int(b, d, all);
    const ac_x kept =
        ac_lb_and(b, ac_lb_shl(b, full, ac_lb_cast(b, c.down, d)), ac_lb_shr(b, full, ac_lb_cast(b, c.up, d)));
    const ac_x lost = ac_lb_xor(b, kept, full), word = ac_lb_int(b, AC_U64, 32);
    for (int32_t g = 0; g < p->words; g++) {
        c.kept[g] = ac_lb_cast(b, g ? ac_lb_shr(b, kept, word) : kept, AC_U32);
        c.lost[g] = ac_lb_cast(b, g ? ac_lb_shr(b, lost, word) : lost, AC_U32);
    }
    return c;
}

/* The words of a filter column without the rows that are outside, in the order that the rows are read in; the zero
 * point's share of those outside is added back to `sum`. */
static ac_x drop_rows(const pairs *p, const cut *c, ac_x *word, ac_x sum)
{
    ac_lb *b = &p->L->b;
    const int64_t zx = p->c->folded ? p->c->zx : 0;
    for (int32_t g = 0; g < p->words; g++) {
        const ac_x out = ac_lb_and(b, word[g], c->lost[g]);
        for (int odd = 0; odd < 2 && zx; odd++) {
            const ac_x v = widened(b, out, odd);
            sum = ac_lb_dot2(b, v, ac_lb_like_int(b, v, zx), sum);
        }
        word[g] = ac_lb_and(b, word[g], c->kept[g]);
    }
    if (p->moves)
        word[0] = ac_lb_shl(b, ac_lb_shr(b, word[0], c->down), c->up);
    return sum;
}

/* Start and weights of channel l->oc. */
static void open_line(const pairs *p, const cut *c, line *l)
{
    ac_lb *b = &p->L->b;
    const int32_t kw = (int32_t)p->win->x.taps;
    ac_x word[TAPS][2], var[TAPS][2];
    l->start = ac_channel_start(p->c, l->oc, 1);
    const ac_x at = ac_lb_mul(b, l->oc, ac_lb_i32(b, kw * p->size));
    for (int32_t k = 0; k < kw; k++)
        for (int32_t g = 0; g < p->words; g++) {
            const ac_x from = ac_lb_add(b, at, ac_lb_i32(b, k * p->size + 4 * g));
            word[k][g] = ac_lb_bitcast(b, ac_lb_load(b, p->w_buf, from, 4), AC_U32);
        }
    if (c->any) {
        const ac_x start = ac_lb_var(b, "start", l->start);
        for (int32_t k = 0; k < kw; k++)
            for (int32_t g = 0; g < p->words; g++)
                var[k][g] = ac_lb_var(b, "w", word[k][g]);
        ac_lb_if(b, c->any);
        ac_x sum = l->start;
        for (int32_t k = 0; k < kw; k++) {
            sum = drop_rows(p, c, word[k], sum);
            for (int32_t g = 0; g < p->words; g++)
                ac_lb_set(b, var[k][g], word[k][g]);
        }
        ac_lb_set(b, start, sum);
        ac_lb_end(b);
        l->start = ac_lb_get(b, start);
        for (int32_t k = 0; k < kw; k++)
            for (int32_t g = 0; g < p->words; g++)
                word[k][g] = ac_lb_get(b, var[k][g]);
    }
    for (int32_t k = 0; k < kw; k++)
        for (int32_t t = 0; t < p->terms; t++)
            l->w[k][t] = weights(p, &p->t[t], word[k]);
}

/* ------------------------------------------------------------------ columns */

/* The value of row k in the column `at` elements from the first; at 0: outside of the input. */
static ac_x value(const pairs *p, const line *l, ac_x at, int32_t k, ac_dtype d)
{
    ac_lb *b = &p->L->b;
    if (!at)
        return ac_lb_int(b, d, p->c->zx);
    at = ac_lb_add(b, l->at[p->moves ? 0 : k], at);
    if (p->moves)
        at = ac_lb_add(b, at, number(b, k * p->win->y.dil * p->win->x.in * p->win->ic));
    return ac_lb_cast(b, ac_lb_load(b, p->x_buf, at, 1), d);
}

static ac_x column_term(const pairs *p, const line *l, ac_x at, const term *t)
{
    static const int64_t BOTH[] = {0, 1};
    if (t->mate < 0)
        return value(p, l, at, t->row, AC_I32);
    return ac_lb_shuffle(&p->L->b, value(p, l, at, t->row, AC_I16), value(p, l, at, t->mate, AC_I16), BOTH, 2);
}

/* Column `reach` of the next output column's window, into all sums that read it; `left` output columns remain. */
static void take(const pairs *p, line *l, ac_x at, int64_t reach, int64_t left)
{
    ac_lb *b = &p->L->b;
    const ac_slide *s = &p->win->x;
    ac_x v[TERMS] = {0};
    for (int32_t j = 0; j <= p->open && j < left; j++) {
        const int64_t far = reach - j * s->stride;
        if (far < 0 || far % s->dil || far / s->dil >= s->taps)
            continue;
        const ac_x *w = l->w[far / s->dil];
        ac_x sum = l->sum[j] ? l->sum[j] : l->start;
        for (int32_t t = 0; t < p->terms; t++) {
            if (!v[t])
                v[t] = column_term(p, l, at, &p->t[t]);
            sum = p->t[t].mate < 0 ? ac_lb_add(b, sum, ac_lb_mul(b, v[t], w[t])) : ac_lb_dot2(b, v[t], w[t], sum);
        }
        l->sum[j] = sum;
    }
}

/* The next output column, ox; its window begins at input column ox * stride - pad. fixed: ox is a constant, and its
 * columns may be outside. */
static void output(const pairs *p, line *l, ac_x ox, int64_t fixed)
{
    ac_lb *b = &p->L->b;
    const ac_window *w = p->win;
    const ac_slide *s = &w->x;
    const int64_t left = fixed < 0 ? OPEN : s->out - fixed;
    for (int64_t r = seen_of(s); r < ac_slide_reach(s); r++) {
        const int64_t col = (fixed < 0 ? 0 : fixed * s->stride) - s->pad + r;
        ac_x at = fixed < 0 ? l->next : 0;
        if (fixed >= 0 && col >= 0 && col < s->in)
            at = number(b, col * w->ic);
        take(p, l, at, r, left);
        if (fixed < 0) /* the windows of two output columns may have columns between them */
            l->next = ac_lb_add(b, at, number(b, (r + 1 < ac_slide_reach(s) ? 1 : s->stride - r + seen_of(s)) * w->ic));
    }
    ac_x idx[4] = {l->n, l->oy, ox, l->oc};
    const ac_x done = ac_channel_done(p->c, l->sum[0] ? l->sum[0] : l->start, l->oc);
    ac_gemm_store_lanes(p->L, done, l->oc, 1, idx);
    for (int32_t j = 0; j < p->open; j++)
        l->sum[j] = l->sum[j + 1];
    l->sum[p->open] = 0;
}

static void outputs(const pairs *p, line *l, int64_t begin, int64_t end)
{
    for (int64_t ox = begin; ox < end; ox++)
        output(p, l, number(&p->L->b, ox), ox);
}

/* Output columns first .. first + loops * PER, PER at a time. */
static void loop(const pairs *p, line *l)
{
    ac_lb *b = &p->L->b;
    ac_x var[OPEN];
    for (int32_t j = 0; j < p->open; j++)
        var[j] = ac_lb_var(b, "sum", l->sum[j] ? l->sum[j] : l->start); /* not begun: of no output column */
    const ac_x ox =
        ac_lb_for(b, "ox", ac_lb_i32(b, p->first), number(b, p->first + p->loops * PER), PER, AC_MARK_SERIAL);
    for (int32_t j = 0; j < p->open; j++)
        l->sum[j] = ac_lb_get(b, var[j]);
    const ac_slide *s = &p->win->x;
    l->next = ac_lb_add(b, ac_lb_mul(b, ox, number(b, s->stride * p->win->ic)),
                        number(b, (seen_of(s) - s->pad) * p->win->ic));
    for (int32_t i = 0; i < PER; i++)
        output(p, l, ac_lb_add(b, ox, ac_lb_i32(b, i)), -1);
    for (int32_t j = 0; j < p->open; j++)
        ac_lb_set(b, var[j], l->sum[j]);
    ac_lb_end(b);
    for (int32_t j = 0; j < p->open; j++)
        l->sum[j] = ac_lb_get(b, var[j]);
}

/* The columns before the first output column's new ones. */
static void first_columns(const pairs *p, line *l)
{
    ac_lb *b = &p->L->b;
    const ac_window *w = p->win;
    for (int64_t r = 0; r < seen_of(&w->x); r++) {
        const int64_t col = r - w->x.pad;
        const bool inside = col >= 0 && col < w->x.in;
        take(p, l, inside ? number(b, col * w->ic) : 0, r, w->x.out);
    }
}

static void channel(const pairs *p, const cut *c, line *l)
{
    open_line(p, c, l);
    for (int32_t j = 0; j < OPEN; j++)
        l->sum[j] = 0;
    first_columns(p, l);
    if (!p->loops) {
        outputs(p, l, 0, p->win->x.out);
        return;
    }
    outputs(p, l, 0, p->first);
    (void)ac_channel_done(p->c, l->start, l->oc); /* its constants, before the loop */
    loop(p, l);
    outputs(p, l, p->first + p->loops * PER, p->win->x.out);
}

/* ------------------------------------------------------------------ the schedule */

static void geometry(pairs *p)
{
    const ac_slide *s = &p->win->x;
    terms(p);
    p->moves = p->words == 1 && p->win->y.in >= p->win->y.taps * p->win->y.dil;
    p->open = (int32_t)((ac_slide_reach(s) - 1) / s->stride);
    while (p->first < s->out && p->first * s->stride - s->pad + seen_of(s) < 0)
        p->first++;
    p->last = p->first;
    while (p->last < s->out && p->last * s->stride - s->pad + ac_slide_reach(s) <= s->in)
        p->last++;
    p->loops = s->out <= WHOLE ? 0 : (p->last - p->first) / PER;
}

/* Instructions, about. */
static int64_t code_of(const pairs *p)
{
    const ac_slide *s = &p->win->x;
    const int64_t outs = p->loops ? s->out - p->loops * PER + PER : s->out;
    const int64_t each = s->stride * p->win->y.taps + s->taps * p->terms + 12;
    return outs * each + seen_of(s) * (p->win->y.taps + p->terms * (s->taps + 1) / 2);
}

bool ac_depthwise_pairs_fits(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    const ac_slide *y = &win->y, *x = &win->x;
    if (!ac_target_halves(L->target) || c->kind != AC_MACS_I8 || c->zw || !ac_tensor_is_const(c->w) ||
        (c->bias && !ac_tensor_is_const(c->bias)))
        return false;
    if (y->taps > MOST_ROWS || x->taps >= TAPS || (ac_slide_reach(x) - 1) / x->stride >= OPEN - 1)
        return false;
    if (y->pad > (y->taps - 1) * y->dil || (y->out - 1) * y->stride - y->pad >= y->in) /* windows without a row */
        return false;
    pairs p = {.win = win};
    geometry(&p);
    return code_of(&p) <= CODE;
}

/* States the shape of 3x3 taps whose results are one product and a sum (requant_line.h). Stripes need rows. */
static void note_plane(const pairs *p)
{
    const ac_channel *c = p->c;
    const ac_window *w = p->win;
    const ac_slide *y = &w->y, *x = &w->x;
    const ac_line *form = &c->line;
    if (!p->L->target->dsp || p->L->variant || p->L->node->n_fused || w->n != 1 || w->ic != w->oc || y->taps != 3 ||
        x->taps != 3 || y->dil != 1 || x->dil != 1 || form->kind != AC_LINE_PLAIN || form->product != AC_LINE_HIGH ||
        form->vary || !c->per_channel || (c->bias_buf >= 0 || !c->folded) || c->lo != INT8_MIN || c->hi != INT8_MAX)
        return;
    ac_plane *plane = AC_NEW(p->L->region, ac_plane);
    *plane = (ac_plane){.x = p->x_buf,
                        .w = p->w_buf,
                        .m = c->m_buf,
                        .out = ac_lo_result_buf(p->L),
                        .channels = (int32_t)w->oc,
                        .in_rows = (int32_t)y->in,
                        .in_columns = (int32_t)x->in,
                        .out_rows = (int32_t)y->out,
                        .out_columns = (int32_t)x->out,
                        .stride_y = (int32_t)y->stride,
                        .stride_x = (int32_t)x->stride,
                        .pad_y = (int32_t)y->pad,
                        .pad_x = (int32_t)x->pad,
                        .zero_x = c->zx,
                        .pre = form->pre,
                        .post = c->of->post};
    p->L->b.fn->plane = plane;
}

int ac_depthwise_pairs(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    pairs p = {.L = L, .c = c, .win = win};
    const ac_rows rows = {win->y.taps * win->x.taps, 1, win->oc};
    const int64_t multiplier = win->oc / win->ic, row = win->x.in * win->ic;
    geometry(&p);
    if (p.moves && L->variant & AC_VARIANT_ROWS) {
        L->out->variants |= AC_VARIANT_WIDE;
        p.moves = L->variant & AC_VARIANT_WIDE;
    }
    ac_channel_tables(c, c->n, &rows, c->zx);
    p.x_buf = ac_lo_operand(L, c->x);
    p.w_buf = pack(&p);
    line l = {.n = ac_lb_for_each(b, "n", win->n)};
    l.oy = ac_lb_for(b, "oy", ac_lb_i32(b, 0), number(b, win->y.out), 1, AC_MARK_PARALLEL);
    const cut k = cut_of(&p, l.oy);
    const ac_x image = ac_lb_mul(b, l.n, number(b, win->y.in));
    const ac_x ic = ac_lb_for(b, "ic", ac_lb_i32(b, 0), number(b, win->ic), 1, AC_MARK_PARALLEL);
    const ac_x m = ac_lb_for_n(b, "m", multiplier);
    l.oc = ac_lb_add(b, ac_lb_mul(b, ic, ac_lb_i32(b, multiplier)), m);
    for (int32_t i = 0; i < (p.moves ? 1 : win->y.taps); i++)
        l.at[i] = ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, image, k.row[i]), number(b, row)), ic);
    channel(&p, &k, &l);
    note_plane(&p);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
