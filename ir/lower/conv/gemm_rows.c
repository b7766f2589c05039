/* gemm_rows.c - multiplies rows by a constant matrix: fully_connected, and 1x1 convolutions whose pixels are
 * contiguous.
 *
 * x  [rows, depth]  f32, i8, u8, i16, or f32 quantised at run time (fully_connected: row by row)
 * w  [n, depth], packed (gemm_pack.c)
 *
 * Few weights: tiles of rows are outside, blocks of channels inside; rows are read once, the weights stay in the first
 * cache. More weights than that: panels of rows, as many as fit the second cache, outside; then blocks; tiles inside. A
 * block's weights are loaded from memory once, during the tiles of the previous block. Rows that need conversion stay
 * outside; rows a multiple of a page apart are copied first, a panel at a time.
 *
 * AMX: the same loops around AC_TILE_MATRIX, i8 rows by packed i8 weights; sums go to the stage. */
#include "ir/loop/tiles.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/matrix.h"

enum { HYBRID_TILES = 8 }; /* at least */

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    ac_gemm_form f;
    int32_t x, strip, w; /* buffers; strip -1: rows are read from x */
    int64_t depth;
    int64_t stride; /* from row to row in the strip, or in x */
    ac_x origin;    /* first row of a strip of several tiles; 0: the strip is that of one tile */
    ac_gemm_cuts tiles;
    ac_x from;           /* first row of a tile that is stored; 0: all are */
    int32_t scale, zero; /* HYBRID, tiles of several rows: buffers of each row's scale and zero point */
} job;

/* If rows collide in the cache; the copy also converts floats of 16 bits. */
static bool copies_panels(const job *j)
{
    return j->c->x->narrowed || ac_gemm_collide(j->c, j->depth, 1, j->f.rows, j->f.n);
}

/* Registers of matrices, in cycles of a processor with AMX, as its manufacturer states them: the configuration of a
 * tile, and a product of 16 rows, 64 bytes and 16 channels. */
enum { MATRIX_ROWS = AC_TILE_MATRIX_ROWS, MATRIX_VECS = 2, CONFIGURED = 217, PRODUCT = 16, MATRIX_LEAST = 16 };

/* True for rows of i8 by constant i8 weights, if a matrix tile takes less time than dot products in vectors (two of 64
 * bytes in a cycle). */
static bool takes_matrices(const ac_lower *L, const ac_channel *c, const ac_gemm_form *f, int64_t rows)
{
    const int64_t tile = rows < MATRIX_ROWS ? rows : MATRIX_ROWS, vecs = ac_gemm_vectors(f) > 1 ? MATRIX_VECS : 1;
    const int64_t blocks = (tile + 15) / 16 * vecs, steps = (f->depth + 63) / 64;
    const int64_t by_matrices = CONFIGURED + blocks * PRODUCT * (steps + 1), by_vectors = tile * vecs * steps * 16 / 2;
    return L->target->amx && c->kind == AC_MACS_I8 && f->group == 4 && f->lanes == 16 && rows >= MATRIX_LEAST &&
           f->depth <= AC_TILE_PITCH && ac_tensor_is_const(c->w) && by_matrices < by_vectors;
}

static void matrix_form(ac_lower *L, ac_gemm_form *f, int64_t rows)
{
    const ac_gemm_cuts tiles = ac_gemm_cut(rows, MATRIX_ROWS);
    f->matrix = true;
    f->strip = AC_I8;
    f->block = ac_gemm_cut(ac_gemm_vectors(f), MATRIX_VECS);
    f->rows = (int32_t)tiles.size[0];
    f->vecs = (int32_t)f->block.size[0];
    const int64_t blocks = (f->rows + 15) / 16 * f->vecs, all = tiles.count[0] + tiles.count[1];
    L->out->schedule.rows = f->rows;
    L->out->schedule.vecs = f->vecs;
    L->out->schedule.cost = (double)(all * (f->block.count[0] + f->block.count[1])) *
                            (double)(CONFIGURED + blocks * PRODUCT * (ac_gemm_steps(f) / 16 + 1));
}

