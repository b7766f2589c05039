/* blockwise_dense.c - multiplies rows by weights of a few bits, which stay packed in memory and are unpacked in
 * registers.
 *
 * x      [.., K]               f32
 * codes  [N, bytes of a row]   u8, constant: `bits` (2, 4, 8) for each weight, the first in the lowest bits; a row is
 *                              whole blocks of `size` weights, those past K are ignored
 * scale  [N, blocks]           f32, constant
 * zero   [N, blocks]           u8, constant; if absent, all are the attribute
 * bias   [N]                   f32, constant, may be absent
 * y      [.., N] = bias + sum over blocks of scale * (sum over k of (code - zero) * x)
 *
 * Even and odd k of a block are summed separately, both in order. Tolerance: that of a sum of K products of floats;
 * with digits, and 2^-22.9 of the largest x of its block times the sum of the weights' magnitudes.
 *
 * Schedule: channels are lanes. Constants are laid out as tiles read them, a word of codes for each lane:
 *
 *     [block of channels][word of the row][channel in the block]           scale and zero: [..][block of the row][..]
 *
 * The codes of an even and an odd k are taken out of a word by one shift: even | the bits of 2^23 is the float 2^23 +
 * code, odd is 2^23 + 2^bits * code, and an exact subtraction gives code - zero for both; the odd ones are 2^bits times
 * too large, which their scale corrects. This needs no integer conversion, and with twice as many sums as results, a
 * product does not wait for the previous one.
 *
 * If the target multiplies bytes (DOT4), few rows are split into digits (digits.h): codes times digits are exact
 * integers, and a block's sum of them becomes a float when the block ends. An instruction does four products instead of
 * one, and codes need only a shift and a mask: without it, unpacking takes longer than memory (Zen 4, 4 bits, two
 * threads: 25 GB/s of 50). Without VNNI, codes of 2 and 4 bits have pmaddubsw, whose pairs cannot saturate (Zen 3, one
 * row, two threads: 17 to 19 .. 23 GB/s).
 *
 * Weights are read once: blocks of channels outside, tiles of rows inside. For many rows a block's weights are unpacked
 * once, as (code - zero) * scale, into a panel that the register tiles of fully_connected read (gemm.h). */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/entries.h"
#include "ir/lower/held.h"
#include "ir/lower/matrix.h"
#include "ir/lower/nn/digits.h"
#include "ir/ops/decode/blockwise.h"

enum { WORD = 32, WORD_BYTES = 4, MANTISSA = 23, MAGIC = 0x4B000000 }; /* MAGIC: the bits of 2^23 */
/* Weights in memory are prefetched two pages ahead: hardware prefetchers do not cross the current page. Measured on a
 * Zen 5, one thread: 30 GB/s instead of 25. No prefetch if words of 8 bits are multiplied directly: those loads follow
 * each other so closely that the processor is far enough ahead, and hints slow it down (Zen 4, two threads: 57 GB/s
 * without, 41 with). */
enum { AHEAD = 8192 };
/* In longer blocks the largest x is a poor scale for the others, and sums of products with digits overflow i32. */
enum { LONGEST_OF_DIGITS = 4096 };

typedef struct job {
    ac_lower *L;
    ac_channel c;
    ac_gemm_form f;
    ac_blockwise w;
    int32_t x, words, scale, zero; /* buffers; zero -1: the same everywhere */
    int32_t panel;                 /* unpacked weights of a block of channels [K][channel]; -1: few rows */
    int32_t per;                   /* codes of a word */
    int64_t block_words;
    bool exact; /* products are those of codes and digits */
    ac_digits digits;
    int64_t ahead;      /* distance in words from the current weights to the prefetched ones; 0: none */
    ac_gemm_cuts tiles; /* of rows */
} job;

