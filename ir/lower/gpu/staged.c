/* staged.c - a product of floats whose steps are copied some steps ahead.
 *
 *     first stages: weights, x               no step waits for its copies
 *     for each step:  copy the step that is stages - 1 further; multiply this one; wait for the next one's copies
 *     slices are added in shared memory, in their order; epilogue
 *
 * The order of a sum: a slice adds its depths of each step one after another, by fma; slices are added one after
 * another; the first one begins with the bias. One slice: the order of the depth. The blocks of a cluster take parts of
 * the depth; their sums are added in the order of the blocks, each item by the block that owns it. */
#include "ir/lower/gpu/staged.h"
#include "ir/lower/lower.h"

enum { QUAD = 4 };

bool ac_gpu_staged_fits(const ac_gpu_gemm *g)
{
    const int64_t wide = ac_gpu_up(g->n, 64), deep = ac_gpu_up(g->depth, 64);
    const bool narrowed = g->c->x->narrowed || g->c->w->narrowed; /* 16 bits in memory: a copy cannot widen them */
    return g->word == AC_F32 && g->t.wm == 0 && !g->y && !g->adj_x && !narrowed && g->L->hint.vecs <= 0 &&
           g->many * wide <= INT32_MAX / deep;
}

/* The thread's place: slice, rows and columns of its warp, of the thread in the warp. */
typedef struct place {
    ac_x slice, row, column; /* row: the first of its rows, which are lm apart; column: of its first four */
} place;

static place place_of(const ac_gpu_staged *s, ac_x t)
{
    ac_lb *b = &s->g->L->b;
    const ac_gpu_plan *p = &s->p;
    const ac_x lane = ac_lb_mod(b, t, ac_lb_i32(b, 32)), in_slice = ac_lb_mod(b, t, ac_lb_i32(b, p->slice));
    const ac_x warp = ac_lb_div(b, in_slice, ac_lb_i32(b, 32)), wm = ac_lb_div(b, warp, ac_lb_i32(b, p->wn)),
               wn = ac_lb_mod(b, warp, ac_lb_i32(b, p->wn));
    return (place){ac_lb_div(b, t, ac_lb_i32(b, p->slice)),
                   ac_gpu_by(b, wm, (int64_t)p->tm * p->lm, ac_lb_div(b, lane, ac_lb_i32(b, p->ln))),
                   ac_gpu_by(b, wn, (int64_t)p->tn * p->ln,
                             ac_lb_mul(b, ac_lb_mod(b, lane, ac_lb_i32(b, p->ln)), ac_lb_i32(b, QUAD)))};
}

static ac_x own_sum(const ac_gpu_staged *s, ac_x t, ac_x i, int32_t j)
{
    ac_lb *b = &s->g->L->b;
    return ac_gpu_own(s->g, t, ac_gpu_by(b, i, s->p.tn, ac_lb_i32(b, j)));
}

/* Columns are whole groups of four, at aligned addresses. */
static bool by_four(const ac_gpu_staged *s)
{
    const ac_gpu_gemm *g = s->g;
    return g->n % QUAD == 0 && g->c->out->dtype == AC_F32 && !ac_lo_by_table(g->L);
}

/* True in the first slice of the first block of a cluster. */
static ac_x is_first(const ac_gpu_staged *s, ac_x slice)
{
    ac_lb *b = &s->g->L->b;
    const ac_x zero = ac_lb_i32(b, 0), first = ac_lb_eq(b, slice, zero);
    return s->rank ? ac_lb_and(b, first, ac_lb_eq(b, s->rank, zero)) : first;
}