static void matrix_tile(const job *j, ac_gemm_tile *t, ac_x x_at, ac_x p)
{
    ac_lb *b = &j->L->b;
    const ac_tile products = {.form = AC_TILE_MATRIX,
                              .rows = t->rows,
                              .channels = t->vecs * j->f.lanes,
                              .x = t->x_buf,
                              .w = t->w_buf,
                              .acc = ac_gemm_stage(t),
                              .pitch = (int32_t)j->stride};
    ac_lb_tile(b, products, x_at, t->w_at, ac_lb_i32(b, ac_gemm_steps(&j->f) / 16));
    ac_gemm_store_matrix(t, products.acc, p);
}

/* One tile: rows p .. p+rows-1 by the block of class s that begins at channel oc. It is tile `index` of the `tiles` in
 * a row that use the block. */
static void tile(const job *j, ac_x p, int32_t rows, ac_x oc, int32_t s, ac_x index, int64_t tiles)
{
    ac_lb *b = &j->L->b;
    ac_gemm_tile t = {.L = j->L,
                      .f = &j->f,
                      .c = j->c,
                      .x_buf = j->strip >= 0 ? j->strip : j->x,
                      .w_buf = j->w,
                      .rows = rows,
                      .vecs = (int32_t)j->f.block.size[s],
                      .scale = j->scale,
                      .zero = j->zero,
                      .each_row = j->c->kind == AC_MACS_HYBRID && rows > 1,
                      .w_at = ac_gemm_block_at(b, &j->f, oc),
                      .oc = oc,
                      .from = j->from};
    const ac_x row = j->strip < 0 ? p : j->origin ? ac_lb_sub(b, p, j->origin) : ac_lb_i32(b, 0);
    const ac_x base = ac_lb_mul(b, row, ac_lb_i32(b, j->stride));
    if (j->f.matrix) {
        matrix_tile(j, &t, base, p);
        return;
    }
    for (int32_t r = 0; r < rows; r++)
        t.row[r] = ac_lb_add(b, base, ac_lb_i32(b, r * j->stride));
    ac_gemm_all_runs(&t);
    ac_gemm_fetch_ahead(&t, index, tiles);
    ac_x acc[GEMM_ROWS * GEMM_VECS];
    ac_gemm_reduce(&t, acc);
    ac_gemm_store_rows(&t, acc, p);
}

/* Rows first .. end-1 into the strip. */
static void copy_rows(const job *j, ac_x first, ac_x end)
{
    ac_lb *b = &j->L->b;
    const ac_x i = ac_lb_for(b, "row", first, end, 1, AC_MARK_SERIAL);
    ac_gemm_copy(j->L, &j->f, j->c, j->x, ac_lb_mul(b, i, ac_lb_i32(b, j->depth)), j->strip,
                 ac_lb_mul(b, ac_lb_sub(b, i, first), ac_lb_i32(b, j->stride)), j->depth);
    ac_lb_end(b);
}

static void blocks(const job *j, ac_x p, int32_t rows)
{
    ac_lb *b = &j->L->b;
    for (int32_t s = 0; s < 2; s++) {
        if (!j->f.block.count[s])
            continue;
        ac_x i = ac_lb_for_each(b, "ob", j->f.block.count[s]);
        tile(j, p, rows, ac_gemm_block_channel(b, &j->f, s, i), s, 0, 1);
        ac_lb_end(b);
    }
}

static ac_x first_row(const job *j, int32_t s, ac_x i)
{
    ac_lb *b = &j->L->b;
    return ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, j->tiles.size[s])), ac_lb_i32(b, j->tiles.first[s]));
}

/* The bytes that the last step reads past the last of `rows` rows in the strip. */
static void clear_end(const job *j, int64_t rows)
{
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, ac_lb_i32(&j->L->b, rows * j->depth), ac_gemm_beyond(&j->f));
}

/* Row p and those after it by all blocks. */
static void tile_of_rows(const job *j, ac_x p, int64_t rows)
{
    ac_lb *b = &j->L->b;
    if (j->strip >= 0) {
        ac_gemm_copy(j->L, &j->f, j->c, j->x, ac_lb_mul(b, p, ac_lb_i32(b, j->depth)), j->strip, ac_lb_i32(b, 0),
                     rows * j->depth);
        clear_end(j, rows);
    }
    blocks(j, p, (int32_t)rows);
}

/* Two tile sizes would need two copies of the code. If few rows would be computed twice, one size is used: the last
 * tile begins earlier, and only its new rows are stored. */