typedef struct tile {
    const job *j;
    ac_gemm_tile t;                              /* the values that the end of a block needs */
    ac_x p;                                      /* its first row */
    ac_x part[AC_DIGITS][GEMM_ROWS * GEMM_VECS]; /* sums of a block: even k, odd k; or of a digit */
    ac_x z[2][GEMM_VECS];                        /* zero in the fields of even and odd k */
    ac_x scale[2][GEMM_VECS];                    /* unpacking: of even and odd k */
    ac_x total[GEMM_ROWS * GEMM_VECS];
} tile;

/* ------------------------------------------------------------------ constants */

/* Element `at` of row `channel` of t, as the table has it: words of codes, or elements as they are. */
static ac_x element(ac_lower *P, ac_tensor *t, bool words, int64_t each, ac_x channel, ac_x at)
{
    ac_lb *b = &P->b;
    at = ac_lb_add(b, ac_lb_mul(b, channel, ac_lb_i32(b, each)), at);
    if (!words)
        return ac_lb_load(b, ac_lo_operand(P, t), at, 1);
    at = ac_lb_mul(b, at, ac_lb_i32(b, WORD_BYTES));
    return ac_lb_bitcast(b, ac_lb_load(b, ac_lo_operand(P, t), at, WORD_BYTES), AC_U32);
}

/* `each` elements of every channel as tiles read them; channels beyond the last are 0. */
static int32_t packed(job *j, const char *name, ac_tensor *t, bool words, int64_t each)
{
    ac_lower P;
    const ac_gemm_form *f = &j->f;
    const ac_dtype d = words ? AC_U32 : t->dtype;
    const int64_t entries = (f->n + f->lanes - 1) / f->lanes * f->lanes;
    const int32_t to = ac_lo_pack_open(j->L, &P, name, d, entries * each);
    ac_lb *b = &P.b;
    for (int32_t s = 0; s < 2; s++) {
        const int64_t width = f->block.size[s] * f->lanes;
        if (!f->block.count[s])
            continue;
        const ac_x first = ac_gemm_block_channel(b, f, s, ac_lb_for_n(b, "block", f->block.count[s]));
        const ac_x k = ac_lb_for_n(b, "k", each), oc = ac_lb_for_n(b, "oc", width);
        const ac_x channel = ac_lb_add(b, first, oc);
        const ac_x in = entries == f->n ? channel : ac_lb_min(b, channel, ac_lb_i32(b, f->n - 1));
        ac_x v = element(&P, t, words, each, in, k);
        if (entries != f->n)
            v = ac_lb_select(b, ac_lb_eq(b, in, channel), v, ac_lb_like(b, v, 0));
        const ac_x at = ac_lb_add(b, ac_lb_mul(b, first, ac_lb_i32(b, each)), ac_lo_scaled(b, k, width));
        ac_lb_store(b, to, ac_lb_add(b, at, oc), v);
        for (int32_t i = 0; i < 3; i++)
            ac_lb_end(b);
    }
    const int32_t made = ac_lo_pack_close(j->L, &P);
    ac_lo_holds(j->L, (ac_rows_held){.matrix = t,
                                     .konst = ac_lo_packed(j->L, made),
                                     .dtype = d,
                                     .rows = f->n,
                                     .wide = f->block.size[0] * f->block.count[0] * f->lanes,
                                     .width = {f->block.size[0] * f->lanes, f->block.size[1] * f->lanes},
                                     .steps = each,
                                     .group = 1});
    return made;
}

/* ------------------------------------------------------------------ a tile */

/* Element 0 of entry k of the tile's channels in a table of `each` entries. */
static ac_x entry(const tile *t, int64_t each, ac_x k)
{
    ac_lb *b = &t->j->L->b;
    return ac_lb_add(b, ac_lo_scaled(b, t->t.oc, each), ac_lo_scaled(b, k, (int64_t)t->t.vecs * t->j->f.lanes));
}

