/* ac_depthwise_dot.c - int8 depthwise_conv_2d on targets with DOT4: the taps of a column are one dot product.
 *
 * x     [N,H,W,C] i8, multiplier 1            w  [1,KH,KW,C] i8, constant, no zero point
 *
 * Up to four input rows of a column are put into the bytes of 32-bit lanes, one lane a channel ("quad"); each quad
 * meets the KW filter columns, which are packed the same way: [group of four rows][kx][channel][4], zero where rows are
 * missing. A quad is made once and used by every output column of the tile that reaches it:
 *
 *     rows  | r0: a b c ..|  r1: d e f ..|  r2: g h i ..|     quad  a d g 0 | b e h 0 | c f i 0 ..
 *
 * Bytes are stored values + 128 (DOT4 is u8 x i8); 128 and the zero point are in the bias, which needs every tap to be
 * taken. So rows outside the input, whose address is clamped to a row inside, are replaced by zero points in the quad
 * (mask and fill are made once for each output row), and columns outside are constant quads: tiles that touch a border
 * are written out, those between are a loop.
 *
 * All of that is written out at most twice: where channels are not a multiple of the lanes, vectors overlap, and some
 * channels are computed twice. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/spans.h"

enum { COLUMNS = 7, TAPS_X = 9, TAPS_Y = 12, GROUP = 4, GROUPS = TAPS_Y / GROUP };

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    int32_t x, w;  /* buffers */
    int32_t lanes; /* of the present span */
    int32_t groups;
    bool rows_inside; /* no output row reaches outside */
    ac_x n, oy, oc;
    ac_x row[TAPS_Y];                /* element index of each input row at column 0, channel 0 */
    ac_x mask[GROUPS], fill[GROUPS]; /* of quads, u32 */
} job;

static int64_t rows_of(const job *j, int32_t group)
{
    const int64_t left = j->win->y.taps - group * GROUP;
    return left < GROUP ? left : GROUP;
}

/* [group][kx][channel][4] */
static int32_t pack(const job *j)
{
    const ac_window *win = j->win;
    const int64_t kx_n = win->x.taps, oc_n = win->oc;
    ac_lower P;
    const int32_t to = ac_lo_pack_open(j->L, &P, "w", AC_I8, j->groups * kx_n * oc_n * GROUP);
    ac_lb *b = &P.b;
    const int32_t from = ac_lo_operand(&P, j->c->w);
    ac_x kx = ac_lb_for_n(b, "kx", kx_n), oc = ac_lb_for_n(b, "oc", oc_n);
    for (int32_t ky = 0; ky < j->groups * GROUP; ky++) {
        ac_x column =
            ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, kx, ac_lb_i32(b, ky / GROUP * kx_n)), ac_lb_i32(b, oc_n)), oc);
        ac_x tap = ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, kx, ac_lb_i32(b, ky * kx_n)), ac_lb_i32(b, oc_n)), oc);
        ac_x v = ky < win->y.taps ? ac_lb_load(b, from, tap, 1) : ac_lb_int(b, AC_I8, 0);
        ac_lb_store(b, to, ac_lb_add(b, ac_lb_mul(b, column, ac_lb_i32(b, GROUP)), ac_lb_i32(b, ky % GROUP)), v);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(j->L, &P);
}

static uint32_t zero_byte(const job *j)
{
    return (uint32_t)(j->c->zx + 128) & 0xff;
}

/* Input rows of output row oy; what tells their bytes from zero points: (quad & mask) ^ fill. */
static void open_rows(job *j)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    const ac_x most = ac_lb_i32(b, win->y.in - 1);
    for (int32_t g = 0; g < j->groups; g++) {
        j->mask[g] = j->fill[g] = ac_lb_int(b, AC_U32, 0);
        for (int32_t k = 0; k < rows_of(j, g); k++) {
            const int32_t ky = g * GROUP + k, shift = 8 * k;
            ac_x iy = ac_slide_at(b, &win->y, j->oy, ac_lb_i32(b, ky)),
                 inside = ac_lb_clamp(b, iy, ac_lb_i32(b, 0), most);
            if (j->rows_inside)
                inside = iy;
            const ac_x here = ac_lb_eq(b, inside, iy);
            const ac_x all = ac_lb_int(b, AC_U32, (int64_t)0xff << shift), none = ac_lb_int(b, AC_U32, 0);
            const ac_x flip = ac_lb_int(b, AC_U32, (int64_t)0x80 << shift);
            const ac_x zero = ac_lb_int(b, AC_U32, (int64_t)zero_byte(j) << shift);
            j->mask[g] = ac_lb_or(b, j->mask[g], ac_lb_select(b, here, all, none));
            j->fill[g] = ac_lb_or(b, j->fill[g], ac_lb_select(b, here, flip, zero));
            inside = ac_lb_add(b, inside, ac_lb_mul(b, j->n, ac_lb_i32(b, win->y.in)));
            j->row[ky] = ac_lb_mul(b, inside, ac_lb_i32(b, win->x.in * win->ic));
        }
    }
}

