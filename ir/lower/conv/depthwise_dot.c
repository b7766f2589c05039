/* depthwise_dot.c - int8 depthwise_conv_2d on targets with DOT4, or with DOT2 of vectors: the taps of a column are one
 * dot product.
 *
 * x [N,H,W,C] i8 or u8, multiplier 1 w [1,KH,KW,C] constant: i8; with DOT2 also i16 and u8, and a zero point
 *
 * Up to four input rows of a column are put into the bytes of 32-bit lanes, one lane a channel ("quad"); each quad
 * meets the KW filter columns, which are packed the same way: [group of four rows][kx][channel][4], zero where rows are
 * missing. A quad is built once and used by every output column of the tile that reaches it:
 *
 *     rows  | r0: a b c ..|  r1: d e f ..|  r2: g h i ..|     quad  a d g 0 | b e h 0 | c f i 0 ..
 *
 * Bytes of i8 are stored values + 128 (DOT4 is u8 x i8); 128 and the zero point are folded into the bias, which
 * requires that every tap is computed. With DOT2 a "quad" is two rows in 16-bit halves, as they are stored: its bytes
 * are interleaved, then widened.
 *
 * So rows outside the input, whose address is clamped to a row inside, are replaced by zero points in the quad
 * (mask and fill are made once for each output row), and columns outside are constant quads: tiles that touch a border
 * are written out, those between are a loop.
 *
 * Filters of more than two quads of rows (5x5 with DOT2, 9x9) loop over them, which makes half or a third of
 * the code; fewer are written out.
 *
 * All of that is written out once for all channels: where they are not a multiple of the lanes, vectors overlap, and
 * some channels are computed twice. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/spans.h"
#include "ir/lower/lower.h"

enum { COLUMNS = 7, TAPS_X = 9, TAPS_Y = 12, ROWS = 4, WRITTEN_OUT = 2, LANES = 16 };

/* The rows of a quad. */
typedef struct quad_rows {
    ac_x row[ROWS]; /* element index of each input row at column 0, channel 0 */
    int32_t n;
    ac_x mask, fill; /* u32: (quad & mask) ^ fill */
} quad_rows;

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    int32_t x, w;  /* buffers */
    int32_t lanes; /* of the present span */
    int32_t group; /* rows of a quad: 4, or 2 */
    int32_t groups;
    bool rows_inside; /* no output row reaches outside */
    ac_x n, oy, oc;
    int32_t stage;             /* local buffer: accumulators of a row, for the present channels; -1: none */
    quad_rows of[WRITTEN_OUT]; /* of quads that are written out */
} job;

static int64_t rows_of(const job *j, int32_t group)
{
    const int64_t left = j->win->y.taps - group * j->group;
    return left < j->group ? left : j->group;
}

/* True if weights are packed as bytes. Other types, and weights with a zero point, are packed as halves. */
static bool bytes(const ac_channel *c)
{
    return c->w->dtype == AC_I8 && !c->zw;
}

/* The offset added to values for DOT4, which multiplies them as u8. */
static int32_t raised(const job *j)
{
    return j->group == 4 && j->c->x->dtype == AC_I8 ? 128 : 0;
}

/* [group][kx][channel][rows of a group] */
static int32_t pack(const job *j)
{
    const ac_window *win = j->win;
    const int64_t kx_n = win->x.taps, oc_n = win->oc;
    const ac_dtype d = bytes(j->c) ? AC_I8 : AC_I16;
    ac_lower P;
    const int32_t to = ac_lo_pack_open(j->L, &P, "w", d, j->groups * kx_n * oc_n * j->group);
    ac_lb *b = &P.b;
    const int32_t from = ac_lo_operand(&P, j->c->w);
    ac_x kx = ac_lb_for_n(b, "kx", kx_n), oc = ac_lb_for_n(b, "oc", oc_n);
    for (int32_t ky = 0; ky < j->groups * j->group; ky++) {
        ac_x column =
            ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, kx, ac_lb_i32(b, ky / j->group * kx_n)), ac_lb_i32(b, oc_n)), oc);
        ac_x tap = ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, kx, ac_lb_i32(b, ky * kx_n)), ac_lb_i32(b, oc_n)), oc);
        ac_x v = ac_lb_int(b, d, 0);
        if (ky < win->y.taps) {
            v = ac_lb_load(b, from, tap, 1);
            if (d == AC_I16)
                v = ac_lb_sub(b, ac_lb_cast(b, v, AC_I16), ac_lb_int(b, AC_I16, j->c->zw));
        }
        ac_lb_store(b, to, ac_lb_add(b, ac_lb_mul(b, column, ac_lb_i32(b, j->group)), ac_lb_i32(b, ky % j->group)), v);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(j->L, &P);
}