static ac_x vector(const tile *t, int32_t buf, ac_x at, int32_t v)
{
    ac_lb *b = &t->j->L->b;
    const int32_t lanes = t->j->f.lanes;
    return ac_lb_load_flags(b, buf, ac_lb_add(b, at, ac_lb_i32(b, (int64_t)v * lanes)), lanes, AC_F_ALIGNED);
}

/* Code i of word w of vector v: (code - zero), odd ones times 2^bits. */
static ac_x weight(const tile *t, ac_x w, int32_t v, int32_t i)
{
    ac_lb *b = &t->j->L->b;
    const int32_t bits = t->j->w.bits, odd = i & 1, shift = (i - odd) * bits;
    const int64_t mask = ((INT64_C(1) << bits) - 1) << odd * bits;
    ac_x field = shift ? ac_lb_shr(b, w, ac_lb_like_int(b, w, shift)) : w;
    field = ac_lb_or(b, ac_lb_and(b, field, ac_lb_like_int(b, w, mask)), ac_lb_like_int(b, w, MAGIC));
    return ac_lb_sub(b, ac_lb_bitcast(b, field, AC_F32), t->z[odd][v]);
}

/* Prefetches the weights AHEAD of vector v of an entry. */
static void fetch_ahead(const tile *t, int32_t buf, ac_x at, int32_t v)
{
    ac_lb *b = &t->j->L->b;
    if (t->j->ahead)
        ac_lb_prefetch(b, buf, ac_lb_add(b, at, ac_lb_i32(b, t->j->ahead + v * t->j->f.lanes)));
}

/* Word `word` of the row, of each vector of channels. */
static void load_words(const tile *t, ac_x word, ac_x *w)
{
    const job *j = t->j;
    const ac_x at = entry(t, j->w.count * j->block_words, word);
    for (int32_t v = 0; v < t->t.vecs; v++) {
        w[v] = vector(t, j->words, at, v);
        fetch_ahead(t, j->words, at, v);
    }
}

/* The first `codes` weights of word `word` of the row; x_at: of the first in a row of x. */
static void sum_word(const tile *t, ac_x word, ac_x x_at, int32_t codes)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const int32_t rows = t->t.rows, vecs = t->t.vecs;
    ac_x w[GEMM_VECS], real[GEMM_VECS];
    load_words(t, word, w);
    for (int32_t i = 0; i < codes; i++) {
        for (int32_t v = 0; v < vecs; v++)
            real[v] = weight(t, w[v], v, i);
        for (int32_t r = 0; r < rows; r++) {
            ac_x x = ac_lb_load(b, j->x, ac_lb_add(b, t->t.row[r], ac_lb_add(b, x_at, ac_lb_i32(b, i))), 1);
            x = ac_lb_splat(b, x, j->f.lanes);
            for (int32_t v = 0; v < vecs; v++) {
                const ac_x part = t->part[i & 1][r * vecs + v];
                ac_lb_set(b, part, ac_lo_madd(j->L, x, real[v], ac_lb_get(b, part)));
            }
        }
    }
}

/* Bytes of word w after `group` shifts: the codes that digits.h puts into group `group`. */
static ac_x byte_codes(const tile *t, ac_x w, int32_t group)
{
    ac_lb *b = &t->j->L->b;
    const int32_t bits = t->j->w.bits;
    if (group)
        w = ac_lb_shr(b, w, ac_lb_like_int(b, w, group * bits));
    if (bits < 8)
        w = ac_lb_and(b, w, ac_lb_like_int(b, w, ((1 << bits) - 1) * INT64_C(0x01010101)));
    return ac_lb_bitcast(b, w, t->j->L->target->dot_u8s8 || t->j->L->target->isa == AC_ISA_X86 ? AC_U8 : AC_I8);
}

