/* tile_cases.h - TILE and REQUANT as cases of case_table.h: every form, in shapes that processors have instructions for
 * and in others.
 *
 *     tile_cases();
 *
 * Plain targets only: their steps are functions of their own in C. */
#ifndef AC_TESTS_UNIT_SUPPORT_TILE_CASES_H
#define AC_TESTS_UNIT_SUPPORT_TILE_CASES_H
#include "codegen/nests.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"
#include "tests/unit/support/case_table.h"

/* A local array of n bytes, which begins again where `from` ends, an element further each time. */
static int32_t repeated(const char *name, int32_t from, int64_t n)
{
    const int32_t to = ac_lb_buf(&b, name, AC_I8, n, AC_BUF_LOCAL, 4, NULL);
    const ac_x i = ac_lb_for_n(&b, "i", n), round = ac_lb_div(&b, i, ac_lb_i32(&b, N));
    ac_lb_store(&b, to, i, ac_lb_load(&b, from, ac_lb_mod(&b, ac_lb_add(&b, i, round), ac_lb_i32(&b, N)), 1));
    ac_lb_end(&b);
    return to;
}

/* A local array of n words, each of two bytes of `from`. */
static int32_t paired(int32_t from, int64_t n)
{
    const int32_t to = ac_lb_buf(&b, "pairs", AC_I32, n, AC_BUF_LOCAL, 4, NULL);
    const ac_x i = ac_lb_for_n(&b, "i", n), last = ac_lb_sub(&b, ac_lb_i32(&b, n - 1), i);
    const ac_x low = ac_lb_cast(&b, ac_lb_load(&b, from, i, 1), AC_I32),
               high = ac_lb_cast(&b, ac_lb_load(&b, from, last, 1), AC_I32);
    ac_lb_store(&b, to, i, ac_lb_add(&b, low, ac_lb_mul(&b, high, ac_lb_i32(&b, 65536))));
    ac_lb_end(&b);
    return to;
}

/* A local array of n bytes of `from`, -127 for -128. */
static int32_t above_least(int32_t from, int64_t n)
{
    const int32_t to = ac_lb_buf(&b, "weights", AC_I8, n, AC_BUF_LOCAL, 4, NULL);
    const ac_x i = ac_lb_for_n(&b, "i", n);
    ac_lb_store(&b, to, i, ac_lb_max(&b, ac_lb_load(&b, from, i, 1), ac_lb_int(&b, AC_I8, -127)));
    ac_lb_end(&b);
    return to;
}

/* Sums of a tile, starting from the accumulators, of as many steps as fit, at most `most`.
 */
static void sums(ac_tile t, int64_t most)
{
    open_case();
    const ac_dtype bytes = t.form == AC_TILE_UNSIGNED ? AC_U8 : AC_I8, d = t.form == AC_TILE_PAIRS ? AC_I16 : bytes;
    t.x = buf("x", d, AC_BUF_IN);
    t.w = buf("w", bytes, AC_BUF_IN);
    const int32_t z = buf("z", AC_I32, AC_BUF_IN), out = buf("out", AC_I32, AC_BUF_OUT), n = t.rows * t.channels;
    t.acc = ac_lb_buf(&b, "acc", AC_I32, n, AC_BUF_LOCAL, 4, NULL);
    const int32_t w = t.w;
    if (t.form == AC_TILE_EACH) { /* reads beyond the slots */
        t.w = ac_lb_buf(&b, "shifted", AC_I8, N + 16, AC_BUF_LOCAL, 4, NULL);
        for (int32_t i = 0; i < N + 16; i++)
            ac_lb_store(&b, t.w, ac_lb_i32(&b, i), ac_lb_load(&b, w, ac_lb_i32(&b, i % N), 1));
    }
    int64_t steps = t.form == AC_TILE_MATRIX ? most : 1;
    if (t.form == AC_TILE_MATRIX) {
        t.x = repeated("rows", t.x, ac_tile_reads(&t, steps));
        t.w = repeated("weights", t.w, ac_tile_weights(&t, steps));
    }
    while (t.form != AC_TILE_EACH && t.form != AC_TILE_MATRIX && steps < most && ac_tile_reads(&t, steps + 1) <= N &&
           ac_tile_weights(&t, steps + 1) <= N)
        steps++;
    if (t.form == AC_TILE_WORDS) {
        t.x = paired(t.x, ac_tile_reads(&t, steps));
        t.w = above_least(t.w, ac_tile_weights(&t, steps));
    }
    for (int32_t i = 0; i < n; i++)
        ac_lb_store(&b, t.acc, ac_lb_i32(&b, i), ac_lb_load(&b, z, ac_lb_i32(&b, i), 1));
    ac_lb_tile(&b, t, ac_lb_i32(&b, 0), ac_lb_i32(&b, 0), ac_lb_i32(&b, steps));
    for (int32_t i = 0; i < n; i++)
        ac_lb_store(&b, out, ac_lb_i32(&b, i), ac_lb_load(&b, t.acc, ac_lb_i32(&b, i), 1));
    const char *what =
        ac_strf(cx.region, "tile %s %d x %d, %d", ac_tile_text[t.form], (int)t.rows, (int)t.channels, (int)steps);
    close_case(title(what, d, bytes, 1), ANY, ANY, ANY, OUTPUT);
}