static bool one_size(const job *j, int64_t rows)
{
    enum { TWICE = 64 }; /* one row in so many */
    const int64_t twice = j->tiles.count[1];
    return twice && twice * TWICE <= rows && !j->f.matrix && j->c->kind != AC_MACS_HYBRID &&
           ac_gemm_stores_from(j->L, &j->f, j->c, j->tiles.size[0]);
}

static void rows_outside(job *j, int64_t rows)
{
    ac_lb *b = &j->L->b;
    if (one_size(j, rows)) {
        const int64_t size = j->tiles.size[0];
        const ac_x i = ac_lb_for(b, "p", ac_lb_i32(b, 0), ac_lb_i32(b, rows), (int32_t)size, AC_MARK_PARALLEL);
        const ac_x p = ac_lb_min(b, i, ac_lb_i32(b, rows - size));
        j->from = ac_lb_sub(b, i, p);
        tile_of_rows(j, p, size);
        j->from = 0;
        ac_lb_end(b);
        return;
    }
    for (int32_t s = 0; s < 2; s++) {
        if (!j->tiles.count[s])
            continue;
        tile_of_rows(j, first_row(j, s, ac_lb_for_each(b, "p", j->tiles.count[s])), j->tiles.size[s]);
        ac_lb_end(b);
    }
}

/* Tiles first .. end-1 of row class r by all blocks; or, r < 0, those of both classes. tiles: how many. */
static void panel(const job *j, int32_t r, ac_x first, ac_x end, int64_t tiles)
{
    ac_lb *b = &j->L->b;
    for (int32_t s = 0; s < 2; s++) {
        if (!j->f.block.count[s])
            continue;
        ac_x oc = ac_gemm_block_channel(b, &j->f, s, ac_lb_for_each(b, "ob", j->f.block.count[s]));
        for (int32_t k = 0; k < 2; k++) {
            if (!j->tiles.count[k] || (r >= 0 && r != k))
                continue;
            ac_x from = r < 0 ? ac_lb_i32(b, 0) : first, to = r < 0 ? ac_lb_i32(b, j->tiles.count[k]) : end;
            ac_x i = ac_lb_for(b, "p", from, to, 1, AC_MARK_PARALLEL);
            ac_x index = r < 0 ? ac_lb_add(b, i, ac_lb_i32(b, k ? j->tiles.count[0] : 0)) : ac_lb_sub(b, i, first);
            tile(j, first_row(j, k, i), (int32_t)j->tiles.size[k], oc, s, index, tiles);
            ac_lb_end(b);
        }
        ac_lb_end(b);
    }
}