/* word_fn: all codes of word `word`; digits past the end of x are 0. */
static void dot_word(const tile *t, ac_x word, ac_x k, int32_t codes)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const int32_t vecs = t->t.vecs;
    (void)codes;
    ac_x w[GEMM_VECS];
    load_words(t, word, w);
    for (int32_t group = 0; group < j->per / 4; group++) {
        ac_x byte[GEMM_VECS];
        for (int32_t v = 0; v < vecs; v++)
            byte[v] = byte_codes(t, w[v], group);
        for (int32_t r = 0; r < t->t.rows; r++)
            for (int32_t i = 0; i < AC_DIGITS; i++) {
                const ac_x row = ac_lb_add(b, t->p, ac_lb_i32(b, r));
                ac_x x = ac_digits_four(&j->digits, i, row, ac_lb_add(b, k, ac_lb_i32(b, 4 * group)));
                x = ac_lb_bitcast(b, ac_lb_splat(b, x, j->f.lanes), AC_I8);
                for (int32_t v = 0; v < vecs; v++) {
                    const ac_x part = t->part[i][r * vecs + v];
                    ac_lb_set(b, part, ac_lb_dot4(b, byte[v], x, ac_lb_get(b, part)));
                }
            }
    }
}

static void zeros(tile *t, ac_x at)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const double magic = (double)(1 << MANTISSA);
    for (int32_t v = 0; v < t->t.vecs; v++) {
        ac_x z = ac_lb_f32(b, j->w.zero);
        if (j->zero >= 0)
            z = ac_lb_cast(b, ac_lb_cast(b, vector(t, j->zero, at, v), AC_I32), AC_F32);
        t->z[0][v] = ac_lb_add(b, z, ac_lb_like(b, z, magic));
        t->z[1][v] = ac_lb_add(b, ac_lb_mul(b, z, ac_lb_like(b, z, 1 << j->w.bits)), ac_lb_like(b, z, magic));
    }
}

/* Callback for a block of the rows; word: number of a word in the row, k: of its first code, codes: how many. */
typedef void word_fn(const tile *t, ac_x word, ac_x k, int32_t codes);

/* All words of the first `depth` weights of block `block`. */
static void words_of(const tile *t, ac_x block, int64_t depth, word_fn *f)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const int64_t whole = depth / j->per, rest = depth % j->per;
    const ac_x k_at = ac_lo_scaled(b, block, j->w.size), word = ac_lo_scaled(b, block, j->block_words);
    if (whole) {
        const ac_x k = ac_lb_for_n(b, "k", whole);
        f(t, ac_lb_add(b, word, k), ac_lb_add(b, k_at, ac_lo_scaled(b, k, j->per)), j->per);
        ac_lb_end(b);
    }
    if (rest)
        f(t, ac_lb_add(b, word, ac_lb_i32(b, whole)), ac_lb_add(b, k_at, ac_lb_i32(b, whole * j->per)), (int32_t)rest);
}

/* Scale of vector v in entry `at`, for the even and the odd k. */
static void scales(const tile *t, ac_x at, int32_t v, ac_x of[2])
{
    ac_lb *b = &t->j->L->b;
    of[0] = vector(t, t->j->scale, at, v);
    fetch_ahead(t, t->j->scale, at, v);
    of[1] = ac_lb_mul(b, of[0], ac_lb_like(b, of[0], 1.0 / (1 << t->j->w.bits)));
}

/* Block `block` of the rows, `depth` weights of it, joins the totals. */
static void sum_block(tile *t, ac_x block, int64_t depth)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const int32_t results = t->t.rows * t->t.vecs, vecs = t->t.vecs;
    const ac_x at = entry(t, j->w.count, block), none = ac_lb_splat(b, ac_lb_f32(b, 0), j->f.lanes);
    zeros(t, at);
    for (int32_t i = 0; i < results; i++)
        for (int32_t odd = 0; odd < 2; odd++)
            t->part[odd][i] = ac_lb_var(b, odd ? "odd" : "even", none);
    words_of(t, block, depth, sum_word);
    for (int32_t v = 0; v < vecs; v++) {
        ac_x of[2];
        scales(t, at, v, of);
        for (int32_t i = v; i < results; i += vecs)
            for (int32_t odd = 0; odd < 2; odd++)
                ac_lb_set(b, t->total[i],
                          ac_lo_madd(j->L, of[odd], ac_lb_get(b, t->part[odd][i]), ac_lb_get(b, t->total[i])));
    }
}