/* Sums before the first step: the first slice begins with the bias. */
static void start(const ac_gpu_staged *s)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const ac_x t = ac_gpu_threads(g);
    const place at = place_of(s, t);
    const bool four = by_four(s);
    ac_x v[2 * QUAD];
    for (int32_t j = 0; j < s->p.tn; j += QUAD) {
        const ac_x col = ac_lb_add(b, s->n0, ac_lb_add(b, at.column, ac_lb_i32(b, (int64_t)j * s->p.ln)));
        for (int32_t l = 0; l < QUAD; l++) {
            const ac_x begin = b->fn->code.n;
            const ac_x near =
                ac_lb_min(b, four ? col : ac_lb_add(b, col, ac_lb_i32(b, l)), ac_lb_i32(b, g->n - (four ? QUAD : 1)));
            const ac_x bias = ac_channel_start(g->c, ac_gpu_channel(g, near), four ? QUAD : 1);
            ac_gpu_align_quads(b, begin);
            v[j + l] = four ? ac_lb_lane(b, bias, l) : bias;
            v[j + l] = ac_lb_select(b, is_first(s, at.slice), v[j + l], ac_lb_f32(b, 0));
        }
    }
    const ac_x i = ac_gpu_unrolled(g, "i", s->p.tm);
    for (int32_t j = 0; j < s->p.tn; j++)
        ac_lb_store(b, g->acc, own_sum(s, t, i, j), v[j]);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ a step */

static bool is_gated(const ac_gpu_staged *s)
{
    return s->gate >= 0;
}

/* Gates of four depths from `k` on, of image `away` of the block. */
static ac_x gates_at(const ac_gpu_staged *s, ac_x away, ac_x k)
{
    return ac_lb_load_flags(&s->g->L->b, s->gate, ac_gpu_by(&s->g->L->b, away, s->deep, k), QUAD, AC_F_ALIGNED);
}

/* step: of the block */
static void multiply(const ac_gpu_staged *s, ac_x t, ac_x step, ac_x slot)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const ac_gpu_plan *p = &s->p;
    const place at = place_of(s, t);
    const int32_t line = p->held ? ac_gpu_row(p) : ac_gpu_line(p), depth = p->bk / p->wk, x = p->held ? s->rows : s->s;
    const ac_x k0 = p->held ? ac_lo_scaled(b, ac_lb_add(b, s->first, step), p->bk) : slot;
    const ac_x x_at = ac_lb_add(b, k0, ac_gpu_by(b, at.row, line, ac_lb_mul(b, at.slice, ac_lb_i32(b, depth))));
    const ac_x w_at = ac_lb_add(b, ac_lb_add(b, slot, ac_lb_i32(b, ac_gpu_stage_x(p, s->piece))),
                                ac_gpu_by(b, at.slice, (int64_t)depth * p->bn, at.column));
    const ac_x k = ac_gpu_unrolled(g, "k", depth / QUAD);
    ac_x w[QUAD][2];
    for (int32_t q = 0; q < QUAD; q++)
        for (int32_t j = 0; j < p->tn / QUAD; j++)
            w[q][j] = ac_lb_load_flags(
                b, s->s, ac_gpu_by(b, k, QUAD * p->bn, ac_lb_add(b, w_at, ac_lb_i32(b, q * p->bn + j * p->ln * QUAD))),
                QUAD, AC_F_ALIGNED);
    const ac_x gates_k =
                   is_gated(s) ? ac_gpu_by(b, step, p->bk, ac_gpu_by(b, at.slice, depth, ac_lo_scaled(b, k, QUAD))) : 0,
               gates = is_gated(s) && s->images == 1 ? gates_at(s, ac_lb_i32(b, 0), gates_k) : 0;
    const ac_x i = ac_gpu_unrolled(g, "i", p->tm);
    ac_x v =
        ac_lb_load_flags(b, x, ac_gpu_by(b, i, (int64_t)p->lm * line, ac_gpu_by(b, k, QUAD, x_at)), QUAD, AC_F_ALIGNED);
    if (is_gated(s))
        v = ac_lb_mul(b, v, gates ? gates : gates_at(s, ac_lb_load(b, s->away, ac_gpu_own(g, t, i), 1), gates_k));
    for (int32_t j = 0; j < p->tn; j++) {
        const ac_x sum_at = own_sum(s, t, i, j);
        ac_x sum = ac_lb_load(b, g->acc, sum_at, 1);
        for (int32_t q = 0; q < QUAD; q++)
            sum = ac_lo_madd(g->L, ac_lb_lane(b, v, q), ac_lb_lane(b, w[q][j / QUAD], j % QUAD), sum);
        ac_lb_store(b, g->acc, sum_at, sum);
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

static ac_x slot_at(const ac_gpu_staged *s, int64_t k)
{
    return ac_lb_i32(&s->g->L->b, k * ac_gpu_stage(&s->p, s->piece));
}

/* Copies before the first step: weights of all stages but one, which do not wait for the kernel before; then x,
 * a group for each stage. */
static void first_stages(ac_gpu_staged *s)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const int32_t ahead = s->p.stages - 1;
    ac_x t = ac_gpu_threads(g);
    ac_lb_groups(b, t, AC_GROUPS_OPEN);
    ac_gpu_staged_rows(s, t);
    for (int32_t k = 0; k < ahead; k++)
        ac_gpu_copy_weights(s, t, ac_lb_add(b, s->first, ac_lb_i32(b, k)), slot_at(s, k));
    ac_lb_end(b);
    for (int32_t k = 0; k < ahead; k++) {
        t = ac_gpu_threads(g);
        ac_lb_groups(b, t, g->e || k + 1 < ahead ? AC_GROUPS_OPEN : ahead - 1);
        ac_gpu_copy_x(s, t, ac_lb_add(b, s->first, ac_lb_i32(b, k)), slot_at(s, k));
        if (g->gate && !k)
            ac_gpu_copy_gates(s, t);
        ac_lb_end(b);
    }
}