static void spread(int32_t channels, int32_t pitch, int32_t shift, int32_t stride)
{
    open_case();
    const int32_t x = buf("x", AC_I8, AC_BUF_IN), out = buf("out", AC_I8, AC_BUF_OUT);
    ac_tile t = {.form = AC_TILE_SPREAD, .rows = 1, .channels = channels, .x = x, .acc = out, .pitch = pitch};
    t.shift = shift;
    t.stride = stride;
    const ac_x i = ac_lb_for_n(&b, "i", N);
    ac_lb_store(&b, out, i, ac_lb_int(&b, AC_I8, 7));
    ac_lb_end(&b);
    ac_lb_tile(&b, t, ac_lb_i32(&b, 1), ac_lb_i32(&b, 2), ac_lb_i32(&b, 3));
    close_case(title(ac_strf(cx.region, "tile spread %d", (int)channels), AC_I8, AC_I8, 1), ANY, OUTPUT, OUTPUT,
               OUTPUT);
}

/* Four words, on processors that have no more, or eight. */
static void requants(int32_t lanes, bool away, int32_t pre)
{
    static const int32_t M[4] = {1518500250, 2147483647, 1073741824, 0}, SHIFT[4] = {-1, -7, -9, -31},
                         BIAS[4] = {77, -100000, 0, 1 << 30};
    open_case();
    const int32_t z = buf("z", AC_I32, AC_BUF_IN), out = buf("out", AC_I8, AC_BUF_OUT);
    const int32_t acc = ac_lb_buf(&b, "acc", AC_I32, 2 * lanes, AC_BUF_LOCAL, 4, NULL);
    const int32_t table = ac_lb_buf(&b, "table", AC_I32, 3 * lanes, AC_BUF_LOCAL, 4, NULL);
    for (int32_t i = 0; i < 3 * lanes; i++) {
        const int32_t *of = i < lanes ? M : i < 2 * lanes ? SHIFT : BIAS;
        ac_lb_store(&b, table, ac_lb_i32(&b, i), ac_lb_i32(&b, of[i % lanes % 4]));
    }
    for (int32_t at = 0; at + 2 * lanes <= N; at += 2 * lanes) {
        for (int32_t i = 0; i < 2 * lanes; i++)
            ac_lb_store(&b, acc, ac_lb_i32(&b, i),
                        ac_lb_shr(&b, ac_lb_load(&b, z, ac_lb_i32(&b, at + i), 1), ac_lb_i32(&b, at % 32)));
        for (int32_t row = 0; row < 2; row++) {
            ac_requants q = {.y = out, .acc = acc, .table = table, .row = row, .zero = row - 5, .lo = -128, .hi = 100};
            q.away = away;
            q.lanes = lanes;
            q.pre = pre;
            ac_lb_requant(&b, q, ac_lb_i32(&b, at + lanes * row), ac_lb_i32(&b, 0), ac_lb_i32(&b, 2 * lanes));
        }
    }
    close_case(title(ac_strf(cx.region, "requant %d %d %d", (int)lanes, away, (int)pre), AC_I32, AC_I8, 1), ANY, OUTPUT,
               OUTPUT, OUTPUT);
}