/* The initial sum of digit i of row r, so that codes may be added without subtracting their zero point. */
static ac_x less_zeros(const tile *t, int32_t i, int32_t r, int32_t v, ac_x block, ac_x at)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const ac_x sum = ac_digits_sum(&j->digits, i, ac_lb_add(b, t->p, ac_lb_i32(b, r)), block);
    if (j->zero < 0)
        return ac_lb_splat(b, sum, j->f.lanes);
    return ac_lb_mul_wrap(b, ac_lb_cast(b, vector(t, j->zero, at, v), AC_I32), sum);
}

/* sum_block with digits: integers until the block ends. */
static void dot_block(tile *t, ac_x block, int64_t depth)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const int32_t rows = t->t.rows, vecs = t->t.vecs;
    const ac_x at = entry(t, j->w.count, block);
    for (int32_t i = 0; i < AC_DIGITS; i++)
        for (int32_t r = 0; r < rows; r++)
            for (int32_t v = 0; v < vecs; v++)
                t->part[i][r * vecs + v] = ac_lb_var(b, "digit", less_zeros(t, i, r, v, block, at));
    words_of(t, block, (depth + j->per - 1) / j->per * j->per, dot_word);
    for (int32_t r = 0; r < rows; r++) {
        const ac_x unit = ac_digits_unit(&j->digits, ac_lb_add(b, t->p, ac_lb_i32(b, r)), block);
        for (int32_t v = 0; v < vecs; v++) {
            ac_x sum = 0;
            for (int32_t i = 0; i < AC_DIGITS; i++) {
                const ac_x digit = ac_lb_cast(b, ac_lb_get(b, t->part[i][r * vecs + v]), AC_F32);
                sum = i ? ac_lo_madd(j->L, sum, ac_lb_like(b, sum, 256), digit) : digit;
            }
            fetch_ahead(t, j->scale, at, v);
            const ac_x scale = ac_lb_mul(b, vector(t, j->scale, at, v), unit), total = t->total[r * vecs + v];
            ac_lb_set(b, total, ac_lo_madd(j->L, sum, scale, ac_lb_get(b, total)));
        }
    }
}

/* The codes of a word become floats of the panel. */
static void unpack_word(const tile *t, ac_x word, ac_x k, int32_t codes)
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const int64_t width = (int64_t)t->t.vecs * j->f.lanes;
    const ac_x at = entry(t, j->w.count * j->block_words, word);
    for (int32_t v = 0; v < t->t.vecs; v++) {
        const ac_x w = vector(t, j->words, at, v);
        for (int32_t i = 0; i < codes; i++) {
            const ac_x to = ac_lb_add(b, ac_lo_scaled(b, k, width), ac_lb_i32(b, i * width + v * j->f.lanes));
            ac_lb_store(b, j->panel, to, ac_lb_mul(b, weight(t, w, v, i), t->scale[i & 1][v]));
        }
    }
}

static void unpack_block(tile *t, ac_x block, int64_t depth)
{
    const ac_x at = entry(t, t->j->w.count, block);
    zeros(t, at);
    for (int32_t v = 0; v < t->t.vecs; v++) {
        ac_x of[2];
        scales(t, at, v, of);
        t->scale[0][v] = of[0], t->scale[1][v] = of[1];
    }
    words_of(t, block, depth, unpack_word);
}

/* All blocks of the rows; the last may be shorter. */
static void each_block(tile *t, void (*f)(tile *t, ac_x block, int64_t depth))
{
    const job *j = t->j;
    ac_lb *b = &j->L->b;
    const int64_t whole = j->f.depth / j->w.size, rest = j->f.depth % j->w.size;
    if (whole) {
        f(t, ac_lb_for_n(b, "block", whole), j->w.size);
        ac_lb_end(b);
    }
    if (rest)
        f(t, ac_lb_i32(b, whole), rest);
}