/* The quad of input column ix (a constant at borders) for the present channels. */
static ac_x quad(const job *j, int32_t g, ac_x ix)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    int64_t known;
    if (ac_lb_const_int(b, ix, &known) && (known < 0 || known >= win->x.in)) {
        const uint32_t z = zero_byte(j) * 0x01010101u;
        return ac_lb_bitcast(b, ac_lb_splat(b, ac_lb_int(b, AC_U32, (int64_t)z), j->lanes), AC_U8);
    }
    ac_x q = 0;
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, ix, ac_lb_i32(b, win->ic)), j->oc);
    for (int32_t k = 0; k < rows_of(j, g); k++) {
        ac_x v = ac_lb_load(b, j->x, ac_lb_add(b, j->row[g * GROUP + k], at), j->lanes);
        v = ac_lb_cast(b, ac_lb_bitcast(b, v, AC_U8), AC_U32);
        v = ac_lb_shl(b, v, ac_lb_like_int(b, v, 8 * k));
        q = q ? ac_lb_or(b, q, v) : v;
    }
    if (!j->rows_inside)
        q = ac_lb_and(b, q, ac_lb_splat(b, j->mask[g], j->lanes));
    return ac_lb_bitcast(b, ac_lb_xor(b, q, ac_lb_splat(b, j->fill[g], j->lanes)), AC_U8);
}