/* A row of zero points, for each position in a quad. */
static uint32_t zero_rows(const job *j)
{
    const uint32_t zero = (uint32_t)(j->c->zx + raised(j));
    return j->group == 4 ? (zero & 0xff) * 0x01010101u : (zero & 0xffff) * 0x00010001u;
}

/* The 32 bits of a quad as an operand of DOT4 or DOT2. */
static ac_x as_rows(const job *j, ac_x quad)
{
    return ac_lb_bitcast(&j->L->b, quad, j->group == 4 ? AC_U8 : AC_I16);
}

/* Input row of output row oy and filter row ky, the k-th of a quad; the mask between its bytes and zero points. */
static void open_row(const job *j, ac_x ky, int32_t k, quad_rows *r)
{
    ac_lb *b = &j->L->b;
    const ac_slide *y = &j->win->y;
    const int32_t bits = 32 / j->group;
    const int64_t place = (((int64_t)1 << bits) - 1) << bits * k;
    const ac_x iy = ac_slide_at(b, y, j->oy, ky);
    const ac_x inside = j->rows_inside ? iy : ac_lb_clamp(b, iy, ac_lb_i32(b, 0), ac_lb_i32(b, y->in - 1));
    const ac_x here = ac_lb_eq(b, inside, iy), all = ac_lb_int(b, AC_U32, place), none = ac_lb_int(b, AC_U32, 0);
    const ac_x flip = ac_lb_int(b, AC_U32, raised(j) ? place & 0x80808080 : 0);
    const ac_x zero = ac_lb_int(b, AC_U32, place & zero_rows(j));
    r->mask = ac_lb_or(b, r->mask, ac_lb_select(b, here, all, none));
    r->fill = ac_lb_or(b, r->fill, ac_lb_select(b, here, flip, zero));
    const ac_x from = ac_lb_add(b, inside, ac_lb_mul(b, j->n, ac_lb_i32(b, y->in)));
    r->row[k] = ac_lb_mul(b, from, ac_lb_i32(b, j->win->x.in * j->win->ic));
}

/* Quad g, a constant or a value; the last one may have n < group rows. */
static quad_rows open_rows(const job *j, ac_x g, int32_t n)
{
    ac_lb *b = &j->L->b;
    const ac_x none = ac_lb_int(b, AC_U32, 0), last = ac_lb_i32(b, j->win->y.taps - 1);
    quad_rows r = {.n = n, .mask = none, .fill = none};
    for (int32_t k = 0; k < n; k++) { /* beyond the filter: any row, its weight is zero */
        const ac_x ky = ac_lb_add(b, ac_lb_mul(b, g, ac_lb_i32(b, j->group)), ac_lb_i32(b, k));
        open_row(j, ac_lb_min(b, ky, last), k, &r);
    }
    return r;
}

/* Unrolled quads are opened once for all tiles of output row oy. */
static void open_output_row(job *j)
{
    if (j->groups > WRITTEN_OUT)
        return;
    for (int32_t g = 0; g < j->groups; g++)
        j->of[g] = open_rows(j, ac_lb_i32(&j->L->b, g), (int32_t)rows_of(j, g));
}

/* Up to four rows from element `at` of each on, as bytes of u32. */
static ac_x bytes_of(const job *j, const quad_rows *r, ac_x at)
{
    ac_lb *b = &j->L->b;
    ac_x q = 0;
    for (int32_t k = 0; k < r->n; k++) {
        ac_x v = ac_lb_load(b, j->x, ac_lb_add(b, r->row[k], at), j->lanes);
        v = ac_lb_cast(b, ac_lb_bitcast(b, v, AC_U8), AC_U32);
        v = ac_lb_shl(b, v, ac_lb_like_int(b, v, 8 * k));
        q = q ? ac_lb_or(b, q, v) : v;
    }
    return q;
}