/* Panels take half of the second cache; the rest is for a block's weights. */
static void panels_outside(job *j, int64_t rows)
{
    ac_lb *b = &j->L->b;
    const int64_t l2 = j->L->target->l2_bytes, row = ac_dtype_size(j->f.strip, j->depth);
    const bool copies = copies_panels(j);
    if (copies)
        j->stride = j->depth + AC_GEMM_APART;
    if (rows * row <= l2 / 2) {
        if (copies) {
            j->strip = ac_lo_scratch(j->L, "strip", j->f.strip, rows * j->stride);
            j->origin = ac_lb_i32(b, 0);
            copy_rows(j, j->origin, ac_lb_i32(b, rows));
        }
        panel(j, -1, 0, 0, j->tiles.count[0] + j->tiles.count[1]);
        return;
    }
    int64_t most = 0;
    ac_gemm_cuts cut[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    for (int32_t r = 0; r < 2; r++) {
        const int64_t count = j->tiles.count[r], fit = l2 / 2 / (row * (count ? j->tiles.size[r] : 1));
        if (!count)
            continue;
        cut[r] = ac_gemm_cut(count, fit > 1 ? fit : 1);
        const int64_t panels = cut[r].count[0] + cut[r].count[1];
        if (panels % 2) /* two threads share an even number */
            cut[r] = ac_gemm_cut(count, (count + panels) / (panels + 1));
        const int64_t tall = cut[r].size[0] * j->tiles.size[r];
        most = tall > most ? tall : most;
    }
    if (copies)
        j->strip = ac_lo_scratch(j->L, "strip", j->f.strip, most * j->stride);
    for (int32_t r = 0; r < 2; r++) {
        const int64_t count = j->tiles.count[r], tiles = cut[r].size[0];
        if (!count)
            continue;
        ac_x first = ac_lb_mul(b, ac_lb_for_each(b, "panel", cut[r].count[0] + cut[r].count[1]), ac_lb_i32(b, tiles));
        ac_x end = ac_lb_add(b, first, ac_lb_i32(b, tiles));
        if (count % tiles)
            end = ac_lb_min(b, end, ac_lb_i32(b, count));
        if (copies) {
            j->origin = first_row(j, r, first);
            copy_rows(j, j->origin, first_row(j, r, end));
        }
        panel(j, r, first, end, tiles);
        ac_lb_end(b);
    }
}

/* `rows` rows of x from p on, quantised, become the strip. If there are several, their scales and zero points are
 * stored, and c has those of the first. */
static void quantize_rows(const job *j, int32_t x, int32_t q, ac_x p, int32_t rows, bool asymmetric)
{
    ac_lb *b = &j->L->b;
    ac_channel *c = j->c;
    const ac_x depth = ac_lb_i32(b, j->depth), zero = ac_lb_i32(b, 0);
    const ac_x r = rows > 1 ? ac_lb_for_n(b, "row", rows) : zero;
    ac_hybrid_quantize(c, x, ac_lb_mul(b, ac_lb_add(b, p, r), depth), q, zero, j->depth, asymmetric);
    ac_gemm_copy(j->L, &j->f, c, q, zero, j->strip, ac_lb_mul(b, r, depth), j->depth);
    if (rows == 1)
        return;
    ac_lb_store(b, j->scale, r, c->scale_x);
    if (asymmetric)
        ac_lb_store(b, j->zero, r, c->zero_x);
    ac_lb_end(b);
    c->scale_x = ac_lb_load(b, j->scale, zero, 1);
    c->zero_x = asymmetric ? ac_lb_load(b, j->zero, zero, 1) : 0;
}

/* Dynamic range: every row has a scale of its own. */
static void hybrid_rows(job *j, bool asymmetric)
{
    ac_lb *b = &j->L->b;
    const int32_t x = j->x, q = ac_lo_scratch(j->L, "xq", AC_I8, j->depth), most = (int32_t)j->tiles.size[0];
    if (most > 1)
        j->scale = ac_lo_local(j->L, "scale", AC_F32, most);
    if (most > 1 && asymmetric)
        j->zero = ac_lo_local(j->L, "zero", AC_I32, most);
    for (int32_t s = 0; s < 2; s++) {
        if (!j->tiles.count[s])
            continue;
        const int32_t rows = (int32_t)j->tiles.size[s];
        const ac_x p = first_row(j, s, ac_lb_for_each(b, "p", j->tiles.count[s]));
        quantize_rows(j, x, q, p, rows, asymmetric);
        clear_end(j, rows);
        blocks(j, p, rows);
        ac_lb_end(b);
    }
}

int ac_gemm_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    job j = {
        .L = L, .c = c, .depth = depth, .stride = depth, .strip = -1, .f = ac_gemm_form_of(L, c, 1, 1, 1, depth, true)};
    j.f.uses = rows;
    ac_gemm_form_along(L, c, &j.f);
    /* dynamic range: the quantisation of rows is split among threads together with their tiles, so there must be
     * several */
    const int64_t most = c->kind == AC_MACS_HYBRID ? rows / HYBRID_TILES : rows;
    if (!j.f.along && takes_matrices(L, c, &j.f, rows))
        matrix_form(L, &j.f, rows);
    else
        ac_gemm_form_tile(L, c, &j.f, 1, most > 1 ? most : 1);
    j.tiles = ac_gemm_cut(rows, j.f.rows);
    j.x = ac_lo_operand(L, c->x);
    j.w = ac_gemm_pack(L, &j.f, c);
    const bool panels = ac_gemm_weights_far(L, &j.f) && c->kind == AC_MACS_F32;
    if (ac_gemm_copies(&j.f, c) && !panels)
        j.strip = ac_lo_scratch(L, "strip", j.f.strip,
                                j.tiles.size[0] * depth + (j.f.matrix ? ac_gemm_beyond(&j.f) : ac_gemm_step(&j.f)));
    if (c->kind == AC_MACS_HYBRID)
        hybrid_rows(&j, L->node->op == AC_OP_FULLY_CONNECTED ? L->node->attrs.dense.asymmetric_inputs : c->per_channel);
    else if (j.strip < 0 && ac_gemm_weights_far(L, &j.f))
        panels_outside(&j, rows);
    else
        rows_outside(&j, rows);
    return AC_OK;
}