/* `n` output columns from ox on. */
static void tile(const job *j, ac_x ox, int32_t n)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sx = &j->win->x;
    const int64_t reach = (n - 1) * sx->stride + (sx->taps - 1) * sx->dil;
    ac_x acc[COLUMNS], w[TAPS_X];
    for (int32_t i = 0; i < n; i++)
        acc[i] = ac_lb_var(b, "acc", ac_channel_start(j->c, j->oc, j->lanes));
    const ac_x first = ac_slide_at(b, sx, ox, ac_lb_i32(b, 0));
    for (int32_t g = 0; g < j->groups; g++) {
        for (int32_t k = 0; k < sx->taps; k++) {
            ac_x at =
                ac_lb_mul(b, ac_lb_add(b, j->oc, ac_lb_i32(b, (g * sx->taps + k) * j->win->oc)), ac_lb_i32(b, GROUP));
            w[k] = ac_lb_load(b, j->w, at, j->lanes * GROUP);
        }
        for (int64_t at = 0; at <= reach; at++) {
            ac_x q = 0;
            for (int32_t i = 0; i < n; i++) {
                const int64_t k = at - i * sx->stride;
                if (k < 0 || k % sx->dil || k / sx->dil >= sx->taps)
                    continue;
                if (!q)
                    q = quad(j, g, ac_lb_add(b, first, ac_lb_i32(b, at)));
                ac_lb_set(b, acc[i], ac_lb_dot4(b, q, w[k / sx->dil], ac_lb_get(b, acc[i])));
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        ac_x idx[4] = {j->n, j->oy, ac_lb_add(b, ox, ac_lb_i32(b, i)), j->oc};
        ac_gemm_store_lanes(j->L, ac_channel_done(j->c, ac_lb_get(b, acc[i]), j->oc), j->oc, j->lanes, idx);
    }
}

/* Tiles whose columns are all inside are loops. */
static void columns(const job *j, const ac_gemm_cuts *cuts)
{
    ac_lb *b = &j->L->b;
    int64_t begin, end;
    ac_slide_interior(&j->win->x, &begin, &end);
    for (int32_t s = 0; s < 2; s++) {
        const int64_t size = cuts->size[s], at = cuts->first[s];
        int64_t lo = 0, hi = cuts->count[s];
        for (; lo < hi && at + lo * size < begin; lo++)
            tile(j, ac_lb_i32(b, at + lo * size), (int32_t)size);
        while (hi > lo && at + hi * size > end)
            hi--;
        if (lo < hi) {
            ac_x t = ac_lb_for(b, "t", ac_lb_i32(b, lo), ac_lb_i32(b, hi), 1, AC_MARK_SERIAL);
            tile(j, ac_lb_add(b, ac_lb_mul(b, t, ac_lb_i32(b, size)), ac_lb_i32(b, at)), (int32_t)size);
            ac_lb_end(b);
        }
        for (; hi < cuts->count[s]; hi++)
            tile(j, ac_lb_i32(b, at + hi * size), (int32_t)size);
    }
}

static ac_gemm_cuts cut(const ac_lower *L, const ac_window *win)
{
    return ac_gemm_cut(win->x.out, L->target->registers >= 32 ? COLUMNS : 4);
}

bool ac_depthwise_dot_fits(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    if (!L->target->dot_u8s8 || c->kind != AC_MACS_I8 || c->zw || win->oc != win->ic || win->oc < 4)
        return false;
    if (!ac_tensor_is_const(c->w) || (c->bias && !ac_tensor_is_const(c->bias)))
        return false;
    if (win->x.taps > TAPS_X || win->y.taps > TAPS_Y || win->y.in < 1 || win->x.in < 1)
        return false;
    /* Borders wider than a tile would be written out many times. */
    int64_t begin, end;
    ac_slide_interior(&win->x, &begin, &end);
    const int64_t size = cut(L, win).size[0];
    return begin <= size && win->x.out - end <= size;
}

/* Channels begin .. end, a vector every `step` of them. */
static void vectors(job *j, const ac_gemm_cuts *cuts, int64_t begin, int64_t end, int64_t step, int32_t lanes)
{
    ac_lb *b = &j->L->b;
    const ac_mark mark = step < lanes ? AC_MARK_SERIAL : AC_MARK_PARALLEL;
    j->lanes = lanes;
    j->oc = ac_lb_for(b, "c", ac_lb_i32(b, begin), ac_lb_i32(b, end - lanes + 1), (int32_t)step, mark);
    columns(j, cuts);
    ac_lb_end(b);
}

/* Every channel once: whole vectors, and ever narrower ones. */
static void apart(job *j, const ac_gemm_cuts *cuts, int32_t lanes)
{
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(j->win->oc, lanes, span);
    for (int32_t s = 0; s < spans; s++)
        vectors(j, cuts, span[s].begin, span[s].end, span[s].lanes, span[s].lanes);
}

/* Whole vectors, of which neighbours overlap alike, or the last one the one before it. */
static void overlapping(job *j, const ac_gemm_cuts *cuts, int32_t lanes)
{
    const int64_t n = j->win->oc, whole = n / lanes * lanes, rest = n - lanes, steps = (rest + lanes - 1) / lanes;
    if (rest % steps == 0) {
        vectors(j, cuts, 0, n, rest / steps, lanes);
        return;
    }
    vectors(j, cuts, 0, whole, lanes, lanes);
    vectors(j, cuts, rest, n, lanes, lanes);
}

/* Half a vector at the end takes less time than a whole one, anything else more. Fused operators may overwrite what
 * they read, so that nothing can be computed twice. */
static void channels(job *j, const ac_gemm_cuts *cuts)
{
    const int64_t n = j->win->oc;
    int32_t lanes = ac_target_lanes(j->L->target, AC_I32);
    while (lanes > n)
        lanes /= 2;
    if (j->L->node->n_fused || n % lanes * 2 % lanes == 0)
        apart(j, cuts, lanes);
    else
        overlapping(j, cuts, lanes);
}

int ac_depthwise_dot(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    job j = {.L = L, .c = c, .win = win, .rows_inside = ac_slide_inside(&win->y)};
    j.groups = (int32_t)((win->y.taps + GROUP - 1) / GROUP);
    const ac_rows rows = {win->y.taps * win->x.taps, 1, win->oc};
    ac_channel_tables(c, c->n, &rows, c->zx + 128);
    j.x = ac_lo_operand(L, c->x);
    j.w = pack(&j);
    const ac_gemm_cuts cuts = cut(L, win);
    j.n = ac_lb_for_each(b, "n", win->n);
    j.oy = ac_lb_for_each(b, "oy", win->y.out);
    open_rows(&j);
    channels(&j, &cuts);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