/* Gates of the block's depths, while the first stages are copied; at the end the first one has come. */
static void finish_gates(ac_gpu_staged *s)
{
    ac_excite_job *j = &s->gates;
    ac_lb *b = &s->g->L->b;
    const int32_t sums = ac_excite_ends(j);
    ac_excite_open_phase(j);
    ac_lb_groups(b, j->t, s->p.stages - 1);
    for (int64_t i = 0; i < j->out.each; i++) {
        const ac_x own = ac_excite_open_result(j, i);
        ac_lb_store(b, s->gate, own, ac_excite_result(j, sums, i));
        ac_lb_end(b);
    }
    ac_excite_close_phase(j);
}

/* First copies if the rows of x are normalised: weights, a group for each stage; then the rows. */
static void first_rows(ac_gpu_staged *s)
{
    ac_lb *b = &s->g->L->b;
    const int32_t ahead = s->p.stages - 1, pitch = ac_gpu_row(&s->p);
    for (int32_t k = 0; k < ahead; k++) {
        const ac_x t = ac_gpu_threads(s->g);
        ac_lb_groups(b, t, AC_GROUPS_OPEN);
        ac_gpu_copy_weights(s, t, ac_lb_add(b, s->first, ac_lb_i32(b, k)), slot_at(s, k));
        ac_lb_end(b);
    }
    ac_gpu_norm_rows(s->g->norm, s->m0, s->rows, pitch, pitch - QUAD, ahead - 1,
                     ac_lb_eq(b, s->tile_n, ac_lb_i32(b, 0)));
}