/* The case just closed has a loop that printers replace by a call; without it the plain loops would be tested twice. */
static void must_be_nest(ac_nest_form form)
{
    const ac_loop_fn *fn = cases[n_cases - 1].fn;
    int32_t found = 0;
    ac_nest n;
    for (ac_x x = 1; x < fn->code.n; x++)
        found += ac_nest_find(fn, x, &n) && n.form == form;
    MUST(found == 1);
}

/* Loops marked nest: pixels by eight channels, or spots of four channels. */
static void nest(int32_t rows, int32_t steps, bool away, bool shared)
{
    enum { CHANNELS = 16 };
    open_case();
    const int32_t in = buf("x", AC_I8, AC_BUF_IN), weights = buf("w", AC_I8, AC_BUF_IN),
                  out = buf("out", AC_I8, AC_BUF_OUT);
    const int32_t x = repeated("rows", in, (int64_t)rows * 2 * steps * 16),
                  w = repeated("weights", weights, (int64_t)CHANNELS * steps * 16);
    const int32_t acc = ac_lb_buf(&b, "acc", AC_I32, 16, AC_BUF_LOCAL, 4, NULL);
    const int32_t table = ac_lb_buf(&b, "table", AC_I32, 3 * CHANNELS, AC_BUF_LOCAL, 4, NULL);
    for (int32_t i = 0; i < 3 * CHANNELS; i++) {
        const int32_t part = shared ? (i < 16 ? 1 + i / 8 : 0) : i % 24 / 8; /* bias, factors, shifts */
        const int32_t of[3] = {i * 100 - 1000, 1518500250 + i, -7 - i % 3};
        ac_lb_store(&b, table, ac_lb_i32(&b, i), ac_lb_i32(&b, of[part]));
    }
    const ac_x zero = ac_lb_i32(&b, 0);
    const ac_x p = ac_lb_for(&b, "p", zero, ac_lb_i32(&b, 2 * rows), rows, AC_MARK_NEST);
    const ac_x oc = ac_lb_for(&b, "oc", zero, ac_lb_i32(&b, CHANNELS), 8, AC_MARK_NEST);
    const ac_tile t = {.form = AC_TILE_BYTES, .rows = rows, .channels = 8, .x = x, .w = w, .acc = acc};
    const ac_x deep = ac_lb_i32(&b, 16 * (int64_t)steps);
    ac_lb_tile(&b, t, ac_lb_mul(&b, p, deep), ac_lb_mul(&b, oc, deep), ac_lb_i32(&b, steps));
    const ac_x first = ac_lb_mul(&b, oc, ac_lb_i32(&b, shared ? 1 : 3)), at = ac_lb_mul(&b, p, ac_lb_i32(&b, CHANNELS));
    for (int32_t r = 0; r < rows; r++) {
        const ac_requants q = {.y = out,
                               .acc = acc,
                               .table = table,
                               .lanes = 8,
                               .row = r,
                               .zero = -3,
                               .lo = -128,
                               .hi = 127,
                               .pre = shared ? 3 : 0,
                               .away = away};
        const ac_x bias = ac_lb_add(&b, first, ac_lb_i32(&b, shared ? 16 : 0));
        const ac_x m = shared ? zero : ac_lb_add(&b, first, ac_lb_i32(&b, 8));
        const ac_x y = ac_lb_add(&b, ac_lb_add(&b, at, ac_lb_i32(&b, r * CHANNELS)), oc);
        ac_lb_requant(&b, q, y, m, bias);
    }
    ac_lb_end(&b);
    ac_lb_end(&b);
    const char *what = ac_strf(cx.region, "nest of %d rows, %d steps, %d %d", rows, steps, away, shared);
    close_case(title(what, AC_I8, AC_I8, 1), ANY, ANY, OUTPUT, OUTPUT);
    must_be_nest(AC_NEST_ROWS);
}