static tile tile_of(const job *j, int32_t rows, ac_x oc, int32_t s)
{
    const int32_t vecs = (int32_t)j->f.block.size[s];
    return (tile){.j = j, .t = {.L = j->L, .f = &j->f, .c = &j->c, .rows = rows, .vecs = vecs, .oc = oc}};
}

static void unpack(const job *j, ac_x oc, int32_t s)
{
    tile t = tile_of(j, 1, oc, s);
    each_block(&t, unpack_block);
}

/* Rows p .. p+rows-1 by the block of class s that begins at channel oc. */
static void one_tile(const job *j, ac_x p, int32_t rows, ac_x oc, int32_t s)
{
    ac_lb *b = &j->L->b;
    tile t = tile_of(j, rows, oc, s);
    t.p = p;
    const int32_t vecs = t.t.vecs, lanes = j->f.lanes;
    for (int32_t r = 0; r < rows; r++)
        t.t.row[r] = ac_lo_scaled(b, ac_lb_add(b, p, ac_lb_i32(b, r)), j->f.depth);
    if (j->panel >= 0) {
        t.t.x_buf = j->x;
        t.t.w_buf = j->panel;
        t.t.w_at = ac_lb_i32(b, 0);
        ac_gemm_all_runs(&t.t);
        ac_gemm_reduce(&t.t, t.total);
    } else {
        for (int32_t i = 0; i < rows * vecs; i++)
            t.total[i] = ac_lb_var(b, ac_strf(j->L->region, "c%d_%d", (int)(i / vecs), (int)(i % vecs)),
                                   ac_channel_start(&j->c, ac_lb_add(b, oc, ac_lb_i32(b, i % vecs * lanes)), lanes));
        each_block(&t, j->exact ? dot_block : sum_block);
        for (int32_t i = 0; i < rows * vecs; i++)
            t.total[i] = ac_lb_get(b, t.total[i]);
    }
    ac_gemm_store_rows(&t.t, t.total, p);
}

/* ------------------------------------------------------------------ all of it */

enum { VECS_OF_A_ROW = 4, VECS_OF_ROWS = 2, VECS_OF_FIRMWARE = 2, MANY_ROWS = 16 };

/* Each result of a tile has three sums in registers, in addition to the unpacked codes. */
static void choose_tile(job *j, int64_t rows)
{
    const ac_target *target = j->L->target;
    ac_gemm_form *f = &j->f;
    f->lanes = ac_target_lanes(target, AC_F32);
    while (f->lanes > 4 && f->lanes / 2 >= f->n)
        f->lanes /= 2;
    const bool one = rows == 1 || f->lanes == 1, few = target->registers < 32;
    if (f->lanes > 1 && rows >= MANY_ROWS) {
        f->group = 1;
        f->runs[0] = f->runs[1] = f->runs[2] = 1;
        f->strip = f->w = AC_F32;
        f->w_bytes = 4;
        f->uses = rows;
        ac_gemm_form_tile(j->L, &j->c, f, 1, rows);
        j->tiles = ac_gemm_cut(rows, f->rows);
        j->panel = ac_lo_scratch(j->L, "panel", AC_F32, f->depth * f->vecs * f->lanes);
        return;
    }
    /* Without VNNI a product of bytes is three instructions: worth it for one row, or if floats have no FMA. */
    const bool pairs = target->isa == AC_ISA_X86 && j->w.bits < 8 && (one || !target->fma);
    j->exact = f->lanes > 1 && !j->L->exact && j->w.size <= LONGEST_OF_DIGITS &&
               (target->dot_u8s8 || (target->dot_i8i8 && j->w.bits < 8) || pairs);
    const bool full = few && j->exact && !target->dot_u8s8; /* a product of bytes needs additional registers */
    f->rows = one || full ? 1 : few || j->exact ? 2 : 4;
    f->vecs = target->firmware ? VECS_OF_FIRMWARE : one && !full ? VECS_OF_A_ROW : VECS_OF_ROWS;
    f->block = ac_gemm_cut((f->n + f->lanes - 1) / f->lanes, f->vecs);
    f->vecs = (int32_t)f->block.size[0];
    j->tiles = ac_gemm_cut(rows, f->rows);
    f->rows = (int32_t)j->tiles.size[0];
    j->L->out->schedule.rows = f->rows;
    j->L->out->schedule.vecs = f->vecs;
}