/* The images of the thread's rows. */
static void find_images(const ac_gpu_staged *s)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const ac_x t = ac_gpu_threads(g), i = ac_gpu_unrolled(g, "i", s->p.tm);
    const ac_x row = ac_lb_add(b, s->m0, ac_gpu_by(b, i, s->p.lm, place_of(s, t).row)),
               image = ac_lb_div(b, ac_lb_min(b, row, ac_lb_i32(b, g->rows - 1)), ac_lb_i32(b, g->image));
    const ac_x away = ac_lb_clamp(b, ac_lb_sub(b, image, s->image), ac_lb_i32(b, 0), ac_lb_i32(b, s->images - 1));
    ac_lb_store(b, s->away, ac_gpu_own(g, t, i), away); /* the clamp changes nothing: it is for proofs */
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Step `step` of the block's, which is in stage `u`; copies the one that is stages - 1 further, if there is one. */
static void one_step(const ac_gpu_staged *s, ac_x step, int32_t u, bool copies)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const int32_t ahead = s->p.stages - 1;
    const ac_x t = ac_gpu_threads(g), slot = slot_at(s, (u + ahead) % s->p.stages);
    ac_lb_groups(b, t, ahead - 1);
    if (copies) {
        const ac_x next = ac_lb_add(b, s->first, ac_lb_add(b, step, ac_lb_i32(b, ahead)));
        ac_gpu_copy_weights(s, t, next, slot);
        if (!s->p.held)
            ac_gpu_copy_x(s, t, next, slot);
    }
    multiply(s, t, step, slot_at(s, u));
    ac_lb_end(b);
}

/* Rounds of as many steps as there are stages, which all copy; then the rest. So a step's stage is a constant. */
static void all_steps(const ac_gpu_staged *s)
{
    ac_lb *b = &s->g->L->b;
    const int32_t n = s->p.stages;
    const int64_t rounds = (s->p.per - (n - 1)) / n;
    const ac_x step = ac_lb_for(b, "step", ac_lb_i32(b, 0), ac_lb_i32(b, rounds * n), n, AC_MARK_SERIAL);
    for (int32_t u = 0; u < n; u++)
        one_step(s, ac_lb_add(b, step, ac_lb_i32(b, u)), u, true);
    ac_lb_end(b);
    for (int64_t k = rounds * n; k < s->p.per; k++)
        one_step(s, ac_lb_i32(b, k), (int32_t)(k % n), k + n - 1 < s->p.per);
}

/* ------------------------------------------------------------------ the end */