static void spots(bool away)
{
    open_case();
    const int32_t in = buf("x", AC_I8, AC_BUF_IN), weights = buf("w", AC_I8, AC_BUF_IN),
                  out = buf("out", AC_I8, AC_BUF_OUT);
    const int32_t x = repeated("lines", in, 160), w = repeated("weights", weights, 64);
    const int32_t acc = ac_lb_buf(&b, "acc", AC_I32, 4, AC_BUF_LOCAL, 4, NULL);
    const int32_t table = ac_lb_buf(&b, "table", AC_I32, 12, AC_BUF_LOCAL, 4, NULL);
    for (int32_t i = 0; i < 12; i++)
        ac_lb_store(&b, table, ac_lb_i32(&b, i), ac_lb_i32(&b, i < 4 ? i * 700 : i < 8 ? 1600000000 : -8));
    const ac_x zero = ac_lb_i32(&b, 0);
    const ac_x i = ac_lb_for(&b, "i", zero, ac_lb_i32(&b, 2), 1, AC_MARK_NEST);
    const ac_x j = ac_lb_for(&b, "j", zero, ac_lb_i32(&b, 3), 1, AC_MARK_NEST);
    const ac_tile t = {AC_TILE_EACH, 1, 4, x, w, acc, 30, 6, 16, 0};
    ac_lb_tile(&b, t, ac_lb_add(&b, i, ac_lb_mul(&b, j, ac_lb_i32(&b, 6))), zero, ac_lb_i32(&b, 1));
    ac_requants q = {.y = out, .acc = acc, .table = table, .lanes = 4, .zero = 5, .lo = -128, .hi = 127, .away = away};
    const ac_x y = ac_lb_add(&b, ac_lb_mul(&b, i, ac_lb_i32(&b, 12)), ac_lb_mul(&b, j, ac_lb_i32(&b, 4)));
    ac_lb_requant(&b, q, y, ac_lb_i32(&b, 4), zero);
    ac_lb_end(&b);
    ac_lb_end(&b);
    close_case(title(ac_strf(cx.region, "nest of spots, %d", away), AC_I8, AC_I8, 1), ANY, ANY, OUTPUT, OUTPUT);
    must_be_nest(AC_NEST_SPOTS);
}

static void tile_cases(void)
{
    for (int32_t k = 0; k < 12; k++) /* each walk of codegen/mve_nests.c */
        nest(1 + (k & 1), (const int32_t[]){1, 2, 5, 6, 8, 3}[k / 2], k & 4, k & 2);
    spots(false);
    spots(true);
    for (int32_t rows = 1; rows <= 3; rows++) {
        for (int32_t channels = 2; channels <= 4; channels += 2)
            sums((ac_tile){.form = AC_TILE_PAIRS, .rows = rows, .channels = channels}, N);
        sums((ac_tile){.form = AC_TILE_BYTES, .rows = rows, .channels = 4}, N);
        sums((ac_tile){.form = AC_TILE_EACH, .rows = rows, .channels = 4, .pitch = 15, .shift = 3, .depth = 16}, N);
    }
    for (int32_t channels = 2; channels <= 6; channels += 2)
        for (int32_t steps = 1; steps <= 3; steps++)
            sums((ac_tile){.form = AC_TILE_ROW, .rows = 1, .channels = channels}, steps);
    sums((ac_tile){.form = AC_TILE_OUTER, .rows = 3, .channels = 5, .pitch = 2, .shift = 2, .depth = 1}, N);
    sums((ac_tile){.form = AC_TILE_OUTER, .rows = 1, .channels = 12, .pitch = 0, .shift = 1, .depth = 3}, N);
    sums((ac_tile){.form = AC_TILE_LANES, .rows = 3, .channels = 5, .pitch = 10, .shift = 2, .depth = 2}, N);
    sums((ac_tile){.form = AC_TILE_LANES, .rows = 2, .channels = 8, .pitch = 8, .shift = 1, .depth = 1}, N);
    for (int32_t rows = 1; rows <= 4; rows += 3)
        sums((ac_tile){.form = AC_TILE_MATRIX, .rows = rows, .channels = 16, .pitch = 3}, 2);
    for (int32_t rows = 2; rows <= 4; rows += 2)
        for (int32_t channels = 1; channels <= 4; channels += 3)
            sums((ac_tile){.form = AC_TILE_WORDS, .rows = rows, .channels = channels}, N);
    spread(1, 0, 1, 1);
    spread(1, 0, 1, 0);
    for (int32_t channels = 1; channels <= 8; channels += channels < 4 ? 1 : 2)
        sums((ac_tile){.form = AC_TILE_UNSIGNED, .rows = 1, .channels = channels, .depth = 32 / channels % 9}, N);
    spread(16, 3, 1, 20);
    spread(8, 7, 1, 0);
    spread(5, 12, 3, 20);
    for (int32_t lanes = 4; lanes <= 5; lanes++) {
        requants(lanes, false, 0);
        requants(lanes, true, 0);
        requants(lanes, true, 9);
    }
}

#endif
