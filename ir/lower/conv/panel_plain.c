/* panel_plain.c - panels on processors that multiply one pair of numbers at a time: a register tile in plain loops.
 *
 *     for k in steps of `step`:
 *       for each k + u:  load a weight of each channel; of each pixel load x, multiply and add
 *
 * The accumulators, a few weights, one x and two addresses fill the registers of a kernel (targets.def: core). The
 * fewer of weights and pixels stay in registers while the others are loaded one by one; if equal, weights stay.
 *
 * Weights i8 [block][k][channel], zeros at the end. A 1x1 window of stride 1, or a matrix, is read in place; other
 * inputs are gathered into a line of i8:
 *
 *     [pixel][k]                      runs of the input are not whole words, or steps are one k
 *     [k / 4][pixel][k % 4]           else, so that all of a step is near its address
 *
 * Biased, for processors of 32-bit products and eight registers (Thumb of ARMv6-M), which load unsigned bytes only at
 * constant distances: X = x + 128 in the line and W = w + 128 in the table, u8. Then sum of (x - zx) w = sum of X W -
 * 128 sum of X - (zx + 128) sum of w; the sum of X is computed while the line is filled, the last term is folded into
 * the bias. The inner loop is a TILE of one pixel and eight channels: compilers have too few registers for it. */
#include "ir/lower/conv/panel_kind.h"

#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"

enum { LEAST_DEPTH = 8, MOST_DEPTH = 16384 }; /* sums of products, including u8, fit 32 bits */

/* Tiles by number of registers; a target uses the first that fits. One position: more channels instead. */
typedef struct shape {
    int32_t core; /* registers that it needs */
    int32_t pixels, channels, step;
    int32_t alone, alone_step; /* channels, for one position */
} shape;

static const shape SHAPES[] = {
    {24, 4, 4, 1, 8, 4},
    {13, 4, 2, 4, 4, 4},
    {8, 1, 8, 4, 8, 4},
};

enum { SLOWER = 20 };  /* percent */
enum { REACHED = 32 }; /* biased: weights of a step that loads reach */

static const shape *shape_of(const ac_target *t)
{
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
        if (t->core >= SHAPES[i].core)
            return &SHAPES[i];
    return NULL;
}

static bool fits(const ac_lower *L, const ac_channel *c, int64_t depth)
{
    return shape_of(L->target) && depth >= LEAST_DEPTH && depth < MOST_DEPTH && c->n > 1;
}

/* ------------------------------------------------------------------ weights */

static void pack_weights(ac_panel *p)
{
    ac_lower P;
    const int64_t blocks = (p->c->n + p->channels - 1) / p->channels, depth = (p->steps * p->step);
    const ac_dtype d = p->biased ? AC_U8 : AC_I8;
    const int32_t to = ac_lo_pack_open(p->L, &P, "w", d, blocks * depth * p->channels);
    ac_lb *b = &P.b;
    const ac_x block = ac_lb_for_n(b, "block", blocks), k = ac_lb_for_n(b, "k", depth);
    const ac_x c = ac_lb_for_n(b, "c", p->channels);
    const ac_x oc = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, p->channels)), c);
    ac_x at = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, depth)), k);
    at = ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, p->channels)), c);
    ac_x v = ac_panel_weight(&P, p, oc, k);
    if (p->biased) {
        v = ac_lb_add(b, v, ac_lb_i32(b, 128));
        if (p->depth % p->step) /* elements of the line there do not affect sums */
            v = ac_lb_select(b, ac_lb_lt(b, k, ac_lb_i32(b, p->depth)), v, ac_lb_i32(b, 0));
    }
    ac_lb_store(b, to, at, ac_lb_cast(b, v, d));
    for (int i = 0; i < 3; i++)
        ac_lb_end(b);
    p->w = ac_lo_pack_close(p->L, &P);
}

/* ------------------------------------------------------------------ the line */

/* x as it is in the line. */
static ac_x stored(const ac_panel *p, ac_x x)
{
    ac_lb *b = &p->L->b;
    if (!p->biased)
        return x;
    x = ac_lb_bitcast(b, x, AC_U8);
    return ac_lb_xor(b, x, ac_lb_like_int(b, x, 128));
}