/* Four results of the block's row `row` from column `column` on. */
static void put_four(const ac_gpu_staged *s, ac_x row, ac_x column, ac_x v)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    ac_x idx[AC_MAX_RANK];
    const ac_x p = ac_lb_add(b, s->m0, row), col = ac_lb_add(b, s->n0, column);
    ac_lb_if(b, g->rows % s->p.bm ? ac_lb_lt(b, p, ac_lb_i32(b, g->rows)) : ac_lb_int(b, AC_BOOL, 1));
    ac_gpu_index(g, p, idx);
    const bool four = by_four(s);
    for (int32_t l = 0; l < (four ? 1 : QUAD); l++) {
        const ac_x here = ac_lb_add(b, col, ac_lb_i32(b, l)), oc = idx[g->c->out->rank - 1] = ac_gpu_channel(g, here);
        ac_lb_if(b, g->n % s->p.bn ? ac_lb_lt(b, here, ac_lb_i32(b, g->n)) : ac_lb_int(b, AC_BOOL, 1));
        const ac_x begin = b->fn->code.n;
        ac_lo_result(g->L, ac_channel_done(g->c, four ? v : ac_lb_lane(b, v, l), oc), idx, four ? QUAD : 1);
        ac_gpu_align_quads(b, begin);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* Sums j .. j + 3 of the thread's row i. */
static ac_x four_sums(const ac_gpu_staged *s, ac_x t, ac_x i, int32_t j)
{
    static const int64_t ALL[] = {0, 1, 2, 3};
    ac_lb *b = &s->g->L->b;
    ac_x v[QUAD];
    for (int32_t l = 0; l < QUAD; l++)
        v[l] = ac_lb_load(b, s->g->acc, own_sum(s, t, i, j + l), 1);
    return ac_lb_shuffle(b, ac_lb_shuffle(b, v[0], v[1], ALL, 2), ac_lb_shuffle(b, v[2], v[3], ALL, 2), ALL, QUAD);
}

/* Item f * slice + u of a tile: four sums of thread u of a slice, its f-th. Stores it in the result. */
static void put_item(const ac_gpu_staged *s, ac_x f, ac_x u, ac_x v)
{
    ac_lb *b = &s->g->L->b;
    const int32_t groups = s->p.tn / QUAD;
    const place at = place_of(s, u);
    const ac_x row = ac_gpu_by(b, ac_lb_div(b, f, ac_lb_i32(b, groups)), s->p.lm, at.row);
    const ac_x column = ac_gpu_by(b, ac_lb_mod(b, f, ac_lb_i32(b, groups)), (int64_t)s->p.ln * QUAD, at.column);
    put_four(s, row, column, v);
}

/* An item whose slices are added: to the block of the cluster that owns it, or to the result. */
static void give(const ac_gpu_staged *s, ac_x f, ac_x u, ac_x v)
{
    ac_lb *b = &s->g->L->b;
    const ac_gpu_plan *p = &s->p;
    if (p->split == 1) {
        put_item(s, f, u, v);
        return;
    }
    const int32_t share = p->items / p->split;
    const ac_x item = ac_gpu_by(b, f, p->slice, u), owner = ac_lb_div(b, item, ac_lb_i32(b, share));
    const ac_x own = ac_gpu_by(b, s->rank, share, ac_lb_mod(b, item, ac_lb_i32(b, share)));
    ac_lb_store_flags(b, s->inbox, ac_gpu_by(b, owner, (int64_t)p->items * QUAD, ac_lb_mul(b, own, ac_lb_i32(b, QUAD))),
                      v, AC_F_ALIGNED);
}

static void finish_own(const ac_gpu_staged *s)
{
    ac_lb *b = &s->g->L->b;
    const ac_x t = ac_gpu_threads(s->g), i = ac_gpu_unrolled(s->g, "i", s->p.tm);
    for (int32_t j = 0; j < s->p.tn; j += QUAD)
        give(s, ac_gpu_by(b, i, s->p.tn / QUAD, ac_lb_i32(b, j / QUAD)), t, four_sums(s, t, i, j));
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Slices are added in shared memory; all threads of a block share the items. */
static void finish_slices(const ac_gpu_staged *s)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const ac_gpu_plan *p = &s->p;
    const int32_t items = p->items, groups = p->tn / QUAD;
    ac_x t = ac_gpu_threads(g);
    const ac_x slice = ac_lb_div(b, t, ac_lb_i32(b, p->slice)), u = ac_lb_mod(b, t, ac_lb_i32(b, p->slice));
    const ac_x i = ac_gpu_unrolled(g, "i", p->tm);
    for (int32_t j = 0; j < groups; j++) {
        const ac_x f = ac_gpu_by(b, i, groups, ac_lb_i32(b, j));
        const ac_x item = ac_gpu_by(b, slice, items, ac_gpu_by(b, f, p->slice, u));
        ac_lb_store_flags(b, s->s, ac_lb_mul(b, item, ac_lb_i32(b, QUAD)), four_sums(s, t, i, j * QUAD), AC_F_ALIGNED);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    t = ac_gpu_threads(g);
    const ac_x n = ac_gpu_unrolled(g, "n", ac_gpu_over(items, p->threads)), item = ac_gpu_by(b, n, p->threads, t);
    ac_lb_if(b, items % p->threads ? ac_lb_lt(b, item, ac_lb_i32(b, items)) : ac_lb_int(b, AC_BOOL, 1));
    ac_x sum = 0;
    for (int32_t k = 0; k < p->wk; k++) {
        const ac_x from = ac_lb_mul(b, ac_lb_add(b, item, ac_lb_i32(b, (int64_t)k * items)), ac_lb_i32(b, QUAD));
        const ac_x v = ac_lb_load_flags(b, s->s, from, QUAD, AC_F_ALIGNED);
        sum = sum ? ac_lb_add(b, sum, v) : v;
    }
    give(s, ac_lb_div(b, item, ac_lb_i32(b, p->slice)), ac_lb_mod(b, item, ac_lb_i32(b, p->slice)), sum);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Each block of a cluster adds the sums that all have stored of its share of the items, in the order of the blocks. */
static void finish_cluster(const ac_gpu_staged *s)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const ac_gpu_plan *p = &s->p;
    const int32_t share = p->items / p->split;
    const ac_x rank = ac_lb_for(b, "r", ac_lb_i32(b, 0), ac_lb_i32(b, p->split), 1, AC_MARK_CLUSTER);
    const ac_x t = ac_gpu_threads(g), n = ac_gpu_unrolled(g, "n", ac_gpu_over(share, p->threads));
    const ac_x e = ac_gpu_by(b, n, p->threads, t), item = ac_gpu_by(b, rank, share, e);
    ac_lb_if(b, share % p->threads ? ac_lb_lt(b, e, ac_lb_i32(b, share)) : ac_lb_int(b, AC_BOOL, 1));
    ac_x sum = 0;
    for (int32_t k = 0; k < p->split; k++) {
        const ac_x from = ac_lb_mul(b, ac_lb_add(b, e, ac_lb_i32(b, (int64_t)k * share)), ac_lb_i32(b, QUAD));
        const ac_x v =
            ac_lb_load_flags(b, s->inbox, ac_gpu_by(b, rank, (int64_t)p->items * QUAD, from), QUAD, AC_F_ALIGNED);
        sum = sum ? ac_lb_add(b, sum, v) : v;
    }
    put_item(s, ac_lb_div(b, item, ac_lb_i32(b, p->slice)), ac_lb_mod(b, item, ac_lb_i32(b, p->slice)), sum);
    for (int k = 0; k < 4; k++)
        ac_lb_end(b);
}

/* ------------------------------------------------------------------ all of it */

static void open_buffers(ac_gpu_staged *s)
{
    ac_gpu_gemm *g = s->g;
    const ac_gpu_plan *p = &s->p;
    const int64_t passes = ac_gpu_passes(p, s->piece);
    if (p->held) {
        ac_gpu_norm_open(g->norm, p->bm, p->threads);
        s->rows = ac_lo_gpu_local(g->L, "rows", AC_F32, ac_gpu_rows_of_x(p), AC_WHERE_SHARED);
    } else {
        g->x = ac_lo_operand(g->L, g->c->x);
    }
    g->w = ac_gpu_pack_weights(g, p->steps * p->bk, p->bn);
    if (p->split > 1)
        s->inbox = ac_lo_gpu_local(g->L, "inbox", AC_F32, (int64_t)p->split * p->items * QUAD, AC_WHERE_SPREAD);
    s->s = ac_lo_gpu_local(g->L, "s", AC_F32, ac_gpu_stages(p, s->piece), AC_WHERE_SHARED);
    if (g->e) {
        s->images = 1;
        s->deep = p->per * p->bk;
        s->gates = (ac_excite_job){.L = g->L, .e = g->e, .threads = p->threads, .ranks = p->split};
        s->gates.span = s->gates.own = s->deep;
        ac_excite_open(&s->gates);
        s->gate = ac_lo_gpu_local(g->L, "gate", AC_F32, s->deep, AC_WHERE_SHARED);
    }
    if (g->gate) {
        const int64_t images = g->rows / g->image, most = (p->bm - 2 + g->image) / g->image + 1;
        s->images = images < most ? images : most;
        s->deep = p->per * p->bk;
        s->gate = ac_lo_gpu_local(g->L, "gate", AC_F32, s->images * s->deep, AC_WHERE_SHARED);
        if (s->images > 1)
            s->away = ac_lo_gpu_local(g->L, "away", AC_I32, (int64_t)p->threads * p->tm, AC_WHERE_THREAD);
    }
    g->acc = ac_lo_gpu_local(g->L, "acc", AC_F32, (int64_t)p->threads * p->tm * p->tn, AC_WHERE_THREAD);
    g->base = ac_lo_gpu_local(g->L, "base", AC_I32, p->threads * passes, AC_WHERE_THREAD);
    g->iy = ac_lo_gpu_local(g->L, "iy", AC_I32, p->threads * passes, AC_WHERE_THREAD);
    g->ix = ac_lo_gpu_local(g->L, "ix", AC_I32, p->threads * passes, AC_WHERE_THREAD);
}

/* The number of a block in its cluster, in a phase of all of them; 0: it has no cluster. */
static ac_x open_cluster(const ac_gpu_staged *s)
{
    ac_lb *b = &s->g->L->b;
    return s->p.split > 1 ? ac_lb_for(b, "r", ac_lb_i32(b, 0), ac_lb_i32(b, s->p.split), 1, AC_MARK_CLUSTER) : 0;
}

static void begin_gates(ac_gpu_staged *s)
{
    ac_lb *b = &s->g->L->b;
    const ac_x rank = open_cluster(s);
    s->gates.n = ac_lb_i32(b, 0);
    s->gates.r = rank ? rank : s->gates.n;
    ac_excite_begins(&s->gates);
    if (rank)
        ac_lb_end(b);
}

int ac_gpu_staged_product(ac_gpu_gemm *g)
{
    ac_gpu_staged s = {.g = g, .gate = -1, .away = -1};
    ac_lb *b = &g->L->b;
    ac_gpu_staged_walk(&s);
    const ac_gpu_shape shape = {.many = g->many,
                                .rows = g->rows,
                                .n = g->n,
                                .depth = g->depth,
                                .piece = s.piece,
                                .in_order = g->L->exact,
                                .held = g->norm != NULL,
                                .taps = !s.is_line,
                                .hidden = g->e ? g->e->hidden : 0,
                                .parts = g->e ? g->e->pixels : 0};
    s.p = ac_gpu_plan_product(g->L->target, &shape);
    g->t = (ac_gpu_tile){s.p.bm, s.p.bn, s.p.tm, s.p.tn, s.p.threads, 0, 0};
    open_buffers(&s);
    g->c->bias_first = g->c->kind == AC_MACS_F32 && !g->L->exact;
    const int64_t columns = ac_gpu_over(g->n, s.p.bn), tiles = ac_gpu_over(g->rows, s.p.bm) * columns;
    const ac_x block = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, g->many * tiles), 1, AC_MARK_GRID);
    g->q = g->many > 1 ? ac_lb_div(b, block, ac_lb_i32(b, tiles)) : ac_lb_i32(b, 0);
    const ac_x at = g->many > 1 ? ac_lb_mod(b, block, ac_lb_i32(b, tiles)) : block;
    s.m0 = ac_lb_mul(b, ac_lb_div(b, at, ac_lb_i32(b, columns)), ac_lb_i32(b, s.p.bm));
    s.tile_n = ac_lb_mod(b, at, ac_lb_i32(b, columns));
    s.n0 = ac_lb_mul(b, s.tile_n, ac_lb_i32(b, s.p.bn));
    g->x_at = g->win ? ac_lb_mul(b, g->q, ac_lb_i32(b, g->run)) : ac_lb_i32(b, 0);
    if (g->e)
        begin_gates(&s);
    s.rank = open_cluster(&s);
    s.gates.r = s.rank ? s.rank : ac_lb_i32(b, 0);
    s.first = s.rank ? ac_lb_mul(b, s.rank, ac_lb_i32(b, s.p.per)) : ac_lb_i32(b, 0);
    s.image = g->gate ? ac_lb_div(b, s.m0, ac_lb_i32(b, g->image)) : 0;
    if (g->gate && s.images > 1)
        find_images(&s);
    if (s.p.held) { /* the bias is loaded before the rows: it does not wait for the kernel before */
        start(&s);
        first_rows(&s);
    } else {
        first_stages(&s);
        start(&s);
        if (g->e)
            finish_gates(&s);
    }
    all_steps(&s);
    (s.p.wk > 1 ? finish_slices : finish_own)(&s);
    if (s.rank) {
        ac_lb_end(b);
        finish_cluster(&s);
    }
    ac_lb_end(b);
    return AC_OK;
}