/* One row or two as halves of u32; the upper half of a single row is undefined, since its weight is zero. */
static ac_x halves_of(const job *j, const quad_rows *r, ac_x at)
{
    ac_lb *b = &j->L->b;
    const ac_x v = ac_lb_load(b, j->x, ac_lb_add(b, r->row[0], at), j->lanes);
    if (r->n < 2)
        return ac_lb_bitcast(b, ac_lb_cast(b, v, AC_I32), AC_U32);
    int64_t order[2 * LANES];
    for (int32_t l = 0; l < 2 * j->lanes; l++)
        order[l] = ac_zip_lane(l, j->lanes);
    const ac_x w = ac_lb_load(b, j->x, ac_lb_add(b, r->row[1], at), j->lanes);
    return ac_lb_bitcast(b, ac_lb_cast(b, ac_lb_shuffle(b, v, w, order, 2 * j->lanes), AC_I16), AC_U32);
}

/* The quad of input column ix (a constant at borders) for the present channels. */
static ac_x quad(const job *j, const quad_rows *r, ac_x ix)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    int64_t known;
    if (ac_lb_const_int(b, ix, &known) && (known < 0 || known >= win->x.in))
        return as_rows(j, ac_lb_splat(b, ac_lb_int(b, AC_U32, (int64_t)zero_rows(j)), j->lanes));
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, ix, ac_lb_i32(b, win->ic)), j->oc);
    ac_x q = j->group == 4 ? bytes_of(j, r, at) : halves_of(j, r, at);
    if (!j->rows_inside)
        q = ac_lb_and(b, q, ac_lb_splat(b, r->mask, j->lanes));
    if (!j->rows_inside || raised(j))
        q = ac_lb_xor(b, q, ac_lb_splat(b, r->fill, j->lanes));
    return as_rows(j, q);
}

/* Adds quad g, whose rows are r, to the sums of n columns; the window of the first one begins at column `first`. */
static void add_quad(const job *j, ac_x g, const quad_rows *r, ac_x first, int32_t n, const ac_x *acc)
{
    ac_lb *b = &j->L->b;
    const ac_slide *sx = &j->win->x;
    const int64_t reach = (n - 1) * sx->stride + (sx->taps - 1) * sx->dil;
    ac_x w[TAPS_X];
    for (int32_t k = 0; k < sx->taps; k++) {
        const ac_x column = ac_lb_add(b, ac_lb_mul(b, g, ac_lb_i32(b, sx->taps)), ac_lb_i32(b, k));
        const ac_x at = ac_lb_add(b, j->oc, ac_lb_mul(b, column, ac_lb_i32(b, j->win->oc)));
        w[k] = ac_lb_load(b, j->w, ac_lb_mul(b, at, ac_lb_i32(b, j->group)), j->lanes * j->group);
        if (j->group == 2 && bytes(j->c))
            w[k] = ac_lb_cast(b, w[k], AC_I16);
    }
    for (int64_t at = 0; at <= reach; at++) {
        ac_x q = 0;
        for (int32_t i = 0; i < n; i++) {
            const int64_t k = at - i * sx->stride;
            if (k < 0 || k % sx->dil || k / sx->dil >= sx->taps)
                continue;
            if (!q)
                q = quad(j, r, ac_lb_add(b, first, ac_lb_i32(b, at)));
            const ac_x sum = ac_lb_get(b, acc[i]), v = w[k / sx->dil];
            ac_lb_set(b, acc[i], j->group == 4 ? ac_lb_dot4(b, q, v, sum) : ac_lb_dot2(b, q, v, sum));
        }
    }
}

/* The accumulators of output column ox are complete. */
static void finish(const job *j, ac_x ox, ac_x sum)
{
    ac_x idx[4] = {j->n, j->oy, ox, j->oc};
    ac_gemm_store_lanes(j->L, ac_channel_done(j->c, sum, j->oc), j->oc, j->lanes, idx);
}

