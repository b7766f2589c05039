/* cells_products.c - the products of a layer of cells: weights in registers, part sums, sums of a block. */
#include "ir/lower/gpu/cells_parts.h"

/* Weight e of a step of results i of product p, for each thread of each block. */
static void pack_one(cells *k, ac_lower *P, int32_t to, int32_t from, int32_t p, int64_t i, int64_t step, int64_t e)
{
    ac_lb *b = &P->b;
    const ac_cell_product *m = &k->c->product.item[p];
    const ac_cells_share *s = &k->share[p];
    const ac_x r = ac_lb_for_n(b, "r", k->ranks), t = ac_lb_for_n(b, "t", k->threads);
    const ac_x lane = ac_lb_mod(b, t, ac_lb_i32(b, s->lanes)),
               result =
                   ac_lb_add(b, ac_lb_div(b, t, ac_lb_i32(b, s->lanes)), ac_lb_i32(b, i * (k->threads / s->lanes))),
               group = ac_lb_div(b, result, ac_lb_i32(b, k->units)),
               unit =
                   ac_lb_add(b, ac_lb_mod(b, result, ac_lb_i32(b, k->units)), ac_lb_mul(b, r, ac_lb_i32(b, k->units))),
               at = ac_lb_add(b, ac_lb_mul(b, lane, ac_lb_i32(b, WIDE)), ac_lb_i32(b, step * s->lanes * WIDE + e));
    const ac_x live =
        ac_lb_and(b, ac_lb_lt(b, result, ac_lb_i32(b, s->results)),
                  ac_lb_and(b, ac_lb_lt(b, unit, ac_lb_i32(b, k->c->units)), ac_lb_lt(b, at, ac_lb_i32(b, m->depth))));
    ac_x row = ac_lb_add(b, ac_lb_mul(b, group, ac_lb_i32(b, k->c->units)), unit);
    row = ac_lb_min(b, row, ac_lb_i32(b, m->groups * k->c->units - 1));
    const ac_x col = ac_lb_min(b, at, ac_lb_i32(b, m->depth - 1));
    const ac_x w = ac_lb_load(b, from, ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, m->depth)), col), 1);
    const int64_t number = s->first + (i * s->steps + step) * WIDE + e;
    const ac_x place = ac_lb_add(b, ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, k->threads)), t),
                                 ac_lb_i32(b, number * k->ranks * k->threads));
    ac_lb_store(b, to, place, ac_lb_select(b, live, w, ac_lb_f32(b, 0)));
    ac_lb_end(b);
    ac_lb_end(b);
}

void ac_cells_pack(cells *k)
{
    ac_lower P;
    const int32_t to = ac_lo_pack_open(k->L, &P, "w", AC_F32, k->held * k->ranks * k->threads);
    for (int32_t p = 0; p < k->c->product.n; p++) {
        const int32_t from = ac_lo_operand(&P, k->c->product.item[p].node->in[1]);
        for (int64_t i = 0; i < k->share[p].each; i++)
            for (int64_t step = 0; step < k->share[p].steps; step++)
                for (int64_t e = 0; e < WIDE; e++)
                    pack_one(k, &P, to, from, p, i, step, e);
    }
    k->weights = ac_lo_pack_close(k->L, &P);
}

typedef struct four {
    ac_x v[WIDE];
} four;

/* The part sums of the thread. */
static void multiply(cells *k, int32_t p, ac_x row)
{
    ac_lb *b = &k->L->b;
    const ac_cell_product *m = &k->c->product.item[p];
    const ac_cells_share *s = &k->share[p];
    const ac_x lane = ac_lb_mod(b, k->t, num(k, s->lanes));
    four *acc = AC_NEW_N(k->L->region, four, s->each);
    for (int64_t step = 0; step < s->steps; step++) {
        const ac_x at = plus(k, times(k, lane, WIDE), num(k, step * s->lanes * WIDE));
        const ac_x x = ac_lb_load_flags(b, k->rows, in_part(k, k->r, in_row(k, m->x, m->state >= 0, k->now, row, at)),
                                        WIDE, AC_F_ALIGNED);
        for (int64_t i = 0; i < s->each; i++)
            for (int32_t e = 0; e < WIDE; e++) {
                const ac_x w = ac_lb_load(b, k->w, lasting(k, num(k, s->first + (i * s->steps + step) * WIDE + e)), 1);
                const ac_x v = ac_lb_lane(b, x, e);
                acc[i].v[e] = acc[i].v[e] ? ac_lo_madd(k->L, v, w, acc[i].v[e]) : ac_lb_mul(b, v, w);
            }
    }
    for (int64_t i = 0; i < s->each; i++)
        ac_lb_store(b, k->sum[0], mine(k, s->slot + i),
                    plus(k, plus(k, acc[i].v[0], acc[i].v[1]), plus(k, acc[i].v[2], acc[i].v[3])));
}

