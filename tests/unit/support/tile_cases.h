/* tile_cases.h - TILE and REQUANT as cases of case_table.h: every form, in shapes that processors have instructions for
 * and in others.
 *
 *     tile_cases();
 *
 * Plain targets only: their steps are functions of their own in C. */
#ifndef AC_TESTS_UNIT_SUPPORT_TILE_CASES_H
#define AC_TESTS_UNIT_SUPPORT_TILE_CASES_H
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

static void tile_cases(void)
{
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