/* `n` output columns from ox on. */
static void tile(const job *j, ac_x ox, int32_t n)
{
    ac_lb *b = &j->L->b;
    ac_x acc[COLUMNS];
    for (int32_t i = 0; i < n; i++)
        acc[i] = ac_lb_var(b, "acc", ac_channel_start(j->c, j->oc, j->lanes));
    const ac_x first = ac_slide_at(b, &j->win->x, ox, ac_lb_i32(b, 0));
    if (j->groups > WRITTEN_OUT) {
        const ac_x g = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, j->groups), 1, AC_MARK_SERIAL);
        const quad_rows r = open_rows(j, g, j->group);
        add_quad(j, g, &r, first, n, acc);
        ac_lb_end(b);
    } else {
        for (int32_t g = 0; g < j->groups; g++)
            add_quad(j, ac_lb_i32(b, g), &j->of[g], first, n, acc);
    }
    for (int32_t i = 0; i < n; i++) {
        const ac_x at = ac_lb_add(b, ox, ac_lb_i32(b, i)), sum = ac_lb_get(b, acc[i]);
        if (j->stage >= 0)
            ac_lb_store(b, j->stage, ac_lb_mul(b, at, ac_lb_i32(b, j->lanes)), sum);
        else
            finish(j, at, sum);
    }
}

/* Integer requantisation is as long as the sums themselves: the sums of a row are stored on the stack, and one loop
 * finishes them. */
static bool has_stage(const job *j, int32_t lanes)
{
    enum { STACK = 4096 };
    const bool integers = (j->c->kind == AC_MACS_I8 || j->c->kind == AC_MACS_U8) && !j->c->flt;
    return integers && ac_dtype_size(AC_I32, j->win->x.out * lanes) <= STACK;
}

static void finish_row(const job *j)
{
    ac_lb *b = &j->L->b;
    const ac_x ox = ac_lb_for_n(b, "ox", j->win->x.out);
    finish(j, ox, ac_lb_load(b, j->stage, ac_lb_mul(b, ox, ac_lb_i32(b, j->lanes)), j->lanes));
    ac_lb_end(b);
}

/* Adjacent tiles of one size. */
typedef struct tiles {
    int64_t first, size, count;
} tiles;
enum { TILES = 3 };

/* All tiles, in the order that unrolls the fewest: if there are two of a size, one is at each end. */
static int32_t order(const ac_gemm_cuts *cuts, tiles to[TILES])
{
    for (int32_t s = 0; s < 2; s++) {
        const int64_t end = cuts->size[s], other = cuts->size[1 - s], n = cuts->count[1 - s];
        if (cuts->count[s] != 2 || n < 2)
            continue;
        to[0] = (tiles){0, end, 1};
        to[1] = (tiles){end, other, n};
        to[2] = (tiles){end + n * other, end, 1};
        return 3;
    }
    for (int32_t s = 0; s < 2; s++)
        to[s] = (tiles){cuts->first[s], cuts->size[s], cuts->count[s]};
    return 2;
}

/* Tiles whose columns are all inside are loops. */
static void columns(const job *j, const ac_gemm_cuts *cuts)
{
    ac_lb *b = &j->L->b;
    int64_t begin, end;
    ac_slide_interior(&j->win->x, &begin, &end);
    tiles all[TILES];
    const int32_t n = order(cuts, all);
    for (int32_t k = 0; k < n; k++) {
        const int64_t size = all[k].size, at = all[k].first;
        int64_t lo = 0, hi = all[k].count;
        for (; lo < hi && at + lo * size < begin; lo++)
            tile(j, ac_lb_i32(b, at + lo * size), (int32_t)size);
        while (hi > lo && at + hi * size > end)
            hi--;
        if (lo < hi) {
            ac_x t = ac_lb_for(b, "t", ac_lb_i32(b, lo), ac_lb_i32(b, hi), 1, AC_MARK_SERIAL);
            tile(j, ac_lb_add(b, ac_lb_mul(b, t, ac_lb_i32(b, size)), ac_lb_i32(b, at)), (int32_t)size);
            ac_lb_end(b);
        }
        for (; hi < all[k].count; hi++)
            tile(j, ac_lb_i32(b, at + hi * size), (int32_t)size);
    }
    if (j->stage >= 0)
        finish_row(j);
}

static ac_gemm_cuts cut(const ac_lower *L, const ac_window *win)
{
    return ac_gemm_cut(win->x.out, L->target->registers >= 32 ? COLUMNS : 4);
}