static void put(const ac_panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const int32_t n = p->unit;
    const ac_x i = ac_lb_for(b, "i", begin, end, 1, AC_MARK_SERIAL);
    ac_x at = ac_lb_mul(b, ac_lb_add(b, i, shift), ac_lb_i32(b, n * p->k_step));
    at = ac_lb_add(b, at, ac_lb_mul(b, r, ac_lb_i32(b, p->r_step)));
    (void)pixels;
    ac_x x = ac_lb_splat(b, ac_lb_int(b, AC_I8, p->c->zx), n);
    if (from >= 0)
        x = ac_lb_load_flags(b, from, ac_lb_mul(b, ac_lb_add(b, base, i), ac_lb_i32(b, n)), n, AC_F_ALIGNED);
    x = stored(p, x);
    ac_lb_store(b, p->line, at, x);
    if (p->biased && from >= 0) { /* former zero points become x */
        ac_x sum = ac_lb_sub(b, ac_lb_get(b, p->sum), ac_lb_i32(b, (int64_t)n * (p->c->zx + 128)));
        for (int32_t l = 0; l < n; l++)
            sum = ac_lb_add(b, sum, ac_lb_cast(b, n > 1 ? ac_lb_lane(b, x, l) : x, AC_I32));
        ac_lb_set(b, p->sum, sum);
    }
    ac_lb_end(b);
}

/* The sum of a pixel of zero points; the end of the last step, which does not affect sums. */
static void open_pixel(const ac_panel *p, ac_x r)
{
    ac_lb *b = &p->L->b;
    if (p->biased)
        ac_lb_set(b, p->sum, ac_lb_i32(b, p->depth * (p->c->zx + 128)));
    for (int64_t k = p->depth; k < p->steps * p->step; k++)
        ac_lb_store(b, p->line, ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, p->r_step)), ac_lb_i32(b, k)),
                    ac_lb_int(b, p->biased ? AC_U8 : AC_I8, 0));
}

/* ------------------------------------------------------------------ tiles */

static ac_x load_x(const ac_panel *p, ac_x at, int32_t r, int32_t u)
{
    ac_lb *b = &p->L->b;
    const ac_x x = ac_lb_load(b, p->line, ac_lb_add(b, at, ac_lb_i32(b, r * p->r_step + u)), 1);
    return ac_lb_cast(b, x, AC_I32);
}

static ac_x load_w(const ac_panel *p, ac_x at, int32_t c, int32_t u)
{
    ac_lb *b = &p->L->b;
    return ac_lb_cast(b, ac_lb_load(b, p->w, ac_lb_add(b, at, ac_lb_i32(b, u * p->channels + c)), 1), AC_I32);
}

/* Products of element k + u of all pixels and channels; the fewer of them are held in registers. */
static void products(const ac_panel *p, const ac_x *acc, int32_t pixels, ac_x x_at, ac_x w_at, int32_t u)
{
    ac_lb *b = &p->L->b;
    const bool hold_x = pixels < p->channels;
    const int32_t few = hold_x ? pixels : p->channels, many = hold_x ? p->channels : pixels;
    ac_x held[8];
    for (int32_t i = 0; i < few; i++)
        held[i] = hold_x ? load_x(p, x_at, i, u) : load_w(p, w_at, i, u);
    for (int32_t i = 0; i < many; i++) {
        const ac_x v = hold_x ? load_w(p, w_at, i, u) : load_x(p, x_at, i, u);
        for (int32_t j = 0; j < few; j++) {
            const ac_x a = acc[hold_x ? i * pixels + j : j * pixels + i];
            ac_lb_set(b, a, ac_lb_add(b, ac_lb_get(b, a), ac_lb_mul(b, held[j], v)));
        }
    }
}

static void biased_sums(const ac_panel *p, ac_x oc)
{
    ac_lb *b = &p->L->b;
    const ac_x start = ac_lb_mul(b, ac_lb_get(b, p->sum), ac_lb_i32(b, -128));
    for (int32_t i = 0; i < p->channels; i++)
        ac_lb_store(b, p->acc, ac_lb_i32(b, i), start);
    const ac_tile t = {.form = AC_TILE_UNSIGNED,
                       .rows = 1,
                       .channels = p->channels,
                       .depth = p->step,
                       .x = p->line,
                       .w = p->w,
                       .acc = p->acc};
    ac_lb_tile(b, t, ac_lb_i32(b, 0), ac_lb_mul(b, oc, p->k.block_bytes), p->k.steps);
}