static void loops(const job *j)
{
    ac_lb *b = &j->L->b;
    for (int32_t s = 0; s < 2; s++) {
        if (!j->f.block.count[s])
            continue;
        const ac_x oc = ac_gemm_block_channel(b, &j->f, s, ac_lb_for_each(b, "ob", j->f.block.count[s]));
        if (j->panel >= 0)
            unpack(j, oc, s);
        for (int32_t r = 0; r < 2; r++) {
            if (!j->tiles.count[r])
                continue;
            const ac_x i =
                j->panel < 0 ? ac_lb_for_each(b, "p", j->tiles.count[r]) : ac_lb_for_n(b, "p", j->tiles.count[r]);
            const ac_x p = ac_lb_add(b, ac_lo_scaled(b, i, j->tiles.size[r]), ac_lb_i32(b, j->tiles.first[r]));
            one_tile(j, p, (int32_t)j->tiles.size[r], oc, s);
            ac_lb_end(b);
        }
        ac_lb_end(b);
    }
}

int ac_lo_blockwise_dense(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[AC_BLOCKWISE_X], *y = n->out[0];
    job j = {.L = L, .zero = -1, .panel = -1};
    AC_TRY(ac_blockwise_of(L->cx, n, &j.w));
    for (int32_t i = AC_BLOCKWISE_CODES; i < n->n_in; i++)
        if (n->in[i] && !ac_tensor_is_const(n->in[i]))
            return ac_lower_refuse(L, "operand '%s' is computed: supported are constants", n->in[i]->name);
    /* bias and activation are those of fully_connected; the scales replace its weights */
    AC_TRY(ac_channel_open(L, &j.c, x, n->in[AC_BLOCKWISE_SCALE], ac_node_in(n, AC_BLOCKWISE_BIAS), j.w.rows, 0,
                           n->attrs.blocks.act, AC_ROUND_FIXED));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    j.f.n = j.w.rows;
    j.f.depth = j.w.depth;
    j.per = WORD / j.w.bits;
    j.block_words = j.w.size / j.per;
    choose_tile(&j, ac_tensor_count(y) / j.w.rows);
    if (j.f.lanes > 1 && ac_tensor_bytes(n->in[AC_BLOCKWISE_CODES]) > L->target->l1_bytes &&
        !(j.exact && j.w.bits == 8))
        j.ahead = AHEAD / WORD_BYTES;
    ac_channel_tables(&j.c, (j.f.n + j.f.lanes - 1) / j.f.lanes * j.f.lanes, NULL, 0);
    j.x = ac_lo_operand(L, x);
    j.words = packed(&j, "w", n->in[AC_BLOCKWISE_CODES], true, j.w.count * j.block_words);
    j.scale = packed(&j, "scale", n->in[AC_BLOCKWISE_SCALE], false, j.w.count);
    if (ac_node_in(n, AC_BLOCKWISE_ZERO))
        j.zero = packed(&j, "zero", n->in[AC_BLOCKWISE_ZERO], false, j.w.count);
    if (j.exact) {
        j.digits = ac_digits_open(L, j.x, ac_tensor_count(y) / j.w.rows, j.f.depth, j.w.size, j.per,
                                  j.zero < 0 ? -j.w.zero : -1);
        ac_digits_of_rows(&j.digits);
    }
    loops(&j);
    return AC_OK;
}