/* Rows of a quad; 0: the target multiplies one pair at a time. */
static int32_t rows_at_once(const ac_lower *L, const ac_channel *c)
{
    if (c->kind != AC_MACS_I8 && c->kind != AC_MACS_U8 && c->kind != AC_MACS_SUM)
        return 0;
    if (L->target->dot_u8s8 && bytes(c))
        return 4;
    return L->target->vec_bytes && ac_target_pairs(L->target) ? 2 : 0;
}

bool ac_depthwise_dot_fits(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    if (!rows_at_once(L, c) || win->oc != win->ic || win->oc < 4)
        return false;
    if (!ac_tensor_is_const(c->w) || (c->bias && !ac_tensor_is_const(c->bias)))
        return false;
    if (win->x.taps > TAPS_X || win->y.taps > TAPS_Y || win->y.in < 1 || win->x.in < 1)
        return false;
    /* Borders wider than a tile would be unrolled many times. */
    int64_t begin, end;
    ac_slide_interior(&win->x, &begin, &end);
    const int64_t size = cut(L, win).size[0];
    return begin <= size && win->x.out - end <= size;
}

/* Every channel once: whole vectors, and ever narrower ones. */
static void apart(job *j, const ac_gemm_cuts *cuts, int32_t lanes)
{
    ac_lb *b = &j->L->b;
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(j->win->oc, lanes, span);
    for (int32_t s = 0; s < spans; s++) {
        j->lanes = span[s].lanes;
        j->oc = ac_lb_for(b, "c", ac_lb_i32(b, span[s].begin), ac_lb_i32(b, span[s].end), j->lanes, AC_MARK_PARALLEL);
        columns(j, cuts);
        ac_lb_end(b);
    }
}

/* Whole vectors: either all neighbours overlap by the same amount, or the last one overlaps the one before it. */
static void overlapping(job *j, const ac_gemm_cuts *cuts, int32_t lanes)
{
    ac_lb *b = &j->L->b;
    const int64_t rest = j->win->oc - lanes, steps = (rest + lanes - 1) / lanes;
    const bool alike = rest % steps == 0;
    const int32_t step = alike ? (int32_t)(rest / steps) : lanes;
    const ac_x last = ac_lb_i32(b, rest);
    j->lanes = lanes;
    j->oc = ac_lb_for(b, "c", ac_lb_i32(b, 0), ac_lb_i32(b, steps * step + 1), step, AC_MARK_SERIAL);
    if (!alike)
        j->oc = ac_lb_min(b, j->oc, last);
    columns(j, cuts);
    ac_lb_end(b);
}

static int32_t most_lanes(const job *j)
{
    int32_t lanes = ac_target_lanes(j->L->target, AC_I32);
    while (lanes > j->win->oc)
        lanes /= 2;
    return lanes;
}

/* Fused operators may overwrite their operands, so no element may be computed twice. */
static void channels(job *j, const ac_gemm_cuts *cuts)
{
    const int64_t n = j->win->oc;
    const int32_t lanes = most_lanes(j);
    if (j->L->node->n_fused || n % lanes == 0)
        apart(j, cuts, lanes);
    else
        overlapping(j, cuts, lanes);
}

int ac_depthwise_dot(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    job j = {.L = L, .c = c, .win = win, .rows_inside = ac_slide_inside(&win->y), .stage = -1};
    j.group = rows_at_once(L, c);
    j.groups = (int32_t)((win->y.taps + j.group - 1) / j.group);
    const ac_rows rows = {win->y.taps * win->x.taps, 1, win->oc};
    ac_channel_tables(c, c->n, &rows, c->zx + raised(&j));
    j.x = ac_lo_operand(L, c->x);
    j.w = pack(&j);
    const int32_t lanes = most_lanes(&j);
    if (has_stage(&j, lanes))
        j.stage = ac_lo_local(L, "stage", AC_I32, win->x.out * lanes);
    const ac_gemm_cuts cuts = cut(L, win);
    j.n = ac_lb_for_each(b, "n", win->n);
    j.oy = ac_lb_for_each(b, "oy", win->y.out);
    open_output_row(&j);
    channels(&j, &cuts);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