/* The sums of a block of channels, into p->acc. */
static void sums(const ac_panel_place *to, int32_t pixels, ac_x oc)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    ac_x acc[16];
    const int32_t n = pixels * p->channels;
    if (p->biased) {
        biased_sums(p, oc);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        acc[i] = ac_lb_var(b, "a", ac_lb_i32(b, 0));
    const ac_x w_at = ac_lb_mul(b, oc, p->k.block_bytes);
    const ac_x k = ac_lb_for(b, "k", ac_lb_i32(b, 0), ac_lb_i32(b, (p->steps * p->step)), p->step, AC_MARK_SERIAL);
    const ac_x x_k =
        ac_lb_add(b, p->in_place ? ac_panel_first(to) : ac_lb_i32(b, 0), ac_lb_mul(b, k, ac_lb_i32(b, p->k_step)));
    const ac_x w_k = ac_lb_add(b, w_at, ac_lb_mul(b, k, ac_lb_i32(b, p->channels)));
    for (int32_t u = 0; u < p->step; u++)
        products(p, acc, pixels, x_k, w_k, u);
    ac_lb_end(b);
    for (int32_t i = 0; i < n; i++)
        ac_lb_store(b, p->acc, ac_lb_i32(b, i), ac_lb_get(b, acc[i]));
}

static void block(const ac_panel_place *to, int32_t pixels, ac_x begin, ac_x end, ac_x oc)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    ac_x channels = ac_lb_i32(b, p->channels);
    sums(to, pixels, oc);
    if (p->c->n % p->channels)
        channels = ac_lb_min(b, channels, ac_lb_sub(b, p->k.channels, oc));
    const ac_x c = ac_lb_for(b, "c", ac_lb_i32(b, 0), channels, 1, AC_MARK_SERIAL);
    const ac_x r = ac_lb_for(b, "r", begin, end, 1, AC_MARK_SERIAL);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, c, ac_lb_i32(b, pixels)), r);
    ac_panel_store(to, ac_lb_add(b, to->first, r), ac_lb_add(b, oc, c), ac_lb_load(b, p->acc, at, 1));
    ac_lb_end(b);
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ the choice */

/* Biased: the channels of a block that take the fewest instructions; the last block may have unused ones. More than
 * four are two halves. */
static int32_t best_block(int64_t n, int32_t most)
{
    int32_t best = most;
    for (int32_t c = most; c > 0; c -= c > 4 ? 2 : 1)
        if ((n + c - 1) / c * (3 * c + 1) < (n + best - 1) / best * (3 * best + 1))
            best = c;
    return best;
}

static void prepare(ac_panel *p, int64_t positions)
{
    ac_lower *L = p->L;
    const ac_rows rows = {p->depth, p->depth, 1};
    const shape *s = shape_of(L->target);
    p->pixels = positions < s->pixels ? (int32_t)positions : s->pixels;
    p->channels = positions > 1 ? s->channels : p->c->n % s->alone ? 4 : s->alone;
    p->biased = L->target->mul == AC_MUL_LOW;
    if (p->biased)
        p->channels = best_block(p->c->n, p->channels);
    else if (p->c->n < p->channels)
        p->channels = (int32_t)p->c->n;
    p->step = p->biased ? REACHED / p->channels : positions == 1 ? s->alone_step : s->step;
    p->steps = (p->depth + p->step - 1) / p->step;
    p->step = (int32_t)((p->depth + p->steps - 1) / p->steps);      /* the last step has few unused elements */
    p->unit = p->win.ic % 4 || ac_lo_align(L, p->c->x) < 4 ? 1 : 4; /* bytes at once */
    p->in_place = !p->biased && p->depth % p->step == 0 && ac_panel_reads_pixels(p);
    ac_channel_tables(p->c, p->c->n, &rows, p->c->zx + (p->biased ? 128 : 0));
    p->x = p->line = ac_lo_operand(L, p->c->x);
    p->k_step = 1;
    p->r_step = p->steps * p->step;
    if (!p->in_place) {
        p->line = ac_lo_line(L, "line", p->biased ? AC_U8 : AC_I8, p->r_step * p->pixels);
        if (p->unit == 4 && p->step == 4) {
            p->k_step = p->pixels;
            p->r_step = 4;
        }
    }
    p->acc = ac_lo_local(L, "acc", AC_I32, (int64_t)p->pixels * p->channels);
    if (L->variant & AC_VARIANT_LINE_1 && p->pixels > 1) /* instead of panel_words.c */
        L->out->slower = SLOWER;
    pack_weights(p);
    p->c->line.wraps = p->biased; /* the loops do not show that the sum of X is part of the other one */
    if (p->biased)
        p->sum = ac_lb_var(&L->b, "sum", ac_lb_i32(&L->b, 0));
}

const ac_panel_kind ac_panel_plain = {
    .fits = fits, .prepare = prepare, .open_pixel = open_pixel, .put = put, .block = block};
