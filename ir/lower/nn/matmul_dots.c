/* matmul_dots.c - multiplies a few rows by a matrix that is stored transposed: the attention scores in a step of a
 * language model, [1, K] times the keys, [N, K].
 *
 * Both operands are read along K, in vectors, and each result is the sum of the lanes of its own accumulator: nothing
 * is transposed, which would cost more than the product for few rows. The order of summation differs, so it is not used
 * with --exact. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/lower.h"
#include "ir/lower/nn/matmul_dots.h"

enum { MOST_ROWS = 8, TILE = 4 };

typedef struct tile {
    const ac_dots *d;
    ac_x x_at[TILE], y_at[TILE];              /* first elements of rows */
    ac_x acc[TILE * TILE], rest[TILE * TILE]; /* vectors; the remainder of K after whole vectors */
    int32_t rows, columns, lanes;
} tile;

bool ac_dots_fit(const ac_lower *L, const ac_channel *c, int64_t m, int64_t k)
{
    const int32_t lanes = ac_target_lanes(L->target, AC_F32);
    return c->kind == AC_MACS_F32 && lanes > 1 && !L->exact && m <= MOST_ROWS && k >= lanes;
}

static void step(ac_lower *L, void *with, ac_x k, int32_t lanes)
{
    const tile *t = with;
    const ac_channel *c = t->d->c;
    ac_lb *b = &L->b;
    ac_x y[TILE];
    for (int32_t j = 0; j < t->columns; j++)
        y[j] = ac_channel_w(c, t->d->y, ac_lb_add(b, t->y_at[j], k), lanes);
    for (int32_t i = 0; i < t->rows; i++) {
        const ac_x x = ac_channel_x(c, t->d->x, ac_lb_add(b, t->x_at[i], k), lanes);
        for (int32_t j = 0; j < t->columns; j++) {
            const ac_x acc = t->acc[i * TILE + j], rest = t->rest[i * TILE + j];
            if (lanes == t->lanes) {
                ac_lb_set(b, acc, ac_channel_mac(c, ac_lb_get(b, acc), x, y[j]));
            } else {
                const ac_x v = ac_lb_mul(b, x, y[j]);
                ac_lb_set(b, rest, ac_lb_add(b, ac_lb_get(b, rest), lanes > 1 ? ac_lb_sumlanes(b, v) : v));
            }
        }
    }
}

static void one_tile(ac_lower *L, const ac_dots *d, ac_x m, int32_t rows, ac_x n, int32_t columns)
{
    ac_lb *b = &L->b;
    const int32_t lanes = ac_target_lanes(L->target, AC_F32);
    tile t = {.d = d, .rows = rows, .columns = columns, .lanes = lanes};
    const ac_x depth = ac_lb_i32(b, d->k);
    for (int32_t i = 0; i < rows; i++)
        t.x_at[i] = ac_lb_add(b, d->x_at, ac_lb_mul(b, ac_lb_add(b, m, ac_lb_i32(b, i)), depth));
    for (int32_t j = 0; j < columns; j++)
        t.y_at[j] = ac_lb_add(b, d->y_at, ac_lb_mul(b, ac_lb_add(b, n, ac_lb_i32(b, j)), depth));
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            t.acc[i * TILE + j] = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_f32(b, 0), lanes));
            if (d->k % lanes)
                t.rest[i * TILE + j] = ac_lb_var(b, "rest", ac_lb_f32(b, 0));
        }
    ac_lo_strip(L, "k", d->k, lanes, step, &t);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            ac_x idx[AC_MAX_RANK], sum = ac_lb_sumlanes(b, ac_lb_get(b, t.acc[i * TILE + j]));
            const ac_x oc = ac_lb_add(b, n, ac_lb_i32(b, j));
            if (d->k % lanes)
                sum = ac_lb_add(b, sum, ac_lb_get(b, t.rest[i * TILE + j]));
            for (int32_t r = 0; r < d->rank - 2; r++)
                idx[r] = d->idx[r];
            idx[d->rank - 2] = ac_lb_add(b, m, ac_lb_i32(b, i));
            ac_gemm_store_lanes(L, ac_channel_done(d->c, sum, oc), oc, 1, idx);
        }
}

/* `rows` rows from m on. */
static void columns(ac_lower *L, const ac_dots *d, ac_x m, int32_t rows)
{
    ac_lb *b = &L->b;
    const int64_t whole = d->n / TILE * TILE;
    if (whole) {
        const ac_x n = ac_lb_for(b, "n", ac_lb_i32(b, 0), ac_lb_i32(b, whole), TILE, AC_MARK_PARALLEL);
        one_tile(L, d, m, rows, n, TILE);
        ac_lb_end(b);
    }
    if (d->n > whole)
        one_tile(L, d, m, rows, ac_lb_i32(b, whole), (int32_t)(d->n - whole));
}

void ac_lo_dots(ac_lower *L, const ac_dots *d)
{
    ac_lb *b = &L->b;
    const int32_t rows = L->target->registers < 32 ? 2 : TILE;
    const ac_gemm_cuts cuts = ac_gemm_cut(d->m, rows);
    for (int32_t s = 0; s < 2; s++) {
        if (!cuts.count[s])
            continue;
        const ac_x i = ac_lb_for_each(b, "m", cuts.count[s]);
        const ac_x m = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, cuts.size[s])), ac_lb_i32(b, cuts.first[s]));
        columns(L, d, m, (int32_t)cuts.size[s]);
        ac_lb_end(b);
    }
}