static bool in_phase(const cells *k, int32_t p)
{
    return k->c->product.item[p].phase == k->phase;
}

static bool is_halved(const cells *k, int32_t p, int64_t mask)
{
    return in_phase(k, p) && k->share[p].lanes > mask;
}

/* Adds the part sums of lanes that are `mask` apart, from sum[from] to the other array. */
static void halve_from(cells *k, int32_t *in, int64_t mask, int32_t from)
{
    ac_lb *b = &k->L->b;
    bool any = false;
    for (int32_t p = 0; p < k->c->product.n; p++)
        any |= is_halved(k, p, mask) && in[p] == from;
    if (!any)
        return;
    open_block(k);
    for (int32_t p = 0; p < k->c->product.n; p++)
        for (int64_t i = 0; i < k->share[p].each && is_halved(k, p, mask) && in[p] == from; i++) {
            const int64_t slot = k->share[p].slot + i;
            const ac_x other = plus(k, num(k, slot * k->threads), ac_lb_xor(b, k->t, num(k, mask)));
            const ac_x mine_sum = ac_lb_load(b, k->sum[from], mine(k, slot), 1);
            ac_lb_store(b, k->sum[1 - from], mine(k, slot), plus(k, mine_sum, ac_lb_load(b, k->sum[from], other, 1)));
        }
    close_block(k);
}

/* Adds the part sums of the lanes of each result; the result is in sum[in[p]]. */
static void halve(cells *k, int32_t *in)
{
    for (int64_t mask = MOST_LANES / 2; mask; mask /= 2) {
        halve_from(k, in, mask, 0);
        halve_from(k, in, mask, 1);
        for (int32_t p = 0; p < k->c->product.n; p++)
            in[p] ^= is_halved(k, p, mask);
    }
}

/* The first lane of each result stores it for all threads of the block. */
static void put_sums(cells *k, const int32_t *in, ac_x row)
{
    ac_lb *b = &k->L->b;
    open_block(k);
    for (int32_t p = 0; p < k->c->product.n; p++)
        for (int64_t i = 0; i < k->share[p].each && in_phase(k, p); i++) {
            const ac_cells_share *s = &k->share[p];
            const ac_x result = plus(k, ac_lb_div(b, k->t, num(k, s->lanes)), num(k, i * (k->threads / s->lanes)));
            const ac_x first = ac_lb_eq(b, ac_lb_mod(b, k->t, num(k, s->lanes)), num(k, 0));
            ac_lb_if(b, ac_lb_and(b, first, ac_lb_lt(b, result, num(k, s->results))));
            const ac_x at = plus(k, num(k, s->sum * k->c->batch), times(k, result, k->c->batch));
            ac_lb_store(b, k->all, plus(k, at, row), ac_lb_load(b, k->sum[in[p]], mine(k, s->slot + i), 1));
            ac_lb_end(b);
        }
    close_block(k);
}

void ac_cells_products(cells *k)
{
    ac_lb *b = &k->L->b;
    int32_t *in = AC_NEW_N(k->L->region, int32_t, k->c->product.n + 1);
    const bool early = k->n_loaded > 0;
    if (early && k->c->batch > 1) {
        open_block(k);
        ac_cells_load_inputs(k);
        close_block(k);
    }
    const ac_x row = ac_lb_for_n(b, "b", k->c->batch);
    open_block(k);
    if (early && k->c->batch == 1)
        ac_cells_load_inputs(k);
    for (int32_t p = 0; p < k->c->product.n; p++)
        if (in_phase(k, p))
            multiply(k, p, row);
    close_block(k);
    halve(k, in);
    put_sums(k, in, row);
    ac_lb_end(b);
}
